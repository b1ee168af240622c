//! `tools/call`: from a tool's name to a validated result, in as many rounds as necessary.
//!
//! The module takes a name and arguments and returns the text of the result. It must not know transports.

use std::sync::Arc;

use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Client;
use super::elicit::{Question, Reaction};
use super::failure::Failure;
use super::incoming::members;
use super::session::header;
use crate::message::{Members, Success, object, present, success};
use crate::nesting;
use crate::policy::Policy;
use crate::schema::Schema;

/// The number of times that a server may ask for input in one call.
const ROUNDS: usize = 8;

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

impl Client {
    /// Calls a tool.
    ///
    /// The reason why there is no usable result.
    /// The reason why there is no usable result.
    pub(super) async fn call(&mut self, name: &str, arguments: Option<&RawValue>) -> Result<Success, Failure> {
        if self.has_failed && self.policy.client.failure_is_final {
            return Err(Failure::protocol("an earlier call failed"));
        }
        let schema = self.output_schema(name).await?;
        let result = match self.rounds(name, arguments).await {
            Err(Failure::Refused { message, .. }) if self.policy.client.errors_are_results => {
                return Ok(success(&json!({ "content": [{ "type": "text", "text": message }] })));
            }
            outcome => outcome?,
        };
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

    /// Calls a tool, answers its requests for input and retries, until there is a result.
    async fn rounds(&mut self, name: &str, arguments: Option<&RawValue>) -> Result<Box<RawValue>, Failure> {
        let headers = self.headers(name, arguments);
        let mut id = self.fresh_id();
        let mut added = vec![];
        for round in 0..=ROUNDS {
            let mut members = vec![("name", success(&name))];
            members.extend(arguments.map(|arguments| ("arguments", arguments.to_owned())));
            members.append(&mut added);
            let result = self.request_as(id, "tools/call", members, headers.clone()).await?;
            if !self.is_input_required(&result)? || round > 0 && !self.policy.client.answers_every_round {
                return Ok(result);
            }
            added = self.respond(&result).await?;
            if self.policy.client.retry_has_new_id {
                id = self.fresh_id();
            }
        }
        Err(Failure::protocol(format!("the call takes more than {ROUNDS} rounds")))
    }

    /// Returns the parameters that the next round adds. All questions are read before the user is asked the first one.
    async fn respond(&mut self, result: &RawValue) -> Result<Vec<(&'static str, Success)>, Failure> {
        let wrong = |reason: String| Failure::protocol(format!("an input-required result: {reason}"));
        let InputRequired { input_requests, request_state } = members(result).map_err(wrong)?;
        let mut questions = vec![];
        for (key, request) in input_requests.iter().flat_map(|requests| &requests.0) {
            let request: InputRequest = members(request).map_err(wrong)?;
            questions.push((key, Question::read(&request.method, request.params.as_deref(), self.terms()).await?));
        }
        if questions.is_empty() && request_state.is_none() {
            return Err(wrong("it contains no requests and no state".to_owned()));
        }
        if request_state.as_ref().is_some_and(|state| !state.get().starts_with('"')) {
            return Err(wrong("`requestState` must be a string".to_owned()));
        }
        let mut responses = vec![];
        for (key, question) in questions {
            let reaction = self.react()?;
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
