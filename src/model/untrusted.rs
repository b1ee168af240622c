//! Text from outside, and the one place that makes it safe to show.
//!
//! Takes any text, gives text that a terminal, a CI log and an XML reader take as nothing but text: hidden characters
//! and the beginnings of CI commands are written as `\u{…}`. Must not know where the text is shown.

use std::borrow::Cow;
use std::fmt;
use std::ops::Add;

/// Text that somebody else wrote: a target, a run log, a case file, a `target.toml`, an argument. It has no `Display`;
/// the caller chooses how it is shown.
#[derive(Clone, Copy)]
pub struct Untrusted<'a>(pub &'a str);

impl Untrusted<'_> {
    /// On one line, cut after this many characters.
    pub fn line(self, limit: usize) -> String {
        self.visible(limit, false)
    }

    /// With its line breaks, cut after this many characters.
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

/// Text that may be printed as it is: made from other text, it has everything escaped but line feeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printable(String);

impl Printable {
    /// Text with styling, from a renderer that escaped all that it was given.
    pub(crate) fn styled(text: String) -> Self {
        Self(text)
    }

    /// JSON text with the same value, in which everything is escaped as JSON escapes it.
    pub fn json(json: &str) -> Self {
        Self(escape_json(json).into_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same without the line ends at its end.
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

/// Printable text: text that is escaped now, or was escaped before.
pub trait ToPrintable {
    /// The text as it may be printed.
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

/// Returns whether nothing in a text has to be escaped; its line feeds are allowed.
pub fn is_safe(text: &str) -> bool {
    is_plain(text) || escapes(text, true).all(|(_, _, is_escaped)| !is_escaped)
}

/// Returns whether a text is so plain that no character of it needs a second look.
fn is_plain(text: &str) -> bool {
    let mut before = b' ';
    text.bytes().all(|one| {
        let is_pair = one == before && matches!(one, b':' | b'#');
        before = one;
        !is_pair && matches!(one, b' '..=b'~' | b'\n')
    })
}

/// Each character of a text with its place and whether it must be escaped; with `breaks` line feeds are not.
///
/// A CI runner reads commands out of a job's output: `::name::` at the start of a line, behind any white space
/// (GitHub), and `##[name]`, `##vso[name]` (GitHub, Azure) and `##teamcity[name]` anywhere in a line. Of these the
/// first character is escaped.
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

/// JSON text with the same value, without hidden characters and without the beginning of a CI command.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    if is_safe(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for (_, one, is_escaped) in escapes(json, true) {
        // Between the values there is nothing to escape but white space, which JSON knows as it is.
        if is_escaped && !matches!(one, '\t' | '\r') {
            out.extend(one.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(one);
        }
    }
    Cow::Owned(out)
}

/// A text of the same length in bytes, with `?` in place of every byte that must be escaped: places in it stay right.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    if is_safe(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, one, is_escaped) in escapes(text, true) {
        // Line ends of another system and tabs have a meaning for the one who shows lines.
        let is_layout = one == '\t' || text[at..].starts_with("\r\n");
        if is_escaped && !is_layout {
            out.extend(std::iter::repeat_n('?', one.len_utf8()));
        } else {
            out.push(one);
        }
    }
    Cow::Owned(out)
}

/// Controls, noncharacters, and characters that are invisible or change the direction of what follows (Unicode's
/// `Default_Ignorable_Code_Point` and the line and paragraph separators).
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
    fn controls_escapes_and_bidi_marks_become_visible() {
        let hostile = "a\x1b[31m\r\u{202e}b\u{9b}\u{7f}\tc\n";
        assert_eq!(Untrusted(hostile).line(99), r"a\u{1b}[31m\u{d}\u{202e}b\u{9b}\u{7f}\u{9}c\u{a}");
        assert!(Untrusted(hostile).block(99).ends_with("c\n"));
        assert_eq!(Untrusted("é ü 漢").line(99), "é ü 漢");
    }

    #[test]
    fn noncharacters_and_ignorable_characters_become_visible() {
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
    fn ci_commands_are_broken_at_their_first_sign() {
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
    fn escaped_json_has_the_same_value_and_nothing_hidden() {
        let value = serde_json::json!({ "\u{202e}": "\u{9b}##[x]\u{e0001}\u{1b}\u{ffff}é", "a": [":: b"] });
        for json in [value.to_string(), format!("{value:#}")] {
            let escaped = escape_json(&json);
            assert!(is_safe(&escaped), "{escaped}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).expect("JSON"), value);
        }
    }

    #[test]
    fn a_masked_text_keeps_its_length_and_its_lines() {
        let text = "a\u{1b}\u{202e}\u{e0001}\r\nb\t##[c]\rd";
        assert_eq!(masked(text), "a????????\r\nb\t?#[c]?d");
        assert_eq!(masked(text).len(), text.len());
    }

    #[test]
    fn a_long_text_is_cut_and_says_how_long_it_was() {
        assert_eq!(Untrusted(&"é".repeat(1000)).line(3), "ééé… (2000 bytes)");
        assert_eq!(Untrusted("abc").line(3), "abc");
    }
}
