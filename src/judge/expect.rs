//! Compares an expectation with the observation of a step.
//!
//! Takes an expectation and an observation, gives the keys that do not hold and those that cannot be decided. A value
//! that cannot be read neither satisfies nor violates an expectation. Must not know levels, controls or known failures.

mod absent;
mod advertised;
mod at_once;
mod by_messages;
mod calls;
mod dependencies;
mod nothing;

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::ValidationError;
use serde::Serialize;
use serde_json::{Map, Value};

pub(super) use absent::reason as absence;
pub(super) use by_messages::{ByMessages, Scene, SceneAction, by_messages, reads_messages};
pub(super) use nothing::{about_nothing, about_silence};

use self::dependencies::Dependencies;
use super::compare;
use super::places;
use super::violation::Violation;
use crate::model::TestId;
use crate::model::case::{Answered, CallMark, CanaryState, Expectation, Flaw, Matcher, Outcome};
use crate::model::observation::{AnswerObservation, CallEvidence, Observed, Parts, StepObservation};
use crate::model::reason::Finding;
use crate::model::schema::SharedSchema;
use crate::model::spec::Transport;
use crate::model::text::shortened;

/// The bytes of a value that are shown.
const SHOWN: usize = 240;
/// The bytes of a sentence on a violated schema that are shown.
const SENTENCE: usize = 600;

/// The keys of an expectation that do not hold or cannot be decided; none if it holds.
pub(super) struct Misses {
    /// One for every key that definitely does not hold.
    pub(super) missed: Vec<Finding>,
    /// One for every key that depends on something that cannot be read.
    pub(super) unknown: Vec<Finding>,
    revision: &'static str,
}

/// The result of one key of an expectation.
enum Compared {
    Holds,
    Misses(Finding),
    Unknown(Finding),
}

/// Compares an expectation with a step.
pub(super) fn misses(expected: &Expectation, observed: &StepObservation, id: &TestId) -> Misses {
    let mut misses = Misses { missed: Vec::new(), unknown: Vec::new(), revision: id.revision.name() };
    if !expected.outcome.is_empty() && !expected.outcome.contains(&observed.outcome) {
        match absent::reason(observed.outcome) {
            Some(reason) if expected.reply.is_some() && observed.replies.is_empty() => {
                misses.unreadable("reply", reason);
            }
            _ => misses.differ("outcome", &one_of(&expected.outcome), observed.outcome.word()),
        }
    }
    if expected.code.is_some() && expected.code != observed.code {
        misses.differ("code", &shown_or_none(expected.code), &shown_or_none(observed.code));
    }
    let status_counts = !expected.status.is_empty() && id.transport == Transport::Http;
    if status_counts && observed.status.is_none_or(|status| !expected.status.contains(&status)) {
        misses.differ("status", &one_of(&expected.status), &shown_or_none(observed.status));
    }
    // A test without canaries leaves all of them untouched.
    let canary = observed.canary.unwrap_or(CanaryState::Untouched);
    if let Some(wanted) = expected.canary.filter(|wanted| *wanted != canary) {
        misses.differ("canary", wanted.word(), canary.word());
    }
    for (tool, wanted) in &expected.advertised {
        misses.take(advertised::compare(tool, wanted, observed.advertised.get(tool)));
    }
    misses.flaws(&expected.without, &observed.tools);
    for compared in calls::compare(&expected.calls, &observed.calls) {
        misses.take(compared);
    }
    misses.value("saw", expected.saw.as_ref(), observed.saw.as_ref());
    misses.value("structured", expected.structured.as_ref(), observed.structured.as_ref());
    if let Some(wanted) = expected.text {
        match &observed.text {
            Some(Observed::Unreadable(reason)) => misses.unreadable("text", reason),
            Some(Observed::Value(text)) if *text != wanted => misses.differ("text", wanted.word(), text.word()),
            Some(Observed::Value(_)) => {}
            None => misses.differ("text", wanted.word(), "something else"),
        }
    }
    misses.values("asked", expected.asked.as_ref(), &observed.asked);
    if let Some(wanted) = &expected.answered {
        misses.answers(wanted, &observed.answered);
    }
    if let Some(bound) = expected.took.filter(|bound| observed.took > *bound) {
        misses.differ("took", &format!("at most {bound}"), observed.took.word());
    }
    if let Some(schema) = &expected.reply {
        misses.replies(schema, observed);
    }
    if let Some(schema) = &expected.sent {
        misses.sent(schema, observed);
    }
    if let Some(schema) = &expected.matches {
        misses.take(fits("matches", schema, view(observed)));
    }
    // The messages of the client decide whether the client itself or the server refused.
    let by_request = !expected.outcome.is_empty() && matches!(observed.outcome, Outcome::Refused | Outcome::Hidden);
    let depends = by_request || depends_on_messages(expected);
    if let Some(reason) = observed.unread.as_ref().filter(|_| misses.is_empty() && depends) {
        misses.unreadable("the step", reason);
    }
    misses
}

