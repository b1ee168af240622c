//! The choice of one failed test among those that the user selected.
//!
//! Takes records as they come, keeps one of them in full, and the names of a few others. Must not know where records come
//! from.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{gravity, rank, violations};
use crate::model::record::Record;
use crate::model::spec::{Catalogue, Harm, Revision, Transport};
use crate::model::transcript::Transcript;
use crate::model::{Pattern, RequirementId, TestId};
use crate::report::{Status, Untrusted};

/// The number of other tests that are named, and of those of each requirement from which these are taken.
const NAMED: usize = 5;
const KEPT: usize = 500;

/// The order of failed tests: the one that says most comes first.
type Rank = (u8, Harm, bool, Reverse<Revision>, usize);

/// The failed test that is chosen.
#[derive(Debug)]
pub struct Chosen {
    /// The record.
    pub record: Record,
    /// The messages, if they were at hand.
    pub transcript: Option<Transcript>,
}

/// The records so far.
#[derive(Debug)]
pub struct Choice<'a> {
    test: &'a Pattern,
    catalogue: &'a Catalogue,
    best: Option<(Rank, Box<Chosen>)>,
    /// The names of some tests that violate a requirement, and the number of all.
    others: BTreeMap<RequirementId, (Vec<TestId>, usize)>,
    remaining: Remaining,
}

/// The selected tests without a failure.
#[derive(Debug, Default)]
pub struct Remaining {
    /// The number of all selected tests.
    pub selected: usize,
    /// The gravest status of those without a failure.
    pub status: Option<Status>,
    /// The reason for this status, and the documentation that it names.
    pub reason: Option<String>,
    /// Set if casebook itself failed in one of them.
    pub has_bug: bool,
}

impl<'a> Choice<'a> {
    /// No records yet.
    pub fn new(test: &'a Pattern, catalogue: &'a Catalogue) -> Self {
        let (others, remaining) = (BTreeMap::new(), Remaining::default());
        Self { test, catalogue, best: None, others, remaining }
    }

    /// Adds a record of the target. One that is not selected only shows where else a requirement is violated.
    pub fn add(&mut self, record: &Record, transcript: Option<&Transcript>) {
        let broken = violations(record, self.catalogue);
        for verdict in &broken {
            let (names, all) = self.others.entry(verdict.requirement.clone()).or_default();
            if names.len() < KEPT {
                names.push(record.test.clone());
            }
            *all += 1;
        }
        if !self.test.matches(&record.test) {
            return;
        }
        self.remaining.selected += 1;
        let Some(first) = broken.first() else { return self.keep_reason(record) };
        let TestId { revision, transport, .. } = &record.test;
        let is_quiet = *transport != Transport::Http;
        let rank = (rank(first), gravity(self.catalogue, first), is_quiet, Reverse(*revision), record.index);
        if self.best.as_ref().is_none_or(|(best, _)| rank < *best) {
            let (record, transcript) = (record.clone(), transcript.cloned());
            self.best = Some((rank, Box::new(Chosen { record, transcript })));
        }
    }

    fn keep_reason(&mut self, record: &Record) {
        self.remaining.has_bug |= record.bug;
        let status = Status::of(record);
        if self.remaining.status.is_some_and(|known| known >= status) {
            return;
        }
        let verdict = record.verdicts.iter().find(|verdict| Status::from(verdict.kind) == status);
        let known = verdict.and_then(|verdict| verdict.known.as_ref()).filter(|_| status == Status::Author);
        let known = known.map(|known| format!("{} ({})", known.reason, known.url.as_deref().unwrap_or("no link")));
        let seen = &record.observation;
        let unseen = seen.unavailable.clone().or_else(|| seen.cannot.clone());
        let detail = verdict.and_then(|verdict| verdict.detail.first()).map(ToString::to_string);
        self.remaining.status = Some(status);
        self.remaining.reason = known.or(unseen).or(detail).filter(|_| status != Status::Passed);
    }

    /// Returns the failed test, if there is one, and the tests without a failure.
    pub fn finish(self) -> (Option<Chosen>, Others, Remaining) {
        (self.best.map(|(_, chosen)| *chosen), Others(self.others), self.remaining)
    }
}

/// The tests that violate each requirement.
#[derive(Debug)]
pub struct Others(BTreeMap<RequirementId, (Vec<TestId>, usize)>);

impl Others {
    /// The names of some other tests that violate a requirement of this one, and the number of all of them. A test that
    /// violates several of them counts several times.
    pub fn of(&self, record: &Record, catalogue: &Catalogue) -> (Vec<String>, usize) {
        let broken = violations(record, catalogue);
        let found: Vec<_> = broken.iter().filter_map(|verdict| self.0.get(&verdict.requirement)).collect();
        let all_names = found.iter().flat_map(|(names, _)| names).filter(|one| **one != record.test);
        // Tests that differ in their values say more than those on other revisions and transports.
        let names: BTreeSet<_> = all_names.map(|one| (one.how() != record.test.how(), one)).collect();
        let names: Vec<_> =
            names.into_iter().take(NAMED).map(|(_, name)| Untrusted(&name.to_string()).line(300)).collect();
        // One requirement is the usual case, and its number is exact.
        let all = found.iter().map(|(_, all)| all.saturating_sub(1)).max().unwrap_or(0);
        (names, all)
    }
}
