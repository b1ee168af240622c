//! Other ways to say the same: changes that no sentence of the specification forbids, so that no check may break.
//!
//! Takes a transcript, gives transcripts with one such change in all messages of the target. Must not know the checks.

use serde_json::{Map, Value, json};

use super::own;
use crate::model::transcript::{Message, Transcript};

/// The headers of a message.
type Headers = Vec<(String, String)>;

/// A change of each message.
#[derive(Clone, Copy)]
enum Rephrasing {
    /// The form of the JSON text.
    Form(fn(&Value) -> String),
    /// The members.
    Members(fn(&mut Value)),
    /// The headers.
    Headers(fn(&mut Headers)),
}

/// The changes, in words.
const CHANGES: [(&str, Rephrasing); 11] = [
    ("members in another order", Rephrasing::Form(|value| reversed(value).to_string())),
    ("spaces between members", Rephrasing::Form(spaced)),
    ("letters as escapes", Rephrasing::Form(escaped)),
    ("a further member of a result", Rephrasing::Members(further_member)),
    ("further data of an error", Rephrasing::Members(further_data)),
    ("a further key of `_meta`", Rephrasing::Members(further_meta)),
    ("another message of an error", Rephrasing::Members(other_message)),
    ("tools in another order", Rephrasing::Members(other_order)),
    ("a further block of text", Rephrasing::Members(further_text)),
    ("a further header", Rephrasing::Headers(further_header)),
    ("a parameter of the media type", Rephrasing::Headers(media_type)),
];

/// Says the same in other ways, each with its description.
pub(in super::super) fn ways(whole: &Transcript) -> impl Iterator<Item = (&'static str, Transcript)> {
    CHANGES.iter().map(|(what, change)| {
        let mut other = whole.clone();
        for step in &mut other.steps {
            let places: Vec<_> = own(&step.messages).map(|(place, _)| place).collect();
            for place in places {
                change.apply(&mut step.messages[place]);
            }
        }
        (*what, other)
    })
}

impl Rephrasing {
    fn apply(self, message: &mut Message) {
        let value = || serde_json::from_str::<Value>(&message.text).ok();
        match self {
            Self::Headers(change) => change(&mut message.headers),
            Self::Form(form) => {
                if let Some(text) = value().map(|value| form(&value)) {
                    message.text = text;
                }
            }
            Self::Members(change) => {
                if let Some(mut value) = value() {
                    change(&mut value);
                    message.text = value.to_string();
                }
            }
        }
    }
}

/// An empty result has a sentence of its own.
fn further_member(value: &mut Value) {
    if let Some(result) = value.get_mut("result").and_then(Value::as_object_mut).filter(|result| !result.is_empty()) {
        result.insert("example.com/further".to_owned(), json!({ "a": [1] }));
    }
}

fn further_data(value: &mut Value) {
    if let Some(error) = value.get_mut("error").and_then(Value::as_object_mut)
        && let Value::Object(data) = error.entry("data").or_insert_with(|| json!({}))
    {
        data.insert("further".to_owned(), json!([1]));
    }
}

fn further_meta(value: &mut Value) {
    for part in ["result", "params"] {
        if let Some(part) = value.get_mut(part).and_then(Value::as_object_mut)
            && let Value::Object(meta) = part.entry("_meta").or_insert_with(|| json!({}))
        {
            meta.insert("example.com/further".to_owned(), json!({ "a": [1] }));
        }
    }
}

fn other_message(value: &mut Value) {
    if let Some(text) = value.pointer_mut("/error/message") {
        *text = json!("Something else went wrong");
    }
}

fn other_order(value: &mut Value) {
    if let Some(tools) = value.pointer_mut("/result/tools").and_then(Value::as_array_mut) {
        tools.reverse();
    }
}

/// A result without structured content is its content, and a tool's author gave it.
fn further_text(value: &mut Value) {
    if value.pointer("/result/structuredContent").is_some()
        && let Some(content) = value.pointer_mut("/result/content").and_then(Value::as_array_mut)
    {
        content.push(json!({ "type": "text", "text": "That is all." }));
    }
}

fn further_header(headers: &mut Headers) {
    if !headers.is_empty() {
        headers.push(("x-further".to_owned(), "1".to_owned()));
    }
}

fn media_type(headers: &mut Headers) {
    for (_, value) in headers.iter_mut().filter(|(name, _)| name == "content-type") {
        value.push_str("; charset=utf-8");
    }
}

fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(reversed).collect(),
        Value::Object(members) => {
            let members = members.iter().rev().map(|(name, part)| (name.clone(), reversed(part)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[ {} ]", items.iter().map(spaced).collect::<Vec<_>>().join(" , ")),
        Value::Object(members) => {
            let members = members.iter().map(|(name, part)| format!("{} : {}", json!(name), spaced(part)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(" , "))
        }
        other => other.to_string(),
    }
}

fn escaped(value: &Value) -> String {
    let text = |text: &str| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        format!("\"{}\"", units.collect::<String>())
    };
    match value {
        Value::String(one) => text(one),
        Value::Array(items) => format!("[{}]", items.iter().map(escaped).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members = members.iter().map(|(name, part)| format!("{}:{}", text(name), escaped(part)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}
