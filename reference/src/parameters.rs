//! Arguments that HTTP headers repeat, and the encoding of header values.
//!
//! The module takes a schema and returns the arguments marked with `x-mcp-header`. It encodes values of the body, and
//! compares them with headers. It must not know requests or tools.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use jsonschema::Draft;
use serde_json::Value;

const MARK: &str = "x-mcp-header";
const SENTINEL: &str = "=?base64?";

/// An argument that a header repeats.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The name of the header.
    pub(crate) header: String,
    /// The path of the argument.
    path: Vec<String>,
}

impl Parameter {
    /// Returns the value of the argument; null counts as absent.
    pub(crate) fn value<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        self.found(arguments).filter(|value| !value.is_null())
    }

    /// Returns the value of the outermost argument with the same last name, at any path. Only a mutant uses it.
    pub(crate) fn namesake<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        arguments?.get(self.path.last()?).filter(|value| !value.is_null())
    }

    /// Returns whether the argument is inside another argument.
    pub(crate) fn is_nested(&self) -> bool {
        self.path.len() > 1
    }

    /// Returns whether the argument is present and null.
    pub(crate) fn is_null(&self, arguments: Option<&Value>) -> bool {
        self.found(arguments).is_some_and(Value::is_null)
    }

    /// Returns the header with the argument's value, or nothing if the argument is absent.
    pub(crate) fn headers(&self, arguments: Option<&Value>) -> Vec<(String, String)> {
        self.header_of(self.value(arguments).and_then(written))
    }

    /// Returns the header with this text.
    pub(crate) fn header_of(&self, text: Option<String>) -> Vec<(String, String)> {
        text.map(|text| (self.header.clone(), text)).into_iter().collect()
    }

    fn found<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        self.path.iter().try_fold(arguments?, |value, key| value.get(key))
    }
}

/// Returns the marked arguments of a schema that `properties` keywords lead to.
///
/// # Errors
/// A description of the first invalid mark.
pub(crate) fn of(schema: &Value) -> Result<Vec<Parameter>, String> {
    let mut found: Vec<Parameter> = vec![];
    let mut pending = vec![(schema, vec![])];
    while let Some((schema, path)) = pending.pop() {
        if let Some(mark) = schema.get(MARK) {
            let name = mark.as_str().filter(|name| is_token(name)).ok_or("`x-mcp-header` must be a header's name")?;
            if !matches!(schema.get("type").and_then(Value::as_str), Some("integer" | "string" | "boolean")) {
                return Err(format!("`x-mcp-header` on `{name}` needs the type integer, string or boolean"));
            }
            let header = format!("mcp-param-{}", name.to_ascii_lowercase());
            if found.iter().any(|parameter| parameter.header == header) {
                return Err(format!("two arguments share the header `{name}`"));
            }
            found.push(Parameter { header, path: path.clone() });
        }
        for (key, inner) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let mut path = path.clone();
            path.push(key.clone());
            pending.push((inner, path));
        }
    }
    if marks(schema) == found.len() {
        Ok(found)
    } else {
        Err("`x-mcp-header` is at a place that `properties` does not lead to".to_owned())
    }
}

/// Returns the number of marked subschemas, at any place.
fn marks(schema: &Value) -> usize {
    let (mut marks, mut pending) = (0, vec![schema]);
    while let Some(schema) = pending.pop() {
        marks += usize::from(schema.get(MARK).is_some());
        pending.extend(Draft::default().subresources_of(schema));
    }
    marks
}

