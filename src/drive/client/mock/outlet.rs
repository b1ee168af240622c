//! The output of the mock server: messages become parts of a body or lines, and are recorded as far as they are sent.
//!
//! Takes texts, gives bytes on a channel. Must not know the meaning of the texts or the reader of the channel.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyper::body::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::log::Log;
use super::server::Answered;
use crate::drive::kept_headers::Headers;
use crate::jsonrpc::text::on_one_line;
use crate::model::case::Written;

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

/// A message between the bytes that frame it.
struct Framed {
    before: String,
    text: String,
    after: String,
}

impl Framing {
    /// Frames a message, whose text is one line, in a legal way.
    fn around(self, text: String, written: Option<Written>, is_first: bool) -> Framed {
        let text = match written {
            Some(Written::Escaped) => escaped(&text),
            Some(Written::Padded) => format!(" \t{text}\t "),
            _ => text,
        };
        let (before, after) = match self {
            Self::Bare => (String::new(), ""),
            Self::Line if written == Some(Written::LineCrLf) => (String::new(), "\r\n"),
            Self::Line => (String::new(), "\n"),
            Self::Event => return event(text, written, is_first),
        };
        Framed { before, text, after: after.to_owned() }
    }
}

/// Frames a message as an event of an event stream.
fn event(text: String, written: Option<Written>, is_first: bool) -> Framed {
    // An id belongs to one event of all streams of a session.
    static IDS: AtomicU64 = AtomicU64::new(1);
    let id = || IDS.fetch_add(1, Ordering::Relaxed);
    let numbered = match written {
        Some(Written::WithId) => Some(format!("id: {}\nevent: message\ndata: ", id())),
        Some(Written::Primed) if is_first => Some(format!("id: {}\ndata: \n\nevent: message\ndata: ", id())),
        _ => None,
    };
    let before = match written {
        Some(Written::NoSpace) => "event:message\ndata:",
        Some(Written::Unnamed) => "data: ",
        Some(Written::Comment) => ": keep-alive\n\nevent: message\ndata: ",
        Some(Written::Retry) => "retry: 500\nevent: message\ndata: ",
        Some(Written::OtherEvent) => "event: heartbeat\ndata: 1\n\nevent: message\ndata: ",
        Some(Written::ByteOrderMark) if is_first => "\u{feff}event: message\ndata: ",
        _ => "event: message\ndata: ",
    };
    let end = match written {
        Some(Written::CrLf) => "\r\n",
        Some(Written::Cr) => "\r",
        _ => "\n",
    };
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let text = match inner.filter(|_| written == Some(Written::SeveralLines)) {
        Some(inner) => format!("{{\ndata: {inner}\ndata: }}"),
        None => text,
    };
    let before = numbered.as_deref().unwrap_or(before).replace('\n', end);
    Framed { before, text, after: end.repeat(2) }
}

