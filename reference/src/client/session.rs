//! The lifecycle of a client's connection, and the exchange of requests and results, with and without sessions.
//!
//! The module takes a method and its parameters and returns the text of the result. It also responds to requests that
//! the server sends in the meantime. It must not know the meaning of methods.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::connection::{Connection, ServerAddress};
use super::elicit::{Question, User};
use super::failure::Failure;
use super::incoming::{self, Incoming};
use super::{Client, LEAVE, STEP, Tools};
use crate::edits::Hook;
use crate::message::{CAPABILITIES_KEY, CLIENT_KEY, Success, VERSION_KEY, object, success};
use crate::policy::Policy;
use crate::revision::Revision;

/// The time limit of the request that determines the revision of a server.
const PROBE: Duration = Duration::from_secs(1);
/// The notification that ends a handshake.
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const NAME: &str = "casebook-reference";

type Members<'a> = Vec<(&'a str, Success)>;

impl Client {
    /// Connects to a server. In the stateful lifecycle, this opens a session.
    pub(super) async fn connect(
        address: &ServerAddress,
        revision: Revision,
        capabilities: Value,
        user: User,
        patience: Duration,
        policy: &'static Policy,
    ) -> Result<Self, Failure> {
        let connection = Connection::to(address, policy)?;
        let tools = Tools::default();
        let mut client = Self {
            connection,
            revision,
            capabilities,
            user,
            patience,
            policy,
            tools,
            last_id: 0,
            has_failed: false,
            first_question: None,
            last_state: None,
            retried: HashMap::new(),
        };
        if !revision.is_stateless() {
            client.initialize().await?;
        } else if policy.client.discovers {
            let _unread = client.request("server/discover", vec![]).await;
        }
        Ok(client)
    }

    /// Determines whether a server speaks the newest revision, and otherwise begins a session.
    pub(super) async fn negotiate(&mut self, is_asked: bool) -> Result<(), Failure> {
        if !is_asked || !self.revision.is_stateless() {
            return Ok(());
        }
        if !self.policy.client.probes {
            self.revision = Revision::November2025;
            return self.initialize().await;
        }
        let probe = tokio::time::timeout(PROBE, self.request("server/discover", vec![])).await;
        match probe.unwrap_or(Err(Failure::Timeout)) {
            Ok(_) => {
                if let Some(message) = self.policy.client.after_probe {
                    let _refused = self.send_message(message.to_owned()).await;
                }
                Ok(())
            }
            // These errors are those of a newer server.
            Err(Failure::Refused { code: -32022..=-32020, message }) if !self.policy.client.falls_back_after_newer => {
                Err(Failure::protocol(format!("the server refuses all revisions: {message}")))
            }
            Err(Failure::Refused { code, .. }) if !(self.policy.client.falls_back_after)(code) => {
                Err(Failure::protocol("the server is neither a newer nor an older one"))
            }
            Err(_) => {
                self.revision = Revision::November2025;
                self.initialize().await
            }
        }
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
        let policy = &self.policy.client;
        if let Some(message) = policy.before_handshake {
            let _refused = self.send_message(message.to_owned()).await;
        }
        let members = vec![
            ("protocolVersion", success(&self.revision.name())),
            ("capabilities", success(&self.capabilities)),
            ("clientInfo", success(&client_info())),
        ];
        let id = self.fresh_id();
        let result = self.exchange(id, "initialize", &object(&members), HeaderMap::new()).await?;
        let result: Initialized =
            incoming::members(&result).map_err(|reason| Failure::protocol(format!("initialize: {reason}")))?;
        let version = result.protocol_version;
        let agreed = Revision::named(&version).filter(|revision| !revision.is_stateless());
        let agreed = agreed.or_else(|| policy.goes_on_with_any_version.then_some(self.revision));
        self.revision = agreed
            .ok_or_else(|| Failure::protocol(format!("the version `{version}` is not supported in a session")))?;
        self.connection.agree_on(self.revision.name());
        if policy.says_initialized {
            self.send_message(INITIALIZED.to_owned()).await?;
        }
        if !policy.listens_late {
            self.connection.listen();
        }
        if let Some((message, over_http_only)) = policy.after_handshake
            && (self.connection.is_http() || !over_http_only)
        {
            let _unread = self.send_message(message.to_owned()).await;
        }
        Ok(())
    }

    /// Sends a request and returns its result.
    pub(super) async fn request(&mut self, method: &str, members: Members<'_>) -> Result<Box<RawValue>, Failure> {
        let id = self.fresh_id();
        self.request_as(id, method, members, HeaderMap::new()).await
    }

