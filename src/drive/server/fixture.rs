//! A served fixture and the connection to it.
//!
//! Takes a target's adapter and a test, gives the messages of its steps. Must not know retries, targets that are given
//! up, or the expected behaviour.

use std::time::Duration;

use crate::drive::adapter::protocol::{Adapter, Order, Serving, StartError};
use crate::drive::adapter::stdio_server::StdioServer;
use crate::drive::adapter::stream::Stream;
use crate::drive::canary::Canaries;
use crate::drive::clock::Deadline;
use crate::drive::fault::AbortOnDrop;
use crate::drive::process::launch::{StopReason, Stopped};
use crate::drive::process::lines::BoundedText;
use crate::drive::server::call_each::Permission;
use crate::drive::server::cancel::Cancelled;
use crate::drive::server::connection::Connection;
use crate::drive::server::exchange::{Exchange, ExchangeLog};
use crate::drive::server::http::{ConnectionReuse, Http};
use crate::model::callable::Callable;
use crate::model::case::{Does, Step, Test, When};
use crate::model::spec::{Revision, Transport};
use crate::model::target::{Fixed, Target, TargetKind};
use crate::model::template::Bindings;
use crate::model::transcript::{End, Message, Phase, Served, StepTranscript};
use crate::plan::Planned;

/// The number of bytes of messages that all steps of a test may have.
const MAX_RECEIVED: usize = 32 << 20;
/// The time limit for closing a connection, and again for stopping a fixture.
const CLOSE: Duration = Duration::from_secs(2);

/// A served fixture and the connection to it.
#[derive(Debug)]
pub(crate) struct ServedFixture {
    bindings: Bindings,
    connection: Connection,
    opening: Opening,
    host: Host,
    permission: Permission,
}

/// The state of the connection.
#[derive(Debug, Default)]
struct Opening {
    done: bool,
    /// The messages of the handshake, until they are taken.
    messages: Vec<Message>,
}

/// The process that serves a fixture.
#[derive(Debug)]
enum Host {
    /// The adapter's process, which serves other fixtures as well; with the task that reads a stream, if there is one.
    Adapter(Serving, BoundedText, Option<AbortOnDrop>),
    /// A process for this fixture alone.
    Process(StdioServer),
    /// A server that casebook did not start.
    Elsewhere(BoundedText),
}

impl ServedFixture {
    /// Serves the fixture of a test: by the adapter, or without one by a process of its own over stdio.
    ///
    /// # Errors
    /// The reason for which the fixture is not served.
    pub(crate) async fn start(
        target: &Target,
        adapter: Option<&mut Adapter>,
        reuse: &mut ConnectionReuse,
        planned: &Planned,
        bindings: Bindings,
        deadline: Deadline,
    ) -> Result<Self, Served> {
        let (revision, transport) = (planned.id.revision, planned.id.transport);
        if let TargetKind::Fixed(fixed) = &target.drives {
            let connected = Self::connect(target, fixed, revision, bindings);
            return connected.map_err(|error| not_started(&error));
        }
        let fixture = planned.test.given.template().render(&bindings);
        let order = Order::new(target, revision, transport, &fixture);
        let (connection, host) = match (transport, adapter) {
            (Transport::Http, adapter) => {
                let adapter = adapter.expect("a runner has an adapter before it serves over HTTP");
                let (serving, url) = adapter.serve(order, deadline).await?;
                let is_asked = planned.test.given.tools.iter().any(|tool| matches!(tool.does, Does::Elicit));
                let connection = Connection::to(reuse.local(&url), revision).asked(is_asked);
                (connection, Host::Adapter(serving, adapter.stderr().clone(), None))
            }
            (Transport::Stdio, Some(adapter)) => {
                let (serving, Stream { input, output, reading }) = adapter.serve_stream(order, deadline).await?;
                let connection = Connection::stdio(input, output, revision);
                (connection, Host::Adapter(serving, adapter.stderr().clone(), Some(reading)))
            }
            (Transport::Stdio, None) => {
                let started = StdioServer::start(target, order);
                let (server, input, output) = started.map_err(|error| not_started(&error))?;
                (Connection::stdio(input, output, revision).starting(), Host::Process(server))
            }
        };
        // The tools of a fixture have no effects.
        let permission = Permission { callable: Callable::all(), ..Permission::default() };
        Ok(Self { bindings, connection, opening: Opening::default(), host, permission })
    }

