//! The adapter protocol: the types of the requests, and the `cannot` answer.

use std::collections::HashMap;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Map, Value, json};

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
    /// The members of each tool, of which any may be unknown.
    pub tools: Vec<Map<String, Value>>,
    /// The capabilities that a proposal adds.
    #[serde(default)]
    pub capabilities: Map<String, Value>,
    /// The methods that a proposal adds, with the replies to their requests.
    #[serde(default)]
    pub methods: HashMap<String, Vec<Reply>>,
}

/// A reply, which without a result and an error returns the parameters.
#[derive(Deserialize)]
pub struct Reply {
    pub result: Option<Value>,
    pub error: Option<ReplyError>,
    /// What is sent before the reply.
    #[serde(default)]
    pub notify: Vec<Message>,
}

#[derive(Deserialize)]
pub struct ReplyError {
    pub code: i32,
    pub message: String,
    #[serde(default, deserialize_with = "present")]
    pub data: Option<Value>,
}

/// A request or a notification.
#[derive(Deserialize)]
pub struct Message {
    pub method: String,
    pub params: Option<Value>,
}

#[derive(Deserialize)]
pub struct Identity {
    pub name: String,
    pub version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    Echo(IgnoredAny),
    Return(Parts),
    Elicit(Elicit),
    Raise(String),
    Wait(Wait),
    Log(Log),
    Progress(Progress),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parts {
    #[serde(default, deserialize_with = "present")]
    pub structured_content: Option<Value>,
    pub content: Option<Value>,
    pub is_error: Option<bool>,
}

/// A question with a form, or with a URL in the mode `url`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Elicit {
    pub mode: Option<String>,
    pub message: String,
    #[serde(default)]
    pub requested_schema: Value,
    pub url: Option<String>,
    pub elicitation_id: Option<String>,
    pub state: Option<State>,
}

/// The state that a tool gives with its question, and its lifetime.
#[derive(Clone, Deserialize)]
pub struct State {
    pub value: String,
    pub seconds: Option<u64>,
}

/// The addresses that a tool requests when it starts to wait and when its call is cancelled.
#[derive(Deserialize)]
pub struct Wait {
    pub started: String,
    pub stopped: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub level: Value,
    pub data: Value,
    pub logger: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drive {
    pub revision: String,
    /// Whether the client determines the revision of the server.
    #[serde(default)]
    pub negotiate: bool,
    pub url: Option<String>,
    pub command: Option<Vec<String>>,
    pub answers: Option<Answers>,
    pub declares: Option<Value>,
    pub script: Vec<Step>,
    /// The time limit of a request, in milliseconds.
    pub request_timeout: Option<u64>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Answers {
    InOrder(Vec<Answer>),
    Always(Answer),
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    Content { accept: Value },
    Alone(Action),
}

/// An answer without content.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Accept,
    Decline,
    Cancel,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    ListTools {},
    CallTool(ToolCall),
    CallTools(Vec<ToolCall>),
    Request(Message),
}

#[derive(Deserialize)]
pub struct ToolCall {
    pub name: String,
    #[serde(default, deserialize_with = "present")]
    pub arguments: Option<Value>,
}

/// The SDK's public API cannot express the fixture or the script.
pub struct Cannot(pub String);

/// Why there is no server and no session.
pub enum Failure {
    Cannot(String),
    /// Only a `#[tool]` can be refused: otherwise the SDK builds every value that its types can hold.
    Refused {
        tool: String,
        message: String,
    },
}

impl From<Cannot> for Failure {
    fn from(Cannot(reason): Cannot) -> Self {
        Self::Cannot(reason)
    }
}

impl Failure {
    pub fn answer(self) -> Value {
        match self {
            Self::Cannot(reason) => json!({ "cannot": reason }),
            Self::Refused { tool, message } => {
                json!({ "refused": { "type": "panic", "message": message, "tool": tool } })
            }
        }
    }
}

/// Parses JSON of any depth on a growing stack.
pub fn read<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    T::deserialize(serde_stacker::Deserializer::new(&mut reader))
}

/// Removes a member of a tool and reads it into the type that the SDK or this adapter has for it.
pub fn take<T: DeserializeOwned>(tool: &mut Map<String, Value>, member: &str) -> Result<Option<T>, Cannot> {
    let Some(value) = tool.remove(member) else { return Ok(None) };
    let read = T::deserialize(serde_stacker::Deserializer::new(value));
    read.map(Some).map_err(|error| Cannot(format!("a tool cannot have this `{member}`: {error}")))
}

/// Like `take`, but the SDK's type must also have each part of the member.
pub fn take_whole<T: DeserializeOwned + Serialize>(
    tool: &mut Map<String, Value>,
    member: &str,
) -> Result<Option<T>, Cannot> {
    let Some(value) = tool.get(member).cloned() else { return Ok(None) };
    let read: Option<T> = take(tool, member)?;
    if json!(read) != value {
        return Err(Cannot(format!("of the member `{member}`, `Tool` can hold only {}", json!(read))));
    }
    Ok(read)
}

/// Reads a member that may be `null` as `Some`, so that only a missing member is `None`.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}
