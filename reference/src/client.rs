//! A strict client: it performs the `drive` requests of the adapter protocol, against a server that may be hostile.
//!
//! It takes the address or command of a server, a user and a script, and returns the result of each step. The size,
//! depth and time of everything that a server sends are limited, and an error is returned as data. The client must not
//! know cases, nor the server in this crate except for schemas, forms and headers.

mod call;
mod connection;
pub(crate) mod elicit;
mod events;
mod failure;
mod http;
mod incoming;
mod session;
mod stdio;
mod tools;

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::message::{Success, object, present, success};
use crate::policy::Policy;
use crate::revision::Revision;
use connection::{Connection, ServerAddress};
use elicit::{ClientTerms, User};
use failure::Failure;
pub(crate) use http::connections;
use tools::Tool;

/// The time limit of a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time limit of a step, with all its pages, rounds and validations.
const STEP: Duration = Duration::from_secs(30);

/// The time limit for closing the connection.
const LEAVE: Duration = Duration::from_secs(3);

/// The limits for the pages of a list, and for the bytes of all pages together.
const PAGES: usize = 100;
const LIST: usize = 64 << 20;

/// A `drive` request of the harness.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    revision: String,
    #[serde(rename = "variant")]
    _variant: Option<Value>,
    /// `true` if the client determines the revision of the server.
    #[serde(default)]
    negotiate: bool,
    url: Option<String>,
    command: Option<Vec<String>>,
    #[serde(default)]
    answers: User,
    declares: Option<Map<String, Value>>,
    /// The time limit of a request, in milliseconds.
    #[serde(rename = "requestTimeout")]
    request_timeout: Option<u64>,
    script: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Step {
    ListTools(serde::de::IgnoredAny),
    CallTool(ToolCall),
    CallTools(Vec<ToolCall>),
    Request(UserRequest),
}

/// A request that the user of the client makes, for any method.
#[derive(Deserialize)]
struct UserRequest {
    method: String,
    params: Option<Map<String, Value>>,
}

/// The name and the arguments of a call.
#[derive(Deserialize)]
struct ToolCall {
    name: String,
    arguments: Option<Box<RawValue>>,
}

/// Drives a server through a script. Returns the kind of the response, and the response.
pub(crate) async fn drive(text: &str, http: &reqwest::Client, policy: &'static Policy) -> (&'static str, Success) {
    let cannot = |reason: String| ("cannot", success(&reason));
    let drive: Drive = match serde_json::from_str(text) {
        Ok(drive) => drive,
        Err(error) => return cannot(error.to_string()),
    };
    let Some(revision) = Revision::named(&drive.revision) else {
        return cannot(format!("the revision {} is not supported", drive.revision));
    };
    let address = match (drive.url, drive.command) {
        (Some(url), None) => ServerAddress::Url(url, http.clone()),
        (None, Some(command)) => ServerAddress::Command(command),
        _ => return cannot("exactly one of `url` and `command` is required".to_owned()),
    };
    let capabilities = match drive.declares {
        Some(declared) => Value::Object(declared),
        None => declared(&drive.answers, revision),
    };
    let work = tokio::spawn(async move {
        let patience = drive.request_timeout.map_or(PATIENCE, Duration::from_millis);
        let connected = async {
            let mut client = Client::connect(&address, revision, capabilities, drive.answers, patience, policy).await?;
            client.negotiate(drive.negotiate).await?;
            Ok(client)
        };
        match connected.await {
            Ok(client) => client.run_script(drive.script).await,
            Err(failure) => not_connected(failure),
        }
    });
    // A panic in the client must not end the adapter.
    let outcome =
        work.await.unwrap_or_else(|error| not_connected(Failure::Transport(format!("the client failed: {error}"))));
    ("drove", outcome)
}

/// Returns the default capabilities of a client with this user.
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

fn error(failure: Failure) -> Success {
    object(&[("error", success(&Value::from(failure)))])
}

fn answer(outcome: Result<Success, Failure>) -> Success {
    outcome.map_or_else(error, |result| object(&[("result", result)]))
}

/// A client of one server.
struct Client {
    connection: Connection,
    revision: Revision,
    capabilities: Value,
    user: User,
    /// The time limit of a request.
    patience: Duration,
    policy: &'static Policy,
    tools: Tools,
    last_id: u64,
    /// `true` after a call has failed. A strict client ignores this.
    has_failed: bool,
    /// The id of the first elicitation of a call. A strict client ignores it.
    first_question: Option<Value>,
    /// The `requestState` that any call received last. A strict client ignores it.
    last_state: Option<Success>,
    /// The results of retries by the name of the tool. A strict client stores none.
    retried: HashMap<String, Success>,
}

/// The known tools of the server.
#[derive(Default)]
struct Tools {
    /// The listed tools; `None` before they were listed.
    listed: Option<Vec<Tool>>,
    /// `true` after the server notified the client that its tools have changed.
    are_stale: bool,
    /// The time to live of the list. A strict client ignores it.
    ttl: Option<Value>,
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
    async fn run_script(mut self, script: Vec<Step>) -> Success {
        let mut steps = vec![];
        for step in script {
            let outcome = tokio::time::timeout(STEP, self.step(step)).await;
            let outcome = outcome
                .unwrap_or_else(|_| Err(Failure::Transport(format!("not finished within {} s", STEP.as_secs()))));
            steps.push(outcome.unwrap_or_else(error));
        }
        let _ignored = tokio::time::timeout(LEAVE, self.connection.end()).await;
        object(&[("connected", success(&true)), ("steps", success(&steps))])
    }

