//! Smoke checks of an adapter: one request of each kind, for everything that its target claims.
//!
//! Takes a target, gives a [`SmokeReport`] with each request and its outcome. Must not know the cases.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::client;
use super::outcome::{ANSWER, SmokeOutcome, TOOL, not_served};
use crate::drive::adapter::protocol::{Adapter, Hello, NOISE, Order, Serving, StartError, Trouble, confirm};
use crate::drive::adapter::stdio_server::{StdioServer, why_no_server};
use crate::drive::adapter::stream::Stream;
use crate::drive::clock::Deadline;
use crate::drive::process::launch::StopReason;
use crate::drive::server::connection::Connection;
use crate::drive::server::exchange::Exchange;
use crate::drive::server::http::ConnectionReuse;
use crate::drive::token::token;
use crate::model::case::{Answer, Does, Retry, Step, Then, When};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Target;
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Party};

/// The time limit of a start.
const START: Duration = Duration::from_secs(30);

/// The result of the smoke checks of one adapter.
#[derive(Clone, Debug, Default)]
pub struct SmokeReport {
    /// The adapter's hello, if it sent one.
    pub hello: Option<Hello>,
    /// The checks in order.
    pub checks: Vec<SmokeCheck>,
}

/// One request to an adapter and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmokeCheck {
    /// A short description of the request.
    pub asked: String,
    /// The outcome.
    pub outcome: SmokeOutcome,
}

impl SmokeReport {
    /// Returns whether no outcome is wrong.
    pub fn is_good(&self) -> bool {
        self.checks.iter().all(|check| !matches!(check.outcome, SmokeOutcome::Wrong { .. }))
    }

    fn note(&mut self, asked: impl Into<String>, outcome: SmokeOutcome) {
        self.checks.push(SmokeCheck { asked: asked.into(), outcome });
    }

    fn note_result<E: ToString>(&mut self, asked: &str, result: Result<(), E>, wanted: &str) {
        let wrong = |error: E| SmokeOutcome::wrong(error.to_string(), wanted);
        self.note(asked, result.map_or_else(wrong, |()| SmokeOutcome::Right));
    }
}

