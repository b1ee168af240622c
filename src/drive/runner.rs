//! The runner of one target, which starts, reuses, replaces and finally gives up its processes.
//!
//! Takes planned tests one after another, gives a [`Transcript`] of each, which includes every failure of the target.
//! Must not know the expected behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::drive::adapter::protocol::{Adapter, StartError, Trouble, with_stderr};
use crate::drive::adapter::stdio_server::why_no_server;
use crate::drive::bind::{bind, canaries_of, is_large, shares};
use crate::drive::canary::{Canaries, CanaryError};
use crate::drive::client::driving::{self, Driven, with_canaries};
use crate::drive::client::mock::Listeners;
use crate::drive::clock::Deadline;
use crate::drive::fixed;
use crate::drive::health::{GivenUp, Health};
use crate::drive::options::Options;
use crate::drive::process::launch::{StopReason, Stopped};
use crate::drive::server::fixture::ServedFixture;
use crate::drive::server::http::ConnectionReuse;
use crate::drive::server::refusal;
use crate::drive::turns::Turn;
use crate::model::TestId;
use crate::model::case::{Step, Then, When};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::survey::Survey;
use crate::model::target::{Fixed, Target, TargetKind};
use crate::model::template::Bindings;
use crate::model::transcript::{End, Message, Party, Phase, Served, StdioMode, StepTranscript, Transcript};
use crate::plan::Planned;

/// A target with its running processes.
#[derive(Debug)]
pub(crate) struct TargetRunner {
    target: Arc<Target>,
    options: Options,
    adapter: Option<Adapter>,
    /// The HTTP connections that the next fixture of this adapter may reuse.
    reuse: ConnectionReuse,
    served: Option<ServedFixture>,
    /// The fixture in a process of its own, for tests that compare both ways of serving over stdio.
    served_in_process: Option<ServedFixture>,
    /// The addresses at which its clients reach their mock servers.
    listeners: Listeners,
    /// The tools that a fixed server lists, by revision; `None` if its answer was no list.
    listed: BTreeMap<Revision, Option<Vec<String>>>,
    health: Health,
}

impl TargetRunner {
    /// A runner without processes.
    pub(crate) fn new(target: Arc<Target>, options: Options, given_up: GivenUp) -> Self {
        let health = Health::new(target.id.clone(), given_up);
        let listed = target.survey.as_ref().map_or_else(BTreeMap::new, listed);
        Self {
            target,
            options,
            adapter: None,
            reuse: ConnectionReuse::default(),
            served: None,
            served_in_process: None,
            listeners: Listeners::default(),
            listed,
            health,
        }
    }

    /// Returns whether this runner is for the given target.
    pub(crate) fn is_of(&self, target: &Target) -> bool {
        self.target.id == target.id
    }

    /// Stops all processes.
    pub(crate) async fn end(mut self) {
        self.restart().await;
    }

    /// Stops all processes in an orderly way, so that the next test starts on fresh ones.
    pub(crate) async fn restart(&mut self) {
        for fixture in [self.served.take(), self.served_in_process.take()].into_iter().flatten() {
            fixture.stop(&mut self.adapter, StopReason::Finished).await;
        }
        if let Some(adapter) = self.adapter.take() {
            adapter.end(StopReason::Finished).await;
        }
    }

