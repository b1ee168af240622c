//! Arguments for tools that casebook did not write, derived from the schemas that their server lists.
//!
//! Takes the text of a listed schema, gives values that the schema refuses or accepts: each is generated, and kept only
//! if a validator agrees. A schema that cannot be evaluated in bounded time gives none. Must not know what a tool does
//! with its arguments.

mod example;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::schema::{Schema, TooMuch};
use super::spec::{Revision, words};
use crate::jsonrpc::{ambiguity, nesting, pointer};
use example::Examples;

/// The most tools of a list whose schemas are read.
pub const TOOLS: usize = 256;
/// The most calls of one tool.
pub const CALLS: usize = 8;
/// The most bytes of a schema from which values are derived.
const BYTES: usize = 64_000;
/// The most levels of such a schema.
const LEVELS: usize = 64;
/// The most arguments of a tool that are varied.
const MEMBERS: usize = 16;
/// The most levels of schemas within each other in which the types of an argument are looked for.
const DEPTH: usize = 4;
/// The words for types in a schema, with the JSON types of their values.
const TYPES: [(&str, &str); 7] = [
    ("object", "object"),
    ("array", "array"),
    ("string", "string"),
    ("number", "number"),
    ("integer", "number"),
    ("boolean", "boolean"),
    ("null", "null"),
];
/// The dialect that was usual before 2020-12.
const OLDER: &str = "http://json-schema.org/draft-07/schema#";
/// The longest text, in characters, that is made to exceed a bound.
const LENGTH: u64 = 10_000;

words! {
    /// The kind of arguments with which each listed tool is called.
    With {
        /// Arguments that the listed schema refuses.
        Refused = "refused",
        /// Arguments that the listed schema accepts.
        Accepted = "accepted",
    }
}

/// Returns whether the annotations of a tool say that it can destroy something.
pub fn is_destructive(annotations: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Annotations {
        #[serde(rename = "destructiveHint")]
        destructive: bool,
    }
    serde_json::from_str::<Annotations>(annotations.get()).is_ok_and(|annotations| annotations.destructive)
}

/// A listed schema from which values are derived.
#[derive(Debug)]
pub struct ListedSchema {
    value: Value,
    compiled: Schema,
    /// The same in an older dialect, where none is named and the revision has no default.
    older: Option<Schema>,
}

/// The error for a value of which nobody can say whether the schema accepts it.
#[derive(Debug, PartialEq, Eq)]
pub struct Undecided;

impl ListedSchema {
    /// Reads a schema that is listed on a revision. Returns `None` if it is too large, can be read in two ways, or cannot be
    /// evaluated: for such a schema nobody can say which values it refuses.
    pub fn read(text: &str, revision: Revision) -> Option<Self> {
        let is_bounded = text.len() <= BYTES && nesting::depth(text.as_bytes()) <= LEVELS;
        if !is_bounded || ambiguity::of_strings(text).is_some() || ambiguity::of_numbers(text).is_some() {
            return None;
        }
        let value: Value = serde_json::from_str(text).ok()?;
        let compiled = Schema::new(&value).ok()?;
        let older = if revision.facts().names_dialect || value.get("$schema").is_some() || !value.is_object() {
            None
        } else {
            let mut older = value.clone();
            older["$schema"] = json!(OLDER);
            Some(Schema::new(&older).ok()?)
        };
        Some(Self { value, compiled, older })
    }

    /// Validates a value. Returns the JSON Pointer and the message of the first error, or `None` if the schema accepts
    /// the value.
    ///
    /// # Errors
    /// [`Undecided`] if the validation would take too long, or if it depends on the dialect and none is named.
    pub fn check(&self, value: &Value) -> Result<Option<(String, String)>, Undecided> {
        let found = self.compiled.violation(value).map_err(|TooMuch| Undecided)?;
        match &self.older {
            Some(older) if older.violation(value).map_err(|TooMuch| Undecided)?.is_some() != found.is_some() => {
                Err(Undecided)
            }
            _ => Ok(found),
        }
    }

    /// Returns the JSON Pointer and the message of the first error, if the schema refuses a value.
    pub fn violation(&self, value: &Value) -> Option<(String, String)> {
        self.check(value).ok().flatten()
    }

