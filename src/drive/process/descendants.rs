//! Killing of all descendant processes on Linux, regardless of their group or environment.
//!
//! This process becomes a child subreaper: a process that loses its parent becomes a child of this process, an orphan.
//! This module reaps each orphan, and kills it when the target process that started it ends. If several target
//! processes run and the orphan shows no mark, it is killed when none of them runs any more. Must not know the purpose
//! of the processes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

/// The longest time to kill the descendants of one process.
const LIMIT: Duration = Duration::from_secs(1);
/// The longest time to kill all descendants.
const FINAL_LIMIT: Duration = Duration::from_secs(10);
/// The children that this process had before it adopted orphans, set once it does. A shell may have started them.
static EARLIER: OnceLock<Vec<Pid>> = OnceLock::new();
/// Held for reading while a process is started, so that no child of this process is taken for an orphan.
static STARTING: RwLock<()> = RwLock::new(());
static LEADERS: Mutex<Leaders> = Mutex::new(Leaders { ids: BTreeSet::new(), running: 0 });

/// The children that this process started itself. Their owners reap them.
struct Leaders {
    ids: BTreeSet<i32>,
    running: usize,
}

fn leaders() -> MutexGuard<'static, Leaders> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process the parent of all orphans below it, if the system supports that.
pub(crate) fn adopt() {
    let can = fs::exists(children_file(getpid(), getpid())).unwrap_or(false);
    if can && nix::sys::prctl::set_child_subreaper(true).is_ok() {
        EARLIER.get_or_init(|| children(getpid()));
    }
}

/// Returns whether [`adopt`] succeeded.
pub(crate) fn adopts() -> bool {
    EARLIER.get().is_some()
}

/// Reaps dead orphans.
pub(crate) fn reap() {
    orphans();
}

/// Starts a process, and records it as started by this process.
///
/// # Errors
/// The errors of `start`.
pub(crate) fn start<T>(start: impl FnOnce() -> io::Result<T>, id: impl Fn(&T) -> Option<u32>) -> io::Result<T> {
    let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    let child = start()?;
    let mut leaders = leaders();
    leaders.ids.extend(id(&child).and_then(|id| i32::try_from(id).ok()));
    leaders.running += 1;
    Ok(child)
}

/// Kills, once, the descendants of a process that [`start`] started, and the orphans that carry its mark. After the
/// last running process, all orphans are killed. `kill_leader` is called when the children of the process are known.
pub(crate) fn end(leader: Option<u32>, is_marked: impl Fn(Pid) -> bool, kill_leader: impl FnOnce()) {
    leaders().running -= 1;
    let leader = leader.and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
    let below_leader = || {
        let leader = leader.filter(|leader| parent(*leader) == Some(getpid()));
        with_descendants(leader.map(children).unwrap_or_default())
    };
    let mut known: BTreeSet<Pid> = below_leader().into_iter().collect();
    kill_leader();
    let until = Instant::now() + LIMIT;
    let mut empty = 0;
    // A process has no environment while it becomes another program, so that one look may miss it.
    while empty < 2 && Instant::now() < until {
        let Orphans { living, is_quiet } = orphans();
        let own = living.into_iter().filter(|orphan| is_quiet || known.contains(orphan) || is_marked(*orphan));
        let mut found = below_leader();
        found.extend(with_descendants(own.collect()));
        let killed = kill_all(&found);
        empty = if killed.is_empty() { empty + 1 } else { 0 };
        if killed.iter().filter(|id| known.insert(**id)).count() == 0 && !killed.is_empty() {
            // These processes were killed before and have not exited yet.
            thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Kills and reaps everything below this process, except for the children that it had before, and starts no other process
/// from then on.
pub(crate) fn end_all() {
    std::mem::forget(STARTING.write().unwrap_or_else(PoisonError::into_inner));
    let until = Instant::now() + FINAL_LIMIT;
    let mut known = BTreeSet::new();
    while Instant::now() < until {
        let own = own_children();
        if own.is_empty() {
            return;
        }
        for id in &own {
            _ = waitpid(*id, Some(WaitPidFlag::WNOHANG));
        }
        let killed = kill_all(&with_descendants(own));
        if killed.iter().filter(|id| known.insert(**id)).count() == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Stops all of these processes, so that they start no others meanwhile, and kills them. Returns those that existed.
fn kill_all(found: &[Pid]) -> Vec<Pid> {
    let stopped = found.iter().copied().filter(|id| kill(*id, Signal::SIGSTOP).is_ok());
    let stopped: Vec<_> = stopped.collect();
    for id in &stopped {
        _ = kill(*id, Signal::SIGKILL);
    }
    stopped
}

#[derive(Default)]
struct Orphans {
    living: Vec<Pid>,
    /// Set if no process runs that could have started them.
    is_quiet: bool,
}

/// Returns the children whose parents died, after reaping the dead ones.
fn orphans() -> Orphans {
    if !adopts() || adopted().is_empty() {
        return Orphans::default();
    }
    let _none_starts = STARTING.write().unwrap_or_else(PoisonError::into_inner);
    let is_quiet = leaders().running == 0;
    let is_living = |id: &Pid| matches!(waitpid(*id, Some(WaitPidFlag::WNOHANG)), Ok(WaitStatus::StillAlive));
    let living = adopted().into_iter().filter(is_living).collect();
    // The system may reuse the id of a process that was reaped.
    leaders().ids.retain(|id| parent(Pid::from_raw(*id)) == Some(getpid()));
    Orphans { living, is_quiet }
}

/// Returns the children that this process did not start. Orphans become children of the main thread. A sibling that a
/// child starts belongs to the thread that started the child.
fn adopted() -> Vec<Pid> {
    let leaders = leaders();
    let mut children = own_children();
    children.retain(|id| !leaders.ids.contains(&id.as_raw()));
    children
}

/// Returns the children that this process started or adopted.
fn own_children() -> Vec<Pid> {
    let mut children = children(getpid());
    children.retain(|id| EARLIER.get().is_none_or(|earlier| !earlier.contains(id)));
    children
}

/// Returns these processes and all their descendants, the nearest first.
fn with_descendants(mut found: Vec<Pid>) -> Vec<Pid> {
    let mut next = 0;
    while let Some(id) = found.get(next).copied() {
        found.extend(children(id));
        next += 1;
    }
    found
}

fn children(id: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let threads = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    threads.flat_map(|thread| children_of(id, Pid::from_raw(thread))).collect()
}

fn children_of(id: Pid, thread: Pid) -> Vec<Pid> {
    // If a child exits between two reads, the second one skips another child. With this capacity, no read is smaller than
    // a page, in which nearly every process has all of its children.
    let mut ids = String::with_capacity(1 << 13);
    _ = File::open(children_file(id, thread)).and_then(|mut file| file.read_to_string(&mut ids));
    ids.split_whitespace().filter_map(|id| id.parse().ok()).map(Pid::from_raw).collect()
}

fn children_file(id: Pid, thread: Pid) -> String {
    format!("/proc/{id}/task/{thread}/children")
}

fn parent(id: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in front of it may contain any character.
    let (_, fields) = stat.rsplit_once(')')?;
    Some(Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?))
}
