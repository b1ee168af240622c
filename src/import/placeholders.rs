//! Values of the suite that a case file would read as placeholders.
//!
//! The functions take any value. They must not know where it stands.

use serde_json::{Value, json};

/// Wraps a value in `@literal` if something in it would be read as a placeholder.
pub(super) fn literal(value: &Value) -> Value {
    if has_places(value) { json!({ "@literal": value }) } else { value.clone() }
}

/// Returns whether something in the value would be read as a placeholder.
pub(super) fn has_places(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_places),
        Value::Object(members) => members.iter().any(|(key, value)| key.starts_with('@') || has_places(value)),
        _ => false,
    }
}