impl Misses {
    /// Returns whether the expectation holds.
    pub(super) fn is_empty(&self) -> bool {
        self.missed.is_empty() && self.unknown.is_empty()
    }

    /// Compares each reply of the step.
    fn replies(&mut self, schema: &SharedSchema, observed: &StepObservation) {
        let is_refused = matches!(observed.outcome, Outcome::Refused | Outcome::Hidden);
        let refused = is_refused.then_some("the server does not serve the tools");
        let unread = observed.unread.as_deref().or_else(|| absent::reason(observed.outcome)).or(refused);
        self.each("reply", schema, &observed.replies, &observed.reply_places, unread);
    }

    /// Compares each message that a client sent in the step.
    fn sent(&mut self, schema: &SharedSchema, observed: &StepObservation) {
        let is_demanded = schema.premise().is_none() || !observed.sent.is_empty();
        if is_demanded || observed.unread.is_some() {
            self.each("sent", schema, &observed.sent, &[], observed.unread.as_deref());
        }
    }

    fn each(&mut self, key: &str, schema: &SharedSchema, messages: &[Parts], places: &[usize], unread: Option<&str>) {
        match unread {
            Some(reason) if messages.is_empty() => self.unreadable(key, reason),
            None if messages.is_empty() => self.missed.push(missing(key)),
            _ => self.take(fits_all(key, schema, messages, places)),
        }
    }

    fn take(&mut self, compared: Compared) {
        match compared {
            Compared::Holds => {}
            Compared::Misses(finding) => self.missed.push(finding),
            Compared::Unknown(finding) => self.unknown.push(finding),
        }
    }

    fn unreadable(&mut self, key: &str, reason: &str) {
        self.unknown.push(unreadable(key, reason));
    }

    fn differ(&mut self, key: &str, expected: &str, observed: &str) {
        self.missed.push(mismatch(key, expected, observed));
    }

    /// Compares each of several values, of which there must be one.
    fn values(&mut self, key: &str, wanted: Option<&Matcher>, observed: &[Observed]) {
        if observed.is_empty() {
            self.value(key, wanted, None);
        }
        for one in observed {
            self.value(key, wanted, Some(one));
        }
    }

    fn value(&mut self, key: &str, wanted: Option<&Matcher>, observed: Option<&Observed>) {
        let Some(wanted) = wanted else { return };
        let (verb, template) = match wanted {
            Matcher::Absent => {
                if let Some(observed) = observed {
                    let observed = observed.value().map_or_else(|| "something unreadable".to_owned(), shown);
                    self.differ(key, "nothing", &observed);
                }
                return;
            }
            Matcher::Equals(template) => ("", template),
            Matcher::Contains(template) => ("at least ", template),
        };
        let expected = places::fill(template, self.revision);
        let (expected, observed) = match (expected, observed) {
            (_, Some(Observed::Unreadable(reason))) => return self.unreadable(key, reason),
            (None, Some(_)) => {
                let reason = "the expected value is nested too deep to be compared";
                return self.unknown.push(undecidable(key, reason));
            }
            (Some(expected), Some(Observed::Value(observed))) => (shown(&expected), {
                let holds = match wanted {
                    Matcher::Contains(_) => compare::contains(observed, &expected),
                    _ => compare::equal(observed, &expected),
                };
                if holds {
                    return;
                }
                shown(observed)
            }),
            (expected, None) => (expected.as_ref().map_or_else(|| "a value".to_owned(), shown), "nothing".to_owned()),
        };
        self.differ(key, &format!("{verb}{expected}"), &observed);
    }

