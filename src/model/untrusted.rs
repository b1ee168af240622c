//! The escaping of text from outside, which makes it safe to show.
//!
//! The result is text that a terminal, a CI log and an XML reader all treat as plain text: hidden characters and the
//! beginnings of CI commands are written as `\u{…}`. This module must not know where the text is shown.

use std::borrow::Cow;
use std::fmt;
use std::ops::Add;

/// Text from outside: from a target, a run log, a case file, a `target.toml` or an argument. It has no `Display`, so
/// the caller must choose the way in which it is shown.
#[derive(Clone, Copy)]
pub struct Untrusted<'a>(pub &'a str);

impl Untrusted<'_> {
    /// Returns the text on one line, cut after `limit` characters.
    pub fn line(self, limit: usize) -> String {
        self.visible(limit, false)
    }

    /// Returns the text with its line breaks, cut after `limit` characters.
    pub fn block(self, limit: usize) -> String {
        self.visible(limit, true)
    }

    fn visible(self, limit: usize, breaks: bool) -> String {
        let mut out = String::new();
        for (count, (_, one, is_escaped)) in escapes(self.0, breaks).enumerate() {
            if count == limit {
                out.extend(["… (", &self.0.len().to_string(), " bytes)"]);
                break;
            }
            if is_escaped {
                out.extend(one.escape_unicode());
            } else {
                out.push(one);
            }
        }
        out
    }
}

/// Text that may be printed as it is: everything in it except line feeds is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printable(String);

impl Printable {
    /// Wraps styled text of a renderer that escaped all of its input.
    pub(crate) fn styled(text: String) -> Self {
        Self(text)
    }

    /// Returns JSON text with the same value, with JSON's own escapes for everything that must be escaped.
    pub fn json(json: &str) -> Self {
        Self(escape_json(json).into_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Removes white space at the end.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        self.0.truncate(self.0.trim_end().len());
        self
    }
}

impl From<&str> for Printable {
    fn from(text: &str) -> Self {
        Self(if is_safe(text) { text.to_owned() } else { Untrusted(text).block(usize::MAX) })
    }
}

impl From<String> for Printable {
    fn from(text: String) -> Self {
        if is_safe(&text) { Self(text) } else { text.as_str().into() }
    }
}

/// A source of printable text, which is either escaped on conversion or was escaped before.
pub trait ToPrintable {
    /// Returns the text in printable form.
    fn to_printable(&self) -> Printable;
}

impl ToPrintable for str {
    fn to_printable(&self) -> Printable {
        self.into()
    }
}

impl ToPrintable for String {
    fn to_printable(&self) -> Printable {
        self.as_str().into()
    }
}

impl ToPrintable for Printable {
    fn to_printable(&self) -> Printable {
        self.clone()
    }
}

impl Add for Printable {
    type Output = Self;

    fn add(mut self, more: Self) -> Self {
        self.0 += &more.0;
        self
    }
}

impl fmt::Display for Printable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns whether nothing in a text must be escaped. Line feeds are allowed.
pub fn is_safe(text: &str) -> bool {
    is_plain(text) || escapes(text, true).all(|(_, _, is_escaped)| !is_escaped)
}

/// Returns whether a text consists only of characters that never need to be escaped.
fn is_plain(text: &str) -> bool {
    let mut before = b' ';
    text.bytes().all(|one| {
        let is_pair = one == before && matches!(one, b':' | b'#');
        before = one;
        !is_pair && matches!(one, b' '..=b'~' | b'\n')
    })
}

/// Returns each character of a text with its byte offset and whether it must be escaped. With `breaks`, line feeds are
/// not escaped.
///
/// A CI runner reads commands from a job's output: `::name::` at the start of a line, possibly after white space
/// (GitHub), and `##[name]`, `##vso[name]` (GitHub, Azure) and `##teamcity[name]` anywhere in a line. The first
/// character of such a command is escaped.
pub(crate) fn escapes(text: &str, breaks: bool) -> impl Iterator<Item = (usize, char, bool)> {
    let mut is_start = true;
    text.char_indices().map(move |(at, one)| {
        let begins_command = match one {
            ':' => is_start && text[at..].starts_with("::"),
            '#' => {
                let name = text[at..].strip_prefix("##");
                name.is_some_and(|name| name.trim_start_matches(|one: char| one.is_ascii_alphabetic()).starts_with('['))
            }
            _ => false,
        };
        let is_break = breaks && one == '\n';
        let is_escaped = begins_command || (is_hidden(one) && !is_break);
        is_start = is_break || (is_start && one.is_whitespace() && !is_escaped);
        (at, one, is_escaped)
    })
}

/// Returns JSON text with the same value, but without hidden characters and beginnings of CI commands.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    if is_safe(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for (_, one, is_escaped) in escapes(json, true) {
        // Between the values only white space can need an escape, and JSON allows it unescaped.
        if is_escaped && !matches!(one, '\t' | '\r') {
            out.extend(one.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(one);
        }
    }
    Cow::Owned(out)
}

