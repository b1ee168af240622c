//! One test's mock server: its address, and the messages that went over the wire.
//!
//! Takes a test's fixture. Must not know what a client should do, nor who starts it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;

use super::listeners::{Listeners, Route};
use super::server::Server;
use crate::model::case::Test;
use crate::model::spec::Revision;
use crate::model::template::Bindings;
use crate::model::transcript::Message;

/// A server that serves one test. Dropped, it is met by nobody any more, and whoever it still talks to is cut off.
#[derive(Debug)]
pub(crate) struct Mock {
    server: Arc<Server>,
    route: Route,
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

    /// The file for [`relay`](super::relay), which a client that speaks over stdio starts; it is there as long as this is.
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
