//! Run logs and the catalogue → a [`Report`].
//!
//! Takes [`Source`]s, and the requirements by id; gives rows, cells and tests. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::capability::answers;
use super::format::{Cell, CheckEntry, DetailEntry, Legend, REPORT_FORMAT, Report, Sentence, TestEntry};
use super::merge::{Merged, MergedTarget, merge};
use super::{Caveat, CaveatKind, Column, KeywordEntry, REFERENCE, SentenceRates, Source, Status, Untrusted, View};
use crate::model::capability::CapabilityGroup;
use crate::model::case::{Case, Library, Need};
use crate::model::reason::Detail;
use crate::model::record::{Record, Verdict};
use crate::model::spec::{Catalogue, Level, Revision, Role};
use crate::model::text::shortened;
use crate::model::verdict::Meaning;
use crate::model::{CaseId, RequirementId, TargetId, TestId};

/// The bytes that are kept of a title, and of a text of a verdict's detail.
const TITLE: usize = 400;
const DETAIL: usize = 2_000;
/// The number of details that are kept of a verdict.
const DETAILS: usize = 20;

/// Facts about the cases that a report needs: the requirements, and the places of the files.
#[derive(Clone, Debug, Default)]
pub struct ReportContext {
    /// The requirements.
    pub catalogue: Catalogue,
    /// The paths of case files outside of the usual folder of cases.
    pub files: BTreeMap<CaseId, String>,
    /// The questions of readers.
    pub capabilities: Vec<CapabilityGroup>,
    /// The roles of cases.
    pub roles: BTreeMap<CaseId, Role>,
    /// The features that cases need.
    pub needs: BTreeMap<CaseId, BTreeSet<Need>>,
}

/// The role of each case.
pub(super) fn roles(library: &Library) -> BTreeMap<CaseId, Role> {
    library.cases.iter().map(|case| (case.id.clone(), case.role)).collect()
}

impl ReportContext {
    /// The context of reports about these cases.
    pub fn of(library: &Library) -> Self {
        Self {
            catalogue: library.requirements.clone(),
            files: library.cases.iter().map(|case| (case.id.clone(), case.path.clone())).collect(),
            capabilities: library.capabilities.clone(),
            roles: roles(library),
            needs: library.cases.iter().map(|case| (case.id.clone(), needs(case))).collect(),
        }
    }

    fn file(&self, case: &CaseId) -> String {
        self.files.get(case).cloned().unwrap_or_else(|| format!("cases/{case}.json"))
    }
}

fn needs(case: &Case) -> BTreeSet<Need> {
    case.tests.iter().flat_map(|test| &test.needs).copied().collect()
}

impl Report {
    /// Merges run logs into one report.
    pub fn new(sources: &[Source], context: &ReportContext) -> Self {
        Self::with_records(sources, context).0
    }

    /// Merges run logs into one report, and returns the records of each column too, in the order of the report's tests.
    pub fn with_records<'s>(
        sources: &'s [Source],
        context: &ReportContext,
    ) -> (Self, Vec<BTreeMap<TestId, &'s Record>>) {
        let Merged { targets: mut merged, caveats } = merge(sources);
        name(&mut merged);
        mark_main(&mut merged, sources);
        count_sentences(&mut merged, &context.roles);
        let requirements = rows(&merged, &context.catalogue);
        let places: BTreeMap<&RequirementId, usize> =
            requirements.iter().enumerate().map(|(at, row)| (&row.id, at)).collect();
        let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
        let (mut tests, mut keywords) = (Vec::new(), Vec::new());
        for (target, MergedTarget { column, records }) in merged.iter().enumerate() {
            for record in records.values() {
                for verdict in &record.verdicts {
                    let requirement = places[&verdict.requirement];
                    let status = verdict.kind.into();
                    let cell = cells.entry((requirement, target));
                    let cell = cell.or_insert_with(|| Cell { requirement, target, status, checks: BTreeMap::new() });
                    cell.status = cell.status.max(status);
                    *cell.checks.entry(verdict.kind).or_default() += 1;
                }
                tests.push(entry(target, record, &places, context));
            }
            keywords.extend(column.keywords.iter().map(|(one, rate)| {
                let (draft, keyword, door) = (one.draft, one.keyword.clone(), one.door);
                KeywordEntry { draft, keyword, door, target, rate }
            }));
        }
        keywords.sort_by(|a, b| (a.draft, &a.keyword, a.door, a.target).cmp(&(b.draft, &b.keyword, b.door, b.target)));
        let capabilities = answers(context, &merged);
        let (targets, records): (Vec<_>, Vec<_>) =
            merged.into_iter().map(|merged| (merged.column, merged.records)).unzip();
        let report = Self {
            format: REPORT_FORMAT,
            casebook: env!("CARGO_PKG_VERSION").to_owned(),
            legend: Legend::default(),
            partial: caveats.into_iter().chain(uncatalogued(&requirements)).collect(),
            capabilities,
            view: View::of(&targets),
            targets,
            requirements,
            cells: cells.into_values().collect(),
            tests,
            keywords,
        };
        (report, records)
    }
}

