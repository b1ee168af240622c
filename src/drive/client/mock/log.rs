//! What went over the wire between the mock server and its client, written down before anybody reads it.
//!
//! Takes texts as they go by, gives [`Message`]s, never more of them than a bound. Must not know what they say.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::jsonrpc::nesting;
use crate::model::transcript::{Message, Party};

/// Names, in lower case, and values.
pub(super) type Headers = Vec<(String, String)>;

/// How many messages one test can need: beyond, a client floods.
const MAX_MESSAGES: usize = 1_000;
/// How many bytes of text are held until somebody takes them.
const MAX_BYTES: usize = 24 << 20;
/// How many bytes are kept of a message that is too long to be read.
const KEPT: usize = 64 << 10;

/// Everything that came and went, until it is taken.
#[derive(Debug)]
pub(super) struct Log {
    began: Instant,
    kept: Mutex<Kept>,
    stirred: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Kept {
    messages: Vec<Message>,
    /// In all, those that were taken included.
    count: usize,
    bytes: usize,
    /// How many values the client's messages have, in all.
    values: usize,
}

impl Log {
    /// An empty log, whose time begins now.
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), kept: Mutex::default(), stirred: watch::Sender::default() }
    }

    /// Writes down what the client sent; whether the client may go on.
    pub(super) fn came(&self, bytes: &[u8], headers: Headers) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let lossy = matches!(text, Cow::Owned(_));
        self.write(Message { lossy, ..self.message(Party::Target, &text, None, headers) })
    }

    /// Writes down something of the client's that is too long to be read: how it began, and its length so far.
    pub(super) fn came_too_long(&self, beginning: &[u8], length: usize, headers: Headers) -> bool {
        let kept = String::from_utf8_lossy(&beginning[..beginning.len().min(KEPT)]).into_owned();
        let cut_from = u64::try_from(length).ok();
        self.write(Message { cut_from, ..self.message(Party::Target, &kept, None, headers) })
    }

    /// Writes down what is about to be sent.
    pub(super) fn went(&self, text: &str, status: Option<u16>, headers: Headers) {
        // Who has to stop is the client.
        _ = self.write(self.message(Party::Harness, text, status, headers));
    }

    /// Everything since this was last asked.
    pub(super) fn take(&self) -> Vec<Message> {
        let mut kept = self.kept();
        kept.bytes = 0;
        std::mem::take(&mut kept.messages)
    }

    /// Waits until nothing has come or gone for so long.
    pub(super) async fn silence(&self, limit: Duration) {
        let mut stirred = self.stirred.subscribe();
        while timeout(limit, stirred.changed()).await.is_ok() {}
    }

    fn message(&self, from: Party, text: &str, status: Option<u16>, headers: Headers) -> Message {
        let at = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        Message { from, text: text.to_owned(), cut_from: None, lossy: false, status, headers, at }
    }

    fn write(&self, mut message: Message) -> bool {
        let values = if message.from == Party::Target { nesting::values(message.text.as_bytes()) } else { 0 };
        let mut kept = self.kept();
        if kept.count >= MAX_MESSAGES || kept.bytes + message.text.len() > MAX_BYTES {
            return false;
        }
        kept.values += values;
        let goes_on = kept.values <= nesting::VALUES;
        if !goes_on {
            message.cut(KEPT);
        }
        kept.count += 1;
        kept.bytes += message.text.len();
        kept.messages.push(message);
        self.stirred.send_replace(());
        goes_on
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_written_down_up_to_a_bound_even_if_it_is_taken_meanwhile() {
        let log = Log::new();
        assert!((0..MAX_MESSAGES).all(|_| log.came(b"x", Headers::new())));
        assert_eq!(log.take().len(), MAX_MESSAGES);
        assert!(!log.came(b"x", Headers::new()));
        assert!(log.take().is_empty());
    }

    #[test]
    fn what_is_too_long_leaves_its_beginning_and_its_length() {
        let log = Log::new();
        assert!(log.came_too_long(&vec![b'a'; KEPT + 1], 1 << 24, Headers::new()));
        let [message] = &log.take()[..] else { panic!("one message") };
        assert_eq!((message.text.len(), message.cut_from), (KEPT, Some(1 << 24)));
    }
}
