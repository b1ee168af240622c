//! The `[[known]]` entries of a `target.toml` that would make some runs green.
//!
//! Takes records and the known failures that are stale, gives TOML text for each target: entries with narrow patterns,
//! which match each failing test and none that passes, and without a reason yet. [`updated`] puts them into the text of a
//! `target.toml`, and takes out those that are stale. Must not know where a `target.toml` is.

mod update;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Status, Untrusted};
use crate::model::reason::Stale;
use crate::model::record::{Record, Verdict};
use crate::model::spec::{Catalogue, Revision, Transport};
use crate::model::target::{Target, UNTRIAGED};
use crate::model::text::{count, plural};
use crate::model::verdict::VerdictKind;
use crate::model::{CaseId, RequirementId, TestId};

/// The bytes of the names in one pair of braces: a pattern has a limit.
const BRACES: usize = 3_000;
/// The characters of a quote or of a reason that a comment shows.
const SHOWN: usize = 160;

type Variant = Option<String>;

/// The failures of some runs that no known failure excuses yet, by target.
#[derive(Debug, Default)]
pub struct Proposals {
    is_strict: bool,
    targets: BTreeMap<String, Proposal>,
}

/// The failures of one target, with all of its variants.
#[derive(Debug, Default)]
struct Proposal {
    variants: BTreeSet<Variant>,
    checks: BTreeMap<(RequirementId, CaseId), BTreeMap<Variant, Checks>>,
    stale: BTreeSet<Stale>,
    /// The numbers of tests that a known failure cannot excuse.
    others: BTreeMap<Status, usize>,
}

/// The tests of a case file that check one requirement, on one variant.
#[derive(Debug, Default)]
struct Checks {
    failing: BTreeMap<TestId, Verdict>,
    /// The tests that an entry must not match.
    other: BTreeSet<TestId>,
}

/// One `[[known]]` entry.
#[derive(Debug)]
struct Entry<'p> {
    requirement: &'p RequirementId,
    /// The variants that need it; none if all do.
    variants: Vec<&'p str>,
    /// The patterns of the tests, up to the `@`.
    paths: Vec<String>,
    /// The part behind the `@`, if only some revisions or transports fail.
    how: Option<String>,
    /// The numbers of tests by status.
    tests: BTreeMap<Status, usize>,
    first: &'p TestId,
    verdict: &'p Verdict,
}

impl Proposals {
    /// No failures yet. With `is_strict`, violated SHOULDs need an entry too.
    pub fn new(is_strict: bool) -> Self {
        Self { is_strict, targets: BTreeMap::new() }
    }

    /// Takes a record of a run.
    pub fn add(&mut self, record: &Record) {
        let is_strict = self.is_strict;
        let proposal = self.targets.entry(record.target.name.clone()).or_default();
        proposal.variants.insert(record.target.variant.clone());
        let status = Status::of(record);
        if matches!(status, Status::Error | Status::Flaky) || (status == Status::Cannot && is_strict) {
            *proposal.others.entry(status).or_default() += 1;
        }
        for verdict in &record.verdicts {
            use VerdictKind::{Cannot, Error, Flaky, NotAsked};
            if matches!(verdict.kind, Error | Cannot | Flaky | NotAsked) {
                continue;
            }
            let needs_entry = verdict.kind != VerdictKind::Stale && Status::from(verdict.kind).is_unexpected(is_strict);
            let key = (verdict.requirement.clone(), record.test.case.clone());
            let checks = proposal.checks.entry(key).or_default().entry(record.target.variant.clone()).or_default();
            if needs_entry {
                checks.other.remove(&record.test);
                checks.failing.entry(record.test.clone()).or_insert_with(|| verdict.clone());
            } else if !checks.failing.contains_key(&record.test) {
                checks.other.insert(record.test.clone());
            }
        }
    }

