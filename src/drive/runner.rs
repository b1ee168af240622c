//! One target at work: started, kept while it is of use, replaced when it breaks, given up when it keeps breaking.
//!
//! Takes planned tests one after another, gives a [`Transcript`] of each; whatever the target does is part of one.
//! Must not know what would have been right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::drive::adapter::protocol::{Adapter, StartError, Trouble, with_stderr};
use crate::drive::adapter::stdio_server::why_no_server;
use crate::drive::bind::{bind, canaries_of, is_large, shares};
use crate::drive::canary::{Canaries, CanaryError};
use crate::drive::client::driving::{self, Driven, overheard};
use crate::drive::client::mock::Listeners;
use crate::drive::clock::Deadline;
use crate::drive::fixed;
use crate::drive::options::Options;
use crate::drive::overload::Machine;
use crate::drive::process::launch::{StopReason, Stopped};
use crate::drive::server::fixture::ServedFixture;
use crate::drive::server::http::ConnectionReuse;
use crate::drive::stopwatch::Stopwatch;
use crate::model::case::{Step, Then, When};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::{Fixed, Target, TargetKind};
use crate::model::template::Bindings;
use crate::model::timings::Spent;
use crate::model::transcript::{End, Message, Party, Phase, Served, StdioMode, StepTranscript, Transcript};
use crate::model::{TargetId, TestId};
use crate::plan::Planned;

/// Hangs, or starts that fail, in a row until a target is given up.
const HANGS: u32 = 3;
/// Restarts in all until a target is given up.
const RESTARTS: u32 = 20;

/// A target at work.
#[derive(Debug)]
pub(crate) struct TargetRunner {
    target: Arc<Target>,
    options: Options,
    /// The machine, which all workers share.
    machine: Arc<Machine>,
    /// Set once the limits of `options` are those for an overloaded machine.
    is_patient: bool,
    adapter: Option<Adapter>,
    /// The connections that the next fixture of this adapter may go on with.
    reuse: ConnectionReuse,
    served: Option<ServedFixture>,
    /// The same in a process of its own, where tests are run in both ways.
    served_in_process: Option<ServedFixture>,
    /// Where its clients meet their servers.
    listeners: Listeners,
    /// What a fixed server lists, by revision; nothing where what it answered is no list.
    listed: BTreeMap<Revision, Option<Vec<String>>>,
    health: Health,
    stopwatch: Stopwatch,
}

/// What a target has cost so far.
#[derive(Debug)]
struct Health {
    target: TargetId,
    /// Its hello confirmed its claims.
    confirmed: bool,
    /// Its hello says that it serves over stdio by streams.
    streams: bool,
    /// In a row.
    hangs: u32,
    /// In all.
    restarts: u32,
    given_up: GivenUp,
}

/// Which targets were given up, and why: all workers know it at once, and tell the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenUp(Arc<Mutex<BTreeMap<TargetId, String>>>);

impl GivenUp {
    fn all(&self) -> MutexGuard<'_, BTreeMap<TargetId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Health {
    fn new(target: TargetId, given_up: GivenUp) -> Self {
        Self { target, confirmed: false, streams: false, hangs: 0, restarts: 0, given_up }
    }

    /// An error, where the target was given up: why.
    fn check_usable(&self) -> Result<(), String> {
        self.given_up.all().get(&self.target).cloned().map_or(Ok(()), Err)
    }

    fn hung(&mut self, how: &str) {
        self.hangs += 1;
        if self.hangs >= HANGS {
            self.give_up(format!("given up after {HANGS} hangs or failed starts in a row; the last: {how}"));
        }
    }

    fn restarted(&mut self, how: &str) {
        self.restarts += 1;
        if self.restarts >= RESTARTS {
            self.give_up(format!("given up after {RESTARTS} restarts; the last: {how}"));
        }
    }

    fn give_up(&mut self, reason: String) {
        self.given_up.all().entry(self.target.clone()).or_insert(reason);
    }
}

impl TargetRunner {
    /// A runner in which nothing is started yet.
    pub(crate) fn new(target: Arc<Target>, options: Options, machine: Arc<Machine>, given_up: GivenUp) -> Self {
        let health = Health::new(target.id.clone(), given_up);
        let stopwatch = Stopwatch::start();
        Self {
            target,
            options,
            machine,
            is_patient: false,
            adapter: None,
            reuse: ConnectionReuse::default(),
            served: None,
            served_in_process: None,
            listeners: Listeners::default(),
            listed: BTreeMap::new(),
            health,
            stopwatch,
        }
    }

