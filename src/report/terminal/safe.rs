//! The last check before printing: only text, line ends and casebook's own styling pass.
//!
//! Takes text whose untrusted parts should be escaped already. Parts that are not are escaped here; at worst they are
//! shown in colour.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::model::untrusted::{escapes, is_safe};

/// The parameters of the styling that casebook and its renderer of diagnostics use: reset, bold, dim, underlined, and
/// the colours but black, blue and white.
const STYLING: [&str; 10] = ["", "0", "1", "2", "4", "31", "32", "33", "35", "36"];

/// Escapes everything in a text but line feeds and styling.
pub(super) fn safe(text: &str) -> Cow<'_, str> {
    if is_safe(text) {
        return Cow::Borrowed(text);
    }
    // Styling is left out of the check: it may be between the characters of a CI command, and CI systems may remove it.
    let (mut bare, mut styling) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, behind) = rest.split_at(at);
        bare += before;
        let length = styling_at(behind);
        if length == 0 {
            bare.push('\u{1b}');
            rest = &behind[1..];
        } else {
            styling.push((bare.len(), &behind[..length]));
            rest = &behind[length..];
        }
    }
    bare += rest;
    if is_safe(&bare) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut styling = styling.into_iter().peekable();
    for (at, one, is_escaped) in escapes(&bare, true) {
        while let Some((_, style)) = styling.next_if(|(place, _)| *place <= at) {
            out += style;
        }
        if is_escaped {
            out.extend(one.escape_unicode());
        } else {
            out.push(one);
        }
    }
    out.extend(styling.map(|(_, style)| style));
    Cow::Owned(out)
}

/// The length of the styling sequence that a text begins with; 0 where it begins with none.
fn styling_at(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = parameters.find(|one: char| !one.is_ascii_digit() && one != ';').unwrap_or(parameters.len());
    let is_own = parameters[end..].starts_with('m') && parameters[..end].split(';').all(|one| STYLING.contains(&one));
    if is_own { "\u{1b}[".len() + end + 1 } else { 0 }
}

/// A writer that checks each line before it is written, and drops empty lines before the first line of text.
pub(super) struct SafeWriter<W: Write> {
    out: W,
    line: Vec<u8>,
    /// Set once a line was written. Empty lines separate parts, so none is written before the first part.
    has_lines: bool,
}

impl<W: Write> SafeWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, line: Vec::new(), has_lines: false }
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                if line == b"\n" && !self.has_lines {
                    continue;
                }
                self.has_lines = true;
                self.out.write_all(safe(&String::from_utf8_lossy(&line)).as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Drop for SafeWriter<W> {
    fn drop(&mut self) {
        // Only the last line of an output can lack its end. An error cannot be reported from here.
        _ = self.out.write_all(safe(&String::from_utf8_lossy(&self.line)).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_styling_passes() {
        let own = "\u{1b}[1m\u{1b}[31mFAIL\u{1b}[0m \u{1b}[36;1;4mé\u{1b}[m\n";
        assert_eq!(safe(own), own);
        for foreign in ["[8m", "[34m", "[2J", "]52;c;YQ==\u{7}", "[31", "[1;999m", "c", "[1 m"] {
            let escaped = safe(&format!("\u{1b}[1ma\u{1b}{foreign}b")).into_owned();
            assert!(escaped.starts_with("\u{1b}[1ma\\u{1b}"), "{escaped:?}");
            assert_eq!(escaped.matches('\u{1b}').count(), 1, "{escaped:?}");
        }
    }

    #[test]
    fn ci_commands_are_escaped_behind_and_between_styling() {
        assert_eq!(safe("  \u{1b}[31m::error::\u{1b}[0mx\n"), "  \u{1b}[31m\\u{3a}:error::\u{1b}[0mx\n");
        assert_eq!(safe("#\u{1b}[2m#[error]x"), "\\u{23}\u{1b}[2m#[error]x");
    }

    #[test]
    fn writer_checks_whole_lines_written_in_pieces() {
        let mut out = Vec::new();
        let mut writer = SafeWriter::new(&mut out);
        for piece in ["  :", ":err", "or::a\n\u{1b}", "[8mb\n", "#", "#[c]"] {
            write!(writer, "{piece}").expect("memory takes all");
        }
        drop(writer);
        assert_eq!(String::from_utf8(out).expect("UTF-8"), "  \\u{3a}:error::a\n\\u{1b}[8mb\n\\u{23}#[c]");
    }
}
