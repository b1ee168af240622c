//! Assignment of the messages between a client and the mock server to the steps of the script.
//!
//! Takes steps, and messages in their order, gives the messages of each step. Must not know the expected messages.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::model::case::{Step, When};
use crate::model::transcript::{CLOSED, CLOSED_REQUEST, Message, Party};

/// The notification with which a client ends the handshake.
const INITIALIZED: &str = "notifications/initialized";

/// The part of a request that identifies its purpose.
struct Request {
    method: String,
    params: Params,
}

/// A request as it arrives.
#[derive(Deserialize)]
struct Arrived<'a> {
    method: String,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// The parameters of `tools/list` and `tools/call`. Those of any other request are what its sender chose.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Params {
    name: Option<String>,
    cursor: Option<IgnoredAny>,
    input_responses: Option<IgnoredAny>,
    request_state: Option<IgnoredAny>,
}

/// The id of a message, which a request and its response have in common.
#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
}

#[derive(Deserialize)]
struct Cancellation<'a> {
    method: String,
    #[serde(borrow)]
    params: Cancelled<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    #[serde(borrow)]
    request_id: &'a RawValue,
}

impl Request {
    /// Reads a request of the client.
    fn of(message: &Message) -> Option<Self> {
        let arrived = serde_json::from_str(&message.text).ok().filter(|_| message.from == Party::Target);
        let Arrived { method, params } = arrived?;
        let params = params.filter(|_| matches!(&*method, "tools/list" | "tools/call"));
        let params =
            params.map_or_else(|| Some(Params::default()), |params| serde_json::from_str(params.get()).ok())?;
        Some(Self { method, params })
    }

    /// Returns the purpose of a request, unless it is a further page or round of an earlier one. `called` has the tools
    /// of the earlier calls: the first call of a tool is no further round, even if it has the state of another call.
    fn first(message: &Message, called: &mut BTreeSet<String>) -> Option<Self> {
        let request = Self::of(message)?;
        let Params { name, cursor, input_responses, request_state } = &request.params;
        let is_page = cursor.is_some() && request.method == "tools/list";
        let further = is_page || [input_responses, request_state].into_iter().any(Option::is_some);
        let is_call = request.method == "tools/call";
        let is_new = is_call && name.as_ref().is_some_and(|name| called.insert(name.clone()));
        (!further || is_new).then_some(request)
    }

    fn is_of(&self, step: &Step) -> bool {
        let is_same_tool = match &step.when {
            When::Call { tool, .. } => self.params.name.as_ref() == Some(tool),
            _ => true,
        };
        step.when.method() == Some(&self.method) && is_same_tool
    }
}

/// Returns the messages of each step and its duration in microseconds.
///
/// A step begins with the first request for its purpose. The messages before all steps, which open the connection,
/// belong to the first step, but their time to none. A step without a request has the time since the last message.
///
/// Steps whose calls begin at the same time share their messages, which are distributed by the tools and the ids.
pub(crate) fn split(steps: &[Step], mut messages: Vec<Message>, took: Duration) -> Vec<(Vec<Message>, u64)> {
    let mut until = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let mut parts = Vec::new();
    let together: Vec<_> = groups(steps).collect();
    for (index, begins) in begins_of(&together, &messages).into_iter().enumerate().rev() {
        let at = begins.map(|place| messages[place].at);
        let since = at.or_else(|| messages.last().map(|last| last.at)).unwrap_or(0);
        let place = if index == 0 { 0 } else { begins.unwrap_or(messages.len()) };
        let micros = until.saturating_sub(since);
        let own = distribute(together[index], messages.split_off(place));
        parts.extend(own.into_iter().rev().map(|messages| (messages, micros)));
        until = until.min(since);
    }
    parts.reverse();
    return_cancellations(&mut parts);
    return_initialized(&mut parts);
    parts
}

/// Moves the first `notifications/initialized` after the handshake, which a client may send at the same time as its first
/// request, to the step with the handshake.
fn return_initialized(parts: &mut [(Vec<Message>, u64)]) {
    let method = |message: &Message| {
        let request = Request::of(message);
        request.map(|request| request.method)
    };
    let is = |message: &Message, name: &str| method(message).is_some_and(|method| method == name);
    let Some(first) = parts.iter().position(|(messages, _)| messages.iter().any(|one| is(one, "initialize"))) else {
        return;
    };
    if parts[first].0.iter().any(|message| is(message, INITIALIZED)) {
        return;
    }
    for index in first + 1..parts.len() {
        if parts[index].0.iter().any(|message| is(message, "initialize")) {
            return;
        }
        if let Some(place) = parts[index].0.iter().position(|message| is(message, INITIALIZED)) {
            let message = parts[index].0.remove(place);
            parts[first].0.push(message);
            return;
        }
    }
}

