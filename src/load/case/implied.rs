//! The implied types in the schemas of `reply`, `sent` and `matches`: a value with required members is an object.
//!
//! Takes a schema, adds the types to it. Must not know the values that are validated.

use serde_json::Value;

/// Adds `"type": "object"` wherever members are required and no type is named, as a value that is no object lacks them.
///
/// JSON Schema applies `required` to objects alone, and accepts every other value. Below `not` and `if` too, what is said
/// of objects is not said of a list: it would break another sentence than the one that is checked.
pub(super) fn objects(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    let requires = keywords.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
    if requires && !keywords.contains_key("type") {
        keywords.insert("type".to_owned(), "object".into());
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(objects);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(objects);
            }
            ("items" | "contains" | "additionalProperties" | "not" | "if" | "then" | "else", schema) => objects(schema),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schema_with_required_members_gets_the_type_object() {
        let mut schema = json!({
            "properties": { "error": { "required": ["code"] }, "none": { "required": [] }, "any": { "minimum": 0 } },
            "anyOf": [{ "items": { "required": ["a"] } }, { "type": ["object", "null"], "required": ["b"] }],
            "not": { "required": ["c"] }, "if": { "contains": { "required": ["d"] } }, "then": { "required": ["e"] },
            "const": { "required": ["f"] }
        });
        objects(&mut schema);
        assert_eq!(
            schema,
            json!({
                "properties": {
                    "error": { "required": ["code"], "type": "object" }, "none": { "required": [] }, "any": { "minimum": 0 }
                },
                "anyOf": [
                    { "items": { "required": ["a"], "type": "object" } },
                    { "type": ["object", "null"], "required": ["b"] }
                ],
                "not": { "required": ["c"], "type": "object" },
                "if": { "contains": { "required": ["d"], "type": "object" } },
                "then": { "required": ["e"], "type": "object" }, "const": { "required": ["f"] }
            })
        );
    }
}
