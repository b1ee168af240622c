//! One expectation against one step: what doesn't hold, in words.
//!
//! Takes what an author expects and what was observed. Must not know levels, controls or known failures.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::compare;
use super::places;
use crate::model::case::{Advertised, Answered, CanaryState, Expectation, Flaw, Matcher};
use crate::model::nesting;
use crate::model::observation::{AdvertisedTool, AnswerObservation, StepObservation};
use crate::model::spec::Transport;
use crate::model::{RequirementId, TestId};

/// Levels of a schema that our validator sees.
const SCHEMA_LEVELS: usize = 64;
/// How many characters of a value are shown.
const SHOWN: usize = 240;

/// Every key that doesn't hold, a line each; empty where the expectation holds.
pub(super) fn misses(expected: &Expectation, observed: &StepObservation, id: &TestId) -> Vec<String> {
    let mut misses = Misses { lines: Vec::new(), revision: id.revision.name() };
    if !expected.outcome.is_empty() && !expected.outcome.contains(&observed.outcome) {
        misses.differ("outcome", &one_of(&expected.outcome), observed.outcome.word());
    }
    if expected.code.is_some() && expected.code != observed.code {
        misses.differ("code", &shown_or_none(expected.code), &shown_or_none(observed.code));
    }
    let status_counts = !expected.status.is_empty() && id.transport == Transport::Http;
    if status_counts && observed.status.is_none_or(|status| !expected.status.contains(&status)) {
        misses.differ("status", &one_of(&expected.status), &shown_or_none(observed.status));
    }
    // A test without canaries has none that could have been fetched.
    let canary = observed.canary.unwrap_or(CanaryState::Untouched);
    if let Some(wanted) = expected.canary.filter(|wanted| *wanted != canary) {
        misses.differ("canary", wanted.word(), canary.word());
    }
    for (tool, wanted) in &expected.advertised {
        misses.lines.extend(unlike(tool, wanted, observed.advertised.get(tool)));
    }
    misses.lines.extend(flawed(&expected.without, &observed.tools));
    misses.value("saw", expected.saw.as_ref(), observed.saw.as_ref());
    misses.value("structured", expected.structured.as_ref(), observed.structured.as_ref());
    if let Some(wanted) = expected.text.filter(|wanted| observed.text != Some(*wanted)) {
        misses.differ("text", wanted.word(), observed.text.map_or("something else", |text| text.word()));
    }
    misses.value("asked", expected.asked.as_ref(), several(&observed.asked).as_ref());
    if let Some(wanted) = &expected.answered {
        misses.answers(wanted, &observed.answered);
    }
    if let Some(bound) = expected.took.filter(|bound| observed.took > *bound) {
        misses.differ("took", &format!("at most {bound}"), observed.took.word());
    }
    let whole = [("reply", &expected.reply, &observed.replies), ("sent", &expected.sent, &observed.sent)];
    for (key, schema, messages) in whole {
        misses.lines.extend(schema.as_ref().and_then(|schema| unfit(key, schema, messages)));
    }
    misses.lines.extend(expected.matches.as_ref().and_then(|schema| mismatch(schema, observed)));
    misses.lines
}

/// What to say where an alternative's MAY isn't in force.
pub(super) fn not_in_force(may: &RequirementId) -> String {
    format!("allowed by {may}, which is not in force on this revision")
}

struct Misses {
    lines: Vec<String>,
    revision: &'static str,
}

impl Misses {
    fn differ(&mut self, key: &str, expected: &str, observed: &str) {
        self.lines.push(format!("{key}: expected {expected}, observed {observed}"));
    }

    fn value(&mut self, key: &str, wanted: Option<&Matcher>, observed: Option<&Value>) {
        let Some(wanted) = wanted else { return };
        let (verb, template) = match wanted {
            Matcher::Absent => {
                if let Some(observed) = observed {
                    self.differ(key, "nothing", &shown(observed));
                }
                return;
            }
            Matcher::Equals(template) => ("", template),
            Matcher::Contains(template) => ("at least ", template),
        };
        let Some(expected) = places::fill(template, self.revision) else {
            self.lines.push(format!("{key}: the expected value is nested too deep to be compared"));
            return;
        };
        let holds = observed.is_some_and(|observed| match wanted {
            Matcher::Contains(_) => compare::contains(observed, &expected),
            _ => compare::equal(observed, &expected),
        });
        if !holds {
            let observed = observed.map_or_else(|| "nothing".to_owned(), shown);
            self.differ(key, &format!("{verb}{}", shown(&expected)), &observed);
        }
    }

