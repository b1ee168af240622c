//! The casebook's adapter protocol: the lines that come in, as types, and the answers that don't depend on the kind.

use rmcp::model::JsonObject;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, json};

pub const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];
pub const VARIANTS: [&str; 1] = ["router"];

/// One of the kinds is there. An enum would have to be flattened into this, which serde does by way of a buffer that
/// is not read on a growing stack.
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
    pub stream: Option<Place>,
    pub fixture: Fixture,
}

/// The harness's listener for one stream, and the word that opens the stream.
#[derive(Deserialize)]
pub struct Place {
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
    CallTool { name: String, arguments: Option<JsonObject> },
}

/// Why there is no server or client: the SDK's public API has no way to express what was asked for.
/// (It builds whatever its types can hold, so that nothing is ever `refused`.)
pub struct Cannot(pub String);

impl Cannot {
    pub fn answer(self) -> Value {
        json!({ "cannot": self.0 })
    }
}

/// Reads a line at whatever depth; the stack grows with it.
pub fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    T::deserialize(serde_stacker::Deserializer::new(&mut reader))
}

/// A member that is there and `null` is not one that is missing.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}