    /// Runs one test, in one or both ways of serving over stdio, and keeps the processes that `next` can reuse.
    ///
    /// # Errors
    /// [`CanaryError`] if there are no canaries, or if they may have missed a request.
    pub(crate) async fn run(
        &mut self,
        planned: &Planned,
        next: Option<&Planned>,
        canaries: &mut Canaries,
        turn: &mut Turn<'_>,
    ) -> Result<Transcript, CanaryError> {
        let ready = self.make_ready(planned, canaries).await;
        if let Err(reason) = ready {
            return Ok(self.blank(&planned.id, Bindings::default(), Served::Unavailable { reason }));
        }
        if let Some(served) = self.not_run(planned) {
            return Ok(self.blank(&planned.id, Bindings::default(), served));
        }
        // A server in a stream of the adapter is no server in a process of its own.
        let in_process = |one: &Planned| one.stdio == Some(StdioMode::Process);
        let next = next.filter(|next| in_process(next) == in_process(planned));
        if self.mode(planned) != StdioMode::Both {
            return self.once(planned, next, canaries, turn).await;
        }
        let transcript = self.both(planned, next, canaries, turn).await?;
        // A time-out of one way is a difference, also in a step that no check judges.
        let hung = |way: &Transcript| timed_out(planned, way);
        let differ = transcript.process.as_deref().is_some_and(|process| hung(process) != hung(&transcript));
        if !differ || !turn.alone(planned, &transcript).await {
            return Ok(transcript);
        }
        match self.make_ready(planned, canaries).await {
            Ok(()) => self.both(planned, next, canaries, turn).await,
            Err(reason) => Ok(self.blank(&planned.id, Bindings::default(), Served::Unavailable { reason })),
        }
    }

    /// Runs one test in both ways of serving over stdio.
    async fn both(
        &mut self,
        planned: &Planned,
        next: Option<&Planned>,
        canaries: &mut Canaries,
        turn: &mut Turn<'_>,
    ) -> Result<Transcript, CanaryError> {
        // Each way keeps its own fixture, because a connection may remember earlier requests.
        let in_process = Planned { stdio: Some(StdioMode::Process), ..planned.clone() };
        let next_in_both = next.filter(|next| next.stdio == planned.stdio);
        std::mem::swap(&mut self.served, &mut self.served_in_process);
        let process = self.once(&in_process, next_in_both, canaries, turn).await;
        std::mem::swap(&mut self.served, &mut self.served_in_process);
        let process = process?;
        let mut transcript = self.once(planned, next, canaries, turn).await?;
        transcript.process = Some(Box::new(process));
        Ok(transcript)
    }

    /// Runs one test in one way of serving.
    async fn once(
        &mut self,
        planned: &Planned,
        next: Option<&Planned>,
        canaries: &mut Canaries,
        turn: &mut Turn<'_>,
    ) -> Result<Transcript, CanaryError> {
        let was_there = self.served.is_some() || self.by_adapter(planned) && self.adapter.is_some();
        let mut transcript = self.attempt(planned, canaries).await?;
        // The process may have died of an earlier test, and a time-out may be due to other work of this machine. A target
        // that dies or hangs because of this test does so again.
        let died_before = was_there && exited_silently(&transcript);
        if died_before || timed_out(planned, &transcript) && turn.alone(planned, &transcript).await {
            self.discard(if died_before { StopReason::Broken } else { StopReason::Hung }).await;
            let ready = self.make_ready(planned, canaries).await;
            if let Err(reason) = ready {
                return Ok(self.blank(&planned.id, Bindings::default(), Served::Unavailable { reason }));
            }
            transcript = self.attempt(planned, canaries).await?;
        }
        self.clean_up(planned, next, &mut transcript).await;
        transcript.canary = canaries.hits();
        // This check comes last: only if the canaries still notice requests does their silence prove anything.
        let kinds: BTreeSet<_> = canaries_of(&planned.test).iter().map(|canary| canary.kind).collect();
        canaries.check(kinds).await?;
        Ok(transcript)
    }

    /// The transcript of a test without working canaries.
    pub(crate) fn without_canaries(&self, planned: &Planned, error: &CanaryError) -> Transcript {
        self.blank(&planned.id, Bindings::default(), Served::Unavailable { reason: error.to_string() })
    }

    /// The transcript of a test in which casebook itself panicked. The processes are not used again.
    pub(crate) fn after_panic(&mut self, planned: &Planned, words: &str) -> Transcript {
        (self.served, self.served_in_process, self.adapter) = (None, None, None);
        self.blank(&planned.id, Bindings::default(), Served::Broken { reason: words.to_owned() })
    }

