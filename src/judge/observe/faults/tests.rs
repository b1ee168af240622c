//! Tests of the rules for the messages of a session.

use serde_json::json;

use super::*;
use crate::judge::samples;
use crate::load::{Source, load};
use crate::model::case::{Answer, Then};

#[test]
fn rules_name_requirements_of_the_catalogue() {
    let library = load(&[Source::Embedded]).expect("the embedded cases");
    let is_unknown = |rule: &&Rule| !library.requirements.contains_key(&rule.requirement());
    assert_eq!(Rule::ALL.iter().find(is_unknown), None);
}

/// A POST request of the client with these headers, after `accept`.
fn post(id: u64, method: &str, params: &Value, headers: &[(&str, &str)]) -> Message {
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
    let mut all = vec![(":method", "POST"), ("accept", "application/json"), ("accept", "text/event-stream")];
    all.extend(headers);
    let headers = all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Message { headers, ..Message::new(Party::Target, text) }
}

fn get(headers: &[(&str, &str)]) -> Message {
    let all = [(":method", "GET")].iter().chain(headers);
    let headers = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Message { headers, ..Message::new(Party::Target, String::new()) }
}

fn reply(status: u16, body: &Value) -> Message {
    Message { status: Some(status), ..Message::new(Party::Harness, body.to_string()) }
}

fn with_session(message: Message, id: &str) -> Message {
    Message { headers: vec![(SESSION_HEADER.to_owned(), id.to_owned())], ..message }
}

/// A request for a handshake.
fn initialize(revision: &str) -> Message {
    let client = json!({ "name": "c", "version": "1" });
    let elicits = json!({ "elicitation": {} });
    let params = json!({ "protocolVersion": revision, "clientInfo": client, "capabilities": elicits });
    post(0, "initialize", &params, &[])
}

fn agreed(revision: &str) -> Message {
    reply(200, &json!({ "id": 0, "result": { "protocolVersion": revision, "capabilities": {} } }))
}

fn initialized(headers: &[(&str, &str)]) -> Message {
    let notification = post(9, "notifications/initialized", &json!({}), headers);
    Message { text: r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(), ..notification }
}

/// The rules that the messages of a test with one call violate.
fn rules(id: &str, served: Option<Revision>, messages: Vec<Message>) -> Vec<Rule> {
    let mut test = samples::test(&[], vec![(When::call("t", None, vec![Answer::AcceptAlone]), Then::Observe)]);
    std::sync::Arc::get_mut(&mut test.given).expect("one owner").revision = served;
    let step = crate::model::transcript::StepTranscript { messages, ..samples::replied(&[]) };
    let transcript = Transcript { test: samples::id(id), ..samples::transcript(vec![step]) };
    read(&test, &transcript).faults.into_iter().map(|fault| fault.rule).collect()
}

const OLD: &str = "f/c/t@2025-11-25+http";
const NEW: &str = "f/c/t@2026-07-28+http";
const VERSION: (&str, &str) = (VERSION_HEADER, "2025-11-25");

fn listed(headers: &[(&str, &str)]) -> Message {
    post(1, "tools/list", &json!({}), headers)
}

#[test]
fn session_of_2025_that_is_sound_violates_nothing() {
    let session = (SESSION_HEADER, "s1");
    let opening = || vec![initialize("2025-11-25"), with_session(agreed("2025-11-25"), "s1")];
    let mut sound = opening();
    sound.extend([initialized(&[VERSION, session]), listed(&[VERSION, session])]);
    assert_eq!(rules(OLD, None, sound.clone()), []);
    // The server forgot the session, so that the client begins another one, without the id of the first.
    sound.extend([reply(404, &json!({})), initialize("2025-11-25"), with_session(agreed("2025-11-25"), "s2")]);
    let session = (SESSION_HEADER, "s2");
    sound.extend([initialized(&[VERSION, session]), listed(&[VERSION, session])]);
    assert_eq!(rules(OLD, None, sound), []);
    let mut unsound = opening();
    unsound.extend([initialized(&[VERSION]), listed(&[])]);
    assert_eq!(rules(OLD, None, unsound), [Rule::SessionIdSent, Rule::NegotiatedHeaderSent]);
}

