//! Text of anybody, as Markdown that is nothing but this text.
//!
//! Every sign that Markdown, HTML or GitHub's own links read is written as an entity; inside of code GitHub makes
//! neither mentions nor references of what is left. Addresses of mail are looked for when the entities are read, so the
//! sign in them stands in an element of its own.

use super::Untrusted;

/// Signs that mean nothing by themselves, away from the start of a line.
const HARMLESS: &str = "-,/=+'\"();%?";

/// On one line, inside of code.
pub(crate) fn code(text: &str, limit: usize) -> String {
    format!("<code>{}</code>", escaped(&Untrusted(text).line(limit)))
}

/// Several lines, as they stand.
pub(crate) fn block(text: &str, limit: usize) -> String {
    format!("<pre>{}</pre>", escaped(&Untrusted(text).block(limit)))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, one) in text.char_indices() {
        match one {
            // An address ends at a blank, and needs a dot.
            '@' if text[at..].split(char::is_whitespace).next().is_some_and(|rest| rest.contains('.')) => {
                out.push_str("<span>&#64;</span>");
            }
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
pub(crate) fn url(text: &str) -> Option<&str> {
    let safe = |one: char| one.is_ascii_alphanumeric() || "-._~/#?=&%:+,".contains(one);
    (text.starts_with("https://") && text.len() <= 500 && text.chars().all(safe)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sign_of_a_mail_address_stands_beside_its_name() {
        for text in ["a@b.example", "mailto:a@b.example", "xmpp:a@b.example/c", "a@b@c.example", "a.b-c+d@e.example."] {
            let shown = code(text, 100);
            assert_eq!(shown.matches("<span>&#64;</span>").count(), text.matches('@').count(), "{shown}");
            assert_eq!(shown.matches("&#64;").count(), text.matches('@').count(), "{shown}");
        }
        assert_eq!(code("f/c/t@2026-07-28+http", 100), "<code>f/c/t&#64;2026-07-28+http</code>");
    }

    #[test]
    fn signs_of_links_references_and_tables_are_entities() {
        let text = "www.a.example http://a.example #1 GH-1 a/b#1 :bug: [^1] | <!-- x -->";
        let shown = code(text, 200);
        let shown = shown.strip_prefix("<code>").and_then(|shown| shown.strip_suffix("</code>")).expect("code");
        for sign in ["www.", "://", "#1", ":bug:", "[", "|", "<"] {
            assert!(!shown.replace("&#", "").contains(sign), "{sign} in {shown}");
        }
    }
}
