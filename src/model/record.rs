//! What a run leaves of its tests: what the specification says of what was observed, and the lines of the log.

use camino::Utf8PathBuf;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::observation::Observation;
use super::reason::{Detail, SkipReason, Stale};
use super::spec::{Level, words};
use super::transcript::StdioMode;
use super::{RequirementId, Shard, TargetId, TestId};

/// The version of the log's format; fields are only ever added within one.
pub const FORMAT: u32 = 3;

/// What the specification says of one check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The step, counted from 0.
    pub step: usize,
    /// The sentence.
    pub requirement: RequirementId,
    /// How strongly it binds.
    pub level: Level,
    /// What is said.
    pub kind: VerdictKind,
    /// What would be said if it weren't known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuses: Option<VerdictKind>,
    /// Its reasons, as far as there is more to tell than that it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<Detail>,
    /// The line of the check in its case file, counted from 1.
    pub line: usize,
    /// The entry of the known failures that means this check, whether it excuses anything here or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownAs>,
}

impl Verdict {
    /// Whether the check was decided, one way or the other: what was skipped or shows nothing verifies nothing.
    pub fn is_decided(&self) -> bool {
        self.excuses.unwrap_or(self.kind).is_decided()
    }
}

/// A known failure as a record has it, so that a report needs no `target.toml`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KnownAs {
    /// Which tests it means: its pattern.
    pub test: String,
    /// What the target does.
    pub reason: String,
    /// Where it is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
}

words! {
    /// What is said of a check.
    VerdictKind {
        /// It holds.
        Pass = "pass",
        /// A MUST or MUST NOT is broken.
        Fail = "fail",
        /// A SHOULD or SHOULD NOT is broken.
        Warn = "warn",
        /// What nobody wrote but users rely on doesn't hold.
        Note = "note",
        /// An alternative holds that is right because of a MAY.
        Allowed = "allowed",
        /// A MAY is taken.
        Taken = "taken",
        /// A MAY is not taken.
        NotTaken = "not-taken",
        /// It doesn't hold, and that is known.
        Known = "known",
        /// It holds, although it is listed as a known failure.
        Stale = "stale",
        /// It doesn't hold each time: a further attempt went well.
        Flaky = "flaky",
        /// It cannot be told: the control failed, or something that the check depends on cannot be read.
        Inconclusive = "inconclusive",
        /// The adapter can't express it.
        Cannot = "cannot",
        /// The target was given up, or the harness failed.
        Error = "error",
    }
}

impl VerdictKind {
    /// Whether it says something of the target, and not only why nothing can be said.
    pub fn is_decided(self) -> bool {
        !matches!(self, Self::Cannot | Self::Error | Self::Inconclusive)
    }
}

/// One line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The first line.
    Header(Header),
    /// One test.
    Record(Box<Record>),
    /// The last line; a log without it was cut short.
    Footer(Footer),
}

/// What was to be run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of the harness.
    pub casebook: String,
    /// The targets.
    pub targets: Vec<TargetId>,
    /// What is worth telling of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// A hash of the cases: where it differs, others were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<String>,
    /// What of the plan was run, where it was spread over several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// What it was narrowed to otherwise, as it was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narrowed: Option<String>,
    /// The files of those that aren't embedded: what is known of their failures is read there again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Utf8PathBuf>,
    /// How many tests were planned.
    #[serde(deserialize_with = "tests")]
    pub planned: usize,
    /// What doesn't apply, and why, by target.
    pub skipped: Vec<Skipped>,
}

/// A target, as it was when it was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The target.
    pub target: TargetId,
    /// One line for people.
    pub title: String,
    /// The package and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why nobody has run it, where nobody has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// How many of the planned tests are its own.
    #[serde(deserialize_with = "tests")]
    pub planned: usize,
}

/// Tests that a target is not asked, under one reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// The target.
    pub target: TargetId,
    /// Why.
    pub reason: SkipReason,
    /// How many.
    #[serde(deserialize_with = "tests")]
    pub tests: usize,
}

/// What became of one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its place in the plan.
    pub index: usize,
    /// The target.
    pub target: TargetId,
    /// The test.
    pub test: TestId,
    /// Its sentence.
    pub title: String,
    /// A hash of the test as it was run, so that a replay can say that the case has changed.
    pub hash: String,
    /// What was seen.
    pub observation: Observation,
    /// What the specification says of it.
    pub verdicts: Vec<Verdict>,
    /// The attempts before this one; each failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// Whether a bug of the harness's own is why there is no observation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bug: bool,
    /// The way in which an adapter served it, where that was over stdio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdio: Option<StdioMode>,
    /// How long it took, in microseconds.
    pub micros: u64,
}

/// An attempt at a test that was tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// What was seen.
    pub observation: Observation,
    /// What the specification says of it.
    pub verdicts: Vec<Verdict>,
}

/// Reads a number of tests. A record may be damaged, or made up, and its numbers are added up.
fn tests<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    const MOST: usize = 1 << 30;
    let tests = usize::deserialize(deserializer)?;
    if tests > MOST { Err(D::Error::custom("no run has so many tests")) } else { Ok(tests) }
}

/// How the run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    /// How many tests were run.
    #[serde(deserialize_with = "tests")]
    pub ran: usize,
    /// Whether somebody stopped it.
    pub interrupted: bool,
    /// Known failures that no longer fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<Stale>,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// The parts that the run log and the transcripts lack.
    #[serde(default, skip_serializing_if = "Cuts::is_none")]
    pub cut: Cuts,
}

/// Counts of the texts that were left out of a run's files, since they were over a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// The number of texts and values that were cut, or left out.
    pub texts: u64,
    /// The number of bytes that they lost.
    pub bytes: u64,
    /// In how many tests more was left out than the ends of long messages.
    pub tests: u64,
}

impl Cuts {
    /// Returns whether nothing was cut.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