    /// Stops the processes of a target that died or hangs.
    async fn discard(&mut self, reason: StopReason) {
        if let Some(fixture) = self.served.take() {
            fixture.stop(&mut self.adapter, reason).await;
        }
        if let Some(adapter) = self.adapter.take() {
            adapter.end(reason).await;
        }
    }

    /// Prepares the target for a test.
    async fn make_ready(&mut self, planned: &Planned, canaries: &Canaries) -> Result<(), String> {
        let target = Arc::clone(&self.target);
        match &target.drives {
            TargetKind::Adapter(_) => self.ensure_adapter(planned).await,
            TargetKind::Fixed(Fixed::Client(_)) => self.health.check_usable(),
            TargetKind::Pair(_) => Err("a pair has a runner of its own".to_owned()),
            TargetKind::Fixed(server) => self.list_fixed_tools(server, planned.id.revision, canaries).await,
        }
    }

    /// Requests the tool list of a fixed server, once for each revision; of one that lacks tools, only the handshake. A
    /// server that has never responded is given up, and any other one after a few attempts.
    async fn list_fixed_tools(
        &mut self,
        server: &Fixed,
        revision: Revision,
        canaries: &Canaries,
    ) -> Result<(), String> {
        let list = Step::observe(When::List);
        let has_tools = self.target.may_have_tools(revision);
        while self.health.check_usable().is_ok() && !self.listed.contains_key(&revision) {
            self.restart().await;
            let mut fixture = match ServedFixture::connect(&self.target, server, revision, Bindings::default()) {
                Ok(fixture) => fixture,
                // The resources of this machine may suffice for the next test.
                Err(error @ StartError::NoRoom { .. }) => return Err(error.to_string()),
                Err(error) => {
                    self.health.give_up(error.to_string());
                    break;
                }
            };
            let patience = Deadline::within(self.options.start_limit);
            let seen = if has_tools {
                fixture.step(&list, canaries, patience).await
            } else {
                fixture.open(&list, canaries, patience).await
            };
            let words = fixture.stderr().clone();
            fixture.stop(&mut self.adapter, StopReason::Finished).await;
            match seen.end {
                End::Crash { how } => self.health.count_hang(&unanswered(has_tools, revision, &how, &words.take())),
                End::Timeout => {
                    let how = "no response within the time limit";
                    self.health.count_silence(&unanswered(has_tools, revision, how, &words.take()));
                }
                _ => {
                    self.health.count_answer();
                    let names = has_tools.then(|| fixed::names(&seen.messages)).flatten();
                    self.listed.insert(revision, names);
                }
            }
        }
        self.health.check_usable()
    }

    /// Returns why a test is not run, if so: the adapter would overlook a part of it, or a fixed server does not list what it
    /// calls.
    fn not_run(&self, planned: &Planned) -> Option<Served> {
        let (test, callable) = (&planned.test, &self.target.callable);
        let cannot = |reason| Served::Cannot { reason };
        if matches!(self.target.drives, TargetKind::Adapter(_)) {
            return self.health.hello.overlooks(test, test.role).map(cannot);
        }
        let listed = self.listed.get(&planned.id.revision)?.as_deref();
        if let Some(reason) = listed.and_then(|listed| fixed::not_listed(test, callable, listed)) {
            return Some(Served::Unavailable { reason });
        }
        let missing = fixed::missing_tool(test, listed);
        missing.or_else(|| fixed::not_callable(test, callable, listed)).map(cannot)
    }

