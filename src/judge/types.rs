//! The types of the protocol's messages, by the schema of each revision.
//!
//! Takes the messages of a step, gives the first of the target's that its revision's schema does not allow. The tables are
//! made by `.ci/types`, which says what they leave to other checks. Must not know tests, nor any tool of a fixture.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::messages::{self, Answer, Wire};
use super::violation::Violation;
use crate::jsonrpc::envelope::{Envelope, Members, ordered, scalar};
use crate::jsonrpc::nesting;
use crate::model::observation::{FaultyMessage, Observed};
use crate::model::schema::SharedSchema;
use crate::model::spec::{Lifecycle, Revision};
use crate::model::text::shortened;
use crate::model::transcript::Party;

/// The bytes of a sentence about a violation.
const SENTENCE: usize = 600;
/// The member of `_meta` with the revision of a message, in the stateless lifecycle.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The types of one revision, each as the schema of a whole message.
struct Types {
    /// Requests and notifications, by method.
    sent: BTreeMap<String, SharedSchema>,
    /// Responses with a result, by the method of their request.
    results: BTreeMap<String, SharedSchema>,
    /// Responses with an error.
    error: SharedSchema,
}

/// The text of [`crate::model::spec::Facts::types`].
#[derive(Deserialize)]
struct Table {
    sent: BTreeMap<String, Value>,
    results: BTreeMap<String, Value>,
    error: BTreeMap<String, Value>,
    #[serde(rename = "$defs")]
    defs: Value,
}

static TYPES: LazyLock<BTreeMap<Revision, Types>> =
    LazyLock::new(|| Revision::all().map(|revision| (revision, Types::read(revision.facts().types))).collect());

impl Types {
    fn read(text: &str) -> Self {
        let Table { sent, results, mut error, defs } = serde_json::from_str(text).expect("a table of `.ci/types`");
        // A reply of an observation has the message beside its status.
        let whole = |schema: Value| SharedSchema::own(json!({ "properties": { "message": schema }, "$defs": defs }));
        let each = |types: BTreeMap<String, Value>| types.into_iter().map(|(name, one)| (name, whole(one))).collect();
        let error = whole(error.remove("error").unwrap_or_default());
        Self { sent: each(sent), results: each(results), error }
    }
}

