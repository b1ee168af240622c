//! Capabilities: questions of people who choose an implementation, and the requirements that decide them.

use super::spec::Role;
use super::{RequirementId, TestId};
use crate::jsonrpc::pointer::is_within;

/// Capabilities of one feature.
#[derive(Clone, Debug)]
pub struct CapabilityGroup {
    /// The id.
    pub id: String,
    /// The feature, with its SEP.
    pub title: String,
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
    /// The label in small pictures.
    pub short: String,
    /// The role that is asked.
    pub role: Role,
    /// `true` if “yes” is the answer for an implementation that does what is expected of it.
    pub right_is_yes: bool,
    /// The checks that decide it.
    pub decided_by: Vec<Decider>,
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
