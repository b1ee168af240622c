//! Records → what people read: [`Summary`], and the terminal and snapshots that are made from it.
//!
//! Takes records and the catalogue, gives counts and text. Must not know `drive` or `load`; it never runs anything.

mod annotations;
mod badge;
mod build;
pub mod coverage;
mod explain;
mod format;
pub mod html;
mod junit;
mod keywords;
pub mod markdown;
mod merge;
pub mod proof;
mod rates;
mod show;
pub mod snapshot;
pub mod terminal;
pub mod versus;

use std::collections::BTreeMap;

pub use annotations::{Annotation, annotations};
pub use badge::badges;
pub use build::Book;
pub use explain::{Breakers, expanded, explain};
pub use format::{Cell, CheckEntry, Column, REPORT_FORMAT, Report, Sentence, SkippedTests, TestEntry};
pub use junit::junit;
pub use keywords::{KeywordEntry, Keywords};
pub use merge::{Gap, GapKind, Merged, Source, merge};
pub use rates::{Rate, Rates};

pub use crate::model::Untrusted;
use crate::model::record::{Cuts, Footer, Header, Record, Skipped, VerdictKind};
use crate::model::set::Drift;
use crate::model::spec::words;
use crate::model::timings::Timings;
use crate::model::{CaseId, RequirementId, TargetId, TestId};

words! {
    /// What became of a test as a whole: the gravest of its verdicts. From the best to the worst.
    Standing {
        /// Every check holds.
        Passed = "passed",
        /// Nothing was judged; the snapshot remembers.
        Observed = "observed",
        /// What fails is known to.
        Known = "known",
        /// What nobody wrote but users rely on doesn't hold.
        Noted = "noted",
        /// A SHOULD is broken.
        Warned = "warned",
        /// The adapter can't express it.
        Cannot = "cannot",
        /// A MUST is broken, but not each time.
        Flaky = "flaky",
        /// The control failed, so that this shows nothing.
        Inconclusive = "inconclusive",
        /// A MUST is broken.
        Failed = "failed",
        /// The target was given up, or the harness failed.
        Error = "error",
    }
}

impl Standing {
    /// Whether a run fails because of it; a broken SHOULD, and what can't be expressed, only where that is `strict`.
    pub fn is_unexpected(self, strict: bool) -> bool {
        match self {
            Self::Failed | Self::Flaky | Self::Inconclusive | Self::Error => true,
            Self::Warned | Self::Cannot => strict,
            Self::Passed | Self::Observed | Self::Known | Self::Noted => false,
        }
    }

    /// What became of this test.
    pub fn of(record: &Record) -> Self {
        let unjudged = match &record.observation {
            seen if seen.unavailable.is_some() => Self::Error,
            seen if seen.cannot.is_some() => Self::Cannot,
            _ => Self::Observed,
        };
        record.verdicts.iter().map(|verdict| verdict.kind.into()).max().unwrap_or(unjudged)
    }
}

impl From<VerdictKind> for Standing {
    fn from(kind: VerdictKind) -> Self {
        match kind {
            VerdictKind::Pass | VerdictKind::Allowed | VerdictKind::Taken | VerdictKind::NotTaken => Self::Passed,
            VerdictKind::Known => Self::Known,
            VerdictKind::Note => Self::Noted,
            VerdictKind::Warn => Self::Warned,
            VerdictKind::Cannot => Self::Cannot,
            VerdictKind::Flaky => Self::Flaky,
            VerdictKind::Inconclusive => Self::Inconclusive,
            VerdictKind::Fail | VerdictKind::Stale => Self::Failed,
            VerdictKind::Error => Self::Error,
        }
    }
}

/// How many tests stand how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<Standing, usize>);

