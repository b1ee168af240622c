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
/// The most references and parts on the way to the type of an argument.
const REFERENCES: usize = 8;
/// The keywords that can say what the values of an argument are.
const TELLING: [&str; 10] = ["$dynamicRef", "$ref", "allOf", "anyOf", "else", "enum", "if", "oneOf", "then", "type"];
/// The types of arguments that can have a mark.
const PRIMITIVE: [&str; 3] = ["string", "integer", "boolean"];

/// Finds the flaws of all marks in a schema; `None` if it has no mark.
pub(super) fn flaws(schema: &Value) -> Option<BTreeSet<Flaw>> {
    let mut marks = Marks { root: schema, names: BTreeSet::new(), has_any: false, flaws: BTreeSet::new() };
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

struct Marks<'a> {
    root: &'a Value,
    /// The names in lower case, because headers have no case.
    names: BTreeSet<String>,
    has_any: bool,
    flaws: BTreeSet<Flaw>,
}

impl Marks<'_> {
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
            Place::Property => {
                let is_told = || schema.keys().any(|key| TELLING.contains(&key.as_str()));
                if !is_primitive(self.root, schema, REFERENCES).unwrap_or_else(is_told) {
                    self.flaws.insert(Flaw::IllegalHeaderMark);
                }
            }
            Place::Root | Place::Elsewhere => drop(self.flaws.insert(Flaw::UnreachableHeaderMark)),
        }
        let is_token = |name: &&str| {
            !name.is_empty() && name.chars().all(|one| one.is_ascii_alphanumeric() || TOKEN.contains(one))
        };
        let name = mark.as_str();
        self.flaws.extend(name.is_none_or(|name| !is_token(&name)).then_some(Flaw::IllegalHeaderMark));
        let is_repeated = name.is_some_and(|name| !self.names.insert(name.to_ascii_lowercase()));
        self.flaws.extend(is_repeated.then_some(Flaw::RepeatedHeaderMark));
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

/// Returns whether the values of an argument are texts, integers or booleans; `None` if its keywords do not decide it.
fn is_primitive(root: &Value, schema: &Map<String, Value>, references: usize) -> Option<bool> {
    let is_named = |name: &Value| name.as_str().is_some_and(|name| PRIMITIVE.contains(&name));
    let is_null = |name: &Value| name == "null" || name.is_null();
    // 1.0 is an integer.
    let fits = |value: &Value| {
        value.is_string() || value.is_boolean() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
    };
    // Whether a text that can be missing is a primitive value is contested.
    let all = |values: &[Value], fits: &dyn Fn(&Value) -> bool| {
        let (nulls, others): (Vec<_>, Vec<_>) = values.iter().partition(|value| is_null(value));
        if others.is_empty() || !others.into_iter().all(fits) { Some(false) } else { nulls.is_empty().then_some(true) }
    };
    let of = |schema: &Value| match schema {
        Value::Object(members) if references > 0 => is_primitive(root, members, references - 1),
        _ => None,
    };
    let is_only_null = |schema: &&Value| {
        let values = schema.get("enum").and_then(Value::as_array);
        let names = schema.get("type").map(|named| named.as_array().map_or(std::slice::from_ref(named), Vec::as_slice));
        names.or(values.map(Vec::as_slice)).is_some_and(|all| !all.is_empty() && all.iter().all(is_null))
            || schema.get("const").is_some_and(Value::is_null)
    };
    let parts = |key: &str| schema.get(key).and_then(Value::as_array);
    match (schema.get("type"), schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(names)), ..) => return all(names, &is_named),
        (Some(name), ..) => return Some(is_named(name)),
        (None, Some(Value::Array(values)), _) => return all(values, &fits),
        (None, _, Some(value)) => return Some(fits(value)),
        _ => {}
    }
    if let Some(reference) = schema.get("$ref") {
        return reference.as_str().and_then(|text| text.strip_prefix('#')).and_then(|place| of(root.pointer(place)?));
    }
    if let Some(parts) = parts("allOf") {
        return parts.iter().filter_map(of).reduce(|one, other| one && other);
    }
    let parts = parts("anyOf").or_else(|| parts("oneOf"))?;
    let (nulls, others): (Vec<_>, Vec<_>) = parts.iter().partition(is_only_null);
    let others: Vec<_> = others.into_iter().map(of).collect();
    if others.is_empty() || others.contains(&Some(false)) {
        return Some(false);
    }
    (nulls.is_empty() && others.iter().all(Option::is_some)).then_some(true)
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
        for kind in [
            json!({"type": ["string"]}),
            json!({"enum": ["a"]}),
            json!({"const": 1}),
            json!({"const": 1.0}),
            json!({"$ref": "#/properties/c"}),
            json!({"$ref": "other.json"}),
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}),
            json!({"oneOf": [{"enum": ["a"]}, {"const": null}]}),
            json!({"allOf": [{"anyOf": [{"type": "integer"}, {"enum": [null]}]}]}),
            json!({"oneOf": [{"const": "a"}, {"const": "b"}]}),
            json!({"allOf": [{"minLength": 1}, {"type": "string"}]}),
        ] {
            let mut argument = kind.clone();
            argument["x-mcp-header"] = json!("Region");
            assert_eq!(of(&json!({"a": argument, "c": {"type": "string"}})), [], "{kind}");
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
        for other in [json!({}), json!({"$ref": "#"}), json!({"oneOf": [{"type": "string"}, {"type": "number"}]})] {
            let mut argument = other.clone();
            argument["x-mcp-header"] = json!("a");
            assert_eq!(of(&json!({"a": argument})), [Flaw::IllegalHeaderMark], "{other}");
        }
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
