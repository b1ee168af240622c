//! Tests of judging by messages: a list and a call of a tool `t`, with small conversations.

use serde_json::json;

use super::*;
use crate::judge::samples;
use crate::model::RequirementId;
use crate::model::case::{Control, Expectation, Outcome, Then};
use crate::model::encounter::Led;
use crate::model::spec::Role;
use crate::model::template::Template;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn list(id: u64) -> [Message; 2] {
    [
        samples::message(
            Party::Target,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{{META}}}}}"#),
        ),
        samples::message(Party::Harness, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[]}}}}"#)),
    ]
}

/// A call of `t` with these arguments, and the response or the error.
fn call(id: u64, arguments: &str, answer: &str) -> [Message; 2] {
    let params = format!(r#"{{"name":"t","arguments":{arguments},{META}}}"#);
    [
        samples::message(
            Party::Target,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#),
        ),
        samples::message(Party::Harness, &format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#)),
    ]
}

const RESULT: &str = r#""result":{"content":[]}"#;
const ERROR: &str = r#""error":{"code":-32020,"message":"no"}"#;

/// A file with a control that calls `t` with `{"a":1}`, and a test whose call must have the header `x`.
fn file() -> Vec<(TestId, Arc<Test>)> {
    let one = |arguments: Value, expectation: Expectation, requirement: &str| {
        let when = When::call("t", Some(Template::from(&arguments)), Vec::new());
        let then = samples::check(requirement, vec![expectation]);
        let schema = Template::from(&json!({"type": "object"}));
        Test { role: Role::Client, ..samples::test(&[("t", schema)], vec![(When::List, Then::Observe), (when, then)]) }
    };
    let success = Expectation { outcome: vec![Outcome::Success], ..Expectation::default() };
    let header = json!({"properties": {"headers": {"required": ["x"]}}, "required": ["headers"]});
    let header = Expectation { sent: Some(header.into()), ..Expectation::default() };
    let control = Test { id: "c".into(), control: Some(Control::File), ..one(json!({"a": 1}), success, "works") };
    let test = one(json!({"b": 2}), header, "header");
    let id = |name: &str| samples::id(&format!("f/c/{name}@2026-07-28+http"));
    vec![(id("c"), Arc::new(control)), (id("t"), Arc::new(test))]
}

/// The verdicts on the control and on the test.
fn verdicts(messages: &[&[Message]]) -> Vec<(VerdictKind, String)> {
    verdicts_of(None, messages)
}

/// The same of a client that casebook leads.
fn verdicts_of(led: Option<Led>, messages: &[&[Message]]) -> Vec<(VerdictKind, String)> {
    let tests = file();
    let mut catalogue = Catalogue::new();
    for (name, level) in [("works", Level::Derived), ("header", Level::Must)] {
        let requirement =
            crate::model::spec::Requirement { roles: vec![Role::Client], ..samples::requirement(name, level) };
        catalogue.insert(RequirementId::within("f", name), requirement);
    }
    let (messages, offered) = (messages.concat(), vec![Revision::newest()]);
    let encounter = Encounter { messages, offered, led, ..Encounter::default() };
    let judged = unscripted(&catalogue, &tests, &tests[0].1.given, &encounter);
    let verdicts = judged.into_iter().flat_map(|(record, _)| record.verdicts);
    verdicts.map(|one| (one.kind, one.detail.first().map(ToString::to_string).unwrap_or_default())).collect()
}

fn kinds(messages: &[&[Message]]) -> Vec<VerdictKind> {
    verdicts(messages).into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn led_client_that_changes_the_arguments_performs_the_step() {
    let messages: [&[Message]; 2] = [&list(1), &call(2, r#"{"b":"2"}"#, RESULT)];
    let kinds = |led| verdicts_of(led, &messages).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
    // Nobody knows what the user of another client gave.
    assert_eq!(kinds(None), [VerdictKind::NotAsked; 2]);
    let led = Led { test: "f/c/t".to_owned(), has_answers: true };
    assert_eq!(kinds(Some(led)), [VerdictKind::NotAsked, VerdictKind::Fail]);
}

#[test]
fn violation_counts_where_the_control_was_answered() {
    use VerdictKind::{Fail, NotAsked};
    let (control, test) = (call(2, r#"{"a":1}"#, RESULT), call(3, r#"{"b":2}"#, RESULT));
    assert_eq!(kinds(&[&list(1), &control, &test]), [NotAsked, Fail]);
    // Without its control, the test counts as long as the server refuses nothing.
    assert_eq!(kinds(&[&list(1), &test]), [NotAsked, Fail]);
    let refused = call(3, r#"{"b":2}"#, ERROR);
    assert_eq!(kinds(&[&list(1), &refused]), [NotAsked, NotAsked]);
    let failed = call(2, r#"{"a":1}"#, ERROR);
    assert_eq!(kinds(&[&list(1), &failed, &test]), [NotAsked, NotAsked]);
}

#[test]
fn step_that_the_client_did_not_perform_is_not_asked() {
    use VerdictKind::NotAsked;
    let other = call(2, r#"{"b":3}"#, RESULT);
    for messages in [&[list(1), other].concat()[..], &call(1, r#"{"b":2}"#, RESULT), &list(1)] {
        let verdicts = verdicts(&[messages]);
        assert_eq!(verdicts, [(NotAsked, NOT_SENT.to_owned()), (NotAsked, NOT_SENT.to_owned())]);
    }
}

#[test]
fn retry_after_an_error_belongs_to_the_step() {
    let (first, again) = (call(2, r#"{"a":1}"#, ERROR), call(4, r#"{"a":1}"#, RESULT));
    let test = call(5, r#"{"b":2}"#, RESULT);
    let kinds = kinds(&[&list(1), &first, &list(3), &again, &test]);
    assert_eq!(kinds, [VerdictKind::NotAsked, VerdictKind::Fail]);
}

#[test]
fn client_of_another_revision_is_not_judged() {
    let other =
        |message: &Message| Message { text: message.text.replace("2026-07-28", "2027-01-01"), ..message.clone() };
    let messages: Vec<_> = [list(1), call(2, r#"{"b":2}"#, RESULT)].concat().iter().map(other).collect();
    assert_eq!(kinds(&[&messages]), []);
}

#[test]
fn line_before_the_first_message_belongs_to_its_session() {
    let stray = samples::message(Party::Target, "{");
    let refused =
        samples::message(Party::Harness, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#);
    let messages = [&[stray, refused][..], &list(1)].concat();
    let found = sessions(&messages, &[Revision::newest()]);
    assert_eq!(found.iter().map(|session| session.messages.len()).collect::<Vec<_>>(), [4]);
    assert_eq!(summary(&found[0]).unreadable, 1);
}
