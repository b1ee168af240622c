//! The differences between two targets, or two versions of one, by requirement.
//!
//! Takes the records of both, gives the changes with their direction, and text with both observations. Must not know
//! which of the two should be better.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::snapshot::observation;
use super::{Status, Untrusted};
use crate::model::record::{Record, Verdict};
use crate::model::spec::{Catalogue, words};
use crate::model::text::count;
use crate::model::verdict::VerdictKind;
use crate::model::{RequirementId, TestId};

/// The number of characters of an observation that are shown.
const SHOWN: usize = 1000;
/// The words for a check that was decided on one side only.
const UNDECIDED: &str = "not decided";
/// The number of tests of a list that are named.
const NAMED: usize = 10;

words! {
    /// The direction in which a check changed from the first to the second.
    Way {
        /// The check held before, or its violation was less severe.
        Worse = "worse",
        /// The check holds now, or its violation is less severe.
        Better = "better",
        /// The verdict or the observation changed; neither is worse.
        Other = "different",
    }
}

/// Two records, test by test.
#[derive(Clone, Debug, Default)]
pub struct Versus<'r> {
    /// The differences by requirement; those of tests that are not judged are under `None`.
    pub changes: BTreeMap<Option<&'r RequirementId>, Vec<Change<'r>>>,
    /// Tests that only the first has.
    pub only_old: Vec<&'r TestId>,
    /// Tests that only the second has.
    pub only_new: Vec<&'r TestId>,
    /// Tests whose definition changed between the two, so that their results cannot be compared.
    pub rewritten: Vec<&'r TestId>,
    /// The number of tests with the same result.
    pub same: usize,
}

/// One test with another result.
#[derive(Clone, Debug)]
pub struct Change<'r> {
    /// The direction.
    pub way: Way,
    /// The first record of it.
    pub old: &'r Record,
    /// The second.
    pub new: &'r Record,
    /// The verdicts of both on this requirement and step; `None` where nothing is judged.
    pub verdicts: Option<(&'r Verdict, &'r Verdict)>,
}

/// Changes in one direction with the same words.
#[derive(Clone, Debug)]
pub struct Cause<'s> {
    /// The direction.
    pub way: Way,
    /// What happens instead, on the side that does worse.
    pub words: &'s str,
    /// The requirement of the first change.
    pub requirement: Option<&'s RequirementId>,
    /// The changes.
    pub changes: Vec<&'s Change<'s>>,
}

