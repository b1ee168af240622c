//! The proxy of one test of a pair: an address for the client, and the messages that pass by.
//!
//! Takes the address of a server, or gives each start of a server over stdio to the caller. Its listeners stay for the
//! next test. Must not know the targets, or the meaning of a message.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use camino::Utf8Path;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use super::compare::names_of_url;
use super::http::{self, Directory, Upstream};
use super::stdio::{self, Started, Starts};
use crate::drive::accept::{accept, listen};
use crate::drive::client::mock::log::Log;
use crate::drive::fault::{self, AbortOnDrop};
use crate::drive::token::token;
use crate::jsonrpc::text::quoted;
use crate::model::transcript::Message;

/// The number of connections that a client may leave open. With more, the listeners are closed.
const MAX_LEFT: usize = 8;

/// The listeners of a runner, for one proxy at a time. Dropping them closes them and all their connections.
#[derive(Debug, Default)]
pub(super) struct Listeners(Option<Open>);

#[derive(Debug)]
struct Open {
    http: SocketAddr,
    stdio: SocketAddr,
    current: Arc<Current>,
    _tasks: [AbortOnDrop; 2],
}

/// The proxy that the listeners lead to.
#[derive(Debug, Default)]
struct Current {
    lead: Mutex<Option<Lead>>,
    /// Cloned by each open connection.
    connected: Arc<()>,
}

#[derive(Clone, Debug)]
enum Lead {
    Http(Arc<Upstream>),
    Stdio(Arc<Starts>),
}

impl Directory for Current {
    fn upstream(&self, path: &str) -> Option<(Arc<Upstream>, String)> {
        match &*self.lead() {
            Some(Lead::Http(upstream)) => Some((Arc::clone(upstream), upstream.path_of(path)?)),
            _ => None,
        }
    }
}

impl Current {
    fn starts(&self) -> Option<Arc<Starts>> {
        match &*self.lead() {
            Some(Lead::Stdio(starts)) => Some(Arc::clone(starts)),
            _ => None,
        }
    }

    fn lead(&self) -> MutexGuard<'_, Option<Lead>> {
        self.lead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listeners {
    /// Returns the listeners, which are opened if necessary. A client that left many connections open gets new ones.
    fn open(&mut self) -> io::Result<&Open> {
        let is_usable = |open: &Open| Arc::strong_count(&open.current.connected) <= 1 + MAX_LEFT;
        if !self.0.as_ref().is_some_and(is_usable) {
            self.0 = None;
        }
        match &mut self.0 {
            Some(open) => Ok(open),
            none => Ok(none.insert(Open::new()?)),
        }
    }
}

impl Open {
    fn new() -> io::Result<Self> {
        let current = Arc::new(Current::default());
        let (http, stdio) = (listen()?, listen()?);
        let addresses = (http.local_addr()?, stdio.local_addr()?);
        let to_http = Arc::clone(&current);
        let http = fault::spawn(accept(http, move |stream, asked| {
            let (serving, connected) =
                (http::serve(stream, asked, Arc::clone(&to_http)), Arc::clone(&to_http.connected));
            async move {
                serving.await;
                drop(connected);
            }
        }));
        let to_stdio = Arc::clone(&current);
        let stdio = fault::spawn(accept(stdio, move |stream, asked| {
            let (starts, connected) = (to_stdio.starts(), Arc::clone(&to_stdio.connected));
            async move {
                if let Some(starts) = starts {
                    // An error of the connection is due to a side, whose messages are recorded.
                    _ = stdio::converse(stream, &asked, &starts).await;
                }
                drop(connected);
            }
        }));
        let tasks = [AbortOnDrop::of(&http), AbortOnDrop::of(&stdio)];
        Ok(Self { http: addresses.0, stdio: addresses.1, current, _tasks: tasks })
    }
}

/// A proxy. Dropping it closes its connections to the server, and refuses later requests.
#[derive(Debug)]
pub(super) struct Proxy {
    log: Arc<Log>,
    address: Address,
    current: Arc<Current>,
}

/// The address at which a client reaches the proxy.
#[derive(Debug)]
enum Address {
    Http(String),
    /// A file for a relay, which the client starts as its server.
    Stdio(NamedTempFile),
}

impl Proxy {
    /// A proxy for a server at a URL.
    ///
    /// # Errors
    /// An error if the URL does not lead to this machine, or if the system provides no port.
    pub(super) fn http(listeners: &mut Listeners, url: &str) -> io::Result<Self> {
        let log = Arc::new(Log::new());
        let upstream = Upstream::new(url, token(), Arc::clone(&log))?;
        let open = listeners.open()?;
        let address = Address::Http(upstream.url_at(open.http));
        *open.current.lead() = Some(Lead::Http(Arc::new(upstream)));
        Ok(Self { log, address, current: Arc::clone(&open.current) })
    }

    /// A proxy for servers over stdio, and the channel with each start of one.
    ///
    /// # Errors
    /// An error if the system provides no port, or if the file for the relay cannot be written.
    pub(super) fn stdio(listeners: &mut Listeners) -> io::Result<(Self, mpsc::Receiver<Started>)> {
        let log = Arc::new(Log::new());
        let open = listeners.open()?;
        let (starts, file, coming) = Starts::new(open.stdio, Arc::clone(&log))?;
        *open.current.lead() = Some(Lead::Stdio(Arc::new(starts)));
        Ok((Self { log, address: Address::Stdio(file), current: Arc::clone(&open.current) }, coming))
    }

    /// Returns the member of the `drive` object that names the server: its URL, or the command that the client starts.
    pub(super) fn server(&self, program: &Utf8Path) -> (&'static str, String) {
        match &self.address {
            Address::Http(url) => ("url", quoted(url)),
            Address::Stdio(file) => {
                let command = [program.as_str(), "__relay", &file.path().to_string_lossy()].map(quoted);
                ("command", format!("[{}]", command.join(",")))
            }
        }
    }

    /// Returns the texts that stand for the server in the results of the client.
    pub(super) fn names(&self) -> Vec<String> {
        match &self.address {
            Address::Http(url) => names_of_url(url),
            Address::Stdio(file) => vec![file.path().to_string_lossy().into_owned()],
        }
    }

    /// Returns all messages since the last call.
    pub(super) fn take_messages(&self) -> Vec<Message> {
        self.log.take()
    }

    /// Waits until no message passed by for this long.
    pub(super) async fn silence(&self, limit: Duration) {
        self.log.silence(limit).await;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(Lead::Http(upstream)) = self.current.lead().take() {
            upstream.close();
        }
    }
}
