//! The marks `x-mcp-header` of a listed input schema, by which clients repeat arguments in HTTP headers.
//!
//! Takes a schema, gives the [`Flaw`]s of its marks. Must not know which flaws a requirement forbids.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::model::case::Flaw;

/// The keywords whose values are data without references.
pub(super) const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// The keywords whose values are schemas by name.
pub(super) const MAPS: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
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
                for (key, value) in members {
                    match value {
                        _ if key == MARK || DATA.contains(&key.as_str()) => {}
                        Value::Object(by_name) if MAPS.contains(&key.as_str()) => {
                            let is_chain = key == "properties" && place != Place::Elsewhere;
                            let inner = if is_chain { Place::Property } else { Place::Elsewhere };
                            by_name.values().for_each(|schema| self.walk(schema, inner));
                        }
                        value => self.walk(value, Place::Elsewhere),
                    }
                }
            }
            _ => {}
        }
    }

    fn mark(&mut self, mark: &Value, schema: &Map<String, Value>, place: Place) {
        self.has_any = true;
        let is_primitive = schema.get("type").and_then(Value::as_str).is_some_and(|name| PRIMITIVE.contains(&name));
        match place {
            Place::Property if is_primitive => {}
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