impl<'r> Versus<'r> {
    /// Compares the second with the first.
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
        let mut is_change = false;
        for verdict in &old.verdicts {
            let place = |one: &&Verdict| one.step == verdict.step && one.requirement == verdict.requirement;
            let Some(other) = new.verdicts.iter().find(place) else { continue };
            if is_same && behaviour(verdict) == behaviour(other) {
                continue;
            }
            is_change = true;
            let change = Change { way: way(verdict, other), old, new, verdicts: Some((verdict, other)) };
            self.changes.entry(Some(&verdict.requirement)).or_default().push(change);
        }
        if !is_change && !is_same {
            is_change = true;
            self.changes.entry(None).or_default().push(Change { way: Way::Other, old, new, verdicts: None });
        }
        self.same += usize::from(!is_change);
    }

    /// Returns whether a check that held no longer holds.
    pub fn is_worse(&self) -> bool {
        self.changes.values().flatten().any(|change| change.way == Way::Worse)
    }

    /// The number of checks that changed in a direction.
    fn count(&self, way: Way) -> usize {
        self.changes.values().flatten().filter(|change| change.way == way).count()
    }

    /// The causes of the changes: changes for the worse first, then the most common.
    pub fn causes<'s>(&'s self, catalogue: &'s Catalogue) -> Vec<Cause<'s>> {
        let mut causes: BTreeMap<(Way, &str), Cause<'s>> = BTreeMap::new();
        for change in self.changes.values().flatten() {
            let verdict = change.telling();
            let requirement = verdict.map(|verdict| &verdict.requirement);
            let known = verdict.and_then(|verdict| verdict.known.as_ref()?.short.as_deref());
            let of_requirement = requirement.and_then(|id| catalogue.get(id)?.short.as_deref());
            // Where nothing got better or worse, the words would tell of a failure that may be none.
            let short = match verdict.map(behaviour) {
                _ if change.way == Way::Other => None,
                Some(kind) if kind.is_undecided() => Some(UNDECIDED),
                _ => known.or(of_requirement),
            };
            let words = short.or(requirement.map(RequirementId::as_str));
            let words = words.unwrap_or("observed, not judged");
            let cause = Cause { way: change.way, words, requirement, changes: Vec::new() };
            causes.entry((change.way, words)).or_insert(cause).changes.push(change);
        }
        let mut causes: Vec<_> = causes.into_values().collect();
        causes.sort_by_key(|cause| (cause.way, Reverse(cause.changes.len()), cause.words));
        causes
    }

    /// The differences as text: a line for each cause, with so many tests of each.
    pub fn text(&self, names: [&str; 2], catalogue: &Catalogue, tests: usize) -> String {
        let names = names.map(|name| Untrusted(name).line(200));
        let mut out = format!("A  {}\nB  {}\n", names[0], names[1]);
        let causes = self.causes(catalogue);
        for causes in causes.chunk_by(|one, other| one.way == other.way) {
            let title = match causes[0].way {
                Way::Worse => "worse in B",
                Way::Better => "better in B: no longer",
                Way::Other => "different, neither better nor worse",
            };
            out += &format!("\n{title}\n");
            let shown = if causes[0].way == Way::Other && tests == 0 { NAMED } else { causes.len() };
            for cause in causes.iter().take(shown) {
                out += &cause.text(catalogue);
                cause.changes.iter().take(tests).for_each(|change| out += &change.text());
                let more = cause.changes.len().saturating_sub(tests);
                out += &if tests > 0 && more > 0 { format!("  … and {more} more\n") } else { String::new() };
            }
            let more = causes.len() - causes.len().min(shown);
            out += &if more > 0 { format!("  … and {more} more; --tests shows them\n") } else { String::new() };
        }
        out + &self.end(tests)
    }

    /// The tests that couldn't be compared, and the numbers.
    fn end(&self, tests: usize) -> String {
        let lists = [
            ("only in A", &self.only_old),
            ("only in B", &self.only_new),
            ("changed between A and B, and not compared", &self.rewritten),
        ];
        let mut out = String::new();
        for (what, all) in lists.iter().filter(|(_, all)| !all.is_empty()) {
            out += &format!("\n{what}: {}\n", count(all.len(), "test"));
            if tests == 0 {
                continue;
            }
            out.extend(all.iter().take(NAMED).map(|test| format!("  {}\n", Untrusted(&test.to_string()).line(300))));
            out += if all.len() > NAMED { "  …\n" } else { "" };
        }
        let verdict = if self.is_worse() { "B is worse" } else { "B is not worse" };
        let ways: Vec<_> = Way::ALL.iter().map(|way| format!("{} {way}", count(self.count(*way), "check"))).collect();
        out + &format!("\n{verdict}: {}; {} with the same result\n", ways.join(", "), count(self.same, "test"))
    }
}

impl Cause<'_> {
    /// The number of checks, the keyword and the words, with the requirement.
    fn text(&self, catalogue: &Catalogue) -> String {
        let level = self.requirement.and_then(|id| catalogue.get(id)).map(|known| known.level.to_string());
        let id = self.requirement.map(|id| format!("  {}", Untrusted(id.as_str()).line(200)));
        let words = Untrusted(self.words).line(200);
        let (level, id) = (level.unwrap_or_default(), id.filter(|id| id.trim() != words).unwrap_or_default());
        format!("{:>6}  {level:<10}  {words}{id}\n", self.changes.len())
    }
}

