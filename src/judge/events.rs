//! The events of a step: the requests and notifications that a server sends on its own, and the signals of a tool that
//! waits for its cancellation.
//!
//! Takes the messages of a step and the requests for canaries, gives events in their order. Must not know expectations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::asked::ELICIT;
use super::ids;
use super::messages::{self, CANCELLED};
use crate::jsonrpc::envelope::{Envelope, ordered};
use crate::model::case::{Step, When};
use crate::model::observation::{ClientRequest, Observed};
use crate::model::transcript::{End, Message, Party, STARTED, STOPPED, StepTranscript};

/// Returns whether the observation of a step has events.
pub(super) fn are_kept(step: &Step) -> bool {
    matches!(step.when, When::Cancel { .. }) || step.then.looks_into_events()
}

/// Returns the events of a step. `used` has the ids of the server's earlier requests.
pub(super) fn events(step: &Step, seen: &StepTranscript, used: &mut BTreeSet<String>) -> Vec<Observed> {
    let is_cancelled = matches!(step.when, When::Cancel { .. });
    let are_kept = are_kept(step);
    let response = if let End::Replied { message } = &seen.end { Some(*message) } else { None };
    let mut events = Vec::new();
    let all = seen.messages.iter().enumerate();
    let from_target = all.filter(|(_, message)| message.from == Party::Target && !message.text.is_empty());
    for (place, message) in from_target {
        let has_method = ordered(&message.text).is_some_and(|members| members.iter().any(|(name, _)| name == "method"));
        if !has_method {
            continue;
        }
        let members = match messages::kept_text(&message.text) {
            Observed::Value(Value::Object(members)) => members,
            unread => {
                // It may be what a test looks for, or what no test may miss.
                events.extend(are_kept.then_some(unread));
                continue;
            }
        };
        let id = Envelope::read(&message.text).and_then(|envelope| envelope.id).map(|id| ids::same(id.get()));
        let on = if message.on_get_stream { "get-stream" } else { "reply" };
        let mut event = event(members, id, on, used);
        if let Some(call) = message.on_call {
            event["call"] = call.into();
        }
        // No order shows which of two messages on different streams was sent first.
        if !message.on_get_stream && message.on_call.is_none() && response.is_some_and(|response| response < place) {
            event["late"] = true.into();
        }
        if !message.headers.is_empty() {
            event["headers"] = message.headers.iter().cloned().collect::<BTreeMap<_, _>>().into_iter().collect();
        }
        if are_kept {
            events.push(Observed::Value(event));
        }
    }
    let cancels = |message: &Message| message.from == Party::Harness && message.text.contains(CANCELLED);
    if is_cancelled && matches!(seen.end, End::Replied { .. }) && !seen.messages.iter().any(cancels) {
        events.push(Observed::Value(json!("answered before")));
    }
    if is_cancelled && has_no_session(&seen.messages) {
        events.push(Observed::Value(json!("no session")));
    }
    let signals = [(STARTED, "started"), (STOPPED, "stopped")].into_iter().filter(|_| is_cancelled);
    let requested = signals.filter(|(path, _)| seen.canary.iter().any(|hit| hit.url.ends_with(path)));
    events.extend(requested.map(|(_, signal)| Observed::Value(json!(signal))));
    events
}

/// Returns whether a server sends messages of this method only as requests. Any other message without an id is a
/// notification.
fn is_of_requests(method: &str) -> bool {
    matches!(method, "ping" | ELICIT) || method.parse::<ClientRequest>().is_ok()
}

/// Returns whether the client sends its requests over HTTP without a session.
fn has_no_session(messages: &[Message]) -> bool {
    let of_client = messages.iter().find(|message| message.from == Party::Harness && !message.headers.is_empty());
    of_client.is_some_and(|message| message.headers.iter().all(|(name, _)| name != "mcp-session-id"))
}

/// Describes a request or a notification. `text` is its id as it is written: large integers are the same float as their
/// neighbours.
fn event(mut members: Map<String, Value>, text: Option<String>, on: &str, used: &mut BTreeSet<String>) -> Value {
    let id = members.remove("id").map(|id| match &id {
        Value::Null => "null",
        // The id of a request is a string or an integer.
        Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() != 0.0) => "other",
        Value::Number(_) | Value::String(_) => {
            if used.insert(text.unwrap_or_else(|| id.to_string())) {
                "fresh"
            } else {
                "used"
            }
        }
        _ => "other",
    });
    let method = members.get("method").and_then(Value::as_str).unwrap_or_default();
    let is_request = is_of_requests(method) || id.is_some() && !method.starts_with("notifications/");
    let mut event = json!({ "kind": if is_request { "request" } else { "notification" }, "on": on });
    for (key, value) in [("method", members.remove("method")), ("params", members.remove("params"))] {
        if let Some(value) = value {
            event[key] = value;
        }
    }
    if let Some(id) = id {
        event["id"] = json!(id);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_ids_are_compared_by_their_digits() {
        let mut used = BTreeSet::new();
        let mut kind = |id: &str| {
            let members = Map::from_iter([("id".to_owned(), json!(1e30)), ("method".to_owned(), json!("ping"))]);
            event(members, Some(id.to_owned()), "reply", &mut used)["id"].clone()
        };
        let large = ["1180591620717411303424", "1180591620717411303425", "1180591620717411303424"];
        assert_eq!(large.map(&mut kind), ["fresh", "fresh", "used"].map(|one| json!(one)));
    }

    #[test]
    fn message_without_id_is_a_request_only_if_its_method_is_one() {
        for (method, id, kind) in [
            ("vendor.example/heartbeat", None, "notification"),
            ("vendor.example/heartbeat", Some(1), "request"),
            ("sampling/createMessage", None, "request"),
            ("notifications/progress", Some(1), "notification"),
            ("notifications/progress", None, "notification"),
        ] {
            let id = id.map(|id: i32| ("id".to_owned(), json!(id)));
            let members = [("method".to_owned(), json!(method))].into_iter().chain(id).collect();
            assert_eq!(event(members, None, "reply", &mut BTreeSet::new())["kind"], kind, "{method}");
        }
    }

    #[test]
    fn id_of_a_request_is_a_text_or_an_integer() {
        let mut used = BTreeSet::new();
        let mut kind = |id: Value| {
            let text = Some(ids::same(&id.to_string()));
            let members = Map::from_iter([("id".to_owned(), id), ("method".to_owned(), json!("ping"))]);
            event(members, text, "reply", &mut used)["id"].clone()
        };
        let ids = [json!("a"), json!(1), json!(1.0), json!(1), json!(1.5), json!(null), json!([1])];
        assert_eq!(
            ids.map(&mut kind),
            ["fresh", "fresh", "used", "used", "other", "null", "other"].map(|one| json!(one))
        );
    }
}