    /// Starts the adapter if the test needs it, or if no hello has confirmed the target's claims yet.
    async fn ensure_adapter(&mut self, planned: &Planned) -> Result<(), String> {
        loop {
            self.health.check_usable()?;
            if self.adapter.is_some() || !self.by_adapter(planned) && self.health.confirmed {
                return Ok(());
            }
            match Adapter::start(&self.target, Deadline::within(self.options.start_limit)).await {
                Ok(adapter) => {
                    *self.health.hello = adapter.hello().clone();
                    self.adapter = Some(adapter);
                    self.reuse = ConnectionReuse::default();
                    self.health.confirmed = true;
                    self.health.count_answer();
                }
                Err(error @ StartError::Hello { trouble: Trouble::Hung, .. }) => {
                    self.health.count_silence(&error.to_string());
                }
                Err(error @ StartError::Hello { trouble: Trouble::Died(_), .. }) => {
                    self.health.count_hang(&error.to_string());
                }
                // The resources of this machine may suffice for the next test.
                Err(error @ StartError::NoRoom { .. }) => return Err(error.to_string()),
                // Any other error would occur again at each start.
                Err(error) => self.health.give_up(error.to_string()),
            }
        }
    }

    /// Runs a test once, with fresh placeholders unless its fixture is already served.
    async fn attempt(&mut self, planned: &Planned, canaries: &mut Canaries) -> Result<Transcript, CanaryError> {
        let deadline = Deadline::within(self.options.test_limit);
        let bindings = match &self.served {
            Some(fixture) => fixture.bindings().clone(),
            None => bind(&planned.test, planned.id.revision, canaries)?,
        };
        let mut transcript = self.blank(&planned.id, bindings, Served::Serving);
        transcript.stdio = planned.stdio.map(|_| self.mode(planned));
        self.ask(planned, canaries, deadline, &mut transcript).await;
        self.check_rate(&mut transcript);
        transcript.micros = deadline.micros();
        Ok(transcript)
    }

    /// Gives up a running server that limits the rate of requests: its refusals say nothing about its conformance.
    fn check_rate(&mut self, transcript: &mut Transcript) {
        let is_running = matches!(self.target.drives, TargetKind::Fixed(Fixed::Running(_)));
        let messages = transcript.opening.iter().chain(transcript.steps.iter().flat_map(|step| &step.messages));
        if let Some(reason) = refusal::of_rate(messages).filter(|_| is_running) {
            self.health.give_up(format!("given up: {reason}"));
            transcript.served = Served::Unavailable { reason };
            transcript.steps.clear();
        }
    }

    /// Performs the steps of a test: serves the fixture first, unless it is already served, or drives the client.
    async fn ask(&mut self, planned: &Planned, canaries: &Canaries, deadline: Deadline, transcript: &mut Transcript) {
        canaries.phase(Phase::Serve);
        self.adapter.iter().for_each(|adapter| drop(adapter.stderr().take()));
        if planned.test.role == Role::Client {
            let (target, bindings, options) = (&self.target, &transcript.bindings, &self.options);
            let driven = if let TargetKind::Fixed(Fixed::Client(client)) = &target.drives {
                let conversation =
                    fixed::converse(&mut self.listeners, target, client, planned, bindings, deadline, options);
                with_canaries(canaries, conversation).await
            } else {
                let adapter = self.adapter.as_mut().expect("a runner has an adapter before it drives a client");
                let variant = target.id.variant.as_deref();
                let conversation =
                    driving::converse(&mut self.listeners, adapter, variant, planned, bindings, deadline, options);
                with_canaries(canaries, conversation).await
            };
            Driven { served: transcript.served, steps: transcript.steps } = driven;
            return;
        }
        if self.served.is_none() {
            let bindings = transcript.bindings.clone();
            let adapter = if self.by_adapter(planned) { self.adapter.as_mut() } else { None };
            match ServedFixture::start(&self.target, adapter, &mut self.reuse, planned, bindings, deadline).await {
                Ok(fixture) => {
                    let fixture = self.served.insert(fixture);
                    if matches!(self.target.drives, TargetKind::Fixed(_)) && !planned.test.opens(planned.id.revision) {
                        // A fixed server sends no hello. The time until its first response must not count for the first
                        // step.
                        let serve = opening(planned);
                        let patience = deadline.narrowed(self.options.start_limit);
                        let lists =
                            matches!(serve.when, When::Serve) && self.target.may_have_tools(planned.id.revision);
                        let opened = if lists {
                            fixture.step(&serve, canaries, patience).await
                        } else {
                            fixture.open(&serve, canaries, patience).await
                        };
                        // A late response would be taken for one to the first step.
                        if opened.end == End::Timeout {
                            let detail =
                                "the server sent no response to the first requests of casebook in time".to_owned();
                            transcript.served = Served::Failed { end: End::Timeout, detail };
                            return;
                        }
                    }
                }
                Err(served) => transcript.served = served,
            }
        }
        if let Some(fixture) = &mut self.served {
            let limits = (planned.test.step_limit(self.options.step_limit), self.options.start_limit);
            transcript.steps = fixture.perform(&planned.test, canaries, deadline, limits).await;
            transcript.opening = fixture.take_opening();
        }
    }

