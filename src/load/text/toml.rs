//! TOML text as the same tree of nodes that JSON becomes, so that one reader and one form of message serve both.
//!
//! Takes a file's text, gives a [`Node`], or diagnostics at the places that are not TOML. Must not know what it means.

use std::ops::Range;

use serde_json::Number;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::Lint;
use super::node::{Kind, LEVELS, Member, Node, span};
use super::read::Reader;
use crate::jsonrpc::nesting;

/// Parses the reader's file; `None` if it is not TOML.
pub(in crate::load) fn parse(reader: &mut Reader) -> Option<Node> {
    let file = reader.file();
    let text = file.inner().as_str();
    if nesting::depth(text.as_bytes()) > LEVELS {
        reader.push(reader.mistake(Lint::TooLarge, format!("the file is nested more than {LEVELS} levels deep")));
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let Range { start, end } = error.span().unwrap_or(0..0);
        let mistake = reader.mistake(Lint::Syntax, "the file is not valid TOML").at(span(start, end), error.message());
        reader.push(if is_bare_word(text, start) {
            mistake.help("a text needs quotes, as in \"text\"")
        } else {
            mistake
        });
    }
    let Range { start, end } = table.span();
    errors.is_empty().then(|| Node { span: span(start, end), kind: self::table(table.into_inner()) })
}

/// Returns whether a value that begins here is a word without quotes.
fn is_bare_word(text: &str, start: usize) -> bool {
    let (before, after) = text.split_at_checked(start).unwrap_or_default();
    let is_value = before.trim_end_matches([' ', '\t']).ends_with(['=', '[', ',']);
    let word = after.split([' ', '\t', '\r', '\n', ',', ']', '}', '#']).next().unwrap_or_default();
    is_value
        && word.starts_with(|first: char| first.is_alphabetic())
        && !["true", "false", "inf", "nan"].contains(&word)
}

fn table(table: DeTable<'_>) -> Kind {
    let member = |(key, value): (Spanned<std::borrow::Cow<'_, str>>, Spanned<DeValue<'_>>)| {
        let Range { start, end } = key.span();
        Member { key: key.into_inner().into(), key_span: span(start, end), value: node(value) }
    };
    Kind::Object(table.into_iter().map(member).collect())
}

fn node(value: Spanned<DeValue<'_>>) -> Node {
    let Range { start, end } = value.span();
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::String(text.into()),
        DeValue::Boolean(value) => Kind::Bool(value),
        DeValue::Integer(number) => {
            number.as_str().parse::<i64>().map_or(Kind::Missing, |one| Kind::Number(one.into()))
        }
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(Number::from_f64);
            number.map_or(Kind::Missing, Kind::Number)
        }
        DeValue::Datetime(time) => Kind::String(time.to_string().into()),
        DeValue::Array(items) => Kind::Array(items.into_iter().map(node).collect()),
        DeValue::Table(members) => table(members),
    };
    Node { span: span(start, end), kind }
}
