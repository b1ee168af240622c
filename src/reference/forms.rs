//! Forms as both sides know them: the capability to show one, the kinds of fields, and the kinds of answers.
//!
//! Takes schemas, values and capabilities. Must not know who asks.

use serde_json::{Value, json};

use crate::revision::Revision;

/// Returns whether a value is of a kind that a field of a form can have.
pub(crate) fn is_answer(value: &Value, revision: Revision) -> bool {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
        Value::Array(items) => revision.has_rich_forms() && items.iter().all(Value::is_string),
        Value::Null | Value::Object(_) => false,
    }
}

/// Returns whether these capabilities of a client allow forms.
pub(crate) fn allows_forms(capabilities: &Value, revision: Revision) -> bool {
    let Some(Value::Object(modes)) = capabilities.get("elicitation") else { return false };
    match modes.get("form") {
        Some(form) => form.is_object(),
        None => !revision.has_modes() || !modes.contains_key("url"),
    }
}

/// Checks that a schema is that of a flat object.
pub(crate) fn check_root(schema: &Value) -> Result<(), String> {
    let wrong = |reason: &str| Err(reason.to_owned());
    if schema.get("type") != Some(&json!("object")) {
        return wrong("`type` must be \"object\"");
    }
    if !schema.get("properties").is_some_and(Value::is_object) {
        return wrong("`properties` must be an object");
    }
    match composition(schema) {
        Some(keyword) => wrong(&format!("a form is flat and has no `{keyword}`")),
        None => Ok(()),
    }
}

/// The first keyword that a flat form has no place for.
pub(crate) fn composition(schema: &Value) -> Option<&'static str> {
    const KEYWORDS: [&str; 13] = [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "patternProperties",
        "properties",
    ];
    let is_root = schema.get("type") == Some(&json!("object"));
    KEYWORDS.into_iter().find(|keyword| schema.get(keyword).is_some() && !(is_root && *keyword == "properties"))
}

/// A list of strings.
pub(crate) fn strings(list: &Value) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Value::as_str).collect()
}

/// The constants of a list of titled options.
pub(crate) fn titled(list: &Value) -> Option<Vec<&str>> {
    let option = |option: &'_ Value| option.get("title").is_some_and(Value::is_string);
    list.as_array()?.iter().map(|one| option(one).then(|| one.get("const")?.as_str()).flatten()).collect()
}
