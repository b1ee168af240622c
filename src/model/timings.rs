//! The distribution of a run's time over targets and casebook, and the processor time.
//!
//! The types only contain durations. This module must not measure time.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::time::Duration;

use super::TargetId;

/// The time that workers spent on one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The total, from the start of work on the target to its end.
    pub all: Duration,
    /// The part in which the target started, built fixtures, opened connections and stopped.
    pub start: Duration,
    /// The part in which casebook waited for the target's responses.
    pub busy: Duration,
}

impl Spent {
    /// Returns the rest, which is casebook's own time.
    pub fn harness(&self) -> Duration {
        self.all.saturating_sub(self.start + self.busy)
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.all += more.all;
        self.start += more.start;
        self.busy += more.busy;
    }
}

/// Processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// The time of this process.
    pub harness: Duration,
    /// The time of all child processes that have exited.
    pub targets: Duration,
}

/// The distribution of a run's time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// The number of workers.
    pub workers: usize,
    /// The duration of the run.
    pub wall: Duration,
    /// The time that workers spent, by target.
    pub targets: BTreeMap<TargetId, Spent>,
    /// The processor time, if the system provides it.
    pub processor: Option<Processor>,
}

impl Timings {
    /// Returns the time that all workers had together.
    pub fn all(&self) -> Duration {
        self.wall * u32::try_from(self.workers).unwrap_or(u32::MAX)
    }

    /// Returns the time that the workers spent on all targets together.
    pub fn spent(&self) -> Spent {
        self.targets.values().fold(Spent::default(), |mut sum, one| {
            sum += *one;
            sum
        })
    }

    /// Returns the time in which workers were idle, because others were still running the last tests.
    pub fn waiting(&self) -> Duration {
        self.all().saturating_sub(self.spent().all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_not_spent_on_a_target_is_waiting() {
        let seconds = Duration::from_secs;
        let one = Spent { all: seconds(7), start: seconds(2), busy: seconds(4) };
        let targets =
            [("a", one), ("b", one)].map(|(name, one)| (TargetId { name: name.to_owned(), variant: None }, one)).into();
        let timings = Timings { workers: 2, wall: seconds(10), targets, processor: None };
        assert_eq!(timings.spent().harness(), seconds(2));
        assert_eq!(timings.waiting(), seconds(6));
    }
}