    /// Leaves out what a target has an entry for already, on its own or on all of its variants.
    pub fn leave_out(&mut self, target: &Target) {
        let Some(proposal) = self.targets.get_mut(&target.id.name) else { return };
        for ((requirement, _), variants) in &mut proposal.checks {
            let Some(checks) = variants.get_mut(&target.id.variant) else { continue };
            let entries = || target.known.iter().filter(|known| known.requirement == *requirement);
            let is_known = |test: &TestId| entries().any(|known| known.test.matches(test));
            let known: Vec<TestId> = checks.failing.keys().filter(|test| is_known(test)).cloned().collect();
            checks.failing.retain(|test, _| !known.contains(test));
            checks.other.extend(known);
        }
    }

    /// Takes a known failure that no longer fails.
    pub fn add_stale(&mut self, stale: &Stale) {
        self.targets.entry(stale.target.name.clone()).or_default().stale.insert(stale.clone());
    }

    /// Returns the entries of each target as TOML, with its name and their number. Targets without an entry and without
    /// a remark are left out.
    pub fn texts(&self, catalogue: &Catalogue) -> Vec<(&str, usize, String)> {
        let texts = self.targets.iter().map(|(name, proposal)| {
            let (entries, text) = proposal.text(name, catalogue);
            (name.as_str(), entries, text)
        });
        texts.filter(|(_, _, text)| !text.is_empty()).collect()
    }

    /// Returns the text of the `target.toml` of a target with its entries at the end, and without those that are stale.
    /// `None` if the runs have no such target.
    ///
    /// # Errors
    /// A text that says why the file cannot be edited.
    pub fn updated(
        &self,
        (name, variants): (&str, &[&str]),
        text: &str,
        catalogue: &Catalogue,
    ) -> Option<Result<Update, String>> {
        let proposal = self.targets.get(name)?;
        let entries = proposal.entries();
        let stale: Vec<_> = proposal.stale.iter().collect();
        // The text is edited with the line ends of Unix.
        let is_windows = text.contains("\r\n");
        let plain = text.replace("\r\n", "\n");
        Some(update::without_stale(&plain, variants, &stale).map(|(mut text, removed)| {
            if !entries.is_empty() && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            put_all(&mut text, &entries, catalogue);
            let text = if is_windows { text.replace('\n', "\r\n") } else { text };
            Update { text, added: entries.len(), removed }
        }))
    }
}

/// A `target.toml` as it is to be, with the numbers of entries that were added, and of which something was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The text.
    pub text: String,
    /// The number of entries that were added.
    pub added: usize,
    /// The number of entries that were removed, or limited to what still fails.
    pub removed: usize,
}

impl Proposal {
    fn text(&self, name: &str, catalogue: &Catalogue) -> (usize, String) {
        let entries = self.entries();
        let name = Untrusted(name).line(SHOWN);
        let mut out = String::new();
        if !entries.is_empty() {
            let mut tests = BTreeMap::<Status, usize>::new();
            for (status, number) in entries.iter().flat_map(|entry| &entry.tests) {
                *tests.entry(*status).or_default() += number;
            }
            let numbers = numbers(&tests, "check");
            put(&mut out, format_args!("# {name}: {} for {numbers}.", count(entries.len(), "known failure")));
        }
        for Stale { target, requirement, known } in &self.stale {
            let (target, test) = (Untrusted(&target.to_string()).line(SHOWN), Untrusted(&known.test).line(SHOWN));
            put(
                &mut out,
                format_args!(
                    "# remove: test = \"{test}\", requirement = \"{requirement}\" no longer fails on {target}."
                ),
            );
        }
        if !self.others.is_empty() {
            let others = numbers(&self.others, "test");
            put(&mut out, format_args!("# {name}: no known failure can excuse {others}."));
        }
        put_all(&mut out, &entries, catalogue);
        (entries.len(), out)
    }

