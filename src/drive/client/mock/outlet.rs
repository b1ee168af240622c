//! The output of the mock server: messages become parts of a body or lines, and are recorded as far as they are sent.
//!
//! Takes texts, gives bytes on a channel. Must not know the meaning of the texts or the reader of the channel.

use std::io;
use std::sync::Arc;

use hyper::body::Bytes;
use tokio::sync::mpsc;

use super::log::Log;
use crate::drive::kept_headers::Headers;
use crate::jsonrpc::text::on_one_line;

/// Bytes to send, or the point at which the connection is closed.
pub(super) type Frame = io::Result<Bytes>;

/// The framing of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// The message alone.
    Bare,
    /// An event of an event stream.
    Event,
    /// A line.
    Line,
}

impl Framing {
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Self::Bare => ("", ""),
            Self::Event => ("event: message\ndata: ", "\n\n"),
            Self::Line => ("", "\n"),
        }
    }
}

/// The deviations of the case that concern the reply as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplyDeviation {
    /// Another HTTP status.
    pub(super) status: Option<u16>,
    /// Other or additional HTTP headers.
    pub(super) headers: Headers,
    /// The number of bytes after which the connection is closed.
    pub(super) cut_after: Option<usize>,
    /// Messages before the reply.
    pub(super) before: Vec<String>,
}

/// The error that the receiver has disconnected.
#[derive(Debug)]
pub(super) struct Disconnected;

/// The output for the messages of one reply.
#[derive(Debug)]
pub(super) struct Outlet {
    log: Arc<Log>,
    frames: mpsc::Sender<Frame>,
    framing: Framing,
    left: Option<usize>,
    /// The HTTP status and headers, recorded with the first message.
    head: Option<(u16, Headers)>,
}

impl Outlet {
    /// An output to a channel, which ends after `cut_after` bytes.
    pub(super) fn new(
        log: Arc<Log>,
        frames: mpsc::Sender<Frame>,
        framing: Framing,
        cut_after: Option<usize>,
        head: Option<(u16, Headers)>,
    ) -> Self {
        Self { log, frames, framing, left: cut_after, head }
    }

    /// Records a message, as far as it is sent, and sends it.
    pub(super) async fn send(&mut self, text: String) -> Result<(), Disconnected> {
        let text = on_one_line(text);
        let (before, after) = self.framing.around();
        let mut frame = [before, &text, after].concat().into_bytes();
        let cut = self.left.is_some_and(|left| left <= frame.len());
        frame.truncate(self.left.unwrap_or(usize::MAX));
        if let Some(left) = &mut self.left {
            *left -= frame.len();
        }
        let sent = frame.len().saturating_sub(before.len()).min(text.len());
        let status = self.head.as_ref().map(|(status, _)| *status);
        let headers = self.head.as_mut().map(|(_, headers)| std::mem::take(headers)).unwrap_or_default();
        self.log.sent(&String::from_utf8_lossy(&text.as_bytes()[..sent]), status, headers);
        if !frame.is_empty() {
            self.frames.send(Ok(frame.into())).await.map_err(|_| Disconnected)?;
        }
        if !cut {
            return Ok(());
        }
        _ = self.frames.send(Err(io::ErrorKind::ConnectionAborted.into())).await;
        Err(Disconnected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(framing: Framing, cut_after: Option<usize>, texts: &[&str]) -> (String, Vec<String>, bool) {
        let log = Arc::new(Log::new());
        let (sender, mut frames) = mpsc::channel(16);
        let mut outlet = Outlet::new(Arc::clone(&log), sender, framing, cut_after, None);
        for text in texts {
            _ = outlet.send((*text).to_owned()).await;
        }
        drop(outlet);
        let (mut bytes, mut broke) = (Vec::new(), false);
        while let Some(frame) = frames.recv().await {
            frame.map_or_else(|_| broke = true, |frame| bytes.extend_from_slice(&frame));
        }
        let written = log.take().into_iter().map(|message| message.text).collect();
        (String::from_utf8(bytes).unwrap(), written, broke)
    }

    #[tokio::test]
    async fn message_is_one_line_regardless_of_whitespace() {
        let (bytes, written, broke) = sent(Framing::Line, None, &["{\n\"a\":\r\n1}", "{}"]).await;
        assert_eq!(bytes, "{ \"a\":  1}\n{}\n");
        assert_eq!((written[0].as_str(), broke), ("{ \"a\":  1}", false));
    }

    #[tokio::test]
    async fn cut_message_is_recorded_up_to_the_cut() {
        let (bytes, written, broke) = sent(Framing::Event, Some(24), &[r#"{"a":1}"#]).await;
        assert_eq!(bytes, "event: message\ndata: {\"a");
        assert_eq!((written, broke), (vec!["{\"a".to_owned()], true));
        assert_eq!(sent(Framing::Bare, Some(0), &["{}"]).await, (String::new(), vec![String::new()], true));
    }
}
