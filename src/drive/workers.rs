//! Workers that carry out a plan, each with a thread and target processes of its own.
//!
//! Takes a [`Plan`], passes each [`Transcript`] to a function of the caller, in the thread of its worker. Must not know
//! expectations, levels or known failures.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::drive::canary::{Canaries, CanaryError};
use crate::drive::event::{Cancel, Ended, Event, Finish, Next};
use crate::drive::fault::{self, Bugs};
use crate::drive::health::GivenUp;
use crate::drive::options::{Lane, Options};
use crate::drive::pair::runner::PairRunner;
use crate::drive::runner::TargetRunner;
use crate::drive::turns::{Turn, Turns};
use crate::model::target::{Target, TargetKind};
use crate::model::transcript::{Served, Transcript};
use crate::plan::{Group, Plan, Planned};

/// The time after which a running test is reported as slow, beyond the time for which it waits by design.
const SLOW: Duration = Duration::from_secs(2);

/// Carries out a plan. Failures of a target, and missing resources of the machine, become part of a transcript.
pub(crate) async fn drive<T: Send + 'static>(
    turns: Arc<Turns>,
    plan: Arc<Plan>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    finish: Finish<T>,
    events: mpsc::Sender<Event<T>>,
) -> Ended {
    let waiting = options.waiting_workers(&plan);
    let hard = waiting + options.hard_workers();
    let lane = |place: usize| options.lane(&plan.groups[place]);
    let queue = Arc::new(Queue::new(&options.order(&plan), lane));
    let given_up = GivenUp::default();
    // Declared first, so that it is dropped last: it waits for the threads after the values below have stopped them.
    let mut threads = Threads::default();
    // When `_wanted` is dropped, all workers stop.
    let (_wanted, unwanted) = watch::channel(());
    let (ending, mut ends) = mpsc::unbounded_channel();
    let mut idle = None;
    for number in 0..options.workers(&plan) {
        let takes = match number {
            _ if number < waiting => Lane::Waiting,
            _ if number < hard => Lane::Hard,
            _ => Lane::Plain,
        };
        let (plan, queue, options) = (Arc::clone(&plan), Arc::clone(&queue), options.clone());
        let (given_up, turns, bugs) = (given_up.clone(), Arc::clone(&turns), Bugs::default());
        let (cancel, unwanted) = (cancel.clone(), unwanted.clone());
        let (finish, events) = (Arc::clone(&finish), events.clone());
        let worker = Worker { plan, queue, takes, given_up, turns, options, cancel, finish, events, bugs };
        let ending = ending.clone();
        // A blocking task would wait for a thread of the runtime, which may have none left.
        let thread = std::thread::Builder::new().spawn(move || {
            let worked = std::panic::catch_unwind(AssertUnwindSafe(|| worker.run_in_thread(unwanted)));
            _ = ending.send(worked);
        });
        match thread {
            Ok(thread) => threads.0.push(thread),
            Err(error) => idle = Some(error),
        }
    }
    drop(ending);
    let mut ended = Ended::Whole;
    while let Some(worked) = ends.recv().await {
        match worked {
            Ok(Ok(Ended::Whole)) => {}
            Ok(Ok(Ended::Interrupted)) => ended = Ended::Interrupted,
            Ok(Err(error)) => idle = Some(error),
            Err(bug) => std::panic::resume_unwind(bug),
        }
    }
    // The other workers do the work of one that could not start. If none could, each test gets the reason.
    while let Some(place) = queue.next(&plan, Lane::Hard, None) {
        let group = &plan.groups[place];
        for planned in &group.tests {
            let Some(why) = idle.as_ref().filter(|_| *cancel.borrow() == Cancel::Go) else { return Ended::Interrupted };
            let served = Served::Unavailable { reason: format!("casebook cannot start a worker: {why}") };
            let transcript = Transcript::blank(group.target.id.clone(), planned.id.clone(), served);
            if hand_over(&finish, &events, planned, transcript).await.is_none() {
                return Ended::Interrupted;
            }
        }
    }
    ended
}

