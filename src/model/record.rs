//! What a run leaves: transcripts (what went over the wire), observations (what that came down to),
//! verdicts (what the specification says of it), and the lines of the log.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::case::{Action, CanaryState, Flaw, Outcome, TextState, TimeClass};
use super::spec::{Level, words};
use super::template::Bindings;
use super::{RequirementId, Shard, TargetId, TestId};

/// The version of the log's format; fields are only ever added within one.
pub const FORMAT: u32 = 1;

/// Everything that was seen while one test ran. It can't say whether that was right.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transcript {
    /// The target.
    pub target: TargetId,
    /// The test.
    pub test: TestId,
    /// What the case's places were filled with.
    pub bindings: Bindings,
    /// What became of the fixture.
    pub served: Served,
    /// The handshake by which the connection was opened; tests that share one have it with the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opening: Vec<Message>,
    /// One entry a step that was begun.
    pub steps: Vec<StepTranscript>,
    /// Every fetch of a canary, from when the fixture was handed over to the end of the test; a server that was
    /// refused has no step to tell them.
    #[serde(default)]
    pub canary: Vec<Hit>,
    /// The last lines that the target wrote to its standard error while this test ran.
    pub stderr: String,
    /// Whether the process left something behind that held its pipes open.
    pub leaky: bool,
    /// From the first byte to the last, in microseconds.
    pub micros: u64,
}

/// What became of the fixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Served {
    /// The server (or the client) is there.
    Serving,
    /// The SDK would not build it.
    Refused {
        /// The class of the SDK's error.
        r#type: String,
        /// Its words.
        message: String,
    },
    /// The SDK's public API can't express it; the adapter says why.
    Cannot {
        /// Why.
        reason: String,
    },
    /// The target died, hung, or answered nonsense while it built.
    Failed {
        /// How.
        end: End,
        /// What happened, in words.
        detail: String,
    },
    /// A bug of the harness's own.
    Broken {
        /// The words of the panic.
        reason: String,
    },
    /// The target was given up before this test's turn.
    Unavailable {
        /// Why.
        reason: String,
    },
}

/// What was seen during one step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepTranscript {
    /// The messages, in the order in which they were sent and came.
    pub messages: Vec<Message>,
    /// How the step ended.
    pub end: End,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Fetches of canaries since the fixture was served, up to the end of this step.
    pub canary: Vec<Hit>,
    /// What a client under test handed to its user: the text of the adapter's answer for this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<String>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// With a response to the request: the message at this index.
    Replied {
        /// Index into the step's messages.
        message: usize,
    },
    /// There was nothing to wait for: a notification or an answer was taken.
    Accepted,
    /// A client under test was done, and handed something to its user.
    Handed,
    /// The server asked for more than the case answers.
    Unanswered,
    /// The reply ended without a response in it.
    Empty,
    /// An HTTP status that tells an error, without a JSON-RPC message.
    Http {
        /// The status.
        status: u16,
    },
    /// Something that is no message of the protocol.
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// More bytes than the harness reads.
    Oversized,
    /// The limit passed.
    Timeout,
    /// The process died or the connection broke.
    Crash {
        /// How: the exit status, the signal, or the transport's error.
        how: String,
    },
}

/// One message on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    /// Who sent it.
    pub from: Party,
    /// Its text, as it came; cut in the log where it is long.
    pub text: String,
    /// The length of the whole text in bytes, where `text` was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
    /// The HTTP status that it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The HTTP headers that it was sent or came with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// When, in microseconds since the test began.
    pub at: u64,
}

words! {
    /// Who sent a message.
    Party {
        /// The harness.
        Harness = "harness",
        /// The target.
        Target = "target",
    }
}

impl Message {
    /// Leaves at most so many bytes of its text, and says how long it was.
    pub fn cut(&mut self, most: usize) {
        if self.text.len() > most {
            self.cut_from.get_or_insert(self.text.len() as u64);
            let end = (0..=most).rev().find(|end| self.text.is_char_boundary(*end));
            self.text.truncate(end.unwrap_or(0));
            self.text.shrink_to_fit();
        }
    }
}

/// One fetch of a canary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The address that was fetched.
    pub url: String,
    /// What was done in the meantime.
    pub phase: Phase,
}

words! {
    /// What was going on.
    Phase {
        /// The fixture was being built.
        Serve = "serve",
        /// The connection was being made.
        Connect = "connect",
        /// A step was under way.
        Step = "step",
    }
}

/// What a test came down to. Ports, ids and times have no field here, so that it compares across runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// One entry a step.
    pub steps: Vec<StepObservation>,
    /// Why the adapter can't express the fixture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot: Option<String>,
    /// Why there is no observation: the target was given up, or the harness failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// The process left something behind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaky: bool,
}

