//! Expectations that hold because the step has nothing that they are about.
//!
//! Takes an expectation that holds and an observation, gives the reason why it shows nothing. Must not know levels.

use super::{Compared, absent, fits};
use crate::model::case::{CanaryState, Expectation, Matcher};
use crate::model::observation::{Parts, StepObservation};
use crate::model::schema::SharedSchema;
use crate::model::spec::Role;

/// Returns why an expectation that holds shows nothing, if so: it speaks about messages, or about members of messages, and
/// no message of the step has the premise of its schema; or about flaws that no listed tool can have; or it is only about what a server leaves undone, and the server
/// gave no answer.
pub(in crate::judge) fn about_nothing(
    expected: &Expectation,
    observed: &StepObservation,
    bound: &[Role],
) -> Option<&'static str> {
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
    if !without.is_empty() && without.is_disjoint(&observed.possible_flaws) {
        return Some("no listed tool has what this is about");
    }
    let is_silent = bound == [Role::Server] && absent::reason(observed.outcome).is_some();
    (is_silent && is_about_absence(expected)).then_some("the server gave no answer")
}

/// Returns whether an expectation demands nothing but that something was not done.
fn is_about_absence(expected: &Expectation) -> bool {
    let asked = expected.asked.as_ref().filter(|asked| **asked == Matcher::Absent);
    let canary = expected.canary.filter(|canary| *canary == CanaryState::Untouched);
    let alone = Expectation {
        name: expected.name.clone(),
        allowed_by: expected.allowed_by.clone(),
        asked: asked.map(|_| Matcher::Absent),
        canary,
        ..Expectation::default()
    };
    (asked.is_some() || canary.is_some()) && *expected == alone
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Flaw, Outcome};
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
            about_nothing(&sent, &seen, &[Role::Client]).is_some()
        };
        assert!(of(Vec::new()) && of(vec![message(json!({ "result": {} }))]));
        assert!(!of(vec![message(json!({ "result": {} })), message(json!({ "error": {} }))]));
        let unread = Parts::from([("message".to_owned(), Observed::Unreadable("too deep".to_owned()))]);
        assert!(!of(vec![unread]));
        let reply = Expectation { reply: Some(schema.into()), ..Expectation::default() };
        let seen = StepObservation { replies: vec![message(json!({}))], ..samples::step(Outcome::Success) };
        assert_eq!(about_nothing(&reply, &seen, &[Role::Server]), Some("no reply has what this is about"));
    }

    #[test]
    fn server_without_an_answer_leaves_nothing_undone() {
        let unasked = || Expectation { asked: Some(Matcher::Absent), ..Expectation::default() };
        let of = |expected: &Expectation, outcome, bound: &[Role]| {
            about_nothing(expected, &samples::step(outcome), bound).is_some()
        };
        assert!(of(&unasked(), Outcome::Crash, &[Role::Server]));
        assert!(!of(&unasked(), Outcome::ToolError, &[Role::Server]));
        assert!(!of(&unasked(), Outcome::Crash, &[Role::Client]));
        let named = Expectation { outcome: vec![Outcome::Crash], ..unasked() };
        assert!(!of(&named, Outcome::Crash, &[Role::Server]));
    }

    #[test]
    fn flaw_that_no_tool_can_have_shows_nothing() {
        let expected = Expectation { without: [Flaw::DanglingReference].into(), ..Expectation::default() };
        let of = |possible: &[Flaw]| {
            let possible_flaws = possible.iter().copied().collect();
            let seen = StepObservation { possible_flaws, ..samples::step(Outcome::Success) };
            about_nothing(&expected, &seen, &[Role::Server]).is_some()
        };
        assert!(of(&[Flaw::NoObjectRoot]) && !of(&[Flaw::DanglingReference]));
    }
}