impl Counts {
    /// How many tests stand so.
    pub fn get(&self, standing: Standing) -> usize {
        self.0.get(&standing).copied().unwrap_or(0)
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// One more.
    pub fn add(&mut self, standing: Standing) {
        *self.0.entry(standing).or_default() += 1;
    }

    /// Those that aren't none, from the best to the worst.
    pub fn iter(&self) -> impl Iterator<Item = (Standing, usize)> {
        self.0.iter().map(|(standing, count)| (*standing, *count))
    }
}

/// A run in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// All tests.
    pub total: Counts,
    /// The tests of each target and folder of cases.
    pub areas: BTreeMap<(TargetId, String), Counts>,
    /// The requirements of which something was said, and whether at least one of their checks was decided.
    pub requirements: BTreeMap<RequirementId, bool>,
    /// Of the checks that were asked of each target, how many hold.
    pub rates: BTreeMap<TargetId, Rates>,
    /// Of the tests of each target that are about a keyword, how many are right.
    pub keywords: BTreeMap<TargetId, Keywords>,
    /// What doesn't apply, and why.
    pub skipped: Vec<Skipped>,
    /// How many tests of each case file have a record.
    delivered: BTreeMap<(TargetId, CaseId), usize>,
    /// Tests that were planned and have no record, by case file.
    pub undelivered: BTreeMap<(TargetId, CaseId), usize>,
    /// Targets of which nothing was planned at all.
    pub unasked: Vec<TargetId>,
    /// How the cases differ from the set that was run, where it was one.
    pub drift: Option<Drift>,
    /// Where the time went, where somebody wants to know.
    pub timings: Option<Timings>,
    /// Whether a bug of the harness's own showed.
    pub has_bug: bool,
    /// The targets, and whether anything was seen of each.
    seen: BTreeMap<TargetId, bool>,
    /// The slowest five, with their microseconds.
    pub slowest: Vec<(TargetId, TestId, u64)>,
    /// Known failures that no longer fail.
    pub stale: Vec<String>,
    /// How many tests were planned.
    pub planned: usize,
    /// Whether somebody stopped the run, or its record has no end.
    pub interrupted: bool,
    /// How long it took, in microseconds; 0 where the record has no end.
    pub micros: u64,
    /// The parts that the run log lacks, since they were over a bound.
    pub cut: Cuts,
}

impl Summary {
    /// A run that was begun, without a test yet; it counts as interrupted until it has [`ended`](Self::ended).
    pub fn begun(header: &Header) -> Self {
        Self { skipped: header.skipped.clone(), planned: header.planned, interrupted: true, ..Self::default() }
    }

    /// Counts a test; they come in the order of the plan.
    pub fn add(&mut self, record: &Record) {
        const SLOWEST: usize = 5;
        let standing = Standing::of(record);
        self.total.add(standing);
        let area = (record.target.clone(), record.test.case.folder().to_owned());
        self.areas.entry(area).or_default().add(standing);
        *self.delivered.entry((record.target.clone(), record.test.case.clone())).or_default() += 1;
        self.rates.entry(record.target.clone()).or_default().add(record);
        self.keywords.entry(record.target.clone()).or_default().add(record);
        for verdict in &record.verdicts {
            *self.requirements.entry(verdict.requirement.clone()).or_default() |= verdict.is_decided();
        }
        self.has_bug |= record.bug;
        *self.seen.entry(record.target.clone()).or_default() |= record.observation.unavailable.is_none();
        let place = self.slowest.partition_point(|(.., micros)| *micros >= record.micros);
        if place < SLOWEST {
            self.slowest.truncate(SLOWEST - 1);
            self.slowest.insert(place, (record.target.clone(), record.test.clone(), record.micros));
        }
    }

    /// How it ended.
    #[must_use]
    pub fn ended(self, footer: &Footer) -> Self {
        let Footer { interrupted, stale, micros, cut, .. } = footer.clone();
        Self { stale, interrupted, micros, cut, ..self }
    }

    /// Counts a run that was recorded; without a footer it was interrupted.
    pub fn new(header: &Header, records: &[Record], footer: Option<&Footer>) -> Self {
        let mut summary = Self::begun(header);
        for record in records {
            summary.add(record);
        }
        match footer {
            Some(footer) => summary.ended(footer),
            None => summary,
        }
    }

    /// Whether there is a target of which nothing was seen at all.
    pub fn has_unseen(&self) -> bool {
        self.seen.values().any(|seen| !seen)
    }

