//! The text of an observation: one line where it is short, and otherwise a line for each part of a step.
//!
//! Takes an observation, gives text without ids, times and the words of errors. Must not know tests, files or verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::super::Untrusted;
use crate::model::abridged::{SHOWN, abridged};
use crate::model::bound::cut_text;
use crate::model::case::{CallMark, Flaw, TextState};
use crate::model::observation::{
    AdvertisedTool, AnswerObservation, CallAtOnceObservation, ListChange, Observation, Observed, Params,
    ResponseAtOnce, Round, SizeClass, StepObservation,
};

/// The length up to which the parts of a step share a line, in characters.
const COLUMNS: usize = 110;
/// The indent of a step, and of a part below its step.
const INDENT: &str = "    ";
/// Begins the observation of a test that the adapter cannot express.
pub(super) const CANNOT: &str = "cannot: ";

/// An observation as text. Its first line begins with a word of a fixed vocabulary; all others are indented.
pub fn observation(seen: &Observation) -> String {
    let leaky = if seen.leaky { " (leaky)" } else { "" };
    if seen.unavailable.is_some() {
        return format!("unavailable{leaky}");
    }
    if let Some(reason) = &seen.cannot {
        return format!("{CANNOT}{}{leaky}", line(reason));
    }
    match seen.steps.as_slice() {
        [one] => joined(step(one), "", leaky),
        steps => {
            let lines = steps.iter().enumerate().map(|(index, one)| {
                let number = format!("{INDENT}{} ", index + 1);
                format!("\n{number}{}", joined(step(one), INDENT, ""))
            });
            format!("steps{leaky}{}", lines.collect::<String>())
        }
    }
}

/// The parts of a step on one line, or where that is too long each on its own line.
fn joined(parts: Vec<String>, indent: &str, leaky: &str) -> String {
    let line = parts.join("; ");
    if line.chars().count() <= COLUMNS {
        return line + leaky;
    }
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    parts.fold(first + leaky, |text, part| format!("{text}\n{indent}{INDENT}{part}"))
}

/// The parts of a step that stay the same from run to run: neither times nor an error's words.
fn step(seen: &StepObservation) -> Vec<String> {
    let mut parts = vec![seen.outcome.to_string()];
    parts.extend(seen.code.map(|code| format!("code {code}")));
    // The usual ones would only tell HTTP from stdio.
    parts.extend(seen.status.filter(|status| !matches!(status, 200 | 202)).map(|status| format!("status {status}")));
    parts.extend(seen.saw.as_ref().map(|saw| format!("saw {}", value(saw))));
    parts.extend(content(seen));
    parts.extend(advertised(&seen.advertised));
    let schemas = seen.listed.iter().flat_map(|(tool, schemas)| schemas.iter().map(move |schema| (tool, schema)));
    parts.extend(schemas.map(|(tool, (key, schema))| format!("{key} of {} {}", line(tool), value(schema))));
    parts.extend(seen.tools.iter().map(|(name, flaws)| found(name, flaws)));
    parts.extend(seen.calls.iter().map(|(tool, marks)| called(tool, marks.keys())));
    parts.extend(seen.at_once.iter().map(at_once));
    parts.extend(seen.varies.map(|change| match change {
        ListChange::Order | ListChange::Tools => format!("varies in its {change}"),
        ListChange::NothingBefore => "each list before it failed".to_owned(),
    }));
    parts.extend(seen.unopened.then(|| "no session".to_owned()));
    parts.extend(seen.split.then(|| "writes a message on several lines".to_owned()));
    parts.extend(seen.repeated_id.then(|| "repeats an id".to_owned()));
    parts.extend(seen.cancelled_unknown.is_some().then(|| "cancels a request that is not running".to_owned()));
    parts.extend(seen.beside.keys().map(ToString::to_string));
    parts.extend(seen.undeclared.map(|request| format!("sends {request}, which the client did not declare")));
    parts.extend(seen.stray.is_some().then(|| "writes a line that is no message".to_owned()));
    parts.extend(seen.not_utf8.then(|| "sends bytes that are not UTF-8".to_owned()));
    parts.extend(seen.endless.map(|_| "a list without an end".to_owned()));
    let mistyped = seen.mistyped.as_ref().and_then(Observed::value);
    parts.extend(mistyped.map(|one| format!("mistyped at {}", line(&one.pointer))));
    parts.extend(seen.asked.iter().map(|params| format!("asked {}", value(params))));
    parts.extend(seen.get_stream.iter().map(|message| format!("{message} on the GET stream")));
    let events: Vec<_> = seen.events.iter().map(event).collect();
    parts.extend((!events.is_empty()).then(|| format!("events {}", events.join(", "))));
    parts.extend(seen.answered.iter().map(answered));
    let rounds = counted(seen.rounds.iter().map(round));
    parts.extend((!rounds.is_empty()).then(|| format!("rounds {}", rounds.join(", "))));
    parts.extend(seen.canary.map(|canary| match seen.fetches {
        0 | 1 => format!("canary {canary}"),
        fetches => format!("canary {canary} by {fetches} fetches"),
    }));
    parts.extend((seen.size != SizeClass::Small).then(|| format!("size {}", seen.size)));
    counted(parts)
}

