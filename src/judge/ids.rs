//! The ids of a target's requests within a session.
//!
//! Takes the messages of a test, gives the steps with a repeated id, or with one that is cancelled without a running
//! request. Must not know which behaviour is right.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::compare;
use super::messages::{CANCELLED, Wire};
use crate::jsonrpc::envelope::{Envelope, members, scalar};
use crate::model::transcript::{Message, PROCESS, Party, SESSION_HEADER};

/// The request with which a session begins.
const INITIALIZE: &str = "initialize";

/// The floats below this number are different integers if they are different.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns an id as JSON in the form that equal ids have in common: 7.0 and 7 are one integer.
pub(super) fn same(id: &str) -> String {
    let float = id.parse::<f64>().ok().filter(|float| id.contains(['.', 'e', 'E']) && float.fract() == 0.0);
    float.filter(|float| float.abs() < EXACT).map_or_else(|| id.to_owned(), |float| format!("{float:.0}"))
}

/// What a step shows of the ids of the target's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids {
    /// `true` if a request has the id of an earlier request of the same session or, without a session, of one that still
    /// waits.
    pub(super) are_repeated: bool,
    /// The id of a request that a notification cancels, and that the target never sent, or that had its response when the
    /// target sent a later request.
    pub(super) cancelled_unknown: Option<String>,
}

/// Returns what each step shows. A new session begins with `initialize`. Over HTTP, its later requests name it; over stdio,
/// a client can have one in each of several processes.
pub(super) fn ids(opening: &[Message], steps: &[Wire<'_>]) -> Vec<Ids> {
    let mut used = Used::default();
    for message in opening {
        let Some(envelope) = Envelope::read(&message.text) else { continue };
        match message.from {
            Party::Target => _ = used.repeats(message, &envelope),
            Party::Harness => used.answered(&envelope),
        }
    }
    let of_step = |wire: &Wire<'_>| {
        let mut found = Ids::default();
        for (message, envelope) in wire.by_all() {
            if message.from == Party::Harness {
                used.answered(envelope);
                continue;
            }
            found.are_repeated |= used.repeats(message, envelope);
            found.cancelled_unknown = found.cancelled_unknown.or_else(|| used.cancelled_unknown(envelope));
        }
        found
    };
    steps.iter().map(of_step).collect()
}

/// The ids of the target's requests so far.
#[derive(Default)]
struct Used {
    /// By the session that the requests name, or by the process over stdio; otherwise those since the last handshake.
    in_session: BTreeMap<Option<String>, BTreeSet<String>>,
    /// The id of the last handshake, with which the next session begins that no request named before.
    handshake: Option<String>,
    /// `true` if either side has sent a handshake.
    has_sessions: bool,
    /// Those that may still run, each with its process: a response counts once a later request was sent.
    running: Vec<(Option<String>, Value)>,
    answered: Vec<Value>,
}

impl Used {
    /// Adds the id of a request; returns whether its session had it.
    fn repeats(&mut self, message: &Message, envelope: &Envelope<'_>) -> bool {
        let (Some(method), Some(id)) = (envelope.method.as_deref(), envelope.id) else { return false };
        let session = message.header(SESSION_HEADER).or_else(|| message.header(PROCESS)).map(str::to_owned);
        if method == INITIALIZE {
            self.has_sessions = true;
            self.in_session.remove(&session);
            self.handshake = Some(same(id.get()));
        }
        for over in self.answered.drain(..) {
            self.running.retain(|(_, id)| !compare::equal(id, &over));
        }
        let value = scalar::<Value>(id);
        let process = message.header(PROCESS).map(str::to_owned);
        let is_open = |(own, known): &(Option<String>, Value)| {
            *own == process && value.as_ref().is_some_and(|id| compare::equal(id, known))
        };
        let still_waits = self.running.iter().any(is_open);
        self.running.extend(value.map(|id| (process, id)));
        let begins = self.handshake.clone().filter(|_| session.is_some() && method != INITIALIZE);
        let used = self.in_session.entry(session).or_insert_with(|| begins.into_iter().collect());
        let is_used = !used.insert(same(id.get()));
        if self.has_sessions { is_used } else { still_waits }
    }

    /// Notes the response to a request, or the handshake of the other side.
    fn answered(&mut self, envelope: &Envelope<'_>) {
        self.has_sessions |= envelope.method.as_deref() == Some(INITIALIZE);
        let id = envelope.id.filter(|_| envelope.method.is_none()).and_then(scalar::<Value>);
        self.answered.extend(id);
    }

