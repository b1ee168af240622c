//! The functions with which the mutants of a server, or of both sides, replace strict ones, and their changes to messages.
//!
//! Each function takes a correct value and changes it, or makes a wrong decision. It must not know which mutant uses
//! it.

use serde_json::{Map, Value, json};

use super::client_deviations::refuse_nested_marks;
use crate::edits::fail;
use crate::message::CAPABILITIES_KEY;
use crate::policy::Event;
use crate::server::Server;
use crate::server::call::NO_FORMS;
use crate::server::fixture::{Does, Tool};

// Schemas.

/// Removes keywords from a schema, or members from any other object.
pub(super) fn remove_members(schema: &mut Value, keywords: &[&str]) {
    if let Some(members) = schema.as_object_mut() {
        members.retain(|key, _| !keywords.contains(&key.as_str()));
    }
}

/// Declares another dialect where a schema declares 2020-12.
pub(super) fn declare_draft_7(schema: &mut Value) {
    if let Some(dialect) = schema.get_mut("$schema")
        && *dialect == "https://json-schema.org/draft/2020-12/schema"
    {
        *dialect = "http://json-schema.org/draft-07/schema#".into();
    }
}

/// Removes references to other documents.
pub(super) fn ignore_external(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(ignore_external),
        Value::Object(members) => {
            let is_local = |reference: &Value| reference.as_str().is_none_or(|reference| reference.starts_with('#'));
            members.retain(|key, value| !["$ref", "$dynamicRef"].contains(&key.as_str()) || is_local(value));
            members.values_mut().for_each(ignore_external);
        }
        _ => {}
    }
}

/// Changes each pattern that ends with `$`, so that a text may end with a newline.
pub(super) fn let_texts_end_with_newline(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(let_texts_end_with_newline),
        Value::Object(members) => {
            if let Some(Value::String(pattern)) = members.get_mut("pattern")
                && pattern.ends_with('$')
            {
                pattern.insert_str(pattern.len() - 1, r"\n?");
            }
            members.values_mut().for_each(let_texts_end_with_newline);
        }
        _ => {}
    }
}

/// Makes a schema invalid if it contains a `$ref` member with `http:` or `https:` anywhere, even inside data.
pub(super) fn refuse_by_prefix(schema: &mut Value) {
    fn has_prefix(value: &Value) -> bool {
        let reference = value.get("$ref").and_then(Value::as_str).unwrap_or_default();
        reference.starts_with("http:")
            || reference.starts_with("https:")
            || match value {
                Value::Array(items) => items.iter().any(has_prefix),
                Value::Object(members) => members.values().any(has_prefix),
                _ => false,
            }
    }
    if has_prefix(schema) {
        schema["$schema"] = json!("urn:refused");
    }
}

/// Keeps only the types of the members that a schema names.
pub(super) fn keep_types(schema: &mut Value) {
    for member in
        schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|members| members.values_mut())
    {
        if let Some(keywords) = member.as_object_mut() {
            keywords.retain(|key, _| key == "type");
        }
    }
    if let Some(keywords) = schema.as_object_mut() {
        keywords.retain(|key, _| key == "type" || key == "properties");
    }
}

/// Lets the members that a schema names have any scalar value where one type of scalars is required, and takes 0 for
/// false.
pub(super) fn mix_scalars(schema: &mut Value) {
    for member in
        schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|members| members.values_mut())
    {
        if ["string", "integer", "number", "boolean"].iter().any(|scalar| member["type"] == *scalar) {
            member["type"] = json!(["string", "number", "boolean", "null"]);
        }
        if let Some(options) = member.get_mut("enum").and_then(Value::as_array_mut)
            && options.contains(&json!(0))
        {
            options.push(json!(false));
        }
    }
}

/// Ignores all references of a schema that has an `$id`.
pub(super) fn ignore_references_under_id(schema: &mut Value) {
    fn ignore(schema: &mut Value) {
        match schema {
            Value::Array(items) => items.iter_mut().for_each(ignore),
            Value::Object(members) => {
                members.shift_remove("$ref");
                members.values_mut().for_each(ignore);
            }
            _ => {}
        }
    }
    if schema.get("$id").is_some() {
        ignore(schema);
    }
}

/// Makes a schema without `$schema` invalid if it uses a keyword that draft-07 does not have.
pub(super) fn refuse_newer_keywords(schema: &mut Value) {
    let text = schema.to_string();
    if schema.get("$schema").is_none() && ["prefixItems", "dependentRequired"].iter().any(|key| text.contains(key)) {
        schema["$schema"] = json!("urn:refused");
    }
}

/// Makes a schema that declares 2020-12 invalid.
pub(super) fn refuse_own_dialect(schema: &mut Value) {
    if schema["$schema"] == "https://json-schema.org/draft/2020-12/schema" {
        schema["$schema"] = json!("urn:refused");
    }
}