/// Returns whether a process of the target can serve both groups, if it stays sound. Most of the time of a fixed server is
/// the start of its process; an adapter builds a server of its own for each fixture.
fn keeps_process(group: &Group, next: &Group) -> bool {
    let is_same =
        (&group.target.id, group.revision, group.transport) == (&next.target.id, next.revision, next.transport);
    let steps = || group.tests.iter().flat_map(|planned| &planned.test.steps);
    // What such a message breaks in a server must not be taken for a fault of the next case.
    group.target.is_fixed_server() && is_same && !steps().any(|step| step.when.is_malformed())
}

/// Returns whether a worker with the processes of one group can use some of them for the other group: those of a fixed
/// server, or of the server of a pair. The clients of pairs are fewer than their servers, and each worker keeps them all.
fn shares_process(one: &Group, other: &Group) -> bool {
    match (&one.target.drives, &other.target.drives) {
        (TargetKind::Pair(one), TargetKind::Pair(other)) => one.server.shares_adapter(&other.server),
        _ => keeps_process(one, other),
    }
}

/// The runner of a worker: of one target, or of all pairs.
#[derive(Debug)]
enum Runner {
    One(Box<TargetRunner>),
    Pairs(Box<PairRunner>),
}

impl Runner {
    fn new(target: Arc<Target>, options: Options, given_up: GivenUp) -> Self {
        match &target.drives {
            TargetKind::Pair(_) => Self::Pairs(Box::new(PairRunner::new(target, options, given_up))),
            _ => Self::One(Box::new(TargetRunner::new(target, options, given_up))),
        }
    }

    /// Returns this runner for the tests of a target, or as an error if it cannot run them.
    fn turned_to(mut self, target: &Arc<Target>) -> Result<Self, Self> {
        match &mut self {
            Self::One(runner) if runner.is_of(target) => Ok(self),
            Self::Pairs(runner) if matches!(target.drives, TargetKind::Pair(_)) => {
                runner.turn_to(target);
                Ok(self)
            }
            Self::One(_) | Self::Pairs(_) => Err(self),
        }
    }

    async fn run(
        &mut self,
        planned: &Planned,
        next: Option<&Planned>,
        canaries: &mut Canaries,
        turn: &mut Turn<'_>,
    ) -> Result<Transcript, CanaryError> {
        match self {
            Self::One(runner) => runner.run(planned, next, canaries, turn).await,
            Self::Pairs(runner) => runner.run(planned, canaries, turn).await,
        }
    }

    fn without_canaries(&self, planned: &Planned, error: &CanaryError) -> Transcript {
        match self {
            Self::One(runner) => runner.without_canaries(planned, error),
            Self::Pairs(runner) => runner.without_canaries(planned, error),
        }
    }

    fn after_panic(&mut self, planned: &Planned, words: &str) -> Transcript {
        match self {
            Self::One(runner) => runner.after_panic(planned, words),
            Self::Pairs(runner) => runner.after_panic(planned, words),
        }
    }

    async fn restart(&mut self) {
        match self {
            Self::One(runner) => runner.restart().await,
            Self::Pairs(runner) => runner.restart().await,
        }
    }

    async fn end(self) {
        match self {
            Self::One(runner) => runner.end().await,
            Self::Pairs(runner) => runner.end().await,
        }
    }
}

/// The threads of the workers. Dropping this value waits until they have ended.
#[derive(Default)]
struct Threads(Vec<JoinHandle<()>>);

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            // A worker sends its error through the channel, so the thread's own result is not needed.
            _ = thread.join();
        }
    }
}