    /// The entries, by requirement: those that fail on the same variants are one entry, over all case files.
    fn entries(&self) -> Vec<Entry<'_>> {
        let mut all: Vec<Entry<'_>> = Vec::new();
        for ((requirement, case), variants) in &self.checks {
            for entry in self.of_case(requirement, case, variants) {
                let alike = all.iter_mut().rev().take_while(|one| one.requirement == requirement);
                match alike.into_iter().find(|one| one.takes(&entry)) {
                    Some(one) => one.take(entry),
                    None => all.push(entry),
                }
            }
        }
        all
    }

    /// The entries for one requirement in one case file: each names the variants that need it, unless all do.
    fn of_case<'p>(
        &'p self,
        requirement: &'p RequirementId,
        case: &CaseId,
        variants: &'p BTreeMap<Variant, Checks>,
    ) -> Vec<Entry<'p>> {
        let mut found: BTreeMap<String, Vec<(&Variant, Vec<&TestId>)>> = BTreeMap::new();
        for (variant, checks) in variants {
            for (pattern, tests) in patterns(case, checks) {
                found.entry(pattern).or_default().push((variant, tests));
            }
        }
        let entry = |(pattern, of_variants): (_, Vec<_>)| {
            let is_of_all = of_variants.len() == self.variants.len();
            let names = of_variants.iter().filter_map(|(variant, _): &(&Variant, _)| variant.as_deref());
            let names = if is_of_all && of_variants.len() > 1 { Vec::new() } else { names.collect() };
            entry((requirement, names, pattern), &of_variants, variants)
        };
        found.into_iter().filter_map(entry).collect()
    }
}

fn entry<'p>(
    (requirement, names, pattern): (&'p RequirementId, Vec<&'p str>, String),
    of_variants: &[(&'p Variant, Vec<&'p TestId>)],
    variants: &'p BTreeMap<Variant, Checks>,
) -> Option<Entry<'p>> {
    let verdict = |variant: &Variant, test: &TestId| &variants[variant].failing[test];
    let mut tests = BTreeMap::new();
    for (variant, ids) in of_variants {
        for id in ids {
            *tests.entry(Status::from(verdict(variant, id).kind)).or_default() += 1;
        }
    }
    let (of_first, ids) = of_variants.first()?;
    let first = *ids.first()?;
    let (path, how) = pattern.split_once('@').map_or((pattern.as_str(), None), |(path, how)| (path, Some(how)));
    let (paths, how) = (vec![path.to_owned()], how.map(str::to_owned));
    Some(Entry { requirement, variants: names, paths, how, tests, first, verdict: verdict(of_first, first) })
}

impl Entry<'_> {
    /// Returns whether one entry can stand for both.
    fn takes(&self, other: &Self) -> bool {
        let length: usize = self.paths.iter().chain(&other.paths).map(|path| path.len() + 1).sum();
        self.variants == other.variants && self.how == other.how && length <= BRACES
    }

    fn take(&mut self, other: Self) {
        self.paths.extend(other.paths);
        for (status, number) in other.tests {
            *self.tests.entry(status).or_default() += number;
        }
    }

    fn pattern(&self) -> String {
        let path = match self.paths.as_slice() {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(",")),
        };
        self.how.as_ref().map_or(path.clone(), |how| format!("{path}@{how}"))
    }

    fn write(&self, out: &mut String) {
        let Self { requirement, variants, tests, first, verdict, .. } = self;
        let detail = verdict.detail.first().map(|detail| format!(": {detail}")).unwrap_or_default();
        put(
            out,
            format_args!(
                "# {}, first {}",
                numbers(tests, "test"),
                Untrusted(&format!("{first}{detail}")).line(2 * SHOWN)
            ),
        );
        put(out, format_args!("[[known]]"));
        // JSON's strings are TOML's too.
        let text = |name: &&str| serde_json::Value::from(*name).to_string();
        match variants.as_slice() {
            [] => {}
            [one] => put(out, format_args!("variant = {}", text(one))),
            several => {
                let names: Vec<_> = several.iter().map(text).collect();
                put(out, format_args!("variant = [{}]", names.join(", ")));
            }
        }
        let pattern = self.pattern();
        put(out, format_args!("test = \"{pattern}\"\nrequirement = \"{requirement}\"\nreason = \"{UNTRIAGED}\""));
    }
}