/// Names the columns: by target, and by version too if a target has several columns.
fn name(merged: &mut [MergedTarget<'_>]) {
    type Version = (TargetId, Option<String>);
    let mut ids: HashMap<TargetId, usize> = HashMap::new();
    let mut versions: HashMap<Version, usize> = HashMap::new();
    let key = |column: &Column| (column.id.clone(), column.version.clone());
    for MergedTarget { column, .. } in merged.iter() {
        *ids.entry(column.id.clone()).or_default() += 1;
        *versions.entry(key(column)).or_default() += 1;
    }
    for MergedTarget { column, .. } in merged.iter_mut().filter(|merged| ids[&merged.column.id] > 1) {
        let version = column.version.as_deref().unwrap_or("of no known version");
        let cases = column.cases.as_deref().filter(|_| versions[&key(column)] > 1);
        let cases = cases.map(|cases| format!(", cases {cases}")).unwrap_or_default();
        column.name = format!("{} {version}{cases}", column.id);
    }
}

/// Marks one variant of each target: the first one that any run log lists.
fn mark_main(merged: &mut [MergedTarget<'_>], sources: &[Source]) {
    let mut first: BTreeMap<&str, &TargetId> = BTreeMap::new();
    for id in sources.iter().flat_map(|source| &source.header.targets) {
        first.entry(&id.name).or_insert(id);
    }
    for MergedTarget { column, .. } in merged {
        column.is_main = first.get(column.id.name.as_str()) == Some(&&column.id);
    }
}

/// Counts the requirements that hold, for servers and clients apart.
pub(super) fn count_sentences(merged: &mut [MergedTarget<'_>], roles: &BTreeMap<CaseId, Role>) {
    for MergedTarget { column, records } in merged {
        for role in &Role::SINGLE {
            let of_role = records.values().filter(|record| roles.get(&record.test.case) == Some(role));
            let mut verdicts = of_role.flat_map(|record| &record.verdicts).peekable();
            if verdicts.peek().is_some() {
                column.sentences.insert(*role, SentenceRates::of(verdicts));
            }
        }
    }
}

fn rows(merged: &[MergedTarget<'_>], catalogue: &Catalogue) -> Vec<Sentence> {
    let mut levels: BTreeMap<&RequirementId, Level> = BTreeMap::new();
    let mut decisions: BTreeMap<&RequirementId, BTreeMap<&str, bool>> = BTreeMap::new();
    // The words are those of the newest revision that a target violates, or else of the newest that was asked.
    let mut revisions: BTreeMap<&RequirementId, (bool, Revision)> = BTreeMap::new();
    for (name, test, verdict) in merged.iter().flat_map(|target| {
        let records = target.records.values();
        let verdicts = records.flat_map(|record| record.verdicts.iter().map(|verdict| (&record.test, verdict)));
        verdicts.map(|(test, verdict)| (target.column.id.name.as_str(), test, verdict))
    }) {
        let asked = (verdict.kind.meaning() == Meaning::Broken, test.revision);
        let revision = revisions.entry(&verdict.requirement).or_insert(asked);
        *revision = asked.max(*revision);
        let level = levels.entry(&verdict.requirement).or_insert(verdict.level);
        *level = verdict.level.min(*level);
        if name != REFERENCE {
            *decisions.entry(&verdict.requirement).or_default().entry(name).or_default() |= verdict.is_decided();
        }
    }
    let row = |(id, level): (&RequirementId, Level)| {
        let decided = decisions.get(id).map_or(0, |targets| targets.values().filter(|decided| **decided).count());
        let vacuous = decisions.get(id).map_or(0, BTreeMap::len) - decided;
        Sentence { decided, vacuous, ..Sentence::of(id, level, catalogue.get(id), revisions[id].1) }
    };
    levels.into_iter().map(row).collect()
}

/// Returns a caveat for requirements that no loaded catalogue has.
fn uncatalogued(rows: &[Sentence]) -> Option<Caveat> {
    let folders: BTreeSet<&str> =
        rows.iter().filter(|row| row.quote.is_none()).map(|row| row.folder.as_str()).collect();
    let folders: Vec<_> = folders.into_iter().take(5).map(|folder| Untrusted(folder).line(60)).collect();
    (!folders.is_empty()).then(|| {
        let folders = folders.join(", ");
        CaveatKind::Remark
            .of(format!("no loaded catalogue has the requirements of {folders}; load their cases with --cases DIR"))
    })
}

fn entry(
    target: usize,
    record: &Record,
    places: &BTreeMap<&RequirementId, usize>,
    context: &ReportContext,
) -> TestEntry {
    let seen = &record.observation;
    let unseen = seen.unavailable.as_ref().or(seen.cannot.as_ref());
    TestEntry {
        target,
        test: record.test.clone(),
        role: context.roles.get(&record.test.case).copied(),
        title: shortened(&record.title, TITLE).into_owned(),
        status: Status::of(record),
        file: context.file(&record.test.case),
        micros: record.micros,
        unseen: unseen.map(|reason| shortened(reason, DETAIL).into_owned()),
        checks: record.verdicts.iter().map(|verdict| check(verdict, places[&verdict.requirement])).collect(),
    }
}

fn check(verdict: &Verdict, requirement: usize) -> CheckEntry {
    let excused = verdict.known.as_ref().filter(|_| verdict.excuses.is_some());
    CheckEntry {
        requirement,
        step: verdict.step,
        kind: verdict.kind,
        excuses: verdict.excuses,
        detail: verdict.detail.iter().take(DETAILS).cloned().map(detail).collect(),
        line: verdict.line,
        reason: excused.map(|known| shortened(&known.reason, DETAIL).into_owned()),
        issue: excused.and_then(|known| known.issue.clone()).filter(|issue| issue.len() < DETAIL),
        url: excused.and_then(|known| known.url.clone()).filter(|url| url.len() < DETAIL),
    }
}

fn detail(mut detail: Detail) -> DetailEntry {
    for text in detail.texts_mut().filter(|text| text.len() > DETAIL) {
        *text = shortened(text, DETAIL).into_owned();
    }
    DetailEntry { text: detail.to_string(), detail }
}
