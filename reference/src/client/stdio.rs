//! MCP over a child process's standard streams: one message per line.
//!
//! The module takes a command and lines, and returns lines. The size of a line is limited; the caller limits the time.
//! It must not know methods.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::failure::Failure;
use super::incoming::Incoming;
use crate::message::LONGEST;
use crate::policy::Policy;

/// The time that a server gets to exit after its standard input was closed.
const GRACE: Duration = Duration::from_secs(2);

/// A server that runs as a child process.
#[derive(Debug)]
pub(super) struct Pipe {
    child: Child,
    /// `None` after a line could not be written completely, because no further line could be read correctly.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The beginning of an unfinished line, kept in case a caller stops waiting for the rest.
    line: Vec<u8>,
    policy: &'static Policy,
}

impl Pipe {
    /// Starts a server.
    ///
    /// # Errors
    /// If the process cannot be started.
    pub(super) fn start(command: &[String], policy: &'static Policy) -> Result<Self, Failure> {
        let (program, arguments) = command.split_first().ok_or_else(|| Failure::Transport("no command".to_owned()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Failure::Transport(format!("cannot start `{program}`: {error}")))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Ok(Self { child, input, output, line: vec![], policy })
    }

    /// Writes one message.
    ///
    /// # Errors
    /// If the process no longer reads.
    pub(super) async fn send(&mut self, text: &str) -> Result<(), Failure> {
        let disconnected = || Failure::Transport("the server no longer reads its stdin".to_owned());
        // The input is taken until the line is written, because a cancelled write leaves half a line.
        let mut input = self.input.take().ok_or_else(disconnected)?;
        let text = (self.policy.transport.framing)(text.to_owned());
        input.write_all(format!("{text}\n").as_bytes()).await.map_err(|_| disconnected())?;
        input.flush().await.map_err(|_| disconnected())?;
        self.input = Some(input);
        Ok(())
    }

    /// Reads one message.
    ///
    /// # Errors
    /// If the stream has ended, or the message is too long.
    pub(super) async fn next(&mut self) -> Result<Incoming, Failure> {
        let limit = u64::try_from(LONGEST + 1 - self.line.len()).expect("a length");
        let read = (&mut self.output).take(limit).read_until(b'\n', &mut self.line).await;
        let line = std::mem::take(&mut self.line);
        match read {
            Err(error) => Err(Failure::Transport(error.to_string())),
            Ok(_) if line.ends_with(b"\n") => Incoming::read(&line),
            Ok(_) if line.len() > LONGEST => {
                self.input = None;
                Err(Failure::protocol(format!("a message has more than {LONGEST} bytes")))
            }
            Ok(_) => Err(Failure::Transport("the server has closed its stdout".to_owned())),
        }
    }

    /// Closes the server's input, and kills the server if it does not exit in time.
    pub(super) async fn end(mut self) {
        self.input = None;
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
            let _ignored = self.child.kill().await;
        }
    }
}
