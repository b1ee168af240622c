//! The steps of a test in a session of a client that nobody drives.
//!
//! Takes the messages of a session and a test, gives the messages of each step that the client performed. Must not know
//! expectations or revisions.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::jsonrpc::envelope::{self, Envelope, Members};
use crate::jsonrpc::text::object;
use crate::judge::compare;
use crate::judge::messages::{CALL, LIST};
use crate::model::case::{Change, Fixture, Step, Test, When};
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{CLOSED_REQUEST, End, Message, Party, StepTranscript};

/// A list or a call with its further pages or rounds, and all other messages until the next one.
#[derive(Debug, Default)]
pub(super) struct Segment {
    request: Option<Request>,
    /// The places of the messages in the session.
    places: Vec<usize>,
    /// The last response to the segment's own method, as the value that an SDK returns to its user.
    returned: Option<Returned>,
}

/// The request with which a segment begins.
#[derive(Clone, Debug, PartialEq)]
enum Request {
    List,
    Call {
        tool: String,
        /// The arguments, as JSON.
        arguments: Option<String>,
    },
}

/// The response of the server to a list or a call.
#[derive(Debug)]
enum Returned {
    /// The members of the answer, as JSON.
    Result(String),
    Error(String),
}

/// Divides a session into segments. The first one opens the connection.
pub(super) fn segments(messages: &[Message]) -> Vec<Segment> {
    let mut all = vec![Segment::default()];
    let mut of_id: BTreeMap<(Party, String), (usize, String)> = BTreeMap::new();
    let mut last = 0;
    for (place, message) in messages.iter().enumerate() {
        let envelope = Envelope::read(&message.text).unwrap_or_default();
        let id = envelope.id.map(|id| id.get().to_owned());
        let index = match (message.from, &envelope.method, &id) {
            (Party::Target, Some(method), _) => of_request(method, &envelope, &mut all, last, &of_id),
            (from, None, Some(id)) => {
                let asker = if from == Party::Target { Party::Harness } else { Party::Target };
                of_id.get(&(asker, id.clone())).map_or(last, |(index, _)| *index)
            }
            _ => {
                let closed = message.header(CLOSED_REQUEST).and_then(|id| of_id.get(&(Party::Target, id.to_owned())));
                closed.map_or(last, |(index, _)| *index)
            }
        };
        if let (Some(method), Some(id)) = (&envelope.method, &id) {
            of_id.insert((message.from, id.clone()), (index, method.clone()));
        }
        let answered = id.filter(|_| message.from == Party::Harness && envelope.method.is_none());
        let answered = answered.and_then(|id| of_id.get(&(Party::Target, id)).map(|(_, method)| method.as_str()));
        let segment = &mut all[index];
        segment.places.push(place);
        segment.take_response(answered, &envelope);
        last = index;
    }
    all
}

/// Returns the segment of a request or a notification of the client, and begins it if necessary.
fn of_request(
    method: &str,
    envelope: &Envelope<'_>,
    all: &mut Vec<Segment>,
    last: usize,
    of_id: &BTreeMap<(Party, String), (usize, String)>,
) -> usize {
    let params = envelope.params.and_then(envelope::members).unwrap_or_default();
    let has = |key: &str| params.contains_key(key);
    let request = match method {
        LIST => Request::List,
        CALL => Request::Call {
            tool: params.get("name").and_then(|name| envelope::scalar(name)).unwrap_or_default(),
            arguments: params.get("arguments").map(|arguments| arguments.get().to_owned()),
        },
        "notifications/cancelled" => {
            let id = params.get("requestId").map(|id| id.get().to_owned());
            return id.and_then(|id| of_id.get(&(Party::Target, id))).map_or(last, |(index, _)| *index);
        }
        // A client that is started for each call opens the connection again.
        "initialize" | "notifications/initialized" | "server/discover" => return 0,
        // Another request begins nothing. A notification of a stream that goes on belongs to the newest segment.
        _ => return all.len() - 1,
    };
    let is_further = has("cursor") || has("inputResponses") || has("requestState");
    let is_same = |segment: &Segment| match (&segment.request, &request) {
        (Some(Request::Call { tool, .. }), Request::Call { tool: again, .. }) => tool == again,
        (Some(Request::List), Request::List) => true,
        _ => false,
    };
    if let Some(index) = all.iter().rposition(is_same).filter(|_| is_further) {
        return index;
    }
    all.push(Segment { request: Some(request), ..Segment::default() });
    all.len() - 1
}

impl Segment {
    /// Remembers a response to a list or a call. Of several pages, the tools of the last one are enough.
    fn take_response(&mut self, answered: Option<&str>, envelope: &Envelope<'_>) {
        let method = match self.request {
            Some(Request::List) => LIST,
            Some(Request::Call { .. }) => CALL,
            None => return,
        };
        if answered != Some(method) {
            return;
        }
        let tools = || envelope.members().and_then(|result| result.get("tools").map(|tools| tools.get().to_owned()));
        self.returned = Some(match (envelope.error, envelope.result, method) {
            (None, Some(_), LIST) => Returned::Result(object([("tools", tools().unwrap_or_else(|| "[]".to_owned()))])),
            (None, Some(result), _) => Returned::Result(object([("result", result.get().to_owned())])),
            (error, ..) => Returned::Error(object([("error", error.map_or("{}", RawValue::get).to_owned())])),
        });
    }

