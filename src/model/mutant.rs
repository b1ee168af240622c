//! A variant of the reference that breaks a proposal on purpose, as the author of the proposal writes it.

use serde_json::{Value, json};

use super::RequirementId;
use super::spec::Role;

/// A mutant of a file of mutants.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// The name.
    pub name: String,
    /// The role that has the defect.
    pub role: Role,
    /// The defect, in one sentence.
    pub does: String,
    /// The requirements that it violates, in their order.
    pub breaks: Vec<RequirementId>,
    /// The changes to the replies of the server, or to the requests of the client, in the form that the reference receives.
    pub changes: Vec<Value>,
}

impl Mutant {
    /// Returns the changes as the reference receives them.
    pub fn instructions(&self) -> String {
        json!({ "role": self.role.word(), "changes": self.changes }).to_string()
    }
}