    async fn step(&mut self, step: Step) -> Result<Success, Failure> {
        match step {
            Step::ListTools(_) => {
                self.list().await?;
                let listed: Vec<_> = self.tools.listed.iter().flatten().map(|tool| &tool.listed).collect();
                Ok(object(&[("tools", success(&listed))]))
            }
            Step::Request(UserRequest { method, params }) => {
                let params = params.unwrap_or_default();
                let members = params.iter().map(|(key, value)| (key.as_str(), success(value))).collect();
                Ok(object(&[("result", self.request(&method, members).await?)]))
            }
            Step::CallTool(call) => {
                self.refresh().await?;
                Ok(object(&[("result", self.call(&[call]).await.remove(0)?)]))
            }
            Step::CallTools(calls) => {
                self.refresh().await?;
                let results: Vec<_> = self.call(&calls).await.into_iter().map(answer).collect();
                Ok(object(&[("results", success(&results))]))
            }
        }
    }

    /// Lists the tools again if they have changed.
    async fn refresh(&mut self) -> Result<(), Failure> {
        let is_first = self.policy.client.lists_before_calls && self.tools.listed.is_none();
        if self.tools.are_stale || is_first { self.list().await } else { Ok(()) }
    }

    /// Lists the tools on all pages.
    async fn list(&mut self) -> Result<(), Failure> {
        let policy = &self.policy.client;
        if self.tools.listed.is_some() && (policy.lists_from_cache)(self.tools.ttl.as_ref()) {
            return Ok(());
        }
        let (mut tools, mut cursor, mut size) = (vec![], None, 0);
        let mut full = 0;
        for number in 0..PAGES {
            let members = cursor.map(|cursor| ("cursor", cursor)).into_iter().collect();
            let result = self.request("tools/list", members).await?;
            size += result.get().len();
            if size > LIST {
                return Err(Failure::protocol(format!("the list of tools has more than {LIST} bytes")));
            }
            if self.is_input_required(&result)? {
                return Err(Failure::protocol("a list must not ask for input"));
            }
            let page: Page =
                incoming::members(&result).map_err(|reason| Failure::protocol(format!("tools/list: {reason}")))?;
            if policy.needs_ttl && self.revision.is_stateless() && page.ttl.as_ref().and_then(Value::as_u64).is_none() {
                return Err(Failure::protocol("`ttlMs` must be a natural number"));
            }
            let is_short = policy.ends_at_short_page && page.tools.len() < full;
            let is_mixed = policy.mixes_cached_pages && page.ttl.as_ref().and_then(Value::as_i64) > Some(0);
            full = full.max(page.tools.len());
            tools.extend(page.tools.into_iter().map(|tool| Tool::read(tool, policy)));
            self.tools.ttl = page.ttl;
            let is_last = is_short || is_mixed;
            match page.next_cursor.filter(|next| !is_last && (policy.is_further_page)(next.get())) {
                Some(next) if !next.get().starts_with('"') => return Err(Failure::protocol("a cursor is a string")),
                Some(next) => cursor = Some(next),
                None => {
                    for _ in (0..policy.requests_after_end).filter(|_| number > 0) {
                        let _unread = self.request("tools/list", vec![]).await;
                    }
                    return self.store_tools(tools).await;
                }
            }
        }
        Err(Failure::protocol(format!("the list of tools has more than {PAGES} pages")))
    }

    /// Stores the listed tools. Over HTTP, tools with invalid header marks are removed.
    async fn store_tools(&mut self, mut tools: Vec<Tool>) -> Result<(), Failure> {
        let policy = &self.policy.client;
        if self.has_headers() && policy.drops_wrong_marks {
            tools.retain(|tool| tool.parameters.is_ok());
        }
        for tool in tools.iter_mut().filter(|_| policy.compiles_when_listed || policy.bad_tool_breaks_list) {
            match tool.output_schema(self.policy).await {
                Err(reason) if policy.bad_tool_breaks_list => {
                    return Err(Failure::Unusable { tool: tool.name.clone().unwrap_or_default(), reason });
                }
                _ => {}
            }
        }
        if policy.listens_late && self.tools.listed.is_none() && !self.revision.is_stateless() {
            self.connection.listen();
        }
        self.tools = Tools { listed: Some(tools), are_stale: false, ttl: self.tools.ttl.take() };
        Ok(())
    }

    /// Returns whether HTTP headers repeat parts of the requests' bodies.
    fn has_headers(&self) -> bool {
        self.revision.is_stateless() && self.connection.is_http()
    }

    fn terms(&self) -> ClientTerms<'_> {
        ClientTerms { revision: self.revision, capabilities: &self.capabilities, policy: self.policy }
    }

    /// Returns whether a result asks for input.
    fn is_input_required(&self, result: &RawValue) -> Result<bool, Failure> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(rename = "resultType", default, deserialize_with = "present")]
            kind: Option<Box<RawValue>>,
            #[serde(default)]
            content: Option<Box<RawValue>>,
            #[serde(rename = "inputRequests", default)]
            requests: Option<Box<RawValue>>,
        }
        if !self.revision.is_stateless() {
            return Ok(false);
        }
        let head: Head = incoming::members(result).map_err(Failure::protocol)?;
        match head.kind.as_ref().map(|kind| kind.get()) {
            None if self.policy.client.needs_result_type => Err(Failure::protocol("`resultType` is missing")),
            None | Some(r#""complete""#) => Ok(false),
            Some(r#""input_required""#) if self.policy.client.decides_by_members => {
                Ok(head.requests.is_some() && head.content.is_none())
            }
            Some(r#""input_required""#) => Ok(true),
            Some(_) if self.policy.client.accepts_unknown_result_type => Ok(false),
            Some(_) => Err(Failure::protocol("the `resultType` is unknown")),
        }
    }
}

#[cfg(test)]
mod tests;
