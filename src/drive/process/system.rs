//! The handling of processes as far as operating systems differ: groups, signals, and requests to stop.
//!
//! Takes commands and the ids of processes, gives processes in a group of their own and the end of all of them. The
//! functions have the same names and types on every system. Must not know targets, runs or adapters.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

use std::time::Duration;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

pub(crate) use system::{
    ResumeTimer, Signals, adopt, begin_harness, end_adopted, end_group, lead, lead_harness, private, resume, signal_of,
    start, suspend, sweep, terminate,
};

/// The interval of the signals that resume a stopped harness.
pub(crate) const RESUME_INTERVAL: Duration = Duration::from_secs(1);

/// A request to the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has a Ctrl-Z that suspends"))]
pub(crate) enum Request {
    /// Stops the run.
    Stop,
    /// Suspends the run, by Ctrl-Z.
    Suspend,
}
