//! A client under test, driven through a test against its own mock server.
//!
//! Takes an adapter and a test, gives the messages, and the values that the SDK handed to its user, step by step. Must
//! not know retries or the expected behaviour.

use std::io;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::split::{groups, split};
use crate::drive::adapter::protocol::{Adapter, Drove, Trouble};
use crate::drive::canary::Canaries;
use crate::drive::client::mock::{Listeners, Mock};
use crate::drive::clock::Deadline;
use crate::drive::options::Options;
use crate::jsonrpc::text::{object, quoted};
use crate::model::case::{Answer, Step, Test, When};
use crate::model::spec::{Revision, Role, Transport};
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Message, Phase, Served, StepTranscript};
use crate::plan::Planned;

/// The result of a test of a client.
#[derive(Debug)]
pub(crate) struct Driven {
    pub(crate) served: Served,
    pub(crate) steps: Vec<StepTranscript>,
}

/// Records requests for the canaries while a client is driven through a test.
pub(crate) async fn with_canaries(canaries: &Canaries, driving: impl Future<Output = Driven>) -> Driven {
    canaries.phase(Phase::Step);
    let mut driven = driving.await;
    for step in &mut driven.steps {
        step.canary = canaries.hits();
    }
    driven
}

/// Starts the mock server for a client. Without one, returns the result of the test.
pub(crate) fn mock(listeners: &mut Listeners, planned: &Planned, bindings: &Bindings) -> Result<Mock, Driven> {
    let revision = planned.test.given.revision.unwrap_or(planned.id.revision);
    let served = Mock::serve(listeners, &planned.test, bindings, revision);
    served.map_err(|error| unavailable(format!("the mock server cannot open a port: {error}")))
}

fn unavailable(reason: String) -> Driven {
    Driven { served: Served::Unavailable { reason }, steps: Vec::new() }
}

/// Drives a client through a test.
pub(crate) async fn converse(
    listeners: &mut Listeners,
    adapter: &mut Adapter,
    variant: Option<&str>,
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
    let began = Instant::now();
    let server = match place(&mock, planned.id.transport, &options.program) {
        Ok(place) => address(planned.id.transport, &place),
        Err(error) => return unavailable(format!("the mock server cannot write the file for its relay: {error}")),
    };
    let order = order(planned, variant, bindings, server);
    let drove = tokio::select! {
        drove = adapter.drive(&order, deadline) => drove,
        // The whole script is one request to the adapter, so that only the messages show a step that takes too long.
        () = mock.silence(test.step_limit(options.step_limit)) => Err(Trouble::Hung.served()),
    };
    let (messages, took) = (mock.take_messages(), began.elapsed());
    drop(mock);
    outcome_of_script(test, drove, messages, took)
}

/// Returns the URL of the server, or the words of the command that the client launches.
pub(crate) fn place(mock: &Mock, transport: Transport, program: &Utf8Path) -> io::Result<Vec<String>> {
    Ok(match transport {
        Transport::Http => vec![mock.url()],
        Transport::Stdio => vec![program.to_string(), "__relay".to_owned(), mock.relay()?.to_string()],
    })
}

/// Returns the member of the `drive` object that names the server.
pub(crate) fn address(transport: Transport, place: &[String]) -> (&'static str, String) {
    let words: Vec<_> = place.iter().map(|word| quoted(word)).collect();
    match transport {
        Transport::Http => ("url", words.join("")),
        Transport::Stdio => ("command", format!("[{}]", words.join(","))),
    }
}

