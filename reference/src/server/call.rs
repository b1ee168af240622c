//! `tools/call`: from the parameters to the result.
//!
//! The module takes a request, validates the arguments, runs the tool and validates its result. It must not know
//! transports.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::message::{Fault, Request, Success, success};
use crate::policy::{Channel, Event, OlderValues, Policy};
use crate::server::elicitation::Form;
use crate::server::fixture::{Does, Returned, Tool};
use crate::server::state::{self, State};
use crate::server::{Caller, Server};

/// The key of the form in an input-required result. A call asks for one form only.
const QUESTION: &str = "answer";

/// The reason why a client is not asked.
pub(crate) const NO_FORMS: &str = "the client does not support forms";

/// A call whose parameters are well formed.
pub(crate) struct Call<'a> {
    server: &'a Server,
    name: &'a str,
    arguments: Arc<Value>,
    params: &'a Map<String, Value>,
}

/// The outcome of running a tool.
enum ToolOutcome {
    /// The tool returned a result.
    Returned(Returned),
    /// The tool failed or was not run, for this reason.
    Failed(String),
    /// The tool waits for an answer, and the client must retry the call.
    Waiting(Success),
}

impl<'a> Call<'a> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// The fault for a malformed call.
    pub(crate) fn read(server: &'a Server, request: &'a Request) -> Result<Self, Fault> {
        let params = request.params.as_ref().and_then(Value::as_object);
        let params = params.ok_or_else(|| Fault::params("`params` is missing"))?;
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| Fault::params("`name` must be a string"))?;
        let arguments = match params.get("arguments") {
            None => json!({}),
            Some(arguments @ Value::Object(_)) => arguments.clone(),
            Some(_) => return Err(Fault::params("`arguments` must be an object")),
        };
        if server.fixture.revision.is_stateless() {
            if params.get("inputResponses").is_some_and(|responses| !responses.is_object()) {
                return Err(Fault::params("`inputResponses` must be an object"));
            }
            if params.get("requestState").is_some_and(|state| !state.is_string()) {
                return Err(Fault::params("`requestState` must be a string"));
            }
        }
        Ok(Self { server, name, arguments: Arc::new(arguments), params })
    }

    /// Makes the call.
    ///
    /// # Errors
    /// The fault to respond with.
    pub(crate) async fn run(mut self, caller: Caller<'_>) -> Result<Success, Fault> {
        let Policy { requests, errors, .. } = self.policy();
        if !requests.delay.is_zero() {
            tokio::time::sleep(requests.delay).await;
        }
        self.server.still_answers()?;
        let is_called = |tool: &&Tool| (requests.same_name)(&tool.name, self.name);
        let Some(tool) = self.server.fixture.tools.iter().find(is_called) else {
            self.server.note(Event::UnknownToolCalled);
            return self.server.report(errors.unknown_tool, format!("unknown tool: {}", self.name));
        };
        if self.server.recalls(Event::ToolFailed) {
            return self.server.report(Channel::Tool, "an earlier call failed".to_owned());
        }
        let schema = &tool.input;
        (requests.before_check)(Arc::make_mut(&mut self.arguments), schema.value());
        if requests.checks_arguments
            && let Err(reason) = schema.check(&self.arguments).await
        {
            let message = format!("the arguments are invalid against the tool's inputSchema: {reason}");
            return self.server.report(errors.arguments, message);
        }
        (requests.after_check)(Arc::make_mut(&mut self.arguments), schema.value());
        if tool.is_typed {
            fill_in_defaults(Arc::make_mut(&mut self.arguments), schema.value());
        }
        match self.work(tool, caller).await? {
            ToolOutcome::Failed(reason) => self.server.report(errors.failure, reason),
            ToolOutcome::Waiting(result) => Ok(result),
            ToolOutcome::Returned(returned) => {
                let is_error = returned.is_error;
                match self.checked(tool, returned).await {
                    Ok(result) => Ok(result),
                    Err(reason) if is_error => Err(Fault::params(reason)),
                    Err(reason) => self.server.report(errors.output, reason),
                }
            }
        }
    }

    async fn work(&self, tool: &Tool, caller: Caller<'_>) -> Result<ToolOutcome, Fault> {
        let structured =
            |value| ToolOutcome::Returned(Returned { structured_content: Some(value), ..Returned::default() });
        if self.params.contains_key("requestState")
            && matches!(caller, Caller::Stateless(..))
            && !matches!(tool.does, Does::Elicit(..))
        {
            return Err(Fault::params("this tool never issues a `requestState`"));
        }
        Ok(match (&tool.does, caller) {
            (Does::Echo, _) => structured(Value::clone(&self.arguments)),
            (Does::Return(returned), _) => ToolOutcome::Returned(returned.clone()),
            (Does::Raise(message), _) => {
                self.server.note(Event::ToolFailed);
                ToolOutcome::Failed(message.clone())
            }
            (Does::Wait(wait), _) => {
                wait.run(self.policy().requests.works_on).await;
                ToolOutcome::Failed("the call was not cancelled".to_owned())
            }
            (Does::Notify(notice), Caller::Stateful(_, outlet) | Caller::Stateless(_, outlet)) => {
                let policy = &self.policy().requests;
                notice.send(&self.params.clone().into(), self.server.fixture.revision, policy, outlet);
                structured(Value::clone(&self.arguments))
            }
            (Does::Elicit(form, _), Caller::Stateful(session, outlet)) => {
                if !self.may_ask(form, session.capabilities()) {
                    return Ok(ToolOutcome::Failed(NO_FORMS.to_owned()));
                }
                let answer = match session.ask(outlet, self.policy().requests.question_id, &form.params).await {
                    Ok(answer) => form.read_answer(&answer).await,
                    Err(reason) => {
                        (self.policy().forms.on_client_error)(&reason);
                        Err(reason)
                    }
                };
                answer.map_or_else(ToolOutcome::Failed, structured)
            }
            (Does::Elicit(form, state), Caller::Stateless(capabilities, _)) => {
                if !self.may_ask(form, capabilities) {
                    return Err(Fault::missing_capability(&json!({ "elicitation": { form.mode(): {} } })));
                }
                match self.retried(form, state.as_ref()).await? {
                    Some(answer) => structured(answer),
                    None => ToolOutcome::Waiting(self.question(form, state.as_ref())),
                }
            }
        })
    }

    fn policy(&self) -> &'static Policy {
        self.server.fixture.policy
    }

    fn may_ask(&self, form: &Form, capabilities: &Value) -> bool {
        let may = form.may_be_shown_to(capabilities);
        if may {
            self.server.note(Event::FormAllowed);
        }
        may || self.server.recalls(Event::FormAllowed) || !self.policy().forms.needs_capability
    }

    /// Returns the `requestState` of this call, which is valid for no other call.
    fn state(&self) -> String {
        let covered = self.policy().requests.state_covers_call;
        if covered { self.server.seal.of(&[self.name, &self.arguments.to_string()]) } else { self.server.seal.of(&[]) }
    }

    fn question(&self, form: &Form, state: Option<&State>) -> Success {
        let text = self.state();
        let text = state.map_or_else(|| text.clone(), |state| state.issue(&self.server.seal, &text));
        let request = json!({ "method": "elicitation/create", "params": form.params });
        let questions = success(&json!({ QUESTION: request }));
        let members = vec![("inputRequests", questions), ("requestState", success(&text))];
        self.server.result("input_required", members)
    }

    /// Returns the answer in a retry, or `None` if it has none.
    async fn retried(&self, form: &Form, state: Option<&State>) -> Result<Option<Value>, Fault> {
        let responses = self.params.get("inputResponses");
        let Some(text) = self.params.get("requestState").and_then(Value::as_str) else { return Ok(None) };
        let policy = &self.policy().requests;
        let mut value = None;
        if state.is_some() {
            value = Some(state::read(text, &self.server.seal, &self.state(), policy).map_err(Fault::params)?);
        } else if text != self.state() && policy.checks_state {
            return Err(Fault::params("`requestState` was not issued for this call"));
        }
        let Some(answer) = responses.and_then(|responses| responses.get(QUESTION)) else { return Ok(None) };
        (self.policy().forms.on_answer)(answer);
        let mut answer =
            form.read_answer(answer).await.map_err(|reason| Fault::params(format!("`{QUESTION}`: {reason}")))?;
        if let Some(value) = value {
            answer["state"] = json!(value);
        }
        Ok(Some(answer))
    }

    /// Validates the value that a tool returned, and builds the result.
    async fn checked(&self, tool: &Tool, mut returned: Returned) -> Result<Success, String> {
        let policy = &self.policy().output;
        let is_content =
            |value: &Value| policy.absent.is_empty() || !policy.absent.contains(&value.to_string().as_str());
        returned.structured_content = returned.structured_content.filter(is_content);
        let structured = returned.structured_content.map(Arc::new);
        let fixture = &self.server.fixture;
        if let Some(value) = &structured
            && self.is_older(value)
            && policy.older_values == OlderValues::Refused
        {
            return Err(format!("structured content must be an object in {}", fixture.revision.name()));
        }
        if let Some(schema) = &tool.output
            && (!returned.is_error || policy.is_checked_after_failure)
        {
            match &structured {
                Some(value) if policy.is_checked => schema
                    .check(value)
                    .await
                    .map_err(|reason| format!("the tool's output is invalid against its outputSchema: {reason}"))?,
                None if policy.is_required => {
                    return Err("the tool has an outputSchema, but returned no structured content".to_owned());
                }
                _ => {}
            }
        }
        Ok(self.finished(returned.content.unwrap_or_default(), structured.as_deref(), returned.is_error))
    }

    /// Returns whether the revision has no structured content of this type.
    fn is_older(&self, value: &Value) -> bool {
        !value.is_object() && !self.server.fixture.has_any_output()
    }

    fn finished(&self, mut content: Vec<Value>, structured: Option<&Value>, is_error: bool) -> Success {
        let policy = &self.policy().output;
        let is_wrapped = |value: &&Value| {
            policy.wraps_lists && value.is_array()
                || policy.older_values == OlderValues::Wrapped && self.is_older(value)
        };
        let wrapped = structured.filter(is_wrapped).map(|value| json!({ "result": value }));
        let structured = wrapped.as_ref().or(structured);
        if let Some(value) = structured
            && content.is_empty()
            && !is_error
            && policy.is_mirrored_as_text
        {
            content.push(json!({ "type": "text", "text": value.to_string() }));
        }
        let mut members = vec![("content", success(&content))];
        let structured = structured.filter(|value| !self.is_older(value));
        members.extend(structured.map(|value| ("structuredContent", success(value))));
        if is_error {
            members.push(("isError", success(&true)));
        }
        self.server.complete(members)
    }
}

/// Gives each argument that is missing the default of its parameter.
fn fill_in_defaults(arguments: &mut Value, schema: &Value) {
    let (Some(arguments), Some(properties)) = (arguments.as_object_mut(), schema["properties"].as_object()) else {
        return;
    };
    for (name, property) in properties {
        if let Some(default) = property.get("default").filter(|_| !arguments.contains_key(name)) {
            arguments.insert(name.clone(), default.clone());
        }
    }
}
