//! A connection to a server over any transport.
//!
//! It takes texts and returns messages. It must not know methods or revisions.

use reqwest::header::HeaderMap;

use super::failure::Failure;
use super::http::Endpoint;
use super::incoming::Incoming;
use super::stdio::Pipe;
use crate::policy::Policy;

/// The address or the command of a server.
#[derive(Debug)]
pub(super) enum ServerAddress {
    /// A URL, with the HTTP client whose connections are used.
    Url(String, reqwest::Client),
    Command(Vec<String>),
}

/// A connection.
pub(super) enum Connection {
    Http(Box<Endpoint>),
    Stdio(Box<Pipe>),
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// If the URL is invalid or the command cannot be started.
    pub(super) fn to(address: &ServerAddress, policy: &'static Policy) -> Result<Self, Failure> {
        Ok(match address {
            ServerAddress::Url(url, client) => Self::Http(Box::new(Endpoint::new(client.clone(), url, policy)?)),
            ServerAddress::Command(command) => Self::Stdio(Box::new(Pipe::start(command, policy)?)),
        })
    }

    pub(super) fn is_http(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Begins a session.
    pub(super) fn begin(&mut self) {
        if let Self::Http(endpoint) = self {
            endpoint.begin();
        }
    }

    /// Sets the protocol version that both sides have agreed on.
    pub(super) fn agree_on(&mut self, version: &'static str) {
        if let Self::Http(endpoint) = self {
            endpoint.agree_on(version);
        }
    }

    /// Starts to receive the messages that the server sends outside its replies.
    pub(super) fn listen(&mut self) {
        if let Self::Http(endpoint) = self {
            endpoint.listen();
        }
    }

    /// Sends a request. [`Self::next`] reads the messages that follow.
    pub(super) async fn request(&mut self, text: String, headers: HeaderMap) -> Result<(), Failure> {
        match self {
            Self::Http(endpoint) => {
                endpoint.request(text, headers);
                Ok(())
            }
            Self::Stdio(pipe) => pipe.send(&text).await,
        }
    }

    /// Stops to read the reply of the last request. Over HTTP, this closes its stream.
    pub(super) fn abandon(&mut self) {
        if let Self::Http(endpoint) = self {
            endpoint.abandon();
        }
    }

    /// Sends a message that has no reply.
    pub(super) async fn send_message(&mut self, text: String) -> Result<(), Failure> {
        match self {
            Self::Http(endpoint) => endpoint.send_message(text).await,
            Self::Stdio(pipe) => pipe.send(&text).await,
        }
    }

    pub(super) async fn next(&mut self) -> Result<Incoming, Failure> {
        match self {
            Self::Http(endpoint) => endpoint.next().await,
            Self::Stdio(pipe) => pipe.next().await,
        }
    }

    pub(super) async fn end(self) {
        match self {
            Self::Http(endpoint) => endpoint.end().await,
            Self::Stdio(pipe) => pipe.end().await,
        }
    }
}
