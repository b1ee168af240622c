//! Checks that no case names, because they are about everything that a target does, in every test.
//!
//! Takes an observation, gives the verdicts on what it shows anywhere. Must not know what a test is about.

use crate::model::case::Test;
use crate::model::observation::Observation;
use crate::model::reason::Finding;
use crate::model::record::Verdict;
use crate::model::spec::Catalogue;
use crate::model::{RequirementId, TestId};

/// The requirement on all lines that a server writes to its standard output.
const ONLY_MESSAGES: (&str, &str) = ("stdio", "nothing-but-messages");

/// Returns the verdict on the first line of standard output that is no message, unless its step has such a check itself.
pub(super) fn stray_line(catalogue: &Catalogue, test: &Test, id: &TestId, seen: &Observation) -> Option<Verdict> {
    let (step, line) = seen.steps.iter().enumerate().find_map(|(step, seen)| Some((step, seen.stray.clone()?)))?;
    let requirement = catalogue.get(&RequirementId::within(ONLY_MESSAGES.0, ONLY_MESSAGES.1))?;
    let is_in_force = requirement.revisions.contains(id.revision) && requirement.roles.contains(&test.role);
    let is_asked = test.steps.get(step)?.then.checks().iter().any(|check| check.requirement == requirement.id);
    (is_in_force && !is_asked).then(|| Verdict {
        step,
        requirement: requirement.id.clone(),
        level: requirement.level,
        kind: super::violated(requirement.level),
        excuses: None,
        detail: vec![Finding::NoMessage { line }.into()],
        line: 1,
        known: None,
        attribution: None,
    })
}