/// Waits until the caller asks for this degree of cancellation; forever if the caller is gone.
async fn reached(cancel: &mut watch::Receiver<Cancel>, wanted: Cancel) {
    if cancel.wait_for(|cancel| *cancel == wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The groups of a plan. Each worker takes the next one.
struct Queue(Mutex<Groups>);

/// The indices of groups in the plan.
struct Groups {
    /// The plain ones that no worker has taken, in order.
    left: VecDeque<usize>,
    /// The hard ones, in order.
    hard: VecDeque<usize>,
    /// Those that wait, in order.
    waiting: VecDeque<usize>,
    /// Those that were taken: one for each process that other groups can use.
    taken: Vec<usize>,
}

impl Queue {
    /// Queues the groups in this order.
    fn new(order: &[usize], lane: impl Fn(usize) -> Lane) -> Self {
        let of = |wanted: Lane| order.iter().copied().filter(|place| lane(*place) == wanted).collect();
        let (left, hard, waiting) = (of(Lane::Plain), of(Lane::Hard), of(Lane::Waiting));
        Self(Mutex::new(Groups { left, hard, waiting, taken: Vec::new() }))
    }

    /// Takes a group: after `last`, one that can use its process; otherwise one whose process no worker has; or the first
    /// one.
    fn next(&self, plan: &Plan, takes: Lane, last: Option<&Group>) -> Option<usize> {
        let mut groups = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hard = (takes == Lane::Hard).then(|| groups.hard.pop_front()).flatten();
        if hard.is_some() {
            return hard;
        }
        if takes == Lane::Waiting || groups.left.is_empty() {
            return groups.waiting.pop_front();
        }
        let of = |place: &usize| &plan.groups[*place];
        let shares = |one: &Group| groups.left.iter().position(|place| shares_process(one, of(place)));
        let is_served = |place: &usize| groups.taken.iter().any(|other| shares_process(of(other), of(place)));
        let unserved = || groups.left.iter().position(|place| !is_served(place));
        let can_share = groups.left.front().is_some_and(|place| shares_process(of(place), of(place)));
        let choice = can_share.then(|| last.and_then(shares).or_else(unserved)).flatten().unwrap_or(0);
        let is_new = can_share && groups.left.get(choice).is_some_and(|place| !is_served(place));
        let place = groups.left.remove(choice)?;
        if is_new {
            groups.taken.push(place);
        }
        Some(place)
    }
}

/// Takes one group after another, and runs its tests on target processes of its own.
struct Worker<T> {
    plan: Arc<Plan>,
    queue: Arc<Queue>,
    takes: Lane,
    given_up: GivenUp,
    turns: Arc<Turns>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    finish: Finish<T>,
    events: mpsc::Sender<Event<T>>,
    /// The panics of the tasks that this worker spawned.
    bugs: Bugs,
}

impl<T: Send + 'static> Worker<T> {
    /// Runs the worker in its own thread and runtime: a message does not have to wake another thread, and no other
    /// worker's test waits while this one reads a large message.
    fn run_in_thread(self, mut unwanted: watch::Receiver<()>) -> std::io::Result<Ended> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (bugs, mut cancel) = (self.bugs.clone(), self.cancel.clone());
        // The work is a task because each wake-up of the future passed to `block_on` costs a system call.
        let working = runtime.spawn(bugs.scope(self.work()));
        // Dropping the runtime drops unfinished work, which kills its processes.
        Ok(runtime.block_on(async {
            tokio::select! {
                ended = working => ended.unwrap_or_else(|bug| std::panic::resume_unwind(bug.into_panic())),
                () = reached(&mut cancel, Cancel::Now) => Ended::Interrupted,
                _ = unwanted.changed() => Ended::Interrupted,
            }
        }))
    }

    async fn work(self) -> Ended {
        let mut canaries = Canaries::default();
        let mut runner: Option<Runner> = None;
        let mut ended = Ended::Whole;
        let mut place = self.queue.next(&self.plan, self.takes, None);
        while let Some(group) = place.map(|place| &self.plan.groups[place]) {
            // Taken early only where it tells the runner to keep a process.
            let next = group.target.is_fixed_server().then(|| self.queue.next(&self.plan, self.takes, Some(group)));
            let further =
                next.flatten().map(|place| &self.plan.groups[place]).filter(|next| keeps_process(group, next));
            let target = canaries.behind_proxy(&group.target);
            let mut fit = match runner.take().map(|runner| runner.turned_to(&target)) {
                Some(Ok(fit)) => fit,
                other => {
                    self.leave(other.and_then(Result::err)).await;
                    Runner::new(target, self.options.clone(), self.given_up.clone())
                }
            };
            ended = self.group(group, further, &mut fit, &mut canaries).await;
            runner = Some(fit);
            if ended == Ended::Interrupted {
                break;
            }
            place = next.unwrap_or_else(|| self.queue.next(&self.plan, self.takes, Some(group)));
        }
        self.leave(runner).await;
        ended
    }

    async fn leave(&self, runner: Option<Runner>) {
        if let Some(runner) = runner {
            runner.end().await;
        }
    }

    /// Runs the tests of a group, and keeps a process for the group `further`.
    async fn group(
        &self,
        group: &Group,
        further: Option<&Group>,
        runner: &mut Runner,
        canaries: &mut Canaries,
    ) -> Ended {
        let mut place = 0;
        while let Some(planned) = group.tests.get(place) {
            let mut turn = self.turns.next().await;
            if *self.cancel.borrow() != Cancel::Go {
                return Ended::Interrupted;
            }
            let next = group.tests.get(place + 1).or_else(|| further?.tests.first());
            let running = Box::pin(runner.run(planned, next, canaries, &mut turn));
            let running = fault::caught_in(watched(&self.events, planned, running));
            let seen = tokio::select! {
                seen = running => Some(seen),
                () = self.bugs.wait() => None,
            };
            let transcript = match (self.bugs.take(), seen) {
                (None, Some(Ok(seen))) => seen.unwrap_or_else(|error| runner.without_canaries(planned, &error)),
                (Some(words), _) | (None, Some(Err(words))) => runner.after_panic(planned, &words),
                (None, None) => unreachable!("only a worker takes the words of its bugs"),
            };
            drop(turn);
            match hand_over(&self.finish, &self.events, planned, transcript).await {
                None => return Ended::Interrupted,
                Some(Next::On) => place += 1,
                Some(Next::Again) => runner.restart().await,
            }
        }
        Ended::Whole
    }
}

