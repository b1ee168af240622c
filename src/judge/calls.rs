//! Calls of tools that casebook did not write, compared with the schemas that their server lists.
//!
//! Takes the messages of a step that lists the tools and calls each of them, gives the marks of the calls by tool. Must
//! not know which marks a requirement forbids.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::compare;
use super::messages::{self, CALL, Wire};
use crate::jsonrpc::envelope::{self, Envelope, Members};
use crate::model::arguments::{self, ListedSchema, With};
use crate::model::case::{CallMark, Test, TextState};
use crate::model::observation::{CallEvidence, Observed};
use crate::model::schema::Schema;
use crate::model::spec::{Lifecycle, Revision};
use crate::model::template::Bindings;
use crate::model::text::shortened;
use crate::model::transcript::Party;

/// The code for invalid parameters.
const INVALID_PARAMS: i64 = -32602;
/// The code for a failure of the server itself.
const INTERNAL_ERROR: i64 = -32603;
/// The words, in lower case, by which a text reads like a refusal.
const REFUSALS: [&str; 14] = [
    "cannot",
    "error",
    "expected",
    "fail",
    "invalid",
    "missing",
    "must",
    "not a ",
    "not valid",
    "please",
    "required",
    "should",
    "unable",
    "wrong",
];
/// The types of content that the specification knows.
const CONTENT: [&str; 5] = ["text", "image", "audio", "resource_link", "resource"];
/// The members by which structured content names the reason of a refusal.
const REASONS: [&str; 2] = ["error", "reason"];
/// The bytes of a violation that are kept.
const REASON: usize = 240;

/// The marks of the calls of each tool.
pub(super) type Marks = BTreeMap<String, BTreeMap<CallMark, CallEvidence>>;

/// Finds the marks of the calls in a step.
pub(super) fn calls(revision: Revision, with: With, wire: &Wire<'_>) -> Marks {
    let mut schemas: BTreeMap<String, Schemas> = BTreeMap::new();
    for (name, tool) in messages::listed(wire).unwrap_or_default() {
        let Some(name) = name.filter(|name| !schemas.contains_key(name)) else { continue };
        let is_read = schemas.len() < arguments::TOOLS;
        schemas.insert(name, if is_read { Schemas::of(&tool, revision) } else { Schemas::unread() });
    }
    let (mut marks, mut called) = (Marks::new(), BTreeSet::new());
    let mut failed_without: BTreeMap<String, usize> = BTreeMap::new();
    for answer in messages::answers(wire).iter().filter(|answer| answer.method == CALL) {
        let Some(call) = wire.at(answer.request).and_then(Call::of) else { continue };
        let Some(schemas) = schemas.get(&call.tool) else { continue };
        let is_asked = call.is_retry || has_question(wire, answer.request, answer.message);
        let found = match with {
            With::Refused if is_asked => Vec::new(),
            With::Refused => refused(&call, schemas, answer.envelope),
            With::Accepted => accepted(revision, schemas, answer.envelope),
        };
        called.insert(call.tool.clone());
        let failed = failed_without.get(&call.tool).copied();
        let of_tool = marks.entry(call.tool.clone()).or_default();
        let is_result = found.iter().any(|(mark, _)| *mark == CallMark::Result);
        match (&call.arguments, failed) {
            (None, _) if is_result => {
                of_tool.entry(CallMark::WithoutArguments).or_insert_with(|| CallEvidence::of(answer.request));
            }
            (None, _) if !found.is_empty() => {
                failed_without.insert(call.tool, answer.request);
            }
            (Some(arguments), Some(request)) if is_result && *arguments == json!({}) => {
                of_tool.entry(CallMark::ArgumentsRequired).or_insert_with(|| CallEvidence::of(request));
            }
            _ => {}
        }
        for (mark, reason) in found {
            of_tool.entry(mark).or_insert(CallEvidence { request: answer.request, reason });
        }
    }
    if with == With::Refused {
        for (name, schemas) in &schemas {
            if let Some(mark) = schemas.unchecked(called.contains(name)) {
                marks.entry(name.clone()).or_default().insert(mark, CallEvidence::default());
            }
        }
    }
    marks.retain(|_, marks| !marks.is_empty());
    marks
}

/// The listed schemas of a tool.
struct Schemas {
    /// `None` if the schema cannot be evaluated, or if there is none.
    input: Option<ListedSchema>,
    has_input: bool,
    is_destructive: bool,
    has_output: bool,
    /// `None` if the schema cannot be evaluated, or if there is none.
    output: Option<ListedSchema>,
}

