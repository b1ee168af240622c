//! Streamable HTTP between the sides of a pair: each request and each reply is passed on as it comes, and recorded.
//!
//! Takes the connections of a client, opens one to the server for each. The ends of connections and bodies are passed on
//! as well. Must not know JSON-RPC, apart from the id of a request whose reply the client no longer waits for.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{self as upstream, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, watch};

use super::events::Events;
use crate::drive::accept::Asked;
use crate::drive::client::mock::log::Log;
use crate::drive::fault::{self, AbortOnDrop};
use crate::drive::kept_headers::{self, Headers};
use crate::drive::server::http::local;
use crate::model::transcript::{CLOSED, CLOSED_REQUEST, Message, Party};

/// The largest body that is read or kept, in bytes.
const MAX_BODY: usize = 16 << 20;
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
    let connection = Arc::new(Mutex::new(None));
    let service = service_fn(move |request| {
        asked.mark();
        pass_on(request, Arc::clone(&current), Arc::clone(&connection))
    });
    // An error of the connection is due to a side, whose messages are recorded.
    _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
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
    connection: Arc<Mutex<Option<Connection>>>,
) -> Result<Response<ReplyBody>, Error> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let Some((server, path)) = current.upstream(path) else { return Ok(bare(StatusCode::NOT_FOUND)) };
    parts.uri = path.parse()?;
    let body = match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Ok(bare(StatusCode::PAYLOAD_TOO_LARGE)),
        Err(error) => return Err(error),
    };
    if !server.log.received(&body, kept_headers::of_request(&parts.method, &parts.headers)) {
        return Ok(bare(StatusCode::TOO_MANY_REQUESTS));
    }
    let is_get = parts.method == Method::GET;
    let id =
        serde_json::from_slice::<Identified<'_>>(&body).ok().and_then(|request| Some(request.id?.get().to_owned()));
    parts.headers.insert(HOST, server.authority.clone());
    parts.version = hyper::Version::HTTP_11;
    let mut open = connection.lock().await;
    if open.as_ref().is_none_or(|open| open.sender.is_closed() || open.word != server.word) {
        *open = Some(connect(&server).await?);
    }
    let sender = &mut open.as_mut().expect("opened just now").sender;
    sender.ready().await?;
    let reply = sender.send_request(Request::from_parts(parts, Full::new(body)));
    drop(open);
    let (head, body) = reply.await?.into_parts();
    let is_events = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(EVENTS));
    let mut reading = Reading {
        log: Arc::clone(&server.log),
        status: head.status.as_u16(),
        headers: kept_headers::of_reply(&head.headers),
        on_get_stream: is_get,
        id: id.filter(|_| !is_get),
        framing: if is_events { Framing::Events(Events::default()) } else { Framing::Whole(Vec::new()) },
        recorded: 0,
        is_over: false,
    };
    if body.is_end_stream() {
        reading.end();
    } else if is_get {
        // A stream can stay without a message, and a client can wait for its headers.
        reading.record(b"");
    }
    Ok(Response::from_parts(head, Passing { body, reading }.boxed_unsync()))
}

async fn connect(server: &Upstream) -> Result<Connection, Error> {
    let (host, port) = &server.host;
    let stream = TcpStream::connect((host.as_str(), *port)).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = upstream::handshake(TokioIo::new(stream)).await?;
    // An error of the connection reaches the request that waits for a reply.
    let mut closing = server.closing.subscribe();
    let driving = fault::spawn(async move {
        tokio::select! {
            _ = connection => {}
            _ = closing.changed() => {}
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

/// The recording of a reply while its body passes by.
#[derive(Debug)]
struct Reading {
    log: Arc<Log>,
    status: u16,
    /// The headers, recorded with the first message.
    headers: Headers,
    on_get_stream: bool,
    /// The id of the request.
    id: Option<String>,
    framing: Framing,
    /// The number of messages that were recorded.
    recorded: usize,
    is_over: bool,
}

#[derive(Debug)]
enum Framing {
    Events(Events),
    Whole(Vec<u8>),
}

impl Reading {
    fn take(&mut self, bytes: &[u8]) {
        let events = match &mut self.framing {
            Framing::Events(events) => events.take(bytes),
            Framing::Whole(whole) => {
                let room = MAX_BODY.saturating_sub(whole.len());
                whole.extend_from_slice(&bytes[..bytes.len().min(room)]);
                Vec::new()
            }
        };
        for event in &events {
            self.record(event);
        }
    }

    fn record(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let lossy = matches!(text, std::borrow::Cow::Owned(_));
        let (status, headers) = (Some(self.status), std::mem::take(&mut self.headers));
        let message = Message::new(Party::Harness, text);
        // The limit on messages applies to the client only.
        _ = self.log.record(Message { status, headers, lossy, on_get_stream: self.on_get_stream, ..message });
        self.recorded += 1;
    }

    /// Records a body that has ended. A reply without a message has a status and headers.
    fn end(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        match std::mem::replace(&mut self.framing, Framing::Whole(Vec::new())) {
            Framing::Whole(whole) => self.record(&whole),
            Framing::Events(_) if self.recorded == 0 => self.record(b""),
            Framing::Events(_) => {}
        }
    }
}

/// A body that is recorded as it passes by.
#[derive(Debug)]
struct Passing {
    body: Incoming,
    reading: Reading,
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

impl Drop for Passing {
    /// Records that the client has closed a body that had no message yet.
    fn drop(&mut self) {
        if self.reading.is_over {
            return;
        }
        if let Some(id) = self.reading.id.take().filter(|_| self.reading.recorded == 0) {
            let headers = vec![(":method".to_owned(), CLOSED.to_owned()), (CLOSED_REQUEST.to_owned(), id)];
            _ = self.reading.log.received(b"", headers);
        }
    }
}
