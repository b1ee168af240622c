//! The survey of a server: one connection for each revision, before the first test.
//!
//! Takes a server without a fixture, gives the revisions, capabilities and tools that it declares. Sends only
//! `initialize`, `server/discover` and `tools/list`. Must not know cases or the expected behaviour.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::drive::adapter::protocol::with_stderr;
use crate::drive::canary::Canaries;
use crate::drive::clock::Deadline;
use crate::drive::fixed;
use crate::drive::process::launch::StopReason;
use crate::drive::server::exchange::Exchange;
use crate::drive::server::fixture::ServedFixture;
use crate::drive::server::refusal;
use crate::jsonrpc::nesting;
use crate::model::case::{Step, When};
use crate::model::spec::{Lifecycle, Revision};
use crate::model::survey::{Declared, Survey};
use crate::model::target::{Fixed, Target, TargetKind};
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Message, Party};

/// The shortest time for the answer on a further revision. Some servers ignore what they do not know.
const FURTHER: Duration = Duration::from_secs(3);
/// The number of times of the first answer that a further answer may take.
const TIMES: u32 = 3;
/// The number of characters of a name or a message of the server that are kept.
const SHOWN: usize = 200;
/// The number of names of capabilities and revisions that are kept.
const NAMES: usize = 40;

/// The reason why a server cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurveyError {
    /// The server cannot be reached, or does not speak the protocol.
    #[error("{0}")]
    Unusable(String),
    /// The server speaks only revisions that casebook does not test.
    #[error("{0}")]
    NoRevision(String),
}

/// The answer of a server on one revision.
enum Answer {
    Declares(Option<(String, String)>, Declared, Vec<String>),
    /// The server names other revisions, or returns an error.
    Declines(Vec<String>, Option<String>),
}

/// The reason why there is no answer.
struct Unanswered {
    why: String,
    /// Set if the time for the answer was over.
    is_late: bool,
}

impl Unanswered {
    fn now(why: String) -> Self {
        Self { why, is_late: false }
    }
}

/// Asks a server for its declarations on these revisions.
///
/// # Errors
/// [`SurveyError`] if it does not answer within the limit, or supports none of the revisions.
pub async fn survey(target: &Target, wanted: &[Revision], limit: Duration) -> Result<Survey, SurveyError> {
    let TargetKind::Fixed(server) = &target.drives else {
        return Err(SurveyError::Unusable("a target with an adapter declares its claims in target.toml".to_owned()));
    };
    // A server of an older revision may ignore requests without `initialize`, but any server answers that.
    let is_stateful = |revision: &&Revision| revision.facts().lifecycle == Lifecycle::Stateful;
    let Some(first) = wanted.iter().filter(is_stateful).max().or(wanted.iter().max()).copied() else {
        return Err(SurveyError::NoRevision("no revision was selected".to_owned()));
    };
    let began = Instant::now();
    let answer = ask(target, server, first, Deadline::within(limit)).await;
    let answer = answer.map_err(|unanswered| SurveyError::Unusable(unanswered.why))?;
    let further = FURTHER.max(began.elapsed().saturating_mul(TIMES)).min(limit);
    let mut answers = BTreeMap::from([(first, Ok(answer))]);
    let others = wanted
        .iter()
        .filter(|revision| **revision != first)
        .map(|revision| async { (*revision, ask(target, server, *revision, Deadline::within(further)).await) });
    for (revision, answer) in join_all(others).await {
        // Servers that share a file or a port can fail beside each other. Waiting a second time is of no use.
        let is_again = matches!(&answer, Err(unanswered) if !unanswered.is_late);
        let answer = if is_again { ask(target, server, revision, Deadline::within(further)).await } else { answer };
        answers.insert(revision, answer);
    }
    summed(answers, wanted)
}

