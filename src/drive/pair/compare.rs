//! The comparison of a test of a pair with and without the proxy: the user of the client must get the same.
//!
//! Takes the results of both ways, with the texts that stand for the server in each. Must not know which result is right.

use std::borrow::Cow;

use serde_json::Value;

use crate::jsonrpc::nesting;
use crate::model::transcript::{End, Served, StepTranscript, WithoutProxy};

/// Put in place of the texts that stand for the server.
const SERVER: &str = "SERVER";
/// The member in which adapters describe an error of the SDK.
const ERROR: &str = "error";
/// The number of digits of the shortest number that can be a port, a time or the id of a process in an error.
const DIGITS: usize = 5;
/// The number of characters of an id with hyphens.
const UUID: usize = 36;

/// The result of a test that was run in one way.
#[derive(Debug)]
pub(super) struct Got<'a> {
    pub(super) served: &'a Served,
    pub(super) steps: &'a [StepTranscript],
    /// The texts that stand for the server, such as its URL.
    pub(super) names: &'a [String],
}

/// Returns the texts by which a client can name the server at a URL, the longest first.
pub(super) fn names_of_url(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, path) = rest.find('/').map_or((rest, ""), |start| rest.split_at(start));
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    let local = if port.is_empty() { String::new() } else { format!("localhost:{port}") };
    let names = [url, rest, path, authority, &local];
    // A path such as `/mcp` can be a part of other texts.
    names.into_iter().filter(|name| name.len() > DIGITS).map(str::to_owned).collect()
}

/// Compares the results of a test with and without the proxy.
pub(super) fn compare(with: &Got<'_>, without: &Got<'_>) -> WithoutProxy {
    let (ours, theirs) = (parts(with), parts(without));
    for place in 0..ours.len().max(theirs.len()) {
        let (one, other) = (ours.get(place), theirs.get(place));
        if one != other {
            let text = |part: Option<&Part>| part.map_or_else(|| "nothing".to_owned(), Part::text);
            return WithoutProxy::Different { with: text(one), without: text(other) };
        }
    }
    WithoutProxy::Same
}

/// A part of a result.
#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    Json(Value),
}

impl Part {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(value) => value.to_string(),
        }
    }
}

/// The end of the test, and what the user got in each step.
fn parts(got: &Got<'_>) -> Vec<Part> {
    let end = match got.served {
        Served::Serving => "connected".to_owned(),
        Served::Refused { r#type, message } => format!("refused: {type}: {}", of_error(message, got.names)),
        Served::Cannot { reason } => format!("not expressible: {}", of_error(reason, got.names)),
        Served::Failed { end, .. } => match end {
            End::Timeout => "a time-out".to_owned(),
            End::Crash { .. } => "a crash".to_owned(),
            _ => "an invalid answer of the adapter".to_owned(),
        },
        Served::Broken { .. } | Served::Unavailable { .. } => "not run".to_owned(),
    };
    let handed = got.steps.iter().map(|step| match step.handed.as_deref() {
        Some(text) => match nesting::read::<Value>(text.as_bytes()) {
            Ok(value) => Part::Json(comparable(value, got.names, false)),
            Err(_) => Part::Text(text.to_owned()),
        },
        None => Part::Text("no value".to_owned()),
    });
    std::iter::once(Part::Text(end)).chain(handed).collect()
}

/// Removes from a value whatever differs by nature.
fn comparable(value: Value, names: &[String], is_error: bool) -> Value {
    match value {
        Value::String(text) if is_error => Value::String(of_error(&text, names)),
        Value::String(text) => Value::String(without_names(&text, names).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| comparable(item, names, is_error)).collect(),
        Value::Object(members) => {
            let inner = |(name, value): (String, Value)| {
                let is_error = is_error || name == ERROR;
                (name, comparable(value, names, is_error))
            };
            members.into_iter().map(inner).collect()
        }
        other => other,
    }
}

fn without_names<'t>(text: &'t str, names: &[String]) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for name in names {
        if text.contains(name.as_str()) {
            text = text.replace(name.as_str(), SERVER).into();
        }
    }
    text
}

/// The text of an error without the names of the server, and without long numbers and ids.
fn of_error(text: &str, names: &[String]) -> String {
    let text = without_names(text, names);
    let mut rest: &str = &text;
    let mut kept = String::new();
    while let Some(start) = rest.find(|one: char| one.is_ascii_alphanumeric()) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|one: char| !one.is_ascii_alphanumeric() && one != '-').unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let is_id = !before.ends_with('-') && is_id(word);
        kept += before;
        kept += if is_id { "ID" } else { word };
        rest = after;
    }
    kept + rest
}

