//! JSON-RPC messages: reading bytes as a request, a notification or a response, and writing replies as text.
//!
//! This module must not know methods, revisions or transports. It only carries the HTTP status of a fault.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::nesting;

/// The longest message that is read, in bytes.
pub(crate) const LONGEST: usize = 16 << 20;

/// The prefix of the `_meta` keys that the protocol defines.
pub(crate) const OWN_PREFIX: &str = "io.modelcontextprotocol/";
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Returns a JSON text without line breaks, which JSON allows only between tokens.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    // Most texts have none, and two searches for one character are faster than one search for both.
    if text.contains('\n') || text.contains('\r') { text.replace(['\n', '\r'], " ").into() } else { text.into() }
}

/// A received message.
#[derive(Debug)]
pub(crate) enum Message {
    Request(Request),
    Notification { method: String, params: Option<Value> },
    Response { id: Value, outcome: Result<Value, Value> },
}

/// A request. Its parameters are an object or absent.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Option<Value>,
}

/// An error response.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
    /// The HTTP status of the response.
    pub(crate) status: u16,
}

impl Fault {
    fn new(status: u16, code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status }
    }

    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self::new(400, -32700, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(400, -32600, message)
    }

    pub(crate) fn unknown_method(status: u16, method: &str) -> Self {
        Self::new(status, -32601, format!("unknown method: {method}"))
    }

    /// Returns the error for invalid parameters of the method itself.
    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(200, -32602, message)
    }

    /// Returns the error for invalid parts that every request must have.
    pub(crate) fn envelope(message: impl Into<String>) -> Self {
        Self::new(400, -32602, message)
    }

    pub(crate) fn header(message: impl Into<String>) -> Self {
        Self::new(400, -32020, message)
    }

    pub(crate) fn missing_capability(required: &Value) -> Self {
        let fault = Self::new(400, -32021, "the client has not declared a capability that this request needs");
        Self { data: Some(json!({ "requiredCapabilities": required })), ..fault }
    }

    pub(crate) fn unsupported_version(supported: &str, requested: &Value) -> Self {
        let message = format!("unsupported protocol version; supported: {supported}");
        let data = json!({ "supported": [supported], "requested": requested });
        Self { data: Some(data), ..Self::new(400, -32022, message) }
    }
}

/// A fault, with the id of its request if that could be read.
pub(crate) type Unread = Box<(Value, Fault)>;

/// The members of any message, before validation.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<Value>,
}

/// Deserializes a member so that `null` counts as present.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// The fault to respond with, and the id of the request, which is null if it could not be read.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unread> {
        let nobody = |fault| Box::new((Value::Null, fault));
        let text = std::str::from_utf8(bytes).map_err(|_| nobody(Fault::parse("not UTF-8")))?;
        if nesting::is_too_deep(bytes) {
            return Err(Box::new((id_of(text), Fault::invalid_request("nested too deeply"))));
        }
        let value: Box<RawValue> =
            serde_json::from_str(text).map_err(|error| nobody(Fault::parse(format!("not JSON: {error}"))))?;
        if value.get().starts_with('[') {
            return Err(nobody(Fault::invalid_request("batches are not part of the protocol")));
        }
        let envelope: Envelope = nesting::read(value.get().as_bytes())
            .map_err(|error| nobody(Fault::invalid_request(format!("no message: {error}"))))?;
        envelope.sort()
    }
}

/// Returns the id of a message that is nested too deeply to be read, because its sender still waits for a response.
fn id_of(text: &str) -> Value {
    #[derive(Deserialize)]
    struct Shallow {
        id: Box<RawValue>,
    }
    let id =
        serde_json::from_str::<Shallow>(text).ok().filter(|shallow| nesting::depth(shallow.id.get().as_bytes()) == 0);
    id.and_then(|shallow| serde_json::from_str(shallow.id.get()).ok()).unwrap_or(Value::Null)
}

