//! Where mock servers are met, one after the other: listeners on loopback that outlive them, so that a client which
//! keeps its connections goes on with them.
//!
//! Takes a server, gives the addresses at which its client meets it and nobody else does. Must not know what is said.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::server::Server;
use super::{Leash, http, stdio};
use crate::drive::{fault, token};

/// Connections at a time to a listener; further ones wait.
const MAX_CONNECTIONS: usize = 64;
/// Connections that a client may leave behind; with more the listeners are closed.
const MAX_LEFT: usize = 8;
/// How much a connection over HTTP holds that isn't read yet: headers, above all.
const MAX_HELD: usize = 64 << 10;

/// Listeners for one server at a time. Dropped, they close, and with them all connections.
#[derive(Debug, Default)]
pub(crate) struct Listeners(Option<Arc<Pair>>);

/// The listeners, one a transport, for as long as they are of use.
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
    task: Leash,
}

/// Who is met behind the listeners.
#[derive(Debug, Default)]
pub(super) struct Router {
    /// The server that is met, and the word that leads to it.
    server: Mutex<Option<(String, Arc<Server>)>>,
    /// Each connection has one.
    connected: Arc<()>,
    /// Each exchange that isn't over has one.
    busy: Arc<()>,
}

/// The way to a server, until it is dropped.
#[derive(Debug)]
pub(super) struct Route {
    pair: Arc<Pair>,
    word: String,
}

/// For as long as this is there, something is said.
#[derive(Debug)]
pub(super) struct Busy(#[expect(dead_code, reason = "it counts by being there")] Arc<()>);

impl Listeners {
    /// Leads to a server from now on, by a word that nobody can guess.
    ///
    /// # Errors
    /// Where the system gives no port.
    pub(super) async fn route(&mut self, server: &Arc<Server>) -> io::Result<Route> {
        let pair = match self.0.take().filter(|pair| !pair.are_closed()) {
            Some(pair) => pair,
            None => Arc::new(Pair::open().await?),
        };
        let word = token();
        *pair.router.locked() = Some((word.clone(), Arc::clone(server)));
        self.0 = Some(Arc::clone(&pair));
        Ok(Route { pair, word })
    }
}

impl Route {
    pub(super) fn url(&self) -> String {
        format!("http://{}/{}", self.pair.http.address, self.word)
    }

    pub(super) fn relay(&self) -> String {
        format!("{}/{}", self.pair.stdio.address, self.word)
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        let router = &self.pair.router;
        router.locked().take_if(|(word, _)| *word == self.word);
        // What is still said, and what a client has heaped up, is not for the next server to put up with.
        if Router::holders(&router.busy) > 0 || Router::holders(&router.connected) > MAX_LEFT {
            self.pair.close();
        }
    }
}

impl Pair {
    async fn open() -> io::Result<Self> {
        let router = Arc::new(Router::default());
        let http = Listener::open(&router, |stream, router| async move {
            let service = service_fn(move |request| http::answer(request, Arc::clone(&router)));
            let mut connection = hyper::server::conn::http1::Builder::new();
            connection.max_buf_size(MAX_HELD);
            // A connection that breaks, or speaks no HTTP, is the client's affair.
            _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
        let stdio = Listener::open(&router, |stream, router| async move {
            // A process that talks to one server has nothing to say to the next.
            let _busy = router.busy();
            _ = stdio::converse(stream, &router).await;
        });
        let (http, stdio) = (http.await?, stdio.await?);
        Ok(Self { http, stdio, router, are_closed: AtomicBool::new(false) })
    }

    /// Closes them, and cuts off whoever came in by them.
    fn close(&self) {
        self.are_closed.store(true, Ordering::Relaxed);
        self.tasks().iter().for_each(|task| task.abort());
    }

    /// Whether nobody comes in any more, be it that the system had no descriptor left.
    fn are_closed(&self) -> bool {
        self.are_closed.load(Ordering::Relaxed) || self.tasks().iter().any(|task| task.is_finished())
    }

    fn tasks(&self) -> [&AbortHandle; 2] {
        [&self.http, &self.stdio].map(|listener| &listener.task.0)
    }
}

impl Listener {
    async fn open<F>(router: &Arc<Router>, serve: fn(TcpStream, Arc<Router>) -> F) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let router = Arc::clone(router);
        let task = fault::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                        // Without a free descriptor there is nothing to accept, and the client sees that it is so.
                        let Ok((stream, _)) = accepted else { return };
                        _ = stream.set_nodelay(true);
                        let (serving, connected) = (serve(stream, Arc::clone(&router)), Arc::clone(&router.connected));
                        connections.spawn(fault::told(async move {
                            serving.await;
                            drop(connected);
                        }));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self { address, task: Leash::of(&task) })
    }
}

impl Router {
    /// The server to which this word leads.
    pub(super) fn server(&self, word: &str) -> Option<Arc<Server>> {
        self.locked().as_ref().filter(|(known, _)| known == word).map(|(_, server)| Arc::clone(server))
    }

    /// To be held while something is said.
    pub(super) fn busy(&self) -> Busy {
        Busy(Arc::clone(&self.busy))
    }

    fn holders(one: &Arc<()>) -> usize {
        Arc::strong_count(one) - 1
    }

    fn locked(&self) -> MutexGuard<'_, Option<(String, Arc<Server>)>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
