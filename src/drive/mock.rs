//! A raw MCP server for a client under test, played by the harness: over Streamable HTTP and stdio, in both lifecycles.
//!
//! Takes a test's fixture, gives an address and what went over the wire, written down before it is read. Uses nobody's
//! SDK. Must not know what a client should do, nor who starts it.

mod elicit;
mod http;
mod log;
mod outlet;
mod server;
mod stateless;
mod stdio;
mod text;
mod tools;

#[cfg(test)]
mod tests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinHandle, JoinSet};

pub use stdio::relay;

use super::{fault, token};
use crate::model::case::Test;
use crate::model::record::Message;
use crate::model::spec::Revision;
use crate::model::template::Bindings;
use server::Server;

/// Connections at a time; further ones wait.
const MAX_CONNECTIONS: usize = 64;
/// How much a connection over HTTP holds that isn't read yet: headers, above all.
const MAX_HELD: usize = 64 << 10;

/// A server that serves one test. Dropped, it closes its listeners and all connections.
#[derive(Debug)]
pub(crate) struct Mock {
    server: Arc<Server>,
    http: Door,
    stdio: Door,
}

/// A listener on loopback, and the word that opens it.
#[derive(Debug)]
struct Door {
    address: SocketAddr,
    token: String,
    _task: Leash,
}

/// A task that ends, at the latest, when this is dropped.
#[derive(Debug)]
struct Leash(AbortHandle);

impl Leash {
    fn of<T>(task: &JoinHandle<T>) -> Self {
        Self(task.abort_handle())
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Mock {
    /// Serves the test's fixture as the harness's own server.
    ///
    /// # Errors
    /// Where the system gives no port.
    pub(crate) async fn serve(test: Arc<Test>, bindings: Bindings, revision: Revision) -> io::Result<Self> {
        let server = Arc::new(Server::new(test, bindings, revision));
        let http = Door::open(&server, |stream, server, token| async move {
            let path: Arc<str> = format!("/{token}").into();
            let service = service_fn(move |request| http::answer(request, Arc::clone(&server), Arc::clone(&path)));
            let mut connection = hyper::server::conn::http1::Builder::new();
            connection.max_buf_size(MAX_HELD);
            // A connection that breaks, or speaks no HTTP, is the client's affair.
            _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
        let stdio = Door::open(&server, |stream, server, token| async move {
            _ = stdio::converse(stream, server, token).await;
        });
        let (http, stdio) = (http.await?, stdio.await?);
        Ok(Self { server, http, stdio })
    }

    /// The address for clients that speak HTTP.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}", self.http.address, self.http.token)
    }

    /// The address for [`relay`], which a client that speaks over stdio starts.
    pub(crate) fn relay(&self) -> String {
        format!("{}/{}", self.stdio.address, self.stdio.token)
    }

    /// Everything that came and went since this was last asked.
    pub(crate) fn take_messages(&self) -> Vec<Message> {
        self.server.log.take()
    }

    /// Waits until nothing has come or gone for so long.
    pub(crate) async fn silence(&self, limit: Duration) {
        self.server.log.silence(limit).await;
    }
}

impl Door {
    async fn open<F>(server: &Arc<Server>, serve: fn(TcpStream, Arc<Server>, Arc<str>) -> F) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (server, token) = (Arc::clone(server), token());
        let word: Arc<str> = token.as_str().into();
        let task = fault::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                        // Without a free descriptor there is nothing to accept, and the client sees that it is so.
                        let Ok((stream, _)) = accepted else { return };
                        _ = stream.set_nodelay(true);
                        connections.spawn(fault::told(serve(stream, Arc::clone(&server), Arc::clone(&word))));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self { address, token, _task: Leash::of(&task) })
    }
}