/// Encodes a value for a header; `None` if the value has no such form.
pub(crate) fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if is_plain(text) => Some(text.clone()),
        Value::String(text) => Some(format!("{SENTINEL}{}?=", BASE64.encode(text))),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        Value::Number(number) => {
            number.as_f64().filter(|number| number.fract() == 0.0).map(|number| format!("{number:.0}"))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_plain(text: &str) -> bool {
    let is_sentinel = text.starts_with(SENTINEL) && text.ends_with("?=");
    !is_sentinel
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Returns whether a header has the same value as the body.
///
/// # Errors
/// A description, if the header cannot be decoded.
pub(crate) fn agrees(header: &str, value: &Value) -> Result<bool, String> {
    let text = decoded(header)?;
    Ok(match value {
        Value::String(value) => text == *value,
        Value::Bool(value) => text == value.to_string(),
        Value::Number(number) => {
            text == number.to_string() || text.parse::<f64>().is_ok_and(|other| Some(other) == number.as_f64())
        }
        _ => false,
    })
}

/// Decodes the value of a header.
///
/// # Errors
/// A description, if the header cannot be decoded.
pub(crate) fn decoded(header: &str) -> Result<String, String> {
    let Some(inner) = header.strip_prefix(SENTINEL).and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(header.to_owned());
    };
    let bytes = BASE64.decode(inner).map_err(|_| "a header's Base64 cannot be decoded")?;
    String::from_utf8(bytes).map_err(|_| "a header's Base64 is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn marks_are_found_below_properties() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": "string", "x-mcp-header": "Region" },
            "b": { "type": "object", "properties": { "c": { "type": "integer", "x-mcp-header": "Count" } } }
        } });
        let mut found = of(&schema).expect("two good marks");
        found.sort_by(|a, b| a.header.cmp(&b.header));
        assert_eq!(
            found.iter().map(|one| one.header.as_str()).collect::<Vec<_>>(),
            ["mcp-param-count", "mcp-param-region"]
        );
        assert_eq!(found[0].value(Some(&json!({ "b": { "c": 7 } }))), Some(&json!(7)));
        assert_eq!(found[1].value(Some(&json!({ "a": null }))), None);
        for mark in [json!(""), json!("a b"), json!(1)] {
            assert!(of(&json!({ "properties": { "a": { "type": "string", "x-mcp-header": mark } } })).is_err());
        }
        assert!(of(&json!({ "properties": { "a": { "type": "number", "x-mcp-header": "A" } } })).is_err());
    }

    #[test]
    fn headers_are_compared_by_their_decoded_value() {
        for (header, value, same) in [
            ("=?base64?w6TDtsO8?=", json!("äöü"), true),
            ("=?BASE64?w6TDtsO8?=", json!("äöü"), false),
            ("42.0", json!(42), true),
            ("43", json!(42), false),
            ("true", json!(true), true),
            ("TRUE", json!(true), false),
        ] {
            assert_eq!(agrees(header, &value), Ok(same), "{header}");
        }
        assert!(decoded("=?base64?w6T?=").is_err());
        assert!(decoded("=?base64?/w==?=").is_err());
    }

    #[test]
    fn mark_outside_properties_is_refused() {
        let mark = json!({ "type": "string", "x-mcp-header": "A" });
        for keyword in ["items", "not", "additionalProperties", "if"] {
            assert!(of(&json!({ "type": "object", "properties": { "a": { keyword: mark } } })).is_err(), "{keyword}");
        }
        assert!(of(&json!({ "$defs": { "a": mark }, "properties": { "a": { "$ref": "#/$defs/a" } } })).is_err());
        assert!(of(&json!({ "const": { "x-mcp-header": 1 }, "properties": { "x-mcp-header": {} } })).is_ok());
    }

    #[test]
    fn encoded_header_value_round_trips() {
        for (value, header) in [
            (json!("a b"), "a b"),
            (json!(""), ""),
            (json!("äöü"), "=?base64?w6TDtsO8?="),
            (json!(" a"), "=?base64?IGE=?="),
            (json!("a\tb"), "=?base64?YQli?="),
            (json!("=?base64?x?="), "=?base64?PT9iYXNlNjQ/eD89?="),
            (json!(42), "42"),
            (json!(1e2), "100"),
            (json!(false), "false"),
        ] {
            assert_eq!(written(&value).as_deref(), Some(header));
            assert_eq!(agrees(header, &value), Ok(true), "{header}");
        }
        assert_eq!(written(&json!(1.5)), None);
        assert_eq!(written(&json!(null)), None);
    }
}
