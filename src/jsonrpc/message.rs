//! JSON-RPC messages as text: building them, and reading no more than their outermost members.
//!
//! The reader takes text of any depth and returns its [`Kind`]. It must not know methods, lifecycles or transports.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::text::quoted;
use crate::jsonrpc::{ambiguity, nesting};

/// The kind of a message.
#[derive(Debug, PartialEq)]
pub(crate) enum Kind {
    /// A request. The id is JSON text, so that it can be returned unchanged.
    Request { id: String, method: String },
    /// A notification.
    Notification,
    /// A response. The id is `None` if it is absent or `null`.
    Response { id: Option<Value>, is_error: bool },
}

/// The reply that a sent message is waiting for.
#[derive(Debug)]
pub(crate) enum Awaits {
    /// The response to the request with this id.
    Response(Value),
    /// Any response, or none: the sent text is not a valid message of the protocol.
    Anything,
    /// No response: the message only has to be accepted.
    Nothing,
}

impl Awaits {
    /// Returns the reply that a message must wait for.
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

    /// Returns whether a response is the expected one. An error without an id is, because a receiver that cannot read a
    /// request cannot know its id.
    pub(crate) fn is_met(&self, id: Option<&Value>, is_error: bool) -> bool {
        match self {
            Self::Response(own) => id.map_or(is_error, |id| id == own),
            Self::Anything | Self::Nothing => true,
        }
    }
}

/// Returns whether an id of a request, as JSON, is a string or a number.
pub(crate) fn is_id(id: &str) -> bool {
    id.starts_with(['"', '-']) || id.starts_with(|one: char| one.is_ascii_digit())
}

/// Returns whether a line of a stream is intended as a message, even if it is none. A message behind a byte-order mark or
/// NUL is. An object without a member that only messages have is not: many programs write their log in JSON.
pub(crate) fn is_intended(line: &str) -> bool {
    let text = visible(line);
    let is_message = |members: StrictMembers<'_>| {
        [members.jsonrpc, members.id, members.method, members.result].iter().any(Option::is_some)
    };
    // An object that cannot be read may be a broken message.
    text.starts_with("[{") || text.starts_with('{') && StrictMembers::of(text).map_or(true, is_message)
}

/// The text from its first visible character on.
pub(crate) fn visible(text: &str) -> &str {
    text.trim_start_matches(|one: char| one.is_whitespace() || one.is_control() || one == '\u{feff}')
}

/// The outermost members of a message. A member that is `null` counts as present.
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
        // serde would also read the struct from a list, member by member.
        match text.trim_start().bytes().next() {
            Some(b'{') => serde_json::from_str(text).map_err(|error| format!("no JSON-RPC message: {error}")),
            Some(b'[') => Err("a batch, or another list, in place of a message".to_owned()),
            _ if text.starts_with('\u{feff}') => Err("a byte-order mark before the message".to_owned()),
            _ => Err("not a JSON object".to_owned()),
        }
    }
}

/// Reads a message. A notification is accepted in any form, because nothing waits for it.
///
/// # Errors
/// A description of what makes the message invalid.
pub(crate) fn read(text: &str) -> Result<Kind, String> {
    let StrictMembers { jsonrpc, id, method, result, error } = StrictMembers::of(text)?;
    if method.is_some() && id.is_none() {
        return Ok(Kind::Notification);
    }
    // The parser keeps members as text, so it does not detect these.
    if let Some(reason) = ambiguity::of_strings(text) {
        return Err(reason.to_owned());
    }
    if jsonrpc.is_none_or(|version| version.get() != r#""2.0""#) {
        return Err(r#"no `"jsonrpc": "2.0"`"#.to_owned());
    }
    match (method, id, result, error) {
        (Some(method), Some(id), None, None) => match serde_json::from_str(method.get()) {
            Ok(method) => Ok(Kind::Request { id: id.get().to_owned(), method }),
            Err(_) => Err("a `method` that is not a string".to_owned()),
        },
        (Some(_), ..) => Err("both a request and a response".to_owned()),
        (None, _, Some(_), Some(_)) => Err("both `result` and `error`".to_owned()),
        (None, _, None, None) => Err("none of `method`, `result` and `error`".to_owned()),
        (None, id, _, error) => Ok(Kind::Response { id: id.and_then(tree), is_error: error.is_some() }),
    }
}

/// Returns an id as a value, or `None` if it is `null` or nested too deeply.
fn tree(id: &RawValue) -> Option<Value> {
    nesting::read(id.get().as_bytes()).ok().filter(|id| *id != Value::Null)
}

/// Returns the result in the text of a response.
pub(crate) fn result_of(text: &str) -> Option<&RawValue> {
    StrictMembers::of(text).ok()?.result
}

/// Builds a request.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, quoted(method))
}

/// Builds a response. The id and the result are JSON text.
pub(crate) fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Builds an error response. The id is JSON text.
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
    fn id_keeps_its_type_and_null_counts_as_absent() {
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Ok(result(Some(json!(1)))));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"1","result":null}"#), Ok(result(Some(json!("1")))));
        let none = Ok(Kind::Response { id: None, is_error: true });
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#), none);
        assert_eq!(read(r#"{"jsonrpc":"2.0","error":{}}"#), none);
    }

    #[test]
    fn requests_and_notifications_are_distinguished() {
        let request = Kind::Request { id: r#""\u0061""#.into(), method: "ping".into() };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"\u0061","method":"ping"}"#), Ok(request));
        assert_eq!(read(r#"{"method":7,"x":1}"#), Ok(Kind::Notification));
    }

    #[test]
    fn invalid_message_is_refused_with_a_reason() {
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
            (r#"{"jsonrpc":"2.0","id":1,"method":[]}"#, "not a string"),
        ] {
            assert!(reason(text).contains(part), "{text}: {}", reason(text));
        }
    }

    #[test]
    fn line_of_a_log_is_not_intended_as_a_message() {
        for log in
            ["ready", "[1]", "[info] x", "{}", r#"{"level":"error","msg":"x","error":"y"}"#, "\u{feff}{\"msg\":1}"]
        {
            assert!(!is_intended(log), "{log}");
        }
        for message in
            [r#"{"id":1}"#, r#"{"jsonrpc":"1.0"}"#, "{\"msg\":", "[{}]", "\u{feff}{\"result\":1}", r#"{"method":7}"#]
        {
            assert!(is_intended(message), "{message}");
        }
    }

    #[test]
    fn message_is_read_at_any_depth() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(
            read(&format!(r#"{{"jsonrpc":"2.0","x":{deep},"id":1,"result":{deep}}}"#)),
            Ok(result(Some(json!(1))))
        );
        assert_eq!(read(&format!(r#"{{"jsonrpc":"2.0","id":{deep},"result":1}}"#)), Ok(result(None)));
        assert!(read(&"[".repeat(200_000)).is_err());
    }

    #[test]
    fn fuzzed_text_is_read_or_refused_with_a_reason() {
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