/// Texts of which equal ones in a row became one, with their number before it: `7 × answered decline`.
fn counted(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match counted.last_mut().filter(|(last, _)| *last == text) {
            Some((_, count)) => *count += 1,
            None => counted.push((text, 1)),
        }
    }
    counted.into_iter().map(|(text, count)| if count == 1 { text } else { format!("{count} × {text}") }).collect()
}

/// An event without the values of its members.
fn event(event: &Observed) -> String {
    match event {
        Observed::Value(Value::String(signal)) => line(signal),
        Observed::Value(event) => ["kind", "method", "on", "id"]
            .iter()
            .filter_map(|key| event[key].as_str().map(line))
            .collect::<Vec<_>>()
            .join(" "),
        Observed::Unreadable(reason) => format!("unreadable ({})", line(reason)),
    }
}

/// The structured content and the text beside it, as far as they are not as [`super::body::USUAL`] says.
fn content(seen: &StepObservation) -> impl Iterator<Item = String> {
    let structured = match (&seen.structured, &seen.saw) {
        (Some(structured), saw) if Some(structured) == saw.as_ref() => None,
        (Some(structured), _) => Some(format!("structured {}", value(structured))),
        (None, saw) => saw.as_ref().map(|_| "structured absent".to_owned()),
    };
    let text = match (&seen.text, &seen.structured) {
        (Some(Observed::Value(TextState::Mirrors)), Some(_)) | (None, None) => None,
        (Some(Observed::Value(text)), _) => Some(format!("text {text}")),
        (Some(Observed::Unreadable(reason)), _) => Some(format!("text unreadable ({})", line(reason))),
        (None, Some(_)) => Some("text other".to_owned()),
    };
    structured.into_iter().chain(text)
}

/// Tools beside those of the fixture: the equal ones in one part, and a part for each of the others.
fn advertised(tools: &BTreeMap<String, AdvertisedTool>) -> impl Iterator<Item = String> {
    let (as_given, others): (Vec<_>, Vec<_>) = tools.iter().partition(|(_, tool)| tool.as_given());
    let names: Vec<_> = as_given.into_iter().map(|(tool, _)| name(tool)).collect();
    let as_given = (!names.is_empty()).then(|| format!("listed as given: {}", names.join(", ")));
    let other = |(one, tool): (&String, &AdvertisedTool)| {
        let mut text = format!("{} listed", name(one));
        if let Some(reason) = &tool.unreadable {
            write!(text, " unreadable ({})", line(reason)).expect("writing to memory never fails");
        }
        for (sign, pointers) in [('-', &tool.removed), ('+', &tool.added), ('~', &tool.changed)] {
            for pointer in pointers {
                write!(text, " {sign}{}", line(pointer)).expect("writing to memory never fails");
            }
        }
        text
    };
    as_given.into_iter().chain(others.into_iter().map(other))
}

fn found(tool: &str, flaws: &BTreeSet<Flaw>) -> String {
    let parts = [name(tool), "listed".to_owned()];
    parts.into_iter().chain(flaws.iter().map(ToString::to_string)).collect::<Vec<_>>().join(" ")
}

fn called<'m>(tool: &str, marks: impl Iterator<Item = &'m CallMark>) -> String {
    let parts = [name(tool), "called".to_owned()];
    parts.into_iter().chain(marks.map(ToString::to_string)).collect::<Vec<_>>().join(" ")
}

/// One of several calls that run at once.
fn at_once(call: &CallAtOnceObservation) -> String {
    let response = |one: &ResponseAtOnce| {
        let on = one.on.map(|on| format!(" on {on}")).unwrap_or_default();
        let saw = one.saw.as_ref().map(|saw| format!(" saw {}", value(saw))).unwrap_or_default();
        on + &saw
    };
    let code = call.code.map(|code| format!(" code {code}")).unwrap_or_default();
    let responses: Vec<_> = call.responses.iter().map(response).collect();
    format!("call {}{code}{}", call.outcome, responses.join(" and"))
}

fn round(round: &Observed<Round>) -> String {
    let round = match round {
        Observed::Value(round) => round,
        Observed::Unreadable(reason) => return format!("unreadable ({})", line(reason)),
    };
    let id = if round.fresh_id { "" } else { " with an old id" };
    let params = if round.params == Params::Same { "" } else { " with other params" };
    format!("{}{id}{params}", round.state)
}

