//! Smoke checks of an adapter: one request of each kind, for everything that its target claims.
//!
//! Takes a target, gives a [`SmokeReport`] with each request and its outcome. Must not know the cases.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::client;
use super::marker::{self, differences, in_words};
use super::outcome::{ANSWER, SmokeOutcome, TOOL, not_served};
use super::probe::{self, METHOD, NO_SCHEMA, Probe};
use crate::drive::adapter::hello::Hello;
use crate::drive::adapter::protocol::{Adapter, NOISE, Order, Serving, StartError, Trouble, confirm};
use crate::drive::adapter::stdio_server::{StdioServer, why_no_server};
use crate::drive::adapter::stream::Stream;
use crate::drive::clock::Deadline;
use crate::drive::process::launch::StopReason;
use crate::drive::server::connection::Connection;
use crate::drive::server::exchange::Exchange;
use crate::drive::server::http::ConnectionReuse;
use crate::drive::token::token;
use crate::model::case::{Answer, Does, Need, Step, When};
use crate::model::feature::Feature;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Target;
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Party, Served};

/// The time limit of a start.
const START: Duration = Duration::from_secs(30);
/// The pause before a server that did not answer is tried again, to learn whether it was announced too early.
const PAUSE: Duration = Duration::from_millis(300);

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
    if let Some(unknown) = adapter.hello().knows.iter().find(|word| word.parse::<Feature>().is_err()) {
        let known: Vec<_> = Feature::ALL.iter().map(|feature| feature.word()).collect();
        report.note("hello: `knows`", SmokeOutcome::wrong(unknown.clone(), format!("words of: {}", known.join(", "))));
    }
    let claims = "every role, transport, revision and variant that target.toml claims";
    report.note_result("hello: claims of target.toml", confirm(target, adapter.hello()), claims);
    let mut failed = BTreeSet::new();
    for (revision, transport, ask) in everything(target, adapter.hello()) {
        // The same mistake would show again, each time after the time limit.
        if !ask.is_plain() && failed.contains(&(ask.role(), revision, transport)) {
            continue;
        }
        drop(adapter.stderr().take());
        let mut is_lost = false;
        let mut outcome = match ask {
            Ask::Serve(probe) => serve(&mut adapter, target, probe, revision, transport).await,
            Ask::Stream(probe) => {
                let fixture = probe::fixture(probe);
                by_stream(&mut adapter, Order::new(target, revision, transport, &fixture), probe).await
            }
            Ask::Drive(script) => {
                let outcome;
                (outcome, is_lost) = client::drive(&mut adapter, target, script, revision, transport).await;
                outcome
            }
        };
        let asked = format!("{ask} over {transport} on {revision}");
        if let SmokeOutcome::Wrong { .. } = outcome {
            is_lost = true;
            failed.insert((ask.role(), revision, transport));
        }
        if is_lost && ask.is_of_adapter(transport) {
            let written = adapter.stderr().clone();
            // The adapter may be dead, or may still answer the last request: the next check needs a fresh process.
            adapter.end(StopReason::Hung).await;
            if let SmokeOutcome::Wrong { got, stderr, .. } = &mut outcome {
                *stderr = written.take();
                // Only an adapter that is still expected to answer can have given its answer to another request.
                if got.ends_with(&Trouble::Hung.to_string()) && noise(stderr).iter().any(|line| line.starts_with('{')) {
                    got.push_str(
                        "; it wrote an object that is no answer to this request: repeat the `id` of the request",
                    );
                }
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
    /// Serve this fixture; over stdio, in a process of its own.
    Serve(Probe),
    /// Serve the fixture over stdio, by a stream.
    Stream(Probe),
    /// Drive a client through this script.
    Drive(client::Script),
}

impl Ask {
    /// The requests to an adapter in a role, over a transport.
    fn of(role: Role, transport: Transport, revision: Revision, hello: &Hello) -> Vec<Self> {
        let probes = || Probe::all(revision, hello);
        match role {
            Role::Server if hello.streams && transport == Transport::Stdio => {
                let in_process = |probe: &Probe| probe.is_plain().then_some(Self::Serve(*probe));
                probes().flat_map(|probe| [Self::Stream(probe)].into_iter().chain(in_process(&probe))).collect()
            }
            Role::Server => probes().map(Self::Serve).collect(),
            Role::Client => client::Script::all(hello).map(Self::Drive).collect(),
            Role::Pair => Vec::new(),
        }
    }

    /// Returns whether the request is one of those that the others depend on.
    fn is_plain(self) -> bool {
        match self {
            Self::Serve(probe) | Self::Stream(probe) => probe.is_plain(),
            Self::Drive(script) => script.is_plain(),
        }
    }

    /// Returns whether the request needs elicitation in form mode.
    fn elicits(self) -> bool {
        match self {
            Self::Serve(probe) | Self::Stream(probe) => matches!(probe, Probe::Plain(Does::Elicit) | Probe::State),
            Self::Drive(script) => matches!(script, client::Script::Elicit | client::Script::UsedUp),
        }
    }

    fn role(self) -> Role {
        if let Self::Drive(_) = self { Role::Client } else { Role::Server }
    }

    /// Returns whether the adapter's own process answers, and not one that is started for this request.
    fn is_of_adapter(self, transport: Transport) -> bool {
        matches!(self, Self::Drive(_) | Self::Stream(_)) || transport == Transport::Http
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serve(probe) => write!(f, "serve: {probe}"),
            Self::Stream(probe) => write!(f, "serve by a stream: {probe}"),
            Self::Drive(script) => write!(f, "drive: {script}"),
        }
    }
}

fn everything<'t>(target: &'t Target, hello: &Hello) -> impl Iterator<Item = (Revision, Transport, Ask)> + use<'t> {
    let hello = hello.clone();
    let claims = &target.claims;
    let ways = claims.roles.iter().flat_map(|role| claims.transports.iter().map(move |transport| (*role, *transport)));
    let ways = ways.flat_map(|(role, transport)| claims.revisions.iter().map(move |one| (role, transport, *one)));
    ways.flat_map(move |(role, transport, one)| {
        Ask::of(role, transport, one, &hello).into_iter().map(move |ask| (one, transport, ask))
    })
    .filter(|(_, _, ask)| !ask.elicits() || !claims.lacks.contains(&Need::ElicitationForm))
}

