//! A Streamable HTTP client that sends one POST and reads the messages of its reply, in a body or an event stream.
//!
//! Takes texts and headers, gives [`Arrival`]s as they are received, within limits. Follows no redirect, retries
//! nothing, and contacts another machine only for a URL that the user gave. Must not know JSON-RPC or sessions.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fmt, io};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Bytes;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url, redirect, retry};
use rustls::ClientConfig;
use sse_stream::SseStream;

use crate::drive::fault;
use crate::drive::kept_headers::{self, Headers};
use crate::drive::server::exchange::Arrival;
use crate::drive::server::pace::{self, Pace};
use crate::drive::server::{refusal, tls};
use crate::model::endpoint::{Endpoint, Header, why_no_value};
use crate::model::transcript::End;

/// The largest reply that is read, in bytes.
const MAX_REPLY: usize = 16 << 20;

/// An endpoint and its connections. Dropping it closes the connections that it owns, so that a server can stop without
/// waiting.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    endpoint: Option<Url>,
    /// Whether the server has sent the headers of a GET stream late, with its first message.
    late_headers: Arc<AtomicBool>,
    /// The parts of an endpoint that the user named.
    remote: Option<Box<Remote>>,
}

/// The parts of an endpoint that the user named, which adapters do not need.
#[derive(Debug)]
struct Remote {
    tls: ClientConfig,
    headers: HeaderMap,
    pace: Option<Arc<Pace>>,
}

/// Connections that are reused for the next endpoint, if its listener is the same.
#[derive(Debug, Default)]
pub(crate) struct ConnectionReuse {
    /// The origin of the last endpoint.
    origin: Option<String>,
    client: Option<Client>,
    late_headers: Arc<AtomicBool>,
}

impl ConnectionReuse {
    /// An endpoint on this machine. A URL from an adapter must not lead to another machine.
    pub(crate) fn local(&mut self, endpoint: &str) -> Http {
        let endpoint = local(endpoint);
        let origin = endpoint.as_ref().map(|endpoint| endpoint.origin().ascii_serialization());
        let client = if self.origin == origin {
            self.client.get_or_insert_with(|| client(tls::trusting_nobody())).clone()
        } else {
            *self = Self { origin, client: None, late_headers: Arc::clone(&self.late_headers) };
            client(tls::trusting_nobody())
        };
        Http { client, endpoint, late_headers: Arc::clone(&self.late_headers), remote: None }
    }
}

impl Http {
    /// An endpoint at any URL that the user gave.
    ///
    /// # Errors
    /// The reason why no request can be sent: a missing variable, or roots that cannot be read.
    pub(crate) fn anywhere(endpoint: &Endpoint) -> Result<Self, String> {
        let tls =
            if endpoint.is_encrypted() { tls::trusting(endpoint.roots.as_deref())? } else { tls::trusting_nobody() };
        let url: Url = endpoint.url.parse().map_err(|error| format!("{} is not a URL: {error}", endpoint.url))?;
        let headers = additional(endpoint)?;
        let remote = Remote { tls: tls.clone(), headers, pace: Pace::of(endpoint) };
        Ok(Self {
            client: client(tls),
            endpoint: Some(url),
            late_headers: Arc::default(),
            remote: Some(Box::new(remote)),
        })
    }

    /// Returns whether the server sends the headers of a GET stream late, so that waiting for them is of no use.
    pub(crate) fn has_late_headers(&self) -> bool {
        self.late_headers.load(Ordering::Relaxed)
    }

    /// Remembers that the server sends the headers of a GET stream late, for this process of the server.
    pub(crate) fn set_late_headers(&self) {
        self.late_headers.store(true, Ordering::Relaxed);
    }

    /// Uses new connections from now on.
    pub(crate) fn renew(&mut self) {
        self.client = client(self.remote.as_ref().map_or_else(tls::trusting_nobody, |remote| remote.tls.clone()));
    }

    pub(crate) fn post(&self, headers: &Headers, body: String) -> Reply {
        self.send(Method::POST, headers, body)
    }

    pub(crate) fn get(&self, headers: &Headers) -> Reply {
        self.send(Method::GET, headers, String::new())
    }

    pub(crate) fn delete(&self, headers: &Headers) -> Reply {
        self.send(Method::DELETE, headers, String::new())
    }

    /// Prepares a request. It is sent when its reply is first read.
    fn send(&self, method: Method, headers: &Headers, body: String) -> Reply {
        let Some(endpoint) = &self.endpoint else {
            let reason = "the URL of the server is invalid or not on this machine".to_owned();
            return Reply::new(Body::Failed(End::Invalid { reason }));
        };
        let mut request = self.client.request(method, endpoint.clone()).headers(sendable(headers));
        if !body.is_empty() {
            request = request.body(body);
        }
        Reply::new(Body::Requested(match self.remote.as_deref() {
            Some(Remote { headers, pace, .. }) => Box::pin(pace::send(pace.clone(), request.headers(headers.clone()))),
            None => Box::pin(request.send()),
        }))
    }
}

