//! Steps of a client in which it asked by no message that a server can read or act on. casebook's server answers such a
//! message with an error, after which anything can fail.
//!
//! Takes all messages of a session, marks steps. Must not know expectations.

use crate::jsonrpc::envelope::{self, Members};
use crate::jsonrpc::message::{self, Kind};
use crate::model::observation::Observation;
use crate::model::transcript::{Message, Party, Transcript};

/// The methods of the requests that steps are about.
const ASKED: [&str; 3] = ["initialize", "tools/list", "tools/call"];
/// The members without which a server cannot answer `initialize`.
const NEEDED: [&str; 3] = ["protocolVersion", "capabilities", "clientInfo"];

/// Marks each step in which a client asked only by malformed messages, and the steps after it in which it asked nothing. A
/// client that asks properly beside such a message is judged as any other.
pub(super) fn mark(transcript: &Transcript, observation: &mut Observation) {
    let mut steps = transcript.steps.iter();
    let mut is_marked = false;
    for observed in &mut observation.steps {
        let asked = steps.next().into_iter().flat_map(|step| &step.messages).filter_map(is_sound);
        is_marked = asked.reduce(|one, other| one || other).map_or(is_marked, |is_sound| !is_sound);
        observed.malformed = is_marked;
    }
}

/// Returns whether a server can act on a message by which a client asks; `None` for other messages.
fn is_sound(message: &Message) -> Option<bool> {
    // A request without a body is no message, and a text that was cut cannot be read.
    if message.from != Party::Target || message.text.is_empty() || message.cut_from.is_some() {
        return None;
    }
    match message::read(&message.text) {
        Ok(Kind::Request { id, method }) => {
            let is_whole = method != "initialize" || is_whole(&message.text).unwrap_or(false);
            ASKED.contains(&method.as_str()).then(|| message::is_id(&id) && is_whole)
        }
        Ok(_) => None,
        // Another line than a message asks nothing.
        Err(_) => message::is_intended(&message.text).then_some(false),
    }
}

/// Returns whether a handshake has what its answer needs.
fn is_whole(text: &str) -> Option<bool> {
    let message: Members<'_> = serde_json::from_str(text).ok()?;
    let params = envelope::members(message.get("params")?)?;
    Some(NEEDED.iter().all(|name| params.contains_key(*name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::model::transcript::StepTranscript;

    fn asks(id: &serde_json::Value, method: &str, params: &serde_json::Value) -> String {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    }

    #[test]
    fn client_asks_by_messages_that_a_server_can_act_on() {
        let sent = |text: &str| is_sound(&samples::message(Party::Target, text));
        let whole = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let none = json!({});
        assert_eq!(sent(&asks(&json!(1), "initialize", &whole)), Some(true));
        assert_eq!(sent(&asks(&json!("a"), "tools/list", &none)), Some(true));
        for malformed in [
            "{".to_owned(),
            asks(&json!(null), "tools/list", &none),
            asks(&json!({}), "tools/call", &none),
            asks(&json!(1), "initialize", &json!({ "protocolVersion": "2025-11-25" })),
        ] {
            assert_eq!(sent(&malformed), Some(false), "{malformed}");
        }
        for other in ["", "the client is ready", &asks(&json!(null), "ping", &none)] {
            assert_eq!(sent(other), None, "{other}");
        }
    }

    #[test]
    fn step_is_marked_until_the_client_asks_properly() {
        let step = |texts: &[String]| StepTranscript {
            messages: texts.iter().map(|text| samples::message(Party::Target, text)).collect(),
            ..samples::replied(&[])
        };
        let (wrong, right) = (asks(&json!(null), "tools/list", &json!({})), asks(&json!(1), "tools/list", &json!({})));
        let steps = [vec![], vec![wrong.clone()], vec![], vec![wrong, right]];
        let transcript = samples::transcript(steps.iter().map(|texts| step(texts)).collect());
        let mut observation = samples::observation(steps.iter().map(|_| samples::step(Outcome::Refused)).collect());
        mark(&transcript, &mut observation);
        let marked: Vec<_> = observation.steps.iter().map(|step| step.malformed).collect();
        assert_eq!(marked, [false, true, true, false]);
    }
}
