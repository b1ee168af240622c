//! Expectations that hold because the step has nothing that they are about.
//!
//! Takes an expectation that holds and an observation, gives the reason why it shows nothing. Must not know levels.

use super::{Compared, absent, fits, misses};
use crate::judge::observe::blank;
use crate::model::TestId;
use crate::model::case::Expectation;
use crate::model::observation::{Parts, StepObservation};
use crate::model::schema::SharedSchema;

/// Returns why an expectation that holds shows nothing, if so: it speaks about messages, or about members of messages, and
/// no message of the step has the premise of its schema; or about flaws that no listed tool can have.
pub(in crate::judge) fn about_nothing(expected: &Expectation, observed: &StepObservation) -> Option<&'static str> {
    let is_idle = |key: &str, schema: &Option<SharedSchema>, messages: &[Parts]| {
        let premise = schema.as_ref().and_then(SharedSchema::premise);
        let is_such = |message: &Parts, premise| !matches!(fits(key, premise, message.clone()), Compared::Misses(_));
        premise.is_some_and(|premise| !messages.iter().any(|message| is_such(message, premise)))
    };
    if is_idle("sent", &expected.sent, &observed.sent) {
        return Some("the client sent no message that this is about");
    }
    if is_idle("reply", &expected.reply, &observed.replies) {
        return Some("no reply has what this is about");
    }
    let without = &expected.without;
    (!without.is_empty() && without.is_disjoint(&observed.possible_flaws))
        .then_some("no listed tool has what this is about")
}

/// Returns why an expectation that holds shows nothing, if the target gave no answer and the expectation would hold
/// without any message.
pub(in crate::judge) fn about_silence(
    expected: &Expectation,
    observed: &StepObservation,
    id: &TestId,
) -> Option<&'static str> {
    let is_silent = absent::reason(observed.outcome).is_some() && expected.outcome.is_empty();
    let holds_for_nothing = || misses(expected, &blank(observed.outcome, 0), id).is_empty();
    (is_silent && holds_for_nothing()).then_some("there was no answer")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Flaw, Matcher, Outcome};
    use crate::model::observation::Observed;

    fn message(value: Value) -> Parts {
        Parts::from([("message".to_owned(), Observed::Value(value))])
    }

    #[test]
    fn message_of_another_kind_shows_nothing() {
        let schema = json!({ "properties": { "message": { "properties": { "error": { "required": ["code"] } } } } });
        let sent = Expectation { sent: Some(schema.clone().into()), ..Expectation::default() };
        let of = |messages: Vec<Parts>| {
            let seen = StepObservation { sent: messages, ..samples::step(Outcome::Success) };
            about_nothing(&sent, &seen).is_some()
        };
        assert!(of(Vec::new()) && of(vec![message(json!({ "result": {} }))]));
        assert!(!of(vec![message(json!({ "result": {} })), message(json!({ "error": {} }))]));
        let unread = Parts::from([("message".to_owned(), Observed::Unreadable("too deep".to_owned()))]);
        assert!(!of(vec![unread]));
        let reply = Expectation { reply: Some(schema.into()), ..Expectation::default() };
        let seen = StepObservation { replies: vec![message(json!({}))], ..samples::step(Outcome::Success) };
        assert_eq!(about_nothing(&reply, &seen), Some("no reply has what this is about"));
    }

    #[test]
    fn server_without_an_answer_leaves_nothing_undone() {
        let of = |expected: &Expectation, outcome| {
            about_silence(expected, &samples::step(outcome), &samples::id("f/c/t@2026-07-28+http")).is_some()
        };
        let no_log = json!({ "properties": { "events": { "not": { "contains": { "required": ["params"] } } } } });
        let unasked = || Expectation { asked: Some(Matcher::Absent), ..Expectation::default() };
        let unlogged = Expectation { matches: Some(no_log.into()), ..Expectation::default() };
        assert!(of(&unasked(), Outcome::Crash) && of(&unlogged, Outcome::Timeout));
        assert!(!of(&unasked(), Outcome::ToolError) && !of(&unlogged, Outcome::Success));
        let named = Expectation { outcome: vec![Outcome::Crash], ..unasked() };
        assert!(!of(&named, Outcome::Crash));
    }

    #[test]
    fn flaw_that_no_tool_can_have_shows_nothing() {
        let expected = Expectation { without: [Flaw::DanglingReference].into(), ..Expectation::default() };
        let of = |possible: &[Flaw]| {
            let possible_flaws = possible.iter().copied().collect();
            let seen = StepObservation { possible_flaws, ..samples::step(Outcome::Success) };
            about_nothing(&expected, &seen).is_some()
        };
        assert!(of(&[Flaw::NoObjectRoot]) && !of(&[Flaw::DanglingReference]));
    }
}
