//! Assignment of the messages between a client and the mock server to the steps of the script.
//!
//! Takes steps, and messages in their order, gives the messages of each step. Must not know the expected messages.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::model::case::{Step, When};
use crate::model::transcript::{Message, Party};

/// The part of a request that identifies its purpose.
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
    /// Returns the purpose of a request, unless it is a further page or round of an earlier one.
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

/// Returns the messages of each step and its duration in microseconds.
///
/// A step begins with the first request for its purpose. The messages before all steps, which open the connection,
/// belong to the first step, but their time to none. A step without a request has the time since the last message.
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

/// Returns the index of the message with which each step begins, if there is one, in the order of the script.
pub(crate) fn begins(steps: &[Step], messages: &[Message]) -> Vec<Option<usize>> {
    let requests: Vec<_> =
        messages.iter().enumerate().filter_map(|(place, message)| Some((place, Request::first(message)?))).collect();
    // A client may list tools on its own before a call, and may reject a call without sending it: the longest common
    // subsequence decides.
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