    /// Whether it is this target's.
    pub(crate) fn is_of(&self, target: &Arc<Target>) -> bool {
        Arc::ptr_eq(&self.target, target)
    }

    /// What was spent on which target since this was last asked.
    pub(crate) fn spent(&mut self) -> (TargetId, Spent) {
        (self.target.id.clone(), self.stopwatch.take())
    }

    /// Closes everything, and gives what was spent meanwhile.
    pub(crate) async fn end(mut self) -> (TargetId, Spent) {
        self.renew().await;
        self.spent()
    }

    /// Closes everything, so that what comes next finds nothing of what was.
    pub(crate) async fn renew(&mut self) {
        let began = Instant::now();
        self.stop().await;
        self.stopwatch.started(began);
    }

    /// Runs one test. What it leaves in place is what `next` can use.
    ///
    /// # Errors
    /// [`CanaryError`] where the harness has no canaries to give, or they may have missed something.
    pub(crate) async fn run(
        &mut self,
        planned: &Planned,
        next: Option<&Planned>,
        canaries: &mut Canaries,
    ) -> Result<Transcript, CanaryError> {
        let began = Instant::now();
        if self.machine.is_overloaded() {
            self.become_patient();
        }
        if planned.test.isolated {
            self.stop().await;
        }
        let ready = self.make_ready(planned, canaries).await;
        self.stopwatch.started(began);
        if let Err(reason) = ready {
            return Ok(self.blank(&planned.id, Bindings::default(), Served::Unavailable { reason }));
        }
        let listed = self.listed.get(&planned.id.revision).and_then(Option::as_ref);
        if let Some(reason) = listed.and_then(|listed| fixed::lacks(&planned.test, listed)) {
            return Ok(self.blank(&planned.id, Bindings::default(), Served::Cannot { reason }));
        }
        if self.mode(planned) != StdioMode::Both {
            return self.once(planned, next, canaries).await;
        }
        // Each way goes on with what it has: a connection may remember what was asked before.
        let in_process = Planned { stdio: Some(StdioMode::Process), ..planned.clone() };
        let next_in_both = next.filter(|next| next.stdio == planned.stdio);
        std::mem::swap(&mut self.served, &mut self.served_in_process);
        let process = self.once(&in_process, next_in_both, canaries).await;
        std::mem::swap(&mut self.served, &mut self.served_in_process);
        let process = process?;
        let mut transcript = self.once(planned, next, canaries).await?;
        transcript.process = Some(Box::new(process));
        Ok(transcript)
    }

    /// Runs one test, in one way.
    async fn once(
        &mut self,
        planned: &Planned,
        next: Option<&Planned>,
        canaries: &mut Canaries,
    ) -> Result<Transcript, CanaryError> {
        let was_there = self.served.is_some() || self.by_adapter(planned) && self.adapter.is_some();
        let mut transcript = self.attempt(planned, canaries).await?;
        // The process may have died of an earlier test, and a time-out may be due to other processes of this machine. A
        // target that dies or hangs because of this test does so again.
        let died_before = was_there && is_unheard(&transcript);
        if died_before || self.is_timeout_excused(planned, &transcript).await {
            let over = Instant::now();
            self.discard(if died_before { StopReason::Broken } else { StopReason::Hung }).await;
            let ready = self.make_ready(planned, canaries).await;
            self.stopwatch.started(over);
            if let Err(reason) = ready {
                return Ok(self.blank(&planned.id, Bindings::default(), Served::Unavailable { reason }));
            }
            transcript = self.attempt(planned, canaries).await?;
        }
        let over = Instant::now();
        self.clear_up(planned, next, &mut transcript).await;
        self.stopwatch.started(over);
        transcript.canary = canaries.hits();
        // Only now: what could not have been noticed shows nothing.
        let kinds: BTreeSet<_> = canaries_of(&planned.test).iter().map(|canary| canary.kind).collect();
        canaries.check(kinds).await?;
        Ok(transcript)
    }

    /// The transcript of a test of which the harness can't tell what came of it.
    pub(crate) fn saw_nothing(&self, planned: &Planned, error: &CanaryError) -> Transcript {
        self.blank(&planned.id, Bindings::default(), Served::Unavailable { reason: error.to_string() })
    }

    /// What there is of a test in which the harness itself broke. Nothing of what it had in hand is used again.
    pub(crate) fn broke(&mut self, planned: &Planned, words: &str) -> Transcript {
        (self.served, self.served_in_process, self.adapter) = (None, None, None);
        self.blank(&planned.id, Bindings::default(), Served::Broken { reason: words.to_owned() })
    }

