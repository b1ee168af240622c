//! Columns and the catalogue → a [`Report`].
//!
//! Takes what [`merge`](super::merge) gives, and the sentences by id; gives rows, cells and tests. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::format::{Cell, CheckEntry, Column, REPORT_FORMAT, Report, Sentence, SkippedTests, TestEntry, default_file};
use super::merge::{Merged, Strand};
use super::{KeywordEntry, Keywords, Rates, Standing};
use crate::model::record::{Record, Verdict};
use crate::model::spec::{Catalogue, Level};
use crate::model::{CaseId, RequirementId};

/// What a report takes from the cases: the sentences, and where the files are.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// The sentences.
    pub catalogue: Catalogue,
    /// The files of the cases that aren't where a repository of cases has them.
    pub files: BTreeMap<CaseId, String>,
}

impl Report {
    /// Builds a report from what was merged.
    pub fn new(merged: &Merged<'_>, book: &Book) -> Self {
        let rows = rows(&merged.strands, &book.catalogue);
        let places: BTreeMap<&RequirementId, usize> = rows.iter().enumerate().map(|(at, row)| (&row.id, at)).collect();
        let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
        let mut tests = Vec::new();
        for (target, strand) in merged.strands.iter().enumerate() {
            for record in strand.records.values() {
                for verdict in &record.verdicts {
                    let requirement = places[&verdict.requirement];
                    let standing = verdict.kind.into();
                    let cell = cells.entry((requirement, target));
                    let cell = cell.or_insert_with(|| Cell { requirement, target, standing, checks: BTreeMap::new() });
                    cell.standing = cell.standing.max(standing);
                    *cell.checks.entry(verdict.kind).or_default() += 1;
                }
                tests.push(entry(target, record, &places, book));
            }
        }
        let mut partial: Vec<String> = merged.gaps.iter().map(|gap| gap.text.clone()).collect();
        partial.extend(unwritten(&rows));
        Self {
            format: REPORT_FORMAT,
            casebook: env!("CARGO_PKG_VERSION").to_owned(),
            partial,
            targets: merged.strands.iter().map(column).collect(),
            requirements: rows,
            cells: cells.into_values().collect(),
            tests,
            keywords: keywords(&merged.strands),
        }
    }
}

fn rows(strands: &[Strand<'_>], catalogue: &Catalogue) -> Vec<Sentence> {
    let records = strands.iter().flat_map(|strand| strand.records.values());
    let mut levels: BTreeMap<&RequirementId, Level> = BTreeMap::new();
    for verdict in records.flat_map(|record| &record.verdicts) {
        let level = levels.entry(&verdict.requirement).or_insert(verdict.level);
        *level = verdict.level.min(*level);
    }
    let row = |(id, level): (&RequirementId, Level)| {
        let known = catalogue.get(id);
        Sentence {
            id: id.clone(),
            folder: id.folder().to_owned(),
            level: known.map_or(level, |one| one.level),
            roles: known.map(|one| one.roles.clone()).unwrap_or_default(),
            quote: known.map(|one| one.quote.clone()),
            url: known.map(crate::model::spec::Requirement::link),
            harm: known.map(|one| one.harm),
            why: known.map(|one| one.why.clone()),
        }
    };
    levels.into_iter().map(row).collect()
}

fn keywords(strands: &[Strand<'_>]) -> Vec<KeywordEntry> {
    let mut entries = Vec::new();
    for (target, strand) in strands.iter().enumerate() {
        let mut keywords = Keywords::default();
        strand.records.values().for_each(|record| keywords.add(record));
        entries.extend(keywords.iter().map(|(one, rate)| KeywordEntry {
            draft: one.draft,
            keyword: one.keyword.clone(),
            door: one.door,
            target,
            rate,
        }));
    }
    entries.sort_by(|a, b| (a.draft, &a.keyword, a.door, a.target).cmp(&(b.draft, &b.keyword, b.door, b.target)));
    entries
}

/// A record of somebody else's cases names sentences that only these have.
fn unwritten(rows: &[Sentence]) -> Option<String> {
    let folders: BTreeSet<&str> =
        rows.iter().filter(|row| row.quote.is_none()).map(|row| row.folder.as_str()).collect();
    let folders: Vec<_> = folders.into_iter().take(5).map(|folder| super::Untrusted(folder).line(60)).collect();
    (!folders.is_empty()).then(|| {
        format!("no catalogue at hand has the sentences of {}; --cases DIR says where they are", folders.join(", "))
    })
}

fn column(strand: &Strand<'_>) -> Column {
    let (mut standings, mut rates, mut micros) = (BTreeMap::new(), Rates::default(), 0_u64);
    for record in strand.records.values() {
        *standings.entry(Standing::of(record)).or_default() += 1;
        rates.add(record);
        micros = micros.saturating_add(record.micros);
    }
    let skipped = strand.skipped.iter();
    Column {
        id: strand.id.clone(),
        title: strand.about.map_or_else(|| strand.id.to_string(), |about| about.title.clone()),
        version: strand.about.and_then(|about| about.version.clone()),
        unverified: strand.about.and_then(|about| about.unverified.clone()),
        cases: strand.cases.map(str::to_owned),
        planned: strand.planned,
        missing: strand.planned - strand.records.len(),
        standings,
        skipped: skipped.map(|(reason, tests)| SkippedTests { reason: (*reason).to_owned(), tests: *tests }).collect(),
        rates,
        stale: strand.stale.iter().cloned().collect(),
        seconds: seconds(micros),
    }
}

/// To the millisecond: more is noise.
fn seconds(micros: u64) -> f64 {
    std::time::Duration::from_millis(micros / 1000).as_secs_f64()
}

fn entry(target: usize, record: &Record, places: &BTreeMap<&RequirementId, usize>, book: &Book) -> TestEntry {
    let seen = &record.observation;
    let case = &record.test.case;
    TestEntry {
        target,
        test: record.test.clone(),
        title: record.title.clone(),
        standing: Standing::of(record),
        file: book.files.get(case).cloned().unwrap_or_else(|| default_file(case)),
        micros: record.micros,
        unseen: seen.unavailable.clone().or_else(|| seen.cannot.clone()),
        checks: record.verdicts.iter().map(|verdict| check(verdict, places[&verdict.requirement])).collect(),
    }
}

/// The judge tells why a failure is known before what didn't hold; here these are apart.
fn check(verdict: &Verdict, requirement: usize) -> CheckEntry {
    let excused = verdict.known.as_ref().filter(|_| verdict.excuses.is_some());
    let (reason, detail) = match (verdict.excuses, verdict.detail.split_first()) {
        (Some(_), Some((reason, detail))) => (Some(reason.clone()), detail.to_vec()),
        _ => (None, verdict.detail.clone()),
    };
    CheckEntry {
        requirement,
        step: verdict.step,
        kind: verdict.kind,
        excuses: verdict.excuses,
        detail,
        line: verdict.line,
        reason: excused.map(|known| known.reason.clone()).or(reason),
        issue: excused.and_then(|known| known.issue.clone()),
    }
}
