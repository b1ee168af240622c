//! The HTTP headers that a conformant client sends with a message, by lifecycle.
//!
//! Takes a message's text and the listed tools, gives headers. Must not know sockets or cases.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::drive::kept_headers::Headers;
use crate::jsonrpc::nesting;
use crate::model::spec::{Lifecycle, Revision};
use crate::model::transcript::{SESSION_HEADER, VERSION_HEADER};

/// The values on which the headers of a message depend, in addition to the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// The protocol revision; in the stateful lifecycle, only after its negotiation.
    pub(crate) revision: Option<Revision>,
    /// The session id.
    pub(crate) session: Option<&'a str>,
    /// The parameters that the listed tools mirror in headers.
    pub(crate) mirrored: &'a Mirrored,
}

/// Returns the headers of a POST request.
pub(crate) fn of_message(message: &str, context: Context<'_>) -> Headers {
    let mut headers =
        vec![header("content-type", "application/json"), header("accept", "application/json, text/event-stream")];
    headers.extend(of_connection(context));
    if context.revision.is_some_and(|revision| revision.facts().lifecycle == Lifecycle::Stateless) {
        headers.extend(of_request(message, context.mirrored));
    }
    headers
}

/// Returns the headers that every request of a connection has.
pub(crate) fn of_connection(context: Context<'_>) -> Headers {
    let revision = context.revision.map(|revision| header(VERSION_HEADER, revision.name()));
    revision.into_iter().chain(context.session.map(|session| header(SESSION_HEADER, session))).collect()
}

/// Sets headers, and removes those with `None`.
pub(crate) fn change(headers: &mut Headers, changes: &[(String, Option<String>)]) {
    for (name, value) in changes {
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        if let Some(value) = value {
            headers.push(header(&name.to_ascii_lowercase(), value));
        } else if name.eq_ignore_ascii_case("accept") {
            // Without this header, the HTTP client sends `*/*`. An empty value is the closest to an absent header.
            headers.push(header("accept", ""));
        }
    }
}

fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The members of a message that the stateless lifecycle repeats in headers.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn of_request(message: &str, mirrored: &Mirrored) -> Headers {
    let Ok(outline) = serde_json::from_str::<Outline<'_>>(message) else { return Headers::new() };
    let Some(method) = outline.method.and_then(string) else { return Headers::new() };
    let params: Params<'_> =
        outline.params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    let name = match method.as_str() {
        "tools/call" | "prompts/get" => params.name.and_then(string),
        "resources/read" => params.uri.and_then(string),
        _ => None,
    };
    let mut headers = vec![header("mcp-method", &encoded(&method))];
    headers.extend(name.as_deref().map(|name| header("mcp-name", &encoded(name))));
    if let (Some(tool), Some(arguments), "tools/call") = (name, params.arguments, method.as_str()) {
        headers.extend(mirrored.of_call(&tool, arguments));
    }
    headers
}

fn string(text: &RawValue) -> Option<String> {
    serde_json::from_str(text.get()).ok()
}

/// The parameters that the schema of each tool marks with `x-mcp-header`: the header's name, and the path of the
/// parameter.
#[derive(Debug, Default)]
pub(crate) struct Mirrored(BTreeMap<String, Vec<(String, Vec<String>)>>);

impl Mirrored {
    /// Stores the marks in the result of a `tools/list`.
    pub(crate) fn learn(&mut self, result: &RawValue) {
        #[derive(Deserialize)]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
        }
        let Ok(page) = serde_json::from_str::<Page<'_>>(result.get()) else { return };
        for tool in page.tools {
            let Ok(tool) = nesting::read::<Value>(tool.get().as_bytes()) else { continue };
            if let Some(name) = tool["name"].as_str() {
                self.0.insert(name.to_owned(), marks(&tool["inputSchema"]));
            }
        }
    }

    fn of_call(&self, tool: &str, arguments: &RawValue) -> Headers {
        let Some(marks) = self.0.get(tool).filter(|marks| !marks.is_empty()) else { return Headers::new() };
        let Ok(arguments) = nesting::read::<Value>(arguments.get().as_bytes()) else { return Headers::new() };
        let value = |way: &[String]| way.iter().try_fold(&arguments, |value, key| value.get(key));
        let text = |value: &Value| match value {
            Value::String(text) => Some(encoded(text)),
            Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        };
        let headers = marks.iter().filter_map(|(name, way)| Some((format!("mcp-param-{name}"), text(value(way)?)?)));
        headers.collect()
    }
}

