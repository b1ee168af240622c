//! Rules for forms that the server and the client share: the capability to show one, and the kinds of fields and
//! answers.
//!
//! The functions take schemas, values and capabilities. They must not know which side calls them.

use serde_json::{Value, json};

use crate::revision::Revision;

/// Returns whether a value has a type that a field of a form can have.
pub(crate) fn is_answer(value: &Value, revision: Revision) -> bool {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => true,
        Value::Array(items) => revision.has_rich_forms() && items.iter().all(Value::is_string),
        Value::Null | Value::Object(_) => false,
    }
}

/// Returns whether these client capabilities allow forms.
pub(crate) fn allows_forms(capabilities: &Value, revision: Revision) -> bool {
    let Some(Value::Object(modes)) = capabilities.get("elicitation") else { return false };
    match modes.get("form") {
        Some(form) => form.is_object(),
        None => !revision.has_modes() || !modes.contains_key("url"),
    }
}

/// Checks that a schema describes a flat object.
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

/// Returns the first keyword that a flat form must not contain.
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

/// Returns a list of strings, or `None` if an item is not a string.
pub(crate) fn strings(list: &Value) -> Option<Vec<&str>> {
    list.as_array()?.iter().map(Value::as_str).collect()
}

/// Returns the `const` values of a list of titled options, or `None` if an option is malformed.
pub(crate) fn titled(list: &Value) -> Option<Vec<&str>> {
    let option = |option: &'_ Value| option.get("title").is_some_and(Value::is_string);
    list.as_array()?.iter().map(|one| option(one).then(|| one.get("const")?.as_str()).flatten()).collect()
}
