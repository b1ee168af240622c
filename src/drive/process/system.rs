//! The handling of processes as far as operating systems differ: groups, signals, and requests to stop.
//!
//! Takes commands and the ids of processes, gives processes in a group of their own and the end of all of them. The
//! functions have the same names and types on every system. Must not know targets, runs or adapters.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

pub(crate) use system::{Signals, begin, end_all, end_group, lead, private, signal_of, start, suspend, terminate};

/// A request to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has signals"))]
pub(crate) enum Request {
    /// Stops, by Ctrl-C or SIGTERM.
    Stop,
    /// Stops at once, because the terminal was closed.
    HangUp,
    /// Suspends this process, by Ctrl-Z.
    Suspend,
}
