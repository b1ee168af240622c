//! Records and capabilities → the answer to each question for each target.
//!
//! Takes the merged records of each column; gives an [`Answer`] for each capability and column. Pure. It must not know how
//! answers are shown.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::merge::MergedTarget;
use super::{Column, Rate, Report};
use crate::model::capability::{Capability, CapabilityGroup, Decider};
use crate::model::spec::{Role, words};
use crate::model::verdict::{Meaning, VerdictKind};
use crate::model::{CaseId, RequirementId};

words! {
    /// The answer to a question about a target.
    #[derive(Default)]
    Answer {
        /// The answer of an implementation that does what is expected of it: every check holds.
        Right = "right",
        /// Some checks hold.
        Partly = "partly",
        /// No check holds.
        Wrong = "wrong",
        /// The SDK's documentation leaves it to the author of a server or client.
        Author = "left to the author",
        /// The SDK's public interface cannot express most of the tests.
        Cannot = "cannot be expressed",
        /// Nothing was asked.
        #[default]
        NotAsked = "not asked",
    }
}

/// A group of capabilities, with its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityRows {
    /// The id.
    pub id: String,
    /// The feature, with its SEP.
    pub title: String,
    /// The capabilities.
    pub capabilities: Vec<CapabilityRow>,
}

/// A capability, with the answer for each target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityRow {
    /// The id.
    pub id: String,
    /// The question.
    pub question: String,
    /// The label in small pictures.
    pub short: String,
    /// The role that is asked.
    pub role: Role,
    /// The answer of an implementation that does what is expected of it: `yes` or `no`.
    pub right: &'static str,
    /// The requirements that decide it.
    pub requirements: Vec<RequirementId>,
    /// The checks that decide it: those of these requirements in these tests.
    pub decided_by: Vec<DeciderEntry>,
    /// The answers, by column of the report.
    pub answers: Vec<CapabilityCell>,
}

/// Checks that decide a capability, in tests of its role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeciderEntry {
    /// The requirement.
    pub requirement: RequirementId,
    /// The tests, as prefixes of their paths; if empty, all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// The answer to a question about one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CapabilityCell {
    /// The answer.
    pub answer: Answer,
    /// The number of checks that hold.
    pub held: usize,
    /// The number of checks that were decided.
    pub decided: usize,
    /// The number of checks that are left to the author.
    pub author: usize,
    /// The number of checks that the adapter cannot express.
    pub cannot: usize,
    /// `true` if a check fails that the specification demands or recommends, or that users rely on. Otherwise, what does
    /// not hold is optional.
    pub is_fault: bool,
    /// The worst tests: those with a check that does not hold, as indices into the report's tests. The number of them is
    /// limited.
    pub tests: Vec<usize>,
}

impl Answer {
    /// A sign that is different for each answer also without colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Right => "✓",
            Self::Partly => "◐",
            Self::Wrong => "✗",
            Self::Author => "✎",
            Self::Cannot => "–",
            Self::NotAsked => "·",
        }
    }
}

/// The number of tests that are named as evidence of a cell.
const EVIDENCE: usize = 20;

impl CapabilityRow {
    /// The answer in words: `yes`, `no`, `partly (3 of 7)`, or the reason why there is none.
    pub fn words(&self, cell: &CapabilityCell) -> String {
        let other = if self.right == "yes" { "no" } else { "yes" };
        match cell.answer {
            Answer::Right => self.right.to_owned(),
            Answer::Wrong => other.to_owned(),
            Answer::Partly => format!("partly ({} of {})", cell.held, cell.decided),
            Answer::Author | Answer::Cannot | Answer::NotAsked => cell.answer.to_string(),
        }
    }
}

impl Report {
    /// Returns the agreement: the number of capabilities for which all real targets give the right answer, of all that were
    /// decided on at least two of them.
    pub fn agreement(&self) -> Rate {
        let is_real = |column: &Column| column.is_main && !column.is_reference();
        let mut rate = Rate::default();
        for row in self.capabilities.iter().flat_map(|group| &group.capabilities) {
            let cells = self.targets.iter().zip(&row.answers).filter(|(column, _)| is_real(column));
            let answers = cells.map(|(_, cell)| cell.answer);
            let decided: Vec<_> =
                answers.filter(|one| matches!(one, Answer::Right | Answer::Partly | Answer::Wrong)).collect();
            rate.asked += usize::from(decided.len() > 1);
            rate.held += usize::from(decided.len() > 1 && decided.iter().all(|one| *one == Answer::Right));
        }
        rate
    }
}

