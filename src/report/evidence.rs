//! Transcripts → the messages that a page shows: those of tests with a check that does not hold, and of one test behind
//! each right answer.
//!
//! Takes a report, and the transcripts beside its run logs; gives labelled texts, bounded in number and length. Must not
//! know the form of a page.

use std::collections::{HashMap, HashSet};

use super::terminal::evidence::{Labelled, evidence};
use super::{Column, Report, Source, Status};
use crate::model::record::{Record, Verdict};
use crate::model::transcript::Transcript;
use crate::model::{TargetId, TestId};

/// The number of tests with messages.
const TESTS: usize = 3_000;
/// The characters of a message that are shown.
const MESSAGE: usize = 2_000;

/// A test of one target in one version.
type Key = (TargetId, Option<String>, TestId);

/// The messages of tests.
#[derive(Debug, Default)]
pub struct Evidence {
    messages: HashMap<Key, Vec<Labelled>>,
    /// The tests that show a right answer.
    examples: HashSet<Key>,
}

impl Evidence {
    /// No messages yet, for the pages of a report.
    pub fn of(report: &Report) -> Self {
        let rows = report.capabilities.iter().flat_map(|group| &group.capabilities);
        let examples = rows.flat_map(|row| row.answers.iter().filter_map(|cell| cell.example));
        let key = |test: usize| {
            let entry = &report.tests[test];
            let column = &report.targets[entry.target];
            (column.id.clone(), column.version.clone(), entry.test.clone())
        };
        Self { messages: HashMap::new(), examples: examples.map(key).collect() }
    }

    /// Takes the messages from the transcripts of one run log.
    pub fn read(&mut self, source: &Source, transcripts: impl IntoIterator<Item = Transcript>) {
        let mut versions: HashMap<&TargetId, Option<String>> = HashMap::new();
        for about in &source.header.about {
            versions.entry(&about.target).or_insert_with(|| about.version.clone());
        }
        let records: HashMap<(&TargetId, &TestId), &Record> =
            source.records.iter().map(|record| ((&record.target, &record.test), record)).collect();
        for transcript in transcripts {
            if self.messages.len() >= TESTS {
                return;
            }
            let Some(record) = records.get(&(&transcript.target, &transcript.test)) else { continue };
            let version = versions.get(&record.target).cloned().flatten();
            let key = (record.target.clone(), version, record.test.clone());
            let is_broken = |verdict: &&Verdict| verdict.kind.is_broken() || verdict.kind.is_undecided();
            let verdict = match record.verdicts.iter().find(is_broken) {
                None if self.examples.contains(&key) => record.verdicts.first(),
                found => found.filter(|_| Status::of(record) != Status::Cannot),
            };
            if let Some(verdict) = verdict {
                self.messages.insert(key, evidence(&transcript, verdict, MESSAGE));
            }
        }
    }

    /// The messages of a test.
    pub(super) fn messages(&self, column: &Column, test: &TestId) -> &[Labelled] {
        let key = (column.id.clone(), column.version.clone(), test.clone());
        self.messages.get(&key).map_or(&[], Vec::as_slice)
    }
}