    /// Holds what was declared against what was done: tests without a record are named, and targets without a test.
    #[must_use]
    pub fn against<'p>(mut self, header: &Header, planned: impl Iterator<Item = (&'p TargetId, &'p CaseId)>) -> Self {
        let mut owed: BTreeMap<(TargetId, CaseId), usize> = BTreeMap::new();
        for (target, case) in planned {
            *owed.entry((target.clone(), case.clone())).or_default() += 1;
        }
        self.unasked =
            header.targets.iter().filter(|one| !owed.keys().any(|(target, _)| target == *one)).cloned().collect();
        for (key, delivered) in &self.delivered {
            if let Some(owed) = owed.get_mut(key) {
                *owed = owed.saturating_sub(*delivered);
            }
        }
        owed.retain(|_, owed| *owed > 0);
        self.undelivered = owed;
        self
    }

    /// Whether nothing is unexpected: known failures are, and so, unless `strict`, is a broken SHOULD.
    /// A run of nothing, or one that was stopped, is the caller's to tell.
    pub fn is_as_expected(&self, strict: bool) -> bool {
        let gone = self.drift.as_ref().is_some_and(|drift| !drift.gone.is_empty());
        !gone && self.stale.is_empty() && !self.total.iter().any(|(standing, _)| standing.is_unexpected(strict))
    }

    /// Requirements of which at least one check was decided; what was skipped or couldn't be expressed isn't.
    pub fn verified(&self) -> usize {
        self.requirements.values().filter(|decided| **decided).count()
    }

    /// How many planned tests have no record.
    pub fn missing(&self) -> usize {
        self.planned.saturating_sub(self.total.total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::model::record::{FORMAT, Verdict};
    use crate::model::spec::Level;

    pub(super) fn header(planned: usize) -> Header {
        Header { format: FORMAT, casebook: "0".into(), planned, ..Header::default() }
    }

    pub(super) fn footer() -> Footer {
        Footer { ran: 0, interrupted: false, stale: Vec::new(), micros: 1_500_000, cut: Cuts::default() }
    }

    pub(super) fn verdict(kind: VerdictKind) -> Verdict {
        let detail = vec!["outcome: expected success, observed crash".to_owned()];
        Verdict {
            step: 0,
            requirement: RequirementId::within("f", "r"),
            level: Level::Must,
            kind,
            excuses: None,
            detail,
            line: 7,
            known: None,
        }
    }

    fn record(index: usize, kinds: &[VerdictKind]) -> Record {
        let verdicts = kinds.iter().map(|kind| verdict(*kind)).collect();
        let micros = index as u64;
        Record { verdicts, micros, ..samples::record(index, "f/c/t@2026-07-28+http", Outcome::Success) }
    }

    #[test]
    fn a_test_stands_as_its_gravest_verdict_and_without_one_it_is_observed() {
        use VerdictKind::{Cannot, Fail, Known, Pass, Taken, Warn};
        let records = [record(0, &[Pass, Warn]), record(1, &[]), record(2, &[Known, Fail]), record(3, &[Taken, Pass])];
        let summary = Summary::new(&header(5), &records, Some(&footer()));
        for standing in [Standing::Warned, Standing::Observed, Standing::Failed, Standing::Passed] {
            assert_eq!(summary.total.get(standing), 1, "{standing}");
        }
        assert_eq!(
            (summary.areas[&(samples::target(), "f".to_owned())].total(), summary.missing(), summary.slowest[0].2),
            (4, 1, 3)
        );
        let gone = Summary::new(&header(1), &[record(0, &[Cannot])], Some(&footer()));
        assert_eq!(gone.verified(), 0);
    }

    #[test]
    fn what_was_declared_and_not_done_is_named() {
        let header = Header { targets: vec![samples::target(), "other".parse().expect("a name")], ..header(3) };
        let case = samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success).test.case;
        let (target, records) = (samples::target(), [record(0, &[VerdictKind::Pass])]);
        let planned = [(&target, &case), (&target, &case), (&target, &case)];
        let summary = Summary::new(&header, &records, Some(&footer())).against(&header, planned.into_iter());
        assert_eq!(summary.undelivered, [((target.clone(), case.clone()), 2)].into());
        assert_eq!(summary.unasked, header.targets[1..]);
    }

    #[test]
    fn what_is_unexpected_depends_on_strictness() {
        use VerdictKind::{Cannot, Error, Fail, Inconclusive, Known, Note, Warn};
        let of = |kind| Summary::new(&header(1), &[record(0, &[kind])], Some(&footer()));
        for kind in [Fail, Inconclusive, Error] {
            assert!(!of(kind).is_as_expected(false), "{kind}");
        }
        for kind in [Warn, Cannot] {
            assert!(of(kind).is_as_expected(false) && !of(kind).is_as_expected(true), "{kind}");
        }
        for kind in [Known, Note] {
            assert!(of(kind).is_as_expected(true), "{kind}");
        }
        let stale = Summary { stale: vec!["x".into()], ..of(Known) };
        assert!(!stale.is_as_expected(false));
        let drift = Drift { set: "s".parse().expect("a name"), gone: vec!["x".into()], later: vec!["y".into()] };
        assert!(!Summary { drift: Some(drift), ..of(Known) }.is_as_expected(false));
    }
}
