//! The premise of a schema: what a value must have so that the schema demands anything of it.
//!
//! Takes a schema as a case has it, gives the schema of its premise. Must not know what the values are.

use serde_json::{Map, Value, json};

/// The keywords that demand nothing by themselves.
const IDLE: [&str; 7] = ["$comment", "$defs", "title", "description", "properties", "if", "then"];

/// Returns the premise of a schema: what `if` asks for, or the members that `properties` leads through before it demands
/// something. `None` if no value has more demanded of it than that it is there.
pub(super) fn of(schema: &Value) -> Option<Value> {
    let Value::Object(keywords) = schema else { return (*schema == false).then_some(Value::Bool(true)) };
    // Beside `properties`, the type is only on the way to the members.
    let is_way = |keyword: &str| keyword == "type" && keywords.contains_key("properties");
    let demands = |keyword: &&String| !IDLE.contains(&keyword.as_str()) && !is_way(keyword);
    let demands: Vec<_> = keywords.keys().filter(demands).map(String::as_str).collect();
    match demands[..] {
        [] => {}
        // Some name, or some item, must have the premise.
        ["propertyNames"] => {
            let names = json!({ "not": of(&keywords["propertyNames"])? });
            return Some(json!({ "type": "object", "not": { "propertyNames": names } }));
        }
        ["items"] => return Some(json!({ "type": "array", "contains": of(&keywords["items"])? })),
        _ => return Some(Value::Bool(true)),
    }
    let empty = Map::new();
    let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut premises: Vec<Value> = properties.iter().filter_map(|(name, schema)| of_member(name, schema)).collect();
    if let (Some(condition), Some(then)) = (keywords.get("if"), keywords.get("then").and_then(of)) {
        premises.push(json!({ "allOf": [condition, then] }));
    }
    let is_always = premises.iter().any(|premise| *premise == true);
    match premises.len() {
        _ if is_always => Some(Value::Bool(true)),
        0 => None,
        1 => premises.pop(),
        _ => Some(json!({ "anyOf": premises })),
    }
}

/// The premise of a schema for one member. A schema that forbids the member needs only the object.
fn of_member(name: &str, schema: &Value) -> Option<Value> {
    if *schema == false {
        return Some(Value::Bool(true));
    }
    Some(json!({ "type": "object", "required": [name], "properties": { name: of(schema)? } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn premise_is_what_the_schema_leads_through() {
        let code = json!({ "type": "object", "properties": { "code": { "type": "integer" } } });
        let has =
            |name: &str, inner: Value| json!({ "type": "object", "required": [name], "properties": { name: inner } });
        let read = json!({ "properties": { "error": code } });
        assert_eq!(of(&read), Some(has("error", has("code", json!(true)))));
        let forbidden = json!({ "properties": { "params": { "properties": { "cursor": false } } } });
        assert_eq!(of(&forbidden), Some(has("params", json!(true))));
        assert_eq!(of(&json!({ "required": ["id"], "properties": { "id": true } })), Some(json!(true)));
        assert_eq!(of(&json!(false)), Some(json!(true)));
        assert_eq!(of(&json!({ "items": { "const": 1 } })), Some(json!({ "type": "array", "contains": true })));
    }

    #[test]
    fn premise_of_names_is_a_name() {
        let of_names = |names: Value| {
            let premise = of(&json!({ "propertyNames": names })).expect("a premise");
            jsonschema::validator_for(&premise).expect("a schema")
        };
        let any = of_names(json!({ "pattern": "^a" }));
        assert!(any.is_valid(&json!({ "b": 1 })) && !any.is_valid(&json!({})) && !any.is_valid(&json!("b")));
        let with_slash = of_names(json!({ "if": { "pattern": "/" }, "then": { "pattern": "^a/" } }));
        assert!(with_slash.is_valid(&json!({ "b": 1, "b/c": 1 })) && !with_slash.is_valid(&json!({ "b": 1 })));
    }

    #[test]
    fn premise_of_a_condition_is_the_condition() {
        let condition = json!({ "required": ["method"] });
        let read = json!({ "if": condition, "then": { "properties": { "id": { "const": 1 } } } });
        let id = json!({ "type": "object", "required": ["id"], "properties": { "id": true } });
        assert_eq!(of(&read), Some(json!({ "allOf": [condition, id] })));
    }

    #[test]
    fn schema_that_demands_nothing_has_no_premise() {
        for idle in [json!(true), json!({}), json!({ "title": "a" }), json!({ "properties": { "a": true } })] {
            assert_eq!(of(&idle), None, "{idle}");
        }
    }
}
