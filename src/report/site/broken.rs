//! The sentences that a target breaks, the worst harm first, with the tests that show it.
//!
//! Takes the tests and records of one column, and the editions of the same target up to it. Must not know the form of a
//! page.

use std::collections::{BTreeMap, BTreeSet};

use super::super::filters::external;
use super::super::snapshot::observation;
use super::super::{Report, Sentence, TestEntry, Untrusted};
use super::edition::{Edition, Tally};
use super::page::number;
use crate::model::record::Record;
use crate::model::verdict::VerdictKind;
use crate::model::{TargetId, TestId};

/// The number of tests of a sentence that are shown, and of reasons of a test.
const TESTS: usize = 3;
const REASONS: usize = 4;
/// The number of characters of an observation that are shown.
const OBSERVATION: usize = 1500;

/// A sentence with a check that does not hold.
pub(super) struct Broken<'r> {
    pub(super) sentence: &'r Sentence,
    pub(super) tally: Tally,
    /// The version since which it is broken, as far as that is known.
    pub(super) since: Option<String>,
    /// The descriptions of known failures, with the links to issues.
    pub(super) known: Vec<(String, Vec<String>)>,
    pub(super) tests: Vec<BrokenTest<'r>>,
    /// The number of tests that are not shown.
    pub(super) more: usize,
}

/// A test with a check that does not hold.
pub(super) struct BrokenTest<'r> {
    pub(super) test: &'r TestEntry,
    pub(super) address: String,
    pub(super) anchor: String,
    /// The checks that do not hold: the requirement, the verdict, and the reasons.
    pub(super) checks: Vec<(&'r Sentence, VerdictKind, Vec<&'r str>)>,
    /// The messages that decided the first of the checks.
    pub(super) messages: &'r [(&'static str, String)],
    pub(super) observation: String,
    pub(super) command: String,
}

/// Returns the sentences that a column breaks. `history` has the editions of the target up to this one, the oldest first.
pub(super) fn broken<'r>(
    report: &'r Report,
    tests: &[&'r TestEntry],
    records: &BTreeMap<TestId, &Record>,
    history: &[Edition],
) -> Vec<Broken<'r>> {
    let Some(edition) = history.last() else { return Vec::new() };
    let mut found: BTreeMap<usize, Broken<'r>> = BTreeMap::new();
    let mut known: BTreeMap<usize, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for test in tests {
        let requirements: BTreeSet<usize> =
            test.checks.iter().filter(|check| check.kind.is_broken()).map(|check| check.requirement).collect();
        for at in requirements {
            let sentence = &report.requirements[at];
            let one = found.entry(at).or_insert_with(|| Broken {
                sentence,
                tally: edition.requirements.get(&sentence.id).copied().unwrap_or_default(),
                since: since(sentence, history),
                known: Vec::new(),
                tests: Vec::new(),
                more: 0,
            });
            if one.tests.len() < TESTS {
                one.tests.push(broken_test(report, edition, test, records.get(&test.test).copied(), Some(at)));
            } else {
                one.more += 1;
            }
        }
        for check in test.checks.iter().filter(|check| check.kind.is_broken()) {
            if let Some(reason) = &check.reason {
                let links = known.entry(check.requirement).or_default().entry(reason.clone()).or_default();
                links.extend([&check.issue, &check.url].into_iter().flatten().filter_map(|url| external(url)));
            }
        }
    }
    for (at, reasons) in known {
        if let Some(one) = found.get_mut(&at) {
            one.known =
                reasons.into_iter().map(|(reason, links)| (reason, links.into_iter().collect())).take(8).collect();
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    // A sentence that no catalogue has comes last.
    found.sort_by_key(|one| (one.sentence.harm.is_none(), one.sentence.harm, one.sentence.level, &one.sentence.id));
    found
}

/// Returns a test for a page, with the checks of one requirement, or of all.
pub(super) fn broken_test<'r>(
    report: &'r Report,
    edition: &Edition,
    test: &'r TestEntry,
    record: Option<&Record>,
    requirement: Option<usize>,
) -> BrokenTest<'r> {
    let mut checks: Vec<(&Sentence, VerdictKind, Vec<&str>)> = Vec::new();
    for check in &test.checks {
        let is_shown = check.kind.is_broken() || requirement.is_none() && !check.detail.is_empty();
        if is_shown && requirement.is_none_or(|at| at == check.requirement) {
            let sentence = &report.requirements[check.requirement];
            let reasons = check.detail.iter().take(REASONS).map(|detail| detail.text.as_str()).collect();
            if !checks.iter().any(|one| one.0 == sentence && one.1 == check.kind && one.2 == reasons) {
                checks.push((sentence, check.kind, reasons));
            }
        }
    }
    let seen = record.map(|record| observation(&record.observation)).unwrap_or_default();
    BrokenTest {
        test,
        address: edition.place.result(&test.test),
        anchor: super::address::anchor(&test.test),
        checks,
        messages: &[],
        observation: Untrusted(seen.trim_start_matches('\n')).block(OBSERVATION),
        command: command(&edition.column.id, &test.test),
    }
}

/// The version since which a sentence is broken, as far as older versions are known.
fn since(sentence: &Sentence, history: &[Edition]) -> Option<String> {
    let version = |edition: &Edition| number(&edition.column);
    let (_, before) = history.split_last()?;
    let mut first = None;
    for edition in before.iter().rev() {
        match edition.requirements.get(&sentence.id) {
            Some(tally) if tally.broken > 0 => first = Some(edition),
            Some(tally) if tally.held > 0 => {
                let broken = first.unwrap_or(history.last()?);
                return Some(format!("since {}; it held in {}", version(broken), version(edition)));
            }
            _ => break,
        }
    }
    first.map(|edition| format!("at least since {}", version(edition)))
}

/// The command that runs one test on a target.
fn command(target: &TargetId, test: &TestId) -> String {
    let target = target.to_string();
    let is_word = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | ':' | '.' | '_' | '/');
    let target = if target.chars().all(is_word) { target } else { format!("'{}'", target.replace('\'', r"'\''")) };
    format!("casebook run {target} --only '{test}'")
}
