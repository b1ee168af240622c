//! The evidence of one verdict: the messages of its step, and the reason why the step ended.
//!
//! Takes a transcript and a verdict, gives labelled texts, escaped and bounded in characters and lines. Must not know
//! how findings are grouped or coloured.

use serde_json::Value;

use crate::model::record::Verdict;
use crate::model::text::count;
use crate::model::transcript::{End, Party, Served, Transcript};
use crate::report::Untrusted;

/// A label, and the text beside it, which may have several lines.
pub(super) type Labelled = (&'static str, String);

/// The characters of a message, and of any text on one line, that are shown.
const SHOWN: usize = 600;
/// The first and the last lines that are shown of a longer text. A traceback has its exception at the end.
const FIRST_LINES: usize = 4;
const LAST_LINES: usize = 16;
/// The characters that are shown of one of several lines.
const LINE: usize = 300;
/// The texts with line breaks that are shown of a message, and the bytes of a message in which they are looked for.
const UNFOLDED: usize = 2;
const READ: usize = 1 << 20;

/// Returns the last messages of the verdict's step, and its end where no response shows it.
pub(super) fn evidence(transcript: &Transcript, verdict: &Verdict) -> Vec<Labelled> {
    let Some(step) = transcript.steps.get(verdict.step) else {
        return match &transcript.served {
            Served::Refused { r#type, message } => vec![("refused", lines(&format!("{type}: {message}")))],
            Served::Failed { detail, .. } => vec![("failed", lines(detail)), ("stderr", lines(&transcript.stderr))],
            _ => Vec::new(),
        };
    };
    let last = |from| step.messages.iter().rfind(|message| message.from == from);
    let sent = last(Party::Harness).map(|message| ("sent", line(&message.text)));
    let mut evidence: Vec<_> = sent.into_iter().collect();
    if let Some(message) = last(Party::Target) {
        evidence.push(("received", line(&message.text)));
        evidence.extend(unfolded(&message.text).into_iter().map(|text| ("", text)));
    }
    match &step.end {
        End::Crash { how: words } | End::Invalid { reason: words } => evidence.push(("ended", lines(words))),
        End::Timeout => evidence.push(("ended", "no response within the time limit".to_owned())),
        End::Http { status } => evidence.push(("ended", format!("HTTP status {status}"))),
        _ => {}
    }
    evidence.extend(step.canary.iter().take(3).map(|hit| ("fetched", line(&hit.url))));
    if matches!(step.end, End::Crash { .. }) && !transcript.stderr.is_empty() {
        evidence.push(("stderr", lines(&transcript.stderr)));
    }
    evidence
}

/// Returns a text escaped on one line.
pub(super) fn line(text: &str) -> String {
    Untrusted(text).line(SHOWN)
}

/// Returns a text escaped with its line breaks: its first and its last lines, where it has many.
pub(super) fn lines(text: &str) -> String {
    let all: Vec<&str> = text.trim().lines().collect();
    if let [only] = all.as_slice() {
        return line(only);
    }
    let left_out = all.len().saturating_sub(FIRST_LINES + LAST_LINES);
    let (first, last) = if left_out > 0 { (FIRST_LINES, all.len() - LAST_LINES) } else { (all.len(), all.len()) };
    let escaped = |line: &&str| Untrusted(&line.replace('\t', "    ")).line(LINE);
    let gap = (left_out > 0).then(|| format!("… {} left out …", count(left_out, "line")));
    let shown: Vec<_> = all[..first].iter().map(escaped).chain(gap).chain(all[last..].iter().map(escaped)).collect();
    shown.join("\n")
}

/// Returns the texts with line breaks in a JSON message, each below a line with its JSON pointer.
fn unfolded(message: &str) -> Vec<String> {
    let value: Option<Value> = (message.len() <= READ).then(|| serde_json::from_str(message).ok()).flatten();
    let mut found = Vec::new();
    if let Some(value) = &value {
        find(value, String::new(), &mut found);
    }
    let shown = |(pointer, text): (String, &str)| {
        let text = lines(text).replace('\n', "\n  ");
        format!("{}:\n  {text}", line(&pointer))
    };
    found.into_iter().map(shown).collect()
}

fn find<'v>(value: &'v Value, pointer: String, found: &mut Vec<(String, &'v str)>) {
    match value {
        _ if found.len() == UNFOLDED => {}
        Value::String(text) if text.trim().contains('\n') => found.push((pointer, text)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, item)| find(item, format!("{pointer}/{place}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| find(member, format!("{pointer}/{key}"), found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_line_breaks_in_a_message_is_shown_below_it() {
        let message =
            serde_json::json!({ "error": { "code": 1, "message": "Traceback:\n\tFile \"a.py\"\n\u{1b}[2J" } });
        assert_eq!(
            unfolded(&message.to_string()),
            ["/error/message:\n  Traceback:\n      File \"a.py\"\n  \\u{1b}[2J"]
        );
        assert!(unfolded("{\"a\":\"one line\\n\"}").is_empty() && unfolded("no\nJSON").is_empty());
    }

    #[test]
    fn long_text_keeps_its_first_and_last_lines() {
        let text: Vec<_> = (0..100).map(|number| number.to_string()).collect();
        let shown = lines(&text.join("\n"));
        assert_eq!(shown.lines().count(), FIRST_LINES + 1 + LAST_LINES);
        assert!(shown.contains("3\n… 80 lines left out …\n84\n") && shown.ends_with("99"), "{shown}");
        assert_eq!(lines("a\r\nb\n"), "a\nb");
    }
}