    /// Checks that the list has a tool, and that no tool has one of these flaws.
    fn flaws(&mut self, without: &BTreeSet<Flaw>, tools: &BTreeMap<String, BTreeSet<Flaw>>) {
        if !without.is_empty() && tools.is_empty() {
            self.missed.push(missing("tools"));
        }
        for (name, flaws) in tools {
            let (found, hiding): (Vec<Flaw>, Vec<Flaw>) = (
                flaws.intersection(without).copied().collect(),
                flaws.iter().filter(|flaw| without.iter().any(|unwanted| flaw.hides(*unwanted))).copied().collect(),
            );
            let place = format!("tools `{name}`");
            if !found.is_empty() {
                let unwanted: Vec<_> = without.iter().collect();
                self.differ(&place, &format!("none of {}", one_of(&unwanted)), &words(&found, ", "));
            } else if !hiding.is_empty() {
                let reason = format!("the schemas are not checked, because they are {}", words(&hiding, ", "));
                self.unknown.push(undecidable(&place, &reason));
            }
        }
    }

    /// Checks that there was an elicitation, and that each was answered as expected.
    fn answers(&mut self, wanted: &Answered, observed: &[AnswerObservation]) {
        if observed.is_empty() {
            self.differ("answered", wanted.action.word(), "nothing");
        }
        for answer in observed {
            if answer.action != Some(wanted.action) {
                let action = answer.action.map_or("no action", |action| action.word());
                self.differ("answered", wanted.action.word(), action);
            }
            self.value("answered content", wanted.content.as_ref(), answer.content.as_ref());
        }
    }
}

/// Returns whether an expectation is about the content of messages, and not only about the outcome of the step.
fn depends_on_messages(expected: &Expectation) -> bool {
    let is_about_content = |schema: &SharedSchema| {
        let mut dependencies = Dependencies::default();
        let known = ["status", "canary", "fetches", "took", "size"];
        !dependencies.collect(schema.value())
            || dependencies.values.union(&dependencies.present).any(|key| !known.contains(key))
    };
    [&expected.saw, &expected.structured, &expected.asked].into_iter().any(Option::is_some)
        || !expected.advertised.is_empty()
        || !expected.without.is_empty()
        || !expected.calls.is_empty()
        || expected.text.is_some()
        || expected.answered.is_some()
        || expected.reply.is_some()
        || expected.sent.is_some()
        || expected.matches.as_ref().is_some_and(is_about_content)
}

/// Validates each message; gives the first that does not fit, or else the first that cannot be read. `places` has the
/// indexes of replies in the messages of their step.
fn fits_all(key: &str, schema: &SharedSchema, messages: &[Parts], places: &[usize]) -> Compared {
    let mut all = Compared::Holds;
    for (index, message) in messages.iter().enumerate() {
        match (fits(key, schema, message.clone()), &all) {
            (Compared::Misses(mut finding), _) => {
                if let Finding::Violation { reply, .. } = &mut finding {
                    *reply = places.get(index).copied();
                }
                return Compared::Misses(finding);
            }
            (unknown @ Compared::Unknown(_), Compared::Holds) => all = unknown,
            _ => {}
        }
    }
    all
}

fn json<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).expect("an observation is always JSON")
}

fn list<T: Serialize + Clone>(values: &[Observed<T>]) -> Option<Observed> {
    (!values.is_empty()).then(|| Observed::all(values.iter().cloned()).map(|values| json(&values)))
}

