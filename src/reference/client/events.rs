//! Server-sent events: bytes in, in pieces of any size, the data of events out.
//!
//! A reader of its own, as this is a second reading of the format. Bounded in size. Must not know what the data says.

use std::collections::VecDeque;
use std::time::Duration;

/// An event, or the fields of one, grew beyond the bound.
#[derive(Debug)]
pub(super) struct TooLong;

/// A stream of events that is being read.
#[derive(Debug)]
pub(super) struct Events {
    longest: usize,
    /// Bytes of a line that has not ended yet.
    line: Vec<u8>,
    after_return: bool,
    is_first_line: bool,
    data: Option<Vec<u8>>,
    kind: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
    /// Where a broken stream can be taken up again.
    pub(super) last_id: Option<String>,
    /// How long to wait before that.
    pub(super) retry: Duration,
}

impl Events {
    /// A stream whose events and lines are no longer than this.
    pub(super) fn new(longest: usize) -> Self {
        Self {
            longest,
            line: vec![],
            after_return: false,
            is_first_line: true,
            data: None,
            kind: vec![],
            ready: VecDeque::new(),
            last_id: None,
            retry: Duration::from_millis(100),
        }
    }

    /// Takes what came.
    ///
    /// # Errors
    /// [`TooLong`].
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Result<(), TooLong> {
        if self.after_return && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.after_return = false;
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.grow(&bytes[..end])?;
            self.end_line()?;
            let is_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if is_return {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.grow(bytes)
    }

    /// The data of the next event that is whole.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > self.longest {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch();
            return Ok(());
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        self.set(field, value.strip_prefix(b" ").unwrap_or(value))
    }

    /// A comment is a line whose field has no name.
    fn set(&mut self, field: &[u8], value: &[u8]) -> Result<(), TooLong> {
        match field {
            b"data" => {
                if let Some(data) = &mut self.data {
                    data.push(b'\n');
                }
                let data = self.data.get_or_insert_default();
                data.extend_from_slice(value);
                if data.len() > self.longest {
                    return Err(TooLong);
                }
            }
            b"event" => self.kind = value.to_vec(),
            b"id" if !value.contains(&0) => self.last_id = String::from_utf8(value.to_vec()).ok(),
            b"retry" => {
                let digits = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
                if let Some(retry) = digits.and_then(|digits| digits.parse().ok()) {
                    self.retry = Duration::from_millis(retry);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) {
        let kind = std::mem::take(&mut self.kind);
        let data = self.data.take().unwrap_or_default();
        // An event without data primes the stream: it says its id, and nothing else.
        if !data.is_empty() && (kind.is_empty() || kind == b"message") {
            self.ready.push_back(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "\u{feff}: hello\nid: 7\r\nretry: 5\rdata\n\nevent: message\ndata: a\ndata:b\r\n\r\n\
                          :\rdata: {\"é\":\rdata:  1}\r\revent: other\ndata: lost\n\nid: 8\ndata:c\n\ndata: unfinished";

    fn read(pieces: impl IntoIterator<Item = Vec<u8>>) -> (Vec<String>, Events) {
        let mut events = Events::new(64);
        let mut read = vec![];
        for piece in pieces {
            events.take(&piece).expect("short events");
            read.extend(std::iter::from_fn(|| events.next()).map(|data| String::from_utf8(data).expect("UTF-8")));
        }
        (read, events)
    }

    #[test]
    fn a_stream_reads_the_same_in_pieces_of_any_size() {
        for size in 1..=STREAM.len() {
            let (read, events) = read(STREAM.as_bytes().chunks(size).map(<[u8]>::to_vec));
            assert_eq!(read, ["a\nb", "{\"é\":\n 1}", "c"], "pieces of {size}");
            assert_eq!((events.last_id.as_deref(), events.retry), (Some("8"), Duration::from_millis(5)));
        }
    }

    #[test]
    fn lines_and_events_are_bounded() {
        assert!(Events::new(64).take(&[b'x'; 65]).is_err());
        assert!(Events::new(64).take("data: 0123456789\n".repeat(8).as_bytes()).is_err());
        let mut comments = Events::new(64);
        for _ in 0..100 {
            assert!(comments.take(b": keep-alive\n\n").is_ok());
        }
    }
}
