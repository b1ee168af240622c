//! Records and capabilities → the answer to each question for each target, in words.
//!
//! Takes the merged records of each column; gives an [`Answer`] with at most forty characters for each capability and
//! column. The words are data: those of a known failure, else those of the requirement. Pure. It must not know how answers
//! are shown.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use serde_json::Value;

use self::cell::{Check, Controls};
use super::merge::MergedTarget;
use super::{Column, Rate, Report, ReportContext};
use crate::model::capability::{Capability, CapabilityGroup, Decider, Shown};
use crate::model::case::Need;
use crate::model::record::Record;
use crate::model::spec::{Harm, Level, Revision, Role, words};
use crate::model::{RequirementId, TestId};

words! {
    /// The answer to a question about a target.
    #[derive(Default)]
    Answer {
        /// As the specification says: every check holds, and enough of them were asked.
        Right = "right",
        /// As the specification says, with a rare exception, at most one check in twenty, or on a condition.
        Nearly = "nearly",
        /// It works, and something is missing: most checks hold, or another variant of the SDK answers.
        Partly = "partly",
        /// It does not work: less than half of the checks hold.
        Wrong = "wrong",
        /// The SDK's documentation leaves it to the author of a server or client.
        Author = "left to the author",
        /// The SDK has no such thing, or not in this revision.
        Absent = "absent",
        /// Nothing was decided.
        #[default]
        NotTested = "not tested",
    }
}

/// A group of capabilities, with its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CapabilityRows {
    /// The id.
    pub id: String,
    /// The subject.
    pub title: String,
    /// The role that is asked.
    pub role: Role,
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
    /// Set for a question that people ask often.
    pub first: bool,
    /// The answer of an implementation that does what is expected of it: `yes` or `no`.
    pub right: &'static str,
    /// The gravest keyword of the sentences that decide it; `None` if none has one.
    pub keyword: Option<&'static str>,
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
    /// The answer in at most forty characters.
    pub words: String,
    /// The reasons of what does not hold, the most common first. The number of them is limited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// The API of the variant that answers, if it is not the column's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The number of checks that hold.
    pub held: usize,
    /// The number of checks that were decided.
    pub decided: usize,
    /// The number of checks that are left to the author.
    pub author: usize,
    /// The number of checks that the adapter cannot express.
    pub cannot: usize,
    /// The worst tests: those with a check that does not hold, as indices into the report's tests. The number of them is
    /// limited.
    pub tests: Vec<usize>,
    /// A test that shows a check that holds, as an index into the report's tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<usize>,
    /// The number of checks that were not asked, and of those whose control does not hold.
    pub not_asked: usize,
    #[serde(skip)]
    pub(super) uncontrolled: usize,
    /// The number of verdicts of any kind.
    #[serde(skip)]
    pub(super) seen: usize,
    /// Set if what was asked holds, and most could not be asked of this API.
    #[serde(skip)]
    pub(super) is_thin: bool,
}

/// What happens instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The reason in at most forty characters.
    pub short: String,
    /// The reason in a sentence, where the target's file or the adapter has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The address of the report, or of the documentation that leaves it to the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The harm to users.
    pub harm: Harm,
    /// The number of checks.
    pub checks: usize,
    /// The gravity of the kind of verdict; 0 is a violated MUST.
    #[serde(skip)]
    rank: u8,
    /// Tests that show it, as indices into the report's tests. The number of them is limited.
    #[serde(skip)]
    pub tests: Vec<usize>,
}

/// The most characters of the words of an answer.
pub(super) const WORDS: usize = 40;
/// The number of tests that are named as evidence of a cell.
const EVIDENCE: usize = 20;

impl Answer {
    /// A sign that is different for each answer also without colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Right => "✓",
            Self::Nearly => "✓ but",
            Self::Partly => "!",
            Self::Wrong => "✗",
            Self::Author => "✎",
            Self::Absent => "—",
            Self::NotTested => "?",
        }
    }

    /// The meaning of the sign, for legends.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Right => "as the specification says",
            Self::Nearly => "as it says, with a rare exception or a condition",
            Self::Partly => "works, and what is missing",
            Self::Wrong => "does not work, and what happens instead",
            Self::Author => "you write it yourself",
            Self::Absent => "the SDK has no such thing, or not in this revision",
            Self::NotTested => "not tested",
        }
    }

    /// Returns whether it is as the specification says, with a rare exception at most.
    pub(super) fn is_good(self) -> bool {
        matches!(self, Self::Right | Self::Nearly)
    }

    /// Returns whether checks decided it.
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Right | Self::Nearly | Self::Partly | Self::Wrong)
    }
}

impl CapabilityCell {
    /// The API of the variant that answers, if it is not the column's own and the words do not name it.
    pub fn with(&self) -> Option<&str> {
        self.by.as_deref().filter(|api| !self.words.contains(api))
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
            let decided: Vec<_> = cells.map(|(_, cell)| cell.answer).filter(|answer| answer.is_decided()).collect();
            rate.asked += usize::from(decided.len() > 1);
            rate.held += usize::from(decided.len() > 1 && decided.iter().all(|answer| *answer == Answer::Right));
        }
        rate
    }
}

