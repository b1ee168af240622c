//! What a target sends beside what a test asks for, and no target may send.
//!
//! Takes the messages of a test, gives the first fault of each kind in each step. Must not know what a test is about.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::compare;
use super::messages::{CANCELLED, Wire, has_null_id};
use crate::jsonrpc::envelope::{Envelope, Members, members, scalar};
use crate::model::observation::{Beside, FaultyMessage};
use crate::model::spec::Role;
use crate::model::text::shortened;
use crate::model::transcript::{Message, Party, StepTranscript, Transcript};

/// The notification of progress.
const PROGRESS: &str = "notifications/progress";
/// The notification of a line of a log.
const LOG: &str = "notifications/message";
/// The requests whose results have the capabilities of a server.
const OPENERS: [&str; 2] = ["initialize", "server/discover"];
/// The request whose stream a server ends by a cancellation.
const LISTEN: &str = "subscriptions/listen";
/// The bytes of a method in words.
const METHOD: usize = 100;

/// Returns the faults of each step.
pub(super) fn beside(role: Role, transcript: &Transcript, steps: &[Wire<'_>]) -> Vec<BTreeMap<Beside, FaultyMessage>> {
    let mut asked = Asked::default();
    asked.add(&transcript.opening);
    let opening = Wire::of_all(&transcript.opening);
    let answers = opening.of(Party::Target).filter_map(|(_, envelope)| asked.answers(envelope));
    let mut early: Vec<_> = answers.filter(|_| role == Role::Server).map(|fault| (fault, None)).collect();
    let of_step = |(seen, wire): (&StepTranscript, &Wire<'_>)| {
        let requests = asked.add(&seen.messages);
        let mut found = std::mem::take(&mut early);
        let mut reached: BTreeMap<String, f64> = BTreeMap::new();
        for (place, envelope) in wire.of(Party::Target) {
            let message = &seen.messages[place];
            let mut faults = vec![without_id(envelope, &message.text)];
            // Who sends a client's messages is its user too.
            if role == Role::Server {
                faults.push(asked.foreign(envelope).filter(|_| !message.lossy));
                // A copy on another stream is a fault of its own.
                if !message.on_get_stream {
                    faults.push(asked.going_back(envelope, &mut reached));
                    // The streams of several requests have no order.
                    faults.push(asked.after_the_end(envelope).filter(|_| requests <= 1));
                    faults.push(asked.answers(envelope).filter(|_| !message.lossy));
                }
                faults.push(asked.undeclared(envelope));
                faults.push(asked.cancels(envelope));
            }
            found.extend(faults.into_iter().flatten().map(|fault| (fault, Some(place))));
        }
        let mut first = BTreeMap::new();
        for ((kind, message), place) in found {
            first.entry(kind).or_insert(FaultyMessage { pointer: String::new(), message, place });
        }
        first
    };
    transcript.steps.iter().zip(steps).map(of_step).collect()
}

/// The ids of the harness's requests.
#[derive(Default)]
struct Asked {
    ids: Vec<Value>,
    /// The texts that are no envelopes: a request with a mistake may have an id all the same.
    others: Vec<String>,
    /// The ids of requests that the server may cancel: those of its own, and those of streams that it ends so.
    cancellable: Vec<Value>,
    /// The ids that are answered.
    answered: Vec<Value>,
    /// The ids of the requests for the server's capabilities.
    openers: Vec<Value>,
    /// The capabilities that the server declared last.
    declared: Option<Value>,
    /// The progress tokens, as JSON, each with the id of its request.
    tokens: Vec<(String, Value)>,
    /// The greatest of those that are integers: earlier tests of the same session had smaller ones.
    greatest: Option<i64>,
}

impl Asked {
    /// Adds what the harness sent; returns the number of messages with an id.
    fn add(&mut self, messages: &[Message]) -> usize {
        let before = self.ids.len();
        for message in messages.iter().filter(|message| message.from == Party::Harness) {
            match Envelope::read(&message.text) {
                Some(envelope) => {
                    let id = envelope.id.and_then(scalar::<Value>);
                    self.greatest = self.greatest.max(id.as_ref().and_then(Value::as_i64));
                    let Some(id) = id else { continue };
                    let meta = envelope.meta().unwrap_or_default();
                    self.tokens.extend(meta.get("progressToken").map(|token| (token.get().to_owned(), id.clone())));
                    match envelope.method.as_deref() {
                        Some(LISTEN) => self.cancellable.push(id.clone()),
                        Some(method) if OPENERS.contains(&method) => self.openers.push(id.clone()),
                        _ => {}
                    }
                    self.ids.push(id);
                }
                None => self.others.push(message.text.clone()),
            }
        }
        self.ids.len() - before
    }

    /// Takes a response; returns the fault of a second one to the same request.
    fn answers(&mut self, envelope: &Envelope<'_>) -> Option<(Beside, String)> {
        let id = envelope.id.filter(|_| envelope.method.is_none()).and_then(scalar::<Value>)?;
        if self.openers.contains(&id)
            && let Some(declared) =
                envelope.result.and_then(members).and_then(|result| scalar(result.get("capabilities")?))
        {
            self.declared = Some(declared);
        }
        // A target can send any number of responses, and only those to requests are kept, each once.
        let uses = self.ids.iter().filter(|own| **own == id).count();
        if uses > 0 && !self.answered.contains(&id) {
            self.answered.push(id);
            return None;
        }
        (uses == 1).then(|| (Beside::SecondResponse, format!("the request {id} has a second response")))
    }

    /// Returns the fault of a cancellation of a request that the harness waits for.
    fn cancels(&mut self, envelope: &Envelope<'_>) -> Option<(Beside, String)> {
        match (envelope.method.as_deref()?, envelope.id.and_then(scalar::<Value>)) {
            (CANCELLED, _) => {}
            (_, own) => {
                let is_new =
                    |id: &Value| self.ids.iter().any(|one| compare::equal(one, id)) && !self.cancellable.contains(id);
                self.cancellable.extend(own.filter(is_new));
                return None;
            }
        }
        let id = scalar::<Value>(members(envelope.params?)?.get("requestId")?)?;
        let has = |ids: &[Value]| ids.iter().any(|one| compare::equal(one, &id));
        let is_asked = has(&self.ids) && !has(&self.answered) && !has(&self.cancellable);
        is_asked.then(|| (Beside::CancelsAsked, format!("the server cancels the request {id} of its client")))
    }

    /// Returns the fault of progress of a request that is answered.
    fn after_the_end(&self, envelope: &Envelope<'_>) -> Option<(Beside, String)> {
        let params = progress(envelope)?;
        let token = params.get("progressToken")?.get();
        let (_, id) = self.tokens.iter().rev().find(|(own, _)| own == token)?;
        let is_after = self.answered.contains(id);
        is_after.then(|| (Beside::ProgressAfter, format!("progress of the request {id} follows its response")))
    }

    /// Returns the fault of a notification for which the server has not declared the capability.
    fn undeclared(&self, envelope: &Envelope<'_>) -> Option<(Beside, String)> {
        let method = envelope.method.as_deref().filter(|_| envelope.id.is_none())?;
        let declared = self.declared.as_ref()?;
        if method == LOG {
            let is_declared = declared.get("logging").is_some();
            return (!is_declared).then(|| (Beside::UndeclaredLog, "the server sent a log message".to_owned()));
        }
        let of = method.strip_prefix("notifications/")?.strip_suffix("/list_changed")?;
        let is_declared = declared.get(of).is_some_and(|of| of.get("listChanged") == Some(&Value::Bool(true)));
        let is_of_servers = ["tools", "prompts", "resources"].contains(&of);
        (is_of_servers && !is_declared).then(|| (Beside::UndeclaredChange, format!("the server sent `{method}`")))
    }

    /// Returns the fault of progress that does not increase, of a token that the harness gave: others are a fault of their
    /// own. `reached` has the progress of each token.
    fn going_back(&self, envelope: &Envelope<'_>, reached: &mut BTreeMap<String, f64>) -> Option<(Beside, String)> {
        let params = progress(envelope)?;
        let token = params.get("progressToken")?.get();
        let progress = scalar::<Number>(params.get("progress")?)?.as_f64()?;
        let last = reached.insert(token.to_owned(), progress)?;
        let is_back = progress <= last && self.tokens.iter().any(|(own, _)| own == token);
        is_back.then(|| (Beside::ProgressBack, format!("the progress {progress} follows {last}")))
    }

    /// Returns the fault of a result of a request that the harness never sent.
    fn foreign(&self, envelope: &Envelope<'_>) -> Option<(Beside, String)> {
        let id = envelope.id.filter(|_| envelope.method.is_none()).and_then(scalar::<Value>)?;
        // An error may be about a message whose id could not be read.
        envelope.result.filter(|_| envelope.error.is_none())?;
        // Who sent no request, or only one without a readable id, cannot know.
        let is_earlier = id.as_i64().is_some_and(|id| id >= 0 && self.greatest.is_none_or(|greatest| id <= greatest));
        let is_own = self.ids.iter().any(|own| compare::equal(own, &id))
            || self.others.iter().any(|text| text.contains(&id.to_string()))
            || self.ids.is_empty()
            || is_earlier;
        (!is_own).then(|| (Beside::ForeignResult, format!("the response has the id {id}, which no request had")))
    }
}

/// Returns the parameters of a notification of progress.
fn progress<'m>(envelope: &Envelope<'m>) -> Option<Members<'m>> {
    members(envelope.params.filter(|_| envelope.method.as_deref() == Some(PROGRESS))?)
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
    fn request_has_one_response() {
        let asked = (Party::Harness, json!({ "id": 5, "method": "tools/list" }));
        let result = (Party::Target, json!({ "id": 5, "result": {} }));
        let error = (Party::Target, json!({ "id": 5, "error": { "code": 1, "message": "no" } }));
        assert_eq!(found(&[asked.clone(), result.clone()]), []);
        assert_eq!(found(&[asked.clone(), result.clone(), error]), [Beside::SecondResponse]);
        assert_eq!(found(&[asked.clone(), result.clone(), asked, result]), [], "the id was used twice");
    }

    #[test]
    fn text_ids_of_a_test_say_nothing_of_earlier_numbers() {
        let asked = (Party::Harness, json!({ "id": "a", "method": "tools/list" }));
        assert_eq!(found(&[asked, (Party::Target, json!({ "id": 0, "result": {} }))]), []);
    }

    #[test]
    fn notifications_need_their_capability() {
        let opened = |capabilities: Value| {
            let result = json!({ "id": 0, "result": { "capabilities": capabilities } });
            [(Party::Harness, json!({ "id": 0, "method": "initialize" })), (Party::Target, result)].to_vec()
        };
        let sent = |method: &str, capabilities: Value| {
            let mut all = opened(capabilities);
            all.push((Party::Target, json!({ "method": method })));
            found(&all)
        };
        let changed = "notifications/tools/list_changed";
        assert_eq!(sent(LOG, json!({ "logging": {} })), []);
        assert_eq!(sent(LOG, json!({})), [Beside::UndeclaredLog]);
        assert_eq!(sent(changed, json!({ "tools": { "listChanged": true } })), []);
        assert_eq!(sent(changed, json!({ "tools": {} })), [Beside::UndeclaredChange]);
        assert_eq!(found(&[(Party::Target, json!({ "method": LOG }))]), [], "nobody knows what was declared");
    }

    #[test]
    fn progress_ends_with_the_response() {
        let asked =
            (Party::Harness, json!({ "id": 1, "method": "t", "params": { "_meta": { "progressToken": "a" } } }));
        let progress = json!({ "progressToken": "a", "progress": 1 });
        let progress = (Party::Target, json!({ "method": PROGRESS, "params": progress }));
        let result = (Party::Target, json!({ "id": 1, "result": {} }));
        assert_eq!(found(&[asked.clone(), progress.clone(), result.clone()]), []);
        assert_eq!(found(&[asked.clone(), result.clone(), progress.clone()]), [Beside::ProgressAfter]);
        let other = (Party::Harness, json!({ "id": 2, "method": "t" }));
        assert_eq!(found(&[asked, other, result, progress]), [], "two streams have no order");
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