/// Returns the `drive` object.
pub(crate) fn order(
    planned: &Planned,
    variant: Option<&str>,
    bindings: &Bindings,
    server: (&'static str, String),
) -> String {
    let steps = &planned.test.steps;
    let mut members = vec![("revision", quoted(planned.id.revision.name()))];
    members.extend(variant.map(|variant| ("variant", quoted(variant))));
    // The client of a pair begins with its own revision, unless the server is older.
    let negotiates = |server: &Revision| planned.test.role == Role::Client || *server < planned.id.revision;
    members.extend(planned.test.given.revision.filter(negotiates).map(|_| ("negotiate", "true".to_owned())));
    members.push(server);
    let answers: Vec<_> = steps.iter().flat_map(answers).filter_map(|one| answer(one, bindings)).collect();
    // Without answers, the client declares no elicitation.
    members.extend((!answers.is_empty()).then(|| ("answers", format!("[{}]", answers.join(",")))));
    let declares = steps.iter().find_map(|step| step.declares.as_ref());
    members.extend(declares.map(|declares| ("declares", declares.render(bindings))));
    members.extend(planned.test.request_timeout.map(|limit| ("requestTimeout", limit.to_string())));
    let script: Vec<_> = groups(steps).filter_map(|group| scripted_group(group, bindings)).collect();
    members.push(("script", format!("[{}]", script.join(","))));
    object(members)
}

fn answers(step: &Step) -> &[Answer] {
    match &step.when {
        When::Call { answers, .. } => answers,
        _ => &[],
    }
}

/// Returns the answer of the client's handler; `None` for an answer that only a raw client can give.
fn answer(answer: &Answer, bindings: &Bindings) -> Option<String> {
    Some(match answer {
        Answer::Accept(content) => object([("accept", content.render(bindings))]),
        Answer::AcceptAlone => quoted("accept"),
        Answer::AcceptAsPresented => object([("accept", quoted("as presented"))]),
        Answer::Decline => quoted("decline"),
        Answer::Cancel => quoted("cancel"),
        Answer::Raw(_) | Answer::Error { .. } => return None,
    })
}

/// Returns a step of the script for one step, or for several whose calls begin at the same time.
fn scripted_group(steps: &[Step], bindings: &Bindings) -> Option<String> {
    match steps {
        [one] => scripted(&one.when, bindings),
        together => {
            let calls = together.iter().filter_map(|step| called(&step.when, bindings));
            Some(object([("callTools", format!("[{}]", calls.collect::<Vec<_>>().join(",")))]))
        }
    }
}

/// Returns a step of the script; `None` for a step without an action of the client's user.
pub(crate) fn scripted(when: &When, bindings: &Bindings) -> Option<String> {
    match when {
        When::List => Some(object([("listTools", "{}".to_owned())])),
        When::Call { .. } => called(when, bindings).map(|call| object([("callTool", call)])),
        When::Send { message, .. } => Some(object([("request", message.render(bindings))])),
        When::Serve
        | When::CallEach { .. }
        | When::AtOnce(_)
        | When::Cancel { .. }
        | When::Bare { .. }
        | When::EndInput => None,
    }
}

/// Returns the name and the arguments of a call.
fn called(when: &When, bindings: &Bindings) -> Option<String> {
    let When::Call { tool, arguments, .. } = when else { return None };
    let arguments = arguments.as_ref().filter(|arguments| **arguments != Template::Absent);
    let arguments = arguments.map(|arguments| ("arguments", arguments.render(bindings)));
    Some(object([("name", quoted(tool))].into_iter().chain(arguments)))
}

/// An error, as an adapter describes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Described {
    r#type: String,
    message: String,
}

/// Combines the adapter's answer with the messages.
pub(crate) fn outcome_of_script(
    test: &Test,
    drove: Result<Drove, Served>,
    messages: Vec<Message>,
    took: Duration,
) -> Driven {
    let drove = drove.and_then(|drove| whole(test, drove));
    let handed = match &drove {
        Ok((drove, handed)) if drove.connected => handed.clone(),
        _ => Vec::new(),
    };
    let (served, connected) = match drove {
        Ok((drove, _)) if drove.connected => (Served::Serving, true),
        Ok((drove, _)) => (refused(drove.error.as_deref()), false),
        Err(served) => (served, false),
    };
    // The failure is the end of each step: without the adapter's answer, the step that failed is unknown.
    let end = if let Served::Failed { end, .. } = &served { end.clone() } else { End::Empty };
    let mut handed = handed.into_iter();
    let mut steps = Vec::new();
    for (step, (messages, micros)) in test.steps.iter().zip(split(&test.steps, messages, took)) {
        let serves = matches!(step.when, When::Serve);
        let handed = if serves || !connected { None } else { handed.next() };
        let end = match &handed {
            Some(_) => End::Handed,
            None if serves && connected => End::Accepted,
            // A script that ended early has no further steps.
            None if connected => break,
            None => end.clone(),
        };
        steps.push(StepTranscript { messages, end, micros, canary: Vec::new(), handed });
    }
    Driven { served, steps }
}

/// Checks that each step of the script has a result, or that there is an error that explains the missing ones. Returns
/// the values that the SDK handed to its user, step by step. If the script ended early, the last value is its error.
fn whole(test: &Test, drove: Drove) -> Result<(Drove, Vec<String>), Served> {
    let nonsense = |reason: String| Trouble::Nonsense(reason).served();
    let asks = |group: &&[Step]| !matches!(group, [one] if matches!(one.when, When::Serve));
    let script: Vec<_> = groups(&test.steps).filter(asks).collect();
    let (answered, broke_off) = (drove.steps.len(), drove.error.is_some() || !drove.connected);
    if answered != script.len() && !(answered < script.len() && broke_off) {
        return Err(nonsense(format!("it answered {answered} steps of a script of {}", script.len())));
    }
    let mut handed = Vec::new();
    for (group, answer) in script.iter().zip(&drove.steps) {
        if group.len() == 1 {
            handed.push(answer.get().to_owned());
            continue;
        }
        let Results { results } = serde_json::from_str(answer.get()).unwrap_or_default();
        if results.len() != group.len() {
            return Err(nonsense(format!("it answered {} of {} calls of `callTools`", results.len(), group.len())));
        }
        handed.extend(results.into_iter().map(|result| result.get().to_owned()));
    }
    handed.extend(drove.error.iter().map(|error| object([("error", error.get().to_owned())])));
    Ok((drove, handed))
}

/// The answer to a step with several calls.
#[derive(Default, Deserialize)]
struct Results {
    results: Vec<Box<RawValue>>,
}

fn refused(error: Option<&RawValue>) -> Served {
    let described: Option<Described> = error.and_then(|error| serde_json::from_str(error.get()).ok());
    let Described { r#type, message } = described.unwrap_or_default();
    Served::Refused { r#type, message }
}

#[cfg(test)]
mod tests;
