//! The methods of a server: a request in, a result or a fault out.
//!
//! The module takes requests of the correct form, and knows the rules of each revision. It must not know transports.

pub(crate) mod call;
pub(crate) mod effects;
pub(crate) mod elicitation;
pub(crate) mod fixture;
mod headers;
pub(crate) mod http;
mod meeting;
pub(crate) mod method;
mod seal;
pub(crate) mod session;
pub(crate) mod state;
pub(crate) mod stdio;
mod stream;

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::message::{
    CAPABILITIES_KEY, Fault, LOG_LEVEL_KEY, Message, Request, SERVER_KEY, Success, Unread, VERSION_KEY, object, reply,
    success,
};
use crate::policy::{Channel, Event, Policy};
use crate::server::call::Call;
use crate::server::effects::{Notice, severity};
use crate::server::fixture::{Does, Fixture, Tool};
use crate::server::meeting::Meeting;
use crate::server::seal::Seal;
use crate::server::session::{Outlet, Session};

const TTL_MS: i32 = 60_000;

/// A server for one revision.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) fixture: Fixture,
    /// The secret that proves that the server issued a `requestState`.
    pub(crate) seal: Seal,
    /// The memory of an event, which only mutants use.
    memory: AtomicBool,
    meeting: Meeting,
}

/// The client that made a call, and the way to ask it for input.
pub(crate) enum Caller<'a> {
    /// A session, and the stream of the request.
    Stateful(&'a Session, &'a Outlet),
    /// A stateless request, with the capabilities that it declares, and the stream of its notifications. The server can
    /// only ask in its reply.
    Stateless(&'a Value, &'a Outlet),
}

impl Server {
    pub(crate) fn new(fixture: Fixture) -> Self {
        Self { fixture, seal: Seal::new(), memory: AtomicBool::new(false), meeting: Meeting::default() }
    }

