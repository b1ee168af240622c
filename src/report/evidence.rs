//! Transcripts → the messages that a page shows: those of the first test of each answer's first cause, of one test behind
//! each right answer, and of other tests with a check that does not hold.
//!
//! Takes a report, and the transcripts beside its run logs; gives labelled texts, bounded in number and length. Must not
//! know the form of a page.

use std::collections::{HashMap, HashSet};

use super::terminal::evidence::{Labelled, evidence};
use super::{CapabilityCell, Column, Report, Source, Status};
use crate::model::record::{Record, Verdict};
use crate::model::transcript::Transcript;
use crate::model::{TargetId, TestId};

/// The number of tests with messages that questions show, and of others.
const SHOWN: usize = 12_000;
const TESTS: usize = 3_000;
/// The characters of a message that are shown.
const MESSAGE: usize = 2_000;

/// A test of one target in one version.
type Key = (TargetId, Option<String>, TestId);

/// The messages of tests.
#[derive(Debug, Default)]
pub struct Evidence {
    messages: HashMap<Key, Vec<Labelled>>,
    /// The tests that the pages of questions show.
    shown: HashSet<Key>,
}

impl Evidence {
    /// No messages yet, for the pages of a report.
    pub fn of(report: &Report) -> Self {
        let rows = report.capabilities.iter().flat_map(|group| &group.capabilities);
        let first = |cell: &CapabilityCell| cell.reasons.iter().find_map(|reason| reason.tests.first().copied());
        let shown = rows.flat_map(|row| &row.answers).flat_map(|cell| first(cell).into_iter().chain(cell.example));
        let key = |test: usize| {
            let entry = &report.tests[test];
            let column = &report.targets[entry.target];
            (column.id.clone(), column.version.clone(), entry.test.clone())
        };
        Self { messages: HashMap::new(), shown: shown.map(key).take(SHOWN).collect() }
    }

    /// Takes the messages from the transcripts of one run log.
    pub fn read(&mut self, source: &Source, transcripts: impl IntoIterator<Item = Transcript>) {
        let mut versions: HashMap<&TargetId, Option<String>> = HashMap::new();
        for about in &source.header.about {
            versions.entry(&about.target).or_insert_with(|| about.version.clone());
        }
        let records: HashMap<(&TargetId, &TestId), &Record> =
            source.records.iter().map(|record| ((&record.target, &record.test), record)).collect();
        let mut others = 0;
        for transcript in transcripts {
            let Some(record) = records.get(&(&transcript.target, &transcript.test)) else { continue };
            let version = versions.get(&record.target).cloned().flatten();
            let key = (record.target.clone(), version, record.test.clone());
            let is_shown = self.shown.contains(&key);
            if !is_shown && others >= TESTS {
                continue;
            }
            let is_broken = |verdict: &&Verdict| verdict.kind.is_broken() || verdict.kind.is_undecided();
            let verdict = match record.verdicts.iter().find(is_broken) {
                None if is_shown => record.verdicts.first(),
                found => found.filter(|_| Status::of(record) != Status::Cannot),
            };
            if let Some(verdict) = verdict {
                others += usize::from(!is_shown);
                self.messages.insert(key, evidence(&transcript, verdict, MESSAGE));
            }
        }
    }

    /// Takes from the messages of further targets those that the pages of questions show.
    pub(super) fn add_shown(&mut self, further: Self) {
        let Self { messages, shown } = further;
        self.messages.extend(messages.into_iter().filter(|(key, _)| shown.contains(key)));
    }

    /// The messages of a test.
    pub(super) fn messages(&self, column: &Column, test: &TestId) -> &[Labelled] {
        let key = (column.id.clone(), column.version.clone(), test.clone());
        self.messages.get(&key).map_or(&[], Vec::as_slice)
    }
}