/// Writes entries, each below its requirement.
fn put_all(out: &mut String, entries: &[Entry<'_>], catalogue: &Catalogue) {
    let mut above = None;
    for entry in entries {
        if above.replace(entry.requirement) != Some(entry.requirement) {
            heading(out, entry.requirement, catalogue);
        }
        entry.write(out);
    }
}

/// Writes the requirement as a comment.
fn heading(out: &mut String, requirement: &RequirementId, catalogue: &Catalogue) {
    let known = catalogue.get(requirement);
    let words = known.map(|one| format!(", {} \"{}\"", one.level, one.quote)).unwrap_or_default();
    put(out, format_args!("\n# {requirement}{}", Untrusted(&words).line(SHOWN)));
}

/// `12 failed, 3 inconclusive tests`.
fn numbers(tests: &BTreeMap<Status, usize>, noun: &str) -> String {
    let all: usize = tests.values().sum();
    let numbers: Vec<_> = tests.iter().rev().map(|(status, number)| format!("{number} {status}")).collect();
    format!("{} {}", numbers.join(", "), plural(all, noun))
}

/// Returns patterns that together match each failing test of a case file, and none of the others.
fn patterns<'c>(case: &CaseId, checks: &'c Checks) -> Vec<(String, Vec<&'c TestId>)> {
    if checks.failing.is_empty() {
        return Vec::new();
    }
    if checks.other.is_empty() {
        return vec![(case.to_string(), checks.failing.keys().collect())];
    }
    // Whole tests, and rows of tests, by the part of the pattern behind their names.
    let mut whole: BTreeMap<String, BTreeMap<&str, Vec<&TestId>>> = BTreeMap::new();
    let mut rows: BTreeMap<(&str, String), BTreeMap<&str, Vec<&TestId>>> = BTreeMap::new();
    let mut by_test: BTreeMap<&str, Vec<&TestId>> = BTreeMap::new();
    for id in checks.failing.keys() {
        by_test.entry(&id.test).or_default().push(id);
    }
    for (test, failing) in by_test {
        let is_of_test = |id: &&TestId| id.test == test;
        let others: Vec<_> = checks.other.iter().filter(is_of_test).collect();
        if others.is_empty() {
            whole.entry(String::new()).or_default().insert(test, failing);
            continue;
        }
        let of_row = |ids: &[&'c TestId], row: &Option<String>| -> Vec<&'c TestId> {
            ids.iter().filter(|id| id.row == *row).copied().collect()
        };
        let names: BTreeSet<_> = failing.iter().map(|id| &id.row).collect();
        for row in names {
            let failing = of_row(&failing, row);
            let suffix = suffix(&failing, &of_row(&others, row));
            match row {
                Some(row) => rows.entry((test, suffix)).or_default().insert(row, failing),
                None => whole.entry(suffix).or_default().insert(test, failing),
            };
        }
    }
    let whole = whole.iter().flat_map(|(suffix, names)| braced(&format!("{case}/"), names, suffix));
    let rows = rows.iter().flat_map(|((test, suffix), names)| braced(&format!("{case}/{test}/"), names, suffix));
    whole.chain(rows).collect()
}

/// Joins names to patterns with braces, which stay short enough.
fn braced<'c>(prefix: &str, names: &BTreeMap<&str, Vec<&'c TestId>>, suffix: &str) -> Vec<(String, Vec<&'c TestId>)> {
    let mut parts: Vec<(Vec<&str>, Vec<&TestId>)> = Vec::new();
    let mut room = 0;
    for (name, ids) in names {
        if parts.is_empty() || name.len() >= room {
            parts.push(Default::default());
            room = BRACES;
        }
        room -= name.len() + 1;
        if let Some((names, tests)) = parts.last_mut() {
            names.push(name);
            tests.extend(ids);
        }
    }
    let pattern = |(names, tests): (Vec<&str>, _)| match names.as_slice() {
        [one] => (format!("{prefix}{one}{suffix}"), tests),
        several => (format!("{prefix}{{{}}}{suffix}", several.join(",")), tests),
    };
    parts.into_iter().map(pattern).collect()
}

