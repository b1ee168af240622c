//! The messages of a test, in both directions, as code to copy.
//!
//! Takes a transcript, gives Markdown of limited length. Must not know verdicts.

use std::fmt::Write as _;

use super::text::{fenced, message};
use crate::model::Untrusted;
use crate::model::text::count;
use crate::model::transcript::{End, Hit, Message, Party, STARTED, STOPPED, Served, Transcript};

/// The number of messages that are shown: the first ones, and the last ones.
const FIRST: usize = 4;
const LAST: usize = 16;
/// The bytes of all messages together, and the least and the most of one.
const ALL: usize = 16 << 10;
const ONE: (usize, usize) = (600, 6 << 10);
/// The number of messages with their HTTP headers, which are the last ones, and the bytes of the headers of one.
const WITH_HEADERS: usize = 4;
const HEADERS: usize = 1_000;
/// The headers that say nothing about the protocol, or that may be secrets.
const LEFT_OUT: [&str; 12] = [
    "accept-encoding",
    "authorization",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "date",
    "keep-alive",
    "server",
    "set-cookie",
    "transfer-encoding",
    "x-accel-buffering",
];
/// The bytes of the last lines on standard error.
const STDERR: usize = 2_000;
/// The characters of the reason why a step ended, and of an address.
const LINE: usize = 600;
/// The number of fetched addresses that are named.
const FETCHED: usize = 5;

/// Returns the messages up to the end of a step, and the reason why the step ended if no message shows it. `is_shared` is
/// set if several tests may have used one session.
pub(super) fn exchange(transcript: Option<&Transcript>, last: usize, is_shared: bool) -> String {
    let mut out = "## Messages\n\n".to_owned();
    let Some(transcript) = transcript else {
        return out + "The messages of this test were not recorded.\n\n";
    };
    match &transcript.served {
        Served::Refused { r#type, message } => {
            out += "The SDK refused to build the server:\n\n";
            out += &fenced("text", &Untrusted(&format!("{type}: {message}")).block(LINE), usize::MAX);
        }
        Served::Failed { detail, .. } => {
            out += "The target failed while it built the server:\n\n";
            out += &fenced("text", &Untrusted(detail).block(LINE), usize::MAX);
            out += &stderr(transcript);
        }
        _ => {}
    }
    let steps = transcript.steps.iter().take(last + 1);
    let messages = transcript.opening.iter().chain(steps.flat_map(|step| &step.messages));
    // A message without a text and a status is the request for an event stream.
    let messages: Vec<&Message> = messages.filter(|one| !one.text.is_empty() || one.status.is_some()).collect();
    if transcript.opening.is_empty() && is_shared {
        out += "An earlier test had opened the session with `initialize`.\n\n";
    }
    out += &listed(&messages);
    if let Some(step) = transcript.steps.get(last).or(transcript.steps.last()) {
        let words = match &step.end {
            End::Crash { how } => Some(format!("the process or the connection ended: {how}")),
            End::Invalid { reason } => Some(format!("the message is not valid: {reason}")),
            End::Timeout => Some("no response came within the time limit".to_owned()),
            End::Http { status } => Some(format!("HTTP status {status} without a JSON-RPC message")),
            End::Empty => Some("the HTTP reply ended without a response in it".to_owned()),
            End::Oversized => Some("the reply was longer than casebook reads".to_owned()),
            _ => None,
        };
        if let Some(words) = words {
            out += "The step ended like this:\n\n";
            out += &fenced("text", &Untrusted(&words).block(LINE), usize::MAX);
        }
        let fetched: Vec<_> = fetched(&step.canary).map(|hit| Untrusted(&hit.url).line(LINE)).collect();
        if !fetched.is_empty() {
            let which = if fetched.len() == 1 { "this address" } else { "these addresses" };
            writeln!(out, "The target fetched {which}, on which casebook listens:\n").expect("text");
            out += &fenced("text", &fetched[..fetched.len().min(FETCHED)].join("\n"), usize::MAX);
        }
        if matches!(step.end, End::Crash { .. }) {
            out += &stderr(transcript);
        }
    }
    out
}

/// The fetched addresses, without those by which the code of a tool signals that it waits.
pub(super) fn fetched(hits: &[Hit]) -> impl Iterator<Item = &Hit> {
    hits.iter().filter(|hit| !hit.url.ends_with(STARTED) && !hit.url.ends_with(STOPPED))
}

fn listed(messages: &[&Message]) -> String {
    let mut out = String::new();
    if messages.is_empty() {
        return out;
    }
    out += "In the order of time; casebook plays the side that is not under test.\n\n";
    let left_out = messages.len().saturating_sub(FIRST + LAST);
    let shown = messages.len() - left_out;
    let most = (ALL / shown).clamp(ONE.0, ONE.1);
    for (place, message) in messages.iter().enumerate() {
        if left_out > 0 && place == FIRST {
            writeln!(out, "… {} left out …\n", count(left_out, "message")).expect("text");
        }
        if left_out == 0 || place < FIRST || place >= FIRST + left_out {
            let headers = if place + WITH_HEADERS < messages.len() { String::new() } else { headers(message) };
            out += &one(place + 1, message, &headers, most);
        }
    }
    out
}

/// The HTTP headers of a message, as lines; empty over stdio.
fn headers(sent: &Message) -> String {
    let kept = sent.headers.iter().filter(|(name, _)| !LEFT_OUT.iter().any(|one| name.eq_ignore_ascii_case(one)));
    let lines = kept.map(|(name, value)| match name.strip_prefix(':') {
        Some(_) => Untrusted(value).line(LINE),
        None => Untrusted(&format!("{name}: {value}")).line(LINE),
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { String::new() } else { fenced("text", &lines.join("\n"), HEADERS) }
}

fn one(number: usize, sent: &Message, headers: &str, most: usize) -> String {
    let from = match sent.from {
        Party::Harness => "casebook",
        Party::Target => "the target",
    };
    let status = sent.status.map(|status| format!(", HTTP status {status}")).unwrap_or_default();
    let cut = sent.cut_from.map(|whole| format!(" (the beginning of {whole} bytes)")).unwrap_or_default();
    if sent.text.is_empty() {
        let end = if headers.is_empty() { "" } else { ":" };
        return format!("{number}. from {from}{status}, without a body{end}\n\n{headers}");
    }
    let (is_json, text) = message(&sent.text);
    let body = fenced(if is_json { "json" } else { "text" }, &text, most);
    format!("{number}. from {from}{status}{cut}:\n\n{headers}{body}")
}

/// The last lines on standard error.
fn stderr(transcript: &Transcript) -> String {
    let text = Untrusted(&transcript.stderr.trim_end().replace('\t', "    ")).block(usize::MAX);
    if text.is_empty() {
        return String::new();
    }
    let from = (0..=text.len().saturating_sub(STDERR)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("The end of its standard error:\n\n{}", fenced("text", &text[from..], STDERR))
}
