//! The guard: the process that was typed, above the harness, which is a second one. Each clears up after the other.
//!
//! The guard starts the harness, passes on requests to stop, ends a harness that doesn't stop in time, and at the end
//! kills all that is left below it. The harness, told by the end of its standard input that its guard is gone, stops
//! and does the same. Must not know what is run.

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

#[cfg(target_os = "linux")]
use crate::drive::process::descendants;
use crate::drive::process::launch::in_words;
use crate::drive::process::mark::{self, MARK};
use crate::drive::token::token;

/// The longest time for a harness to stop, with its reports, after its limit or the second request.
const GRACE: Duration = Duration::from_secs(10);
/// The time between two signals that let a stopped harness go on.
const BEAT: Duration = Duration::from_secs(1);
/// Windows passes no Ctrl-C to such a process.
#[cfg(windows)]
const NEW_PROCESS_GROUP: u32 = 0x200;
/// The longest wait at the end of a run for a reader of the guard's words.
const SAID: Duration = Duration::from_secs(1);
/// The exit status of a run that was stopped.
const STOPPED: u8 = 5;
/// A request to stop, as it is passed on.
const STOP: u8 = b'!';
/// A request to be suspended, as it is passed on.
const SUSPEND: u8 = b'z';

/// The folder for temporary files while there is a guard.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();
/// Set in a process that has a guard.
static GUARDED: OnceLock<()> = OnceLock::new();
/// Called with the number of requests to stop.
static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

type Listener = Box<dyn Fn(u32) + Send>;

/// The folder for temporary files, as an absolute path: where there is a guard, one that is deleted with the run.
pub(crate) fn scratch() -> PathBuf {
    FOLDER.get().cloned().unwrap_or_else(temporary)
}

fn temporary() -> PathBuf {
    let folder = std::env::temp_dir();
    // A target runs in another folder than we do.
    std::path::absolute(&folder).unwrap_or(folder)
}

fn folder(run: &str) -> PathBuf {
    temporary().join(format!("casebook-{run}"))
}

/// Starts `PROGRAM --guarded ARGUMENTS…`, waits for its end, and kills what is left below it; gives the exit status.
/// `limit` is how long the harness may run by its own account; `tell` gets the words for people.
///
/// # Errors
/// Those of starting the harness.
pub fn watch(
    program: &Utf8Path,
    arguments: impl Iterator<Item = OsString>,
    limit: Option<Duration>,
    tell: fn(&str),
) -> io::Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = token();
    let (status, was_stopped) = runtime.block_on(async {
        #[cfg(target_os = "linux")]
        descendants::adopt();
        let mut signals = Signals::new()?;
        let mut heart = Heart::beat();
        let mut command = Command::new(program);
        command.arg("--guarded").args(arguments).stdin(Stdio::piped());
        // The terminal's signals are for the guard alone, which passes them on.
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(windows)]
        command.creation_flags(NEW_PROCESS_GROUP);
        let mut harness = command.spawn()?;
        let mut requests = harness.stdin.take().expect("standard input is piped");
        // An error means that it is gone, which shows below.
        _ = requests.write_all(format!("{run}\n").as_bytes()).await;
        let until = limit.map(|limit| Instant::now() + limit + GRACE);
        let was_stopped = attend(&mut harness, &mut requests, (&mut signals, &mut heart), until).await;
        if was_stopped {
            harness.start_kill()?;
        }
        Ok::<_, io::Error>((harness.wait().await?, was_stopped))
    })?;
    clear_up(&run);
    // Something may carry the mark that was not started below the harness.
    #[cfg(target_os = "linux")]
    mark::sweep(&format!("{MARK}={run}-"), 0);
    if was_stopped {
        tell_words(
            tell,
            "casebook: it did not stop in time and was killed; the run log has each test that had ended".to_owned(),
        );
        return Ok(STOPPED);
    }
    Ok(number(status, tell))
}

/// Says something, without waiting for long: standard error may be a pipe that nobody reads.
fn tell_words(tell: fn(&str), words: String) {
    let (done, said) = mpsc::channel();
    let speak = move || {
        tell(&words);
        _ = done.send(());
    };
    if thread::Builder::new().spawn(speak).is_ok() {
        // If it takes longer, the end of the process ends it.
        _ = said.recv_timeout(SAID);
    }
}

