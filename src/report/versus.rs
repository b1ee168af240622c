//! Two targets, or two versions of one, beside each other: what they do differently, by requirement.
//!
//! Takes the records of both, gives what changed and which way, and as text both observations under each other. Must
//! not know which of them should be the better one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::snapshot::observation;
use super::{Standing, Untrusted};
use crate::model::record::{Record, Verdict, VerdictKind};
use crate::model::spec::{Catalogue, words};
use crate::model::{RequirementId, TestId};

/// How many characters of an observation are shown.
const SHOWN: usize = 1000;
/// How many tests of a list are named.
const NAMED: usize = 10;

words! {
    /// Which way a check went from the first to the second.
    Way {
        /// It held, or was less grave.
        Worse = "worse",
        /// It holds, or is less grave.
        Better = "better",
        /// The verdict is another, or what was seen; neither is worse.
        Other = "different",
    }
}

/// Two records, test by test.
#[derive(Clone, Debug, Default)]
pub struct Versus<'r> {
    /// Where they differ, by requirement; what is only observed stands under none.
    pub changes: BTreeMap<Option<&'r RequirementId>, Vec<Change<'r>>>,
    /// Tests that only the first has.
    pub only_old: Vec<&'r TestId>,
    /// Tests that only the second has.
    pub only_new: Vec<&'r TestId>,
    /// Tests that do something else in the second record, so that nothing can be said.
    pub rewritten: Vec<&'r TestId>,
    /// How many tests came to the same.
    pub same: usize,
}

/// One test that came to something else.
#[derive(Clone, Debug)]
pub struct Change<'r> {
    /// Which way.
    pub way: Way,
    /// The first record of it.
    pub old: &'r Record,
    /// The second.
    pub new: &'r Record,
    /// What was said in both, of this requirement and step; nothing where nothing is judged.
    pub verdicts: Option<(&'r Verdict, &'r Verdict)>,
}

impl<'r> Versus<'r> {
    /// Holds the second against the first.
    pub fn new(old: impl Iterator<Item = &'r Record>, new: impl Iterator<Item = &'r Record>) -> Self {
        let by_test = |record: &'r Record| (&record.test, record);
        let old: BTreeMap<_, _> = old.map(by_test).collect();
        let mut new: BTreeMap<_, _> = new.map(by_test).collect();
        let mut versus = Self::default();
        for (test, old) in old {
            match new.remove(test) {
                None => versus.only_old.push(test),
                Some(new) if old.hash != new.hash => versus.rewritten.push(test),
                Some(new) => versus.add(old, new),
            }
        }
        versus.only_new = new.into_keys().collect();
        versus
    }

    fn add(&mut self, old: &'r Record, new: &'r Record) {
        let seen = [old, new].map(|record| observation(&record.observation));
        let is_same = seen[0] == seen[1];
        let mut is_told = false;
        for verdict in &old.verdicts {
            let place = |one: &&Verdict| one.step == verdict.step && one.requirement == verdict.requirement;
            let Some(other) = new.verdicts.iter().find(place) else { continue };
            if is_same && behaviour(verdict) == behaviour(other) {
                continue;
            }
            is_told = true;
            let change = Change { way: way(verdict, other), old, new, verdicts: Some((verdict, other)) };
            self.changes.entry(Some(&verdict.requirement)).or_default().push(change);
        }
        if !is_told && !is_same {
            is_told = true;
            self.changes.entry(None).or_default().push(Change { way: Way::Other, old, new, verdicts: None });
        }
        self.same += usize::from(!is_told);
    }

    /// Whether something that held doesn't any more.
    pub fn is_worse(&self) -> bool {
        self.changes.values().flatten().any(|change| change.way == Way::Worse)
    }

    /// How many checks went which way.
    fn count(&self, way: Way) -> usize {
        self.changes.values().flatten().filter(|change| change.way == way).count()
    }

    /// The same as text, with so many tests of each requirement.
    pub fn text(&self, names: [&str; 2], catalogue: &Catalogue, tests: usize) -> String {
        let names = names.map(|name| Untrusted(name).line(200));
        let mut out = format!("A  {}\nB  {}\n", names[0], names[1]);
        let mut groups: Vec<_> = self.changes.iter().collect();
        // What got worse first.
        groups.sort_by_key(|(_, changes)| changes.iter().map(|change| change.way).min());
        for (requirement, changes) in groups {
            out.push('\n');
            heading(&mut out, *requirement, changes, catalogue);
            let mut changes: Vec<_> = changes.iter().collect();
            changes.sort_by_key(|change| change.way);
            changes.iter().take(tests).for_each(|change| told(&mut out, change));
            if changes.len() > tests {
                writeln!(out, "  … and {} more", changes.len() - tests).expect("a string takes all");
            }
        }
        self.end(&mut out);
        out
    }

