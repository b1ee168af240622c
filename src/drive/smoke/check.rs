//! A first look at an adapter: does it speak the protocol, on everything that its target claims?
//!
//! Takes a target, gives a [`SmokeReport`]: what was asked, and where it failed, what should have come.
//! Must not know the cases.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use super::client;
use super::outcome::{ANSWER, SmokeOutcome, TOOL, not_served};
use crate::drive::adapter::protocol::{Adapter, Hello, Order, Serving, StartError, confirm, with_stderr};
use crate::drive::adapter::stdio_server::{StdioServer, why_no_server};
use crate::drive::adapter::stream::Stream;
use crate::drive::clock::Deadline;
use crate::drive::process::launch::StopReason;
use crate::drive::server::connection::Connection;
use crate::drive::server::exchange::Exchange;
use crate::drive::server::http::ConnectionReuse;
use crate::drive::token::token;
use crate::model::case::{Does, Step, Then, When};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Target;
use crate::model::template::Bindings;
use crate::model::transcript::End;

/// How long a start may take.
const START: Duration = Duration::from_secs(30);

/// What a first look at an adapter showed.
#[derive(Clone, Debug, Default)]
pub struct SmokeReport {
    /// What the adapter says of itself, where it said it.
    pub hello: Option<Hello>,
    /// What was asked, in order.
    pub checks: Vec<SmokeCheck>,
}

/// One thing that was asked of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmokeCheck {
    /// What.
    pub asked: String,
    /// The outcome.
    pub outcome: SmokeOutcome,
}

impl SmokeReport {
    /// Returns whether every outcome was right.
    pub fn is_good(&self) -> bool {
        self.checks.iter().all(|check| !matches!(check.outcome, SmokeOutcome::Wrong { .. }))
    }

    fn note(&mut self, asked: impl Into<String>, outcome: SmokeOutcome) {
        self.checks.push(SmokeCheck { asked: asked.into(), outcome });
    }

    fn note_result<E: ToString>(&mut self, asked: &str, result: Result<(), E>, wanted: &str) {
        let wrong = |error: E| SmokeOutcome::Wrong { got: error.to_string(), wanted: wanted.to_owned() };
        self.note(asked, result.map_or_else(wrong, |()| SmokeOutcome::Right));
    }
}