    /// Closes everything that is of no use any more.
    async fn stop(&mut self) {
        for live in [self.served.take(), self.served_in_process.take()].into_iter().flatten() {
            live.stop(&mut self.adapter, StopReason::Leave).await;
        }
        if let Some(adapter) = self.adapter.take() {
            adapter.end(StopReason::Leave).await;
        }
    }

    /// Stops the processes of a target that died or hangs.
    async fn discard(&mut self, reason: StopReason) {
        if let Some(live) = self.served.take() {
            live.stop(&mut self.adapter, reason).await;
        }
        if let Some(adapter) = self.adapter.take() {
            adapter.end(reason).await;
        }
    }

    /// Returns whether a test timed out on an overloaded machine, with the usual limits. The limits are longer from then
    /// on. A test that keeps a target busy is a load itself, and never excused.
    async fn is_timeout_excused(&mut self, planned: &Planned, transcript: &Transcript) -> bool {
        let is_timeout = matches!(last_end(transcript), Some(End::Timeout));
        let is_costly = planned.test.is_hard() || is_large(&planned.test.given);
        is_timeout && !is_costly && self.has_more_patience().await
    }

    /// Returns whether the limits are longer from now on: once, if the machine is overloaded.
    async fn has_more_patience(&mut self) -> bool {
        !self.is_patient && self.machine.check_overload(&self.options.program).await && self.become_patient()
    }

    /// Makes the limits those for an overloaded machine. Returns whether they were the usual ones before.
    fn become_patient(&mut self) -> bool {
        if !self.is_patient {
            self.options = self.options.stretched();
        }
        !std::mem::replace(&mut self.is_patient, true)
    }

    /// Sees to it that the target can be asked the test.
    async fn make_ready(&mut self, planned: &Planned, canaries: &Canaries) -> Result<(), String> {
        let target = Arc::clone(&self.target);
        match &target.drives {
            TargetKind::Adapter(_) => self.ensure_adapter(planned).await,
            TargetKind::Fixed(Fixed::Client(_)) => self.health.check_usable(),
            TargetKind::Fixed(server) => self.list_fixed_tools(server, planned.id.revision, canaries).await,
        }
    }

    /// Sees to it that it is known what a fixed server lists; one that doesn't answer at all is soon given up.
    async fn list_fixed_tools(
        &mut self,
        server: &Fixed,
        revision: Revision,
        canaries: &Canaries,
    ) -> Result<(), String> {
        let list = Step { when: When::List, then: Then::Observe, declares: None, initialized: true };
        while self.health.check_usable().is_ok() && !self.listed.contains_key(&revision) {
            self.stop().await;
            let mut live = match ServedFixture::meet(&self.target, server, revision, Bindings::default()) {
                Ok(live) => live,
                // The next test may find room again.
                Err(error @ StartError::NoRoom { .. }) => return Err(error.to_string()),
                Err(error) => {
                    self.health.give_up(error.to_string());
                    break;
                }
            };
            let seen = live.step(&list, canaries, Deadline::within(self.options.start_limit)).await;
            let words = live.stderr().clone();
            live.stop(&mut self.adapter, StopReason::Leave).await;
            match seen.end {
                End::Crash { how } => self.health.hung(&unanswered(revision, &how, &words.take())),
                End::Timeout if self.has_more_patience().await => {}
                End::Timeout => self.health.hung(&unanswered(revision, "no answer within the limit", &words.take())),
                _ => drop(self.listed.insert(revision, fixed::names(&seen.messages))),
            }
        }
        self.health.check_usable()
    }

    /// Sees to it that there is an adapter where one is needed, and that it once confirmed the target's claims.
    async fn ensure_adapter(&mut self, planned: &Planned) -> Result<(), String> {
        loop {
            self.health.check_usable()?;
            if self.adapter.is_some() || !self.by_adapter(planned) && self.health.confirmed {
                return Ok(());
            }
            match Adapter::start(&self.target, Deadline::within(self.options.start_limit)).await {
                Ok(adapter) => {
                    self.health.streams = adapter.hello().streams;
                    self.adapter = Some(adapter);
                    self.reuse = ConnectionReuse::default();
                    self.health.confirmed = true;
                }
                Err(StartError::Hello { trouble: Trouble::Hung, .. }) if self.has_more_patience().await => {}
                Err(error @ StartError::Hello { trouble: Trouble::Died(_) | Trouble::Hung, .. }) => {
                    self.health.hung(&error.to_string());
                }
                // The next test may find room again.
                Err(error @ StartError::NoRoom { .. }) => return Err(error.to_string()),
                // These don't change from one start to the next.
                Err(error) => self.health.give_up(error.to_string()),
            }
        }
    }

