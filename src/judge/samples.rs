//! Samples of tests, messages and observations for unit tests.
//!
//! Takes the parts that a test is about, gives values with defaults for the others. Must not be used outside of tests.

use serde_json::Value;

use super::observe::blank;
use crate::jsonrpc::envelope::Envelope;
use crate::model::case::{Check, Does, Expectation, Fixture, Outcome, Step, Test, Then, Tool, When};
use crate::model::observation::{Observation, StepObservation};
use crate::model::record::Record;
use crate::model::spec::{Harm, Level, Requirement, Revisions, Role, Sides};
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Message, Party, Served, StepTranscript, Transcript};
use crate::model::{CaseId, RequirementId, TargetId, TestId};

pub(crate) fn id(text: &str) -> TestId {
    text.parse().expect("a test id")
}

pub(crate) fn target() -> TargetId {
    TargetId { name: "sample".into(), variant: None }
}

pub(crate) fn tool(name: &str, input: Template, does: Does) -> Tool {
    let definition = Template::Object(vec![
        ("name".into(), Template::String(name.into())),
        ("inputSchema".into(), input),
        ("does".into(), Template::Object(vec![(does.word().into(), Template::Bool(true))])),
    ]);
    Tool { name: name.into(), definition, does }
}

/// A test `f/c/t` whose tools echo.
pub(crate) fn test(tools: &[(&str, Template)], steps: Vec<(When, Then)>) -> Test {
    let tools = tools.iter().map(|(name, input)| tool(name, input.clone(), Does::Echo)).collect();
    let given = Fixture { tools, ..Fixture::default() };
    let steps = steps.into_iter().map(|(when, then)| Step { when, then, declares: None, initialized: true }).collect();
    Test { title: "A sentence".into(), ..Test::new(CaseId::new("f", "c"), "t", Role::Server, given, steps) }
}

pub(crate) fn call(tool: &str) -> When {
    When::call(tool, None, Vec::new())
}

pub(crate) fn check(requirement: &str, alternatives: Vec<Expectation>) -> Then {
    Then::Checks(vec![Check { requirement: RequirementId::within("f", requirement), line: 7, alternatives }])
}

pub(crate) fn requirement(name: &str, level: Level) -> Requirement {
    Requirement {
        id: RequirementId::within("f", name),
        level,
        roles: vec![Role::Server],
        revisions: Revisions::default(),
        source: "specification/page#anchor".into(),
        quote: "servers do as they are told".into(),
        also: Vec::new(),
        harm: Harm::None,
        short: None,
        fix: None,
        why: "It matters.".into(),
        unobservable: None,
        sides: Sides::default(),
    }
}

pub(crate) fn message(from: Party, text: &str) -> Message {
    Message::new(from, text)
}

/// A step that ends with the last of these messages of the target. A message with an id follows the request that it
/// answers.
pub(crate) fn replied(messages: &[&str]) -> StepTranscript {
    let with_request = |text: &&str| {
        let envelope = Envelope::read(text).filter(|envelope| envelope.method.is_none());
        let method = if text.contains(r#""tools":"#) { "tools/list" } else { "tools/call" };
        let id = envelope.and_then(|envelope| envelope.id);
        let request = id.map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
        [request.map(|request| message(Party::Harness, &request)), Some(message(Party::Target, text))]
    };
    let messages: Vec<_> = messages.iter().flat_map(with_request).flatten().collect();
    let end = End::Replied { message: messages.len().saturating_sub(1) };
    StepTranscript { messages, end, micros: 5, canary: Vec::new(), handed: None }
}

pub(crate) fn transcript(steps: Vec<StepTranscript>) -> Transcript {
    Transcript {
        target: target(),
        test: id("f/c/t@2026-07-28+http"),
        bindings: Bindings::default(),
        served: Served::Serving,
        opening: Vec::new(),
        steps,
        canary: Vec::new(),
        stderr: String::new(),
        leaky: false,
        micros: 5,
        stdio: None,
        process: None,
        without_proxy: None,
    }
}

/// A step with this outcome and nothing else.
pub(crate) fn step(outcome: Outcome) -> StepObservation {
    blank(outcome, 5)
}

pub(crate) fn observation(steps: Vec<StepObservation>) -> Observation {
    Observation { steps, cannot: None, unavailable: None, leaky: false, cut: 0 }
}

/// A record of a test with one step and no verdicts.
pub(crate) fn record(index: usize, test: &str, outcome: Outcome) -> Record {
    Record {
        index,
        target: target(),
        test: id(test),
        title: "A sentence".into(),
        hash: String::new(),
        observation: observation(vec![step(outcome)]),
        verdicts: Vec::new(),
        attempts: Vec::new(),
        bug: false,
        stdio: None,
        micros: 5,
    }
}

pub(crate) fn structured(value: &Value) -> String {
    serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {
        "content": [{"type": "text", "text": value.to_string()}], "structuredContent": value}})
    .to_string()
}
