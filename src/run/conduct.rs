//! Runs a plan. Each worker observes, judges and writes a test in its own thread before its next test begins.
//!
//! Takes a plan and a judge, gives records in the order of the plan, and keeps none of them. Must not know the form of
//! reports. Records and transcripts pass [`Bounds`] before they leave this module, so they have no [`Secrets`] and a
//! bounded length.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::attempts::{after, decide, is_worth_another};
use super::bounds::Bounds;
use super::{InOrder, Log, LogError, Secrets};
use crate::drive::{Cancel, Ended, Event, Finish, Next, Options, Turns, caught, drive};
use crate::judge::{Judge, observe};
use crate::model::observation::Observation;
use crate::model::record::{Footer, Record, Verdict};
use crate::model::transcript::{Served, StdioMode, Transcript};
use crate::model::verdict::{Meaning, VerdictKind};
use crate::model::{TargetId, TestId};
use crate::plan::{Group, Plan, Planned};

/// The number of events that may wait to be handled.
const WAITING: usize = 64;

/// A progress event of a run.
#[derive(Debug)]
pub enum Seen<'a> {
    /// A test has been running for this time and has not ended.
    Slow(&'a TargetId, &'a TestId, Duration),
    /// A test has been judged. These events are in the order of the plan.
    Judged(&'a Record, &'a Transcript),
}

/// The result of a run.
#[derive(Debug)]
pub struct Conducted {
    /// The end of the run.
    pub footer: Footer,
    /// The number of tests that timed out and were run again alone.
    pub repeated: usize,
    /// The run log, which lacks the footer.
    pub log: Unfinished,
    /// The error that ended the run before the end of its plan. A request to stop is not an error.
    pub broken: Option<RunError>,
}

/// An error in casebook outside of any test, which ends the run.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RunError(String);