impl Schemas {
    fn of(tool: &Members<'_>, revision: Revision) -> Self {
        let read = |key: &str| tool.get(key).and_then(|raw| ListedSchema::read(raw.get(), revision));
        let is_schema = |raw: &&RawValue| raw.get() != "null";
        Self {
            input: read("inputSchema"),
            has_input: tool.contains_key("inputSchema"),
            is_destructive: tool.get("annotations").is_some_and(|annotations| arguments::is_destructive(annotations)),
            has_output: tool.get("outputSchema").is_some_and(is_schema),
            output: read("outputSchema"),
        }
    }

    /// A tool after those whose schemas are read.
    fn unread() -> Self {
        Self { input: None, has_input: true, is_destructive: false, has_output: true, output: None }
    }

    /// The mark of a tool of which nobody knows whether it refuses wrong arguments, although it could be asked.
    fn unchecked(&self, is_called: bool) -> Option<CallMark> {
        match &self.input {
            None => self.has_input.then_some(CallMark::InputUnchecked),
            Some(schema) => {
                let may_be_called = !is_called && !self.is_destructive && !schema.refused(false, None).is_empty();
                may_be_called.then_some(CallMark::LeftOut)
            }
        }
    }
}

/// A request to call a tool.
struct Call {
    tool: String,
    /// `None` if the call has no such member.
    arguments: Option<Value>,
    /// Set if the request has the input that the server requested.
    is_retry: bool,
}

impl Call {
    fn of(request: &Envelope<'_>) -> Option<Self> {
        let params = envelope::members(request.params?)?;
        let tool = envelope::scalar(params.get("name")?)?;
        let given = params.get("arguments").map(|raw| messages::kept(raw).value().cloned());
        // A value that cannot be read shows nothing.
        let arguments = given.map_or(Some(None), |value| value.map(Some))?;
        let is_retry = ["inputResponses", "requestState"].iter().any(|key| params.contains_key(*key));
        Some(Self { tool, arguments, is_retry })
    }
}

