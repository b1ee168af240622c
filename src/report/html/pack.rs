//! [`Report`] → the data of the page's script: what the report says, with every text once and the results as numbers.
//!
//! Twelve targets with thousands of tests are some megabytes so, and read in a blink. What the numbers mean for a
//! check stands with the kinds of verdicts, so that the script has no rules of its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::text::{number, shortened};
use crate::model::record::VerdictKind;
use crate::model::spec::Level;
use crate::report::rates::holds;
use crate::report::{CheckEntry, Column, Report, Standing, TestEntry};

/// How many bytes of a line, and how many lines, are kept of what a check says.
const DETAIL: (usize, usize) = (2_000, 20);
/// How many bytes all of these may come to.
const DETAILS: usize = 8 << 20;
/// How many bytes of a title are kept.
const TITLE: usize = 400;

/// What `data.js` reads.
#[derive(Debug, Serialize)]
pub(super) struct Pack<'r> {
    absent: String,
    standings: Vec<&'static str>,
    kinds: Vec<Kind>,
    targets: Vec<Target<'r>>,
    folders: Vec<&'r str>,
    requirements: Vec<Row<'r>>,
    /// Path, `REVISION+TRANSPORT`, folder, title, file.
    tests: Vec<(String, String, usize, usize, usize)>,
    titles: Vec<String>,
    files: Vec<String>,
    /// By target, a test after the other: test, standing, microseconds, the number of its checks, and of each of these
    /// requirement, step, kind and line.
    results: Vec<Vec<u64>>,
    /// By target, what a check says, by `result.check`.
    notes: Vec<BTreeMap<String, Note<'r>>>,
}

#[derive(Debug, Serialize)]
struct Kind {
    #[serde(rename = "kind")]
    word: VerdictKind,
    excuses: Option<VerdictKind>,
    standing: Standing,
    decided: bool,
    holds: Option<bool>,
}

#[derive(Debug, Serialize)]
struct Target<'r> {
    key: String,
    id: String,
    title: String,
    version: Option<&'r str>,
}

#[derive(Debug, Serialize)]
struct Row<'r> {
    id: &'r str,
    folder: &'r str,
    level: Level,
    roles: String,
    quote: &'r str,
    url: &'r str,
    why: &'r str,
    harm: Option<crate::model::spec::Harm>,
}

#[derive(Debug, Serialize)]
struct Note<'r> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    detail: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<&'r str>,
}

impl<'r> Pack<'r> {
    /// Packs a report, of whose tests so many have evidence that is not on the page.
    pub(super) fn new(report: &'r Report, left_out: usize) -> Self {
        let folders: BTreeSet<&str> = report.requirements.iter().map(|row| row.folder.as_str()).collect();
        let folders = folders.into_iter().chain(report.tests.iter().map(|test| test.test.case.folder()));
        let folders: Vec<&str> = folders.collect::<BTreeSet<_>>().into_iter().collect();
        let mut packing = Packing { folders: &folders, ..Packing::default() };
        let (mut results, mut notes) = (vec![Vec::new(); report.targets.len()], Vec::new());
        notes.resize_with(report.targets.len(), BTreeMap::new);
        let mut ordinals = vec![0; report.targets.len()];
        for test in &report.tests {
            let ordinal = &mut ordinals[test.target];
            packing.add(test, *ordinal, &mut results[test.target], &mut notes[test.target]);
            *ordinal += 1;
        }
        Self {
            absent: absent(left_out),
            standings: Standing::ALL.iter().map(|standing| standing.word()).collect(),
            kinds: packing.kinds.list,
            targets: report.targets.iter().zip(report.names()).map(|(one, key)| column(one, key)).collect(),
            requirements: report.requirements.iter().map(row).collect(),
            tests: packing.tests.list,
            titles: packing.titles.list,
            files: packing.files.list,
            results,
            notes,
            folders,
        }
    }
}

