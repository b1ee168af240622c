//! Canary URLs and files: a request for one proves that the target dereferenced it.
//!
//! Takes the canaries of one test, gives their addresses and the requests for them. Must not know why a target would
//! request them.

mod files;

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::drive::accept::{Asked, accept, listen};
use crate::drive::clock::Deadline;
use crate::drive::fault;
use crate::drive::token::token;
use crate::model::target::TargetPair;
use crate::model::target::{Target, TargetKind};
use crate::model::template::{Canary, CanaryKind};
use crate::model::transcript::{Hit, Phase};
use files::Files;

/// The number of recorded requests. Further requests prove nothing more.
const MAX_HITS: usize = 100;
/// The number of characters of a requested path that are recorded.
const MAX_PATH: usize = 1000;
/// The number of bytes that a connection buffers, mainly for headers.
const MAX_HELD: usize = 16 << 10;
/// The domain of the canaries with a name. `.invalid` is reserved: no resolver knows an address for it.
const DOMAIN: &str = ".casebook.invalid";
/// The variables that lead requests for other machines to a proxy. Some programs read only one spelling of them.
const PROXY: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
/// The hosts to which a target connects without the proxy: casebook's own servers.
const DIRECT: &str = "127.0.0.1,localhost";
/// The time limit of casebook's own test request.
const PROBE: Duration = Duration::from_secs(5);

/// The canaries of one worker. Only those of one test are active at a time.
#[derive(Debug, Default)]
pub(crate) struct Canaries {
    alive: Arc<Mutex<ActiveCanaries>>,
    /// Opened for the first canary that needs it, and kept as long as it works.
    listener: Option<Listener>,
    /// The proxy that receives requests for names. Running processes have its address, so it is never replaced.
    proxy: Option<Listener>,
    files: Option<Files>,
}

/// The listener for requests; dropping it closes it.
#[derive(Debug)]
struct Listener {
    address: SocketAddr,
    task: AbortHandle,
}