/// Returns a text of the same length with `?` in place of every byte that must be escaped, so that byte offsets stay
/// valid.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    if is_safe(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, one, is_escaped) in escapes(text, true) {
        // A viewer that shows lines needs tabs, and the line ends of other systems.
        let is_layout = one == '\t' || text[at..].starts_with("\r\n");
        if is_escaped && !is_layout {
            out.extend(std::iter::repeat_n('?', one.len_utf8()));
        } else {
            out.push(one);
        }
    }
    Cow::Owned(out)
}

/// Returns whether a character is a control, a noncharacter, invisible, or changes the direction of the text after it
/// (Unicode's `Default_Ignorable_Code_Point` and the line and paragraph separators).
pub fn is_hidden(one: char) -> bool {
    let is_ignorable = matches!(one,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    );
    let is_noncharacter = matches!(one, '\u{fdd0}'..='\u{fdef}') || u32::from(one) & 0xfffe == 0xfffe;
    one.is_control() || (one >= '\u{ad}' && (is_ignorable || is_noncharacter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_bidi_marks_are_escaped() {
        let hostile = "a\x1b[31m\r\u{202e}b\u{9b}\u{7f}\tc\n";
        assert_eq!(Untrusted(hostile).line(99), r"a\u{1b}[31m\u{d}\u{202e}b\u{9b}\u{7f}\u{9}c\u{a}");
        assert!(Untrusted(hostile).block(99).ends_with("c\n"));
        assert_eq!(Untrusted("é ü 漢").line(99), "é ü 漢");
    }

    #[test]
    fn noncharacters_and_ignorable_characters_are_escaped() {
        for hidden in
            ['\u{fffe}', '\u{ffff}', '\u{fdd0}', '\u{1fffe}', '\u{10ffff}', '\u{34f}', '\u{fe0f}', '\u{e0101}']
        {
            let text = format!("a{hidden}b");
            assert_eq!(Untrusted(&text).line(9), format!("a{}b", hidden.escape_unicode()));
        }
        for shown in ['\u{fffd}', '\u{2800}', '\u{301}', '\u{1f600}', '\u{e000}', '\u{fffc}'] {
            assert!(!is_hidden(shown), "{shown:?}");
        }
    }

    #[test]
    fn ci_command_is_escaped_at_its_first_character() {
        for (text, shown) in [
            ("::error::x", r"\u{3a}:error::x"),
            ("a\n \u{a0}\u{3000}::error::x", "a\n \u{a0}\u{3000}\\u{3a}:error::x"),
            ("a ##[error]b", r"a \u{23}#[error]b"),
            ("a ###[error]b", r"a #\u{23}#[error]b"),
            ("##vso[task.setvariable]", r"\u{23}#vso[task.setvariable]"),
            ("##teamcity[x]", r"\u{23}#teamcity[x]"),
            ("a::b ## c [d]", "a::b ## c [d]"),
            (":::", r"\u{3a}::"),
        ] {
            assert_eq!(Untrusted(text).block(99), shown);
            assert_eq!(Printable::from(text).as_str(), shown);
            assert!(is_safe(shown), "{shown}");
        }
    }

    #[test]
    fn escaped_json_keeps_its_value_without_hidden_characters() {
        let value = serde_json::json!({ "\u{202e}": "\u{9b}##[x]\u{e0001}\u{1b}\u{ffff}é", "a": [":: b"] });
        for json in [value.to_string(), format!("{value:#}")] {
            let escaped = escape_json(&json);
            assert!(is_safe(&escaped), "{escaped}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).expect("JSON"), value);
        }
    }

    #[test]
    fn masked_text_keeps_its_length_and_lines() {
        let text = "a\u{1b}\u{202e}\u{e0001}\r\nb\t##[c]\rd";
        assert_eq!(masked(text), "a????????\r\nb\t?#[c]?d");
        assert_eq!(masked(text).len(), text.len());
    }

    #[test]
    fn long_text_is_cut_and_shows_its_length() {
        assert_eq!(Untrusted(&"é".repeat(1000)).line(3), "ééé… (2000 bytes)");
        assert_eq!(Untrusted("abc").line(3), "abc");
    }
}
