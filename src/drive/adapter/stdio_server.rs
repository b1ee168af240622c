//! Stdio servers in a process of their own, which read their order from a file.
//!
//! Takes a target and an order, gives the process and its standard streams. Must not know MCP.

use std::io::Write as _;

use serde::Deserialize;
use tempfile::NamedTempFile;
use tokio::process::ChildStdin;

use crate::drive::adapter::protocol::{Order, Refusal, StartError, command, no_server, spawn};
use crate::drive::process::guard::scratch;
use crate::drive::process::launch::{Process, StopReason, Stopped};
use crate::drive::process::lines::{BoundedText, Lines};
use crate::jsonrpc::nesting;
use crate::model::target::Target;
use crate::model::transcript::Served;

/// The exit code of a `--stdio-server` that says why there is none.
const NO_SERVER: i32 = 3;

/// The one line of a `--stdio-server` that says why it serves nothing.
#[derive(Debug, Deserialize)]
struct No {
    refused: Option<Refusal>,
    cannot: Option<String>,
}

/// A process that speaks MCP on its own streams, or has said why it doesn't.
#[derive(Debug)]
pub(crate) struct StdioServer {
    process: Process,
    // Read when the process starts, whenever that is: it has to stay as long as the process.
    _order: Option<NamedTempFile>,
}

impl StdioServer {
    /// Starts one for a fixture.
    ///
    /// # Errors
    /// [`StartError`], if the order can't be written or the process can't be started.
    pub(crate) fn start(target: &Target, order: Order<'_>) -> Result<(Self, ChildStdin, Lines), StartError> {
        let (file, command) = stdio_command(target, order)?;
        let (process, input, output) = spawn(target, &command)?;
        Ok((Self { process, _order: Some(file) }, input, output))
    }

    /// Starts one that has its fixture inside.
    ///
    /// # Errors
    /// [`StartError`], if the process can't be started.
    pub(crate) fn fixed(target: &Target, command: &[String]) -> Result<(Self, ChildStdin, Lines), StartError> {
        let (process, input, output) = spawn(target, command)?;
        Ok((Self { process, _order: None }, input, output))
    }

    /// The text that it wrote to its standard error.
    pub(crate) fn stderr(&self) -> &BoundedText {
        self.process.stderr()
    }

    /// Does something with its streams; its death brings that to an end.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            done = work => done,
            never = self.process.watch() => match never {},
        }
    }

    /// Lets the process go; `close` gives up its streams.
    pub(crate) async fn end(self, manner: StopReason, close: impl Future<Output = ()>) -> Stopped {
        self.process.end(manner, close).await
    }
}

/// The command of a process that serves a fixture over stdio, and the file that it reads.
///
/// # Errors
/// [`StartError`], if the file can't be written or the target has no adapter.
pub(crate) fn stdio_command(target: &Target, order: Order<'_>) -> Result<(NamedTempFile, Vec<String>), StartError> {
    let mut command = command(target)?.to_vec();
    let failed = |source| StartError::NoRoom { what: "write the fixture to a file", source };
    let mut file =
        tempfile::Builder::new().prefix("casebook-").suffix(".json").tempfile_in(scratch()).map_err(failed)?;
    file.write_all(order.text().as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    command.extend(["--stdio-server".to_owned(), file.path().to_string_lossy().into_owned()]);
    Ok((file, command))
}

/// The reason why there is no server, if a `--stdio-server` ended with the status and the line that say so.
pub(crate) fn why_no_server(code: Option<i32>, stderr: &str) -> Option<Served> {
    let no = |line: &str| nesting::read::<No>(line.as_bytes()).ok().and_then(|no| no_server(no.refused, no.cannot));
    (code == Some(NO_SERVER)).then(|| stderr.lines().rev().find_map(no)).flatten()
}
