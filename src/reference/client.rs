//! A strict client: what the adapter protocol's `drive` asks for, against a server that may be hostile.
//!
//! Takes a place, a user and a script, gives what each step came to. Whatever a server sends is bounded in size, depth
//! and time, and an error is data. Must not know cases, nor the server beside it but for schemas, forms and headers.

mod call;
mod connection;
mod elicit;
mod events;
mod failure;
mod http;
mod incoming;
mod session;
mod stdio;
mod tools;

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::message::{Success, object, success};
use crate::mutant::Mutant;
use crate::revision::Revision;
use connection::{Connection, Place};
use elicit::{Terms, User};
use failure::Failure;
pub(crate) use http::connections;
use tools::Tool;

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a step may take, with all its pages, rounds and checks.
const STEP: Duration = Duration::from_secs(30);

/// How long taking leave may take.
const LEAVE: Duration = Duration::from_secs(3);

/// Pages of a list, and bytes of all of them together.
const PAGES: usize = 100;
const LIST: usize = 64 << 20;
/// How often one mutant begins a list anew that has ended.
const PATIENT: usize = 4;

/// What a harness asks of a client.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    revision: String,
    #[serde(rename = "variant")]
    _variant: Option<Value>,
    url: Option<String>,
    command: Option<Vec<String>>,
    #[serde(default)]
    answers: User,
    declares: Option<Map<String, Value>>,
    script: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Step {
    ListTools(serde::de::IgnoredAny),
    CallTool { name: String, arguments: Option<Box<RawValue>> },
}

/// Drives a server through a script: the kind of the answer, and the answer.
pub(crate) async fn drive(text: &str, http: &reqwest::Client, mutant: Option<Mutant>) -> (&'static str, Success) {
    let cannot = |reason: String| ("cannot", success(&reason));
    let drive: Drive = match serde_json::from_str(text) {
        Ok(drive) => drive,
        Err(error) => return cannot(error.to_string()),
    };
    let Some(revision) = Revision::named(&drive.revision) else {
        return cannot(format!("the revision {} is not spoken", drive.revision));
    };
    let place = match (drive.url, drive.command) {
        (Some(url), None) => Place::Url(url, http.clone()),
        (None, Some(command)) => Place::Command(command),
        _ => return cannot("either `url` or `command` says where the server is".to_owned()),
    };
    let capabilities = match drive.declares {
        Some(declared) => Value::Object(declared),
        None => declared(&drive.answers, revision),
    };
    let work = tokio::spawn(async move {
        match Client::connect(&place, revision, capabilities, drive.answers, mutant).await {
            Ok(client) => client.play(drive.script).await,
            Err(failure) => not_connected(failure),
        }
    });
    // A server must not be able to end the client, whatever our faults.
    let outcome =
        work.await.unwrap_or_else(|error| not_connected(Failure::Transport(format!("the client broke: {error}"))));
    ("drove", outcome)
}

/// What a client with such a user declares.
fn declared(user: &User, revision: Revision) -> Value {
    match user {
        User::Nobody => json!({}),
        _ if revision.has_modes() => json!({ "elicitation": { "form": {} } }),
        _ => json!({ "elicitation": {} }),
    }
}

fn not_connected(failure: Failure) -> Success {
    success(&json!({ "connected": false, "error": Value::from(failure), "steps": [] }))
}

/// A client that speaks to one server.
struct Client {
    connection: Connection,
    revision: Revision,
    capabilities: Value,
    user: User,
    mutant: Option<Mutant>,
    tools: Tools,
    last_id: u64,
    /// What only a mutant remembers: a call has failed.
    has_failed: bool,
    /// What only a mutant remembers: the id of the first question of a call.
    first_question: Option<Value>,
}

/// What is known of the server's tools.
#[derive(Default)]
struct Tools {
    /// `None` before they were listed.
    listed: Option<Vec<Tool>>,
    /// The server said since that they have changed.
    are_stale: bool,
}

#[derive(Deserialize)]
struct Page {
    tools: Vec<Box<RawValue>>,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<Box<RawValue>>,
    #[serde(rename = "ttlMs")]
    ttl: Option<Value>,
}

impl Client {
    async fn play(mut self, script: Vec<Step>) -> Success {
        let mut steps = vec![];
        for step in script {
            let outcome = tokio::time::timeout(STEP, self.step(step)).await;
            let outcome =
                outcome.unwrap_or_else(|_| Err(Failure::Transport(format!("no end within {} s", STEP.as_secs()))));
            steps.push(outcome.unwrap_or_else(|failure| object(&[("error", success(&Value::from(failure)))])));
        }
        let _gone_already = tokio::time::timeout(LEAVE, self.connection.end()).await;
        object(&[("connected", success(&true)), ("steps", success(&steps))])
    }

