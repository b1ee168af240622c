//! JSON text as a tree of nodes with places.
//!
//! Takes a file's text, gives a [`Node`], or a diagnostic at the first character that is not strict JSON. Strict JSON
//! has no comments, no trailing commas, no duplicate keys, and at most [`LEVELS`] levels. Must not know what the JSON
//! means.

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;
use serde_json::Number;

use super::diagnostic::Lint;
use super::node::{Kind, LEVELS, Member, Node, span};
use super::read::Reader;
use crate::jsonrpc::nesting::{self, ReadError};

/// Parses the reader's file; `None` if it is not strict JSON.
pub(crate) fn parse(reader: &mut Reader) -> Option<Node> {
    let file = reader.file();
    let text = file.inner();
    let depth = nesting::depth(text.as_bytes());
    if depth > LEVELS {
        let message = format!("the file is nested {depth} levels deep, more than {LEVELS}");
        let help = "write deep values with a generator, as in `{\"@nested\": {\"depth\": 500}}`";
        reader.push(reader.mistake(Lint::TooLarge, message).help(help));
        return None;
    }
    if text.starts_with(BYTE_ORDER_MARK) {
        let mark = reader.mistake(Lint::Syntax, "the file begins with a byte-order mark");
        let mark = mark.at(span(0, BYTE_ORDER_MARK.len_utf8()), "the hidden character U+FEFF");
        reader.push(mark.help("save the file as UTF-8 without a byte-order mark (\"UTF-8\", not \"UTF-8 with BOM\")"));
        return None;
    }
    if text.trim().is_empty() {
        let empty = reader.mistake(Lint::Syntax, "the file is empty");
        reader.push(empty.at(span(0, 0), "no JSON here").help("`casebook new NAME` writes a case file to begin with"));
        return None;
    }
    match ast(text).and_then(|ast| node(reader, ast)) {
        Ok(node) => Some(node),
        Err((at, why)) => {
            let at = span(at.start, at.end);
            let mistake = reader.mistake(Lint::Syntax, format!("the file is not valid JSON: {why}"));
            let label = if why.starts_with("unterminated") { "begins here, and is not closed" } else { "here" };
            let help = match why.as_str() {
                CONTROL => {
                    "close the string with `\"` on the same line; write a line break as `\\n`, and a tab as `\\t`"
                }
                OUT_OF_RANGE => "write a number that fits into a 64-bit float",
                _ => {
                    "write strict JSON: no comments, no trailing commas, double quotes around strings and keys, and \
                     `true`, `false`, `null` in small letters"
                }
            };
            reader.push(mistake.at(at, label).help(help));
            None
        }
    }
}

/// The place at which a text is not JSON, and the reason.
type Refused = (Range, String);

/// Parses a text as strict JSON.
///
/// The first parser knows the usual mistakes, such as comments and single quotes, and names them. The second one is
/// strict where the first is not: about blanks, and about control characters within strings.
fn ast(text: &str) -> Result<Ast<'_>, Refused> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT);
    let strict = nesting::read::<IgnoredAny>(text.as_bytes()).map_err(|error| match error {
        ReadError::Json(error) => {
            let at = offset(text, error.line(), error.column());
            (Range { start: at, end: at }, without_place(&error))
        }
        ReadError::TooDeep(_) => (Range { start: 0, end: 0 }, error.to_string()),
    });
    match (parsed, strict) {
        // A string that is not closed on its line: the first parser finds fault with the line behind it.
        (_, Err((at, why))) if why == CONTROL => Err((at, why)),
        (Err(error), _) => Err((error.range(), reason(&error.kind().to_string()))),
        (Ok(_), Err(refused)) => Err(refused),
        (Ok(parsed), Ok(_)) => parsed.value.ok_or_else(|| (Range { start: 0, end: 0 }, "it has no value".to_owned())),
    }
}

/// The error's message; line and column are shown by the diagnostic.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.split(" at line ").next().unwrap_or_default() {
        message if message.starts_with("control character") => CONTROL.to_owned(),
        message => message.to_owned(),
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
            Kind::Number(number.map_err(|error| (literal.range, without_place(&error)))?)
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
                    let twice = reader.mistake(Lint::DuplicateKey, format!("duplicate key `{key}` in one object"));
                    let twice = twice.at(key_span, "again here").at(first.key_span, "first here");
                    reader.push(twice.help("remove one of them: most JSON readers see only the last"));
                } else {
                    members.push(Member { key, key_span, value });
                }
            }
            Kind::Object(members.into())
        }
    };
    Ok(Node { span: place, kind })
}

/// The error for a control character in a string.
const CONTROL: &str = "a string has a line break or another control character in it";
/// The parser's error for a number beyond a 64-bit float.
const OUT_OF_RANGE: &str = "number out of range";
const BYTE_ORDER_MARK: char = '\u{feff}';

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

/// The first parser's message as a fragment, in the words of JSON where it has its own.
fn reason(text: &str) -> String {
    match text {
        "Expected string for object property" => return "a key must be a string in double quotes".to_owned(),
        "Unexpected word" => {
            return "a value must be a string in double quotes, a number, `true`, `false` or `null`".to_owned();
        }
        _ => {}
    }
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;

    use super::*;
    use crate::fuzz::fuzz;
    use crate::load::text::diagnostic::File;

    fn read(text: &str) -> (Option<Node>, Vec<Lint>) {
        let mut reader = Reader::new(Arc::new(File::new("case.json", text.to_owned())));
        let node = parse(&mut reader);
        (node, reader.into_found().iter().map(crate::load::Diagnostic::lint).collect())
    }

    #[test]
    fn strict_json_keeps_its_value_and_its_places() {
        let text = r#" { "é": [1, 2.50, -3e2, true, null, "\u00e9\n"], "b": {} }"#;
        let (node, found) = read(text);
        let node = node.expect("JSON");
        assert!(found.is_empty());
        assert_eq!(node.value(), serde_json::from_str::<Value>(text).expect("JSON"));
        let second = &node.members()[1];
        assert_eq!(&text[second.key_span.offset()..][..second.key_span.len()], r#""b""#);
    }

    #[test]
    fn lenient_json_is_refused() {
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
    fn fuzzed_text_is_read_as_by_a_strict_parser() {
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
    fn deeply_nested_file_is_refused_before_it_is_parsed() {
        assert_eq!(read(&"[".repeat(200_000)).1, [Lint::TooLarge]);
        assert!(read(&format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS))).0.is_some());
    }
}
