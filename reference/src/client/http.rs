//! A client for MCP over Streamable HTTP: one POST per message, and in a session a GET for other messages of the
//! server.
//!
//! The module takes texts and headers, and returns the messages of the reply and those received in the meantime. The
//! size of a message is limited; the caller limits the time. Only the given URL is requested, without redirects and
//! proxies. The module must not know methods.

use std::sync::Arc;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode, Url, redirect, retry};
use rustls::{ClientConfig, RootCertStore};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::events::Events;
use super::failure::Failure;
use super::incoming::Incoming;
use crate::message::LONGEST;
use crate::policy::{ClientPolicy, Policy, Resume};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// An endpoint, with the reply that is being read.
pub(super) struct Endpoint {
    client: Client,
    url: Url,
    /// The headers that a session adds to each request.
    session: HeaderMap,
    /// `true` while the session is being opened, when the server may assign an id.
    is_opening: bool,
    reply: Reply,
    other: OtherMessages,
    policy: &'static ClientPolicy,
}

enum Reply {
    Nothing,
    /// The request is being sent by a task, which ends when the set is dropped.
    Awaited(JoinSet<Result<Response, Failure>>),
    Whole(Incoming),
    Stream(Box<Events>),
}

/// The messages of the stream outside all replies; none if the server does not offer it.
struct OtherMessages {
    messages: mpsc::Receiver<Result<Incoming, Failure>>,
    _reading: JoinSet<()>,
}

impl OtherMessages {
    fn none() -> Self {
        Self { messages: mpsc::channel(1).1, _reading: JoinSet::new() }
    }

    fn reading(
        policy: &'static ClientPolicy,
        opening: impl Future<Output = Result<Response, Failure>> + Send + 'static,
    ) -> Self {
        let (sender, messages) = mpsc::channel(1);
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let Ok(response) = opening.await else { return };
            if !response.status().is_success() || media(&response, policy) != Some(EVENTS) {
                return;
            }
            let mut events = Events::of(response, policy);
            while let Some(message) = events.next().await {
                if sender.send(message).await.is_err() {
                    return;
                }
            }
        });
        Self { messages, _reading: reading }
    }
}

/// Returns an HTTP client, whose connections all clients share.
pub(crate) fn connections() -> Client {
    let builder = Client::builder().redirect(redirect::Policy::none()).retry(retry::never());
    let builder = builder.referer(false).no_proxy().tls_backend_preconfigured(trusting_nobody());
    builder.build().expect("plain HTTP needs nothing that could be missing")
}

/// Returns a configuration of TLS without roots: the reference reads no certificates of this machine.
fn trusting_nobody() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("the provider has the cipher suites of all versions");
    builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
}