/// The first message of the target that has another type than the revision's schema gives it; unreadable if there is none,
/// and one that the schema is about cannot be read. A message whose method the revision does not have is left to other
/// checks.
pub(super) fn mistyped(revision: Revision, wire: &Wire<'_>) -> Option<Observed<FaultyMessage>> {
    let types = TYPES.get(&revision)?;
    let requests = wire.of(Party::Target).filter_map(|(place, envelope)| {
        let schema = types.sent.get(envelope.method.as_deref()?)?;
        // A notification names no revision, and has the same members in all of them.
        (envelope.id.is_none() || is_of(revision, envelope)).then_some((place, "sent", schema))
    });
    let answers = messages::answers(wire).into_iter().filter_map(|Answer { message, request, method, envelope }| {
        let schema = if envelope.error.is_some() { &types.error } else { types.results.get(method)? };
        is_of(revision, wire.at(request)?).then_some((message, "reply", schema))
    });
    let mut all: Vec<_> = requests.chain(answers).collect();
    all.sort_by_key(|(place, ..)| *place);
    // Nearly every message is an envelope of this version, written in one of two ways.
    let is_plain =
        |text: &str| [r#""jsonrpc":"2.0""#, r#""jsonrpc": "2.0""#].iter().any(|version| text.contains(version));
    let is_odd = |(place, text): &(usize, &str)| wire.at(*place).is_none() || !is_plain(text);
    if let Some((place, (pointer, message))) =
        wire.intended().filter(is_odd).find_map(|(place, text)| Some((place, no_envelope(text)?)))
    {
        return Some(Observed::Value(FaultyMessage { pointer: pointer.to_owned(), message, place: Some(place) }));
    }
    let mut unread = None;
    for (place, key, schema) in all {
        match violation(key, schema, wire.text(place)) {
            Ok(None) => {}
            Ok(Some((pointer, message))) => {
                return Some(Observed::Value(FaultyMessage { pointer, message, place: Some(place) }));
            }
            Err(reason) => unread = unread.or(Some(Observed::Unreadable(reason))),
        }
    }
    unread
}

/// Returns the place and the words of what makes an object no message of JSON-RPC.
fn no_envelope(text: &str) -> Option<(&'static str, String)> {
    let members: Members<'_> = ordered(text)?.into_iter().collect();
    let wrong = |member: &str, expected: &str, is_right: fn(&RawValue) -> bool| {
        let value = members.get(member).copied().filter(|value| !is_right(value))?;
        Some(format!("`{member}` is {}, expected {expected}", shortened(value.get(), SENTENCE)))
    };
    let method = wrong("method", "a string", |method| method.get().starts_with('"'));
    let version = || wrong("jsonrpc", "\"2.0\"", |version| scalar::<String>(version).as_deref() == Some("2.0"));
    method.map(|words| ("/message/method", words)).or_else(|| Some(("/message/jsonrpc", version()?)))
}

/// Returns whether a request belongs to the lifecycle of a revision: a stateless one names its revision in each request.
fn is_of(revision: Revision, request: &Envelope<'_>) -> bool {
    let named = || scalar::<String>(request.meta()?.get(VERSION)?);
    revision.facts().lifecycle == Lifecycle::Stateful || named().as_deref() == Some(revision.as_ref())
}

/// Returns the place and the words of the first violation.
///
/// # Errors
/// The reason why the message cannot be compared with its type.
fn violation(key: &str, schema: &SharedSchema, text: &str) -> Result<Option<(String, String)>, String> {
    let message: Value = nesting::read(text.as_bytes()).map_err(|error| error.to_string())?;
    let value = json!({ "message": message });
    let found = schema.compiled()?.first_error(&value, |error| {
        let sentence = Violation { key, schema: schema.value(), value: &value }.sentence(error);
        (error.instance_path().to_string(), shortened(&sentence, SENTENCE).into_owned())
    });
    found.map_err(|too_much| too_much.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::{Message, StepTranscript};

    fn seen(revision: &str, messages: &[(Party, Value)]) -> Option<String> {
        let messages: Vec<Message> =
            messages.iter().map(|(from, message)| samples::message(*from, &message.to_string())).collect();
        let step = StepTranscript { messages, ..samples::replied(&[]) };
        mistyped(revision.parse().expect("a revision"), &Wire::new(&step)).map(|one| match one {
            Observed::Value(one) => one.message,
            Observed::Unreadable(reason) => reason,
        })
    }

    /// The violation in the result of a request.
    fn result(revision: &str, method: &str, result: &Value) -> Option<String> {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": revision });
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } });
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
        seen(revision, &[(Party::Harness, asked), (Party::Target, answer)])
    }

    #[test]
    fn every_type_of_every_revision_is_a_schema() {
        for (revision, types) in TYPES.iter() {
            assert!(types.sent.len() > 15 && types.results.len() > 10, "{revision}");
            let all = types.sent.values().chain(types.results.values()).chain([&types.error]);
            all.for_each(|schema| assert_eq!(schema.compiled().map(drop), Ok(()), "{revision}"));
        }
    }

    #[test]
    fn member_of_another_type_is_found_with_its_place() {
        let tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
        for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            let list = |list: Value| result(revision, "tools/list", &list).unwrap_or_default();
            let hints = json!({ "ttlMs": 0, "cacheScope": "public", "resultType": "complete" });
            let with = |members: Value| {
                let mut all = hints.clone();
                all.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
                list(all)
            };
            assert_eq!(with(json!({ "tools": [tool] })), "", "{revision}");
            assert_eq!(
                with(json!({ "tools": [tool], "nextCursor": null })),
                "`result.nextCursor` of the reply is null, expected a string"
            );
            assert_eq!(with(json!({ "tools": null })), "`result.tools` of the reply is null, expected an array");
            assert_eq!(
                with(json!({ "tools": [{ "inputSchema": {} }] })),
                "`result.tools[0].name` of the reply is missing"
            );
            let text = json!({ "content": [{ "type": "text", "text": 1 }] });
            assert!(result(revision, "tools/call", &text).is_some(), "{revision}");
            let flag = json!({ "content": [], "isError": "no" });
            assert_eq!(
                result(revision, "tools/call", &flag).as_deref(),
                Some("`result.isError` of the reply is \"no\", expected a boolean")
            );
        }
    }

    #[test]
    fn version_is_told_by_its_value() {
        let mistyped = |text: &str| {
            let step =
                StepTranscript { messages: vec![samples::message(Party::Target, text)], ..samples::replied(&[]) };
            mistyped("2025-11-25".parse().expect("a revision"), &Wire::new(&step)).is_some()
        };
        assert!(!mistyped(r#"{ "jsonrpc" : "\u0032\u002e0", "id": 1, "result": {} }"#));
        assert!(mistyped(r#"{ "jsonrpc": "1.0", "id": 1, "result": { "version": "2.0" } }"#));
    }

    #[test]
    fn object_that_is_no_envelope_is_mistyped() {
        for (message, words) in [
            (json!({ "jsonrpc": "2.0", "method": 5 }), Some("`method` is 5, expected a string")),
            (json!({ "jsonrpc": "1.0", "id": 1, "result": {} }), Some("`jsonrpc` is \"1.0\", expected \"2.0\"")),
            (json!({ "level": "info", "msg": "a line of a log" }), None),
            (json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), None),
        ] {
            assert_eq!(seen("2025-11-25", &[(Party::Target, message)]).as_deref(), words);
        }
    }

    #[test]
    fn notification_request_and_error_have_types_too() {
        let log =
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "loud", "data": 1 } });
        assert!(seen("2025-11-25", &[(Party::Target, log)]).is_some());
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": 1 } });
        assert!(seen("2025-06-18", &[(Party::Target, call.clone())]).is_some());
        // In the stateless lifecycle, a request without a version is of an earlier revision.
        assert_eq!(seen("2026-07-28", &[(Party::Target, call.clone())]), None);
        let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": "1", "message": "no" } });
        assert!(seen("2025-06-18", &[(Party::Harness, call), (Party::Target, error)]).is_some());
    }
}
