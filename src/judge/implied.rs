//! Checks that no case names, because they are about everything that a target does, in every test.
//!
//! Takes an observation, gives the verdicts on what it shows anywhere. Must not know what a test is about.

use crate::model::case::{Outcome, Test};
use crate::model::observation::{Mistyped, Observation, StepObservation};
use crate::model::reason::Finding;
use crate::model::record::Verdict;
use crate::model::spec::{Catalogue, Requirement, Role};
use crate::model::{RequirementId, TestId};

/// The requirement on all lines that a server writes to its standard output.
const ONLY_MESSAGES: (&str, &str) = ("stdio", "nothing-but-messages");

/// The requirement on the encoding of messages.
const ENCODING: (&str, &str) = ("messages", "utf-8");

/// The requirement on the types of messages.
const TYPES: (&str, &str) = ("messages", "types-kept");

/// The requirement on the pages of a list.
const END: (&str, &str) = ("tools", "list-ends");

/// The requirement on the requests that a client cancels.
const CANCELLED: (&str, &str) = ("lifecycle", "cancelled-request-known");

/// The requirements on the form of a response.
const FORM: [(&str, &str); 2] = [("base", "result-or-error"), ("base", "result-or-error-later")];

/// The requirement on the answer to the handshake.
const HANDSHAKE: (&str, &str) = ("lifecycle", "server-named");

/// All of them: each is checked in every test.
const IMPLIED: [(&str, &str); 6] = [ONLY_MESSAGES, HANDSHAKE, ENCODING, TYPES, END, CANCELLED];

/// Returns whether a requirement is checked in every test.
pub fn is_implied(requirement: &RequirementId) -> bool {
    IMPLIED.iter().any(|(folder, name)| *requirement == RequirementId::within(folder, name))
}

/// Returns the verdicts on what a test shows beside its own checks, whose verdicts are given. If one of these is broken, a
/// message of another type is likely to be the reason of it, and is not told a second time.
pub(super) fn verdicts(
    catalogue: &Catalogue,
    test: &Test,
    id: &TestId,
    seen: &Observation,
    own: &[Verdict],
) -> Vec<Verdict> {
    let is_broken = own.iter().any(|verdict| verdict.kind.is_broken());
    let stray = seen
        .steps
        .iter()
        .enumerate()
        .find_map(|(step, seen)| Some((step, Finding::NoMessage { line: seen.stray.clone()? })));
    // A handshake whose response is no message breaks a sentence about messages.
    let refused = |(_, seen): &(usize, &StepObservation)| seen.outcome != Outcome::InvalidMessage;
    let unopened =
        seen.steps.iter().enumerate().filter(refused).find_map(|(step, seen)| Some((step, no_session(seen)?)));
    let part = if test.role == Role::Client { "sent" } else { "reply" };
    let violation = |pointer, message, reply| Finding::Violation { place: part.to_owned(), pointer, message, reply };
    let undecoded = seen.steps.iter().position(|seen| seen.not_utf8);
    let undecoded =
        undecoded.map(|step| (step, violation(String::new(), "the bytes of a message are not UTF-8".to_owned(), None)));
    let mistyped = seen.steps.iter().enumerate().filter(|_| !is_broken).find_map(|(step, seen)| {
        let Mistyped { pointer, message, place } = seen.mistyped.as_ref()?.value()?.clone();
        Some((step, violation(pointer, message, place)))
    });
    let endless = seen.steps.iter().enumerate().find_map(|(step, seen)| {
        let message = format!("page {} of the list is an earlier page again, with a cursor for more", seen.endless?);
        Some((step, violation(String::new(), message, None)))
    });
    let unknown = seen.steps.iter().enumerate().find_map(|(step, seen)| {
        let message = format!("the request {} is cancelled, and was never sent", seen.cancelled_unknown.as_ref()?);
        Some((step, violation(String::new(), message, None)))
    });
    // In the order of `IMPLIED`.
    let found: [_; IMPLIED.len()] = [stray, unopened, undecoded, mistyped, endless, unknown];
    let broken = IMPLIED
        .into_iter()
        .zip(found)
        .filter_map(|(requirement, found)| found.map(|(step, finding)| (requirement, step, finding)));
    broken.filter_map(|(name, step, finding)| broken_by(catalogue, test, id, name, (step, finding), own)).collect()
}

/// Returns why a step has nothing that the test asks for: the server refused the handshake before it.
pub(super) fn no_session(seen: &StepObservation) -> Option<Finding> {
    let words = || seen.said.clone().map(|said| format!("the error {said}"));
    let status = || seen.status.map(|status| format!("the HTTP status {status}"));
    let error = || words().or_else(status).unwrap_or_else(|| "an error".to_owned());
    seen.unopened.then(|| Finding::NoSession { error: error() })
}

/// Returns whether a check is about the handshake itself, or about the form of any message.
pub(super) fn is_about_handshake(requirement: &Requirement) -> bool {
    [HANDSHAKE].iter().chain(&FORM).any(|(folder, name)| requirement.id == RequirementId::within(folder, name))
}

/// Returns the verdict on a requirement that a step breaks, unless a check of the step found it broken as well.
fn broken_by(
    catalogue: &Catalogue,
    test: &Test,
    id: &TestId,
    name: (&str, &str),
    (step, finding): (usize, Finding),
    own: &[Verdict],
) -> Option<Verdict> {
    let requirement = catalogue.get(&RequirementId::within(name.0, name.1))?;
    let is_in_force = requirement.revisions.contains(id.revision) && requirement.roles.contains(&test.role);
    let is_same = |own: &Verdict| own.step == step && own.requirement == requirement.id && own.kind.is_broken();
    (is_in_force && !own.iter().any(is_same)).then(|| Verdict {
        step,
        requirement: requirement.id.clone(),
        level: requirement.level,
        kind: super::violated(requirement.level),
        excuses: None,
        detail: vec![finding.into()],
        line: 1,
        known: None,
        attribution: None,
    })
}
