//! A stopwatch for the time that a worker spends on its target, by kind.
//!
//! Takes instants, messages and steps, gives [`Spent`]. Must not know the reasons of waits.

use std::time::{Duration, Instant};

use crate::model::timings::Spent;
use crate::model::transcript::{Message, StepTranscript};

/// A clock that runs since it was last read.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    since: Instant,
    spent: Spent,
}

impl Stopwatch {
    /// Starts a clock.
    pub(crate) fn start() -> Self {
        Self { since: Instant::now(), spent: Spent::default() }
    }

    /// Counts the time since an instant as starting or stopping the target.
    pub(crate) fn count_start(&mut self, since: Instant) {
        self.spent.start += since.elapsed();
    }

    /// Counts the time of these messages, which opened the connection, as starting the target.
    pub(crate) fn count_handshake(&mut self, opening: &[Message]) {
        let at = |message: Option<&Message>| Duration::from_micros(message.map_or(0, |message| message.at));
        self.spent.start += at(opening.last()).saturating_sub(at(opening.first()));
    }

    /// Counts the time of these steps as work of the target.
    pub(crate) fn count_steps(&mut self, steps: &[StepTranscript]) {
        self.spent.busy += steps.iter().map(|step| Duration::from_micros(step.micros)).sum::<Duration>();
    }

    /// Returns the time spent since the last call.
    pub(crate) fn take(&mut self) -> Spent {
        let all = self.since.elapsed();
        self.since += all;
        Spent { all, ..std::mem::take(&mut self.spent) }
    }
}
