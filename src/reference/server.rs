//! The methods: a request in, a result or a fault out.
//!
//! Takes requests whose shape is sound, and knows what each revision asks of them. Must not know transports.

pub(crate) mod call;
pub(crate) mod elicitation;
mod events;
pub(crate) mod fixture;
mod headers;
pub(crate) mod http;
mod seal;
pub(crate) mod session;
pub(crate) mod stdio;

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::distort;
use crate::message::{Fault, Message, Request, Success, Unread, object, reply, success};
use crate::mutant::Mutant;
use crate::server::call::Call;
use crate::server::fixture::{Does, Fixture, Tool};
use crate::server::seal::Seal;
use crate::server::session::{Outlet, Session};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
const OWN_PREFIX: &str = "io.modelcontextprotocol/";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";
const TTL_MS: i32 = 60_000;
const NOTHING: &Value = &Value::Null;

/// A server that speaks one revision.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) fixture: Fixture,
    /// What makes a `requestState` our own.
    pub(crate) seal: Seal,
    /// What only mutants remember from one call to the next.
    memory: AtomicBool,
}

/// Whom a call is made for, and how to reach them.
pub(crate) enum Caller<'a> {
    /// By a session, and the stream of the request.
    Stateful(&'a Session, &'a Outlet),
    /// By nothing but the reply; what the client can do is said in the request.
    Stateless(&'a Value),
}

impl Server {
    pub(crate) fn new(fixture: Fixture) -> Self {
        Self { fixture, seal: Seal::new(), memory: AtomicBool::new(false) }
    }

    /// Remembers, if this mutant does, whether something has ever been so.
    pub(crate) fn ever(&self, mutant: Mutant, is_so: bool) -> bool {
        let does = self.fixture.mutant == Some(mutant);
        is_so || (does && self.memory.load(Ordering::Relaxed))
    }

    /// Takes note for that.
    pub(crate) fn remember(&self, mutant: Mutant) {
        if self.fixture.mutant == Some(mutant) {
            self.memory.store(true, Ordering::Relaxed);
        }
    }

