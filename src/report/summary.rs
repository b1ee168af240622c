//! [`RunSummary`]: the results of one run, counted as its tests end; no record is kept.

use std::collections::{BTreeMap, HashMap};

use super::{Column, Counts, Numbers, Score, SkippedTests, Status};
use crate::model::record::{Cuts, Footer, Header, Record};
use crate::model::set::Drift;
use crate::model::{CaseId, RequirementId, Shard, TargetId, TestId};

/// A run in numbers: a column for each target, and what concerns the run as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSummary {
    /// The targets, in the order of the header.
    pub columns: Vec<Column>,
    places: HashMap<TargetId, usize>,
    /// Planned tests that have no record yet, by target and case file.
    pub undelivered: BTreeMap<(TargetId, CaseId), usize>,
    /// The difference between the cases and the frozen set that was run.
    pub drift: Option<Drift>,
    /// The score of the frozen set.
    pub score: Option<Score>,
    /// Set if a test showed a bug of casebook.
    pub has_bug: bool,
    /// The slowest five tests, with their microseconds.
    pub slowest: Vec<(TargetId, TestId, u64)>,
    /// The number of planned tests.
    pub planned: usize,
    /// Set if the run was stopped, or its log has no end.
    pub interrupted: bool,
    /// The length of the run in microseconds; 0 where its log has no end.
    pub micros: u64,
    /// The parts that the run log lacks, because they were over a bound.
    pub cut: Cuts,
    /// The shard, if the run is one: the others may decide what this one does not.
    pub shard: Option<Shard>,
    /// Set if the user named no target, so that only the embedded reference was tested.
    pub is_default: bool,
    /// The numbers that are the verdict on a server without a `target.toml`; `None` for other targets.
    pub numbers: Option<Numbers>,
}