fn client(tls: ClientConfig) -> Client {
    let builder = Client::builder().redirect(redirect::Policy::none()).no_proxy().tls_backend_preconfigured(tls);
    let client = builder.retry(retry::never()).referer(false).build();
    client.expect("a client without proxies and resolvers needs nothing that could be missing")
}

/// Returns the additional headers of an endpoint, with the values of the environment. No error has a value.
fn additional(endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for header in &endpoint.headers {
        let Header { name, variable } = header;
        let value = std::env::var(variable)
            .map_err(|_| format!("the environment variable {variable} for `{name}` is not set"))?;
        let refused = |why: &str| format!("the header `{name}` from {variable} cannot be sent: {why}");
        why_no_value(&value).map_or(Ok(()), |why| Err(refused(why)))?;
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused("its name is invalid"))?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| refused("its value is invalid"))?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Parses a URL; returns `None` unless its host is this machine.
pub(crate) fn local(endpoint: &str) -> Option<Url> {
    let is_local = |endpoint: &Url| {
        let host = endpoint.host_str().unwrap_or_default();
        endpoint.scheme() == "http" && matches!(host, "127.0.0.1" | "localhost" | "[::1]")
    };
    endpoint.parse().ok().filter(is_local)
}

/// Returns the headers that HTTP can carry. No client could send the others.
fn sendable(headers: &Headers) -> HeaderMap {
    let pair = |(name, value): &(String, String)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    headers.iter().filter_map(pair).collect()
}

/// A reply, read as it is received.
///
/// Its functions may be cancelled at any time and called again: no part of the reply is lost.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status, once it was received.
    pub(crate) status: Option<u16>,
    /// The position at which the stream can be resumed if it ends too early.
    pub(crate) resumable: Option<Resumable>,
    headers: Headers,
    content_type: String,
    encoding: Option<String>,
    body: Body,
    silent: bool,
}

/// A position in an event stream.
#[derive(Debug)]
pub(crate) struct Resumable {
    /// The id of the last event.
    pub(crate) id: String,
    /// The pause before the stream is resumed.
    pub(crate) pause: Duration,
}

/// A body whose bytes are counted while it is read.
type Counted = UnsyncBoxBody<Bytes, Fault>;

enum Body {
    /// The request, until the status and the headers of its reply were received.
    Requested(BoxFuture<'static, Result<Response, reqwest::Error>>),
    /// A body that is no event stream, with the bytes that were received.
    Whole(Counted, Vec<u8>),
    Events(Box<SseStream<Counted>>),
    Over,
    Failed(End),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Requested(_) => "Requested",
            Self::Whole(..) => "Whole",
            Self::Events(_) => "Events",
            Self::Over => "Over",
            Self::Failed(_) => "Failed",
        })
    }
}

impl Reply {
    fn new(body: Body) -> Self {
        let (headers, content_type) = (Headers::new(), String::new());
        Self { status: None, resumable: None, headers, content_type, encoding: None, body, silent: true }
    }

    /// Waits for the status and the headers, and returns the status.
    ///
    /// # Errors
    /// The end of the exchange, if there is no reply.
    pub(crate) async fn opened(&mut self) -> Result<u16, End> {
        if let Body::Requested(request) = &mut self.body {
            match request.await {
                Ok(response) => self.open(response),
                Err(error) => self.body = Body::Failed(failure(&error)),
            }
        }
        match (self.status, &self.body) {
            (Some(status), _) => Ok(status),
            (None, Body::Failed(end)) => Err(end.clone()),
            (None, _) => Err(End::Empty),
        }
    }

    /// Returns the status and the headers, after the reply was opened.
    pub(crate) fn head(&mut self) -> Arrival {
        self.stamped(Arrival::default())
    }

    /// Returns whether the body is an event stream.
    pub(crate) fn is_event_stream(&self) -> bool {
        matches!(self.body, Body::Events(_))
    }

    fn open(&mut self, response: Response) {
        self.status = Some(response.status().as_u16());
        self.headers = kept_headers::of_reply(response.headers());
        self.content_type = word(response.headers(), &CONTENT_TYPE);
        self.encoding =
            Some(word(response.headers(), &CONTENT_ENCODING)).filter(|one| !matches!(&**one, "" | "identity"));
        let counted = Limited::new(reqwest::Body::from(response), MAX_REPLY).map_err(Fault::of).boxed_unsync();
        self.body = if self.content_type == "text/event-stream" && self.encoding.is_none() {
            Body::Events(Box::new(SseStream::new(counted)))
        } else {
            Body::Whole(counted, Vec::new())
        };
    }

