//! Process groups and signals. On Linux, processes that left their group are found too.
//!
//! Takes commands and the ids of processes, as its counterpart for Windows does. Must not know targets, runs or adapters.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use nix::sys::signal::{SigSet, Signal, kill, killpg, raise};
use nix::unistd::Pid;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::Request;
#[cfg(target_os = "linux")]
use crate::drive::process::{descendants, mark};

/// Lets a process lead a group of its own, which ends with it.
pub(crate) fn lead(command: &mut CommandWrap) {
    command.wrap(ProcessGroup::leader());
}

/// Starts a process, which [`end_group`] ends.
///
/// # Errors
/// Errors of the system, for example a missing program.
pub(crate) fn start(command: &mut CommandWrap) -> io::Result<Box<dyn ChildWrapper>> {
    #[cfg(target_os = "linux")]
    return descendants::start(|| command.spawn(), |child| child.id());
    #[cfg(not(target_os = "linux"))]
    command.spawn()
}

/// Asks all processes of a group to exit, by SIGTERM.
pub(crate) fn terminate(leader: Option<u32>) {
    send_to_group(leader, Signal::SIGTERM);
}

/// Kills all processes of a group. On Linux, also kills those that left it: the descendants of its leader, and all
/// processes with this entry in their environment.
#[cfg(target_os = "linux")]
pub(crate) fn end_group(leader: Option<u32>, entry: &str) {
    // A stopped process starts no others while its children are searched.
    send_to_group(leader, Signal::SIGSTOP);
    let is_marked = |id: Pid| id.as_raw().try_into().is_ok_and(|id: u32| mark::has_entry(id, entry));
    descendants::end(leader, is_marked, || send_to_group(leader, Signal::SIGKILL));
    if !descendants::adopts() {
        mark::sweep(entry, leader.map_or(0, mark::since));
    }
}

/// Kills all processes of a group. The environment of other processes cannot be read on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end_group(leader: Option<u32>, _entry: &str) {
    send_to_group(leader, Signal::SIGKILL);
}

fn send_to_group(leader: Option<u32>, signal: Signal) {
    // An error means that the group has no process left.
    _ = as_pid(leader).map(|id| killpg(id, signal));
}

fn as_pid(id: Option<u32>) -> Option<Pid> {
    id.and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw)
}

/// Returns the signal that ended a process, with its name.
pub(crate) fn signal_of(status: ExitStatus) -> Option<(i32, &'static str)> {
    status.signal().map(|signal| (signal, Signal::try_from(signal).map_or("unknown", Signal::as_str)))
}

/// Makes this process the parent of all processes below it that lose theirs, where the system can do that.
pub(crate) fn adopt() {
    #[cfg(target_os = "linux")]
    descendants::adopt();
}

/// Kills all processes that this process adopted.
pub(crate) fn end_adopted() {
    #[cfg(target_os = "linux")]
    if descendants::adopts() {
        descendants::end_all();
    }
}

/// Kills all processes with this entry in their environment, wherever they were started.
#[cfg(target_os = "linux")]
pub(crate) fn sweep(entry: &str) {
    mark::sweep(entry, 0);
}

/// Does nothing: the environment of other processes cannot be read on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sweep(_entry: &str) {}

/// Prepares the command of the harness: the terminal sends its signals to the guard alone, which passes them on.
pub(crate) fn lead_harness(command: &mut Command) {
    command.process_group(0);
}

/// Prepares this process, the harness. Blocks two signals: SIGTTOU would stop the harness on a terminal that lets only
/// the foreground write, and SIGXFSZ would kill it at a limit on the size of files. Adopts processes, and reaps them.
///
/// # Errors
/// Errors of a system without a free thread or descriptor.
pub(crate) fn begin_harness() -> io::Result<()> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTTOU);
    signals.add(Signal::SIGXFSZ);
    _ = signals.thread_block();
    #[cfg(target_os = "linux")]
    if descendants::adopt() {
        descendants::keep_reaping()?;
    }
    Ok(())
}

/// Lets other users have no access to a folder that is created.
pub(crate) fn private(folder: &mut DirBuilder) {
    folder.mode(0o700);
}

/// Resumes the harness, which a target may have stopped.
pub(crate) fn resume(id: Option<u32>) {
    // An error means that the process has exited.
    _ = as_pid(id).map(|id| kill(id, Signal::SIGCONT));
}

/// Suspends this process until it receives SIGCONT.
pub(crate) fn suspend(resume_timer: &mut ResumeTimer) {
    resume_timer.stop();
    _ = raise(Signal::SIGSTOP);
    *resume_timer = ResumeTimer::start();
}

/// A timer of the system that resumes this process every second: a target may have stopped it, and the guard may be
/// gone. Systems other than Linux have none.
pub(crate) struct ResumeTimer(#[cfg(target_os = "linux")] Option<nix::sys::timer::Timer>);

#[cfg(target_os = "linux")]
impl ResumeTimer {
    pub(crate) fn start() -> Self {
        use nix::sys::signal::{SigEvent, SigevNotify};
        use nix::sys::timer::{Expiration, Timer, TimerSetTimeFlags};
        let notify = SigEvent::new(SigevNotify::SigevSignal { signal: Signal::SIGCONT, si_value: 0 });
        let timer = Timer::new(nix::time::ClockId::CLOCK_MONOTONIC, notify);
        let timer = timer.and_then(|mut timer| {
            timer.set(Expiration::Interval(super::RESUME_INTERVAL.into()), TimerSetTimeFlags::empty()).map(|()| timer)
        });
        Self(timer.ok())
    }

    fn stop(&mut self) {
        self.0 = None;
    }
}

#[cfg(not(target_os = "linux"))]
impl ResumeTimer {
    pub(crate) fn start() -> Self {
        Self()
    }

    fn stop(&mut self) {}
}

/// The signals that request this process to stop or to suspend itself.
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    suspend: tokio::signal::unix::Signal,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// Errors of the system.
    pub(crate) fn new() -> io::Result<Self> {
        let suspend = signal(SignalKind::from_raw(nix::libc::SIGTSTP))?;
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, suspend })
    }

    /// Waits for the next request.
    pub(crate) async fn next(&mut self) -> Request {
        tokio::select! {
            _ = self.interrupt.recv() => Request::Stop,
            _ = self.terminate.recv() => Request::Stop,
            _ = self.suspend.recv() => Request::Suspend,
        }
    }
}
