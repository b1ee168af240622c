//! The time limits, the number of workers and the further settings of a run.
//!
//! Plain values, made from the command line. Must not know targets or tests.

use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::model::case::{STEP_LIMIT, Step, When};
use crate::plan::{Group, Plan};

/// The kind of a group, and the groups that a worker takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A group that needs the processor for long. Few workers take these, so that none of them is late because of the
    /// others; they take them first, and then those of the other lanes.
    Hard,
    /// Any other group. Its workers then take those that wait.
    Plain,
    /// A group that waits for time to pass. Its workers take nothing else.
    Waiting,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of groups that run at the same time.
    pub jobs: NonZeroUsize,
    /// The time limit of a step.
    pub step_limit: Duration,
    /// The time limit of a test.
    pub test_limit: Duration,
    /// The time limit of an adapter's hello.
    pub start_limit: Duration,
    /// The number of further attempts at a test in which the target violates a MUST.
    pub retries: usize,
    /// The number of tests of the run that are run again, alone, after an unexpected time-out. A target that hangs in many
    /// tests delays the run by no more than these.
    pub repetitions: usize,
    /// `true` to run each test of a pair without the proxy as well.
    pub checks_proxy: bool,
    /// The path of this program, which clients launch over stdio as `PROGRAM __relay FILE`.
    pub program: Utf8PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        const MOST: usize = 8;
        let program = std::env::current_exe().ok().and_then(|program| Utf8PathBuf::try_from(program).ok());
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            // Targets wait more than they compute, so that each core has two workers.
            jobs: NonZeroUsize::new((2 * cores).min(MOST)).unwrap_or(NonZeroUsize::MIN),
            step_limit: Duration::from_secs(STEP_LIMIT.into()),
            test_limit: Duration::from_secs(60),
            start_limit: Duration::from_secs(30),
            retries: 0,
            repetitions: 5,
            checks_proxy: false,
            program: program.unwrap_or_else(|| "casebook".into()),
        }
    }
}

impl Options {
    /// Returns the number of workers for a plan, with those for groups that wait.
    pub fn workers(&self, plan: &Plan) -> usize {
        self.jobs.get().min(plan.groups.len()) + self.waiting_workers(plan)
    }

    /// Returns the number of further workers, which take only groups that wait: they need no processor.
    pub(crate) fn waiting_workers(&self, plan: &Plan) -> usize {
        plan.groups.iter().filter(|group| self.lane(group) == Lane::Waiting).count().min(2 * self.jobs.get())
    }

    /// Returns the number of the workers that take hard groups: one for each two cores, if each core has two workers.
    pub(crate) fn hard_workers(&self) -> usize {
        (self.jobs.get() / 4).max(1)
    }

    /// Returns the kind of a group.
    pub(crate) fn lane(&self, group: &Group) -> Lane {
        match group {
            _ if self.wait(group) > 0 => Lane::Waiting,
            _ if group.is_hard() && !group.target.is_fixed_server() => Lane::Hard,
            _ => Lane::Plain,
        }
    }

    /// Returns for about how many seconds a group waits while others could run. There are no others if the user wants one
    /// group at a time, and a fixed server keeps its few processes from group to group.
    pub(crate) fn wait(&self, group: &Group) -> u32 {
        let is_alone = self.jobs == NonZeroUsize::MIN || group.target.is_fixed_server();
        if is_alone { 0 } else { group.wait() }
    }

    /// The indices of the plan's groups, in the order in which workers take those of a lane. The groups of one target stay
    /// together, so that its processes can be reused, and so do those of one revision of a target that keeps its processes
    /// from group to group; there, those that end the process or begin with one come last. Groups that wait longest come first, so that none of them runs alone at the end.
    pub(crate) fn order(&self, plan: &Plan) -> Vec<usize> {
        let mut order: Vec<_> = (0..plan.groups.len()).collect();
        let target = |place: usize| &plan.groups[place].target.id;
        for same in order.chunk_by_mut(|one, next| target(*one) == target(*next)) {
            same.sort_by_cached_key(|place| {
                let group = &plan.groups[*place];
                let kept = || (group.revision, group.transport, needs_own_process(group));
                let kept = group.target.is_fixed_server().then(kept);
                (Reverse(self.wait(group)), kept)
            });
        }
        order
    }
}

/// Returns whether a test of a group opens its connection itself, ends it, or may make a server end.
fn needs_own_process(group: &Group) -> bool {
    let is_end = |step: &Step| matches!(step.when, When::EndInput);
    let tests = || group.tests.iter().map(|planned| &planned.test);
    group.is_hard() || tests().any(|test| test.opens(group.revision) || test.steps.iter().any(is_end))
}
