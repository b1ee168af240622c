//! One exchange with a server under test: what was sent and what came, written down before anybody reads it.
//!
//! Takes texts as they go by, gives an [`Exchange`]. Must not know lifecycles, methods or transports.

use std::slice;
use std::time::Duration;

use crate::drive::clock::Deadline;
use crate::jsonrpc::nesting;
use crate::model::case::Answer;
use crate::model::template::Bindings;
use crate::model::transcript::{End, Message, Party};

/// How many messages of one exchange are kept.
const MAX_MESSAGES: usize = 10_000;
/// How many bytes of text in all.
const MAX_BYTES: usize = 24 << 20;
/// How many bytes are kept of the message that is one too many.
const KEPT: usize = 64 << 10;
/// How long something is waited for that isn't owed any more, or that nobody promised.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// One step, as it went over the wire.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Every message, in the order in which they were sent and came.
    pub(crate) messages: Vec<Message>,
    /// How it ended.
    pub(crate) end: End,
    /// How long it took until then, in microseconds.
    pub(crate) micros: u64,
}

/// A message as it came: text, and what the transport says of it.
///
/// A reply over HTTP that holds no message at all is one, with its body as text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arrival {
    /// Its text; what was no UTF-8 is replaced.
    pub(crate) text: String,
    /// Why it can't be a message, whatever its text says.
    pub(crate) fault: Option<String>,
    /// Some of it was no UTF-8.
    pub(crate) lossy: bool,
    /// The HTTP status.
    pub(crate) status: Option<u16>,
    /// The HTTP headers; of a stream of events, with the first one only.
    pub(crate) headers: Vec<(String, String)>,
}

impl Arrival {
    /// Whether it came with an HTTP status that promises no message.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.is_some_and(|status| !(200..300).contains(&status))
    }
}

/// An exchange under way.
#[derive(Debug)]
pub(crate) struct ExchangeLog<'a> {
    /// What places are filled with.
    pub(crate) bindings: &'a Bindings,
    /// The capabilities that are declared, as JSON.
    pub(crate) capabilities: String,
    /// When it has to be over.
    pub(crate) deadline: Deadline,
    answers: slice::Iter<'a, Answer>,
    began: u64,
    messages: Vec<Message>,
    bytes: usize,
    /// How many values the target's messages have.
    values: usize,
    settled: Option<End>,
    instead_of_nothing: Option<End>,
    resumed: bool,
}

impl<'a> ExchangeLog<'a> {
    pub(crate) fn new(bindings: &'a Bindings, capabilities: String, answers: &'a [Answer], deadline: Deadline) -> Self {
        Self {
            bindings,
            capabilities,
            deadline,
            answers: answers.iter(),
            began: deadline.micros(),
            messages: Vec::new(),
            bytes: 0,
            values: 0,
            settled: None,
            instead_of_nothing: None,
            resumed: false,
        }
    }

    /// The case's next answer to an elicitation.
    pub(crate) fn answer(&mut self) -> Option<&'a Answer> {
        self.answers.next()
    }

    /// Writes down what is about to be sent.
    pub(crate) fn sent(&mut self, text: &str, headers: Vec<(String, String)>) {
        self.write(Party::Harness, text.to_owned(), None, headers);
    }

    /// Writes down what came, and gives its index.
    ///
    /// # Errors
    /// [`End::Oversized`] where it is the one too many.
    pub(crate) fn came(&mut self, arrival: Arrival) -> Result<usize, End> {
        let Arrival { text, lossy, status, headers, .. } = arrival;
        self.values += nesting::values(text.as_bytes());
        self.write(Party::Target, text, status, headers);
        self.messages.last_mut().into_iter().for_each(|message| message.lossy = lossy);
        if self.messages.len() < MAX_MESSAGES && self.bytes <= MAX_BYTES && self.values <= nesting::VALUES {
            return Ok(self.messages.len() - 1);
        }
        self.messages.last_mut().into_iter().for_each(|message| message.cut(KEPT));
        Err(End::Oversized)
    }

    fn write(&mut self, from: Party, text: String, status: Option<u16>, headers: Vec<(String, String)>) {
        self.bytes += text.len();
        self.messages.push(Message {
            from,
            text,
            cut_from: None,
            lossy: false,
            status,
            headers,
            at: self.deadline.micros(),
        });
    }

    /// The text of a message.
    pub(crate) fn text(&self, message: usize) -> &str {
        &self.messages[message].text
    }

    /// The first value of a header of what came.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let came = self.messages.iter().filter(|message| message.from == Party::Target);
        came.flat_map(|message| &message.headers).find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Decides the end, whatever else may come, and leaves little time for that.
    pub(crate) fn end_with(&mut self, end: End) {
        self.settled.get_or_insert(end);
        self.hurry();
    }

    /// Says what the end is, should nothing better come.
    pub(crate) fn instead_of_nothing(&mut self, end: End) {
        self.instead_of_nothing.get_or_insert(end);
    }

    /// Whether a cut stream may be resumed: the first time.
    pub(crate) fn may_resume(&mut self) -> bool {
        !std::mem::replace(&mut self.resumed, true)
    }

    /// Leaves little time for what is still to come.
    pub(crate) fn hurry(&mut self) {
        self.deadline = self.deadline.narrowed(GRACE);
    }

    /// The record of it.
    pub(crate) fn finish(self, end: End) -> Exchange {
        let end = match (self.settled, self.instead_of_nothing, end) {
            (Some(settled), ..) => settled,
            (None, Some(known), End::Timeout | End::Empty) => known,
            (None, _, end) => end,
        };
        // What is drained after the response doesn't count.
        let over = match end {
            End::Replied { message } => self.messages[message].at,
            _ => self.deadline.micros(),
        };
        Exchange { messages: self.messages, end, micros: over.saturating_sub(self.began) }
    }
}
