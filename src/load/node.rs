//! A tree that knows where each part of it stands: what JSON and TOML become.
//!
//! Takes what the parsers found. Parts are shared where a tree is copied: a row's tree has the file's own, but for what
//! is the row's. Must not know what it means.

use std::rc::Rc;

use miette::SourceSpan;
use serde_json::{Number, Value};

/// How deep a file may be nested; what must be deeper is written with a generator.
pub(crate) const LEVELS: usize = 128;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: SourceSpan,
    pub(crate) kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    String(Rc<str>),
    Array(Rc<[Node]>),
    Object(Rc<[Member]>),
    /// Stands for what a mistake left out, so that one mistake isn't reported twice.
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
    /// The kind, with its article, for messages.
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

    /// The members, of an object.
    pub(crate) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The plain value, with everything in it as it is written.
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
