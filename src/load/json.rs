//! JSON text as a tree.
//!
//! Takes a file's text, gives a [`Node`], or says at which character it stops being strict JSON: no comments, no
//! trailing commas, no key twice, at most [`LEVELS`] levels. Must not know what the JSON means.

use std::rc::Rc;

use jsonc_parser::common::Range;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use miette::SourceSpan;
use serde_json::{Number, Value};

use super::diagnostic::Lint;
use super::node::{Kind, LEVELS, Member, Node, span};
use super::read::Reader;
use crate::jsonrpc::nesting::{self, ReadError};

/// Reads the reader's file; `None` where it isn't JSON.
pub(crate) fn parse(reader: &mut Reader) -> Option<Node> {
    let file = reader.file();
    let mut scan = Scan { text: file.inner(), at: 0, levels: 0, twice: Vec::new() };
    let Some(node) = scan.whole() else {
        refuse(reader, scan.text);
        return None;
    };
    for Twice { key, first, again } in scan.twice {
        let twice = reader.mistake(Lint::DuplicateKey, format!("the key `{key}` stands twice in one object"));
        let twice = twice.at(again, "again here").at(first, "first here");
        reader.push(twice.help("take one of them away: most readers see only the last"));
    }
    Some(node)
}

/// One pass over a text. Nothing is said of what it doesn't take: that is for those who know the words.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    levels: usize,
    twice: Vec<Twice>,
}

/// A key that an object had.
struct Twice {
    key: Rc<str>,
    first: SourceSpan,
    again: SourceSpan,
}

