//! `tools/call`: from the parameters to the result.
//!
//! Takes a request, checks the arguments, does what the tool does, checks what it returned. Must not know transports.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::distort;
use crate::message::{Fault, Request, Success, success};
use crate::mutant::Mutant;
use crate::server::elicitation::Form;
use crate::server::fixture::{Does, Returned, Tool};
use crate::server::{Caller, Server};

/// The key under which the one form of a call is asked for.
const QUESTION: &str = "answer";

/// A call whose parameters are well formed.
pub(crate) struct Call<'a> {
    server: &'a Server,
    name: &'a str,
    arguments: Arc<Value>,
    params: &'a Map<String, Value>,
}

/// How a tool's code ends.
enum Ending {
    /// It returned something.
    Returned(Returned),
    /// It failed, or was never run, for this reason.
    Failed(String),
    /// It waits for an answer, and the client is to call again.
    Waiting(Success),
}

impl<'a> Call<'a> {
    /// Reads the parameters.
    ///
    /// # Errors
    /// What is malformed.
    pub(crate) fn read(server: &'a Server, request: &'a Request) -> Result<Self, Fault> {
        let params = request.params.as_ref().and_then(Value::as_object);
        let params = params.ok_or_else(|| Fault::params("`params` is missing"))?;
        let name = params.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| Fault::params("`name` must be a string"))?;
        let arguments = match params.get("arguments") {
            None if server.fixture.mutant == Some(Mutant::ArgumentsRequired) => {
                return Err(Fault::params("`arguments` is missing"));
            }
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
    /// The fault to answer with.
    pub(crate) async fn run(mut self, caller: Caller<'_>) -> Result<Success, Fault> {
        let mutant = self.server.fixture.mutant;
        if mutant == Some(Mutant::SleepsOneSecond) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let is_meant = |tool: &&Tool| match mutant {
            Some(Mutant::NamesFolded) => tool.name.eq_ignore_ascii_case(self.name),
            _ => tool.name == self.name,
        };
        self.server.still_answers()?;
        let Some(tool) = self.server.fixture.tools.iter().find(is_meant) else {
            let message = format!("unknown tool: {}", self.name);
            return match mutant {
                Some(Mutant::UnknownToolAsToolError) => Ok(self.failed(&message)),
                Some(Mutant::UnknownToolCodeWrong) => Err(Fault::unknown_method(200, self.name)),
                _ => Err(Fault::params(message)),
            };
        };
        if self.server.ever(Mutant::FailureIsSticky, false) {
            return Ok(self.failed("an earlier call failed"));
        }
        match distort::received(&self.arguments, tool.input.value(), mutant) {
            Ok(arguments) => self.arguments = Arc::new(arguments),
            Err(reason) => return Ok(self.failed(&reason)),
        }
        if mutant != Some(Mutant::InputNotValidated)
            && let Err(reason) = tool.input.check(&self.arguments).await
        {
            let message = format!("the arguments do not fit the tool's inputSchema: {reason}");
            return match mutant {
                Some(Mutant::InputErrorAsProtocolError) => Err(Fault::params(message)),
                _ => Ok(self.failed(&message)),
            };
        }
        self.arguments = Arc::new(distort::handed_over(&self.arguments, tool.input.value(), mutant));
        match self.work(tool, caller).await? {
            Ending::Failed(reason) => match mutant {
                Some(Mutant::FailureAsProtocolError) => Err(Fault::params(reason)),
                Some(Mutant::FailureAsSuccess) => {
                    Ok(self.finished(vec![json!({ "type": "text", "text": reason })], None, false))
                }
                _ => Ok(self.failed(&reason)),
            },
            Ending::Waiting(result) => Ok(result),
            Ending::Returned(returned) => {
                let is_error = returned.is_error;
                match self.checked(tool, returned).await {
                    Ok(result) => Ok(result),
                    Err(reason) if is_error => Err(Fault::params(reason)),
                    Err(reason) => Ok(self.failed(&reason)),
                }
            }
        }
    }

    async fn work(&self, tool: &Tool, caller: Caller<'_>) -> Result<Ending, Fault> {
        let structured = |value| Ending::Returned(Returned { structured_content: Some(value), ..Returned::default() });
        if self.params.contains_key("requestState")
            && matches!(caller, Caller::Stateless(_))
            && !matches!(tool.does, Does::Elicit(_))
        {
            return Err(Fault::params("this tool never gave out a `requestState`"));
        }
        if self.server.fixture.mutant == Some(Mutant::ExtraResponsesRefused) && self.has_extra_responses(tool) {
            return Err(Fault::params("`inputResponses` holds an answer that nobody asked for"));
        }
        Ok(match (&tool.does, caller) {
            (Does::Echo, _) => structured(Value::clone(&self.arguments)),
            (Does::Return(returned), _) => Ending::Returned(returned.clone()),
            (Does::Raise(message), _) => {
                self.server.remember(Mutant::FailureIsSticky);
                Ending::Failed(message.clone())
            }
            (Does::Elicit(form), Caller::Stateful(session, outlet)) => {
                if !self.may_ask(form, session.capabilities()) {
                    if self.server.fixture.mutant == Some(Mutant::VisitRequired) {
                        return Err(Fault::visit_required());
                    }
                    return Ok(Ending::Failed("the client can't show a form".to_owned()));
                }
                let answer = match session.ask(outlet, "elicitation/create", &form.params).await {
                    Ok(answer) => form.read_answer(&answer).await,
                    Err(reason) if self.server.fixture.mutant == Some(Mutant::ClientErrorUnforeseen) => {
                        panic!("nobody thought of this: {reason}")
                    }
                    Err(reason) => Err(reason),
                };
                answer.map_or_else(Ending::Failed, structured)
            }
            (Does::Elicit(form), Caller::Stateless(capabilities)) => {
                if !self.may_ask(form, capabilities) {
                    return Err(Fault::missing_capability(&json!({ "elicitation": { "form": {} } })));
                }
                match self.retried(form).await? {
                    Some(answer) => structured(answer),
                    None => Ending::Waiting(self.question(form)),
                }
            }
        })
    }

    fn has_extra_responses(&self, tool: &Tool) -> bool {
        let asks = matches!(tool.does, Does::Elicit(_));
        let responses = self.params.get("inputResponses").and_then(Value::as_object);
        responses.is_some_and(|responses| responses.keys().any(|key| !asks || key != QUESTION))
    }

    fn may_ask(&self, form: &Form, capabilities: &Value) -> bool {
        let may = form.may_be_shown_to(capabilities);
        if may {
            self.server.remember(Mutant::CapabilitiesRemembered);
        }
        self.server.ever(Mutant::CapabilitiesRemembered, may)
            || self.server.fixture.mutant == Some(Mutant::CapabilityNotChecked)
    }

    /// What seals a question: it fits this call and no other.
    fn state(&self) -> String {
        match self.server.fixture.mutant {
            Some(Mutant::StateUnbound) => self.server.seal.of(&[self.name]),
            _ => self.server.seal.of(&[self.name, &self.arguments.to_string()]),
        }
    }

    fn question(&self, form: &Form) -> Success {
        let mutant = self.server.fixture.mutant;
        let method =
            if mutant == Some(Mutant::QuestionOfUnknownKind) { "elicitation/ask" } else { "elicitation/create" };
        let request = json!({ "method": method, "params": form.params });
        let state = match mutant {
            Some(Mutant::StateOfOtherArguments) if self.arguments.get("amount").is_some() => self.server.seal.of(&[]),
            _ => self.state(),
        };
        let mut members =
            vec![("inputRequests", success(&json!({ QUESTION: request }))), ("requestState", success(&state))];
        match mutant {
            Some(Mutant::QuestionEmpty) => members.clear(),
            Some(Mutant::QuestionsCached) => members.push(("ttlMs", success(&60_000))),
            _ => {}
        }
        self.server.result("input_required", members)
    }

    /// The answer that a retry brings; `None` where it brings none.
    async fn retried(&self, form: &Form) -> Result<Option<Value>, Fault> {
        let mutant = self.server.fixture.mutant;
        let responses = self.params.get("inputResponses");
        if mutant == Some(Mutant::MissingResponsesRefused) && responses.is_some_and(|all| all.get(QUESTION).is_none()) {
            return Err(Fault::params("the answer is missing"));
        }
        let Some(state) = self.params.get("requestState") else { return Ok(None) };
        if *state != self.state() && mutant != Some(Mutant::StateNotVerified) {
            return Err(Fault::params("`requestState` was not given out for this call"));
        }
        let Some(answer) = responses.and_then(|responses| responses.get(QUESTION)) else { return Ok(None) };
        assert!(
            mutant != Some(Mutant::DeclineUnforeseen) || answer["action"] == json!("accept"),
            "nobody thought of this: {answer}"
        );
        form.read_answer(answer).await.map(Some).map_err(|reason| Fault::params(format!("`{QUESTION}`: {reason}")))
    }

    /// The result for what a tool returned.
    async fn checked(&self, tool: &Tool, mut returned: Returned) -> Result<Success, String> {
        let fixture = &self.server.fixture;
        if fixture.mutant == Some(Mutant::NullTakenForAbsent) {
            returned.structured_content = returned.structured_content.filter(|value| !value.is_null());
        }
        let structured = returned.structured_content.map(Arc::new);
        if let Some(value) = &structured
            && !fixture.has_any_output()
            && !value.is_object()
        {
            return Err(format!("structured content must be an object in {}", fixture.revision.name()));
        }
        match (&tool.output, &structured) {
            _ if returned.is_error && fixture.mutant != Some(Mutant::ErrorResultValidatedByServer) => {}
            (Some(_), Some(_)) if fixture.mutant == Some(Mutant::OutputNotValidated) => {}
            (Some(schema), Some(value)) => schema
                .check(value)
                .await
                .map_err(|reason| format!("the tool's output does not fit its outputSchema: {reason}"))?,
            (Some(_), None) if fixture.mutant != Some(Mutant::MissingStructuredAccepted) => {
                return Err("the tool has an outputSchema, but returned no structured content".to_owned());
            }
            _ => {}
        }
        let structured = structured.map(|value| self.sent(Arc::unwrap_or_clone(value)));
        Ok(self.finished(returned.content.unwrap_or_default(), structured.as_ref(), returned.is_error))
    }

    /// Structured content as it goes out.
    fn sent(&self, value: Value) -> Value {
        match value {
            Value::Array(_) if self.server.fixture.mutant == Some(Mutant::ArrayWrappedInResult) => {
                json!({ "result": value })
            }
            value => value,
        }
    }

    fn finished(&self, mut content: Vec<Value>, structured: Option<&Value>, is_error: bool) -> Success {
        let mutant = self.server.fixture.mutant;
        if let Some(value) = structured
            && content.is_empty()
            && !is_error
            && mutant != Some(Mutant::TextNotMirrored)
        {
            content.push(json!({ "type": "text", "text": value.to_string() }));
        }
        if mutant == Some(Mutant::BlocksMerged) {
            content = distort::merged(content);
        }
        let mut members = vec![("content", success(&content))];
        let is_falsy = |value: &Value| *value == json!(0) || [json!(false), json!(""), json!(null)].contains(value);
        if let Some(value) = structured
            && mutant != Some(Mutant::StructuredLost)
            && !(mutant == Some(Mutant::FalsyStructuredDropped) && is_falsy(value))
        {
            members.push(("structuredContent", success(value)));
        }
        if is_error {
            members.push(("isError", success(&true)));
        }
        self.server.complete(members)
    }

    fn failed(&self, reason: &str) -> Success {
        self.server.failed(reason)
    }
}
