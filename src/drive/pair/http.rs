//! Streamable HTTP between the sides of a pair: each request and each reply is passed on as it comes, and recorded.
//!
//! Takes the connections of a client, opens one to the server for each. The ends of connections and bodies are passed on
//! as well. Must not know JSON-RPC, apart from the id of a request whose reply the client no longer waits for.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self as upstream, SendRequest};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, watch};

use super::encoding::Encoding;
use super::events::{Event, Events};
use crate::drive::accept::Asked;
use crate::drive::client::mock::log::Log;
use crate::drive::fault::{self, AbortOnDrop};
use crate::drive::kept_headers::{self, Headers};
use crate::drive::server::http::local;
use crate::model::transcript::{CLOSED, CLOSED_REQUEST, Message, Party};

/// The largest body that is read or kept, in bytes.
const MAX_BODY: usize = 16 << 20;
/// The largest body of a request that is read without regard to the other requests, in bytes.
const SMALL_BODY: usize = 64 << 10;
/// The number of larger bodies of requests that are held at the same time. Further ones wait.
const LARGE_BODIES: usize = 4;
const EVENTS: &[u8] = b"text/event-stream";

type Error = Box<dyn std::error::Error + Send + Sync>;
type ReplyBody = UnsyncBoxBody<Bytes, Error>;

/// The server that a proxy leads to.
#[derive(Debug)]
pub(super) struct Upstream {
    authority: HeaderValue,
    /// The host and the port.
    host: (String, u16),
    /// The path and the query of the server's URL.
    path: String,
    /// The first part of the path at the proxy, which only its client knows.
    word: String,
    log: Arc<Log>,
    /// One permit for each large body of a request that may be held.
    large: Arc<Semaphore>,
    /// Changed when the connections are to be closed.
    closing: watch::Sender<()>,
}

impl Upstream {
    /// The server at a URL of this machine.
    ///
    /// # Errors
    /// An error if the URL leads elsewhere.
    pub(super) fn new(url: &str, word: String, log: Arc<Log>) -> io::Result<Self> {
        let unfit =
            || io::Error::new(io::ErrorKind::InvalidInput, "the URL of the server is invalid or not on this machine");
        let url = local(url).ok_or_else(unfit)?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
        Ok(Self {
            host: (host, url.port_or_known_default().unwrap_or_default()),
            authority: HeaderValue::from_str(url.authority()).map_err(|_| unfit())?,
            path: format!("{}{query}", url.path()),
            word,
            log,
            large: Arc::new(Semaphore::new(LARGE_BODIES)),
            closing: watch::Sender::default(),
        })
    }

    /// Closes all connections to the server.
    pub(super) fn close(&self) {
        self.closing.send_replace(());
    }

    /// Returns the path at the server for a path at the proxy, if it belongs to this server.
    pub(super) fn path_of(&self, path: &str) -> Option<String> {
        let path = path.strip_prefix('/')?.strip_prefix(&self.word)?;
        Some(if path.is_empty() { "/".to_owned() } else { path.to_owned() })
    }

    /// Returns the URL of the server at the proxy. Its path ends as that of the server, because some clients read it.
    pub(super) fn url_at(&self, address: SocketAddr) -> String {
        format!("http://{address}/{}{}", self.word, self.path)
    }
}

/// The server to which a path of the proxy leads at the moment.
pub(super) trait Directory: Send + Sync + 'static {
    /// Returns the server and the path at it.
    fn upstream(&self, path: &str) -> Option<(Arc<Upstream>, String)>;
}

/// Serves one connection of the client until either side closes it.
pub(super) async fn serve(stream: TcpStream, asked: Asked, current: Arc<impl Directory>) {
    let link = Arc::new(Link::default());
    let served = Arc::clone(&link);
    let service = service_fn(move |request| {
        asked.mark();
        pass_on(request, Arc::clone(&current), Arc::clone(&served))
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.preserve_header_case(true).auto_date_header(false);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // An error of the connection is due to a side, whose messages are recorded.
        _ = serving.as_mut() => return,
        () = link.ended() => serving.as_mut().graceful_shutdown(),
    }
    _ = serving.await;
}

/// The connection to the server that belongs to one connection of the client.
#[derive(Debug, Default)]
struct Link {
    connection: Mutex<Option<Connection>>,
    state: watch::Sender<LinkState>,
}

#[derive(Debug, Default)]
struct LinkState {
    /// The number of requests whose replies are not whole.
    in_flight: usize,
    /// `true` if the server has closed the connection.
    is_closed: bool,
}

impl Link {
    /// Waits until the server has closed the connection between two requests.
    async fn ended(&self) {
        // The sender lives as long as this value.
        _ = self.state.subscribe().wait_for(|state| state.is_closed && state.in_flight == 0).await;
    }
}

/// A request whose reply is not whole.
#[derive(Debug)]
struct InFlight(Arc<Link>);

impl InFlight {
    fn new(link: &Arc<Link>) -> Self {
        link.state.send_modify(|state| state.in_flight += 1);
        Self(Arc::clone(link))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.in_flight -= 1);
    }
}

