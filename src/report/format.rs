//! [`Report`]: the source of JSON, Markdown, `JUnit`, badges and the page and, as JSON, a published format.
//!
//! Plain types; `docs/report.schema.json` describes the same. Within one format, members are only added.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{CapabilityRows, Caveat, Column, KeywordEntry, Status, View};
use crate::model::reason::Detail;
use crate::model::spec::{Harm, Level, Requirement, Revision, Role, Statement};
use crate::model::untrusted::escape_json;
use crate::model::verdict::VerdictKind;
use crate::model::{RequirementId, TestId};

/// The version of the published format.
pub const REPORT_FORMAT: u32 = 2;

/// Some targets, or versions of one, and the requirements that they were tested against.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: u32,
    /// The version of the harness that made it.
    pub casebook: String,
    /// The question that it answers.
    pub view: View,
    /// The meaning of the words for results.
    pub legend: Legend,
    /// The reasons why it is partial, the worst first; empty for a complete report.
    pub partial: Vec<Caveat>,
    /// The columns: by target, the versions of one from the oldest to the newest.
    pub targets: Vec<Column>,
    /// The rows: every requirement that has a verdict, by id.
    pub requirements: Vec<Sentence>,
    /// The verdicts on a requirement and a target; where there is none, there is no cell. By row, then by column.
    pub cells: Vec<Cell>,
    /// The answers to the questions of readers, by group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<CapabilityRows>,
    /// The tests, by column, then by name.
    pub tests: Vec<TestEntry>,
    /// The share of imported tests that are right, by draft, keyword and door, then by column; mostly there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<KeywordEntry>,
}

/// The meaning of the words for results, so that a reader of the format needs no rules of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Legend {
    /// The statuses of tests, from the least to the most grave.
    pub statuses: Vec<StatusEntry>,
    /// The kinds of verdicts.
    pub kinds: Vec<KindEntry>,
}

/// One status of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusEntry {
    /// The word, which is also its label.
    pub status: Status,
    /// Its meaning.
    pub meaning: &'static str,
}

/// One kind of verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KindEntry {
    /// The word.
    pub kind: VerdictKind,
    /// The status of a test with this as its worst verdict.
    pub status: Status,
    /// `true` if the check was decided.
    pub decided: bool,
    /// `true` if the check holds, `false` if not; null if it counts as neither.
    pub holds: Option<bool>,
}

impl Default for Legend {
    fn default() -> Self {
        let status = |status: &Status| StatusEntry { status: *status, meaning: status.meaning() };
        let kind = |kind: &VerdictKind| KindEntry {
            kind: *kind,
            status: (*kind).into(),
            decided: kind.is_decided(),
            holds: super::rates::holds(*kind),
        };
        Self { statuses: Status::ALL.iter().map(status).collect(), kinds: VerdictKind::ALL.iter().map(kind).collect() }
    }
}

/// A requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sentence {
    /// Its name.
    pub id: RequirementId,
    /// The first part of the name: a SEP, or an area of the specification.
    pub folder: String,
    /// Its level.
    pub level: Level,
    /// The roles that it binds.
    pub roles: Vec<Role>,
    /// Its quote. This and the following members are null if no loaded catalogue has the requirement.
    pub quote: Option<String>,
    /// Its address in the specification.
    pub url: Option<String>,
    /// The harm that a violation can do.
    pub harm: Option<Harm>,
    /// The reason why it matters, in one sentence.
    pub why: Option<String>,
    /// What to do where it does not hold; null if that depends on the implementation.
    pub fix: Option<String>,
    /// The number of targets on which a check of it was decided. The variants of a target count once, the reference does
    /// not count.
    pub decided: usize,
    /// The number of targets of which it has verdicts, and on which no check was decided.
    pub vacuous: usize,
}

impl Sentence {
    /// A requirement that no target decided, in the words of a revision. The level counts if no loaded catalogue has it.
    pub(super) fn of(id: &RequirementId, level: Level, known: Option<&Requirement>, revision: Revision) -> Self {
        let statement = known.map(|one| one.on(revision));
        Self {
            id: id.clone(),
            folder: id.folder().to_owned(),
            level: known.map_or(level, |one| one.level),
            roles: known.map(|one| one.roles.clone()).unwrap_or_default(),
            quote: statement.map(|one| one.quote.to_owned()),
            url: statement.map(Statement::link),
            harm: known.map(|one| one.harm),
            why: known.map(|one| one.why.clone()),
            fix: known.and_then(|one| one.fix.clone()),
            decided: 0,
            vacuous: 0,
        }
    }
}

/// The verdicts on one requirement and one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// An index into the requirements.
    pub requirement: usize,
    /// An index into the targets.
    pub target: usize,
    /// The worst status of its checks.
    pub status: Status,
    /// The number of checks by kind of verdict.
    pub checks: BTreeMap<VerdictKind, usize>,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestEntry {
    /// An index into the targets.
    pub target: usize,
    /// Its name.
    pub test: TestId,
    /// The role of the target; absent if no loaded case has the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Its title.
    pub title: String,
    /// The worst status of its checks.
    pub status: Status,
    /// The case file.
    pub file: String,
    /// The time that it took, in microseconds.
    pub micros: u64,
    /// The reason why nothing was observed; absent if something was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// Its verdicts.
    pub checks: Vec<CheckEntry>,
}

/// One check of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckEntry {
    /// An index into the requirements.
    pub requirement: usize,
    /// The step, counted from 0.
    pub step: usize,
    /// The verdict.
    pub kind: VerdictKind,
    /// The verdict without the known failure, or the entry of `[[author]]`, that excuses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excuses: Option<VerdictKind>,
    /// The reasons of the verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<DetailEntry>,
    /// The line of the check in the case file, counted from 1.
    pub line: usize,
    /// The reason why the failure is known, or left to the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The address of an issue about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The documentation by which the SDK leaves the requirement to the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A reason of a verdict, as data and in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DetailEntry {
    /// The words.
    pub text: String,
    /// The reason.
    #[serde(flatten)]
    pub detail: Detail,
}

impl Report {
    /// Returns the published format: one line of JSON with invisible characters escaped.
    ///
    /// # Panics
    /// Never: a report is always JSON.
    pub fn json(&self) -> String {
        escape_json(&serde_json::to_string(self).expect("a report is JSON")).into_owned() + "\n"
    }

    /// Returns whether no target has an unexpected result.
    pub fn is_as_expected(&self, strict: bool) -> bool {
        self.targets.iter().all(|column| column.is_as_expected(strict) && column.untested().next().is_none())
    }

    /// The number of planned tests that were not run, of all targets.
    pub fn missing(&self) -> usize {
        self.targets.iter().map(|column| column.missing).sum()
    }

    /// The tests of each column.
    pub fn tests_by_target(&self) -> Vec<Vec<&TestEntry>> {
        let mut tests = vec![Vec::new(); self.targets.len()];
        for test in &self.tests {
            tests[test.target].push(test);
        }
        tests
    }
}
