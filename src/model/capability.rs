//! Capabilities: questions of people who choose an implementation, and the requirements that decide them.

use serde_json::Value;

use super::spec::Role;
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
    /// The words where an SDK has no such thing.
    pub absent: Option<String>,
    /// The value that callers get, where it is the answer.
    pub shows: Option<Shown>,
    /// The checks that decide it.
    pub decided_by: Vec<Decider>,
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