/// Returns the part of a pattern that narrows it to the revisions and transports on which one row of a test fails.
fn suffix(failing: &[&TestId], others: &[&TestId]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let revisions: BTreeSet<Revision> = failing.iter().map(|id| id.revision).collect();
    let transports: BTreeSet<Transport> = failing.iter().map(|id| id.transport).collect();
    let join = |names: Vec<String>| match names.as_slice() {
        [one] => one.clone(),
        several => format!("{{{}}}", several.join(",")),
    };
    if others.iter().all(|id| !revisions.contains(&id.revision)) {
        format!("@{}", join(revisions.iter().map(ToString::to_string).collect()))
    } else if others.iter().all(|id| !transports.contains(&id.transport)) {
        format!("@*+{}", join(transports.iter().map(ToString::to_string).collect()))
    } else {
        format!("@{}", join(failing.iter().map(|id| id.how()).collect()))
    }
}

fn put(out: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(out, "{line}").expect("writing to a string never fails");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::Pattern;
    use crate::model::case::Outcome;
    use crate::model::known::KnownAs;
    use crate::model::spec::Level;
    use crate::report::tests::{stale, verdict};

    fn record(variant: Option<&str>, test: &str, kind: VerdictKind) -> Record {
        let mut record = Record { verdicts: vec![verdict(kind)], ..samples::record(0, test, Outcome::Success) };
        record.target.variant = variant.map(ToOwned::to_owned);
        record
    }

    fn known(records: &[Record]) -> Vec<(Vec<String>, String)> {
        let mut proposals = Proposals::new(false);
        for record in records {
            proposals.add(record);
        }
        let proposal = &proposals.targets["sample"];
        let entries = proposal.entries().into_iter();
        entries.map(|entry| (entry.variants.iter().map(|one| (*one).to_owned()).collect(), entry.pattern())).collect()
    }

    #[test]
    fn patterns_are_as_short_as_the_passing_tests_allow() {
        use VerdictKind::{Fail, Known, Pass, Warn};
        let all = "f/c/t/a@2026-07-28+http";
        for (tests, expected) in [
            (vec![(all, Fail)], vec!["f/c"]),
            (vec![(all, Fail), ("f/c/u@2026-07-28+http", Pass)], vec!["f/c/t"]),
            (vec![(all, Fail), ("f/c/t/b@2026-07-28+http", Known)], vec!["f/c/t/a"]),
            (vec![(all, Fail), ("f/c/t/b@2026-07-28+http", Warn)], vec!["f/c/t/a"]),
            (vec![(all, Fail), ("f/c/t/a@2026-07-28+stdio", Pass)], vec!["f/c/t/a@*+http"]),
            (vec![(all, Fail), ("f/c/t/a@2025-11-25+http", Pass)], vec!["f/c/t/a@2026-07-28"]),
            (
                vec![(all, Fail), ("f/c/t/a@2026-07-28+stdio", Pass), ("f/c/t/a@2025-11-25+http", Pass)],
                vec!["f/c/t/a@2026-07-28+http"],
            ),
            (
                vec![
                    (all, Fail),
                    ("f/c/t/b@2026-07-28+http", Fail),
                    ("f/c/t/c@2026-07-28+http", Pass),
                    ("f/c/u@2026-07-28+http", Fail),
                    ("f/c/v@2026-07-28+http", Fail),
                ],
                vec!["{f/c/t/{a,b},f/c/{u,v}}"],
            ),
            (vec![(all, Pass)], vec![]),
            (
                vec![(all, Fail), ("f/d/t@2026-07-28+http", Fail), ("g/c/t@2026-07-28+http", Fail)],
                vec!["{f/c,f/d,g/c}"],
            ),
        ] {
            let records: Vec<_> = tests.iter().map(|(test, kind)| record(None, test, *kind)).collect();
            let patterns: Vec<_> = known(&records).into_iter().map(|(_, pattern)| pattern).collect();
            assert_eq!(patterns, expected, "{tests:?}");
        }
    }

    #[test]
    fn any_failures_are_matched_once_and_no_other_test_is() {
        let ids: Vec<TestId> = ["t/a", "t/b", "u/a", "v"]
            .iter()
            .flat_map(|path| ["2025-11-25", "2026-07-28"].map(|revision| format!("f/c/{path}@{revision}")))
            .flat_map(|id| ["stdio", "http"].map(|transport| samples::id(&format!("{id}+{transport}"))))
            .collect();
        // Multiplying by an odd number visits sets of failing tests all over the range.
        for round in 0_u32..500 {
            let bits = round.wrapping_mul(0x9e37_79b1) >> 16;
            let is_failing = |place: usize| bits & (1 << place) != 0;
            let kind = |place| if is_failing(place) { VerdictKind::Fail } else { VerdictKind::Pass };
            let records: Vec<_> =
                ids.iter().enumerate().map(|(place, id)| record(None, &id.to_string(), kind(place))).collect();
            let patterns: Vec<Pattern> =
                known(&records).iter().map(|(_, pattern)| pattern.parse().expect("a pattern")).collect();
            for (place, id) in ids.iter().enumerate() {
                let matches = patterns.iter().filter(|pattern| pattern.matches(id)).count();
                assert_eq!(matches, usize::from(is_failing(place)), "{id} {patterns:?}");
            }
        }
    }

    #[test]
    fn many_rows_are_spread_over_patterns_that_parse() {
        let mut records: Vec<_> = (0..200)
            .map(|row| {
                record(None, &format!("f/c/t/a-row-with-quite-a-long-name-{row}@2026-07-28+http"), VerdictKind::Fail)
            })
            .collect();
        records.push(record(None, "f/c/t/good@2026-07-28+http", VerdictKind::Pass));
        let patterns = known(&records);
        assert!(patterns.len() > 1);
        for (_, pattern) in &patterns {
            pattern.parse::<Pattern>().expect("a pattern");
        }
    }

    #[test]
    fn entry_names_its_variants_unless_all_variants_need_it() {
        use VerdictKind::{Fail, Pass};
        let [t, u] = ["f/c/t@2026-07-28+http", "f/c/u@2026-07-28+http"];
        let both = |kind| [record(Some("high"), t, Fail), record(Some("low"), t, Fail), record(Some("low"), u, kind)];
        let of = |variants: &[&str], pattern: &str| {
            (variants.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(), pattern.to_owned())
        };
        assert_eq!(known(&both(Fail)), [of(&[], "f/c")]);
        assert_eq!(known(&both(Pass)), [of(&["high"], "f/c"), of(&["low"], "f/c/t")]);
        assert_eq!(known(&both(Pass)[1..]), [of(&["low"], "f/c/t")]);
        let three = [both(Fail).as_slice(), &[record(Some("strict"), t, Pass)]].concat();
        assert_eq!(known(&three), [of(&["high", "low"], "f/c")]);
    }

    #[test]
    fn text_has_counts_and_remarks() {
        let mut proposals = Proposals::new(false);
        proposals.add(&record(Some("low"), "f/c/t@2026-07-28+http", VerdictKind::Fail));
        proposals.add(&record(Some("low"), "f/c/u@2026-07-28+http", VerdictKind::Inconclusive));
        proposals.add(&record(Some("low"), "f/c/v@2026-07-28+http", VerdictKind::Flaky));
        let requirement = samples::requirement("r", Level::Must);
        let stale = stale();
        proposals.add_stale(&Stale { known: KnownAs { test: "f/d\n".into(), ..stale.known }, ..stale });
        let texts = proposals.texts(&[(requirement.id.clone(), requirement)].into());
        let [(name, entries, text)] = texts.as_slice() else { panic!("one target") };
        assert_eq!((*name, *entries), ("sample", 1));
        insta::assert_snapshot!(text, @r#"
# sample: 1 known failure for 1 failed, 1 inconclusive checks.
# remove: test = "f/d\u{a}", requirement = "f/r" no longer fails on sample.
# sample: no known failure can excuse 1 flaky test.

# f/r, MUST "servers do as they are told"
# 1 failed, 1 inconclusive tests, first f/c/t@2026-07-28+http: outcome: expected success, observed crash
[[known]]
variant = "low"
test = "f/c"
requirement = "f/r"
reason = "untriaged"
"#);
    }
}
