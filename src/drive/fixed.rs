//! Fixed targets: what nobody wrote an adapter for, as it is met.
//!
//! Takes a server's connection, or a client's command, gives the tools that the one lists and what the other did with
//! a mock server, step by step. Must not know what is tried again, nor what would have been right.

use std::time::Instant;

use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::drive::adapter::protocol::{Drove, Trouble, spawn};
use crate::drive::client::driving::{Driven, mock, outcome_of_script};
use crate::drive::client::mock::Listeners;
use crate::drive::client::split::begins;
use crate::drive::clock::Deadline;
use crate::drive::options::Options;
use crate::drive::process::launch::{StopReason, Stopped};
use crate::jsonrpc::message;
use crate::model::case::{Step, Test, When};
use crate::model::target::Target;
use crate::model::template::Bindings;
use crate::model::transcript::{Message, Party, Served};
use crate::plan::Planned;

/// By which the official suite tells a client what to do.
pub const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// By which it tells a client the revision to speak.
pub const REVISION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";
/// How many characters of a client's last line are told.
const LAST_LINE: usize = 300;

/// The names of the tools in the replies to a list, page by page; `None` where one of them is no list.
pub(crate) fn names(messages: &[Message]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Page {
        tools: Vec<Tool>,
    }
    #[derive(Deserialize)]
    struct Tool {
        name: String,
    }
    let came = messages.iter().filter(|message| message.from == Party::Target);
    let results = came.filter_map(|message| message::result_of(&message.text));
    let pages: Result<Vec<Page>, _> = results.map(|result| serde_json::from_str(result.get())).collect();
    let names = pages.ok()?.into_iter().flat_map(|page| page.tools).map(|tool| tool.name);
    Some(names.collect())
}

/// Why a fixed server that lists these tools can't be asked a test.
pub(crate) fn lacks(test: &Test, names: &[String]) -> Option<String> {
    let missing = test.reach.listed().iter().find(|tool| !tool.is_among(names))?;
    Some(format!("has no {missing}"))
}

/// Runs a client against a mock server of the test's. What it is to do is the scenario's, not the case's.
pub(crate) async fn converse(
    listeners: &mut Listeners,
    target: &Target,
    client: &[String],
    planned: &Planned,
    bindings: &Bindings,
    deadline: Deadline,
    options: &Options,
) -> Driven {
    let test = &planned.test;
    let mock = match mock(listeners, planned, bindings) {
        Ok(mock) => mock,
        Err(driven) => return driven,
    };
    let mut command = client.to_vec();
    command.push(mock.url());
    let mut told_what = target.clone();
    told_what.env.extend(test.reach.scenario().map(|name| (SCENARIO.to_owned(), name.to_owned())));
    told_what.env.insert(REVISION.to_owned(), planned.id.revision.name().to_owned());
    let began = Instant::now();
    let (mut process, input, output) = match spawn(&told_what, &command) {
        Ok(started) => started,
        Err(error) => {
            return Driven { served: Served::Unavailable { reason: error.to_string() }, steps: Vec::new() };
        }
    };
    // It is told nothing, and what it prints is for nobody.
    drop((input, output));
    let leaves = deadline.bound(process.exited(options.test_limit));
    let left = tokio::select! {
        status = leaves => status.flatten().is_some(),
        () = mock.silence(test.step_limit(options.step_limit)) => false,
    };
    let (messages, took) = (mock.take_messages(), began.elapsed());
    drop(mock);
    let stderr = process.stderr().clone();
    let stopped = process.end(if left { StopReason::Broken } else { StopReason::Hung }, async {}).await;
    let words = stderr.take();
    let drove = if left { Ok(did(&test.steps, &messages, &stopped, &words)) } else { Err(Trouble::Hung.served()) };
    outcome_of_script(test, drove, messages, took)
}

/// What a client did with the steps, as far as its requests and its exit status tell.
fn did(steps: &[Step], messages: &[Message], stopped: &Stopped, words: &str) -> Drove {
    let error = |kind: &str, message: &str| json!({ "error": { "type": kind, "message": message } });
    let last_line: String = words.trim_end().lines().next_back().unwrap_or_default().chars().take(LAST_LINE).collect();
    let asked = begins(steps, messages);
    let last = asked.iter().rposition(Option::is_some);
    let script = steps.iter().enumerate().filter(|(_, step)| !matches!(step.when, When::Serve));
    let handed = script.map(|(place, step)| match asked[place] {
        None => error("not asked", &format!("it ended with {} and had not asked for this", stopped.how)),
        Some(_) if Some(place) == last && stopped.code != Some(0) => error(&stopped.how, &last_line),
        Some(_) if matches!(step.when, When::List) => json!({ "tools": [] }),
        Some(_) => json!({ "result": { "content": [] } }),
    });
    let raw = |value: Value| to_raw_value(&value).expect("plain JSON");
    let connected = messages.iter().any(|message| message.from == Party::Target);
    Drove {
        connected,
        steps: handed.map(raw).collect(),
        error: (!connected).then(|| raw(json!({ "type": stopped.how, "message": last_line }))),
    }
}
