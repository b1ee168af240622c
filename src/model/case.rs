//! Cases as their authors write them, and the tests that each case's rows expand to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::applicability::Applicability;
pub use super::arguments::With;
pub use super::call_mark::CallMark;
use super::capability::CapabilityGroup;
pub use super::control::Control;
pub use super::deviation::{Change, Deviation, Written};
pub use super::fixture::{Does, Fixture, Method, Pages, Tool};
pub use super::flaw::Flaw;
use super::mutant::Mutant;
pub use super::need::Need;
pub use super::retry::{Misplacing, Retry, Tampering};
use super::schema::SharedSchema;
use super::spec::{Catalogue, Revisions, Role, Transport, words};
use super::template::Template;
use super::{CaseId, RequirementId};

/// The default time limit of a step, in seconds.
pub const STEP_LIMIT: u32 = 10;

/// All loaded cases, in the order of their ids, and the catalogue of the requirements that they name.
#[derive(Debug, Default)]
pub struct Library {
    /// The case files.
    pub cases: Vec<Case>,
    /// The requirements.
    pub requirements: Catalogue,
    /// A hash of all files. Only runs with the same hash are comparable.
    pub hash: String,
    /// The questions of readers that the cases answer.
    pub capabilities: Vec<CapabilityGroup>,
    /// The variants of the reference that break requirements of the cases, beside those that it contains.
    pub mutants: Vec<Mutant>,
}