/// Makes a schema invalid if it has a nested argument that is marked for a header.
pub(super) fn invalidate_nested_marks(schema: &mut Value) {
    if refuse_nested_marks(schema).is_err() {
        schema["$schema"] = json!("urn:refused");
    }
}

/// Returns whether a long text would be matched against a pattern.
pub(super) fn has_long_text_and_pattern(schema: &Value, value: &Value) -> bool {
    const LONG: usize = 32;
    let is_long = value.get("v").and_then(Value::as_str).is_some_and(|text| text.len() > LONG);
    is_long && schema.pointer("/properties/v/pattern").is_some()
}

/// Merges the properties of a schema's branches into its own.
pub(super) fn with_merged_branches(schema: &Value) -> Value {
    let mut flat = schema.clone();
    let Some(members) = flat.as_object_mut() else { return flat };
    let branches: Vec<_> = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| members.shift_remove(*key)).collect();
    let branches = branches.iter().filter_map(Value::as_array).flatten();
    let found: Vec<_> = branches.filter_map(|branch| branch.get("properties")?.as_object().cloned()).collect();
    if let Some(own) = members.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        own.extend(found.into_iter().flatten());
    }
    flat
}

// Arguments.

fn kind<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    schema["properties"][name]["type"].as_str()
}

/// Converts strings to numbers and booleans, and the reverse, to match the types in the schema.
pub(super) fn coerce(arguments: &mut Value, schema: &Value) {
    for (name, value) in arguments.as_object_mut().into_iter().flatten() {
        let coerced = match (&*value, kind(schema, name)) {
            (Value::String(text), Some("integer" | "number" | "boolean")) => {
                serde_json::from_str(text).ok().filter(|value: &Value| value.is_number() || value.is_boolean())
            }
            (Value::Number(_) | Value::Bool(_), Some("string")) => Some(json!(value.to_string())),
            _ => None,
        };
        *value = coerced.unwrap_or_else(|| value.take());
    }
}

/// Makes integers that are written with a fraction invalid.
pub(super) fn refuse_whole_numbers(arguments: &mut Value, schema: &Value) {
    for (name, value) in arguments.as_object_mut().into_iter().flatten() {
        if value.is_f64() && kind(schema, name) == Some("integer") {
            *value = json!(value.to_string());
        }
    }
}

pub(super) fn remove_unknown_arguments(arguments: &mut Value, schema: &Value) {
    if let Some(members) = arguments.as_object_mut() {
        members.retain(|name, _| schema["properties"].get(name).is_some());
    }
}

pub(super) fn make_floats(value: &mut Value) {
    match value {
        Value::Number(number) => *value = json!(number.as_f64()),
        Value::Array(items) => items.iter_mut().for_each(make_floats),
        Value::Object(members) => members.values_mut().for_each(make_floats),
        _ => {}
    }
}

// Requests that a server gets, and its replies.

pub(super) fn capabilities_are_known(meta: &Map<String, Value>) -> bool {
    const KNOWN: [&str; 5] = ["elicitation", "experimental", "extensions", "roots", "sampling"];
    let capabilities = meta.get(CAPABILITIES_KEY).and_then(Value::as_object);
    capabilities.is_none_or(|members| members.keys().all(|key| KNOWN.contains(&key.as_str())))
}

pub(super) fn refuse_extra_responses(responses: &mut Value) {
    if responses.as_object().is_some_and(|responses| responses.keys().any(|key| key != "answer")) {
        *responses = Value::Null;
    }
}

/// Refuses to ask again if a retry has answers, but not the required one.
pub(super) fn refuse_missing_responses(reply: &mut Value) {
    let responses = reply.pointer("/request/params/inputResponses");
    if responses.is_some_and(|responses| responses.get("answer").is_none())
        && reply.pointer("/result/inputRequests").is_some()
    {
        turn_into_error(reply, 200, -32602);
    }
}

/// Divides a list into a page with all tools and a page with none, which have different scopes.
pub(super) fn add_page_of_other_scope(reply: &mut Value) {
    let is_further = reply.pointer("/request/params/cursor").is_some();
    let Some(result) = reply.get_mut("result").filter(|result| result.get("cacheScope").is_some()) else { return };
    if result.get("tools").is_none() {
        return;
    }
    if is_further {
        result["tools"] = json!([]);
        result["cacheScope"] = json!("private");
    } else {
        result["nextCursor"] = json!("2");
        result["cacheScope"] = json!("public");
    }
}

pub(super) fn list_by_connection(server: &Server, tool: &Tool, _: &Value) -> bool {
    !(server.recalls(Event::Reconnected) && matches!(tool.does, Does::Raise(_)))
}

