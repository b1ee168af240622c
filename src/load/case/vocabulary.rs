//! The vocabulary of an observation, and the walk of an author's schema beside it.
//!
//! Takes a schema of `matches`, `reply` or `sent` and the shape of the value that it is applied to, and reports members
//! that no such value has, words that none can be, and keywords that JSON Schema does not define. A schema with such a
//! mistake holds for every target, or for none. Must not know steps, or how a target is observed.

use crate::jsonrpc::pointer::tokens;
use crate::load::text::diagnostic::{Diagnostic, Lint, nearest};
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::Reader;

/// The shape of a value.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Any JSON: something that the target decides.
    Any,
    /// An object with no other members than these. The text describes the object.
    Closed(&'static str, Vec<(String, Shape)>),
    /// An object with these members, which may have others. A name that resembles one of them is a mistake.
    Open(Vec<(&'static str, Shape)>),
    /// An object with members of any names.
    Map(Box<Shape>),
    /// The lower-case names of HTTP headers, with their values.
    Headers,
    List(Box<Shape>),
    /// One of these texts.
    Words(Vec<&'static str>),
    Text,
    Integer,
    Flag,
}

impl Shape {
    /// Returns the types of JSON Schema that a value of this shape can have; `None` for all.
    fn types(&self) -> Option<&'static [&'static str]> {
        Some(match self {
            Self::Any => return None,
            Self::Closed(..) | Self::Open(_) | Self::Map(_) | Self::Headers => &["object"],
            Self::List(_) => &["array"],
            Self::Words(_) | Self::Text => &["string", "null"],
            Self::Integer => &["integer", "number"],
            Self::Flag => &["boolean"],
        })
    }
}

/// The keywords of JSON Schema 2020-12 that can make a value invalid, or belong to one that can. `format` and the
/// keywords of content are not among them: in 2020-12 they are annotations.
const KEYWORDS: [&str; 46] = [
    "$comment",
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "default",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Keywords that do nothing without another one.
const COMPANIONS: [(&str, &str); 4] =
    [("then", "if"), ("else", "if"), ("minContains", "contains"), ("maxContains", "contains")];

/// The number of levels that are looked at, and the number of schemas. A valid schema has fewer.
const DEPTH: usize = 80;
const SCHEMAS: usize = 6_000;

/// Reports the mistakes of an author's schema over a value of a shape.
pub(super) fn check(reader: &mut Reader, key: &str, schema: &Node, shape: &Shape) {
    let mut walk = Walk { reader, key, root: schema, left: SCHEMAS };
    walk.schema(schema, shape, 0);
}

struct Walk<'a> {
    reader: &'a mut Reader,
    /// The key of the expectation.
    key: &'a str,
    root: &'a Node,
    /// The number of schemas that may still be looked at.
    left: usize,
}

impl Walk<'_> {
    fn schema(&mut self, node: &Node, shape: &Shape, depth: usize) {
        if depth > DEPTH || self.left == 0 {
            return;
        }
        self.left -= 1;
        let members = node.members();
        for member in members {
            self.keyword(members, member, shape, depth);
        }
    }

    fn keyword(&mut self, members: &[Member], member: &Member, shape: &Shape, depth: usize) {
        let (keyword, value) = (&*member.key, &member.value);
        match keyword {
            "properties" => {
                for property in value.members() {
                    let inner = self.member(&property.key, property.key_span, shape);
                    self.schema(&property.value, &inner, depth + 1);
                }
            }
            "required" => {
                for name in items(value) {
                    if let Kind::String(text) = &name.kind {
                        self.member(text, name.span, shape);
                    }
                }
            }
            "dependentSchemas" => {
                for property in value.members() {
                    self.member(&property.key, property.key_span, shape);
                    self.schema(&property.value, shape, depth + 1);
                }
            }
            "allOf" | "anyOf" | "oneOf" => items(value).iter().for_each(|one| self.schema(one, shape, depth + 1)),
            "not" | "if" | "then" | "else" => self.schema(value, shape, depth + 1),
            "items" | "contains" | "unevaluatedItems" => self.schema(value, &item(shape), depth + 1),
            "prefixItems" => items(value).iter().for_each(|one| self.schema(one, &item(shape), depth + 1)),
            "additionalProperties" | "unevaluatedProperties" => self.schema(value, &any_member(shape), depth + 1),
            "patternProperties" => {
                let inner = any_member(shape);
                value.members().iter().for_each(|one| self.schema(&one.value, &inner, depth + 1));
            }
            "propertyNames" => self.schema(value, &Shape::Any, depth + 1),
            "$defs" => value.members().iter().for_each(|one| self.schema(&one.value, &Shape::Any, depth + 1)),
            "$ref" => {
                if let Some(target) = self.target(value) {
                    self.schema(&target, shape, depth + 1);
                }
            }
            "const" => self.constant(value, shape),
            "enum" => items(value).iter().for_each(|one| self.constant(one, shape)),
            "type" => self.types(value, shape),
            _ if !KEYWORDS.contains(&keyword) => self.unknown(member),
            _ => {}
        }
        let lonely = COMPANIONS.iter().find(|(one, other)| *one == keyword && !has(members, other));
        if let Some((_, other)) = lonely {
            let message = format!("`{keyword}` has no effect without `{other}`");
            let mistake = self.reader.mistake(Lint::Vacuous, message).at(member.key_span, "ignored by JSON Schema");
            self.reader.push(mistake.help(format!("add `{other}` beside it, or remove `{keyword}`")));
        }
    }

    /// Reports a member that no value has. Returns the shape of the member.
    fn member(&mut self, name: &str, span: miette::SourceSpan, shape: &Shape) -> Shape {
        match shape {
            Shape::Closed(of, members) => {
                if let Some((_, inner)) = members.iter().find(|(known, _)| known == name) {
                    return inner.clone();
                }
                let message = format!("`{}` names the member `{name}`, which {of} never has", self.key);
                let mistake = self.reader.mistake(Lint::Vacuous, message).at(span, "never there");
                let known = members.iter().map(|(known, _)| known.as_str());
                self.reader.push(mistake.known(name, "its members are", known));
                Shape::Any
            }
            Shape::Open(members) => {
                if let Some((_, inner)) = members.iter().find(|(known, _)| *known == name) {
                    return inner.clone();
                }
                let known: Vec<&str> = members.iter().map(|(known, _)| *known).collect();
                if let Some(near) = nearest(name, &known) {
                    let message = format!("`{}` names the member `{name}`, which resembles `{near}`", self.key);
                    let mistake = self.reader.mistake(Lint::Vacuous, message).at(span, "probably misspelt");
                    self.reader.push(mistake.help(format!("write `{near}`")));
                }
                Shape::Any
            }
            Shape::Headers => {
                if name.chars().any(char::is_uppercase) {
                    let message =
                        format!("`{}` names the header `{name}`, and headers have lower-case names", self.key);
                    let mistake = self.reader.mistake(Lint::Vacuous, message).at(span, "never there");
                    self.reader.push(mistake.help(format!("write `{}`", name.to_lowercase())));
                }
                Shape::Text
            }
            Shape::Map(inner) => (**inner).clone(),
            _ => Shape::Any,
        }
    }

    fn constant(&mut self, value: &Node, shape: &Shape) {
        let Kind::String(text) = &value.kind else { return };
        if let Shape::Words(words) = shape
            && !words.contains(&&**text)
        {
            let message = format!("`{}` compares with `{text}`, which this value never is", self.key);
            let mistake = self.reader.mistake(Lint::Vacuous, message).at(value.span, "never equal");
            self.reader.push(mistake.known(text, "it is one of", words.iter().copied()));
        }
    }

    fn types(&mut self, value: &Node, shape: &Shape) {
        let Some(possible) = shape.types() else { return };
        let written = if let Kind::Array(items) = &value.kind { items } else { std::slice::from_ref(value) };
        let is_possible = |word: &Node| !matches!(&word.kind, Kind::String(word) if !possible.contains(&&**word));
        if !written.iter().any(is_possible) && !written.is_empty() {
            let message = format!("`{}` requires a type that this value never has", self.key);
            let mistake = self.reader.mistake(Lint::Vacuous, message).at(value.span, "never of this type");
            self.reader.push(mistake.help(format!("its type is {}", possible[0])));
        }
    }

    fn unknown(&mut self, member: &Member) {
        let keyword = &*member.key;
        let message = format!("`{}` has `{keyword}`, which makes no value invalid in JSON Schema 2020-12", self.key);
        let mistake: Diagnostic = self.reader.mistake(Lint::Vacuous, message).at(member.key_span, "checks nothing");
        let mistake = match nearest(keyword, &KEYWORDS) {
            Some(near) => mistake.help(format!("did you mean `{near}`?")),
            None => mistake.help("use a keyword that validates, or remove it; `$comment` has remarks"),
        };
        self.reader.push(mistake);
    }

    /// The part of the schema that a reference leads to.
    fn target(&self, reference: &Node) -> Option<Node> {
        let Kind::String(text) = &reference.kind else { return None };
        let mut node = self.root;
        for token in tokens(text.strip_prefix('#')?) {
            node = match &node.kind {
                Kind::Object(members) => &members.iter().find(|member| *member.key == *token)?.value,
                Kind::Array(items) => items.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node.clone())
    }
}

fn items(node: &Node) -> &[Node] {
    match &node.kind {
        Kind::Array(items) => items,
        _ => &[],
    }
}

fn has(members: &[Member], key: &str) -> bool {
    members.iter().any(|member| *member.key == *key)
}

fn item(shape: &Shape) -> Shape {
    match shape {
        Shape::List(inner) => (**inner).clone(),
        _ => Shape::Any,
    }
}

fn any_member(shape: &Shape) -> Shape {
    match shape {
        Shape::Map(inner) => (**inner).clone(),
        _ => Shape::Any,
    }
}