impl RunSummary {
    /// A run without results, with its plan if that is known. It counts as interrupted until it has
    /// [`ended`](Self::end).
    pub fn new<'p>(header: &Header, plan: impl Iterator<Item = (&'p TargetId, &'p CaseId)>) -> Self {
        let numbers = header.about.iter().any(|about| about.ad_hoc).then(Numbers::default);
        let mut summary =
            Self { planned: header.planned, interrupted: true, numbers, shard: header.shard, ..Self::default() };
        for target in &header.targets {
            summary.column(target);
        }
        for about in &header.about {
            let column = summary.column(&about.target);
            *column = Column::new(about.target.clone(), Some(about), header.cases.as_deref());
        }
        for skipped in &header.skipped {
            let entry = SkippedTests::new(skipped.reason, skipped.tests);
            summary.column(&skipped.target).skipped.push(entry);
        }
        for (target, case) in plan {
            *summary.undelivered.entry((target.clone(), case.clone())).or_default() += 1;
        }
        summary
    }

    fn column(&mut self, target: &TargetId) -> &mut Column {
        let place = self.places.get(target).copied().unwrap_or_else(|| {
            self.places.insert(target.clone(), self.columns.len());
            self.columns.push(Column::new(target.clone(), None, None));
            self.columns.len() - 1
        });
        &mut self.columns[place]
    }

    /// Counts a test. Tests must come in the order of the plan.
    pub fn add(&mut self, record: &Record) {
        const SLOWEST: usize = 5;
        self.column(&record.target).add(record);
        if let Some(numbers) = &mut self.numbers {
            numbers.add(record);
        }
        if let Some(score) = &mut self.score {
            score.add(record);
        }
        let key = (record.target.clone(), record.test.case.clone());
        if let Some(tests) = self.undelivered.get_mut(&key) {
            *tests -= 1;
            if *tests == 0 {
                self.undelivered.remove(&key);
            }
        }
        self.has_bug |= record.bug;
        let place = self.slowest.partition_point(|(.., micros)| *micros >= record.micros);
        if place < SLOWEST {
            self.slowest.truncate(SLOWEST - 1);
            self.slowest.insert(place, (record.target.clone(), record.test.clone(), record.micros));
        }
    }

    /// Takes the end of the run.
    pub fn end(&mut self, footer: &Footer) {
        let Footer { ran: _, interrupted, stale, snapshots, micros, cut } = footer;
        (self.interrupted, self.micros, self.cut) = (*interrupted, *micros, *cut);
        for stale in stale {
            self.column(&stale.target).stale.push(stale.clone());
        }
        for problem in snapshots {
            self.column(&problem.target).snapshots.push(problem.clone());
        }
    }

    /// The number of all tests by status.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        self.columns.iter().for_each(|column| total.extend(column.statuses.iter()));
        total
    }

    /// Targets without a planned test.
    pub fn unasked(&self) -> impl Iterator<Item = &TargetId> {
        let is_unasked = |column: &&Column| column.planned == 0 && column.statuses.total() == 0;
        self.columns.iter().filter(is_unasked).map(|column| &column.id)
    }

    /// Returns whether a target has tests, but not a single observation.
    pub fn has_unseen(&self) -> bool {
        self.columns.iter().any(|column| !column.is_seen && column.statuses.total() > 0)
    }

    /// Returns whether all results are expected. The caller handles empty and interrupted runs.
    pub fn is_as_expected(&self, strict: bool) -> bool {
        self.drift.as_ref().is_none_or(|drift| drift.gone.is_empty())
            && self.columns.iter().all(|column| column.is_as_expected(strict))
            && self.numbers.as_ref().is_none_or(|numbers| numbers.unanswered().is_empty())
            && (self.shard.is_some() || self.columns.iter().all(|column| column.untested().next().is_none()))
    }

    /// Returns the number of requirements with a decided check on any target, and of all with a verdict.
    pub fn verified(&self) -> (usize, usize) {
        let mut requirements: BTreeMap<&RequirementId, bool> = BTreeMap::new();
        for (requirement, is_decided) in self.columns.iter().flat_map(|column| &column.requirements) {
            *requirements.entry(requirement).or_default() |= is_decided;
        }
        (requirements.values().filter(|is_decided| **is_decided).count(), requirements.len())
    }

    /// Returns whether the run has checks, and none of them was decided because the adapter cannot express any.
    pub fn is_undecided(&self) -> bool {
        let (decided, all) = self.verified();
        decided == 0 && all > 0 && self.total().get(Status::Cannot) > 0
    }

    /// The number of planned tests without a record.
    pub fn missing(&self) -> usize {
        self.planned.saturating_sub(self.total().total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::model::reason::Finding;
    use crate::model::record::About;
    use crate::model::verdict::VerdictKind;
    use crate::report::tests::{footer, header, verdict};

    fn record(index: usize, kinds: &[VerdictKind]) -> Record {
        let verdicts = kinds.iter().map(|kind| verdict(*kind)).collect();
        let micros = index as u64;
        Record { verdicts, micros, ..samples::record(index, "f/c/t@2026-07-28+http", Outcome::Success) }
    }

    fn summary(planned: usize, records: &[Record]) -> RunSummary {
        let mut summary = RunSummary::new(&header(planned), std::iter::empty());
        for record in records {
            summary.add(record);
        }
        summary.end(&footer());
        summary
    }

    #[test]
    fn status_is_that_of_the_worst_verdict_or_observed() {
        use VerdictKind::{Cannot, Fail, Known, Pass, Taken, Warn};
        let records = [record(0, &[Pass, Warn]), record(1, &[]), record(2, &[Known, Fail]), record(3, &[Taken, Pass])];
        let summary = summary(5, &records);
        for status in [Status::Warned, Status::Observed, Status::Failed, Status::Passed] {
            assert_eq!(summary.total().get(status), 1, "{status}");
        }
        let folder = summary.columns[0].folders["f"].total();
        assert_eq!((folder, summary.missing(), summary.slowest[0].2), (4, 1, 3));
        assert_eq!(self::summary(1, &[record(0, &[Cannot])]).verified(), (0, 1));
    }

    #[test]
    fn tests_without_a_record_and_targets_without_a_test_are_named() {
        let about = |target: &TargetId, planned| About {
            target: target.clone(),
            title: String::new(),
            version: None,
            language: None,
            api: None,
            by_hand: BTreeMap::new(),
            date: None,
            dependencies: BTreeMap::new(),
            unverified: None,
            ad_hoc: false,
            pair: None,
            planned,
        };
        let (target, other) = (samples::target(), "other".parse().expect("a name"));
        let header = Header { about: vec![about(&target, 3), about(&other, 0)], ..header(3) };
        let record = record(0, &[VerdictKind::Pass]);
        let case = record.test.case.clone();
        let planned = [(&target, &case), (&target, &case), (&target, &case)];
        let mut summary = RunSummary::new(&header, planned.into_iter());
        summary.add(&record);
        assert_eq!(summary.undelivered, [((target.clone(), case.clone()), 2)].into());
        assert_eq!(summary.unasked().collect::<Vec<_>>(), [&other]);
    }

    #[test]
    fn strictness_decides_what_is_unexpected() {
        use VerdictKind::{Author, Cannot, Error, Fail, Inconclusive, Known, NotAsked, Note, Warn};
        let of = |kind| summary(1, &[record(0, &[kind])]);
        for kind in [Fail, Inconclusive, Error] {
            assert!(!of(kind).is_as_expected(false), "{kind}");
        }
        for kind in [Warn, Cannot] {
            assert!(of(kind).is_as_expected(false) && !of(kind).is_as_expected(true), "{kind}");
        }
        for kind in [Known, Note, Author, NotAsked] {
            assert!(of(kind).is_as_expected(true), "{kind}");
        }
        let mut stale = of(Known);
        stale.end(&Footer { stale: vec![crate::report::tests::stale()], ..footer() });
        assert!(!stale.is_as_expected(false));
        let drift = Drift { set: "s".parse().expect("a name"), gone: vec!["x".into()], later: vec!["y".into()] };
        assert!(!RunSummary { drift: Some(drift), ..of(Known) }.is_as_expected(false));
    }

    #[test]
    fn must_that_a_soft_control_withholds_everywhere_is_unexpected() {
        use VerdictKind::{Fail, Known, NotAsked, Note, Pass, Warn};
        let control = |kind| {
            let mut record = record(0, &[kind]);
            record.test = "f/c/ctl@2026-07-28+http".parse().expect("a name");
            record.verdicts[0].requirement = RequirementId::within("f", "control");
            record
        };
        let withheld = || {
            let mut record = record(1, &[NotAsked]);
            record.verdicts[0].detail = vec![Finding::ControlFailed { control: "f/c/ctl".to_owned() }.into()];
            record
        };
        for kind in [Note, Warn] {
            let run = summary(2, &[control(kind), withheld()]);
            assert!(!run.is_as_expected(false), "{kind}");
            assert_eq!(run.columns[0].untested().map(|(_, control)| control).collect::<Vec<_>>(), ["f/c/ctl"]);
            // Another test decides the requirement.
            assert!(summary(3, &[control(kind), withheld(), record(2, &[Pass])]).is_as_expected(false), "{kind}");
        }
        // The failure of the control is listed, or fails the run by itself.
        for kind in [Known, Fail] {
            assert_eq!(summary(2, &[control(kind), withheld()]).columns[0].untested().count(), 0, "{kind}");
        }
        let header = Header { shard: Some("1/2".parse().expect("a shard")), ..header(2) };
        let mut shard = RunSummary::new(&header, std::iter::empty());
        for record in [control(Note), withheld()] {
            shard.add(&record);
        }
        assert!(shard.is_as_expected(false), "another shard may decide it");
    }
}
