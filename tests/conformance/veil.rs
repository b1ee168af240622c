//! Makes messages of a target unreadable in each known way and place, and judges them again.
//!
//! A verdict against the target must not turn into a verdict in its favour.

use std::collections::BTreeMap;

use casebook::judge::{Judge, observe};
use casebook::model::case::{Library, Test};
use casebook::model::observation::Observation;
use casebook::model::record::Verdict;
use casebook::model::transcript::{Message, Party, Transcript};
use casebook::model::verdict::VerdictKind;
use serde_json::{Value, json};

/// A placeholder for the unreadable value, until the message is serialized.
const MARK: &str = "the place of the veil";

/// A way to make a message unreadable or ambiguous.
struct Way {
    name: &'static str,
    /// Changes the text of the message.
    change: fn(&mut String),
    /// Changes the other fields of the message.
    label: fn(&mut Message),
    /// `true` if the value is too large for every place.
    is_large: bool,
}

const fn value(name: &'static str, change: fn(&mut String)) -> Way {
    Way { name, change, label: |_| {}, is_large: false }
}

fn put(text: &mut String, value: &str) {
    *text = text.replace(&format!("\"{MARK}\""), value);
}

/// All known ways.
const WAYS: [Way; 11] = [
    value("a number out of range", |text| put(text, "1e999")),
    value("a number that becomes zero", |text| put(text, "1e-999")),
    value("too many levels", |text| put(text, &format!("{}{}", "[".repeat(1200), "]".repeat(1200)))),
    value("a lone surrogate", |text| put(text, r#""\ud800""#)),
    value("two equal keys", |text| put(text, r#"{"a":0,"a":1}"#)),
    value("a byte-order mark", |text| text.insert(0, '\u{feff}')),
    value("text behind it", |text| text.push_str(" x")),
    value("a zero byte behind it", |text| text.push('\0')),
    Way { label: |message| message.lossy = true, ..value("no UTF-8", |text| put(text, "\"\u{fffd}\"")) },
    Way {
        label: |message| message.cut_from = Some(1 << 30),
        ..value("cut", |text| *text = text.chars().take(text.chars().count() / 2).collect())
    },
    Way { is_large: true, ..value("too long", |text| put(text, &format!("{:?}", "x".repeat(8_400_000)))) },
];

/// The kinds of places for an unreadable value. Each function inserts it into all such places of a message.
const PLACES: [fn(&mut Value); 9] = [
    |message| veil(message),
    |message| parts(message).for_each(veil),
    |message| parts(message).for_each(|part| veil_in(part, "_meta")),
    |message| message.get_mut("error").into_iter().for_each(|error| error["data"] = MARK.into()),
    |message| tools(message).for_each(veil),
    |message| {
        for tool in tools(message) {
            for key in ["inputSchema", "outputSchema"] {
                tool.get_mut(key).into_iter().for_each(veil);
            }
        }
    },
    |message| {
        let values = ["structuredContent", "arguments", "content", "inputRequests", "inputResponses"];
        for part in parts(message) {
            for key in values {
                part.get_mut(key).into_iter().for_each(veil_below);
            }
        }
    },
    |message| parts(message).for_each(veil_below),
    veil_below,
];

/// The only kind of place for large values.
const LARGE: usize = 2;

fn veil(value: &mut Value) {
    if let Value::Object(members) = value {
        members.insert("veil".to_owned(), MARK.into());
    }
}

fn veil_in(value: &mut Value, key: &str) {
    if let Value::Object(members) = value {
        veil(members.entry(key).or_insert_with(|| json!({})));
    }
}

fn veil_below(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(veil_below),
        Value::Array(items) => items.iter_mut().for_each(veil_below),
        _ => {}
    }
    veil(value);
}

fn parts(message: &mut Value) -> impl Iterator<Item = &mut Value> {
    let members = message.as_object_mut().into_iter().flatten();
    members.filter(|(key, _)| ["result", "error", "params"].contains(&key.as_str())).map(|(_, value)| value)
}

fn tools(message: &mut Value) -> impl Iterator<Item = &mut Value> {
    let result = if message.get("result").is_some() { message.get_mut("result") } else { Some(message) };
    result.and_then(|result| result.get_mut("tools")).and_then(Value::as_array_mut).into_iter().flatten()
}

/// A test with the transcript of its run.
pub(crate) struct Seen {
    pub(crate) test: std::sync::Arc<Test>,
    pub(crate) transcript: Transcript,
}

/// Describes each way and place in which a verdict on these tests improves.
///
/// `large` includes the large values, which take seconds without optimisation.
pub(crate) fn improved(library: &Library, all: &[Seen], large: bool) -> Vec<String> {
    let mut improved = Vec::new();
    for (index, Seen { test, transcript }) in all.iter().enumerate() {
        let plain = judged(library, test, transcript);
        if !plain.iter().any(is_against) {
            continue;
        }
        let mut texts = BTreeMap::new();
        for way in WAYS.iter().filter(|way| !way.is_large || large && index == 0) {
            for (place, put) in PLACES.iter().enumerate().filter(|(place, _)| !way.is_large || *place == LARGE) {
                let Some(veiled) = veiled(transcript, way, place, *put, &mut texts) else { continue };
                let now = judged(library, test, &veiled);
                for (was, is) in plain.iter().zip(&now).filter(|(was, is)| improves(was, is)) {
                    let (kind, now) = (was.kind, is.kind);
                    let detail: Vec<_> = was.detail.iter().map(ToString::to_string).collect();
                    let detail = detail.join("; ");
                    improved.push(format!(
                        "{}: {} is {kind} ({detail}), and {now} with {} at {place}",
                        transcript.test, was.requirement, way.name
                    ));
                }
            }
        }
    }
    improved
}

fn is_against(verdict: &Verdict) -> bool {
    matches!(verdict.kind, VerdictKind::Fail | VerdictKind::Warn | VerdictKind::Note | VerdictKind::NotTaken)
}

fn improves(was: &Verdict, is: &Verdict) -> bool {
    let is_in_favour = matches!(is.kind, VerdictKind::Pass | VerdictKind::Allowed | VerdictKind::Taken);
    is_against(was) && is_in_favour
}

/// The verdicts on a single test. Fails if its observation changes when it is written and read again.
fn judged(library: &Library, test: &Test, transcript: &Transcript) -> Vec<Verdict> {
    let observation = observe(test, transcript);
    let line = serde_json::to_vec(&observation).expect("an observation is JSON");
    let again: Observation = casebook::jsonrpc::nesting::read(&line).expect("an observation is read again");
    assert_eq!(observation, again, "{}", transcript.test);
    Judge::new(&library.requirements, []).judge(&transcript.target, test, &transcript.test, &again)
}

/// The transcript with all messages of the target veiled. Returns `None` if no message has such a place.
fn veiled(
    transcript: &Transcript,
    way: &Way,
    place: usize,
    put: fn(&mut Value),
    texts: &mut BTreeMap<(usize, String), String>,
) -> Option<Transcript> {
    let mut transcript = transcript.clone();
    let mut is_veiled = false;
    let mut marked = |text: &str| {
        let key = (place, text.to_owned());
        let marked = texts.entry(key).or_insert_with(|| {
            let Ok(mut message) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
            put(&mut message);
            message.to_string()
        });
        is_veiled |= marked.contains(MARK);
        let mut text = marked.clone();
        (way.change)(&mut text);
        text
    };
    for step in &mut transcript.steps {
        for message in step.messages.iter_mut().filter(|message| message.from == Party::Target) {
            message.text = marked(&message.text);
            (way.label)(message);
        }
        if let Some(handed) = &mut step.handed {
            let veiled = marked(handed);
            // The harness keeps the answer of an adapter only if it is JSON.
            if serde_json::from_str::<serde::de::IgnoredAny>(&veiled).is_ok() {
                *handed = veiled;
            }
        }
    }
    is_veiled.then_some(transcript)
}
