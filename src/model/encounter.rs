//! An encounter with a client that nobody drives: everything that was recorded while casebook played a server for it.

use super::spec::Revision;
use super::template::Bindings;
use super::transcript::{Hit, Message};

/// The recording of all sessions of a client.
#[derive(Clone, Debug, Default)]
pub struct Encounter {
    /// The messages of both sides, in the order in which they were sent and received.
    pub messages: Vec<Message>,
    /// The fetches of canaries.
    pub hits: Vec<Hit>,
    /// The values that the placeholders of the case were filled with.
    pub bindings: Bindings,
    /// The revisions that the server spoke.
    pub offered: Vec<Revision>,
    /// The test whose steps casebook handed to the client, if it did.
    pub led: Option<Led>,
}

/// A test by which casebook leads a client. What the client sends otherwise is its own doing, and not that of its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Led {
    /// The path of the test.
    pub test: String,
    /// `true` if the client also got the answers of the user.
    pub has_answers: bool,
}

/// The summary of one session, for people. Its texts are those of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// The revision that both sides spoke.
    pub revision: Option<Revision>,
    /// The revision that the client named first.
    pub named: Option<String>,
    /// The name and the version of the client.
    pub client: Option<String>,
    /// The capabilities that the client declared, as JSON.
    pub capabilities: Option<String>,
    /// The number of messages of each method that the client sent, in the order of their first ones.
    pub methods: Vec<(String, usize)>,
    /// The number of calls of each tool.
    pub tools: Vec<(String, usize)>,
    /// The distinct values of some headers of the client.
    pub headers: Vec<(String, Vec<String>)>,
    /// The number of requests that the server answered with an error.
    pub refused: usize,
    /// The number of messages of the client that are no JSON-RPC messages.
    pub unreadable: usize,
}
