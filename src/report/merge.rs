//! Run logs → columns: shards of one run together, each version of a target for itself.
//!
//! Takes [`Source`]s in any order, gives the same for every order and every way to split a run. Must not know what a
//! report looks like.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::{Column, SkippedTests, Status, Untrusted};
use crate::model::bound::{brief, keep_values};
use crate::model::reason::{SkipReason, Stale};
use crate::model::record::{About, Cuts, Footer, Header, Record, Skipped, SnapshotProblem};
use crate::model::text::count;
use crate::model::verdict::VerdictKind;
use crate::model::version;
use crate::model::{RequirementId, Shard, TargetId, TestId};

/// The number of targets that a caveat names.
const NAMED: usize = 40;

/// One run log, as far as it could be read.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of its file.
    pub name: String,
    /// Its first line.
    pub header: Header,
    /// Its tests.
    pub records: Vec<Record>,
    /// Its last line; `None` if the run log has no end.
    pub footer: Option<Footer>,
    /// The reason why the rest of it couldn't be read.
    pub cut: Option<String>,
    /// Set if the run log is damaged, and not only cut short by the end of a killed run.
    pub is_broken: bool,
}

impl Source {
    /// A run log without tests.
    pub fn begun(name: &str, header: &Header) -> Self {
        let (name, header) = (name.to_owned(), header.clone());
        Self { name, header, records: Vec::new(), footer: None, cut: None, is_broken: false }
    }

    /// Adds a record of the run, which has one for each test. No report needs the observation of a passed test, which
    /// is most of its record; of other observations a bounded part is kept.
    pub fn add(&mut self, record: &Record) {
        let mut record = record.clone();
        if Status::of(&record) == Status::Passed {
            keep_values(&mut record);
        }
        brief(&mut record);
        self.records.push(record);
    }
}

/// A reason why a report is partial.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Caveat {
    /// Its gravity.
    pub kind: CaveatKind,
    /// The reason, in words.
    pub text: String,
}

/// The gravity of a caveat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaveatKind {
    /// The run logs contradict each other.
    Contradiction,
    /// Planned tests are missing.
    Missing,
    /// The results have a limitation.
    Remark,
}

impl CaveatKind {
    /// A caveat of this kind.
    pub(super) fn of(self, text: impl Into<String>) -> Caveat {
        Caveat { kind: self, text: text.into() }
    }
}

/// The records of one target in one version from all run logs.
pub(super) struct MergedTarget<'s> {
    pub(super) column: Column,
    pub(super) records: BTreeMap<TestId, &'s Record>,
}

/// The targets in the order of a report.
pub(super) struct Merged<'s> {
    pub(super) targets: Vec<MergedTarget<'s>>,
    /// The reasons why the report is partial, the worst first.
    pub(super) caveats: BTreeSet<Caveat>,
}

/// A run log by target; it may have very many of them.
struct Run<'s> {
    source: &'s Source,
    about: HashMap<&'s TargetId, &'s About>,
    records: HashMap<&'s TargetId, Vec<&'s Record>>,
    skipped: HashMap<&'s TargetId, Vec<&'s Skipped>>,
    stale: HashMap<&'s TargetId, Vec<&'s Stale>>,
    snapshots: HashMap<&'s TargetId, Vec<&'s SnapshotProblem>>,
}

impl<'s> Run<'s> {
    fn new(source: &'s Source) -> Self {
        let stale = source.footer.as_ref().map_or(&[][..], |footer| &footer.stale);
        let snapshots = source.footer.as_ref().map_or(&[][..], |footer| &footer.snapshots);
        Self {
            source,
            // Of several entries of one target, the first counts.
            about: source.header.about.iter().rev().map(|about| (&about.target, about)).collect(),
            records: by_target(source.records.iter().map(|record| (&record.target, record))),
            skipped: by_target(source.header.skipped.iter().map(|skipped| (&skipped.target, skipped))),
            stale: by_target(stale.iter().map(|stale| (&stale.target, stale))),
            snapshots: by_target(snapshots.iter().map(|problem| (&problem.target, problem))),
        }
    }

    fn records(&self, id: &TargetId) -> &[&'s Record] {
        self.records.get(id).map_or(&[], Vec::as_slice)
    }

    /// The number of planned tests of a target. Older headers have only the number for all targets together.
    fn planned(&self, id: &TargetId) -> usize {
        match (self.about.get(id), self.source.header.targets.as_slice()) {
            (Some(about), _) => about.planned,
            (None, [_]) => self.source.header.planned,
            (None, _) => self.records(id).len(),
        }
    }
}

