//! What a transcript came down to, in a closed vocabulary: the same from run to run, wherever the target does the same.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::abridged::abridged;
use super::case::{Action, CanaryState, Flaw, Outcome, TextState, TimeClass};
use super::spec::words;

/// Something that a target sent, or the reason why it cannot be read.
///
/// The reason is no value: a check that depends on it is neither passed nor failed. Both are tagged in the run log, so
/// that no value that a target sends is read back as a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed<T = Value> {
    /// It was read.
    Value(T),
    /// It was not read; the reason has no text of the target in it.
    Unreadable(String),
}

impl<T> Observed<T> {
    /// The value, where there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unreadable(_) => None,
        }
    }

    /// The reason, where there is no value.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::Unreadable(reason) => Some(reason),
        }
    }

    /// Changes the value, where there is one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Observed<U> {
        match self {
            Self::Value(value) => Observed::Value(change(value)),
            Self::Unreadable(reason) => Observed::Unreadable(reason),
        }
    }

    /// All values of a list; the first reason, where one of them cannot be read.
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

/// A message in its parts: `message`, its JSON; `text`, where it is none; and with HTTP `status`, `headers`, `method`.
pub type Parts = BTreeMap<String, Observed>;

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
    /// The bytes of JSON that were left out of it: where there are any, it is not judged again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u64,
}

impl Observation {
    /// The first difference to another observation of the same test, in words; `None` where a snapshot would have
    /// the same of both.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let told = |what: &str, one: &Value, other: &Value| {
            (one != other).then(|| format!("{what}: {}, {}", abridged(one), abridged(other)))
        };
        let whole =
            |seen: &Self| json!({ "cannot": seen.cannot.is_some(), "leaky": seen.leaky, "steps": seen.steps.len() });
        told("the test", &whole(self), &whole(other)).or_else(|| {
            let steps = self.steps.iter().zip(&other.steps).map(|(one, other)| (one.lasting(), other.lasting()));
            steps.enumerate().find_map(|(index, (one, other))| {
                let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
                keys.into_iter().find_map(|key| {
                    let member = |step: &Map<String, Value>| step.get(key).cloned().unwrap_or_default();
                    told(&format!("step {}, {key}", index + 1), &member(&one), &member(&other))
                })
            })
        })
    }
}

impl StepObservation {
    /// The members that stay the same from run to run.
    fn lasting(&self) -> Map<String, Value> {
        let took = TimeClass::Instant;
        let step = Self { replies: Vec::new(), sent: Vec::new(), said: None, unread: None, took, ..self.clone() };
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<Observed>,
    /// The structured content; the value `null` where it is there and null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Observed>,
    /// What the text content is beside it; `None` where it is there and something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Observed<TextState>>,
    /// The elicitations as sent: their parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<Observed>,
    /// The elicitations as answered by a client under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<AnswerObservation>,
    /// The requests that one call of a client under test came to, where it was more than one, or had a state that
    /// nobody gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Observed<Round>>,
    /// What became of the canaries so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<CanaryState>,
    /// Not the tools of the list before it, in their order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// The replies as they came, for a case that looks into them; no snapshot has them, for they have ids and dates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Parts>,
    /// What a client under test sent, for a case that looks into it; no snapshot has that either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<Parts>,
    /// The reason why a message of the target cannot be read for certain. Its content stands nowhere else, so
    /// that nothing can be said of what is absent here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// How long it took.
    pub took: TimeClass,
    /// How large the reply was.
    pub size: SizeClass,
    /// The words of the error, for people; never compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
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
    /// The reason why a schema of the tool cannot be read, and was not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Observed>,
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
