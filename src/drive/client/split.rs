//! Which messages between a client and the mock server belong to which step of the script.
//!
//! Takes steps and messages in the order of the wire, gives each step its own. Must not know what they should say.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::model::case::{Step, When};
use crate::model::transcript::{Message, Party};

/// As much of a request as tells what it asks for.
#[derive(Deserialize)]
struct Request {
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Params {
    name: Option<String>,
    cursor: Option<IgnoredAny>,
    input_responses: Option<IgnoredAny>,
    request_state: Option<IgnoredAny>,
}

impl Request {
    /// The first request of something, and not a further page or round of it.
    fn first(message: &Message) -> Option<Self> {
        let request: Self = serde_json::from_str(&message.text).ok().filter(|_| message.from == Party::Target)?;
        let Params { cursor, input_responses, request_state, .. } = &request.params;
        let further = [cursor, input_responses, request_state].into_iter().any(Option::is_some);
        (!further).then_some(request)
    }

    fn is_of(&self, step: &Step) -> bool {
        match &step.when {
            When::List => self.method == "tools/list",
            When::Call { tool, .. } => self.method == "tools/call" && self.params.name.as_ref() == Some(tool),
            When::Serve | When::Send { .. } => false,
        }
    }
}

/// The messages of each step, and its time in microseconds.
///
/// A step begins with the first request that asks for what it does. What comes before all of them, the connecting,
/// belongs to the first step, but its time to none. A step without a request has the time from the last message on.
pub(crate) fn split(steps: &[Step], mut messages: Vec<Message>, took: Duration) -> Vec<(Vec<Message>, u64)> {
    let mut until = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let mut parts = Vec::new();
    for (index, begins) in begins(steps, &messages).into_iter().enumerate().rev() {
        let at = begins.map(|place| messages[place].at);
        let since = at.or_else(|| messages.last().map(|last| last.at)).unwrap_or(0);
        let place = if index == 0 { 0 } else { begins.unwrap_or(messages.len()) };
        parts.push((messages.split_off(place), until.saturating_sub(since)));
        until = until.min(since);
    }
    parts.reverse();
    parts
}

/// The message with which each step begins: as many steps as can be told, in the order of the script.
pub(crate) fn begins(steps: &[Step], messages: &[Message]) -> Vec<Option<usize>> {
    let requests: Vec<_> =
        messages.iter().enumerate().filter_map(|(place, message)| Some((place, Request::first(message)?))).collect();
    // A client may list on its own before it calls, and may turn a call down unsent: the longest common order decides.
    let mut most = vec![vec![0; requests.len() + 1]; steps.len() + 1];
    for (i, step) in steps.iter().enumerate().rev() {
        for (j, (_, request)) in requests.iter().enumerate().rev() {
            let with = if request.is_of(step) { 1 + most[i + 1][j + 1] } else { 0 };
            most[i][j] = with.max(most[i + 1][j]).max(most[i][j + 1]);
        }
    }
    let mut begins = vec![None; steps.len()];
    let (mut i, mut j) = (0, 0);
    while let (Some(step), Some((place, request))) = (steps.get(i), requests.get(j)) {
        if request.is_of(step) && most[i][j] == 1 + most[i + 1][j + 1] {
            begins[i] = Some(*place);
            (i, j) = (i + 1, j + 1);
        } else if most[i][j] == most[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    begins
}
