//! JSON values of a case, with placeholders that are filled in when a test runs.
//!
//! A [`Template`] becomes text with [`Template::render`] or, if it is not too deep, a tree with [`Template::value`].
//! Generators stay symbolic until then: a schema of a thousand levels becomes text and never a tree.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::spec::words;
use crate::jsonrpc::nesting;
use crate::jsonrpc::text::quote;

/// A JSON value with placeholders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Template {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Template>),
    /// An object, with its members in the order of the case.
    Object(Vec<(String, Template)>),
    /// `@canary`: an address that only someone who dereferences it would request.
    Canary(Canary),
    /// `@unique`: this prefix, followed by a token that no other fixture has.
    Unique(String),
    /// `@revision`: the name of the test's revision.
    Revision,
    /// `@nested`, `@wide` and similar: a value too large to write in a case.
    Generated(Generator),
    /// `@absent`: as the value of a member, omits the member.
    Absent,
}

words! {
    /// The kind of a canary's address.
    CanaryKind {
        /// A URL on casebook's own loopback listener.
        Http = "http",
        /// An `http:` URL with a name that no resolver knows, which only the proxy of the environment reaches.
        HttpByName = "http-by-name",
        /// The same with `https:`.
        HttpsByName = "https-by-name",
        /// A temporary file of casebook, as a `file:` URL.
        File = "file",
    }
}

/// One canary. Equal canaries in a test share one address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Canary {
    /// The kind of the address.
    pub kind: CanaryKind,
    /// The path to append to the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The fragment to append after `#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
    /// The document at the address; by default [`Canary::default_document`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<Value>,
    /// `true` if the address redirects to another canary.
    #[serde(default)]
    pub redirects: bool,
    /// The delay before the response, in milliseconds.
    #[serde(default)]
    pub delay_ms: u64,
}

impl Canary {
    /// Returns a canary with the default document, and without path, fragment, redirect and delay.
    pub fn new(kind: CanaryKind) -> Self {
        Self { kind, path: None, fragment: None, serves: None, redirects: false, delay_ms: 0 }
    }

    /// A text that a case puts into the document of a canary. In a message of the target, it shows that the target passes
    /// on the content of a document that it fetched.
    pub const MARKER: &str = "casebook-canary-content";

    /// Returns a schema that rejects some values, so that a test can distinguish a target that enforces the fetched
    /// document from one that ignores it.
    pub fn default_document() -> Value {
        serde_json::json!({ "type": "string", "$defs": { "address": { "type": "string" } } })
    }

    /// Returns the document at the address.
    pub fn document(&self) -> Value {
        self.serves.clone().unwrap_or_else(Self::default_document)
    }

    /// Returns whether two canaries have the same address. Fragments are ignored, because only the client reads them.
    pub fn same_place(&self, other: &Self) -> bool {
        let place = |one: &Self| Self { fragment: None, ..one.clone() };
        place(self) == place(other)
    }
}

words! {
    /// The keyword of a wide schema.
    WideKeyword {
        /// `anyOf`.
        AnyOf = "anyOf",
        /// `oneOf`.
        OneOf = "oneOf",
    }
}

words! {
    /// The kinds of regular expressions that take exponential time in a backtracking engine.
    HostilePattern {
        /// `^(a+)+$`.
        NestedQuantifier = "nested-quantifier",
        /// `^(a|a)*$`.
        OverlappingAlternatives = "overlapping-alternatives",
    }
}

/// A value too large to write in a case. It is generated as text and never as a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Generator {
    /// The schema of nested objects with a property `p`, `depth` levels around the schema of a string.
    Nested {
        /// The number of levels.
        depth: usize,
    },
    /// A value that is valid against [`Generator::Nested`].
    NestedValue {
        /// The number of levels.
        depth: usize,
    },
    /// A schema of many branches, of which the last accepts `{"n": count - 1}`.
    Wide {
        /// The keyword that has the branches.
        keyword: WideKeyword,
        /// The number of branches.
        count: usize,
    },
    /// A chain of references that ends in a string's schema.
    RefChain {
        /// The number of references.
        length: usize,
    },
    /// Definitions that each refer to the next one twice, so that 2 to the power of `levels` paths lead to the last.
    RefDoubling {
        /// The number of levels.
        levels: usize,
    },
    /// References in a circle that consume nothing of the instance.
    RefCycle {
        /// The number of references.
        length: usize,
    },
    /// The schema of an object whose property `v` has a hostile pattern.
    Pattern {
        /// The kind of the pattern.
        kind: HostilePattern,
    },
    /// A text that makes the pattern backtrack.
    PatternValue {
        /// The kind of the pattern.
        kind: HostilePattern,
        /// The length in characters.
        length: usize,
    },
    /// One text, repeated.
    Text {
        /// The text to repeat.
        of: String,
        /// The total length in characters.
        length: usize,
    },
}

/// The values that fill the placeholders of one test's templates. The transcript contains them, so that the judge can
/// fill the placeholders again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bindings {
    /// The address of each canary, without its fragment.
    pub canaries: Vec<(Canary, String)>,
    /// The token that follows every `@unique` prefix.
    pub unique: String,
    /// The name of the revision.
    pub revision: String,
}

impl Bindings {
    /// Returns the address of a canary, with its fragment.
    ///
    /// # Panics
    /// If the canary was never bound: the driver binds all of [`Template::canaries`] before it renders a template.
    pub fn canary(&self, canary: &Canary) -> String {
        let (_, address) = self
            .canaries
            .iter()
            .find(|(bound, _)| bound.same_place(canary))
            .expect("every canary of a test is bound before the test is rendered");
        match &canary.fragment {
            Some(fragment) => format!("{address}#{fragment}"),
            None => address.clone(),
        }
    }
}

