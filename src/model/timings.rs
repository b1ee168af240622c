//! Where the time of a run went: what its workers spent on each target, and what the processor did.
//!
//! Takes and gives durations. Must not know what a clock is.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::time::Duration;

use super::TargetId;

/// What workers spent on one target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// From when they turned to it until they were through with it.
    pub all: Duration,
    /// Of that, while it started, built its fixtures, shook hands, and was taken down again.
    pub start: Duration,
    /// Of that, while something was asked of it and it had not answered yet.
    pub busy: Duration,
}

impl Spent {
    /// What is left: the harness's own time.
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
    /// Of this process.
    pub harness: Duration,
    /// Of all that it started and saw the end of.
    pub targets: Duration,
}

/// Where the time of a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// How many workers there were.
    pub workers: usize,
    /// How long the run took.
    pub wall: Duration,
    /// What the workers spent.
    pub targets: BTreeMap<TargetId, Spent>,
    /// What the processor did, where the system tells.
    pub processor: Option<Processor>,
}

impl Timings {
    /// What the workers had.
    pub fn all(&self) -> Duration {
        self.wall * u32::try_from(self.workers).unwrap_or(u32::MAX)
    }

    /// What they spent on all targets together.
    pub fn spent(&self) -> Spent {
        self.targets.values().fold(Spent::default(), |mut sum, one| {
            sum += *one;
            sum
        })
    }

    /// What they had, and nothing to do with: others were still at the last tests.
    pub fn waiting(&self) -> Duration {
        self.all().saturating_sub(self.spent().all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_spent_on_a_target_was_waiting() {
        let seconds = Duration::from_secs;
        let one = Spent { all: seconds(7), start: seconds(2), busy: seconds(4) };
        let targets =
            [("a", one), ("b", one)].map(|(name, one)| (TargetId { name: name.to_owned(), variant: None }, one)).into();
        let timings = Timings { workers: 2, wall: seconds(10), targets, processor: None };
        assert_eq!(timings.spent().harness(), seconds(2));
        assert_eq!(timings.waiting(), seconds(6));
    }
}