    /// Asks the target a test, with the places of the fixture filled in.
    async fn attempt(&mut self, planned: &Planned, canaries: &mut Canaries) -> Result<Transcript, CanaryError> {
        let deadline = Deadline::within(self.options.test_limit);
        let bindings = match &self.served {
            Some(live) => live.bindings().clone(),
            None => bind(&planned.test, planned.id.revision, canaries)?,
        };
        let mut transcript = self.blank(&planned.id, bindings, Served::Serving);
        transcript.stdio = planned.stdio.map(|_| self.mode(planned));
        self.ask(planned, canaries, deadline, &mut transcript).await;
        transcript.micros = deadline.micros();
        if matches!(self.target.drives, TargetKind::Adapter(_)) {
            // A fixed server's handshake is a part of its start, and counted there.
            self.stopwatch.shook_hands(&transcript.opening);
        }
        self.stopwatch.asked(&transcript.steps);
        Ok(transcript)
    }

    /// Serves the fixture, where it isn't served already, and performs the steps; or drives the client through them.
    async fn ask(&mut self, planned: &Planned, canaries: &Canaries, deadline: Deadline, transcript: &mut Transcript) {
        canaries.phase(Phase::Serve);
        self.adapter.iter().for_each(|adapter| drop(adapter.stderr().take()));
        if planned.test.role == Role::Client {
            let (target, bindings, options) = (&self.target, &transcript.bindings, &self.options);
            let driven = if let TargetKind::Fixed(Fixed::Client(client)) = &target.drives {
                let conversation =
                    fixed::converse(&mut self.listeners, target, client, planned, bindings, deadline, options);
                overheard(canaries, conversation).await
            } else {
                let adapter = self.adapter.as_mut().expect("a runner has an adapter before it drives a client");
                let variant = target.id.variant.as_deref();
                let conversation =
                    driving::converse(&mut self.listeners, adapter, variant, planned, bindings, deadline, options);
                overheard(canaries, conversation).await
            };
            Driven { served: transcript.served, steps: transcript.steps } = driven;
            return;
        }
        if self.served.is_none() {
            let bindings = transcript.bindings.clone();
            let began = Instant::now();
            let adapter = if self.by_adapter(planned) { self.adapter.as_mut() } else { None };
            match ServedFixture::start(&self.target, adapter, &mut self.reuse, planned, bindings, deadline).await {
                Ok(live) => {
                    let live = self.served.insert(live);
                    if matches!(self.target.drives, TargetKind::Fixed(_)) {
                        // Nobody says hello: until it answers, its start is not the first step's to pay for.
                        let serve = opening(planned);
                        let patience = deadline.narrowed(self.options.start_limit);
                        drop(live.step(&serve, canaries, patience).await);
                    }
                }
                Err(served) => transcript.served = served,
            }
            self.stopwatch.started(began);
        }
        if let Some(live) = &mut self.served {
            let step_limit = planned.test.step_limit(self.options.step_limit);
            transcript.steps = live.perform(&planned.test, canaries, deadline, step_limit).await;
            transcript.opening = live.take_opening();
        }
    }

    /// Takes down what the next test can't use, and completes the transcript with what that shows.
    async fn clear_up(&mut self, planned: &Planned, next: Option<&Planned>, transcript: &mut Transcript) {
        let kept =
            self.served.as_ref().map(ServedFixture::stderr).or(self.adapter.as_ref().map(Adapter::stderr)).cloned();
        let test = &planned.test;
        if is_sound(transcript) && next.is_some_and(|next| shares(test, &next.test)) {
            self.health.hangs = 0;
            transcript.stderr = kept.map(|kept| kept.take()).unwrap_or_default();
            return;
        }
        let (manner, was_served) = (manner(transcript), self.served.is_some());
        let mut stopped = match self.served.take() {
            Some(live) => live.stop(&mut self.adapter, manner).await,
            None => None,
        };
        // With what it served, it was let go, or found to be sound.
        if self.by_adapter(planned)
            && (test.isolated || manner != StopReason::Leave && !was_served)
            && let Some(adapter) = self.adapter.take()
        {
            stopped = Some(adapter.end(manner).await);
        }
        transcript.stderr = kept.map(|kept| kept.take()).unwrap_or_default();
        if let Some(stopped) = &stopped {
            complete(transcript, stopped, matches!(self.target.drives, TargetKind::Adapter(_)));
        }
        self.count(transcript, stopped.as_ref(), planned);
    }

