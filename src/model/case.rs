//! What an author wrote: cases, and the tests that their rows make of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::applicability::Applicability;
use super::schema::SharedSchema;
use super::spec::{Catalogue, Revisions, Role, Transport, words};
use super::template::Template;
use super::{CaseId, RequirementId};

/// The limit of a step, in seconds, unless a run has another one.
pub const STEP_LIMIT: u32 = 10;

/// Everything that was loaded: the cases in the order of their ids, and the catalogue that they name.
#[derive(Debug, Default)]
pub struct Library {
    /// The case files.
    pub cases: Vec<Case>,
    /// The requirements.
    pub requirements: Catalogue,
    /// A hash of all files: records with the same one compare.
    pub hash: String,
}

/// One case file.
#[derive(Debug)]
pub struct Case {
    /// Folder and file.
    pub id: CaseId,
    /// The file, as it was found; for messages.
    pub path: String,
    /// The truth that the file tests.
    pub title: String,
    /// Why it is so, and what it can't see.
    pub note: Vec<String>,
    /// Who is under test.
    pub role: Role,
    /// The rows, in the order of the file; empty where it has none.
    pub rows: Vec<Row>,
    /// The tests, in the order of the file, each with one entry a row.
    pub tests: Vec<Arc<Test>>,
}

/// One set of values that the file's tests are run with.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// What is worth saying of it.
    pub note: Vec<String>,
    /// Its values, as written.
    pub bindings: Vec<(String, Value)>,
}

/// One test with one row: everything that `@row` stood for is filled in.
#[derive(Debug)]
pub struct Test {
    /// The case file.
    pub case: CaseId,
    /// The test's name in it.
    pub id: String,
    /// The row's name, where the file has rows.
    pub row: Option<String>,
    /// The sentence; the test's own, or else the file's.
    pub title: String,
    /// What is worth saying of it.
    pub note: Vec<String>,
    /// The line in the file, counted from 1.
    pub line: usize,
    /// Who is under test.
    pub role: Role,
    /// What it is a control of.
    pub control: Option<Control>,
    /// Where it applies: file, row and test; requirements narrow further.
    pub revisions: Revisions,
    /// What it runs over; `None` where every transport will do.
    pub transports: Option<Vec<Transport>>,
    /// What a target must be able to do.
    pub needs: Vec<Need>,
    /// Of which targets it is asked.
    pub reach: Applicability,
    /// Too large for every day: runs only when asked for.
    pub heavy: bool,
    /// Runs on a process of its own.
    pub isolated: bool,
    /// The limit of each step, in seconds of the usual [`STEP_LIMIT`], where a target that takes longer will not end.
    pub step_limit: Option<u32>,
    /// The fixture.
    pub given: Arc<Fixture>,
    /// What is done, in one session, and what must hold after each step.
    pub steps: Vec<Step>,
}

impl Test {
    /// A test that runs everywhere, and of which nothing is special.
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
            isolated: false,
            step_limit: None,
            given: Arc::new(given),
            steps,
        }
    }

    /// The part of its ids before the `@`: `folder/file/test/row`.
    pub fn path(&self) -> String {
        match &self.row {
            Some(row) => format!("{}/{}/{row}", self.case, self.id),
            None => format!("{}/{}", self.case, self.id),
        }
    }

    /// The limit of each of its steps, in a run in which a step has `usual`: a slow machine raises all limits alike.
    pub fn step_limit(&self, usual: Duration) -> Duration {
        self.step_limit.map_or(usual, |seconds| usual * seconds / STEP_LIMIT)
    }

    /// Returns whether a target may use up the limit of a step, or most of it.
    pub fn is_hard(&self) -> bool {
        self.heavy || self.step_limit.is_some()
    }

    /// Every check of every step.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.steps.iter().flat_map(|step| step.then.checks())
    }
}

words! {
    /// How far a control's word goes.
    Control {
        /// The other tests of the same row count only if it holds.
        Row = "row",
        /// The whole file's tests count only if it holds.
        File = "file",
    }
}

