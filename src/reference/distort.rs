//! What some mutants make of values on their way: of arguments, of forms, and of what is listed.
//!
//! Takes a value as it should be and a mutant, gives it as that mutant has it. Must not know requests or replies.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::message::success;
use crate::mutant::Mutant;

/// Arguments as they are checked.
///
/// # Errors
/// Why there is nothing to check.
pub(crate) fn received(arguments: &Value, schema: &Value, mutant: Option<Mutant>) -> Result<Value, String> {
    let kind = |name: &str| schema["properties"][name]["type"].as_str();
    let Some(members) = arguments.as_object() else { return Ok(arguments.clone()) };
    match mutant {
        Some(Mutant::ArgumentsCoerced) => {
            let coerced = members.iter().map(|(name, value)| (name.clone(), coerced(value, kind(name))));
            Ok(Value::Object(coerced.collect()))
        }
        Some(Mutant::WholeNumberRefused) => {
            let is_off = |(name, value): (&String, &Value)| kind(name) == Some("integer") && value.is_f64();
            let refused = members.iter().any(is_off);
            if refused { Err("an integer has no fraction".to_owned()) } else { Ok(arguments.clone()) }
        }
        _ => Ok(arguments.clone()),
    }
}

/// Content as one block, where it is all text.
pub(crate) fn merged(content: Vec<Value>) -> Vec<Value> {
    match content.iter().map(|block| block["text"].as_str()).collect::<Option<String>>() {
        Some(text) => vec![json!({ "type": "text", "text": text })],
        None => content,
    }
}

/// A message as it is written to stdout.
pub(crate) fn written(text: String, mutant: Option<Mutant>) -> String {
    match mutant {
        Some(Mutant::StrayLine) => format!("a message of {} bytes follows\n{text}", text.len()),
        Some(Mutant::PrettyPrinted) => {
            serde_json::from_str(&text).map_or(text, |message: Value| format!("{message:#}"))
        }
        _ => text,
    }
}

/// A batch as its first message, if it is one.
pub(crate) fn first_of_batch(bytes: &[u8]) -> Option<Vec<u8>> {
    let batch: Vec<Value> = serde_json::from_slice(bytes).ok()?;
    batch.first().map(|message| message.to_string().into_bytes())
}

/// A reply as it goes out.
pub(crate) fn replied(reply: String, mutant: Option<Mutant>) -> String {
    let change: fn(&mut Value) = match mutant {
        Some(Mutant::IdAsNumber) => |reply| {
            let number = reply["id"].as_str().and_then(|id| id.parse::<i64>().ok());
            if let Some(number) = number {
                reply["id"] = json!(number);
            }
        },
        Some(Mutant::ErrorIdLost) => |reply| {
            if is_unknown_method(reply) {
                reply["id"] = Value::Null;
            }
        },
        Some(Mutant::ErrorMessageLost) => |reply| {
            if is_unknown_method(reply) {
                reply["error"].as_object_mut().and_then(|error| error.shift_remove("message"));
            }
        },
        Some(Mutant::ErrorCodeAsText) => |reply| {
            if is_unknown_method(reply) {
                reply["error"]["code"] = json!("-32601");
            }
        },
        _ => return reply,
    };
    let Ok(mut changed) = serde_json::from_str(&reply) else { return reply };
    change(&mut changed);
    changed.to_string()
}

fn is_unknown_method(reply: &Value) -> bool {
    reply.pointer("/error/code") == Some(&json!(-32601))
}

fn coerced(value: &Value, kind: Option<&str>) -> Value {
    let parsed = match (value, kind) {
        (Value::String(text), Some("integer" | "number" | "boolean")) => {
            serde_json::from_str(text).ok().filter(|value: &Value| value.is_number() || value.is_boolean())
        }
        (Value::Number(_) | Value::Bool(_), Some("string")) => Some(Value::String(value.to_string())),
        _ => None,
    };
    parsed.unwrap_or_else(|| value.clone())
}

/// Arguments as the tool's code gets them.
pub(crate) fn handed_over(arguments: &Value, schema: &Value, mutant: Option<Mutant>) -> Value {
    let mut arguments = arguments.clone();
    match (mutant, &mut arguments) {
        (Some(Mutant::UnknownArgumentsDropped), Value::Object(members)) => {
            members.retain(|name, _| schema["properties"].get(name).is_some());
        }
        (Some(Mutant::NumbersAsFloats), value) => floats(value),
        _ => {}
    }
    arguments
}

