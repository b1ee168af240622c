//! Ctrl-C and SIGTERM. The first signal lets running tests end, the second one stops them, as does the time limit of a
//! run. casebook reports the tests that have ended in both cases.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::descriptors;
use super::problem::Problem;
use crate::drive::{Cancel, Session};
use crate::report::terminal::eprint_line;

/// The message after the first signal.
const FINISHING: &str = "interrupted: waiting for running tests to end; interrupt again to stop now";

/// Begins to handle signals for a command that starts processes or listens for connections. The result is to be dropped
/// at the end of the command.
///
/// # Errors
/// [`Exit::System`](super::Exit::System) if the system refuses a thread or a descriptor.
pub(in crate::cli) fn begin(limit: Option<Duration>) -> Result<Session, Problem> {
    descriptors::raise();
    descriptors::check().and_then(|()| Session::begin(limit, eprint_line)).map_err(Problem::system)
}

/// Builds the runtime of a command, with one more thread, which keeps the time limit while the command is busy.
///
/// # Errors
/// [`Exit::System`](super::Exit::System) if the system refuses a thread or a descriptor.
pub(in crate::cli) fn runtime() -> Result<Runtime, Problem> {
    descriptors::check().map_err(Problem::system)?;
    Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(Problem::system)
}

/// Starts to handle signals.
pub(in crate::cli) fn listen() -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    handle(sender, Some(FINISHING));
    cancel
}

/// Starts to handle signals, and stops the command after `limit`.
pub(in crate::cli) fn listen_for(limit: Duration) -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    handle(sender.clone(), Some(FINISHING));
    tokio::spawn(async move {
        tokio::time::sleep(limit).await;
        // Before the message, because the reader of standard error may be slow.
        raise(&sender, Cancel::Now);
        eprint_line(&format!(
            "out of time: stopping after {}, the limit of the run",
            humantime::format_duration(limit)
        ));
    });
    cancel
}

/// Starts to handle signals without a message, for commands that usually end by a signal.
pub(in crate::cli) fn quietly() -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    handle(sender, None);
    cancel
}

/// Requests a stop. A weaker request does not replace a stronger one.
fn raise(sender: &watch::Sender<Cancel>, stop: Cancel) {
    sender.send_modify(|cancel| *cancel = stop.max(*cancel));
}

/// Handles requests to stop, and prints a message at the first one.
fn handle(sender: watch::Sender<Cancel>, message: Option<&'static str>) {
    Session::on_request(move |count| {
        raise(&sender, if count == 1 { Cancel::Finish } else { Cancel::Now });
        if let Some(message) = message.filter(|_| count == 1) {
            // Standard error may be a pipe without a reader, and the next signal must not wait for it.
            _ = std::thread::Builder::new().spawn(move || eprint_line(message));
        }
    });
}
