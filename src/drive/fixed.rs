//! Fixed targets: servers and clients without an adapter.
//!
//! Takes a server's connection or a client's command, gives the tools that the server lists, or the client's behaviour
//! towards a mock server, step by step. Must not know retries or the expected behaviour.

use std::time::Instant;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::drive::adapter::protocol::{Drove, Trouble, spawn};
use crate::drive::client::driving::{Driven, mock, outcome_of_script};
use crate::drive::client::mock::Listeners;
use crate::drive::client::split::begins;
use crate::drive::clock::Deadline;
use crate::drive::options::Options;
use crate::drive::process::launch::{StopReason, Stopped};
use crate::jsonrpc::message;
use crate::model::applicability::Listed;
use crate::model::callable::Callable;
use crate::model::case::{Step, Test, When};
use crate::model::target::Target;
use crate::model::template::Bindings;
use crate::model::text::shortened;
use crate::model::transcript::{Message, Party, Served};
use crate::plan::Planned;

/// The environment variable by which the official conformance suite names a client's scenario.
pub const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
/// The environment variable by which it names the client's revision.
pub const REVISION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";
/// The bytes of the names of listed tools that are shown.
const LISTED: usize = 400;
/// The number of characters of a client's last line that are shown.
const LAST_LINE: usize = 300;

/// Returns the names of the tools in the responses to `tools/list`, in the order of the pages; `None` if there is no such
/// response, or if one is no list, or has a tool whose name cannot be read.
pub(crate) fn names(messages: &[Message]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Page {
        tools: Vec<Box<RawValue>>,
    }
    #[derive(Deserialize)]
    struct Tool {
        name: String,
    }
    let came = messages.iter().filter(|message| message.from == Party::Target);
    let results = came.filter_map(|message| message::result_of(&message.text));
    let pages: Result<Vec<Page>, _> = results.map(|result| serde_json::from_str(result.get())).collect();
    let pages = pages.ok().filter(|pages| !pages.is_empty())?;
    let tools = pages.into_iter().flat_map(|page| page.tools);
    tools.map(|tool| Some(serde_json::from_str::<Tool>(tool.get()).ok()?.name)).collect()
}

/// Returns why a test cannot run on a fixed server that lists these tools, if so.
pub(crate) fn missing_tool(test: &Test, names: Option<&[String]>) -> Option<String> {
    let mut wanted = test.reach.listed().iter();
    let Some(names) = names else {
        let unknown = wanted.find(|tool| matches!(tool, Listed::Named(_)))?;
        return Some(format!("its list cannot be read, so that it may have no {unknown}"));
    };
    Some(format!("has no {}", wanted.find(|tool| !tool.is_among(names))?))
}

/// Returns why a test cannot call the tools of a fixed server that lists these tools, if so; `None` is a list that cannot
/// be read.
pub(crate) fn not_callable(test: &Test, callable: &Callable, names: Option<&[String]>) -> Option<String> {
    if let Some(name) = callable.forbidden(test, names) {
        return Some(format!("the tool `{name}` may not be called: permit it with `calls` in [claims]"));
    }
    let is_none = test.needs_permission() && names.is_some_and(|names| !names.iter().any(|name| callable.allows(name)));
    is_none.then(|| "lists no tool that may be called".to_owned())
}

/// Returns why a test that calls what the target permits cannot run on a fixed server that lists these tools: the target
/// permits a tool that is not there, so that nobody would notice that it is never called.
pub(crate) fn not_listed(test: &Test, callable: &Callable, names: &[String]) -> Option<String> {
    let mut permitted = callable.named.iter().filter(|_| test.needs_permission()).map(|one| &one.tool);
    let unknown = permitted.find(|tool| !names.contains(tool))?;
    let listed = if names.is_empty() { "none".to_owned() } else { shortened(&names.join(", "), LISTED).into_owned() };
    Some(format!("`calls` in [claims] permits the tool `{unknown}`, which the server does not list; it lists {listed}"))
}

/// Runs a client against a mock server. The scenario, and not the case, determines the client's behaviour.
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
    let mut with_variables = target.clone();
    with_variables.env.extend(test.reach.scenario().map(|name| (SCENARIO.to_owned(), name.to_owned())));
    with_variables.env.insert(REVISION.to_owned(), planned.id.revision.name().to_owned());
    let began = Instant::now();
    let (mut process, input, output) = match spawn(&with_variables, &command) {
        Ok(started) => started,
        Err(error) => {
            return Driven { served: Served::Unavailable { reason: error.to_string() }, steps: Vec::new() };
        }
    };
    // The client gets no input, and its standard output is ignored.
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
    let drove = if left { Ok(results(&test.steps, &messages, &stopped, &words)) } else { Err(Trouble::Hung.served()) };
    outcome_of_script(test, drove, messages, took)
}

/// Derives the results of a client's steps from its requests and its exit status.
fn results(steps: &[Step], messages: &[Message], stopped: &Stopped, words: &str) -> Drove {
    let error = |kind: &str, message: &str| json!({ "error": { "type": kind, "message": message } });
    let last_line: String = words.trim_end().lines().next_back().unwrap_or_default().chars().take(LAST_LINE).collect();
    let asked = begins(steps, messages);
    let last = asked.iter().rposition(Option::is_some);
    let script = steps.iter().enumerate().filter(|(_, step)| !matches!(step.when, When::Serve));
    let handed = script.map(|(place, step)| match asked[place] {
        None => error("not requested", &format!("it ended with {} and had not sent this request", stopped.how)),
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
