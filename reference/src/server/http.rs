//! A server for MCP over Streamable HTTP: one listener for the process, and an unguessable path for each server.
//!
//! The module takes HTTP requests and returns JSON or a stream of events. It must not know methods, except for the
//! parts of requests that headers repeat.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::future::FutureExt as _;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::sleep;

use crate::message::LONGEST;
use crate::message::{Fault, Message, Request};
use crate::policy::{Event, GetStream, TransportPolicy};
use crate::server::Server;

use crate::server::headers;
use crate::server::seal::token;
use crate::server::session::{Outgoing, Session, locked};
use crate::server::stream::{Body, Work, events, next, nothing, notified};

/// The limit of simultaneous connections. Further connections wait.
const CONNECTIONS: usize = 256;

/// The delay after a connection could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// The limit of sessions per server.
const SESSIONS: usize = 1_000;

const SESSION: &str = "mcp-session-id";

type Response = hyper::Response<Body>;

/// The listener, and the servers that it serves.
#[derive(Clone)]
pub(crate) struct Listener {
    address: SocketAddr,
    endpoints: Arc<Mutex<HashMap<String, Arc<Endpoint>>>>,
}

/// One server.
struct Endpoint {
    server: Server,
    /// The connection of the first request.
    connection: OnceLock<u64>,
    /// The connection of the last call that was no retry.
    called_on: AtomicU64,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

impl Listener {
    /// Starts to listen.
    ///
    /// # Errors
    /// If no port is available.
    pub(crate) async fn start() -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let listener = Self { address: socket.local_addr()?, endpoints: Arc::default() };
        let serving = listener.clone();
        tokio::spawn(async move {
            let room = Arc::new(Semaphore::new(CONNECTIONS));
            for connection in 0.. {
                let place = Arc::clone(&room).acquire_owned().await;
                let Ok((stream, _)) = socket.accept().await else {
                    // The connection was closed, or no file descriptor is free. The loop continues after a pause.
                    sleep(PAUSE).await;
                    continue;
                };
                // Otherwise each event would wait for the acknowledgement of the previous one.
                let _slower = stream.set_nodelay(true);
                let listener = serving.clone();
                let service = service_fn(move |request| {
                    let listener = listener.clone();
                    async move { Ok::<_, Infallible>(listener.respond(connection, request).await) }
                });
                let mut builder = hyper::server::conn::http1::Builder::new();
                // With a timer, a connection without a request is closed after some time.
                builder.timer(TokioTimer::new());
                let serving = builder.serve_connection(TokioIo::new(stream), service);
                tokio::spawn(async move {
                    // A broken connection only concerns the client.
                    _ = serving.await;
                    drop(place);
                });
            }
        });
        Ok(listener)
    }

    /// Starts to serve a server. Returns its URL.
    pub(crate) fn serve(&self, server: Server) -> String {
        let path = format!("/{}/mcp", token());
        let url = format!("http://{}{path}", self.address);
        let endpoint = Endpoint {
            server,
            connection: OnceLock::new(),
            called_on: AtomicU64::default(),
            sessions: Mutex::default(),
        };
        locked(&self.endpoints).insert(path, Arc::new(endpoint));
        url
    }

    /// Stops serving a server.
    pub(crate) fn stop(&self, url: &str) {
        let path = url.strip_prefix(&format!("http://{}", self.address)).unwrap_or_default();
        if let Some(endpoint) = locked(&self.endpoints).remove(path) {
            locked(&endpoint.sessions).values().for_each(|session| session.end());
        }
    }

