//! Smoke checks of an adapter's client: lists, calls and elicitations, each script in a session of its own.
//!
//! Takes an adapter that has sent its hello, gives the outcome of a script of one or two steps. Must not know the cases.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::marker::{differences, in_words, marker, schema};
use super::outcome::{ANSWER, SmokeOutcome, TOOL, not_served};
use super::probe::METHOD;
use crate::drive::adapter::hello::Hello;
use crate::drive::adapter::protocol::Adapter;
use crate::drive::client::driving::{Driven, converse};
use crate::drive::client::mock::Listeners;
use crate::drive::clock::Deadline;
use crate::drive::options::Options;
use crate::drive::token::token;
use crate::model::case::{Answer, Change, Deviation, Does, Fixture, Method, Retry, Step, Test, Tool, When};
use crate::model::feature::Feature;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Target;
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Message, Party, Served};
use crate::model::{CaseId, TestId};
use crate::plan::Planned;

/// The number of characters of an answer that are shown.
const SHOWN: usize = 300;

/// The script of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// The client lists the tools.
    List,
    /// The client calls a tool.
    Call,
    /// The client calls a tool that elicits an answer, and answers.
    Elicit,
    /// The client lists a tool and calls it; tool, arguments and result have unusual values.
    Marker,
    /// The client calls such a tool twice, and has one answer.
    UsedUp,
    /// The client begins two calls before one has ended.
    CallTools,
    /// The client sends a request for a method that no revision knows.
    Request,
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "a list",
            Self::Call => "a call",
            Self::Elicit => "an elicitation",
            Self::Marker => "a list and a call with unusual values",
            Self::UsedUp => "two elicitations and one answer",
            Self::CallTools => "two calls at once",
            Self::Request => "a request for a method that no revision knows",
        })
    }
}

impl Script {
    /// The scripts for an adapter with this hello.
    pub(super) fn all(hello: &Hello) -> impl Iterator<Item = Self> {
        let all = [Self::List, Self::Call, Self::Elicit, Self::Marker, Self::UsedUp];
        let later = [(Feature::CallTools, Self::CallTools), (Feature::Request, Self::Request)];
        let later = later.into_iter().filter(|(feature, _)| hello.has(*feature));
        all.into_iter().chain(later.map(|(_, script)| script))
    }

    /// Returns whether the script is one of those that the others depend on.
    pub(super) fn is_plain(self) -> bool {
        !matches!(self, Self::Marker | Self::UsedUp | Self::CallTools | Self::Request)
    }

    fn steps(self) -> Vec<When> {
        let call = |arguments, answers| When::call(TOOL, arguments, answers);
        let beside = || When::Call {
            tool: TOOL.to_owned(),
            arguments: None,
            answers: Vec::new(),
            retry: Retry::default(),
            parallel: true,
        };
        let answer = || vec![Answer::Accept(Template::from(&json!({ "name": "Ada" })))];
        match self {
            Self::List => vec![When::List],
            Self::Call => vec![call(None, Vec::new())],
            Self::Elicit => vec![call(None, answer())],
            Self::Marker => vec![When::List, call(Some(Template::from(&marker())), Vec::new())],
            Self::UsedUp => vec![call(None, answer()), call(None, Vec::new())],
            Self::CallTools => vec![call(None, Vec::new()), beside()],
            Self::Request => {
                let message = Template::from(&json!({ "method": METHOD, "params": { "name": "Ada" } }));
                vec![When::Send { message, headers: Vec::new() }]
            }
        }
    }

    /// A fixture of one tool.
    fn fixture(self) -> Fixture {
        let (does, body) = match self {
            Self::Elicit | Self::UsedUp => {
                let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
                (Does::Elicit, json!({ "message": "Your name?", "requestedSchema": schema }))
            }
            Self::List | Self::Call | Self::CallTools | Self::Request => {
                (Does::Return, json!({ "content": [{ "type": "text", "text": "smoke" }] }))
            }
            Self::Marker => (Does::Return, marked_result()),
        };
        let mut definition = match self {
            Self::Marker => marked_tool(),
            _ => json!({ "name": TOOL, "description": "A tool.", "inputSchema": { "type": "object" } }),
        };
        definition["does"] = json!({ does.word(): body });
        let tool = Tool { name: TOOL.to_owned(), definition: Template::from(&definition), does };
        let meta = || Deviation {
            method: "tools/call".to_owned(),
            times: None,
            change: Change::Set { at: "/result/_meta".to_owned(), value: Template::from(&meta("result")) },
        };
        let deviations = if self == Self::Marker { vec![meta()] } else { Vec::new() };
        let method = || Method { name: METHOD.to_owned(), replies: vec![Template::from(&json!({ "echo": true }))] };
        let methods = if self == Self::Request { vec![method()] } else { Vec::new() };
        Fixture { tools: vec![tool], methods, deviations, ..Fixture::default() }
    }