impl Scan<'_> {
    fn whole(&mut self) -> Option<Node> {
        self.blank();
        let node = self.value()?;
        self.blank();
        (self.at == self.text.len()).then_some(node)
    }

    fn value(&mut self) -> Option<Node> {
        let start = self.at;
        let kind = match self.next()? {
            b'{' => self.object()?,
            b'[' => self.array()?,
            b'"' => Kind::String(self.string()?),
            b't' => self.word("true", Kind::Bool(true))?,
            b'f' => self.word("false", Kind::Bool(false))?,
            b'n' => self.word("null", Kind::Null)?,
            _ => Kind::Number(self.number()?),
        };
        Some(Node { span: span(start, self.at), kind })
    }

    fn object(&mut self) -> Option<Kind> {
        let mut members: Vec<Member> = Vec::new();
        self.parts(b'}', |scan| {
            let start = scan.at;
            let key = scan.string()?;
            let key_span = span(start, scan.at);
            scan.blank();
            scan.take(b':')?;
            scan.blank();
            let value = scan.value()?;
            if let Some(first) = members.iter().find(|member| member.key == key) {
                scan.twice.push(Twice { key, first: first.key_span, again: key_span });
            } else {
                members.push(Member { key, key_span, value });
            }
            Some(())
        })?;
        Some(Kind::Object(members.into()))
    }

    fn array(&mut self) -> Option<Kind> {
        let mut items = Vec::new();
        self.parts(b']', |scan| {
            items.push(scan.value()?);
            Some(())
        })?;
        Some(Kind::Array(items.into()))
    }

    /// What stands between two brackets, with a comma between one and the next.
    fn parts(&mut self, end: u8, mut part: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.levels += 1;
        if self.levels > LEVELS {
            return None;
        }
        self.blank();
        if self.next()? != end {
            part(self)?;
            self.blank();
            while self.next()? != end {
                self.take(b',')?;
                self.blank();
                part(self)?;
                self.blank();
            }
        }
        self.at += 1;
        self.levels -= 1;
        Some(())
    }

    fn string(&mut self) -> Option<Rc<str>> {
        let start = self.at;
        self.take(b'"')?;
        let mut is_escaped = false;
        loop {
            match self.next()? {
                b'"' => break,
                b'\\' => {
                    is_escaped = true;
                    self.at += 2;
                }
                ..b' ' => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let written = &self.text[start..self.at];
        if is_escaped {
            serde_json::from_str::<String>(written).ok().map(Rc::from)
        } else {
            Some(written[1..written.len() - 1].into())
        }
    }

    fn number(&mut self) -> Option<Number> {
        let rest = &self.text[self.at..];
        let end = rest.find(|one: char| !matches!(one, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let written = &rest[..end.unwrap_or(rest.len())];
        self.at += written.len();
        written.parse().ok()
    }

    fn word(&mut self, word: &str, kind: Kind) -> Option<Kind> {
        self.text[self.at..].starts_with(word).then(|| self.at += word.len()).map(|()| kind)
    }

    fn blank(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// Says why a text isn't read, in the words of one of two parsers: one has them for what people write who take JSON for
/// something else, and the other is strict.
fn refuse(reader: &mut Reader, text: &str) {
    let depth = nesting::depth(text.as_bytes());
    if depth > LEVELS {
        let message = format!("the file is nested {depth} levels deep, more than {LEVELS}");
        reader.push(reader.mistake(Lint::TooLarge, message).help("write deep values with a generator, like `@nested`"));
        return;
    }
    let (at, why) = match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Err(error) => (error.range(), lower(&error.kind().to_string())),
        Ok(_) => stricter(text),
    };
    let at = span(at.start, at.end);
    let help = "a case file is strict JSON: no comments, no trailing commas, double quotes";
    reader.push(reader.mistake(Lint::Syntax, format!("the file is no JSON: {why}")).at(at, "here").help(help));
}

fn stricter(text: &str) -> (Range, String) {
    let Err(ReadError::Json(error)) = nesting::read::<Value>(text.as_bytes()) else {
        return (Range { start: 0, end: 0 }, "it isn't strict".to_owned());
    };
    let at = offset(text, error.line(), error.column());
    (Range { start: at, end: at }, error.to_string())
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

fn lower(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::diagnostic::File;
    use super::*;
    use crate::fuzz::fuzz;

    fn read(text: &str) -> (Option<Node>, Vec<Lint>) {
        let mut reader = Reader::new(Arc::new(File::new("case.json", text.to_owned())));
        let node = parse(&mut reader);
        (node, reader.into_found().iter().map(super::super::Diagnostic::lint).collect())
    }

    #[test]
    fn what_is_strict_json_keeps_its_value_and_its_place() {
        let text = r#" { "é": [1, 2.50, -3e2, true, null, "\u00e9\n"], "b": {} }"#;
        let (node, found) = read(text);
        let node = node.expect("JSON");
        assert!(found.is_empty());
        assert_eq!(node.value(), serde_json::from_str::<Value>(text).expect("JSON"));
        let second = &node.members()[1];
        assert_eq!(&text[second.key_span.offset()..][..second.key_span.len()], r#""b""#);
    }

    #[test]
    fn what_only_a_lenient_reader_takes_is_refused() {
        let lenient = [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "// c\n1",
            "/**/1",
            "{a:1}",
            "'a'",
            "+1",
            ".5",
            "5.",
            "0x1",
            "01",
            "NaN",
            "Infinity",
            "1e400",
            "1 2",
            "[1 2]",
            "\"\t\"",
            "\"\\x41\"",
            "\"\\ud800\"",
            "\u{feff}1",
            "tru",
            "\u{a0}1",
        ];
        for text in lenient {
            let (node, found) = read(text);
            assert!(node.is_none(), "{text:?}");
            assert_eq!(found, [Lint::Syntax], "{text:?}");
        }
    }

    #[test]
    fn what_is_read_is_what_a_strict_reader_reads() {
        let seeds = [
            r#" {"é": ["\u00e9\n\"", -0.5e-3, 12, {}], "b": [[], true, {"c": null}], "d": false}\n"#,
            "[\t1,\r\n\"\"]",
        ];
        fuzz("json", seeds, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let (node, found) = read(&text);
            let strict =
                nesting::read::<Value>(text.as_bytes()).ok().filter(|_| nesting::depth(text.as_bytes()) <= LEVELS);
            assert_eq!(node.is_some(), strict.is_some());
            if found.is_empty() {
                assert_eq!(node.map(|node| node.value()), strict);
            }
        });
    }

    #[test]
    fn a_file_nested_without_end_is_refused_before_it_is_read() {
        assert_eq!(read(&"[".repeat(200_000)).1, [Lint::TooLarge]);
        assert!(read(&format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS))).0.is_some());
    }
}
