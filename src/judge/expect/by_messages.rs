//! Compares an expectation with the messages of a client alone, where nobody saw the values that its user got.
//!
//! Takes an expectation and the observation of a step, gives whether it holds, does not hold, or depends on something
//! that the messages do not show. Must not know levels, controls or sessions.

use super::{Dependencies, Misses, about_nothing, depends_on_messages, fits, one_of, view};
use crate::model::TestId;
use crate::model::case::{CanaryState, Expectation, Matcher, Outcome};
use crate::model::observation::StepObservation;
use crate::model::reason::Finding;
use crate::model::schema::SharedSchema;

/// The reason for which a check is open that reads the values of the user.
const USER: &str = "depends on the values that the client returned to its user";
/// The reason for which a check is open that reads the answers of the user.
const ANSWERS: &str = "depends on the answers of the client's user";
/// The reason for which a check is open whose request was refused.
const REFUSED: &str = "the server refused the request, and the messages do not show why";

/// The members of an observation that the messages alone decide.
const OF_MESSAGES: [&str; 9] =
    ["asked", "cancelled-unknown", "canary", "fetches", "mistyped", "repeated-id", "rounds", "sent", "split"];

/// The action of a step of a client that nobody drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum SceneAction {
    /// A call of a tool.
    Call,
    /// The connection, which the client used for the next step.
    UsedConnection,
    /// Something else.
    Other,
}

/// A step of a client that nobody drives.
#[derive(Clone, Copy)]
pub(in crate::judge) struct Scene<'a> {
    pub(in crate::judge) observed: &'a StepObservation,
    pub(in crate::judge) id: &'a TestId,
    pub(in crate::judge) action: SceneAction,
    /// `true` if the answers of the user are those of the case.
    pub(in crate::judge) answers_known: bool,
    /// `true` if a control shows that the server accepts usual requests of this client.
    pub(in crate::judge) is_trusted: bool,
}

/// The result of an expectation.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::judge) enum ByMessages {
    /// All of its keys hold.
    Holds,
    /// Some keys do not hold, whatever the user got.
    Misses(Vec<Finding>),
    /// It depends on something that the messages do not show: the reason.
    Open(String),
}

/// Returns whether messages alone can show something about an expectation.
pub(in crate::judge) fn reads_messages(expected: &Expectation) -> bool {
    expected.sent.is_some()
        || expected.canary == Some(CanaryState::Untouched)
        || expected.asked.is_some()
        || expected.answered.is_some()
        || expected.matches.as_ref().is_some_and(|schema| open_because(schema, true, true).is_none())
}

/// Returns why the messages do not decide a schema of observations, if so: the values or the answers of the user.
fn open_because(schema: &SharedSchema, answers_known: bool, outcome_known: bool) -> Option<&'static str> {
    let mut dependencies = Dependencies::default();
    let is_narrow = dependencies.collect(schema.value());
    let mut keys = dependencies.values.union(&dependencies.present);
    let is_known = |key: &str| {
        OF_MESSAGES.contains(&key) || (answers_known && key == "answered") || (outcome_known && key == "outcome")
    };
    let is_decided = is_narrow && keys.all(|key| is_known(key));
    (!is_decided).then(|| if dependencies.values.contains("answered") { ANSWERS } else { USER })
}

