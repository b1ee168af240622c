//! Filling of a test's placeholders, and the decision which tests can share a fixture.
//!
//! Takes tests, gives [`Bindings`]. Must not know how they are used.

use crate::drive::canary::{Canaries, CanaryError};
use crate::drive::token::token;
use crate::model::case::{Fixture, Matcher, Test, When};
use crate::model::spec::{Revision, Role};
use crate::model::target::Target;
use crate::model::template::{Bindings, Canary, Template};

/// Fills the placeholders of a test with fresh canaries and with a token that no other fixture has.
pub(crate) fn bind(test: &Test, revision: Revision, canaries: &mut Canaries) -> Result<Bindings, CanaryError> {
    Ok(Bindings { canaries: canaries.bind(canaries_of(test))?, unique: token(), revision: revision.name().to_owned() })
}

/// Fills the placeholders of several tests that share a fixture.
pub(crate) fn bind_all(tests: &[&Test], revision: Revision, canaries: &mut Canaries) -> Result<Bindings, CanaryError> {
    let mut found: Vec<Canary> = Vec::new();
    for canary in tests.iter().flat_map(|test| canaries_of(test)) {
        if !found.iter().any(|known| known.same_place(&canary)) {
            found.push(canary);
        }
    }
    Ok(Bindings { canaries: canaries.bind(found)?, unique: token(), revision: revision.name().to_owned() })
}

/// Returns the canaries of a test without duplicates.
pub(crate) fn canaries_of(test: &Test) -> Vec<Canary> {
    let mut found: Vec<Canary> = Vec::new();
    for canary in templates(test).into_iter().flat_map(Template::canaries) {
        if !found.iter().any(|known| known.same_place(canary)) {
            found.push(canary.clone());
        }
    }
    found
}

/// Returns whether the second test can use the fixture and the connection of the first. A fixed server has no fixture.
pub(crate) fn shares(target: &Target, first: &Test, second: &Test, revision: Revision) -> bool {
    let alone = |test: &Test| templates(test).into_iter().any(is_fresh);
    // Each client test needs a mock server of its own.
    let served = |test: &Test| test.role == Role::Server;
    // A bare request at the beginning opens no connection, and may end the session.
    let is_bare = |test: &Test| test.steps.iter().any(|step| matches!(step.when, When::Bare { .. }));
    // A message that a server sends late belongs to an earlier test.
    let listens = |test: &Test| {
        let crosses = |when: &When| matches!(when, When::Cancel { .. } | When::AtOnce(_));
        test.steps.iter().any(|step| crosses(&step.when) || step.then.looks_into_events())
    };
    // The replies to a method that has several begin anew in each test.
    let counts = |test: &Test| test.given.methods.iter().any(|method| method.replies.len() > 1);
    let opened = |test: &Test| test.steps.first().map(|step| (step.declares.clone(), step.initialized));
    served(first)
        && (target.is_fixed_server() || first.given == second.given)
        && opened(first) == opened(second)
        && !listens(second)
        && !counts(second)
        && ![first, second].into_iter().any(|test| alone(test) || is_bare(test) || test.opens(revision))
}

/// Returns whether a fixture has generated parts, which are too large to be written out.
pub(crate) fn is_large(fixture: &Fixture) -> bool {
    fixture.tools.iter().any(|tool| holds(&tool.definition, |one| matches!(one, Template::Generated(_))))
}

/// Returns whether a template has parts that must be different each time.
fn is_fresh(template: &Template) -> bool {
    holds(template, |one| matches!(one, Template::Canary(_) | Template::Unique(_)))
}

fn holds(template: &Template, is: impl Fn(&Template) -> bool) -> bool {
    let mut held = false;
    template.visit(&mut |one| held |= is(one));
    held
}

/// Returns all templates of a test: those of its actions, and those of its expectations.
fn templates(test: &Test) -> Vec<&Template> {
    let expectations = test.checks().flat_map(|check| &check.alternatives);
    let matchers = expectations.flat_map(|one| {
        let answered = one.answered.as_ref().and_then(|answered| answered.content.as_ref());
        [one.saw.as_ref(), one.structured.as_ref(), one.asked.as_ref(), answered]
    });
    let expected = matchers.flatten().filter_map(|matcher| match matcher {
        Matcher::Equals(value) | Matcher::Contains(value) => Some(value),
        Matcher::Absent => None,
    });
    test.templates().into_iter().chain(expected).collect()
}