    /// What no message before may change.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) fn still_answers(&self) -> Result<(), Fault> {
        if self.ever(Mutant::GarbageIsFatal, false) {
            return Err(Fault::invalid_request("an earlier message could not be read"));
        }
        Ok(())
    }

    /// Opens a session.
    ///
    /// # Errors
    /// What is wrong with the request.
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
        // Whatever the client wished for: this is the one version spoken here.
        let version = match self.fixture.mutant {
            Some(Mutant::AnyVersionAgreed) => params["protocolVersion"].clone(),
            Some(Mutant::EarlierVersionOffered) if *capabilities == json!({}) => json!("2025-03-26"),
            _ => json!(self.fixture.revision.name()),
        };
        let mut result = json!({ "protocolVersion": version, "capabilities": self.capabilities() });
        if self.fixture.mutant != Some(Mutant::ServerInfoLost) {
            result["serverInfo"] = self.fixture.server.clone();
        }
        let session = Session::new(capabilities.clone());
        if self.fixture.mutant == Some(Mutant::AsksTooEarly) {
            session.notice("notifications/initialized", None);
        }
        Ok((session, success(&result)))
    }

    /// Answers a request of a session.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) async fn answer_in(
        &self,
        session: &Session,
        request: &Request,
        outlet: &Outlet,
    ) -> Result<Success, Fault> {
        match request.method.as_str() {
            "initialize" => Err(Fault::invalid_request("this session is initialized already")),
            "ping" if self.fixture.mutant != Some(Mutant::PingUnknown) => Ok(success(&json!({}))),
            "tools/list" => self.list(request, session.capabilities()),
            "tools/call" => self.call(request, Caller::Stateful(session, outlet)).await,
            method => Err(self.unknown_method(200, method)),
        }
    }

    /// Answers a request that stands by itself.
    ///
    /// # Errors
    /// The fault to answer with.
    pub(crate) async fn answer(&self, request: &Request) -> Result<Success, Fault> {
        let capabilities = self.check_meta(request)?;
        match request.method.as_str() {
            "server/discover" if self.fixture.mutant != Some(Mutant::DiscoverMissing) => Ok(self.discover()),
            "tools/list" => self.list(request, capabilities),
            "tools/call" => self.call(request, Caller::Stateless(capabilities)).await,
            method => Err(self.unknown_method(404, method)),
        }
    }

    async fn call(&self, request: &Request, caller: Caller<'_>) -> Result<Success, Fault> {
        match Call::read(self, request) {
            Ok(call) => call.run(caller).await,
            Err(fault) => {
                let has_responses =
                    request.params.as_ref().is_some_and(|params| params.get("inputResponses").is_some());
                match self.fixture.mutant {
                    Some(Mutant::MalformedAsToolError) if !has_responses => Ok(self.failed(&fault.message)),
                    Some(Mutant::MalformedResponsesAsToolError) if has_responses => Ok(self.failed(&fault.message)),
                    _ => Err(fault),
                }
            }
        }
    }

    /// The result of a tool that failed, in these words.
    pub(crate) fn failed(&self, reason: &str) -> Success {
        self.remember(Mutant::ListBySideEffect);
        let content = json!([{ "type": "text", "text": reason }]);
        self.complete(vec![("content", success(&content)), ("isError", success(&true))])
    }

    fn unknown_method(&self, status: u16, method: &str) -> Fault {
        match self.fixture.mutant {
            Some(Mutant::UnknownMethodCodeWrong) => Fault::invalid_request(format!("unknown method: {method}")),
            Some(Mutant::UnknownMethodFound) => Fault::unknown_method(200, method),
            Some(mutant) if method.starts_with("resources/") => match mutant {
                Mutant::ReservedCode => Fault::reserved(status, -32050, method),
                Mutant::DefinedCodeMisused => Fault::reserved(status, -32021, method),
                Mutant::RetiredCode => Fault::reserved(status, -32002, method),
                _ => Fault::unknown_method(status, method),
            },
            _ => Fault::unknown_method(status, method),
        }
    }

    /// Checks what every stateless request carries; gives the client's capabilities.
    pub(crate) fn check_meta<'a>(&self, request: &'a Request) -> Result<&'a Value, Fault> {
        let supported = self.fixture.revision.name();
        if request.method == "initialize" {
            let requested = request.params.as_ref().and_then(|params| params.get("protocolVersion"));
            if self.fixture.mutant == Some(Mutant::InitializeUnexplained) {
                return Err(Fault::unknown_method(404, "initialize"));
            }
            return Err(Fault::unsupported_version(supported, requested.unwrap_or(&Value::Null)));
        }
        let meta = request.params.as_ref().and_then(|params| params.get("_meta"));
        let is_there = |key: &str| meta.is_some_and(|meta| meta.get(key).is_some());
        if self.fixture.mutant == Some(Mutant::MetaNotRequired)
            && !(is_there(VERSION_KEY) && is_there(CAPABILITIES_KEY))
        {
            return Ok(NOTHING);
        }
        let wrong = |message: String| match self.fixture.mutant {
            Some(Mutant::MetaMissingFound) => Fault::params(message),
            _ => Fault::envelope(message),
        };
        let meta = meta.and_then(Value::as_object).ok_or_else(|| wrong("`_meta` must be an object".to_owned()))?;
        let version = meta
            .get(VERSION_KEY)
            .filter(|version| version.is_string())
            .ok_or_else(|| wrong(format!("`{VERSION_KEY}` must be a string")))?;
        if version != supported && self.fixture.mutant != Some(Mutant::VersionNotChecked) {
            return Err(Fault::unsupported_version(supported, version));
        }
        match self.fixture.mutant {
            Some(Mutant::ClientInfoRequired) if !meta.contains_key(CLIENT_KEY) => {
                return Err(wrong(format!("`{CLIENT_KEY}` is missing")));
            }
            Some(Mutant::UnknownMetaRefused) if !meta.keys().all(|key| key.starts_with(OWN_PREFIX)) => {
                return Err(wrong("`_meta` has a key that is unknown".to_owned()));
            }
            _ => {}
        }
        meta.get(CAPABILITIES_KEY)
            .filter(|capabilities| capabilities.is_object())
            .filter(|all| self.fixture.mutant != Some(Mutant::UnknownCapabilityRefused) || are_known(all))
            .ok_or_else(|| wrong(format!("`{CAPABILITIES_KEY}` must be an object")))
    }

    /// What a server declares.
    fn capabilities(&self) -> Value {
        match self.fixture.mutant {
            Some(Mutant::ToolsUndeclared) => json!({}),
            _ => json!({ "tools": {} }),
        }
    }

    /// Reads a message, as [`Message::read`] does.
    ///
    /// # Errors
    /// The fault to answer with, and the id to answer to.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<Message, Unread> {
        let outcome = match self.fixture.mutant {
            Some(Mutant::BatchAccepted) => Message::read(distort::first_of_batch(bytes).as_deref().unwrap_or(bytes)),
            _ => Message::read(bytes),
        };
        outcome.map_err(|mut unread| {
            self.remember(Mutant::GarbageIsFatal);
            if self.fixture.mutant == Some(Mutant::ParseErrorCodeWrong) && unread.1.code == -32700 {
                unread.1.code = -32600;
            }
            unread
        })
    }

    /// The reply to a request.
    pub(crate) fn reply(&self, id: &Value, outcome: &Result<Success, Fault>) -> String {
        distort::replied(reply(id, outcome), self.fixture.mutant)
    }

    fn discover(&self) -> Success {
        if self.fixture.mutant == Some(Mutant::DiscoverAsks) {
            return self.result("input_required", vec![("requestState", success(&"again"))]);
        }
        let members = vec![
            ("supportedVersions", success(&[self.fixture.revision.name()])),
            ("capabilities", success(&self.capabilities())),
        ];
        self.complete(self.cacheable(members))
    }

    fn list(&self, request: &Request, capabilities: &Value) -> Result<Success, Fault> {
        self.still_answers()?;
        let cursor = request.params.as_ref().and_then(|params| params.get("cursor"));
        if cursor.is_some() && self.fixture.mutant != Some(Mutant::CursorIgnored) {
            // There is one page, so no cursor was ever given out.
            return Err(Fault::params("unknown cursor"));
        }
        if self.fixture.is_broken {
            return Err(Fault::params("a tool can't be listed"));
        }
        if self.fixture.mutant == Some(Mutant::EmptyListRefused) && self.fixture.tools.is_empty() {
            return Err(Fault::params("there are no tools"));
        }
        let has_form = capabilities.get("elicitation").is_some();
        let is_shown = |tool: &&Tool| match self.fixture.mutant {
            Some(Mutant::ListByCapability) => has_form || !matches!(tool.does, Does::Elicit(_)),
            Some(Mutant::ListBySideEffect) => {
                !(self.ever(Mutant::ListBySideEffect, false) && matches!(tool.does, Does::Raise(_)))
            }
            _ => true,
        };
        let mut tools: Vec<_> = self.fixture.tools.iter().filter(is_shown).map(|tool| &tool.listed).collect();
        if self.fixture.mutant == Some(Mutant::ListShuffled) && self.memory.fetch_xor(true, Ordering::Relaxed) {
            tools.reverse();
        }
        Ok(self.complete(self.cacheable(vec![("tools", success(&tools))])))
    }

    fn cacheable(&self, mut members: Vec<(&'static str, Success)>) -> Vec<(&'static str, Success)> {
        if self.fixture.revision.is_stateless() && self.fixture.mutant != Some(Mutant::CacheHintsLost) {
            let ttl = if self.fixture.mutant == Some(Mutant::TtlNegative) { -1 } else { TTL_MS };
            let scope = if self.fixture.mutant == Some(Mutant::CacheScopeUnknown) { "shared" } else { "public" };
            members.extend([("ttlMs", success(&ttl)), ("cacheScope", success(&scope))]);
        }
        members
    }

    /// A final result.
    pub(crate) fn complete(&self, members: Vec<(&'static str, Success)>) -> Success {
        self.result("complete", members)
    }

    /// A result, with what this revision adds to every one.
    pub(crate) fn result(&self, kind: &str, mut members: Vec<(&'static str, Success)>) -> Success {
        if self.fixture.revision.is_stateless() {
            if self.fixture.mutant != Some(Mutant::ResultTypeLost) {
                members.insert(0, ("resultType", success(&kind)));
            }
            if self.fixture.mutant != Some(Mutant::ServerInfoLost) {
                let mut meta = json!({ SERVER_KEY: self.fixture.server });
                match self.fixture.mutant {
                    Some(Mutant::MetaPrefixMalformed) => meta["com..example/trace"] = json!("1"),
                    Some(Mutant::MetaNameMalformed) => meta["com.example/_trace"] = json!("1"),
                    _ => {}
                }
                members.push(("_meta", success(&meta)));
            }
        } else if self.fixture.mutant == Some(Mutant::ResultTypeBefore2026) {
            members.insert(0, ("resultType", success(&kind)));
        }
        object(&members)
    }
}

fn are_known(capabilities: &Value) -> bool {
    const KNOWN: [&str; 5] = ["elicitation", "experimental", "extensions", "roots", "sampling"];
    capabilities.as_object().is_none_or(|members| members.keys().all(|key| KNOWN.contains(&key.as_str())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::mpsc;

    use super::*;
    use crate::revision::Revision;
    use crate::server::session::Outgoing;

    /// A server with one tool, called `t`.
    fn server(members: &Value, revision: Revision, mutant: Option<Mutant>) -> Server {
        let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "does": { "echo": true } });
        for (key, value) in members.as_object().expect("members of a tool") {
            tool[key] = value.clone();
        }
        let fixture = json!({ "server": { "name": "s", "version": "1" }, "tools": [tool] });
        Server::new(Fixture::build(&fixture.to_string(), revision, mutant).expect("a sound fixture"))
    }

    fn request(method: &str, mut params: Value, capabilities: &Value) -> Request {
        params["_meta"] = json!({ VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: capabilities });
        Request { id: json!(1), method: method.to_owned(), params: Some(params) }
    }

    /// A stateless call: the result, or the code.
    async fn call(server: &Server, params: Value) -> Result<Value, i32> {
        call_with(server, params, &json!({ "elicitation": {} })).await
    }

    async fn call_with(server: &Server, mut params: Value, capabilities: &Value) -> Result<Value, i32> {
        if params.get("name").is_none() {
            params["name"] = json!("t");
        }
        let outcome = server.answer(&request("tools/call", params, capabilities)).await;
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
    async fn arguments_are_judged_as_sent() {
        let input = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let members = json!({ "inputSchema": input });
        let strict = server(&members, Revision::July2026, None);
        let result = call(&strict, json!({ "arguments": { "n": 1, "x": [] } })).await.expect("a result");
        assert_eq!(result["structuredContent"], json!({ "n": 1, "x": [] }));
        for arguments in [json!({ "n": "1" }), json!({ "n": 1.5 }), json!({})] {
            let params = json!({ "arguments": arguments });
            let result = call(&strict, params.clone()).await.expect("a result");
            assert_eq!((&result["isError"], &result["resultType"]), (&json!(true), &json!("complete")));
            assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains('n')), "{result}");
            let protocol_error = server(&members, Revision::July2026, Some(Mutant::InputErrorAsProtocolError));
            assert_eq!(call(&protocol_error, params.clone()).await, Err(-32602));
            let lax = server(&members, Revision::July2026, Some(Mutant::InputNotValidated));
            assert_eq!(call(&lax, params).await.expect("a result")["structuredContent"], arguments);
        }
        for arguments in [json!(null), json!([]), json!("{}")] {
            assert_eq!(call(&strict, json!({ "arguments": arguments })).await, Err(-32602));
        }
        assert_eq!(call(&strict, json!({ "name": "T" })).await, Err(-32602));
        assert_eq!(call(&strict, json!({ "name": 1 })).await, Err(-32602));
    }

    #[tokio::test]
    async fn any_value_is_structured_content_and_has_its_text() {
        for value in [json!([1]), json!("a"), json!(0), json!(false), json!(null), json!({})] {
            let members = json!({ "outputSchema": { "const": value }, "does": returns(&value) });
            let result = call(&server(&members, Revision::July2026, None), json!({})).await.expect("a result");
            assert_eq!(result.get("structuredContent"), Some(&value));
            assert_eq!(result["content"], json!([{ "type": "text", "text": value.to_string() }]));
        }
    }

    #[tokio::test]
    async fn output_that_does_not_fit_is_no_success() {
        let schema = json!({ "type": "array" });
        for (does, fits) in [
            (returns(&json!([])), true),
            (returns(&json!(null)), false),
            (json!({ "return": {} }), false),
            (json!({ "return": { "isError": true, "content": [{ "type": "text", "text": "no" }] } }), false),
        ] {
            let members = json!({ "outputSchema": schema, "does": does });
            let result = call(&server(&members, Revision::July2026, None), json!({})).await.expect("a result");
            assert_eq!(result.get("isError").is_none(), fits, "{result}");
            assert_eq!(result.get("structuredContent").is_some(), fits, "{result}");
        }
    }

    #[tokio::test]
    async fn an_author_s_content_is_kept() {
        let content = json!([{ "type": "text", "text": "prose" }]);
        let members = json!({ "does": { "return": { "structuredContent": [1], "content": content } } });
        let result = call(&server(&members, Revision::July2026, None), json!({})).await.expect("a result");
        assert_eq!(result["content"], content);
    }

    #[tokio::test]
    async fn a_question_is_asked_until_it_is_answered() {
        let server = server(&question(), Revision::July2026, None);
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
    async fn who_can_t_show_a_form_is_not_asked() {
        let server = server(&question(), Revision::July2026, None);
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
            assert_eq!(call_with(&server, json!({}), &capabilities).await, Err(-32021));
        }
    }

    #[tokio::test]
    async fn a_session_ends_a_call_that_waits_for_an_answer() {
        let server = server(&question(), Revision::November2025, None);
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
    async fn every_stateless_request_says_what_it_must() {
        let server = server(&json!({}), Revision::July2026, None);
        let sound = request("tools/list", json!({}), &json!({}));
        let result: Value = serde_json::from_str(server.answer(&sound).await.expect("a list").get()).expect("a result");
        assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")));
        assert!(result["ttlMs"].is_u64(), "{result}");
        for (code, key, value) in [
            (-32602, VERSION_KEY, json!(1)),
            (-32602, CAPABILITIES_KEY, json!(null)),
            (-32022, VERSION_KEY, json!("2025-11-25")),
        ] {
            let mut wrong = request("tools/list", json!({}), &json!({}));
            wrong.params.as_mut().expect("parameters")["_meta"][key] = value;
            assert_eq!(server.answer(&wrong).await.expect_err("a fault").code, code);
        }
        let cursor = request("tools/list", json!({ "cursor": "" }), &json!({}));
        assert_eq!(server.answer(&cursor).await.expect_err("a fault").code, -32602);
    }

    #[test]
    fn what_is_no_tool_is_not_served() {
        let build = |tools: Value, revision| {
            let fixture = json!({ "server": { "name": "s", "version": "1" }, "tools": tools });
            Fixture::build(&fixture.to_string(), revision, None).map(drop).map_err(|refused| refused.tool)
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