fn answered(answer: &AnswerObservation) -> String {
    let action = answer.action.map_or("oddly", |action| action.word());
    let code = answer.code.map(|code| format!(" code {code}")).unwrap_or_default();
    let content = answer.content.as_ref().map(|content| format!(" {}", value(content))).unwrap_or_default();
    format!("answered {action}{code}{content}")
}

/// A value as abridged JSON, or in angle brackets the reason why it cannot be read.
fn value(value: &Observed) -> String {
    let text = match value {
        Observed::Value(json) => abridged(json),
        // A record that lacks the value has its abridged text.
        Observed::Unreadable(reason) => cut_text(value).map_or_else(|| format!("\"<{reason}>\""), str::to_owned),
    };
    Untrusted(&text).line(2 * SHOWN)
}

/// The name of a tool; in quotation marks where it could be taken for something else.
fn name(name: &str) -> String {
    let is_plain = !name.is_empty() && name == name.trim() && !name.contains([',', ';', '"']);
    if is_plain { line(name) } else { line(&Value::from(name).to_string()) }
}

/// Other text from outside.
fn line(text: &str) -> String {
    Untrusted(text).line(SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::samples;
    use crate::model::bound::bound;
    use crate::model::case::{Action, Outcome};
    use crate::model::observation::StateEcho;

    fn call(saw: Option<Value>, structured: Option<Value>, text: Option<TextState>) -> String {
        let step = StepObservation {
            saw: saw.map(Observed::Value),
            structured: structured.map(Observed::Value),
            text: text.map(Observed::Value),
            ..samples::step(Outcome::Success)
        };
        observation(&samples::observation(vec![step]))
    }

    #[test]
    fn content_is_shown_unless_it_is_the_usual() {
        let (one, mirrors) = (|| Some(json!(1)), Some(TextState::Mirrors));
        let absent = Some(TextState::Absent);
        assert_eq!(call(one(), one(), mirrors), "success; saw 1");
        assert_eq!(call(one(), one(), absent), "success; saw 1; text absent");
        assert_eq!(call(one(), one(), None), "success; saw 1; text other");
        assert_eq!(call(one(), Some(json!(2)), mirrors), "success; saw 1; structured 2");
        assert_eq!(call(one(), None, None), "success; saw 1; structured absent");
        assert_eq!(call(None, one(), mirrors), "success; structured 1");
        assert_eq!(call(None, None, absent), "success; text absent");
        assert_eq!(call(None, None, None), "success");
    }

    #[test]
    fn odd_names_of_tools_are_quoted() {
        let given = ["", " a", "b, c", "plain name"].map(|name| (name.to_owned(), AdvertisedTool::default()));
        let step = StepObservation { advertised: given.into(), ..samples::step(Outcome::Success) };
        let expected = r#"success; listed as given: "", " a", "b, c", plain name"#;
        assert_eq!(observation(&samples::observation(vec![step])), expected);
    }

    #[test]
    fn equal_parts_in_a_row_are_counted() {
        let round = |state| Observed::Value(Round { state, fresh_id: true, params: Params::Same });
        let answer = || AnswerObservation { action: Some(Action::Decline), content: None, code: None };
        let step = StepObservation {
            asked: [1, 2, 2, 2].map(|one| json!(one).into()).into(),
            answered: vec![answer(), answer()],
            rounds: [StateEcho::Absent, StateEcho::Echoed, StateEcho::Echoed].map(round).into(),
            ..samples::step(Outcome::Success)
        };
        let expected = "success; asked 1; 3 × asked 2; 2 × answered decline; rounds absent, 2 × echoed";
        assert_eq!(observation(&samples::observation(vec![step])), expected);
    }

    #[test]
    fn long_value_is_abridged_and_has_its_own_line() {
        let text = call(Some(json!({"p": "x".repeat(100_000)})), None, None);
        assert!(text.starts_with("success\n    saw {\"p\":\"xxx") && text.len() < 500, "{text}");
        assert!(text.contains("(100008 bytes, sha256 "), "{text}");
    }

    #[test]
    fn value_that_was_cut_has_the_snapshot_of_the_whole() {
        let value = json!({"b": 1, "a": ["x\u{1b}".repeat(200_000)]});
        let step = StepObservation { structured: Some(value.into()), ..samples::step(Outcome::Success) };
        let whole = samples::observation(vec![step]);
        let mut cut = whole.clone();
        assert!(bound(&mut cut, 1 << 10) > 0);
        assert_eq!(observation(&cut), observation(&whole));
    }
}