fn summed(answers: BTreeMap<Revision, Result<Answer, Unanswered>>, wanted: &[Revision]) -> Result<Survey, SurveyError> {
    let (mut survey, mut why) = (Survey::default(), None);
    for (revision, answer) in answers {
        match answer {
            Ok(Answer::Declares(server, declared, others)) => {
                survey.server = server.or(survey.server);
                survey.others.extend(others);
                survey.revisions.insert(revision, declared);
            }
            Ok(Answer::Declines(others, error)) => {
                survey.others.extend(others);
                why = error.or(why);
            }
            Err(error) => {
                survey.unanswered.push(revision);
                why = Some(error.why);
            }
        }
    }
    let known: Vec<_> = Revision::all().map(Revision::name).collect();
    survey.others.retain(|one| !one.is_empty() && !known.contains(&one.as_str()));
    survey.others.sort();
    survey.others.dedup();
    survey.others.truncate(NAMES);
    if !survey.revisions.is_empty() {
        return Ok(survey);
    }
    let tested = wanted.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
    Err(SurveyError::NoRevision(if survey.others.is_empty() {
        let why = why.map_or_else(String::new, |why| format!("; {why}"));
        format!("it declares none of the revisions {tested}{why}")
    } else {
        format!("it declares only {}, and casebook tests {tested}", survey.others.join(", "))
    }))
}

/// Asks a server for its declarations on one revision, on a connection of its own.
async fn ask(target: &Target, server: &Fixed, revision: Revision, deadline: Deadline) -> Result<Answer, Unanswered> {
    let connected = ServedFixture::connect(target, server, revision, Bindings::default());
    let mut fixture = connected.map_err(|error| Unanswered::now(error.to_string()))?;
    let answer = declared(&mut fixture, server, revision, deadline).await;
    let stderr = fixture.stderr().clone();
    let reason = if answer.is_ok() { StopReason::Finished } else { StopReason::Hung };
    fixture.stop(&mut None, reason).await;
    answer.map_err(|it| Unanswered { why: format!("{}{}", it.why, with_stderr(&stderr.take())), ..it })
}

async fn declared(
    fixture: &mut ServedFixture,
    server: &Fixed,
    revision: Revision,
    deadline: Deadline,
) -> Result<Answer, Unanswered> {
    let canaries = Canaries::default();
    let list = Step::observe(When::List);
    let (method, exchange) = match revision.facts().lifecycle {
        Lifecycle::Stateful => ("initialize", fixture.open(&list, &canaries, deadline).await),
        Lifecycle::Stateless => {
            let message = Template::from(&json!({ "method": "server/discover", "params": {} }));
            let discover = Step::observe(When::Send { message, headers: Vec::new() });
            ("server/discover", fixture.step(&discover, &canaries, deadline).await)
        }
    };
    let result = match result(&exchange, server, method)? {
        Ok(result) => result,
        Err(error) => return Ok(Answer::Declines(Vec::new(), Some(error))),
    };
    let versions = match revision.facts().lifecycle {
        Lifecycle::Stateful => vec![text(&result["protocolVersion"])],
        Lifecycle::Stateless => match result["supportedVersions"].as_array() {
            Some(versions) if !versions.is_empty() => versions.iter().take(NAMES).map(text).collect(),
            // A result that names no version is one to test.
            _ => vec![revision.name().to_owned()],
        },
    };
    if !versions.iter().any(|version| version == revision.name()) {
        return Ok(Answer::Declines(versions, None));
    }
    let capabilities = result["capabilities"].as_object().into_iter().flatten();
    let capabilities = capabilities.take(NAMES).map(|(name, _)| cut(name)).collect();
    let mut declared = Declared { capabilities, tools: None };
    // A server may have tools and not declare them, which is a fault; one without tools returns an error.
    let has_declared = declared.has_tools();
    let patience = if has_declared { deadline } else { deadline.narrowed(FURTHER) };
    let exchange = fixture.step(&list, &canaries, patience).await;
    match exchange.end {
        // Beside a stray response, a list proves nothing.
        End::Replied { .. } => declared.tools = fixed::names(&exchange.messages),
        End::Timeout if has_declared => {
            let unanswered = self::result(&exchange, server, "tools/list").err();
            return Err(unanswered.unwrap_or_else(|| too_late("tools/list")));
        }
        _ => {}
    }
    Ok(Answer::Declares(named(&result), declared, versions))
}