fn by_target<'s, T>(all: impl Iterator<Item = (&'s TargetId, T)>) -> HashMap<&'s TargetId, Vec<T>> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for (target, one) in all {
        found.entry(target).or_default().push(one);
    }
    found
}

/// The key of a column: the target, its version, and the hash of the cases.
type Key<'s> = (&'s TargetId, Option<&'s str>, Option<&'s str>);
/// The key of a part of a run: the shard, and the filter as it was typed.
type Part<'s> = (Option<Shard>, Option<&'s str>);

/// Joins the parts of each target.
pub(super) fn merge(sources: &[Source]) -> Merged<'_> {
    let runs: Vec<Run<'_>> = sources.iter().map(Run::new).collect();
    let mut columns: BTreeMap<Key<'_>, Vec<&Run<'_>>> = BTreeMap::new();
    let mut caveats: BTreeSet<Caveat> = sources.iter().filter_map(caveat).collect();
    for run in &runs {
        for target in &run.source.header.targets {
            let version = run.about.get(target).and_then(|about| about.version.as_deref());
            columns.entry((target, version, run.source.header.cases.as_deref())).or_default().push(run);
        }
    }
    caveats.extend(different_cases(sources));
    let mut columns: Vec<_> = columns.into_iter().collect();
    columns.sort_by_cached_key(|((id, number, cases), _)| (*id, version::order(number.unwrap_or_default()), *cases));
    let mut narrowed = BTreeMap::new();
    let targets = columns.into_iter().map(|(key, runs)| merged(key, &runs, &mut caveats, &mut narrowed)).collect();
    caveats.extend(narrowed.into_iter().map(|(filter, targets)| tested_in_part(filter, &targets)));
    Merged { targets, caveats }
}

/// The caveat about one run log, if there is one.
fn caveat(source: &Source) -> Option<Caveat> {
    let name = Untrusted(&source.name).line(200);
    if let Some(cut) = &source.cut {
        let kind = if source.is_broken { CaveatKind::Contradiction } else { CaveatKind::Missing };
        let (cut, tests) = (Untrusted(cut).line(300), count(source.records.len(), "test"));
        return Some(kind.of(format!("only a part of {name} could be read ({tests}): {cut}")));
    }
    match &source.footer {
        None => Some(CaveatKind::Missing.of(format!("{name} has no end: the run was killed, or is still running"))),
        Some(footer) if footer.interrupted => {
            Some(CaveatKind::Missing.of(format!("the run of {name} was interrupted")))
        }
        Some(Footer { cut: Cuts { texts, bytes, tests }, .. }) if *tests > 0 => Some(CaveatKind::Remark.of(format!(
            "{name} has shortened observations of {}: {texts} texts were cut by {bytes} bytes in all; the verdicts are \
             based on the whole texts",
            count(usize::try_from(*tests).unwrap_or(usize::MAX), "test")
        ))),
        Some(_) => None,
    }
}

/// The caveat about run logs of different cases.
fn different_cases(sources: &[Source]) -> Option<Caveat> {
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        let cases = source.header.cases.as_deref().unwrap_or("unknown");
        names.entry(cases).or_default().insert(&source.name);
    }
    let groups = names.iter().map(|(cases, names)| {
        let names: Vec<_> = names.iter().map(|name| Untrusted(name).line(200)).collect();
        format!("{} (cases {})", names.join(", "), Untrusted(cases).line(40))
    });
    let groups: Vec<_> = groups.collect();
    (groups.len() > 1).then(|| {
        CaveatKind::Remark.of(format!(
            "the run logs are of different cases: {}; each column counts its own cases, so do not compare totals and shares",
            groups.join(" and ")
        ))
    })
}

/// The caveat about targets that were tested with the same filter.
fn tested_in_part(filter: &str, targets: &BTreeSet<&TargetId>) -> Caveat {
    let how = match filter.strip_prefix("--set ").filter(|name| !name.contains(' ')) {
        Some(set) => format!("by the frozen set {set}"),
        None => format!("only in part, with {filter}"),
    };
    let how = Untrusted(&how).line(300);
    let mut targets = targets.iter();
    CaveatKind::Remark.of(match (targets.next(), targets.len()) {
        (Some(only), 0) => format!("{only} was tested {how}"),
        (first, others) => {
            let names: Vec<_> = first.into_iter().chain(targets).take(NAMED).map(ToString::to_string).collect();
            let more = if others < NAMED { "" } else { ", …" };
            format!("{} targets were tested {how}: {}{more}", others + 1, names.join(", "))
        }
    })
}

