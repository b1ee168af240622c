//! The values that the caller and the workers of a run exchange: events, and the wish to stop.
//!
//! Plain types. Must not know how a test is carried out.

use std::sync::Arc;
use std::time::Duration;

use crate::model::TargetId;
use crate::model::timings::Spent;
use crate::model::transcript::Transcript;
use crate::plan::{Group, Planned};

/// The caller's wish to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cancel {
    /// To the end of the plan.
    #[default]
    Go,
    /// To the end of the tests that were begun.
    Finish,
    /// No further: what runs is killed.
    Now,
}

/// The next thing that a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next test.
    On,
    /// The same test once more, on fresh processes.
    Again,
}

/// The caller's part of a test, in its worker's own thread and before the worker goes on. It takes the transcript, and
/// gives the worker's next step and, unless there is none, the event for the others.
pub type Finish<T> = Arc<dyn Fn(&Group, &Planned, Box<Transcript>) -> (Next, Option<T>) + Send + Sync>;

/// An event while a plan is carried out.
#[derive(Debug)]
pub enum Event<T> {
    /// A test still runs.
    Slow {
        /// Its place in the plan.
        index: usize,
        /// For how long it has been running.
        after: Duration,
    },
    /// The machine was found to be overloaded, in words; at most once per run.
    Overloaded(String),
    /// A test has come to its end.
    Finished {
        /// Its place in the plan.
        index: usize,
        /// The caller's result.
        seen: T,
    },
    /// A worker has spent time on a target.
    Spent {
        /// The target.
        target: TargetId,
        /// The time spent since the last event of this kind.
        spent: Spent,
    },
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With the last test of the plan.
    Whole,
    /// Before.
    Interrupted,
}
