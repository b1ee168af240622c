//! The guard process, which starts the harness as a second process and cleans up after it.
//!
//! The guard passes on requests to stop, ends a harness that does not stop in time, and finally kills all processes
//! left below it. The end of its standard input tells the harness that the guard has died: it then stops and cleans up
//! itself. Must not know the command that is run.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio, exit};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use camino::Utf8Path;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::drive::process::launch::in_words;
use crate::drive::process::mark::{self, MARK};
use crate::drive::process::system::{self, RESUME_INTERVAL, Request, ResumeTimer, Signals};
use crate::drive::token::token;

/// The longest time in which a harness stops and writes its reports, after its time limit or the second request.
const GRACE: Duration = Duration::from_secs(10);
/// The longest wait for a reader of the guard's messages.
const MESSAGE_LIMIT: Duration = Duration::from_secs(1);
/// The exit status of a run that was stopped.
const STOPPED: u8 = 5;
/// The byte that requests the harness to stop.
const STOP: u8 = b'!';
/// The byte that requests the harness to suspend itself.
const SUSPEND: u8 = b'z';

/// The folder for temporary files, if there is a guard.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// Set in a process that has a guard.
static GUARDED: OnceLock<()> = OnceLock::new();
/// The function that is called with the number of requests to stop.
static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

type Listener = Box<dyn Fn(u32) + Send>;

/// The folder for temporary files, as an absolute path. If there is a guard, it is deleted with the run.
pub(crate) fn scratch() -> PathBuf {
    FOLDER.get().cloned().unwrap_or_else(temporary)
}

fn temporary() -> PathBuf {
    let folder = std::env::temp_dir();
    // A target runs in another folder than casebook.
    std::path::absolute(&folder).unwrap_or(folder)
}

fn folder(run: &str) -> PathBuf {
    temporary().join(format!("casebook-{run}"))
}

/// Starts `PROGRAM --guarded ARGUMENTS…`, waits for its exit, and kills all processes left below it. Returns the exit
/// status. `limit` is the time limit of the run, which the harness enforces itself. `tell` prints messages.
///
/// # Errors
/// Errors of starting the harness.
pub fn watch(
    program: &Utf8Path,
    arguments: impl Iterator<Item = OsString>,
    limit: Option<Duration>,
    tell: fn(&str),
) -> io::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = token();
    let (status, was_stopped) = runtime.block_on(async {
        system::adopt();
        let mut signals = Signals::new()?;
        let mut resume_timer = ResumeTimer::start();
        let mut command = Command::new(program);
        command.arg("--guarded").args(arguments).stdin(Stdio::piped());
        system::lead_harness(&mut command);
        let mut harness = command.spawn()?;
        let mut requests = harness.stdin.take().expect("standard input is piped");
        // An error means that the harness has exited, which the wait below reports.
        _ = requests.write_all(format!("{run}\n").as_bytes()).await;
        let until = limit.map(|limit| Instant::now() + limit + GRACE);
        let was_stopped = supervise(&mut harness, &mut requests, (&mut signals, &mut resume_timer), until).await;
        if was_stopped {
            harness.start_kill()?;
        }
        Ok::<_, io::Error>((harness.wait().await?, was_stopped))
    })?;
    clean_up(&run);
    // A process that was not started below the harness may carry the mark as well.
    system::sweep(&format!("{MARK}={run}-"));
    if was_stopped {
        print_message(
            tell,
            "casebook: the run did not stop in time and was killed; the run log contains all finished tests".to_owned(),
        );
        return Ok(STOPPED);
    }
    Ok(exit_code(status, tell))
}

/// Prints a message without waiting for long: standard error may be a pipe without a reader.
fn print_message(tell: fn(&str), words: String) {
    let (done, said) = mpsc::channel();
    let speak = move || {
        tell(&words);
        _ = done.send(());
    };
    if thread::Builder::new().spawn(speak).is_ok() {
        // A longer call ends with this process.
        _ = said.recv_timeout(MESSAGE_LIMIT);
    }
}

