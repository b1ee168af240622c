//! The result of the proof by damage: the checks that hold whatever is damaged.
//!
//! Takes checks, gives text. Must not know how they were found.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::model::RequirementId;
use crate::model::text::count;

/// The checks that held in no test that a text lists.
const LISTED: usize = 20;

/// A check of a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CheckOfTest {
    /// The path of the test.
    pub test: String,
    /// The index of the step, counted from 0.
    pub step: usize,
    /// The requirement.
    pub requirement: RequirementId,
}

impl fmt::Display for CheckOfTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, step {}: {}", self.test, self.step + 1, self.requirement)
    }
}

/// A check that breaks although the target only says the same in another way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Brittle {
    /// The check.
    pub check: CheckOfTest,
    /// The way, in words.
    pub by: String,
}

/// The result of the proof by damage.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Damages {
    /// The number of checks that held, each row for itself.
    pub checks: usize,
    /// The checks that no damage breaks.
    pub vacuous: BTreeSet<CheckOfTest>,
    /// The checks that break although nothing is wrong.
    pub brittle: BTreeSet<Brittle>,
    /// The checks that break only if a step has no result.
    pub without_result_only: BTreeSet<CheckOfTest>,
    /// The checks that held in no row, so that nothing is known about them.
    pub not_held: BTreeSet<CheckOfTest>,
}

impl Damages {
    /// Returns whether some damage breaks each check that held, and no check breaks without one.
    pub fn holds(&self) -> bool {
        self.vacuous.is_empty() && self.brittle.is_empty()
    }

    /// Returns a line for each check that is not proved, and the totals.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for check in &self.vacuous {
            out += &format!("{check}: no damage breaks this check\n");
        }
        for Brittle { check, by } in &self.brittle {
            out += &format!("{check}: {by} breaks this check, although nothing is wrong\n");
        }
        for check in self.not_held.iter().take(LISTED) {
            out += &format!("{check}: held in no test, so that nothing is known of it\n");
        }
        if let Some(more) = self.not_held.len().checked_sub(LISTED).filter(|more| *more > 0) {
            out += &format!("{more} more held in no test; `--format json` lists them\n");
        }
        out += &format!(
            "{} held: no damage breaks {}, only a missing result {}, and {} break although nothing is wrong; {} held in no test",
            count(self.checks, "check"),
            self.vacuous.len(),
            self.without_result_only.len(),
            self.brittle.len(),
            self.not_held.len()
        );
        out
    }
}
