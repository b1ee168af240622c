//! JSON-RPC messages as text: written by hand, and read no deeper than their outermost members.
//!
//! Takes texts of any depth, gives their [`Kind`]. Must not know methods, lifecycles or transports.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::text::quoted;
use crate::jsonrpc::{ambiguity, nesting};

/// What a message is, to somebody who waits for a response.
#[derive(Debug, PartialEq)]
pub(crate) enum Kind {
    /// A request; its id as JSON text, to be echoed.
    Request { id: String, method: String },
    /// A notification.
    Notification,
    /// A response; without an id where it has none, or `null`.
    Response { id: Option<Value>, is_error: bool },
}

/// What a message that was sent waits for.
#[derive(Debug)]
pub(crate) enum Awaits {
    /// The response to the request of this id.
    Response(Value),
    /// Any response, where one comes: what was sent is no message of the protocol.
    Anything,
    /// That it is taken.
    Nothing,
}

impl Awaits {
    /// What the text of a message is owed.
    pub(crate) fn of(text: &str) -> Self {
        let Ok(StrictMembers { id, method, result, error, .. }) = StrictMembers::of(text) else {
            return Self::Anything;
        };
        match (method, id) {
            (Some(_), Some(id)) => tree(id).map_or(Self::Anything, Self::Response),
            (Some(_), None) => Self::Nothing,
            (None, _) if result.is_some() || error.is_some() => Self::Nothing,
            (None, _) => Self::Anything,
        }
    }

    /// Whether a response is what is waited for. An error without an id is: who can't read a request can't name it.
    pub(crate) fn is_met(&self, id: Option<&Value>, is_error: bool) -> bool {
        match self {
            Self::Response(own) => id.map_or(is_error, |id| id == own),
            Self::Anything | Self::Nothing => true,
        }
    }
}

/// The outermost members. A member that is `null` is there.
#[derive(Deserialize)]
struct StrictMembers<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> StrictMembers<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        // A struct would be read from a list as well, member by member.
        match text.trim_start().bytes().next() {
            Some(b'{') => serde_json::from_str(text).map_err(|error| format!("no JSON-RPC message: {error}")),
            Some(b'[') => Err("a batch, or another list, in place of a message".to_owned()),
            _ if text.starts_with('\u{feff}') => Err("a byte-order mark before the message".to_owned()),
            _ => Err("not a JSON object".to_owned()),
        }
    }
}

/// Reads a message. A notification is let through whatever it is like: nobody waits for it.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn read(text: &str) -> Result<Kind, String> {
    let StrictMembers { jsonrpc, id, method, result, error } = StrictMembers::of(text)?;
    if method.is_some() && id.is_none() {
        return Ok(Kind::Notification);
    }
    // A parser that keeps members as text lets these pass.
    if let Some(reason) = ambiguity::of_strings(text) {
        return Err(reason.to_owned());
    }
    if jsonrpc.is_none_or(|version| version.get() != r#""2.0""#) {
        return Err(r#"no `"jsonrpc": "2.0"`"#.to_owned());
    }
    match (method, id, result, error) {
        (Some(method), Some(id), None, None) => match serde_json::from_str(method.get()) {
            Ok(method) => Ok(Kind::Request { id: id.get().to_owned(), method }),
            Err(_) => Err("a `method` that is no string".to_owned()),
        },
        (Some(_), ..) => Err("both a request and a response".to_owned()),
        (None, _, Some(_), Some(_)) => Err("both `result` and `error`".to_owned()),
        (None, _, None, None) => Err("none of `method`, `result` and `error`".to_owned()),
        (None, id, _, error) => Ok(Kind::Response { id: id.and_then(tree), is_error: error.is_some() }),
    }
}

/// An id as a value; `null`, and what is too deep to be one, is none.
fn tree(id: &RawValue) -> Option<Value> {
    nesting::read(id.get().as_bytes()).ok().filter(|id| *id != Value::Null)
}

/// The result in the text of a response.
pub(crate) fn result_of(text: &str) -> Option<&RawValue> {
    StrictMembers::of(text).ok()?.result
}

/// A request.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, quoted(method))
}

/// A response; id and result are JSON already.
pub(crate) fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An error; the id is JSON already.
pub(crate) fn error(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{}}}}}"#, quoted(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{fuzz, samples};
    use serde_json::json;

    fn result(id: Option<Value>) -> Kind {
        Kind::Response { id, is_error: false }
    }

    #[test]
    fn ids_keep_their_type_and_null_is_none() {
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(result(Some(json!(1)))));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"1","result":null}"#), Ok(result(Some(json!("1")))));
        let none = Ok(Kind::Response { id: None, is_error: true });
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#), none);
        assert_eq!(read(r#"{"jsonrpc":"2.0","error":{}}"#), none);
    }

    #[test]
    fn requests_and_notifications_are_told_apart() {
        let request = Kind::Request { id: r#""\u0061""#.into(), method: "ping".into() };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"\u0061","method":"ping"}"#), Ok(request));
        assert_eq!(read(r#"{"method":7,"x":1}"#), Ok(Kind::Notification));
    }

    #[test]
    fn what_is_no_message_is_refused_with_a_reason() {
        let reason = |text: &str| read(text).expect_err(text);
        for (text, part) in [
            ("", "not a JSON object"),
            ("[{}]", "a batch"),
            ("\u{feff}{}", "byte-order mark"),
            (r#"{"id":1,"result":{}}"#, "jsonrpc"),
            (r#"{"jsonrpc":2.0,"id":1,"result":{}}"#, "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "both `result` and `error`"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "none of"),
            (r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#, "duplicate"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}"#, "expected value"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud800"}}"#, "surrogate"),
            (r#"{"jsonrpc":"2.0","id":1,"result":[{"b":{},"c":[1],"b":2}]}"#, "equal keys"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"b":1, "\u0062":2}}"#, "equal keys"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#, "both a request"),
            (r#"{"jsonrpc":"2.0","id":1,"method":[]}"#, "no string"),
        ] {
            assert!(reason(text).contains(part), "{text}: {}", reason(text));
        }
    }

    #[test]
    fn an_envelope_is_read_at_any_depth() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(
            read(&format!(r#"{{"jsonrpc":"2.0","x":{deep},"id":1,"result":{deep}}}"#)),
            Ok(result(Some(json!(1))))
        );
        assert_eq!(read(&format!(r#"{{"jsonrpc":"2.0","id":{deep},"result":1}}"#)), Ok(result(None)));
        assert!(read(&"[".repeat(200_000)).is_err());
    }

    #[test]
    fn any_text_is_a_message_or_is_refused_with_a_reason() {
        fuzz("messages", samples::texts(), |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            match read(&text) {
                Ok(_) => assert!(is_json),
                Err(reason) => assert!(!reason.is_empty()),
            }
            result_of(&text);
            Awaits::of(&text);
        });
    }
}
