//! JSON text as a tree that knows where each part of it stands.
//!
//! Takes a file's text, gives [`Node`]s, or says at which character it stops being strict JSON: no comments, no
//! trailing commas, no key twice, at most [`LEVELS`] levels. Must not know what the JSON means.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use miette::SourceSpan;
use serde_json::{Number, Value};

use super::diagnostic::Lint;
use super::read::Reader;
use crate::model::nesting;

/// How deep a file may be nested; what must be deeper is written with a generator.
pub(super) const LEVELS: usize = 128;

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: SourceSpan,
    pub(super) kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Node>),
    Object(Vec<Member>),
    /// Stands for what a mistake left out, so that one mistake isn't reported twice.
    Missing,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_span: SourceSpan,
    pub(super) value: Node,
}

impl Node {
    /// The kind, with its article, for messages.
    pub(super) fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null | Kind::Missing => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "a list",
            Kind::Object(_) => "an object",
        }
    }

    /// The members, of an object.
    pub(super) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The plain value, with everything in it as it is written.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Null | Kind::Missing => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.clone()),
            Kind::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Kind::Object(members) => {
                Value::Object(members.iter().map(|one| (one.key.clone(), one.value.value())).collect())
            }
        }
    }
}

/// Reads the reader's file; `None` where it isn't JSON.
pub(super) fn parse(reader: &mut Reader) -> Option<Node> {
    let file = reader.file();
    let text = file.inner().as_str();
    let depth = nesting::depth(text.as_bytes());
    if depth > LEVELS {
        let message = format!("the file is nested {depth} levels deep, more than {LEVELS}");
        reader.push(reader.mistake(Lint::TooLarge, message).help("write deep values with a generator, like `@nested`"));
        return None;
    }
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => {
            let strict = nesting::read::<Value>(text.as_bytes());
            if let Err(nesting::ReadError::Json(error)) = strict {
                let at = offset(text, error.line(), error.column());
                syntax(reader, span(at, at), &error.to_string());
                return None;
            }
            parsed.value.map(|value| node(reader, value))
        }
        Err(error) => {
            let range = error.range();
            syntax(reader, span(range.start, range.end), &lower(&error.kind().to_string()));
            None
        }
    }
}

fn syntax(reader: &mut Reader, at: SourceSpan, why: &str) {
    let help = "a case file is strict JSON: no comments, no trailing commas, double quotes";
    reader.push(reader.mistake(Lint::Syntax, format!("the file is no JSON: {why}")).at(at, "here").help(help));
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

fn node(reader: &mut Reader, value: ast::Value<'_>) -> Node {
    let range = value.range();
    let span = span(range.start, range.end);
    let kind = match value {
        ast::Value::NullKeyword(_) => Kind::Null,
        ast::Value::BooleanLit(literal) => Kind::Bool(literal.value),
        ast::Value::StringLit(literal) => Kind::String(literal.value.into_owned()),
        ast::Value::NumberLit(literal) => literal.value.parse().map_or(Kind::Missing, Kind::Number),
        ast::Value::Array(array) => {
            Kind::Array(array.elements.into_iter().map(|element| node(reader, element)).collect())
        }
        ast::Value::Object(object) => Kind::Object(members(reader, object)),
    };
    Node { span, kind }
}

fn members(reader: &mut Reader, object: ast::Object<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = Vec::new();
    for property in object.properties {
        let range = property.name.range();
        let key_span = span(range.start, range.end);
        let value = node(reader, property.value);
        let key = property.name.into_string();
        if let Some(first) = members.iter().find(|member| member.key == key) {
            let twice = reader.mistake(Lint::DuplicateKey, format!("the key `{key}` stands twice in one object"));
            let twice = twice.at(key_span, "again here").at(first.key_span, "first here");
            reader.push(twice.help("take one of them away: most readers see only the last"));
        } else {
            members.push(Member { key, key_span, value });
        }
    }
    members
}

pub(super) fn span(start: usize, end: usize) -> SourceSpan {
    SourceSpan::new(start.into(), end.saturating_sub(start))
}

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
    fn a_file_nested_without_end_is_refused_before_it_is_read() {
        assert_eq!(read(&"[".repeat(200_000)).1, [Lint::TooLarge]);
        assert!(read(&format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS))).0.is_some());
    }
}
