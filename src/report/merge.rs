//! Records of any number of runs → columns: shards of one run together, each version of a target for itself.
//!
//! Takes [`Source`]s in any order, gives the same for every order and every way to split a run. Must not know what a
//! report looks like.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Standing, Untrusted};
use crate::model::bound::brief;
use crate::model::record::{About, Cuts, Footer, Header, Record, Skipped, VerdictKind};
use crate::model::{LONGEST_TARGET_NAME, RequirementId, Shard, TargetId, TestId};

/// One record of a run, as far as it could be read.
#[derive(Clone, Debug)]
pub struct Source {
    /// What people call it: its file.
    pub name: String,
    /// What was to be run.
    pub header: Header,
    /// What became of the tests.
    pub records: Vec<Record>,
    /// How it ended; `None` where it was cut short.
    pub footer: Option<Footer>,
    /// Why the rest of it couldn't be read.
    pub cut: Option<String>,
    /// Whether that is more than a run that was killed.
    pub is_broken: bool,
}

impl Source {
    /// A run that was begun, without a test yet.
    pub fn begun(name: &str, header: &Header) -> Self {
        let (name, header) = (name.to_owned(), header.clone());
        Self { name, header, records: Vec::new(), footer: None, cut: None, is_broken: false }
    }

    /// Takes a test of the run, which has each once. What was seen in a test that passed is most of its record, and in
    /// no report; of the others a bounded part is kept.
    pub fn add(&mut self, record: &Record) {
        let mut record = record.clone();
        if Standing::of(&record) == Standing::Passed {
            record.observation.steps = Vec::new();
        }
        brief(&mut record);
        self.records.push(record);
    }
}

/// Why a report isn't all there is to tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// How grave that is.
    pub kind: GapKind,
    /// The reason, in words.
    pub text: String,
}

/// What a gap means for whoever made the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapKind {
    /// The records can't all be right.
    Contradiction,
    /// Something that was planned is missing.
    Missing,
    /// What is there has to be read with care.
    Remark,
}

impl GapKind {
    fn gap(self, text: impl Into<String>) -> Gap {
        Gap { kind: self, text: text.into() }
    }
}

/// What the records say of one target in one version.
#[derive(Clone, Debug)]
pub(super) struct Strand<'s> {
    pub(super) id: TargetId,
    pub(super) about: Option<&'s About>,
    pub(super) cases: Option<&'s str>,
    pub(super) planned: usize,
    pub(super) skipped: BTreeMap<&'s str, usize>,
    pub(super) stale: BTreeSet<String>,
    pub(super) records: BTreeMap<TestId, &'s Record>,
}

/// The strands in the order of a report, and why they aren't all there is.
#[derive(Clone, Debug)]
pub struct Merged<'s> {
    pub(super) strands: Vec<Strand<'s>>,
    /// Why they aren't all there is; the gravest first.
    pub gaps: BTreeSet<Gap>,
}

/// A run, with what it says of each target; a run may have very many of them.
struct Run<'s> {
    source: &'s Source,
    about: HashMap<&'s TargetId, &'s About>,
    records: HashMap<&'s TargetId, Vec<&'s Record>>,
    skipped: HashMap<&'s TargetId, Vec<&'s Skipped>>,
    /// By the name of the target that a line begins with.
    stale: HashMap<&'s str, Vec<&'s String>>,
}

impl<'s> Run<'s> {
    fn new(source: &'s Source) -> Self {
        let (mut about, mut stale) = (HashMap::new(), HashMap::<_, Vec<_>>::new());
        for one in &source.header.about {
            about.entry(&one.target).or_insert(one);
        }
        for line in source.footer.iter().flat_map(|footer| &footer.stale) {
            // A name may have a colon in it.
            for (end, _) in line.match_indices(": ").take_while(|(end, _)| *end <= LONGEST_TARGET_NAME) {
                stale.entry(&line[..end]).or_default().push(line);
            }
        }
        Self {
            source,
            about,
            records: by_target(&source.records, |record| &record.target),
            skipped: by_target(&source.header.skipped, |skipped| &skipped.target),
            stale,
        }
    }

    fn records(&self, id: &TargetId) -> &[&'s Record] {
        self.records.get(id).map_or(&[], Vec::as_slice)
    }
}

fn by_target<T>(all: &[T], target: impl Fn(&T) -> &TargetId) -> HashMap<&TargetId, Vec<&T>> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for one in all {
        found.entry(target(one)).or_default().push(one);
    }
    found
}

/// What tells columns apart: the target, its version, and the cases that it was asked.
type Key<'s> = (&'s TargetId, Option<&'s str>, Option<&'s str>);
/// What tells the parts of one run apart: the shard, and what it was narrowed to.
type Part<'s> = (Option<Shard>, Option<&'s str>);