/// Escapes the characters outside ASCII, and slashes. Both can only be in strings of the JSON.
fn escaped(json: &str) -> String {
    let mut escaped = String::new();
    for character in json.chars() {
        match character {
            '/' => escaped.push_str("\\/"),
            character if character.is_ascii() => escaped.push(character),
            character => {
                let mut units = [0; 2];
                escaped.extend(character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    escaped
}

/// The number of characters that are cut in two.
const CUT_CHARACTERS: usize = 8;
/// The time between the parts of a character, in which the first one reaches the client.
const BETWEEN_PARTS: Duration = Duration::from_millis(20);

/// Divides bytes behind the first byte of each character outside ASCII.
fn parts(bytes: &[u8]) -> Vec<&[u8]> {
    let is_begun = |(place, byte): (usize, &u8)| (*byte >= 0xC0).then_some(place + 1);
    let cuts: Vec<_> = bytes.iter().enumerate().filter_map(is_begun).take(CUT_CHARACTERS).collect();
    let begins = [0].into_iter().chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([bytes.len()]);
    begins.zip(ends).map(|(begin, end)| &bytes[begin..end]).collect()
}

/// The time in which a client answers a request that precedes a reply. The reply waits for the answer, so that it is not
/// by chance whether the client answers before the test ends.
const ANSWERING: Duration = Duration::from_secs(5);

/// The messages before a reply.
#[derive(Debug, Default)]
pub(super) struct Preface {
    pub(super) messages: Vec<String>,
    /// The answers to those messages that are requests.
    pub(super) answers: Vec<oneshot::Receiver<Answered>>,
}

impl Preface {
    /// Returns whether the client must answer before the reply.
    pub(super) fn asks(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Sends the messages, and waits for the answers.
    pub(super) async fn send(self, outlet: &mut Outlet) {
        for message in self.messages {
            // A client that has disconnected gets no reply either.
            _ = outlet.send(message).await;
        }
        let answered = async {
            for answer in self.answers {
                _ = answer.await;
            }
        };
        _ = timeout(ANSWERING, answered).await;
    }
}

/// The deviations of the case that concern the reply as a whole.
#[derive(Debug, Default)]
pub(super) struct ReplyDeviation {
    /// Another HTTP status.
    pub(super) status: Option<u16>,
    /// Other or additional HTTP headers.
    pub(super) headers: Headers,
    /// The number of bytes after which the connection is closed.
    pub(super) cut_after: Option<usize>,
    /// Messages before the reply.
    pub(super) preface: Preface,
    /// Another legal way in which it is written.
    pub(super) written: Option<Written>,
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
    written: Option<Written>,
    /// `true` until the first message.
    is_first: bool,
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
        Self { log, frames, framing, left: cut_after, written: None, is_first: true, head }
    }

    /// The same output, with messages that are written in this way.
    pub(super) fn written(self, written: Option<Written>) -> Self {
        Self { written, ..self }
    }

    /// Begins an event stream that the client resumes by this id, after this time.
    pub(super) async fn begin(&mut self, id: &str, pause: Duration) {
        if let Some((status, headers)) = self.head.take() {
            self.log.sent("", Some(status), headers);
        }
        let event = format!("id: {id}\nretry: {}\ndata: \n\n", pause.as_millis());
        // A client that has disconnected can resume the stream all the same.
        _ = self.frames.send(Ok(event.into())).await;
    }

    /// Records a message, as far as it is sent, and sends it.
    pub(super) async fn send(&mut self, text: String) -> Result<(), Disconnected> {
        let is_first = std::mem::take(&mut self.is_first);
        let Framed { before, text, after } = self.framing.around(on_one_line(text), self.written, is_first);
        let mut frame = [before.as_str(), &text, &after].concat().into_bytes();
        let cut = self.left.is_some_and(|left| left <= frame.len());
        frame.truncate(self.left.unwrap_or(usize::MAX));
        if let Some(left) = &mut self.left {
            *left -= frame.len();
        }
        let sent = frame.len().saturating_sub(before.len()).min(text.len());
        let status = self.head.as_ref().map(|(status, _)| *status);
        let headers = self.head.as_mut().map(|(_, headers)| std::mem::take(headers)).unwrap_or_default();
        // Several lines of data are one text, as the client reads it.
        let recorded = String::from_utf8_lossy(&text.as_bytes()[..sent]).replace("\ndata: ", "\n");
        self.log.sent(&recorded, status, headers);
        let is_whole = self.written != Some(Written::CutCharacters);
        let parts = if is_whole { vec![frame.as_slice()] } else { parts(&frame) };
        for (number, part) in parts.into_iter().filter(|part| !part.is_empty()).enumerate() {
            if number > 0 {
                sleep(BETWEEN_PARTS).await;
            }
            self.frames.send(Ok(Bytes::copy_from_slice(part))).await.map_err(|_| Disconnected)?;
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
    async fn message_is_the_same_json_in_every_form() {
        let text = r#"{"a":"ü/漢🌈"}"#;
        for written in Written::ALL {
            let (sender, mut frames) = mpsc::channel(64);
            let mut outlet =
                Outlet::new(Arc::new(Log::new()), sender, Framing::Event, None, None).written(Some(*written));
            outlet.send(text.to_owned()).await.expect("the receiver is there");
            drop(outlet);
            let (mut bytes, mut pieces) = (Vec::new(), 0);
            while let Some(frame) = frames.recv().await {
                bytes.extend_from_slice(&frame.expect("bytes"));
                pieces += 1;
            }
            let stream = String::from_utf8(bytes).expect("UTF-8");
            let stream = stream.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
            let event = stream.trim_end().rsplit("\n\n").next().unwrap_or_default();
            let data: Vec<_> = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
            let read: serde_json::Value = serde_json::from_str(&data.join("\n")).expect("JSON");
            assert_eq!(read, serde_json::json!({ "a": "ü/漢🌈" }), "{written}");
            assert_eq!(pieces, if *written == Written::CutCharacters { 4 } else { 1 }, "{written}");
        }
    }

    #[tokio::test]
    async fn cut_message_is_recorded_up_to_the_cut() {
        let (bytes, written, broke) = sent(Framing::Event, Some(24), &[r#"{"a":1}"#]).await;
        assert_eq!(bytes, "event: message\ndata: {\"a");
        assert_eq!((written, broke), (vec!["{\"a".to_owned()], true));
        assert_eq!(sent(Framing::Bare, Some(0), &["{}"]).await, (String::new(), vec![String::new()], true));
    }
}
