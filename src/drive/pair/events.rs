//! The messages of an event stream that passes by, found in its bytes as they arrive.
//!
//! Takes the parts of a stream, gives the data of each whole event before the part is passed on. Must not know the
//! content of the data.

/// The number of bytes of one event that are kept.
const MAX_EVENT: usize = 16 << 20;

/// The data of an event, or of a whole body: its beginning, if it is too long.
#[derive(Debug, Default)]
pub(super) struct Event {
    pub(super) data: Vec<u8>,
    /// The number of bytes that were not kept.
    dropped: u64,
}

impl Event {
    /// Adds bytes, and keeps at most `most` bytes in sum.
    pub(super) fn add(&mut self, bytes: &[u8], most: usize) {
        let kept = bytes.len().min(most.saturating_sub(self.data.len()));
        self.data.extend_from_slice(&bytes[..kept]);
        self.dropped += (bytes.len() - kept) as u64;
    }

    /// The length of the whole data in bytes, if some were not kept.
    pub(super) fn cut_from(&self) -> Option<u64> {
        (self.dropped > 0).then_some(self.data.len() as u64 + self.dropped)
    }
}

/// The part of a stream since its last whole event.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that has not ended yet.
    line: Event,
    /// The lines of data of the event that has not ended yet.
    data: Event,
    has_data: bool,
    /// `true` after a carriage return, whose line feed belongs to it.
    after_return: bool,
}

impl Events {
    /// Takes the next bytes of the stream. Returns the events that they complete; an event without data is none.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut complete = Vec::new();
        for byte in bytes {
            let is_rest_of_end = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            match byte {
                b'\n' if is_rest_of_end => {}
                b'\n' | b'\r' => complete.extend(self.end_line()),
                _ => self.line.add(&[*byte], MAX_EVENT),
            }
        }
        complete
    }

    /// Takes the end of a line. An empty line ends the event.
    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.data.is_empty() {
            let event = std::mem::take(&mut self.data);
            return (std::mem::take(&mut self.has_data) && !event.data.is_empty()).then_some(event);
        }
        let value = line.data.strip_prefix(b"data:").or_else(|| (line.data == b"data").then_some(&[]))?;
        if std::mem::replace(&mut self.has_data, true) {
            self.data.add(b"\n", MAX_EVENT);
        }
        self.data.add(value.strip_prefix(b" ").unwrap_or(value), MAX_EVENT);
        self.data.dropped += line.dropped;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(parts: &[&str]) -> Vec<String> {
        let mut events = Events::default();
        let found = parts.iter().flat_map(|part| events.take(part.as_bytes()));
        found.map(|event| String::from_utf8(event.data).expect("text")).collect()
    }

    #[test]
    fn event_is_found_however_its_bytes_arrive() {
        let stream =
            "id: 1\ndata:\n\n: a comment\r\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\ndata: 2\r\rdata: 3\n";
        let whole = taken(&[stream]);
        assert_eq!(whole, ["{\"a\":\n1}", "2"]);
        let single: Vec<String> = stream.chars().map(String::from).collect();
        assert_eq!(taken(&single.iter().map(String::as_str).collect::<Vec<_>>()), whole);
    }

    #[test]
    fn long_event_is_kept_with_its_whole_length() {
        let mut events = Events::default();
        assert!(events.take(b"data: ").is_empty());
        assert!(events.take(&vec![b'x'; MAX_EVENT]).is_empty());
        let found = events.take(b"yz\n\ndata: 1\n\n");
        let [long, short] = &found[..] else { panic!("two events") };
        assert_eq!(long.cut_from(), Some(MAX_EVENT as u64 + 2));
        assert_eq!((short.data.as_slice(), short.cut_from()), (&b"1"[..], None));
    }
}