    /// Stops the processes that the next test cannot reuse, and adds their exit to the transcript.
    async fn clean_up(&mut self, planned: &Planned, next: Option<&Planned>, transcript: &mut Transcript) {
        let kept =
            self.served.as_ref().map(ServedFixture::stderr).or(self.adapter.as_ref().map(Adapter::stderr)).cloned();
        let test = &planned.test;
        if is_sound(transcript) && next.is_some_and(|next| shares(&self.target, test, &next.test, planned.id.revision))
        {
            self.health.forget_hangs();
            transcript.stderr = kept.map(|kept| kept.take()).unwrap_or_default();
            return;
        }
        let (stop_reason, was_served) = (stop_reason(transcript), self.served.is_some());
        let mut stopped = match self.served.take() {
            Some(fixture) => fixture.stop(&mut self.adapter, stop_reason).await,
            None => None,
        };
        // An adapter that failed was stopped together with its fixture, unless nothing was served.
        if self.by_adapter(planned)
            && stop_reason != StopReason::Finished
            && !was_served
            && let Some(adapter) = self.adapter.take()
        {
            stopped = Some(adapter.end(stop_reason).await);
        }
        transcript.stderr = kept.map(|kept| kept.take()).unwrap_or_default();
        if let Some(stopped) = &stopped {
            complete(transcript, stopped, matches!(self.target.drives, TargetKind::Adapter(_)));
        }
        self.count(transcript, stopped.as_ref(), planned);
    }

    fn count(&mut self, transcript: &Transcript, stopped: Option<&Stopped>, planned: &Planned) {
        let test = &planned.test;
        match stop_reason(transcript) {
            // The adapter process stays, unless it failed to stop serving a fixture.
            StopReason::Finished if self.by_adapter(planned) && stopped.is_some() => {
                self.health.count_restart("it did not stop serving a fixture");
            }
            StopReason::Finished => self.health.forget_hangs(),
            StopReason::Broken => {
                self.health.forget_hangs();
                if let Some(stopped) = stopped.filter(|stopped| stopped.died) {
                    self.health.count_restart(&stopped.how);
                }
            }
            StopReason::Hung => {
                let how = format!("{} hung", transcript.test);
                self.health.count_restart(&how);
                // After such a test, a hang may be due to that test alone.
                if !(test.is_hard() || is_large(&test.given)) {
                    self.health.count_hang(&how);
                }
            }
        }
    }

    /// Returns whether the adapter's process does the work, and not one that is started for this test.
    fn by_adapter(&self, planned: &Planned) -> bool {
        planned.id.transport == Transport::Http
            || planned.test.role == Role::Client
            || self.mode(planned) != StdioMode::Process
    }

    /// The way of serving over stdio: a process, if the adapter does not offer streams.
    fn mode(&self, planned: &Planned) -> StdioMode {
        let chosen = planned.stdio.filter(|_| self.health.hello.streams);
        chosen.unwrap_or(StdioMode::Process)
    }

    fn blank(&self, test: &TestId, bindings: Bindings, served: Served) -> Transcript {
        Transcript { bindings, ..Transcript::blank(self.target.id.clone(), test.clone(), served) }
    }
}

/// Returns the tools that a survey has listed. A server that was asked in a survey is not asked again.
fn listed(survey: &Survey) -> BTreeMap<Revision, Option<Vec<String>>> {
    survey.revisions.iter().map(|(revision, declared)| (*revision, declared.tools.clone())).collect()
}

