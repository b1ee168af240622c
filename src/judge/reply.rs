//! Reading what a target sent: envelopes whose parts stay text, at any depth.
//!
//! Takes a message's text, gives its parts. Must not know tests or expectations.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::model::nesting;
use crate::model::transcript::Message;

/// An object's members, each as text.
pub(crate) type Members<'a> = BTreeMap<String, &'a RawValue>;

/// Levels of a value that an observation keeps as a tree: well under what a log line is read with.
const KEPT_LEVELS: usize = nesting::LIMIT - 32;
/// Bytes of a value that an observation keeps: as many as a case may generate.
const KEPT_BYTES: usize = 8 << 20;
/// Characters that are kept of a reply that is no JSON.
const KEPT_TEXT: usize = 300;

/// A JSON-RPC message.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Envelope<'a> {
    /// The id, as it was written.
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    /// What is asked, in a request or notification.
    #[serde(default)]
    pub(crate) method: Option<String>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    /// What was answered.
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    /// Why nothing was answered.
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads a message; `None` where it is none.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The members of the result; `None` where there is none, or it is no object.
    pub(crate) fn members(&self) -> Option<Members<'a>> {
        members(self.result?)
    }
}

/// An object's members; `None` where it is no object.
pub(crate) fn members(raw: &RawValue) -> Option<Members<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// A list's items; `None` where it is no list.
pub(crate) fn items(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// A scalar of the wanted type.
pub(crate) fn scalar<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// The value as a tree, or a string in words where an observation doesn't keep it: then too it is not absent.
pub(crate) fn kept(raw: &RawValue) -> Value {
    let text = raw.get();
    let depth = nesting::depth(text.as_bytes());
    if depth > KEPT_LEVELS {
        return Value::String(format!("<{depth} levels deep>"));
    }
    if text.len() > KEPT_BYTES {
        return Value::String(format!("<{} bytes>", text.len()));
    }
    nesting::read(text.as_bytes()).unwrap_or_else(|error| Value::String(format!("<unreadable: {error}>")))
}

/// Whether a message answers: with a response, or with no message at all.
pub(crate) fn is_reply(message: &Message) -> bool {
    let raw: Option<&RawValue> = serde_json::from_str(&message.text).ok();
    !raw.and_then(members).is_some_and(|members| members.contains_key("method"))
}

/// All of a message as it came: its JSON, or the text that is none, and what HTTP said beside it.
pub(crate) fn whole(message: &Message) -> Value {
    let mut whole = Map::new();
    match serde_json::from_str::<&RawValue>(&message.text) {
        Ok(raw) => drop(whole.insert("message".to_owned(), kept(raw))),
        Err(_) if message.text.is_empty() => {}
        Err(_) => {
            drop(whole.insert("text".to_owned(), message.text.chars().take(KEPT_TEXT).collect::<String>().into()));
        }
    }
    whole.extend(message.status.map(|status| ("status".to_owned(), status.into())));
    let mut headers = Map::new();
    for (name, value) in &message.headers {
        // Before the headers of a request stands its method, as in HTTP/2.
        let (place, name) = match name.strip_prefix(':') {
            Some(pseudo) => (&mut whole, pseudo),
            None => (&mut headers, name.as_str()),
        };
        place.entry(name).or_insert_with(|| value.as_str().into());
    }
    if message.status.is_some() || !message.headers.is_empty() {
        whole.insert("headers".to_owned(), headers.into());
    }
    whole.into()
}

/// The texts of a result's text blocks; `None` where its content is no list.
pub(crate) fn texts(result: &Members<'_>) -> Option<Vec<String>> {
    let blocks = items(result.get("content")?)?;
    let text = |block: &&RawValue| {
        let block = members(block)?;
        let is_text = scalar::<String>(block.get("type")?)? == "text";
        scalar::<String>(block.get("text")?).filter(|_| is_text)
    };
    Some(blocks.iter().filter_map(text).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::Party;

    #[test]
    fn an_envelope_is_read_around_a_result_of_any_depth() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":{deep}}}}}"#);
        let result = Envelope::read(&text).and_then(|envelope| envelope.members()).expect("an object");
        assert_eq!(kept(result["structuredContent"]), Value::String("<100000 levels deep>".into()));
    }

    #[test]
    fn a_message_is_whole_with_its_headers_and_a_request_is_no_reply() {
        let message = |text: &str, status: Option<u16>| Message {
            status,
            headers: status.map(|_| ("allow".to_owned(), "POST".to_owned())).into_iter().collect(),
            ..samples::message(Party::Target, text)
        };
        assert_eq!(whole(&message(r#"{"id":1}"#, None)), json!({"message": {"id": 1}}));
        let headers = json!({"allow": "POST"});
        assert_eq!(whole(&message("", Some(202))), json!({"status": 202, "headers": headers}));
        assert_eq!(whole(&message("no", Some(405))), json!({"status": 405, "headers": headers, "text": "no"}));
        assert!(is_reply(&message("no", Some(405))) && is_reply(&message(r#"{"id":1}"#, None)));
        assert!(!is_reply(&message(r#"{"method":"ping","id":1}"#, None)));
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![header(":method", "POST"), header("accept", "*/*"), header("accept", "text/plain")];
        let asked = Message { headers, ..message(r#"{"id":1}"#, None) };
        assert_eq!(whole(&asked), json!({"message": {"id": 1}, "method": "POST", "headers": {"accept": "*/*"}}));
    }

    #[test]
    fn what_is_no_message_is_none() {
        for text in ["", "[]", "1", "{", r#"{"method":1}"#] {
            let result = Envelope::read(text).and_then(|envelope| envelope.members().map(|members| members.len()));
            assert_eq!(result, None, "{text}");
        }
    }
}
