//! Steps in which a server gave no answer that can be read, and checks of something else.
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
/// A server that was never built breaks no sentence about messages, unless a control shows that it can be built. An answer
/// that cannot be read decides nothing, and neither does a missing one where something is forbidden, or where the check asks
/// nothing of a request that fails. A check that names the outcome says by itself what it shows.
pub(super) fn weighed(
    verdict: Verdict,
    check: &Check,
    seen: &StepObservation,
    is_controlled: impl Fn() -> bool,
) -> Verdict {
    let is_binding = !matches!(verdict.level, Level::May | Level::Derived);
    let forbids = matches!(verdict.level, Level::MustNot | Level::ShouldNot);
    let is_decided = !verdict.kind.is_broken() || !is_binding;
    if is_decided || !is_of_others(check, seen.outcome) || !fails_by_outcome(&verdict.detail) {
        return verdict;
    }
    match seen.outcome {
        Outcome::Refused if !is_controlled() => undecided(verdict, seen.outcome),
        Outcome::InvalidMessage | Outcome::Oversized => undecided(verdict, seen.outcome),
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

/// Returns whether an alternative fails by nothing but the outcome, and by the code that an answer would have.
fn fails_by_outcome(details: &[Detail]) -> bool {
    let is_absence = |detail: &Detail| match &detail.finding {
        Finding::Mismatch { place, .. } => ["outcome", "code"].contains(&place.as_str()),
        _ => false,
    };
    let is_seen = |name: &Option<String>| details.iter().any(|one| one.alternative == *name && !is_absence(one));
    details.iter().any(|one| !is_seen(&one.alternative))
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
    use crate::model::case::{Control, Matcher, Test};
    use crate::model::spec::Catalogue;

    fn asks(outcome: Outcome) -> Expectation {
        Expectation { name: Some("asked".into()), outcome: vec![outcome], ..Expectation::default() }
    }

    /// The verdict on a check that wants a success, beside these alternatives, at this level.
    fn judged(level: Level, others: Vec<Expectation>, seen: StepObservation, is_controlled: bool) -> VerdictKind {
        let requirements = ["ctl", "r"].map(|name| requirement(name, level));
        let catalogue: Catalogue = requirements.into_iter().map(|one| (one.id.clone(), one)).collect();
        let alternatives = [asks(Outcome::Success)].into_iter().chain(others).collect();
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
    fn what_came_before_a_crash_counts() {
        let silent = Expectation { asked: Some(Matcher::Absent), ..asks(Outcome::ToolError) };
        let seen = StepObservation { asked: vec![json!({ "message": "?" }).into()], ..step(Outcome::Crash) };
        assert_eq!(judged(Level::MustNot, vec![silent], seen, false), VerdictKind::Fail);
    }
}