/// Serves a fixture, lists its tools and calls the tool.
async fn serve(
    adapter: &mut Adapter,
    target: &Target,
    probe: Probe,
    revision: Revision,
    transport: Transport,
) -> SmokeOutcome {
    let fixture = probe::fixture(probe);
    let order = Order::new(target, revision, transport, &fixture);
    match transport {
        Transport::Http => over_http(adapter, order, probe).await,
        Transport::Stdio => over_stdio(target, order, probe).await,
    }
}

async fn over_http(adapter: &mut Adapter, order: Order<'_>, probe: Probe) -> SmokeOutcome {
    let wanted = r#"{"id":ID,"serving":{"url":"http://127.0.0.1:…"}}"#;
    let (serving, url) = match adapter.serve(order, Deadline::within(ANSWER)).await {
        Ok(served) => served,
        Err(served) => return without_server(probe, served, wanted),
    };
    if !url.starts_with("http://") {
        return SmokeOutcome::wrong(format!("the `url` {url}, which does not begin with http://"), wanted);
    }
    let mut connection = Connection::to(ConnectionReuse::default().local(&url), order.revision);
    let mut used = list_and_call(&mut connection, probe, ANSWER).await;
    connection.close(Deadline::within(ANSWER)).await;
    if let Err(SmokeOutcome::Wrong { got, .. }) = &used {
        tokio::time::sleep(PAUSE).await;
        let mut second = Connection::to(ConnectionReuse::default().local(&url), order.revision);
        if !matches!(list_and_call(&mut second, probe, ANSWER).await, Err(SmokeOutcome::Wrong { .. })) {
            let got = format!("{got}; the same request succeeded {} ms later", PAUSE.as_millis());
            used = Err(SmokeOutcome::wrong(got, "`serving` only when the server can be reached"));
        }
        second.close(Deadline::within(ANSWER)).await;
    }
    stopped(adapter, serving, used).await
}

