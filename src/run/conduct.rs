//! The conductor: what the drivers see is observed, judged and written down before their next test begins.
//!
//! Takes a plan and a judge, gives records in the order of the plan, and keeps none: whoever looks on takes what it
//! needs of each. Must not know how a report looks. What leaves it, to a file or to them, has passed
//! [`Bounds`]: it has no [`Secrets`] any more, and a bounded length.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::attempts::{after, is_worth_another, settle};
use super::bounds::Bounds;
use super::{InOrder, Log, LogError, Secrets};
use crate::drive::{Cancel, Ended, Event, Next, Options, caught, drive};
use crate::judge::{Judge, observe};
use crate::model::observation::Observation;
use crate::model::record::{Footer, Record};
use crate::model::timings::Timings;
use crate::model::transcript::{Served, Transcript};
use crate::model::{TargetId, TestId};
use crate::plan::{Group, Plan, Planned};

/// Events that may wait until somebody looks at them.
const WAITING: usize = 64;

/// What is told while a run goes on.
#[derive(Debug)]
pub enum Seen<'a> {
    /// A test still runs, for so long already.
    Slow(&'a TargetId, &'a TestId, Duration),
    /// A test has been judged; these come in the order of the plan.
    Judged(&'a Record, &'a Transcript),
}

/// What a run came to.
#[derive(Debug)]
pub struct Conducted {
    /// How it ended.
    pub footer: Footer,
    /// Where its time went.
    pub timings: Timings,
    /// The reason why the log ends before the run does, if it does.
    pub unsaved: Option<LogError>,
    /// The reason why the run ended before its plan does, if it did, other than a request to stop.
    pub broken: Option<RunError>,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What had to wait for its turn is gone.
    #[error("a test that waited for its turn can't be read again: {0}")]
    Order(#[from] std::io::Error),
    /// A bug of our own, outside of any test.
    #[error("{0}")]
    Bug(String),
}

/// Carries out a plan as far as the harness itself can go on, which depends on nothing that a target does.
pub async fn conduct(
    plan: Arc<Plan>,
    judge: &mut Judge<'_>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    mut log: Option<Log>,
    mut see: impl FnMut(Seen<'_>),
) -> Conducted {
    let began = std::time::Instant::now();
    let planned: Vec<_> = plan.tests().collect();
    let (secrets, mut bounds) = (secrets(&plan), Bounds::default());
    let mut order = InOrder::<(Record, Box<Transcript>)>::default();
    let mut timings = Timings { workers: options.workers(&plan), ..Timings::default() };
    let retries = options.retries;
    let mut tried: BTreeMap<usize, (Record, Box<Transcript>)> = BTreeMap::new();
    let (sender, mut events) = mpsc::channel(WAITING);
    let driving = tokio::spawn(drive(Arc::clone(&plan), options, cancel, sender));
    let (mut ran, mut unsaved, mut broken) = (0, None, None);
    while let Some(event) = events.recv().await {
        match event {
            Event::Spent { target, spent } => *timings.targets.entry(target).or_default() += spent,
            Event::Slow { index, after } => {
                let (group, planned) = planned[index];
                see(Seen::Slow(&group.target.id, &planned.id, after));
            }
            Event::Finished { index, mut transcript, next } => {
                let (group, planned) = planned[index];
                let before = (retries > 0).then(|| judge.clone());
                let mut record = judged(judge, planned, index, &transcript);
                if record.observation.unavailable.is_none() {
                    // It shows nothing else.
                    transcript.process = None;
                }
                // Both may have to wait for their turn, with many others.
                bounds.keep(&secrets[&transcript.target], &mut record, &mut transcript);
                if let Some((earlier, _)) = tried.remove(&index) {
                    record = after(earlier, record);
                }
                if let Some(before) = before.filter(|_| record.attempts.len() < retries && is_worth_another(&record)) {
                    *judge = before;
                    tried.insert(index, (record, transcript));
                    _ = next.send(Next::Again);
                    continue;
                }
                let listed = group.target.flaky.iter().find(|flaky| flaky.test.matches(&planned.id));
                settle(&mut record, listed);
                append(&mut log, &mut unsaved, &record, &transcript);
                // The worker may have been stopped meanwhile.
                _ = next.send(Next::On);
                ran += 1;
                order.put(index, (record, transcript));
                while let Some(turn) = order.take().transpose() {
                    match turn {
                        Ok((record, transcript)) => see(Seen::Judged(&record, &transcript)),
                        Err(error) => _ = broken.get_or_insert(RunError::Order(error)),
                    }
                }
            }
        }
    }
    // Who was to try again and didn't come to it has failed as far as anybody knows.
    for (index, (record, transcript)) in tried {
        append(&mut log, &mut unsaved, &record, &transcript);
        ran += 1;
        order.put(index, (record, transcript));
    }
    for waited in order.rest() {
        match waited {
            Ok((record, transcript)) => see(Seen::Judged(&record, &transcript)),
            Err(error) => _ = broken.get_or_insert(RunError::Order(error)),
        }
    }
    let ended = driving.await.map_err(|bug| RunError::Bug(bug.to_string()));
    timings.wall = began.elapsed();
    let footer = Footer {
        ran,
        interrupted: !matches!(ended, Ok(Ended::Whole)) || broken.is_some(),
        // In a part of a run, what fails may be in the other part.
        stale: if plan.is_partial { Vec::new() } else { judge.stale() },
        micros: u64::try_from(timings.wall.as_micros()).unwrap_or(u64::MAX),
        cut: bounds.cuts(),
    };
    if let Some(log) = log {
        unsaved = log.finish(footer.clone()).err();
    }
    Conducted { footer, timings, unsaved, broken: ended.err().or(broken) }
}

/// Writes a test down; where that fails, no other test is.
fn append(log: &mut Option<Log>, unsaved: &mut Option<LogError>, record: &Record, transcript: &Transcript) {
    if let Some(open) = log
        && let Err(error) = open.append(record, transcript)
    {
        *unsaved = Some(error);
        *log = None;
    }
}

/// What is not to be told of each target.
fn secrets(plan: &Plan) -> BTreeMap<TargetId, Secrets> {
    let mut secrets = BTreeMap::new();
    for Group { target, .. } in &plan.groups {
        secrets.entry(target.id.clone()).or_insert_with(|| Secrets::of(target));
    }
    secrets
}

fn judged(judge: &mut Judge<'_>, planned: &Planned, index: usize, transcript: &Transcript) -> Record {
    let (target, Planned { test, id, .. }) = (&transcript.target, planned);
    let seen = caught(|| {
        let mut observation = observe(test, transcript);
        if let Some(process) = &transcript.process {
            let process = observe(test, process);
            let differs = process.unavailable.is_none().then(|| observation.difference(&process)).flatten();
            observation.unavailable = observation.unavailable.or(differs.map(|difference| two_ways(&difference)));
        }
        let verdicts = judge.judge(target, test, id, &observation);
        (observation, verdicts)
    });
    let bug = seen.is_err() || matches!(transcript.served, Served::Broken { .. });
    let (observation, verdicts) = seen.unwrap_or_else(|words| {
        let blind = unseen(words);
        // Its controls have to hear that it shows nothing.
        let verdicts = caught(|| judge.judge(target, test, id, &blind)).unwrap_or_default();
        (blind, verdicts)
    });
    Record {
        index,
        target: target.clone(),
        test: id.clone(),
        title: test.title.clone(),
        hash: super::hash(test),
        observation,
        verdicts,
        attempts: Vec::new(),
        bug,
        stdio: transcript.stdio,
        micros: transcript.micros,
    }
}

/// The reason why nothing is said of a server that was observed in two ways.
fn two_ways(difference: &str) -> String {
    format!(
        "the stream of the adapter and a process of its own show different things (first, then second): {difference}"
    )
}

/// What there is to judge where the harness itself broke.
fn unseen(words: String) -> Observation {
    Observation { steps: Vec::new(), cannot: None, unavailable: Some(words), leaky: false, cut: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Expectation, Outcome, Test};
    use crate::model::record::VerdictKind;
    use crate::model::spec::{Catalogue, Level};

    fn record(test: Test, transcript: &Transcript) -> Record {
        let requirement = samples::requirement("r", Level::Must);
        let catalogue: Catalogue = [(requirement.id.clone(), requirement)].into();
        let planned = Planned { index: 0, id: transcript.test.clone(), test: Arc::new(test), stdio: None };
        judged(&mut Judge::new(&catalogue, []), &planned, 0, transcript)
    }

    #[test]
    fn a_test_in_which_the_harness_broke_is_an_error_and_says_why() {
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
