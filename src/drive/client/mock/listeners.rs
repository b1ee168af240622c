//! Listeners for mock servers, which serve one test after another, so that a client can keep its connections.
//!
//! Takes a server, gives the addresses at which its client reaches it and other clients do not. Must not know the
//! messages.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use camino::Utf8Path;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tempfile::NamedTempFile;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::relay_file::relay_file;
use super::server::Server;
use super::{http, stdio};
use crate::drive::accept::{Asked, accept, listen};
use crate::drive::fault;
use crate::drive::fault::AbortOnDrop;
use crate::drive::token::token;

/// The number of connections that a client may leave open. With more, the listeners are closed.
const MAX_LEFT: usize = 8;
/// The number of bytes that an HTTP connection buffers, mainly for headers.
const MAX_HELD: usize = 64 << 10;

/// Listeners for one server at a time. Dropping them closes them and all their connections.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Option<Arc<Pair>>);

/// The listeners, one per transport, until they are closed.
#[derive(Debug)]
struct Pair {
    http: Listener,
    stdio: Listener,
    router: Arc<Router>,
    are_closed: AtomicBool,
}

/// A listener.
#[derive(Debug)]
struct Listener {
    address: SocketAddr,
    task: AbortOnDrop,
}

/// The server that the listeners lead to.
#[derive(Debug, Default)]
pub(super) struct Router {
    /// The current server, and the words that lead to it.
    server: Mutex<Option<CurrentServer>>,
    /// Cloned by each open connection.
    connected: Arc<()>,
    /// Cloned by each exchange in progress.
    busy: Arc<()>,
}

/// A server and the words that lead to it. The word of a URL may be on a command line, where other users can read it,
/// so it is not valid over stdio.
#[derive(Debug)]
struct CurrentServer {
    server: Arc<Server>,
    /// The path of the server's URL.
    path: String,
    /// The words that no relay has used yet.
    relays: BTreeSet<String>,
}

/// A registration of a server. Dropping it ends the registration.
#[derive(Debug)]
pub(super) struct Route {
    pair: Arc<Pair>,
    path: String,
    /// A file with the address and the words for relays, which only this user can read. It is written when it is first
    /// needed.
    file: OnceLock<NamedTempFile>,
}

/// The mark of an exchange in progress.
#[derive(Debug)]
pub(super) struct Busy(#[expect(dead_code, reason = "it counts by being there")] Arc<()>);

impl Listeners {
    /// Registers a server under an unguessable word.
    ///
    /// # Errors
    /// An error if the system provides no port.
    pub(super) fn route(&mut self, server: &Arc<Server>) -> io::Result<Route> {
        let pair = match self.0.take().filter(|pair| !pair.are_closed()) {
            Some(pair) => pair,
            None => Arc::new(Pair::open()?),
        };
        let path = token();
        *pair.router.locked() =
            Some(CurrentServer { server: Arc::clone(server), path: path.clone(), relays: BTreeSet::new() });
        self.0 = Some(Arc::clone(&pair));
        Ok(Route { pair, path, file: OnceLock::new() })
    }
}

impl Route {
    pub(super) fn url(&self) -> String {
        format!("http://{}/{}", self.pair.http.address, self.path)
    }

    /// Returns the file with which a relay is started.
    ///
    /// # Errors
    /// Errors of writing the file.
    pub(super) fn relay(&self) -> io::Result<&Utf8Path> {
        if self.file.get().is_none() {
            let written = self.write()?;
            self.file.get_or_init(|| written);
        }
        let file = self.file.get().expect("written just now");
        let unfit = || io::Error::new(io::ErrorKind::InvalidFilename, "the temporary folder's path is not UTF-8");
        Utf8Path::from_path(file.path()).ok_or_else(unfit)
    }

    /// Writes fresh words to a file, with the address in the first line.
    fn write(&self) -> io::Result<NamedTempFile> {
        let (file, words) = relay_file(self.pair.stdio.address)?;
        if let Some(met) = self.pair.router.locked().as_mut().filter(|met| met.path == self.path) {
            met.relays = words;
        }
        Ok(file)
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        let router = &self.pair.router;
        router.locked().take_if(|met| met.path == self.path);
        // An unfinished exchange, or many open connections of a client, must not affect the next server.
        if Router::holders(&router.busy) > 0 || Router::holders(&router.connected) > MAX_LEFT {
            self.pair.close();
        }
    }
}

impl Pair {
    fn open() -> io::Result<Self> {
        let router = Arc::new(Router::default());
        let http = Listener::open(&router, |stream, asked, router| async move {
            let service = service_fn(move |request| {
                asked.mark();
                http::answer(request, Arc::clone(&router))
            });
            let mut connection = hyper::server::conn::http1::Builder::new();
            connection.max_buf_size(MAX_HELD);
            // An error of the connection is due to the client, whose messages are recorded.
            _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
        let stdio = Listener::open(&router, |stream, asked, router| async move {
            // A process that is connected to one server must not be connected to the next.
            let _busy = router.busy();
            _ = stdio::converse(stream, &asked, &router).await;
        });
        let (http, stdio) = (http?, stdio?);
        Ok(Self { http, stdio, router, are_closed: AtomicBool::new(false) })
    }

    /// Closes the listeners and their connections.
    fn close(&self) {
        self.are_closed.store(true, Ordering::Relaxed);
        self.tasks().iter().for_each(|task| task.abort());
    }

    /// Returns whether the listeners accept no more connections.
    fn are_closed(&self) -> bool {
        self.are_closed.load(Ordering::Relaxed) || self.tasks().iter().any(|task| task.is_finished())
    }

    fn tasks(&self) -> [&AbortHandle; 2] {
        [&self.http, &self.stdio].map(|listener| &*listener.task)
    }
}

impl Listener {
    fn open<F>(router: &Arc<Router>, serve: fn(TcpStream, Asked, Arc<Router>) -> F) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = listen()?;
        let address = listener.local_addr()?;
        let router = Arc::clone(router);
        let task = fault::spawn(accept(listener, move |stream, asked| {
            let (serving, connected) = (serve(stream, asked, Arc::clone(&router)), Arc::clone(&router.connected));
            async move {
                serving.await;
                drop(connected);
            }
        }));
        Ok(Self { address, task: AbortOnDrop::of(&task) })
    }
}

impl Router {
    /// Returns the server at a path.
    pub(super) fn by_path(&self, path: &str) -> Option<Arc<Server>> {
        self.locked().as_ref().filter(|met| met.path == path).map(|met| Arc::clone(&met.server))
    }

    /// Returns the server that a relay's word leads to. Each word is valid once.
    pub(super) fn by_relay_word(&self, word: &str) -> Option<Arc<Server>> {
        self.locked().as_mut().and_then(|met| met.relays.remove(word).then(|| Arc::clone(&met.server)))
    }

    /// Returns a mark to be held during an exchange.
    pub(super) fn busy(&self) -> Busy {
        Busy(Arc::clone(&self.busy))
    }

    fn holders(one: &Arc<()>) -> usize {
        Arc::strong_count(one) - 1
    }

    fn locked(&self) -> MutexGuard<'_, Option<CurrentServer>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
