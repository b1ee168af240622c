//! The verdicts of a report as its [`View`] counts them: in the conformance view, known failures are failures.
//!
//! Takes a report; gives statuses of tests and cells. The page's script does the same with the published data.

use std::collections::BTreeMap;

use crate::model::record::VerdictKind;
use crate::report::{CheckEntry, Counts, Report, Status, TestEntry, View};

/// The kind of a check's verdict in a view.
fn kind(view: View, check: &CheckEntry) -> VerdictKind {
    match (view, check.kind) {
        (View::Conformance, VerdictKind::Known) => check.excuses.unwrap_or(VerdictKind::Fail),
        (View::Conformance, VerdictKind::Stale) => VerdictKind::Pass,
        (_, kind) => kind,
    }
}

/// The status of a test in the view of its report.
pub(super) fn status(report: &Report, test: &TestEntry) -> Status {
    let worst = test.checks.iter().map(|check| Status::from(kind(report.view, check))).max();
    worst.unwrap_or(test.status)
}

/// The tests of each column by status.
pub(super) fn counts(report: &Report) -> Vec<Counts> {
    let mut counts = vec![Counts::default(); report.targets.len()];
    for test in &report.tests {
        counts[test.target].add(status(report, test));
    }
    counts
}

/// The worst status of each requirement and target, as indices into the report.
pub(super) fn cells(report: &Report) -> BTreeMap<(usize, usize), Status> {
    let mut cells = BTreeMap::new();
    for test in &report.tests {
        for check in &test.checks {
            let status = Status::from(kind(report.view, check));
            let cell = cells.entry((check.requirement, test.target)).or_insert(status);
            *cell = status.max(*cell);
        }
    }
    cells
}
