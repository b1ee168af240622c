//! The mark of a run's processes: an environment variable that identifies those that left their group.
//!
//! Takes marks, kills the processes that have them. Works on Linux only; other systems rely on process groups.

use std::sync::OnceLock;

use crate::drive::token::token;

/// The environment variable that identifies the processes of a run.
pub(crate) const MARK: &str = "CASEBOOK_RUN";

/// The first part of the marks of this run's processes.
static RUN: OnceLock<String> = OnceLock::new();

/// Returns the first part of the marks of this run's processes.
pub(crate) fn of_run() -> &'static str {
    RUN.get_or_init(token)
}

/// Returns the least id of a process that was started after the given one, or 0 if ids have started again from the
/// beginning. Nearly all processes of a machine are older and need not be examined.
#[cfg(target_os = "linux")]
pub(crate) fn since(leader: u32) -> u32 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let newest = load.split_whitespace().next_back().and_then(|newest| newest.parse().ok());
    if newest.is_some_and(|newest: u32| newest >= leader) { leader } else { 0 }
}

/// Kills all processes, from this id on, with an environment entry that begins with `mark`, and repeats that as long as
/// new ones appear.
#[cfg(target_os = "linux")]
pub(crate) fn sweep(entry: &str, since: u32) {
    use nix::sys::signal::{Signal, kill};
    const PASSES: usize = 6;
    let mut empty = 0;
    for _ in 0..PASSES {
        let marked = marked(entry, since);
        empty = if marked.is_empty() { empty + 1 } else { 0 };
        // A process has no environment while it becomes another program, so that one look may miss it.
        if empty == 2 {
            return;
        }
        for id in marked.into_iter().filter_map(|id| i32::try_from(id).ok()) {
            _ = kill(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

/// Returns the processes that have an environment entry with this beginning. The environment of a zombie is empty.
#[cfg(target_os = "linux")]
pub(crate) fn marked(entry: &str, since: u32) -> Vec<u32> {
    let ids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| *id >= since && has_entry(*id, entry)).collect()
}

#[cfg(target_os = "linux")]
pub(crate) fn has_entry(id: u32, entry: &str) -> bool {
    std::fs::read(format!("/proc/{id}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|one| one.starts_with(entry.as_bytes())))
}