    /// Returns the next message, or `None` at the end of the reply. A reply without messages first gives one empty
    /// arrival.
    ///
    /// # Errors
    /// The end of the exchange that results from a failure.
    pub(crate) async fn next(&mut self) -> Result<Option<Arrival>, End> {
        self.opened().await?;
        let came = match &mut self.body {
            Body::Events(events) => event(events, &mut self.resumable).await,
            Body::Whole(body, bytes) => {
                let text = whole(body, bytes).await;
                self.body = Body::Over;
                text.map(|text| Some(self.labelled(text)))
            }
            Body::Failed(end) => Err(end.clone()),
            Body::Requested(_) | Body::Over => Ok(None),
        };
        match came {
            Ok(None) if self.silent => Ok(Some(self.stamped(Arrival::default()))),
            Err(end) if self.silent => {
                self.body = Body::Failed(end);
                Ok(Some(self.stamped(Arrival::default())))
            }
            came => Ok(came?.map(|arrival| self.stamped(arrival))),
        }
    }

    /// Returns the text of a body, with the fault that its headers show.
    fn labelled(&self, text: Result<String, String>) -> Arrival {
        let is_json = self.content_type == "application/json";
        // The body of an error may have any content type if it contains a message.
        let is_free = self.status.is_some_and(|status| !(200..300).contains(&status));
        let fault = match (&text, &self.encoding) {
            (_, Some(encoding)) => Some(format!("a body encoded as `{encoding}`, which was not requested")),
            (Err(_), None) => Some("a body that is not UTF-8".to_owned()),
            (Ok(text), None) if text.is_empty() || is_json || is_free => None,
            (Ok(_), None) if self.content_type.is_empty() => Some("a body without a content type".to_owned()),
            (Ok(_), None) => Some(format!("a body with the content type `{}`", self.content_type)),
        };
        let lossy = text.is_err();
        Arrival { text: text.unwrap_or_else(|text| text), fault, lossy, ..Arrival::default() }
    }

    fn stamped(&mut self, arrival: Arrival) -> Arrival {
        self.silent = false;
        Arrival { status: self.status, headers: std::mem::take(&mut self.headers), ..arrival }
    }
}

/// Returns the first word of a header in lower case, without parameters; empty without the header. The words of several
/// different lines are joined, which makes an unknown word.
fn word(headers: &HeaderMap, name: &HeaderName) -> String {
    let first = |value: &HeaderValue| {
        let value = String::from_utf8_lossy(value.as_bytes()).to_lowercase();
        value.split(';').next().unwrap_or_default().trim().to_owned()
    };
    let mut words: Vec<String> = Vec::new();
    for word in headers.get_all(name).iter().map(first) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// Returns the text of a body that is no event stream; invalid UTF-8 is replaced.
async fn whole(body: &mut Counted, bytes: &mut Vec<u8>) -> Result<Result<String, String>, End> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(Fault::end)?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(String::from_utf8(std::mem::take(bytes)).map_err(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Returns the next event that contains a message. An event with empty data carries an id only.
async fn event(events: &mut SseStream<Counted>, resumable: &mut Option<Resumable>) -> Result<Option<Arrival>, End> {
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(sse_stream::Error::Body(error)) => return Err(Fault::of(error).end()),
            Err(error) => return Err(End::Invalid { reason: error.to_string() }),
        };
        if let Some(id) = event.id {
            let pause = resumable.take().map(|known| known.pause).unwrap_or_default();
            *resumable = (!id.is_empty()).then_some(Resumable { id, pause });
        }
        if let (Some(known), Some(millis)) = (resumable.as_mut(), event.retry) {
            known.pause = Duration::from_millis(millis);
        }
        // MCP has no events of other names. A client that reads them finds no message in one of a proxy.
        let is_other = event.event.is_some_and(|name| !matches!(name.as_str(), "" | "message"));
        let is_message = |data: &String| !data.is_empty() && (!is_other || data.trim_start().starts_with('{'));
        if let Some(text) = event.data.filter(is_message) {
            return Ok(Some(Arrival { text, ..Arrival::default() }));
        }
    }
    Ok(None)
}

/// A failure while a body is read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The body is longer than the limit.
    #[error("more than {MAX_REPLY} bytes")]
    TooLong,
    /// The body violates HTTP.
    #[error("invalid HTTP: {0}")]
    Unreadable(String),
    /// The connection was closed.
    #[error("{0}")]
    Broken(String),
}

