//! The messages that a server sends: reading bytes as a reply, a request or a notification.
//!
//! Results stay text, so that they may have any depth and are returned to the user byte for byte. The module must not
//! know methods, revisions or transports.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::failure::Failure;
use crate::message::{one_line, present};
use crate::nesting;

/// A received message.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A reply. Its id is absent if the server could not read the id of the request.
    Reply {
        id: Option<Value>,
        outcome: Result<Box<RawValue>, Failure>,
    },
    Request {
        id: Value,
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notification {
        method: String,
    },
}

#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    message: String,
}

/// Reads the members of an object. A list with as many values is refused.
pub(super) fn members<T: for<'a> Deserialize<'a>>(text: &RawValue) -> Result<T, String> {
    if !text.get().starts_with('{') {
        return Err("expected an object".to_owned());
    }
    serde_json::from_str(text.get()).map_err(|error| error.to_string())
}

impl Incoming {
    /// Reads one message.
    ///
    /// # Errors
    /// A description of why the bytes are not a message.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Failure> {
        let invalid = |reason: String| Failure::protocol(format!("this is not a message: {reason}"));
        let text = std::str::from_utf8(bytes).map_err(|_| invalid("not UTF-8".to_owned()))?;
        let text: Box<RawValue> = serde_json::from_str(&one_line(text)).map_err(|error| invalid(error.to_string()))?;
        members::<Envelope>(&text).and_then(Envelope::sort).map_err(invalid)
    }
}

impl Envelope {
    fn sort(self) -> Result<Incoming, String> {
        if self.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            return Err("`jsonrpc` must be \"2.0\"".to_owned());
        }
        let id = self.id.map(|id| nesting::read::<Value>(id.get().as_bytes())).transpose();
        let id = id.map_err(|error| error.to_string())?;
        if matches!(id, Some(Value::Array(_) | Value::Object(_) | Value::Bool(_))) {
            return Err("an id is a string or a number".to_owned());
        }
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => match id {
                None => Ok(Incoming::Notification { method }),
                Some(Value::Null) => Err("the id of a request must not be null".to_owned()),
                Some(id) => Ok(Incoming::Request { id, method, params: self.params }),
            },
            (None, Some(result), None) => match id.filter(|id| !id.is_null()) {
                Some(_) if !result.get().starts_with('{') => Err("`result` must be an object".to_owned()),
                Some(id) => Ok(Incoming::Reply { id: Some(id), outcome: Ok(result) }),
                None => Err("a result must have an id".to_owned()),
            },
            (None, None, Some(error)) => {
                let RpcError { code, message } = members(&error).map_err(|reason| format!("`error`: {reason}"))?;
                let outcome = Err(Failure::Refused { code, message });
                Ok(Incoming::Reply { id: id.filter(|id| !id.is_null()), outcome })
            }
            _ => Err("neither a request, nor a notification, nor a reply".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_message_is_refused() {
        for text in [
            "",
            "{",
            "[]",
            r#"["2.0",1,null,null,{},null]"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
        ] {
            assert!(Incoming::read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Incoming::read(b"{\"jsonrpc\":\"\xff\"}").is_err());
    }

    #[test]
    fn result_of_any_depth_stays_text_on_one_line() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"1\",\n\"result\":{{\"a\":\r\n{deep}}}}}");
        let Ok(Incoming::Reply { id: Some(id), outcome: Ok(result) }) = Incoming::read(text.as_bytes()) else {
            panic!("a reply");
        };
        assert_eq!(id, Value::from("1"));
        assert_eq!(result.get(), format!("{{\"a\":  {deep}}}"));
    }

    #[test]
    fn error_without_an_id_is_read() {
        for id in ["", r#""id":null,"#] {
            let text = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"?"}}}}"#);
            assert!(matches!(Incoming::read(text.as_bytes()), Ok(Incoming::Reply { id: None, outcome: Err(_) })));
        }
    }
}
