//! Streamable HTTP as a server: one request, and its reply as a body or an event stream.
//!
//! Takes requests to one path, gives replies, and records both. Must not know methods, tools or lifecycles.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming as RequestBody};
use hyper::header::{ACCEPT, HOST, ORIGIN};
use hyper::http::response::Builder;
use hyper::{HeaderMap, Method, Request, Response};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

use super::listeners::{Busy, Router};
use super::outlet::{Frame, Framing, Outlet, ReplyDeviation};
use super::server::{Incoming, Reply, ReplyContent, Server};
use crate::drive::fault;
use crate::drive::fault::AbortOnDrop;
use crate::drive::kept_headers::{self, Headers};
use crate::model::case::Written;
use crate::model::transcript::{CLOSED, CLOSED_REQUEST, EARLY, LAST_EVENT, OTHER_SESSION, SESSION_HEADER};

/// The largest body that is read, in bytes.
const MAX_BODY: usize = 16 << 20;
/// The number of bytes from which a body counts as long.
const LONG: usize = 64 << 10;
const EVENTS: &str = "text/event-stream";
/// The time that a client must wait before it resumes a stream. It is longer than the times of SDKs that are told none.
const PAUSE: Duration = Duration::from_millis(1_500);
/// The time after which a client is not too early: its timer may be inexact.
const SOONEST: Duration = Duration::from_millis(1_400);
/// The time in which a client closes a body that it no longer waits for, before its next request is answered.
const CLOSING: Duration = Duration::from_millis(300);

/// Answers a request if its path belongs to a server, and closes the connection otherwise.
pub(super) async fn answer(request: Request<RequestBody>, router: Arc<Router>) -> Result<Response<Frames>, Infallible> {
    let word = request.uri().path().strip_prefix('/').unwrap_or_default();
    // Some clients recognize the transport by this end of the path.
    let word = word.strip_suffix("/mcp").unwrap_or(word);
    let Some(server) = router.by_path(word) else { return Ok(bare(404, &[("connection", "close")])) };
    let busy = router.busy();
    let mut response = reply(request, server).await;
    response.body_mut().busy = Some(busy);
    Ok(response)
}

async fn reply(request: Request<RequestBody>, server: Arc<Server>) -> Response<Frames> {
    let (parts, body) = request.into_parts();
    let mut kept = kept_headers::of_request(&parts.method, &parts.headers);
    let last_event = parts.headers.get(LAST_EVENT).and_then(|id| id.to_str().ok());
    let held = last_event.and_then(|id| server.held(id)).filter(|_| parts.method == Method::GET);
    if held.as_ref().is_some_and(|held| held.since.elapsed() < SOONEST) {
        kept.push(pair(EARLY, "true"));
    }
    let session = parts.headers.get(SESSION_HEADER).and_then(|session| session.to_str().ok());
    if session.is_some_and(|session| server.of_session(session).is_none()) {
        kept.push(pair(OTHER_SESSION, "true"));
    }
    let body = match read(body, &server.long).await {
        Ok(body) => body,
        Err((beginning, length)) => {
            _ = server.log.received_too_long(&beginning, length, kept);
            return empty(&server, 413);
        }
    };
    let text = String::from_utf8_lossy(&body);
    kept.extend(server.lateness(&text));
    if !server.log.received(&body, kept) {
        return bare(429, &[("connection", "close")]);
    }
    if !is_local(&parts.headers) {
        return empty(&server, 403);
    }
    match parts.method {
        Method::POST if body.len() != text.len() || std::str::from_utf8(&body).is_err() => {
            respond(Reply::unreadable("not UTF-8", false), &parts.headers, &server).await
        }
        Method::POST => {
            let mut unanswered = server.unanswered.subscribe();
            // An error means that the time is over.
            _ = timeout(CLOSING, unanswered.wait_for(|open| *open == 0)).await;
            let incoming = Incoming { text: &text, session, headers: Some(&parts.headers) };
            let reply = server.answer(incoming);
            server.meet(&text).await;
            respond(reply, &parts.headers, &server).await
        }
        Method::DELETE => empty(&server, server.end(session)),
        _ => match held {
            Some(held) => {
                let wrong = ReplyDeviation { written: Some(Written::WithId), ..ReplyDeviation::default() };
                respond(Reply { wrong, ..Reply::message(200, held.message) }, &parts.headers, &server).await
            }
            None => empty(&server, 405),
        },
    }
}

