//! The failures that a baseline of the official suite lists, and the use of its lines.
//!
//! Takes verdicts, gives those that a line excuses as known failures, and the lines that excuse nothing any more. Must not
//! know the form of a baseline.

use super::{fails, is_idle, is_stale};
use crate::model::baseline::{Baseline, BaselineEntry};
use crate::model::reason::Stale;
use crate::model::record::{KnownAs, Verdict, VerdictKind};
use crate::model::{TargetId, TestId};

/// The lines of a baseline, each with the numbers of its verdicts.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    entry: BaselineEntry,
    known: KnownAs,
    /// The verdicts that failed, of all targets: a list of failures is rarely written for one variant.
    failed: usize,
    /// The verdicts that held or were not asked.
    idle: usize,
    /// The first target with such a verdict.
    target: Option<TargetId>,
}

impl Listed {
    pub(super) fn new(baseline: &Baseline) -> Self {
        let lines = baseline.entries.iter().map(|entry| {
            let line = format!("{}: {}", baseline.file, entry.name);
            let tests = entry.checks.iter().flat_map(|check| &check.tests).map(String::as_str);
            let known = KnownAs {
                test: tests.collect::<Vec<_>>().join(", "),
                reason: format!("listed in {line}"),
                issue: None,
                disclosure: None,
                url: None,
                baseline: Some(line),
                // A report has the verdicts of one target, and cannot tell whether the line is stale.
                shared: true,
            };
            Line { entry: entry.clone(), known, failed: 0, idle: 0, target: None }
        });
        Self { lines: lines.collect() }
    }

    /// Turns a failure that a line lists into a known failure.
    pub(super) fn excuse(&self, id: &TestId, verdict: &mut Verdict) {
        let Some(line) = self.lines.iter().find(|line| line.entry.has(id, &verdict.requirement)) else { return };
        if is_excused(verdict.kind) {
            verdict.excuses = Some(verdict.kind);
            verdict.kind = VerdictKind::Known;
        } else if !is_idle(verdict.kind) {
            return;
        }
        verdict.known = Some(line.known.clone());
    }

    /// Counts a verdict, whose kind without any excuse is `kind`, for each line that lists its check.
    pub(super) fn count(&mut self, target: &TargetId, id: &TestId, verdict: &Verdict, kind: VerdictKind) {
        for line in self.lines.iter_mut().filter(|line| line.entry.has(id, &verdict.requirement)) {
            line.failed += usize::from(is_excused(kind));
            line.idle += usize::from(is_idle(kind));
            line.target.get_or_insert_with(|| target.clone());
        }
    }

    /// Returns the lines of which no check fails on any target.
    pub(super) fn stale(&self) -> impl Iterator<Item = Stale> {
        let stale = self.lines.iter().filter(|line| is_stale(line.failed, line.idle));
        stale.filter_map(|Line { entry, known, target, .. }| {
            let requirement = entry.checks.first()?.requirement.clone();
            Some(Stale { target: target.clone()?, requirement, known: known.clone() })
        })
    }
}

/// Returns whether a line excuses a verdict of this kind. No line excuses an error of the run.
fn is_excused(kind: VerdictKind) -> bool {
    fails(kind) || kind == VerdictKind::Inconclusive
}
