//! Ctrl-C and SIGTERM. The first signal lets running tests end, the second one stops them, as does the time limit of a
//! run. casebook reports the tests that have ended in both cases.

use std::process::exit;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::{Exit, Problem, descriptors};
use crate::drive::{Cancel, Guarded};
use crate::report::terminal::eprint_line;

/// The message after the first signal.
const FINISHING: &str = "interrupted: waiting for running tests to end; interrupt again to stop now";

/// Builds the runtime of a command, with one more thread, which handles signals while the command is busy.
///
/// # Errors
/// [`Exit::System`] if the system refuses a thread or a descriptor.
pub(super) fn runtime() -> Result<Runtime, Problem> {
    descriptors::check().map_err(Problem::system)?;
    Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(Problem::system)
}

/// Starts to handle signals.
pub(super) fn listen() -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    handle(sender, || eprint_line(FINISHING));
    cancel
}

/// Starts to handle signals, and stops the command after `limit`.
pub(super) fn listen_for(limit: Duration) -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    handle(sender.clone(), || eprint_line(FINISHING));
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
pub(super) fn quietly() -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    handle(sender, || ());
    cancel
}

/// Requests a stop. A weaker request does not replace a stronger one.
fn raise(sender: &watch::Sender<Cancel>, stop: Cancel) {
    sender.send_modify(|cancel| *cancel = stop.max(*cancel));
}

/// Handles signals. If this process has a guard, the guard counts the signals, and kills this process if it does not stop
/// in time.
fn handle(sender: watch::Sender<Cancel>, first: impl Fn() + Send + 'static) {
    let direct = sender.clone();
    let request = move |count| {
        raise(&sender, if count == 1 { Cancel::Finish } else { Cancel::Now });
        if count == 1 {
            first();
        }
    };
    // Registered outside of the task: before the task runs, a signal would end this process.
    let signals = Signals::new();
    if Guarded::is_here() {
        Guarded::on_request(request);
        // Some programs signal all processes of a group. The guard counts such a signal, so it does not count again here.
        tokio::spawn(async move {
            let Ok(mut signals) = signals else { return };
            loop {
                signals.next().await;
                raise(&direct, Cancel::Finish);
            }
        });
        return;
    }
    tokio::spawn(async move {
        let Ok(mut signals) = signals else { return };
        for count in [1, 2] {
            signals.next().await;
            request(count);
        }
        // The third signal ends the process at once.
        signals.next().await;
        exit(Exit::Interrupted.status().into());
    });
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "the signature is that of its counterpart for Unix")]
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // If no handler can be installed, no signal ever arrives here.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
