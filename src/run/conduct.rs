//! The conductor: what the drivers see is observed, judged and written down before their next test begins.
//!
//! Takes a plan and a judge, gives records in the order of the plan. Must not know how a report looks.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::{InOrder, Log, LogError};
use crate::drive::{CanaryError, Cancel, Ended, Event, Options, drive};
use crate::judge::{Judge, observe};
use crate::model::record::{Footer, Record, Transcript};
use crate::model::{TargetId, TestId};
use crate::plan::{Plan, Planned};

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
    /// The records, in the order of the plan.
    pub records: Vec<Record>,
    /// How it ended.
    pub footer: Footer,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The harness is not fit to see.
    #[error(transparent)]
    Canary(#[from] CanaryError),
    /// The record can't be written.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// Carries out a plan.
///
/// # Errors
/// [`RunError`] where the harness itself can't go on. Nothing that a target does is one.
pub async fn conduct(
    plan: Arc<Plan>,
    judge: &mut Judge<'_>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
    mut log: Option<Log>,
    mut see: impl FnMut(Seen<'_>),
) -> Result<Conducted, RunError> {
    let began = std::time::Instant::now();
    let planned: Vec<_> = plan.tests().collect();
    let mut order = InOrder::default();
    let (sender, mut events) = mpsc::channel(WAITING);
    let driving = tokio::spawn(drive(Arc::clone(&plan), options, cancel, sender));
    let mut records = Vec::with_capacity(planned.len());
    while let Some(event) = events.recv().await {
        match event {
            Event::Slow { index, after } => {
                let (group, planned) = planned[index];
                see(Seen::Slow(&group.target.id, &planned.id, after));
            }
            Event::Finished { index, transcript, safe } => {
                let record = judged(judge, planned[index].1, index, &transcript);
                if let Some(log) = &mut log {
                    log.append(&record, &transcript)?;
                }
                // The worker may have been stopped meanwhile.
                _ = safe.send(());
                for (record, transcript) in order.put(index, (record, transcript)) {
                    see(Seen::Judged(&record, &transcript));
                    records.push(record);
                }
            }
        }
    }
    for (record, transcript) in order.rest() {
        see(Seen::Judged(&record, &transcript));
        records.push(record);
    }
    let ended = match driving.await {
        Ok(ended) => ended?,
        Err(bug) => std::panic::resume_unwind(bug.into_panic()),
    };
    let footer = Footer {
        ran: records.len(),
        interrupted: ended == Ended::Interrupted,
        // In a part of a run, what fails may be in the other part.
        stale: if plan.is_partial { Vec::new() } else { judge.stale() },
        micros: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
    };
    if let Some(log) = log {
        log.finish(footer.clone())?;
    }
    Ok(Conducted { records, footer })
}

fn judged(judge: &mut Judge<'_>, planned: &Planned, index: usize, transcript: &Transcript) -> Record {
    let observation = observe(&planned.test, transcript);
    let verdicts = judge.judge(&transcript.target, &planned.test, &planned.id, &observation);
    Record {
        index,
        target: transcript.target.clone(),
        test: planned.id.clone(),
        title: planned.test.title.clone(),
        hash: super::hash(&planned.test),
        observation,
        verdicts,
        micros: transcript.micros,
    }
}
