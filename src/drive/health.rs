//! The health of a target: its failures so far, and the decision to give it up.
//!
//! Takes hangs and restarts, gives the reason for which no further test is run. Must not know tests or processes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::drive::adapter::hello::Hello;
use crate::model::TargetId;

/// The number of consecutive hangs or failed starts after which a target is given up.
const HANGS: u32 = 3;
/// The total number of restarts after which a target is given up.
const RESTARTS: u32 = 20;

/// The failures of a target so far.
#[derive(Debug)]
pub(crate) struct Health {
    target: TargetId,
    /// Set once a hello has confirmed the claims of `target.toml`.
    pub(crate) confirmed: bool,
    /// The last hello of its adapter.
    pub(crate) hello: Box<Hello>,
    /// The number of consecutive hangs.
    hangs: u32,
    /// The total number of restarts.
    restarts: u32,
    given_up: GivenUp,
}

/// The targets that were given up, with reasons. All workers share this value, so they stop at once and report the same
/// reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenUp(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    reasons: BTreeMap<TargetId, String>,
    /// The targets that have answered at least once.
    answered: BTreeSet<TargetId>,
}

impl GivenUp {
    fn all(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Health {
    pub(crate) fn new(target: TargetId, given_up: GivenUp) -> Self {
        Self { target, confirmed: false, hello: Box::default(), hangs: 0, restarts: 0, given_up }
    }

    /// Returns the reason as an error if the target was given up.
    pub(crate) fn check_usable(&self) -> Result<(), String> {
        self.given_up.all().reasons.get(&self.target).cloned().map_or(Ok(()), Err)
    }

    /// Takes an answer to a start. A target that starts and hangs in each test is still given up.
    pub(crate) fn count_answer(&mut self) {
        self.given_up.all().answered.insert(self.target.clone());
    }

    /// Takes a success after which earlier hangs no longer count.
    pub(crate) fn forget_hangs(&mut self) {
        self.hangs = 0;
    }

    /// Takes a start at which the target did not answer in time. A target that has never answered is given up at once:
    /// another start would wait as long, and show nothing else.
    pub(crate) fn count_silence(&mut self, how: &str) {
        if self.given_up.all().answered.contains(&self.target) {
            self.count_hang(how);
        } else {
            self.give_up(format!("given up because it has never answered: {how}"));
        }
    }

    pub(crate) fn count_hang(&mut self, how: &str) {
        self.hangs += 1;
        if self.hangs >= HANGS {
            self.give_up(format!(
                "given up after {HANGS} hangs or failed starts in a row; the last: {how}; if the target is only slow, give \
                 it more time, as with --limit step=60s"
            ));
        }
    }

    pub(crate) fn count_restart(&mut self, how: &str) {
        self.restarts += 1;
        if self.restarts >= RESTARTS {
            self.give_up(format!("given up after {RESTARTS} restarts; the last: {how}"));
        }
    }

    pub(crate) fn give_up(&mut self, reason: String) {
        self.given_up.all().reasons.entry(self.target.clone()).or_insert(reason);
    }
}
