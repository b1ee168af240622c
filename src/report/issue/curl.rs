//! A shell script that sends the requests of a test with curl.
//!
//! Takes a transcript, gives the script or the reason why there is none. A script has fixed requests, so it cannot answer
//! a question of the server or send on a value of an earlier response; the session is the only such value.

use std::fmt::Write as _;

use serde_json::Value;

use super::exchange::fetched;
use super::{Evidence, violations};
use crate::model::Untrusted;
use crate::model::case::{HttpMethod, When};
use crate::model::spec::{Lifecycle, Role, Transport};
use crate::model::text::quoted_word;
use crate::model::transcript::{Message, Party, SESSION_HEADER, Served, StepTranscript, Transcript, VERSION_HEADER};
use crate::model::untrusted::{escape_json, is_safe};
use crate::report::explain::outcome_in_words;

/// The most bytes of a script.
const MOST: usize = 10 << 10;
/// The time limit of a request, in seconds.
const LIMIT: usize = 15;
/// The characters of a line of a comment.
const LINE: usize = 200;
/// The handshake of a client that declares nothing, for a test that used the connection of an earlier one.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"REVISION","capabilities":{"elicitation":{}},"clientInfo":{"name":"curl","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The beginning of each script.
const HEAD: &str = r#"set -u
: "${URL:?set URL to the address of the server, as in URL=http://127.0.0.1:3000/mcp}"
"#;
/// The commands around `initialize` that keep its session.
const KEEP: &str = r#"headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
"#;
const READ: &str = r#"SESSION=$(tr -d '\r' <"$headers" | awk 'tolower($1) == "mcp-session-id:" { print $2; exit }')
"#;

/// One request.
struct Request {
    method: Option<HttpMethod>,
    headers: Vec<(String, HeaderValue)>,
    body: Option<String>,
    /// Set if the request opens the session.
    opens: bool,
}

/// The value of a header.
#[derive(Clone)]
enum HeaderValue {
    Text(String),
    /// The session that the server has given.
    Session,
    /// The same, if the server has sessions.
    SessionIfAny,
}

