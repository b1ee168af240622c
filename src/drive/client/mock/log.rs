//! The log of the messages between the mock server and its client, written before any message is parsed.
//!
//! Takes the texts of messages, gives [`Message`]s, within limits. Must not know the content of the messages.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::drive::kept_headers::Headers;
use crate::jsonrpc::nesting;
use crate::model::transcript::{Message, Party};

/// The number of messages of one test. A client that sends more is flooding.
const MAX_MESSAGES: usize = 1_000;
/// The number of bytes of text that are held until they are taken.
const MAX_BYTES: usize = 24 << 20;
/// The number of bytes that are kept of a message that is too long.
const KEPT: usize = 64 << 10;

/// All messages that were sent and received, until they are taken.
#[derive(Debug)]
pub(crate) struct Log {
    began: Instant,
    kept: Mutex<Kept>,
    stirred: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Kept {
    messages: Vec<Message>,
    /// The number of all messages, including those that were taken.
    count: usize,
    bytes: usize,
    /// The number of values in all messages of the client.
    values: usize,
}

/// The treatment of a message that exceeds the limits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excess {
    Dropped,
    /// The message is cut or, if there are too many, the one before it is marked as cut.
    Marked,
}

impl Kept {
    fn mark(&mut self, mut message: Message) {
        let length = message.text.len() as u64;
        if self.count < MAX_MESSAGES {
            message.cut(MAX_BYTES.saturating_sub(self.bytes));
            self.count += 1;
            self.bytes += message.text.len();
            self.messages.push(message);
        } else if let Some(last) = self.messages.last_mut() {
            last.cut_from.get_or_insert(last.text.len() as u64 + length);
        }
    }
}

impl Log {
    /// An empty log whose time begins now.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), kept: Mutex::default(), stirred: watch::Sender::default() }
    }

    /// Records a message of the client. Returns whether the client may continue.
    pub(crate) fn received(&self, bytes: &[u8], headers: Headers) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let lossy = matches!(text, Cow::Owned(_));
        self.write(Message { lossy, ..self.message(Party::Target, &text, None, headers) }, Excess::Dropped)
    }

    /// Records a message of the client that is too long: its beginning, and its length so far.
    pub(crate) fn received_too_long(&self, beginning: &[u8], length: usize, headers: Headers) -> bool {
        let kept = String::from_utf8_lossy(&beginning[..beginning.len().min(KEPT)]).into_owned();
        let cut_from = u64::try_from(length).ok();
        self.write(Message { cut_from, ..self.message(Party::Target, &kept, None, headers) }, Excess::Dropped)
    }

    /// Records a message that is about to be sent.
    pub(crate) fn sent(&self, text: &str, status: Option<u16>, headers: Headers) {
        // The limit on messages applies to the client only.
        _ = self.write(self.message(Party::Harness, text, status, headers), Excess::Dropped);
    }

    /// Records a message between the sides of a pair. Returns whether its sender may continue. A message over the limits
    /// leaves a mark, because no side is to blame for a message that casebook does not keep.
    pub(crate) fn passed(&self, message: Message) -> bool {
        self.write(Message { at: self.at(), ..message }, Excess::Marked)
    }

    /// Returns the messages since the last call.
    pub(crate) fn take(&self) -> Vec<Message> {
        let mut kept = self.kept();
        kept.bytes = 0;
        std::mem::take(&mut kept.messages)
    }

    /// Waits until a message was sent or received, at any time since the log was created.
    pub(crate) async fn begun(&self) {
        let mut stirred = self.stirred.subscribe();
        while self.kept().count == 0 && stirred.changed().await.is_ok() {}
    }

    /// Waits until no message was sent or received for this long.
    pub(crate) async fn silence(&self, limit: Duration) {
        let mut stirred = self.stirred.subscribe();
        while timeout(limit, stirred.changed()).await.is_ok() {}
    }

    fn message(&self, from: Party, text: &str, status: Option<u16>, headers: Headers) -> Message {
        Message { status, headers, at: self.at(), ..Message::new(from, text) }
    }

    /// The microseconds since the log was created.
    fn at(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn write(&self, mut message: Message, excess: Excess) -> bool {
        let values = if message.from == Party::Target { nesting::values(message.text.as_bytes()) } else { 0 };
        let mut kept = self.kept();
        if kept.count >= MAX_MESSAGES || kept.bytes + message.text.len() > MAX_BYTES {
            if excess == Excess::Marked {
                kept.mark(message);
            }
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
    fn flood_is_recorded_up_to_limit_across_takes() {
        let log = Log::new();
        assert!((0..MAX_MESSAGES).all(|_| log.received(b"x", Headers::new())));
        assert_eq!(log.take().len(), MAX_MESSAGES);
        assert!(!log.received(b"x", Headers::new()));
        assert!(log.take().is_empty());
    }

    #[test]
    fn message_over_limit_of_pair_leaves_mark() {
        let message = |length: usize| Message::new(Party::Harness, "x".repeat(length));
        let log = Log::new();
        assert!(log.passed(message(MAX_BYTES - 10)));
        assert!(!log.passed(message(20)));
        let cuts: Vec<_> = log.take().iter().map(|message| (message.text.len(), message.cut_from)).collect();
        assert_eq!(cuts, [(MAX_BYTES - 10, None), (10, Some(20))]);
        let log = Log::new();
        assert!((0..MAX_MESSAGES).all(|_| log.passed(message(1))));
        assert!(!log.passed(message(1)));
        assert_eq!(log.take().last().expect("a message").cut_from, Some(2));
    }

    #[test]
    fn message_too_long_is_recorded_by_beginning_and_length() {
        let log = Log::new();
        assert!(log.received_too_long(&vec![b'a'; KEPT + 1], 1 << 24, Headers::new()));
        let [message] = &log.take()[..] else { panic!("one message") };
        assert_eq!((message.text.len(), message.cut_from), (KEPT, Some(1 << 24)));
    }
}
