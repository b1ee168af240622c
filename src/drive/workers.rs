//! A plan carried out by several workers, each with a thread and processes of its own.
//!
//! Takes a [`Plan`], gives each [`Transcript`] to a function of the caller's, in the thread in which it was made. Must
//! not know expectations, levels or known failures.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::drive::canary::Canaries;
use crate::drive::event::{Cancel, Ended, Event, Finish, Next};
use crate::drive::fault::{self, Bugs};
use crate::drive::options::Options;
use crate::drive::overload::Machine;
use crate::drive::runner::{GivenUp, TargetRunner};
use crate::model::TargetId;
use crate::model::timings::Spent;
use crate::model::transcript::{Served, Transcript};
use crate::plan::{Group, Plan, Planned};

/// The time after which a test is reported as slow, and each time again.
const SLOW: Duration = Duration::from_secs(2);

/// Carries out a plan. Whatever a target does becomes part of a transcript; so does whatever this machine lacks.
pub async fn drive<T: Send + 'static>(
    plan: Arc<Plan>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    finish: Finish<T>,
    events: mpsc::Sender<Event<T>>,
) -> Ended {
    drive_on(Machine::default(), plan, options, cancel, finish, events).await
}

/// Carries out a plan on a machine.
async fn drive_on<T: Send + 'static>(
    machine: Machine,
    plan: Arc<Plan>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    finish: Finish<T>,
    events: mpsc::Sender<Event<T>>,
) -> Ended {
    let machine = Arc::new(machine);
    let queue = Arc::new(Queue { order: options.order(&plan), taken: AtomicUsize::new(0) });
    let given_up = GivenUp::default();
    // Waits for the threads, after what is declared behind it was dropped.
    let mut threads = Threads::default();
    // Dropped, it ends what is at work.
    let (_wanted, unwanted) = watch::channel(());
    let (ending, mut ends) = mpsc::unbounded_channel();
    let mut idle = None;
    for _ in 0..options.workers(&plan) {
        let (plan, queue, options) = (Arc::clone(&plan), Arc::clone(&queue), options.clone());
        let (given_up, machine, bugs) = (given_up.clone(), Arc::clone(&machine), Bugs::default());
        let (cancel, unwanted) = (cancel.clone(), unwanted.clone());
        let (finish, events) = (Arc::clone(&finish), events.clone());
        let worker = Worker { plan, queue, given_up, machine, options, cancel, finish, events, bugs };
        let ending = ending.clone();
        // Not a task: a runtime lets a task wait for a thread that it can't have.
        let thread = std::thread::Builder::new().spawn(move || {
            let worked = std::panic::catch_unwind(AssertUnwindSafe(|| worker.on_its_own(unwanted)));
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
    // The work of a worker that could not begin is done by the others, where there is one.
    while let Some(place) = queue.next() {
        let group = &plan.groups[place];
        for planned in &group.tests {
            let Some(why) = idle.as_ref().filter(|_| *cancel.borrow() == Cancel::Go) else { return Ended::Interrupted };
            let served = Served::Unavailable { reason: format!("the harness cannot start a worker: {why}") };
            let transcript = Transcript::blank(group.target.id.clone(), planned.id.clone(), served);
            if hand_over(&finish, &events, group, planned, transcript).await.is_none() {
                return Ended::Interrupted;
            }
        }
    }
    ended
}

/// The threads of the workers. Dropped, it waits until they have ended.
#[derive(Default)]
struct Threads(Vec<JoinHandle<()>>);

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            // A worker's error is sent, and not left to its thread.
            _ = thread.join();
        }
    }
}