/// Returns the script that shows the failure, up to the step with this index, or the reason why there is none.
pub(super) fn script(evidence: &Evidence<'_>, last: usize) -> Result<String, &'static str> {
    let test = &evidence.record.test;
    if evidence.role == Role::Client {
        return Err("a client is under test, so it would have to play the server");
    }
    if test.transport == Transport::Stdio {
        return Err("the server was tested over stdio");
    }
    let Some(transcript) = evidence.transcript else { return Err("the messages of the test were not recorded") };
    if transcript.served != Served::Serving {
        return Err("there was no server to send a request to");
    }
    let steps: Vec<_> = transcript.steps.iter().take(last + 1).collect();
    if steps.iter().flat_map(|step| &step.messages).any(|message| message.on_get_stream) {
        return Err("it takes the event stream of a GET request");
    }
    let session = session(transcript, &steps);
    let mut requests = Vec::new();
    for message in from_casebook(&transcript.opening) {
        requests.extend(request(message, session, transcript, None)?);
    }
    for (place, step) in steps.iter().enumerate() {
        let when = evidence.test.and_then(|test| test.steps.get(place)).map(|step| &step.when);
        if matches!(when, Some(When::Cancel { .. } | When::EndInput)) {
            return Err("it takes a call that is cancelled while it runs");
        }
        for message in from_casebook(&step.messages) {
            requests.extend(request(message, session, transcript, when)?);
        }
    }
    if steps.iter().any(|step| fetched(&step.canary).next().is_some()) {
        return Err("the server fetches an address, which no response shows");
    }
    if requests.len() <= transcript.opening.len() && steps.iter().all(|step| step.messages.is_empty()) {
        return Err("the test sends no request");
    }
    let is_stateful = test.revision.facts().lifecycle == Lifecycle::Stateful;
    if is_stateful && !requests.iter().any(|request| request.opens) {
        requests.splice(..0, handshake(test.revision.name()));
    }
    let script = written(evidence, &requests);
    if script.len() > MOST {
        return Err("its requests are too long");
    }
    Ok(script)
}

fn from_casebook(messages: &[Message]) -> impl Iterator<Item = &Message> {
    messages.iter().filter(|message| message.from == Party::Harness)
}

/// The session that the server gave, or that most likely was the one of the connection.
fn session<'t>(transcript: &'t Transcript, steps: &[&'t StepTranscript]) -> Option<&'t str> {
    let messages = transcript.opening.iter().chain(steps.iter().flat_map(|step| &step.messages));
    let (sent, received): (Vec<&Message>, Vec<_>) = messages.partition(|message| message.from == Party::Harness);
    let given = received.into_iter().find_map(|message| message.header(SESSION_HEADER));
    given.or_else(|| sent.into_iter().find_map(|message| message.header(SESSION_HEADER)))
}

/// Returns the request of a message; `None` for the stream of a GET request, on which the server may send messages.
fn request(
    message: &Message,
    session: Option<&str>,
    transcript: &Transcript,
    when: Option<&When>,
) -> Result<Option<Request>, &'static str> {
    let headers = message.headers.iter().filter(|(name, _)| !name.starts_with(':'));
    // curl would read a file for a name that begins with `@`.
    let is_token = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    if headers.clone().any(|(name, value)| !is_token(name) || !is_safe(value) || value.contains('\n')) {
        return Err("a header has characters that cannot be shown");
    }
    let method = match when {
        Some(When::Bare { method, .. }) => Some(*method),
        _ if message.text.is_empty() => return Ok(None),
        _ => None,
    };
    if message.cut_from.is_some() || message.lossy {
        return Err("a request is longer than a run log keeps, or is no text");
    }
    if transcript.bindings.canaries.iter().any(|(_, address)| message.text.contains(address.as_str())) {
        return Err("a request has an address that only casebook serves");
    }
    let value: Option<Value> = serde_json::from_str(&message.text).ok();
    if value.is_none() && !is_safe(&message.text) {
        return Err("a request has characters that cannot be shown");
    }
    let is_raw = matches!(when, Some(When::Send { .. }));
    let opens = value.as_ref().is_some_and(|value| value["method"] == "initialize");
    if let Some(value) = value.as_ref().filter(|_| !is_raw) {
        let is_answer = value.is_object() && value.get("method").is_none();
        let params = &value["params"];
        if is_answer || ["requestState", "inputResponses"].iter().any(|key| params.get(key).is_some()) {
            return Err("it takes the answer to a question of the server");
        }
        let is_given = |cursor: &str| {
            let messages = transcript.steps.iter().flat_map(|step| &step.messages);
            messages.filter(|one| one.from == Party::Target).any(|one| one.text.contains(cursor))
        };
        if params["cursor"].as_str().is_some_and(is_given) {
            return Err("it takes a cursor that the server chooses");
        }
    }
    let body = match (method, value) {
        (Some(_), _) => None,
        (None, Some(_)) => Some(escape_json(&message.text).into_owned()),
        (None, None) => Some(message.text.clone()),
    };
    let headers = headers.map(|(name, value)| {
        let is_session = name.eq_ignore_ascii_case(SESSION_HEADER) && session == Some(value);
        (name.clone(), if is_session { HeaderValue::Session } else { HeaderValue::Text(value.clone()) })
    });
    Ok(Some(Request { method, headers: headers.collect(), body, opens }))
}

/// The requests that open a session, if the server has sessions.
fn handshake(revision: &str) -> [Request; 2] {
    let text = |name: &str, value: &str| (name.to_owned(), HeaderValue::Text(value.to_owned()));
    let mut headers =
        vec![text("content-type", "application/json"), text("accept", "application/json, text/event-stream")];
    let first = INITIALIZE.replace("REVISION", revision);
    let open = Request { method: None, headers: headers.clone(), body: Some(first), opens: true };
    headers.push(text(VERSION_HEADER, revision));
    headers.push((SESSION_HEADER.to_owned(), HeaderValue::SessionIfAny));
    [open, Request { method: None, headers, body: Some(INITIALIZED.to_owned()), opens: false }]
}

fn written(evidence: &Evidence<'_>, requests: &[Request]) -> String {
    let all_headers = requests.iter().flat_map(|request| &request.headers);
    let has_session = all_headers.into_iter().any(|(_, value)| !matches!(value, HeaderValue::Text(_)));
    let mut out = "#!/bin/sh\n".to_owned();
    for line in comments(evidence) {
        writeln!(out, "# {}", Untrusted(&line).line(LINE)).expect("text");
    }
    out += HEAD;
    if has_session {
        out += KEEP;
    }
    for (place, Request { method, headers, body, opens }) in requests.iter().enumerate() {
        let what = body.as_deref().and_then(|body| serde_json::from_str::<Value>(body).ok());
        let what = what.as_ref().and_then(|value| value["method"].as_str());
        let what = method.map(HttpMethod::word).or(what).unwrap_or("the request of the case");
        let what = Untrusted(what).line(LINE);
        writeln!(out, "\nprintf '%s\\n' {}", quoted_word(&format!("--- {}. {what}", place + 1))).expect("text");
        write!(out, "curl --silent --show-error --include --max-time {LIMIT}").expect("text");
        if let Some(method) = method {
            write!(out, " --request {method}").expect("text");
        }
        if *opens && has_session {
            out += " --dump-header \"$headers\"";
        }
        for (name, value) in headers {
            let header = match value {
                HeaderValue::Session => format!("--header \"{SESSION_HEADER}: $SESSION\""),
                HeaderValue::SessionIfAny => format!("${{SESSION:+--header \"{SESSION_HEADER}: $SESSION\"}}"),
                // Without a value, curl would remove the header.
                HeaderValue::Text(value) if value.is_empty() => {
                    format!("--header {}", quoted_word(&format!("{name};")))
                }
                HeaderValue::Text(value) => format!("--header {}", quoted_word(&format!("{name}: {value}"))),
            };
            write!(out, " \\\n  {header}").expect("text");
        }
        let is_typed = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(body) = body {
            // Otherwise curl would add a type of its own.
            out += if is_typed { "" } else { " \\\n  --header 'content-type:'" };
            write!(out, " \\\n  --data-raw {}", quoted_word(body)).expect("text");
        }
        out += " \\\n  \"$URL\"\nprintf '\\n'\n";
        if *opens && has_session {
            out += READ;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// The expectation and the observation, for a reader of the script alone.
fn comments(evidence: &Evidence<'_>) -> Vec<String> {
    let Evidence { record, catalogue, role, .. } = evidence;
    let mut lines = Vec::new();
    for verdict in violations(record, catalogue).into_iter().take(3) {
        let quote = catalogue.get(&verdict.requirement).map(|requirement| requirement.quote.as_str());
        lines.push(format!("{}: {}", verdict.level, quote.unwrap_or(verdict.requirement.as_str())));
        let seen = record.observation.steps.get(verdict.step);
        lines.extend(
            seen.map(|seen| format!("observed in the last response: {}", outcome_in_words(seen.outcome, *role))),
        );
    }
    lines
}
