//! `tools/call`: from a tool's name to a validated result, in as many rounds as necessary.
//!
//! The module takes a name and arguments and returns the text of the result. It must not know transports.

use std::sync::Arc;

use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::elicit::{Question, Reaction};
use super::failure::Failure;
use super::incoming::members;
use super::session::header;
use super::{Client, ToolCall};
use crate::message::{Members, Success, object, present, success};
use crate::nesting;
use crate::policy::Policy;
use crate::schema::Schema;

/// The number of times that a server may ask for input in one call.
const ROUNDS: usize = 8;

/// The code of an error about the headers of a request.
const HEADER_MISMATCH: i64 = -32020;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    input_requests: Option<Members>,
    #[serde(default, deserialize_with = "present")]
    request_state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct InputRequest {
    method: String,
    params: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    content: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Box<RawValue>>,
    is_error: Option<bool>,
}

/// A call that takes one or more requests.
struct Running<'a> {
    name: &'a str,
    arguments: Option<&'a RawValue>,
    schema: Option<Schema>,
    headers: HeaderMap,
    /// The id of the next request.
    id: u64,
    /// The parameters that the last result adds to the next request.
    added: Vec<(&'static str, Success)>,
    rounds: usize,
}

impl Client {
    /// Calls one tool, or several at the same time: each call has one request in turn until all have ended. Returns the
    /// results in the order of the calls, or the reasons why there is no usable result.
    pub(super) async fn call(&mut self, calls: &[ToolCall]) -> Vec<Result<Success, Failure>> {
        let mut running = vec![];
        let mut outcomes: Vec<Option<Result<Success, Failure>>> = vec![];
        for call in calls {
            let (begun, outcome) = match (self.retried.get(&call.name).cloned(), self.begin(call).await) {
                (Some(result), _) => (None, Some(Ok(result))),
                (None, Ok(call)) => (Some(call), None),
                (None, Err(failure)) => (None, Some(Err(failure))),
            };
            running.push(begun);
            outcomes.push(outcome);
        }
        while outcomes.iter().any(Option::is_none) {
            for (place, call) in running.iter_mut().enumerate() {
                let Some(one) = call.as_mut().filter(|_| outcomes[place].is_none()) else { continue };
                outcomes[place] = match self.round(one).await {
                    Ok(None) => None,
                    Ok(Some(result)) => {
                        let outcome = self.finish(one.name, one.schema.take(), result).await;
                        if let (Ok(result), true) =
                            (&outcome, one.rounds > 0 && self.policy.client.caches_retried_results)
                        {
                            self.retried.insert(one.name.to_owned(), result.clone());
                        }
                        Some(outcome)
                    }
                    Err(Failure::Refused { message, .. }) if self.policy.client.errors_are_results => {
                        Some(Ok(success(&json!({ "content": [{ "type": "text", "text": message }] }))))
                    }
                    Err(failure) => Some(Err(failure)),
                };
            }
        }
        outcomes.into_iter().flatten().collect()
    }

