//! Ctrl-C and SIGTERM: the first stops cleanly and still reports, the second stops now, and so does a run's limit.

use std::process::exit;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::{Exit, Problem, descriptors};
use crate::drive::{Cancel, Guarded};
use crate::report::terminal::eprint_line;

/// Said at the first signal, so that a wait isn't taken for a hang.
const FINISHING: &str = "interrupted: the tests that run come to their end; once more to stop now";

/// What a command runs on: one thread beside its own, so that signals are heard whatever the command is at.
///
/// # Errors
/// Where the system has no thread to give.
pub(super) fn runtime() -> Result<Runtime, Problem> {
    descriptors::check().map_err(Problem::system)?;
    Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(Problem::system)
}

/// Listens from now on.
pub(super) fn listen() -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    hear(sender, || eprint_line(FINISHING));
    cancel
}

/// Listens from now on, for at most so long.
pub(super) fn listen_for(limit: Duration) -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    hear(sender.clone(), || eprint_line(FINISHING));
    tokio::spawn(async move {
        tokio::time::sleep(limit).await;
        // First: whoever reads the words may take long.
        raise(&sender, Cancel::Now);
        eprint_line(&format!("out of time: {} have passed; what runs is stopped", humantime::format_duration(limit)));
    });
    cancel
}

/// Listens from now on, where a signal is how a command is meant to end.
pub(super) fn quietly() -> watch::Receiver<Cancel> {
    let (sender, cancel) = watch::channel(Cancel::Go);
    hear(sender, || ());
    cancel
}

/// What was to stop now doesn't go on because somebody asks for less.
fn raise(sender: &watch::Sender<Cancel>, stop: Cancel) {
    sender.send_modify(|cancel| *cancel = stop.max(*cancel));
}

/// A guard, where there is one, counts the signals, and ends this process if it doesn't stop in time.
fn hear(sender: watch::Sender<Cancel>, told: impl Fn() + Send + 'static) {
    let direct = sender.clone();
    let request = move |count| {
        raise(&sender, if count == 1 { Cancel::Finish } else { Cancel::Now });
        if count == 1 {
            told();
        }
    };
    // Not within the task: until the task runs, a signal would end this process.
    let signals = Signals::new();
    if Guarded::is_here() {
        Guarded::on_request(request);
        // Some send a signal to all processes at once: the guard counts it, and here it is no second one.
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
        // Whoever asks a third time has waited long enough.
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
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // Without a handler there is nobody to wait for.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
