//! The mark of a run's processes: an entry in their environment, by which those that left their group are found.
//!
//! Takes marks, kills the processes that have them. Linux only; elsewhere groups have to do.

use std::sync::OnceLock;

use crate::drive::token::token;

/// The variable by which a process that has left its group is found again.
pub(crate) const MARK: &str = "CASEBOOK_RUN";

/// The first part of the marks of this run's processes.
static RUN: OnceLock<String> = OnceLock::new();

/// The first part of the marks of this run's processes.
pub(crate) fn of_run() -> &'static str {
    RUN.get_or_init(token)
}

/// Takes over the run that a guard has begun.
pub(crate) fn set_run(run: &str) -> &'static str {
    RUN.get_or_init(|| run.to_owned())
}

/// The least number that a process can have which this one started. Numbers are given in turn: only where they began
/// anew meanwhile it is any. Nearly all processes of a machine are older, and needn't be looked into.
#[cfg(target_os = "linux")]
pub(crate) fn since(leader: u32) -> u32 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let newest = load.split_whitespace().next_back().and_then(|newest| newest.parse().ok());
    if newest.is_some_and(|newest: u32| newest >= leader) { leader } else { 0 }
}

/// Kills all processes from this number on with an entry in their environment that begins so; again, as long as new
/// ones turn up.
#[cfg(target_os = "linux")]
pub(crate) fn sweep(entry: &str, since: u32) {
    use nix::sys::signal::{Signal, kill};
    const PASSES: usize = 6;
    let mut empty = 0;
    for _ in 0..PASSES {
        let marked = marked(entry, since);
        empty = if marked.is_empty() { empty + 1 } else { 0 };
        // A process has no environment for the moment in which it becomes another program: one look isn't enough.
        if empty == 2 {
            return;
        }
        for id in marked.into_iter().filter_map(|id| i32::try_from(id).ok()) {
            _ = kill(nix::unistd::Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

/// The processes that have an entry in their environment that begins so. A zombie's environment is empty.
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
