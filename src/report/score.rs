//! The score of a frozen set: how many of its sentences hold on each target, for servers and clients apart.
//!
//! Takes the tests of the set and the records of a run, gives a line for each target. Must not know where the set was read.

use std::collections::BTreeMap;

use super::build::roles;
use super::{Rate, SentenceRates};
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::spec::{Level, Role};
use crate::model::text::plural;
use crate::model::verdict::VerdictKind;
use crate::model::{CaseId, RequirementId, TargetId};

type Check = (RequirementId, Level, VerdictKind, bool);

/// The checks of a run of a frozen set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    roles: BTreeMap<CaseId, Role>,
    sizes: BTreeMap<Role, [usize; 2]>,
    checks: BTreeMap<(TargetId, Role), Vec<Check>>,
}

impl Score {
    /// No checks of these cases yet. Takes for each role the numbers of MUSTs and of SHOULDs of the set.
    pub fn new(library: &Library, sizes: BTreeMap<Role, [usize; 2]>) -> Self {
        Self { roles: roles(library), sizes, checks: BTreeMap::new() }
    }

    /// The numbers of MUSTs and of SHOULDs of the set, for each role.
    pub fn sizes(&self) -> &BTreeMap<Role, [usize; 2]> {
        &self.sizes
    }

    /// Takes the verdicts of a test.
    pub fn add(&mut self, record: &Record) {
        let Some(role) = self.roles.get(&record.test.case) else { return };
        let checks = self.checks.entry((record.target.clone(), *role)).or_default();
        let check = record.verdicts.iter().map(|one| (one.requirement.clone(), one.level, one.kind, one.is_decided()));
        checks.extend(check);
    }

    /// Returns each target with its role and its score in words.
    pub fn lines(&self) -> Vec<(&TargetId, Role, String)> {
        let lines = self.checks.iter().map(|((target, role), checks)| {
            let rates =
                SentenceRates::of_checks(checks.iter().map(|(id, level, kind, decided)| (id, *level, *kind, *decided)));
            (target, *role, score(&rates, self.sizes.get(role).copied().unwrap_or_default()))
        });
        lines.collect()
    }
}

/// The score of a role in words, from the numbers of MUSTs and SHOULDs of the set.
pub(super) fn score(rates: &SentenceRates, [musts, shoulds]: [usize; 2]) -> String {
    let musts = share(rates.must, musts, "MUST", rates.author);
    format!("{musts}; {}", share(rates.should, shoulds, "SHOULD", 0))
}

/// `68 of 71 MUSTs hold, 2 not decided, 1 left to the author`.
fn share(Rate { held, asked }: Rate, all: usize, word: &str, author: usize) -> String {
    let mut text = format!("{held} of {all} {} hold", plural(all, word));
    let open = all.saturating_sub(asked).saturating_sub(author);
    if open > 0 {
        text += &format!(", {open} not decided");
    }
    if author > 0 {
        text += &format!(", {author} left to the author");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::report::tests::verdict;

    #[test]
    fn score_counts_each_sentence_of_the_set_once() {
        let roles = [(CaseId::new("f", "c"), Role::Server)].into();
        let sizes = [(Role::Server, [3, 1])].into();
        let mut score = Score { roles, sizes, ..Score::default() };
        let one = |id: &str, kind| {
            let mut one = verdict(kind);
            one.requirement = RequirementId::within("f", id);
            one
        };
        for (test, verdicts) in [
            (
                "f/c/t",
                vec![one("a", VerdictKind::Pass), one("b", VerdictKind::Pass), one("c", VerdictKind::Inconclusive)],
            ),
            ("f/c/u", vec![one("a", VerdictKind::Pass), one("b", VerdictKind::Known)]),
            ("g/c/t", vec![one("d", VerdictKind::Pass)]),
        ] {
            let test = format!("{test}@2026-07-28+http");
            score.add(&Record { verdicts, ..samples::record(0, &test, Outcome::Success) });
        }
        let lines = score.lines();
        let [(_, Role::Server, text)] = lines.as_slice() else { panic!("one role: {lines:?}") };
        assert_eq!(text, "1 of 3 MUSTs hold, 1 not decided; 0 of 1 SHOULD hold, 1 not decided");
    }
}
