//! Text of anybody, as Markdown that is nothing but this text.
//!
//! Every sign that Markdown, HTML or GitHub's own links read is written as an entity; inside of code GitHub makes
//! neither mentions nor references of what is left.

use crate::report::Untrusted;

/// Signs that mean nothing by themselves, away from the start of a line.
const HARMLESS: &str = "-,/=+'\"();%?";

/// On one line, inside of code.
pub(super) fn code(text: &str, limit: usize) -> String {
    format!("<code>{}</code>", plain(text, limit))
}

/// Several lines, as they stand.
pub(super) fn block(text: &str, limit: usize) -> String {
    format!("<pre>{}</pre>", escaped(&Untrusted(text).block(limit)))
}

/// On one line; for headings that have no code, of names that are ours.
pub(super) fn plain(text: &str, limit: usize) -> String {
    escaped(&Untrusted(text).line(limit))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for one in text.chars() {
        match one {
            // `www.` becomes a link.
            '.' if !before.eq_ignore_ascii_case(&'w') => out.push(one),
            one if one.is_ascii_punctuation() && !HARMLESS.contains(one) => {
                out.extend(["&#", &u32::from(one).to_string(), ";"]);
            }
            one => out.push(one),
        }
        before = one;
    }
    out
}

/// An address that can stand behind a link as it is; `None` for everything else.
pub(super) fn url(text: &str) -> Option<&str> {
    let safe = |one: char| one.is_ascii_alphanumeric() || "-._~/#?=&%:+,".contains(one);
    (text.starts_with("https://") && text.len() <= 500 && text.chars().all(safe)).then_some(text)
}
