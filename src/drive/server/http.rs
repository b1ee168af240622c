//! Streamable HTTP as a client: one POST, and its reply as messages, be it a body or a stream of events.
//!
//! Takes texts and headers, gives [`Arrival`]s, as they come and never more than a bound. Follows nothing, retries
//! nothing, and leaves the machine only for an address of the user's own. Must not know JSON-RPC or sessions.

use std::error::Error as _;
use std::time::Duration;
use std::{fmt, io};

use futures_util::StreamExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Bytes;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url, redirect, retry};
use sse_stream::SseStream;

use crate::drive::fault;
use crate::drive::server::exchange::Arrival;
use crate::drive::server::headers::{Headers, SESSION, text};
use crate::model::transcript::{End, HEADERS};

/// The largest reply that is read, in bytes.
const MAX_REPLY: usize = 16 << 20;

/// An endpoint, and the connections to it. Dropped, it closes those that are its own, so that a server can go without
/// waiting.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    endpoint: Option<Url>,
}

/// Connections that are gone on with, from one endpoint to the next, where a listener has shown that it outlives them.
#[derive(Debug, Default)]
pub(crate) struct ConnectionReuse {
    /// Where the last endpoint was.
    origin: Option<String>,
    client: Option<Client>,
}

impl ConnectionReuse {
    /// An endpoint on this machine: an adapter's word is not enough to be led elsewhere.
    pub(crate) fn local(&mut self, endpoint: &str) -> Http {
        let endpoint = local(endpoint);
        let origin = endpoint.as_ref().map(|endpoint| endpoint.origin().ascii_serialization());
        let client = if self.origin == origin {
            self.client.get_or_insert_with(client).clone()
        } else {
            *self = Self { origin, client: None };
            client()
        };
        Http { client, endpoint }
    }
}

impl Http {
    /// An endpoint wherever its user says that it is.
    pub(crate) fn anywhere(endpoint: &str) -> Self {
        Self { client: client(), endpoint: endpoint.parse().ok() }
    }

    pub(crate) async fn post(&self, headers: &Headers, body: String) -> Result<Reply, End> {
        self.send(Method::POST, headers, body).await
    }

    pub(crate) async fn get(&self, headers: &Headers) -> Result<Reply, End> {
        self.send(Method::GET, headers, String::new()).await
    }

    pub(crate) async fn delete(&self, headers: &Headers) -> Result<Reply, End> {
        self.send(Method::DELETE, headers, String::new()).await
    }

    async fn send(&self, method: Method, headers: &Headers, body: String) -> Result<Reply, End> {
        let Some(endpoint) = &self.endpoint else {
            return Err(End::Invalid { reason: "the address of the server is none that may be gone to".to_owned() });
        };
        let mut request = self.client.request(method, endpoint.clone()).headers(sendable(headers));
        if !body.is_empty() {
            request = request.body(body);
        }
        request.send().await.map(Reply::of).map_err(|error| failure(&error))
    }
}

fn client() -> Client {
    let builder = Client::builder().redirect(redirect::Policy::none()).no_proxy();
    let client = builder.retry(retry::never()).referer(false).build();
    client.expect("a client without TLS, proxies and resolvers needs nothing that could be missing")
}

/// An address, where it is the machine's own.
fn local(endpoint: &str) -> Option<Url> {
    let is_local = |endpoint: &Url| {
        let host = endpoint.host_str().unwrap_or_default();
        endpoint.scheme() == "http" && matches!(host, "127.0.0.1" | "localhost" | "[::1]")
    };
    endpoint.parse().ok().filter(is_local)
}

/// The headers that HTTP can carry; what else a case writes down can't be sent by any client.
fn sendable(headers: &Headers) -> HeaderMap {
    let pair = |(name, value): &(String, String)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    headers.iter().filter_map(pair).collect()
}

/// A reply, read as it comes.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// Where the stream could be resumed, should it end too early.
    pub(crate) resumable: Option<Resumable>,
    headers: Headers,
    content_type: String,
    encoding: Option<String>,
    body: Body,
    silent: bool,
}

/// A place in a stream of events.
#[derive(Debug)]
pub(crate) struct Resumable {
    /// The id of the last event.
    pub(crate) id: String,
    /// How long to wait before coming back.
    pub(crate) pause: Duration,
}

/// A body that is counted while it is read.
type Counted = UnsyncBoxBody<Bytes, Fault>;

enum Body {
    Whole(Counted),
    Events(Box<SseStream<Counted>>),
    Over,
    Failed(End),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whole(_) => "Whole",
            Self::Events(_) => "Events",
            Self::Over => "Over",
            Self::Failed(_) => "Failed",
        })
    }
}

impl Reply {
    fn of(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let headers = kept(response.headers());
        let content_type = word(response.headers(), &CONTENT_TYPE);
        let encoding =
            Some(word(response.headers(), &CONTENT_ENCODING)).filter(|one| !matches!(&**one, "" | "identity"));
        let counted = Limited::new(reqwest::Body::from(response), MAX_REPLY).map_err(Fault::of).boxed_unsync();
        let body = if content_type == "text/event-stream" && encoding.is_none() {
            Body::Events(Box::new(SseStream::new(counted)))
        } else {
            Body::Whole(counted)
        };
        Self { status, resumable: None, headers, content_type, encoding, body, silent: true }
    }