impl CapabilityCell {
    /// Counts a check. `test` is the index of its test.
    fn add(&mut self, kind: VerdictKind, test: usize) {
        let holds = match kind.meaning() {
            Meaning::Holds => true,
            Meaning::Option => matches!(kind, VerdictKind::Taken | VerdictKind::Adopted),
            Meaning::Broken => {
                self.is_fault = true;
                false
            }
            Meaning::Undecided | Meaning::Aside => {
                self.author += usize::from(kind == VerdictKind::Author);
                self.cannot += usize::from(kind == VerdictKind::Cannot);
                return;
            }
        };
        self.decided += 1;
        self.held += usize::from(holds);
        if !holds && self.tests.len() < EVIDENCE && self.tests.last() != Some(&test) {
            self.tests.push(test);
        }
    }

    fn decide(&mut self) {
        self.answer = match self.decided {
            0 if self.author > 0 => Answer::Author,
            0 if self.cannot > 0 => Answer::Cannot,
            0 => Answer::NotAsked,
            // The smaller part of the checks is no answer to the whole question.
            decided if self.held == decided && self.cannot > decided => Answer::Cannot,
            decided if self.held == decided && self.author > decided => Answer::Author,
            decided if self.held == decided => Answer::Right,
            _ if self.held == 0 => Answer::Wrong,
            _ => Answer::Partly,
        };
    }
}

/// Computes the answers. Tests are counted in the order in which the report lists them.
pub(super) fn answers(
    groups: &[CapabilityGroup],
    roles: &BTreeMap<CaseId, Role>,
    merged: &[MergedTarget<'_>],
) -> Vec<CapabilityRows> {
    let mut rows: Vec<CapabilityRows> = groups.iter().map(|group| empty(group, merged.len())).collect();
    // The deciders of each requirement, with their places.
    let mut deciders: HashMap<&RequirementId, Vec<_>> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        for (place, capability) in group.capabilities.iter().enumerate() {
            for decider in &capability.decided_by {
                deciders.entry(&decider.requirement).or_default().push((at, place, capability.role, decider));
            }
        }
    }
    let mut test = 0;
    for (column, MergedTarget { records, .. }) in merged.iter().enumerate() {
        for record in records.values() {
            let role = roles.get(&record.test.case);
            for verdict in &record.verdicts {
                let mut last = None;
                for &(at, place, asked, decider) in deciders.get(&verdict.requirement).into_iter().flatten() {
                    // A requirement that decides one capability twice counts once.
                    if last == Some((at, place)) || role != Some(&asked) || !decider.has(&record.test) {
                        continue;
                    }
                    last = Some((at, place));
                    rows[at].capabilities[place].answers[column].add(verdict.kind, test);
                }
            }
            test += 1;
        }
    }
    for cell in rows.iter_mut().flat_map(|group| &mut group.capabilities).flat_map(|row| &mut row.answers) {
        cell.decide();
    }
    rows
}

fn empty(group: &CapabilityGroup, columns: usize) -> CapabilityRows {
    let decider = |one: &Decider| DeciderEntry { requirement: one.requirement.clone(), tests: one.tests.clone() };
    let row = |capability: &Capability| CapabilityRow {
        id: capability.id.clone(),
        question: capability.question.clone(),
        short: capability.short.clone(),
        role: capability.role,
        right: if capability.right_is_yes { "yes" } else { "no" },
        requirements: capability.decided_by.iter().map(|decider| decider.requirement.clone()).collect(),
        decided_by: capability.decided_by.iter().map(decider).collect(),
        answers: vec![CapabilityCell::default(); columns],
    };
    CapabilityRows {
        id: group.id.clone(),
        title: group.title.clone(),
        capabilities: group.capabilities.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(kinds: &[VerdictKind]) -> CapabilityCell {
        let mut cell = CapabilityCell::default();
        kinds.iter().enumerate().for_each(|(test, kind)| cell.add(*kind, test));
        cell.decide();
        cell
    }

    #[test]
    fn answer_follows_from_the_checks() {
        use VerdictKind::{Author, Cannot, Inconclusive, Known, NotAsked, NotTaken, Pass};
        for (kinds, answer) in [
            (&[][..], Answer::NotAsked),
            (&[NotAsked, Inconclusive], Answer::NotAsked),
            (&[Pass, NotAsked], Answer::Right),
            (&[Pass, Known, Pass], Answer::Partly),
            (&[Known, Author, Cannot], Answer::Wrong),
            (&[Author, NotAsked], Answer::Author),
            (&[Pass, Author, Author], Answer::Author),
            (&[Cannot], Answer::Cannot),
            (&[Pass, Cannot, Cannot], Answer::Cannot),
            (&[Pass, Known, Cannot, Cannot, Cannot], Answer::Partly),
        ] {
            assert_eq!(cell(kinds).answer, answer, "{kinds:?}");
        }
        let optional = cell(&[Pass, NotTaken]);
        assert_eq!((optional.answer, optional.is_fault, optional.tests), (Answer::Partly, false, vec![1]));
        assert!(cell(&[Known]).is_fault);
    }
}
