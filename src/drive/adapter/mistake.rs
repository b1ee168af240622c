//! Explanations of invalid answers of an adapter, for its author.
//!
//! Takes the line of an answer, gives the mistake in words. Must not know the request.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

/// An example of each member of an answer.
const EXAMPLES: [(&str, &str); 7] = [
    (
        "hello",
        r#"{"sdk":"…","version":"…","language":"…","api":"…","roles":["…"],"transports":["…"],"revisions":["…"]}"#,
    ),
    ("serving", r#"{"url":"http://…"}"#),
    ("stopped", "true"),
    ("drove", DROVE),
    ("unsupported", r#""reason""#),
    ("refused", r#"{"type":"…","message":"…"}"#),
    ("cannot", r#""reason""#),
];

/// An example of the results of a client's script.
pub(super) const DROVE: &str = r#"{"connected":true,"steps":[{"tools":[…]},{"result":{…}}]}"#;

/// Returns whether a line is an answer to the request with this id, valid or not.
pub(super) fn is_addressed(line: &[u8], id: &str) -> bool {
    #[derive(Deserialize)]
    struct Addressed<'a> {
        #[serde(borrow)]
        id: Cow<'a, str>,
    }
    serde_json::from_slice(line).is_ok_and(|addressed: Addressed<'_>| addressed.id == id)
}

/// Returns the mistake in an answer whose id is missing or no string; `None` for any other line.
pub(super) fn wrong_id(line: &[u8], id: &str) -> Option<String> {
    let Ok(Value::Object(answer)) = serde_json::from_slice(line) else { return None };
    let found = match answer.get("id") {
        _ if !EXAMPLES.iter().any(|(name, _)| answer.contains_key(*name)) => return None,
        Some(Value::String(_)) => return None,
        Some(other) => format!("has \"id\":{}", other.to_string().chars().take(40).collect::<String>()),
        None => "has no id".to_owned(),
    };
    Some(format!("its answer {found}; an id is a string, and is repeated as it came: \"id\":\"{id}\""))
}

/// Returns the member of an answer that has a wrong type, and an example; `None` for any other mistake. `is_valid` tells
/// whether an answer can be read.
pub(super) fn wrong_type(line: &[u8], is_valid: impl Fn(Value) -> bool) -> Option<String> {
    let Ok(Value::Object(answer)) = serde_json::from_slice(line) else { return None };
    let (name, example) = EXAMPLES
        .into_iter()
        .find(|(name, _)| answer.get(*name).is_some_and(|value| !is_valid(json!({ "id": "", *name: value }))))?;
    let r#type = match example.as_bytes() {
        [b'{', ..] if answer[name].is_object() => {
            return Some(format!("a member of `{name}` has a wrong type; expected as in {example}"));
        }
        [b'{', ..] => "an object",
        [b'"', ..] => "a string",
        _ => "a boolean",
    };
    Some(format!("`{name}` must be {type}, as in {example}"))
}