/// A connection to the server, with the task that drives it.
#[derive(Debug)]
struct Connection {
    /// The word of the server.
    word: String,
    sender: SendRequest<Full<Bytes>>,
    _driving: AbortOnDrop,
}

/// Passes on one request. An error closes the connection of the client, as that of the server was closed.
async fn pass_on(
    request: Request<Incoming>,
    current: Arc<impl Directory>,
    link: Arc<Link>,
) -> Result<Response<ReplyBody>, Error> {
    let in_flight = InFlight::new(&link);
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let Some((server, path)) = current.upstream(path) else { return Ok(bare(StatusCode::NOT_FOUND)) };
    parts.uri = path.parse()?;
    let (body, room) = match whole(body, &server.large).await {
        Ok(body) => body,
        Err(error) if error.is::<LengthLimitError>() => {
            _ = server.log.received_too_long(
                &[],
                MAX_BODY + 1,
                kept_headers::of_request(&parts.method, &parts.headers),
            );
            return Ok(bare(StatusCode::PAYLOAD_TOO_LARGE));
        }
        Err(error) => return Err(error),
    };
    let headers = kept_headers::of_request(&parts.method, &parts.headers);
    if !server.log.passed(Message { headers, ..Message::of_bytes(Party::Target, &body) }) {
        return Ok(bare(StatusCode::TOO_MANY_REQUESTS));
    }
    let is_get = parts.method == Method::GET;
    let id =
        serde_json::from_slice::<Identified<'_>>(&body).ok().and_then(|request| Some(request.id?.get().to_owned()));
    let mut unanswered = Unanswered { log: Arc::clone(&server.log), id: id.filter(|_| !is_get) };
    parts.headers.insert(HOST, server.authority.clone());
    parts.version = hyper::Version::HTTP_11;
    let reply = match send(Request::from_parts(parts, Full::new(body)), &server, &link).await {
        Ok(reply) => reply,
        Err(error) => {
            // The server closed the connection, and not the client.
            unanswered.id = None;
            return Err(error);
        }
    };
    drop(room);
    let (head, body) = reply.into_parts();
    let is_events = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENTS));
    let encoding = head.headers.get(CONTENT_ENCODING).map_or(Encoding::None, |name| Encoding::of(name.as_bytes()));
    let can_divide = is_events && !encoding.is_unknown();
    let mut reading = Reading {
        unanswered,
        status: head.status.as_u16(),
        headers: kept_headers::of_reply(&head.headers),
        on_get_stream: is_get,
        encoding,
        framing: if can_divide { Framing::Events(Events::default()) } else { Framing::Whole(Event::default()) },
        recorded: 0,
        is_over: false,
    };
    if body.is_end_stream() {
        reading.end();
    } else if is_get {
        // A stream can stay without a message, and a client can wait for its headers.
        reading.record(&Event::default());
    }
    Ok(Response::from_parts(head, Passing { body, reading, _in_flight: in_flight }.boxed_unsync()))
}

/// Reads the body of a request. A large one waits for a permit, which lasts as long as the body is held.
async fn whole(
    body: impl Body<Data = Bytes, Error: Into<Error>> + Unpin,
    large: &Arc<Semaphore>,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Error> {
    let mut body = Limited::new(body, MAX_BODY);
    let (mut bytes, mut permit) = (Vec::new(), None);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if permit.is_none() && bytes.len() + data.len() > SMALL_BODY {
            permit = Some(Arc::clone(large).acquire_owned().await?);
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes.into(), permit))
}

/// Sends a request over the connection of this client to this server, and waits for the head of the reply.
async fn send(request: Request<Full<Bytes>>, server: &Upstream, link: &Arc<Link>) -> Result<Response<Incoming>, Error> {
    let mut open = link.connection.lock().await;
    if open.as_ref().is_none_or(|open| open.word != server.word) {
        *open = Some(connect(server, link).await?);
    }
    let sender = &mut open.as_mut().expect("opened just now").sender;
    // A closed connection is not replaced: without the proxy, the request would fail as well.
    sender.ready().await?;
    let reply = sender.send_request(request);
    drop(open);
    Ok(reply.await?)
}

