//! `tools/call`: from a tool's name to a result that was checked, through as many rounds as it takes.
//!
//! Takes a name and arguments, gives the text of the result. Must not know transports.

use std::sync::Arc;

use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Client;
use super::elicit::{Question, Reaction};
use super::failure::Failure;
use super::incoming::{members, present};
use super::session::header;
use crate::message::{Success, object, success};
use crate::mutant::Mutant;
use crate::nesting;
use crate::parameters::{Parameter, written};
use crate::schema::Schema;
use crate::server::fixture::Members;

/// How often a server may ask before it gives a result.
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
    /// # Errors
    /// Why there is no result that could be used.
    pub(super) async fn call(&mut self, name: &str, arguments: Option<&RawValue>) -> Result<Success, Failure> {
        if self.has_failed && self.mutant == Some(Mutant::FailureIsStickyInClient) {
            return Err(Failure::protocol("an earlier call failed"));
        }
        let schema = self.judge(name).await?;
        let result = match self.rounds(name, arguments).await {
            Err(Failure::Refused { message, .. }) if self.mutant == Some(Mutant::ProtocolErrorAsSuccess) => {
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
        Ok(match self.mutant {
            Some(Mutant::IsErrorLost) => without("isError", &checked).unwrap_or(checked),
            Some(Mutant::StructuredLostByClient) => without("structuredContent", &checked).unwrap_or(checked),
            _ => checked,
        })
    }

    /// What results must fit; nothing where that was never said, or is not known yet.
    async fn judge(&mut self, name: &str) -> Result<Option<Schema>, Failure> {
        let mutant = self.mutant;
        let tools = self.tools.listed.as_deref_mut().unwrap_or_default();
        let Some(mut place) = tools.iter().position(|tool| tool.name.as_deref() == Some(name)) else {
            return match mutant {
                Some(Mutant::UnlistedToolRefused) => {
                    Err(Failure::Unusable { tool: name.to_owned(), reason: "it is not in the list".to_owned() })
                }
                _ => Ok(None),
            };
        };
        if mutant == Some(Mutant::FirstIdWinsInClient)
            && let Some(id) = tools[place].output_id()
        {
            place = tools.iter().position(|tool| tool.output_id().as_ref() == Some(&id)).unwrap_or(place);
        }
        let tool = &mut tools[place];
        tool.judge(mutant).await.map_err(|reason| Failure::Unusable { tool: name.to_owned(), reason })
    }

    /// Calls, answers, and calls again, until there is a result.
    async fn rounds(&mut self, name: &str, arguments: Option<&RawValue>) -> Result<Box<RawValue>, Failure> {
        let headers = self.headers(name, arguments);
        let mut id = self.fresh_id();
        let mut added = vec![];
        for round in 0..=ROUNDS {
            let mut members = vec![("name", success(&name))];
            let arguments = arguments.filter(|_| round == 0 || self.mutant != Some(Mutant::RetryArgumentsLost));
            members.extend(arguments.map(|arguments| ("arguments", arguments.to_owned())));
            members.append(&mut added);
            let result = self.request_as(id, "tools/call", members, headers.clone(), round > 0).await?;
            if !self.is_input_required(&result)? || round > 0 && self.mutant == Some(Mutant::SecondRoundLost) {
                return Ok(result);
            }
            added = self.respond(&result).await?;
            if self.mutant != Some(Mutant::IdReusedOnRetry) {
                id = self.fresh_id();
            }
        }
        Err(Failure::protocol(format!("a call takes more than {ROUNDS} rounds")))
    }

    /// What the next round adds to the parameters. Nobody is asked anything before all questions were read.
    async fn respond(&mut self, result: &RawValue) -> Result<Vec<(&'static str, Success)>, Failure> {
        let wrong = |reason: String| Failure::protocol(format!("an input-required result: {reason}"));
        let InputRequired { input_requests, request_state } = members(result).map_err(wrong)?;
        let mut questions = vec![];
        for (key, request) in input_requests.iter().flat_map(|requests| &requests.0) {
            let request: InputRequest = members(request).map_err(wrong)?;
            questions.push((key, Question::read(&request.method, request.params.as_deref(), self.terms()).await?));
        }
        if questions.is_empty() && request_state.is_none() {
            return Err(wrong("it asks for nothing".to_owned()));
        }
        if request_state.as_ref().is_some_and(|state| !state.get().starts_with('"')) {
            return Err(wrong("`requestState` must be a string".to_owned()));
        }
        let mut responses = vec![];
        for (key, question) in questions {
            let reaction = self.react()?;
            let answer = question.answer(reaction).await?;
            if self.mutant == Some(Mutant::AnswersSentAsResponses) {
                let _nobody_asked = self.tell(json!({ "jsonrpc": "2.0", "id": key, "result": answer })).await;
            }
            responses.push((key, success(&answer)));
        }
        if self.mutant == Some(Mutant::AnswersWrapped) && responses.len() > 1 {
            for (_, answer) in &mut responses {
                *answer = object(&[("result", answer.clone())]);
            }
        }
        let mut added = vec![];
        if !responses.is_empty() {
            added.push(("inputResponses", object(&responses)));
        }
        added.extend(self.returned(request_state).map(|state| ("requestState", state)));
        Ok(added)
    }

    /// A state as it goes back: byte for byte, but for three mutants.
    fn returned(&self, state: Option<Box<RawValue>>) -> Option<Success> {
        match (self.mutant, state) {
            (Some(Mutant::StateDropped), _) => None,
            (Some(Mutant::StateInvented), None) => Some(success(&Value::Null)),
            (Some(Mutant::StateReencoded), Some(state)) => {
                let text: String = serde_json::from_str(state.get()).ok()?;
                let value = nesting::read::<Value>(text.as_bytes()).ok();
                Some(success(&value.map_or(text, |value| value.to_string())))
            }
            (_, state) => state,
        }
    }

    /// The user's next reaction.
    pub(super) fn react(&mut self) -> Result<Reaction, Failure> {
        match self.user.react() {
            Err(_) if self.mutant == Some(Mutant::UndeclaredModeAnswered) => {
                Ok(Reaction::Accept(serde_json::Map::new()))
            }
            reaction => reaction,
        }
    }

    /// What a call repeats in HTTP headers.
    fn headers(&self, name: &str, arguments: Option<&RawValue>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !self.has_headers() {
            return headers;
        }
        let encoded = written(&json!(name)).filter(|_| self.mutant != Some(Mutant::NameHeaderNotEncoded));
        header(&mut headers, "mcp-name", encoded.as_deref().unwrap_or(name));
        let tools = self.tools.listed.iter().flatten();
        let tool = tools.into_iter().find(|tool| tool.name.as_deref() == Some(name));
        let arguments: Option<Value> = arguments.and_then(|arguments| nesting::read(arguments.get().as_bytes()).ok());
        for parameter in tool.and_then(|tool| tool.parameters.as_ref().ok()).into_iter().flatten() {
            self.repeat(parameter, arguments.as_ref(), &mut headers);
        }
        headers
    }

    /// Repeats an argument in its header.
    fn repeat(&self, parameter: &Parameter, arguments: Option<&Value>, headers: &mut HeaderMap) {
        let value = match self.mutant {
            Some(Mutant::ParameterHeadersMissing) => return,
            Some(Mutant::ParameterPathIgnored) => parameter.namesake(arguments),
            _ => parameter.value(arguments),
        };
        match (self.mutant, value) {
            (Some(Mutant::NullParameterSent), None) if parameter.is_null(arguments) => {
                header(headers, &parameter.header, "null");
            }
            (Some(Mutant::ParameterBooleansCapitalized), Some(Value::Bool(value))) => {
                header(headers, &parameter.header, if *value { "True" } else { "False" });
            }
            (Some(Mutant::ParameterHeadersRaw), Some(Value::String(text))) => raw(headers, &parameter.header, text),
            (_, value) => {
                if let Some(value) = value.and_then(written) {
                    header(headers, &parameter.header, &value);
                }
            }
        }
    }

    /// Checks a result by what the tool promised.
    async fn check(
        &self,
        tool: &str,
        schema: Option<Schema>,
        read: CallResult,
        result: Box<RawValue>,
    ) -> Result<Success, Failure> {
        let output = |reason: String| Failure::Output { tool: tool.to_owned(), reason };
        if read.is_error.is_none() && self.mutant == Some(Mutant::IsErrorRequired) {
            return Err(output("`isError` is missing".to_owned()));
        }
        if read.is_error == Some(true) && self.mutant != Some(Mutant::ErrorResultValidated) {
            return Ok(result);
        }
        let is_falsy = |value: &RawValue| matches!(value.get(), "0" | "false" | "\"\"" | "null");
        let structured = match (&read.structured_content, self.mutant) {
            (Some(value), Some(Mutant::FalsyStructuredTakenForMissing)) if is_falsy(value) => None,
            (value, _) => value.as_deref(),
        };
        let Some(value) = structured else {
            return match schema {
                Some(_) if self.mutant != Some(Mutant::MissingStructuredAcceptedByClient) => {
                    Err(output("there is no structured content".to_owned()))
                }
                _ => Ok(result),
            };
        };
        if !self.revision.has_any_output() && !value.get().starts_with('{') {
            return without_structured(&read, &result).map_err(output);
        }
        if schema.is_none() && self.mutant == Some(Mutant::SchemaRequired) {
            return Err(output("it has no outputSchema, so that nothing is expected".to_owned()));
        }
        if let Some(schema) = schema
            && self.mutant != Some(Mutant::OutputNotValidatedByClient)
        {
            let value: Value = nesting::read(value.get().as_bytes()).map_err(|error| output(error.to_string()))?;
            schema.check(&Arc::new(value)).await.map_err(output)?;
        }
        Ok(result)
    }
}

/// What a text comes to that is written between other headers as it is: each of its lines may be one more.
fn raw(headers: &mut HeaderMap, name: &str, text: &str) {
    let mut lines = text.lines();
    header(headers, name, lines.next().unwrap_or_default());
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        header(headers, name, value);
    }
}

/// A result as a revision knows it whose structured content is an object: the user falls back to the text.
fn without_structured(read: &CallResult, result: &RawValue) -> Result<Success, String> {
    let blocks = read.content.as_ref().and_then(|content| nesting::read::<Vec<Value>>(content.get().as_bytes()).ok());
    if !blocks.iter().flatten().any(|block| block.get("type").and_then(Value::as_str) == Some("text")) {
        return Err("structured content is an object in this revision, and no text stands in for it".to_owned());
    }
    without("structuredContent", result)
}

fn without(lost: &str, result: &RawValue) -> Result<Success, String> {
    let members: Members = members(result)?;
    Ok(object(&members.0.into_iter().filter(|(key, _)| key != lost).collect::<Vec<_>>()))
}
