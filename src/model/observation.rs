//! The normalized description of a test's result, in a closed vocabulary: two runs give the same observation if the
//! target behaves the same.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::abridged::abridged;
use super::case::{Action, CallMark, CanaryState, Flaw, Outcome, TextState, TimeClass};
use super::pair::{Fault, MessagePlaces, RequestState};
use super::spec::{Revision, words};

/// Something that a target sent, or the reason why casebook cannot read it.
///
/// A reason is not a value: a check that depends on it neither passes nor fails. Both variants are tagged in the run
/// log, so that a value that a target sends can never be read back as a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed<T = Value> {
    /// The value.
    Value(T),
    /// The reason, which contains no text of the target.
    Unreadable(String),
}

impl<T> Observed<T> {
    /// Returns the value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unreadable(_) => None,
        }
    }

    /// Returns the reason, if there is no value.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::Unreadable(reason) => Some(reason),
        }
    }

    /// Applies a function to the value, if there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Observed<U> {
        match self {
            Self::Value(value) => Observed::Value(change(value)),
            Self::Unreadable(reason) => Observed::Unreadable(reason),
        }
    }

    /// Collects the values of a list, or returns the first reason if one of them cannot be read.
    pub fn all(list: impl IntoIterator<Item = Self>) -> Observed<Vec<T>> {
        let mut values = Vec::new();
        for one in list {
            match one {
                Self::Value(value) => values.push(value),
                Self::Unreadable(reason) => return Observed::Unreadable(reason),
            }
        }
        Observed::Value(values)
    }
}

impl From<Value> for Observed {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

/// The parts of a message: `message`, its JSON; `text`, if it is not JSON; over HTTP also `status`, `headers`,
/// `method`.
pub type Parts = BTreeMap<String, Observed>;

/// The observation of one test. It has no fields for ports, ids and times, so that different runs can be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// One entry for each step.
    pub steps: Vec<StepObservation>,
    /// The adapter's reason why it cannot express the fixture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot: Option<String>,
    /// The reason why there is no observation: casebook stopped running tests on the target, or had an error itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// `true` if the target left a process behind that kept its pipes open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaky: bool,
    /// The number of bytes of JSON that were left out. If it is not 0, the observation is not judged again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u64,
}

impl Observation {
    /// Describes the first difference from another observation of the same test. Returns `None` if a snapshot would be
    /// the same for both.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let compare = |what: &str, one: &Value, other: &Value| {
            (one != other).then(|| format!("{what}: {}, {}", abridged(one), abridged(other)))
        };
        let whole =
            |one: &Self| json!({ "cannot": one.cannot.is_some(), "leaky": one.leaky, "steps": one.steps.len() });
        compare("the test", &whole(self), &whole(other)).or_else(|| {
            let steps =
                self.steps.iter().zip(&other.steps).map(|(one, other)| (one.stable_members(), other.stable_members()));
            steps.enumerate().find_map(|(index, (one, other))| {
                let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
                keys.into_iter().find_map(|key| {
                    let member = |step: &Map<String, Value>| step.get(key).cloned().unwrap_or_default();
                    compare(&format!("step {}, {key}", index + 1), &member(&one), &member(&other))
                })
            })
        })
    }
}