/// The parts of a response.
enum Response<'a> {
    Result(Members<'a>),
    ToolError,
    Error(&'a RawValue),
}

impl<'a> Response<'a> {
    /// Reads a response; `None` if it is neither a result nor an error, or asks for input.
    fn of(envelope: &Envelope<'a>) -> Option<Self> {
        if let (Some(error), None) = (envelope.error, envelope.result) {
            return Some(Self::Error(error));
        }
        let result = envelope.members().filter(|_| envelope.error.is_none())?;
        let word = |key: &str| result.get(key).and_then(|raw| envelope::scalar::<String>(raw));
        if word("resultType").as_deref() == Some("input_required") {
            return None;
        }
        let is_error = result.get("isError").and_then(|raw| envelope::scalar::<bool>(raw)) == Some(true);
        Some(if is_error { Self::ToolError } else { Self::Result(result) })
    }

    fn mark(&self) -> CallMark {
        match self {
            Self::Result(_) => CallMark::Result,
            Self::ToolError => CallMark::ToolError,
            Self::Error(_) => CallMark::ProtocolError,
        }
    }
}

/// The marks of a call with arguments that the listed schema refuses. The schema is evaluated again, because only its
/// own answer can be held against the server.
fn refused(call: &Call, schemas: &Schemas, answer: &Envelope<'_>) -> Vec<(CallMark, String)> {
    let given = call.arguments.as_ref();
    let violation = schemas.input.as_ref().and_then(|schema| schema.violation(given?));
    let (Some((pointer, message)), Some(response)) = (violation, Response::of(answer)) else { return Vec::new() };
    let reason = violated(&pointer, &message);
    let mut found = vec![(response.mark(), String::new())];
    // Arguments that are no object make the request itself malformed, which is a protocol error.
    let is_object = given.is_some_and(Value::is_object);
    match response {
        Response::Result(result) if reads_like_refusal(&result) => found.push((CallMark::MaybeRefused, reason)),
        Response::Result(_) => found.push((CallMark::InvalidArgumentsAccepted, reason)),
        Response::ToolError => found.push((CallMark::ArgumentsRefused, String::new())),
        // The code of the tool may have failed on arguments that nobody checked.
        Response::Error(error) if envelope::code(error) == Some(INTERNAL_ERROR) => {}
        Response::Error(error) if is_object => {
            found.push((CallMark::ArgumentsRefused, String::new()));
            found.push((CallMark::RefusedByProtocolError, reason.clone()));
            if envelope::code(error) != Some(INVALID_PARAMS) {
                found.push((CallMark::RefusedByOtherCode, reason));
            }
        }
        Response::Error(_) => {}
    }
    found
}

/// Returns whether a result reads like a refusal: a text of it does, or it has a block of a type that the specification
/// does not know. Many servers refuse arguments in this way, without `isError`; a text does not decide whether the tool
/// ran. Other content, such as an image or a structured value without an error, is the work of a tool.
fn reads_like_refusal(result: &Members<'_>) -> bool {
    let blocks = result.get("content").and_then(|content| envelope::items(content)).unwrap_or_default();
    let texts = messages::texts(result).unwrap_or_default();
    let is_refusal = |text: &String| {
        let text = text.to_lowercase();
        REFUSALS.iter().any(|word| text.contains(word))
    };
    let type_of = |block: &&RawValue| {
        let block = envelope::members(block)?;
        block.get("type").and_then(|name| envelope::scalar::<String>(name))
    };
    let is_known = |block: &&RawValue| type_of(block).is_some_and(|name| CONTENT.contains(&name.as_str()));
    let names_reason = |value: &RawValue| {
        let members = envelope::members(value).unwrap_or_default();
        REASONS.iter().any(|key| members.get(*key).and_then(|reason| envelope::scalar::<String>(reason)).is_some())
    };
    let is_work = result.get("structuredContent").is_some_and(|value| !names_reason(value));
    let texts_alone = texts.len() == blocks.len() && !is_work;
    blocks.iter().any(|block| !is_known(block)) || texts_alone && texts.iter().flatten().any(is_refusal)
}

/// The marks of a call with arguments that the listed schema accepts. Whether the tool succeeds is its own affair.
fn accepted(revision: Revision, schemas: &Schemas, answer: &Envelope<'_>) -> Vec<(CallMark, String)> {
    let Some(response) = Response::of(answer) else { return Vec::new() };
    let mut found = vec![(response.mark(), String::new())];
    let Response::Result(result) = response else { return found };
    let structured = result.get("structuredContent");
    if schemas.has_output {
        found.push((CallMark::WithOutputSchema, String::new()));
        let value = structured.map(|raw| messages::kept(raw));
        match (&schemas.output, value) {
            (_, None) => found.push((CallMark::OutputMissing, String::new())),
            (Some(schema), Some(Observed::Value(value))) => match schema.check(&value) {
                Ok(None) => {}
                Ok(Some((pointer, message))) => found.push((CallMark::OutputInvalid, violated(&pointer, &message))),
                Err(_) => found.push((CallMark::OutputUnchecked, String::new())),
            },
            (None, Some(_)) | (_, Some(Observed::Unreadable(_))) => {
                found.push((CallMark::OutputUnchecked, String::new()));
            }
        }
    }
    // In sessions, structured content is an object, and null has no text.
    let has_text = |raw: &&RawValue| revision.facts().lifecycle == Lifecycle::Stateless || raw.get() != "null";
    if structured.is_some_and(has_text) {
        found.push((CallMark::Structured, String::new()));
        if matches!(text_state(&result), None | Some(Observed::Value(TextState::Absent))) {
            found.push((CallMark::TextMissing, String::new()));
        }
    }
    found
}

fn violated(pointer: &str, message: &str) -> String {
    let place = if pointer.is_empty() { String::new() } else { format!("`{pointer}`: ") };
    shortened(&format!("{place}{message}"), REASON).into_owned()
}

/// Returns whether the server asked the user between a request and its response.
fn has_question(wire: &Wire<'_>, request: usize, response: usize) -> bool {
    let mut between = wire.of(Party::Target).filter(|(place, _)| (request..response).contains(place));
    between.any(|(_, envelope)| envelope.method.as_deref() == Some("elicitation/create"))
}

/// The relation of the text content of a result to its structured content; `None` if it is another text.
pub(super) fn text_state(result: &Members<'_>) -> Option<Observed<TextState>> {
    let raw = result.get("structuredContent").copied();
    let structured = raw.map(messages::kept);
    let texts = messages::texts(result);
    match (texts.as_deref(), raw, &structured) {
        (Some([]), ..) => Some(Observed::Value(TextState::Absent)),
        (Some(texts), Some(raw), Some(structured)) => {
            let mut texts = texts.iter().flatten();
            let is_mirror = |text: &String| text == raw.get() || is_json_of(text, structured);
            match structured {
                _ if texts.any(is_mirror) => Some(Observed::Value(TextState::Mirrors)),
                Observed::Value(_) => None,
                Observed::Unreadable(reason) => Some(Observed::Unreadable(reason.clone())),
            }
        }
        _ => None,
    }
}

fn is_json_of(text: &str, value: &Observed) -> bool {
    let Observed::Value(value) = value else { return false };
    messages::kept_text(text).value().is_some_and(|read| compare::equal(read, value))
}

/// Returns the arguments of the first call of a step.
pub(super) fn sent_arguments<'a>(wire: &Wire<'a>) -> Option<&'a RawValue> {
    let (_, call) = wire.of(Party::Harness).find(|(_, one)| one.method.as_deref() == Some(CALL))?;
    envelope::members(call.params?)?.get("arguments").copied()
}

