//! Checks that no case names, because they are about everything that a target does, in every test.
//!
//! Takes an observation, gives the verdicts on what it shows anywhere. Must not know what a test is about.

use std::ops::RangeInclusive;

use crate::model::case::{Outcome, Test};
use crate::model::implied::{
    CANCELLED, CANCELLED_BY_SERVER, DECLARED, ENCODING, END, GET_STREAM, HANDSHAKE, ID, LOGGING, NOT_NULL, Name, ONCE,
    ONE_LINE, ONLY_MESSAGES, PROGRESS, PROGRESS_ENDS, TYPES,
};
use crate::model::observation::{Beside, FaultyMessage, GetStreamMessage, Observation, StepObservation};
use crate::model::reason::Finding;
use crate::model::record::Verdict;
use crate::model::spec::{Catalogue, Requirement, Role};
use crate::model::verdict::VerdictKind;
use crate::model::{RequirementId, TestId};

/// The requirement on the media type of a reply, that to the handshake included.
const MEDIA_TYPE: Name = ("http", "reply-media-type");
/// The requirements on the form of a response.
const FORM: [(&str, &str); 2] = [("base", "result-or-error"), ("base", "result-or-error-later")];

/// The code of an error about parameters, as that of the handshake has it in the specification, and those of a server's own
/// errors. The others say that the server does not know the request, cannot read it, or failed.
const DEMAND: i64 = -32602;
const OWN: RangeInclusive<i64> = -32099..=-32000;

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
        let FaultyMessage { pointer, message, place } = seen.mistyped.as_ref()?.value()?.clone();
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
    let split = seen.steps.iter().position(|seen| seen.split);
    let split = split.map(|step| (step, violation(String::new(), "a message was on several lines".to_owned(), None)));
    let undeclared = seen.steps.iter().enumerate().find_map(|(step, seen)| {
        let message = format!("the server sent {}, which the client did not declare", seen.undeclared?);
        Some((step, violation(String::new(), message, None)))
    });
    let beside = |kind: Beside| {
        let mut steps = seen.steps.iter().enumerate();
        steps.find_map(|(step, seen)| {
            let FaultyMessage { pointer, message, place } = seen.beside.get(&kind)?.clone();
            Some((step, violation(pointer, message, place)))
        })
    };
    // A step that asks for the stream says itself what may come on it.
    let is_response = |seen: &StepObservation| seen.get_stream.contains(&GetStreamMessage::Response);
    let on_get = seen.steps.iter().position(is_response);
    let on_get = on_get.map(|step| {
        (step, violation(String::new(), "a response came on the stream of the GET request".to_owned(), None))
    });
    let found: [(&[Name], _); 17] = [
        (&[ONLY_MESSAGES], stray),
        (&[HANDSHAKE], unopened),
        (&[ENCODING], undecoded),
        (&[TYPES], mistyped),
        (&[END], endless),
        (&[CANCELLED], unknown),
        (&ONE_LINE, split),
        (&DECLARED, undeclared),
        (&[ID], beside(Beside::ForeignResult)),
        (&[NOT_NULL], beside(Beside::NullId)),
        (&[ONCE], beside(Beside::SecondResponse)),
        (&[PROGRESS], beside(Beside::ProgressBack)),
        (&[PROGRESS_ENDS], beside(Beside::ProgressAfter)),
        (&[LOGGING], beside(Beside::UndeclaredLog)),
        (&DECLARED[..1], beside(Beside::UndeclaredChange)),
        (&CANCELLED_BY_SERVER, beside(Beside::CancelsAsked)),
        (&[GET_STREAM], on_get),
    ];
    let found = found.into_iter().filter_map(|(names, found)| Some((names, found?)));
    let broken = found.flat_map(|(names, found)| {
        names.iter().filter_map(move |name| broken_by(catalogue, test, id, *name, found.clone(), own))
    });
    broken.map(|verdict| if demands(seen, &verdict) { undecided(verdict) } else { verdict }).collect()
}

/// Returns whether a server may have refused the handshake because it needs a capability that the client lacks, as the page
/// of the handshake allows.
fn demands(seen: &Observation, verdict: &Verdict) -> bool {
    let code = seen.steps.get(verdict.step).and_then(|seen| seen.code);
    verdict.requirement == RequirementId::within(HANDSHAKE.0, HANDSHAKE.1)
        && code.is_some_and(|code| code == DEMAND || OWN.contains(&code))
}

fn undecided(verdict: Verdict) -> Verdict {
    Verdict { kind: VerdictKind::Inconclusive, ..verdict }
}

/// Returns why a step has nothing that the test asks for: the server refused the handshake before it.
pub(super) fn no_session(seen: &StepObservation) -> Option<Finding> {
    let words = || seen.said.clone().map(|said| format!("the error {said}"));
    let status = || seen.status.map(|status| format!("the HTTP status {status}"));
    let error = || words().or_else(status).unwrap_or_else(|| "an error".to_owned());
    seen.unopened.then(|| Finding::NoSession { error: error() })
}

/// Returns whether a check is about the handshake itself, or about the form of any message or reply.
pub(super) fn is_about_handshake(requirement: &Requirement) -> bool {
    [HANDSHAKE, MEDIA_TYPE]
        .iter()
        .chain(&FORM)
        .any(|(folder, name)| requirement.id == RequirementId::within(folder, name))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples::{self, call, id, observation, requirement, step};
    use crate::model::case::Then;
    use crate::model::observation::ClientRequest;
    use crate::model::spec::Level;

    /// The verdicts on a step of a server, of the requirement with this name.
    fn judged((folder, name): (&str, &str), seen: StepObservation) -> Vec<VerdictKind> {
        let one = Requirement { id: RequirementId::within(folder, name), ..requirement(name, Level::Must) };
        let test = samples::test(&[], vec![(call("t"), Then::Observe)]);
        let found = verdicts(
            &[(one.id.clone(), one)].into(),
            &test,
            &id("f/c/t@2026-07-28+http"),
            &observation(vec![seen]),
            &[],
        );
        found.into_iter().map(|verdict| verdict.kind).collect()
    }

    #[test]
    fn refused_handshake_is_broken_unless_the_server_may_demand_a_capability() {
        for (code, kind) in [
            (Some(-32602), VerdictKind::Inconclusive),
            (Some(-32000), VerdictKind::Inconclusive),
            (Some(-32600), VerdictKind::Fail),
            (Some(-32601), VerdictKind::Fail),
            (Some(-32603), VerdictKind::Fail),
            (None, VerdictKind::Fail),
        ] {
            let seen = StepObservation { code, unopened: true, ..step(Outcome::ProtocolError) };
            assert_eq!(judged(HANDSHAKE, seen), [kind], "{code:?}");
        }
    }

    #[test]
    fn divided_message_and_undeclared_request_are_broken_in_every_test() {
        let split = StepObservation { split: true, ..step(Outcome::Success) };
        let undeclared = StepObservation { undeclared: Some(ClientRequest::Roots), ..step(Outcome::Success) };
        assert_eq!(judged(ONE_LINE[0], split.clone()), [VerdictKind::Fail]);
        assert_eq!(judged(DECLARED[1], undeclared), [VerdictKind::Fail]);
        assert_eq!(judged(DECLARED[1], split), []);
    }
}
