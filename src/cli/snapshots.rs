//! Snapshots beside what was observed: compared, or with `--accept` written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::Problem;
use crate::model::record::Record;
use crate::model::target::Target;
use crate::model::{CaseId, TargetId, TestId};
use crate::plan::Plan;
use crate::report::snapshot::{self, Diff};
use crate::report::terminal::{Terminal, aside};

/// What was observed beside what the snapshots say.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Case files that were observed otherwise.
    differing: Vec<Change>,
    /// Case files without a snapshot, of targets that have others.
    missing: Vec<(TargetId, CaseId)>,
    written: usize,
    /// Targets that have no snapshots at all.
    blank: Vec<TargetId>,
}

/// One case file that was observed otherwise.
#[derive(Debug)]
struct Change {
    target: TargetId,
    case: CaseId,
    diff: Diff,
}

impl Changes {
    /// Whether all is as the snapshots say.
    pub(super) fn is_none(&self) -> bool {
        self.differing.is_empty() && self.missing.is_empty()
    }

    /// Shows where they differ.
    pub(super) fn show<W: Write>(&self, terminal: &mut Terminal<W>) -> io::Result<()> {
        self.differing.iter().try_for_each(|Change { target, case, diff }| terminal.on_diff(target, case, diff))?;
        self.missing.iter().try_for_each(|(target, case)| terminal.on_missing(target, case))
    }

    /// Says what to do about them.
    pub(super) fn tell(&self) {
        if self.written > 0 {
            aside(&format!("snapshots written: {}", self.written));
        }
        if !self.is_none() {
            aside("snapshots changed; when what was observed is right, run it again with --accept");
        }
        for target in &self.blank {
            aside(&format!("{target} has no snapshots yet; --accept writes them"));
        }
    }
}

/// Compares, or writes. `whole` is what an unfiltered run has; case files of which a filter left something out, or
/// which were run with more than that, are passed over.
pub(super) fn settle(
    accept: bool,
    targets: &[Arc<Target>],
    whole: &Plan,
    records: &[Record],
) -> Result<Changes, Problem> {
    let mut changes = Changes::default();
    for target in targets {
        let Some(folder) = &target.snapshots else { continue };
        let blank = !folder.is_dir();
        if blank && !accept {
            changes.blank.push(target.id.clone());
            continue;
        }
        for (case, records) in whole_cases(&target.id, whole, records) {
            let body = snapshot::render(records.iter().copied());
            settle_one(accept, target, folder, case, &body, &mut changes)?;
        }
    }
    Ok(changes)
}

fn settle_one(
    accept: bool,
    target: &Target,
    folder: &Utf8Path,
    case: &CaseId,
    body: &str,
    changes: &mut Changes,
) -> Result<(), Problem> {
    let path: Utf8PathBuf = snapshot::path(folder, case);
    let old = fs::read_to_string(&path).ok();
    let diff = old.as_deref().map(|old| snapshot::compare(snapshot::body(old), body));
    match diff {
        Some(None) => {}
        _ if accept => {
            let problem = |error| Problem::system(format!("{path}: {error}"));
            snapshot::write(&path, &target.id, case, body).map_err(problem)?;
            changes.written += 1;
        }
        None => changes.missing.push((target.id.clone(), case.clone())),
        Some(Some(diff)) => {
            changes.differing.push(Change { target: target.id.clone(), case: case.clone(), diff });
        }
    }
    Ok(())
}

/// The case files of a target of which just what an unfiltered run has was run, each with its records.
fn whole_cases<'r>(
    target: &TargetId,
    whole: &'r Plan,
    records: &'r [Record],
) -> impl Iterator<Item = (&'r CaseId, Vec<&'r Record>)> {
    let mut planned: BTreeMap<&CaseId, BTreeSet<&TestId>> = BTreeMap::new();
    for (group, test) in whole.tests().filter(|(group, _)| group.target.id == *target) {
        planned.entry(&group.case).or_default().insert(&test.id);
    }
    let mut ran: BTreeMap<&CaseId, Vec<&Record>> = BTreeMap::new();
    for record in records.iter().filter(|record| record.target == *target) {
        ran.entry(&record.test.case).or_default().push(record);
    }
    planned.into_iter().filter_map(move |(case, planned)| {
        // What nobody saw, for a bug of ours or a target that was given up before its turn, is no news of the target.
        let is_seen = |record: &&Record| !record.bug && record.observation.unavailable.is_none();
        let ran = ran.remove(case).filter(|ran| ran.iter().all(is_seen))?;
        (ran.iter().map(|record| &record.test).collect::<BTreeSet<_>>() == planned).then_some((case, ran))
    })
}
