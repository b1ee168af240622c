//! What a target sends beside what a test asks for, and no target may send.
//!
//! Takes the messages of a test, gives the first fault of each kind in each step. Must not know what a test is about.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::compare;
use super::messages::{CANCELLED, Wire, has_null_id};
use crate::jsonrpc::envelope::{Envelope, members, scalar};
use crate::model::observation::Beside;
use crate::model::spec::Role;
use crate::model::text::shortened;
use crate::model::transcript::{Message, Party, StepTranscript, Transcript};

/// The notification of progress.
const PROGRESS: &str = "notifications/progress";
/// The request whose stream a server ends by a cancellation.
const LISTEN: &str = "subscriptions/listen";
/// The bytes of a method in words.
const METHOD: usize = 100;

/// Returns the faults of each step, in words.
pub(super) fn beside(role: Role, transcript: &Transcript, steps: &[Wire<'_>]) -> Vec<BTreeMap<Beside, String>> {
    let mut asked = Asked::default();
    asked.add(&transcript.opening);
    let mut own = Vec::new();
    let of_step = |(seen, wire): (&StepTranscript, &Wire<'_>)| {
        asked.add(&seen.messages);
        let mut found = BTreeMap::new();
        let mut reached: BTreeMap<String, f64> = BTreeMap::new();
        for (place, envelope) in wire.of(Party::Target) {
            let message = &seen.messages[place];
            found.extend(without_id(envelope, &message.text));
            // Who sends a client's messages is its user too.
            if role == Role::Server {
                found.extend(asked.foreign(envelope).filter(|_| !message.lossy));
                // A copy on another stream is a fault of its own.
                if !message.on_get_stream {
                    found.extend(asked.going_back(envelope, &mut reached));
                }
            }
        }
        if role == Role::Server {
            found.extend(cancelled(wire, &mut own));
        }
        found
    };
    transcript.steps.iter().zip(steps).map(of_step).collect()
}

/// Returns the fault of a cancellation of a request that the harness waits for. `own` has the ids of the server's requests,
/// which it may cancel.
fn cancelled(wire: &Wire<'_>, own: &mut Vec<Value>) -> Option<(Beside, String)> {
    let has = |ids: &[Value], id: &Value| ids.iter().any(|one| compare::equal(one, id));
    let mut waiting: Vec<Value> = Vec::new();
    for (message, envelope) in wire.by_all() {
        let id = envelope.id.and_then(scalar::<Value>);
        match (message.from, envelope.method.as_deref(), id) {
            (Party::Harness, Some(method), Some(id)) if method != LISTEN => waiting.push(id),
            (Party::Target, None, Some(id)) => waiting.retain(|one| !compare::equal(one, &id)),
            (Party::Target, Some(CANCELLED), _) => {
                let params = envelope.params.and_then(members).unwrap_or_default();
                let id = params.get("requestId").and_then(|id| scalar::<Value>(id));
                if let Some(id) = id.filter(|id| has(&waiting, id) && !has(own, id)) {
                    return Some((Beside::CancelsAsked, format!("the server cancels the request {id} of its client")));
                }
            }
            (Party::Target, Some(_), Some(id)) => own.push(id),
            _ => {}
        }
    }
    None
}

/// The ids of the harness's requests.
#[derive(Default)]
struct Asked {
    ids: Vec<Value>,
    /// The texts that are no envelopes: a request with a mistake may have an id all the same.
    others: Vec<String>,
    /// The progress tokens, as JSON.
    tokens: Vec<String>,
    /// The greatest of those that are integers: earlier tests of the same session had smaller ones.
    greatest: Option<i64>,
}

impl Asked {
    fn add(&mut self, messages: &[Message]) {
        for message in messages.iter().filter(|message| message.from == Party::Harness) {
            match Envelope::read(&message.text) {
                Some(envelope) => {
                    let id = envelope.id.and_then(scalar::<Value>);
                    self.greatest = self.greatest.max(id.as_ref().and_then(Value::as_i64));
                    self.ids.extend(id);
                    let meta = envelope.meta().unwrap_or_default();
                    self.tokens.extend(meta.get("progressToken").map(|token| token.get().to_owned()));
                }
                None => self.others.push(message.text.clone()),
            }
        }
    }

    /// Returns the fault of progress that does not increase, of a token that the harness gave: others are a fault of their
    /// own. `reached` has the progress of each token.
    fn going_back(&self, envelope: &Envelope<'_>, reached: &mut BTreeMap<String, f64>) -> Option<(Beside, String)> {
        let params = members(envelope.params.filter(|_| envelope.method.as_deref() == Some(PROGRESS))?)?;
        let token = params.get("progressToken")?.get();
        let progress = scalar::<Number>(params.get("progress")?)?.as_f64()?;
        let last = reached.insert(token.to_owned(), progress)?;
        let is_back = progress <= last && self.tokens.iter().any(|own| own == token);
        is_back.then(|| (Beside::ProgressBack, format!("the progress {progress} follows {last}")))
    }

    /// Returns the fault of a result of a request that the harness never sent.
    fn foreign(&self, envelope: &Envelope<'_>) -> Option<(Beside, String)> {
        let id = envelope.id.filter(|_| envelope.method.is_none()).and_then(scalar::<Value>)?;
        // An error may be about a message whose id could not be read.
        envelope.result.filter(|_| envelope.error.is_none())?;
        // Who sent no request, or only one without a readable id, cannot know.
        let is_earlier = |greatest: i64| id.as_i64().is_some_and(|id| (0..=greatest).contains(&id));
        let is_own = self.ids.iter().any(|own| compare::equal(own, &id))
            || self.others.iter().any(|text| text.contains(&id.to_string()))
            || self.ids.is_empty()
            || self.greatest.is_some_and(is_earlier);
        (!is_own).then(|| (Beside::ForeignResult, format!("the response has the id {id}, which no request had")))
    }
}

/// Returns the fault of a request whose id is null.
fn without_id(envelope: &Envelope<'_>, text: &str) -> Option<(Beside, String)> {
    let method = envelope.method.as_ref().filter(|_| has_null_id(envelope, text))?;
    Some((Beside::NullId, format!("the id of `{}` is null", shortened(method, METHOD))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::StepTranscript;

    fn found(messages: &[(Party, Value)]) -> Vec<Beside> {
        let message = |(from, message): &(Party, Value)| samples::message(*from, &message.to_string());
        let step = StepTranscript { messages: messages.iter().map(message).collect(), ..samples::replied(&[]) };
        let transcript = samples::transcript(vec![step]);
        beside(Role::Server, &transcript, &[Wire::new(&transcript.steps[0])]).remove(0).into_keys().collect()
    }

    #[test]
    fn response_to_no_request_is_foreign() {
        let asked = (Party::Harness, json!({ "id": 5, "method": "tools/list" }));
        let answer = |id: Value| (Party::Target, json!({ "id": id, "result": {} }));
        for own in [json!(5), json!(2), json!(5.0), json!(null)] {
            assert_eq!(found(&[asked.clone(), answer(own)]), []);
        }
        for foreign in [json!(9), json!("5"), json!("x"), json!(-1)] {
            assert_eq!(found(&[asked.clone(), answer(foreign)]), [Beside::ForeignResult]);
        }
        let error = (Party::Target, json!({ "id": 6, "error": { "code": 1, "message": "no" } }));
        assert_eq!(found(&[asked, error]), []);
        assert_eq!(found(&[answer(json!(5))]), [], "nothing was asked");
        let odd = (Party::Harness, json!({ "id": "odd", "method": 7 }));
        assert_eq!(found(&[(Party::Harness, json!({ "id": 5, "method": "ping" })), odd, answer(json!("odd"))]), []);
    }

    #[test]
    fn request_with_the_id_null_is_found() {
        for (message, kinds) in [
            (json!({ "id": null, "method": "ping" }), &[Beside::NullId][..]),
            (json!({ "method": "ping", "params": { "id": null } }), &[]),
            (json!({ "id": null, "error": { "code": 1, "message": "no" } }), &[]),
        ] {
            assert_eq!(found(&[(Party::Target, message)]), kinds);
        }
    }

    #[test]
    fn server_cancels_only_requests_of_its_own() {
        let asked = |id: i64, method: &str| (Party::Harness, json!({ "id": id, "method": method }));
        let own = (Party::Target, json!({ "id": 5, "method": "elicitation/create" }));
        let answer = (Party::Target, json!({ "id": 5, "result": {} }));
        let cancel = |id: Value| (Party::Target, json!({ "method": CANCELLED, "params": { "requestId": id } }));
        assert_eq!(found(&[asked(5, "tools/list"), cancel(json!(5))]), [Beside::CancelsAsked]);
        for allowed in [
            vec![asked(5, "tools/list"), cancel(json!("5")), cancel(json!(6)), cancel(json!(null))],
            vec![asked(5, "tools/call"), own, cancel(json!(5))],
            vec![asked(5, "tools/list"), answer, cancel(json!(5))],
            vec![asked(5, LISTEN), cancel(json!(5))],
        ] {
            assert_eq!(found(&allowed), []);
        }
    }

    #[test]
    fn progress_of_one_token_increases() {
        let progress = |token: &str, progress: f64| {
            let params = json!({ "progressToken": token, "progress": progress });
            (Party::Target, json!({ "method": PROGRESS, "params": params }))
        };
        let asked =
            (Party::Harness, json!({ "id": 1, "method": "t", "params": { "_meta": { "progressToken": "a" } } }));
        assert_eq!(found(&[asked.clone(), progress("a", 1.0), progress("b", 1.0), progress("a", 1.5)]), []);
        assert_eq!(found(&[asked.clone(), progress("a", 2.0), progress("a", 2.0)]), [Beside::ProgressBack]);
        assert_eq!(found(&[asked, progress("b", 2.0), progress("b", 2.0)]), [], "nobody gave this token");
    }
}