/// Returns the input schema of a tool of the fixture.
pub(super) fn input_schema(test: &Test, name: &str, bindings: &Bindings) -> Option<Schema> {
    let tool = test.given.tools.iter().find(|tool| tool.name == name)?;
    let schema = tool.definition.get("inputSchema")?.render(bindings);
    Schema::new(&serde_json::from_str(&schema).ok()?).ok()
}

/// Returns whether a tool received other arguments than were sent: under the same names, where null may stand for what is
/// missing, or without some of the members, if its schema accepts the rest.
pub(super) fn is_converted(
    sent: Option<&Observed>,
    saw: Option<&Observed>,
    schema: impl Fn() -> Option<Schema>,
) -> bool {
    let (Some(Observed::Value(sent)), Some(Observed::Value(saw))) = (sent, saw) else { return false };
    let (Some(names), Some(seen)) = (sent.as_object(), saw.as_object()) else { return false };
    let is_kept = |(name, value): (&String, &Value)| value.is_null() || seen.contains_key(name);
    let has_names = names.iter().all(is_kept) && seen.keys().all(|name| names.contains_key(name));
    let is_accepted = || schema().is_some_and(|schema| matches!(schema.violation(saw), Ok(None)));
    !compare::equal(sent, saw) && (has_names || is_part(saw, sent) && is_accepted())
}

