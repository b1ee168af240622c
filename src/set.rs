//! Frozen sets of checks: made from the current cases, and applied to a run.
//!
//! Takes a library, gives a [`Set`]; takes a [`Set`], removes all other checks from a library or a plan. Pure. Must not
//! know the results of tests.

use std::sync::Arc;

use crate::model::RequirementId;
use crate::model::case::{Library, Test, Then};
use crate::model::set::{Drift, Frozen, SET_FORMAT, Set, SetName};
use crate::plan::{Plan, every_id};

/// Returns the set of all current checks of released sentences. Tests without one are not in a set.
pub fn freeze(library: &Library) -> Set {
    let tests = library.cases.iter().flat_map(|case| &case.tests);
    let is_released = |id: &RequirementId| library.requirements.get(id).is_none_or(|one| !one.revisions.is_draft);
    let released = |test: &Test| test.checks().map(|check| check.requirement.clone()).filter(is_released).collect();
    let checks = tests.map(|test| (test.path(), released(test)));
    let mut tests: std::collections::BTreeMap<String, Frozen> =
        checks.map(|(path, checks)| (path, Frozen { checks, ..Frozen::default() })).collect();
    for id in every_id(library) {
        tests.get_mut(&id.path()).expect("every name is one of a test").on.insert(id.how());
    }
    tests.retain(|_, frozen| !frozen.checks.is_empty() && !frozen.on.is_empty());
    Set { format: SET_FORMAT, casebook: env!("CARGO_PKG_VERSION").to_owned(), tests }
}

/// Removes every check that is not in the set from a library. Returns the removed checks, and the checks of the set that
/// no longer exist.
///
/// # Panics
/// If tests of the library are shared. Call this directly after loading.
pub fn narrow(library: &mut Library, name: SetName, set: &Set) -> Drift {
    let today = freeze(library);
    for test in library.cases.iter_mut().flat_map(|case| &mut case.tests) {
        let Some(frozen) = set.tests.get(&test.path()) else { continue };
        for step in &mut Arc::get_mut(test).expect("the library was just loaded").steps {
            if let Then::Checks(checks) = &mut step.then {
                checks.retain(|check| frozen.checks.contains(&check.requirement));
            }
        }
    }
    Drift { set: name, gone: set.beyond(&today), later: today.beyond(set) }
}

/// Removes the tests that are not in the set from a plan.
pub fn keep(plan: &mut Plan, set: &Set) {
    let has = |id: &crate::model::TestId| set.tests.get(&id.path()).is_some_and(|frozen| frozen.on.contains(&id.how()));
    for group in &mut plan.groups {
        group.tests.retain(|planned| has(&planned.id));
    }
    plan.groups.retain(|group| !group.tests.is_empty());
    for (index, planned) in plan.groups.iter_mut().flat_map(|group| &mut group.tests).enumerate() {
        planned.index = index;
    }
    plan.is_partial = true;
}