    fn policy(&self) -> &'static Policy {
        self.fixture.policy
    }

    /// Remembers an event. This has no effect with a strict policy.
    pub(crate) fn note(&self, event: Event) {
        if self.policy().remembers == Some(event) {
            self.memory.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether an event was remembered. With a strict policy, none is.
    pub(crate) fn recalls(&self, event: Event) -> bool {
        self.policy().remembers == Some(event) && self.memory.load(Ordering::Relaxed)
    }

    /// Checks that no earlier message makes the server refuse this one.
    ///
    /// # Errors
    /// The fault to respond with.
    pub(crate) fn still_answers(&self) -> Result<(), Fault> {
        if self.recalls(Event::Unreadable) {
            return Err(Fault::invalid_request("an earlier message could not be read"));
        }
        if self.recalls(Event::CancelledInVain) {
            return Err(Fault::invalid_request("an earlier message cancelled nothing"));
        }
        Ok(())
    }

    /// Processes a notification in a session.
    pub(crate) fn notice(&self, session: &Session, method: &str, params: Option<&Value>) {
        if method == "notifications/cancelled" && !session.runs(params) {
            self.note(Event::CancelledInVain);
        }
        session.notice(method, params);
    }

    /// Opens a session.
    ///
    /// # Errors
    /// A description of the error in the request.
    pub(crate) fn initialize(&self, request: &Request) -> Result<(Session, Success), Fault> {
        let params = request.params.as_ref().ok_or_else(|| Fault::params("`params` is missing"))?;
        let is_named = |info: &Value| ["name", "version"].iter().all(|key| info.get(key).is_some_and(Value::is_string));
        if !params.get("protocolVersion").is_some_and(Value::is_string) {
            return Err(Fault::params("`protocolVersion` must be a string"));
        }
        if !params.get("clientInfo").is_some_and(is_named) {
            return Err(Fault::params("`clientInfo` must have `name` and `version`"));
        }
        let capabilities = params
            .get("capabilities")
            .filter(|capabilities| capabilities.is_object())
            .ok_or_else(|| Fault::params("`capabilities` must be an object"))?;
        // The server supports only this version, so it ignores the client's request.
        let result = json!({
            "protocolVersion": self.fixture.revision.name(),
            "capabilities": self.capabilities(),
            "serverInfo": self.fixture.server,
        });
        let session = Session::new(capabilities.clone());
        if !self.policy().forms.waits_for_initialized {
            session.notice("notifications/initialized", None);
        }
        Ok((session, success(&result)))
    }

    /// Returns the result of a request in a session.
    ///
    /// # Errors
    /// The fault to respond with.
    pub(crate) async fn answer_in(
        &self,
        session: &Session,
        request: &Request,
        outlet: &Outlet,
    ) -> Result<Success, Fault> {
        match request.method.as_str() {
            "initialize" => Err(Fault::invalid_request("this session is initialized already")),
            "ping" => Ok(success(&json!({}))),
            "tools/list" => self.list(request, session.capabilities()),
            "logging/setLevel" if self.logs() => {
                self.check_level(request.params.as_ref().map_or(&Value::Null, |params| &params["level"]))?;
                Ok(success(&json!({})))
            }
            "tools/call" => self.call(request, Caller::Stateful(session, outlet)).await,
            _ => self.proposed(request, 200, outlet),
        }
    }

    /// Returns the result of a stateless request.
    ///
    /// # Errors
    /// The fault to respond with.
    pub(crate) async fn answer(&self, request: &Request, outlet: &Outlet) -> Result<Success, Fault> {
        let capabilities = self.check_meta(request)?;
        if let Some(level) = request.params.as_ref().and_then(|params| params["_meta"].get(LOG_LEVEL_KEY)) {
            self.check_level(level)?;
        }
        match request.method.as_str() {
            "server/discover" => Ok(self.discover()),
            "tools/list" => self.list(request, capabilities),
            "tools/call" => self.call(request, Caller::Stateless(capabilities, outlet)).await,
            _ => self.proposed(request, 404, outlet),
        }
    }

    async fn call(&self, request: &Request, caller: Caller<'_>) -> Result<Success, Fault> {
        match Call::read(self, request) {
            Ok(call) => call.run(caller).await,
            Err(fault) => {
                let params = request.params.as_ref();
                let has_responses = params.is_some_and(|params| params.get("inputResponses").is_some());
                let errors = &self.policy().errors;
                self.report(if has_responses { errors.malformed_responses } else { errors.malformed }, fault.message)
            }
        }
    }

    /// Returns whether a request calls a tool that waits.
    pub(crate) fn waits(&self, request: &Request) -> bool {
        let name = request.params.as_ref().and_then(|params| params.get("name"));
        let is_called = |tool: &&Tool| name.is_some_and(|name| *name == *tool.name);
        request.method == "tools/call"
            && self.fixture.tools.iter().find(is_called).is_some_and(|tool| matches!(tool.does, Does::Wait(_)))
    }

    /// Reports an error of a call.
    ///
    /// # Errors
    /// The error itself, if it is reported as a JSON-RPC error.
    pub(crate) fn report(&self, channel: Channel, reason: String) -> Result<Success, Fault> {
        match channel {
            Channel::Protocol => return Err(Fault::params(reason)),
            Channel::Request => return Err(Fault { status: 200, ..Fault::invalid_request(reason) }),
            Channel::Tool | Channel::Success => self.note(Event::CallFailed),
        }
        let mut members = vec![("content", success(&json!([{ "type": "text", "text": reason }])))];
        if channel == Channel::Tool {
            members.push(("isError", success(&true)));
        }
        Ok(self.complete(members))
    }

    /// Checks the `_meta` of a stateless request. Returns the client's capabilities.
    pub(crate) fn check_meta<'a>(&self, request: &'a Request) -> Result<&'a Value, Fault> {
        let supported = self.fixture.revision.name();
        if request.method == "initialize" {
            let requested = request.params.as_ref().and_then(|params| params.get("protocolVersion"));
            return Err(Fault::unsupported_version(supported, requested.unwrap_or(&Value::Null)));
        }
        let meta = request.params.as_ref().and_then(|params| params.get("_meta"));
        let policy = &self.policy().requests;
        let lacks = |key: &str| meta.is_none_or(|meta| meta.get(key).is_none());
        if !policy.needs_meta && [VERSION_KEY, CAPABILITIES_KEY].into_iter().any(lacks) {
            return Ok(&Value::Null);
        }
        let meta = meta.and_then(Value::as_object).ok_or_else(|| Fault::envelope("`_meta` must be an object"))?;
        let version = meta
            .get(VERSION_KEY)
            .filter(|version| version.is_string())
            .ok_or_else(|| Fault::envelope(format!("`{VERSION_KEY}` must be a string")))?;
        if version != supported && policy.checks_version {
            return Err(Fault::unsupported_version(supported, version));
        }
        if !(policy.accepts_meta)(meta) {
            return Err(Fault::envelope("the keys of `_meta` are not accepted"));
        }
        meta.get(CAPABILITIES_KEY)
            .filter(|capabilities| capabilities.is_object())
            .ok_or_else(|| Fault::envelope(format!("`{CAPABILITIES_KEY}` must be an object")))
    }

    /// Reads a message, as [`Message::read`] does.
    ///
    /// # Errors
    /// The fault to respond with, and the id of the request.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Message, Unread> {
        let first = self.policy().requests.reads_batches.then(|| first_of_batch(bytes)).flatten();
        let message = Message::read(first.as_deref().unwrap_or(bytes));
        let message = message.map(|message| self.policy().pass_received(message));
        let is_ignored = |id: &Value| !self.policy().requests.answers_invalid && !id.is_null();
        match message {
            Err(unread) if is_ignored(&unread.0) => {
                Ok(Message::Notification { method: "notifications/ignored".to_owned(), params: None })
            }
            message => message.inspect_err(|_| self.note(Event::Unreadable)),
        }
    }

    /// Returns the reply to a request, and its HTTP status.
    pub(crate) fn reply(&self, request: &Request, outcome: &Result<Success, Fault>) -> (u16, String) {
        let status = outcome.as_ref().err().map_or(200, |fault| fault.status);
        self.policy().pass_reply(Some(request), status, reply(&request.id, outcome))
    }

    /// Returns the reply to a message that is refused, and its HTTP status.
    pub(crate) fn refusal(&self, id: &Value, fault: Fault) -> (u16, String) {
        self.policy().pass_reply(None, fault.status, reply(id, &Err(fault)))
    }

    /// Returns the capabilities that the server declares.
    fn capabilities(&self) -> Value {
        let mut own = if self.logs() { json!({ "tools": {}, "logging": {} }) } else { json!({ "tools": {} }) };
        self.fixture.capabilities.iter().for_each(|(name, declared)| own[name] = declared.clone());
        own
    }

    /// Checks the level of log messages that a client asks for, if a tool sends any.
    fn check_level(&self, level: &Value) -> Result<(), Fault> {
        let is_checked = self.logs() && self.policy().requests.checks_log_level;
        if is_checked && severity(level).is_none() {
            return Err(Fault::params("the level must be one of log messages"));
        }
        Ok(())
    }

    /// Returns whether a tool sends log messages.
    fn logs(&self) -> bool {
        self.fixture.tools.iter().any(|tool| matches!(tool.does, Does::Notify(Notice::Log(_))))
    }

    fn discover(&self) -> Success {
        let members = vec![
            ("supportedVersions", success(&[self.fixture.revision.name()])),
            ("capabilities", success(&self.capabilities())),
        ];
        self.complete(self.cacheable(members))
    }

    fn list(&self, request: &Request, capabilities: &Value) -> Result<Success, Fault> {
        self.still_answers()?;
        let cursor = request.params.as_ref().and_then(|params| params.get("cursor"));
        let is_listed = |tool: &&Tool| (self.policy().tools.are_listed)(self, tool, capabilities);
        let tools: Vec<_> = self.fixture.tools.iter().filter(is_listed).map(|tool| &tool.listed).collect();
        let first = || self.fixture.pages.page(&tools, None);
        let page = match cursor {
            Some(cursor) => {
                let page = cursor.as_str().and_then(|cursor| self.fixture.pages.page(&tools, Some(cursor)));
                if self.policy().requests.checks_cursor { page } else { page.or_else(first) }
            }
            None => first(),
        };
        let (tools, next) = page.ok_or_else(|| Fault::params("unknown cursor"))?;
        if self.fixture.is_broken {
            return Err(Fault::params("a tool cannot be listed"));
        }
        let mut tools = tools.to_vec();
        if self.policy().remembers == Some(Event::Listed) && self.memory.fetch_xor(true, Ordering::Relaxed) {
            tools.reverse();
        }
        let mut members = vec![("tools", success(&tools))];
        members.extend(next.map(|cursor| ("nextCursor", success(&cursor))));
        Ok(self.complete(self.cacheable(members)))
    }

    fn cacheable(&self, mut members: Vec<(&'static str, Success)>) -> Vec<(&'static str, Success)> {
        if self.fixture.revision.is_stateless() {
            members.extend([("ttlMs", success(&TTL_MS)), ("cacheScope", success(&"public"))]);
        }
        members
    }

    /// Returns a final result.
    pub(crate) fn complete(&self, members: Vec<(&'static str, Success)>) -> Success {
        self.result("complete", members)
    }

    /// Returns a result with the members that the revision requires of every result.
    pub(crate) fn result(&self, kind: &str, mut members: Vec<(&'static str, Success)>) -> Success {
        if self.fixture.revision.is_stateless() {
            members.insert(0, ("resultType", success(&kind)));
            members.push(("_meta", success(&json!({ SERVER_KEY: self.fixture.server }))));
        }
        object(&members)
    }
}

/// Returns the first message of a batch, for a mutant that accepts batches.
fn first_of_batch(bytes: &[u8]) -> Option<Vec<u8>> {
    let batch: Vec<Value> = serde_json::from_slice(bytes).ok()?;
    batch.first().map(|message| message.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::mpsc;

    use super::*;
    use crate::mutants::policy;
    use crate::revision::Revision;
    use crate::server::fixture::Pages;
    use crate::server::session::Outgoing;

    /// Returns an outlet without a receiver.
    fn outlet() -> Outlet {
        mpsc::unbounded_channel().0
    }

    /// Returns a server with one tool, named `t`.
    fn server(members: &Value, revision: Revision, mutant: &str) -> Server {
        let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "does": { "echo": true } });
        for (key, value) in members.as_object().expect("members of a tool") {
            tool[key] = value.clone();
        }
        let fixture = json!({ "server": { "name": "s", "version": "1" }, "tools": [tool] });
        Server::new(Fixture::build(&fixture.to_string(), revision, policy(mutant)).expect("a sound fixture"))
    }

    fn request(method: &str, mut params: Value, capabilities: &Value) -> Request {
        params["_meta"] = json!({ VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: capabilities });
        Request { id: json!(1), method: method.to_owned(), params: Some(params) }
    }

    /// Makes a stateless call. Returns the result or the error code.
    async fn call(server: &Server, params: Value) -> Result<Value, i32> {
        call_with(server, params, &json!({ "elicitation": {} })).await
    }

    async fn call_with(server: &Server, mut params: Value, capabilities: &Value) -> Result<Value, i32> {
        if params.get("name").is_none() {
            params["name"] = json!("t");
        }
        let outcome = server.answer(&request("tools/call", params, capabilities), &outlet()).await;
        outcome.map(|result| serde_json::from_str(result.get()).expect("a result")).map_err(|fault| fault.code)
    }

    fn returns(value: &Value) -> Value {
        json!({ "return": { "structuredContent": value } })
    }

    fn question() -> Value {
        let schema = json!({ "type": "object", "properties": { "c": { "enum": ["r"], "type": "string" } } });
        json!({ "does": { "elicit": { "message": "?", "requestedSchema": schema } } })
    }

    #[tokio::test]
    async fn arguments_are_validated_as_sent() {
        let input = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let members = json!({ "inputSchema": input });
        let strict = server(&members, Revision::July2026, "");
        let result = call(&strict, json!({ "arguments": { "n": 1, "x": [] } })).await.expect("a result");
        assert_eq!(result["structuredContent"], json!({ "n": 1, "x": [] }));
        for arguments in [json!({ "n": "1" }), json!({ "n": 1.5 }), json!({})] {
            let params = json!({ "arguments": arguments });
            let result = call(&strict, params.clone()).await.expect("a result");
            assert_eq!((&result["isError"], &result["resultType"]), (&json!(true), &json!("complete")));
            assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains('n')), "{result}");
            let protocol_error = server(&members, Revision::July2026, "input-error-as-protocol-error");
            assert_eq!(call(&protocol_error, params.clone()).await, Err(-32602));
            let lax = server(&members, Revision::July2026, "input-not-validated");
            assert_eq!(call(&lax, params).await.expect("a result")["structuredContent"], arguments);
        }
        for arguments in [json!(null), json!([]), json!("{}")] {
            assert_eq!(call(&strict, json!({ "arguments": arguments })).await, Err(-32602));
        }
        assert_eq!(call(&strict, json!({ "name": "T" })).await, Err(-32602));
        assert_eq!(call(&strict, json!({ "name": 1 })).await, Err(-32602));
    }

    #[tokio::test]
    async fn structured_content_of_any_type_is_repeated_as_text() {
        for value in [json!([1]), json!("a"), json!(0), json!(false), json!(null), json!({})] {
            let members = json!({ "outputSchema": { "const": value }, "does": returns(&value) });
            let result = call(&server(&members, Revision::July2026, ""), json!({})).await.expect("a result");
            assert_eq!(result.get("structuredContent"), Some(&value));
            assert_eq!(result["content"], json!([{ "type": "text", "text": value.to_string() }]));
        }
    }

    #[tokio::test]
    async fn older_values_are_sent_as_text_or_in_an_object() {
        let members = json!({ "outputSchema": { "type": "array" }, "does": returns(&json!([1])) });
        for (mutant, structured, text) in [
            ("older-values-as-text", None, "[1]"),
            ("older-values-wrapped", Some(json!({ "result": [1] })), r#"{"result":[1]}"#),
        ] {
            let server = server(&members, Revision::November2025, mutant);
            let session = Session::new(json!({}));
            let answer = async |method: &str| -> Value {
                let params = Some(json!({ "name": "t" }));
                let request = Request { id: json!(1), method: method.to_owned(), params };
                let answer = server.answer_in(&session, &request, &outlet()).await.expect("a result");
                serde_json::from_str(answer.get()).expect("JSON")
            };
            let result = answer("tools/call").await;
            assert_eq!(
                (result.get("structuredContent"), &result["content"][0]["text"]),
                (structured.as_ref(), &json!(text))
            );
            assert_eq!(answer("tools/list").await["tools"][0].get("outputSchema"), None);
        }
    }

    #[test]
    fn pages_have_the_given_cursors_and_different_sizes() {
        let items = [1, 2, 3, 4, 5, 6, 7];
        let pages: Pages = serde_json::from_value(json!({ "size": 3, "cursors": [""] })).expect("pages");
        let page = |cursor| pages.page(&items, cursor).map(|(page, next)| (page.len(), next));
        assert_eq!(page(None), Some((3, Some(String::new()))));
        assert_eq!(page(Some("")), Some((2, Some("page-3".to_owned()))));
        assert_eq!(page(Some("page-3")), Some((2, None)));
        assert_eq!(page(Some("page-2")), None);
        let whole = Pages::default();
        assert_eq!(whole.page(&items, None), Some((items.as_slice(), None)));
        assert_eq!(whole.page(&items, Some("")), None);
    }

    #[tokio::test]
    async fn invalid_output_is_reported_as_an_error() {
        let schema = json!({ "type": "array" });
        for (does, fits) in [
            (returns(&json!([])), true),
            (returns(&json!(null)), false),
            (json!({ "return": {} }), false),
            (json!({ "return": { "isError": true, "content": [{ "type": "text", "text": "no" }] } }), false),
        ] {
            let members = json!({ "outputSchema": schema, "does": does });
            let result = call(&server(&members, Revision::July2026, ""), json!({})).await.expect("a result");
            assert_eq!(result.get("isError").is_none(), fits, "{result}");
            assert_eq!(result.get("structuredContent").is_some(), fits, "{result}");
        }
    }

    #[tokio::test]
    async fn content_of_the_author_is_kept() {
        let content = json!([{ "type": "text", "text": "prose" }]);
        let members = json!({ "does": { "return": { "structuredContent": [1], "content": content } } });
        let result = call(&server(&members, Revision::July2026, ""), json!({})).await.expect("a result");
        assert_eq!(result["content"], content);
    }

    #[tokio::test]
    async fn question_is_repeated_until_it_is_answered() {
        let server = server(&question(), Revision::July2026, "");
        let asked = call(&server, json!({})).await.expect("a result");
        assert_eq!(asked["resultType"], json!("input_required"));
        assert!(asked.get("ttlMs").is_none() && asked["_meta"][SERVER_KEY].is_object(), "{asked}");
        let (key, _) = asked["inputRequests"].as_object().and_then(|requests| requests.iter().next()).expect("one");
        let retry = |state: &Value, responses: Value| json!({ "requestState": state, "inputResponses": responses });
        let state = &asked["requestState"];

        let accepted = json!({ "action": "accept", "content": { "c": "r" } });
        let result = call(&server, retry(state, json!({ key: accepted, "other": 1 }))).await.expect("a result");
        assert_eq!(result["structuredContent"], accepted);
        let again = call(&server, retry(state, json!({ "other": 1 }))).await.expect("a result");
        assert_eq!(again["resultType"], json!("input_required"));
        let stray = call(&server, json!({ "inputResponses": { key: accepted } })).await.expect("a result");
        assert_eq!(stray["resultType"], json!("input_required"));
        for wrong in [json!({ key: { "action": "accept", "content": { "c": "g" } } }), json!({ key: 1 }), json!([])] {
            assert_eq!(call(&server, retry(state, wrong)).await, Err(-32602));
        }
        assert_eq!(call(&server, retry(&json!("forged"), json!({ key: accepted }))).await, Err(-32602));
        let mut other = retry(state, json!({ key: accepted }));
        other["arguments"] = json!({ "other": true });
        assert_eq!(call(&server, other).await, Err(-32602), "a state belongs to one call");
    }

    #[tokio::test]
    async fn client_without_forms_is_not_asked() {
        let server = server(&question(), Revision::July2026, "");
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
            assert_eq!(call_with(&server, json!({}), &capabilities).await, Err(-32021));
        }
    }

    #[tokio::test]
    async fn end_of_session_ends_a_waiting_call() {
        let server = server(&question(), Revision::November2025, "");
        let session = Arc::new(Session::new(json!({ "elicitation": {} })));
        session.notice("notifications/initialized", None);
        let (outlet, mut outgoing) = mpsc::unbounded_channel();
        let request = request("tools/call", json!({ "name": "t" }), &json!({}));
        let ended = session.clone();
        let (outcome, ()) = tokio::join!(server.answer_in(&session, &request, &outlet), async move {
            assert!(matches!(outgoing.recv().await, Some(Outgoing::Message(_))));
            ended.end();
        });
        assert!(outcome.expect("a result").get().contains(r#""isError":true"#));
    }

    #[tokio::test]
    async fn stateless_request_without_required_meta_is_refused() {
        let server = server(&json!({}), Revision::July2026, "");
        let sound = request("tools/list", json!({}), &json!({}));
        let result: Value =
            serde_json::from_str(server.answer(&sound, &outlet()).await.expect("a list").get()).expect("a result");
        assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")));
        assert!(result["ttlMs"].is_u64(), "{result}");
        for (code, key, value) in [
            (-32602, VERSION_KEY, json!(1)),
            (-32602, CAPABILITIES_KEY, json!(null)),
            (-32022, VERSION_KEY, json!("2025-11-25")),
        ] {
            let mut wrong = request("tools/list", json!({}), &json!({}));
            wrong.params.as_mut().expect("parameters")["_meta"][key] = value;
            assert_eq!(server.answer(&wrong, &outlet()).await.expect_err("a fault").code, code);
        }
        let cursor = request("tools/list", json!({ "cursor": "" }), &json!({}));
        assert_eq!(server.answer(&cursor, &outlet()).await.expect_err("a fault").code, -32602);
    }

    #[test]
    fn invalid_tool_is_refused() {
        let build = |tools: Value, revision| {
            let fixture = json!({ "server": { "name": "s", "version": "1" }, "tools": tools });
            Fixture::build(&fixture.to_string(), revision, policy("")).map(drop).map_err(|refused| refused.tool)
        };
        let tool = |name: &str, input: Value| json!({ "name": name, "inputSchema": input, "does": { "echo": true } });
        let object = json!({ "type": "object" });
        for input in [json!(null), json!(true), json!({}), json!({ "type": "array" }), json!({ "type": ["object"] })] {
            assert_eq!(build(json!([tool("t", input)]), Revision::June2025), Err(Some("t".to_owned())));
        }
        for name in ["", "a b", "a/b", &"a".repeat(129)] {
            assert!(build(json!([tool(name, object.clone())]), Revision::July2026).is_err(), "{name}");
        }
        assert!(build(json!([tool("t", object.clone()), tool("t", object.clone())]), Revision::July2026).is_err());
        assert!(build(json!([tool("t", object.clone()), tool("T", object.clone())]), Revision::July2026).is_ok());
        let mut lists = tool("t", object);
        lists["outputSchema"] = json!({ "type": "array" });
        assert!(build(json!([lists]), Revision::November2025).is_err());
        assert!(build(json!([lists]), Revision::July2026).is_ok());
        lists["outputSchema"] = json!(true);
        assert!(build(json!([lists]), Revision::July2026).is_err());
    }
}