    async fn step(&mut self, step: Step) -> Result<Success, Failure> {
        match step {
            Step::ListTools(_) => {
                self.list().await?;
                let listed: Vec<_> = self.tools.listed.iter().flatten().map(|tool| &tool.listed).collect();
                Ok(object(&[("tools", success(&listed))]))
            }
            Step::CallTool { name, arguments } => {
                if self.tools.are_stale {
                    self.list().await?;
                }
                Ok(object(&[("result", self.call(&name, arguments.as_deref()).await?)]))
            }
        }
    }

    /// Lists the tools, to the last page.
    async fn list(&mut self) -> Result<(), Failure> {
        let (mut tools, mut cursor, mut size) = (vec![], None, 0);
        for number in 0..PAGES {
            let members = cursor.map(|cursor| ("cursor", cursor)).into_iter().collect();
            let result = self.request("tools/list", members, HeaderMap::new(), number > 0).await?;
            size += result.get().len();
            if size > LIST {
                return Err(Failure::protocol(format!("the list of tools has more than {LIST} bytes")));
            }
            if self.is_input_required(&result)? {
                return Err(Failure::protocol("a list needs no input"));
            }
            let page: Page =
                incoming::members(&result).map_err(|reason| Failure::protocol(format!("tools/list: {reason}")))?;
            if self.mutant == Some(Mutant::TtlRequired)
                && self.revision.is_stateless()
                && page.ttl.as_ref().and_then(Value::as_u64).is_none()
            {
                return Err(Failure::protocol("`ttlMs` must be a natural number"));
            }
            tools.extend(page.tools.into_iter().map(|tool| Tool::read(tool, self.mutant)));
            match page.next_cursor {
                Some(_) if self.mutant == Some(Mutant::PagesIgnored) => return self.take(tools).await,
                Some(next) if !next.get().starts_with('"') => return Err(Failure::protocol("a cursor is a string")),
                Some(next) if !(self.mutant == Some(Mutant::CursorEmptyIsEnd) && next.get() == "\"\"") => {
                    cursor = Some(self.as_sent(next)?);
                }
                _ => {
                    if number > 0 && self.mutant == Some(Mutant::EndOfListUnseen) {
                        for _ in 0..PATIENT {
                            let _unread = self.request("tools/list", vec![], HeaderMap::new(), true).await;
                        }
                    }
                    return self.take(tools).await;
                }
            }
        }
        Err(Failure::protocol(format!("the list of tools has more than {PAGES} pages")))
    }

    /// A cursor as it goes back: as it came, but for one mutant.
    fn as_sent(&self, cursor: Box<RawValue>) -> Result<Box<RawValue>, Failure> {
        if self.mutant != Some(Mutant::CursorTrimmed) {
            return Ok(cursor);
        }
        let text: String = serde_json::from_str(cursor.get()).map_err(|error| Failure::protocol(error.to_string()))?;
        Ok(success(&text.trim()))
    }

    /// Keeps what can be used; over HTTP, tools whose headers can't be told are dropped.
    async fn take(&mut self, mut tools: Vec<Tool>) -> Result<(), Failure> {
        if self.has_headers() && self.mutant != Some(Mutant::InvalidHeaderToolKept) {
            tools.retain(|tool| tool.parameters.is_ok());
        }
        if self.mutant == Some(Mutant::OneBadToolLosesAll) {
            for tool in &mut tools {
                let judged = tool.judge(self.mutant).await;
                judged.map_err(|reason| Failure::Unusable { tool: tool.name.clone().unwrap_or_default(), reason })?;
            }
        }
        if self.mutant == Some(Mutant::ClientFetchesRef) {
            for tool in &mut tools {
                let _told_when_called = tool.judge(self.mutant).await;
            }
        }
        self.tools = Tools { listed: Some(tools), are_stale: false };
        Ok(())
    }

    /// Whether requests repeat in HTTP headers what their bodies say.
    fn has_headers(&self) -> bool {
        self.revision.is_stateless() && self.connection.is_http()
    }

    fn terms(&self) -> Terms<'_> {
        Terms { revision: self.revision, capabilities: &self.capabilities, mutant: self.mutant }
    }

    /// Whether a result is not final yet.
    fn is_input_required(&self, result: &RawValue) -> Result<bool, Failure> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "resultType", default, deserialize_with = "incoming::present")]
            kind: Option<Box<RawValue>>,
        }
        if !self.revision.is_stateless() {
            return Ok(false);
        }
        let head: Head = incoming::members(result).map_err(Failure::protocol)?;
        match head.kind.as_ref().map(|kind| kind.get()) {
            None if self.mutant == Some(Mutant::AbsentResultTypeRefused) => {
                Err(Failure::protocol("`resultType` is missing"))
            }
            None | Some(r#""complete""#) => Ok(false),
            Some(r#""input_required""#) => Ok(true),
            Some(_) if self.mutant == Some(Mutant::UnknownResultTypeAccepted) => Ok(false),
            Some(_) => Err(Failure::protocol("the `resultType` is unknown")),
        }
    }
}

#[cfg(test)]
mod tests;
