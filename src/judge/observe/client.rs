//! Observations of a client under test: the results that its user got.
//!
//! Takes an adapter's answer for one step and the messages of the step. Must not know expectations, nor which behaviour
//! is right.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Asks, Observer};
use crate::jsonrpc::envelope::{self, Envelope, Members};
use crate::judge::messages::Wire;
use crate::model::case::{Outcome, Step};
use crate::model::observation::{AdvertisedTool, StepObservation};
use crate::model::transcript::Party;

/// The adapter's answer, which has one of these members.
#[derive(Deserialize)]
struct Handed<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Observer<'_> {
    /// The outcome of a step, by the result that the user got.
    pub(super) fn user_outcome(
        &self,
        step: &Step,
        wire: &Wire<'_>,
        handed: &str,
        observed: &mut StepObservation,
    ) -> Outcome {
        let outcome = match (serde_json::from_str(handed), step.when.asks(&self.test.given)) {
            (Ok(Handed { error: Some(error), .. }), _) => Some(self.error_outcome(error, step, wire, observed)),
            (Ok(Handed { tools: Some(tools), .. }), Asks::List) => self.listed(tools).map(|advertised| {
                observed.advertised = advertised;
                Outcome::Success
            }),
            (Ok(Handed { result: Some(result), .. }), Asks::Call(_)) if has_requested(step, wire) => {
                envelope::members(result).map(|result| self.result_outcome(&result, observed))
            }
            (Ok(Handed { result: Some(_), .. }), Asks::Other) if has_requested(step, wire) => Some(Outcome::Success),
            _ => None,
        };
        outcome.unwrap_or_else(|| {
            observed.said = Some(self.excerpt(&format!("handed over: {handed}")));
            Outcome::InvalidMessage
        })
    }

    /// The outcome of an error: one that the server sent is a protocol error; any other is a refusal of the client.
    fn error_outcome(&self, error: &RawValue, step: &Step, wire: &Wire<'_>, observed: &mut StepObservation) -> Outcome {
        let code = envelope::code(error);
        let error = envelope::members(error).unwrap_or_default();
        let text = |key: &str| error.get(key).and_then(|raw| envelope::scalar::<String>(raw));
        let words: Vec<_> = ["type", "message"].into_iter().filter_map(text).collect();
        observed.said = Some(self.excerpt(&words.join(": ")));
        if let Some(code) = code_of_reply(step, wire) {
            observed.code = code;
            return Outcome::ProtocolError;
        }
        observed.code = code;
        Outcome::Refused
    }

    /// The outcome of a result. A result of any shape counts, because the case decides whether it is right.
    fn result_outcome(&self, result: &Members<'_>, observed: &mut StepObservation) -> Outcome {
        let kind: Option<String> = result.get("resultType").and_then(|kind| envelope::scalar(kind));
        let outcome = self.call(None, result, observed).unwrap_or(Outcome::Success);
        if kind.as_deref() == Some("input_required") { Outcome::InputRequired } else { outcome }
    }

    /// The tools that the user got in a step, each compared with the fixture's.
    pub(super) fn tools_of_user(&self, handed: &str) -> Option<BTreeMap<String, AdvertisedTool>> {
        self.listed(serde_json::from_str::<Handed<'_>>(handed).ok()?.tools?)
    }

    fn listed(&self, tools: &RawValue) -> Option<BTreeMap<String, AdvertisedTool>> {
        let mut listed: BTreeMap<String, Members<'_>> = BTreeMap::new();
        for tool in envelope::items(tools)?.into_iter().filter_map(envelope::members) {
            if let Some(name) = tool.get("name").and_then(|name| envelope::scalar(name)) {
                listed.entry(name).or_insert(tool);
            }
        }
        Some(self.compare_tools(&listed))
    }
}

/// Returns whether the client sent the request of a step. A client may cache a list, but any other result without a request
/// is invented.
fn has_requested(step: &Step, wire: &Wire<'_>) -> bool {
    wire.of(Party::Target).any(|(_, one)| one.method.as_deref() == step.when.method())
}