#[test]
fn line_that_is_no_message_is_a_fault_if_it_was_read_whole() {
    let line = || Message::new(Party::Harness, "hello".to_owned());
    let of = |line: Message| rules("f/c/t@2026-07-28+stdio", None, vec![line]);
    assert_eq!(of(line()), [Rule::NothingButMessages]);
    assert_eq!(of(Message { cut_from: Some(1 << 30), ..line() }), []);
    assert_eq!(of(Message { lossy: true, ..line() }), [Rule::NothingButMessages]);
}

#[test]
fn session_id_comes_with_the_first_event_of_the_stream() {
    let note = reply(200, &json!({ "method": "notifications/message", "params": {} }));
    let session = (SESSION_HEADER, "s1");
    let messages = vec![
        initialize("2025-11-25"),
        with_session(note, "s1"),
        agreed("2025-11-25"),
        initialized(&[VERSION, session]),
        listed(&[VERSION]),
    ];
    assert_eq!(rules(OLD, None, messages), [Rule::SessionIdSent]);
}

#[test]
fn revision_of_the_server_is_judged_by_what_it_was_built_for() {
    let rules = |id, served, revision: &str, named: &str| rules(id, served, vec![initialize(named), agreed(revision)]);
    let (v0618, v1125) = (Revision::all().next(), Revision::all().nth(1));
    assert_eq!(rules(OLD, None, "2025-11-25", "2025-11-25"), []);
    assert_eq!(rules(OLD, None, "2025-06-18", "2025-11-25"), [Rule::SameVersion]);
    assert_eq!(rules(OLD, None, "2025-03-26", "2025-11-25"), [Rule::SameVersion]);
    // Another revision than the requested one, which the server does not speak.
    assert_eq!(rules(OLD, v0618, "2025-06-18", "2025-11-25"), []);
    assert_eq!(rules(OLD, v0618, "2024-11-05", "2025-11-25"), []);
    assert_eq!(rules(OLD, v0618, "2031-01-01", "2025-11-25"), [Rule::OtherVersion]);
    assert_eq!(rules(NEW, v1125, "2026-07-28", "2026-07-28"), [Rule::OtherVersion]);
}

#[test]
fn newer_revision_than_its_own_is_held_against_a_server_that_refuses_it() {
    let served = Revision::all().next();
    let opening = || vec![initialize("2025-11-25"), agreed("2025-11-25"), initialized(&[VERSION])];
    let with = |more: Vec<Message>| [opening(), more].concat();
    assert_eq!(rules(OLD, served, with(vec![listed(&[VERSION]), reply(400, &json!({}))])), [Rule::OtherVersion]);
    let refused_get = Message { on_get_stream: true, ..reply(405, &json!({})) };
    assert_eq!(rules(OLD, served, with(vec![get(&[VERSION]), refused_get])), []);
    assert_eq!(rules(OLD, served, with(vec![listed(&[VERSION]), reply(404, &json!({}))])), []);
}

#[test]
fn response_on_a_get_stream_is_allowed_on_a_resumed_stream() {
    let opening = || vec![initialize("2025-11-25"), agreed("2025-11-25"), initialized(&[VERSION])];
    let response = Message { on_get_stream: true, ..reply(200, &json!({ "id": 1, "result": {} })) };
    let with =
        |headers: &[(&str, &str)]| [opening(), vec![listed(&[VERSION]), get(headers), response.clone()]].concat();
    assert_eq!(rules(OLD, None, with(&[VERSION])), [Rule::GetStreamNoResponse]);
    assert_eq!(rules(OLD, None, with(&[VERSION, (LAST_EVENT, "7")])), []);
}