    /// Returns whether the server answered with an error, or not at all.
    pub(super) fn is_unsuccessful(&self) -> bool {
        !matches!(self.returned, Some(Returned::Result(_)))
    }

    /// Returns whether the server answered a list or a call with an error.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.returned, Some(Returned::Error(_)))
    }

    /// Returns whether a fixture makes its server refuse the method of the segment.
    pub(super) fn is_to_be_refused(&self, fixture: &Fixture) -> bool {
        let method = if self.request == Some(Request::List) { LIST } else { CALL };
        let refuses = |change: &Change| match change {
            Change::Set { at, .. } => at.starts_with("/error"),
            Change::Remove { at } => at == "/result",
            Change::Http { .. } | Change::Unanswered => true,
            Change::Before { .. } | Change::Written(_) => false,
        };
        let mut deviations = fixture.deviations.iter();
        deviations.any(|deviation| deviation.method == method && refuses(&deviation.change))
    }

    /// Returns whether a segment performs a step. A client that is led by the test may not have the arguments of its own.
    fn is_of(&self, step: &Step, bindings: &Bindings, is_led: bool) -> bool {
        match (&self.request, &step.when) {
            (Some(Request::List), When::List) => true,
            (Some(Request::Call { tool, arguments }), When::Call { tool: wanted, arguments: template, .. }) => {
                let has_own = || has_arguments(arguments.as_deref(), template.as_ref(), bindings);
                tool == wanted && (is_led || has_own())
            }
            _ => false,
        }
    }
}

/// Returns whether a call has the arguments of a case. For none, any value without members will do: its form may be what
/// is tested.
fn has_arguments(sent: Option<&str>, wanted: Option<&Template>, bindings: &Bindings) -> bool {
    let Some(wanted) = wanted.filter(|wanted| **wanted != Template::Absent) else {
        let members = sent.and_then(|sent| serde_json::from_str::<&RawValue>(sent).ok()).and_then(envelope::members);
        return members.is_none_or(|members: Members<'_>| members.is_empty());
    };
    let Some(sent) = sent else { return false };
    let text = wanted.render(bindings);
    let read = |text: &str| crate::judge::messages::kept_text(text).value().cloned();
    let (one, other): (Option<Value>, Option<Value>) = (read(sent), read(&text));
    match (one, other) {
        (Some(one), Some(other)) => compare::equal(&one, &other),
        _ => sent == text,
    }
}

/// The messages of the steps that the client performed, in the order of the test, up to the first that it did not.
pub(super) fn performed(
    test: &Test,
    all: &[Segment],
    messages: &[Message],
    bindings: &Bindings,
    is_led: bool,
) -> Vec<StepTranscript> {
    let is_counted = test.given.deviations.iter().any(|deviation| deviation.times.is_some());
    let mut begins: Vec<usize> = Vec::new();
    for (index, step) in test.steps.iter().enumerate() {
        let after = begins.last().map_or(1, |last| last + 1);
        let next = match step.when {
            When::Serve if index == 0 => Some(0),
            _ => (after..all.len()).find(|place| all[*place].is_of(step, bindings, is_led)),
        };
        let Some(next) = next else { break };
        // Some deviations apply to the first responses only, which must be those of the steps.
        let is_beside = |place: usize| {
            let request = &all[place].request;
            *request != Some(Request::List) && begins.last().is_none_or(|last| *request != all[*last].request)
        };
        if is_counted && (after..next).any(is_beside) {
            break;
        }
        begins.push(next);
    }
    let mut steps = Vec::new();
    for (index, begin) in begins.iter().enumerate() {
        let until = begins.get(index + 1).copied().unwrap_or(all.len());
        let end = if *begin == 0 { 0 } else { last_attempt(all, *begin, until) };
        // The opening belongs to the first step.
        let opening = if index == 0 && *begin > 0 { &all[..1] } else { &[] };
        let own = opening.iter().chain(&all[*begin..=end]);
        let mut places: Vec<usize> = own.flat_map(|segment| segment.places.iter().copied()).collect();
        places.sort_unstable();
        let messages = places.into_iter().map(|place| messages[place].clone()).collect();
        let handed = (*begin > 0).then(|| match &all[end].returned {
            Some(Returned::Result(text) | Returned::Error(text)) => text.clone(),
            None => r#"{"error":{"type":"none","message":"the server did not answer"}}"#.to_owned(),
        });
        let end = if handed.is_some() { End::Handed } else { End::Accepted };
        steps.push(StepTranscript { messages, end, micros: 0, canary: Vec::new(), handed });
    }
    steps
}

/// Returns the last segment that repeats an unsuccessful request, before another place.
fn last_attempt(all: &[Segment], begin: usize, until: usize) -> usize {
    let mut end = begin;
    while all[end].is_unsuccessful() {
        let again = (end + 1..until).find(|place| all[*place].request == all[begin].request);
        let Some(again) = again else { break };
        end = again;
    }
    end
}