/// Joins what belongs together.
pub fn merge(sources: &[Source]) -> Merged<'_> {
    let runs: Vec<Run<'_>> = sources.iter().map(Run::new).collect();
    let mut strands: BTreeMap<Key<'_>, Vec<&Run<'_>>> = BTreeMap::new();
    let mut gaps: BTreeSet<Gap> = sources.iter().filter_map(troubles).collect();
    for run in &runs {
        for target in &run.source.header.targets {
            let version = run.about.get(target).and_then(|about| about.version.as_deref());
            strands.entry((target, version, run.source.header.cases.as_deref())).or_default().push(run);
        }
    }
    gaps.extend(other_cases(sources));
    let mut strands: Vec<_> = strands.into_iter().map(|(key, runs)| strand(key, &runs, &mut gaps)).collect();
    let version = |strand: &Strand<'_>| strand.about.and_then(|about| about.version.clone());
    strands.sort_by_cached_key(|one| (one.id.clone(), natural(&version(one).unwrap_or_default()), one.cases));
    Merged { strands, gaps }
}

/// What is wrong with one record as such.
fn troubles(source: &Source) -> Option<Gap> {
    let name = Untrusted(&source.name).line(200);
    if let Some(cut) = &source.cut {
        let kind = if source.is_broken { GapKind::Contradiction } else { GapKind::Missing };
        let (cut, tests) = (Untrusted(cut).line(300), source.records.len());
        return Some(kind.gap(format!("{name} could be read in part only: {cut}; {tests} tests of it count")));
    }
    match &source.footer {
        None => Some(GapKind::Missing.gap(format!("{name} has no end: the run was cut short, or it still goes on"))),
        Some(footer) if footer.interrupted => {
            Some(GapKind::Missing.gap(format!("{name} is of a run that was interrupted")))
        }
        Some(footer) if footer.cut.tests > 0 => {
            let Cuts { texts, bytes, tests } = footer.cut;
            Some(GapKind::Remark.gap(format!(
                "{name} lacks what was over a bound in {tests} tests: {texts} texts were cut, {bytes} bytes left out; the \
                 verdicts were made before"
            )))
        }
        Some(_) => None,
    }
}

/// Which records are of which cases, where they aren't all of the same.
fn other_cases(sources: &[Source]) -> Option<Gap> {
    let mut sets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        let cases = source.header.cases.as_deref().unwrap_or("unknown");
        sets.entry(cases).or_default().insert(&source.name);
    }
    let told = sets.iter().map(|(cases, names)| {
        let names: Vec<_> = names.iter().map(|name| Untrusted(name).line(200)).collect();
        format!("{} (cases {})", names.join(", "), Untrusted(cases).line(40))
    });
    (sets.len() > 1).then(|| {
        GapKind::Remark.gap(format!(
            "the records are of different cases: {}; each column counts what its own cases ask, so that totals and \
             shares of these don't compare",
            told.collect::<Vec<_>>().join(" and ")
        ))
    })
}

fn strand<'s>((id, _, cases): Key<'s>, runs: &[&Run<'s>], gaps: &mut BTreeSet<Gap>) -> Strand<'s> {
    let mut parts: BTreeMap<Part<'s>, Vec<&Run<'s>>> = BTreeMap::new();
    for &run in runs {
        let header = &run.source.header;
        parts.entry((header.shard, header.narrowed.as_deref())).or_default().push(run);
    }
    let records = records_of(id, runs, gaps);
    // A run of everything leaves nothing to the parts.
    let whole = parts.get(&(None, None)).map(|runs| vec![((None, None), runs.clone())]);
    let is_whole = whole.is_some() || is_every_shard(&parts);
    let parts = whole.unwrap_or_else(|| parts.into_iter().collect());
    gaps.extend(left_out(id, &parts));
    let mut planned = records.len();
    let mut skipped: BTreeMap<&'s str, usize> = BTreeMap::new();
    for (part, runs) in &parts {
        let ran: BTreeSet<&TestId> = match part {
            (None, None) => records.keys().collect(),
            _ => runs.iter().flat_map(|one| one.records(id)).map(|one| &one.test).collect(),
        };
        let most = runs.iter().map(|run| planned_of(run, id)).max().unwrap_or(0);
        planned += most.saturating_sub(ran.len());
        for (reason, tests) in skips(runs, id) {
            *skipped.entry(reason).or_default() += tests;
        }
    }
    let name = id.to_string();
    let told = runs.iter().filter_map(|run| run.stale.get(name.as_str())).flatten();
    let mut stale: BTreeSet<String> = told.map(|line| (*line).clone()).collect();
    if is_whole && planned == records.len() {
        stale.extend(stale_of(id, records.values().copied()));
    }
    let about =
        runs.iter().filter_map(|run| run.about.get(id).copied()).min_by_key(|about| (&about.title, &about.unverified));
    Strand { id: id.clone(), about, cases, planned, skipped, stale, records }
}

/// Each test once: of several records of one the gravest counts, and where they disagree, that is said.
fn records_of<'s>(id: &TargetId, runs: &[&Run<'s>], gaps: &mut BTreeSet<Gap>) -> BTreeMap<TestId, &'s Record> {
    let mut all: BTreeMap<TestId, Vec<(&'s Record, &'s str)>> = BTreeMap::new();
    for run in runs {
        for record in run.records(id) {
            all.entry(record.test.clone()).or_default().push((record, &run.source.name));
        }
    }
    let mut quarrels: BTreeMap<BTreeSet<&str>, Vec<String>> = BTreeMap::new();
    for (test, records) in &all {
        let said: BTreeSet<_> = records.iter().map(|(record, _)| said(record)).collect();
        if said.len() > 1 {
            let standings: BTreeSet<_> = records.iter().map(|(record, _)| Standing::of(record).word()).collect();
            let told = format!("{test} ({})", standings.into_iter().collect::<Vec<_>>().join(", "));
            quarrels.entry(records.iter().map(|(_, name)| *name).collect()).or_default().push(told);
        }
    }
    for (names, tests) in quarrels {
        let names: Vec<_> = names.into_iter().map(|name| Untrusted(name).line(200)).collect();
        let first = Untrusted(&tests[0]).line(300);
        let who = if names.len() == 1 { "disagrees with itself" } else { "disagree" };
        let (names, count) = (names.join(" and "), tests.len());
        gaps.insert(GapKind::Contradiction.gap(format!(
            "{names} {who} on {count} tests of {id}, the first of them {first}; the worse verdicts count"
        )));
    }
    let weight = |record: &Record| (Standing::of(record), serde_json::to_string(record).expect("a record is JSON"));
    let gravest = |records: Vec<(&'s Record, &'s str)>| match records.as_slice() {
        [(only, _)] => *only,
        _ => records.iter().map(|(record, _)| *record).max_by_key(|record| weight(record)).expect("there is one"),
    };
    all.into_iter().map(|(test, records)| (test, gravest(records))).collect()
}

