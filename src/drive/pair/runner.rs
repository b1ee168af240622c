//! The runner of pairs: keeps the adapters of both sides, and runs one test after another through a proxy.
//!
//! Takes planned tests of any pair, gives a [`Transcript`] of each, in which the client is the target. Must not know the
//! expected behaviour.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::compare::{Got, compare, names_of_url};
use super::proxy::{Listeners, Proxy};
use super::side::{Hosted, Side};
use super::stdio::{Started, Streams};
use crate::drive::adapter::protocol::{Order, Trouble};
use crate::drive::bind::bind;
use crate::drive::canary::{Canaries, CanaryError};
use crate::drive::client::driving::{Driven, order, outcome_of_script};
use crate::drive::clock::Deadline;
use crate::drive::health::{GivenUp, Health};
use crate::drive::options::Options;
use crate::drive::process::launch::StopReason;
use crate::drive::runner::timed_out;
use crate::drive::turns::Turn;
use crate::jsonrpc::text::quoted;
use crate::model::spec::{Role, Transport};
use crate::model::target::{Target, TargetKind};
use crate::model::template::Bindings;
use crate::model::text::shortened;
use crate::model::transcript::{End, Message, Party, Served, StdioMode, Transcript, WithoutProxy};
use crate::model::{TargetId, TestId};
use crate::plan::Planned;

/// The number of adapters that a worker keeps. Each pair needs two of them, and each of their processes has a whole
/// runtime of its language.
const KEPT: usize = 24;
/// The time limit for stopping a server.
const CLOSE: Duration = Duration::from_secs(2);

/// The adapters of a worker, and the pair whose turn it is.
#[derive(Debug)]
pub(crate) struct PairRunner {
    target: Arc<Target>,
    /// The sides, those that were used last at the end.
    sides: Vec<Side>,
    /// The health of each pair. Two sides that hang with each other can be sound with others.
    pairs: BTreeMap<TargetId, Health>,
    listeners: Listeners,
    options: Options,
    given_up: GivenUp,
    /// The texts that stood for the server in the last test; `None` if it was not built.
    names: Option<Vec<String>>,
    /// The way in which servers over stdio are served.
    mode: StdioMode,
}

impl PairRunner {
    /// A runner without processes.
    pub(crate) fn new(target: Arc<Target>, options: Options, given_up: GivenUp) -> Self {
        Self {
            target,
            sides: Vec::new(),
            pairs: BTreeMap::new(),
            listeners: Listeners::default(),
            options,
            given_up,
            names: None,
            mode: StdioMode::Stream,
        }
    }

    /// Turns to another pair, and keeps the adapters.
    pub(crate) fn turn_to(&mut self, target: &Arc<Target>) {
        self.target = Arc::clone(target);
    }

    /// Stops all processes.
    pub(crate) async fn end(mut self) {
        self.restart().await;
    }

    /// Stops all processes, so that the next test starts on fresh ones.
    pub(crate) async fn restart(&mut self) {
        for side in self.sides.drain(..) {
            side.end().await;
        }
    }

    /// The transcript of a test in which casebook itself panicked. The processes are not used again.
    pub(crate) fn after_panic(&mut self, planned: &Planned, words: &str) -> Transcript {
        self.sides.clear();
        self.mode = StdioMode::Stream;
        self.blank(&planned.id, Served::Broken { reason: words.to_owned() })
    }

    /// The transcript of a test without working canaries.
    pub(crate) fn without_canaries(&self, planned: &Planned, error: &CanaryError) -> Transcript {
        self.blank(&planned.id, Served::Unavailable { reason: error.to_string() })
    }

    /// Runs one test, and once more alone after a time-out, which does not count.
    ///
    /// # Errors
    /// [`CanaryError`] if the test needs canaries, and there are none.
    pub(crate) async fn run(
        &mut self,
        planned: &Planned,
        canaries: &mut Canaries,
        turn: &mut Turn<'_>,
    ) -> Result<Transcript, CanaryError> {
        let transcript = self.once(planned, canaries, turn).await?;
        if self.options.checks_proxy { self.checked(planned, canaries, turn, transcript).await } else { Ok(transcript) }
    }