    /// Returns whether the schema accepts a value.
    pub fn accepts(&self, value: &Value) -> bool {
        self.check(value) == Ok(None)
    }

    /// Returns arguments that the schema accepts: with the required members alone, and with all members, of which a text has
    /// letters beyond ASCII if one may have any.
    pub fn accepted(&self) -> Vec<Value> {
        let full = self.example(true, true).or_else(|| self.example(true, false));
        let mut found: Vec<Value> = self.example(false, false).into_iter().collect();
        found.extend(full.filter(|full| !found.contains(full)));
        found
    }

    fn example(&self, full: bool, foreign: bool) -> Option<Value> {
        let value = Examples::new(&self.value, full, foreign).arguments();
        value.filter(|value| value.is_object() && self.accepts(value))
    }

    /// Returns arguments that the schema refuses, in the order of their distance from accepted ones, at most [`CALLS`].
    ///
    /// A server that does not validate runs the tool with these arguments. `may_run` tells whether that is permitted: they
    /// are then near the `given` ones, or else near derived ones. If it is not, only arguments are returned with which no
    /// code can do what the tool is for: those without any of the required members, those in which each required member
    /// has another JSON type, and those that are no object. A tool without required members runs with anything, so that it
    /// then gets no call at all.
    pub fn refused(&self, may_run: bool, given: Option<&Value>) -> Vec<Value> {
        let required = self.required();
        if !may_run && required.is_empty() {
            return Vec::new();
        }
        let mut kinds = vec![without_any(&required), self.all_of_another_type(&required)];
        if may_run {
            // Of derived arguments, those with all members have more of them to vary.
            let derived = || self.example(true, false).or_else(|| self.example(false, false));
            let base = given.cloned().or_else(derived);
            if let Some(base) = base.as_ref().and_then(Value::as_object) {
                kinds.splice(0..0, self.near(base));
            }
        }
        kinds.push(vec![json!(["casebook"])]);
        in_turn(kinds, |value| self.violation(value).is_some())
    }

    /// The required members. Servers fill in a member with a default, so that it counts as optional.
    fn required(&self) -> Vec<&str> {
        let names = self.value.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let names = names.iter().filter_map(Value::as_str).filter(|name| !self.has_default(name));
        names.take(MEMBERS).collect()
    }

    fn property(&self, name: &str) -> Option<&Map<String, Value>> {
        self.value.get("properties")?.get(name)?.as_object()
    }

    fn has_default(&self, name: &str) -> bool {
        self.property(name).is_some_and(|property| property.contains_key("default"))
    }

    /// Arguments in which each required member alone, without the others, would be refused. No code makes a name, a
    /// path, a number or a record of these members.
    fn all_of_another_type(&self, required: &[&str]) -> Vec<Value> {
        let wrong = |name: &str| self.wrong_value(name, &Map::new(), useless_values());
        let wrong = required.iter().map(|name| Some(((*name).to_owned(), wrong(name)?)));
        let wrong: Option<Map<_, _>> = wrong.collect();
        wrong.filter(|members| !members.is_empty()).map(Value::Object).into_iter().collect()
    }

    /// The first of these values of another JSON type for a member that the schema refuses at this place.
    fn wrong_value(&self, name: &str, beside: &Map<String, Value>, values: Vec<Value>) -> Option<Value> {
        let mut types = Vec::new();
        if let Some(property) = self.value.get("properties").and_then(|properties| properties.get(name)) {
            self.types(property, 0, &mut types);
        }
        let is_wrong = |value: &Value| {
            let mut members = beside.clone();
            members.insert(name.to_owned(), value.clone());
            let place = pointer::below("", name);
            !types.contains(&type_of(value)) && self.compiled.refuses_at(&Value::Object(members), &place)
        };
        values.into_iter().find(is_wrong)
    }

    /// Adds the JSON types that a schema mentions for a value.
    fn types(&self, schema: &Value, level: usize, found: &mut Vec<&'static str>) {
        let Value::Object(schema) = schema else { return };
        if level > DEPTH || found.len() > MEMBERS {
            return;
        }
        let list = |key: &str| schema.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let names = list("type").iter().chain(schema.get("type")).filter_map(Value::as_str);
        found
            .extend(names.filter_map(|name| TYPES.iter().copied().find(|(known, _)| *known == name)).map(|(_, it)| it));
        found.extend(list("enum").iter().chain(schema.get("const")).take(MEMBERS).map(type_of));
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        let target = target.and_then(|way| self.value.pointer(way));
        let parts = ["anyOf", "oneOf", "allOf"].iter().flat_map(|key| list(key)).chain(target);
        parts.take(MEMBERS).for_each(|part| self.types(part, level + 1, found));
    }