/// What a record says of its test, times aside.
fn said(record: &Record) -> (Standing, Vec<(usize, &RequirementId, VerdictKind)>) {
    let verdicts = record.verdicts.iter().map(|one| (one.step, &one.requirement, one.kind));
    (Standing::of(record), verdicts.collect())
}

/// Tests of this target that a record's plan had; older headers tell only all of them together.
fn planned_of(run: &Run<'_>, id: &TargetId) -> usize {
    match (run.about.get(id), run.source.header.targets.as_slice()) {
        (Some(about), _) => about.planned,
        (None, [_]) => run.source.header.planned,
        (None, _) => run.records(id).len(),
    }
}

/// What a part left out: the same for each of its records, unless one of them is of less.
fn skips<'s>(runs: &[&Run<'s>], id: &TargetId) -> BTreeMap<&'s str, usize> {
    let mut skips: BTreeMap<&str, usize> = BTreeMap::new();
    for &skipped in runs.iter().filter_map(|run| run.skipped.get(id)).flatten() {
        let most = skips.entry(&skipped.reason).or_default();
        *most = skipped.tests.max(*most);
    }
    skips
}

/// Whether the parts are shards that make a whole.
fn is_every_shard(parts: &BTreeMap<Part<'_>, Vec<&Run<'_>>>) -> bool {
    let shards: BTreeSet<Shard> =
        parts.keys().filter(|(_, narrowed)| narrowed.is_none()).filter_map(|(shard, _)| *shard).collect();
    shards.iter().any(|one| shards.iter().filter(|shard| shard.parts == one.parts).count() == one.parts.get() as usize)
}

/// What was never meant to be run, or is in a record that isn't here.
fn left_out(id: &TargetId, parts: &[(Part<'_>, Vec<&Run<'_>>)]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut shards: BTreeMap<(u32, Option<&str>), BTreeSet<u32>> = BTreeMap::new();
    for ((shard, narrowed), _) in parts {
        if let Some(narrowed) = narrowed {
            gaps.push(GapKind::Remark.gap(format!("{id} was asked only a part: {}", Untrusted(narrowed).line(300))));
        }
        if let Some(Shard { part, parts }) = shard {
            shards.entry((parts.get(), *narrowed)).or_default().insert(part.get());
        }
    }
    for ((parts, _), there) in shards {
        let missing: Vec<String> =
            (1..=parts).filter(|part| !there.contains(part)).take(20).map(|part| format!("{part}/{parts}")).collect();
        if !missing.is_empty() {
            gaps.push(GapKind::Missing.gap(format!("{id} lacks the record of shard {}", missing.join(", "))));
        }
    }
    gaps
}

/// Known failures that were met and always held, as the records have them.
fn stale_of<'r>(id: &TargetId, records: impl Iterator<Item = &'r Record>) -> Vec<String> {
    let mut met = BTreeMap::new();
    for verdict in records.flat_map(|record| &record.verdicts) {
        if let Some(known) = &verdict.known {
            *met.entry((&verdict.requirement, known)).or_insert(false) |= verdict.kind == VerdictKind::Known;
        }
    }
    let stale = met.into_iter().filter(|(_, failed)| !failed);
    stale.map(|((requirement, known), _)| known.stale(id, requirement)).collect()
}

/// The order that people expect of versions: numbers by their size.
fn natural(version: &str) -> Vec<(u64, String)> {
    let mut parts = Vec::new();
    for part in version.split(|one: char| !one.is_alphanumeric()) {
        parts.push((part.parse().unwrap_or(0), part.to_owned()));
    }
    parts
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
