//! Transcripts made by hand, and what they come down to.

use serde_json::json;

use super::*;
use crate::judge::samples::{self, call, replied, transcript};
use crate::model::case::{Expectation, TextState, Then};
use crate::model::observation::ListChange;
use crate::model::template::{Bindings, Canary, CanaryKind};
use crate::model::transcript::{Hit, Phase};

fn schema() -> Template {
    Template::from(&json!({"type": "object", "anyOf": [{"required": ["a"]}]}))
}

fn seen(when: When, messages: &[&str]) -> StepObservation {
    let test = samples::test(&[("t", schema())], vec![(when, Then::Observe)]);
    observe(&test, &transcript(vec![replied(messages)])).steps.remove(0)
}

fn result(text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#)
}

#[test]
fn successful_echo_shows_the_arguments_of_the_tool() {
    let seen = seen(call("t"), &[&samples::structured(&json!({"a": 1}))]);
    assert_eq!((seen.outcome, seen.text), (Outcome::Success, Some(Observed::Value(TextState::Mirrors))));
    assert_eq!((seen.saw, seen.structured), (Some(json!({"a": 1}).into()), Some(json!({"a": 1}).into())));
}

#[test]
fn null_structured_content_is_not_absence() {
    let with = seen(call("t"), &[&result(r#"{"content":[],"structuredContent":null}"#)]);
    assert_eq!((with.structured, with.text), (Some(json!(null).into()), Some(Observed::Value(TextState::Absent))));
    let without = seen(call("t"), &[&result(r#"{"content":[{"type":"text","text":"hi"}]}"#)]);
    assert_eq!((without.outcome, without.structured, without.text), (Outcome::Success, None, None));
}

#[test]
fn tool_errors_and_protocol_errors_are_distinguished() {
    let words = "x".repeat(1000);
    let tool =
        seen(call("t"), &[&result(&format!(r#"{{"content":[{{"type":"text","text":"{words}"}}],"isError":true}}"#))]);
    assert_eq!((tool.outcome, tool.saw), (Outcome::ToolError, None));
    assert_eq!(tool.said.map(|said| said.len()), Some(300));
    let protocol = seen(call("t"), &[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#]);
    assert_eq!((protocol.outcome, protocol.code), (Outcome::ProtocolError, Some(-32602)));
    assert_eq!(protocol.said.as_deref(), Some("no"));
}

#[test]
fn result_of_another_shape_is_an_invalid_message() {
    let shapes = ["{}", r#"{"content":"hi"}"#, r#"{"content":[],"isError":"yes"}"#, "7", "null"];
    for shape in shapes {
        assert_eq!(seen(call("t"), &[&result(shape)]).outcome, Outcome::InvalidMessage, "{shape}");
    }
    assert_eq!(seen(When::List, &[&result(r#"{"tools":{}}"#)]).outcome, Outcome::InvalidMessage);
    let both = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":{"code":1,"message":""}}"#;
    assert_eq!(seen(call("t"), &[both]).outcome, Outcome::InvalidMessage);
    assert_eq!(seen(call("t"), &[]).outcome, Outcome::InvalidMessage);
}

#[test]
fn list_has_the_tools_of_all_pages() {
    let pages = [
        result(r#"{"tools":[{"name":"other","inputSchema":{}}],"nextCursor":"2"}"#),
        result(r#"{"tools":[{"name":"t","inputSchema":{"type":"object","$schema":"s"}}]}"#),
    ];
    let seen = seen(When::List, &[&pages[0], &pages[1]]);
    assert_eq!(seen.outcome, Outcome::Success);
    assert_eq!(seen.advertised["t"].removed, ["/inputSchema/anyOf"]);
    assert_eq!(seen.advertised["t"].added, ["/inputSchema/$schema"]);
    assert_eq!(seen.advertised.len(), 1);
}

#[test]
fn handshake_before_a_list_is_not_a_page() {
    let handshake = result(r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#);
    let page = result(r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#);
    let seen = seen(When::List, &[&handshake, &page]);
    assert_eq!((seen.outcome, seen.advertised.len()), (Outcome::Success, 1));
}

#[test]
fn response_without_a_request_is_ignored() {
    let good = r#"{"tools":[{"name":"t","inputSchema":{"type":"object","anyOf":[]}}],"inputRequests":{"a":1}}"#;
    let strays = [
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","result":{good}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{good}}}"#),
        r#"{"jsonrpc":"2.0","method":"elicitation/create","params":{}}"#.to_owned(),
    ];
    let mut step = replied(&[&result(r#"{"tools":[{"name":"t","inputSchema":{}}]}"#)]);
    step.messages.splice(0..0, strays.iter().map(|stray| samples::message(Party::Target, stray)));
    step.messages.push(samples::message(Party::Target, &result(good)));
    step.end = End::Replied { message: 4 };
    let test = samples::test(&[("t", schema())], vec![(When::List, Then::Observe)]);
    let seen = observe(&test, &transcript(vec![step])).steps.remove(0);
    assert_eq!(seen.outcome, Outcome::Success);
    assert!(!seen.advertised["t"].as_given());
    assert_eq!(seen.asked, []);
}

#[test]
fn list_with_an_unread_page_is_unread() {
    let unread =
        |cursor: &str| seen(When::List, &[&result(&format!(r#"{{"tools":[],"nextCursor":{cursor}}}"#))]).unread;
    assert_eq!(unread("null"), None);
    assert!(unread("7").is_some() && unread(r#""51""#).is_some());
}

#[test]
fn deep_schema_is_as_given_only_if_its_text_is() {
    let deep = Template::Generated(crate::model::template::Generator::Nested { depth: 1000 });
    let rendered = deep.render(&Bindings::default());
    let test = samples::test(&[("t", deep)], vec![(When::List, Then::Observe)]);
    let list = |schema: &str| {
        let page = result(&format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#));
        observe(&test, &transcript(vec![replied(&[&page])])).steps[0].advertised["t"].clone()
    };
    assert!(list(&rendered).as_given());
    assert!(list("{}").unreadable.is_some());
}

#[test]
fn all_members_of_a_listed_tool_are_compared() {
    let mut test = samples::test(&[("t", schema())], vec![(When::List, Then::Observe)]);
    let given = std::sync::Arc::get_mut(&mut test.given).expect("one owner");
    let Template::Object(members) = &mut given.tools[0].definition else { panic!("a tool is an object") };
    for (key, value) in [("title", json!("T")), ("icons", json!([])), ("x/y", json!({"a": 1}))] {
        members.push((key.to_owned(), Template::from(&value)));
    }
    let listed = r#"{"name":"t","title":"U","x/y":{},"_meta":null,
        "inputSchema":{"anyOf":[{"required":["a"]}],"type":"object"}}"#;
    let list = result(&format!(r#"{{"tools":[{listed}]}}"#));
    let tool = observe(&test, &transcript(vec![replied(&[&list])])).steps.remove(0).advertised.remove("t");
    let tool = tool.expect("it is listed");
    assert_eq!((tool.removed, tool.added), (vec!["/icons".into(), "/x~1y/a".into()], vec!["/_meta".to_owned()]));
    assert_eq!(tool.changed, ["/title"]);
}

#[test]
fn call_is_hidden_only_if_a_list_does_not_have_the_tool() {
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown tool"}}"#;
    let outcome = |tool: &str, listed: &str| {
        let steps = vec![(When::List, Then::Observe), (call(tool), Then::Observe)];
        let test = samples::test(&[("t", schema())], steps);
        observe(&test, &transcript(vec![replied(&[&result(listed)]), replied(&[refusal])])).steps[1].outcome
    };
    assert_eq!(outcome("t", r#"{"tools":[]}"#), Outcome::Hidden);
    assert_eq!(outcome("t", r#"{"tools":[{"name":"t"}]}"#), Outcome::ProtocolError);
    assert_eq!(outcome("nobody", r#"{"tools":[]}"#), Outcome::ProtocolError);
}

#[test]
fn end_of_the_session_is_the_outcome_of_later_steps() {
    let test = samples::test(&[("t", schema())], vec![(call("t"), Then::Observe), (When::List, Then::Observe)]);
    let crash = StepTranscript { end: End::Crash { how: "signal 11".into() }, ..replied(&[]) };
    let outcomes = |observation: Observation| observation.steps.iter().map(|step| step.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(observe(&test, &transcript(vec![crash]))), [Outcome::Crash; 2]);
    let refused = Served::Refused { r#type: "TypeError".into(), message: "no".into() };
    let refused = Transcript { served: refused, ..transcript(vec![]) };
    assert_eq!(outcomes(observe(&test, &refused)), [Outcome::Refused; 2]);
    let hung = Served::Failed { end: End::Timeout, detail: "no answer".into() };
    let hung = Transcript { served: hung, ..transcript(vec![]) };
    let observed = observe(&test, &hung);
    // The limit was lower than the longest class of durations.
    assert!(observed.steps.iter().all(|step| step.took == TimeClass::Endless));
    assert_eq!(outcomes(observed), [Outcome::Timeout; 2]);
}

#[test]
fn server_that_fetches_and_refuses_touched_the_canary() {
    let test = samples::test(&[("t", schema())], vec![(When::Serve, Then::Observe)]);
    let mut refused = transcript(vec![]);
    refused.served = Served::Refused { r#type: "Error".into(), message: "GET http://127.0.0.1:9/c failed".into() };
    refused.bindings.canaries = vec![(Canary::new(CanaryKind::Http), "http://127.0.0.1:9/c".into())];
    let step = observe(&test, &refused).steps.remove(0);
    assert_eq!(step.canary, Some(CanaryState::Untouched));
    assert_eq!(step.said.as_deref(), Some("Error: GET <canary:http> failed"));
    refused.canary = vec![Hit { url: "http://127.0.0.1:9/c".into(), phase: Phase::Serve }];
    assert_eq!(observe(&test, &refused).steps[0].canary, Some(CanaryState::Touched));
}

#[test]
fn elicitations_of_both_lifecycles_have_no_meta() {
    let request = r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"a","_meta":{"p":1}}}"#;
    let stateful = seen(call("t"), &[request, &result(r#"{"content":[]}"#)]);
    assert_eq!(stateful.asked, [json!({"message": "a"}).into()]);
    let input = result(concat!(
        r#"{"resultType":"input_required","inputRequests":{"z":{"method":"elicitation/create","params":{"message":"z"}},"#,
        r#""b":{"method":"roots/list"},"a":{"method":"elicitation/create","params":{"message":"a"}}}}"#
    ));
    let stateless = seen(call("t"), &[&input]);
    assert_eq!(stateless.outcome, Outcome::InputRequired);
    assert_eq!(stateless.asked, [json!({"message": "z"}).into(), json!({"message": "a"}).into()]);
}

#[test]
fn size_of_a_cut_message_is_its_full_size() {
    let mut step = replied(&["{}"]);
    step.messages[0].cut_from = Some(5_000_000);
    let test = samples::test(&[("t", schema())], vec![(When::List, Then::Observe)]);
    assert_eq!(observe(&test, &transcript(vec![step])).steps[0].size, SizeClass::Huge);
}

#[test]
fn raw_message_that_calls_a_tool_is_a_call() {
    let raw = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}});
    let when = When::Send { message: Template::from(&raw), headers: Vec::new() };
    assert_eq!(seen(when, &[&samples::structured(&json!({}))]).saw, Some(json!({}).into()));
}

#[test]
fn list_that_differs_from_the_one_before_varies() {
    let test = samples::test(&[("t", schema())], vec![(When::List, Then::Observe), (When::List, Then::Observe)]);
    let varies = |lists: [&str; 2]| {
        let step = |tools: &str| replied(&[&result(&format!(r#"{{"tools":[{tools}]}}"#))]);
        observe(&test, &transcript(lists.map(step).into())).steps.into_iter().map(|one| one.varies).collect::<Vec<_>>()
    };
    let [t, u] = [r#"{"name":"t"}"#, r#"{"name":"u"}"#];
    assert_eq!(varies([&format!("{t},{u}"), &format!("{t},{u}")]), [None, None]);
    assert_eq!(varies([&format!("{t},{u}"), &format!("{u},{t}")]), [None, Some(ListChange::Order)]);
    assert_eq!(varies([&format!("{t},{u}"), t]), [None, Some(ListChange::Tools)]);
}

#[test]
fn replies_are_kept_only_if_the_case_uses_them() {
    let looks = Expectation { reply: Some(json!(true).into()), ..Expectation::default() };
    let kept = |then| {
        let test = samples::test(&[("t", schema())], vec![(When::List, then)]);
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
        observe(&test, &transcript(vec![replied(&[notification, &result(r#"{"tools":[]}"#)])])).steps.remove(0).replies
    };
    assert_eq!(kept(Then::Observe), Vec::<Parts>::new());
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}});
    let whole = Parts::from([("message".to_owned(), message.into())]);
    assert_eq!(kept(samples::check("r", vec![looks])), [whole]);
}

#[test]
fn messages_before_a_refusal_are_kept() {
    let looks = Expectation { sent: Some(json!({}).into()), ..Expectation::default() };
    let mut test =
        samples::test(&[], vec![(When::Serve, samples::check("r", vec![looks])), (When::List, Then::Observe)]);
    test.role = Role::Client;
    let mut turned_away = transcript(vec![replied(&[r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#])]);
    turned_away.served = Served::Refused { r#type: "Error".into(), message: "400".into() };
    let steps = observe(&test, &turned_away).steps;
    assert_eq!(steps.iter().map(|step| step.sent.len()).collect::<Vec<_>>(), [1, 0]);
    assert!(steps.iter().all(|step| step.outcome == Outcome::Refused));
}

#[test]
fn ambiguous_messages_are_unread() {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":{"a":1,"a":2}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}} x"#,
        "\u{feff}{\"jsonrpc\":\"2.0\"}",
        r#"[1,"elicitation/create",{"message":"a"},{}]"#,
    ];
    for message in &messages[..4] {
        assert!(seen(call("t"), &[message, &result(r#"{"content":[]}"#)]).unread.is_some(), "{message}");
    }
    assert_eq!(seen(call("t"), &[messages[4]]).asked, []);
    for message in ["no", "", r#"{"jsonrpc":"2.0","method":"x","params":{"a":[{"a":1},{"a":1}]}}"#] {
        assert_eq!(seen(call("t"), &[message, &result(r#"{"content":[]}"#)]).unread, None, "{message}");
    }
}

#[test]
fn unreadable_meta_leaves_an_elicitation_readable() {
    let request =
        r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"a","_meta":{"p":1e999}}}"#;
    assert_eq!(seen(call("t"), &[request]).asked, [json!({"message": "a"}).into()]);
    let request = r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":1e999}}"#;
    assert!(matches!(seen(call("t"), &[request]).asked[..], [Observed::Unreadable(_)]));
}

#[test]
fn error_code_is_compared_by_value() {
    let code = |code: &str| {
        seen(call("t"), &[&format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":""}}}}"#)]).code
    };
    assert_eq!(
        [code("-32602"), code("-32602.0"), code("-32602.5"), code("1e999")],
        [Some(-32602), Some(-32602), None, None]
    );
}