impl Envelope {
    fn sort(self) -> Result<Message, Unread> {
        let id = match self.id {
            None => None,
            Some(id @ (Value::String(_) | Value::Number(_))) => Some(id),
            Some(_) => return Err(Box::new((Value::Null, Fault::invalid_request("an id is a string or a number")))),
        };
        let to = id.clone().unwrap_or(Value::Null);
        let invalid = |message: &str| Err(Box::new((to.clone(), Fault::invalid_request(message))));
        if self.jsonrpc != Some(json!("2.0")) {
            return invalid("`jsonrpc` must be \"2.0\"");
        }
        let method = match self.method {
            Some(Value::String(method)) => method,
            Some(_) => return invalid("`method` must be a string"),
            None => {
                return match (id, self.result, self.error) {
                    (Some(id), Some(result), None) => Ok(Message::Response { id, outcome: Ok(result) }),
                    (Some(id), None, Some(error)) => Ok(Message::Response { id, outcome: Err(error) }),
                    _ => invalid("neither a request, nor a notification, nor a response"),
                };
            }
        };
        let params = match self.params.map(|params| nesting::read::<Value>(params.get().as_bytes())) {
            None => None,
            Some(Ok(params @ Value::Object(_))) => Some(params),
            Some(Ok(_)) => return Err(Box::new((to, Fault::envelope("`params` must be an object")))),
            Some(Err(error)) => return Err(Box::new((to, Fault::parse(error.to_string())))),
        };
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params }),
            None => Message::Notification { method, params },
        })
    }
}

/// The members of an object in order, as text.
#[derive(Debug)]
pub(crate) struct Members(pub(crate) Vec<(String, Box<RawValue>)>);

impl Members {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, text)| text.get())
    }

    pub(crate) fn string(&self, key: &str) -> Result<Option<String>, String> {
        self.get(key)
            .map(|text| serde_json::from_str(text).map_err(|_| format!("`{key}` must be a string")))
            .transpose()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = vec![];
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A result, as text on one line.
pub(crate) type Success = Box<RawValue>;

/// Serializes a result.
pub(crate) fn success(result: &impl Serialize) -> Success {
    to_raw_value(result).expect("a result has only string keys")
}

/// Returns an object with these members, in this order.
pub(crate) fn object(members: &[(impl AsRef<str>, Success)]) -> Success {
    let members: Vec<_> = members.iter().map(|(key, value)| format!("{}:{value}", success(&key.as_ref()))).collect();
    RawValue::from_string(format!("{{{}}}", members.join(","))).expect("members of an object make an object")
}

/// Returns the response to a request.
pub(crate) fn reply(id: &Value, outcome: &Result<Success, Fault>) -> String {
    match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(fault) => {
            let mut error = json!({ "code": fault.code, "message": fault.message });
            if let Some(data) = &fault.data {
                error["data"] = data.clone();
            }
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (Value, i32) {
        let (id, fault) = *Message::read(text.as_bytes()).expect_err(text);
        (id, fault.code)
    }

    #[test]
    fn invalid_message_has_its_own_error_code() {
        assert_eq!(code("{"), (Value::Null, -32700));
        assert_eq!(code("[]"), (Value::Null, -32600));
        assert_eq!(code("1"), (Value::Null, -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), (Value::Null, -32600));
        assert_eq!(code(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#), (json!("a"), -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#), (json!(7), -32602));
        assert_eq!(code(&"[".repeat(100_000)), (Value::Null, -32600));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(
            code(&format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"a":{deep}}},"id":7}}"#)),
            (json!(7), -32600)
        );
    }

    #[test]
    fn reply_keeps_the_type_of_the_id() {
        for id in ["1", "\"1\"", "1.5", "\"\""] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let Ok(Message::Request(request)) = Message::read(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(
                reply(&request.id, &Ok(success(&json!({})))),
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
            );
        }
    }
}
