//! The `drive` request, and the evaluation of the adapter's answer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::model::case::{Fixture, Retry, Then};
use crate::model::spec::Role;
use crate::model::template::Template;
use crate::model::transcript::{CLOSED, CLOSED_REQUEST, Party};
use crate::model::{CaseId, TestId};

fn at(at: u64, from: Party, text: &str) -> Message {
    Message { at, ..Message::new(from, text) }
}

fn test(steps: Vec<When>) -> Test {
    let steps =
        steps.into_iter().map(|when| Step { when, then: Then::Observe, declares: None, initialized: true }).collect();
    Test::new(CaseId::new("a", "b"), "t", Role::Server, Fixture::default(), steps)
}

fn call(tool: &str) -> When {
    When::call(tool, None, Vec::new())
}

fn beside(tool: &str) -> When {
    When::Call { tool: tool.to_owned(), arguments: None, answers: Vec::new(), retry: Retry::default(), parallel: true }
}

fn told_of(steps: Vec<When>, value: &Value) -> Driven {
    let drove = serde_json::from_str(&value.to_string()).expect("a `drove`");
    outcome_of_script(&test(steps), Ok(drove), Vec::new(), Duration::ZERO)
}

fn ends(driven: &Driven) -> Vec<(&End, Option<&str>)> {
    driven.steps.iter().map(|step| (&step.end, step.handed.as_deref())).collect()
}

#[test]
fn drive_object_has_script_and_answers_of_all_calls() {
    let answering = |answers| When::call("t", Some((&json!({"n": 1})).into()), answers);
    let accept = Answer::Accept((&json!({"x": 1})).into());
    let steps = vec![
        When::Serve,
        When::List,
        answering(vec![accept, Answer::AcceptAsPresented]),
        answering(vec![Answer::Decline]),
    ];
    let id = "f/c/t@2026-07-28+http".parse::<TestId>().expect("a test id");
    let ordered = |steps| {
        let planned = Planned { index: 0, id: id.clone(), test: Arc::new(test(steps)), stdio: None };
        let order = order(&planned, Some("low"), &Bindings::default(), ("url", quoted("http://a")));
        serde_json::from_str::<Value>(&order).expect("JSON")
    };
    let called = json!({"callTool": {"name": "t", "arguments": {"n": 1}}});
    let expected = json!({
        "revision": "2026-07-28", "variant": "low", "url": "http://a",
        "answers": [{"accept": {"x": 1}}, {"accept": "as presented"}, "decline"],
        "script": [{"listTools": {}}, called, called]
    });
    assert_eq!(ordered(steps), expected);
    assert_eq!(ordered(vec![call("t")])["script"], json!([{"callTool": {"name": "t"}}]));
    assert_eq!(ordered(vec![call("t")]).get("answers"), None);
}