/// What a step came down to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StepObservation {
    /// What became of it.
    pub outcome: Outcome,
    /// The JSON-RPC code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The HTTP status of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Schemas as advertised, by tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub advertised: BTreeMap<String, AdvertisedTool>,
    /// What can be seen of each tool that a fixed server lists, where the case knows none of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, BTreeSet<Flaw>>,
    /// The arguments that the tool's code got.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub saw: Option<Value>,
    /// The structured content; `Some(null)` where it is there and null.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub structured: Option<Value>,
    /// What the text content is beside it; `None` where it is there and something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TextState>,
    /// The elicitations as sent: their parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Value>,
    /// The elicitations as answered by a client under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<AnswerObservation>,
    /// The requests that one call of a client under test came to, where it was more than one, or had a state that
    /// nobody gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// What became of the canaries so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<CanaryState>,
    /// Not the tools of the list before it, in their order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// The replies as they came, for a case that looks into them; no snapshot has them, for they have ids and dates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Value>,
    /// What a client under test sent, for a case that looks into it; no snapshot has that either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Value>,
    /// How long it took.
    pub took: TimeClass,
    /// How large the reply was.
    pub size: SizeClass,
    /// The words of the error, for people; never compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// Reads `null` as a value that is there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// How a tool's schemas came over the wire, beside the fixture's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvertisedTool {
    /// JSON Pointers into the tool (`/inputSchema/…`, `/outputSchema/…`) that the fixture has and the wire lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// … that the wire has and the fixture lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// … whose values differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Nested too deep to be compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_deep: bool,
}

impl AdvertisedTool {
    /// Whether both are the same.
    pub fn as_given(&self) -> bool {
        *self == Self::default()
    }
}

/// How an elicitation was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerObservation {
    /// What the user did; `None` where it is none of the three words.
    pub action: Option<Action>,
    /// The content.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub content: Option<Value>,
    /// The code, where the client answered with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
}

/// One request of a call that takes several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Round {
    /// What became of the state that the server had given.
    pub state: StateEcho,
    /// Whether no earlier request of the step had its id.
    pub fresh_id: bool,
    /// What became of the call's own parameters.
    #[serde(default)]
    pub params: Params,
}

words! {
    /// What a request does with the `requestState` of the reply before it.
    StateEcho {
        /// None was given, and none is sent.
        Absent = "absent",
        /// It is sent as it was given.
        Echoed = "echoed",
        /// Another one is sent.
        Changed = "changed",
        /// It isn't sent.
        Dropped = "dropped",
        /// None was given, and one is sent.
        Invented = "invented",
    }
}

words! {
    /// What a request does with the parameters of the step's first, its answers, state and metadata aside.
    #[derive(Default)]
    Params {
        /// They are the same.
        #[default]
        Same = "same",
        /// They are others.
        Changed = "changed",
    }
}

words! {
    /// How large a reply is, in classes.
    SizeClass {
        /// Under 64 kB.
        Small = "small",
        /// Under 4 MB.
        Large = "large",
        /// 4 MB and more.
        Huge = "huge",
    }
}

impl SizeClass {
    /// The class of a length in bytes.
    pub fn of(bytes: usize) -> Self {
        match bytes {
            0..64_000 => Self::Small,
            64_000..4_000_000 => Self::Large,
            _ => Self::Huge,
        }
    }
}

impl Verdict {
    /// Whether the check was decided, one way or the other: what was skipped or shows nothing verifies nothing.
    pub fn is_decided(&self) -> bool {
        self.excuses.unwrap_or(self.kind).is_decided()
    }
}

impl VerdictKind {
    /// Whether it says something of the target, and not only why nothing can be said.
    pub fn is_decided(self) -> bool {
        !matches!(self, Self::Cannot | Self::Error | Self::Inconclusive)
    }
}

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
    /// The alternative that held, the reason, or what didn't hold: one item a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detail: Vec<String>,
    /// The line of the check in its case file, counted from 1.
    pub line: usize,
    /// The entry of the known failures that means this check, whether it excuses anything here or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownAs>,
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
        /// The control failed, so that this shows nothing.
        Inconclusive = "inconclusive",
        /// The adapter can't express it.
        Cannot = "cannot",
        /// The target was given up, or the harness failed.
        Error = "error",
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

impl KnownAs {
    /// What people are told where it no longer fails.
    pub fn stale(&self, target: &TargetId, requirement: &RequirementId) -> String {
        let Self { test, reason, .. } = self;
        format!("{target}: {requirement} holds now for {test}; remove it from the known failures (\"{reason}\")")
    }
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
    pub reason: String,
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
    /// Known failures that no longer fail, as they should be told to people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
    /// How long it took, in microseconds.
    pub micros: u64,
}
