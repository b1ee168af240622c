//! Changes of a message: a part is lost, has another value, or comes in addition.
//!
//! Takes the text of a message, gives texts with one change each. Must not know where a message stands.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use crate::model::case::{Expectation, Matcher, Test};
use crate::model::transcript::Transcript;

/// The bytes of a message times the number of its parts that are changed.
const WORK: usize = 400_000;
/// The most words of the checks that are put into a message.
const WORDS: usize = 24;
/// The codes of errors that take the place of others.
const CODES: [i64; 10] = [-1, 0, -32000, -32002, -32042, -32050, -32600, -32601, -32602, -32700];

/// The words in the checks of a test: the names of members, and values.
pub(super) struct Words {
    /// The names of members.
    pub(super) names: BTreeSet<String>,
    /// The values, such as constants.
    pub(super) values: Vec<Value>,
}

/// Takes the changed text.
pub(super) type Give<'g> = dyn FnMut(&str) -> ControlFlow<()> + 'g;

/// Gives the text of a message with one change in it that any message can have.
pub(super) fn plain(text: &str, give: &mut Give<'_>) -> ControlFlow<()> {
    let id = serde_json::from_str::<Value>(text).ok().and_then(|value| value.get("id").cloned());
    for code in CODES {
        give(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "damaged" } }).to_string())?;
    }
    parts(text, give, |part| {
        let mut others = vec![json!(null), json!("damaged"), json!(47.5), json!(4711), json!(true), json!(false)];
        others.extend([json!([]), json!({})]);
        match part {
            Value::String(text) => {
                others.extend([json!(format!("{text} damaged")), json!([text]), json!(text.to_uppercase())]);
            }
            Value::Array(items) => {
                others.push(items.iter().rev().cloned().collect());
                others.push(items.iter().chain(items.first()).cloned().collect());
                others.extend(["damaged".into(), json!({})].map(|one| items.iter().cloned().chain([one]).collect()));
            }
            Value::Object(members) => {
                let names =
                    ["damaged", "dam aged", "-damaged/x", "damaged/", "/damaged", "io.modelcontextprotocol/damaged"];
                others.extend(names.map(|name| with(members, name, json!("damaged"))));
            }
            Value::Number(_) => others.extend(CODES.map(|code| json!(code))),
            Value::Null | Value::Bool(_) => {}
        }
        others
    })?;
    for other in ["damaged", &format!("{text}\n"), &text.replacen(',', ",\n", 1), &format!("{{{text}")] {
        give(other)?;
    }
    ControlFlow::Continue(())
}

/// Gives the text of a message with one of the words in it.
pub(super) fn worded(text: &str, words: &Words, give: &mut Give<'_>) -> ControlFlow<()> {
    parts(text, give, |part| {
        let mut others = words.values.clone();
        if let Value::Object(members) = part {
            let new = words.names.iter().filter(|name| !members.contains_key(*name));
            let values = [json!("damaged"), json!(true), json!({}), json!(4711)];
            others.extend(new.flat_map(|name| values.clone().map(|value| with(members, name, value))));
        }
        others
    })
}

fn with(members: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut members = members.clone();
    members.insert(name.to_owned(), value);
    Value::Object(members)
}

/// Gives the text of a message without each of its parts, and with other values in its place.
fn parts(text: &str, give: &mut Give<'_>, others: impl Fn(&Value) -> Vec<Value>) -> ControlFlow<()> {
    let Ok(whole) = serde_json::from_str::<Value>(text) else { return ControlFlow::Continue(()) };
    for pointer in pointers(&whole).into_iter().take(WORK / text.len().max(1)) {
        let Some(part) = whole.pointer(&pointer) else { continue };
        if let Some((parent, name)) = pointer.rsplit_once('/') {
            let mut without = whole.clone();
            match without.pointer_mut(parent) {
                Some(Value::Object(members)) => drop(members.remove(&name.replace("~1", "/").replace("~0", "~"))),
                Some(Value::Array(items)) => drop(name.parse().ok().map(|place: usize| items.remove(place))),
                _ => {}
            }
            give(&without.to_string())?;
        }
        for other in others(part).into_iter().filter(|other| other != part) {
            let mut changed = whole.clone();
            if let Some(part) = changed.pointer_mut(&pointer) {
                *part = other;
            }
            give(&changed.to_string())?;
        }
    }
    ControlFlow::Continue(())
}

/// The JSON Pointers of all parts, the outer ones first.
fn pointers(whole: &Value) -> Vec<String> {
    let mut pointers = vec![String::new()];
    let mut next = 0;
    while let Some(pointer) = pointers.get(next).cloned() {
        next += 1;
        match whole.pointer(&pointer) {
            Some(Value::Object(members)) => pointers
                .extend(members.keys().map(|name| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")))),
            Some(Value::Array(items)) => {
                pointers.extend((0..items.len()).map(|place| format!("{pointer}/{place}")));
            }
            _ => {}
        }
    }
    pointers
}

impl Words {
    /// The words of the checks of a test.
    pub(super) fn of(test: &Test, whole: &Transcript) -> Self {
        let mut words = Self { names: BTreeSet::new(), values: Vec::new() };
        let checks = test.steps.iter().flat_map(|step| step.then.checks());
        for one in checks.flat_map(|check| &check.alternatives) {
            let Expectation { saw, structured, asked, reply, sent, matches, .. } = one;
            for schema in [reply, sent, matches].into_iter().flatten() {
                words.add_schema(schema.value());
            }
            for matcher in [saw, structured, asked].into_iter().flatten() {
                if let Matcher::Equals(value) | Matcher::Contains(value) = matcher {
                    words.add(&value.value(&whole.bindings).unwrap_or_default());
                }
            }
        }
        words.values.truncate(WORDS);
        words
    }

    /// Adds the names and constants of a schema.
    fn add_schema(&mut self, schema: &Value) {
        match schema {
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("const", value) => self.add(value),
                        ("enum", Value::Array(values)) => values.iter().for_each(|one| self.add(one)),
                        ("properties", Value::Object(parts)) => {
                            self.names.extend(parts.keys().cloned());
                            parts.values().for_each(|part| self.add_schema(part));
                        }
                        ("required", Value::Array(names)) => {
                            self.names.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
                        }
                        (_, part) => self.add_schema(part),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_schema(item)),
            _ => {}
        }
    }

    fn add(&mut self, value: &Value) {
        if !self.values.contains(value) {
            self.values.push(value.clone());
        }
    }
}