/// Returns the marks of a schema; none if one of them is invalid, because a client cannot use the tool then.
fn marks(schema: &Value) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found);
    let names: BTreeSet<_> = found.iter().map(|(name, _)| name).collect();
    if names.len() == found.len() && found.iter().all(|(name, _)| is_token(name)) { found } else { Vec::new() }
}

fn collect(schema: &Value, way: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        way.push(key.clone());
        if let Some(name) = property["x-mcp-header"].as_str() {
            found.push((name.to_ascii_lowercase(), way.clone()));
        }
        collect(property, way, found);
        way.pop();
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Returns a value as a header can carry it: unchanged, or in the Base64 form of the specification.
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let bordered = text.starts_with(' ') || text.ends_with(' ');
    let wrapped = text.starts_with("=?base64?") && text.ends_with("?=");
    if plain && !bordered && !wrapped { text.to_owned() } else { format!("=?base64?{}?=", base64(text.as_bytes())) }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0, |group, byte| group << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let sextet = group >> (6 * (3 - place)) & 63;
            out.push(if place <= chunk.len() { char::from(ALPHABET[sextet]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revisions(lifecycle: Lifecycle) -> Revision {
        Revision::all().rfind(|revision| revision.facts().lifecycle == lifecycle).expect("there is one")
    }

    fn get<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
        headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn base64_is_padded() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("ä", "w6Q=")];
        assert!(pairs.iter().all(|(text, code)| base64(text.as_bytes()) == *code));
    }

    #[test]
    fn values_unfit_for_header_are_wrapped() {
        assert_eq!(encoded("a b"), "a b");
        assert_eq!(encoded(" a"), "=?base64?IGE=?=");
        assert_eq!(encoded("ä"), "=?base64?w6Q=?=");
        assert_eq!(encoded("=?base64?w6Q=?="), "=?base64?PT9iYXNlNjQ/dzZRPT89?=");
    }

    #[test]
    fn stateless_headers_repeat_method_name_and_marked_parameters() {
        let list = RawValue::from_string(
            r#"{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"properties":{"b":{"x-mcp-header":"Region"}}},"n":{"x-mcp-header":"N"},"m":{"x-mcp-header":"M"}}}}]}"#.into(),
        );
        let mut mirrored = Mirrored::default();
        mirrored.learn(&list.expect("it is JSON"));
        let message = r#"{"method":"tools/call","params":{"name":"t","arguments":{"a":{"b":"zü"},"n":7,"m":null}}}"#;
        let revision = Some(revisions(Lifecycle::Stateless));
        let headers = of_message(message, Context { revision, session: None, mirrored: &mirrored });
        assert_eq!(get(&headers, "mcp-method"), Some("tools/call"));
        assert_eq!(get(&headers, "mcp-name"), Some("t"));
        assert_eq!(get(&headers, "mcp-param-region"), Some("=?base64?esO8?="));
        assert_eq!(get(&headers, "mcp-param-n"), Some("7"));
        assert_eq!(get(&headers, "mcp-param-m"), None);
        assert_eq!(get(&headers, VERSION_HEADER), revision.map(Revision::name));
    }

    #[test]
    fn stateful_headers_have_session_and_no_message_members() {
        let revision = Some(revisions(Lifecycle::Stateful));
        let context = Context { revision, session: Some("s"), mirrored: &Mirrored::default() };
        let mut headers = of_message(r#"{"method":"tools/list"}"#, context);
        assert_eq!(get(&headers, SESSION_HEADER), Some("s"));
        assert_eq!(get(&headers, "mcp-method"), None);
        change(&mut headers, &[("Mcp-Session-Id".into(), None), ("MCP-Protocol-Version".into(), Some("1".into()))]);
        assert_eq!(get(&headers, SESSION_HEADER), None);
        assert_eq!(get(&headers, VERSION_HEADER), Some("1"));
    }

    #[test]
    fn invalid_marks_are_ignored() {
        let twice = serde_json::json!({ "properties": { "a": { "x-mcp-header": "X" }, "b": { "x-mcp-header": "x" } } });
        assert!(marks(&twice).is_empty());
        assert!(marks(&serde_json::json!({ "properties": { "a": { "x-mcp-header": "a b" } } })).is_empty());
    }
}
