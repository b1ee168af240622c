//! The lines of a run log: a header, one record per test with its observation and verdicts, and a footer.

use std::collections::BTreeMap;
use std::fmt;

use camino::Utf8PathBuf;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::known::KnownAs;
use super::observation::Observation;
use super::pair::{Attribution, PairAbout};
use super::reason::{Detail, SkipReason, Stale};
use super::set::ScoredSet;
use super::spec::{Level, words};
use super::transcript::StdioMode;
use super::verdict::VerdictKind;
use super::{CaseId, RequirementId, Shard, TargetId, TestId};

/// The version of the run log's format. Within one version, fields are only added.
pub const FORMAT: u32 = 3;

/// The result of judging one check by its requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The index of the step, counted from 0.
    pub step: usize,
    /// The requirement of the check.
    pub requirement: RequirementId,
    /// The level of the requirement.
    pub level: Level,
    /// The result.
    pub kind: VerdictKind,
    /// The result without the entry of `target.toml` that excuses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuses: Option<VerdictKind>,
    /// The reasons; empty if the check simply holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<Detail>,
    /// The line of the check in its case file, counted from 1.
    pub line: usize,
    /// The entry of `target.toml` that matches this check, even if it excuses nothing here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownAs>,
    /// The side of a pair at which the check fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Box<Attribution>>,
}

impl Verdict {
    /// Returns whether the check was decided. A check that was not asked, or is inconclusive, verifies nothing, and one
    /// that is left to the author shows nothing of the SDK.
    pub fn is_decided(&self) -> bool {
        self.kind.is_decided() && self.excuses.is_none_or(VerdictKind::is_decided)
    }
}

/// One line of the run log.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The first line: the plan of the run.
    Header(Header),
    /// The result of one test.
    Record(Box<Record>),
    /// The last line. A run log without it is incomplete.
    Footer(Footer),
}

/// The plan of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of casebook.
    pub casebook: String,
    /// The targets of the run.
    pub targets: Vec<TargetId>,
    /// A description of each target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// A hash of all case files; runs with different hashes ran different cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<String>,
    /// The shard that was run, where the plan was split over several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The other filters of the run, as typed on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrowed: Option<String>,
    /// The frozen set whose checks were run, which is one of the filters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<ScoredSet>,
    /// The `target.toml` files of targets that are not embedded. Known failures are read from them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Utf8PathBuf>,
    /// The number of planned tests.
    #[serde(deserialize_with = "tests")]
    pub planned: usize,
    /// The tests that do not apply, by target and reason.
    pub skipped: Vec<Skipped>,
}

/// A description of a target at the time of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The target.
    pub target: TargetId,
    /// A one-line description for people.
    pub title: String,
    /// The programming language of its users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The name of the API that the variant uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// The questions about parts that its adapter writes itself, because the SDK leaves them to its users, with the words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub by_hand: BTreeMap<String, String>,
    /// The tested package and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The day on which the version was published, where the run asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The versions of packages that the tested one depends on and that decide what is observed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dependencies: BTreeMap<String, String>,
    /// The reason why nobody has run this target yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// The number of planned tests of this target.
    #[serde(deserialize_with = "tests")]
    pub planned: usize,
    /// `true` if the user named a server by its command or URL, without a `target.toml`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ad_hoc: bool,
    /// The client and the server, if the target is a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Box<PairAbout>>,
}

/// Tests that are skipped on a target for one reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// The target.
    pub target: TargetId,
    /// The reason.
    pub reason: SkipReason,
    /// The number of skipped tests.
    #[serde(deserialize_with = "tests")]
    pub tests: usize,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The index of the test in the plan.
    pub index: usize,
    /// The target.
    pub target: TargetId,
    /// The test.
    pub test: TestId,
    /// The title of the test.
    pub title: String,
    /// A hash of the test as it was run, by which a replay detects a changed case.
    pub hash: String,
    /// The observation.
    pub observation: Observation,
    /// The verdicts on the test's checks.
    pub verdicts: Vec<Verdict>,
    /// The earlier attempts, each of which failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// `true` if there is no observation because of a bug in casebook.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bug: bool,
    /// The way in which the adapter served the test over stdio, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdio: Option<StdioMode>,
    /// The duration of the test, in microseconds.
    pub micros: u64,
}

/// An earlier attempt at a test that was run again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The observation.
    pub observation: Observation,
    /// The verdicts on the test's checks.
    pub verdicts: Vec<Verdict>,
}

/// Reads a number of tests. A run log may be damaged or forged, and the numbers of several are added, so a larger
/// number than any run can have is an error.
fn tests<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    const MOST: usize = 1 << 30;
    let tests = usize::deserialize(deserializer)?;
    if tests > MOST { Err(D::Error::custom("a run cannot have so many tests")) } else { Ok(tests) }
}

/// The end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    /// The number of tests that were run.
    #[serde(deserialize_with = "tests")]
    pub ran: usize,
    /// `true` if the user interrupted the run.
    pub interrupted: bool,
    /// Known failures whose tests pass now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<Stale>,
    /// Snapshots that the observations of the run do not match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<SnapshotProblem>,
    /// The duration of the run, in microseconds.
    pub micros: u64,
    /// The parts that are missing from the run log and the transcripts.
    #[serde(default, skip_serializing_if = "Cuts::is_none")]
    pub cut: Cuts,
}

/// A snapshot that the observations of a run do not match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SnapshotProblem {
    /// The target of the snapshot.
    pub target: TargetId,
    /// The case file of the snapshot.
    pub case: CaseId,
    /// The problem.
    pub state: SnapshotState,
}

impl fmt::Display for SnapshotProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, case, state } = self;
        write!(
            f,
            "the snapshot of {case} for {target} {}",
            match state {
                SnapshotState::Changed => "differs from the observations",
                SnapshotState::Missing => "is missing",
                SnapshotState::Unreadable => "cannot be read",
            }
        )
    }
}

words! {
    /// The state of a snapshot that the observations do not match.
    SnapshotState {
        /// Its lines differ from the observations.
        Changed = "changed",
        /// There is no such file.
        Missing = "missing",
        /// The file cannot be read.
        Unreadable = "unreadable",
    }
}

/// Counts of texts that exceeded a size limit and were left out of a run's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// The number of texts and values that were cut or left out.
    pub texts: u64,
    /// The number of bytes left out.
    pub bytes: u64,
    /// The number of tests that lost more than the ends of long messages.
    pub tests: u64,
}

impl Cuts {
    /// Returns whether nothing was cut.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