impl Library {
    /// Returns the folders with sentences of the draft.
    pub fn proposals(&self) -> Vec<String> {
        let proposed = self.requirements.iter().filter(|(_, requirement)| requirement.revisions.is_draft);
        proposed.map(|(id, _)| id.folder().to_owned()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// One case file.
#[derive(Debug)]
pub struct Case {
    /// The id: folder and file name.
    pub id: CaseId,
    /// The path of the file, for messages.
    pub path: String,
    /// The statement that the file tests.
    pub title: String,
    /// An explanation of the title, and the limits of the tests.
    pub note: Vec<String>,
    /// The role under test.
    pub role: Role,
    /// The rows, in the order of the file; empty if the file has none.
    pub rows: Vec<Row>,
    /// The tests, in the order of the file, each repeated for each row.
    pub tests: Vec<Arc<Test>>,
}

/// One set of values that the file's tests are repeated for.
#[derive(Debug)]
pub struct Row {
    /// The id of the row.
    pub id: String,
    /// Notes for readers.
    pub note: Vec<String>,
    /// The values, as written in the file.
    pub bindings: Vec<(String, Value)>,
}

/// One test on one row, with all `@row` placeholders filled in.
#[derive(Debug)]
pub struct Test {
    /// The case file.
    pub case: CaseId,
    /// The name of the test in its file.
    pub id: String,
    /// The name of the row, if the file has rows.
    pub row: Option<String>,
    /// The title of the test, or else of the file.
    pub title: String,
    /// Notes for readers.
    pub note: Vec<String>,
    /// The line in the case file, counted from 1.
    pub line: usize,
    /// The role under test.
    pub role: Role,
    /// The scope of the test as a control, if it is one.
    pub control: Option<Control>,
    /// The revisions on which file, row and test all apply. Requirements narrow them further.
    pub revisions: Revisions,
    /// The transports on which the test runs; `None` allows all.
    pub transports: Option<Vec<Transport>>,
    /// The features that a target must have.
    pub needs: Vec<Need>,
    /// The kinds of targets that the test applies to.
    pub reach: Applicability,
    /// `true` if the test is too expensive to run by default.
    pub heavy: bool,
    /// The time limit of each step in seconds, relative to [`STEP_LIMIT`], where a slower target would never finish.
    pub step_limit: Option<u32>,
    /// The time limit of a request in milliseconds, which a client under test sets through its SDK's own option.
    pub request_timeout: Option<u32>,
    /// The fixture.
    pub given: Arc<Fixture>,
    /// The steps, which run in one session, each with its checks.
    pub steps: Vec<Step>,
    /// The hash of its actions, once it was needed.
    pub hash: OnceLock<String>,
}

impl Test {
    /// Returns a test with default settings, which applies everywhere.
    pub fn new(case: CaseId, id: &str, role: Role, given: Fixture, steps: Vec<Step>) -> Self {
        Self {
            case,
            id: id.to_owned(),
            row: None,
            title: id.to_owned(),
            note: Vec::new(),
            line: 1,
            role,
            control: None,
            revisions: Revisions::default(),
            transports: None,
            needs: Vec::new(),
            reach: Applicability::AdapterOnly,
            heavy: false,
            step_limit: None,
            request_timeout: None,
            given: Arc::new(given),
            steps,
            hash: OnceLock::new(),
        }
    }

    /// Returns the part of the test's ids before the `@`: `folder/file/test/row`.
    pub fn path(&self) -> String {
        match &self.row {
            Some(row) => format!("{}/{}/{row}", self.case, self.id),
            None => format!("{}/{}", self.case, self.id),
        }
    }

    /// Returns the time limit of each step, given the `usual` limit of the run. A longer usual limit, for a slow
    /// machine, raises all limits in proportion.
    pub fn step_limit(&self, usual: Duration) -> Duration {
        self.step_limit.map_or(usual, |seconds| usual * seconds / STEP_LIMIT)
    }

    /// Returns whether a target may need all or most of a step's time limit.
    pub fn is_hard(&self) -> bool {
        self.heavy || self.step_limit.is_some()
    }

    /// Returns every check of every step.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.steps.iter().flat_map(|step| step.then.checks())
    }

    /// Returns whether the test is a control of another test of its file.
    pub fn governs(&self, other: &Test) -> bool {
        self.control.as_ref().is_some_and(|control| other.is_governed_by(control, self.row.as_deref()))
    }

    /// Returns whether a control of this scope, with this row, governs the test, which is of the same file. No control
    /// governs one of its own kind.
    pub fn is_governed_by(&self, control: &Control, row: Option<&str>) -> bool {
        match (control, &self.control) {
            (_, Some(Control::File)) | (Control::Tests(_), Some(_)) | (Control::Row, Some(Control::Row)) => false,
            (Control::File, _) => true,
            (Control::Tests(names), None) => names.contains(&self.id),
            (Control::Row, _) => row == self.row.as_deref(),
        }
    }
}

/// One action, and the checks on its result.
#[derive(Debug)]
pub struct Step {
    /// The action.
    pub when: When,
    /// The checks.
    pub then: Then,
    /// The capabilities that the client declares; `None` for the default ones.
    pub declares: Option<Template>,
    /// `true` if the handshake at the start of the step ends with `notifications/initialized`, as it should.
    pub initialized: bool,
}

impl Step {
    /// Returns a step without checks, after the usual handshake.
    pub fn observe(when: When) -> Self {
        Self { when, then: Then::Observe, declares: None, initialized: true }
    }
}

/// The action of a step.
#[derive(Debug, Serialize)]
pub enum When {
    /// Builds the server and does nothing else.
    Serve,
    /// Lists the tools, on all pages.
    List,
    /// Calls a tool.
    Call {
        /// The name of the tool.
        tool: String,
        /// The arguments; `None` sends none.
        arguments: Option<Template>,
        /// The answers to the elicitations, in order.
        answers: Vec<Answer>,
        /// The differences between a retry of the call and the retry of a conformant client.
        retry: Retry,
        /// `true` if a client under test starts the call at the same time as the call of the step before it.
        parallel: bool,
    },
    /// Lists the tools of a server whose schemas are its own, and calls each of them with arguments derived from them.
    CallEach {
        /// The kind of arguments.
        with: With,
        /// Further arguments, for the tools whose listed schema treats them in this way.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        also: Vec<Template>,
    },
    /// Sends several calls before any of them is answered.
    AtOnce(Vec<CallAtOnce>),
    /// Calls a tool whose code waits, and cancels the call.
    Cancel {
        /// The name of the tool.
        tool: String,
        /// The arguments; `None` sends none.
        arguments: Option<Template>,
        /// `true` if the client closes the connection of the request, even where this cancels nothing.
        hangs_up: bool,
    },
    /// Sends an HTTP request without a message.
    Bare {
        /// The method of the request.
        method: HttpMethod,
        /// The HTTP headers to set, or to omit where the value is `None`.
        headers: Vec<(String, Option<String>)>,
    },
    /// Closes the input of a server over stdio, and waits for the end of its process.
    EndInput,
    /// Sends a message exactly as written.
    Send {
        /// The message.
        message: Template,
        /// The HTTP headers to set, or to omit where the value is `None`.
        headers: Vec<(String, Option<String>)>,
    },
}

/// One of several calls that run at once.
#[derive(Debug, Serialize)]
pub struct CallAtOnce {
    /// The name of the tool.
    pub tool: String,
    /// The arguments; `None` sends none.
    pub arguments: Option<Template>,
    /// The progress token; `None` asks for no progress.
    pub token: Option<String>,
}

impl When {
    /// Creates a call that is retried as usual clients do.
    pub fn call(tool: &str, arguments: Option<Template>, answers: Vec<Answer>) -> Self {
        Self::Call { tool: tool.to_owned(), arguments, answers, retry: Retry::default(), parallel: false }
    }
}

words! {
    /// The method of an HTTP request without a message.
    HttpMethod {
        /// Opens an event stream.
        Get = "GET",
        /// Ends a session.
        Delete = "DELETE",
    }
}

/// The answer to an elicitation.
#[derive(Debug, Serialize)]
pub enum Answer {
    /// Accepts with this content.
    Accept(Template),
    /// Accepts without content.
    AcceptAlone,
    /// Accepts without changes: the client sends only the values that the SDK itself fills in.
    AcceptAsPresented,
    /// Declines.
    Decline,
    /// Cancels.
    Cancel,
    /// Sends this value, valid or not, in place of `{"action": …}`.
    Raw(Template),
    /// Responds with a JSON-RPC error (stateful lifecycle only).
    Error {
        /// The error code.
        code: i64,
        /// The error message.
        message: String,
    },
}

/// The checks on the result of a step.
#[derive(Debug)]
pub enum Then {
    /// No check: the observation is only compared with the snapshot.
    Observe,
    /// All of these checks.
    Checks(Vec<Check>),
}

impl Then {
    /// Returns the checks; none for [`Then::Observe`].
    pub fn checks(&self) -> &[Check] {
        match self {
            Self::Observe => &[],
            Self::Checks(checks) => checks,
        }
    }

    /// Returns whether a check reads the server's own messages.
    pub fn looks_into_events(&self) -> bool {
        let mut alternatives = self.checks().iter().flat_map(|check| &check.alternatives);
        alternatives.any(|one| one.matches.as_ref().is_some_and(|schema| schema.mentions(r#""events""#)))
    }

    /// Returns whether a check reads the target's messages as sent: a server's replies, or the messages of a client.
    pub fn looks_into_messages(&self) -> bool {
        let mut alternatives = self.checks().iter().flat_map(|check| &check.alternatives);
        let lists = |schema: &SharedSchema| schema.mentions(r#""replies""#) || schema.mentions(r#""sent""#);
        alternatives.any(|one| one.reply.is_some() || one.sent.is_some() || one.matches.as_ref().is_some_and(lists))
    }
}

/// A requirement, and the expectation by which it is checked.
#[derive(Debug)]
pub struct Check {
    /// The requirement.
    pub requirement: RequirementId,
    /// The line in the case file, counted from 1.
    pub line: usize,
    /// The acceptable results: either one without a name, or several with a name each.
    pub alternatives: Vec<Expectation>,
}

/// One acceptable result. All conditions that are given must hold.
#[derive(Debug, Default, PartialEq)]
pub struct Expectation {
    /// The name under which reports mention this alternative.
    pub name: Option<String>,
    /// The MAY without which this alternative would not be acceptable.
    pub allowed_by: Option<RequirementId>,
    /// `true` if there is nothing to check where this alternative holds.
    pub not_asked: bool,
    /// The acceptable outcomes of the step; empty accepts any.
    pub outcome: Vec<Outcome>,
    /// The code of the JSON-RPC error.
    pub code: Option<i64>,
    /// The acceptable HTTP statuses; empty accepts any. Over stdio the condition always holds.
    pub status: Vec<u16>,
    /// The expected state of the canaries at the end of this step.
    pub canary: Option<CanaryState>,
    /// The expected schemas as advertised over the wire, by tool.
    pub advertised: BTreeMap<String, Advertised>,
    /// The flaws that no tool of a fixed server may have. If empty, no list is needed; if the list is empty, the
    /// condition holds.
    pub without: BTreeSet<Flaw>,
    /// The flaws that no call of `call-each` may have. If empty, no call is needed.
    pub calls: BTreeSet<CallMark>,
    /// The arguments that the tool's code received.
    pub saw: Option<Matcher>,
    /// The structured content of the result.
    pub structured: Option<Matcher>,
    /// The text content of the result.
    pub text: Option<TextState>,
    /// The parameters of the elicitation as sent by the server; a list if there were several.
    pub asked: Option<Matcher>,
    /// The answer to the elicitation as sent by the client.
    pub answered: Option<Answered>,
    /// The upper bound of the step's duration.
    pub took: Option<TimeClass>,
    /// A JSON Schema for each reply, as received.
    pub reply: Option<SharedSchema>,
    /// A JSON Schema for each message that a client sent.
    pub sent: Option<SharedSchema>,
    /// A JSON Schema for the whole observation, for conditions that no other key can express.
    pub matches: Option<SharedSchema>,
}

/// The expected relation between an advertised schema and the schema of the fixture.
#[derive(Debug, PartialEq, Eq)]
pub enum Advertised {
    /// Equal to the schema of the fixture in every member.
    AsGiven,
    /// Equal to the schema of the fixture, apart from members that were added.
    Kept,
    /// Equal to the schema of the fixture at these JSON Pointers.
    Keeps(Vec<String>),
}

/// A condition on a value.
#[derive(Debug, PartialEq)]
pub enum Matcher {
    /// Equal as JSON; numbers are compared by value.
    Equals(Template),
    /// An object with at least these members, at every level.
    Contains(Template),
    /// Absent; `null` counts as present.
    Absent,
}

/// The expected answer to an elicitation.
#[derive(Debug, PartialEq)]
pub struct Answered {
    /// The user's action.
    pub action: Action,
    /// The content of the answer.
    pub content: Option<Matcher>,
}

words! {
    /// The action of a user on an elicitation.
    Action {
        /// The user submits the content.
        Accept = "accept",
        /// The user declines.
        Decline = "decline",
        /// The user dismisses the elicitation.
        Cancel = "cancel",
    }
}

words! {
    /// The outcome of a step.
    Outcome {
        /// A result that is not an error.
        Success = "success",
        /// A result with `isError: true`.
        ToolError = "tool-error",
        /// A JSON-RPC error.
        ProtocolError = "protocol-error",
        /// The server asks for input that the case does not provide.
        InputRequired = "input-required",
        /// The SDK refused to build the server.
        Refused = "refused",
        /// The server was built, but does not list the tool.
        Hidden = "hidden",
        /// The target sent something that is not a valid message of the protocol.
        InvalidMessage = "invalid-message",
        /// An HTTP error status without a JSON-RPC message.
        HttpError = "http-error",
        /// The HTTP reply ended without a response in it.
        EmptyReply = "empty-reply",
        /// The target sent more bytes than casebook reads.
        Oversized = "oversized",
        /// No response within the time limit.
        Timeout = "timeout",
        /// The process exited, or the connection was closed.
        Crash = "crash",
        /// The target accepted a notification or a response: with HTTP status 202, or over stdio by sending nothing.
        Accepted = "accepted",
    }
}

words! {
    /// The state of the canaries.
    CanaryState {
        /// No canary was fetched.
        Untouched = "untouched",
        /// At least one was fetched.
        Touched = "touched",
        /// At least one was fetched, and its content was passed on.
        Disclosed = "disclosed",
    }
}

words! {
    /// The relation of the text content to the structured content.
    TextState {
        /// One text block is the JSON text of the structured content.
        Mirrors = "mirrors structured",
        /// There is no text block.
        Absent = "absent",
    }
}

words! {
    /// An upper bound of a duration.
    TimeClass {
        /// Under 0.1 s.
        Instant = "instant",
        /// Under 1 s.
        Quick = "quick",
        /// Under 10 s.
        Slow = "slow",
        /// 10 s or more, or unfinished when a time limit passed.
        Endless = "endless",
    }
}

impl TimeClass {
    /// Returns the class of a duration in microseconds.
    pub fn of(micros: u64) -> Self {
        match micros {
            0..100_000 => Self::Instant,
            100_000..1_000_000 => Self::Quick,
            1_000_000..10_000_000 => Self::Slow,
            _ => Self::Endless,
        }
    }
}