    fn method(self) -> &'static str {
        match self {
            Self::List | Self::Marker => "tools/list",
            Self::Request => METHOD,
            Self::Call | Self::Elicit | Self::UsedUp | Self::CallTools => "tools/call",
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::List => r#"{"id":ID,"drove":{"connected":true,"steps":[{"tools":[{"name":"smoke",…}]}]}}"#,
            Self::CallTools => {
                r#"{"id":ID,"drove":{"connected":true,"steps":[{"results":[{"result":{…}},{"result":{…}}]}]}}"#
            }
            Self::Call => {
                r#"{"id":ID,"drove":{"connected":true,"steps":[{"result":{"content":[{"type":"text","text":"smoke"}]}}]}}"#
            }
            Self::Elicit | Self::UsedUp => {
                r#"{"id":ID,"drove":{"connected":true,"steps":[{"result":{"structuredContent":{"action":"accept","content":{"name":"Ada"}},…}},…]}}"#
            }
            Self::Marker => {
                r#"{"id":ID,"drove":{"connected":true,"steps":[{"tools":[{"name":"smoke",…}]},{"result":{…}}]}}"#
            }
            Self::Request => r#"{"id":ID,"drove":{"connected":true,"steps":[{"result":{"params":{"name":"Ada"},…}}]}}"#,
        }
    }

    /// Returns whether the SDK handed the expected value to its user.
    fn is_met(self, handed: &Value) -> bool {
        let result = &handed["result"];
        match self {
            Self::List | Self::Marker => {
                handed["tools"].as_array().is_some_and(|tools| tools.iter().any(|one| one["name"] == TOOL))
            }
            Self::Call | Self::CallTools => result["content"][0]["text"] == "smoke",
            Self::Request => result["params"] == json!({ "name": "Ada" }),
            Self::Elicit | Self::UsedUp => {
                let answer = &result["structuredContent"];
                answer["action"] == "accept" && answer["content"] == json!({ "name": "Ada" })
            }
        }
    }
}

/// The tool of the marker, with members that a client passes on to its user.
fn marked_tool() -> Value {
    json!({
        "name": TOOL,
        "title": "A tool with a title",
        "description": "",
        "inputSchema": schema(),
        "outputSchema": { "type": "object" },
        "annotations": { "title": "A title", "readOnlyHint": true },
        "_meta": meta("tool")
    })
}

/// The result of the marker, apart from its `_meta`.
fn marked_result() -> Value {
    let annotations = json!({ "audience": ["user"], "priority": 0.5 });
    let text = json!({ "type": "text", "text": "", "annotations": annotations, "_meta": meta("content") });
    json!({ "content": [text], "structuredContent": marker() })
}

fn meta(place: &str) -> Value {
    json!({ "casebook/marker": place })
}

/// Drives an adapter's client through a script. Also returns whether the adapter may still be occupied with it.
pub(super) async fn drive(
    adapter: &mut Adapter,
    target: &Target,
    script: Script,
    revision: Revision,
    transport: Transport,
) -> (SmokeOutcome, bool) {
    let (planned, options) =
        (planned(script, revision, transport), Options { step_limit: ANSWER, ..Options::default() });
    let bindings = Bindings { canaries: Vec::new(), unique: token(), revision: revision.name().to_owned() };
    let variant = target.id.variant.as_deref();
    let (mut listeners, deadline) = (Listeners::default(), Deadline::within(ANSWER));
    let driven = converse(&mut listeners, adapter, variant, &planned, &bindings, deadline, &options).await;
    let is_lost = matches!(driven.served, Served::Failed { .. });
    (outcome(script, driven), is_lost)
}