    fn count(&mut self, transcript: &Transcript, stopped: Option<&Stopped>, planned: &Planned) {
        let test = &planned.test;
        match manner(transcript) {
            // An adapter stays, unless it could not take its fixture down.
            StopReason::Leave if self.by_adapter(planned) && !test.isolated && stopped.is_some() => {
                self.health.restarted("it did not stop serving a fixture");
            }
            StopReason::Leave => self.health.hangs = 0,
            StopReason::Broken => {
                self.health.hangs = 0;
                if let Some(stopped) = stopped.filter(|stopped| stopped.died) {
                    self.health.restarted(&stopped.how);
                }
            }
            StopReason::Hung => {
                let how = format!("{} hung", transcript.test);
                self.health.restarted(&how);
                // What a heavy test starves says nothing of the next test.
                if !(test.heavy || is_large(&test.given)) {
                    self.health.hung(&how);
                }
            }
        }
    }

    /// Returns whether it is the adapter's process that does the work, and not one that is started for the test.
    fn by_adapter(&self, planned: &Planned) -> bool {
        planned.id.transport == Transport::Http
            || planned.test.role == Role::Client
            || self.mode(planned) != StdioMode::Process
    }

    /// The way in which a server is served over stdio: a process, where its adapter knows no other.
    fn mode(&self, planned: &Planned) -> StdioMode {
        let chosen = planned.stdio.filter(|_| self.health.streams);
        chosen.unwrap_or(StdioMode::Process)
    }

    fn blank(&self, test: &TestId, bindings: Bindings, served: Served) -> Transcript {
        Transcript { bindings, ..Transcript::blank(self.target.id.clone(), test.clone(), served) }
    }
}

/// A step that only connects, as the first of a test does.
fn opening(planned: &Planned) -> Step {
    let first = planned.test.steps.first();
    let declares = first.and_then(|step| step.declares.clone());
    Step { when: When::Serve, then: Then::Observe, declares, initialized: first.is_none_or(|step| step.initialized) }
}

/// How the test ended, as far as the process is concerned.
fn last_end(transcript: &Transcript) -> Option<&End> {
    match &transcript.served {
        Served::Failed { end, .. } => Some(end),
        _ => transcript.steps.last().map(|step| &step.end),
    }
}

fn manner(transcript: &Transcript) -> StopReason {
    let failed = matches!(transcript.served, Served::Failed { .. });
    match last_end(transcript) {
        Some(End::Crash { .. }) => StopReason::Broken,
        Some(End::Timeout) => StopReason::Hung,
        Some(_) if failed => StopReason::Hung,
        _ => StopReason::Leave,
    }
}

/// Whether the connection is as good as new.
fn is_sound(transcript: &Transcript) -> bool {
    let sound = |step: &StepTranscript| {
        matches!(step.end, End::Replied { .. } | End::Accepted | End::Handed | End::Unanswered | End::Http { .. })
    };
    transcript.served == Served::Serving && transcript.steps.iter().all(sound)
}

/// Whether the target was gone before it said anything in this test.
fn is_unheard(transcript: &Transcript) -> bool {
    let Transcript { served, opening, steps, .. } = transcript;
    let messages = || steps.iter().flat_map(|step| &step.messages).chain(opening);
    let is_gone = match served {
        Served::Failed { end, .. } => matches!(end, End::Crash { .. }),
        Served::Serving => steps.first().is_some_and(|step| matches!(step.end, End::Crash { .. })),
        Served::Refused { .. } | Served::Cannot { .. } | Served::Broken { .. } | Served::Unavailable { .. } => false,
    };
    is_gone && messages().all(|message| message.from == Party::Harness)
}

/// What is said of a server that gave no list.
fn unanswered(revision: Revision, how: &str, stderr: &str) -> String {
    format!("the server gave no list of its tools on {revision}: {how}{}", with_stderr(stderr))
}

/// Writes down what the end of the process shows. Only an adapter's can show why there is no server.
fn complete(transcript: &mut Transcript, stopped: &Stopped, by_adapter: bool) {
    transcript.leaky = stopped.leaky;
    let stdio = transcript.test.transport == Transport::Stdio;
    // A process that wrote a JSON object was a server, whatever it writes when it exits. Other lines are noise, such as
    // the greeting of a logging library.
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