    /// Every elicitation was answered so, and there was one.
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

fn unlike(tool: &str, wanted: &Advertised, observed: Option<&AdvertisedTool>) -> Option<String> {
    let Some(observed) = observed else { return Some(format!("advertised: `{tool}` is not listed")) };
    if observed.too_deep {
        return Some(format!("advertised: `{tool}` is nested too deep to be compared"));
    }
    let kinds = [("lacks", &observed.removed), ("adds", &observed.added), ("changes", &observed.changed)];
    match wanted {
        Advertised::AsGiven if observed.as_given() => None,
        Advertised::AsGiven => {
            let told = kinds.iter().filter(|(_, list)| !list.is_empty());
            let told: Vec<_> = told.map(|(verb, list)| format!("{verb} {}", list.join(" "))).collect();
            Some(format!("advertised: `{tool}` {}", told.join("; ")))
        }
        Advertised::Keeps(pointers) => {
            let all = kinds.iter().flat_map(|(_, list)| list.iter());
            let touched = |kept: &&String| all.clone().any(|found| is_within(found, kept) || is_within(kept, found));
            let lost: Vec<&str> = pointers.iter().filter(touched).map(String::as_str).collect();
            if !lost.is_empty() {
                return Some(format!("advertised: `{tool}` doesn't keep {}", lost.join(" ")));
            }
            let cut = kinds.iter().any(|(_, list)| compare::is_cut(list));
            cut.then(|| format!("advertised: `{tool}` differs in more places than were written down"))
        }
    }
}

/// What a list has that none of its tools may have; it is about a list only where that has a tool.
fn flawed(without: &BTreeSet<Flaw>, tools: &BTreeMap<String, BTreeSet<Flaw>>) -> Vec<String> {
    if !without.is_empty() && tools.is_empty() {
        return vec!["tools: none is listed".to_owned()];
    }
    let has = |(name, flaws): (&String, &BTreeSet<Flaw>)| {
        let found: Vec<_> = flaws.intersection(without).copied().collect();
        (!found.is_empty()).then(|| {
            format!("tools: `{name}`: {}", found.iter().map(|flaw| flaw.word()).collect::<Vec<_>>().join(", "))
        })
    };
    tools.iter().filter_map(has).collect()
}

/// Whether a pointer is another one, or leads to something below it.
fn is_within(pointer: &str, above: &str) -> bool {
    pointer.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A schema over each message, of which there is at least one.
fn unfit(key: &str, schema: &Value, messages: &[Value]) -> Option<String> {
    if messages.is_empty() {
        return Some(format!("{key}: none came"));
    }
    messages.iter().find_map(|message| violation(key, schema, message))
}

/// The way out: a schema over the observation. An error's words are for people, so it doesn't see them.
fn mismatch(schema: &Value, observed: &StepObservation) -> Option<String> {
    let observed = StepObservation { said: None, ..observed.clone() };
    let observed = serde_json::to_value(observed).expect("an observation is always JSON");
    violation("matches", schema, &observed)
}

fn violation(key: &str, schema: &Value, value: &Value) -> Option<String> {
    if nesting::depth(schema.to_string().as_bytes()) > SCHEMA_LEVELS {
        return Some(format!("{key}: the schema has more than {SCHEMA_LEVELS} levels"));
    }
    let validator = match jsonschema::validator_for(schema) {
        Ok(validator) => validator,
        Err(error) => return Some(format!("{key}: the schema can't be used: {error}")),
    };
    let error = validator.validate(value).err()?;
    Some(format!("{key}: {}: {}", error.instance_path(), cut(&error.to_string())))
}

/// One value as it is, several as a list.
fn several(values: &[Value]) -> Option<Value> {
    match values {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(Value::Array(several.to_vec())),
    }
}

fn one_of<T: ToString>(words: &[T]) -> String {
    words.iter().map(T::to_string).collect::<Vec<_>>().join(" or ")
}

fn shown_or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn shown(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Action, Outcome, TextState, TimeClass};
    use crate::model::template::Template;
    use serde_json::json;

    fn misses_of(expected: &Expectation, observed: &StepObservation) -> Vec<String> {
        misses(expected, observed, &samples::id("f/c/t@2026-07-28+http"))
    }

    #[test]
    fn every_key_must_hold_and_each_that_does_not_is_told() {
        let expected = Expectation {
            outcome: vec![Outcome::ToolError, Outcome::ProtocolError],
            code: Some(-32602),
            status: vec![400],
            canary: Some(CanaryState::Touched),
            saw: Some(Matcher::Absent),
            text: Some(TextState::Mirrors),
            took: Some(TimeClass::Instant),
            matches: Some(json!({"required": ["code"]})),
            ..Expectation::default()
        };
        let observed = StepObservation {
            saw: Some(json!({"to": 42})),
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
                "matches: : \"code\" is a required property",
            ]
        );
        assert_eq!(misses_of(&Expectation::default(), &observed), Vec::<String>::new());
    }

