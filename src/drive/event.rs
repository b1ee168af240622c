//! The events of a run and the caller's request to stop.
//!
//! Plain types. Must not know how a test is carried out.

use std::sync::Arc;
use std::time::Duration;

use crate::model::transcript::Transcript;
use crate::plan::Planned;

/// The caller's request to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cancel {
    /// Runs the whole plan.
    #[default]
    Go,
    /// Finishes the tests that have begun, and begins no others.
    Finish,
    /// Stops at once, and kills all processes.
    Now,
}

/// The next action of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Goes on to the next test.
    On,
    /// Repeats the same test on fresh processes.
    Again,
}

/// The caller's function that takes each transcript, in the thread of the worker and before the worker goes on. It
/// returns the worker's next action and, if there is one, the event for the caller.
pub type Finish<T> = Arc<dyn Fn(&Planned, Box<Transcript>) -> (Next, Option<T>) + Send + Sync>;

/// An event of a run.
#[derive(Debug)]
pub enum Event<T> {
    /// A test is still running.
    Slow {
        /// The index of the test in the plan.
        index: usize,
        /// The time for which it has been running.
        after: Duration,
    },
    /// A test has finished.
    Finished {
        /// The index of the test in the plan.
        index: usize,
        /// The result that the caller's function returned.
        seen: T,
    },
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All tests of the plan were run.
    Whole,
    /// The run was stopped before its last test.
    Interrupted,
}
