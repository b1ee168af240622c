//! Capabilities: questions of people who choose an implementation, and the requirements that decide them.

use serde_json::Value;

use super::spec::{Revision, Role};
use super::{RequirementId, TestId};
use crate::jsonrpc::pointer::is_within;

/// Capabilities of one feature.
#[derive(Clone, Debug)]
pub struct CapabilityGroup {
    /// The id.
    pub id: String,
    /// The subject.
    pub title: String,
    /// The role that is asked.
    pub role: Role,
    /// The capabilities, in the order of the file.
    pub capabilities: Vec<Capability>,
}

/// A question about an implementation.
#[derive(Clone, Debug)]
pub struct Capability {
    /// The id, which is unique among all groups.
    pub id: String,
    /// The question.
    pub question: String,
    /// Set for a question that people ask often.
    pub is_first: bool,
    /// `true` if “yes” is the answer for an implementation that does what is expected of it.
    pub right_is_yes: bool,
    /// The answer where an SDK has no such thing.
    pub absent: Option<Absence>,
    /// The value that callers get, where it is the answer.
    pub shows: Option<Shown>,
    /// The answer of a target of which most checks were not asked.
    pub unasked: Option<Unasked>,
    /// The first revision that has what is asked about, if it is not the first of all.
    pub since: Option<Revision>,
    /// The checks that decide it.
    pub decided_by: Vec<Decider>,
}

/// The answer where an SDK has no such thing.
#[derive(Clone, Debug)]
pub struct Absence {
    /// The words.
    pub words: String,
    /// The answer.
    pub answer: Lacking,
}

super::spec::words! {
    /// The meaning of a thing that an SDK does not have.
    Lacking {
        /// The question cannot be asked of it.
        Nothing = "nothing",
        /// The answer is no.
        No = "no",
        /// Its users write the thing themselves.
        ByHand = "by-hand",
    }
}

/// The answer of a target of which most checks were not asked: their controls fail, or there was nothing to check.
#[derive(Clone, Debug)]
pub struct Unasked {
    /// The answer.
    pub answer: UnaskedAnswer,
    /// The words of it, if they are not those of the reason.
    pub words: Option<String>,
    /// Set if a check that the API cannot express counts like one that was not asked.
    pub with_cannot: bool,
}

/// The meaning of checks that were not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaskedAnswer {
    /// The target does what is expected of it, as one that reads no schema fetches no reference.
    Right,
    /// The target does not do what is expected of it. Each check with an alternative by which there is nothing to check
    /// counts as one that fails.
    Wrong,
    /// The target has nothing of the kind.
    Absent,
}

/// The value of a test that is shown if it is another one than readers expect.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The test, with its revision after `@`.
    pub test: String,
    /// The structured content that readers expect.
    pub value: Value,
}

impl Shown {
    /// Returns whether it is this test, over any transport.
    pub fn is_of(&self, test: &TestId) -> bool {
        self.test
            .rsplit_once('@')
            .is_some_and(|(path, revision)| test.revision.name() == revision && test.path() == path)
    }
}

/// Checks that decide a capability.
#[derive(Clone, Debug)]
pub struct Decider {
    /// The requirement.
    pub requirement: RequirementId,
    /// The tests whose checks of the requirement count, as prefixes of their paths; if empty, all.
    pub tests: Vec<String>,
    /// What happens instead, in a few words, if the question has better ones than the requirement.
    pub short: Option<String>,
}

impl Decider {
    /// Returns whether checks of a test count.
    pub fn has(&self, test: &TestId) -> bool {
        if self.tests.is_empty() {
            return true;
        }
        let path = test.path();
        self.tests.iter().any(|prefix| is_within(&path, prefix))
    }
}