fn merged<'s>(
    (id, _, cases): Key<'s>,
    runs: &[&Run<'s>],
    caveats: &mut BTreeSet<Caveat>,
    narrowed: &mut BTreeMap<&'s str, BTreeSet<&'s TargetId>>,
) -> MergedTarget<'s> {
    let mut parts: BTreeMap<Part<'s>, Vec<&Run<'s>>> = BTreeMap::new();
    for &run in runs {
        let header = &run.source.header;
        parts.entry((header.shard, header.narrowed.as_deref())).or_default().push(run);
    }
    let records = records_of(id, runs, caveats);
    // A run of everything makes its parts redundant.
    let whole = parts.get(&(None, None)).map(|runs| vec![((None, None), runs.clone())]);
    let is_whole = whole.is_some() || is_every_shard(&parts);
    let parts = whole.unwrap_or_else(|| parts.into_iter().collect());
    for filter in parts.iter().filter_map(|((_, filter), _)| *filter) {
        narrowed.entry(filter).or_default().insert(id);
    }
    caveats.extend(missing_shards(id, &parts));
    let about =
        runs.iter().filter_map(|run| run.about.get(id).copied()).min_by_key(|about| (&about.title, &about.unverified));
    let mut column = Column::new(id.clone(), about, cases);
    let sets: BTreeSet<_> = runs.iter().map(|run| run.source.header.set.as_ref()).collect();
    if let [Some(set)] = Vec::from_iter(sets)[..] {
        column.set = Some(set.clone());
    }
    column.planned = records.len();
    let mut skipped: BTreeMap<SkipReason, usize> = BTreeMap::new();
    for (part, runs) in &parts {
        let ran: BTreeSet<&TestId> = match part {
            (None, None) => records.keys().collect(),
            _ => runs.iter().flat_map(|one| one.records(id)).map(|one| &one.test).collect(),
        };
        let most = runs.iter().map(|run| run.planned(id)).max().unwrap_or(0);
        column.planned += most.saturating_sub(ran.len());
        for (reason, tests) in skips(runs, id) {
            *skipped.entry(reason).or_default() += tests;
        }
    }
    column.missing = column.planned - records.len();
    column.skipped = skipped.into_iter().map(|(reason, tests)| SkippedTests::new(reason, tests)).collect();
    let listed = runs.iter().filter_map(|run| run.stale.get(id)).flatten().map(|stale| (*stale).clone());
    let mut stale: BTreeSet<Stale> = listed.collect();
    if is_whole && column.missing == 0 {
        stale.extend(stale_of(id, records.values().copied()));
    }
    column.stale = stale.into_iter().collect();
    let snapshots: BTreeSet<_> = runs.iter().filter_map(|run| run.snapshots.get(id)).flatten().copied().collect();
    column.snapshots = snapshots.into_iter().cloned().collect();
    for record in records.values() {
        column.add(record);
    }
    MergedTarget { column, records }
}

/// Returns each test once: of several records the worst, with a caveat if they contradict each other.
fn records_of<'s>(id: &TargetId, runs: &[&Run<'s>], caveats: &mut BTreeSet<Caveat>) -> BTreeMap<TestId, &'s Record> {
    let mut all: BTreeMap<TestId, Vec<(&'s Record, &'s str)>> = BTreeMap::new();
    for run in runs {
        for record in run.records(id) {
            all.entry(record.test.clone()).or_default().push((record, &run.source.name));
        }
    }
    let mut contradictions: BTreeMap<BTreeSet<&str>, Vec<String>> = BTreeMap::new();
    for (test, records) in &all {
        let results: BTreeSet<_> = records.iter().map(|(record, _)| result(record)).collect();
        if results.len() > 1 {
            let statuses: BTreeSet<_> = records.iter().map(|(record, _)| Status::of(record).word()).collect();
            let test = format!("{test} ({})", statuses.into_iter().collect::<Vec<_>>().join(", "));
            contradictions.entry(records.iter().map(|(_, name)| *name).collect()).or_default().push(test);
        }
    }
    for (names, tests) in contradictions {
        let names: Vec<_> = names.into_iter().map(|name| Untrusted(name).line(200)).collect();
        let who = if names.len() == 1 { "disagrees with itself" } else { "disagree" };
        let (names, number, first) = (names.join(" and "), count(tests.len(), "test"), Untrusted(&tests[0]).line(300));
        caveats.insert(
            CaveatKind::Contradiction
                .of(format!("{names} {who} on {number} of {id}, the first of them {first}; the worse verdicts count")),
        );
    }
    let weight = |record: &Record| (Status::of(record), serde_json::to_string(record).expect("a record is JSON"));
    let gravest = |records: Vec<(&'s Record, &'s str)>| match records.as_slice() {
        [(only, _)] => *only,
        _ => records.iter().map(|(record, _)| *record).max_by_key(|record| weight(record)).expect("there is one"),
    };
    all.into_iter().map(|(test, records)| (test, gravest(records))).collect()
}

