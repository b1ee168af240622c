//! Process groups and signals. On Linux, processes that left their group are found too.
//!
//! Takes commands and the ids of processes, as its counterpart for Windows does. Must not know targets, runs or adapters.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use nix::sys::signal::{SigSet, Signal, killpg, raise};
use nix::unistd::Pid;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessGroup};
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

/// Kills all processes that this process started and, on Linux, all of their descendants. No further one starts.
pub(crate) fn end_all() {
    #[cfg(target_os = "linux")]
    if descendants::adopts() {
        descendants::end_all();
    } else {
        mark::sweep(&format!("{}={}-", mark::MARK, mark::of_run()), 0);
    }
}

/// Prepares this process: it blocks SIGXFSZ, which would end it at a limit on the size of files, and adopts processes,
/// where the system can do that.
pub(crate) fn begin() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    _ = signals.thread_block();
    #[cfg(target_os = "linux")]
    descendants::adopt();
}

/// Lets other users have no access to a folder that is created.
pub(crate) fn private(folder: &mut DirBuilder) {
    folder.mode(0o700);
}

/// Suspends this process until it receives SIGCONT.
pub(crate) fn suspend() {
    _ = raise(Signal::SIGSTOP);
}

/// The signals that request this process to stop or to suspend itself.
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    suspend: tokio::signal::unix::Signal,
    /// `None` if a hang-up is not handled here.
    hang_up: Option<tokio::signal::unix::Signal>,
    /// Arrives when a process below this one has ended.
    child: tokio::signal::unix::Signal,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// Errors of the system.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            suspend: signal(SignalKind::from_raw(nix::libc::SIGTSTP))?,
            hang_up: if ends_by_hang_up() { Some(signal(SignalKind::hangup())?) } else { None },
            child: signal(SignalKind::child())?,
        })
    }

    /// Waits for the next request, and reaps adopted processes meanwhile.
    pub(crate) async fn next(&mut self) -> Request {
        loop {
            let hang_up = async {
                match &mut self.hang_up {
                    Some(signal) => signal.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = self.interrupt.recv() => return Request::Stop,
                _ = self.terminate.recv() => return Request::Stop,
                _ = hang_up => return Request::HangUp,
                _ = self.suspend.recv() => return Request::Suspend,
                _ = self.child.recv() => {
                    #[cfg(target_os = "linux")]
                    descendants::reap();
                }
            }
        }
    }
}

/// Returns whether a hang-up would end this process: not under `nohup`, and not if the system does not tell. A handler
/// would replace what `nohup` has set.
fn ends_by_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (nix::libc::SIGHUP - 1)) == 0)
}