/// Waits until that much is to be cancelled; for ever, where nobody is left who could.
async fn reached(cancel: &mut watch::Receiver<Cancel>, wanted: Cancel) {
    if cancel.wait_for(|cancel| *cancel == wanted).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The groups of a plan, of which each worker takes the next.
struct Queue {
    /// Their places in the plan.
    order: Vec<usize>,
    taken: AtomicUsize,
}

impl Queue {
    fn next(&self) -> Option<usize> {
        self.order.get(self.taken.fetch_add(1, Ordering::Relaxed)).copied()
    }
}

/// Takes groups, one after the other, and runs them on processes of its own.
struct Worker<T> {
    plan: Arc<Plan>,
    queue: Arc<Queue>,
    given_up: GivenUp,
    machine: Arc<Machine>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    finish: Finish<T>,
    events: mpsc::Sender<Event<T>>,
    /// Of whatever it spawned.
    bugs: Bugs,
}

impl<T: Send + 'static> Worker<T> {
    /// Works in a thread of its own, with all that belongs to it: what a test sends and hears doesn't have to wake
    /// other threads, and no other worker's test waits while something large is read.
    fn on_its_own(self, mut unwanted: watch::Receiver<()>) -> std::io::Result<Ended> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (bugs, mut cancel) = (self.bugs.clone(), self.cancel.clone());
        // As a task: what wakes the future that a runtime waits for goes through the system each time.
        let working = runtime.spawn(bugs.scope(self.work()));
        // What is dropped half-way, with the runtime, kills its processes.
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
        let mut runner: Option<TargetRunner> = None;
        let mut ended = Ended::Whole;
        self.machine.enter();
        // A worker that was dismissed from an overloaded machine leaves the rest of the queue to the others.
        let mut is_dismissed = false;
        while !is_dismissed && let Some(place) = self.queue.next() {
            let group = &self.plan.groups[place];
            let mut fit = match runner.take() {
                Some(fit) if fit.is_of(&group.target) => fit,
                other => {
                    self.leave(other).await;
                    let machine = Arc::clone(&self.machine);
                    TargetRunner::new(Arc::clone(&group.target), self.options.clone(), machine, self.given_up.clone())
                }
            };
            ended = self.group(group, &mut fit, &mut canaries).await;
            self.account(fit.spent()).await;
            runner = Some(fit);
            if ended == Ended::Interrupted {
                break;
            }
            is_dismissed = self.machine.dismisses();
        }
        if !is_dismissed {
            self.machine.leave();
        }
        self.leave(runner).await;
        ended
    }

    async fn leave(&self, runner: Option<TargetRunner>) {
        if let Some(runner) = runner {
            self.account(runner.end().await).await;
        }
    }

    /// Tells what was spent; where nobody hears it, nobody wants to know.
    async fn account(&self, (target, spent): (TargetId, Spent)) {
        _ = self.events.send(Event::Spent { target, spent }).await;
    }

    async fn group(&self, group: &Group, runner: &mut TargetRunner, canaries: &mut Canaries) -> Ended {
        let mut place = 0;
        while let Some(planned) = group.tests.get(place) {
            if *self.cancel.borrow() != Cancel::Go {
                return Ended::Interrupted;
            }
            let running = Box::pin(runner.run(planned, group.tests.get(place + 1), canaries));
            let running = fault::caught_in(self.watched(planned, running));
            let seen = tokio::select! {
                seen = running => Some(seen),
                () = self.bugs.come() => None,
            };
            let transcript = match (self.bugs.take(), seen) {
                (None, Some(Ok(seen))) => seen.unwrap_or_else(|error| runner.saw_nothing(planned, &error)),
                (Some(words), _) | (None, Some(Err(words))) => runner.broke(planned, &words),
                (None, None) => unreachable!("only a worker takes the words of its bugs"),
            };
            if let Some(notice) = self.machine.take_notice() {
                _ = self.events.send(Event::Overloaded(notice.to_owned())).await;
            }
            match hand_over(&self.finish, &self.events, group, planned, transcript).await {
                None => return Ended::Interrupted,
                Some(Next::On) => place += 1,
                Some(Next::Again) => runner.renew().await,
            }
        }
        Ended::Whole
    }

    /// Waits for a test, and tells when it takes long.
    async fn watched<R>(&self, planned: &Planned, mut running: impl Future<Output = R> + Unpin) -> R {
        let began = Instant::now();
        // One that ticks at once would wait for the timer's next millisecond to do so, with the test behind it.
        let mut tick = interval_at(began + SLOW, SLOW);
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                done = &mut running => return done,
                now = tick.tick() => {
                    // A display that doesn't keep up misses a line; the test goes on.
                    _ = self.events.try_send(Event::Slow { index: planned.index, after: now - began });
                    if let Ok(room) = self.events.try_reserve()
                        && let Some(notice) = self.machine.take_notice()
                    {
                        room.send(Event::Overloaded(notice.to_owned()));
                    }
                }
            }
        }
    }
}

/// Finishes a test; `None` where nobody is told any more. There is room to tell of it before it is finished, so that
/// nothing comes between the two.
async fn hand_over<T>(
    finish: &Finish<T>,
    events: &mpsc::Sender<Event<T>>,
    group: &Group,
    planned: &Planned,
    transcript: Transcript,
) -> Option<Next> {
    let room = events.reserve().await.ok()?;
    let (next, seen) = finish(group, planned, Box::new(transcript));
    if let Some(seen) = seen {
        room.send(Event::Finished { index: planned.index, seen });
    }
    Some(next)
}

#[cfg(test)]
mod tests;
