//! The functions with which the mutants of a client replace strict ones, and their changes to messages.
//!
//! As in `deviations`, a function must not know which mutant uses it.

use std::io;

use hyper::body::Bytes;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::deviations::remove_members;
use crate::forms::{strings, titled};
use crate::nesting;
use crate::parameters::{self, Parameter, written};

// Requests and responses of a client.

fn is_repeated(params: &Value) -> bool {
    ["cursor", "inputResponses", "requestState"].iter().any(|key| params.get(key).is_some())
}

/// Removes a parameter from requests for a further page or a further round.
pub(super) fn remove_from_repetition(params: &mut Value, member: &str) {
    if is_repeated(params) {
        remove_members(params, &[member]);
    }
}

/// Parses a state that looks like JSON, and serializes it again.
pub(super) fn reserialize(state: &mut Value) {
    let parsed = state.as_str().and_then(|text| nesting::read::<Value>(text.as_bytes()).ok());
    if let Some(parsed) = parsed {
        *state = json!(parsed.to_string());
    }
}

pub(super) fn add_null_state(params: &mut Value) {
    if params.get("inputResponses").is_some()
        && let Some(members) = params.as_object_mut()
    {
        members.entry("requestState").or_insert(Value::Null);
    }
}

pub(super) fn trim(cursor: &mut Value) {
    if let Some(text) = cursor.as_str() {
        *cursor = json!(text.trim());
    }
}

/// Wraps each of several answers like a response.
pub(super) fn wrap_answers(responses: &mut Value) {
    if let Some(responses) = responses.as_object_mut().filter(|responses| responses.len() > 1) {
        responses.values_mut().for_each(|answer| *answer = json!({ "result": answer }));
    }
}

pub(super) fn remove_error_id(response: &mut Value) {
    if response.get("error").is_some() {
        response["id"] = Value::Null;
    }
}

// Headers of a client.

pub(super) fn capitalize_session(headers: &mut HeaderMap) {
    if let Some(session) = headers.get_mut("mcp-session-id") {
        let capital = session.to_str().unwrap_or_default().to_uppercase();
        *session = HeaderValue::from_str(&format!("S-{capital}")).unwrap_or_else(|_| HeaderValue::from_static("S"));
    }
}

/// The first handshake of a client has the id 1.
pub(super) fn name_lost_session(headers: &mut HeaderMap, message: &str) {
    if message.contains(r#""method":"initialize""#) && !message.contains(r#""id":1,"#) {
        headers.insert("mcp-session-id", HeaderValue::from_static("lost"));
    }
}

pub(super) fn send_earlier_version(headers: &mut HeaderMap) {
    if let Some(version) = headers.get_mut("mcp-protocol-version") {
        *version = HeaderValue::from_static("2025-03-26");
    }
}

pub(super) fn remove_session_of_requests(headers: &mut HeaderMap, message: &str) {
    if message.contains(r#""method":"tools/"#) {
        headers.remove("mcp-session-id");
    }
}

pub(super) fn remove_headers_of_probe(headers: &mut HeaderMap, message: &str) {
    if message.contains("server/discover") {
        headers.remove("mcp-method");
        headers.remove("mcp-protocol-version");
    }
}

pub(super) fn send_earlier_version_with_probe(headers: &mut HeaderMap, message: &str) {
    if message.contains("server/discover") {
        send_earlier_version(headers);
    }
}

/// Writes a line that is no message after each list, and after each call with a line break in its arguments.
pub(super) fn report_calls(message: String) -> String {
    if [r#""b\n":1"#, r#""method":"tools/list""#].iter().any(|part| message.contains(part)) {
        message + "\ncalled"
    } else {
        message
    }
}

pub(super) fn probe(id: u64) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "server/discover", "params": {} }).to_string()
}

pub(super) fn list_resources(id: u64) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "resources/list", "params": {} }).to_string()
}