    #[test]
    fn null_is_there_and_only_absent_is_absence() {
        let null = Some(Matcher::Equals(Template::Null));
        let wanted = Expectation { structured: null, ..Expectation::default() };
        let with = StepObservation { structured: Some(Value::Null), ..samples::step(Outcome::Success) };
        assert!(misses_of(&wanted, &with).is_empty());
        assert!(!misses_of(&wanted, &samples::step(Outcome::Success)).is_empty());
        let absent = Expectation { structured: Some(Matcher::Absent), ..Expectation::default() };
        assert!(!misses_of(&absent, &with).is_empty());
    }

    #[test]
    fn a_pointer_is_kept_when_nothing_at_above_or_below_it_differs() {
        let keeps = |pointer: &str| Advertised::Keeps(vec![pointer.into()]);
        let observed = AdvertisedTool {
            removed: vec!["/inputSchema/anyOf".into()],
            changed: vec!["/inputSchema/not/required/0".into()],
            ..AdvertisedTool::default()
        };
        for lost in ["/inputSchema/anyOf", "/inputSchema/anyOf/0", "/inputSchema/not", "/inputSchema"] {
            assert!(unlike("t", &keeps(lost), Some(&observed)).is_some(), "{lost}");
        }
        for kept in ["/inputSchema/any", "/inputSchema/not/required/1", "/outputSchema"] {
            assert_eq!(unlike("t", &keeps(kept), Some(&observed)), None);
        }
        assert!(unlike("t", &keeps("/x"), None).is_some());
        assert!(unlike("t", &Advertised::AsGiven, Some(&observed)).is_some_and(|told| told.contains("lacks")));
    }

    #[test]
    fn the_status_is_no_matter_over_stdio() {
        let expected = Expectation { status: vec![400], ..Expectation::default() };
        let observed = samples::step(Outcome::ProtocolError);
        assert!(misses(&expected, &observed, &samples::id("f/c/t@2026-07-28+stdio")).is_empty());
        assert_eq!(misses_of(&expected, &observed), ["status: expected 400, observed none"]);
    }

    #[test]
    fn an_answer_is_compared_by_action_and_content() {
        let answered = Answered { action: Action::Accept, content: Some(Matcher::Contains((&json!({"a": 1})).into())) };
        let expected = Expectation { answered: Some(answered), ..Expectation::default() };
        let answer = |content: Value| StepObservation {
            answered: vec![AnswerObservation { action: Some(Action::Accept), content: Some(content), code: None }],
            ..samples::step(Outcome::Success)
        };
        assert!(misses_of(&expected, &answer(json!({"a": 1.0, "b": 2}))).is_empty());
        assert_eq!(misses_of(&expected, &answer(json!({}))).len(), 1);
        assert_eq!(misses_of(&expected, &samples::step(Outcome::Success)).len(), 1);
    }

    #[test]
    fn every_message_sent_must_fit_too() {
        let expected = Expectation { sent: Some(json!({"required": ["headers"]})), ..Expectation::default() };
        let of = |sent: &[Value]| {
            misses_of(&expected, &StepObservation { sent: sent.to_vec(), ..samples::step(Outcome::Success) })
        };
        assert!(of(&[json!({"headers": {}})]).is_empty());
        assert_eq!(of(&[json!({"headers": {}}), json!({})]), ["sent: : \"headers\" is a required property"]);
        assert_eq!(of(&[]), ["sent: none came"]);
    }

    #[test]
    fn every_reply_must_fit_and_no_reply_fits_nothing() {
        let expected = Expectation { reply: Some(json!({"required": ["status"]})), ..Expectation::default() };
        let of = |replies: &[Value]| {
            misses_of(&expected, &StepObservation { replies: replies.to_vec(), ..samples::step(Outcome::Success) })
        };
        assert!(of(&[json!({"status": 200})]).is_empty());
        assert_eq!(of(&[json!({"status": 200}), json!({})]), ["reply: : \"status\" is a required property"]);
        assert_eq!(of(&[]), ["reply: none came"]);
    }

    #[test]
    fn a_schema_in_matches_can_fetch_nothing() {
        let expected = Expectation { matches: Some(json!({"$ref": "http://127.0.0.1:9/x"})), ..Expectation::default() };
        assert!(misses_of(&expected, &samples::step(Outcome::Success))[0].contains("can't be used"));
    }
}