fn absent(left_out: usize) -> String {
    let others = match left_out {
        0 => String::new(),
        many => format!(", nor that of {} others, for which the page has no room", number(many)),
    };
    format!(
        "The messages aren't on this page: those of tests that passed aren't{others}. \
         They are beside the record, in its .wire.jsonl, and `casebook explain` tells what the test does."
    )
}

fn column(column: &Column, key: String) -> Target<'_> {
    Target {
        key,
        id: column.id.to_string(),
        title: shortened(&column.title, TITLE),
        version: column.version.as_deref(),
    }
}

fn row(row: &crate::report::Sentence) -> Row<'_> {
    let roles: Vec<_> = row.roles.iter().map(|role| role.word()).collect();
    Row {
        id: row.id.as_str(),
        folder: &row.folder,
        level: row.level,
        roles: roles.join(" and "),
        quote: row.quote.as_deref().unwrap_or_default(),
        url: row.url.as_deref().unwrap_or_default(),
        why: row.why.as_deref().unwrap_or_default(),
        harm: row.harm,
    }
}

/// A list in which everything stands once.
#[derive(Debug)]
struct Once<K, V> {
    places: HashMap<K, usize>,
    list: Vec<V>,
}

impl<K, V> Default for Once<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), list: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq, V> Once<K, V> {
    fn place(&mut self, key: K, value: impl FnOnce() -> V) -> usize {
        *self.places.entry(key).or_insert_with(|| {
            self.list.push(value());
            self.list.len() - 1
        })
    }
}

type TestRow = (String, String, usize, usize, usize);

#[derive(Debug, Default)]
struct Packing<'p, 'r> {
    folders: &'p [&'r str],
    kinds: Once<(VerdictKind, Option<VerdictKind>), Kind>,
    tests: Once<(&'r crate::model::TestId, &'r str), TestRow>,
    titles: Once<&'r str, String>,
    files: Once<&'r str, String>,
    noted: usize,
}

impl<'r> Packing<'_, 'r> {
    fn add(
        &mut self,
        test: &'r TestEntry,
        ordinal: usize,
        flat: &mut Vec<u64>,
        notes: &mut BTreeMap<String, Note<'r>>,
    ) {
        let place = self.test(test);
        let standing = test.standing as usize;
        flat.extend([place as u64, standing as u64, test.micros, test.checks.len() as u64]);
        for (index, check) in test.checks.iter().enumerate() {
            let kind = self.kind(check);
            flat.extend([check.requirement as u64, check.step as u64, kind as u64, check.line as u64]);
            if let Some(note) = self.note(check) {
                notes.insert(format!("{ordinal}.{index}"), note);
            }
        }
    }

    /// Versions of a case may have other titles; these are tests of their own here.
    fn test(&mut self, test: &'r TestEntry) -> usize {
        let title = self.titles.place(&test.title, || shortened(&test.title, TITLE));
        let file = self.files.place(&test.file, || shortened(&test.file, TITLE));
        let folder = self.folders.binary_search(&test.test.case.folder()).unwrap_or(0);
        let id = &test.test;
        self.tests.place((id, &test.title), || (shortened(&id.path(), TITLE), id.how(), folder, title, file))
    }

    fn kind(&mut self, check: &CheckEntry) -> usize {
        self.kinds.place((check.kind, check.excuses), || Kind {
            word: check.kind,
            excuses: check.excuses,
            standing: check.kind.into(),
            decided: check.is_decided(),
            holds: holds(check.kind),
        })
    }

    fn note(&mut self, check: &'r CheckEntry) -> Option<Note<'r>> {
        let is_calm = check.kind == VerdictKind::Pass;
        if is_calm || (check.detail.is_empty() && check.reason.is_none()) || self.noted > DETAILS {
            return None;
        }
        let detail: Vec<_> = check.detail.iter().take(DETAIL.1).map(|line| shortened(line, DETAIL.0)).collect();
        let reason = check.reason.as_deref().map(|reason| shortened(reason, DETAIL.0));
        self.noted += detail.iter().chain(&reason).map(String::len).sum::<usize>();
        Some(Note { detail, reason, issue: check.issue.as_deref().filter(|issue| issue.len() < DETAIL.0) })
    }
}
