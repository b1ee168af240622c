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

#[cfg(target_os = "linux")]
use crate::drive::process::descendants;
use crate::drive::process::launch::in_words;
use crate::drive::process::mark::{self, MARK};
use crate::drive::token::token;

/// The longest time in which a harness stops and writes its reports, after its time limit or the second request.
const GRACE: Duration = Duration::from_secs(10);
/// The interval of the signals that resume a stopped harness.
const RESUME_INTERVAL: Duration = Duration::from_secs(1);
/// The flag CREATE_NEW_PROCESS_GROUP: Windows sends no Ctrl-C to such a process.
#[cfg(windows)]
const NEW_PROCESS_GROUP: u32 = 0x200;
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
        #[cfg(target_os = "linux")]
        descendants::adopt();
        let mut signals = Signals::new()?;
        let mut resume_timer = ResumeTimer::start();
        let mut command = Command::new(program);
        command.arg("--guarded").args(arguments).stdin(Stdio::piped());
        // The terminal sends its signals to the guard alone, which passes them on.
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(windows)]
        command.creation_flags(NEW_PROCESS_GROUP);
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
    #[cfg(target_os = "linux")]
    mark::sweep(&format!("{MARK}={run}-"), 0);
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
                    // The harness stops its own timer before it suspends itself.
                    _ = requests.write_all(&[SUSPEND]).await;
                    suspend(resume_timer);
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

/// Returns the exit status of the guard for that of the harness; signals are converted as in shells.
fn exit_code(status: ExitStatus, tell: fn(&str)) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let how = in_words(status);
        print_message(tell, format!("casebook: the run was {how}; the run log contains all finished tests"));
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    #[cfg(not(unix))]
    let _ = tell;
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Kills all processes left of a run, and deletes its temporary files.
fn clean_up(run: &str) {
    #[cfg(target_os = "linux")]
    if descendants::adopts() {
        descendants::end_all();
    }
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
            suspend(&mut resume_timer);
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

/// Blocks two signals: SIGTTOU would stop the harness on a terminal that lets only the foreground write, and SIGXFSZ
/// would kill it at a limit on the size of files.
#[cfg(unix)]
fn block_signals() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTTOU);
    signals.add(Signal::SIGXFSZ);
    _ = signals.thread_block();
}

/// A timer of the system that resumes this process every second: a target may have stopped it, and the guard may be
/// gone.
#[cfg(target_os = "linux")]
struct ResumeTimer(Option<nix::sys::timer::Timer>);

#[cfg(target_os = "linux")]
impl ResumeTimer {
    fn start() -> Self {
        use nix::sys::signal::{SigEvent, SigevNotify, Signal};
        use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
        let notify = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGCONT, si_value: 0 });
        let timer = Timer::new(nix::time::ClockId::CLOCK_MONOTONIC, notify);
        let timer = timer.and_then(|mut timer| {
            timer.set(Expiration::Interval(RESUME_INTERVAL.into()), TimerSetTimeFlags::empty()).map(|()| timer)
        });
        Self(timer.ok())
    }

    fn stop(&mut self) {
        self.0 = None;
    }
}

#[cfg(not(target_os = "linux"))]
struct ResumeTimer;

#[cfg(not(target_os = "linux"))]
impl ResumeTimer {
    fn start() -> Self {
        Self
    }

    fn stop(&mut self) {}
}

/// A request to the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// Stops the run.
    Stop,
    /// Suspends the run, by Ctrl-Z.
    Suspend,
}

#[cfg(unix)]
fn signal(id: Option<u32>, signal: nix::sys::signal::Signal) {
    let id = id.and_then(|id| i32::try_from(id).ok()).map(nix::unistd::Pid::from_raw);
    // An error means that the process has exited.
    _ = id.map(|id| nix::sys::signal::kill(id, signal));
}

/// Resumes the harness.
#[cfg(unix)]
fn resume(id: Option<u32>) {
    signal(id, nix::sys::signal::Signal::SIGCONT);
}

/// Suspends this process until it receives SIGCONT.
#[cfg(unix)]
fn suspend(resume_timer: &mut ResumeTimer) {
    resume_timer.stop();
    _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGSTOP);
    *resume_timer = ResumeTimer::start();
}

#[cfg(not(unix))]
fn resume(_: Option<u32>) {}

#[cfg(not(unix))]
fn suspend(_: &mut ResumeTimer) {}

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
        // Without a handler, no signal can be awaited.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
        Request::Stop
    }
}