/// Reads a body. If it is too long or incomplete, returns its beginning and the length so far. Long bodies are read one
/// at a time.
async fn read(mut body: RequestBody, long: &Mutex<()>) -> Result<Vec<u8>, (Vec<u8>, usize)> {
    let (mut bytes, mut turn) = (Vec::new(), None);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let length = bytes.len();
            return Err((bytes, length));
        };
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > MAX_BODY {
            let length = bytes.len() + data.len();
            return Err((bytes, length));
        }
        bytes.extend_from_slice(&data);
        if bytes.len() > LONG && turn.is_none() {
            turn = Some(long.lock().await);
        }
    }
    Ok(bytes)
}

/// Returns whether a request comes from a program on this machine, and not from a page in a browser or by a foreign
/// host name.
fn is_local(headers: &HeaderMap) -> bool {
    let local = |authority: &str| {
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (authority, ""),
        };
        matches!(host, "127.0.0.1" | "localhost" | "[::1]") && port.bytes().all(|byte| byte.is_ascii_digit())
    };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).is_some_and(local);
    let origin =
        |origin: &str| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")).is_some_and(local);
    host && headers.get(ORIGIN).is_none_or(|value| value.to_str().is_ok_and(origin))
}

/// Sends a reply, with the deviations of the case.
async fn respond(reply: Reply, asked: &HeaderMap, server: &Arc<Server>) -> Response<Frames> {
    let Reply { status, session, content, wrong } = reply;
    let status = wrong.status.unwrap_or(status);
    let mut headers: Headers = session.map(|session| (SESSION_HEADER.to_owned(), session)).into_iter().collect();
    match &content {
        ReplyContent::Nothing => {}
        ReplyContent::Message(_)
            if wrong.preface.messages.is_empty()
                && !wrong.written.is_some_and(Written::is_of_events)
                && !wants_events(asked) =>
        {
            headers.push(pair("content-type", "application/json"));
        }
        ReplyContent::Message(_) | ReplyContent::Dialog(_) | ReplyContent::Unanswered { .. } => {
            headers.extend([
                pair("content-type", EVENTS),
                pair("cache-control", "no-cache"),
                pair("x-accel-buffering", "no"),
            ]);
        }
    }
    headers.retain(|(name, _)| !wrong.headers.iter().any(|(other, _)| other == name));
    headers.extend(wrong.headers);
    let events = headers.iter().any(|(name, value)| name == "content-type" && value.starts_with(EVENTS));
    let framing = if events { Framing::Event } else { Framing::Bare };
    // The channel has room for all messages before the reply, for the reply, and for a cut.
    let (sender, coming) = mpsc::channel(4 + wrong.preface.messages.len());
    let head = Some((status, headers.clone()));
    let mut outlet =
        Outlet::new(Arc::clone(&server.log), sender, framing, wrong.cut_after, head).written(wrong.written);
    let talking = match content {
        ReplyContent::Nothing => {
            server.log.sent("", Some(status), headers.clone());
            None
        }
        ReplyContent::Message(text) if wrong.written == Some(Written::Resumed) => {
            outlet.begin(&server.hold(text), PAUSE).await;
            None
        }
        ReplyContent::Message(text) => {
            let pauses = wrong.preface.asks() || wrong.written == Some(Written::CutCharacters);
            let sending = async move {
                wrong.preface.send(&mut outlet).await;
                // The receiver notices a message that is cut.
                _ = outlet.send(text).await;
            };
            if pauses {
                Some(AbortOnDrop::of(&fault::spawn(sending)))
            } else {
                sending.await;
                None
            }
        }
        ReplyContent::Dialog(dialog) => {
            let talking = async move {
                wrong.preface.send(&mut outlet).await;
                dialog.hold(outlet).await;
            };
            Some(AbortOnDrop::of(&fault::spawn(talking)))
        }
        // The body stays open until the client closes it.
        ReplyContent::Unanswered { id } => {
            server.unanswered.send_modify(|open| *open += 1);
            let closes = Closes { server: Arc::clone(server), id };
            Some(AbortOnDrop::of(&fault::spawn(hold_open(outlet, closes))))
        }
    };
    let builder = headers.iter().fold(Response::builder().status(status), |all, (name, value)| all.header(name, value));
    response(builder, Frames { coming, talking, cut: None, busy: None })
}

