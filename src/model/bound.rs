//! A size limit for stored observations.
//!
//! The module takes an observation and removes values and lists from it until it fits. An observation with removed
//! parts is marked as such, and is never judged again.

use std::io;

use serde::Serialize;

use super::abridged::abridged;
use super::observation::{Observation, Observed, StepObservation, seen_at_once};
use super::record::Record;

/// The largest observation of a record, in bytes of JSON.
pub const OBSERVATION: usize = 128 << 10;
/// The largest observation that a report keeps, in bytes of JSON.
const BRIEF: usize = 16 << 10;
/// The size up to which every observation is kept, in bytes of JSON.
pub const LEAST: usize = 2 << 10;
/// The size in bytes of JSON from which values are removed first.
const VALUE: usize = 1 << 10;
/// The beginning of the reason that replaces a removed value. No other reason begins with this text.
const CUT: &str = "left out: ";

/// Removes parts of an observation until it has at most `most` bytes of JSON. Returns the number of bytes removed.
pub fn bound(observation: &mut Observation, most: usize) -> u64 {
    let whole = length(observation);
    if whole <= most {
        return 0;
    }
    for step in &mut observation.steps {
        step.relayed = None;
        values(step).filter(|value| length(value) > VALUE).for_each(leave_out);
    }
    if length(observation) > most {
        observation.steps.iter_mut().for_each(clear);
    }
    if length(observation) > most {
        observation.steps = Vec::new();
    }
    let left_out = (whole as u64).saturating_sub(length(observation) as u64).max(1);
    observation.cut = observation.cut.saturating_add(left_out);
    left_out
}

/// Removes the lists of a step.
fn clear(step: &mut StepObservation) {
    let StepObservation { advertised, tools, calls, at_once, asked, answered, rounds, replies, sent, .. } = step;
    advertised.clear();
    tools.clear();
    calls.clear();
    at_once.clear();
    asked.clear();
    for list in [replies, sent] {
        list.clear();
    }
    answered.clear();
    rounds.clear();
}

/// Removes the parts of a record that no report shows.
pub fn brief(record: &mut Record) {
    bound(&mut record.observation, BRIEF);
    for attempt in &mut record.attempts {
        bound(&mut attempt.observation, LEAST);
    }
}

/// Removes the observation of a record that passed, but for steps with short structured content, which may be an answer.
pub fn keep_values(record: &mut Record) {
    const SHORT: usize = 200;
    let has_value = |step: &StepObservation| step.structured.as_ref().is_some_and(|value| length(value) <= SHORT);
    if !record.observation.steps.iter().any(has_value) {
        record.observation.steps = Vec::new();
    }
    for step in &mut record.observation.steps {
        clear(step);
    }
}

/// Returns all values that the target sent.
fn values(step: &mut StepObservation) -> impl Iterator<Item = &mut Observed> {
    let StepObservation { saw, at_once, structured, asked, answered, replies, sent, .. } = step;
    let answers = answered.iter_mut().filter_map(|answer| answer.content.as_mut());
    let parts = replies.iter_mut().chain(sent).flat_map(|parts| parts.values_mut());
    let saw = saw.iter_mut().chain(seen_at_once(at_once));
    saw.chain(structured).chain(asked).chain(answers).chain(parts)
}

/// Replaces a value with its abridged text. A reason is kept.
fn leave_out(observed: &mut Observed) {
    if let Observed::Value(value) = observed {
        *observed = Observed::Unreadable(format!("{CUT}{}", abridged(value)));
    }
}

/// Returns the abridged text of a removed value.
pub fn cut_text(observed: &Observed) -> Option<&str> {
    observed.reason()?.strip_prefix(CUT)
}

/// Returns the length of a value as JSON, in bytes.
pub fn length(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).expect("counting doesn't fail");
    counter.0
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;

    fn seen(structured: Value, replies: Vec<Value>) -> Observation {
        let replies =
            replies.into_iter().map(|reply| [("message".to_owned(), Observed::Value(reply))].into()).collect();
        let step = StepObservation { structured: Some(structured.into()), replies, ..samples::step(Outcome::Success) };
        samples::observation(vec![step])
    }

    #[test]
    fn observation_within_the_limit_is_unchanged() {
        let mut kept = seen(json!({"a": "x".repeat(OBSERVATION / 2)}), Vec::new());
        let before = kept.clone();
        assert_eq!(bound(&mut kept, OBSERVATION), 0);
        assert_eq!(kept, before);
    }

    #[test]
    fn large_value_is_replaced_by_its_abridged_text() {
        let value = json!({"b": 1, "a": "x".repeat(8 << 20)});
        let mut kept = seen(value.clone(), vec![json!({"small": 1})]);
        let whole = length(&kept) as u64;
        let left_out = bound(&mut kept, OBSERVATION);
        assert_eq!((kept.cut, left_out + length(&Observation { cut: 0, ..kept.clone() }) as u64), (left_out, whole));
        let step = &kept.steps[0];
        assert_eq!(step.replies[0]["message"], Observed::Value(json!({"small": 1})));
        let text = step.structured.as_ref().and_then(cut_text).expect("a reason in its place");
        assert_eq!(text, abridged(&value));
        assert!(text.starts_with(r#"{"a":"xxx"#) && text.contains("(8388622 bytes, sha256 "), "{text}");
    }

    #[test]
    fn many_values_and_many_steps_are_limited_too() {
        let mut kept = seen(json!(1), vec![json!("x".repeat(1000)); 1000]);
        bound(&mut kept, OBSERVATION);
        assert!(kept.steps[0].replies.is_empty() && kept.cut > 900_000);
        let mut kept = samples::observation(vec![samples::step(Outcome::Success); 10_000]);
        assert!(bound(&mut kept, OBSERVATION) > 0 && length(&kept) < OBSERVATION);
    }
}
