//! Smoke checks of an adapter's client: a list, a call and an elicitation, each in a session of its own.
//!
//! Takes an adapter that has sent its hello, gives the outcome of a script of one step. Must not know the cases.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::outcome::{ANSWER, SmokeOutcome, TOOL, not_served};
use crate::drive::adapter::protocol::Adapter;
use crate::drive::client::driving::converse;
use crate::drive::client::mock::Listeners;
use crate::drive::clock::Deadline;
use crate::drive::options::Options;
use crate::drive::token::token;
use crate::model::case::{Answer, Does, Fixture, Retry, Step, Test, Then, Tool, When};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::Target;
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{Message, Party, Served};
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
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "a list",
            Self::Call => "a call",
            Self::Elicit => "an elicitation",
        })
    }
}

impl Script {
    pub(super) const ALL: [Self; 3] = [Self::List, Self::Call, Self::Elicit];

    fn when(self) -> When {
        let call = |answers| When::Call { tool: TOOL.to_owned(), arguments: None, answers, retry: Retry::default() };
        match self {
            Self::List => When::List,
            Self::Call => call(Vec::new()),
            Self::Elicit => call(vec![Answer::Accept(Template::from(&json!({ "name": "Ada" })))]),
        }
    }

    /// A plain fixture of one tool.
    fn fixture(self) -> Fixture {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let (does, body) = match self {
            Self::Elicit => (Does::Elicit, json!({ "message": "Your name?", "requestedSchema": schema })),
            Self::List | Self::Call => (Does::Return, json!({ "content": [{ "type": "text", "text": "smoke" }] })),
        };
        let definition = json!({
            "name": TOOL, "description": "A tool.", "inputSchema": { "type": "object" }, "does": { does.word(): body }
        });
        let tool = Tool { name: TOOL.to_owned(), definition: Template::from(&definition), does };
        Fixture { tools: vec![tool], ..Fixture::default() }
    }

    fn method(self) -> &'static str {
        if self == Self::List { "tools/list" } else { "tools/call" }
    }

    fn wanted(self) -> &'static str {
        match self {
            Self::List => r#"{"id":ID,"drove":{"connected":true,"steps":[{"tools":[{"name":"smoke",…}]}]}}"#,
            Self::Call => {
                r#"{"id":ID,"drove":{"connected":true,"steps":[{"result":{"content":[{"type":"text","text":"smoke"}]}}]}}"#
            }
            Self::Elicit => {
                r#"{"id":ID,"drove":{"connected":true,"steps":[{"result":{"structuredContent":{"action":"accept","content":{"name":"Ada"}},…}}]}}"#
            }
        }
    }

    /// Returns whether the SDK handed the expected value to its user.
    fn is_met(self, handed: &Value) -> bool {
        let result = &handed["result"];
        match self {
            Self::List => handed["tools"].as_array().is_some_and(|tools| tools.iter().any(|one| one["name"] == TOOL)),
            Self::Call => result["content"][0]["text"] == "smoke",
            Self::Elicit => {
                let answer = &result["structuredContent"];
                answer["action"] == "accept" && answer["content"] == json!({ "name": "Ada" })
            }
        }
    }
}

/// Drives an adapter's client through a script.
pub(super) async fn drive(
    adapter: &mut Adapter,
    target: &Target,
    script: Script,
    revision: Revision,
    transport: Transport,
) -> SmokeOutcome {
    let (planned, options) =
        (planned(script, revision, transport), Options { step_limit: ANSWER, ..Options::default() });
    let bindings = Bindings { canaries: Vec::new(), unique: token(), revision: revision.name().to_owned() };
    let variant = target.id.variant.as_deref();
    let (mut listeners, deadline) = (Listeners::default(), Deadline::within(ANSWER));
    let driven = converse(&mut listeners, adapter, variant, &planned, &bindings, deadline, &options).await;
    if driven.served != Served::Serving {
        return not_served(driven.served, script.wanted());
    }
    let step = driven.steps.first();
    let handed = step.and_then(|step| step.handed.as_deref()).unwrap_or("nothing");
    let asked = step.is_some_and(|step| step.messages.iter().any(|message| is_request(message, script.method())));
    let shown: String = handed.chars().take(SHOWN).collect();
    let got = match serde_json::from_str(handed) {
        Ok(handed) if script.is_met(&handed) && asked => return SmokeOutcome::Right,
        Ok(handed) if script.is_met(&handed) => format!("{shown}, although the client sent no {}", script.method()),
        _ => shown,
    };
    SmokeOutcome::wrong(got, script.wanted())
}

fn is_request(message: &Message, method: &str) -> bool {
    let request: Value = serde_json::from_str(&message.text).unwrap_or_default();
    message.from == Party::Target && request["method"] == method
}

fn planned(script: Script, revision: Revision, transport: Transport) -> Planned {
    let case = CaseId::new("smoke", "client");
    let id = TestId { case: case.clone(), test: TOOL.to_owned(), row: None, revision, transport };
    let steps = vec![Step { when: script.when(), then: Then::Observe, declares: None, initialized: true }];
    Planned { index: 0, id, test: Arc::new(Test::new(case, TOOL, Role::Client, script.fixture(), steps)), stdio: None }
}
