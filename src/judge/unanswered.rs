//! Steps whose answer is not one to the question of a check: there is none, it cannot be read, or its request was another.
//!
//! Takes a verdict by the expectations of a check, gives the verdict that the sentence bears. That there is no answer has
//! checks of its own. Must not know targets or controls.

use super::expect::absence;
use crate::model::case::{Check, Expectation, Outcome};
use crate::model::observation::StepObservation;
use crate::model::reason::{Detail, Finding};
use crate::model::record::Verdict;
use crate::model::spec::Level;
use crate::model::verdict::VerdictKind;

/// Returns the verdict on a check that no alternative of it satisfies, by what the step shows of its sentence.
///
/// A server that converts a value before it validates it has not accepted the one that was sent: no sentence forbids this.
/// One that asks the user has not accepted it either. A server that was never built breaks no sentence about messages, unless a control shows that it can be built. An answer
/// that cannot be read decides nothing. Neither does a missing one where something is forbidden, or where the check asks
/// nothing of a request that fails, nor an empty one where something must be refused. A check that names the outcome says
/// by itself what it shows.
pub(super) fn weighed(
    verdict: Verdict,
    check: &Check,
    seen: &StepObservation,
    is_controlled: impl Fn() -> bool,
) -> Verdict {
    let forbids = matches!(verdict.level, Level::MustNot | Level::ShouldNot);
    let is_decided = !verdict.kind.is_broken() || !verdict.level.is_binding();
    if !is_decided && seen.outcome == Outcome::InputRequired && seen.saw.is_none() && wants_refusal(check) {
        let reason = "the server asked the user, and did not run the tool".to_owned();
        return Verdict { kind: VerdictKind::NotAsked, detail: vec![Finding::NotAsked { reason }.into()], ..verdict };
    }
    if !is_decided && seen.converted && seen.outcome == Outcome::Success && wants_refusal(check) {
        let reason = "the tool received the arguments in another form".to_owned();
        return Verdict { kind: VerdictKind::NotAsked, detail: vec![Finding::NotAsked { reason }.into()], ..verdict };
    }
    if is_decided || !is_of_others(check, seen.outcome) || !fails_by_outcome(&verdict.detail, seen.outcome) {
        return verdict;
    }
    match seen.outcome {
        Outcome::Refused if !is_controlled() => undecided(verdict, seen.outcome),
        Outcome::InvalidMessage | Outcome::Oversized => undecided(verdict, seen.outcome),
        // A server that crashes or hangs may have tried what it had to refuse.
        Outcome::EmptyReply if wants_refusal(check) => undecided(verdict, seen.outcome),
        Outcome::Crash | Outcome::Timeout | Outcome::EmptyReply
            if forbids || check.alternatives.iter().any(asks_nothing_of_failures) =>
        {
            undecided(verdict, seen.outcome)
        }
        _ => verdict,
    }
}

/// Returns whether each alternative that asks for something asks for an outcome, and none names this one.
fn is_of_others(check: &Check, outcome: Outcome) -> bool {
    let names = |one: &Expectation| one.outcome.contains(&outcome);
    check.alternatives.iter().all(|one| (one.not_asked || !one.outcome.is_empty()) && !names(one))
}

/// Returns whether an alternative fails by nothing but the outcome, and by the code that an answer would have. Where one
/// of several calls has an answer that cannot be read, the marks of the calls lack what it would have shown.
fn fails_by_outcome(details: &[Detail], outcome: Outcome) -> bool {
    let is_unreadable = matches!(outcome, Outcome::InvalidMessage | Outcome::Oversized);
    let is_absence = |detail: &Detail| match &detail.finding {
        Finding::Mismatch { place, .. } => ["outcome", "code"].contains(&place.as_str()),
        Finding::Violation { place, pointer, .. } => {
            is_unreadable && place == "matches" && pointer.starts_with("/calls")
        }
        _ => false,
    };
    let is_seen = |name: &Option<String>| details.iter().any(|one| one.alternative == *name && !is_absence(one));
    details.iter().any(|one| !is_seen(&one.alternative))
}

/// Returns whether a check asks for nothing but a refusal, in whatever form.
fn wants_refusal(check: &Check) -> bool {
    let asked = || check.alternatives.iter().filter(|one| !one.not_asked);
    let refuses = |outcome: &Outcome| {
        matches!(
            outcome,
            Outcome::ToolError | Outcome::ProtocolError | Outcome::HttpError | Outcome::Refused | Outcome::Hidden
        )
    };
    let names = |form: Outcome| asked().any(|one| one.outcome.contains(&form));
    asked().all(|one| !one.outcome.is_empty() && one.outcome.iter().all(refuses))
        && names(Outcome::ToolError)
        && names(Outcome::ProtocolError)
}

/// Returns whether an alternative leaves nothing to ask where a request fails.
fn asks_nothing_of_failures(one: &Expectation) -> bool {
    let fails = |outcome: &Outcome| {
        matches!(outcome, Outcome::HttpError | Outcome::EmptyReply | Outcome::Crash | Outcome::Timeout)
    };
    one.not_asked && one.outcome.iter().any(fails)
}