/// Returns whether a value is another one without some members of its objects.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|whole| is_part(value, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_part(part, whole))
        }
        _ => compare::equal(part, whole),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::{End, Message, StepTranscript};

    #[test]
    fn arguments_are_converted_if_they_are_changed_or_left_out_and_fit_the_schema() {
        let closed = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"],
            "additionalProperties": false});
        let converted =
            |sent: Value, saw: Value| is_converted(Some(&sent.into()), Some(&saw.into()), || Schema::new(&closed).ok());
        for (sent, saw, is_other) in [
            (json!({"id": 7}), json!({"id": 7}), false),
            (json!({"id": "7"}), json!({"id": 7}), true),
            (json!({"id": 7, "name": "Ada"}), json!({"id": 7}), true),
            (json!({"id": 7, "name": "Ada"}), json!({"id": 7, "name": "Ada"}), false),
            // What is left breaks the schema, so that nothing was made to fit.
            (json!({"id": "x", "name": "Ada"}), json!({"name": "Ada"}), false),
            (json!({"id": 7}), json!({"id": 7, "more": 1}), false),
        ] {
            assert_eq!(converted(sent.clone(), saw.clone()), is_other, "{sent} {saw}");
        }
        let open = || Schema::new(&json!({"type": "object"})).ok();
        let [whole, part] = [json!({"a": [{"b": 1, "c": 2}], "d": 3}), json!({"a": [{"b": 1}]})].map(Observed::from);
        assert!(is_converted(Some(&whole), Some(&part), open));
        assert!(!is_converted(Some(&part), Some(&whole), open), "members that nobody sent");
    }

    /// The marks of calls with these arguments (none for null), with these parts of their responses, of a tool with these
    /// schemas.
    fn marks(with: With, schemas: &Value, calls: &[(Value, Value)]) -> Vec<CallMark> {
        marks_on(Revision::newest(), with, schemas, calls)
    }

    fn marks_on(revision: Revision, with: With, schemas: &Value, calls: &[(Value, Value)]) -> Vec<CallMark> {
        let mut tool = schemas.clone();
        tool["name"] = "t".into();
        let list = json!({"id": 0, "result": {"tools": [tool]}});
        let mut messages =
            vec![request(0, "tools/list", &json!({})), samples::message(Party::Target, &list.to_string())];
        for (id, (arguments, response)) in (1..).zip(calls) {
            let mut params = json!({"name": "t", "arguments": arguments});
            if arguments.is_null() {
                params = json!({"name": "t"});
            }
            messages.push(request(id, CALL, &params));
            let mut response = response.clone();
            response["id"] = id.into();
            messages.push(samples::message(Party::Target, &response.to_string()));
        }
        let seen = StepTranscript { messages, end: End::Accepted, ..samples::replied(&[]) };
        super::calls(revision, with, &Wire::new(&seen)).remove("t").unwrap_or_default().into_keys().collect()
    }

    fn request(id: u64, method: &str, params: &Value) -> Message {
        let text = json!({"id": id, "method": method, "params": params}).to_string();
        samples::message(Party::Harness, &text)
    }

    #[test]
    fn tool_that_was_not_called_is_named() {
        let closed =
            json!({"inputSchema": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}});
        assert_eq!(marks(With::Refused, &closed, &[]), [CallMark::LeftOut]);
        let remote = json!({"inputSchema": {"type": "object", "$ref": "http://localhost/a"}});
        assert_eq!(marks(With::Refused, &remote, &[]), [CallMark::InputUnchecked]);
        let open = json!({"inputSchema": {"type": "object"}});
        assert_eq!(marks(With::Refused, &open, &[]), Vec::new());
        assert_eq!(marks(With::Accepted, &closed, &[]), Vec::new());
        let mut destructive = closed;
        destructive["annotations"] = json!({"destructiveHint": true});
        assert_eq!(marks(With::Refused, &destructive, &[]), Vec::new());
    }

    #[test]
    fn answers_to_refused_arguments_are_marked() {
        use CallMark::{
            ArgumentsRefused, InputUnchecked, InvalidArgumentsAccepted, MaybeRefused, ProtocolError,
            RefusedByOtherCode, RefusedByProtocolError, Result, ToolError,
        };
        let schemas = json!({"inputSchema": {"type": "object", "required": ["a"]}});
        let error = |code: i64| json!({"error": {"code": code, "message": "no"}});
        let failed = json!({"result": {"content": [], "isError": true}});
        let result = json!({"result": {"content": []}});
        let texts = |texts: &[&str]| {
            let blocks: Vec<_> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            json!({"result": {"content": blocks}})
        };
        let with = |key: &str, value: Value| {
            let mut response = texts(&["Error: a is required"]);
            response["result"][key] = value;
            response
        };
        let image = json!([{"type": "image"}, {"type": "text", "text": "Error: a is required"}]);
        let wrong = json!({});
        for (arguments, response, expected) in [
            (&wrong, &failed, vec![ToolError, ArgumentsRefused]),
            (&wrong, &error(-32602), vec![ProtocolError, ArgumentsRefused, RefusedByProtocolError]),
            (&wrong, &error(-1), vec![ProtocolError, ArgumentsRefused, RefusedByProtocolError, RefusedByOtherCode]),
            (&wrong, &result, vec![Result, InvalidArgumentsAccepted]),
            (&wrong, &texts(&["Error: a is required"]), vec![Result, MaybeRefused]),
            (&wrong, &texts(&["one", "INVALID arguments"]), vec![Result, MaybeRefused]),
            (&wrong, &texts(&["Hello {}"]), vec![Result, InvalidArgumentsAccepted]),
            (&wrong, &with("structuredContent", json!({})), vec![Result, InvalidArgumentsAccepted]),
            (&wrong, &with("content", image), vec![Result, InvalidArgumentsAccepted]),
            (&wrong, &with("isError", json!(true)), vec![ToolError, ArgumentsRefused]),
            (&json!([]), &error(-1), vec![ProtocolError]),
            (&json!([]), &result, vec![Result, InvalidArgumentsAccepted]),
            // Values that the schema accepts show nothing.
            (&json!({"a": 1}), &result, vec![]),
            (&wrong, &json!({"result": {"resultType": "input_required", "inputRequests": {}}}), vec![]),
        ] {
            let found = marks(With::Refused, &schemas, &[(arguments.clone(), response.clone())]);
            assert_eq!(found, expected, "{arguments} {response}");
        }
        let unknown = json!({"inputSchema": {"$ref": "https://example.com/"}});
        assert_eq!(marks(With::Refused, &unknown, &[(wrong, result)]), [InputUnchecked]);
    }

    #[test]
    fn results_are_compared_with_the_listed_output_schema() {
        use CallMark::{
            OutputInvalid, OutputMissing, OutputUnchecked, Result, Structured, TextMissing, ToolError, WithOutputSchema,
        };
        let schemas = |output: Value| json!({"inputSchema": {"type": "object"}, "outputSchema": output});
        let typed = schemas(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}));
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let result = |content: Value, structured: Value| json!({"result": {"content": content, "structuredContent": structured}});
        let plain = json!({"inputSchema": {"type": "object"}});
        for (schemas, response, expected) in [
            (&typed, result(text("{\"n\": 7}"), json!({"n": 7})), vec![Result, WithOutputSchema, Structured]),
            (
                &typed,
                result(text("{\"n\":\"7\"}"), json!({"n": "7"})),
                vec![Result, WithOutputSchema, Structured, OutputInvalid],
            ),
            (&typed, result(text("7"), json!({"n": 7})), vec![Result, WithOutputSchema, Structured, TextMissing]),
            (&typed, json!({"result": {"content": []}}), vec![Result, WithOutputSchema, OutputMissing]),
            (&typed, json!({"result": {"content": [], "isError": true}}), vec![ToolError]),
            (
                &schemas(json!({"$ref": "https://example.com/"})),
                result(text("{}"), json!({})),
                vec![Result, WithOutputSchema, Structured, OutputUnchecked],
            ),
            (&plain, json!({"result": {"content": []}}), vec![Result]),
            (&plain, result(text("[]"), json!([])), vec![Result, Structured]),
        ] {
            assert_eq!(marks(With::Accepted, schemas, &[(json!({}), response.clone())]), expected, "{response}");
        }
        // In sessions, null is no structured content.
        let null = [(json!({}), result(text("ok"), Value::Null))];
        assert_eq!(marks(With::Accepted, &plain, &null), [Result, Structured, TextMissing]);
        let oldest = Revision::all().next().expect("a revision");
        assert_eq!(marks_on(oldest, With::Accepted, &plain, &null), [Result]);
        assert_eq!(marks_on(oldest, With::Accepted, &typed, &null), [Result, WithOutputSchema, OutputInvalid]);
    }

    #[test]
    fn call_without_arguments_is_compared_with_a_later_one() {
        use CallMark::{ArgumentsRequired, ProtocolError, Result, ToolError, WithoutArguments};
        let schemas = json!({"inputSchema": {"type": "object"}});
        let result = json!({"result": {"content": []}});
        let failed = json!({"result": {"content": [], "isError": true}});
        let error = json!({"error": {"code": -32602, "message": "no"}});
        for (without, with, expected) in [
            (&result, &result, vec![Result, WithoutArguments]),
            (&result, &failed, vec![Result, ToolError, WithoutArguments]),
            (&failed, &failed, vec![ToolError]),
            (&failed, &result, vec![Result, ToolError, ArgumentsRequired]),
            (&error, &result, vec![Result, ProtocolError, ArgumentsRequired]),
        ] {
            let calls = [(Value::Null, without.clone()), (json!({}), with.clone())];
            assert_eq!(marks(With::Accepted, &schemas, &calls), expected, "{without} {with}");
        }
    }

    #[test]
    fn answer_of_a_user_is_no_acceptance_of_the_arguments() {
        let list = r#"{"id":0,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","required":["a"]}}]}}"#;
        let result = r#"{"id":1,"result":{"content":[]}}"#;
        let question = r#"{"id":9,"method":"elicitation/create","params":{}}"#;
        let called = |answers: &[&str]| {
            let call = request(1, CALL, &json!({"name": "t", "arguments": {}}));
            let mut messages = vec![request(0, "tools/list", &json!({})), samples::message(Party::Target, list), call];
            messages.extend(answers.iter().map(|text| samples::message(Party::Target, text)));
            let seen = StepTranscript { messages, end: End::Accepted, ..samples::replied(&[]) };
            calls(Revision::newest(), With::Refused, &Wire::new(&seen)).len()
        };
        assert_eq!((called(&[result]), called(&[question, result])), (1, 0));
    }
}