#[test]
fn result_of_a_tool_with_a_schema_is_structured_and_the_schema_is_valid() {
    let tools = json!([{ "name": "t", "outputSchema": { "type": "null" } }, { "name": "plain" }]);
    let with_tools = |tools: &Value, tool: &str, result: Value| {
        let list = reply(200, &json!({ "id": 1, "result": { "tools": tools } }));
        let call = post(2, "tools/call", &json!({ "name": tool }), &[VERSION]);
        let result = reply(200, &json!({ "id": 2, "result": result }));
        let opening = vec![initialize("2025-11-25"), agreed("2025-11-25"), initialized(&[VERSION])];
        [opening, vec![listed(&[VERSION]), list, call, result]].concat()
    };
    let with = |tool, result| with_tools(&tools, tool, result);
    let bare = json!({ "content": [] });
    assert_eq!(rules(OLD, None, with("t", bare.clone())), [Rule::OutputPresent]);
    assert_eq!(rules(OLD, None, with("plain", bare.clone())), []);
    let odd = json!([{ "name": "plain", "inputSchema": { "required": "x" } }]);
    assert_eq!(rules(OLD, None, with_tools(&odd, "plain", bare)), [Rule::SchemaIsValid]);
    assert_eq!(rules(OLD, None, with("t", json!({ "content": [], "isError": true }))), []);
    assert_eq!(rules(OLD, None, with("t", json!({ "content": [], "structuredContent": {} }))), []);
}

#[test]
fn client_without_a_handshake_declares_elicitation_with_each_call() {
    let meta = |capabilities: Value| {
        let own = "io.modelcontextprotocol";
        json!({ "name": "t", "_meta": {
            format!("{own}/protocolVersion"): "2026-07-28",
            format!("{own}/clientCapabilities"): capabilities,
        } })
    };
    let version = (VERSION_HEADER, "2026-07-28");
    let headers = |method| [version, ("mcp-method", method), ("mcp-name", "t")];
    let call = |capabilities| post(2, "tools/call", &meta(capabilities), &headers("tools/call"));
    let list = post(1, "tools/list", &meta(json!({ "elicitation": {} })), &headers("tools/list"));
    assert_eq!(rules(NEW, None, vec![list.clone(), call(json!({ "elicitation": {} }))]), []);
    assert_eq!(rules(NEW, None, vec![list, call(json!({}))]), [Rule::DeclaredOnEachRequest]);
    // A server of 2025 answers before the handshake as it likes.
    let bare = reply(200, &json!({ "id": 2, "result": {} }));
    let called = vec![call(json!({ "elicitation": {} })), bare];
    assert_eq!(rules(NEW, Revision::all().nth(1), called.clone()), []);
    assert_eq!(rules(NEW, None, called), [Rule::ResultType]);
}

#[test]
fn state_belongs_to_the_retries_of_a_call_that_goes_on() {
    let call = |id: u64, state: Option<&str>| {
        let own = "io.modelcontextprotocol";
        let meta = json!({ format!("{own}/protocolVersion"): "2026-07-28",
            format!("{own}/clientCapabilities"): { "elicitation": {} } });
        let mut params = json!({ "name": "t", "_meta": meta });
        params.as_object_mut().expect("an object").extend(state.map(|state| ("requestState".to_owned(), state.into())));
        let headers = [(VERSION_HEADER, "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "t")];
        post(id, "tools/call", &params, &headers)
    };
    let reply = |id: u64, result: Value| reply(200, &json!({ "id": id, "result": result }));
    let asks = |id| reply(id, json!({ "resultType": "input_required", "requestState": "s" }));
    let ends = |id| reply(id, json!({ "resultType": "complete", "content": [] }));
    // A round without questions has only a state, and a lost response may be asked for once more.
    let sound = vec![call(1, None), asks(1), call(2, Some("s")), call(3, Some("s")), ends(2)];
    assert_eq!(rules(NEW, None, sound.clone()), []);
    assert_eq!(rules(NEW, None, vec![call(1, Some("of an earlier session"))]), [Rule::StateOfRetryAlone]);
    let late = rules(NEW, None, [sound, vec![call(4, Some("s"))]].concat());
    assert_eq!(late.first(), Some(&Rule::StateOfRetryAlone));
}