/// The observation as `matches` sees it, without the texts of errors, which are for people.
fn view(observed: &StepObservation) -> Parts {
    let StepObservation {
        outcome,
        code,
        status,
        advertised,
        listed,
        tools,
        possible_flaws: _,
        calls,
        at_once,
        saw,
        structured,
        text,
        asked,
        answered,
        rounds,
        canary,
        fetches,
        get_stream,
        events,
        varies,
        stray: _,
        mistyped,
        not_utf8: _,
        endless,
        repeated_id,
        split,
        converted: _,
        cancelled_unknown,
        beside: _,
        undeclared: _,
        not_begun: _,
        unopened: _,
        malformed: _,
        replies,
        sent,
        unread: _,
        took,
        size,
        reply_places: _,
        said: _,
        relayed,
    } = observed;
    let whole = |parts: &Parts| {
        let parts = parts.iter().map(|(name, part)| part.clone().map(|part| (name.clone(), part)));
        Observed::all(parts).map(|parts| Value::Object(parts.into_iter().collect()))
    };
    let by_tool: Parts = listed.iter().map(|(tool, schemas)| (tool.clone(), whole(schemas))).collect();
    let messages = |messages: &[Parts]| {
        (!messages.is_empty()).then(|| Observed::all(messages.iter().map(whole)).map(Value::Array))
    };
    let answer = |AnswerObservation { action, content, code }: &AnswerObservation| {
        let mut answer = Map::from_iter([("action".to_owned(), json(action))]);
        answer.extend(code.map(|code| ("code".to_owned(), code.into())));
        let Some(content) = content else { return Observed::Value(Value::Object(answer)) };
        content.clone().map(|content| {
            answer.insert("content".to_owned(), content);
            Value::Object(answer)
        })
    };
    let uncompared = advertised.values().find_map(|tool| tool.unreadable.clone());
    let known = |is_there: bool, value: Value| is_there.then_some(Observed::Value(value));
    let parts = [
        ("outcome", known(true, json(outcome))),
        ("code", known(code.is_some(), json(code))),
        ("request", relayed.as_ref().map(|relayed| Observed::Value(json(&relayed.request)))),
        ("server-outcome", relayed.as_ref().map(|relayed| Observed::Value(json(&relayed.server.outcome)))),
        ("status", known(status.is_some(), json(status))),
        (
            "advertised",
            uncompared.map(Observed::Unreadable).or_else(|| known(!advertised.is_empty(), json(advertised))),
        ),
        ("listed", (!listed.is_empty()).then(|| whole(&by_tool))),
        ("tools", known(!tools.is_empty(), json(tools))),
        ("calls", known(!calls.is_empty(), json(&marks(calls)))),
        ("at-once", (!at_once.is_empty()).then(|| at_once::view(at_once))),
        ("saw", saw.clone()),
        ("structured", structured.clone()),
        ("text", text.clone().map(|text| text.map(|text| json(&text)))),
        ("asked", list(asked)),
        ("answered", (!answered.is_empty()).then(|| Observed::all(answered.iter().map(answer)).map(Value::Array))),
        ("rounds", list(rounds)),
        ("canary", known(canary.is_some(), json(canary))),
        ("fetches", known(*fetches > 0, json(fetches))),
        ("get-stream", known(!get_stream.is_empty(), json(get_stream))),
        ("events", list(events)),
        ("varies", known(varies.is_some(), json(varies))),
        ("repeated-id", known(*repeated_id, json(repeated_id))),
        ("split", known(*split, json(split))),
        ("cancelled-unknown", cancelled_unknown.clone().map(|id| Observed::Value(Value::String(id)))),
        ("endless", endless.map(|page| Observed::Value(page.into()))),
        ("mistyped", mistyped.clone().map(|one| one.map(|one| Value::String(one.message)))),
        ("replies", messages(replies)),
        ("sent", messages(sent)),
        ("took", known(true, json(took))),
        ("size", known(true, json(size))),
    ];
    parts.into_iter().filter_map(|(name, part)| Some((name.to_owned(), part?))).collect()
}

/// The marks of the calls of each tool, without the evidence.
fn marks(calls: &BTreeMap<String, BTreeMap<CallMark, CallEvidence>>) -> BTreeMap<&str, Vec<CallMark>> {
    calls.iter().map(|(tool, marks)| (tool.as_str(), marks.keys().copied().collect())).collect()
}

