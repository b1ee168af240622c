//! JSON text as a tree.
//!
//! Takes a file's text, gives a [`Node`], or says at which character it stops being strict JSON: no comments, no
//! trailing commas, no key twice, at most [`LEVELS`] levels. Must not know what the JSON means.

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::Number;

use super::diagnostic::Lint;
use super::node::{Kind, LEVELS, Member, Node, span};
use super::read::Reader;
use crate::jsonrpc::nesting::{self, ReadError};

/// Reads the reader's file; `None` where it isn't JSON.
pub(crate) fn parse(reader: &mut Reader) -> Option<Node> {
    let file = reader.file();
    let text = file.inner();
    let depth = nesting::depth(text.as_bytes());
    if depth > LEVELS {
        let message = format!("the file is nested {depth} levels deep, more than {LEVELS}");
        reader.push(reader.mistake(Lint::TooLarge, message).help("write deep values with a generator, like `@nested`"));
        return None;
    }
    match ast(text).and_then(|ast| node(reader, ast)) {
        Ok(node) => Some(node),
        Err((at, why)) => {
            let help = "a case file is strict JSON: no comments, no trailing commas, double quotes";
            let at = span(at.start, at.end);
            reader.push(reader.mistake(Lint::Syntax, format!("the file is no JSON: {why}")).at(at, "here").help(help));
            None
        }
    }
}

/// The place at which a text is no JSON, and the reason.
type Refused = (Range, String);

/// The tree of a text that is strict JSON.
///
/// What people write who take JSON for something else is told in the words of the one parser; the other one is strict
/// where the first is not: in blanks, and in control characters within strings.
fn ast(text: &str) -> Result<Ast<'_>, Refused> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT);
    let parsed = parsed.map_err(|error| (error.range(), lower(&error.kind().to_string())))?;
    let whole = Range { start: 0, end: 0 };
    match nesting::read::<IgnoredAny>(text.as_bytes()) {
        Ok(_) => parsed.value.ok_or_else(|| (whole, "it has no value".to_owned())),
        Err(ReadError::Json(error)) => {
            let at = offset(text, error.line(), error.column());
            Err((Range { start: at, end: at }, error.to_string()))
        }
        Err(error) => Err((whole, error.to_string())),
    }
}

fn node(reader: &mut Reader, ast: Ast<'_>) -> Result<Node, Refused> {
    let place = span(ast.range().start, ast.range().end);
    let kind = match ast {
        Ast::NullKeyword(_) => Kind::Null,
        Ast::BooleanLit(literal) => Kind::Bool(literal.value),
        Ast::StringLit(literal) => Kind::String(literal.value.into()),
        Ast::NumberLit(literal) => {
            let number: Result<Number, _> = literal.value.parse();
            Kind::Number(number.map_err(|error| (literal.range, error.to_string()))?)
        }
        Ast::Array(array) => {
            let items = array.elements.into_iter().map(|item| node(reader, item));
            Kind::Array(items.collect::<Result<Vec<_>, _>>()?.into())
        }
        Ast::Object(object) => {
            let mut members: Vec<Member> = Vec::new();
            for ObjectProp { name, value, .. } in object.properties {
                let key_span = span(name.range().start, name.range().end);
                let (key, value) = (name.as_str().into(), node(reader, value)?);
                if let Some(first) = members.iter().find(|member| member.key == key) {
                    let twice =
                        reader.mistake(Lint::DuplicateKey, format!("the key `{key}` stands twice in one object"));
                    let twice = twice.at(key_span, "again here").at(first.key_span, "first here");
                    reader.push(twice.help("take one of them away: most readers see only the last"));
                } else {
                    members.push(Member { key, key_span, value });
                }
            }
            Kind::Object(members.into())
        }
    };
    Ok(Node { span: place, kind })
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

    use serde_json::Value;

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