impl Fault {
    fn of(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        match error.downcast::<Self>() {
            Ok(known) => *known,
            Err(error) if error.is::<LengthLimitError>() => Self::TooLong,
            Err(error) => {
                let cause = root(&*error);
                match cause.downcast_ref::<io::Error>().map(io::Error::kind) {
                    Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => {
                        Self::Unreadable(cause.to_string())
                    }
                    _ => Self::Broken(cause.to_string()),
                }
            }
        }
    }

    fn end(self) -> End {
        match self {
            Self::TooLong => End::Oversized,
            Self::Unreadable(_) => End::Invalid { reason: self.to_string() },
            Self::Broken(how) => End::Crash { how },
        }
    }
}

/// Returns the end of an exchange without a reply: invalid HTTP, or no connection.
fn failure(error: &reqwest::Error) -> End {
    let mut cause = error.source();
    while let Some(inner) = cause {
        match inner.downcast_ref::<hyper::Error>() {
            // The reply has more or longer headers than are read.
            Some(error) if error.is_parse_too_large() => return End::Oversized,
            Some(error) if error.is_parse() => {
                return End::Invalid { reason: format!("invalid HTTP: {}", root(error)) };
            }
            _ => {}
        }
        cause = inner.source();
    }
    let cause = root(error);
    if cause.downcast_ref::<io::Error>().is_some_and(fault::is_no_room) {
        fault::report(format!("cannot open a connection to the target: {cause}"));
    }
    End::Crash { how: refusal::of_connection(error).unwrap_or_else(|| cause.to_string()) }
}

/// Returns the innermost cause of an error, whose message contains no address.
fn root<'a>(error: &'a (dyn std::error::Error + 'static)) -> &'a (dyn std::error::Error + 'static) {
    let mut root = error;
    while let Some(inner) = root.source() {
        root = inner;
    }
    root
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{FutureExt, stream};
    use http_body_util::{Empty, StreamBody};
    use hyper::body::Frame;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;
    use crate::fuzz::{fuzz, samples};

    /// Reads a stream that arrives in pieces of the given size; returns the messages, the position to resume, and the
    /// end.
    fn read(bytes: &[u8], size: usize) -> (Vec<String>, String, Option<End>) {
        let pieces: Vec<_> = bytes.chunks(size).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
        let body = StreamBody::new(stream::iter(pieces)).map_err(|never: Infallible| match never {});
        let mut events = SseStream::new(body.boxed_unsync());
        let (mut texts, mut resumable) = (Vec::new(), None);
        let end = loop {
            match event(&mut events, &mut resumable).now_or_never().expect("all of it is here") {
                Ok(Some(arrival)) => texts.push(arrival.text),
                Ok(None) => break None,
                Err(end) => break Some(end),
            }
        };
        (texts, format!("{resumable:?}"), end)
    }

    /// A listener that answers every request and reports the opening and closing of each connection.
    async fn listener() -> (String, mpsc::UnboundedReceiver<&'static str>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, events) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                _ = sender.send("opened");
                let sender = sender.clone();
                let answer = service_fn(async |_| Ok::<_, Infallible>(hyper::Response::new(Empty::<Bytes>::new())));
                tokio::spawn(async move {
                    _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                    _ = sender.send("closed");
                });
            }
        });
        (format!("http://{address}"), events)
    }

    #[tokio::test]
    async fn connections_are_reused_for_same_listener() {
        let ((here, mut events), (elsewhere, mut other_events)) = (listener().await, listener().await);
        let mut connections = ConnectionReuse::default();
        for seen in [["opened", "closed"].as_slice(), &["opened"], &[]] {
            let http = connections.local(&format!("{here}/{}", seen.len()));
            http.get(&Headers::new()).next().await.expect("an empty one");
            drop(http);
            for what in seen {
                assert_eq!(events.recv().await, Some(*what));
            }
        }
        connections.local(&elsewhere).get(&Headers::new()).opened().await.expect("a reply");
        assert_eq!((events.recv().await, other_events.recv().await), (Some("closed"), Some("opened")));
        assert!(events.is_empty(), "three requests, two connections");
    }

    #[test]
    fn differing_header_lines_give_unknown_word() {
        let of = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(line));
            }
            word(&headers, &CONTENT_TYPE)
        };
        assert_eq!(of(&[]), "");
        assert_eq!(of(&["application/JSON; charset=utf-8", "application/json"]), "application/json");
        assert_eq!(of(&["application/json", "text/html"]), "application/json, text/html");
    }

    #[test]
    fn fuzzed_event_stream_reads_same_in_pieces_of_any_size() {
        fuzz("event-streams", samples::streams(), |bytes| {
            let whole = read(bytes, bytes.len().max(1));
            for size in [1, 2, 3, 7, 64] {
                assert_eq!(read(bytes, size), whole, "pieces of {size}");
            }
        });
    }
}
