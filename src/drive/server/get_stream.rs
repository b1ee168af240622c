//! The stream of a GET request, on which a server may send requests and notifications of its own.
//!
//! Takes the reply to a GET request, gives the messages in it as they are received, also while a POST request waits for
//! its reply. Must not know JSON-RPC or sessions.

use tokio::sync::mpsc;

use crate::drive::clock::Deadline;
use crate::drive::fault::{self, AbortOnDrop};
use crate::drive::server::exchange::Arrival;
use crate::drive::server::http::Reply;

/// The number of messages that wait to be taken. The server cannot send more.
const WAITING: usize = 16;

/// An open stream. Dropping it closes its connection.
#[derive(Debug)]
pub(crate) struct GetStream {
    messages: mpsc::Receiver<Arrival>,
    /// `true` if the headers of the reply arrived in time.
    pub(crate) has_headers: bool,
    _reading: AbortOnDrop,
}

impl GetStream {
    /// Sends the request, and waits until the server has opened the stream or the deadline passes. Returns `None` if the
    /// server has replied with something else than an event stream.
    pub(crate) async fn open(mut reply: Reply, deadline: Deadline) -> Option<Self> {
        let opened = deadline.bound(reply.opened()).await;
        // A server may send the headers together with the first message.
        if opened.is_some() && !reply.is_event_stream() {
            return None;
        }
        let (sender, messages) = mpsc::channel(WAITING);
        let reading = fault::spawn(async move {
            // The end of the stream has no meaning: the server may close it at any time.
            while let Ok(Some(arrival)) = reply.next().await {
                let is_message = !arrival.text.is_empty() && !arrival.is_refusal();
                if is_message && sender.send(Arrival { on_get_stream: true, ..arrival }).await.is_err() {
                    break;
                }
            }
        });
        Some(Self { messages, has_headers: opened.is_some(), _reading: AbortOnDrop::of(&reading) })
    }

    /// Waits for the next message; returns `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Arrival> {
        self.messages.recv().await
    }

    /// Returns a message that has already been received.
    pub(crate) fn at_hand(&mut self) -> Option<Arrival> {
        self.messages.try_recv().ok()
    }
}