/// Returns whether a word is a port, a time, an address in memory or a random id. A date, which can be a revision, and the
/// code of an error are none.
fn is_id(word: &str) -> bool {
    let word = word.trim_end_matches('-');
    let word = word.strip_prefix("0x").unwrap_or(word);
    let least = if word.contains('-') { UUID } else { DIGITS };
    let is_of_id = |one: char| one.is_ascii_hexdigit() || one == '-';
    word.len() >= least && word.chars().all(is_of_id) && word.contains(|one: char| one.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(handed: &[&str]) -> Vec<StepTranscript> {
        let step = |handed: &&str| StepTranscript {
            messages: Vec::new(),
            end: End::Handed,
            micros: 0,
            canary: Vec::new(),
            handed: Some((*handed).to_owned()),
        };
        handed.iter().map(step).collect()
    }

    /// Compares what the user got at these URLs.
    fn compared(with: &[&str], without: &[&str]) -> WithoutProxy {
        let (proxy, server) = (names_of_url("http://127.0.0.1:41001/k3/mcp"), names_of_url("http://127.0.0.1:52/mcp"));
        let got = |steps, names| Got { served: &Served::Serving, steps, names };
        compare(&got(&steps(with), &proxy), &got(&steps(without), &server))
    }

    #[test]
    fn changed_lost_and_added_values_are_differences() {
        let whole = r#"{"value":{"structured":{"a":1.0,"b":[null,"x"]},"isError":false}}"#;
        let same = r#"{"value": {"isError": false, "structured": {"b": [null, "x"], "a": 1.0}}}"#;
        assert_eq!(compared(&[whole], &[same]), WithoutProxy::Same);
        for other in [
            r#"{"value":{"structured":{"a":1.0,"b":["x",null]},"isError":false}}"#,
            r#"{"value":{"structured":{"a":1.0,"b":[null,"x "]},"isError":false}}"#,
            r#"{"value":{"structured":{"a":1.0},"isError":false}}"#,
            r#"{"value":{"structured":{"a":"1.0","b":[null,"x"]},"isError":false}}"#,
            r#"{"error":{"type":"Closed","message":"closed"}}"#,
        ] {
            assert!(matches!(compared(&[whole], &[other]), WithoutProxy::Different { .. }), "{other}");
            assert!(matches!(compared(&[other], &[whole]), WithoutProxy::Different { .. }), "{other}");
        }
        let lost = WithoutProxy::Different { with: r#"{"a":1}"#.to_owned(), without: "nothing".to_owned() };
        assert_eq!(compared(&[r#"{"a":1}"#], &[]), lost);
    }

    #[test]
    fn long_values_that_differ_in_digits_are_differences() {
        assert!(matches!(
            compared(&[r#"{"value":"12345678"}"#], &[r#"{"value":"12345679"}"#]),
            WithoutProxy::Different { .. }
        ));
        assert!(matches!(compared(&["12345678"], &["12345679"]), WithoutProxy::Different { .. }));
    }

    #[test]
    fn errors_that_differ_only_by_address_port_or_id_are_the_same() {
        let error = |message: &str| format!(r#"{{"error":{{"type":"E","message":"{message}"}}}}"#);
        for (with, without) in [
            ("404 for http://127.0.0.1:41001/k3/mcp", "404 for http://127.0.0.1:52/mcp"),
            ("127.0.0.1:41001: refused", "127.0.0.1:52: refused"),
            ("read 127.0.0.1:54321->127.0.0.1:41001", "read 127.0.0.1:54399->127.0.0.1:52"),
            ("session 550e8400-e29b-41d4-a716-446655440000", "session 1b4e28ba-2fa1-11d2-883f-0016d3cca427"),
        ] {
            assert_eq!(compared(&[&error(with)], &[&error(without)]), WithoutProxy::Same, "{with}");
        }
        for (with, without) in [
            ("status 404", "status 502"),
            ("not found", "closed"),
            ("code -32602", "code -32603"),
            ("2025-06-18", "2025-11-25"),
        ] {
            assert!(matches!(compared(&[&error(with)], &[&error(without)]), WithoutProxy::Different { .. }), "{with}");
        }
    }

    #[test]
    fn other_end_of_test_is_a_difference() {
        let served = [
            Served::Serving,
            Served::Refused { r#type: "E".to_owned(), message: "no".to_owned() },
            Served::Refused { r#type: "E".to_owned(), message: "never".to_owned() },
            Served::Failed { end: End::Timeout, detail: String::new() },
            Served::Failed { end: End::Crash { how: "exit status 1".to_owned() }, detail: String::new() },
        ];
        let got = |served| Got { served, steps: &[], names: &[] };
        for (place, one) in served.iter().enumerate() {
            for (other_place, other) in served.iter().enumerate() {
                let is_same = compare(&got(one), &got(other)) == WithoutProxy::Same;
                assert_eq!(is_same, place == other_place, "{one:?} {other:?}");
            }
        }
    }
}
