//! A server that validates nothing: it lists what it is given, asks what it is told to ask, and returns the arguments of
//! each call.
//!
//! Takes a test, gives recorded steps. Must not know the checks.

use serde_json::{Value, json};

use crate::model::case::{Step, Test, When};
use crate::model::spec::Lifecycle;
use crate::model::template::Template;
use crate::model::transcript::{End, Message, Party, StepTranscript, Transcript};

/// The steps of a server that lists what it is given and returns the arguments of each call, valid or not.
pub(super) fn steps(test: &Test, whole: &Transcript) -> Vec<StepTranscript> {
    let render = |template: &Template| template.value(&whole.bindings).unwrap_or_default();
    let is_stateless = whole.test.revision.facts().lifecycle == Lifecycle::Stateless;
    let from = |from: Party, text: &Value| Message {
        status: (from == Party::Target).then_some(200),
        ..Message::new(from, text.to_string())
    };
    let step = |(place, step): (usize, &Step)| {
        let id = place + 1;
        let result_of = |mut result: Value, kind: &str| {
            if is_stateless {
                result["resultType"] = json!(kind);
            }
            from(Party::Target, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
        };
        let request =
            |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut messages = Vec::new();
        if let When::Call { tool, arguments, .. } = &step.when {
            let arguments = arguments.as_ref().map_or_else(|| json!({}), render);
            messages
                .push(from(Party::Harness, &request("tools/call", json!({ "name": tool, "arguments": arguments }))));
            let asks = test.given.tool(tool).and_then(|tool| tool.definition.get("does")?.get("elicit")).map(render);
            match asks {
                Some(asks) if is_stateless => {
                    let asks = json!({ "method": "elicitation/create", "params": asks });
                    messages.push(result_of(json!({ "inputRequests": { "ask": asks } }), "input_required"));
                }
                asks => {
                    let asks = asks.map(|asks| from(Party::Target, &request("elicitation/create", asks)));
                    messages.extend(asks);
                    let text = json!([{ "type": "text", "text": arguments.to_string() }]);
                    let result = json!({ "content": text, "structuredContent": arguments });
                    messages.push(result_of(result, "complete"));
                }
            }
        } else {
            let tools = test.given.tools.iter().map(|tool| {
                let mut tool = render(&tool.definition);
                tool.as_object_mut().map(|members| members.remove("does"));
                tool
            });
            messages.push(from(Party::Harness, &request("tools/list", json!({}))));
            messages.push(result_of(json!({ "tools": tools.collect::<Vec<_>>() }), "complete"));
        }
        let end = End::Replied { message: messages.len() - 1 };
        StepTranscript { messages, end, micros: 1, canary: Vec::new(), handed: None }
    };
    test.steps.iter().enumerate().map(step).collect()
}
