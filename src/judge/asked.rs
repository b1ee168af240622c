//! Elicitations of a step: the parameters that a server sent, and the answers of a client, in both lifecycles.
//!
//! Takes the messages of a step, gives parameters and answers in their order. Must not know expectations.

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::messages::{self, Wire};
use crate::jsonrpc::envelope::{self, Envelope};
use crate::model::case::Action;
use crate::model::observation::{AnswerObservation, ClientRequest, GetStreamMessage, Observed};
use crate::model::spec::Role;
use crate::model::template::Template;
use crate::model::transcript::{Message, Party};

pub(super) const ELICIT: &str = "elicitation/create";

/// The parameters of every elicitation that the server sent, without `_meta`.
pub(super) fn asked(role: Role, wire: &Wire<'_>) -> Vec<Observed> {
    // A reply of a server under test counts only if it answers a request of this step, and a request only with an id.
    let (server, is_under_test) = match role {
        Role::Server => (Party::Target, true),
        Role::Client | Role::Pair => (Party::Harness, false),
    };
    let counts = |place| !is_under_test || messages::answers(wire).iter().any(|answer| answer.message == place);
    let mut asked = Vec::new();
    for (place, envelope) in wire.of(server) {
        if envelope.method.as_deref() == Some(ELICIT) && (envelope.id.is_some() || !is_under_test) {
            asked.push(without_meta(envelope.params));
        }
        let requests = envelope.members().and_then(|result| result.get("inputRequests").copied());
        if let Some(requests) = requests.filter(|_| counts(place)) {
            asked.extend(in_order(requests).into_iter().filter_map(elicited));
        }
    }
    asked
}

/// The first request of a server under test, elicitations apart, that needs a capability which the client does not
/// declare. By default it declares elicitation alone.
pub(super) fn undeclared(role: Role, wire: &Wire<'_>, declares: Option<&Template>) -> Option<ClientRequest> {
    let of_message = |envelope: &Envelope<'_>| {
        let own = envelope.id.and(envelope.method.as_deref()).and_then(|method| method.parse().ok());
        let requests = envelope.members().and_then(|result| result.get("inputRequests").copied());
        let method = |request: &RawValue| envelope::scalar::<String>(envelope::members(request)?.get("method")?);
        let mut inner = requests.into_iter().flat_map(in_order).filter_map(|one| method(one)?.parse().ok());
        own.or_else(|| inner.next())
    };
    let is_declared = |request: &ClientRequest| {
        let capability = request.word().split('/').next().unwrap_or_default();
        declares.is_some_and(|declared| declared.get(capability).is_some())
    };
    let requests = wire.of(Party::Target).filter(|_| role == Role::Server);
    requests.filter_map(|(_, envelope)| of_message(envelope)).find(|request| !is_declared(request))
}

/// The messages of a step's request that a server sent on the stream of a GET request.
pub(super) fn on_get_stream(messages: &[Message], wire: &Wire<'_>) -> BTreeSet<GetStreamMessage> {
    let on_it =
        wire.of(Party::Target).filter(|(place, envelope)| messages[*place].on_get_stream && envelope.id.is_some());
    let kind = |(_, envelope): (usize, &Envelope<'_>)| match envelope.method.as_deref() {
        Some(ELICIT) => Some(GetStreamMessage::Elicitation),
        Some(_) => None,
        None => Some(GetStreamMessage::Response),
    };
    on_it.filter_map(kind).collect()
}

/// The answers of a client under test.
pub(super) fn answered(role: Role, wire: &Wire<'_>) -> Vec<AnswerObservation> {
    if !role.has_client() {
        return Vec::new();
    }
    let requests = wire.of(Party::Harness).filter(|(_, one)| one.method.as_deref() == Some(ELICIT));
    let ids: Vec<_> = requests.filter_map(|(_, one)| one.id.map(RawValue::get)).collect();
    let mut answered = Vec::new();
    for (_, envelope) in wire.of(Party::Target) {
        if envelope.method.is_none() && envelope.id.is_some_and(|id| ids.contains(&id.get())) {
            let code = envelope.error.and_then(envelope::code);
            answered.push(answer(envelope.result, code));
        }
        if let Some(responses) =
            envelope.params.and_then(envelope::members).and_then(|all| all.get("inputResponses").copied())
        {
            answered.extend(in_order(responses).into_iter().map(|response| answer(Some(response), None)));
        }
    }
    answered
}

/// The values of an object in the order of the text; any other value is a list of itself.
fn in_order(raw: &RawValue) -> Vec<&RawValue> {
    match envelope::ordered(raw.get()) {
        Some(members) => members.into_iter().map(|(_, value)| value).collect(),
        None => vec![raw],
    }
}

/// The parameters of an input request that is an elicitation; a request that is not an object counts as one.
fn elicited(request: &RawValue) -> Option<Observed> {
    match envelope::members(request) {
        Some(members) => {
            let method = members.get("method").and_then(|method| envelope::scalar::<String>(method));
            (method.as_deref() == Some(ELICIT)).then(|| without_meta(members.get("params").copied()))
        }
        None => Some(messages::kept(request)),
    }
}

fn without_meta(params: Option<&RawValue>) -> Observed {
    let Some(params) = params else { return Observed::Value(Value::Null) };
    let Some(members) = envelope::ordered(params.get()) else { return messages::kept(params) };
    let members = members.into_iter().filter(|(key, _)| key != "_meta");
    let members = Observed::all(members.map(|(key, value)| messages::kept(value).map(|value| (key, value))));
    members.map(|members| members.into_iter().collect::<Map<_, _>>().into())
}

fn answer(result: Option<&RawValue>, code: Option<i64>) -> AnswerObservation {
    let members = result.and_then(envelope::members).unwrap_or_default();
    let action = members.get("action").and_then(|action| envelope::scalar::<String>(action));
    let action = action.and_then(|word| word.parse::<Action>().ok());
    AnswerObservation { action, content: members.get("content").map(|content| messages::kept(content)), code }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;

    #[test]
    fn request_without_its_capability_is_undeclared() {
        let sampling = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}"#;
        let rounds = r#"{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"a":{"method":"elicitation/create"},"b":{"method":"roots/list"}}}}"#;
        let declares = |name: &str| Template::Object(vec![(name.to_owned(), Template::Object(Vec::new()))]);
        for (message, declared, expected) in [
            (sampling, None, Some(ClientRequest::Sampling)),
            (sampling, Some(declares("roots")), Some(ClientRequest::Sampling)),
            (sampling, Some(declares("sampling")), None),
            (rounds, None, Some(ClientRequest::Roots)),
            (rounds, Some(declares("roots")), None),
            (r#"{"jsonrpc":"2.0","method":"roots/list"}"#, None, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#, None, None),
        ] {
            let step = samples::replied(&[message]);
            let wire = Wire::new(&step);
            assert_eq!(undeclared(Role::Server, &wire, declared.as_ref()), expected, "{message}");
            assert_eq!(undeclared(Role::Client, &wire, declared.as_ref()), None);
        }
    }
}