impl Template {
    /// Returns the JSON text, with every placeholder filled in.
    pub fn render(&self, bindings: &Bindings) -> String {
        let mut out = String::new();
        self.write(bindings, &mut out);
        out
    }

    /// Returns the JSON text of an object without one of its members; for any other value, the text of an empty object.
    pub fn render_without(&self, key: &str, bindings: &Bindings) -> String {
        let members = match self {
            Self::Object(members) => members.as_slice(),
            _ => &[],
        };
        let mut out = String::new();
        write_object(members.iter().filter(|(name, _)| name != key), bindings, &mut out);
        out
    }

    /// Returns the JSON tree, or `None` if it would be nested deeper than [`nesting::LIMIT`].
    pub fn value(&self, bindings: &Bindings) -> Option<Value> {
        nesting::read(self.render(bindings).as_bytes()).ok()
    }

    /// Returns a member of an object.
    pub fn get(&self, key: &str) -> Option<&Template> {
        match self {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Appends the JSON text to `out`.
    pub fn write(&self, bindings: &Bindings, out: &mut String) {
        match self {
            Self::Null | Self::Absent => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => put(out, format_args!("{number}")),
            Self::String(text) => quote(text, out),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(bindings, out);
                }
                out.push(']');
            }
            Self::Object(members) => write_object(members, bindings, out),
            Self::Canary(canary) => quote(&bindings.canary(canary), out),
            Self::Unique(prefix) => quote(&format!("{prefix}{}", bindings.unique), out),
            Self::Revision => quote(&bindings.revision, out),
            Self::Generated(generator) => generator.write(out),
        }
    }

    /// Returns every canary of the template in order, but each address only once.
    pub fn canaries(&self) -> Vec<&Canary> {
        let mut found: Vec<&Canary> = Vec::new();
        self.visit(&mut |one| {
            if let Self::Canary(canary) = one
                && !found.iter().any(|known| known.same_place(canary))
            {
                found.push(canary);
            }
        });
        found
    }

    /// Calls `see` with this template and with every template inside it.
    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Template)) {
        see(self);
        match self {
            Self::Array(items) => items.iter().for_each(|item| item.visit(see)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.visit(see)),
            _ => {}
        }
    }
}

impl From<&Value> for Template {
    /// Converts a literal value, which has no placeholders.
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => Self::String(text.clone()),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(key, value)| (key.clone(), Self::from(value))).collect())
            }
        }
    }
}

fn write_object<'t>(members: impl IntoIterator<Item = &'t (String, Template)>, bindings: &Bindings, out: &mut String) {
    out.push('{');
    let mut first = true;
    for (key, value) in members.into_iter().filter(|(_, value)| *value != Template::Absent) {
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        quote(key, out);
        out.push(':');
        value.write(bindings, out);
    }
    out.push('}');
}

/// Appends a formatted text.
pub(super) fn put(out: &mut String, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string never fails");
}

/// Writes a short text in place of the generated megabytes, such as `@nested {depth: 1000}`.
impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, members): (&str, BTreeMap<&str, Cow<'_, str>>) = match self {
            Self::Nested { depth } => ("nested", [("depth", depth.to_string().into())].into()),
            Self::NestedValue { depth } => ("nested-value", [("depth", depth.to_string().into())].into()),
            Self::Wide { keyword, count } => {
                ("wide", [("keyword", keyword.word().into()), ("count", count.to_string().into())].into())
            }
            Self::RefChain { length } => ("ref-chain", [("length", length.to_string().into())].into()),
            Self::RefDoubling { levels } => ("ref-doubling", [("levels", levels.to_string().into())].into()),
            Self::RefCycle { length } => ("ref-cycle", [("length", length.to_string().into())].into()),
            Self::Pattern { kind } => ("pattern", [("kind", kind.word().into())].into()),
            Self::PatternValue { kind, length } => {
                ("pattern-value", [("kind", kind.word().into()), ("length", length.to_string().into())].into())
            }
            Self::Text { of, length } => {
                ("text", [("of", of.as_str().into()), ("length", length.to_string().into())].into())
            }
        };
        let members: Vec<_> = members.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        write!(f, "@{name} {{{}}}", members.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_members_are_omitted_and_placeholders_filled_in() {
        let http = Canary { fragment: Some("/a".into()), ..Canary::new(CanaryKind::Http) };
        let template = Template::Object(vec![
            ("a".into(), Template::Absent),
            ("b".into(), Template::Canary(http.clone())),
            ("c".into(), Template::Array(vec![Template::Unique("u:".into()), Template::Revision])),
        ]);
        let bindings = Bindings {
            canaries: vec![(Canary::new(CanaryKind::Http), "http://x/1".into())],
            unique: "7".into(),
            revision: "r".into(),
        };
        assert_eq!(template.render(&bindings), r#"{"b":"http://x/1#/a","c":["u:7","r"]}"#);
        assert_eq!(template.render_without("b", &bindings), r#"{"c":["u:7","r"]}"#);
        assert_eq!(template.canaries(), [&http]);
    }

    #[test]
    fn string_is_quoted_as_by_serde_json() {
        for text in ["", "plain", "ü \u{7f} \u{2028}", "a\"b", "a\\b", "\n", "\u{0}"] {
            let mut quoted = String::new();
            quote(text, &mut quoted);
            assert_eq!(quoted, serde_json::to_string(text).expect("JSON"), "{text:?}");
        }
    }
}