pub(super) fn refuse_nested_marks(schema: &Value) -> Result<Vec<Parameter>, String> {
    let parameters = parameters::of(schema)?;
    if parameters.iter().any(Parameter::is_nested) {
        return Err("only arguments themselves can be marked".to_owned());
    }
    Ok(parameters)
}

/// Ignores the path of a marked argument.
pub(super) fn headers_of_namesake(parameter: &Parameter, arguments: Option<&Value>) -> Vec<(String, String)> {
    parameter.header_of(parameter.namesake(arguments).and_then(written))
}

/// Writes a text without encoding, so that each of its lines may become a header.
pub(super) fn split_lines(parameter: &Parameter, arguments: Option<&Value>) -> Vec<(String, String)> {
    let Some(Value::String(text)) = parameter.value(arguments) else { return parameter.headers(arguments) };
    let mut lines = text.lines();
    let mut headers = parameter.header_of(Some(lines.next().unwrap_or_default().to_owned()));
    let further = lines.filter_map(|line| line.split_once(": "));
    headers.extend(further.map(|(name, value)| (name.to_owned(), value.to_owned())));
    headers
}

pub(super) fn capitalize_booleans(parameter: &Parameter, arguments: Option<&Value>) -> Vec<(String, String)> {
    match parameter.value(arguments) {
        Some(Value::Bool(value)) => parameter.header_of(Some(if *value { "True" } else { "False" }.to_owned())),
        _ => parameter.headers(arguments),
    }
}

/// Removes line breaks and control characters before a text is encoded.
pub(super) fn encode_one_line(parameter: &Parameter, arguments: Option<&Value>) -> Vec<(String, String)> {
    let Some(Value::String(text)) = parameter.value(arguments) else { return parameter.headers(arguments) };
    if !text.contains(char::is_control) {
        return parameter.headers(arguments);
    }
    let line: String = text.chars().filter(|letter| !letter.is_control()).collect();
    parameter.header_of(written(&json!(format!("{line}\u{e9}"))))
}

pub(super) fn send_empty(parameter: &Parameter, arguments: Option<&Value>) -> Vec<(String, String)> {
    let is_missing = parameter.value(arguments).is_none() && !parameter.is_null(arguments);
    if is_missing { parameter.header_of(Some(String::new())) } else { parameter.headers(arguments) }
}

pub(super) fn send_null(parameter: &Parameter, arguments: Option<&Value>) -> Vec<(String, String)> {
    let null = parameter.is_null(arguments).then(|| "null".to_owned());
    null.map_or_else(|| parameter.headers(arguments), |null| parameter.header_of(Some(null)))
}

// Answers of a client's user.

/// Returns the value that a form would show without support for defaults.
pub(super) fn value_without_defaults(field: &Value) -> Value {
    let options = field.get("enum").and_then(strings).or_else(|| field.get("oneOf").and_then(titled));
    match (options.as_deref(), field["type"].as_str()) {
        (Some([first, ..]), _) => json!(first),
        (_, Some("boolean")) => json!(false),
        (_, Some("array")) => json!([]),
        (_, Some("number" | "integer")) => json!(0),
        _ => json!(""),
    }
}

pub(super) fn send_defaults_as_text(value: &mut Value, is_entered: bool) {
    if !is_entered && !value.is_string() {
        *value = json!(value.to_string());
    }
}

/// Joins several choices to one string.
pub(super) fn flatten(value: &mut Value) {
    if let Some(chosen) = strings(value) {
        *value = json!(chosen.join(","));
    }
}

/// Refuses a piece of a stream that begins with a comment.
pub(super) fn refuse_comments(piece: Bytes) -> io::Result<Bytes> {
    if piece.starts_with(b":") { Err(io::Error::other("a field has no name")) } else { Ok(piece) }
}

/// Makes carriage returns a part of their lines.
pub(super) fn keep_carriage_returns(piece: &[u8]) -> Bytes {
    piece.iter().map(|byte| if *byte == b'\r' { b' ' } else { *byte }).collect()
}
