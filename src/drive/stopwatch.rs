//! What a worker spends on its target: one clock that runs on, and what is set aside of it.
//!
//! Takes moments, messages and steps, gives [`Spent`]. Must not know what was waited for.

use std::time::{Duration, Instant};

use crate::model::timings::Spent;
use crate::model::transcript::{Message, StepTranscript};

/// A clock that runs from when it was last read.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    since: Instant,
    spent: Spent,
}

impl Stopwatch {
    /// A clock that begins to run.
    pub(crate) fn start() -> Self {
        Self { since: Instant::now(), spent: Spent::default() }
    }

    /// All since that moment went into starting or stopping the target.
    pub(crate) fn started(&mut self, since: Instant) {
        self.spent.start += since.elapsed();
    }

    /// The connection was opened with these messages.
    pub(crate) fn shook_hands(&mut self, opening: &[Message]) {
        let at = |message: Option<&Message>| Duration::from_micros(message.map_or(0, |message| message.at));
        self.spent.start += at(opening.last()).saturating_sub(at(opening.first()));
    }

    /// These steps were asked of the target.
    pub(crate) fn asked(&mut self, steps: &[StepTranscript]) {
        self.spent.busy += steps.iter().map(|step| Duration::from_micros(step.micros)).sum();
    }

    /// What was spent since this was last asked.
    pub(crate) fn take(&mut self) -> Spent {
        let all = self.since.elapsed();
        self.since += all;
        Spent { all, ..std::mem::take(&mut self.spent) }
    }
}
