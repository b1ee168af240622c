//! Frozen sets of checks: made from the current cases, and applied to a run.
//!
//! Takes a library, gives a [`Set`]; takes a [`Set`], removes all other checks from a library or a plan. Pure. Must not
//! know the results of tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::RequirementId;
use crate::model::case::{Library, Test, Then};
use crate::model::implied::is_implied;
use crate::model::set::{Drift, Frozen, SET_FORMAT, Set, SetName};
use crate::model::spec::{Requirement, Revision, Role};
use crate::plan::{Plan, every_id};

/// Returns the set of all current checks of released sentences, on one revision or on all. Tests without one are not in a
/// set, and neither are those of pairs, which no run of one target decides.
pub fn freeze(library: &Library, revision: Option<Revision>) -> Set {
    let tests = library.cases.iter().filter(|case| case.role != Role::Pair).flat_map(|case| &case.tests);
    let is_released = |id: &RequirementId| library.requirements.get(id).is_none_or(|one| !one.revisions.is_draft);
    let released = |test: &Test| test.checks().map(|check| check.requirement.clone()).filter(is_released).collect();
    let checks = tests.map(|test| (test.path(), released(test)));
    let mut tests: BTreeMap<String, Frozen> =
        checks.map(|(path, checks)| (path, Frozen { checks, ..Frozen::default() })).collect();
    for id in every_id(library).filter(|id| revision.is_none_or(|one| one == id.revision)) {
        if let Some(frozen) = tests.get_mut(&id.path()) {
            frozen.on.insert(id.how());
        }
    }
    tests.retain(|_, frozen| !frozen.checks.is_empty() && !frozen.on.is_empty());
    let casebook = env!("CARGO_PKG_VERSION").to_owned();
    let set = Set { format: SET_FORMAT, casebook, revision, not_scored: BTreeMap::new(), tests };
    Set { not_scored: not_scored(library, &set), ..set }
}

/// Returns the MUSTs and SHOULDs of the revision of a set that have no check in it, with the reasons. Every test looks for
/// implied ones.
fn not_scored(library: &Library, set: &Set) -> BTreeMap<RequirementId, String> {
    let Some(revision) = set.revision else { return BTreeMap::new() };
    let checked: BTreeSet<_> = set.tests.values().flat_map(|frozen| &frozen.checks).collect();
    let is_open = |one: &&Requirement| {
        let is_asked = one.level.is_binding() && one.roles != [Role::Pair] && one.revisions.contains(revision);
        is_asked && !one.revisions.is_draft && !checked.contains(&one.id)
    };
    let reason = |one: &Requirement| match &one.unobservable {
        Some(reason) => reason.clone(),
        None if is_implied(&one.id) => "Every test looks for it, and it counts where it is broken.".to_owned(),
        None => "No case asks it yet.".to_owned(),
    };
    library.requirements.values().filter(is_open).map(|one| (one.id.clone(), reason(one))).collect()
}

/// Returns the numbers of MUSTs and SHOULDs of a set, for each role.
pub fn sizes(library: &Library, set: &Set) -> BTreeMap<Role, [usize; 2]> {
    let mut found: BTreeMap<Role, [BTreeSet<&RequirementId>; 2]> = BTreeMap::new();
    for case in &library.cases {
        for frozen in case.tests.iter().filter_map(|test| set.tests.get(&test.path())) {
            for id in &frozen.checks {
                let Some(level) = library.requirements.get(id).map(|one| one.level) else { continue };
                if level.is_binding() {
                    found.entry(case.role).or_default()[usize::from(!level.is_must())].insert(id);
                }
            }
        }
    }
    found.into_iter().map(|(role, levels)| (role, levels.map(|ids| ids.len()))).collect()
}

/// Removes every check that is not in the set from a library. Returns the removed checks, and the checks of the set that
/// no longer exist.
///
/// # Panics
/// If tests of the library are shared. Call this directly after loading.
pub fn narrow(library: &mut Library, name: SetName, set: &Set) -> Drift {
    let today = freeze(library, set.revision);
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