async fn connect(server: &Upstream, link: &Arc<Link>) -> Result<Connection, Error> {
    let (host, port) = &server.host;
    let stream = TcpStream::connect((host.as_str(), *port)).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) =
        upstream::Builder::new().preserve_header_case(true).handshake(TokioIo::new(stream)).await?;
    link.state.send_modify(|state| state.is_closed = false);
    let (link, mut closing) = (Arc::clone(link), server.closing.subscribe());
    let driving = fault::spawn(async move {
        tokio::select! {
            // At the end of a test, the client can keep its connection for the next server.
            biased;
            _ = closing.changed() => {}
            // An error of the connection reaches the request that waits for a reply.
            _ = connection => link.state.send_modify(|state| state.is_closed = true),
        }
    });
    Ok(Connection { word: server.word.clone(), sender, _driving: AbortOnDrop::of(&driving) })
}

/// A reply of the proxy itself, to a request that no client of the pair would send.
fn bare(status: StatusCode) -> Response<ReplyBody> {
    let mut reply = Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *reply.status_mut() = status;
    reply.headers_mut().insert("connection", HeaderValue::from_static("close"));
    reply
}

#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// A request without a message in reply. Dropping it records that the client no longer waits.
#[derive(Debug)]
struct Unanswered {
    log: Arc<Log>,
    /// The id of the request; `None` once there is a message, or if the server has closed the connection.
    id: Option<String>,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let headers = vec![(":method".to_owned(), CLOSED.to_owned()), (CLOSED_REQUEST.to_owned(), id)];
            _ = self.log.received(b"", headers);
        }
    }
}

/// The recording of a reply while its body passes by.
#[derive(Debug)]
struct Reading {
    unanswered: Unanswered,
    status: u16,
    /// The headers, recorded with the first message.
    headers: Headers,
    on_get_stream: bool,
    encoding: Encoding,
    framing: Framing,
    /// The number of messages that were recorded.
    recorded: usize,
    is_over: bool,
}

#[derive(Debug)]
enum Framing {
    Events(Events),
    Whole(Event),
}

impl Reading {
    fn take(&mut self, bytes: &[u8]) {
        let Self { encoding, framing, .. } = self;
        let mut events = Vec::new();
        encoding.decode(bytes, |decoded| match framing {
            Framing::Events(stream) => events.extend(stream.take(decoded)),
            Framing::Whole(whole) => whole.add(decoded, MAX_BODY),
        });
        for event in &events {
            self.record(event);
        }
    }

    fn record(&mut self, event: &Event) {
        let message = Message::of_bytes(Party::Harness, &event.data);
        // The server may continue in any case: a limit is no reason to change its reply.
        _ = self.unanswered.log.passed(Message {
            cut_from: event.cut_from(),
            lossy: message.lossy || self.encoding.is_unknown(),
            status: Some(self.status),
            headers: std::mem::take(&mut self.headers),
            on_get_stream: self.on_get_stream,
            ..message
        });
        self.unanswered.id = None;
        self.recorded += 1;
    }

    /// Records a body that has ended. A reply without a message has a status and headers.
    fn end(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        self.unanswered.id = None;
        match std::mem::replace(&mut self.framing, Framing::Whole(Event::default())) {
            Framing::Whole(whole) => self.record(&whole),
            Framing::Events(_) if self.recorded == 0 => self.record(&Event::default()),
            Framing::Events(_) => {}
        }
    }
}

/// A body that is recorded as it passes by.
#[derive(Debug)]
struct Passing {
    body: Incoming,
    reading: Reading,
    _in_flight: InFlight,
}

impl Body for Passing {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(data)) = frame.as_ref().map(|frame| frame.as_ref().map(Frame::data_ref))
            && let Some(data) = data
        {
            self.reading.take(data);
        }
        if !matches!(frame, Some(Ok(_))) || self.body.is_end_stream() {
            self.reading.end();
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn large_bodies_wait_for_each_other_and_small_ones_do_not() {
        let large = Arc::new(Semaphore::new(1));
        let read = |length: usize| whole(Full::from(vec![b'x'; length]), &large).now_or_never();
        let (first, permit) = read(SMALL_BODY + 1).expect("there is room").expect("a body");
        assert_eq!((first.len(), permit.is_some()), (SMALL_BODY + 1, true));
        assert!(read(SMALL_BODY + 1).is_none());
        let (small, none) = read(SMALL_BODY).expect("it does not wait").expect("a body");
        assert_eq!((small.len(), none.is_none()), (SMALL_BODY, true));
        drop(permit);
        assert!(read(SMALL_BODY + 1).is_some());
    }
}