    /// Returns the id in a cancellation, if no running request has it.
    fn cancelled_unknown(&self, envelope: &Envelope<'_>) -> Option<String> {
        let method = envelope.method.as_deref()?;
        let id = envelope.params.filter(|_| method == CANCELLED).and_then(members)?.get("requestId")?.get();
        let value = serde_json::from_str(id).ok()?;
        (!self.running.iter().any(|(_, known)| compare::equal(known, &value))).then(|| id.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::{End, StepTranscript};

    #[test]
    fn id_of_an_earlier_step_is_repeated_until_the_next_session() {
        let step = |methods: &[(&str, u8)]| {
            let text = |(method, id): &(&str, u8)| format!(r#"{{"id":{id},"method":"{method}"}}"#);
            let messages = methods.iter().map(|one| samples::message(Party::Target, &text(one))).collect();
            StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) }
        };
        let steps = [
            step(&[("initialize", 0), ("tools/list", 1)]),
            step(&[("tools/call", 2)]),
            step(&[("tools/call", 1)]),
            step(&[("initialize", 0), ("tools/call", 1)]),
        ];
        let repeated: Vec<_> =
            ids(&[], &steps.each_ref().map(Wire::new)).into_iter().map(|step| step.are_repeated).collect();
        assert_eq!(repeated, [false, false, true, false]);
    }

    #[test]
    fn equal_integers_are_one_id() {
        assert_eq!([same("7.0"), same("7e0"), same("7"), same("\"7.0\"")], ["7", "7", "7", "\"7.0\""]);
        assert_ne!(same("10000000000000000000001"), same("10000000000000000000002"));
    }

    #[test]
    fn without_a_session_an_id_is_free_after_its_response() {
        let request = |id: u8| (Party::Target, format!(r#"{{"id":{id},"method":"tools/call"}}"#));
        let response = |id: u8| (Party::Harness, format!(r#"{{"id":{id},"result":{{}}}}"#));
        let of = |messages: &[(Party, String)]| {
            let messages = messages.iter().map(|(from, text)| samples::message(*from, text)).collect();
            let step = StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) };
            ids(&[], &[Wire::new(&step)])[0].are_repeated
        };
        assert!(of(&[request(1), request(1)]));
        assert!(!of(&[request(1), response(1), request(1)]));
        let initialize = (Party::Harness, r#"{"id":0,"method":"initialize"}"#.to_owned());
        assert!(of(&[initialize, request(1), response(1), request(1)]), "a server's ids are of the session");
    }

    #[test]
    fn sessions_at_the_same_time_have_ids_of_their_own() {
        let send = |session: &str, method: &str, id: u8| {
            let message = samples::message(Party::Target, &format!(r#"{{"id":{id},"method":"{method}"}}"#));
            let headers = [session].into_iter().filter(|session| !session.is_empty());
            Message { headers: headers.map(|one| ("Mcp-Session-Id".to_owned(), one.to_owned())).collect(), ..message }
        };
        let of = |messages: Vec<Message>| {
            let step = StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) };
            ids(&[], &[Wire::new(&step)])[0].are_repeated
        };
        let two = |last: Message| {
            let begin = [send("", "initialize", 0), send("a", "tools/list", 1), send("", "initialize", 0)];
            of(begin.into_iter().chain([send("b", "tools/list", 1), last]).collect())
        };
        let process = |number: &str, method: &str, id: u8| {
            let headers = [number].into_iter().filter(|number| !number.is_empty());
            let headers = headers.map(|one| (PROCESS.to_owned(), one.to_owned())).collect();
            Message { headers, ..send("", method, id) }
        };
        let each = [("", "initialize", 0), ("2", "initialize", 0), ("", "tools/list", 1), ("2", "tools/list", 1)];
        let each: Vec<_> = each.into_iter().map(|(number, method, id)| process(number, method, id)).collect();
        assert!(!of(each.clone()));
        assert!(of(each.into_iter().chain([process("2", "tools/call", 1)]).collect()));
        assert!(!two(send("a", "tools/call", 2)));
        assert!(two(send("a", "tools/call", 1)) && two(send("b", "tools/call", 1)) && two(send("a", "tools/call", 0)));
    }

    #[test]
    fn cancelled_id_must_be_one_of_a_request() {
        let call = r#"{"id":7,"method":"tools/call"}"#;
        let cancel = |id: &str| format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
        let of = |id: &str| {
            let messages = [call, &cancel(id)].map(|text| samples::message(Party::Target, text)).into();
            let step = StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) };
            ids(&[], &[Wire::new(&step)])[0].cancelled_unknown.clone()
        };
        assert_eq!([of("7"), of("7.0")], [None, None]);
        assert_eq!([of("8"), of("\"7\"")], [Some("8".to_owned()), Some("\"7\"".to_owned())]);
    }

    #[test]
    fn cancelled_request_has_no_response_that_its_sender_knows() {
        let request = |id: u8| (Party::Target, format!(r#"{{"id":{id},"method":"tools/call"}}"#));
        let response = |id: u8| (Party::Harness, format!(r#"{{"id":{id},"result":{{}}}}"#));
        let of = |messages: Vec<(Party, String)>| {
            let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#.to_owned();
            let messages = messages.into_iter().chain([(Party::Target, cancel)]);
            let messages = messages.map(|(from, text)| samples::message(from, &text)).collect();
            let step = StepTranscript { messages, end: End::Handed, ..samples::replied(&[]) };
            ids(&[], &[Wire::new(&step)])[0].cancelled_unknown.clone()
        };
        assert_eq!(of(vec![request(1), response(1)]), None, "the response may have crossed the cancellation");
        assert_eq!(of(vec![request(1), request(2), response(2)]), None);
        assert_eq!(of(vec![request(1), response(1), request(2)]), Some("1".to_owned()));
    }
}
