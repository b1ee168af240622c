//! [`Edition`]: the results of one target in one version, reduced to the parts that pages of several targets need.
//!
//! Takes a report of some targets with their records, so that not all run logs are in memory at once. Must not know the
//! form of a page.

use std::collections::BTreeMap;

use super::super::filters::external;
use super::super::versus::{Change, Versus, Way};
use super::super::{Answer, CapabilityCell, Cell, Column, Counts, Reason, Report, SentenceRates, TestEntry};
use super::address::Place;
use crate::model::record::Record;
use crate::model::spec::{Revision, Role};
use crate::model::verdict::{Meaning, VerdictKind};
use crate::model::{CaseId, RequirementId, TestId};

/// The number of causes of an answer that are shown.
const CAUSES: usize = 6;

/// One target in one version.
pub(super) struct Edition {
    pub(super) column: Column,
    pub(super) place: Place,
    /// `true` for the newest version of the target.
    pub(super) is_newest: bool,
    /// The answers, by capability.
    pub(super) answers: Vec<CapabilityCell>,
    /// The causes of each answer that is not right, the most common first.
    pub(super) evidence: Vec<Vec<EvidenceCause>>,
    /// A test that shows each answer where it is right.
    pub(super) examples: Vec<Option<TestId>>,
    /// The checks of each requirement.
    pub(super) requirements: BTreeMap<RequirementId, Tally>,
    /// The tests of each case.
    pub(super) cases: BTreeMap<CaseId, Counts>,
    /// The sentences that hold, by role and revision.
    pub(super) revisions: BTreeMap<(Role, Revision), SentenceRates>,
}

/// Checks of an answer with the same cause.
pub(super) struct EvidenceCause {
    /// What happens instead, in few words.
    pub(super) words: String,
    /// The same in a sentence.
    pub(super) text: Option<String>,
    /// The address of a report, or of the documentation.
    pub(super) link: Option<String>,
    pub(super) checks: usize,
    /// Tests that show it, each with its address and its first reason.
    pub(super) tests: Vec<(TestId, String, String)>,
}

/// Checks by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) held: usize,
    pub(super) broken: usize,
    /// The checks of an option that is not taken.
    pub(super) not_taken: usize,
    pub(super) author: usize,
    pub(super) cannot: usize,
    /// The checks without a decision.
    pub(super) undecided: usize,
}

impl Tally {
    pub(super) fn add(&mut self, kind: VerdictKind, number: usize) {
        let count = match kind.meaning() {
            Meaning::Option if matches!(kind, VerdictKind::NotTaken | VerdictKind::NotAdopted) => &mut self.not_taken,
            Meaning::Holds | Meaning::Option => &mut self.held,
            Meaning::Broken => &mut self.broken,
            Meaning::Undecided if kind == VerdictKind::Cannot => &mut self.cannot,
            Meaning::Aside if kind == VerdictKind::Author => &mut self.author,
            Meaning::Undecided | Meaning::Aside => &mut self.undecided,
        };
        *count += number;
    }

    /// The result as an answer to the question whether the requirement holds.
    pub(super) fn answer(self) -> Answer {
        match self {
            Self { broken: 1.., held: 0, .. } => Answer::Wrong,
            Self { broken: 1.., .. } => Answer::Partly,
            Self { held: 1.., .. } => Answer::Right,
            Self { author: 1.., .. } => Answer::Author,
            Self { cannot: 1.., .. } | Self { not_taken: 1.., .. } => Answer::Absent,
            _ => Answer::NotTested,
        }
    }

    /// The result in words.
    pub(super) fn words(self) -> String {
        match self.answer() {
            Answer::Right => "holds".to_owned(),
            Answer::Wrong => format!("broken ({} of {})", self.broken, self.broken),
            Answer::Partly => format!("broken ({} of {})", self.broken, self.broken + self.held),
            Answer::Absent if self.cannot == 0 => "option not taken".to_owned(),
            Answer::Absent => "cannot be expressed".to_owned(),
            Answer::NotTested if self.undecided > 0 => "not decided".to_owned(),
            other => other.to_string(),
        }
    }
}

/// Returns the first reason of a check of a test that does not hold.
fn reason(test: &TestEntry) -> String {
    let broken = test.checks.iter().find(|check| check.kind.is_broken()).or(test.checks.first());
    let detail = broken.and_then(|check| check.detail.first().map(|detail| detail.text.clone()));
    detail.or_else(|| test.unseen.clone()).unwrap_or_default()
}