fn floats(value: &mut Value) {
    match value {
        Value::Number(number) => *value = number.as_f64().map_or(Value::Null, |number| json!(number)),
        Value::Array(items) => items.iter_mut().for_each(floats),
        Value::Object(members) => members.values_mut().for_each(floats),
        _ => {}
    }
}

/// A schema as it is listed; `None` where it isn't.
pub(crate) fn listed(key: &str, schema: &RawValue, mutant: Option<Mutant>) -> Option<Box<RawValue>> {
    let change: fn(&mut Map<String, Value>) = match (mutant, key) {
        (Some(Mutant::OutputSchemaLost), "outputSchema") => return None,
        (Some(Mutant::RootTypeInjectedIntoOutput), "outputSchema") => |members| {
            members.entry("type").or_insert_with(|| json!("object"));
        },
        (Some(Mutant::DialectLost), "inputSchema" | "outputSchema") => |members| drop(members.shift_remove("$schema")),
        (Some(Mutant::ClosedSchemaOpened), "inputSchema") => |members| {
            members.retain(|keyword, value| keyword != "additionalProperties" || *value != json!(false));
        },
        (Some(Mutant::KeywordEmptied), "inputSchema") => |members| {
            for keyword in ["allOf", "anyOf", "oneOf"] {
                members.entry(keyword).and_modify(|value| *value = json!([]));
            }
        },
        // Most mutants leave schemas alone, and to read one again can take longer than all else.
        _ => return Some(schema.to_owned()),
    };
    Some(serde_json::from_str(schema.get()).map_or_else(
        |_| schema.to_owned(),
        |mut members| {
            change(&mut members);
            success(&members)
        },
    ))
}

/// A form's schema as the client gets it.
pub(crate) fn shown(schema: &Value, mutant: Option<Mutant>) -> Value {
    let mut schema = schema.clone();
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for field in fields.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        redraw(field, mutant);
    }
    schema
}

fn redraw(field: &mut Map<String, Value>, mutant: Option<Mutant>) {
    const BOUNDS: [&str; 7] = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "format"];
    match mutant {
        Some(Mutant::EnumNamesLost) => drop(field.shift_remove("enumNames")),
        Some(Mutant::DefaultsLost) => drop(field.shift_remove("default")),
        Some(Mutant::BoundsLost) => BOUNDS.iter().for_each(|bound| drop(field.shift_remove(*bound))),
        Some(Mutant::DefaultInvented) => {
            let empty = empty(field);
            field.entry("default").or_insert(empty);
        }
        Some(Mutant::DefaultWrong) => {
            let other = field.get("default").map(another);
            field.extend(other.map(|value| ("default".to_owned(), value)));
        }
        Some(Mutant::EnumTurnedIntoText) => drop(field.shift_remove("enum")),
        Some(Mutant::EnumEmptied) => {
            field.entry("enum").and_modify(|options| *options = json!([]));
        }
        Some(Mutant::TitlesLost) => untitle(field),
        Some(Mutant::MultiSelectMadeSingle) => {
            if let Some(Value::Object(items)) = field.shift_remove("items") {
                field.extend(items);
                field.insert("type".to_owned(), json!("string"));
            }
        }
        _ => {}
    }
}

fn empty(field: &Map<String, Value>) -> Value {
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(false),
        Some("number" | "integer") => json!(0),
        Some("array") => json!([]),
        _ => json!(""),
    }
}

/// Another value of the same type.
fn another(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!(!value),
        Value::Number(number) => json!(number.as_i64().map_or(-1, |number| number.wrapping_add(1))),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(items) if items.is_empty() => json!(["x"]),
        _ => json!([]),
    }
}

/// Titled options as plain ones.
fn untitle(field: &mut Map<String, Value>) {
    let constants = |options: &Value| -> Vec<Value> {
        options.as_array().into_iter().flatten().filter_map(|option| option.get("const").cloned()).collect()
    };
    if let Some(options) = field.shift_remove("oneOf") {
        field.insert("enum".to_owned(), constants(&options).into());
    }
    if let Some(items) = field.get_mut("items").filter(|items| items.get("anyOf").is_some()) {
        *items = json!({ "type": "string", "enum": constants(&items["anyOf"]) });
    }
}
