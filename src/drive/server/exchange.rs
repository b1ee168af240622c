//! The log of one exchange with a server under test, written before any message is parsed.
//!
//! Takes the texts of messages, gives an [`Exchange`]. Must not know lifecycles, methods or transports.

use std::slice;
use std::time::Duration;

use crate::drive::clock::Deadline;
use crate::jsonrpc::nesting;
use crate::model::case::Answer;
use crate::model::template::Bindings;
use crate::model::transcript::{End, Message, Party};

/// The number of messages of an exchange that are kept.
const MAX_MESSAGES: usize = 10_000;
/// The number of bytes of text of an exchange that are kept.
const MAX_BYTES: usize = 24 << 20;
/// The number of bytes that are kept of the message that exceeds a limit.
const KEPT: usize = 64 << 10;
/// The time limit of messages that are optional or no longer required.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The messages of one step.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// All messages in the order in which they were sent and received.
    pub(crate) messages: Vec<Message>,
    /// The end of the step.
    pub(crate) end: End,
    /// The duration of the step in microseconds.
    pub(crate) micros: u64,
}

/// A message as it was received: its text, and the information of the transport.
///
/// An HTTP reply without a message is an arrival as well, with its body as text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arrival {
    /// The text; invalid UTF-8 is replaced.
    pub(crate) text: String,
    /// The reason for which the text cannot be a message, if any.
    pub(crate) fault: Option<String>,
    /// Set if the text contained invalid UTF-8.
    pub(crate) lossy: bool,
    /// The HTTP status.
    pub(crate) status: Option<u16>,
    /// The HTTP headers; of an event stream, only on its first message.
    pub(crate) headers: Vec<(String, String)>,
    /// Set if the server sent the message on the stream of a GET request, and not in the reply to a message.
    pub(crate) on_get_stream: bool,
    /// The number of the call on whose reply the message came, if several calls run at once.
    pub(crate) on_call: Option<usize>,
}

impl Arrival {
    /// Returns whether the HTTP status excludes a message.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.is_some_and(|status| !(200..300).contains(&status))
    }
}

/// An exchange in progress.
#[derive(Debug)]
pub(crate) struct ExchangeLog<'a> {
    /// The values of placeholders.
    pub(crate) bindings: &'a Bindings,
    /// The declared capabilities, as JSON.
    pub(crate) capabilities: String,
    /// The time by which the exchange must end.
    pub(crate) deadline: Deadline,
    /// The token with which a call asks for progress.
    pub(crate) token: Option<String>,
    answers: slice::Iter<'a, Answer>,
    began: u64,
    messages: Vec<Message>,
    bytes: usize,
    /// The number of values in the target's messages.
    values: usize,
    settled: Option<End>,
    set_fallback_end: Option<End>,
    resumed: bool,
}

impl<'a> ExchangeLog<'a> {
    pub(crate) fn new(bindings: &'a Bindings, capabilities: String, answers: &'a [Answer], deadline: Deadline) -> Self {
        Self {
            bindings,
            capabilities,
            deadline,
            token: None,
            answers: answers.iter(),
            began: deadline.micros(),
            messages: Vec::new(),
            bytes: 0,
            values: 0,
            settled: None,
            set_fallback_end: None,
            resumed: false,
        }
    }

    /// Takes the next answer of the case to an elicitation.
    pub(crate) fn answer(&mut self) -> Option<&'a Answer> {
        self.answers.next()
    }

    /// Records a message that is about to be sent.
    pub(crate) fn sent(&mut self, text: &str, headers: Vec<(String, String)>) {
        self.write(Message { headers, ..Message::new(Party::Harness, text) });
    }

    /// Records a message that was received, and returns its index.
    ///
    /// # Errors
    /// [`End::Oversized`] if the message exceeds a limit.
    pub(crate) fn received(&mut self, arrival: Arrival) -> Result<usize, End> {
        let Arrival { text, lossy, status, headers, on_get_stream, on_call, .. } = arrival;
        self.values += nesting::values(text.as_bytes());
        let message = Message { lossy, status, headers, on_get_stream, on_call, ..Message::new(Party::Target, text) };
        self.write(message);
        if self.messages.len() < MAX_MESSAGES && self.bytes <= MAX_BYTES && self.values <= nesting::VALUES {
            return Ok(self.messages.len() - 1);
        }
        self.messages.last_mut().into_iter().for_each(|message| message.cut(KEPT));
        Err(End::Oversized)
    }

    fn write(&mut self, message: Message) {
        self.bytes += message.text.len();
        self.messages.push(Message { at: self.deadline.micros(), ..message });
    }

    /// Returns the text of a message.
    pub(crate) fn text(&self, message: usize) -> &str {
        &self.messages[message].text
    }

    /// Returns the first value of a header that was received.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let came = self.messages.iter().filter(|message| message.from == Party::Target);
        came.flat_map(|message| &message.headers).find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Decides the end of the exchange, regardless of later messages, and shortens the deadline for those.
    pub(crate) fn end_with(&mut self, end: End) {
        self.settled.get_or_insert(end);
        self.shorten_deadline();
    }

    /// Returns whether the end is decided.
    pub(crate) fn is_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// Sets the end that applies if no response arrives.
    pub(crate) fn set_fallback_end(&mut self, end: End) {
        self.set_fallback_end.get_or_insert(end);
    }

    /// Returns whether a cut stream may be resumed: once.
    pub(crate) fn may_resume(&mut self) -> bool {
        !std::mem::replace(&mut self.resumed, true)
    }

    /// Shortens the deadline for the remaining messages.
    pub(crate) fn shorten_deadline(&mut self) {
        self.deadline = self.deadline.narrowed(GRACE);
    }

    /// Completes the exchange.
    pub(crate) fn finish(self, end: End) -> Exchange {
        let end = match (self.settled, self.set_fallback_end, end) {
            (Some(settled), ..) => settled,
            (None, Some(known), End::Timeout | End::Empty) => known,
            (None, _, end) => end,
        };
        // The time of messages after the response does not count.
        let over = match end {
            End::Replied { message } => self.messages[message].at,
            _ => self.deadline.micros(),
        };
        Exchange { messages: self.messages, end, micros: over.saturating_sub(self.began) }
    }
}