fn undecided(verdict: Verdict, outcome: Outcome) -> Verdict {
    let finding = if outcome == Outcome::Refused {
        let reason = "refused, and no control shows that the server can be built".to_owned();
        Finding::Undecidable { place: "outcome".to_owned(), reason }
    } else {
        let reason = absence(outcome).unwrap_or("it is no message of JSON-RPC").to_owned();
        Finding::Unreadable { place: "the answer".to_owned(), reason }
    };
    Verdict { kind: VerdictKind::Inconclusive, detail: vec![finding.into()], ..verdict }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::Judge;
    use crate::judge::samples::{call, check, id, observation, requirement, step, target, test};
    use crate::model::case::{CallMark, Control, Matcher, Test};
    use crate::model::observation::CallEvidence;
    use crate::model::spec::Catalogue;

    fn asks(outcome: Outcome) -> Expectation {
        Expectation { name: Some("asked".into()), outcome: vec![outcome], ..Expectation::default() }
    }

    /// The verdict on a check that wants a success, beside these alternatives, at this level.
    fn judged(level: Level, others: Vec<Expectation>, seen: StepObservation, is_controlled: bool) -> VerdictKind {
        judged_by(level, std::iter::once(asks(Outcome::Success)).chain(others).collect(), seen, is_controlled)
    }

    /// The verdict on a check with these alternatives.
    fn judged_by(
        level: Level,
        alternatives: Vec<Expectation>,
        seen: StepObservation,
        is_controlled: bool,
    ) -> VerdictKind {
        let requirements = ["ctl", "r"].map(|name| requirement(name, level));
        let catalogue: Catalogue = requirements.into_iter().map(|one| (one.id.clone(), one)).collect();
        let one = |name: &str, alternatives| test(&[], vec![(call("t"), check(name, alternatives))]);
        let mut judge = Judge::new(&catalogue, &[]);
        let id = id("f/c/t@2026-07-28+http");
        if is_controlled {
            let control = Test { control: Some(Control::File), ..one("ctl", vec![asks(Outcome::Success)]) };
            judge.judge(&target(), &control, &id, &observation(vec![step(Outcome::Success)]));
        }
        judge.judge(&target(), &one("r", alternatives), &id, &observation(vec![seen])).remove(0).kind
    }

    #[test]
    fn answer_that_was_not_there_breaks_no_sentence_about_something_else() {
        use Outcome::{Crash, HttpError, InvalidMessage, Oversized, ProtocolError, Refused, Timeout};
        use VerdictKind::{Fail, Inconclusive, NotAsked, Note};
        let nothing = |outcome| Expectation { not_asked: true, ..asks(outcome) };
        for (level, others, outcome, kind) in [
            (Level::Must, vec![], ProtocolError, Fail),
            (Level::Must, vec![], Refused, Inconclusive),
            (Level::Must, vec![], InvalidMessage, Inconclusive),
            (Level::Must, vec![], Oversized, Inconclusive),
            // A sentence that demands an answer is broken by its absence.
            (Level::Must, vec![], Crash, Fail),
            (Level::Must, vec![], Timeout, Fail),
            (Level::MustNot, vec![], Crash, Inconclusive),
            (Level::Must, vec![nothing(HttpError)], Crash, Inconclusive),
            (Level::Must, vec![nothing(ProtocolError)], Timeout, Fail),
            // A check that names the outcome says what it shows.
            (Level::Must, vec![nothing(Crash)], Crash, NotAsked),
            (Level::Derived, vec![], InvalidMessage, Note),
            (Level::Derived, vec![], Refused, Note),
        ] {
            let reason = format!("{level} {outcome:?} {others:?}");
            assert_eq!(judged(level, others, step(outcome), false), kind, "{reason}");
        }
        assert_eq!(judged(Level::Must, vec![], step(Refused), true), Fail, "the control was built");
    }

    #[test]
    fn unreadable_answer_to_one_of_several_calls_breaks_no_sentence_about_their_arguments() {
        let refused = json!({ "properties": { "calls": {
            "properties": { "a": { "contains": { "const": "arguments-refused" } } }
        } } });
        let kind = |outcome| {
            let asked = Expectation { matches: Some(refused.clone().into()), ..asks(Outcome::Success) };
            let calls = [("a".to_owned(), [(CallMark::ProtocolError, CallEvidence::of(0))].into())].into();
            judged_by(Level::Must, vec![asked], StepObservation { calls, ..step(outcome) }, false)
        };
        assert_eq!(kind(Outcome::InvalidMessage), VerdictKind::Inconclusive);
        assert_eq!(kind(Outcome::Success), VerdictKind::Fail);
    }

    #[test]
    fn value_that_the_tool_received_in_another_form_was_not_accepted() {
        let seen = |converted| StepObservation { converted, ..step(Outcome::Success) };
        let kind = |wanted: &[Outcome], converted| {
            judged_by(Level::Must, wanted.iter().copied().map(asks).collect(), seen(converted), false)
        };
        let refused = [Outcome::ToolError, Outcome::ProtocolError];
        assert_eq!(kind(&refused, true), VerdictKind::NotAsked);
        assert_eq!(kind(&refused, false), VerdictKind::Fail);
        assert_eq!(kind(&[Outcome::ProtocolError], true), VerdictKind::Fail, "a form of the refusal is asked for");
    }

    #[test]
    fn empty_reply_is_no_acceptance() {
        let refused = || vec![asks(Outcome::ToolError), asks(Outcome::ProtocolError)];
        let kind = |outcome| judged_by(Level::Must, refused(), step(outcome), false);
        assert_eq!(kind(Outcome::EmptyReply), VerdictKind::Inconclusive);
        for outcome in [Outcome::Success, Outcome::Crash, Outcome::Timeout] {
            assert_eq!(kind(outcome), VerdictKind::Fail, "{outcome:?}");
        }
    }

    #[test]
    fn what_came_before_a_crash_counts() {
        let silent = Expectation { asked: Some(Matcher::Absent), ..asks(Outcome::ToolError) };
        let seen = StepObservation { asked: vec![json!({ "message": "?" }).into()], ..step(Outcome::Crash) };
        assert_eq!(judged(Level::MustNot, vec![silent], seen, false), VerdictKind::Fail);
    }
}