/// Validates an object of which some parts may be unreadable.
fn fits(key: &str, schema: &SharedSchema, parts: Parts) -> Compared {
    let mut dependencies = Dependencies::default();
    let is_narrow = dependencies.collect(schema.value());
    let mut object = Map::new();
    for (name, part) in parts {
        let value = match part {
            Observed::Value(value) => value,
            Observed::Unreadable(reason) if !is_narrow || dependencies.values.contains(name.as_str()) => {
                return Compared::Unknown(unreadable(&format!("{key}: {name}"), &reason));
            }
            // The schema depends only on its presence.
            Observed::Unreadable(_) => Value::Null,
        };
        object.insert(name, value);
    }
    violation(key, schema, &Value::Object(object))
}

fn violation(key: &str, schema: &SharedSchema, value: &Value) -> Compared {
    let describe = |error: &ValidationError<'_>| {
        let sentence = Violation { key, schema: schema.value(), value }.sentence(error);
        (error.instance_path().to_string(), shortened(&sentence, SENTENCE).into_owned())
    };
    let violation = match schema.compiled() {
        Ok(schema) => schema.first_error(value, describe),
        Err(why) => return Compared::Unknown(undecidable(key, &format!("the schema cannot be used: {why}"))),
    };
    match violation {
        Ok(None) => Compared::Holds,
        Ok(Some((pointer, message))) => {
            Compared::Misses(Finding::Violation { place: key.to_owned(), pointer, message, reply: None })
        }
        Err(too_much) => Compared::Unknown(undecidable(key, &too_much.to_string())),
    }
}

fn mismatch(place: &str, expected: &str, observed: &str) -> Finding {
    Finding::Mismatch { place: place.to_owned(), expected: expected.to_owned(), observed: observed.to_owned() }
}

fn missing(place: &str) -> Finding {
    Finding::Missing { place: place.to_owned() }
}

fn unreadable(place: &str, reason: &str) -> Finding {
    Finding::Unreadable { place: place.to_owned(), reason: reason.to_owned() }
}

fn undecidable(place: &str, reason: &str) -> Finding {
    Finding::Undecidable { place: place.to_owned(), reason: reason.to_owned() }
}

fn one_of<T: ToString>(words: &[T]) -> String {
    self::words(words, " or ")
}

fn words<T: ToString>(words: &[T], between: &str) -> String {
    words.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}