#[test]
fn every_step_has_value_handed_to_user() {
    let value = json!({"connected": true, "steps": [{"tools": []}, {"result": {}}]});
    let driven = told_of(vec![When::Serve, When::List, call("t")], &value);
    assert_eq!(driven.served, Served::Serving);
    let handed =
        [(&End::Accepted, None), (&End::Handed, Some(r#"{"tools":[]}"#)), (&End::Handed, Some(r#"{"result":{}}"#))];
    assert_eq!(ends(&driven), handed);
}

#[test]
fn interrupted_script_ends_with_its_error() {
    let value = json!({"connected": true, "steps": [{"tools": []}], "error": {"type": "E"}});
    let driven = told_of(vec![When::List, call("t"), call("t")], &value);
    let handed = [(&End::Handed, Some(r#"{"tools":[]}"#)), (&End::Handed, Some(r#"{"error":{"type":"E"}}"#))];
    assert_eq!(ends(&driven), handed);
    // If all steps have results, an error is one of disconnecting.
    let whole = told_of(vec![When::List], &value);
    assert_eq!(ends(&whole), [(&End::Handed, Some(r#"{"tools":[]}"#))]);
}

#[test]
fn unconnected_client_refused_and_wrong_step_count_is_invalid() {
    let unconnected = json!({"connected": false, "steps": [], "error": {"type": "E", "message": "no"}});
    let driven = told_of(vec![When::List], &unconnected);
    assert_eq!(driven.served, Served::Refused { r#type: "E".into(), message: "no".into() });
    for steps in [json!([]), json!([{}, {}])] {
        let driven = told_of(vec![When::List], &json!({"connected": true, "steps": steps}));
        assert!(matches!(driven.served, Served::Failed { end: End::Invalid { .. }, .. }), "{steps}");
    }
}

#[test]
fn messages_belong_to_the_step_begun_last() {
    use Party::{Harness, Target};
    let call_of = |id: u64, name: &str| format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    let messages = vec![
        at(10, Target, r#"{"id":0,"method":"initialize","params":{}}"#),
        at(11, Harness, r#"{"id":0,"result":{}}"#),
        // A request of the client itself, before the call of the first step.
        at(20, Target, r#"{"id":1,"method":"tools/list"}"#),
        at(30, Target, &call_of(2, "a")),
        at(31, Harness, r#"{"id":2,"result":{"resultType":"input_required","requestState":"s"}}"#),
        at(40, Target, r#"{"id":3,"method":"tools/call","params":{"name":"a","requestState":"s"}}"#),
        at(41, Harness, r#"{"id":3,"result":{}}"#),
        at(60, Target, r#"{"id":4,"method":"tools/list","params":{}}"#),
        at(70, Target, r#"{"id":5,"method":"tools/list","params":{"cursor":""}}"#),
    ];
    let steps = test(vec![call("a"), call("unsent"), When::List]).steps;
    let parts = split(&steps, messages, Duration::from_micros(100));
    let shape: Vec<_> = parts.iter().map(|(messages, micros)| (messages.len(), *micros)).collect();
    assert_eq!(shape, [(7, 11), (0, 19), (2, 40)]);
}

#[test]
fn parameters_of_a_users_request_decide_nothing() {
    let own = |params: &str| format!(r#"{{"id":2,"method":"x/y","params":{params}}}"#);
    for params in [r#"{"name":5}"#, r#"{"name":{}}"#, r#"{"requestState":"s"}"#, r#"{"inputResponses":{}}"#, "[]"] {
        let messages =
            vec![at(10, Party::Target, r#"{"id":1,"method":"tools/list"}"#), at(20, Party::Target, &own(params))];
        let message = Template::from(&json!({ "method": "x/y" }));
        let steps = test(vec![When::List, When::Send { message, headers: Vec::new() }]).steps;
        let parts = split(&steps, messages, Duration::from_micros(30));
        assert_eq!(parts.iter().map(|(part, _)| part.len()).collect::<Vec<_>>(), [1, 1], "{params}");
    }
}

#[test]
fn list_from_a_cache_has_no_messages() {
    use Party::Target;
    let messages = vec![
        at(10, Target, r#"{"id":0,"method":"server/discover","params":{}}"#),
        at(20, Target, r#"{"id":1,"method":"tools/list","params":{}}"#),
        at(30, Target, r#"{"id":2,"method":"tools/list","params":{"cursor":"1"}}"#),
    ];
    let steps = test(vec![When::List, When::List]).steps;
    let parts = split(&steps, messages, Duration::from_micros(100));
    assert_eq!(parts.iter().map(|(messages, _)| messages.len()).collect::<Vec<_>>(), [3, 0]);
}

#[test]
fn time_without_messages_belongs_to_first_step() {
    let steps = test(vec![When::List, When::List]).steps;
    let micros = split(&steps, Vec::new(), Duration::from_micros(7)).into_iter().map(|(_, micros)| micros);
    assert_eq!(micros.sum::<u64>(), 7);
}

#[test]
fn parallel_calls_are_one_step_of_the_script_with_a_result_each() {
    let id = "f/c/t@2026-07-28+http".parse::<TestId>().expect("a test id");
    let planned = Planned {
        index: 0,
        id,
        test: Arc::new(Test { request_timeout: Some(400), ..test(vec![call("a"), beside("b"), When::List]) }),
        stdio: None,
    };
    let order = order(&planned, None, &Bindings::default(), ("url", quoted("http://a")));
    let order: Value = serde_json::from_str(&order).expect("JSON");
    let together = json!({"callTools": [{"name": "a"}, {"name": "b"}]});
    assert_eq!((&order["script"], &order["requestTimeout"]), (&json!([together, {"listTools": {}}]), &json!(400)));
}

#[test]
fn answer_to_parallel_calls_has_one_result_for_each() {
    let results = |results: Value| {
        let steps = json!({"connected": true, "steps": [results, {"tools": []}]});
        told_of(vec![call("a"), beside("b"), When::List], &steps)
    };
    let driven = results(json!({"results": [{"result": {}}, {"error": {}}]}));
    let handed = [r#"{"result":{}}"#, r#"{"error":{}}"#, r#"{"tools":[]}"#].map(|text| (&End::Handed, Some(text)));
    assert_eq!(ends(&driven), handed);
    for wrong in [json!({"results": [{"result": {}}]}), json!({"result": {}})] {
        let driven = results(wrong.clone());
        assert!(matches!(driven.served, Served::Failed { end: End::Invalid { .. }, .. }), "{wrong}");
    }
}

#[test]
fn messages_of_parallel_calls_belong_to_their_tools() {
    use Party::{Harness, Target};
    let call_of = |id: u64, name: &str| format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    let messages = vec![
        at(10, Target, &call_of(1, "b")),
        at(11, Target, &call_of(2, "a")),
        at(12, Harness, r#"{"id":2,"result":{"requestState":"s"}}"#),
        at(13, Harness, r#"{"id":1,"result":{}}"#),
        at(14, Target, r#"{"id":3,"method":"tools/call","params":{"name":"a","requestState":"s"}}"#),
        at(15, Harness, r#"{"id":3,"result":{}}"#),
        at(16, Target, r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#),
        at(20, Target, r#"{"id":4,"method":"tools/list"}"#),
    ];
    let steps = test(vec![call("a"), beside("b"), When::List]).steps;
    let parts = split(&steps, messages, Duration::from_micros(30));
    let shape: Vec<_> = parts.iter().map(|(messages, micros)| (messages.len(), *micros)).collect();
    assert_eq!(shape, [(4, 10), (3, 10), (1, 10)]);
}

#[test]
fn cancellation_belongs_to_the_step_of_its_request() {
    use Party::{Harness, Target};
    let closed = |at| {
        let headers = [(":method", CLOSED), (CLOSED_REQUEST, "1")].map(|(name, value)| (name.into(), value.into()));
        Message { at, headers: headers.into(), ..Message::new(Target, "") }
    };
    let messages = || {
        vec![
            at(10, Target, r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#),
            at(20, Target, r#"{"id":2,"method":"tools/list"}"#),
            at(21, Target, r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#),
        ]
    };
    let lengths = |messages| {
        let steps = test(vec![call("a"), When::List]).steps;
        split(&steps, messages, Duration::from_micros(30)).iter().map(|(part, _)| part.len()).collect::<Vec<_>>()
    };
    let reply = at(23, Harness, r#"{"id":2,"result":{}}"#);
    assert_eq!(lengths(messages()), [2, 1]);
    assert_eq!(lengths([messages(), vec![closed(22), reply.clone()]].concat()), [3, 2]);
    // A body that is closed at the end of the client cancels nothing.
    assert_eq!(lengths([messages(), vec![reply, closed(24)]].concat()), [2, 3]);
}