    async fn begin<'a>(&mut self, call: &'a ToolCall) -> Result<Running<'a>, Failure> {
        if self.has_failed && self.policy.client.failure_is_final {
            return Err(Failure::protocol("an earlier call failed"));
        }
        let (name, arguments) = (call.name.as_str(), call.arguments.as_deref());
        let schema = self.output_schema(name).await?;
        let kept = self.last_state.clone().filter(|_| self.policy.client.repeats_last_state);
        let added = kept.map(|state| ("requestState", state)).into_iter().collect();
        let headers = self.headers(name, arguments);
        Ok(Running { name, arguments, schema, headers, id: self.fresh_id(), added, rounds: 0 })
    }

    /// Validates the last result of a call.
    async fn finish(&mut self, name: &str, schema: Option<Schema>, result: Box<RawValue>) -> Result<Success, Failure> {
        let no_result = |reason| Failure::protocol(format!("tools/call: {reason}"));
        let read: CallResult = members(&result).map_err(no_result)?;
        if read.content.as_ref().is_some_and(|content| !content.get().starts_with('[')) {
            return Err(no_result("`content` must be a list".to_owned()));
        }
        self.has_failed |= read.is_error == Some(true);
        let checked = self.check(name, schema, read, result).await?;
        let lost = self.policy.client.lost_member.and_then(|member| without(member, &checked).ok());
        Ok(lost.unwrap_or(checked))
    }

    /// Returns the output schema of a tool, or `None` if it has none or was not listed.
    async fn output_schema(&mut self, name: &str) -> Result<Option<Schema>, Failure> {
        let policy = self.policy;
        let unusable = |reason| Failure::Unusable { tool: name.to_owned(), reason };
        let tools = self.tools.listed.as_deref_mut().unwrap_or_default();
        let place = tools.iter().position(|tool| tool.name.as_deref() == Some(name));
        let Some(mut place) = place else {
            let is_refused = policy.client.refuses_unlisted;
            return if is_refused { Err(unusable("it is not in the list".to_owned())) } else { Ok(None) };
        };
        if policy.schemas.are_shared_by_id
            && let Some(id) = tools[place].output_id()
        {
            place = tools.iter().position(|tool| tool.output_id().as_ref() == Some(&id)).unwrap_or(place);
        }
        tools[place].output_schema(policy).await.map_err(unusable)
    }

    /// Sends the next request of a call. Returns the result, or `None` if the user has answered its request for input
    /// and the call goes on.
    async fn round(&mut self, call: &mut Running<'_>) -> Result<Option<Box<RawValue>>, Failure> {
        let mut members = vec![("name", success(&call.name))];
        members.extend(call.arguments.map(|arguments| ("arguments", arguments.to_owned())));
        members.append(&mut call.added);
        if call.rounds > 0
            && self.policy.client.shares_state
            && let Some(state) = &self.last_state
        {
            members.retain(|(name, _)| *name != "requestState");
            members.push(("requestState", state.clone()));
        }
        let outcome = self.request_as(call.id, "tools/call", members.clone(), call.headers.clone()).await;
        let result = match outcome {
            // The schema of the tool may have changed, and with it the headers of the call.
            Err(Failure::Refused { code: HEADER_MISMATCH, .. })
                if self.has_headers() && self.policy.client.repeats_after_mismatch =>
            {
                self.list().await?;
                call.headers = self.headers(call.name, call.arguments);
                let id = self.fresh_id();
                self.request_as(id, "tools/call", members, call.headers.clone()).await?
            }
            outcome => outcome?,
        };
        if !self.is_input_required(&result)? || call.rounds > 0 && !self.policy.client.answers_every_round {
            return Ok(Some(result));
        }
        call.added = self.respond(&result).await?;
        let state = call.added.iter().find(|(name, _)| *name == "requestState");
        if self.last_state.is_none() || !self.policy.client.keeps_first_state {
            self.last_state = state.map(|(_, state)| state.clone());
        }
        if self.policy.client.retry_has_new_id {
            call.id = self.fresh_id();
        }
        call.rounds += 1;
        if call.rounds > ROUNDS {
            return Err(Failure::protocol(format!("the call takes more than {ROUNDS} rounds")));
        }
        Ok(None)
    }

    /// Returns the parameters that the next round adds. All questions are read before the user is asked the first one.
    async fn respond(&mut self, result: &RawValue) -> Result<Vec<(&'static str, Success)>, Failure> {
        let wrong = |reason: String| Failure::protocol(format!("an input-required result: {reason}"));
        let InputRequired { input_requests, request_state } = members(result).map_err(wrong)?;
        let (mut questions, mut invented) = (vec![], vec![]);
        for (key, request) in input_requests.iter().flat_map(|requests| &requests.0) {
            let request: InputRequest = members(request).map_err(wrong)?;
            if self.policy.user.invents_inputs && request.method != "elicitation/create" {
                invented.push((key, success(&json!({ "role": "assistant" }))));
                continue;
            }
            questions.push((key, Question::read(&request.method, request.params.as_deref(), self.terms()).await?));
        }
        if questions.is_empty() && invented.is_empty() && request_state.is_none() {
            return Err(wrong("it contains no requests and no state".to_owned()));
        }
        if request_state.as_ref().is_some_and(|state| !state.get().starts_with('"')) {
            return Err(wrong("`requestState` must be a string".to_owned()));
        }
        let mut responses = invented;
        for (key, question) in questions {
            let reaction = match self.react() {
                Err(_) if self.policy.client.retries_unanswered => continue,
                reaction => reaction?,
            };
            let answer = question.answer(reaction).await?;
            if self.policy.client.answers_are_also_responses {
                let response = json!({ "jsonrpc": "2.0", "id": key, "result": answer });
                let _ignored = self.send_message(response.to_string()).await;
            }
            responses.push((key, success(&answer)));
        }
        let mut added = vec![];
        if !responses.is_empty() {
            added.push(("inputResponses", object(&responses)));
        }
        // The state is returned byte for byte.
        added.extend(request_state.map(|state| ("requestState", state)));
        Ok(added)
    }

    /// Returns the user's next reaction.
    pub(super) fn react(&mut self) -> Result<Reaction, Failure> {
        match self.user.react() {
            Err(_) if self.policy.user.answers_undeclared_modes => Ok(Reaction::Accept(serde_json::Map::new())),
            reaction => reaction,
        }
    }

    /// Returns the HTTP headers that repeat parts of a call.
    fn headers(&self, name: &str, arguments: Option<&RawValue>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !self.has_headers() {
            return headers;
        }
        let policy = &self.policy.client;
        header(&mut headers, "mcp-name", &(policy.name_header)(name));
        let tools = self.tools.listed.iter().flatten();
        let tool = tools.into_iter().find(|tool| tool.name.as_deref() == Some(name));
        let arguments: Option<Value> = arguments.and_then(|arguments| nesting::read(arguments.get().as_bytes()).ok());
        for parameter in tool.and_then(|tool| tool.parameters.as_ref().ok()).into_iter().flatten() {
            for (name, value) in (policy.parameter_headers)(parameter, arguments.as_ref()) {
                header(&mut headers, &name, &value);
            }
        }
        headers
    }

    /// Validates a result against the output schema of its tool.
    async fn check(
        &self,
        tool: &str,
        schema: Option<Schema>,
        read: CallResult,
        result: Box<RawValue>,
    ) -> Result<Success, Failure> {
        let output = |reason: String| Failure::Output { tool: tool.to_owned(), reason };
        let Policy { output: policy, client, .. } = self.policy;
        if read.is_error.is_none() && client.needs_is_error {
            return Err(output("`isError` is missing".to_owned()));
        }
        if !are_taken_at_reserved_keys(&result, client.takes_at_reserved_keys) {
            return Err(output("a reserved key of `_meta` has another value than it must have".to_owned()));
        }
        if read.is_error == Some(true) && !policy.is_checked_after_failure {
            return Ok(result);
        }
        let structured = read.structured_content.as_deref().filter(|value| !policy.absent.contains(&value.get()));
        let Some(value) = structured else {
            return match schema {
                Some(_) if policy.is_required => Err(output("there is no structured content".to_owned())),
                _ => Ok(result),
            };
        };
        if !self.revision.has_any_output() && !value.get().starts_with('{') {
            return without_structured(&read, &result).map_err(output);
        }
        if schema.is_none() && client.needs_output_schema {
            return Err(output("it has no outputSchema".to_owned()));
        }
        if let Some(schema) = schema.filter(|_| policy.is_checked) {
            let value: Value = nesting::read(value.get().as_bytes()).map_err(|error| output(error.to_string()))?;
            schema.check(&Arc::new(value)).await.map_err(output)?;
        }
        Ok(result)
    }
}

