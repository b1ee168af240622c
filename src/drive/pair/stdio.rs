//! Standard input and output between the sides of a pair: the client starts a relay, and each line is passed on and
//! recorded.
//!
//! Takes connections of relays, asks the caller for a server for each. Must not know methods or tools.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};

use crate::drive::accept::Asked;
use crate::drive::client::mock::log::Log;
use crate::drive::client::mock::relay_file::{MAX_WORD, WELCOME, relay_file};
use crate::drive::fault::AbortOnDrop;
use crate::drive::process::lines::{LineEvent, Lines, MAX_LINE};
use crate::model::transcript::{Message, Party};

/// The standard streams of a server.
pub(super) struct Streams {
    pub(super) input: Box<dyn AsyncWrite + Send + Unpin>,
    pub(super) output: Lines,
    /// The task that reads the output, if it has to be kept.
    pub(super) reading: Option<AbortOnDrop>,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").field("output", &self.output).finish_non_exhaustive()
    }
}

/// A start of a server by the client, to be answered with the server's streams.
pub(super) type Started = oneshot::Sender<Streams>;

/// The starts of servers that a client may make.
#[derive(Debug)]
pub(super) struct Starts {
    /// The words of the relay's file that were not used yet.
    words: Mutex<BTreeSet<String>>,
    started: mpsc::Sender<Started>,
    log: Arc<Log>,
}

impl Starts {
    /// The starts at an address, the file for the relay, and the channel with the starts.
    ///
    /// # Errors
    /// Errors of writing the file.
    pub(super) fn new(
        address: SocketAddr,
        log: Arc<Log>,
    ) -> io::Result<(Self, NamedTempFile, mpsc::Receiver<Started>)> {
        let (file, words) = relay_file(address)?;
        let (started, coming) = mpsc::channel(1);
        Ok((Self { words: Mutex::new(words), started, log }, file, coming))
    }
}

/// Passes on the lines of one relay and one server until either side ends.
pub(super) async fn converse(stream: TcpStream, asked: &Asked, starts: &Starts) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut first = String::new();
    (&mut read).take(MAX_WORD).read_line(&mut first).await?;
    if !starts.words.lock().unwrap_or_else(PoisonError::into_inner).remove(first.trim_end()) {
        return Ok(());
    }
    asked.mark();
    write.write_all(WELCOME).await?;
    let (answer, coming) = oneshot::channel();
    _ = starts.started.send(answer).await;
    // Without a server, the client sees that it ended at once.
    let Ok(Streams { input, output, reading: _reading }) = coming.await else { return Ok(()) };
    let (lines, pump) = Lines::of(read);
    let _pump = AbortOnDrop::of(&pump);
    let log = &starts.log;
    let up = async {
        _ = pass_on(lines, input, |line| log.passed(line), Party::Target).await;
        // The server decides when it ends after its input has ended.
        std::future::pending::<()>().await;
    };
    let to_client = |line| {
        // The server may continue in any case: a limit is no reason to drop its lines.
        _ = log.passed(line);
        true
    };
    let down = pass_on(output, &mut write, to_client, Party::Harness);
    tokio::select! {
        () = up => Ok(()),
        passed = down => passed,
    }
}

/// Passes on lines of a side until they end, and then ends the writer.
async fn pass_on(
    mut lines: Lines,
    mut write: impl AsyncWrite + Unpin,
    record: impl Fn(Message) -> bool,
    from: Party,
) -> io::Result<()> {
    loop {
        let (line, end): (_, &[u8]) = match lines.next_unchanged().await {
            LineEvent::Line(line) => (line, b"\n"),
            LineEvent::Unended(line) => (line, b""),
            LineEvent::Oversized => {
                record(Message { cut_from: Some(MAX_LINE as u64 + 1), ..Message::new(from, "") });
                let reason = format!("a line of more than {MAX_LINE} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
            }
            LineEvent::Eof => return write.shutdown().await,
        };
        if !record(Message::of_bytes(from, line.strip_suffix(b"\r").unwrap_or(&line))) {
            return write.shutdown().await;
        }
        write.write_all(&[&line, end].concat()).await?;
        write.flush().await?;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn bytes_are_passed_on_unchanged_and_recorded_with_marks() {
        let bytes = b"{\"id\":1}\r\n\r\n{\"id\":\"\xff\"}\n{}\r";
        let (lines, _pump) = Lines::of(&bytes[..]);
        let (mut written, messages) = (Vec::new(), Mutex::new(Vec::new()));
        let record = |message| {
            messages.lock().expect("no panic").push(message);
            true
        };
        pass_on(lines, &mut written, record, Party::Harness).await.expect("written");
        assert_eq!(written, bytes);
        let messages = messages.into_inner().expect("no panic");
        let seen: Vec<_> = messages.iter().map(|message| (message.text.as_str(), message.lossy)).collect();
        assert_eq!(seen, [("{\"id\":1}", false), ("", false), ("{\"id\":\"\u{fffd}\"}", true), ("{}", false)]);
    }

    #[tokio::test]
    async fn line_that_is_too_long_is_recorded_with_mark() {
        let bytes = vec![b'x'; MAX_LINE + 1];
        let (lines, _pump) = Lines::of(io::Cursor::new(bytes));
        let cut = Mutex::new(None);
        let record = |message: Message| {
            *cut.lock().expect("no panic") = message.cut_from;
            true
        };
        assert!(pass_on(lines, Vec::new(), record, Party::Harness).await.is_err());
        assert_eq!(cut.into_inner().expect("no panic"), Some(MAX_LINE as u64 + 1));
    }
}