    /// Connects to a fixed server.
    ///
    /// # Errors
    /// An error if the process cannot be started, or if the target is no server.
    pub(crate) fn connect(
        target: &Target,
        fixed: &Fixed,
        revision: Revision,
        bindings: Bindings,
    ) -> Result<Self, StartError> {
        let (connection, host) = match fixed {
            Fixed::Server(command) => {
                let (server, input, output) = StdioServer::fixed(target, command)?;
                (Connection::stdio(input, output, revision).starting(), Host::Process(server))
            }
            Fixed::Running(endpoint) => {
                let http = Http::anywhere(endpoint).map_err(StartError::Endpoint)?;
                (Connection::to(http, revision), Host::Elsewhere(BoundedText::default()))
            }
            Fixed::Client(_) => return Err(StartError::Fixed),
        };
        let permission = Permission { callable: target.callable.clone(), ..Permission::default() };
        Ok(Self { bindings, connection, opening: Opening::default(), host, permission })
    }

    /// The values of the fixture's placeholders.
    pub(crate) fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// Returns the messages of the handshake, if it took place since the last call.
    pub(crate) fn take_opening(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.opening.messages)
    }

    /// The standard error of the process.
    pub(crate) fn stderr(&self) -> &BoundedText {
        match &self.host {
            Host::Adapter(_, kept, _) | Host::Elsewhere(kept) => kept,
            Host::Process(server) => server.stderr(),
        }
    }

    /// Opens the connection for a first step, without performing the step.
    pub(crate) async fn open(&mut self, first: &Step, canaries: &Canaries, deadline: Deadline) -> Exchange {
        let Self { bindings, connection, opening, host, .. } = self;
        let opened = open(connection, opening, first, bindings, canaries, deadline);
        let handshake = match host {
            Host::Process(server) => server.during(opened).await,
            Host::Adapter(..) | Host::Elsewhere(_) => opened.await,
        };
        if self.opening.done {
            self.opening.messages.clone_from(&handshake.messages);
        }
        handshake
    }

    /// Performs the steps of a test until one of them makes the next impossible.
    pub(crate) async fn perform(
        &mut self,
        test: &Test,
        canaries: &Canaries,
        deadline: Deadline,
        (step_limit, start_limit): (Duration, Duration),
    ) -> Vec<StepTranscript> {
        let (mut steps, mut received) = (Vec::new(), 0);
        self.permission.limit = step_limit;
        for step in &test.steps {
            // The start of a process must not count for the first step.
            let limit = if self.connection.is_starting() { step_limit.max(start_limit) } else { step_limit };
            // Each call of all tools has the time of a step.
            let is_many = matches!(step.when, When::CallEach { .. });
            let time = if is_many { deadline } else { deadline.narrowed(limit) };
            let Exchange { messages, mut end, micros } = self.step(step, canaries, time).await;
            received += messages.iter().map(|message| message.text.len()).sum::<usize>();
            if received > MAX_RECEIVED {
                end = End::Oversized;
            }
            let is_handshake = !self.opening.done && !step.when.opens(self.connection.revision);
            let refused = is_handshake && end != End::Accepted;
            let over = refused || received > MAX_RECEIVED || matches!(end, End::Timeout | End::Crash { .. });
            steps.push(StepTranscript { messages, end, micros, canary: canaries.hits(), handed: None });
            if over {
                break;
            }
        }
        steps
    }

    pub(crate) async fn step(&mut self, step: &Step, canaries: &Canaries, deadline: Deadline) -> Exchange {
        let Self { bindings, connection, opening, host, permission } = self;
        let asked = Asked { step, permission, bindings, canaries };
        match host {
            Host::Adapter(_, _, None) if matches!(step.when, When::Serve) => nothing(),
            Host::Adapter(..) | Host::Elsewhere(_) => exchange(connection, opening, asked, deadline).await,
            Host::Process(server) if matches!(step.when, When::EndInput) => {
                if !opening.done {
                    let listing = Step::observe(When::List);
                    let listed = Asked { step: &listing, ..asked };
                    let opened = exchange(connection, opening, listed, deadline);
                    let opened = server.during(opened).await;
                    if !opening.done {
                        return opened;
                    }
                }
                connection.close_input();
                let end = match deadline.bound(server.exited()).await {
                    Some(()) => End::Accepted,
                    None => End::Timeout,
                };
                let mut log = ExchangeLog::new(bindings, connection.capabilities(None, bindings), &[], deadline);
                connection.read_to_end(&mut log).await;
                log.finish(end)
            }
            Host::Process(server) => server.during(exchange(connection, opening, asked, deadline)).await,
        }
    }

    /// Closes the connection and stops the fixture. Returns the process that ended with it, if any.
    pub(crate) async fn stop(self, adapter: &mut Option<Adapter>, stop_reason: StopReason) -> Option<Stopped> {
        let closing = Deadline::within(CLOSE);
        let close = async { _ = closing.bound(self.connection.close(closing)).await };
        let serving = match self.host {
            Host::Process(server) => return Some(server.end(stop_reason, close).await),
            Host::Adapter(serving, ..) => serving,
            Host::Elsewhere(_) => {
                close.await;
                return None;
            }
        };
        close.await;
        let mut taken = adapter.take()?;
        // A server whose connection broke may have left the adapter intact.
        if stop_reason != StopReason::Hung && taken.stop(serving, Deadline::within(CLOSE)).await.is_ok() {
            *adapter = Some(taken);
            return None;
        }
        Some(taken.end(if stop_reason == StopReason::Finished { StopReason::Hung } else { stop_reason }).await)
    }
}

