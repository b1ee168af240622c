//! Sets of checks: frozen from the cases of today, and kept to in a run.
//!
//! Takes a library or a plan, gives a [`Set`], or leaves of the plan what a set has. Pure. Must not know what becomes
//! of a test.

use std::sync::Arc;

use crate::model::case::{Library, Then};
use crate::model::set::{Drift, Frozen, SET_FORMAT, Set, SetName};
use crate::plan::{Plan, every_id};

/// Every check of today, wherever it applies. Tests that are only observed have none, and are in no set.
pub fn freeze(library: &Library) -> Set {
    let tests = library.cases.iter().flat_map(|case| &case.tests);
    let checks = tests.map(|test| (test.path(), test.checks().map(|check| check.requirement.clone()).collect()));
    let mut tests: std::collections::BTreeMap<String, Frozen> =
        checks.map(|(path, checks)| (path, Frozen { checks, ..Frozen::default() })).collect();
    for id in every_id(library) {
        tests.get_mut(&id.path()).expect("every name is one of a test").on.insert(id.how());
    }
    tests.retain(|_, frozen| !frozen.checks.is_empty() && !frozen.on.is_empty());
    Set { format: SET_FORMAT, casebook: env!("CARGO_PKG_VERSION").to_owned(), tests }
}

/// Takes from the library's tests every check that came after the set, and says what that was, and what is gone.
///
/// # Panics
/// Where the library's tests are in use already: it is for one that was just loaded.
pub fn narrow(library: &mut Library, name: SetName, set: &Set) -> Drift {
    let today = freeze(library);
    for test in library.cases.iter_mut().flat_map(|case| &mut case.tests) {
        let Some(frozen) = set.tests.get(&test.path()) else { continue };
        for step in &mut Arc::get_mut(test).expect("nobody else has it yet").steps {
            if let Then::Checks(checks) = &mut step.then {
                checks.retain(|check| frozen.checks.contains(&check.requirement));
            }
        }
    }
    Drift { set: name, gone: set.beyond(&today), later: today.beyond(set) }
}

/// Leaves of a plan what the set has.
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