    async fn respond(&self, connection: u64, request: hyper::Request<Incoming>) -> Response {
        let endpoint = locked(&self.endpoints).get(request.uri().path()).cloned();
        let policy = endpoint.as_ref().map(|endpoint| endpoint.policy());
        if let Err(reason) = headers::check_origin(request.headers(), self.address.port(), policy) {
            return plain(policy.map_or(403, |policy| policy.bad_origin), &reason);
        }
        let Some(endpoint) = endpoint else { return plain(404, "no server at this path") };
        if *endpoint.connection.get_or_init(|| connection) != connection {
            endpoint.server.note(Event::Reconnected);
        }
        let is_stateless = endpoint.server.fixture.revision.is_stateless();
        match *request.method() {
            Method::POST => endpoint.post(connection, request).await,
            Method::DELETE if !is_stateless => endpoint.delete(request.headers()),
            Method::GET if !is_stateless && endpoint.policy().get_stream.is_some() => {
                endpoint.listen(request.headers())
            }
            _ => {
                let policy = endpoint.policy();
                let is_get = *request.method() == Method::GET && !is_stateless;
                let mut response = plain(if is_get { policy.refused_get } else { policy.refused_old }, "");
                let allowed = if is_stateless { "POST" } else { "POST, DELETE" };
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
                response
            }
        }
    }
}

