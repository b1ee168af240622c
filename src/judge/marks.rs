//! The marks `x-mcp-header` of a listed input schema, by which clients repeat arguments in HTTP headers.
//!
//! Takes a schema, gives the [`Flaw`]s of its marks. Must not know which flaws a requirement forbids.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::model::case::Flaw;

/// The keywords whose values are schemas, or lists of schemas, in any dialect. All other values are data.
const SCHEMAS: [&str; 19] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "disallow",
    "else",
    "extends",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// The keywords whose values are schemas by name.
const MAPS: [&str; 6] = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
const MARK: &str = "x-mcp-header";
/// The characters of a token of RFC 9110 other than letters and digits.
const TOKEN: &str = "!#$%&'*+-.^_`|~";
/// The types of arguments that can have a mark.
const PRIMITIVE: [&str; 3] = ["string", "integer", "boolean"];

/// Finds the flaws of all marks in a schema; `None` if it has no mark.
pub(super) fn flaws(schema: &Value) -> Option<BTreeSet<Flaw>> {
    let mut marks = Marks::default();
    marks.walk(schema, Place::Root);
    marks.has_any.then_some(marks.flaws)
}

/// The place of a schema within the schema of a tool.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    /// Reached from the root through `properties` alone.
    Property,
    Elsewhere,
}

#[derive(Default)]
struct Marks {
    /// The names in lower case, because headers have no case.
    names: BTreeSet<String>,
    has_any: bool,
    flaws: BTreeSet<Flaw>,
}

impl Marks {
    fn walk(&mut self, schema: &Value, place: Place) {
        match schema {
            Value::Array(schemas) => schemas.iter().for_each(|schema| self.walk(schema, Place::Elsewhere)),
            Value::Object(members) => {
                if let Some(mark) = members.get(MARK) {
                    self.mark(mark, members, place);
                }
                for (key, schema) in parts(members) {
                    let is_chain = key == "properties" && place != Place::Elsewhere;
                    self.walk(schema, if is_chain { Place::Property } else { Place::Elsewhere });
                }
            }
            _ => {}
        }
    }

    fn mark(&mut self, mark: &Value, schema: &Map<String, Value>, place: Place) {
        self.has_any = true;
        match place {
            Place::Property if may_be_primitive(schema) => {}
            Place::Property => drop(self.flaws.insert(Flaw::IllegalHeaderMark)),
            Place::Root | Place::Elsewhere => drop(self.flaws.insert(Flaw::UnreachableHeaderMark)),
        }
        let is_token = |name: &&str| {
            !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || TOKEN.contains(one))
        };
        match mark.as_str().filter(is_token) {
            Some(name) if self.names.insert(name.to_ascii_lowercase()) => {}
            Some(_) => drop(self.flaws.insert(Flaw::RepeatedHeaderMark)),
            None => drop(self.flaws.insert(Flaw::IllegalHeaderMark)),
        }
    }
}

/// The schemas that are in a schema, each with its keyword.
pub(super) fn parts(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    schema.iter().flat_map(|(key, value)| {
        let (by_name, whole) = match value {
            Value::Object(by_name) if MAPS.contains(&key.as_str()) => (Some(by_name), None),
            value => (None, Some(value).filter(|_| SCHEMAS.contains(&key.as_str()))),
        };
        by_name.into_iter().flat_map(Map::values).chain(whole).map(|part| (key.as_str(), part))
    })
}

/// Returns whether the values of an argument are texts, integers or booleans, as far as its own keywords say so.
fn may_be_primitive(schema: &Map<String, Value>) -> bool {
    let is_primitive = |name: &Value| name.as_str().is_some_and(|name| PRIMITIVE.contains(&name));
    let fits = |value: &Value| value.is_string() || value.is_boolean() || value.is_i64() || value.is_u64();
    match (schema.get("type"), schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(names)), ..) => !names.is_empty() && names.iter().all(is_primitive),
        (Some(name), ..) => is_primitive(name),
        (None, Some(Value::Array(values)), _) => values.iter().all(fits),
        (None, _, Some(value)) => fits(value),
        // The values of another schema are those of the argument.
        _ => schema.contains_key("$ref"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(properties: &Value) -> Vec<Flaw> {
        flaws(&json!({"type": "object", "properties": properties})).unwrap_or_default().into_iter().collect()
    }

    #[test]
    fn legal_marks_have_no_flaw() {
        let marked = |name: &str| json!({"type": "string", "x-mcp-header": name});
        assert_eq!(of(&json!({"a": marked("Region"), "b": marked("x_1"), "c": {"type": "string"}})), []);
        let nested = json!({"type": "object", "properties": {"items": marked("Deep")}});
        assert_eq!(of(&json!({"properties": nested})), []);
        for kind in [json!({"type": ["string"]}), json!({"enum": ["a"]}), json!({"const": 1}), json!({"$ref": "#"})] {
            let mut argument = kind.clone();
            argument["x-mcp-header"] = json!("Region");
            assert_eq!(of(&json!({"a": argument})), [], "{kind}");
        }
        let data = json!({"dependentRequired": {"x-mcp-header": ["b"]}, "dependencies": {"x-mcp-header": ["b"]},
            "example": {"x-mcp-header": "v"}, "x-vendor": {"x-mcp-header": "v"}});
        assert_eq!(flaws(&data), None);
        // An argument can have this name, and data is no schema.
        assert_eq!(of(&json!({"x-mcp-header": {"type": "number"}, "b": {"default": {"x-mcp-header": 7}}})), []);
    }

    #[test]
    fn each_flaw_of_a_mark_is_found() {
        let marked = |kind: &str, mark: Value| json!({"type": kind, "x-mcp-header": mark});
        for (kind, mark) in [
            ("string", json!("")),
            ("string", json!("a b")),
            ("string", json!("a\r\n")),
            ("string", json!("é")),
            ("string", json!(7)),
            ("number", json!("a")),
            ("object", json!("a")),
        ] {
            assert_eq!(of(&json!({"a": marked(kind, mark.clone())})), [Flaw::IllegalHeaderMark], "{kind} {mark}");
        }
        assert_eq!(of(&json!({"a": {"x-mcp-header": "a"}})), [Flaw::IllegalHeaderMark]);
        let inner = json!({"type": "object", "properties": {"b": marked("string", json!("REGION"))}});
        assert_eq!(of(&json!({"a": marked("string", json!("Region")), "c": inner})), [Flaw::RepeatedHeaderMark]);
        let string = marked("string", json!("a"));
        for unreachable in [
            json!({"type": "array", "items": string}),
            json!({"anyOf": [string]}),
            json!({"type": "object", "additionalProperties": string}),
            json!({"type": "object", "items": {"properties": {"a": string}}}),
        ] {
            assert_eq!(of(&json!({ "a": unreachable })), [Flaw::UnreachableHeaderMark]);
        }
        let root = json!({"type": "object", "x-mcp-header": "a", "$defs": {"b": marked("string", json!("b"))}});
        assert_eq!(flaws(&root), Some([Flaw::UnreachableHeaderMark].into()));
    }
}