/// Reduces the columns of a report. `tests` has the tests of each column.
pub(super) fn editions(
    report: &Report,
    places: &[Place],
    tests: &[Vec<&TestEntry>],
    roles: &BTreeMap<CaseId, Role>,
) -> Vec<Edition> {
    let mut cells: Vec<Vec<&Cell>> = vec![Vec::new(); report.targets.len()];
    for cell in &report.cells {
        cells[cell.target].push(cell);
    }
    let edition = |(at, column): (usize, &Column)| {
        let rows = report.capabilities.iter().flat_map(|group| &group.capabilities);
        let answers: Vec<_> = rows.map(|row| row.answers[at].clone()).collect();
        let evidence = |cell: &CapabilityCell| {
            let is_told = |one: &&Reason| cell.answer != Answer::Right && !(one.short.is_empty() && one.text.is_none());
            let cause = |one: &Reason| {
                let tests = one.tests.iter().map(|test| &report.tests[*test]);
                let tests = tests.map(|test| (test.test.clone(), places[test.target].result(&test.test), reason(test)));
                let (words, text) = (one.short.clone(), one.text.clone());
                let link = one.url.as_deref().and_then(external);
                EvidenceCause { words, text, link, checks: one.checks, tests: tests.collect() }
            };
            cell.reasons.iter().filter(is_told).take(CAUSES).map(cause).collect()
        };
        let mut edition = Edition {
            column: column.clone(),
            place: places[at].clone(),
            is_newest: report.targets.get(at + 1).is_none_or(|next| next.id != column.id),
            evidence: answers.iter().map(evidence).collect(),
            examples: answers.iter().map(|cell| cell.example.map(|test| report.tests[test].test.clone())).collect(),
            answers: answers.into_iter().map(|cell| CapabilityCell { tests: Vec::new(), ..cell }).collect(),
            requirements: BTreeMap::new(),
            cases: BTreeMap::new(),
            revisions: BTreeMap::new(),
        };
        for cell in &cells[at] {
            let tally = edition.requirements.entry(report.requirements[cell.requirement].id.clone()).or_default();
            cell.checks.iter().for_each(|(kind, number)| tally.add(*kind, *number));
        }
        let mut checks: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for test in &tests[at] {
            match edition.cases.get_mut(&test.test.case) {
                Some(counts) => counts.add(test.status),
                None => edition.cases.entry(test.test.case.clone()).or_default().add(test.status),
            }
            if let Some(role) = roles.get(&test.test.case) {
                checks.entry((*role, test.test.revision)).or_default().extend(test.checks.iter().map(|check| {
                    let level = report.requirements[check.requirement].level;
                    let is_decided = check.kind.is_decided() && check.excuses.is_none_or(VerdictKind::is_decided);
                    (check.requirement, level, check.kind, is_decided)
                }));
            }
        }
        edition.revisions =
            checks.into_iter().map(|(key, checks)| (key, SentenceRates::of_checks(checks.into_iter()))).collect();
        edition
    };
    report.targets.iter().enumerate().map(edition).collect()
}

/// The differences between a version and the one before it.
pub(super) struct Changes {
    /// The capabilities with another answer, as indices, with both cells.
    pub(super) capabilities: Vec<(usize, CapabilityCell, CapabilityCell)>,
    /// The requirements with other results, those with changes for the worse first.
    pub(super) requirements: Vec<ChangedRequirement>,
    /// The number of tests that only the version before has, that only this one has, that were rewritten, and that have
    /// the same result.
    pub(super) only_old: usize,
    pub(super) only_new: usize,
    pub(super) rewritten: usize,
    pub(super) same: usize,
}

/// A requirement with other results.
pub(super) struct ChangedRequirement {
    pub(super) id: RequirementId,
    /// The number of checks that hold no longer, and of those that hold now.
    pub(super) worse: usize,
    pub(super) better: usize,
    /// The first test of them.
    pub(super) test: TestId,
}

/// Compares an edition with the one before it.
pub(super) fn changes<'r>(
    old: &Edition,
    new: &Edition,
    old_records: &BTreeMap<TestId, &'r Record>,
    new_records: &BTreeMap<TestId, &'r Record>,
) -> Changes {
    let versus = Versus::new(old_records.values().copied(), new_records.values().copied());
    let requirement = |(id, changes): (Option<&RequirementId>, &Vec<Change<'_>>)| {
        let count = |way| changes.iter().filter(|change| change.way == way).count();
        let first = changes.iter().filter(|change| change.way != Way::Other).min_by_key(|change| change.way)?;
        let (worse, better) = (count(Way::Worse), count(Way::Better));
        Some(ChangedRequirement { id: id?.clone(), worse, better, test: first.new.test.clone() })
    };
    let mut requirements: Vec<_> =
        versus.changes.iter().map(|(id, changes)| (*id, changes)).filter_map(requirement).collect();
    requirements.sort_by_key(|one| one.worse == 0);
    let pairs = old.answers.iter().zip(&new.answers).enumerate();
    let differ = pairs.filter(|(_, (old, new))| (old.answer, &old.words) != (new.answer, &new.words));
    Changes {
        capabilities: differ.map(|(at, (old, new))| (at, old.clone(), new.clone())).collect(),
        requirements,
        only_old: versus.only_old.len(),
        only_new: versus.only_new.len(),
        rewritten: versus.rewritten.len(),
        same: versus.same,
    }
}