    /// Sends a request with this id and these HTTP headers, and returns its result.
    pub(super) async fn request_as(
        &mut self,
        id: u64,
        method: &str,
        mut members: Members<'_>,
        mut headers: HeaderMap,
    ) -> Result<Box<RawValue>, Failure> {
        self.first_question = None;
        if let Some(message) = self.policy.client.before_request.filter(|_| !self.revision.is_stateless()) {
            let message = message(self.fresh_id());
            let _unread = self.send_message(message).await;
        }
        if self.revision.is_stateless() {
            members.push(("_meta", success(&self.meta())));
            headers.insert("mcp-protocol-version", HeaderValue::from_static(self.revision.name()));
            headers.extend(
                HeaderValue::from_str(method).ok().map(|method| (HeaderName::from_static("mcp-method"), method)),
            );
        }
        let params = object(&members);
        match self.exchange(id, method, &params, headers.clone()).await {
            // The server has lost the session, so the client must open another one.
            Err(Failure::SessionLost) if self.policy.client.renews_session => {
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

    fn meta(&self) -> Value {
        json!({
            VERSION_KEY: self.revision.name(),
            CAPABILITIES_KEY: self.capabilities,
            CLIENT_KEY: client_info(),
        })
    }

    async fn exchange(
        &mut self,
        id: u64,
        method: &str,
        params: &RawValue,
        headers: HeaderMap,
    ) -> Result<Box<RawValue>, Failure> {
        let own = (self.policy.client.id)(id);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{own},"method":"{method}","params":{params}}}"#);
        let text = self.policy.pass_text(Hook::Request, text);
        let patience = if self.policy.client.limits_requests { self.patience } else { STEP };
        let work = async {
            self.connection.request(text, headers).await?;
            self.reply(&own).await
        };
        if let Ok(outcome) = tokio::time::timeout(patience, work).await {
            return outcome;
        }
        if self.policy.client.cancels {
            self.connection.abandon();
            self.cancel(id, method).await;
        }
        Err(Failure::Timeout)
    }

    /// Reads messages until the reply, and responds to the server's requests.
    async fn reply(&mut self, id: &Value) -> Result<Box<RawValue>, Failure> {
        loop {
            match self.connection.next().await? {
                Incoming::Reply { id: Some(to), outcome } if to == *id => return outcome,
                // Over HTTP the reply can only belong to this request, and over stdio no other request is pending.
                Incoming::Reply { id: None, outcome } => return outcome,
                Incoming::Reply { .. } if self.connection.is_http() => {
                    return Err(Failure::protocol("the reply has the id of another request"));
                }
                // This is the reply to a request that was cancelled.
                Incoming::Reply { .. } => {}
                Incoming::Notification { method }
                    if self.policy.client.refused_notification.is_some_and(|refused| refused == method) =>
                {
                    return Err(Failure::protocol(format!("an unexpected notification `{method}`")));
                }
                Incoming::Notification { method }
                    if self.policy.client.answered_notification.is_some_and(|answered| answered == method) =>
                {
                    let error = json!({ "code": -32600, "message": "no such request" });
                    self.send_message(json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()).await?;
                }
                Incoming::Notification { method } => {
                    self.tools.are_stale |= method == "notifications/tools/list_changed" && self.tools.listed.is_some();
                }
                Incoming::Request { method, .. } if self.revision.is_stateless() => {
                    return Err(Failure::protocol(format!(
                        "a server must not send requests in this revision: `{method}`"
                    )));
                }
                Incoming::Request { id, method, params } => self.answer(&id, &method, params.as_deref()).await?,
            }
        }
    }

    /// Responds to a request of the server.
    async fn answer(&mut self, id: &Value, method: &str, params: Option<&RawValue>) -> Result<(), Failure> {
        let outcome = if method == "ping" { Ok(json!({})) } else { self.ask(method, params).await };
        let mut response = match outcome {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Failure::Question { code, reason }) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": reason } })
            }
            Err(failure) => return Err(failure),
        };
        if let Some(message) = self.policy.client.before_answer {
            self.send_message(message.to_owned()).await?;
        }
        self.policy.pass(Hook::Response, &mut response);
        if self.policy.client.answers_first_question && response.get("result").is_some() {
            response["id"] = self.first_question.get_or_insert_with(|| id.clone()).clone();
        }
        let is_answered = response["id"] == *id;
        self.send_message(response.to_string()).await?;
        // Otherwise the server would wait for the response, and the client for the server.
        if is_answered { Ok(()) } else { Err(Failure::protocol("a question was not answered")) }
    }

    async fn ask(&mut self, method: &str, params: Option<&RawValue>) -> Result<Value, Failure> {
        let question = Question::read(method, params, self.terms()).await?;
        let reaction = self.react()?;
        question.answer(reaction).await
    }

    pub(super) async fn send_message(&mut self, message: String) -> Result<(), Failure> {
        let outcome = tokio::time::timeout(self.patience, self.connection.send_message(message)).await;
        outcome.unwrap_or(Err(Failure::Timeout))
    }

    /// Notifies the server that a request is cancelled. A stateless server sees that its stream is closed instead.
    async fn cancel(&mut self, id: u64, method: &str) {
        let text = match method {
            "initialize" => self.policy.client.after_unanswered_handshake.map(str::to_owned),
            _ if self.has_headers() => None,
            _ => {
                let id = (self.policy.client.cancelled_id)((self.policy.client.id)(id));
                let params = json!({ "requestId": id, "reason": "no reply in time" });
                Some(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string())
            }
        };
        if let Some(text) = text {
            let _ignored = tokio::time::timeout(LEAVE, self.connection.send_message(text)).await;
        }
    }
}

fn client_info() -> Value {
    json!({ "name": NAME, "version": env!("CARGO_PKG_VERSION") })
}

/// Sets a header, unless its name or value is invalid.
pub(super) fn header(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}
