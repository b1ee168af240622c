//! Elicitations in a transcript, in both lifecycles: as a server sent them, and as a client answered them.
//!
//! Takes a step, gives parameters and answers in the order of the wire. Must not know what was expected of them.

use serde_json::Value;
use serde_json::value::RawValue;

use super::reply::{self, Envelope};
use crate::model::case::Action;
use crate::model::observation::AnswerObservation;
use crate::model::spec::Role;
use crate::model::transcript::{Party, StepTranscript};

const ELICIT: &str = "elicitation/create";

/// The parameters of every elicitation that the server sent, without `_meta`.
pub(super) fn asked(role: Role, seen: &StepTranscript) -> Vec<Value> {
    let server = if role == Role::Server { Party::Target } else { Party::Harness };
    let mut asked = Vec::new();
    for envelope in envelopes(seen, server) {
        if envelope.method.as_deref() == Some(ELICIT) {
            asked.push(without_meta(envelope.params.map_or(Value::Null, reply::kept)));
        }
        if let Some(requests) = envelope.members().and_then(|result| result.get("inputRequests").copied()) {
            asked.extend(in_order(requests).into_iter().filter_map(elicited));
        }
    }
    asked
}

/// The answers that a client under test gave.
pub(super) fn answered(role: Role, seen: &StepTranscript) -> Vec<AnswerObservation> {
    if role != Role::Client {
        return Vec::new();
    }
    let elicits = |envelope: &Envelope<'_>| envelope.method.as_deref() == Some(ELICIT);
    let ids: Vec<_> =
        envelopes(seen, Party::Harness).filter(elicits).filter_map(|one| one.id.map(RawValue::get)).collect();
    let mut answered = Vec::new();
    for envelope in envelopes(seen, Party::Target) {
        if envelope.method.is_none() && envelope.id.is_some_and(|id| ids.contains(&id.get())) {
            let code = envelope.error.and_then(reply::members).and_then(|error| reply::scalar(error.get("code")?));
            answered.push(answer(envelope.result.map_or(Value::Null, reply::kept), code));
        }
        if let Some(responses) =
            envelope.params.and_then(reply::members).and_then(|all| all.get("inputResponses").copied())
        {
            answered.extend(in_order(responses).into_iter().map(|response| answer(response, None)));
        }
    }
    answered
}

fn envelopes(seen: &StepTranscript, from: Party) -> impl Iterator<Item = Envelope<'_>> {
    let sent = seen.messages.iter().filter(move |message| message.from == from);
    sent.filter_map(|message| Envelope::read(&message.text))
}

/// An object's values, in the order in which they were written; one that isn't kept stays one value.
fn in_order(raw: &RawValue) -> Vec<Value> {
    match reply::kept(raw) {
        Value::Object(members) => members.into_iter().map(|(_, value)| value).collect(),
        other => vec![other],
    }
}

/// The parameters of an input request, where it is an elicitation or can't be read.
fn elicited(request: Value) -> Option<Value> {
    match request {
        Value::Object(mut members) => {
            let elicits = members.get("method").and_then(Value::as_str) == Some(ELICIT);
            elicits.then(|| without_meta(members.remove("params").unwrap_or_default()))
        }
        other => Some(other),
    }
}

fn without_meta(mut params: Value) -> Value {
    if let Value::Object(members) = &mut params {
        members.shift_remove("_meta");
    }
    params
}

fn answer(mut result: Value, code: Option<i64>) -> AnswerObservation {
    let action = result.get("action").and_then(Value::as_str).and_then(|word| word.parse::<Action>().ok());
    let content = result.as_object_mut().and_then(|members| members.shift_remove("content"));
    AnswerObservation { action, content, code }
}
