//! Mistakes in the entries of a target that excuse failures, which show only beside the tests.
//!
//! Takes cases and a target, gives the first mistake. Must not know which tests are selected.

use std::collections::BTreeSet;

use super::hints::{nearest, the_nearest};
use super::{PlanError, candidates};
use crate::model::case::{Library, Test};
use crate::model::implied::is_implied;
use crate::model::target::{Excuse, Target};

/// Finds an entry whose tests do not check its requirement. It would never fail, and never be stale.
pub(super) fn unchecked(library: &Library, target: &Target) -> Option<PlanError> {
    target.excuses().find_map(|Excuse { test: pattern, requirement, .. }| {
        let tests = || candidates(pattern, library).filter(|(id, _)| pattern.matches(id));
        let is_checked = |test: &Test| test.checks().any(|check| check.requirement == *requirement);
        if tests().any(|(_, test)| is_implied(requirement) || is_checked(test)) {
            return None;
        }
        let names = tests().flat_map(|(_, test)| test.checks().map(|check| check.requirement.to_string()));
        Some(PlanError::UncheckedKnown {
            target: target.id.clone(),
            pattern: pattern.as_str().to_owned(),
            requirement: requirement.clone(),
            hint: the_nearest(&nearest(&requirement.to_string(), names.collect::<BTreeSet<_>>().into_iter())),
        })
    })
}

/// Finds two entries of a target that would excuse the same verdict. It would be unclear which of them to remove when the
/// test passes.
pub(super) fn twice(library: &Library, target: &Target) -> Option<PlanError> {
    let all: Vec<_> = target.excuses().collect();
    let pairs = all.iter().enumerate().flat_map(|(place, one)| {
        let others = all[place + 1..].iter().filter(|other| other.requirement == one.requirement);
        others.map(move |other| (one, other))
    });
    pairs.into_iter().find_map(|(one, other)| {
        let mut checked = candidates(one.test, library)
            .filter(|(_, test)| test.checks().any(|it| it.requirement == *one.requirement));
        let (id, _) = checked.find(|(id, _)| one.test.matches(id) && other.test.matches(id))?;
        let entry = |it: &Excuse<'_>| format!("{} `{}` (\"{}\")", it.list, it.test.as_str(), it.reason);
        Some(PlanError::KnownTwice {
            target: target.id.clone(),
            requirement: one.requirement.clone(),
            test: Box::new(id),
            entries: Box::new([one, other].map(entry)),
        })
    })
}
