//! Text in Markdown that a person reads and copies.
//!
//! Takes text from anywhere, gives Markdown in which it is neither markup nor longer than its bound. Must not know what
//! the text is about.

use serde::de::IgnoredAny;

use crate::jsonrpc::nesting;
use crate::model::Untrusted;
use crate::model::text::beginning;
use crate::model::untrusted::escape_json;

/// The characters that Markdown reads as markup in the middle of a line.
const MARKUP: &str = "\\*_[]<>|~!&{}";
/// The width of a label, and of a line with a label.
const LABEL: usize = 10;
const COLUMNS: usize = 96;
/// The length up to which an object or a list of JSON is on one line.
const SHORT: usize = 72;
/// The greatest depth of JSON that is indented.
const DEEPEST: usize = 64;

/// Returns a code block with at most `most` bytes of a text that is safe to show. Its fence is longer than any in the
/// text.
pub(super) fn fenced(info: &str, text: &str, most: usize) -> String {
    let kept = beginning(text, most);
    let cut = if kept.len() < text.len() { format!("… ({} bytes)\n", text.len()) } else { String::new() };
    let mut longest = 0;
    let mut run = 0;
    for one in kept.chars() {
        run = if one == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{info}\n{kept}\n{cut}{fence}\n\n")
}

/// Returns a text on one line as a code span, which also fits into a table.
pub(super) fn code(text: &str, limit: usize) -> String {
    let text = Untrusted(text).line(limit).replace('|', "\\u{7c}");
    if !text.contains('`') {
        return if text.trim().is_empty() { "(empty)".to_owned() } else { format!("`{text}`") };
    }
    let longest = text.split(|one| one != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {text} {fence}")
}

/// Returns a text as the rest of a title: unchanged, if Markdown makes nothing else of it than emphasis.
pub(super) fn title(text: &str, limit: usize) -> String {
    let whole = Untrusted(&on_one_line(text)).line(usize::MAX);
    let cut = match whole.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", whole[..end].trim_end()),
        None => whole,
    };
    let is_active = cut.contains(['<', '>', '@', '[', '#', '!', '&', '\\', '|'])
        || ["://", "www."].iter().any(|one| cut.contains(one));
    if is_active { prose(&cut, usize::MAX) } else { cut }
}

/// Returns a text as one line of prose: its code spans stay, everything else is plain text. It makes no mention, no
/// reference to an issue and no link.
pub(super) fn prose(text: &str, limit: usize) -> String {
    let text = Untrusted(&on_one_line(text)).line(limit);
    let has_spans = text.matches('`').count() % 2 == 0 && !text.contains("``");
    let mut out = String::with_capacity(text.len());
    for (place, part) in text.split('`').enumerate() {
        let is_code = has_spans && place % 2 == 1;
        match place {
            0 => {}
            _ if has_spans => out.push('`'),
            _ => out.push_str("\\`"),
        }
        if is_code {
            out.push_str(part);
        } else {
            escape(part, place == 0, &mut out);
        }
    }
    out
}

/// Returns a label, and beside it a text that is broken into lines between its words.
pub(super) fn hanging(label: &str, text: &str) -> String {
    let mut out = String::new();
    let mut line = format!("{label:LABEL$}");
    let (mut width, mut is_first) = (LABEL, true);
    for word in text.split(' ') {
        let length = word.chars().count() + usize::from(!is_first);
        if !is_first && width + length > COLUMNS {
            out += line.trim_end();
            out.push('\n');
            line = " ".repeat(LABEL);
            (width, is_first) = (LABEL, true);
        }
        line.extend((!is_first).then_some(' '));
        line += word;
        width += length;
        is_first = false;
    }
    out + line.trim_end()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn escape(text: &str, is_start: bool, out: &mut String) {
    let mut before = ' ';
    for (at, one) in text.char_indices() {
        match one {
            '@' => out.push_str("<span>&#64;</span>"),
            // GitHub links `#1`, and reads `#` at the start of a line as a heading.
            '#' if text[at + 1..].starts_with(|next: char| next.is_ascii_digit()) || is_start && at == 0 => {
                out.push_str("<span>&#35;</span>");
            }
            ':' if text[at..].starts_with("://") => out.push_str("&#58;"),
            '.' if before.eq_ignore_ascii_case(&'w') => out.push_str("&#46;"),
            // These begin lists and headings at the start of a line.
            '-' | '+' | '=' if is_start && at == 0 => out.extend(['\\', one]),
            '.' | ')' if is_start && text[..at].bytes().all(|byte| byte.is_ascii_digit()) => out.extend(['\\', one]),
            _ if MARKUP.contains(one) => out.extend(['\\', one]),
            _ => out.push(one),
        }
        before = one;
    }
}

/// Returns a message for a code block, and whether it is JSON: indented JSON with the same tokens, or the text with its
/// hidden characters escaped.
pub(super) fn message(text: &str) -> (bool, String) {
    indented(text).map_or_else(|| (false, Untrusted(text).block(usize::MAX)), |json| (true, json))
}

/// Indents JSON. All numbers, strings and members stay as they are written, except that hidden characters are escaped as
/// JSON allows it. Returns `None` for a text that is not JSON, or too deep.
pub(super) fn indented(text: &str) -> Option<String> {
    // The indentation of deep JSON is longer than the JSON.
    if nesting::depth(text.as_bytes()) > DEEPEST {
        return None;
    }
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let text = escape_json(text);
    let tokens = tokens(&text);
    let widths = widths(&tokens);
    let (mut out, mut depth, mut short) = (String::with_capacity(text.len() * 2), 0_usize, 0_usize);
    for (place, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "[" => {
                out.push_str(token);
                if short > 0 || widths[place] <= SHORT {
                    short += 1;
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            "}" | "]" => {
                if short > 0 {
                    short -= 1;
                } else {
                    depth -= 1;
                    new_line(&mut out, depth);
                }
                out.push_str(token);
            }
            "," if short > 0 => out.push_str(", "),
            "," => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ":" => out.push_str(": "),
            token => out.push_str(token),
        }
    }
    Some(out)
}

/// The tokens of a JSON text, without white space.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(one) = rest.chars().next() {
        let length = match one {
            '"' => string_length(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest.find(['{', '}', '[', ']', ',', ':', ' ', '\t', '\r', '\n']).unwrap_or(rest.len()).max(1),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The length of each object and list on one line, at the place of its first token; 0 for other tokens.
fn widths(tokens: &[&str]) -> Vec<usize> {
    let (mut widths, mut open, mut length) = (vec![0; tokens.len()], Vec::new(), 0);
    for (place, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "[" => open.push((place, length)),
            "}" | "]" => {
                if let Some((first, before)) = open.pop() {
                    widths[first] = length - before + 1;
                }
            }
            _ => {}
        }
        length += token.len() + usize::from(matches!(*token, "," | ":"));
    }
    widths
}

/// The length of the JSON string with which a text begins.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fence_is_longer_than_any_run_of_backticks() {
        assert_eq!(fenced("sh", "a", 9), "```sh\na\n```\n\n");
        assert_eq!(fenced("", "a\n`````\n", 99), "``````\na\n`````\n\n``````\n\n");
        assert_eq!(fenced("", "aé", 2), "```\na\n… (3 bytes)\n```\n\n");
    }

    #[test]
    fn code_span_is_longer_than_any_run_of_backticks() {
        assert_eq!(code("a@b", 9), "`a@b`");
        assert_eq!(code("a``b|", 9), r"``` a``b\u{7c} ```");
    }

    #[test]
    fn hanging_text_is_broken_between_words() {
        assert_eq!(hanging("test:", "a b"), "test:     a b");
        assert_eq!(hanging("", ""), "");
        let text = hanging("a:", &format!("{0} {0} {1} b", "x".repeat(50), "y".repeat(99)));
        let indent = " ".repeat(10);
        assert_eq!(text, format!("a:        {0}\n{indent}{0}\n{indent}{1}\n{indent}b", "x".repeat(50), "y".repeat(99)));
    }

    #[test]
    fn title_is_escaped_only_if_it_has_active_markup() {
        assert_eq!(title("a `b` and _c_", 99), "a `b` and _c_");
        assert_eq!(title("a b c", 3), "a b…");
        assert_eq!(title("<b>", 99), r"\<b\>");
    }

    #[test]
    fn prose_keeps_code_and_escapes_markup() {
        assert_eq!(prose("sets `isError` to *true*", 99), r"sets `isError` to \*true\*");
        assert_eq!(prose("an odd ` and [a](b)", 99), r"an odd \` and \[a\](b)");
        assert_eq!(
            prose("@ada #1 http://a.example <b> www.b.example", 99),
            r"<span>&#64;</span>ada <span>&#35;</span>1 http&#58;//a.example \<b\> www&#46;b.example"
        );
        assert_eq!(prose("a page#part", 99), "a page#part");
        assert_eq!(prose("- a\n- b", 99), r"\- a - b");
    }

    #[test]
    fn indented_json_keeps_its_tokens() {
        let json = r#" {"a":1.50,"b":[{},[ ],{"c":"x,{\"}"}],"a":"\u00e9é","a-long-name":"a longer value"}"#;
        let shown = indented(json).expect("JSON");
        assert_eq!(
            shown,
            "{\n  \"a\": 1.50,\n  \"b\": [{}, [], {\"c\": \"x,{\\\"}\"}],\n  \"a\": \"\\u00e9é\",\n  \"a-long-name\": \"a longer value\"\n}"
        );
        assert_eq!(indented("[1, {\"a\" : []}]").as_deref(), Some("[1, {\"a\": []}]"));
        assert_eq!(indented("{no}"), None);
        assert_eq!(indented(&format!("{}{}", "[".repeat(65), "]".repeat(65))), None);
        assert_eq!(indented("\"\u{202e}\"").as_deref(), Some(r#""\u202e""#));
    }
}