impl Endpoint {
    fn policy(&self) -> &'static TransportPolicy {
        &self.server.fixture.policy.transport
    }

    async fn post(self: Arc<Self>, connection: u64, request: hyper::Request<Incoming>) -> Response {
        let (head, body) = request.into_parts();
        if self.policy().refuses_last_event && head.headers.contains_key("last-event-id") {
            return plain(400, "streams are not resumable");
        }
        if let Err((status, reason)) = headers::check_media(&head.headers) {
            return plain(status, reason);
        }
        let Ok(body) = Limited::new(body, LONGEST).collect().await else {
            return plain(413, "the body is too large or incomplete");
        };
        match self.server.read(&body.to_bytes()) {
            Err(unread) => {
                let (id, fault) = *unread;
                self.refusal(&id, fault)
            }
            Ok(message) if self.server.fixture.revision.is_stateless() => {
                if self.policy().binds_connections && !self.is_on_connection_of_call(connection, &message) {
                    return plain(400, "the call was sent on another connection");
                }
                self.stateless(&head.headers, message).await
            }
            Ok(message) => self.stateful(&head.headers, message).await,
        }
    }

    /// Returns whether a message is no retry, or a retry on the connection of the last call.
    fn is_on_connection_of_call(&self, connection: u64, message: &Message) -> bool {
        let Message::Request(Request { method, params: Some(params), .. }) = message else { return true };
        if method != "tools/call" {
            return true;
        }
        if params.get("inputResponses").is_some() || params.get("requestState").is_some() {
            return self.called_on.load(Ordering::Relaxed) == connection;
        }
        self.called_on.store(connection, Ordering::Relaxed);
        true
    }

    async fn stateless(self: Arc<Self>, headers: &HeaderMap, message: Message) -> Response {
        match message {
            Message::Request(request) => {
                let checked = headers::check(headers, &request, &self.server);
                let (outlet, mut outgoing) = mpsc::unbounded_channel();
                let endpoint = Arc::clone(&self);
                let work = async move {
                    let outcome = match checked {
                        Ok(()) => endpoint.server.answer(&request, &outlet).await,
                        Err(fault) => Err(fault),
                    };
                    let (status, text) = endpoint.server.reply(&request, &outcome);
                    let text = endpoint.server.met(&request, text, &outlet).await;
                    let _client_gone = outlet.send(Outgoing::Reply(status, text));
                };
                // If the client disconnects, the work is dropped.
                let mut work: Work = Box::pin(work.fuse());
                match next(&mut work, &mut outgoing).await {
                    Some(Outgoing::Message(text)) => {
                        in_stream(self.policy(), notified(self.policy(), text, work, outgoing))
                    }
                    Some(Outgoing::Reply(status, text)) => match (self.policy().before_reply)(&text) {
                        Some(message) => preceded(self.policy(), message, &text),
                        None if self.policy().has_stateless_sessions => in_session(json(status, text), &token()),
                        None => single(self.policy(), status, text),
                    },
                    None => plain(500, ""),
                }
            }
            Message::Notification { .. } => self.accepted(),
            Message::Response { id, .. } => self.refusal(&id, Fault::invalid_request("a response without a request")),
        }
    }

    async fn stateful(self: Arc<Self>, headers: &HeaderMap, message: Message) -> Response {
        if let Message::Request(request) = &message
            && request.method == "initialize"
        {
            return self.open(request);
        }
        let session = match self.session(headers) {
            Ok(session) => session,
            Err(response) => return *response,
        };
        if self.policy().checks_session_version
            && let Err(fault) = headers::check_version(headers, self.server.fixture.revision)
        {
            let id = if let Message::Request(request) = &message { &request.id } else { &Value::Null };
            return self.refusal(id, fault);
        }
        match message {
            Message::Request(request) => self.answer(session, request).await,
            Message::Notification { method, params } => {
                self.server.notice(&session, &method, params.as_ref());
                if method == "notifications/initialized" { plain(202, "") } else { self.accepted() }
            }
            Message::Response { id, outcome } => {
                session.take(&id, outcome);
                plain(self.policy().response_taken, "")
            }
        }
    }

    fn open(&self, request: &Request) -> Response {
        let mut sessions = locked(&self.sessions);
        if sessions.len() >= SESSIONS {
            return plain(503, "too many sessions");
        }
        match self.server.initialize(request) {
            Err(fault) => {
                let (status, text) = self.server.reply(request, &Err(fault));
                json(status, text)
            }
            Ok((session, result)) => {
                let id = format!("{}{}", self.policy().session_prefix, token());
                let (status, text) = self.server.reply(request, &Ok(result));
                let opened = match (self.policy().before_reply)(&text) {
                    Some(message) => preceded(self.policy(), message, &text),
                    None => json(status, text),
                };
                let response = in_session(opened, &id);
                sessions.insert(id, Arc::new(session));
                response
            }
        }
    }

    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Box<Response>> {
        let refuse = |status, reason| Box::new(plain(status, reason));
        let TransportPolicy { missing_session, unknown_session, .. } = *self.policy();
        let id = headers.get(SESSION).ok_or_else(|| refuse(missing_session, "Mcp-Session-Id is missing"))?;
        let session = id.to_str().ok().and_then(|id| locked(&self.sessions).get(id).cloned());
        session.ok_or_else(|| refuse(unknown_session, "there is no such session"))
    }

    fn listen(&self, headers: &HeaderMap) -> Response {
        match self.session(headers) {
            Err(response) => *response,
            Ok(session) => in_stream(self.policy(), events(None, nothing(), session.listen(), None)),
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Response {
        match self.session(headers) {
            Err(response) => *response,
            Ok(session) => {
                session.end();
                locked(&self.sessions).retain(|_, other| !Arc::ptr_eq(other, &session));
                plain(self.policy().session_ended, "")
            }
        }
    }

    /// Returns the response to a notification.
    fn accepted(&self) -> Response {
        match self.policy().notification_reply {
            Some(reply) => json(200, reply.to_owned()),
            None => plain(202, ""),
        }
    }

    fn refusal(&self, id: &Value, fault: Fault) -> Response {
        let (status, text) = self.server.refusal(id, fault);
        json(status.max(400), text)
    }

    /// Responds to a request with JSON, or with a stream if the client is asked first, or may wait long.
    async fn answer(self: Arc<Self>, session: Arc<Session>, request: Request) -> Response {
        let policy = self.policy();
        let (outlet, mut outgoing) = mpsc::unbounded_channel();
        let is_long = self.server.waits(&request);
        if let Some(kind) = policy.get_stream {
            outgoing = divert(kind, Arc::clone(&session), outgoing, request.method == "tools/call");
        }
        tokio::spawn(async move {
            let work = self.server.answer_in(&session, &request, &outlet);
            let work = async {
                if policy.hangs_on_connections {
                    tokio::select! {
                        outcome = work => Some(outcome),
                        () = outlet.closed() => None,
                    }
                } else {
                    Some(work.await)
                }
            };
            let cancelled = || policy.answers_cancelled.then(|| Err(Fault::params("cancelled")));
            let outcome = session.unless_cancelled(&request.id, work).await.unwrap_or_else(cancelled);
            if let Some(outcome) = outcome {
                let (status, text) = self.server.reply(&request, &outcome);
                let text = self.server.met(&request, text, &outlet).await;
                let _client_gone = outlet.send(Outgoing::Reply(status, text));
            }
        });
        if is_long {
            return in_stream(policy, events(None, nothing(), outgoing, None));
        }
        match outgoing.recv().await {
            Some(Outgoing::Reply(status, text)) => single(policy, status, text),
            Some(Outgoing::Message(text)) => in_stream(policy, notified(policy, text, nothing(), outgoing)),
            None => in_stream(policy, whole("")),
        }
    }
}

/// Returns a reply that consists of the response to a request.
fn single(policy: &TransportPolicy, status: u16, text: String) -> Response {
    match policy.unknown_method {
        Some((status, media, body)) if text.contains("-32601") => with(status, media, whole(body)),
        _ => with(status, (policy.media)(&text), whole(text)),
    }
}

/// Returns a stream in which a message precedes the reply.
fn preceded(policy: &TransportPolicy, message: &str, reply: &str) -> Response {
    let (outlet, rest) = mpsc::unbounded_channel();
    let _nobody_left = outlet.send(Outgoing::Reply(200, reply.to_owned()));
    in_stream(policy, events(Some(message.to_owned()), nothing(), rest, None))
}

fn whole(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed_unsync()
}

/// Sends some of a request's messages on the stream of a GET request. Returns the others.
fn divert(
    kind: GetStream,
    session: Arc<Session>,
    mut all: mpsc::UnboundedReceiver<Outgoing>,
    is_call: bool,
) -> mpsc::UnboundedReceiver<Outgoing> {
    let (outlet, others) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(message) = all.recv().await {
            match (kind, message) {
                (GetStream::Questions, Outgoing::Message(text)) => session.send(text),
                (GetStream::Responses, Outgoing::Reply(_, text)) if is_call => session.send(text),
                (GetStream::Copies, Outgoing::Message(text)) if !text.contains("elicitation/create") => {
                    session.send(text.clone());
                    drop(outlet.send(Outgoing::Message(text)));
                }
                (_, message) => drop(outlet.send(message)),
            }
        }
    });
    others
}