fn shown_or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn shown(value: &Value) -> String {
    shortened(&value.to_string(), SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Action, TextState, TimeClass};
    use crate::model::template::Template;
    use serde_json::json;

    fn misses_of(expected: &Expectation, observed: &StepObservation) -> Vec<String> {
        let misses = misses(expected, observed, &samples::id("f/c/t@2026-07-28+http"));
        assert_eq!(misses.unknown, Vec::new());
        misses.missed.iter().map(ToString::to_string).collect()
    }

    fn messages(messages: &[Value]) -> Vec<Parts> {
        let parts = |message: &Value| {
            let members = message.as_object().expect("an object").clone();
            members.into_iter().map(|(name, value)| (name, Observed::Value(value))).collect()
        };
        messages.iter().map(parts).collect()
    }

    #[test]
    fn each_key_that_does_not_hold_is_reported() {
        let expected = Expectation {
            outcome: vec![Outcome::ToolError, Outcome::ProtocolError],
            code: Some(-32602),
            status: vec![400],
            canary: Some(CanaryState::Touched),
            saw: Some(Matcher::Absent),
            text: Some(TextState::Mirrors),
            took: Some(TimeClass::Instant),
            matches: Some(json!({"required": ["code"]}).into()),
            ..Expectation::default()
        };
        let observed = StepObservation {
            saw: Some(json!({"to": 42}).into()),
            status: Some(200),
            took: TimeClass::Quick,
            ..samples::step(Outcome::Success)
        };
        assert_eq!(
            misses_of(&expected, &observed),
            [
                "outcome: expected tool-error or protocol-error, observed success",
                "code: expected -32602, observed none",
                "status: expected 400, observed 200",
                "canary: expected touched, observed untouched",
                "saw: expected nothing, observed {\"to\":42}",
                "text: expected mirrors structured, observed something else",
                "took: expected at most instant, observed quick",
                "matches: the error code is missing",
            ]
        );
        assert_eq!(misses_of(&Expectation::default(), &observed), Vec::<String>::new());
    }

    #[test]
    fn null_is_a_value_and_not_absence() {
        let null = Some(Matcher::Equals(Template::Null));
        let wanted = Expectation { structured: null, ..Expectation::default() };
        let with = StepObservation { structured: Some(Value::Null.into()), ..samples::step(Outcome::Success) };
        assert!(misses_of(&wanted, &with).is_empty());
        assert!(!misses_of(&wanted, &samples::step(Outcome::Success)).is_empty());
        let absent = Expectation { structured: Some(Matcher::Absent), ..Expectation::default() };
        assert!(!misses_of(&absent, &with).is_empty());
    }

    #[test]
    fn status_is_ignored_over_stdio() {
        let expected = Expectation { status: vec![400], ..Expectation::default() };
        let observed = samples::step(Outcome::ProtocolError);
        assert!(misses(&expected, &observed, &samples::id("f/c/t@2026-07-28+stdio")).is_empty());
        assert_eq!(misses_of(&expected, &observed), ["status: expected 400, observed none"]);
    }

    #[test]
    fn answer_is_compared_by_action_and_content() {
        let answered = Answered { action: Action::Accept, content: Some(Matcher::Contains((&json!({"a": 1})).into())) };
        let expected = Expectation { answered: Some(answered), ..Expectation::default() };
        let answer = |content: Value| StepObservation {
            answered: vec![AnswerObservation {
                action: Some(Action::Accept),
                content: Some(content.into()),
                code: None,
            }],
            ..samples::step(Outcome::Success)
        };
        assert!(misses_of(&expected, &answer(json!({"a": 1.0, "b": 2}))).is_empty());
        assert_eq!(misses_of(&expected, &answer(json!({}))).len(), 1);
        assert_eq!(misses_of(&expected, &samples::step(Outcome::Success)).len(), 1);
    }

    #[test]
    fn each_sent_message_must_fit() {
        let expected = Expectation { sent: Some(json!({"required": ["headers"]}).into()), ..Expectation::default() };
        let of = |sent: &[Value]| {
            misses_of(&expected, &StepObservation { sent: messages(sent), ..samples::step(Outcome::Success) })
        };
        assert!(of(&[json!({"headers": {}})]).is_empty());
        assert_eq!(
            of(&[json!({"headers": {}}), json!({})]),
            ["sent: the list of headers of the message of the client is missing"]
        );
        // A schema of messages is about those that were sent; only `true` demands one.
        assert!(of(&[]).is_empty());
        let any = Expectation { sent: Some(json!(true).into()), ..Expectation::default() };
        assert_eq!(misses_of(&any, &samples::step(Outcome::Success)), ["sent: missing"]);
    }

    #[test]
    fn each_reply_must_fit_and_there_must_be_one() {
        let expected = Expectation { reply: Some(json!({"required": ["status"]}).into()), ..Expectation::default() };
        let of = |replies: &[Value]| {
            misses_of(&expected, &StepObservation { replies: messages(replies), ..samples::step(Outcome::Success) })
        };
        assert!(of(&[json!({"status": 200})]).is_empty());
        assert_eq!(of(&[json!({"status": 200}), json!({})]), ["reply: the HTTP status of the reply is missing"]);
        assert_eq!(of(&[]), ["reply: missing"]);
    }

    #[test]
    fn schema_with_a_remote_reference_is_not_evaluated() {
        let expected =
            Expectation { matches: Some(json!({"$ref": "http://127.0.0.1:9/x"}).into()), ..Expectation::default() };
        let misses = misses(&expected, &samples::step(Outcome::Success), &samples::id("f/c/t@2026-07-28+http"));
        assert!(misses.unknown[0].to_string().contains("cannot be used"));
    }
}