    /// What comes next; `None` where the reply is over. A reply without any message gives one empty arrival first.
    ///
    /// # Errors
    /// The end that it makes of everything.
    pub(crate) async fn next(&mut self) -> Result<Option<Arrival>, End> {
        let came = match &mut self.body {
            Body::Events(events) => event(events, &mut self.resumable).await,
            _ => match std::mem::replace(&mut self.body, Body::Over) {
                Body::Whole(body) => whole(body).await.map(|text| Some(self.labelled(text))),
                Body::Failed(end) => Err(end),
                Body::Events(_) | Body::Over => Ok(None),
            },
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

    /// A body's text, with what its labels say against it.
    fn labelled(&self, text: Result<String, String>) -> Arrival {
        let is_json = self.content_type == "application/json";
        // An error's body may be labelled as anything, as long as it is a message.
        let is_free = !(200..300).contains(&self.status);
        let fault = match (&text, &self.encoding) {
            (_, Some(encoding)) => Some(format!("a body encoded as `{encoding}`, which nobody asked for")),
            (Err(_), None) => Some("a body that is no UTF-8".to_owned()),
            (Ok(text), None) if text.is_empty() || is_json || is_free => None,
            (Ok(_), None) if self.content_type.is_empty() => Some("a body without a type".to_owned()),
            (Ok(_), None) => Some(format!("a body of the type `{}`", self.content_type)),
        };
        let lossy = text.is_err();
        Arrival { text: text.unwrap_or_else(|text| text), fault, lossy, ..Arrival::default() }
    }

    fn stamped(&mut self, arrival: Arrival) -> Arrival {
        self.silent = false;
        Arrival { status: Some(self.status), headers: std::mem::take(&mut self.headers), ..arrival }
    }
}

/// A header's first word, in lower case, without parameters; empty where there is none. Several lines that say different
/// things have all their words, which together are none that anybody knows.
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

/// The text of a body that isn't a stream of events; what is no UTF-8 is replaced.
async fn whole(mut body: Counted) -> Result<Result<String, String>, End> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(Fault::end)?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Ok(String::from_utf8(bytes).map_err(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The next event with a message in it. Empty data carries an id, and no message.
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
        if let Some(text) = event.data.filter(|data| !data.is_empty()) {
            return Ok(Some(Arrival { text, ..Arrival::default() }));
        }
    }
    Ok(None)
}

/// The headers of a reply, as far as they are kept: first those that say what it is.
fn kept(headers: &HeaderMap) -> Headers {
    let telling = |name: &HeaderName| name == CONTENT_TYPE || name == SESSION;
    let first = headers.iter().filter(|(name, _)| telling(name));
    let rest = headers.iter().filter(|(name, _)| !telling(name));
    first.chain(rest).take(HEADERS).map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}

/// What goes wrong while a body is read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// There is more of it than is read.
    #[error("more than {MAX_REPLY} bytes")]
    TooLong,
    /// It isn't written as HTTP wants it.
    #[error("no HTTP: {0}")]
    Unreadable(String),
    /// The connection broke.
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

/// Why there is no reply: HTTP that is none, or a connection that isn't there.
fn failure(error: &reqwest::Error) -> End {
    let mut cause = error.source();
    while let Some(inner) = cause {
        match inner.downcast_ref::<hyper::Error>() {
            // More headers, or longer ones, than are read.
            Some(error) if error.is_parse_too_large() => return End::Oversized,
            Some(error) if error.is_parse() => return End::Invalid { reason: format!("no HTTP: {}", root(error)) },
            _ => {}
        }
        cause = inner.source();
    }
    let cause = root(error);
    if cause.downcast_ref::<io::Error>().is_some_and(fault::is_no_room) {
        fault::report(format!("no connection to the target could be opened: {cause}"));
    }
    End::Crash { how: cause.to_string() }
}

/// The first cause of an error: its words name no address.
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

    /// What comes of a stream that arrives in pieces of a size: the messages, where it could be resumed, and its end.
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

    /// A listener that answers everything, and tells of each connection when it comes and when it is over.
    async fn listener() -> (String, mpsc::UnboundedReceiver<&'static str>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (tell, told) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                _ = tell.send("opened");
                let tell = tell.clone();
                let answer = service_fn(async |_| Ok::<_, Infallible>(hyper::Response::new(Empty::<Bytes>::new())));
                tokio::spawn(async move {
                    _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                    _ = tell.send("closed");
                });
            }
        });
        (format!("http://{address}"), told)
    }

    #[tokio::test]
    async fn connections_last_where_a_listener_serves_a_second_time() {
        let ((here, mut told), (elsewhere, mut told_there)) = (listener().await, listener().await);
        let mut lasting = ConnectionReuse::default();
        for seen in [["opened", "closed"].as_slice(), &["opened"], &[]] {
            let http = lasting.local(&format!("{here}/{}", seen.len()));
            http.get(&Headers::new()).await.expect("a reply").next().await.expect("an empty one");
            drop(http);
            for what in seen {
                assert_eq!(told.recv().await, Some(*what));
            }
        }
        lasting.local(&elsewhere).get(&Headers::new()).await.expect("a reply");
        assert_eq!((told.recv().await, told_there.recv().await), (Some("closed"), Some("opened")));
        assert!(told.is_empty(), "three requests, two connections");
    }

    #[test]
    fn lines_of_a_header_that_differ_are_no_word_that_is_known() {
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
    fn any_stream_of_events_is_the_same_in_pieces_of_any_size() {
        fuzz("event-streams", samples::streams(), |bytes| {
            let whole = read(bytes, bytes.len().max(1));
            for size in [1, 2, 3, 7, 64] {
                assert_eq!(read(bytes, size), whole, "pieces of {size}");
            }
        });
    }
}