words! {
    /// What a case can need of a target.
    Need {
        /// Elicitation in form mode.
        ElicitationForm = "elicitation.form",
        /// Tools with an output schema.
        ToolsOutputSchema = "tools.outputSchema",
        /// Notice of a changed list of tools.
        ToolsListChanged = "tools.listChanged",
    }
}

/// A server, as the case describes it.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Fixture {
    /// The tools, in order.
    pub tools: Vec<Tool>,
    /// What the harness, as the server, gets wrong on purpose.
    pub deviations: Vec<Deviation>,
    /// How the harness, as the server, divides its list; `None` lists all tools at once.
    pub pages: Option<Pages>,
}

/// A list in pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pages {
    /// How many tools are on a page.
    pub size: usize,
    /// The cursors of the second page and those behind it; what is missing is made up.
    pub cursors: Vec<String>,
}

impl Fixture {
    /// The first tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The fixture as an adapter gets it: `{"server": …, "tools": […]}`.
    pub fn template(&self) -> Template {
        let server = [("name", "casebook"), ("version", "1")]
            .map(|(key, value)| (key.to_owned(), Template::String(value.to_owned())));
        Template::Object(vec![
            ("server".to_owned(), Template::Object(server.into())),
            ("tools".to_owned(), Template::Array(self.tools.iter().map(|tool| tool.definition.clone()).collect())),
        ])
    }
}

/// One tool.
#[derive(Debug, PartialEq, Serialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The whole of it as an adapter gets it, `name` first and `does` last.
    pub definition: Template,
    /// What its code does.
    pub does: Does,
}

words! {
    /// What a tool's code does when it is called.
    Does {
        /// Returns the arguments that it saw.
        Echo = "echo",
        /// Returns what the case says.
        Return = "return",
        /// Asks the user, and returns the answer.
        Elicit = "elicit",
        /// Fails.
        Raise = "raise",
    }
}

/// One place in which the harness, as the server, is wrong.
#[derive(Debug, PartialEq, Serialize)]
pub struct Deviation {
    /// The method whose answer is touched.
    pub method: String,
    /// What is done to it.
    pub change: Change,
}

/// What is done to an answer that would have been right.
#[derive(Debug, PartialEq, Serialize)]
pub enum Change {
    /// A member is set.
    Set {
        /// Where, as a JSON Pointer into the message.
        at: String,
        /// To what.
        value: Template,
    },
    /// A member is taken away.
    Remove {
        /// Where, as a JSON Pointer into the message.
        at: String,
    },
    /// The HTTP reply is touched.
    Http {
        /// Another status.
        status: Option<u16>,
        /// Other or further headers.
        headers: Vec<(String, String)>,
        /// The connection ends after so many bytes of the body.
        cut_after: Option<usize>,
    },
}

/// Something done, and what must hold after it.
#[derive(Debug)]
pub struct Step {
    /// What is done.
    pub when: When,
    /// What must hold.
    pub then: Then,
    /// The capabilities that the client declares, where they aren't the usual ones.
    pub declares: Option<Template>,
    /// Whether the handshake that it begins with ends as it should, with `notifications/initialized`.
    pub initialized: bool,
}

/// What is done in a step.
#[derive(Debug, Serialize)]
pub enum When {
    /// The server is built, and nothing else.
    Serve,
    /// The tools are listed, all pages.
    List,
    /// A tool is called.
    Call {
        /// Its name.
        tool: String,
        /// The arguments; `None` sends none.
        arguments: Option<Template>,
        /// What is answered to the elicitations, in order.
        answers: Vec<Answer>,
        /// Where a retry of it isn't what a conformant client would send.
        retry: Retry,
    },
    /// A message goes out as it stands.
    Send {
        /// The message.
        message: Template,
        /// HTTP headers: set, or with `None` left out.
        headers: Vec<(String, Option<String>)>,
    },
}

/// What a retry with answers has in place of what it should have (stateless lifecycle only).
#[derive(Debug, Default, Serialize)]
pub struct Retry {
    /// What becomes of the `requestState`, where there is one.
    pub state: Option<Tampering>,
    /// Other arguments than the call's.
    pub arguments: Option<Template>,
}

