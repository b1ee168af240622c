//! Stdio servers in processes of their own, which read their fixture from a file.
//!
//! Takes a target and a request, gives the process and its standard streams. Must not know MCP.

use std::io::Write as _;

use serde::Deserialize;
use tempfile::NamedTempFile;
use tokio::process::ChildStdin;

use crate::drive::adapter::protocol::{Order, Refusal, StartError, command, no_server, spawn};
use crate::drive::process::launch::{Process, StopReason, Stopped};
use crate::drive::process::lines::{BoundedText, Lines};
use crate::drive::process::session::scratch;
use crate::jsonrpc::nesting;
use crate::model::target::Target;
use crate::model::transcript::Served;

/// The exit code of a `--stdio-server` that gives a reason for serving nothing.
const NO_SERVER: i32 = 3;

/// The line of standard error in which a `--stdio-server` gives that reason.
#[derive(Debug, Deserialize)]
struct No {
    refused: Option<Refusal>,
    cannot: Option<String>,
}

/// A process that is a stdio server, or exits because it cannot be one.
#[derive(Debug)]
pub(crate) struct StdioServer {
    process: Process,
    // The process reads this file at any time after its start, so that the file must exist as long as the process.
    _order: Option<NamedTempFile>,
}

impl StdioServer {
    /// Starts a process that serves a fixture.
    ///
    /// # Errors
    /// [`StartError`] if the file cannot be written or the process cannot be started.
    pub(crate) fn start(target: &Target, order: Order<'_>) -> Result<(Self, ChildStdin, Lines), StartError> {
        let (file, command) = stdio_command(target, order)?;
        let (process, input, output) = spawn(target, &command)?;
        Ok((Self { process, _order: Some(file) }, input, output))
    }

    /// Starts the command of a fixed server.
    ///
    /// # Errors
    /// [`StartError`] if the process cannot be started.
    pub(crate) fn fixed(target: &Target, command: &[String]) -> Result<(Self, ChildStdin, Lines), StartError> {
        let (process, input, output) = spawn(target, command)?;
        Ok((Self { process, _order: None }, input, output))
    }

    /// The standard error of the process.
    pub(crate) fn stderr(&self) -> &BoundedText {
        self.process.stderr()
    }

    /// Runs work on the streams of the process; when the process exits, the streams end.
    pub(crate) async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            done = work => done,
            never = self.process.watch() => match never {},
        }
    }

    /// Waits until the process has exited.
    pub(crate) async fn exited(&mut self) {
        self.process.ended().await;
    }

    /// Stops the process; `close` closes its streams.
    pub(crate) async fn end(self, stop_reason: StopReason, close: impl Future<Output = ()>) -> Stopped {
        self.process.end(stop_reason, close).await
    }
}

/// Returns the command of a process that serves a fixture over stdio, and the file that it reads.
///
/// # Errors
/// [`StartError`] if the file cannot be written or the target has no adapter.
pub(crate) fn stdio_command(target: &Target, order: Order<'_>) -> Result<(NamedTempFile, Vec<String>), StartError> {
    let mut command = command(target)?.to_vec();
    let failed = |source| StartError::NoRoom { what: "write the fixture to a file", source };
    let mut file =
        tempfile::Builder::new().prefix("casebook-").suffix(".json").tempfile_in(scratch()).map_err(failed)?;
    file.write_all(order.text().as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    command.extend(["--stdio-server".to_owned(), file.path().to_string_lossy().into_owned()]);
    Ok((file, command))
}

/// Returns the reason for which there is no server, from the exit code and the standard error of a `--stdio-server`.
pub(crate) fn why_no_server(code: Option<i32>, stderr: &str) -> Option<Served> {
    let no = |line: &str| nesting::read::<No>(line.as_bytes()).ok().and_then(|no| no_server(no.refused, no.cannot));
    (code == Some(NO_SERVER)).then(|| stderr.lines().rev().find_map(no)).flatten()
}