impl Endpoint {
    /// Returns an endpoint.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub(super) fn new(client: Client, url: &str, policy: &'static Policy) -> Result<Self, Failure> {
        let url = url.parse().map_err(|error| Failure::Transport(format!("{url}: {error}")))?;
        Ok(Self {
            client,
            url,
            session: HeaderMap::new(),
            is_opening: false,
            reply: Reply::Nothing,
            other: OtherMessages::none(),
            policy: &policy.client,
        })
    }

    /// Begins a session, and discards the previous one.
    pub(super) fn begin(&mut self) {
        self.session.clear();
        self.other = OtherMessages::none();
        self.is_opening = true;
    }

    /// Adds the agreed protocol version to all later requests.
    pub(super) fn agree_on(&mut self, version: &'static str) {
        self.is_opening = false;
        self.session.insert(VERSION, HeaderValue::from_static(version));
    }

    /// Starts to receive the messages that the server sends outside its replies.
    pub(super) fn listen(&mut self) {
        self.other = OtherMessages::reading(self.policy, self.send(Method::GET, None, HeaderMap::new()));
    }

    /// Sends a request, whose reply is then read message by message.
    pub(super) fn request(&mut self, text: String, headers: HeaderMap) {
        let mut sending = JoinSet::new();
        sending.spawn(self.send(Method::POST, Some(text), headers));
        self.reply = Reply::Awaited(sending);
    }

    /// Closes the reply that is being read.
    pub(super) fn abandon(&mut self) {
        self.reply = Reply::Nothing;
    }

    /// Reads the head of a response, and the body unless it is a stream.
    async fn reply(&mut self, response: Response) -> Result<Reply, Failure> {
        let status = response.status();
        if status == StatusCode::NOT_FOUND && self.session.contains_key(SESSION) {
            return Err(Failure::SessionLost);
        }
        if let Some(session) = response.headers().get(SESSION)
            && self.is_opening
        {
            if !session.as_bytes().iter().all(u8::is_ascii_graphic) {
                return Err(Failure::protocol("Mcp-Session-Id is not visible ASCII"));
            }
            self.session.insert(SESSION, session.clone());
        }
        match media(&response, self.policy) {
            Some(JSON) => {
                let message = Incoming::read(&whole(response).await?);
                // A proxy or a framework may have written the JSON, so the status is more informative.
                if !status.is_success() && !matches!(message, Ok(Incoming::Reply { outcome: Err(_), .. })) {
                    return Err(Failure::Transport(format!("the server responded with the status {status}")));
                }
                Ok(Reply::Whole(message?))
            }
            Some(EVENTS) if status.is_success() => Ok(Reply::Stream(Box::new(Events::of(response, self.policy)))),
            _ if status.is_success() => {
                Err(Failure::protocol(format!("the reply ({status}) is neither JSON nor a stream of events")))
            }
            _ => Err(Failure::Transport(format!("the server responded with the status {status}"))),
        }
    }

    /// Returns the next message of the reply, or of the stream outside all replies.
    ///
    /// # Errors
    /// If there is no message, or it is too long.
    pub(super) async fn next(&mut self) -> Result<Incoming, Failure> {
        loop {
            match std::mem::replace(&mut self.reply, Reply::Nothing) {
                Reply::Nothing => {
                    return Err(Failure::Transport("the server's stream ended before its reply".to_owned()));
                }
                Reply::Whole(message) => return Ok(message),
                Reply::Awaited(mut sending) => {
                    let response = tokio::select! {
                        response = sending.join_next() => response,
                        Some(message) = self.other.messages.recv() => {
                            self.reply = Reply::Awaited(sending);
                            return message;
                        }
                    };
                    let response = response.expect("one task is in the set").expect("sending doesn't panic");
                    self.reply = self.reply(response?).await?;
                }
                Reply::Stream(mut stream) => {
                    let message = tokio::select! {
                        message = stream.next() => message,
                        Some(message) = self.other.messages.recv() => Some(message),
                    };
                    if message.is_none() {
                        *stream = self.resume(&stream).await?;
                    }
                    self.reply = Reply::Stream(stream);
                    if let Some(message) = message {
                        return message;
                    }
                }
            }
        }
    }

    /// Resumes a stream that ended before its reply. This needs a session, and events with ids.
    async fn resume(&self, ended: &Events) -> Result<Events, Failure> {
        let incomplete = || Failure::Transport("the server's stream ended before its reply".to_owned());
        let id = ended.last_id.as_deref().filter(|id| !id.is_empty() && self.has_sessions()).ok_or_else(incomplete)?;
        let mut id = HeaderValue::from_str(id).map_err(|_| incomplete())?;
        match self.policy.resume {
            Resume::Never => return Err(incomplete()),
            Resume::AtOnce => {}
            Resume::FromElsewhere => id = HeaderValue::from_static("0"),
            Resume::AsTold | Resume::Unread => tokio::time::sleep(ended.retry).await,
        }
        let response = self.send(Method::GET, None, HeaderMap::from_iter([(LAST_EVENT, id)])).await?;
        if self.policy.resume == Resume::Unread
            || !response.status().is_success()
            || media(&response, self.policy) != Some(EVENTS)
        {
            return Err(incomplete());
        }
        Ok(ended.resumed(response))
    }

    /// Returns whether the connection has sessions: only the stateful lifecycle agrees on a version for all requests.
    fn has_sessions(&self) -> bool {
        self.session.contains_key(VERSION)
    }

    /// Sends a notification or a response.
    ///
    /// # Errors
    /// If the server does not accept it.
    pub(super) async fn send_message(&self, text: String) -> Result<(), Failure> {
        let response = self.send(Method::POST, Some(text), HeaderMap::new()).await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND if self.session.contains_key(SESSION) => Err(Failure::SessionLost),
            status => Err(Failure::Transport(format!("the server responded with the status {status}"))),
        }
    }

    /// Ends the session. The server may refuse this.
    pub(super) async fn end(self) {
        if self.session.contains_key(SESSION) && self.policy.ends_sessions {
            let other = self.policy.ends_another_session.map(HeaderValue::from_static);
            let headers = other.into_iter().map(|other| (SESSION, other)).collect();
            let _refused = self.send(Method::DELETE, None, headers).await;
        }
    }

    fn send(
        &self,
        method: Method,
        text: Option<String>,
        headers: HeaderMap,
    ) -> impl Future<Output = Result<Response, Failure>> + Send + use<> {
        let accept = if method == Method::GET { self.policy.accept_of_get } else { self.policy.accept };
        let mut request = self.client.request(method, self.url.clone());
        request = request.headers(self.headers(headers, text.as_deref())).header(ACCEPT, accept);
        if let Some(text) = text {
            request = request.header(CONTENT_TYPE, JSON).body(text);
        }
        let sent = request.send();
        async move { sent.await.map_err(|error| broken(&error)) }
    }

    /// Returns these headers and those of the session.
    fn headers(&self, added: HeaderMap, message: Option<&str>) -> HeaderMap {
        let mut headers = self.session.clone();
        headers.extend(added);
        (self.policy.headers)(&mut headers, message.unwrap_or_default());
        headers
    }
}

/// Returns the media type of a response without parameters, if it is a known one.
fn media(response: &Response, policy: &ClientPolicy) -> Option<&'static str> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    if !policy.accepts_media_parameters && value.contains(';') {
        return None;
    }
    let essence = value.split(';').next().unwrap_or_default().trim();
    [JSON, EVENTS].into_iter().find(|known| essence.eq_ignore_ascii_case(known))
}

async fn whole(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = vec![];
    while let Some(bytes) = response.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + bytes.len() > LONGEST {
            return Err(too_large());
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

/// Returns a failure with the innermost cause, which is the most informative.
fn broken(error: &reqwest::Error) -> Failure {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Failure::Transport(format!("cannot reach the server: {cause}"))
}

pub(super) fn too_large() -> Failure {
    Failure::protocol(format!("a message has more than {LONGEST} bytes"))
}
