//! How a client connects, and how a request becomes a result, in both lifecycles.
//!
//! Takes a method and its parameters, gives the text of the result; what the server asks meanwhile is answered here.
//! Must not know what methods mean.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::connection::{Connection, Place};
use super::elicit::{Question, User};
use super::failure::Failure;
use super::incoming::{self, Incoming};
use super::{Client, LEAVE, PATIENCE, Tools};
use crate::message::{Success, object, success};
use crate::mutant::Mutant;
use crate::revision::Revision;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
const NAME: &str = "casebook-reference";

type Members = Vec<(&'static str, Success)>;

impl Client {
    /// Connects to a server; in the stateful lifecycle this opens a session.
    pub(super) async fn connect(
        place: &Place,
        revision: Revision,
        capabilities: Value,
        user: User,
        mutant: Option<Mutant>,
    ) -> Result<Self, Failure> {
        let connection = Connection::to(place, mutant)?;
        let tools = Tools::default();
        let mut client = Self {
            connection,
            revision,
            capabilities,
            user,
            mutant,
            tools,
            last_id: 0,
            has_failed: false,
            first_question: None,
        };
        if !revision.is_stateless() {
            client.initialize().await?;
        }
        Ok(client)
    }

    async fn initialize(&mut self) -> Result<(), Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Initialized {
            protocol_version: String,
            #[serde(rename = "capabilities")]
            _capabilities: serde_json::Map<String, Value>,
        }
        self.connection.begin();
        if self.mutant == Some(Mutant::InitializedTooEarly) {
            let _refused = self.tell(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
        let members = vec![
            ("protocolVersion", success(&self.revision.name())),
            ("capabilities", success(&self.declared())),
            ("clientInfo", success(&self.client_info())),
        ];
        let id = self.fresh_id();
        let result = self.exchange(id, "initialize", &object(&members), HeaderMap::new()).await?;
        let result: Initialized =
            incoming::members(&result).map_err(|reason| Failure::protocol(format!("initialize: {reason}")))?;
        let version = result.protocol_version;
        let agreed = Revision::named(&version).filter(|revision| !revision.is_stateless());
        self.revision =
            agreed.ok_or_else(|| Failure::protocol(format!("the version `{version}` is not spoken in a session")))?;
        self.connection.agree_on(self.revision.name());
        if self.mutant != Some(Mutant::InitializedMissing) {
            self.tell(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        }
        self.connection.listen();
        self.greet().await;
        Ok(())
    }

    /// What two mutants ask of a new session, whatever comes of it.
    async fn greet(&mut self) {
        match self.mutant {
            Some(Mutant::UndeclaredResourcesListed) => {
                let id = self.fresh_id();
                let _unknown = self.exchange(id, "resources/list", &success(&json!({})), HeaderMap::new()).await;
            }
            // Over stdio, the reply would be taken for that of the next request.
            Some(Mutant::PingWithNullId) if self.connection.is_http() => {
                let _unread = self.tell(json!({ "jsonrpc": "2.0", "id": null, "method": "ping" })).await;
            }
            _ => {}
        }
    }

    /// Makes a request; one that repeats another, for a further round or page, is told apart by one mutant.
    pub(super) async fn request(
        &mut self,
        method: &'static str,
        members: Members,
        headers: HeaderMap,
        is_repeated: bool,
    ) -> Result<Box<RawValue>, Failure> {
        let id = self.fresh_id();
        self.request_as(id, method, members, headers, is_repeated).await
    }

    /// Makes a request under this id.
    pub(super) async fn request_as(
        &mut self,
        id: u64,
        method: &'static str,
        mut members: Members,
        mut headers: HeaderMap,
        is_repeated: bool,
    ) -> Result<Box<RawValue>, Failure> {
        if !is_repeated {
            self.first_question = None;
        }
        if self.revision.is_stateless() {
            if !(is_repeated && self.mutant == Some(Mutant::MetaMissing)) {
                members.push(("_meta", success(&self.meta())));
            }
            headers.insert("mcp-protocol-version", HeaderValue::from_static(self.revision.name()));
            headers.insert("mcp-method", HeaderValue::from_static(method));
        }
        let params = object(&members);
        match self.exchange(id, method, &params, headers.clone()).await {
            // The server forgot the session, and the client must begin another.
            Err(Failure::SessionLost) => {
                self.initialize().await?;
                let id = self.fresh_id();
                self.exchange(id, method, &params, headers).await
            }
            outcome => outcome,
        }
    }

    pub(super) fn fresh_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// What the server is told of the client's capabilities.
    fn declared(&self) -> Value {
        match (self.mutant, &self.user) {
            (Some(Mutant::ElicitationUndeclared), _) => json!({}),
            (Some(Mutant::ModesAsBooleans), _) if self.capabilities.get("elicitation").is_some() => {
                json!({ "elicitation": { "form": true } })
            }
            (Some(Mutant::ElicitationAlwaysDeclared), User::Nobody) => json!({ "elicitation": { "form": {} } }),
            _ => self.capabilities.clone(),
        }
    }

    fn meta(&self) -> Value {
        let mut meta = json!({
            VERSION_KEY: self.revision.name(),
            CAPABILITIES_KEY: self.declared(),
            CLIENT_KEY: self.client_info(),
        });
        match self.mutant {
            Some(Mutant::MetaPrefixSentMalformed) => meta["com..example/trace"] = json!("1"),
            Some(Mutant::MetaNameSentMalformed) => meta["com.example/_trace"] = json!("1"),
            _ => {}
        }
        meta
    }

    fn client_info(&self) -> Value {
        match self.mutant {
            Some(Mutant::ClientVersionLost) => json!({ "name": NAME }),
            _ => json!({ "name": NAME, "version": env!("CARGO_PKG_VERSION") }),
        }
    }

    async fn exchange(
        &mut self,
        id: u64,
        method: &str,
        params: &RawValue,
        headers: HeaderMap,
    ) -> Result<Box<RawValue>, Failure> {
        let own = match self.mutant {
            Some(Mutant::RequestIdAsFraction) => json!(f64::from(u32::try_from(id).unwrap_or(u32::MAX)) + 0.5),
            _ => json!(id),
        };
        let text = format!(r#"{{"jsonrpc":"2.0","id":{own},"method":"{method}","params":{params}}}"#);
        let work = async {
            self.connection.request(text, headers).await?;
            self.reply(&own).await
        };
        if let Ok(outcome) = tokio::time::timeout(PATIENCE, work).await {
            return outcome;
        }
        self.cancel(id, method).await;
        Err(Failure::Timeout)
    }

    /// Reads up to the reply, and does meanwhile what the server asks for.
    async fn reply(&mut self, id: &Value) -> Result<Box<RawValue>, Failure> {
        loop {
            match self.connection.next().await? {
                Incoming::Reply { id: Some(to), outcome } if to == *id => return outcome,
                // Over HTTP nothing else can be meant; over stdio nothing else is waited for.
                Incoming::Reply { id: None, outcome } => return outcome,
                Incoming::Reply { .. } if self.connection.is_http() => {
                    return Err(Failure::protocol("the reply has the id of another request"));
                }
                // The reply to something that was given up.
                Incoming::Reply { .. } => {}
                Incoming::Notification { method } => {
                    self.tools.are_stale |= method == "notifications/tools/list_changed" && self.tools.listed.is_some();
                }
                Incoming::Request { method, .. } if self.revision.is_stateless() => {
                    return Err(Failure::protocol(format!("a server makes no requests, such as `{method}`")));
                }
                Incoming::Request { id, method, params } => self.answer(&id, &method, params.as_deref()).await?,
            }
        }
    }

    /// Answers a request of the server.
    async fn answer(&mut self, id: &Value, method: &str, params: Option<&RawValue>) -> Result<(), Failure> {
        let outcome = if method == "ping" { Ok(json!({})) } else { self.ask(method, params).await };
        if let Err(Failure::Question { code, reason }) = &outcome
            && self.mutant == Some(Mutant::ErrorIdLostByClient)
        {
            let error = json!({ "code": code, "message": reason });
            self.tell(json!({ "jsonrpc": "2.0", "id": null, "error": error })).await?;
            // The server waits for ever, and so would we.
            return outcome.map(|_| ());
        }
        if outcome.is_ok() && self.mutant == Some(Mutant::AnswerIdStaleByClient) {
            let first = self.first_question.get_or_insert_with(|| id.clone()).clone();
            self.tell(json!({ "jsonrpc": "2.0", "id": first, "result": outcome? })).await?;
            // Nobody waits for that answer, and the call would never end.
            return if first == *id { Ok(()) } else { Err(Failure::protocol("the server asked twice")) };
        }
        self.tell(match outcome {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Failure::Question { code, reason }) if self.mutant == Some(Mutant::ErrorCodeAsTextByClient) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.to_string(), "message": reason } })
            }
            Err(Failure::Question { code, .. }) if self.mutant == Some(Mutant::ErrorMessageLostByClient) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code } })
            }
            Err(Failure::Question { code, reason }) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": reason } })
            }
            Err(failure) => return Err(failure),
        })
        .await
    }

    async fn ask(&mut self, method: &str, params: Option<&RawValue>) -> Result<Value, Failure> {
        let question = Question::read(method, params, self.terms()).await?;
        let reaction = self.react()?;
        question.answer(reaction).await
    }

    pub(super) async fn tell(&mut self, message: Value) -> Result<(), Failure> {
        let told = tokio::time::timeout(PATIENCE, self.connection.tell(message.to_string())).await;
        told.unwrap_or(Err(Failure::Timeout))
    }

    /// Tells the server that nobody waits any more. A stateless one sees that its stream is closed.
    async fn cancel(&mut self, id: u64, method: &str) {
        if method != "initialize" && !self.has_headers() {
            let params = json!({ "requestId": id, "reason": "no reply in time" });
            let text = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string();
            let _nobody_listens = tokio::time::timeout(LEAVE, self.connection.tell(text)).await;
        }
    }
}

/// A header whose value was made safe.
pub(super) fn header(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}