/// Returns the result of a request, or the error that the server returned.
///
/// # Errors
/// The reason why there is neither.
fn result(exchange: &Exchange, server: &Fixed, method: &str) -> Result<Result<Value, String>, Unanswered> {
    let has_headers = matches!(server, Fixed::Running(endpoint) if !endpoint.headers.is_empty());
    if let Some(words) = refusal::of_replies(&exchange.messages, has_headers) {
        return Err(Unanswered::now(words));
    }
    let from = |party| exchange.messages.iter().filter(move |message| message.from == party);
    let read = |message: &Message| nesting::read::<Value>(message.text.as_bytes()).ok();
    let asked = from(Party::Harness).find_map(read).map(|request| request["id"].clone());
    // Only the response to the request counts: a server may respond to the notification after it too.
    let is_own = |answer: &Value| Some(&answer["id"]) == asked.as_ref();
    let mut came = from(Party::Target).filter_map(read);
    if let Some(mut answer) = came.clone().find(|answer| is_own(answer) && answer.get("result").is_some()) {
        return Ok(Ok(answer["result"].take()));
    }
    // The error of a server that could not read the request has no id.
    let is_error = |answer: &Value| answer["error"].is_object() && (is_own(answer) || answer["id"].is_null());
    if let Some(error) = came.find(is_error) {
        let words = text(&error["error"]["message"]);
        return Ok(Err(format!("it answers `{method}` with the error {}: {words}", error["error"]["code"])));
    }
    let is_line = |message: &&Message| message.status.is_none() && read(message).is_none();
    let line = from(Party::Target).find(is_line).map(|line| line.text.trim_end());
    let line = line.map(no_message).unwrap_or_default();
    let why = match &exchange.end {
        End::Timeout if line.is_empty() => return Err(too_late(method)),
        End::Timeout => {
            return Err(Unanswered { why: format!("it did not answer `{method}`{line}"), is_late: true });
        }
        End::Crash { how } => match server {
            Fixed::Running(_) => how.clone(),
            Fixed::Server(_) | Fixed::Client(_) => format!("it ended before it answered `{method}`: {how}{line}"),
        },
        End::Http { status } => format!("it answers `{method}` with HTTP {status} and without an MCP message"),
        End::Invalid { reason } => format!("it does not answer `{method}` with MCP: {reason}{line}"),
        End::Oversized => format!("its answer to `{method}` is larger than casebook reads"),
        _ => format!("it does not answer `{method}`"),
    };
    Err(Unanswered::now(why))
}

/// Returns the words about a line of a server's standard output that is no message.
fn no_message(line: &str) -> String {
    let is_cut = serde_json::from_str::<IgnoredAny>(line).is_err_and(|error| error.is_eof());
    let remedy = if line.to_ascii_lowercase().starts_with("content-length:") {
        "MCP has each message on a line of its own, without headers"
    } else if is_cut {
        "messages \"MUST NOT contain embedded newlines\""
    } else {
        "a server \"MUST NOT write anything to its `stdout` that is not a valid MCP message\""
    };
    format!("; its standard output has the line `{}`: {remedy}", cut(line))
}

fn too_late(method: &str) -> Unanswered {
    let why = format!(
        "it did not answer `{method}` within the time limit; if it needs longer to start, add --limit start=2m"
    );
    Unanswered { why, is_late: true }
}

/// Returns the name and the version that a server gives itself.
fn named(result: &Value) -> Option<(String, String)> {
    let places = [&result["serverInfo"], &result["_meta"]["io.modelcontextprotocol/serverInfo"]];
    let info = places.into_iter().find(|info| info["name"].is_string())?;
    Some((text(&info["name"]), text(&info["version"])))
}

fn text(value: &Value) -> String {
    value.as_str().map(cut).unwrap_or_default()
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