/// A step that only connects, with the options of the first step of a test. A test of bare requests opens its own GET
/// stream, and a server may allow one stream a session.
fn opening(planned: &Planned) -> Step {
    let first = planned.test.steps.first();
    let declares = first.and_then(|step| step.declares.clone());
    let when = match first.map(|step| &step.when) {
        Some(When::Bare { method, .. }) => When::Bare { method: *method, headers: Vec::new() },
        _ => When::Serve,
    };
    Step { when, then: Then::Observe, declares, initialized: first.is_none_or(|step| step.initialized) }
}

/// The end of the last step, or of the failed attempt to serve.
fn last_end(transcript: &Transcript) -> Option<&End> {
    match &transcript.served {
        Served::Failed { end, .. } => Some(end),
        _ => transcript.steps.last().map(|step| &step.end),
    }
}

/// Returns whether a test timed out in which a sound target answers soon. Where the case says that a target may take all
/// of its time, it would take as long again.
pub(crate) fn timed_out(planned: &Planned, transcript: &Transcript) -> bool {
    matches!(last_end(transcript), Some(End::Timeout)) && !planned.test.is_hard()
}

fn stop_reason(transcript: &Transcript) -> StopReason {
    let failed = matches!(transcript.served, Served::Failed { .. });
    match last_end(transcript) {
        Some(End::Crash { .. }) => StopReason::Broken,
        Some(End::Timeout) => StopReason::Hung,
        Some(_) if failed => StopReason::Hung,
        _ => StopReason::Finished,
    }
}

/// Returns whether the connection can be used for another test.
fn is_sound(transcript: &Transcript) -> bool {
    let sound = |step: &StepTranscript| {
        matches!(step.end, End::Replied { .. } | End::Accepted | End::Handed | End::Unanswered | End::Http { .. })
    };
    transcript.served == Served::Serving && transcript.steps.iter().all(sound)
}

/// Returns whether the target exited before it sent anything in this test.
fn exited_silently(transcript: &Transcript) -> bool {
    let Transcript { served, opening, steps, .. } = transcript;
    let messages = || steps.iter().flat_map(|step| &step.messages).chain(opening);
    let is_gone = match served {
        Served::Failed { end, .. } => matches!(end, End::Crash { .. }),
        Served::Serving => steps.first().is_some_and(|step| matches!(step.end, End::Crash { .. })),
        Served::Refused { .. } | Served::Cannot { .. } | Served::Broken { .. } | Served::Unavailable { .. } => false,
    };
    is_gone && messages().all(|message| message.from == Party::Harness)
}

/// The reason for which a server is given up that did not return its tools, or did not open a connection without them.
fn unanswered(has_tools: bool, revision: Revision, how: &str, stderr: &str) -> String {
    let request = if has_tools { "list its tools" } else { "open a connection" };
    format!("the server did not {request} on {revision}: {how}{}", with_stderr(stderr))
}

/// Adds the exit of a process to a transcript. Only the process of an adapter can report why it serves nothing.
fn complete(transcript: &mut Transcript, stopped: &Stopped, by_adapter: bool) {
    transcript.leaky = stopped.leaky;
    let stdio = transcript.test.transport == Transport::Stdio;
    // A process that wrote a JSON object was a server, regardless of its exit status. Other lines are noise, such as
    // the banner of a logging library.
    let is_object = |message: &Message| message.from == Party::Target && message.text.trim_start().starts_with('{');
    let spoke = transcript.steps.iter().flat_map(|step| &step.messages).any(is_object);
    if stdio
        && by_adapter
        && !spoke
        && let Some(served) = why_no_server(stopped.code, &transcript.stderr)
    {
        transcript.served = served;
        transcript.steps.clear();
    } else if stopped.died
        && let Some(End::Crash { how }) = transcript.steps.last_mut().map(|step| &mut step.end)
    {
        how.clone_from(&stopped.how);
    }
}
