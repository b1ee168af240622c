//! The tree of a JSON or TOML file, with the place of each part.
//!
//! Takes the results of the parsers. A copy of a tree shares its parts: the tree of a row has the parts of the file,
//! except for the values of the row. Must not know what the parts mean.

use std::rc::Rc;

use miette::SourceSpan;
use serde_json::{Number, Value};

/// The number of levels that a file may have. Deeper values are written with a generator.
pub(crate) const LEVELS: usize = 128;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: SourceSpan,
    pub(crate) kind: Kind,
}

/// The type of a node, with its value.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    String(Rc<str>),
    Array(Rc<[Node]>),
    Object(Rc<[Member]>),
    /// A value that is missing because of a mistake, which was reported already.
    Missing,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: Rc<str>,
    pub(crate) key_span: SourceSpan,
    pub(crate) value: Node,
}

impl Node {
    /// The type with its article, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null | Kind::Missing => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "a list",
            Kind::Object(_) => "an object",
        }
    }

    /// The members of an object; none for other types.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The value as it is written, with nothing filled in.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Null | Kind::Missing => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String((**text).to_owned()),
            Kind::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Kind::Object(members) => {
                Value::Object(members.iter().map(|one| ((*one.key).to_owned(), one.value.value())).collect())
            }
        }
    }
}

pub(crate) fn span(start: usize, end: usize) -> SourceSpan {
    SourceSpan::new(start.into(), end.saturating_sub(start))
}
