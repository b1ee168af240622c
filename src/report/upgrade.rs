//! The upgrade of an SDK from one line of releases to the next: what gets worse and better, one sentence for each cause.
//!
//! Takes a report with the records of its columns. The lines of an SDK are targets of their own, whose names differ in
//! `-v1`. Pure. Must not know the form of a page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::versus::{Way, behaviour, telling, way};
use super::{Column, Report, ReportContext};
use crate::model::TestId;
use crate::model::record::{Record, Verdict};
use crate::model::spec::Role;
use crate::model::verdict::VerdictKind;

/// What changes for the users of an SDK who take its next line of releases.
#[derive(Clone, Debug)]
pub struct Upgrade {
    /// The package and version of the old line and of the new one.
    pub from: String,
    /// The new one.
    pub to: String,
    /// The name of the target that is the new line.
    pub target: String,
    /// The causes of what gets worse, the most common first.
    pub worse: Vec<UpgradeCause>,
    /// The causes of what gets better.
    pub better: Vec<UpgradeCause>,
    /// The number of tests that both lines decide, in any variant.
    pub compared: usize,
}

/// Tests that change in one direction with the same words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeCause {
    /// The role.
    pub role: Role,
    /// What happens instead, in the line that does worse; after the API, if it is not the first one.
    pub words: String,
    /// The number of tests; each test counts for one cause of each API.
    pub tests: usize,
    /// The first of them, and its column of the new line.
    pub example: (TestId, usize),
}

/// The records of each column of a report.
type Records<'r> = [BTreeMap<TestId, &'r Record>];

impl Upgrade {
    /// The upgrades that a report can tell of.
    pub fn all(report: &Report, records: &Records<'_>, context: &ReportContext) -> Vec<Self> {
        let mains = || report.targets.iter().enumerate().filter(|(_, column)| column.is_main);
        let upgrade = |(old, column): (usize, &Column)| {
            let (name, line) = column.id.name.rsplit_once("-v")?;
            line.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
            let (new, _) = mains().find(|(_, other)| other.id.name == name)?;
            Some(Self::new([old, new], report, records, context))
        };
        mains().filter_map(upgrade).collect()
    }

    fn new([old, new]: [usize; 2], report: &Report, records: &Records<'_>, context: &ReportContext) -> Self {
        let of = |at: usize| &report.targets[at];
        let version = |at: usize| of(at).version.clone().unwrap_or_else(|| of(at).id.to_string());
        let mut found: BTreeMap<(Way, Role, String), UpgradeCause> = BTreeMap::new();
        let mut done: BTreeSet<&TestId> = BTreeSet::new();
        let mut told: BTreeSet<(&TestId, Way, String)> = BTreeSet::new();
        for Pair { columns: [old, new], title } in pairs(report, [old, new]) {
            for (test, before) in &records[old] {
                let after = records[new].get(test).filter(|after| after.hash == before.hash);
                // Another variant is told of where it changes in another way than the first one.
                let Some(after) = after.filter(|_| title.is_some() || !done.contains(test)) else { continue };
                let Some(changes) = changes(before, after, context) else { continue };
                done.insert(test);
                let role = context.roles.get(&test.case).copied();
                let (Some(role), Some((way, words))) = (role, changes.into_iter().min()) else { continue };
                if !told.insert((test, way, words.clone())) {
                    continue;
                }
                let words = title.map_or_else(|| words.clone(), |title| format!("{title}: {words}"));
                let example = (test.clone(), new);
                let cause = UpgradeCause { role, words: words.clone(), tests: 0, example };
                found.entry((way, role, words)).or_insert(cause).tests += 1;
            }
        }
        let of_way = |way: Way| {
            let causes = found.iter().filter(|((one, ..), _)| *one == way).map(|(_, cause)| cause.clone());
            let mut causes: Vec<_> = causes.collect();
            causes.sort_by_key(|cause| (Reverse(cause.tests), cause.words.clone()));
            causes
        };
        Self {
            from: version(old),
            to: version(new),
            target: of(new).id.name.clone(),
            worse: of_way(Way::Worse),
            better: of_way(Way::Better),
            compared: done.len(),
        }
    }
}

/// Two variants that are compared.
struct Pair<'r> {
    columns: [usize; 2],
    /// The name of the API, if it is not the one that the documentation shows first.
    title: Option<&'r str>,
}

/// The pairs of variants: those that the documentation shows first, those of the same name, and for what none of these
/// decides, the old first one with each new one.
fn pairs(report: &Report, [old, new]: [usize; 2]) -> Vec<Pair<'_>> {
    let variants = |main: usize| {
        let of = &report.targets[main];
        let is_variant = move |column: &Column| column.id.name == of.id.name && column.version == of.version;
        report.targets.iter().enumerate().filter(move |(at, column)| *at != main && is_variant(column))
    };
    let mut pairs = vec![Pair { columns: [old, new], title: None }];
    for (at, column) in variants(old) {
        let same = variants(new).find(|(_, other)| other.id.variant == column.id.variant);
        pairs.extend(same.map(|(other, same)| Pair {
            columns: [at, other],
            title: same.api.as_deref().or(same.id.variant.as_deref()),
        }));
    }
    pairs.extend(variants(new).map(|(at, _)| Pair { columns: [old, at], title: None }));
    pairs
}

/// The changes of the checks that both records decide, with their words; `None` if they decide none in common.
fn changes(old: &Record, new: &Record, context: &ReportContext) -> Option<Vec<(Way, String)>> {
    let mut is_decided = false;
    let mut changes = Vec::new();
    for before in &old.verdicts {
        let same = |one: &&Verdict| (one.step, &one.requirement) == (before.step, &before.requirement);
        let Some(after) = new.verdicts.iter().find(same) else { continue };
        let kinds = [behaviour(before), behaviour(after)];
        // What there was nothing to ask about, and now breaks a MUST, is worse for users.
        let is_new = kinds[0] == VerdictKind::NotAsked && kinds[1] == VerdictKind::Fail;
        if !is_new && !kinds.iter().all(|kind| kind.is_decided()) {
            continue;
        }
        is_decided = true;
        let way = if is_new { Way::Worse } else { way(before, after) };
        if way == Way::Other {
            continue;
        }
        let told = telling(way, before, after);
        let known = told.known.as_ref().and_then(|known| known.short.as_deref());
        let requirement = context.catalogue.get(&told.requirement).and_then(|one| one.short.as_deref());
        let words = known.or(requirement).unwrap_or(told.requirement.as_str());
        changes.push((way, words.to_owned()));
    }
    is_decided.then_some(changes)
}
