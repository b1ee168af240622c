//! The marker: values that an adapter passes on unchanged, and a comparison that names the changes.
//!
//! Takes the value that was sent and the value that was received, gives the differences in words. Must not know who
//! changed it: an SDK can be the cause as well as its adapter.

use serde_json::{Value, json};

use crate::jsonrpc::pointer::below;

/// The number of differences that are named.
const NAMED: usize = 5;
/// The number of characters of a value that are shown.
const SHOWN: usize = 40;

/// An object with members that a careless program drops, converts or gives a meaning of its own.
pub(super) fn marker() -> Value {
    json!({
        "text": "é, 日本, 🦀 and \u{2028}",
        "": "a name without characters",
        "empty": "",
        "list": [],
        "object": {},
        "null": null,
        "no": false,
        "zero": 0,
        "float": 1.0,
        "power": 1e2,
        "fraction": 0.1,
        "large": 9_007_199_254_740_993_i64,
        "digits": "1",
        "nested": { "list": [[], {}, null, [{ "null": null }]] },
        "__proto__": { "own": true },
        "$ref": "#/nowhere",
        "_meta": { "casebook/marker": 1 },
        "isError": true,
        "content": [],
        "structuredContent": null
    })
}

/// A schema of the marker, with keywords that are unknown or have an unusual value.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "title": "",
        "properties": {
            "text": { "type": "string", "default": "", "x-casebook": null },
            "null": { "type": ["null", "string"], "default": null },
            "float": { "type": "number", "examples": [1.0, 1e2] },
            "list": { "type": "array", "items": {} }
        },
        "required": [],
        "x-casebook": { "null": null, "list": [], "object": {} }
    })
}

/// Returns the differences between two values, the first few in words. The order of members and the form of numbers do
/// not count, because JSON libraries differ in them.
pub(super) fn differences(sent: &Value, received: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", sent, received, &mut found);
    found
}

/// Joins differences for one line of output.
pub(super) fn in_words(differences: &[String]) -> String {
    let more = differences.len().saturating_sub(NAMED);
    let named = differences[..differences.len().min(NAMED)].join("; ");
    if more == 0 { named } else { format!("{named}; and {more} more differences") }
}

fn compare(place: &str, sent: &Value, received: &Value, found: &mut Vec<String>) {
    match (sent, received) {
        (Value::Object(sent), Value::Object(received)) => {
            let inner = |key: &str| below(place, key);
            for (key, value) in sent {
                match received.get(key) {
                    Some(other) => compare(&inner(key), value, other, found),
                    None => found.push(format!("lacks {}", inner(key))),
                }
            }
            let added = received.keys().filter(|key| !sent.contains_key(*key));
            found.extend(added.map(|key| format!("adds {}", inner(key))));
        }
        (Value::Array(sent), Value::Array(received)) if sent.len() == received.len() => {
            for (index, (value, other)) in sent.iter().zip(received).enumerate() {
                compare(&format!("{place}/{index}"), value, other, found);
            }
        }
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => {}
        _ if sent == received => {}
        _ => {
            let place = if place.is_empty() { "the value" } else { place };
            found.push(format!("{place} is {}, not {}", shown(received), shown(sent)));
        }
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN { text } else { text.chars().take(SHOWN).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_by_their_places() {
        assert_eq!(differences(&marker(), &marker()), [""; 0]);
        let mut changed = marker();
        changed["float"] = json!(1);
        assert_eq!(differences(&marker(), &changed), [""; 0], "JSON does not tell 1.0 from 1");
        let members = changed.as_object_mut().expect("an object");
        members.remove("null");
        members.insert("a/b".to_owned(), json!(1));
        members.insert("power".to_owned(), json!("100"));
        members.insert("list".to_owned(), json!([null]));
        let found = differences(&marker(), &changed);
        assert_eq!(found, ["/list is [null], not []", "lacks /null", "/power is \"100\", not 100.0", "adds /a~1b"]);
        assert_eq!(in_words(&found), found.join("; "));
        let all = differences(&marker(), &json!({}));
        assert!(in_words(&all).ends_with("; and 15 more differences"), "{}", in_words(&all));
    }
}
