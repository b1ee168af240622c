//! The session of a command: its requests to stop, and the cleanup of its processes and temporary files.
//!
//! A thread of its own handles signals, so that it ends this process even if the command is blocked. Takes the time limit
//! of the command. Must not know the command.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::exit;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::drive::process::mark;
use crate::drive::process::system::{self, Request, Signals};

/// The longest time in which a command stops and writes its reports, after its time limit or the second request.
const GRACE: Duration = Duration::from_secs(10);
/// The longest wait for a reader of the last message.
const MESSAGE_LIMIT: Duration = Duration::from_secs(1);
/// The exit status of a command that was stopped.
const STOPPED: i32 = 5;

/// The folder for temporary files, in a session.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// The function that is called with the number of requests to stop.
static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

type Listener = Box<dyn Fn(u32) + Send>;

/// The folder for temporary files, as an absolute path. It is deleted with the session, if there is one.
pub(crate) fn scratch() -> PathBuf {
    FOLDER.get().cloned().unwrap_or_else(temporary)
}

fn temporary() -> PathBuf {
    let folder = std::env::temp_dir();
    // A target runs in another folder than casebook.
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The session of a command. Dropping it kills the processes that are left, and deletes the temporary files.
#[derive(Debug)]
pub struct Session(());

impl Session {
    /// Begins to handle signals: the first request asks the listener to finish, and the second one to stop at once. The
    /// third one ends this process, as does the end of the grace period after the second one or after `limit`, which the
    /// command enforces itself. `tell` prints a message.
    ///
    /// # Errors
    /// Errors of a system without a free thread or descriptor.
    pub fn begin(limit: Option<Duration>, tell: fn(&str)) -> io::Result<Self> {
        system::begin();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let signals = {
            let _inside = runtime.enter();
            Signals::new()?
        };
        let watch = move || {
            runtime.block_on(stop(signals, limit));
            tell_in_time(tell, "casebook: the run did not stop in time; the run log contains all finished tests");
            leave();
        };
        thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
        crate::drive::clock::keep();
        let folder = temporary().join(format!("casebook-{}", mark::of_run()));
        let mut new = fs::DirBuilder::new();
        system::private(&mut new);
        // If the folder cannot be created, each test that needs it reports an error.
        if new.create(&folder).is_ok() {
            FOLDER.get_or_init(|| folder);
        }
        Ok(Self(()))
    }

    /// Sets the function that is called with the number of requests to stop, at each request. It must not block.
    pub fn on_request(listener: impl Fn(u32) + Send + 'static) {
        *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(listener));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        clean_up();
    }
}

/// Passes requests on to the listener, and returns when this process must end.
async fn stop(mut signals: Signals, limit: Option<Duration>) {
    let mut until = limit.map(|limit| Instant::now() + limit + GRACE);
    let mut count = 0;
    loop {
        let request = tokio::select! {
            () = out_of_time(until) => return,
            request = signals.next() => request,
        };
        count = match request {
            Request::Suspend => {
                system::suspend();
                continue;
            }
            Request::Stop => count + 1,
            Request::HangUp => 2.max(count + 1),
        };
        if count > 2 {
            return;
        }
        if count == 2 {
            let soon = Instant::now() + GRACE;
            until = Some(until.map_or(soon, |until| until.min(soon)));
        }
        match &*LISTENER.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(listener) => listener(count),
            // No work has begun that must be finished.
            None => leave(),
        }
    }
}

async fn out_of_time(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Prints a message without waiting for long: standard error may be a pipe without a reader.
fn tell_in_time(tell: fn(&str), words: &'static str) {
    let (done, said) = mpsc::channel();
    let speak = move || {
        tell(words);
        _ = done.send(());
    };
    if thread::Builder::new().spawn(speak).is_ok() {
        // A longer call ends with this process.
        _ = said.recv_timeout(MESSAGE_LIMIT);
    }
}

fn leave() -> ! {
    clean_up();
    exit(STOPPED)
}

/// Kills all processes that this process started, and deletes the temporary files.
fn clean_up() {
    system::end_all();
    // The folder exists only if it could be created.
    _ = FOLDER.get().map(fs::remove_dir_all);
}
