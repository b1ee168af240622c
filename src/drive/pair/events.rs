//! The messages of an event stream that passes by, found in its bytes as they arrive.
//!
//! Takes the parts of a stream, gives the data of each whole event before the part is passed on. Must not know the
//! content of the data.

/// The number of bytes of one event that are kept.
const MAX_EVENT: usize = 16 << 20;

/// The part of a stream since its last whole event.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The lines of data of the event that has not ended yet.
    data: Vec<u8>,
    has_data: bool,
    /// `true` after a carriage return, whose line feed belongs to it.
    after_return: bool,
}

impl Events {
    /// Takes the next bytes of the stream. Returns the data of the events that they complete; an event without data is
    /// none.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        for byte in bytes {
            let is_rest_of_end = std::mem::replace(&mut self.after_return, *byte == b'\r') && *byte == b'\n';
            match byte {
                b'\n' if is_rest_of_end => {}
                b'\n' | b'\r' => complete.extend(self.end_line()),
                _ if self.line.len() < MAX_EVENT => self.line.push(*byte),
                _ => {}
            }
        }
        complete
    }

    /// Takes the end of a line. An empty line ends the event.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return (std::mem::take(&mut self.has_data) && !data.is_empty()).then_some(data);
        }
        let value = line.strip_prefix(b"data:").or_else(|| (line == b"data").then_some(&[]))?;
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        let room = MAX_EVENT.saturating_sub(self.data.len());
        let value = value.strip_prefix(b" ").unwrap_or(value);
        self.data.extend_from_slice(&value[..value.len().min(room)]);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(parts: &[&str]) -> Vec<String> {
        let mut events = Events::default();
        let found = parts.iter().flat_map(|part| events.take(part.as_bytes()));
        found.map(|data| String::from_utf8(data).expect("text")).collect()
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
}
