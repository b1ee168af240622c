//! The output of a process, read as lines or kept as text, always drained and with bounded memory.
//!
//! Takes byte streams of a hostile process, gives [`LineEvent`]s and kept text. Must not know the meaning of the lines.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::drive::fault;

/// The longest line that is read, in bytes.
pub(crate) const MAX_LINE: usize = 16 << 20;
/// The number of bytes of a text stream that are kept of its beginning, and again of its end.
const KEPT: usize = 32 << 10;

/// An event on a stream of lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineEvent {
    /// A line, without its end: a line feed, which can follow a carriage return.
    Line(Vec<u8>),
    /// The last text, without a line feed.
    Unended(Vec<u8>),
    /// A line longer than [`MAX_LINE`]. The rest of it is skipped.
    Oversized,
    /// The end of the stream.
    Eof,
}

impl LineEvent {
    fn without_carriage_return(mut self) -> Self {
        if let Self::Line(line) | Self::Unended(line) = &mut self
            && line.last() == Some(&b'\r')
        {
            line.pop();
        }
        self
    }
}

/// A stream of lines. When it is dropped, its source is still drained, so that the writer never blocks.
///
/// Lines that were read together are delivered together, so that [`Self::at_hand`] sees all of them.
#[derive(Debug)]
pub(crate) struct Lines {
    read: VecDeque<LineEvent>,
    coming: mpsc::Receiver<VecDeque<LineEvent>>,
}

impl Lines {
    /// Reads a source in a task, which ends with the source.
    pub(crate) fn of(source: impl AsyncRead + Send + Unpin + 'static) -> (Self, JoinHandle<()>) {
        let (sender, coming) = mpsc::channel(1);
        (Self { read: VecDeque::new(), coming }, fault::spawn(pump(source, sender)))
    }

    /// Returns the next event if it has already arrived. If the source is read in this thread, that includes everything
    /// that was written by now.
    pub(crate) async fn at_hand(&mut self) -> Option<LineEvent> {
        if self.read.is_empty() {
            // At the first yield the runtime polls the system, and at the second the reading task takes the data.
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            self.read = match self.coming.try_recv() {
                Ok(read) => read,
                Err(mpsc::error::TryRecvError::Empty) => return None,
                Err(mpsc::error::TryRecvError::Disconnected) => return Some(LineEvent::Eof),
            };
        }
        self.read.pop_front().map(LineEvent::without_carriage_return)
    }

    /// Returns the next event. A call that is cancelled takes nothing.
    pub(crate) async fn next(&mut self) -> LineEvent {
        self.next_unchanged().await.without_carriage_return()
    }

    /// Returns the next event, in which a line keeps a carriage return at its end.
    pub(crate) async fn next_unchanged(&mut self) -> LineEvent {
        if self.read.is_empty() {
            self.read = self.coming.recv().await.unwrap_or_default();
        }
        self.read.pop_front().unwrap_or(LineEvent::Eof)
    }
}

async fn pump(source: impl AsyncRead + Unpin, sender: mpsc::Sender<VecDeque<LineEvent>>) {
    let mut source = BufReader::with_capacity(64 << 10, source);
    let (mut line, mut skipping) = (Vec::new(), false);
    loop {
        let chunk = match source.fill_buf().await {
            Ok(chunk) if !chunk.is_empty() => chunk,
            _ => break,
        };
        let mut events = VecDeque::new();
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let is_whole = text.is_some();
            let text = text.unwrap_or(part);
            if !skipping && line.len() + text.len() > MAX_LINE {
                (line, skipping) = (Vec::new(), true);
                events.push_back(LineEvent::Oversized);
            } else if !skipping {
                line.extend_from_slice(text);
            }
            if is_whole && !std::mem::take(&mut skipping) {
                events.push_back(LineEvent::Line(std::mem::take(&mut line)));
            }
        }
        let taken = chunk.len();
        source.consume(taken);
        if !events.is_empty() {
            _ = sender.send(events).await;
        }
    }
    if !line.is_empty() {
        _ = sender.send([LineEvent::Unended(line)].into()).await;
    }
}

/// The beginning and the end of a text that may be endless.
#[derive(Debug, Default)]
struct HeadAndTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: usize,
}

impl HeadAndTail {
    fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..excess);
        self.dropped += excess;
    }

    fn text(self) -> String {
        let head = String::from_utf8_lossy(&self.head).into_owned();
        let tail = Vec::from(self.tail);
        let tail = String::from_utf8_lossy(&tail);
        match self.dropped {
            0 => head + &tail,
            dropped => format!("{head}\n[{dropped} bytes left out]\n{tail}"),
        }
    }
}

/// The beginning and the end of a text stream, which is drained as it arrives.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundedText(Arc<Mutex<HeadAndTail>>);

impl BoundedText {
    /// Drains a source in a task, which ends with the source.
    pub(crate) fn of(mut source: impl AsyncRead + Send + Unpin + 'static) -> (Self, JoinHandle<()>) {
        let kept = Self::default();
        let sink = kept.clone();
        let task = fault::spawn(async move {
            let mut buffer = vec![0; 16 << 10];
            while let Ok(read @ 1..) = source.read(&mut buffer).await {
                sink.push(&buffer[..read]);
            }
        });
        (kept, task)
    }

    /// Adds a text that casebook itself wrote.
    pub(crate) fn push(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }

    /// Returns the text since the last call.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn events(source: Vec<u8>) -> Vec<LineEvent> {
        let (mut lines, _pump) = Lines::of(std::io::Cursor::new(source));
        let mut events = Vec::new();
        loop {
            match lines.next().await {
                LineEvent::Eof => return events,
                event => events.push(event),
            }
        }
    }

    #[tokio::test]
    async fn oversized_line_is_skipped_and_neighbours_are_read() {
        let mut source = b"one\r\n".to_vec();
        source.extend(vec![b'x'; MAX_LINE + 1]);
        source.extend(b"\n\nlast");
        let line = |text: &str| LineEvent::Line(text.as_bytes().to_vec());
        assert_eq!(
            events(source).await,
            [line("one"), LineEvent::Oversized, line(""), LineEvent::Unended(b"last".to_vec())]
        );
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn at_hand_returns_written_lines_without_waiting() {
        use tokio::io::AsyncWriteExt;
        let (mut writer, source) = tokio::net::unix::pipe::pipe().expect("a pipe");
        let (mut lines, _pump) = Lines::of(source);
        let line = |text: &str| Some(LineEvent::Line(text.as_bytes().to_vec()));
        assert_eq!(lines.at_hand().await, None);
        writer.write_all(b"one\ntwo\nthr").await.expect("written");
        assert_eq!(
            [lines.at_hand().await, lines.at_hand().await, lines.at_hand().await],
            [line("one"), line("two"), None]
        );
        writer.write_all(b"ee\n").await.expect("written");
        assert_eq!(lines.at_hand().await, line("three"));
        // A process that another test is starting may hold a copy of the writing end for a moment.
        drop(writer);
        assert_eq!(lines.next().await, LineEvent::Eof);
    }

    #[test]
    fn endless_text_keeps_both_ends() {
        let kept = BoundedText::default();
        kept.push(b"begin ");
        (0..1000).for_each(|_| kept.push(&[b'.'; 1000]));
        kept.push(b" end");
        let text = kept.take();
        assert!(text.starts_with("begin ") && text.ends_with(" end") && text.contains("bytes left out"));
        assert!(text.len() < 2 * KEPT + 100);
        assert_eq!(kept.take(), "");
    }
}
