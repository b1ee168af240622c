//! A raw MCP server for a client under test, played by the harness: over Streamable HTTP and stdio, in both lifecycles.
//!
//! Takes a test's fixture, gives an address and what went over the wire, written down before it is read. Uses nobody's
//! SDK. Must not know what a client should do, nor who starts it.

mod elicit;
mod http;
mod listeners;
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
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use tokio::task::{AbortHandle, JoinHandle};

pub(crate) use listeners::Listeners;
pub use stdio::relay;

use crate::model::case::Test;
use crate::model::spec::Revision;
use crate::model::template::Bindings;
use crate::model::transcript::Message;
use listeners::Route;
use server::Server;

/// A server that serves one test. Dropped, it is met by nobody any more, and whoever it still talks to is cut off.
#[derive(Debug)]
pub(crate) struct Mock {
    server: Arc<Server>,
    route: Route,
}

/// A task that ends, at the latest, when this is dropped.
#[derive(Debug)]
pub(super) struct Leash(AbortHandle);

impl Leash {
    /// Ends the task with the leash.
    pub(super) fn of<T>(task: &JoinHandle<T>) -> Self {
        Self(task.abort_handle())
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Mock {
    /// Serves the test's fixture as the harness's own server, behind these listeners. The one before it is met no more.
    ///
    /// # Errors
    /// Where the system gives no port.
    pub(crate) fn serve(
        listeners: &mut Listeners,
        test: Arc<Test>,
        bindings: Bindings,
        revision: Revision,
    ) -> io::Result<Self> {
        let server = Arc::new(Server::new(test, bindings, revision));
        let route = listeners.route(&server)?;
        Ok(Self { server, route })
    }

    /// The address for clients that speak HTTP.
    pub(crate) fn url(&self) -> String {
        self.route.url()
    }

    /// The file for [`relay`], which a client that speaks over stdio starts; it is there as long as this is.
    ///
    /// # Errors
    /// Those of writing it.
    pub(crate) fn relay(&self) -> io::Result<&Utf8Path> {
        self.route.relay()
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