/// Waits for the exit of the harness. Returns `true` if the harness must be killed.
async fn supervise(
    harness: &mut Child,
    requests: &mut ChildStdin,
    (signals, resume_timer): (&mut Signals, &mut ResumeTimer),
    mut until: Option<Instant>,
) -> bool {
    let id = harness.id();
    let mut beat = interval(RESUME_INTERVAL);
    beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut count = 0;
    loop {
        tokio::select! {
            _ = harness.wait() => return false,
            () = out_of_time(until) => return true,
            // A target may have stopped the harness.
            _ = beat.tick() => system::resume(id),
            request = signals.next() => match request {
                Request::Stop => {
                    count += 1;
                    _ = requests.write_all(&[STOP]).await;
                    match count {
                        1 => {}
                        2 => until = Some(until.map_or(Instant::now() + GRACE, |until| until.min(Instant::now() + GRACE))),
                        _ => return true,
                    }
                }
                Request::Suspend => {
                    // The harness stops its own timer before it suspends itself.
                    _ = requests.write_all(&[SUSPEND]).await;
                    system::suspend(resume_timer);
                    system::resume(id);
                }
            }
        }
    }
}

async fn out_of_time(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Returns the exit status of the guard for that of the harness; signals are converted as in shells.
fn exit_code(status: ExitStatus, tell: fn(&str)) -> u8 {
    if let Some((signal, _)) = system::signal_of(status) {
        let how = in_words(status);
        print_message(tell, format!("casebook: the run was {how}; the run log contains all finished tests"));
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Kills all processes left of a run, and deletes its temporary files.
fn clean_up(run: &str) {
    system::end_adopted();
    // The folder exists only if there were temporary files.
    _ = fs::remove_dir_all(folder(run));
}

/// The harness's side of the guard. Dropping it cleans up.
#[derive(Debug)]
pub struct Guarded(());

impl Guarded {
    /// Reads the id of the run from the guard, and starts to listen for its requests.
    ///
    /// # Errors
    /// An error if standard input contains no id, so that there is no guard.
    pub fn begin() -> io::Result<Self> {
        let mut run = [0; 33];
        let named = io::stdin().lock().read_exact(&mut run);
        let run = std::str::from_utf8(&run).unwrap_or_default().trim_end();
        if named.is_err() || run.len() != 32 || !run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a run"));
        }
        let run = mark::set_run(run);
        system::begin_harness()?;
        thread::Builder::new().name("guard".to_owned()).spawn(listen)?;
        crate::drive::clock::keep();
        GUARDED.get_or_init(|| ());
        let folder = folder(run);
        let mut new = fs::DirBuilder::new();
        system::private(&mut new);
        // If the folder cannot be created, each test that needs it reports an error.
        if new.create(&folder).is_ok() {
            FOLDER.get_or_init(|| folder);
        }
        Ok(Self(()))
    }

    /// Sets the function that is called with the number of requests to stop, at each request. The second one means to
    /// stop at once.
    pub fn on_request(listener: impl Fn(u32) + Send + 'static) {
        *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(listener));
    }

    /// Returns whether this process has a guard.
    pub fn is_here() -> bool {
        GUARDED.get().is_some()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        clean_up(mark::of_run());
    }
}

/// Receives the requests of the guard in a thread that nothing blocks.
fn listen() {
    let mut resume_timer = ResumeTimer::start();
    let mut count = 0;
    let mut byte = [0];
    while let Ok(1) = io::stdin().lock().read(&mut byte) {
        if byte == [SUSPEND] {
            system::suspend(&mut resume_timer);
            continue;
        }
        count += 1;
        request(count);
    }
    // The guard has died, and nothing else ends this process in time.
    request(count.max(1) + 1);
    thread::sleep(GRACE);
    leave();
}

fn request(count: u32) {
    match &*LISTENER.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(listener) => listener(count),
        // No work has begun that must be finished.
        None => leave(),
    }
}

fn leave() {
    clean_up(mark::of_run());
    exit(STOPPED.into());
}