async fn by_stream(adapter: &mut Adapter, order: Order<'_>, probe: Probe) -> SmokeOutcome {
    let (serving, Stream { input, output, reading: _reading }) =
        match adapter.serve_stream(order, Deadline::within(ANSWER)).await {
            Ok(served) => served,
            Err(served) => {
                let wanted = r#"a connection to the stream's port, and {"id":ID,"serving":{}}"#;
                return without_server(probe, served, wanted);
            }
        };
    let mut connection = Connection::stdio(input, output, order.revision);
    let used = list_and_call(&mut connection, probe, ANSWER).await;
    connection.close(Deadline::within(ANSWER)).await;
    stopped(adapter, serving, used).await
}

/// Stops a fixture, and combines the result with that of its use.
async fn stopped(adapter: &mut Adapter, serving: Serving, used: Result<Vec<String>, SmokeOutcome>) -> SmokeOutcome {
    match (used, adapter.stop(serving, Deadline::within(ANSWER)).await) {
        (Err(wrong @ SmokeOutcome::Wrong { .. }), _) => wrong,
        (Err(outcome), Ok(())) => outcome,
        (Ok(noise), Ok(())) => SmokeOutcome::Right.with_noise(noise),
        (_, Err(trouble)) => {
            SmokeOutcome::wrong(format!("in answer to `stop`: {trouble}"), r#"{"id":ID,"stopped":true}"#)
        }
    }
}

async fn over_stdio(target: &Target, order: Order<'_>, probe: Probe) -> SmokeOutcome {
    let wanted = "`COMMAND --stdio-server FILE` speaks MCP on its standard input and output";
    let (mut server, input, output) = match StdioServer::start(target, order) {
        Ok(started) => started,
        Err(error) => return SmokeOutcome::wrong(error.to_string(), wanted),
    };
    let stderr = server.stderr().clone();
    let mut connection = Connection::stdio(input, output, order.revision);
    let used = server.during(list_and_call(&mut connection, probe, START)).await;
    let stopped = server.end(StopReason::Finished, connection.close(Deadline::within(ANSWER))).await;
    let stderr = stderr.take();
    match (used, why_no_server(stopped.code, &stderr)) {
        (Ok(noise), _) => SmokeOutcome::Right.with_noise(noise),
        (Err(_), Some(why)) => without_server(probe, why, wanted),
        (Err(SmokeOutcome::Wrong { got, wanted, .. }), None) => {
            SmokeOutcome::Wrong { got: format!("{got}; {}", stopped.how), wanted, stderr }
        }
        (Err(outcome), None) => outcome,
    }
}

/// The outcome of a fixture that is not served. The SDK may refuse a schema that is none.
fn without_server(probe: Probe, served: Served, wanted: &str) -> SmokeOutcome {
    match (probe, served) {
        (Probe::NoSchema, Served::Refused { .. }) => SmokeOutcome::Right,
        (_, served) => not_served(served, wanted),
    }
}

/// Lists the tools, which must include the tool of the fixture, and calls it. Returns the lines beside the messages.
/// A process that was just started has a longer `limit` for its first answers.
async fn list_and_call(
    connection: &mut Connection,
    probe: Probe,
    limit: Duration,
) -> Result<Vec<String>, SmokeOutcome> {
    let revision = connection.revision.name().to_owned();
    let bindings = Bindings { canaries: Vec::new(), unique: token(), revision };
    let declares = || (probe == Probe::Url).then(|| Template::from(&json!({ "elicitation": { "url": {} } })));
    let step = |when| Step { declares: declares(), ..Step::observe(when) };
    let list = step(When::List);
    let opened = connection.open(&list, &bindings, Deadline::within(limit)).await;
    if opened.end != End::Accepted {
        // A server may only learn from its first request that it cannot be built.
        let is_bad = probe == Probe::NoSchema && !matches!(opened.end, End::Crash { .. });
        return if is_bad { Ok(Vec::new()) } else { Err(SmokeOutcome::wrong(describe(&opened), "a connection")) };
    }
    let listed = connection.perform(&list, &bindings, Deadline::within(limit)).await;
    if probe == Probe::NoSchema {
        return no_schema(&listed).map(|()| Vec::new());
    }
    if reply(&listed).is_none_or(|reply| !reply.contains(&format!("\"{TOOL}\""))) {
        let wanted = format!("a result of `tools/list` with the tool of the fixture, `{TOOL}`");
        return Err(SmokeOutcome::wrong(describe(&listed), wanted));
    }
    if probe == Probe::Schema {
        let found = differences(&marker::schema(), &listed_tool(&listed)["inputSchema"]);
        return if found.is_empty() {
            Ok(Vec::new())
        } else {
            Err(odd(in_words(&found), "the schema, without a change"))
        };
    }
    if probe == Probe::Methods {
        let message = Template::from(&json!({ "method": METHOD, "params": { "name": "Ada" } }));
        let request = step(When::Send { message, headers: Vec::new() });
        let replied = connection.perform(&request, &bindings, Deadline::within(ANSWER)).await;
        let result: Value = reply(&replied).and_then(|reply| serde_json::from_str(reply).ok()).unwrap_or_default();
        let is_echoed = result["result"]["params"] == json!({ "name": "Ada" });
        let wanted = format!("the parameters of `{METHOD}` as `params` of its result");
        return if is_echoed { Ok(Vec::new()) } else { Err(SmokeOutcome::wrong(describe(&replied), wanted)) };
    }
    let arguments = if probe == Probe::Marker { marker::marker() } else { json!({ "name": "Ada" }) };
    let accept = Answer::Accept(Template::from(&json!({ "name": "Ada" })));
    let answers = vec![if probe == Probe::Url { Answer::AcceptAlone } else { accept }];
    let arguments = Some(Template::from(&arguments));
    let call = step(When::call(TOOL, arguments, answers));
    let called = connection.perform(&call, &bindings, Deadline::within(ANSWER)).await;
    match probe {
        Probe::Plain(does) => is_called(does, &called)?,
        Probe::Url | Probe::State => is_asked(probe, &called)?,
        _ => is_unchanged(&called)?,
    }
    if probe == Probe::Plain(Does::Raise) {
        let again = connection.perform(&list, &bindings, Deadline::within(ANSWER)).await;
        if reply(&again).is_none() {
            let got = format!("{} to `tools/list` after the error", describe(&again));
            return Err(odd(got, "a server that goes on after a tool has failed"));
        }
    }
    let exchanges = [opened, listed, called];
    let received = exchanges.iter().flat_map(|exchange| &exchange.messages).filter(|one| one.from == Party::Target);
    let lines =
        received.map(|message| message.text.trim()).filter(|text| !text.is_empty() && !text.starts_with(['{', '[']));
    Ok(lines.map(str::to_owned).collect())
}

/// Checks the result of a call of a plain tool.
fn is_called(does: Does, called: &Exchange) -> Result<(), SmokeOutcome> {
    match reply(called) {
        Some(reply) if is_result_of(does, reply) => Ok(()),
        // An SDK reports an error of a tool, one way or another; an adapter that catches it makes it a success.
        Some(_) if does == Does::Raise => Err(SmokeOutcome::wrong(describe(called), result_of(does))),
        _ => Err(odd(describe(called), result_of(does))),
    }
}

/// Checks that a question has the part that an adapter could overlook.
fn is_asked(probe: Probe, called: &Exchange) -> Result<(), SmokeOutcome> {
    let result: Value = reply(called).and_then(|reply| serde_json::from_str(reply).ok()).unwrap_or_default();
    let structured = &result["result"]["structuredContent"];
    let asked = called.messages.iter().any(|message| message.text.contains("https://example.com/smoke"));
    let (is_there, wanted) = match probe {
        Probe::Url => {
            (asked && structured["action"] == "accept", "a question in URL mode, and its answer in the result")
        }
        _ => (structured["state"] == "smoke", r#"a result with "state":"smoke""#),
    };
    if is_there { Ok(()) } else { Err(odd(describe(called), wanted)) }
}

/// Checks that the tool returned the marker.
fn is_unchanged(called: &Exchange) -> Result<(), SmokeOutcome> {
    let wanted = "the arguments, without a change";
    let reply: Value = reply(called).and_then(|reply| serde_json::from_str(reply).ok()).unwrap_or_default();
    if !reply["result"]["structuredContent"].is_object() {
        return Err(odd(describe(called), wanted));
    }
    let found = differences(&marker::marker(), &reply["result"]["structuredContent"]);
    if found.is_empty() { Ok(()) } else { Err(odd(in_words(&found), wanted)) }
}

fn odd(got: String, wanted: &str) -> SmokeOutcome {
    SmokeOutcome::Odd { got, wanted: wanted.to_owned() }
}

/// Checks a server that was built from a schema that is none: it may answer with an error or without the tool, but the
/// tool must not have another schema.
fn no_schema(listed: &Exchange) -> Result<(), SmokeOutcome> {
    if let End::Crash { .. } | End::Timeout = listed.end {
        return Err(odd(describe(listed), "`refused`, or a server that answers `tools/list`"));
    }
    let tool = listed_tool(listed);
    if tool.is_null() || tool["inputSchema"] == NO_SCHEMA {
        return Ok(());
    }
    let wanted = format!("`refused`, an error, no tool, or the tool with \"inputSchema\":\"{NO_SCHEMA}\"");
    Err(odd(describe(listed), &wanted))
}

/// The tool of the fixture in the response to `tools/list`; null if it is not listed.
fn listed_tool(listed: &Exchange) -> Value {
    let reply: Value = reply(listed).and_then(|reply| serde_json::from_str(reply).ok()).unwrap_or_default();
    let tools = reply["result"]["tools"].as_array().cloned().unwrap_or_default();
    tools.into_iter().find(|tool| tool["name"] == TOOL).unwrap_or_default()
}

/// The expected result of a call of a tool with this behaviour, in words.
fn result_of(does: Does) -> &'static str {
    match does {
        Does::Echo | Does::Log | Does::Progress => r#"a result with the arguments: "structuredContent":{"name":"Ada"}"#,
        Does::Return => {
            r#"a result with "structuredContent":{"answer":42} and "content":[{"type":"text","text":"smoke"}]"#
        }
        Does::Elicit => {
            r#"a result with the user's answer: "structuredContent":{"action":"accept","content":{"name":"Ada"}}"#
        }
        Does::Raise => r#"a result with "isError":true, or a JSON-RPC error"#,
        Does::Wait => "",
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
        Does::Echo | Does::Log | Does::Progress => !is_error && *structured == json!({ "name": "Ada" }),
        Does::Return => !is_error && *structured == json!({ "answer": 42 }) && has_text(),
        Does::Elicit => {
            !is_error && structured["action"] == "accept" && structured["content"] == json!({ "name": "Ada" })
        }
        Does::Raise => is_error || reply["error"].is_object(),
        Does::Wait => false,
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