/// Asks an adapter for a little of everything that its target claims.
pub async fn smoke(target: &Target) -> SmokeReport {
    let mut report = SmokeReport::default();
    let mut adapter = match say_hello(target).await {
        Ok(adapter) => adapter,
        Err(error) => {
            report.note_result("hello", Err(error), r#"{"id":"1","hello":{"sdk":…,"roles":[…],"transports":[…],…}}"#);
            return report;
        }
    };
    report.note("hello", SmokeOutcome::Right);
    report.hello = Some(adapter.hello().clone());
    let claims = "every role, transport, revision and variant that target.toml claims";
    report.note_result("hello: the claims", confirm(target, adapter.hello()), claims);
    for (revision, transport, ask) in everything(target, adapter.hello().streams) {
        drop(adapter.stderr().take());
        let mut outcome = match ask {
            Ask::Serve(does) => serve(&mut adapter, target, does, revision, transport).await,
            Ask::Stream(does) => {
                let fixture = fixture(does);
                by_stream(&mut adapter, Order::new(target, revision, transport, &fixture)).await
            }
            Ask::Drive(script) => client::drive(&mut adapter, target, script, revision, transport).await,
        };
        let asked = format!("{ask} over {transport} on {revision}");
        if let SmokeOutcome::Wrong { got, .. } = &mut outcome
            && ask.is_of_adapter(transport)
        {
            let stderr = adapter.stderr().clone();
            // It may be dead or out of step; what follows is to be its own fault.
            adapter.end(StopReason::Hung).await;
            got.push_str(&with_stderr(&stderr.take()));
            report.note(asked, outcome);
            match say_hello(target).await {
                Ok(fresh) => adapter = fresh,
                Err(error) => {
                    report.note_result("hello, once more", Err(error), "a new process that starts as the first did");
                    return report;
                }
            }
        } else {
            report.note(asked, outcome);
        }
    }
    let unknown = adapter.ask_the_unknown(Deadline::within(ANSWER)).await;
    report.note_result("a request of an unknown kind", unknown, r#"{"id":…,"unsupported":"…"}"#);
    let stopped = adapter.end(StopReason::Leave).await;
    let left = if stopped.how == "exit status 0" && !stopped.leaky { Ok(()) } else { Err(stopped.how) };
    report.note_result("closing its standard input", left, "exit status 0 within 2 s, and nothing left behind");
    report
}

async fn say_hello(target: &Target) -> Result<Adapter, StartError> {
    Adapter::say_hello(target, Deadline::within(START)).await
}

/// What an adapter is asked for.
#[derive(Clone, Copy, Debug)]
enum Ask {
    /// A server with a tool that does this; over stdio, in a process of its own.
    Serve(Does),
    /// The same over stdio, by a stream.
    Stream(Does),
    /// A client that does this.
    Drive(client::Script),
}

impl Ask {
    /// The requests to an adapter with this side, over a transport.
    fn of(role: Role, transport: Transport, streams: bool) -> Vec<Self> {
        match role {
            Role::Server if streams && transport == Transport::Stdio => {
                Does::ALL.iter().flat_map(|does| [Self::Stream(*does), Self::Serve(*does)]).collect()
            }
            Role::Server => Does::ALL.iter().map(|does| Self::Serve(*does)).collect(),
            Role::Client => client::Script::ALL.iter().map(|script| Self::Drive(*script)).collect(),
        }
    }

    /// Whether it is the adapter's own process that answers.
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
        Transport::Http => over_http(adapter, order).await,
        Transport::Stdio => over_stdio(target, order).await,
    }
}

/// A fixture of one tool that does this; nothing about it is unusual.
fn fixture(does: Does) -> String {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let body: Value = match does {
        Does::Echo => json!(true),
        Does::Return => json!({ "content": [{ "type": "text", "text": "smoke" }] }),
        Does::Elicit => json!({ "message": "Your name?", "requestedSchema": schema }),
        Does::Raise => json!("smoke"),
    };
    let tool = json!({ "name": TOOL, "description": "A tool.", "inputSchema": schema, "does": { does.word(): body } });
    json!({ "server": { "name": "casebook", "version": "1" }, "tools": [tool] }).to_string()
}

async fn over_http(adapter: &mut Adapter, order: Order<'_>) -> SmokeOutcome {
    let (serving, url) = match adapter.serve(order, Deadline::within(ANSWER)).await {
        Ok(served) => served,
        Err(served) => return not_served(served, r#"{"id":…,"serving":{"url":"http://127.0.0.1:…"}}"#),
    };
    let connection = Connection::to(ConnectionReuse::default().local(&url), order.revision);
    listed_and_stopped(adapter, serving, connection, order.revision).await
}

async fn by_stream(adapter: &mut Adapter, order: Order<'_>) -> SmokeOutcome {
    let (serving, Stream { input, output, reading: _reading }) = match adapter
        .serve_stream(order, Deadline::within(ANSWER))
        .await
    {
        Ok(served) => served,
        Err(served) => return not_served(served, r#"a connection to the stream's port, and {"id":…,"serving":{}}"#),
    };
    let connection = Connection::stdio(input, output, order.revision);
    listed_and_stopped(adapter, serving, connection, order.revision).await
}

async fn listed_and_stopped(
    adapter: &mut Adapter,
    serving: Serving,
    mut connection: Connection,
    revision: Revision,
) -> SmokeOutcome {
    let listed = list(&mut connection, revision).await;
    connection.close(Deadline::within(ANSWER)).await;
    let stopped = adapter.stop(serving, Deadline::within(ANSWER)).await;
    match (listed, stopped) {
        (Err(wrong), _) => wrong,
        (Ok(()), Ok(())) => SmokeOutcome::Right,
        (Ok(()), Err(trouble)) => SmokeOutcome::Wrong {
            got: format!("on stop: {trouble}"),
            wanted: r#"{"id":…,"stopped":true}"#.to_owned(),
        },
    }
}

async fn over_stdio(target: &Target, order: Order<'_>) -> SmokeOutcome {
    let wanted = "`COMMAND --stdio-server FILE` speaks MCP on its standard input and output";
    let (mut server, input, output) = match StdioServer::start(target, order) {
        Ok(started) => started,
        Err(error) => return SmokeOutcome::Wrong { got: error.to_string(), wanted: wanted.to_owned() },
    };
    let stderr = server.stderr().clone();
    let mut connection = Connection::stdio(input, output, order.revision);
    let listed = server.during(list(&mut connection, order.revision)).await;
    let stopped = server.end(StopReason::Leave, connection.close(Deadline::within(ANSWER))).await;
    let stderr = stderr.take();
    match (listed, why_no_server(stopped.code, &stderr)) {
        (Ok(()), _) => SmokeOutcome::Right,
        (Err(_), Some(why)) => not_served(why, wanted),
        (Err(SmokeOutcome::Wrong { got, wanted }), None) => {
            SmokeOutcome::Wrong { got: format!("{got}; {}; it wrote: {}", stopped.how, stderr.trim_end()), wanted }
        }
        (Err(outcome), None) => outcome,
    }
}

/// Lists the tools: the one tool has to be among them.
async fn list(connection: &mut Connection, revision: Revision) -> Result<(), SmokeOutcome> {
    let wrong = |got: String, wanted: &str| Err(SmokeOutcome::Wrong { got, wanted: wanted.to_owned() });
    let bindings = Bindings { canaries: Vec::new(), unique: token(), revision: revision.name().to_owned() };
    let step = Step { when: When::List, then: Then::Observe, declares: None, initialized: true };
    let opened = connection.open(&step, &bindings, Deadline::within(ANSWER)).await;
    if opened.end != End::Accepted {
        return wrong(describe(&opened), "a connection");
    }
    let listed = connection.perform(&step, &bindings, Deadline::within(ANSWER)).await;
    let has_tool = matches!(listed.end, End::Replied { message }
        if listed.messages.get(message).is_some_and(|reply| reply.text.contains(&format!("\"{TOOL}\""))));
    if has_tool { Ok(()) } else { wrong(describe(&listed), "a list of tools that has the one of the fixture") }
}

fn describe(exchange: &Exchange) -> String {
    const WORDS: usize = 300;
    match &exchange.end {
        End::Replied { message } => {
            let reply = exchange.messages.get(*message).map(|message| message.text.chars().take(WORDS).collect());
            reply.unwrap_or_default()
        }
        End::Crash { how } => format!("the connection broke: {how}"),
        End::Invalid { reason } => format!("no message of the protocol: {reason}"),
        End::Http { status } => format!("HTTP status {status}"),
        End::Timeout => "nothing within the limit".to_owned(),
        End::Oversized => "more than the harness reads".to_owned(),
        End::Empty => "a reply without a response in it".to_owned(),
        End::Accepted | End::Handed | End::Unanswered => "no response".to_owned(),
    }
}
