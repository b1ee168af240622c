//! Text from outside → text of a page: escaped, bounded, and with nothing invisible in it.

use serde::Serialize;

use crate::model::untrusted::escape_json;
use crate::report::Untrusted;

/// How many characters of a line are shown.
const LINE: usize = 300;

/// One line, as the content of an element or the value of an attribute.
pub(super) fn line(text: &str) -> String {
    let mut out = String::new();
    for one in Untrusted(text).line(LINE).chars() {
        match one {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            one => out.push(one),
        }
    }
    out
}

/// JSON inside of a script element: nothing in it can end the element or begin another.
pub(super) fn embedded(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("what a page embeds is JSON");
    let json = escape_json(&json);
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for one in json.chars() {
        match one {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            one => out.push(one),
        }
    }
    out
}

/// At most so many bytes of a text, and whether that is all of it.
pub(super) fn cut(text: &str, most: usize) -> (&str, bool) {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    (&text[..end], end == text.len())
}

/// The same with a note of how much there was.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match cut(text, most) {
        (whole, true) => whole.to_owned(),
        (part, false) => format!("{part}… ({} bytes)", text.len()),
    }
}

/// A number as people read it.
pub(super) fn number(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// A number with its noun.
pub(super) fn count(many: usize, one: &str) -> String {
    format!("{} {one}{}", number(many), if many == 1 { "" } else { "s" })
}