words! {
    /// What is done to a `requestState`.
    Tampering {
        /// A text of our own stands in its place.
        Forged = "forged",
        /// Its last character is another one.
        Altered = "altered",
    }
}

/// How an elicitation is answered.
#[derive(Debug, Serialize)]
pub enum Answer {
    /// Accepted with this content.
    Accept(Template),
    /// Accepted without an edit: only what the SDK itself fills in is sent.
    AcceptAsPresented,
    /// Declined.
    Decline,
    /// Cancelled.
    Cancel,
    /// This value, right or wrong, in the place of `{"action": …}`.
    Raw(Template),
    /// A JSON-RPC error (stateful lifecycle only).
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
}

/// What must hold after a step.
#[derive(Debug)]
pub enum Then {
    /// Nothing is judged; the snapshot remembers.
    Observe,
    /// Each of these.
    Checks(Vec<Check>),
}

impl Then {
    /// The checks; none for [`Then::Observe`].
    pub fn checks(&self) -> &[Check] {
        match self {
            Self::Observe => &[],
            Self::Checks(checks) => checks,
        }
    }

    /// Whether the target's messages are to be kept as they came: a server's replies, or all that a client sent.
    pub fn looks_into_messages(&self) -> bool {
        let mut alternatives = self.checks().iter().flat_map(|check| &check.alternatives);
        alternatives.any(|one| one.reply.is_some() || one.sent.is_some())
    }
}

/// A requirement, and what shows that it is met.
#[derive(Debug)]
pub struct Check {
    /// The sentence.
    pub requirement: RequirementId,
    /// The line in the case file, counted from 1.
    pub line: usize,
    /// The ways to be right: one without a name, or several, each with one.
    pub alternatives: Vec<Expectation>,
}

/// One way to be right: all that is given must hold.
#[derive(Debug, Default)]
pub struct Expectation {
    /// The name under which reports tell which alternative held.
    pub name: Option<String>,
    /// Right only because of this MAY.
    pub allowed_by: Option<RequirementId>,
    /// What may become of the step; empty means anything.
    pub outcome: Vec<Outcome>,
    /// The JSON-RPC code.
    pub code: Option<i64>,
    /// The HTTP status, one of these; empty means any, and so does stdio.
    pub status: Vec<u16>,
    /// What became of the canaries, up to and including this step.
    pub canary: Option<CanaryState>,
    /// Schemas as they came over the wire, by tool.
    pub advertised: BTreeMap<String, Advertised>,
    /// What no tool of a fixed server's list may have, where the list has any tool; empty asks for no list.
    pub without: BTreeSet<Flaw>,
    /// The arguments that the tool's code got.
    pub saw: Option<Matcher>,
    /// The structured content.
    pub structured: Option<Matcher>,
    /// The text content.
    pub text: Option<TextState>,
    /// The elicitation as sent: its parameters; a list of them where there were several.
    pub asked: Option<Matcher>,
    /// The elicitation as answered.
    pub answered: Option<Answered>,
    /// An upper bound of the time.
    pub took: Option<TimeClass>,
    /// A JSON Schema over each reply as it came.
    pub reply: Option<SharedSchema>,
    /// A JSON Schema over each message that a client sent.
    pub sent: Option<SharedSchema>,
    /// A JSON Schema over the observation: the way out.
    pub matches: Option<SharedSchema>,
}

words! {
    /// What can be seen of a listed tool without knowing it.
    Flaw {
        /// Another one of the list has its name.
        ListedTwice = "listed-twice",
        /// `inputSchema` isn't an object with `type: object`.
        NoObjectRoot = "no-object-root",
        /// `inputSchema` is invalid by its declared or default dialect.
        InvalidInputSchema = "invalid-input-schema",
        /// `outputSchema` is invalid by its declared or default dialect.
        InvalidOutputSchema = "invalid-output-schema",
        /// A schema names a dialect that the harness doesn't know.
        UnknownDialect = "unknown-dialect",
        /// A reference leads to another document.
        ExternalReference = "external-reference",
        /// A reference leads to nothing within its document.
        DanglingReference = "dangling-reference",
        /// A reference in a document whose parts have ids, and it is not followed.
        UncheckedReference = "unchecked-reference",
        /// A schema cannot be read: a number out of range, or two equal keys.
        Unreadable = "unreadable",
        /// A schema has more than 64 levels, and isn't looked into.
        Deep = "deep",
        /// A schema has more than 64 kB.
        Large = "large",
    }
}