/// Moves a cancellation, which a client may send after its next request, to the step with the request that it names. A
/// body that is closed after the last response may belong to the end of the client, and stays.
fn return_cancellations(parts: &mut [(Vec<Message>, u64)]) {
    let mut ids: Vec<BTreeSet<String>> = Vec::new();
    for index in 0..parts.len() {
        let last = parts[index].0.iter().rposition(|message| message.from == Party::Harness);
        let (mut own, mut kept) = (BTreeSet::new(), Vec::new());
        for (place, message) in std::mem::take(&mut parts[index].0).into_iter().enumerate() {
            let cancelled = cancelled(&message).filter(|_| !message.text.is_empty() || Some(place) < last);
            if let Some(step) = cancelled.and_then(|id| ids.iter().position(|ids| ids.contains(&id))) {
                parts[step].0.push(message);
            } else {
                own.extend(own_id(&message));
                kept.push(message);
            }
        }
        parts[index].0 = kept;
        ids.push(own);
    }
}

/// Returns the id of a request of the client, as JSON.
fn own_id(message: &Message) -> Option<String> {
    let one: Identified<'_> = serde_json::from_str(&message.text).ok().filter(|_| message.from == Party::Target)?;
    one.method.and(one.id).map(|id| id.get().to_owned())
}

/// Returns the id of the request that a client cancels by a message, or by closing the body of the reply.
fn cancelled(message: &Message) -> Option<String> {
    if message.header(":method") == Some(CLOSED) {
        return message.header(CLOSED_REQUEST).map(str::to_owned);
    }
    let one: Cancellation<'_> = serde_json::from_str(&message.text).ok().filter(|_| message.from == Party::Target)?;
    (one.method == "notifications/cancelled").then(|| one.params.request_id.get().to_owned())
}

/// Returns the steps, those together whose calls begin at the same time.
pub(crate) fn groups(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    steps.chunk_by(|_, next| matches!(next.when, When::Call { parallel: true, .. }))
}

/// Returns the messages of each of the steps whose calls begin at the same time. Messages that belong to no single call
/// are those of the first step.
fn distribute(steps: &[Step], messages: Vec<Message>) -> Vec<Vec<Message>> {
    let mut parts = vec![Vec::new(); steps.len()];
    let mut ids: Vec<(Party, String, usize)> = Vec::new();
    for message in messages {
        let called = Request::of(&message).and_then(|request| steps.iter().position(|step| request.is_of(step)));
        let identified = serde_json::from_str::<Identified<'_>>(&message.text).ok();
        let id = identified.as_ref().and_then(|one| one.id).map(|id| id.get().to_owned());
        let is_response = identified.is_some_and(|one| one.method.is_none());
        let answered = id.as_ref().filter(|_| is_response).and_then(|id| {
            let asked = ids.iter().rfind(|(asks, asked, _)| *asks != message.from && asked == id);
            asked.map(|(_, _, index)| *index)
        });
        let sent = |id: &String| ids.iter().rfind(|(from, sent, _)| *from == Party::Target && sent == id);
        let given_up = cancelled(&message).as_ref().and_then(sent).map(|(_, _, index)| *index);
        let index = called.or(answered).or(given_up).unwrap_or(0);
        ids.extend(id.filter(|_| !is_response).map(|id| (message.from, id, index)));
        parts[index].push(message);
    }
    parts
}

/// Returns the index of the message with which each step begins, if there is one, in the order of the script.
pub(crate) fn begins(steps: &[Step], messages: &[Message]) -> Vec<Option<usize>> {
    begins_of(&steps.chunks(1).collect::<Vec<_>>(), messages)
}

/// Returns the index of the message with which each group of steps begins, as [`begins`] does.
fn begins_of(groups: &[&[Step]], messages: &[Message]) -> Vec<Option<usize>> {
    let mut called = BTreeSet::new();
    let firsts = messages.iter().enumerate();
    let requests: Vec<_> =
        firsts.filter_map(|(place, message)| Some((place, Request::first(message, &mut called)?))).collect();
    let is_of = |request: &Request, group: &[Step]| group.iter().any(|step| request.is_of(step));
    // A client may list tools on its own before a call, and may reject a call without sending it: the longest common
    // subsequence decides.
    let mut most = vec![vec![0; requests.len() + 1]; groups.len() + 1];
    for (i, group) in groups.iter().enumerate().rev() {
        for (j, (_, request)) in requests.iter().enumerate().rev() {
            let with = if is_of(request, group) { 1 + most[i + 1][j + 1] } else { 0 };
            most[i][j] = with.max(most[i + 1][j]).max(most[i][j + 1]);
        }
    }
    let mut begins = vec![None; groups.len()];
    let (mut i, mut j) = (0, 0);
    while let (Some(group), Some((place, request))) = (groups.get(i), requests.get(j)) {
        if is_of(request, group) && most[i][j] == 1 + most[i + 1][j + 1] {
            begins[i] = Some(*place);
            (i, j) = (i + 1, j + 1);
        } else if most[i][j] == most[i][j + 1] {
            // A request of no step is passed before a step is taken for one without requests: of two equal steps, the
            // later one can have its result from a cache.
            j += 1;
        } else {
            i += 1;
        }
    }
    begins
}