pub(super) fn list_by_side_effect(server: &Server, tool: &Tool, _: &Value) -> bool {
    !(server.recalls(Event::CallFailed) && matches!(tool.does, Does::Raise(_)))
}

pub(super) fn list_by_unknown_call(server: &Server, tool: &Tool, _: &Value) -> bool {
    !(server.recalls(Event::UnknownToolCalled) && matches!(tool.does, Does::Raise(_)))
}

pub(super) fn remove_closing(schema: &mut Value) {
    if schema.get("additionalProperties") == Some(&json!(false)) {
        remove_members(schema, &["additionalProperties"]);
    }
}

pub(super) fn malform_required(tool: &mut Value) {
    if tool["name"].as_str().is_some_and(|name| name.starts_with("returns-")) {
        tool["inputSchema"]["required"] = json!("none");
    }
}

pub(super) fn lose_name(tool: &mut Value) {
    if tool.get("description") == Some(&json!("Returns a named result.")) {
        remove_members(tool, &["name"]);
    }
}

pub(super) fn remove_falsy_content(result: &mut Value) {
    let is_falsy = |value: &Value| [json!(0), json!(false), json!(""), json!(null)].contains(value);
    if result.get("structuredContent").is_some_and(is_falsy) {
        remove_members(result, &["structuredContent"]);
    }
}

/// Merges several text blocks into one.
pub(super) fn merge_text_blocks(content: &mut Value) {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(text) = blocks.iter().map(|block| block["text"].as_str()).collect::<Option<String>>() {
        *content = json!([{ "type": "text", "text": text }]);
    }
}

pub(super) fn agree_on_any_version(reply: &mut Value) {
    if reply.pointer("/result/protocolVersion").is_some() {
        reply["result"]["protocolVersion"] = reply["request"]["params"]["protocolVersion"].clone();
    }
}

/// Turns a result into an error.
pub(super) fn turn_into_error(reply: &mut Value, status: u16, code: i32) {
    if reply.get("result").is_some() {
        fail(reply, status, code);
    }
}

/// Refuses requests with a key in `_meta` whose prefix has the second label `modelcontextprotocol` or `mcp`, unless its
/// value is taken.
pub(super) fn refuse_reserved_keys(reply: &mut Value, is_taken: fn(&Value) -> bool) {
    let meta = reply.pointer("/request/params/_meta").and_then(Value::as_object);
    let is_reserved = |key: &String| key.starts_with("org.modelcontextprotocol.") || key.starts_with("com.mcp.");
    if meta.is_some_and(|meta| meta.iter().any(|(key, value)| is_reserved(key) && !is_taken(value))) {
        turn_into_error(reply, 200, -32602);
    }
}

/// Turns a list whose only tool asks into an input-required result.
pub(super) fn ask_in_list(result: &mut Value) {
    let is_alone = result["tools"].as_array().is_some_and(|tools| tools.len() == 1);
    if is_alone && result["tools"][0]["description"] == "Asks for a name and returns the answer." {
        return_input_required(result);
    }
}

pub(super) fn return_input_required(result: &mut Value) {
    *result = json!({ "resultType": "input_required", "requestState": "again", "_meta": result["_meta"] });
}

pub(super) fn remove_supported_versions(reply: &mut Value) {
    if reply["error"]["code"] == json!(-32022) {
        fail(reply, 404, -32601);
    }
}

pub(super) fn report_unknown_method(error: &mut Value) {
    if error["message"].as_str().is_some_and(|message| message.starts_with("unknown tool")) {
        error["code"] = json!(-32601);
    }
}

/// Changes the error code for the methods of another feature.
pub(super) fn set_code_for_resources(reply: &mut Value, code: i32) {
    if reply["request"]["method"].as_str().is_some_and(|method| method.starts_with("resources/")) {
        reply["error"]["code"] = json!(code);
    }
}

/// Adds a result to the error for the methods of another feature.
pub(super) fn add_result_for_prompts(reply: &mut Value) {
    if reply["request"]["method"].as_str().is_some_and(|method| method.starts_with("prompts/")) {
        reply["result"] = json!({});
    }
}

pub(super) fn text_at_reserved_keys(meta: &Map<String, Value>) -> bool {
    meta.iter().filter(|(key, _)| key.starts_with("dev.mcp/")).all(|(_, value)| value.is_string())
}

pub(super) fn replace_state(reply: &mut Value) {
    if reply.pointer("/request/params/arguments/amount").is_some() && reply.pointer("/result/requestState").is_some() {
        reply["result"]["requestState"] = json!("of other arguments");
    }
}