/// Waits for the end of the harness; `true` where it has to be killed.
async fn attend(
    harness: &mut Child,
    requests: &mut ChildStdin,
    (signals, heart): (&mut Signals, &mut Heart),
    mut until: Option<Instant>,
) -> bool {
    let id = harness.id();
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut count = 0;
    loop {
        tokio::select! {
            _ = harness.wait() => return false,
            () = out_of_time(until) => return true,
            // A target may have stopped it.
            _ = beat.tick() => resume(id),
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
                    // It stops its own heart before it stops.
                    _ = requests.write_all(&[SUSPEND]).await;
                    suspend(heart);
                    resume(id);
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

/// The exit status of the harness as that of the guard; for a signal as shells give it.
fn number(status: ExitStatus, tell: fn(&str)) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let how = in_words(status);
        tell_words(tell, format!("casebook: it was {how}; the run log has each test that had ended"));
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    #[cfg(not(unix))]
    let _ = tell;
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Kills everything that is left of a run, and deletes its temporary files.
fn clear_up(run: &str) {
    #[cfg(target_os = "linux")]
    if descendants::adopts() {
        descendants::end_all();
    }
    // Without temporary files there is no folder.
    _ = fs::remove_dir_all(folder(run));
}

/// The harness's side: dropped at its end, when it clears up.
#[derive(Debug)]
pub struct Guarded(());

impl Guarded {
    /// Reads from the guard which run this is, and listens for its requests from now on.
    ///
    /// # Errors
    /// An error where standard input names no run, so that there is no guard.
    pub fn begin() -> io::Result<Self> {
        let mut run = [0; 33];
        let named = io::stdin().lock().read_exact(&mut run);
        let run = std::str::from_utf8(&run).unwrap_or_default().trim_end();
        if named.is_err() || run.len() != 32 || !run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a run"));
        }
        let run = mark::set_run(run);
        #[cfg(unix)]
        block_signals();
        #[cfg(target_os = "linux")]
        if descendants::adopt() {
            descendants::keep_reaping()?;
        }
        thread::Builder::new().name("guard".to_owned()).spawn(listen)?;
        crate::drive::clock::keep();
        GUARDED.get_or_init(|| ());
        let folder = folder(run);
        let mut new = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut new, 0o700);
        // Without room, each test that needs it says so.
        if new.create(&folder).is_ok() {
            FOLDER.get_or_init(|| folder);
        }
        Ok(Self(()))
    }

    /// Has `listener` called with the number of requests to stop, at each. The second means at once.
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
        clear_up(mark::of_run());
    }
}

/// Passes on what the guard asks for, on a thread that nothing blocks.
fn listen() {
    let mut heart = Heart::beat();
    let mut count = 0;
    let mut byte = [0];
    while let Ok(1) = io::stdin().lock().read(&mut byte) {
        if byte == [SUSPEND] {
            suspend(&mut heart);
            continue;
        }
        count += 1;
        request(count);
    }
    // The guard is gone: nobody else ends this process in time.
    request(count.max(1) + 1);
    thread::sleep(GRACE);
    leave();
}

fn request(count: u32) {
    match &*LISTENER.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(listener) => listener(count),
        // Nothing was begun that has to come to an end.
        None => leave(),
    }
}

fn leave() {
    clear_up(mark::of_run());
    exit(STOPPED.into());
}

/// Blocks two signals: a terminal that lets only its foreground write would stop the harness, and a limit on the size
/// of files would kill it.
#[cfg(unix)]
fn block_signals() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTTOU);
    signals.add(Signal::SIGXFSZ);
    _ = signals.thread_block();
}

/// Lets this process go on once a second should a target have stopped it: the system sends the signal, which nobody
/// else may be left to do.
#[cfg(target_os = "linux")]
struct Heart(Option<nix::sys::timer::Timer>);

#[cfg(target_os = "linux")]
impl Heart {
    fn beat() -> Self {
        use nix::sys::signal::{SigEvent, SigevNotify, Signal};
        use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
        let notify = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGCONT, si_value: 0 });
        let timer = Timer::new(nix::time::ClockId::CLOCK_MONOTONIC, notify);
        let timer = timer.and_then(|mut timer| {
            timer.set(Expiration::Interval(BEAT.into()), TimerSetTimeFlags::empty()).map(|()| timer)
        });
        Self(timer.ok())
    }

    fn stop(&mut self) {
        self.0 = None;
    }
}

#[cfg(not(target_os = "linux"))]
struct Heart;

#[cfg(not(target_os = "linux"))]
impl Heart {
    fn beat() -> Self {
        Self
    }

    fn stop(&mut self) {}
}

/// A request to the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// To stop.
    Stop,
    /// To be suspended, by Ctrl-Z.
    Suspend,
}

#[cfg(unix)]
fn signal(id: Option<u32>, signal: nix::sys::signal::Signal) {
    let id = id.and_then(|id| i32::try_from(id).ok()).map(nix::unistd::Pid::from_raw);
    // An error means that it is gone.
    _ = id.map(|id| nix::sys::signal::kill(id, signal));
}

/// Lets the harness go on.
#[cfg(unix)]
fn resume(id: Option<u32>) {
    signal(id, nix::sys::signal::Signal::SIGCONT);
}

/// Suspends this process until somebody resumes it.
#[cfg(unix)]
fn suspend(heart: &mut Heart) {
    heart.stop();
    _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP);
    *heart = Heart::beat();
}

#[cfg(not(unix))]
fn resume(_: Option<u32>) {}

#[cfg(not(unix))]
fn suspend(_: &mut Heart) {}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    suspend: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let suspend = signal(SignalKind::from_raw(nix::libc::SIGTSTP))?;
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, suspend })
    }

    async fn next(&mut self) -> Request {
        tokio::select! {
            _ = self.interrupt.recv() => Request::Stop,
            _ = self.terminate.recv() => Request::Stop,
            _ = self.suspend.recv() => Request::Suspend,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Request {
        // Without a handler there is nobody to wait for.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
        Request::Stop
    }
}
