//! The escaping of untrusted text for Markdown.
//!
//! Every character that Markdown, HTML or GitHub's automatic links interpret is written as an entity. GitHub makes no
//! mentions and references inside code elements, but it looks for mail addresses after decoding the entities, so `@` is
//! put into an element of its own.

use super::Untrusted;

/// Punctuation that has no meaning in the middle of a line.
const HARMLESS: &str = "-,/=+'\"();%?";

/// Returns the text on one line, in a code element.
pub(crate) fn code(text: &str, limit: usize) -> String {
    format!("<code>{}</code>", escaped(&Untrusted(text).line(limit)))
}

/// Returns the text with its line breaks, in a preformatted element.
pub(crate) fn block(text: &str, limit: usize) -> String {
    format!("<pre>{}</pre>", escaped(&Untrusted(text).block(limit)))
}

/// Returns the text on one line.
pub(crate) fn text(text: &str, limit: usize) -> String {
    escaped(&Untrusted(&text.split_whitespace().collect::<Vec<_>>().join(" ")).line(limit))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, one) in text.char_indices() {
        match one {
            // A mail address ends at white space, and contains a dot.
            '@' if text[at..].split(char::is_whitespace).next().is_some_and(|rest| rest.contains('.')) => {
                out.push_str("<span>&#64;</span>");
            }
            // GitHub makes a link of `www.`.
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

/// Returns the text if it is a URL that can be the target of a link without escaping.
pub(crate) fn url(text: &str) -> Option<&str> {
    let safe = |one: char| one.is_ascii_alphanumeric() || "-._~/#?=&%:+,".contains(one);
    (text.starts_with("https://") && text.len() <= 500 && text.chars().all(safe)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_sign_of_a_mail_address_gets_its_own_element() {
        for text in ["a@b.example", "mailto:a@b.example", "xmpp:a@b.example/c", "a@b@c.example", "a.b-c+d@e.example."] {
            let shown = code(text, 100);
            assert_eq!(shown.matches("<span>&#64;</span>").count(), text.matches('@').count(), "{shown}");
            assert_eq!(shown.matches("&#64;").count(), text.matches('@').count(), "{shown}");
        }
        assert_eq!(code("f/c/t@2026-07-28+http", 100), "<code>f/c/t&#64;2026-07-28+http</code>");
    }

    #[test]
    fn characters_of_links_and_tables_become_entities() {
        let text = "www.a.example http://a.example #1 GH-1 a/b#1 :bug: [^1] | <!-- x -->";
        let shown = code(text, 200);
        let shown = shown.strip_prefix("<code>").and_then(|shown| shown.strip_suffix("</code>")).expect("code");
        for sign in ["www.", "://", "#1", ":bug:", "[", "|", "<"] {
            assert!(!shown.replace("&#", "").contains(sign), "{sign} in {shown}");
        }
    }
}