impl<'r> Change<'r> {
    /// The verdict that tells what happens instead: that of the side which does worse.
    fn telling(&self) -> Option<&'r Verdict> {
        let (old, new) = self.verdicts?;
        Some(telling(self.way, old, new))
    }

    /// A test with its verdicts, and both observations.
    fn text(&self) -> String {
        let verdicts = self.verdicts.map(|(old, new)| (old.step + 1, behaviour(old), behaviour(new)));
        let verdicts = match verdicts {
            Some((step, old, new)) if old != new => format!("  step {step}: {old} → {new}"),
            Some((step, old, _)) => format!("  step {step}: {old}"),
            None => String::new(),
        };
        let mut out = format!("\n  {:>9}  {}{verdicts}\n", self.way, Untrusted(&self.old.test.to_string()).line(300));
        for (name, record) in [("A", self.old), ("B", self.new)] {
            let seen = observation(&record.observation);
            for (index, line) in seen.trim_start_matches('\n').lines().enumerate() {
                let name = if index == 0 { name } else { "" };
                out += &format!("  {name:>9}  {}\n", Untrusted(line.trim()).line(SHOWN));
            }
        }
        let missed = self.verdicts.map(|(_, new)| new).filter(|new| !holds(behaviour(new)));
        for detail in missed.iter().flat_map(|new| &new.detail).take(4) {
            out += &format!("  {:>9}  {}\n", "", Untrusted(&detail.to_string()).line(400));
        }
        out
    }
}

/// The verdict of a check without regard to the entries that excuse it: they do not change the behaviour of a target.
pub(super) fn behaviour(verdict: &Verdict) -> VerdictKind {
    verdict.excuses.unwrap_or(verdict.kind)
}

/// The verdict that tells what happens instead: that of the side which does worse.
pub(super) fn telling<'v>(way: Way, old: &'v Verdict, new: &'v Verdict) -> &'v Verdict {
    if way == Way::Better || holds(behaviour(new)) { old } else { new }
}

fn holds(kind: VerdictKind) -> bool {
    Status::from(kind) == Status::Passed
}

pub(super) fn way(old: &Verdict, new: &Verdict) -> Way {
    let (old, new) = (behaviour(old), behaviour(new));
    let grave = |kind| matches!(kind, VerdictKind::Note | VerdictKind::Warn | VerdictKind::Fail);
    match (holds(old), holds(new)) {
        // A test that a release cannot express, or is not asked, says nothing of what it does.
        _ if [VerdictKind::NotAsked, VerdictKind::Cannot].iter().any(|aside| [old, new].contains(aside)) => Way::Other,
        (true, false) => Way::Worse,
        (false, true) => Way::Better,
        (false, false) if grave(old) && grave(new) && old != new => {
            if Status::from(old) < Status::from(new) {
                Way::Worse
            } else {
                Way::Better
            }
        }
        _ => Way::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::report::tests::verdict;

    #[test]
    fn only_what_both_sides_decide_is_worse_or_better() {
        use VerdictKind::{Cannot, Error, Fail, Inconclusive, NotAsked, Pass, Warn};
        let record = |kind| Record {
            verdicts: vec![verdict(kind)],
            ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success)
        };
        for (old, new, way) in [
            (Pass, Fail, Way::Worse),
            (Fail, Pass, Way::Better),
            (Warn, Fail, Way::Worse),
            (Pass, Cannot, Way::Other),
            (Cannot, Fail, Way::Other),
            (Cannot, Pass, Way::Other),
            (NotAsked, Fail, Way::Other),
            (Pass, Inconclusive, Way::Worse),
            (Error, Pass, Way::Better),
        ] {
            let (old, new) = (record(old), record(new));
            let versus = Versus::new([&old].into_iter(), [&new].into_iter());
            let catalogue = Catalogue::new();
            let causes = versus.causes(&catalogue);
            assert_eq!(causes[0].way, way, "{:?}", [&old.verdicts[0].kind, &new.verdicts[0].kind]);
            // The words of a requirement tell of a violation.
            let is_undecided = way != Way::Other && [&old, &new].iter().any(|one| one.verdicts[0].kind.is_undecided());
            assert_eq!(causes[0].words == UNDECIDED, is_undecided);
        }
    }
}
