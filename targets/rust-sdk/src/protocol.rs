//! The adapter protocol: the types of the requests, and the `cannot` answer.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, json};

pub const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];
pub const VARIANTS: [&str; 2] = ["router", "typed"];

/// One line of the control stream. Exactly one of its kinds is present. This is not a flattened enum, because serde
/// would read that from a buffer without the growing stack that deep JSON needs.
#[derive(Deserialize)]
pub struct Request {
    pub id: String,
    pub hello: Option<IgnoredAny>,
    pub serve: Option<Serve>,
    pub stop: Option<Stop>,
    pub drive: Option<Drive>,
}

#[derive(Deserialize)]
pub struct Stop {
    pub serving: String,
}

#[derive(Deserialize)]
pub struct Serve {
    pub revision: String,
    pub transport: String,
    pub variant: Option<String>,
    pub stream: Option<StreamAddress>,
    pub fixture: Fixture,
}

/// The port on which casebook listens for one stream, and the first line to send on it.
#[derive(Deserialize)]
pub struct StreamAddress {
    pub port: u16,
    pub word: String,
}

#[derive(Deserialize)]
pub struct Fixture {
    pub server: Identity,
    pub tools: Vec<Tool>,
}

#[derive(Deserialize)]
pub struct Identity {
    pub name: String,
    pub version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub input_schema: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub output_schema: Option<Value>,
    pub does: Does,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    Echo(IgnoredAny),
    Return(Parts),
    Elicit(Elicit),
    Raise(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parts {
    #[serde(default, deserialize_with = "present")]
    pub structured_content: Option<Value>,
    pub content: Option<Value>,
    pub is_error: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elicit {
    pub message: String,
    pub requested_schema: Value,
}

#[derive(Deserialize)]
pub struct Drive {
    pub revision: String,
    pub url: Option<String>,
    pub command: Option<Vec<String>>,
    pub answers: Option<Answers>,
    pub declares: Option<Value>,
    pub script: Vec<Step>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Answers {
    InOrder(Vec<Answer>),
    Always(Answer),
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    Accept(Value),
    Decline,
    Cancel,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    ListTools {},
    CallTool {
        name: String,
        #[serde(default, deserialize_with = "present")]
        arguments: Option<Value>,
    },
}

/// The SDK's public API cannot express the fixture or the script.
/// (There is no `refused`, because the SDK builds every value that its types can hold.)
pub struct Cannot(pub String);

impl Cannot {
    pub fn answer(self) -> Value {
        json!({ "cannot": self.0 })
    }
}

/// Parses JSON of any depth on a growing stack.
pub fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    T::deserialize(serde_stacker::Deserializer::new(&mut reader))
}

/// Reads a member that may be `null` as `Some`, so that only a missing member is `None`.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}