/// The code of the error with which the server answered the last request of the step, `Some(None)` if the code is not a
/// number; `None` if the server answered with no error.
#[expect(clippy::option_option, reason = "an error without a code is an error")]
fn code_of_reply(step: &Step, wire: &Wire<'_>) -> Option<Option<i64>> {
    let method = step.when.method()?;
    let by = |party| wire.of(party).rev().map(|(_, one)| one);
    let id = by(Party::Target).find(|one| one.method.as_deref() == Some(method))?.id?;
    let answers = |one: &&Envelope<'_>| one.method.is_none() && one.id.is_some_and(|other| other.get() == id.get());
    let error = by(Party::Harness).find(answers)?.error?;
    Some(envelope::code(error))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::{observe, samples};
    use crate::model::case::{Action, Expectation, Test, Then, When};
    use crate::model::observation::{Observed, StateEcho};
    use crate::model::spec::Role;
    use crate::model::template::Template;
    use crate::model::transcript::{End, Message, StepTranscript};

    fn step(handed: &str, messages: Vec<Message>) -> StepTranscript {
        StepTranscript { messages, end: End::Handed, handed: Some(handed.to_owned()), ..samples::replied(&[]) }
    }

    fn test(steps: Vec<When>) -> Test {
        let schema = Template::from(&json!({"type": "object", "anyOf": []}));
        let steps = steps.into_iter().map(|when| (when, Then::Observe)).collect();
        Test { role: Role::Client, ..samples::test(&[("t", schema)], steps) }
    }

    fn observed(when: When, handed: &str, messages: Vec<Message>) -> StepObservation {
        observe(&test(vec![when]), &samples::transcript(vec![step(handed, messages)])).steps.remove(0)
    }

    fn called(reply: &str) -> Vec<Message> {
        let call = samples::message(Party::Target, r#"{"id":7,"method":"tools/call","params":{"name":"t"}}"#);
        vec![call, samples::message(Party::Harness, &format!(r#"{{"id":7,{reply}}}"#))]
    }

    #[test]
    fn result_counts_as_the_user_got_it() {
        let wire = called(r#""result":{"content":[],"structuredContent":{"wire":1}}"#);
        let seen = observed(samples::call("t"), r#"{"result":{"content":[],"structuredContent":{"user":1}}}"#, wire);
        assert_eq!(
            (seen.outcome, seen.structured, seen.saw),
            (Outcome::Success, Some(Observed::Value(json!({"user": 1}))), None)
        );
        let outcome = |handed: &str| observed(samples::call("t"), handed, called(r#""result":{}"#)).outcome;
        assert_eq!(outcome(r#"{"result":{"content":[],"isError":true}}"#), Outcome::ToolError);
        assert_eq!(outcome(r#"{"result":{"resultType":"input_required"}}"#), Outcome::InputRequired);
        assert_eq!(outcome(r#"{"result":{"content":7}}"#), Outcome::Success);
        assert_eq!(outcome(r#"{"tools":[]}"#), Outcome::InvalidMessage);
    }

    #[test]
    fn error_is_a_protocol_error_only_if_the_server_sent_it() {
        let raised = r#"{"error":{"type":"E","code":1,"message":"no"}}"#;
        let own = observed(samples::call("t"), raised, called(r#""result":{}"#));
        assert_eq!((own.outcome, own.code, own.said.as_deref()), (Outcome::Refused, Some(1), Some("E: no")));
        let sent = observed(samples::call("t"), raised, called(r#""error":{"code":-32602,"message":"no"}"#));
        assert_eq!((sent.outcome, sent.code), (Outcome::ProtocolError, Some(-32602)));
        assert_eq!(observed(samples::call("t"), raised, Vec::new()).outcome, Outcome::Refused);
    }

    #[test]
    fn result_without_a_request_is_an_invalid_message() {
        let outcome = |when, handed| observed(when, handed, Vec::new()).outcome;
        assert_eq!(outcome(samples::call("t"), r#"{"result":{"content":[]}}"#), Outcome::InvalidMessage);
        assert_eq!(outcome(When::List, r#"{"tools":[]}"#), Outcome::Success);
    }

    #[test]
    fn sent_messages_are_kept_if_the_case_uses_them() {
        let looks = || {
            let sent = Expectation { sent: Some(json!(true).into()), ..Expectation::default() };
            samples::check("r", vec![sent])
        };
        let message = |text: &str| samples::message(Party::Target, text);
        let sent = |when, then, handed: Option<&str>| {
            let messages = [r#"{"method":"initialize","id":1}"#, r#"{"method":"tools/call","id":2}"#].map(message);
            let end = if handed.is_some() { End::Handed } else { End::Accepted };
            let handed = handed.map(str::to_owned);
            let seen = StepTranscript { messages: messages.into(), end, handed, ..samples::replied(&[]) };
            let test = Test { role: Role::Client, ..samples::test(&[], vec![(when, then)]) };
            observe(&test, &samples::transcript(vec![seen])).steps.remove(0).sent.len()
        };
        let result = Some(r#"{"result":{}}"#);
        assert_eq!(sent(When::Serve, looks(), None), 2);
        assert_eq!(sent(samples::call("t"), looks(), result), 1);
        assert_eq!(sent(samples::call("t"), Then::Observe, result), 0);
    }

    #[test]
    fn schemas_are_compared_as_the_user_got_them() {
        let handed = r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"u"}]}"#;
        let seen = observed(When::List, handed, Vec::new());
        assert_eq!((seen.outcome, seen.advertised.len()), (Outcome::Success, 1));
        assert_eq!(seen.advertised["t"].removed, ["/inputSchema/anyOf"]);
        assert!(observed(When::List, r#"{"tools":[]}"#, Vec::new()).advertised.is_empty());
    }

    #[test]
    fn tool_that_is_neither_listed_nor_callable_is_hidden() {
        let outcome = |listed: &str| {
            let steps = vec![step(listed, Vec::new()), step(r#"{"error":{}}"#, Vec::new())];
            observe(&test(vec![When::List, samples::call("t")]), &samples::transcript(steps)).steps[1].outcome
        };
        assert_eq!(outcome(r#"{"tools":[]}"#), Outcome::Hidden);
        assert_eq!(outcome(r#"{"tools":[{"name":"t"}]}"#), Outcome::Refused);
    }

    #[test]
    fn elicitations_and_answers_are_read_from_the_messages() {
        let asked = r#"{"resultType":"input_required","requestState":"s",
            "inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?"}}}}"#;
        let again = r#"{"id":8,"method":"tools/call","params":{"name":"t","requestState":"s",
            "inputResponses":{"q":{"action":"accept","content":{"x":1}}}}}"#;
        let mut messages = called(&format!(r#""result":{asked}"#));
        messages.push(samples::message(Party::Target, again));
        let seen = observed(samples::call("t"), r#"{"result":{"content":[]}}"#, messages);
        let states = |seen: &StepObservation| {
            seen.rounds.iter().filter_map(Observed::value).map(|one| one.state).collect::<Vec<_>>()
        };
        assert_eq!(seen.asked, [Observed::Value(json!({"message": "?"}))]);
        assert_eq!(
            (seen.answered[0].action, &seen.answered[0].content),
            (Some(Action::Accept), &Some(Observed::Value(json!({"x": 1}))))
        );
        assert_eq!(states(&seen), [StateEcho::Absent, StateEcho::Echoed]);
    }

    #[test]
    fn schema_too_deep_for_a_tree_is_unreadable() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let handed = format!(r#"{{"tools":[{{"name":"t","inputSchema":{deep}}}]}}"#);
        assert!(observed(When::List, &handed, Vec::new()).advertised["t"].unreadable.is_some());
    }
}