fn outcome(script: Script, driven: Driven) -> SmokeOutcome {
    if script == Script::UsedUp && matches!(driven.served, Served::Failed { end: End::Timeout, .. }) {
        // The plain elicitation has shown that the adapter answers in time.
        let wanted = "an error for the server and for the user, because the handler fails".to_owned();
        return SmokeOutcome::Odd { got: "no end of the second call within the time limit".to_owned(), wanted };
    }
    if driven.served != Served::Serving {
        return not_served(driven.served, script.wanted());
    }
    let step = driven.steps.first();
    let handed = step.and_then(|step| step.handed.as_deref()).unwrap_or("nothing");
    let messages = || step.iter().flat_map(|step| &step.messages);
    let asked = messages().any(|message| is_request(message, script.method()));
    let shown: String = handed.chars().take(SHOWN).collect();
    let value: Value = serde_json::from_str(handed).unwrap_or_default();
    match (script.is_met(&value), asked) {
        (true, true) => {}
        (true, false) => {
            let got = format!("{shown}, although the client sent no {}", script.method());
            return SmokeOutcome::wrong(got, script.wanted());
        }
        // The mock server refuses an invalid request, which the SDK may have written.
        (false, true) if let Some(refused) = messages().find(|message| is_refusal(message)) => {
            let got = format!("{shown}; the server refused the request: {}", refused.text);
            return SmokeOutcome::Odd { got, wanted: script.wanted().to_owned() };
        }
        // The list and the call have shown that the adapter reports results; an SDK may not find the question.
        (false, true) if matches!(script, Script::Elicit | Script::UsedUp) && value["error"].is_object() => {
            return SmokeOutcome::Odd { got: shown, wanted: script.wanted().to_owned() };
        }
        (false, _) => return SmokeOutcome::wrong(shown, script.wanted()),
    }
    match script {
        Script::CallTools if driven.steps.len() < 2 => SmokeOutcome::wrong(shown, script.wanted()),
        Script::List | Script::Call | Script::Elicit | Script::CallTools | Script::Request => SmokeOutcome::Right,
        Script::Marker => unchanged(&driven, &value),
        Script::UsedUp => without_answer(&driven),
    }
}

/// Checks that tool, arguments and result were passed on without a change.
fn unchanged(driven: &Driven, tools: &Value) -> SmokeOutcome {
    let of = |what: &str, sent: &Value, received: &Value| -> Vec<String> {
        differences(sent, received).iter().map(|one| format!("{what}: {one}")).collect()
    };
    let tool = tools["tools"].as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == TOOL));
    let mut found = of("the tool", &marked_tool(), tool.unwrap_or(&Value::Null));
    let step = driven.steps.get(1);
    let call = step.and_then(|step| step.messages.iter().find(|message| is_request(message, "tools/call")));
    let call: Value = call.and_then(|call| serde_json::from_str(&call.text).ok()).unwrap_or_default();
    found.extend(of("the arguments", &marker(), &call["params"]["arguments"]));
    let handed = step.and_then(|step| step.handed.as_deref()).unwrap_or("nothing");
    let handed: Value = serde_json::from_str(handed).unwrap_or_default();
    if handed["result"].is_object() {
        let mut sent = marked_result();
        sent["_meta"] = meta("result");
        // Members that only one revision has, and that an SDK fills in.
        let is_own =
            |one: &String| !["resultType", "isError"].iter().any(|name| one.ends_with(&format!("adds /{name}")));
        found.extend(of("the result", &sent, &handed["result"]).into_iter().filter(is_own));
    } else {
        found.push(format!("no result: {}", handed.to_string().chars().take(SHOWN).collect::<String>()));
    }
    if found.is_empty() {
        return SmokeOutcome::Right;
    }
    SmokeOutcome::Odd { got: in_words(&found), wanted: "tool, arguments and result, without a change".to_owned() }
}

/// Checks that the server got no answer to the second elicitation.
fn without_answer(driven: &Driven) -> SmokeOutcome {
    let messages = driven.steps.iter().flat_map(|step| &step.messages).filter(|one| one.from == Party::Target);
    let answers: Vec<_> = messages.filter_map(|message| action(&message.text)).collect();
    let wanted = "an error, because the handler of the client fails when its list of answers is used up";
    match answers.get(1).map(String::as_str) {
        None => SmokeOutcome::Right,
        Some("accept") => SmokeOutcome::wrong("a second \"accept\", which nobody gave", wanted),
        Some(other) => SmokeOutcome::Odd { got: format!("the second answer \"{other}\""), wanted: wanted.to_owned() },
    }
}

/// The action of an answer to an elicitation, in either lifecycle.
fn action(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).ok()?;
    let by_key = message["params"]["inputResponses"].as_object().and_then(|answers| answers.values().next());
    let answer = by_key.unwrap_or(&message["result"]);
    answer["action"].as_str().map(str::to_owned)
}

fn is_request(message: &Message, method: &str) -> bool {
    let request: Value = serde_json::from_str(&message.text).unwrap_or_default();
    message.from == Party::Target && request["method"] == method
}

/// Returns whether casebook answered with an error.
fn is_refusal(message: &Message) -> bool {
    let response: Value = serde_json::from_str(&message.text).unwrap_or_default();
    message.from != Party::Target && response["error"].is_object()
}

fn planned(script: Script, revision: Revision, transport: Transport) -> Planned {
    let case = CaseId::new("smoke", "client");
    let id = TestId { case: case.clone(), test: TOOL.to_owned(), row: None, revision, transport };
    let step = Step::observe;
    let steps = script.steps().into_iter().map(step).collect();
    Planned { index: 0, id, test: Arc::new(Test::new(case, TOOL, Role::Client, script.fixture(), steps)), stdio: None }
}