/// Removes structured content that is not an object, for revisions that only allow objects. The text stands in for it.
fn without_structured(read: &CallResult, result: &RawValue) -> Result<Success, String> {
    let blocks = read.content.as_ref().and_then(|content| nesting::read::<Vec<Value>>(content.get().as_bytes()).ok());
    if !blocks.iter().flatten().any(|block| block.get("type").and_then(Value::as_str) == Some("text")) {
        return Err(
            "structured content must be an object in this revision, and there is no text in its place".to_owned()
        );
    }
    without("structuredContent", result)
}

fn without(lost: &str, result: &RawValue) -> Result<Success, String> {
    let members: Members = members(result)?;
    Ok(object(&members.0.into_iter().filter(|(key, _)| key != lost).collect::<Vec<_>>()))
}

/// Returns whether each key in the `_meta` of a result with the reserved prefix `dev.mcp/` has a text.
fn are_taken_at_reserved_keys(result: &RawValue, is_taken: fn(&Value) -> bool) -> bool {
    let result: Value = nesting::read(result.get().as_bytes()).unwrap_or_default();
    let meta = result.get("_meta").and_then(Value::as_object).into_iter().flatten();
    meta.filter(|(key, _)| key.starts_with("dev.mcp/")).all(|(_, value)| is_taken(value))
}
