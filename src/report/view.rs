//! [`View`]: the question that a report answers.

use std::collections::BTreeSet;

use super::{Cell, CheckEntry, Column, Counts, Report, Status, TestEntry};
use crate::model::spec::{Level, words};
use crate::model::verdict::VerdictKind;

words! {
    /// The question that a report answers.
    View {
        /// Does the target conform to the specification? Known failures are failures.
        Conformance = "conformance",
        /// Was anything other than it was expected? Known failures are expected.
        Expectation = "expectation",
    }
}

impl View {
    /// Returns the usual view of some columns: expectation for one target, conformance for several.
    pub(super) fn of(columns: &[Column]) -> Self {
        if real_targets(columns) > 1 { Self::Conformance } else { Self::Expectation }
    }

    /// The question in words, for the first line of reports.
    pub fn question(self) -> &'static str {
        match self {
            Self::Conformance => "what the specification says of each target; known failures are failures",
            Self::Expectation => "whether the results are as expected; known failures are expected",
        }
    }

    /// Returns the status of a verdict in this view: a known failure is a failure in the conformance view.
    pub fn status(self, kind: VerdictKind, level: Level) -> Status {
        match (self, kind) {
            (Self::Conformance, VerdictKind::Known) => match level {
                Level::Must | Level::MustNot => Status::Failed,
                Level::Should | Level::ShouldNot => Status::Warned,
                Level::May | Level::Derived => Status::Noted,
            },
            (Self::Conformance, VerdictKind::KnownInconclusive) => Status::Inconclusive,
            (Self::Conformance, VerdictKind::Stale) => Status::Passed,
            _ => kind.into(),
        }
    }
}

/// Returns the number of targets without the reference; variants and versions of one target count once.
pub(super) fn real_targets(columns: &[Column]) -> usize {
    let real = columns.iter().filter(|column| !column.is_reference());
    real.map(|column| column.id.name.as_str()).collect::<BTreeSet<_>>().len()
}

impl Report {
    /// Returns the status of a check in the view of the report.
    pub(super) fn status(&self, check: &CheckEntry) -> Status {
        self.view.status(check.kind, self.requirements[check.requirement].level)
    }

    /// Returns the worst status of the checks of a cell in the view of the report.
    pub(super) fn status_of_cell(&self, cell: &Cell) -> Status {
        let level = self.requirements[cell.requirement].level;
        cell.checks.keys().map(|kind| self.view.status(*kind, level)).max().unwrap_or(cell.status)
    }

    /// Returns the worst status of the checks of a test in the view of the report.
    pub(super) fn status_of_test(&self, test: &TestEntry) -> Status {
        test.checks.iter().map(|check| self.status(check)).max().unwrap_or(test.status)
    }

    /// Counts the tests of each column by their status in the view of the report.
    pub(super) fn counts(&self) -> Vec<Counts> {
        let mut counts = vec![Counts::default(); self.targets.len()];
        for test in &self.tests {
            counts[test.target].add(self.status_of_test(test));
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_failure_is_a_failure_in_the_conformance_view() {
        for (level, status) in
            [(Level::MustNot, Status::Failed), (Level::Should, Status::Warned), (Level::Derived, Status::Noted)]
        {
            assert_eq!(View::Conformance.status(VerdictKind::Known, level), status);
            assert_eq!(View::Expectation.status(VerdictKind::Known, level), Status::Known);
        }
        // What nobody could decide is no failure in any view.
        assert_eq!(View::Conformance.status(VerdictKind::KnownInconclusive, Level::Must), Status::Inconclusive);
        assert_eq!(View::Expectation.status(VerdictKind::KnownInconclusive, Level::Must), Status::Known);
        assert!(!VerdictKind::KnownInconclusive.is_broken());
        assert_eq!(View::Conformance.status(VerdictKind::Pass, Level::Must), Status::Passed);
    }
}
