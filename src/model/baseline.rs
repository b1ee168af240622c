//! Baselines of the official conformance suite: the scenarios that a user expects to fail, and the checks of casebook that
//! stand for them.
//!
//! Plain data. Must not know files, nor the form of a baseline.

use super::capability::Decider;
use super::spec::Role;
use super::{RequirementId, TestId};

/// The scenarios of the official suite that casebook has checks for.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// The package and version of the official suite.
    pub suite: String,
    /// The scenarios of both roles.
    pub scenarios: Vec<Scenario>,
}

impl Agreement {
    /// Returns a scenario of a role.
    pub fn scenario(&self, role: Role, name: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.role == role && scenario.name == name)
    }
}

/// A scenario of the official suite.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The role under test.
    pub role: Role,
    /// The name.
    pub name: String,
    /// Its checks that casebook has too, by their ids, each with the checks of casebook.
    pub checks: Vec<(String, Vec<Decider>)>,
}

/// A list of expected failures.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// The file, as the user named it.
    pub file: String,
    /// The scenarios, and single checks of them, that casebook has checks for.
    pub entries: Vec<BaselineEntry>,
    /// The names of the others, in the order of the file.
    pub unmatched: Vec<String>,
}

/// A line of a baseline.
#[derive(Clone, Debug)]
pub struct BaselineEntry {
    /// The text: `scenario` or `scenario:check-id`.
    pub name: String,
    /// The checks of casebook whose failures it excuses.
    pub checks: Vec<Decider>,
}

impl BaselineEntry {
    /// Returns whether the entry excuses a failure of this requirement in this test.
    pub fn has(&self, test: &TestId, requirement: &RequirementId) -> bool {
        self.checks.iter().any(|check| check.requirement == *requirement && check.has(test))
    }
}