impl Listener {
    /// Opens a listener on a port of its own.
    fn open(alive: &Arc<Mutex<ActiveCanaries>>) -> std::io::Result<Self> {
        let listener = listen()?;
        let address = listener.local_addr()?;
        let alive = Arc::clone(alive);
        let serve = move |stream, asked| serve(stream, asked, address, Arc::clone(&alive));
        let task = fault::spawn(accept(listener, serve)).abort_handle();
        Ok(Self { address, task })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The active canaries and the requests for them.
#[derive(Debug)]
struct ActiveCanaries {
    places: HashMap<String, Place>,
    phase: Phase,
    hits: Vec<Hit>,
    /// Notified of each request for an HTTP canary.
    noted: Arc<Notify>,
}

impl Default for ActiveCanaries {
    fn default() -> Self {
        Self { places: HashMap::new(), phase: Phase::Serve, hits: Vec::new(), noted: Arc::default() }
    }
}

impl ActiveCanaries {
    fn note(&mut self, url: String) {
        if self.hits.len() < MAX_HITS {
            self.hits.push(Hit { url, phase: self.phase });
        }
        self.noted.notify_waiters();
    }

    fn has_hit(&self, end: &str) -> bool {
        self.hits.iter().any(|hit| hit.url.ends_with(end))
    }
}

/// The response for an address and for every address below it.
#[derive(Clone, Debug)]
struct Place {
    body: Bytes,
    redirect: Option<String>,
    delay: Duration,
}

/// The reason for which a test with canaries shows nothing. It lies in this machine, and not in a target.
#[derive(Debug, thiserror::Error)]
pub enum CanaryError {
    /// The system provides no port.
    #[error("casebook cannot open a port for canaries: {0}")]
    Listen(std::io::Error),
    /// The system provides no file, or no way to watch it.
    #[error("casebook cannot watch canary files: {0}")]
    Watch(std::io::Error),
    /// A test request by casebook itself was not noticed, so that silence proves nothing.
    #[error("casebook cannot notice requests for canaries: its own request {0}")]
    RequestNotNoticed(&'static str),
}

impl Canaries {
    /// Replaces the active canaries with these, and returns the address of each, without a fragment.
    ///
    /// # Errors
    /// [`CanaryError`] if the machine has no port or no file for one of them.
    pub(crate) fn bind(&mut self, canaries: Vec<Canary>) -> Result<Vec<(Canary, String)>, CanaryError> {
        self.release();
        let mut bound = Vec::with_capacity(canaries.len());
        for canary in canaries {
            let address = match canary.kind {
                CanaryKind::File => self.place(&canary).map_err(CanaryError::Watch)?,
                kind => {
                    let address = if kind == CanaryKind::Http { self.listen() } else { self.proxy() };
                    self.address_of(address.map_err(CanaryError::Listen)?, &canary)
                }
            };
            bound.push((canary, address));
        }
        Ok(bound)
    }

    /// Returns the address of the listener, and opens the listener if necessary.
    fn listen(&mut self) -> std::io::Result<SocketAddr> {
        if let Some(listener) = self.listener.as_ref().filter(|listener| !listener.task.is_finished()) {
            return Ok(listener.address);
        }
        Ok(self.listener.insert(Listener::open(&self.alive)?).address)
    }

    /// Returns the address of the proxy, and opens the proxy if there was none yet.
    fn proxy(&mut self) -> std::io::Result<SocketAddr> {
        match &self.proxy {
            Some(proxy) if proxy.task.is_finished() => Err(std::io::Error::other("the proxy for names has ended")),
            Some(proxy) => Ok(proxy.address),
            None => Ok(self.proxy.insert(Listener::open(&self.alive)?).address),
        }
    }

    /// Returns a target whose processes send requests for other machines to the proxy, unless `target.toml` sets another
    /// one. A fixed target has no canaries, and stays as it is.
    pub(crate) fn behind_proxy(&mut self, target: &Arc<Target>) -> Arc<Target> {
        let mut target = Arc::clone(target);
        match &target.drives {
            TargetKind::Adapter(_) => {
                let mut env = self.proxy_variables();
                env.extend(target.env.clone());
                Arc::make_mut(&mut target).env = env;
            }
            TargetKind::Pair(TargetPair { client, server }) => {
                let pair = TargetPair { client: self.behind_proxy(client), server: self.behind_proxy(server) };
                Arc::make_mut(&mut target).drives = TargetKind::Pair(pair);
            }
            TargetKind::Fixed(_) => {}
        }
        target
    }

    /// Returns the environment variables that lead a process's requests for other machines to the proxy. Without a free
    /// port there are none, and each test with a named canary reports that.
    fn proxy_variables(&mut self) -> BTreeMap<String, String> {
        let Ok(address) = self.proxy() else { return BTreeMap::new() };
        let proxied = PROXY.map(|name| (name, origin(address)));
        let all = proxied.into_iter().chain([("NO_PROXY", DIRECT.to_owned())]);
        all.flat_map(|(name, value)| [(name.to_owned(), value.clone()), (name.to_ascii_lowercase(), value)]).collect()
    }

    /// Deactivates all canaries, and forgets the requests for them.
    pub(crate) fn release(&mut self) {
        self.files = None;
        let mut alive = self.alive();
        alive.places.clear();
        alive.hits.clear();
        alive.phase = Phase::Serve;
    }

    /// Sets the phase in which later requests are recorded.
    pub(crate) fn phase(&self, phase: Phase) {
        self.listen_to_files();
        self.alive().phase = phase;
    }

    /// Returns the requests so far.
    pub(crate) fn hits(&self) -> Vec<Hit> {
        self.listen_to_files();
        self.alive().hits.clone()
    }

    /// Returns whether an address with this end was requested.
    pub(crate) fn is_requested(&self, end: &str) -> bool {
        self.alive().has_hit(end)
    }

    /// Waits until an address with this end is requested by HTTP.
    pub(crate) async fn requested(&self, end: &str) {
        let noted = Arc::clone(&self.alive().noted);
        loop {
            // It exists before the requests are read, so that it misses none after them.
            let next = noted.notified();
            if self.is_requested(end) {
                return;
            }
            next.await;
        }
    }

    /// Requests a canary of each kind, and checks that the request is noticed. The listener takes connections in order:
    /// it has noticed all earlier requests by then.
    ///
    /// # Errors
    /// [`CanaryError::RequestNotNoticed`] if a request is not noticed. The next canaries then get a new listener.
    pub(crate) async fn check(&mut self, kinds: impl IntoIterator<Item = CanaryKind>) -> Result<(), CanaryError> {
        for kind in kinds {
            let noticed = match kind {
                CanaryKind::Http | CanaryKind::HttpByName | CanaryKind::HttpsByName => self.probe(kind).await,
                CanaryKind::File => Files::probe(),
            };
            if noticed.is_err() {
                self.listener = None;
                return noticed;
            }
        }
        Ok(())
    }

    async fn probe(&self, kind: CanaryKind) -> Result<(), CanaryError> {
        let listener = if kind == CanaryKind::Http { &self.listener } else { &self.proxy };
        let Some(address) = listener.as_ref().map(|listener| listener.address) else {
            return Err(CanaryError::RequestNotNoticed("had no listener"));
        };
        let here = token();
        let probe = url(kind, address, &here);
        let place =
            Place { body: Canary::default_document().to_string().into(), redirect: None, delay: Duration::ZERO };
        self.alive().places.insert(here.clone(), place);
        // A tunnel is refused, because casebook has no certificate for the name.
        let (request, wanted) = match kind {
            CanaryKind::HttpsByName => (format!("CONNECT {here}{DOMAIN}:443"), "HTTP/1.1 403"),
            CanaryKind::HttpByName => (format!("GET {probe}"), "$defs"),
            CanaryKind::Http | CanaryKind::File => (format!("GET /{here}"), "$defs"),
        };
        let reply = Deadline::within(PROBE).bound(ask(address, &request)).await;
        let was_noticed = {
            let mut alive = self.alive();
            alive.places.remove(&here);
            let full = alive.hits.len() >= MAX_HITS;
            let before = alive.hits.len();
            alive.hits.retain(|hit| !hit.url.contains(&here));
            full || alive.hits.len() < before
        };
        match reply {
            None => Err(CanaryError::RequestNotNoticed("got no answer in time")),
            Some(Err(_)) => Err(CanaryError::RequestNotNoticed("could not connect")),
            Some(Ok(reply)) if !reply.contains(wanted) => Err(CanaryError::RequestNotNoticed("got a wrong answer")),
            Some(Ok(_)) if !was_noticed => Err(CanaryError::RequestNotNoticed("was not recorded")),
            Some(Ok(_)) => Ok(()),
        }
    }

    fn alive(&self) -> MutexGuard<'_, ActiveCanaries> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a canary at a fresh address of the listener.
    fn address_of(&self, address: SocketAddr, canary: &Canary) -> String {
        let body = Bytes::from(canary.document().to_string());
        let delay = Duration::from_millis(canary.delay_ms);
        let (here, there) = (token(), token());
        let redirect = canary.redirects.then(|| url(canary.kind, address, &there));
        let mut alive = self.alive();
        if redirect.is_some() {
            alive.places.insert(there, Place { body: body.clone(), redirect: None, delay: Duration::ZERO });
        }
        alive.places.insert(here.clone(), Place { body, redirect, delay });
        let path = canary.path.as_deref().map(|path| format!("/{}", path.trim_start_matches('/'))).unwrap_or_default();
        format!("{}{path}", url(canary.kind, address, &here))
    }

    /// Writes a canary to a fresh file.
    fn place(&mut self, canary: &Canary) -> std::io::Result<String> {
        if self.files.is_none() {
            self.files = Some(Files::new()?);
        }
        let files = self.files.as_mut().expect("made just now");
        let path = files.place(canary.path.as_deref(), &canary.document().to_string())?;
        Ok(files::address(&path))
    }

    fn listen_to_files(&self) {
        let read = self.files.as_ref().map(Files::read).unwrap_or_default();
        let mut alive = self.alive();
        for path in read {
            alive.note(files::address(&path));
        }
    }
}

fn origin(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// Returns the URL of a canary at a listener or behind a proxy.
fn url(kind: CanaryKind, address: SocketAddr, token: &str) -> String {
    match kind {
        CanaryKind::Http | CanaryKind::File => format!("{}/{token}", origin(address)),
        CanaryKind::HttpByName => format!("http://{token}{DOMAIN}/schemas"),
        CanaryKind::HttpsByName => format!("https://{token}{DOMAIN}/schemas"),
    }
}

/// Returns the token of the canary that a request is for, and the requested URL.
fn requested<B>(request: &Request<B>, address: SocketAddr) -> (String, String) {
    let uri = request.uri();
    let path: String = uri.path().chars().take(MAX_PATH).collect();
    match uri.host().and_then(|host| Some((host, host.strip_suffix(DOMAIN)?))) {
        // A request to open a tunnel has no path.
        Some((host, token)) if request.method() == Method::CONNECT => (token.to_owned(), format!("https://{host}")),
        Some((host, token)) => (token.to_owned(), format!("http://{host}{path}")),
        None => {
            let path = path.trim_start_matches('/');
            (path.split('/').next().unwrap_or_default().to_owned(), format!("{}/{path}", origin(address)))
        }
    }
}

/// Serves one connection.
async fn serve(stream: TcpStream, asked: Asked, address: SocketAddr, alive: Arc<Mutex<ActiveCanaries>>) {
    let service = service_fn(move |request| {
        asked.mark();
        answer(request, address, Arc::clone(&alive))
    });
    let mut connection = hyper::server::conn::http1::Builder::new();
    connection.max_buf_size(MAX_HELD);
    _ = connection.serve_connection(TokioIo::new(stream), service).await;
}

async fn answer<B>(
    request: Request<B>,
    address: SocketAddr,
    alive: Arc<Mutex<ActiveCanaries>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (token, url) = requested(&request, address);
    let place = {
        let mut alive = alive.lock().unwrap_or_else(PoisonError::into_inner);
        let place = alive.places.get(&token).cloned();
        if place.is_some() {
            alive.note(url);
        }
        place
    };
    if request.method() == Method::CONNECT {
        return Ok(response(StatusCode::FORBIDDEN, Bytes::new()));
    }
    let Some(place) = place else {
        return Ok(response(StatusCode::NOT_FOUND, Bytes::new()));
    };
    tokio::time::sleep(place.delay).await;
    let Some(location) = place.redirect.and_then(|url| url.parse().ok()) else {
        return Ok(response(StatusCode::OK, place.body));
    };
    let mut redirect = response(StatusCode::FOUND, Bytes::new());
    redirect.headers_mut().insert(header::LOCATION, location);
    Ok(redirect)
}

fn response(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let schema = header::HeaderValue::from_static("application/schema+json");
    response.headers_mut().insert(header::CONTENT_TYPE, schema);
    response
}

/// Sends a request, of which this is the start of the first line, and returns the reply.
async fn ask(address: SocketAddr, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut body = String::new();
    stream.take(64 << 10).read_to_string(&mut body).await?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(canaries: &Canaries) -> SocketAddr {
        canaries.listener.as_ref().expect("a canary that needs a listener is bound").address
    }

    async fn fetch(address: SocketAddr, path: &str) -> std::io::Result<String> {
        ask(address, &format!("GET {path}")).await
    }

    fn path(canaries: &Canaries, url: &str) -> String {
        url.strip_prefix(&origin(address(canaries))).expect("an address of the listener").to_owned()
    }

    #[tokio::test]
    async fn request_for_canary_or_sibling_is_recorded_with_phase() {
        let mut canaries = Canaries::default();
        let canary = Canary { path: Some("schemas/root.json".into()), ..Canary::new(CanaryKind::Http) };
        let bound = canaries.bind(vec![canary]).expect("bound");
        let root = path(&canaries, &bound[0].1);
        canaries.phase(Phase::Step);
        let body = fetch(address(&canaries), &root).await.expect("a reply");
        assert!(body.starts_with("HTTP/1.1 200") && body.contains("application/schema+json"), "{body}");
        fetch(address(&canaries), &root.replace("root", "address")).await.expect("a reply");
        fetch(address(&canaries), "/favicon.ico").await.expect("a reply");
        let hits = canaries.hits();
        assert_eq!(hits.len(), 2);
        assert_eq!(hits[0], Hit { url: bound[0].1.clone(), phase: Phase::Step });
        assert!(hits[1].url.ends_with("/schemas/address.json"));
        canaries.release();
        fetch(address(&canaries), &root).await.expect("a reply");
        assert_eq!(canaries.hits(), []);
    }

    #[tokio::test]
    async fn redirect_target_is_recorded_as_well() {
        let mut canaries = Canaries::default();
        let canary = Canary { redirects: true, ..Canary::new(CanaryKind::Http) };
        let bound = canaries.bind(vec![canary]).expect("bound");
        let reply = fetch(address(&canaries), &path(&canaries, &bound[0].1)).await.expect("a reply");
        assert!(reply.starts_with("HTTP/1.1 302"), "{reply}");
        let location = reply.lines().find_map(|line| line.strip_prefix("location: ")).expect("a location");
        let reply = fetch(address(&canaries), &path(&canaries, location)).await.expect("a reply");
        assert!(reply.contains("$defs"), "{reply}");
        assert_eq!(canaries.hits().len(), 2);
    }

    #[tokio::test]
    async fn request_for_name_through_proxy_is_recorded() {
        let mut canaries = Canaries::default();
        let proxy: SocketAddr = canaries.proxy_variables()["https_proxy"]
            .strip_prefix("http://")
            .and_then(|address| address.parse().ok())
            .expect("the address of the proxy");
        let bound = canaries.bind([CanaryKind::HttpByName, CanaryKind::HttpsByName].map(Canary::new).into());
        let bound = bound.expect("bound");
        let reply = ask(proxy, &format!("GET {}/a.json", bound[0].1)).await.expect("a reply");
        assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("$defs"), "{reply}");
        let host = bound[1].1.strip_prefix("https://").and_then(|url| url.split('/').next()).expect("a host");
        let reply = ask(proxy, &format!("CONNECT {host}:443")).await.expect("a reply");
        assert!(reply.starts_with("HTTP/1.1 403"), "{reply}");
        for other in ["GET http://other.invalid/", "CONNECT other.invalid:443"] {
            ask(proxy, other).await.expect("a reply");
        }
        let urls: Vec<_> = canaries.hits().into_iter().map(|hit| hit.url).collect();
        assert_eq!(urls, [format!("{}/a.json", bound[0].1), format!("https://{host}")]);
        canaries.proxy.as_ref().expect("it is open").task.abort();
        tokio::task::yield_now().await;
        assert!(matches!(canaries.bind(vec![Canary::new(CanaryKind::HttpByName)]), Err(CanaryError::Listen(_))));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn reading_canary_file_counts_and_writing_it_does_not() {
        let mut canaries = Canaries::default();
        let canary = Canary { path: Some("../../a/b.json".into()), ..Canary::new(CanaryKind::File) };
        let bound = canaries.bind(vec![canary]).expect("bound");
        assert_eq!(canaries.hits(), []);
        let file = bound[0].1.strip_prefix("file://").expect("a file");
        assert!(file.ends_with("/a/b.json") && !file.contains(".."));
        std::fs::read(file).expect("the document");
        assert_eq!(canaries.hits(), [Hit { url: bound[0].1.clone(), phase: Phase::Serve }]);
    }

    #[tokio::test]
    async fn own_request_is_noticed_and_missing_notice_is_error() {
        let mut canaries = Canaries::default();
        canaries.bind(CanaryKind::ALL.iter().copied().map(Canary::new).collect()).expect("bound");
        canaries.check(CanaryKind::ALL.iter().copied()).await.expect("it hears");
        assert_eq!(canaries.hits(), []);
        canaries.listener.as_ref().expect("it listens").task.abort();
        tokio::task::yield_now().await;
        assert!(matches!(canaries.check([CanaryKind::Http]).await, Err(CanaryError::RequestNotNoticed(_))));
        canaries.bind(vec![Canary::new(CanaryKind::Http)]).expect("bound");
        canaries.check([CanaryKind::Http]).await.expect("the next canaries have a listener that works");
    }
}