    async fn once(
        &mut self,
        planned: &Planned,
        canaries: &mut Canaries,
        turn: &mut Turn<'_>,
    ) -> Result<Transcript, CanaryError> {
        let transcript = self.attempt(planned, canaries).await?;
        if !timed_out(planned, &transcript) || !turn.alone(planned, &transcript).await {
            return Ok(transcript);
        }
        self.health().forget_hangs();
        self.attempt(planned, canaries).await
    }

    /// Runs a finished test without the proxy, and compares the results. After a difference, both ways are run once more,
    /// because the results of some SDKs vary in either way.
    async fn checked(
        &mut self,
        planned: &Planned,
        canaries: &mut Canaries,
        turn: &mut Turn<'_>,
        mut transcript: Transcript,
    ) -> Result<Transcript, CanaryError> {
        transcript.without_proxy = self.compared(planned, &transcript).await;
        if let Some(WithoutProxy::Different { .. }) = transcript.without_proxy {
            // Without the proxy, the client starts a process.
            self.mode = StdioMode::Process;
            let again = self.once(planned, canaries, turn).await;
            self.mode = StdioMode::Stream;
            let again = again?;
            if self.compared(planned, &again).await == Some(WithoutProxy::Same) {
                transcript.without_proxy = Some(WithoutProxy::Varied);
            }
        }
        Ok(transcript)
    }

    /// Runs the test of a transcript without the proxy, and compares the results; `None` if the server was not built.
    async fn compared(&mut self, planned: &Planned, transcript: &Transcript) -> Option<WithoutProxy> {
        let names = self.names.take()?;
        let with = Got { served: &transcript.served, steps: &transcript.steps, names: &names };
        let (driven, names) = self.direct(planned, &transcript.bindings).await?;
        let without = Got { served: &driven.served, steps: &driven.steps, names: &names };
        Some(compare(&with, &without))
    }

    /// Connects the client with the server itself. Returns the result and the texts that stand for the server.
    async fn direct(&mut self, planned: &Planned, bindings: &Bindings) -> Option<(Driven, Vec<String>)> {
        let TargetKind::Pair(pair) = self.target.drives.clone() else { return None };
        let mut client = self.side(Role::Client, &pair.client).await;
        let mut server = self.side(Role::Server, &pair.server).await;
        let is_ready = client.make_ready(&self.options).await.is_ok() && server.make_ready(&self.options).await.is_ok();
        let got = if is_ready { self.reach(&mut client, &mut server, planned, bindings).await } else { None };
        self.sides.extend([client, server]);
        got
    }

    async fn reach(
        &mut self,
        client: &mut Side,
        server: &mut Side,
        planned: &Planned,
        bindings: &Bindings,
    ) -> Option<(Driven, Vec<String>)> {
        let test = &planned.test;
        // No messages show whether the client waits for its server.
        let steps = u32::try_from(test.steps.len()).unwrap_or(u32::MAX).saturating_add(1);
        let limit = test.step_limit(self.options.step_limit).saturating_mul(steps).min(self.options.test_limit);
        let deadline = Deadline::within(limit);
        let fixture = test.given.template().render(bindings);
        let request = order_of(planned, &fixture);
        let (mut hosted, mut command) = (None, None);
        let (server_is, names) = match planned.id.transport {
            Transport::Http => match server.serve_http(request, deadline).await {
                Ok((serving, url)) => {
                    hosted = Some(serving);
                    (("url", quoted(&url)), names_of_url(&url))
                }
                Err(served) => {
                    self.not_served(server, served).await;
                    return None;
                }
            },
            Transport::Stdio if cfg!(unix) => {
                let words = command.insert(server.direct(request).ok()?).words();
                let list = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(",");
                (("command", format!("[{list}]")), words[1..].to_vec())
            }
            // The command is a script for a POSIX shell.
            Transport::Stdio => return None,
        };
        let script = order(planned, client.variant(), bindings, server_is);
        let began = Instant::now();
        let drove = client.adapter().drive(&script, deadline).await;
        let driven = outcome_of_script(test, drove, Vec::new(), began.elapsed());
        if let Some(hosted) = hosted {
            server.stop(hosted, Deadline::within(CLOSE)).await;
        }
        self.account(client, server, &driven).await;
        if matches!(driven.served, Served::Failed { end: End::Timeout, .. }) {
            // No messages show which side hangs.
            server.discard(StopReason::Hung).await;
        }
        Some((driven, names))
    }

