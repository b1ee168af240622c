//! Messages of a client that no server can read, or not act on. casebook's server answers them with an error, after which
//! anything can fail.
//!
//! Takes all messages of a session, marks the steps from the first such message on. Must not know expectations.

use crate::jsonrpc::envelope::{self, Members};
use crate::jsonrpc::message::{self, Kind};
use crate::model::observation::Observation;
use crate::model::transcript::{Message, Party, Transcript};

/// The members without which a server cannot answer `initialize`.
const NEEDED: [&str; 3] = ["protocolVersion", "capabilities", "clientInfo"];

/// Marks each step in which a client has sent such a message, in this step or an earlier one.
pub(super) fn mark(transcript: &Transcript, observation: &mut Observation) {
    let mut steps = transcript.steps.iter();
    let mut is_marked = false;
    for observed in &mut observation.steps {
        is_marked |= steps.next().is_some_and(|step| step.messages.iter().any(is_malformed));
        observed.malformed = is_marked;
    }
}

fn is_malformed(message: &Message) -> bool {
    // A request without a body is no message, and a text that was cut cannot be read.
    if message.from != Party::Target || message.text.is_empty() || message.cut_from.is_some() {
        return false;
    }
    match message::read(&message.text) {
        Ok(Kind::Request { id, method }) => {
            !is_id(&id) || method == "initialize" && !is_whole(&message.text).unwrap_or(false)
        }
        Ok(_) => false,
        Err(_) => true,
    }
}

/// Returns whether an id, as JSON, is a string or a number.
fn is_id(id: &str) -> bool {
    id.starts_with(['"', '-']) || id.starts_with(|one: char| one.is_ascii_digit())
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

    #[test]
    fn message_that_no_server_can_read_is_malformed() {
        let sent =
            |text: String| is_malformed(&Message { text, ..crate::judge::samples::message(Party::Target, "{}") });
        let whole = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
        let request = |id: serde_json::Value, method: &str, params: &serde_json::Value| {
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
        };
        assert!(!sent(request(json!(1), "initialize", &whole)));
        assert!(!sent(request(json!("a"), "tools/list", &json!({}))));
        assert!(!sent(String::new()), "a GET request has no message");
        for malformed in [
            "{".to_owned(),
            request(json!(null), "tools/list", &json!({})),
            request(json!({}), "tools/list", &json!({})),
            request(json!(1), "initialize", &json!({ "protocolVersion": "2025-11-25" })),
        ] {
            assert!(sent(malformed.clone()), "{malformed}");
        }
    }
}