/// Compares an expectation with the messages of a step.
pub(in crate::judge) fn by_messages(expected: &Expectation, scene: Scene<'_>) -> ByMessages {
    let Scene { observed, id, action, answers_known, is_trusted } = scene;
    let (is_call, is_connected) = (action == SceneAction::Call, action == SceneAction::UsedConnection);
    let mut misses = Misses { missed: Vec::new(), unknown: Vec::new(), revision: id.revision.name() };
    let mut open = None;
    if is_connected && !expected.outcome.is_empty() {
        if !expected.outcome.contains(&observed.outcome) {
            misses.differ("outcome", &one_of(&expected.outcome), observed.outcome.word());
        }
    } else if !expected.outcome.is_empty() {
        // A client can return any value of its own after a result, but no result after an error.
        let is_refused = is_call && observed.outcome == Outcome::ProtocolError;
        let wants_result = expected.outcome.iter().all(|one| *one == Outcome::Success);
        if is_refused && wants_result && is_trusted {
            misses.differ("outcome", &one_of(&expected.outcome), observed.outcome.word());
        } else {
            open = Some(if is_refused && wants_result { REFUSED } else { USER });
        }
    }
    let of_user = expected.code.is_some()
        || !expected.status.is_empty()
        || !expected.advertised.is_empty()
        || !expected.without.is_empty()
        || [&expected.saw, &expected.structured].into_iter().any(Option::is_some)
        || expected.text.is_some()
        || expected.took.is_some()
        || expected.reply.is_some();
    open = open.or(of_user.then_some(USER));
    match (expected.canary, observed.canary.unwrap_or(CanaryState::Untouched)) {
        (None, _) | (Some(CanaryState::Untouched), CanaryState::Untouched) => {}
        (Some(CanaryState::Untouched), seen) => {
            misses.differ("canary", CanaryState::Untouched.word(), seen.word());
        }
        (Some(_), _) => open = open.or(Some(USER)),
    }
    match (&expected.asked, observed.asked.is_empty()) {
        // The server asks nothing if the client cannot answer.
        (Some(Matcher::Equals(_) | Matcher::Contains(_)), true) => open = open.or(Some(USER)),
        (asked, _) => misses.values("asked", asked.as_ref(), &observed.asked),
    }
    if let Some(wanted) = &expected.answered {
        let mut answers = Misses { missed: Vec::new(), unknown: Vec::new(), revision: misses.revision };
        answers.answers(wanted, &observed.answered);
        // Who is refused before the question has nothing to answer.
        let is_unasked = is_call && observed.outcome == Outcome::ProtocolError && observed.asked.is_empty();
        if is_unasked && !is_trusted {
            open = open.or(Some(REFUSED));
        } else if answers_known {
            misses.missed.append(&mut answers.missed);
            misses.unknown.append(&mut answers.unknown);
        } else if !answers.is_empty() {
            open = open.or(Some(ANSWERS));
        }
    }
    if let Some(schema) = &expected.sent {
        misses.sent(schema, observed);
    }
    if let Some(schema) = &expected.matches {
        match open_because(schema, answers_known, is_connected) {
            None => misses.take(fits("matches", schema, view(observed))),
            reason => open = open.or(reason),
        }
    }
    if let Some(reason) = observed.unread.as_ref().filter(|_| misses.is_empty() && depends_on_messages(expected)) {
        misses.unreadable("the step", reason);
    }
    match (misses.missed, misses.unknown.first(), open) {
        (missed, ..) if !missed.is_empty() => ByMessages::Misses(missed),
        (_, Some(unknown), _) => ByMessages::Open(unknown.to_string()),
        (_, None, Some(reason)) => ByMessages::Open(reason.to_owned()),
        (_, None, None) => {
            about_nothing(expected, observed).map_or(ByMessages::Holds, |reason| ByMessages::Open(reason.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Action, Answered};
    use crate::model::observation::AnswerObservation;

    fn of(expected: &Expectation, observed: &StepObservation, answers_known: bool, is_trusted: bool) -> ByMessages {
        let id = samples::id("f/c/t@2026-07-28+http");
        by_messages(expected, Scene { observed, id: &id, action: SceneAction::Call, answers_known, is_trusted })
    }

    #[test]
    fn value_of_user_is_open_and_message_is_decided() {
        let seen = samples::step(Outcome::Success);
        let success = || Expectation { outcome: vec![Outcome::Success], ..Expectation::default() };
        assert_eq!(of(&success(), &seen, true, true), ByMessages::Open(USER.to_owned()));
        let sent = |schema| Expectation { sent: Some(schema), ..success() };
        // A part that does not hold decides, whatever the user got.
        let missed = of(&sent(json!(true).into()), &seen, true, true);
        assert!(matches!(missed, ByMessages::Misses(_)), "{missed:?}");
        let absent =
            Expectation { matches: Some(json!({"not": {"required": ["sent"]}}).into()), ..Expectation::default() };
        assert_eq!(of(&absent, &seen, true, true), ByMessages::Holds);
        let outcome = json!({"properties": {"outcome": {"const": "success"}}});
        let outcome = Expectation { matches: Some(outcome.into()), ..Expectation::default() };
        assert_eq!(of(&outcome, &seen, true, true), ByMessages::Open(USER.to_owned()));
    }

    #[test]
    fn outcome_of_a_connection_that_is_used_is_known() {
        let id = samples::id("f/c/t@2026-07-28+http");
        let seen = samples::step(Outcome::Success);
        let of = |action| {
            let scene = Scene { observed: &seen, id: &id, action, answers_known: true, is_trusted: true };
            let failed = Expectation { outcome: vec![Outcome::Refused], ..Expectation::default() };
            by_messages(&failed, scene)
        };
        assert!(matches!(of(SceneAction::UsedConnection), ByMessages::Misses(_)));
        assert_eq!(of(SceneAction::Other), ByMessages::Open(USER.to_owned()));
    }

    #[test]
    fn refused_request_counts_only_if_client_is_trusted() {
        let seen = samples::step(Outcome::ProtocolError);
        let success = Expectation { outcome: vec![Outcome::Success], ..Expectation::default() };
        assert_eq!(of(&success, &seen, true, false), ByMessages::Open(REFUSED.to_owned()));
        assert!(matches!(of(&success, &seen, true, true), ByMessages::Misses(_)));
        let either = Expectation { outcome: vec![Outcome::Success, Outcome::Refused], ..Expectation::default() };
        assert_eq!(of(&either, &seen, true, true), ByMessages::Open(USER.to_owned()));
    }

    #[test]
    fn answer_to_a_question_that_was_not_asked_is_open() {
        let answered = Answered { action: Action::Accept, content: None };
        let expected = Expectation { answered: Some(answered), ..Expectation::default() };
        let refused = samples::step(Outcome::ProtocolError);
        assert_eq!(of(&expected, &refused, true, false), ByMessages::Open(REFUSED.to_owned()));
        assert!(matches!(of(&expected, &refused, true, true), ByMessages::Misses(_)));
        let asked = StepObservation { asked: vec![json!({ "message": "?" }).into()], ..refused };
        assert!(matches!(of(&expected, &asked, true, false), ByMessages::Misses(_)));
    }

    #[test]
    fn answer_counts_only_if_user_answered_as_the_case_does() {
        let answered = Answered { action: Action::Accept, content: None };
        let expected = Expectation { answered: Some(answered), ..Expectation::default() };
        let answer = |action| AnswerObservation { action: Some(action), content: None, code: None };
        let seen = |action| StepObservation { answered: vec![answer(action)], ..samples::step(Outcome::Success) };
        assert_eq!(of(&expected, &seen(Action::Accept), false, true), ByMessages::Holds);
        assert_eq!(of(&expected, &seen(Action::Decline), false, true), ByMessages::Open(ANSWERS.to_owned()));
        assert!(matches!(of(&expected, &seen(Action::Decline), true, true), ByMessages::Misses(_)));
    }
}