/// Adds a session id to a response.
fn in_session(mut response: Response, id: &str) -> Response {
    let value = HeaderValue::from_str(id).expect("a token is made of hexadecimal digits");
    response.headers_mut().insert(SESSION, value);
    response
}

fn json(status: u16, text: String) -> Response {
    with(status, "application/json", whole(text))
}

fn plain(status: u16, reason: &str) -> Response {
    with(status, "text/plain; charset=utf-8", whole(Bytes::copy_from_slice(reason.as_bytes())))
}

fn in_stream(policy: &TransportPolicy, body: Body) -> Response {
    let mut response = with(200, "text/event-stream", body);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if !policy.excludes_buffering {
        return response;
    }
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn with(status: u16, media: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).expect("a status of this crate");
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::TcpStream;

    use super::*;
    use crate::mutants::policy;
    use crate::revision::Revision;
    use crate::server::fixture::Fixture;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    async fn listener(revision: Revision) -> (Listener, String) {
        let fixture = json!({ "server": { "name": "s", "version": "1" }, "tools": [
            { "name": "echo", "inputSchema": { "type": "object" }, "does": { "echo": true } },
            { "name": "ask", "inputSchema": { "type": "object" }, "does": { "elicit": {
                "message": "?", "requestedSchema": { "type": "object", "properties": { "b": { "type": "boolean" } } } } } },
        ] });
        let fixture = Fixture::build(&fixture.to_string(), revision, policy("")).expect("a sound fixture");
        let listener = Listener::start().await.expect("a port");
        let url = listener.serve(Server::new(fixture));
        (listener, url)
    }

    /// Sends a request with these lines. Returns the connection, from which the reply can be read.
    async fn send(url: &str, method: &str, lines: &[&str], body: &str) -> BufReader<TcpStream> {
        let (authority, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        lines.insert(0, format!("{method} /{path} HTTP/1.1"));
        lines.extend([
            "Content-Type: application/json".to_owned(),
            "Accept: application/json, text/event-stream".to_owned(),
            "Connection: close".to_owned(),
            format!("Content-Length: {}", body.len()),
        ]);
        if !lines.iter().any(|line| line.starts_with("Host:")) {
            lines.push(format!("Host: {authority}"));
        }
        let mut stream = TcpStream::connect(authority).await.expect("a listener");
        stream.write_all(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes()).await.expect("sent");
        BufReader::new(stream)
    }

    async fn exchange(url: &str, method: &str, lines: &[&str], body: &str) -> (u16, String) {
        let mut reply = String::new();
        send(url, method, lines, body).await.read_to_string(&mut reply).await.expect("a reply");
        let status = reply.get(9..12).and_then(|status| status.parse().ok()).expect("a status line");
        (status, reply)
    }

    /// Reads until the received bytes contain this text.
    async fn until(stream: &mut BufReader<TcpStream>, text: &str) -> String {
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains(text) {
            seen.push(stream.read_u8().await.expect("the stream goes on"));
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    #[tokio::test]
    async fn headers_must_repeat_the_body_of_a_stateless_request() {
        let (_listener, url) = listener(Revision::July2026).await;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo",{META}}}}}"#);
        let version = "MCP-Protocol-Version: 2026-07-28";
        let (method, name) = ("Mcp-Method: tools/call", "mcp-name: =?base64?ZWNobw==?=");
        let (status, reply) = exchange(&url, "POST", &[version, method, name], &body).await;
        assert!(status == 200 && reply.contains(r#""structuredContent":{}"#), "{reply}");
        for lines in [
            &[method, name][..],
            &[version, name],
            &[version, method],
            &[version, method, "Mcp-Name: Echo"],
            &["MCP-Protocol-Version: 2025-11-25", method, name],
            &[version, method, name, name],
        ] {
            let (status, reply) = exchange(&url, "POST", lines, &body).await;
            assert!(status == 400 && reply.contains("-32020"), "{lines:?}: {reply}");
        }
    }

    #[tokio::test]
    async fn http_statuses_follow_the_transport() {
        let (listener, url) = listener(Revision::July2026).await;
        let unknown = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{{META}}}}}"#);
        let headers = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: x"];
        assert_eq!(exchange(&url, "POST", &headers, &unknown).await.0, 404);
        assert_eq!(exchange(&url, "POST", &["Origin: http://example.com"], &unknown).await.0, 403);
        assert_eq!(exchange(&url, "POST", &["Host: example.com"], &unknown).await.0, 403);
        assert_eq!(exchange(&url, "POST", &[], r#"{"jsonrpc":"2.0","method":"notifications/x"}"#).await.0, 202);
        assert_eq!(exchange(&url, "POST", &[], "[]").await.0, 400);
        assert_eq!(exchange(&url, "GET", &[], "").await.0, 405);
        assert_eq!(exchange(&url, "DELETE", &[], "").await.0, 405);
        listener.stop(&url);
        assert_eq!(exchange(&url, "GET", &[], "").await.0, 404);
    }

    #[tokio::test]
    async fn session_is_opened_asked_and_ended() {
        let (_listener, url) = listener(Revision::November2025).await;
        let open = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2020-01-01",
            "capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
        let (_, opened) = exchange(&url, "POST", &[], open).await;
        assert!(opened.contains(r#""protocolVersion":"2025-11-25""#), "{opened}");
        let session = opened.lines().find(|line| line.starts_with(SESSION)).expect("a session").to_owned();
        let session = [session.as_str()];

        let ask = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"ask"}}"#;
        assert_eq!(exchange(&url, "POST", &[], ask).await.0, 400);
        let (_, early) = exchange(&url, "POST", &session, ask).await;
        assert!(early.contains(r#""isError":true"#), "{early}");
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(exchange(&url, "POST", &session, initialized).await.0, 202);

        let mut stream = send(&url, "POST", &session, ask).await;
        let asked = until(&mut stream, "elicitation/create").await;
        assert!(asked.contains("text/event-stream") && asked.contains(r#""id":1,"#), "{asked}");
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"b":true}}}"#;
        assert_eq!(exchange(&url, "POST", &session, answer).await.0, 202);
        let answered = until(&mut stream, r#""structuredContent":{"action":"accept","content":{"b":true}}"#).await;
        assert!(answered.contains(r#""id":"a""#), "{answered}");

        assert_eq!(exchange(&url, "DELETE", &session, "").await.0, 204);
        assert_eq!(exchange(&url, "POST", &session, initialized).await.0, 404);
    }
}