impl StepObservation {
    /// Returns the members that are the same in each run.
    fn stable_members(&self) -> Map<String, Value> {
        let took = TimeClass::Instant;
        let mut step = Self {
            replies: Vec::new(),
            reply_places: Vec::new(),
            sent: Vec::new(),
            said: None,
            unread: None,
            took,
            relayed: None,
            // A stream of an adapter has only what the SDK writes to it.
            stray: None,
            mistyped: None,
            not_utf8: false,
            endless: None,
            ..self.clone()
        };
        step.calls.values_mut().flat_map(BTreeMap::values_mut).for_each(|one| *one = CallEvidence::default());
        match serde_json::to_value(&step) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The observation of one of several calls that run at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CallAtOnceObservation {
    /// The outcome, by the first response with the id of the call.
    pub outcome: Outcome,
    /// The code of the JSON-RPC error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The responses with the id of the call, in their order.
    pub responses: Vec<ResponseAtOnce>,
}

/// A response to one of several calls that run at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseAtOnce {
    /// The place of the response, over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<ResponsePlace>,
    /// The arguments that the tool's code received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<Observed>,
}

/// Returns the arguments that the tools' code received in calls that run at once.
pub(crate) fn seen_at_once(calls: &mut [CallAtOnceObservation]) -> impl Iterator<Item = &mut Observed> {
    calls.iter_mut().flat_map(|call| &mut call.responses).filter_map(|response| response.saw.as_mut())
}

words! {
    /// The place of a response to one of several calls that run at once.
    ResponsePlace {
        /// The reply to its own request.
        Own = "own",
        /// The reply to the request of another call.
        Other = "other",
        /// The stream of a GET request.
        GetStream = "get-stream",
    }
}

words! {
    /// What a target sends beside what a test asks for, and no target may send.
    Beside {
        /// A result for a request that the client never sent.
        ForeignResult = "foreign-result",
        /// A request whose id is null, of any target.
        NullId = "null-id",
        /// A second response to one request.
        SecondResponse = "second-response",
        /// Progress that does not increase.
        ProgressBack = "progress-back",
        /// A cancellation of a request that a client waits for, by the server.
        CancelsAsked = "cancels-asked",
        /// Progress of a request that has its response.
        ProgressAfter = "progress-after",
        /// A log message of a server that declares none.
        UndeclaredLog = "undeclared-log",
        /// A changed list of a server that declares no such notification.
        UndeclaredChange = "undeclared-change",
    }
}

/// The observation of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that is seen or not")]
pub struct StepObservation {
    /// The outcome.
    pub outcome: Outcome,
    /// `true` if the step was not begun, because the session had ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_begun: bool,
    /// The code of the JSON-RPC error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The HTTP status of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The differences between the listed tools and the fixture's, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub advertised: BTreeMap<String, AdvertisedTool>,
    /// The listed schemas of the tools that the target wrote as code: tool → `inputSchema`, `outputSchema`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub listed: BTreeMap<String, Parts>,
    /// The flaws of each tool that a fixed server lists, if the case does not know its tools.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, BTreeSet<Flaw>>,
    /// The flaws that one of these tools could have, by what its schemas contain.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub possible_flaws: BTreeSet<Flaw>,
    /// The marks of the calls of each tool that a fixed server lists, with the evidence of the flaws among them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, BTreeMap<CallMark, CallEvidence>>,
    /// Each of several calls that run at once, in the order of the case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_once: Vec<CallAtOnceObservation>,
    /// The arguments that the tool's code received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<Observed>,
    /// The structured content. If it is present and null, this is the value `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Observed>,
    /// The relation of the text content to the structured content; `None` if it is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Observed<TextState>>,
    /// The parameters of the elicitations, as sent by the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Observed>,
    /// The answers to the elicitations, as sent by a client under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<AnswerObservation>,
    /// The requests of one call by a client under test, if there were several, or if the only one had a `requestState`
    /// that no server had sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Observed<Round>>,
    /// The state of the canaries at the end of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<CanaryState>,
    /// The number of fetches of canaries until the end of this step.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fetches: u64,
    /// The messages of a request that a server sent on the stream of a GET request.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub get_stream: BTreeSet<GetStreamMessage>,
    /// The server's own requests and notifications, and the signals of a tool that waits, for a check that reads them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Observed>,
    /// The difference of the list from the previous list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub varies: Option<ListChange>,
    /// The first line that a server wrote to its standard output and that is no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stray: Option<String>,
    /// The first message of the target that the schema of its revision does not allow; unreadable if that cannot be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mistyped: Option<Observed<FaultyMessage>>,
    /// `true` if the tool received other arguments than the client sent, under the same names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub converted: bool,
    /// `true` if the target wrote a message on several lines of its standard stream.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub split: bool,
    /// `true` if the bytes of a message of the target are not UTF-8.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_utf8: bool,
    /// The number of the page of a list that an earlier page is equal to, so that the list has no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endless: Option<usize>,
    /// `true` if a request of the target has the id of an earlier request of the same session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeated_id: bool,
    /// The id, as JSON, of a request that the target cancels with a notification, and never sent, or whose response it had
    /// when it sent a later request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_unknown: Option<String>,
    /// What the target sent beside what the test asks for, and may not send: the kinds, each with the first fault in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<Beside, FaultyMessage>,
    /// The first request of a server, elicitations apart, for which the client did not declare the capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undeclared: Option<ClientRequest>,
    /// `true` if the server answered the handshake before the step with an error, so that nothing else was sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unopened: bool,
    /// `true` if a client asked only by messages that no server can act on, in this step or the last one in which it asked,
    /// so that whatever fails may fail because of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub malformed: bool,
    /// The replies as received, for a check that reads them. Snapshots omit them, because they contain ids and dates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Parts>,
    /// The index of each of these replies in the messages of the step, for people; of a server under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_places: Vec<usize>,
    /// The messages that a client under test sent, for a check that reads them. Snapshots omit them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Parts>,
    /// The reason why a message of the target cannot be read with certainty. No other member contains its content, so
    /// the absence of something here proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The duration of the step.
    pub took: TimeClass,
    /// The size of the reply.
    pub size: SizeClass,
    /// The message of the error, for people. It is never compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// In a pair, the step as the messages between its sides show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relayed: Option<Relayed>,
}

/// A message that no target may send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyMessage {
    /// A JSON pointer into the message, after `/message`.
    pub pointer: String,
    /// The violation as a sentence, which names the place.
    pub message: String,
    /// The index of the message in those of the step; without one, the message opened the session.
    pub place: Option<usize>,
}