/// A step with the values that it needs.
#[derive(Clone, Copy)]
struct Asked<'a> {
    step: &'a Step,
    permission: &'a Permission,
    bindings: &'a Bindings,
    canaries: &'a Canaries,
}

/// Opens the connection if necessary, and performs a step on it.
async fn exchange(
    connection: &mut Connection,
    opening: &mut Opening,
    asked: Asked<'_>,
    deadline: Deadline,
) -> Exchange {
    let Asked { step, permission, bindings, canaries } = asked;
    if !opening.done && !step.when.opens(connection.revision) {
        let handshake = open(connection, opening, step, bindings, canaries, deadline).await;
        if !opening.done {
            return handshake;
        }
        opening.messages = handshake.messages;
    }
    if !matches!(step.when, When::Serve) {
        canaries.phase(Phase::Step);
        return match &step.when {
            When::Cancel { tool, arguments, hangs_up } => {
                let call = Cancelled { tool, arguments: arguments.as_ref(), hangs_up: *hangs_up };
                connection.cancel(call, step, bindings, canaries, deadline).await
            }
            When::AtOnce(calls) => connection.call_at_once(calls, step, bindings, deadline).await,
            When::CallEach { with, also } => {
                connection.call_each((*with, also), permission, step, bindings, deadline).await
            }
            When::Bare { method, headers } => connection.request_bare(*method, headers, bindings, deadline).await,
            _ => connection.perform(step, bindings, deadline).await,
        };
    }
    // A stdio server shows that it runs only by answering a request, whatever its answer.
    match connection.perform(&Step::observe(When::List), bindings, deadline).await {
        exchange @ Exchange { end: End::Timeout | End::Crash { .. }, .. } => exchange,
        _ => nothing(),
    }
}

/// Opens the connection for a first step. The handshake is done if its end is [`End::Accepted`].
async fn open(
    connection: &mut Connection,
    opening: &mut Opening,
    first: &Step,
    bindings: &Bindings,
    canaries: &Canaries,
    deadline: Deadline,
) -> Exchange {
    canaries.phase(Phase::Connect);
    let handshake = connection.open(first, bindings, deadline).await;
    opening.done = handshake.end == End::Accepted;
    handshake
}

fn not_started(error: &StartError) -> Served {
    if let StartError::NoRoom { .. } = error {
        return Served::Unavailable { reason: error.to_string() };
    }
    Served::Failed { end: End::Crash { how: "its process cannot be started".to_owned() }, detail: error.to_string() }
}

/// Returns an exchange without messages.
fn nothing() -> Exchange {
    Exchange { messages: Vec::new(), end: End::Accepted, micros: 0 }
}
