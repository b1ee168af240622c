//! [`Report`]: what JSON, Markdown, `JUnit`, badges and the page are all made from, and, as JSON, a published format.
//!
//! Plain types; `docs/report.schema.json` describes the same. Fields are only ever added within one format.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{KeywordEntry, Rates, Standing};
use crate::model::record::VerdictKind;
use crate::model::spec::{Harm, Level, Role};
use crate::model::{CaseId, RequirementId, TargetId, TestId};

/// The version of the published format.
pub const REPORT_FORMAT: u32 = 1;

/// Some targets, or versions of one, beside the sentences that they were held against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`REPORT_FORMAT`].
    pub format: u32,
    /// The version of the harness that made it.
    pub casebook: String,
    /// Why this isn't all there is to tell, a sentence a reason; empty where it is.
    pub partial: Vec<String>,
    /// The columns: by target, the versions of one from the oldest to the newest.
    pub targets: Vec<Column>,
    /// The rows: every sentence of which something was said, by id.
    pub requirements: Vec<Sentence>,
    /// What was said of a sentence and a target; where nothing was, there is no cell. By row, then by column.
    pub cells: Vec<Cell>,
    /// What became of each test, by column, then by name.
    pub tests: Vec<TestEntry>,
    /// How many tests that were made of a suite are right, by draft, keyword and door, then by column; mostly there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<KeywordEntry>,
}

/// One target, in one version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The target; several columns have the same where they are versions of it.
    pub id: TargetId,
    /// One line for people.
    pub title: String,
    /// The package and its version, where its `target.toml` says so.
    pub version: Option<String>,
    /// Why nobody has run it, where nobody has.
    pub unverified: Option<String>,
    /// A hash of the cases that it was asked; older records have none.
    pub cases: Option<String>,
    /// How many tests were planned.
    pub planned: usize,
    /// How many of those have no record: they were not run.
    pub missing: usize,
    /// How many tests stand how. What could not be expressed is `cannot`, and no pass.
    pub standings: BTreeMap<Standing, usize>,
    /// Tests that it was not asked at all.
    pub skipped: Vec<SkippedTests>,
    /// Of the checks that were asked of it, how many hold.
    pub rates: Rates,
    /// Known failures that no longer fail.
    pub stale: Vec<String>,
    /// How long its tests took together.
    pub seconds: f64,
}

/// Tests that a target was not asked, under one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedTests {
    /// Why.
    pub reason: String,
    /// How many.
    pub tests: usize,
}

/// A requirement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Its name.
    pub id: RequirementId,
    /// The first part of it: a proposal, or a part of the specification.
    pub folder: String,
    /// How strongly it binds.
    pub level: Level,
    /// Whom it binds.
    pub roles: Vec<Role>,
    /// Its words; these and what follows are missing where no catalogue at hand has it.
    pub quote: Option<String>,
    /// Where it stands.
    pub url: Option<String>,
    /// What a violation can do.
    pub harm: Option<Harm>,
    /// Why it matters.
    pub why: Option<String>,
}

/// What was said of one sentence and one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Which of the requirements.
    pub requirement: usize,
    /// Which of the targets.
    pub target: usize,
    /// The gravest of its checks.
    pub standing: Standing,
    /// How many checks came out how.
    pub checks: BTreeMap<VerdictKind, usize>,
}

/// What became of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestEntry {
    /// Which of the targets.
    pub target: usize,
    /// Its name.
    pub test: TestId,
    /// Its sentence.
    pub title: String,
    /// The gravest of its checks.
    pub standing: Standing,
    /// The case file.
    pub file: String,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Why there is nothing to judge: the target was given up, its adapter can't express it, or the harness failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<String>,
    /// What was said of it.
    pub checks: Vec<CheckEntry>,
}

/// One check of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckEntry {
    /// Which of the requirements.
    pub requirement: usize,
    /// The step, counted from 0.
    pub step: usize,
    /// What was said.
    pub kind: VerdictKind,
    /// What would have been said, if it weren't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuses: Option<VerdictKind>,
    /// The alternative that held, or what didn't hold: an item a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<String>,
    /// The line of the check in the case file, counted from 1.
    pub line: usize,
    /// Why the failure is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
}

impl Report {
    /// The names of the columns: the target, with its version where another column is the same target.
    pub fn names(&self) -> Vec<String> {
        let mut ids: HashMap<&TargetId, usize> = HashMap::new();
        let mut versions: HashMap<(&TargetId, Option<&str>), usize> = HashMap::new();
        for column in &self.targets {
            *ids.entry(&column.id).or_default() += 1;
            *versions.entry((&column.id, column.version.as_deref())).or_default() += 1;
        }
        let name = |column: &Column| {
            if ids[&column.id] == 1 {
                return column.id.to_string();
            }
            let is_twin = versions[&(&column.id, column.version.as_deref())] > 1;
            let version = column.version.as_deref().unwrap_or("of no known version");
            match column.cases.as_deref().filter(|_| is_twin) {
                Some(cases) => format!("{} {version}, cases {cases}", column.id),
                None => format!("{} {version}", column.id),
            }
        };
        self.targets.iter().map(name).collect()
    }

    /// Whether nothing is unexpected, of any target.
    pub fn is_as_expected(&self, strict: bool) -> bool {
        self.targets.iter().all(|column| column.is_as_expected(strict))
    }

    /// The number of requirements with at least one check that was decided, by column.
    pub fn verified(&self) -> Vec<usize> {
        let checks = self.tests.iter().flat_map(|test| test.checks.iter().map(|check| (test.target, check)));
        let decided = checks.filter(|(_, check)| check.is_decided()).map(|(target, check)| (target, check.requirement));
        let mut verified = vec![0; self.targets.len()];
        for (target, _) in decided.collect::<HashSet<_>>() {
            verified[target] += 1;
        }
        verified
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

impl CheckEntry {
    /// Whether the check was decided, one way or the other.
    pub fn is_decided(&self) -> bool {
        self.excuses.unwrap_or(self.kind).is_decided()
    }
}

impl Column {
    /// Whether nothing is unexpected: known failures are, and so, unless `strict`, is a broken SHOULD.
    pub fn is_as_expected(&self, strict: bool) -> bool {
        self.stale.is_empty() && !self.standings.keys().any(|standing| standing.is_unexpected(strict))
    }

    /// How many of its tests stand so.
    pub fn count(&self, standing: Standing) -> usize {
        self.standings.get(&standing).copied().unwrap_or(0)
    }

    /// How many tests it was not asked.
    pub fn skips(&self) -> usize {
        self.skipped.iter().map(|skipped| skipped.tests).sum()
    }
}

/// Where the case file of a test is told to be.
pub(super) fn default_file(case: &CaseId) -> String {
    format!("cases/{case}.json")
}