impl Flaw {
    /// Returns whether a schema with this flaw may have the other one unseen.
    pub fn hides(self, other: Self) -> bool {
        use Flaw::{
            DanglingReference, ExternalReference, InvalidInputSchema, InvalidOutputSchema, UncheckedReference,
            UnknownDialect,
        };
        let of_content = matches!(
            other,
            InvalidInputSchema
                | InvalidOutputSchema
                | UnknownDialect
                | ExternalReference
                | DanglingReference
                | UncheckedReference
        );
        match self {
            Self::Deep | Self::Large | Self::Unreadable => of_content,
            Self::UnknownDialect => matches!(other, InvalidInputSchema | InvalidOutputSchema),
            Self::UncheckedReference => other == DanglingReference,
            _ => false,
        }
    }
}

/// What a schema is compared with.
#[derive(Debug, PartialEq, Eq)]
pub enum Advertised {
    /// The schema of the fixture, in every member.
    AsGiven,
    /// These JSON Pointers, with the fixture's values.
    Keeps(Vec<String>),
}

/// A condition on a value.
#[derive(Debug, PartialEq)]
pub enum Matcher {
    /// Equal as JSON; numbers by value.
    Equals(Template),
    /// These members at least, at every level.
    Contains(Template),
    /// Not there at all; `null` is there.
    Absent,
}

/// How an elicitation was answered.
#[derive(Debug, PartialEq)]
pub struct Answered {
    /// What the user did.
    pub action: Action,
    /// The content.
    pub content: Option<Matcher>,
}

words! {
    /// What a user does with an elicitation.
    Action {
        /// Sends it.
        Accept = "accept",
        /// Refuses.
        Decline = "decline",
        /// Goes away.
        Cancel = "cancel",
    }
}

words! {
    /// What became of a step.
    Outcome {
        /// A result that is no error.
        Success = "success",
        /// A result with `isError: true`.
        ToolError = "tool-error",
        /// A JSON-RPC error.
        ProtocolError = "protocol-error",
        /// The server wants an answer that the case doesn't give.
        InputRequired = "input-required",
        /// The SDK would not build the server.
        Refused = "refused",
        /// The server was built, but doesn't offer the tool.
        Hidden = "hidden",
        /// Something came that is no message of the protocol.
        InvalidMessage = "invalid-message",
        /// An HTTP status that tells an error, without a JSON-RPC message.
        HttpError = "http-error",
        /// The reply ended without an answer in it.
        EmptyReply = "empty-reply",
        /// More than the harness reads.
        Oversized = "oversized",
        /// No answer within the limit.
        Timeout = "timeout",
        /// The process died, or hung up.
        Crash = "crash",
        /// A notification or an answer was taken, as HTTP status 202 or, over stdio, by silence.
        Accepted = "accepted",
    }
}

words! {
    /// What became of the canaries.
    CanaryState {
        /// Nobody fetched any.
        Untouched = "untouched",
        /// At least one was fetched.
        Touched = "touched",
    }
}

words! {
    /// What the text content is beside the structured content.
    TextState {
        /// One text block is the JSON of the structured content.
        Mirrors = "mirrors structured",
        /// There is no text block.
        Absent = "absent",
    }
}

words! {
    /// An upper bound of a duration, in classes.
    TimeClass {
        /// Under 0.1 s.
        Instant = "instant",
        /// Under 1 s.
        Quick = "quick",
        /// Under 10 s.
        Slow = "slow",
        /// 10 s and more, and whatever had not ended when a limit passed.
        Endless = "endless",
    }
}

impl TimeClass {
    /// The class of a duration, in microseconds.
    pub fn of(micros: u64) -> Self {
        match micros {
            0..100_000 => Self::Instant,
            100_000..1_000_000 => Self::Quick,
            1_000_000..10_000_000 => Self::Slow,
            _ => Self::Endless,
        }
    }
}