/// The result of a test without its times.
fn result(record: &Record) -> (Status, Vec<(usize, &RequirementId, VerdictKind)>) {
    let verdicts = record.verdicts.iter().map(|one| (one.step, &one.requirement, one.kind));
    (Status::of(record), verdicts.collect())
}

/// The skipped tests of a part: all of its run logs have the same, unless one covers fewer cases.
fn skips(runs: &[&Run<'_>], id: &TargetId) -> BTreeMap<SkipReason, usize> {
    let mut skips = BTreeMap::new();
    for &skipped in runs.iter().filter_map(|run| run.skipped.get(id)).flatten() {
        let most = skips.entry(skipped.reason).or_default();
        *most = skipped.tests.max(*most);
    }
    skips
}

/// Returns whether the parts are all shards of one run.
fn is_every_shard(parts: &BTreeMap<Part<'_>, Vec<&Run<'_>>>) -> bool {
    let shards: BTreeSet<Shard> =
        parts.keys().filter(|(_, narrowed)| narrowed.is_none()).filter_map(|(shard, _)| *shard).collect();
    shards.iter().any(|one| shards.iter().filter(|shard| shard.parts == one.parts).count() == one.parts.get() as usize)
}

/// Returns caveats about shards without a run log.
fn missing_shards(id: &TargetId, parts: &[(Part<'_>, Vec<&Run<'_>>)]) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    let mut shards: BTreeMap<(u32, Option<&str>), BTreeSet<u32>> = BTreeMap::new();
    for ((shard, narrowed), _) in parts {
        if let Some(Shard { part, parts }) = shard {
            shards.entry((parts.get(), *narrowed)).or_default().insert(part.get());
        }
    }
    for ((parts, _), there) in shards {
        let missing: Vec<String> =
            (1..=parts).filter(|part| !there.contains(part)).take(20).map(|part| format!("{part}/{parts}")).collect();
        if !missing.is_empty() {
            caveats.push(CaveatKind::Missing.of(format!("{id} lacks the run log of shard {}", missing.join(", "))));
        }
    }
    caveats
}

/// Returns the entries of targets of which no check fails any more in these run logs together.
pub fn stale(sources: &[Source]) -> Vec<Stale> {
    merge(sources).targets.into_iter().flat_map(|target| target.column.stale).collect()
}

/// Returns the entries of which no check fails any more, from the records.
fn stale_of<'r>(id: &TargetId, records: impl Iterator<Item = &'r Record>) -> impl Iterator<Item = Stale> {
    let mut met = BTreeMap::new();
    for verdict in records.flat_map(|record| &record.verdicts) {
        if let Some(known) = &verdict.known {
            *met.entry((&verdict.requirement, known)).or_insert(false) |= verdict.excuses.is_some();
        }
    }
    let stale = met.into_iter().filter(|((_, known), failed)| !failed && !known.shared);
    stale.map(|((requirement, known), _)| Stale {
        target: id.clone(),
        requirement: requirement.clone(),
        known: known.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::bound::length;
    use crate::model::case::Outcome;
    use crate::model::observation::{Observed, StepObservation};

    #[test]
    fn failed_test_is_kept_in_memory_within_a_bound() {
        let step = StepObservation {
            structured: Some(Observed::Value("x".repeat(100_000).into())),
            ..samples::step(Outcome::Crash)
        };
        let record = Record {
            observation: samples::observation(vec![step]),
            ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Crash)
        };
        let mut source = Source::begun("run.jsonl", &Header::default());
        source.add(&record);
        assert!(length(&source.records[0]) < 20_000 && source.records[0].observation.steps.len() == 1);
    }
}
