//! Values as a case writes them: JSON, with places that are filled in when a test runs.
//!
//! A [`Template`] becomes text with [`Template::render`] and, where it is of moderate depth, a tree with
//! [`Template::value`]. Generators stay symbolic until then: a schema of a thousand levels is text, never a tree.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::spec::words;
use crate::jsonrpc::nesting;
use crate::jsonrpc::text::quote;

/// A JSON value with places to fill in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Template {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Template>),
    /// Members, in the order of the case.
    Object(Vec<(String, Template)>),
    /// `@canary`: an address whose being fetched is evidence.
    Canary(Canary),
    /// `@unique`: this prefix, and behind it a token that no other fixture has.
    Unique(String),
    /// `@revision`: the name of the revision that is spoken.
    Revision,
    /// `@nested`, `@wide` and the like: text too large to write down.
    Generated(Generator),
    /// `@absent`: as a member's value, leaves the member out.
    Absent,
}

words! {
    /// What kind of place a canary sits in.
    CanaryKind {
        /// A URL on the harness's own loopback listener.
        Http = "http",
        /// A file of the harness's own, as a `file:` URL.
        File = "file",
    }
}

/// One canary. Equal canaries in one test share one address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Canary {
    /// What kind of place.
    pub kind: CanaryKind,
    /// What is appended to the address, as path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is appended behind `#`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
    /// The document behind the address; by default [`Canary::default_document`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<Value>,
    /// Whether the address answers with a redirect to another canary.
    #[serde(default)]
    pub redirects: bool,
    /// How long the address waits before it answers, in milliseconds.
    #[serde(default)]
    pub delay_ms: u64,
}

impl Canary {
    /// A canary that serves the default document at its bare address.
    pub fn new(kind: CanaryKind) -> Self {
        Self { kind, path: None, fragment: None, serves: None, redirects: false, delay_ms: 0 }
    }

    /// A real schema, so that "fetched and enforced" and "fetched and ignored" can be told apart.
    pub fn default_document() -> Value {
        serde_json::json!({ "type": "string", "$defs": { "address": { "type": "string" } } })
    }

    /// What is served behind the address.
    pub fn document(&self) -> Value {
        self.serves.clone().unwrap_or_else(Self::default_document)
    }

    /// Whether two canaries are the same place: the fragment is read by the one who fetches.
    pub fn same_place(&self, other: &Self) -> bool {
        let place = |one: &Self| Self { fragment: None, ..one.clone() };
        place(self) == place(other)
    }
}

words! {
    /// Which keyword a wide schema is built from.
    WideKeyword {
        /// `anyOf`.
        AnyOf = "anyOf",
        /// `oneOf`.
        OneOf = "oneOf",
    }
}

words! {
    /// Named kinds of patterns that make a backtracking engine run for ever.
    HostilePattern {
        /// `^(a+)+$`.
        NestedQuantifier = "nested-quantifier",
        /// `^(a|a)*$`.
        OverlappingAlternatives = "overlapping-alternatives",
    }
}

/// A value too large to write: text, not a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Generator {
    /// Objects with a property `p`, `depth` times around a string's schema.
    Nested {
        /// How often.
        depth: usize,
    },
    /// A value that fits [`Generator::Nested`].
    NestedValue {
        /// How often.
        depth: usize,
    },
    /// Many branches, of which the last fits `{"n": count - 1}`.
    Wide {
        /// What the branches hang on.
        keyword: WideKeyword,
        /// How many.
        count: usize,
    },
    /// A chain of references that ends in a string's schema.
    RefChain {
        /// How many links.
        length: usize,
    },
    /// Each level refers to the next one twice: 2 to the power of `levels` ways to the leaf.
    RefDoubling {
        /// How many levels.
        levels: usize,
    },
    /// References that lead back to where they began and consume nothing.
    RefCycle {
        /// How many links.
        length: usize,
    },
    /// An object's schema whose property `v` has a hostile pattern.
    Pattern {
        /// Which pattern.
        kind: HostilePattern,
    },
    /// A text that makes the pattern backtrack.
    PatternValue {
        /// Which pattern.
        kind: HostilePattern,
        /// How many characters.
        length: usize,
    },
    /// One text, over and over.
    Text {
        /// What is repeated.
        of: String,
        /// How many characters in all.
        length: usize,
    },
}

/// What the places of one test's templates were filled with. Kept in the transcript, so that a judge can
/// fill them in again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bindings {
    /// The address of each canary, without fragment.
    pub canaries: Vec<(Canary, String)>,
    /// The token behind every `@unique` prefix.
    pub unique: String,
    /// The revision that is spoken.
    pub revision: String,
}

impl Bindings {
    /// The address of a canary, with its fragment.
    ///
    /// # Panics
    /// Where the canary was never bound: the driver binds all of [`Template::canaries`] before it renders.
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
    /// The JSON text, with every place filled in.
    pub fn render(&self, bindings: &Bindings) -> String {
        let mut out = String::new();
        self.write(bindings, &mut out);
        out
    }

    /// The JSON text of an object but for one member; of anything else, that of an empty object.
    pub fn render_without(&self, key: &str, bindings: &Bindings) -> String {
        let members = match self {
            Self::Object(members) => members.as_slice(),
            _ => &[],
        };
        let mut out = String::new();
        write_object(members.iter().filter(|(name, _)| name != key), bindings, &mut out);
        out
    }

    /// The JSON tree; `None` where it would be nested deeper than [`nesting::LIMIT`].
    pub fn value(&self, bindings: &Bindings) -> Option<Value> {
        nesting::read(self.render(bindings).as_bytes()).ok()
    }

    /// A member of an object.
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

    /// Every canary in it, in order, those of one place once.
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

    /// Calls `see` with this template and everything in it.
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
    /// A literal value: nothing in it is filled in.
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

/// Appends a text that is made on the way.
pub(super) fn put(out: &mut String, text: fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string never fails");
}

/// A short text for a generator, in place of its megabytes: `@nested {"depth":1000}`.
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
    fn absent_members_are_left_out_and_places_are_filled_in() {
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
    fn a_string_is_quoted_as_serde_json_does_it() {
        for text in ["", "plain", "ü \u{7f} \u{2028}", "a\"b", "a\\b", "\n", "\u{0}"] {
            let mut quoted = String::new();
            quote(text, &mut quoted);
            assert_eq!(quoted, serde_json::to_string(text).expect("JSON"), "{text:?}");
        }
    }
}