    /// What couldn't be compared, and the numbers.
    fn end(&self, out: &mut String) {
        let lists = [
            ("only in A", &self.only_old),
            ("only in B", &self.only_new),
            ("asked otherwise in B, and not compared", &self.rewritten),
        ];
        for (what, tests) in lists.iter().filter(|(_, tests)| !tests.is_empty()) {
            writeln!(out, "\n{what}: {} tests", tests.len()).expect("a string takes all");
            for test in tests.iter().take(NAMED) {
                writeln!(out, "  {}", Untrusted(&test.to_string()).line(300)).expect("a string takes all");
            }
            if tests.len() > NAMED {
                writeln!(out, "  …").expect("a string takes all");
            }
        }
        let word = if self.is_worse() { "B is worse" } else { "B is not worse" };
        let ways = Way::ALL.iter().map(|way| format!("{} checks {way}", self.count(*way)));
        let ways: Vec<_> = ways.collect();
        writeln!(out, "\n{word}: {}; {} tests came to the same", ways.join(", "), self.same)
            .expect("a string takes all");
    }
}

fn heading(out: &mut String, requirement: Option<&RequirementId>, changes: &[Change<'_>], catalogue: &Catalogue) {
    let ways = Way::ALL.iter().map(|way| (way, changes.iter().filter(|change| change.way == *way).count()));
    let ways: Vec<_> = ways.filter(|(_, count)| *count > 0).map(|(way, count)| format!("{count} {way}")).collect();
    let ways = ways.join(", ");
    let Some(id) = requirement else {
        writeln!(out, "observed, not judged: {ways}").expect("a string takes all");
        return;
    };
    writeln!(out, "{}: {ways}", Untrusted(id.as_str()).line(200)).expect("a string takes all");
    if let Some(known) = catalogue.get(id) {
        writeln!(out, "  {} \"{}\"\n  {}", known.level, known.quote, known.link()).expect("a string takes all");
    }
}

/// A test, what was said of it, and both observations.
fn told(out: &mut String, change: &Change<'_>) {
    let test = Untrusted(&change.old.test.to_string()).line(300);
    write!(out, "\n  {:>9}  {test}", change.way).expect("a string takes all");
    match change.verdicts {
        Some((old, new)) if behaviour(old) != behaviour(new) => {
            writeln!(out, "  step {}: {} → {}", old.step + 1, behaviour(old), behaviour(new))
        }
        Some((old, _)) => writeln!(out, "  step {}: {}", old.step + 1, behaviour(old)),
        None => writeln!(out),
    }
    .expect("a string takes all");
    for (name, record) in [("A", change.old), ("B", change.new)] {
        let seen = observation(&record.observation);
        for (index, line) in seen.trim_start_matches('\n').lines().enumerate() {
            let name = if index == 0 { name } else { "" };
            writeln!(out, "  {name:>9}  {}", Untrusted(line.trim()).line(SHOWN)).expect("a string takes all");
        }
    }
    let missed = change.verdicts.map(|(_, new)| new).filter(|new| !holds(behaviour(new)));
    for line in missed.iter().flat_map(|new| &new.detail).take(4) {
        writeln!(out, "  {:>9}  {}", "", Untrusted(line).line(400)).expect("a string takes all");
    }
}

/// What a check came to, known or not: an excuse changes nothing of what a target does.
fn behaviour(verdict: &Verdict) -> VerdictKind {
    verdict.excuses.unwrap_or(verdict.kind)
}

fn holds(kind: VerdictKind) -> bool {
    Standing::from(kind) == Standing::Passed
}

fn way(old: &Verdict, new: &Verdict) -> Way {
    let (old, new) = (behaviour(old), behaviour(new));
    let grave = |kind| matches!(kind, VerdictKind::Note | VerdictKind::Warn | VerdictKind::Fail);
    match (holds(old), holds(new)) {
        (true, false) => Way::Worse,
        (false, true) => Way::Better,
        (false, false) if grave(old) && grave(new) && old != new => {
            if Standing::from(old) < Standing::from(new) {
                Way::Worse
            } else {
                Way::Better
            }
        }
        _ => Way::Other,
    }
}