/// Waits for a test, and reports it as slow, each time after twice as long.
async fn watched<T, R>(
    events: &mpsc::Sender<Event<T>>,
    planned: &Planned,
    mut running: impl Future<Output = R> + Unpin,
) -> R {
    let began = Instant::now();
    let by_design = Duration::from_secs(planned.test.wait(planned.id.transport).into());
    let mut patience = SLOW;
    loop {
        tokio::select! {
            done = &mut running => return done,
            () = sleep_until(began + by_design + patience) => {
                // If the channel is full, this report is dropped rather than delaying the test.
                _ = events.try_send(Event::Slow { index: planned.index, after: began.elapsed() });
                patience *= 2;
            }
        }
    }
}

/// Finishes a test. Returns `None` if the caller no longer listens. The place in the channel is reserved before the
/// caller's function runs, so that no other event comes between the two.
async fn hand_over<T>(
    finish: &Finish<T>,
    events: &mpsc::Sender<Event<T>>,
    planned: &Planned,
    transcript: Transcript,
) -> Option<Next> {
    let room = events.reserve().await.ok()?;
    let (next, seen) = finish(planned, Box::new(transcript));
    if let Some(seen) = seen {
        room.send(Event::Finished { index: planned.index, seen });
    }
    Some(next)
}

// The adapter of these tests is a script for a POSIX shell.
#[cfg(all(test, unix))]
pub(crate) mod tests;