    /// Arguments that differ from accepted ones in one place, by kind.
    fn near(&self, base: &Map<String, Value>) -> Vec<Vec<Value>> {
        let with = |name: &str, value: Value| {
            let mut members = base.clone();
            members.insert(name.to_owned(), value);
            Value::Object(members)
        };
        let without = self.required().into_iter().filter(|name| base.contains_key(*name)).map(|name| {
            let mut members = base.clone();
            members.remove(name);
            Value::Object(members)
        });
        let names = || base.keys().take(MEMBERS);
        let values = || [useless_values(), vec![json!("casebook"), json!(7.5), json!(true)]].concat();
        let typed = names().filter_map(|name| Some(with(name, self.wrong_value(name, base, values())?)));
        let varied = |vary: fn(&Map<String, Value>) -> Vec<Value>| {
            let values = names().filter_map(|name| Some((name, self.property(name)?)));
            values.flat_map(|(name, property)| vary(property).into_iter().map(|value| with(name, value))).collect()
        };
        let closed = self.value.get("additionalProperties") == Some(&Value::Bool(false));
        let additional = closed.then(|| with("casebook-additional", json!(1)));
        vec![
            without.collect(),
            typed.collect(),
            varied(not_in_enum),
            varied(out_of_bounds),
            varied(of_other_length),
            additional.into_iter().collect(),
        ]
    }
}

/// Values of which no lenient reader makes a usable text, number or list.
fn useless_values() -> Vec<Value> {
    vec![json!({ "casebook": "refused" }), json!(["casebook"])]
}

/// The JSON type of a value; integers count as numbers.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Takes the first values of all kinds, then the second ones, and so on: those that are refused, each once.
fn in_turn(kinds: Vec<Vec<Value>>, is_refused: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut kinds: Vec<_> = kinds.into_iter().map(Vec::into_iter).collect();
    let mut found: Vec<Value> = Vec::new();
    loop {
        let mut is_over = true;
        for kind in &mut kinds {
            let Some(value) = kind.find(|value| is_refused(value)) else { continue };
            is_over = false;
            if !found.contains(&value) {
                found.push(value);
            }
            if found.len() == CALLS {
                return found;
            }
        }
        if is_over {
            return found;
        }
    }
}

fn without_any(required: &[&str]) -> Vec<Value> {
    if required.is_empty() { Vec::new() } else { vec![json!({})] }
}

fn not_in_enum(property: &Map<String, Value>) -> Vec<Value> {
    let is_closed = property.contains_key("enum") || property.contains_key("const");
    if is_closed { vec![json!("casebook-not-offered"), json!(-987_654_321)] } else { Vec::new() }
}

fn out_of_bounds(property: &Map<String, Value>) -> Vec<Value> {
    let bound = |keys: [&str; 2]| keys.iter().find_map(|key| property.get(*key)?.as_i64());
    let below = bound(["minimum", "exclusiveMinimum"]).and_then(|least| least.checked_sub(1));
    let above = bound(["maximum", "exclusiveMaximum"]).and_then(|most| most.checked_add(1));
    below.into_iter().chain(above).map(Value::from).collect()
}

fn of_other_length(property: &Map<String, Value>) -> Vec<Value> {
    let count = |key: &str| property.get(key).and_then(Value::as_u64);
    let text = |length: u64| Value::String("c".repeat(usize::try_from(length).unwrap_or_default()));
    let shorter = count("minLength").filter(|least| (1..=LENGTH).contains(least)).map(|least| text(least - 1));
    let longer = count("maxLength").filter(|most| *most < LENGTH).map(|most| text(most + 1));
    let empty = count("minItems").filter(|least| *least > 0).map(|_| json!([]));
    shorter.into_iter().chain(longer).chain(empty).collect()
}

#[cfg(test)]
mod tests;