/// Runs a plan. No behaviour of a target ends the run early.
pub async fn conduct(
    plan: Arc<Plan>,
    judge: Judge,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    log: Option<Log>,
    mut see: impl FnMut(Seen<'_>),
) -> Conducted {
    let began = std::time::Instant::now();
    let planned: Vec<_> = plan.tests().collect();
    let finisher = Arc::new(Finisher::new(&plan, judge, log, options.retries));
    let mut order = InOrder::<Judged>::default();
    let (sender, mut events) = mpsc::channel(WAITING);
    let finishing = Arc::clone(&finisher);
    let finish: Finish<Judged> = Arc::new(move |planned, seen| finishing.finish(planned, seen));
    let repetitions = options.repetitions;
    let judging = Arc::clone(&finisher);
    let turns = Arc::new(Turns::new(repetitions, move |planned, seen| judging.is_unexpected(planned, seen)));
    let driving = tokio::spawn(drive(Arc::clone(&turns), Arc::clone(&plan), options, cancel, finish, sender));
    let mut ran = 0;
    while let Some(event) = events.recv().await {
        match event {
            Event::Slow { index, after } => {
                let (group, planned) = planned[index];
                see(Seen::Slow(&group.target.id, &planned.id, after));
            }
            Event::Finished { index, seen } => {
                ran += 1;
                order.put(index, seen);
                while let Some((record, transcript)) = order.take() {
                    see(Seen::Judged(&record, &transcript));
                }
            }
        }
    }
    let ended = driving.await.map_err(|bug| RunError(bug.to_string()));
    // A stopped run has not repeated these tests, so their last attempt counts.
    for (index, (record, transcript)) in std::mem::take(&mut *locked(&finisher.tried)) {
        finisher.append(&record, &transcript);
        ran += 1;
        order.put(index, (record, transcript));
    }
    for (record, transcript) in order.rest() {
        see(Seen::Judged(&record, &transcript));
    }
    let footer = Footer {
        ran,
        interrupted: !matches!(ended, Ok(Ended::Whole)),
        // In a partial run, a known failure may fail in a test that was not run.
        stale: if plan.is_partial { Vec::new() } else { finisher.reading().stale() },
        // The caller compares the observations with the snapshots.
        snapshots: Vec::new(),
        micros: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        cut: locked(&finisher.bounds).cuts(),
    };
    let log = std::mem::take(&mut *locked(&finisher.log));
    Conducted { footer, repeated: repetitions - turns.left(), log, broken: ended.err() }
}

/// The record of a test and the transcript that it was judged by.
type Judged = (Record, Box<Transcript>);

/// The shared state with which workers finish their tests, each in its own thread. No lock is held while a transcript is
/// observed, and only a shared lock while it is judged.
struct Finisher {
    judge: RwLock<Judge>,
    secrets: BTreeMap<TargetId, Secrets>,
    bounds: Mutex<Bounds>,
    log: Mutex<Unfinished>,
    /// The tests that are to be repeated, with their results so far, by their places in the plan.
    tried: Mutex<BTreeMap<usize, Judged>>,
    retries: usize,
}

impl Finisher {
    fn new(plan: &Plan, judge: Judge, log: Option<Log>, retries: usize) -> Self {
        Self {
            judge: RwLock::new(judge),
            secrets: secrets(plan),
            bounds: Mutex::default(),
            log: Mutex::new(Unfinished { log, unsaved: None }),
            tried: Mutex::default(),
            retries,
        }
    }

    /// Judges a test, and writes it to the run log unless it is to be repeated.
    fn finish(&self, planned: &Planned, mut transcript: Box<Transcript>) -> (Next, Option<Judged>) {
        let Planned { index, id, test, .. } = planned;
        let judge = |seen: &Observation| self.reading().verdicts(&transcript.target, test, id, seen);
        let mut record = judged(judge, planned, &transcript);
        if record.observation.unavailable.is_none() {
            // The second transcript is needed only to show a difference.
            transcript.process = None;
        }
        // Bounded now, because both may wait in memory for earlier tests to end.
        locked(&self.bounds).keep(&self.secrets[&transcript.target], &mut record, &mut transcript);
        if let Some((earlier, _)) = locked(&self.tried).remove(index) {
            record = after(earlier, record);
        }
        if record.attempts.len() < self.retries && is_worth_another(&record) {
            locked(&self.tried).insert(*index, (record, transcript));
            return (Next::Again, None);
        }
        let mut judge = self.judge.write().unwrap_or_else(PoisonError::into_inner);
        judge.keep(&record.target, test, id, &record.observation, &record.verdicts);
        drop(judge);
        decide(&mut record);
        self.append(&record, &transcript);
        (Next::On, Some((record, transcript)))
    }

    /// Returns whether a result is bad or undecided, and not known to be.
    fn is_unexpected(&self, planned: &Planned, transcript: &Transcript) -> bool {
        let judge = |seen: &Observation| self.reading().verdicts(&transcript.target, &planned.test, &planned.id, seen);
        let verdicts = judged(judge, planned, transcript).verdicts;
        verdicts.iter().any(|verdict| match verdict.kind.meaning() {
            Meaning::Broken => verdict.kind != VerdictKind::Known,
            Meaning::Undecided => verdict.kind != VerdictKind::KnownInconclusive,
            Meaning::Option => true,
            Meaning::Holds | Meaning::Aside => false,
        })
    }

    fn append(&self, record: &Record, transcript: &Transcript) {
        locked(&self.log).append(record, transcript);
    }

    fn reading(&self) -> RwLockReadGuard<'_, Judge> {
        self.judge.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run log without its footer, until it cannot be written.
#[derive(Debug, Default)]
pub struct Unfinished {
    log: Option<Log>,
    unsaved: Option<LogError>,
}

impl Unfinished {
    /// Writes a test. After an error, no further test is written.
    fn append(&mut self, record: &Record, transcript: &Transcript) {
        if let Some(open) = &mut self.log
            && let Err(error) = open.append(record, transcript)
        {
            *self = Self { log: None, unsaved: Some(error) };
        }
    }

    /// Writes the footer. Returns the error after which the run log was not continued, if any.
    pub fn finish(self, footer: Footer) -> Option<LogError> {
        self.log.map_or(self.unsaved, |log| log.finish(footer).err())
    }
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the secrets of each target.
fn secrets(plan: &Plan) -> BTreeMap<TargetId, Secrets> {
    let mut secrets = BTreeMap::new();
    for Group { target, .. } in &plan.groups {
        secrets.entry(target.id.clone()).or_insert_with(|| Secrets::of(target));
    }
    secrets
}

fn judged(judge: impl Fn(&Observation) -> Vec<Verdict>, planned: &Planned, transcript: &Transcript) -> Record {
    let Planned { index, test, id, .. } = planned;
    let mut stdio = transcript.stdio;
    let seen = caught(|| {
        let mut observation = observe(test, transcript);
        if let Some(process) = &transcript.process {
            let process = observe(test, process);
            if process.unavailable.is_some() {
                stdio = Some(StdioMode::Stream);
            }
            let differs = process.unavailable.is_none().then(|| observation.difference(&process)).flatten();
            observation.unavailable = observation.unavailable.or(differs.map(|difference| two_ways(&difference)));
        }
        let verdicts = judge(&observation);
        (observation, verdicts)
    });
    let bug = seen.is_err() || matches!(transcript.served, Served::Broken { .. });
    let (observation, verdicts) = seen.unwrap_or_else(|words| {
        let blind = unseen(words);
        // The judge must learn that this test shows nothing, because it may be a control.
        let verdicts = caught(|| judge(&blind)).unwrap_or_default();
        (blind, verdicts)
    });
    Record {
        index: *index,
        target: transcript.target.clone(),
        test: id.clone(),
        title: test.title.clone(),
        hash: super::hash(test).to_owned(),
        observation,
        verdicts,
        attempts: Vec::new(),
        bug,
        stdio,
        micros: transcript.micros,
    }
}

/// Returns the reason why a server that behaved differently as a stream and as a process is not judged.
fn two_ways(difference: &str) -> String {
    format!("a stream of the adapter and a process of its own show different things (in this order): {difference}")
}

/// Returns the observation of a test in which casebook itself failed.
fn unseen(words: String) -> Observation {
    Observation { steps: Vec::new(), cannot: None, unavailable: Some(words), leaky: false, cut: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Expectation, Outcome, Test};
    use crate::model::spec::{Catalogue, Level};

    fn record(test: Test, transcript: &Transcript) -> Record {
        let requirement = samples::requirement("r", Level::Must);
        let catalogue: Catalogue = [(requirement.id.clone(), requirement)].into();
        let planned = Planned { index: 0, id: transcript.test.clone(), test: Arc::new(test), stdio: None };
        let judge = Judge::new(&catalogue, []);
        judged(|seen| judge.verdicts(&transcript.target, &planned.test, &planned.id, seen), &planned, transcript)
    }

    #[test]
    fn test_with_a_harness_error_is_an_error_with_its_reason() {
        let wanted = Expectation { outcome: vec![Outcome::Success], ..Expectation::default() };
        let test = samples::test(&[], vec![(samples::call("t"), samples::check("r", vec![wanted]))]);
        let broken = Served::Broken { reason: "no such place".to_owned() };
        let transcript = Transcript { served: broken, ..samples::transcript(Vec::new()) };
        let record = record(test, &transcript);
        assert!(record.bug);
        assert_eq!(record.observation.unavailable.as_deref(), Some("no such place"));
        assert_eq!(record.verdicts[0].kind, VerdictKind::Error);
    }
}
