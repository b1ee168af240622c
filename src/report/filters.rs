//! Filters of the HTML templates: untrusted text on its way to a page.
//!
//! Takes a text, gives one without invisible characters and within a bound. Must not know the pages.

#![expect(
    unreachable_pub,
    clippy::inline_always,
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "the shape that askama wants and makes"
)]

use std::fmt::Display;

use super::Untrusted;

/// Returns untrusted text on one bounded line without invisible characters; the template escapes it.
#[askama::filter_fn]
pub fn line(text: impl Display, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(Untrusted(&text.to_string()).line(300))
}

/// The same with places at which a browser may break a long name: after punctuation, and before an upper-case letter.
#[askama::filter_fn]
pub fn breaks(text: impl Display, _: &dyn askama::Values) -> askama::Result<askama::filters::Safe<String>> {
    let text = Untrusted(&text.to_string()).line(300);
    let mut out = String::with_capacity(text.len() + 32);
    let mut before = ' ';
    for (at, one) in text.char_indices() {
        // A date stays whole.
        let is_date =
            one == '-' && before.is_ascii_digit() && text[at + 1..].starts_with(|next: char| next.is_ascii_digit());
        let one = if is_date { '\u{2011}' } else { one };
        let is_inside = before != ' ' && one != ' ';
        if is_inside && (matches!(before, '.' | '_' | '/' | ':' | '-') || before.is_lowercase() && one.is_uppercase()) {
            out.push_str("<wbr>");
        }
        match one {
            '&' => out.push_str("&#38;"),
            '<' => out.push_str("&#60;"),
            '>' => out.push_str("&#62;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(one),
        }
        before = one;
    }
    Ok(askama::filters::Safe(out))
}

/// The same for lists of names.
#[askama::filter_fn]
pub fn long(text: impl Display, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(Untrusted(&text.to_string()).line(3_000))
}

/// Returns untrusted text on one bounded line as HTML, with the parts between backticks as code.
#[askama::filter_fn]
pub fn code(text: impl Display, _: &dyn askama::Values) -> askama::Result<askama::filters::Safe<String>> {
    let text = askama::filters::escape(Untrusted(&text.to_string()).line(300), askama::filters::Html)?.to_string();
    let mut out = String::with_capacity(text.len() + 32);
    let parts: Vec<&str> = text.split('`').collect();
    for (at, part) in parts.iter().enumerate() {
        match at {
            // An opening backtick without a closing one is text.
            _ if at % 2 == 1 && at + 1 < parts.len() => out.extend(["<code>", part, "</code>"]),
            _ if at % 2 == 1 => out.extend(["`", part]),
            _ => out.push_str(part),
        }
    }
    Ok(askama::filters::Safe(out))
}

/// Returns untrusted text of several lines, bounded and without invisible characters; the template escapes it.
#[askama::filter_fn]
pub fn block(text: impl Display, _: &dyn askama::Values) -> askama::Result<String> {
    Ok(Untrusted(&text.to_string()).block(40_000))
}

/// Returns an address outside of the site if it can be a link.
pub(super) fn external(url: &str) -> Option<String> {
    let is_plain = |one: u8| one.is_ascii_graphic() && !matches!(one, b'"' | b'<' | b'>' | b'\\' | b'`' | b'\'');
    (url.starts_with("https://") && url.len() < 500 && url.bytes().all(is_plain)).then(|| url.to_owned())
}