    async fn attempt(&mut self, planned: &Planned, canaries: &mut Canaries) -> Result<Transcript, CanaryError> {
        self.names = None;
        let TargetKind::Pair(pair) = self.target.drives.clone() else {
            let reason = "the target is no pair".to_owned();
            return Ok(self.blank(&planned.id, Served::Unavailable { reason }));
        };
        if let Err(reason) = self.health().check_usable() {
            return Ok(self.blank(&planned.id, Served::Unavailable { reason }));
        }
        let bindings = bind(&planned.test, planned.id.revision, canaries)?;
        let mut client = self.side(Role::Client, &pair.client).await;
        let mut server = self.side(Role::Server, &pair.server).await;
        let ready = match client.make_ready(&self.options).await {
            Ok(()) => server.make_ready(&self.options).await,
            unready @ Err(_) => unready,
        };
        let sides = [(&client, Role::Client), (&server, Role::Server)];
        let overlooked = sides.iter().find_map(|(side, role)| side.overlooks(&planned.test, *role));
        let deadline = Deadline::within(self.options.test_limit);
        let kept = [("client", client.stderr()), ("server", server.stderr())];
        for text in kept.iter().filter_map(|(_, text)| text.as_ref()) {
            text.take();
        }
        let driven = match ready {
            Ok(()) => match overlooked {
                Some(reason) => Driven { served: Served::Cannot { reason }, steps: Vec::new() },
                None => self.converse(&mut client, &mut server, planned, &bindings, deadline).await,
            },
            Err(reason) => Driven { served: Served::Unavailable { reason }, steps: Vec::new() },
        };
        let mut transcript = Transcript { bindings, ..self.blank(&planned.id, driven.served) };
        transcript.steps = driven.steps;
        transcript.micros = deadline.micros();
        for (name, text) in kept {
            let words = text.map(|text| text.take()).unwrap_or_default();
            for line in words.lines() {
                transcript.stderr += &format!("{name}: {line}\n");
            }
        }
        self.sides.extend([client, server]);
        Ok(transcript)
    }

    /// The health of the current pair.
    fn health(&mut self) -> &mut Health {
        let (id, given_up) = (&self.target.id, &self.given_up);
        self.pairs.entry(id.clone()).or_insert_with(|| Health::new(id.clone(), given_up.clone()))
    }

    /// Takes the side for a target out of those that are kept, and stops the one that was not used for the longest time if
    /// there are too many.
    async fn side(&mut self, role: Role, target: &Arc<Target>) -> Side {
        if let Some(place) = self.sides.iter().position(|side| side.fits(role, target)) {
            let mut side = self.sides.remove(place);
            side.act_for(target);
            return side;
        }
        while self.sides.len() + 2 > KEPT {
            self.sides.remove(0).end().await;
        }
        Side::new(role, Arc::clone(target), self.given_up.clone())
    }

    /// Serves the fixture, and drives the client against the proxy before it.
    async fn converse(
        &mut self,
        client: &mut Side,
        server: &mut Side,
        planned: &Planned,
        bindings: &Bindings,
        deadline: Deadline,
    ) -> Driven {
        let test = &planned.test;
        let fixture = test.given.template().render(bindings);
        let request = order_of(planned, &fixture);
        let mode = self.mode;
        let mut hosted = Vec::new();
        let mut first = None;
        let mut starts = None;
        let proxy = match planned.id.transport {
            Transport::Http => match server.serve_http(request, deadline).await {
                Ok((serving, url)) => {
                    hosted.push(serving);
                    Proxy::http(&mut self.listeners, &url)
                }
                Err(served) => return self.not_served(server, served).await,
            },
            // The SDK may refuse the fixture, which must be known before a client starts the server.
            Transport::Stdio => match server.serve_stdio(request, mode, deadline).await {
                Ok((serving, streams)) => {
                    hosted.push(serving);
                    first = Some(streams);
                    Proxy::stdio(&mut self.listeners).map(|(proxy, coming)| {
                        starts = Some(coming);
                        proxy
                    })
                }
                Err(served) => return self.not_served(server, served).await,
            },
        };
        let driven = match proxy {
            Ok(proxy) => {
                let server_is = proxy.server(&self.options.program);
                self.names = Some(proxy.names());
                let script = order(planned, client.variant(), bindings, server_is);
                let began = Instant::now();
                let driving = client.adapter().drive(&script, deadline);
                let mut driving = std::pin::pin!(driving);
                let mut silent = std::pin::pin!(proxy.silence(test.step_limit(self.options.step_limit)));
                let drove = loop {
                    tokio::select! {
                        drove = &mut driving => break drove,
                        // The whole script is one request to the adapter, so that only the messages show a step that
                        // takes too long.
                        () = &mut silent => break Err(Trouble::Hung.served()),
                        Some(started) = next(&mut starts) => {
                            start(server, &mut first, &mut hosted, (request, mode), started, deadline).await;
                        }
                    }
                };
                outcome_of_script(test, drove, proxy.take_messages(), began.elapsed())
            }
            Err(error) => {
                let reason = format!("the proxy cannot open a port: {error}");
                Driven { served: Served::Unavailable { reason }, steps: Vec::new() }
            }
        };
        for one in hosted {
            server.stop(one, Deadline::within(CLOSE)).await;
        }
        self.account(client, server, &driven).await;
        driven
    }