/// Checks an adapter: a few requests for each role, transport and revision that its target claims.
pub async fn smoke(target: &Target) -> SmokeReport {
    let mut report = SmokeReport::default();
    let mut adapter = match start_unchecked(target).await {
        Ok(adapter) => adapter,
        Err(error) => {
            report.note("hello", no_hello(error, r#"{"id":"1","hello":{"sdk":…,"roles":[…],"transports":[…],…}}"#));
            return report;
        }
    };
    report.note("hello", SmokeOutcome::Right.with_noise(noise(&adapter.stderr().take())));
    report.hello = Some(adapter.hello().clone());
    let claims = "every role, transport, revision and variant that target.toml claims";
    report.note_result("hello: claims of target.toml", confirm(target, adapter.hello()), claims);
    for (revision, transport, ask) in everything(target, adapter.hello().streams) {
        drop(adapter.stderr().take());
        let mut outcome = match ask {
            Ask::Serve(does) => serve(&mut adapter, target, does, revision, transport).await,
            Ask::Stream(does) => {
                let fixture = fixture(does);
                by_stream(&mut adapter, Order::new(target, revision, transport, &fixture), does).await
            }
            Ask::Drive(script) => client::drive(&mut adapter, target, script, revision, transport).await,
        };
        let asked = format!("{ask} over {transport} on {revision}");
        if let SmokeOutcome::Wrong { got, stderr, .. } = &mut outcome
            && ask.is_of_adapter(transport)
        {
            let written = adapter.stderr().clone();
            // The adapter may be dead, or may still answer the last request: the next check needs a fresh process.
            adapter.end(StopReason::Hung).await;
            *stderr = written.take();
            // Only an adapter that is still expected to answer can have given its answer to another request.
            if got.ends_with(&Trouble::Hung.to_string()) && noise(stderr).iter().any(|line| line.starts_with('{')) {
                got.push_str("; it wrote an object that is no answer to this request: repeat the `id` of the request");
            }
            report.note(asked, outcome);
            match start_unchecked(target).await {
                Ok(fresh) => adapter = fresh,
                Err(error) => {
                    report.note(
                        "hello of a second process",
                        no_hello(error, "the same hello as that of the first process"),
                    );
                    return report;
                }
            }
        } else {
            report.note(asked, outcome.with_noise(noise(&adapter.stderr().take())));
        }
    }
    let unknown = adapter.send_unknown_request(Deadline::within(ANSWER)).await;
    report.note_result("request of an unknown kind", unknown, r#"{"id":ID,"unsupported":"…"}"#);
    let stopped = adapter.end(StopReason::Finished).await;
    let left = if stopped.how == "exit status 0" && !stopped.leaky { Ok(()) } else { Err(stopped.how) };
    let wanted = "exit status 0 within 2 s, and no process left that holds its standard output or error open";
    report.note_result("end of standard input", left, wanted);
    report
}

async fn start_unchecked(target: &Target) -> Result<Adapter, StartError> {
    Adapter::start_unchecked(target, Deadline::within(START)).await
}

/// The outcome of a start without a hello.
fn no_hello(error: StartError, wanted: &str) -> SmokeOutcome {
    match error {
        StartError::Hello { trouble, stderr } => {
            SmokeOutcome::Wrong { got: trouble.to_string(), wanted: wanted.to_owned(), stderr }
        }
        error => SmokeOutcome::wrong(error.to_string(), wanted),
    }
}

/// The lines that an adapter wrote to its standard output and that are no answers.
fn noise(stderr: &str) -> Vec<String> {
    stderr.lines().filter_map(|line| line.strip_prefix(NOISE)).map(str::to_owned).collect()
}

/// A request to an adapter.
#[derive(Clone, Copy, Debug)]
enum Ask {
    /// Serve a tool with this behaviour; over stdio, in a process of its own.
    Serve(Does),
    /// Serve the same tool over stdio, by a stream.
    Stream(Does),
    /// Drive a client through this script.
    Drive(client::Script),
}

impl Ask {
    /// The requests to an adapter in a role, over a transport.
    fn of(role: Role, transport: Transport, streams: bool) -> Vec<Self> {
        match role {
            Role::Server if streams && transport == Transport::Stdio => {
                Does::ALL.iter().flat_map(|does| [Self::Stream(*does), Self::Serve(*does)]).collect()
            }
            Role::Server => Does::ALL.iter().map(|does| Self::Serve(*does)).collect(),
            Role::Client => client::Script::ALL.iter().map(|script| Self::Drive(*script)).collect(),
        }
    }

    /// Returns whether the adapter's own process answers, and not one that is started for this request.
    fn is_of_adapter(self, transport: Transport) -> bool {
        matches!(self, Self::Drive(_) | Self::Stream(_)) || transport == Transport::Http
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serve(does) => write!(f, "serve: {does}"),
            Self::Stream(does) => write!(f, "serve by a stream: {does}"),
            Self::Drive(script) => write!(f, "drive: {script}"),
        }
    }
}

fn everything(target: &Target, streams: bool) -> impl Iterator<Item = (Revision, Transport, Ask)> {
    let claims = &target.claims;
    let ways = claims.roles.iter().flat_map(|role| claims.transports.iter().map(move |transport| (*role, *transport)));
    let ways = ways.flat_map(|(role, transport)| claims.revisions.iter().map(move |one| (role, transport, *one)));
    ways.flat_map(move |(role, transport, one)| {
        Ask::of(role, transport, streams).into_iter().map(move |ask| (one, transport, ask))
    })
}

/// Serves a fixture, lists its tools and calls the tool.
async fn serve(
    adapter: &mut Adapter,
    target: &Target,
    does: Does,
    revision: Revision,
    transport: Transport,
) -> SmokeOutcome {
    let fixture = fixture(does);
    let order = Order::new(target, revision, transport, &fixture);
    match transport {
        Transport::Http => over_http(adapter, order, does).await,
        Transport::Stdio => over_stdio(target, order, does).await,
    }
}

/// A plain fixture of one tool with this behaviour.
fn fixture(does: Does) -> String {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let body: Value = match does {
        Does::Echo => json!(true),
        Does::Return => json!({
            "structuredContent": { "answer": 42 }, "content": [{ "type": "text", "text": "smoke" }]
        }),
        Does::Elicit => json!({ "message": "Your name?", "requestedSchema": schema }),
        Does::Raise => json!("smoke"),
    };
    let tool = json!({ "name": TOOL, "description": "A tool.", "inputSchema": schema, "does": { does.word(): body } });
    json!({ "server": { "name": "casebook", "version": "1" }, "tools": [tool] }).to_string()
}

async fn over_http(adapter: &mut Adapter, order: Order<'_>, does: Does) -> SmokeOutcome {
    let wanted = r#"{"id":ID,"serving":{"url":"http://127.0.0.1:…"}}"#;
    let (serving, url) = match adapter.serve(order, Deadline::within(ANSWER)).await {
        Ok(served) => served,
        Err(served) => return not_served(served, wanted),
    };
    if !url.starts_with("http://") {
        return SmokeOutcome::wrong(format!("the `url` {url}, which does not begin with http://"), wanted);
    }
    let connection = Connection::to(ConnectionReuse::default().local(&url), order.revision);
    used_and_stopped(adapter, serving, connection, does).await
}

async fn by_stream(adapter: &mut Adapter, order: Order<'_>, does: Does) -> SmokeOutcome {
    let (serving, Stream { input, output, reading: _reading }) = match adapter
        .serve_stream(order, Deadline::within(ANSWER))
        .await
    {
        Ok(served) => served,
        Err(served) => return not_served(served, r#"a connection to the stream's port, and {"id":ID,"serving":{}}"#),
    };
    let connection = Connection::stdio(input, output, order.revision);
    used_and_stopped(adapter, serving, connection, does).await
}

async fn used_and_stopped(
    adapter: &mut Adapter,
    serving: Serving,
    mut connection: Connection,
    does: Does,
) -> SmokeOutcome {
    let used = list_and_call(&mut connection, does).await;
    connection.close(Deadline::within(ANSWER)).await;
    let stopped = adapter.stop(serving, Deadline::within(ANSWER)).await;
    match (used, stopped) {
        (Err(wrong @ SmokeOutcome::Wrong { .. }), _) => wrong,
        (Err(outcome), Ok(())) => outcome,
        (Ok(noise), Ok(())) => SmokeOutcome::Right.with_noise(noise),
        (_, Err(trouble)) => {
            SmokeOutcome::wrong(format!("in answer to `stop`: {trouble}"), r#"{"id":ID,"stopped":true}"#)
        }
    }
}

async fn over_stdio(target: &Target, order: Order<'_>, does: Does) -> SmokeOutcome {
    let wanted = "`COMMAND --stdio-server FILE` speaks MCP on its standard input and output";
    let (mut server, input, output) = match StdioServer::start(target, order) {
        Ok(started) => started,
        Err(error) => return SmokeOutcome::wrong(error.to_string(), wanted),
    };
    let stderr = server.stderr().clone();
    let mut connection = Connection::stdio(input, output, order.revision);
    let used = server.during(list_and_call(&mut connection, does)).await;
    let stopped = server.end(StopReason::Finished, connection.close(Deadline::within(ANSWER))).await;
    let stderr = stderr.take();
    match (used, why_no_server(stopped.code, &stderr)) {
        (Ok(noise), _) => SmokeOutcome::Right.with_noise(noise),
        (Err(_), Some(why)) => not_served(why, wanted),
        (Err(SmokeOutcome::Wrong { got, wanted, .. }), None) => {
            SmokeOutcome::Wrong { got: format!("{got}; {}", stopped.how), wanted, stderr }
        }
        (Err(outcome), None) => outcome,
    }
}

/// Lists the tools, which must include the tool of the fixture, and calls it. Returns the lines beside the messages.
async fn list_and_call(connection: &mut Connection, does: Does) -> Result<Vec<String>, SmokeOutcome> {
    let revision = connection.revision.name().to_owned();
    let bindings = Bindings { canaries: Vec::new(), unique: token(), revision };
    let step = |when| Step { when, then: Then::Observe, declares: None, initialized: true };
    let list = step(When::List);
    let opened = connection.open(&list, &bindings, Deadline::within(ANSWER)).await;
    if opened.end != End::Accepted {
        return Err(SmokeOutcome::wrong(describe(&opened), "a connection"));
    }
    let listed = connection.perform(&list, &bindings, Deadline::within(ANSWER)).await;
    if reply(&listed).is_none_or(|reply| !reply.contains(&format!("\"{TOOL}\""))) {
        let wanted = format!("a result of `tools/list` with the tool of the fixture, `{TOOL}`");
        return Err(SmokeOutcome::wrong(describe(&listed), wanted));
    }
    let value = Template::from(&json!({ "name": "Ada" }));
    let (arguments, answers) = (Some(value.clone()), vec![Answer::Accept(value)]);
    let call = step(When::Call { tool: TOOL.to_owned(), arguments, answers, retry: Retry::default() });
    let called = connection.perform(&call, &bindings, Deadline::within(ANSWER)).await;
    if reply(&called).is_none_or(|reply| !is_result_of(does, reply)) {
        return Err(SmokeOutcome::Odd { got: describe(&called), wanted: result_of(does).to_owned() });
    }
    let exchanges = [opened, listed, called];
    let received = exchanges.iter().flat_map(|exchange| &exchange.messages).filter(|one| one.from == Party::Target);
    let lines =
        received.map(|message| message.text.trim()).filter(|text| !text.is_empty() && !text.starts_with(['{', '[']));
    Ok(lines.map(str::to_owned).collect())
}

/// The expected result of a call of a tool with this behaviour, in words.
fn result_of(does: Does) -> &'static str {
    match does {
        Does::Echo => r#"a result with the arguments: "structuredContent":{"name":"Ada"}"#,
        Does::Return => {
            r#"a result with "structuredContent":{"answer":42} and "content":[{"type":"text","text":"smoke"}]"#
        }
        Does::Elicit => {
            r#"a result with the user's answer: "structuredContent":{"action":"accept","content":{"name":"Ada"}}"#
        }
        Does::Raise => r#"a result with "isError":true, or a JSON-RPC error"#,
    }
}

/// Returns whether a response has the result that the code of the tool returns.
fn is_result_of(does: Does, reply: &str) -> bool {
    let reply: Value = serde_json::from_str(reply).unwrap_or_default();
    let (result, is_error) = (&reply["result"], reply["result"]["isError"] == true);
    let structured = &result["structuredContent"];
    let has_text =
        || result["content"].as_array().is_some_and(|blocks| blocks.iter().any(|one| one["text"] == "smoke"));
    match does {
        Does::Echo => !is_error && *structured == json!({ "name": "Ada" }),
        Does::Return => !is_error && *structured == json!({ "answer": 42 }) && has_text(),
        Does::Elicit => {
            !is_error && structured["action"] == "accept" && structured["content"] == json!({ "name": "Ada" })
        }
        Does::Raise => is_error || reply["error"].is_object(),
    }
}

/// The response that ended an exchange, if there is one.
fn reply(exchange: &Exchange) -> Option<&str> {
    match exchange.end {
        End::Replied { message } => exchange.messages.get(message).map(|message| message.text.as_str()),
        _ => None,
    }
}

fn describe(exchange: &Exchange) -> String {
    const WORDS: usize = 300;
    match &exchange.end {
        End::Replied { .. } => reply(exchange).unwrap_or_default().chars().take(WORDS).collect(),
        End::Crash { how } => format!("the connection was closed: {how}"),
        End::Invalid { reason } => format!("an invalid message: {reason}"),
        End::Http { status } => format!("HTTP status {status}"),
        End::Timeout => "no response within the time limit".to_owned(),
        End::Oversized => "a message that is longer than casebook reads".to_owned(),
        End::Empty => "an HTTP response without a JSON-RPC response".to_owned(),
        End::Accepted | End::Handed | End::Unanswered => "no response".to_owned(),
    }
}