/// The first call of a tool that has a mark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEvidence {
    /// The index of the request in the messages of the step.
    pub request: usize,
    /// The violation of the listed schema; empty if there is none. Other runs may give another one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl CallEvidence {
    /// A request that violates no schema.
    pub fn of(request: usize) -> Self {
        Self { request, ..Self::default() }
    }
}

/// The differences between a tool on the wire and the tool of the fixture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvertisedTool {
    /// JSON Pointers into the tool (`/inputSchema/…`, `/title`) to members of the fixture that are missing on the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// JSON Pointers to members on the wire that the fixture does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// JSON Pointers to members whose values differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The reason why a member of the tool cannot be read and was not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

impl AdvertisedTool {
    /// Returns whether the tool on the wire equals the tool of the fixture.
    pub fn as_given(&self) -> bool {
        *self == Self::default()
    }
}

/// The answer to an elicitation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerObservation {
    /// The user's action; `None` if the client sent none of the three defined actions.
    pub action: Option<Action>,
    /// The content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Observed>,
    /// The error code, if the client responded with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
}

/// One request of a call that takes several requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Round {
    /// The treatment of the `requestState` that the server sent.
    pub state: StateEcho,
    /// `true` if no earlier request of the step had the same id.
    pub fresh_id: bool,
    /// The treatment of the call's own parameters.
    #[serde(default)]
    pub params: Params,
}

words! {
    /// A message on the stream of a GET request that belongs to the request of a step.
    GetStreamMessage {
        /// An elicitation, which the server sent while the step's request was running.
        Elicitation = "elicitation",
        /// A response.
        Response = "response",
    }
}

words! {
    /// A request to a client, elicitations apart, that needs a capability of the client.
    ClientRequest {
        /// It asks for a completion of a model.
        Sampling = "sampling/createMessage",
        /// It asks for the folders of the client.
        Roots = "roots/list",
    }
}

words! {
    /// The time at which a client sent a message.
    HandshakePhase {
        /// Outside of a session.
        Before = "before",
        /// Since `initialize`, which has no response yet.
        During = "during",
        /// In a session.
        After = "after",
    }
}

words! {
    /// The difference between two lists of one server.
    ListChange {
        /// The same tools are in another order.
        Order = "order",
        /// Other tools are listed.
        Tools = "tools",
        /// Each list before it failed, so that there is none to compare it with.
        NothingBefore = "nothing-before",
    }
}

words! {
    /// The treatment of the `requestState` of the previous reply.
    StateEcho {
        /// The server sent none, and neither does the client.
        Absent = "absent",
        /// The client sends the same state.
        Echoed = "echoed",
        /// The client sends another state.
        Changed = "changed",
        /// The client sends none.
        Dropped = "dropped",
        /// The server sent none, but the client sends one.
        Invented = "invented",
    }
}

words! {
    /// The relation of a request's parameters to those of the step's first request. Answers, state and metadata are
    /// ignored.
    #[derive(Default)]
    Params {
        /// The parameters are the same.
        #[default]
        Same = "same",
        /// The parameters differ.
        Changed = "changed",
    }
}

words! {
    /// The size of a reply.
    SizeClass {
        /// Under 64 kB.
        Small = "small",
        /// Under 4 MB.
        Large = "large",
        /// 4 MB or more.
        Huge = "huge",
    }
}

impl SizeClass {
    /// Returns the class of a length in bytes.
    pub fn of(bytes: usize) -> Self {
        match bytes {
            0..64_000 => Self::Small,
            64_000..4_000_000 => Self::Large,
            _ => Self::Huge,
        }
    }
}

/// A step as the messages between the sides of a pair show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relayed {
    /// The step as the messages of the server show it: what reached the client, whatever its user got.
    pub server: Box<StepObservation>,
    /// The request of the client, compared with the values of its user.
    pub request: RequestState,
    /// `true` if a question of the server differs from the one that the tool asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub question_changed: bool,
    /// `true` if the tool was listed with another output schema than its author gave, which refuses the value of the reply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub schema_changed: bool,
    /// The sentences that messages of the session violate, in the order of the messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The indices of the messages that decide.
    #[serde(default)]
    pub places: MessagePlaces,
    /// The revision that the server named in the last handshake of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreed: Option<Revision>,
    /// The step and the index of a GET request to which the server had sent nothing when the pair hung.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_stream: Option<(usize, usize)>,
}