pub(super) fn require_url_visit(reply: &mut Value) {
    if reply.pointer("/result/content/0/text") == Some(&json!(NO_FORMS)) {
        fail(reply, 200, -32042);
        reply["error"]["data"] = json!({ "elicitations": [] });
    }
}

/// Removes the quotes from an id that is a number in quotes.
pub(super) fn unquote(id: &mut Value) {
    if let Some(number) = id.as_str().and_then(|id| id.parse::<i64>().ok()) {
        *id = json!(number);
    }
}

pub(super) fn ask_before_acceptance(reply: &str) -> Option<&'static str> {
    reply.contains(r#""action":"accept""#).then_some(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#)
}

pub(super) fn sample_before_handshake(reply: &str) -> Option<&'static str> {
    let is_handshake = reply.contains(r#""protocolVersion":"2025"#);
    is_handshake.then_some(
        r#"{"jsonrpc":"2.0","id":"sampling","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
    )
}

pub(super) fn announce_before_handshake(reply: &str) -> Option<&'static str> {
    let is_handshake = reply.contains(r#""protocolVersion":"2025"#);
    is_handshake.then_some(r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#)
}

/// A report of progress that nobody asked for.
pub(super) const PROGRESS: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#;

/// A result that no request asked for.
pub(super) fn answer_nobody(reply: &str) -> Option<&'static str> {
    reply.contains(r#""tools":["#).then_some(r#"{"jsonrpc":"2.0","id":999999,"result":{}}"#)
}

pub(super) fn report_before_list(reply: &str) -> Option<&'static str> {
    reply.contains(r#""tools":["#).then_some(PROGRESS)
}

pub(super) fn log_before_handshake(reply: &str) -> Option<&'static str> {
    let is_handshake = reply.contains(r#""protocolVersion":"2025"#);
    is_handshake.then_some(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#)
}

pub(super) fn cancel_before_result(reply: &str) -> Option<&'static str> {
    reply.contains(r#""structuredContent""#).then_some(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#)
}

pub(super) fn indent(message: String) -> String {
    serde_json::from_str(&message).map_or(message, |message: Value| format!("{message:#}"))
}

/// Sends reports of failed tools as plain text.
pub(super) fn text_for_failures(reply: &str) -> &'static str {
    if reply.contains(r#""isError":true"#) { "text/plain" } else { "application/json" }
}

/// Turns each member of a value into a text.
pub(super) fn make_texts(value: &mut Value) {
    for member in value.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if !member.is_string() {
            *member = json!(member.to_string());
        }
    }
}

// Questions of a server.

/// Decodes the slashes of a URL.
pub(super) fn decode_slashes(url: &mut Value) {
    if let Some(text) = url.as_str() {
        *url = json!(text.replace("%2F", "/").replace("%2f", "/"));
    }
}

pub(super) fn rename_schema_member(question: &mut Value) {
    if let Some(schema) = question.get("requestedSchema") {
        *question = json!({ "message": question["message"], "schema": schema });
    }
}

pub(super) fn remove_bounds(field: &mut Value) {
    const BOUNDS: [&str; 7] = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "format"];
    remove_members(field, &BOUNDS);
}

/// Adds an empty default to a field that has none.
pub(super) fn add_empty_default(field: &mut Value) {
    let empty = match field["type"].as_str() {
        Some("boolean") => json!(false),
        Some("number" | "integer") => json!(0),
        Some("array") => json!([]),
        _ => json!(""),
    };
    if let Some(members) = field.as_object_mut() {
        members.entry("default").or_insert(empty);
    }
}

/// Replaces a value with another one of the same type.
pub(super) fn change_value(value: &mut Value) {
    *value = match &*value {
        Value::Bool(value) => json!(!value),
        Value::Number(number) => json!(number.as_i64().map_or(-1, |number| number.wrapping_add(1))),
        Value::String(text) => json!(format!("{text}x")),
        Value::Array(items) if items.is_empty() => json!(["x"]),
        _ => json!([]),
    };
}

/// Converts titled options to plain ones.
pub(super) fn remove_titles(field: &mut Value) {
    let plain = |options: &Value| -> Value {
        options.as_array().into_iter().flatten().filter_map(|option| option.get("const").cloned()).collect()
    };
    if let Some(options) = field.as_object_mut().and_then(|members| members.shift_remove("oneOf")) {
        field["enum"] = plain(&options);
    }
    if let Some(options) = field.pointer("/items/anyOf").map(plain) {
        field["items"] = json!({ "type": "string", "enum": options });
    }
}

/// Converts a multiple choice to a single choice.
pub(super) fn make_single_choice(field: &mut Value) {
    if let Some(members) = field.as_object_mut()
        && let Some(Value::Object(items)) = members.shift_remove("items")
    {
        members.extend(items);
        members.insert("type".to_owned(), json!("string"));
    }
}