/// Keeps a body open without a message.
async fn hold_open(_outlet: Outlet, _closes: Closes) {
    std::future::pending::<()>().await;
}

/// Records that the client has closed a body, when it is dropped.
struct Closes {
    server: Arc<Server>,
    /// The id of the request whose response the client waited for.
    id: String,
}

impl Drop for Closes {
    fn drop(&mut self) {
        let headers = vec![pair(":method", CLOSED), pair(CLOSED_REQUEST, &self.id)];
        _ = self.server.log.received(b"", headers);
        self.server.unanswered.send_modify(|open| *open -= 1);
    }
}

fn wants_events(asked: &HeaderMap) -> bool {
    let accepts = |kind: &str| {
        let mut values = asked.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        values.any(|value| value.contains(kind))
    };
    accepts(EVENTS) && !accepts("application/json") && !accepts("*/*")
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Records and returns a reply without a body.
fn empty(server: &Server, status: u16) -> Response<Frames> {
    let headers: &[_] = if status == 405 { &[("allow", "POST")] } else { &[] };
    server.log.sent("", Some(status), headers.iter().map(|(name, value)| pair(name, value)).collect());
    bare(status, headers)
}

/// Returns a reply without a body.
fn bare(status: u16, headers: &[(&str, &str)]) -> Response<Frames> {
    let (_, coming) = mpsc::channel(1);
    let builder =
        headers.iter().fold(Response::builder().status(status), |all, (name, value)| all.header(*name, *value));
    response(builder, Frames { coming, talking: None, cut: None, busy: None })
}

/// Returns the response. If the case has a header or a status that HTTP cannot carry, the response is an internal
/// error.
fn response(builder: Builder, frames: Frames) -> Response<Frames> {
    builder.body(frames).unwrap_or_else(|_| {
        let mut failed = bare(500, &[]);
        *failed.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
        failed
    })
}

/// A body that is sent as it is produced, with the task that produces it.
#[derive(Debug)]
pub(super) struct Frames {
    coming: mpsc::Receiver<Frame>,
    talking: Option<AbortOnDrop>,
    cut: Option<io::Error>,
    busy: Option<Busy>,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, io::Error>>> {
        if let Some(cut) = self.cut.take() {
            return Poll::Ready(Some(Err(cut)));
        }
        match ready!(self.coming.poll_recv(context)) {
            None => Poll::Ready(None),
            Some(Ok(bytes)) => Poll::Ready(Some(Ok(hyper::body::Frame::data(bytes)))),
            Some(Err(cut)) => {
                // An error discards buffered data, so it is returned only when all data was sent.
                self.cut = Some(cut);
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.cut.is_none() && self.talking.is_none() && self.coming.is_closed() && self.coming.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn only_this_machine_is_local() {
        let local = |host: &'static str, origin: Option<&'static str>| {
            let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
            headers.extend(origin.map(|origin| (ORIGIN, HeaderValue::from_static(origin))));
            is_local(&headers)
        };
        assert!(local("127.0.0.1:80", None) && local("localhost", None) && local("[::1]:1", None));
        assert!(local("[::1]", Some("http://localhost:3000")));
        for (host, origin) in [
            ("example.org", None),
            ("127.0.0.1.example.org:80", None),
            ("localhost:evil", None),
            ("127.0.0.1", Some("null")),
            ("127.0.0.1", Some("https://example.org")),
            ("127.0.0.1", Some("http://localhost.example.org")),
        ] {
            assert!(!local(host, origin), "{host} {origin:?}");
        }
        assert!(!is_local(&HeaderMap::new()));
    }
}