/// Computes the answers. Tests are counted in the order in which the report lists them.
pub(super) fn answers(context: &ReportContext, merged: &[MergedTarget<'_>]) -> Vec<CapabilityRows> {
    let groups = &context.capabilities;
    let mut rows: Vec<CapabilityRows> = groups.iter().map(|group| empty(group, context, merged.len())).collect();
    let mut asked_of: HashMap<(usize, usize), Asked> = HashMap::new();
    // The deciders of each requirement, with their places.
    let mut deciders: HashMap<&RequirementId, Vec<_>> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        for (place, capability) in group.capabilities.iter().enumerate() {
            for decider in &capability.decided_by {
                deciders.entry(&decider.requirement).or_default().push((at, place, group.role, decider));
            }
        }
    }
    let mut test = 0;
    for (column, MergedTarget { records, .. }) in merged.iter().enumerate() {
        let controls = Controls::new(records.values().copied(), test, context);
        for record in records.values() {
            let role = context.roles.get(&record.test.case);
            for verdict in &record.verdicts {
                let mut last = None;
                for &(at, place, asked, decider) in deciders.get(&verdict.requirement).into_iter().flatten() {
                    // A requirement that decides one capability twice counts once.
                    if last == Some((at, place)) || role != Some(&asked) || !decider.has(&record.test) {
                        continue;
                    }
                    last = Some((at, place));
                    let requirement = context.catalogue.get(&verdict.requirement);
                    let unasked = groups[at].capabilities[place].unasked.as_ref();
                    let check = Check { verdict, requirement, record, decider, unasked, controls: &controls };
                    rows[at].capabilities[place].answers[column].add(check, test);
                    let asked = asked_of.entry((at, place)).or_default();
                    asked.revisions.insert(record.test.revision);
                    asked.needs.extend(context.needs.get(&record.test.case).into_iter().flatten());
                }
            }
            test += 1;
        }
    }
    let columns: Vec<&Column> = merged.iter().map(|merged| &merged.column).collect();
    for (at, group) in rows.iter_mut().enumerate() {
        for (place, row) in group.capabilities.iter_mut().enumerate() {
            let asked = asked_of.remove(&(at, place)).unwrap_or_default();
            let capability = &groups[at].capabilities[place];
            for ((cell, column), merged) in row.answers.iter_mut().zip(&columns).zip(merged) {
                cell.decide(capability, column, group.role);
                cell.excuse(capability, column, group.role, &asked);
                if let Some(value) = capability.shows.as_ref().and_then(|shows| value(shows, &merged.records)) {
                    cell.show(value);
                }
            }
            let answers = (0..columns.len()).filter_map(|at| variant::answer(row, &columns, at).map(|cell| (at, cell)));
            for (at, cell) in answers.collect::<Vec<_>>() {
                row.answers[at] = cell;
            }
        }
    }
    rows
}

/// The revisions of the tests that decide a question, and the features that they need.
#[derive(Default)]
struct Asked {
    revisions: BTreeSet<Revision>,
    needs: BTreeSet<Need>,
}

/// The value that callers get, if it is not the one that readers expect.
fn value<'r>(shows: &Shown, records: &BTreeMap<TestId, &'r Record>) -> Option<&'r Value> {
    let record = records.iter().find(|(test, _)| shows.is_of(test)).map(|(_, record)| *record)?;
    let structured = record.observation.steps.last()?.structured.as_ref()?;
    structured.value().filter(|value| **value != shows.value)
}

fn empty(group: &CapabilityGroup, context: &ReportContext, columns: usize) -> CapabilityRows {
    let decider = |one: &Decider| DeciderEntry { requirement: one.requirement.clone(), tests: one.tests.clone() };
    let row = |capability: &Capability| {
        let levels = capability.decided_by.iter().filter_map(|decider| context.catalogue.get(&decider.requirement));
        let keywords = levels.filter_map(|requirement| match requirement.level {
            Level::Must | Level::MustNot => Some("MUST"),
            Level::Should | Level::ShouldNot => Some("SHOULD"),
            Level::May | Level::Derived => None,
        });
        CapabilityRow {
            id: capability.id.clone(),
            question: capability.question.clone(),
            first: capability.is_first,
            right: if capability.right_is_yes { "yes" } else { "no" },
            keyword: keywords.min(),
            requirements: capability.decided_by.iter().map(|decider| decider.requirement.clone()).collect(),
            decided_by: capability.decided_by.iter().map(decider).collect(),
            answers: vec![CapabilityCell::default(); columns],
        }
    };
    CapabilityRows {
        id: group.id.clone(),
        title: group.title.clone(),
        role: group.role,
        capabilities: group.capabilities.iter().map(row).collect(),
    }
}

mod cell;
mod variant;

#[cfg(test)]
mod tests;
