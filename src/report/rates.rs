//! Rates: the share of a target's checks that hold.
//!
//! Takes verdicts, gives a [`Rate`] for each level. An undecided check counts as `asked` and not as `held`; a check of a MAY does not count, nor does one that was not asked or is left to the author.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Sum;
use std::ops::Add;

use serde::Serialize;

use crate::model::RequirementId;
use crate::model::record::{Record, Verdict};
use crate::model::spec::Level;
use crate::model::verdict::{Meaning, VerdictKind};

/// The number of checks that hold, of all that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// Those that hold.
    pub held: usize,
    /// All that count.
    pub asked: usize,
}

impl Rate {
    /// The rate in tenths of a percent, rounded, but 100 % only if all checks hold, and 0 % only if none does.
    pub fn per_mille(self) -> usize {
        let Self { held, asked } = self;
        let rounded = (held * 2000 + asked).checked_div(asked * 2).unwrap_or(0);
        match held {
            0 => 0,
            _ if held < asked => rounded.clamp(1, 999),
            _ => rounded,
        }
    }

    /// The rate as text: `98.1 %`, `100 %`, or `–` without any check.
    pub fn percent(self) -> String {
        match (self.asked, self.per_mille()) {
            (0, _) => "–".to_owned(),
            (_, 1000) => "100 %".to_owned(),
            (_, share) => format!("{}.{} %", share / 10, share % 10),
        }
    }

    /// The rate in percent as a whole number, rounded down, so that only a whole is 100; `–` without any check.
    pub fn whole_percent(self) -> String {
        (100 * self.held).checked_div(self.asked).map_or_else(|| "–".to_owned(), |percent| percent.to_string())
    }
}

impl Add for Rate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { held: self.held + other.held, asked: self.asked + other.asked }
    }
}

impl Sum for Rate {
    fn sum<I: Iterator<Item = Self>>(rates: I) -> Self {
        rates.fold(Self::default(), Add::add)
    }
}

/// The rates of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rates {
    /// By the level of the requirements.
    pub levels: BTreeMap<Level, Rate>,
    /// The requirements with a check that is left to the author, by level. These checks are in no rate.
    pub left_to_author: BTreeMap<Level, BTreeSet<RequirementId>>,
}

impl Rates {
    /// The checks of some levels, together.
    fn of(&self, levels: &[Level]) -> Rate {
        levels.iter().filter_map(|level| self.levels.get(level)).copied().sum()
    }

    /// The checks of MUSTs and MUST NOTs.
    pub fn must(&self) -> Rate {
        self.of(&[Level::Must, Level::MustNot])
    }

    /// The checks of SHOULDs and SHOULD NOTs.
    pub fn should(&self) -> Rate {
        self.of(&[Level::Should, Level::ShouldNot])
    }

    /// Returns the number of requirements at MUST or MUST NOT that are left to the author.
    pub fn musts_left(&self) -> usize {
        [Level::Must, Level::MustNot].iter().filter_map(|level| self.left_to_author.get(level)).map(BTreeSet::len).sum()
    }

    /// Counts the verdicts of one test.
    pub fn add(&mut self, record: &Record) {
        for verdict in &record.verdicts {
            if verdict.kind == VerdictKind::Author {
                let requirements = self.left_to_author.entry(verdict.level).or_default();
                if !requirements.contains(&verdict.requirement) {
                    requirements.insert(verdict.requirement.clone());
                }
            }
            let Some(holds) = holds(verdict.kind) else { continue };
            let rate = self.levels.entry(verdict.level).or_default();
            rate.asked += 1;
            rate.held += usize::from(holds);
        }
    }
}

/// The number of requirements that hold for one role of a target. A requirement holds if none of its checks fails; it
/// counts if at least one was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SentenceRates {
    /// MUSTs and MUST NOTs.
    pub must: Rate,
    /// SHOULDs and SHOULD NOTs.
    pub should: Rate,
    /// The MUSTs and MUST NOTs of which every failing check is left to the author.
    pub author: usize,
}

impl SentenceRates {
    /// Counts the verdicts of one role of a target.
    pub(super) fn of<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> Self {
        Self::of_checks(verdicts.map(|one| (&one.requirement, one.level, one.kind, one.is_decided())))
    }

    /// Counts checks, each with its requirement, the level, the kind of its verdict, and whether it was decided.
    pub(super) fn of_checks<R: Ord>(checks: impl Iterator<Item = (R, Level, VerdictKind, bool)>) -> Self {
        // For each requirement: its level, whether it was decided, holds, and is left to the author.
        let mut sentences: BTreeMap<R, (Level, bool, bool, bool)> = BTreeMap::new();
        for (requirement, level, kind, is_decided) in checks {
            let (_, decided, held, author) = sentences.entry(requirement).or_insert((level, false, true, false));
            *author |= kind == VerdictKind::Author;
            if is_decided && let Some(holds) = holds(kind) {
                *decided = true;
                *held &= holds;
            }
        }
        let mut rates = Self::default();
        for (level, decided, held, author) in sentences.into_values() {
            let is_must = level.is_must();
            rates.author += usize::from(is_must && author && held);
            let rate = match level {
                _ if !decided => continue,
                Level::Must | Level::MustNot => &mut rates.must,
                Level::Should | Level::ShouldNot => &mut rates.should,
                _ => continue,
            };
            rate.asked += 1;
            rate.held += usize::from(held);
        }
        rates
    }
}

/// Returns whether a check holds; `None` where it counts neither way.
pub(super) fn holds(kind: VerdictKind) -> Option<bool> {
    match kind.meaning() {
        Meaning::Holds => Some(true),
        Meaning::Broken | Meaning::Undecided => Some(false),
        Meaning::Option | Meaning::Aside => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::report::tests::verdict;

    #[test]
    fn known_failures_and_undecided_checks_do_not_hold() {
        use VerdictKind::{Allowed, Author, Cannot, Error, Inconclusive, Known, NotAsked, NotTaken, Pass, Taken};
        let kinds = [Pass, Allowed, Known, Cannot, Inconclusive, Error, Taken, NotTaken, Author, NotAsked];
        let verdicts = kinds.into_iter().map(verdict).collect();
        let mut rates = Rates::default();
        rates.add(&Record { verdicts, ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success) });
        assert_eq!(rates.levels[&Level::Must], Rate { held: 2, asked: 6 });
        assert_eq!(rates.musts_left(), 1);
    }

    #[test]
    fn rate_is_rounded_but_100_percent_only_if_all_hold() {
        assert_eq!(
            (Rate { held: 2, asked: 3 }.percent(), Rate { held: 1, asked: 3 }.percent()),
            ("66.7 %".into(), "33.3 %".into())
        );
        assert_eq!(Rate { held: 9_999, asked: 10_000 }.per_mille(), 999);
        assert_eq!((Rate { held: 1, asked: 10_000 }.per_mille(), Rate { held: 0, asked: 3 }.per_mille()), (1, 0));
        assert_eq!((Rate { held: 3, asked: 3 }.per_mille(), Rate::default().per_mille()), (1000, 0));
    }
}
