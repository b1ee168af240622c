//! The mock server of one test: its address and its messages.
//!
//! Takes a test's fixture. Must not know the expected behaviour of a client, or the program that starts the client.

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

/// A server for one test. Dropping it closes its connections, and later requests are refused.
#[derive(Debug)]
pub(crate) struct Mock {
    server: Arc<Server>,
    route: Route,
}

impl Mock {
    /// Starts a mock server with the test's fixture, in place of the listeners' earlier server.
    ///
    /// # Errors
    /// An error if the system provides no port.
    pub(crate) fn serve(
        listeners: &mut Listeners,
        test: &Arc<Test>,
        bindings: &Bindings,
        revision: Revision,
    ) -> io::Result<Self> {
        Self::serve_all(listeners, test, bindings, &[revision])
    }

    /// Starts a mock server that speaks several revisions, the first of which is for clients that name none.
    ///
    /// # Errors
    /// An error if the system provides no port.
    ///
    /// # Panics
    /// If there is no revision.
    pub(crate) fn serve_all(
        listeners: &mut Listeners,
        test: &Arc<Test>,
        bindings: &Bindings,
        revisions: &[Revision],
    ) -> io::Result<Self> {
        let (first, others) = revisions.split_first().expect("at least one revision");
        let mut server = Server::new(Arc::clone(test), bindings.clone(), *first);
        for revision in others {
            let bindings = Bindings { revision: revision.name().to_owned(), ..bindings.clone() };
            let other = Server::new(Arc::clone(test), bindings, *revision).logging_to(&server.log);
            server.others.push(Arc::new(other));
        }
        let server = Arc::new(server);
        let route = listeners.route(&server)?;
        Ok(Self { server, route })
    }

    /// The URL of the server.
    pub(crate) fn url(&self) -> String {
        self.route.url()
    }

    /// The file for [`relay`](super::relay), which a client starts to reach the server over stdio. It exists as long as
    /// this value.
    ///
    /// # Errors
    /// Errors of writing the file.
    pub(crate) fn relay(&self) -> io::Result<&Utf8Path> {
        self.route.relay()
    }

    /// Returns all messages since the last call.
    pub(crate) fn take_messages(&self) -> Vec<Message> {
        self.server.log.take()
    }

    /// Waits until a client has sent its first message.
    pub(crate) async fn begun(&self) {
        self.server.log.begun().await;
    }

    /// Waits until no message was sent or received for this long.
    pub(crate) async fn silence(&self, limit: Duration) {
        self.server.log.silence(limit).await;
    }
}