    /// The result of a test whose server was not built. An adapter that failed is not used again.
    async fn not_served(&self, server: &mut Side, served: Served) -> Driven {
        if let Served::Failed { end, .. } = &served {
            let is_hung = !matches!(end, End::Crash { .. });
            server.discard(if is_hung { StopReason::Hung } else { StopReason::Broken }).await;
        }
        Driven { served, steps: Vec::new() }
    }

    /// Stops the sides that failed. After a time-out, it is the side that was to send the next message.
    async fn account(&mut self, client: &mut Side, server: &mut Side, driven: &Driven) {
        let Served::Failed { end, .. } = &driven.served else { return self.health().forget_hangs() };
        let last = driven.steps.iter().flat_map(|step| &step.messages).next_back();
        let after = last.map_or_else(|| "before any message".to_owned(), |message| format!("after {}", named(message)));
        self.health().count_hang(&format!("they hang, or one of them ends, in a test, {after}"));
        let waits_for_server = last.is_some_and(|message| message.from == Party::Target);
        match end {
            End::Timeout if waits_for_server => {
                server.discard(StopReason::Hung).await;
                client.discard(StopReason::Hung).await;
            }
            End::Crash { .. } => client.discard(StopReason::Broken).await,
            _ => client.discard(StopReason::Hung).await,
        }
    }

    fn blank(&self, test: &TestId, served: Served) -> Transcript {
        Transcript::blank(self.target.id.clone(), test.clone(), served)
    }
}

/// The request to serve the fixture of a test.
fn order_of<'a>(planned: &Planned, fixture: &'a str) -> Order<'a> {
    let revision = planned.test.given.revision.unwrap_or(planned.id.revision);
    Order { revision, transport: planned.id.transport, variant: None, fixture, stream: None }
}

/// Waits for the next start of a server over stdio; forever if there is none over this transport.
async fn next(starts: &mut Option<tokio::sync::mpsc::Receiver<Started>>) -> Option<Started> {
    match starts {
        Some(starts) => starts.recv().await,
        None => std::future::pending().await,
    }
}

/// Gives the client the server that it starts: the one that was built first, or another one.
async fn start(
    server: &mut Side,
    first: &mut Option<Streams>,
    hosted: &mut Vec<Hosted>,
    (request, mode): (Order<'_>, StdioMode),
    started: Started,
    deadline: Deadline,
) {
    let streams = match first.take() {
        Some(streams) => Some(streams),
        None => server.serve_stdio(request, mode, deadline).await.ok().map(|(serving, streams)| {
            hosted.push(serving);
            streams
        }),
    };
    // Without streams, or if the client is gone, the start ends at once.
    _ = streams.map(|streams| started.send(streams));
}

/// Names a message: its sender, and its HTTP method or the beginning of its text.
fn named(message: &Message) -> String {
    const LENGTH: usize = 80;
    let sender = if message.from == Party::Target { "client" } else { "server" };
    match message.header(":method") {
        Some(method) if message.text.is_empty() => format!("a {method} request of the {sender}"),
        _ if message.text.is_empty() => format!("an empty reply of the {sender}"),
        _ => format!("a message of the {sender}: {}", shortened(&message.text, LENGTH)),
    }
}
