//! The evidence of one verdict: the messages of its step, and the reason why the step ended.
//!
//! Takes a transcript and a verdict, gives labelled texts, escaped and bounded in characters and lines. Must not know
//! how findings are grouped or coloured.

use serde_json::Value;

use crate::jsonrpc::envelope::Envelope;
use crate::model::reason::Finding;
use crate::model::record::Verdict;
use crate::model::text::count;
use crate::model::transcript::{End, Message, Party, Served, Transcript};
use crate::report::Untrusted;

/// A label, and the text beside it, which may have several lines.
pub(in crate::report) type Labelled = (&'static str, String);

/// The characters of a message, and of any text on one line, that the terminal shows.
pub(super) const SHOWN: usize = 600;
/// The first and the last lines that are shown of a longer text. A traceback has its exception at the end.
const FIRST_LINES: usize = 4;
const LAST_LINES: usize = 16;
/// The characters that are shown of one of several lines.
const LINE: usize = 300;
/// The texts with line breaks that are shown of a message, and the bytes of a message in which they are looked for.
const UNFOLDED: usize = 2;
const READ: usize = 1 << 20;

/// Returns the request and the response that the verdict is about, or else the last message in each direction of its
/// step, each with at most `most` characters, in the order of time, and the end of the step where no response shows it. A
/// step that never began has the evidence of the step that ended the session.
pub(in crate::report) fn evidence(transcript: &Transcript, verdict: &Verdict, most: usize) -> Vec<Labelled> {
    let Some(step) = transcript.steps.get(verdict.step).or(transcript.steps.last()) else {
        return match &transcript.served {
            Served::Refused { r#type, message } => vec![("refused", lines(&format!("{type}: {message}")))],
            Served::Failed { detail, .. } => vec![("failed", lines(detail)), ("stderr", lines(&transcript.stderr))],
            _ => Vec::new(),
        };
    };
    // HTTP messages without a body show nothing.
    let last = |from| step.messages.iter().rposition(|message| message.from == from && !message.text.is_empty());
    let mut places: Vec<_> = match concerned(&step.messages, verdict) {
        Some(places) => places,
        None => Party::ALL.iter().filter_map(|from| last(*from)).collect(),
    };
    places.sort_unstable();
    let mut evidence = Vec::new();
    for message in places.into_iter().map(|place| &step.messages[place]) {
        match message.from {
            Party::Harness => evidence.push(("sent", Untrusted(&message.text).line(most))),
            Party::Target => {
                evidence.push(("received", Untrusted(&message.text).line(most)));
                evidence.extend(unfolded(&message.text).into_iter().map(|text| ("", text)));
            }
        }
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

/// Returns the indexes of the messages that a verdict is about, if it is about one of several: of a request and its
/// response, or of a message that is neither, and what casebook sent before it.
fn concerned(messages: &[Message], verdict: &Verdict) -> Option<Vec<usize>> {
    let place = verdict.detail.iter().find_map(|detail| match &detail.finding {
        Finding::Call { request, .. } => Some(*request),
        // What a server sends and may not is named by its method.
        Finding::Violation { reply, message, .. } => reply.or_else(|| {
            let sent = message.strip_prefix("the server sent ")?;
            let is_named =
                |one: &Message| Envelope::read(&one.text)?.method.filter(|method| sent.contains(method.as_str()));
            messages.iter().position(|one| one.from == Party::Target && is_named(one).is_some())
        }),
        Finding::NoMessage { line } => messages.iter().position(|message| message.text.trim_end() == line.trim_end()),
        _ => None,
    })?;
    let Message { from, text, .. } = messages.get(place)?;
    let other = Envelope::read(text).and_then(|read| read.id.map(|id| id.get().to_owned())).and_then(|id| {
        let is_other = |message: &Message| {
            let envelope = Envelope::read(&message.text).filter(|_| message.from != *from);
            envelope.is_some_and(|one| {
                one.method.is_some() == (message.from == Party::Harness)
                    && one.id.is_some_and(|other| other.get() == id)
            })
        };
        match from {
            Party::Harness => messages[place..].iter().position(is_other).map(|after| place + after),
            Party::Target => messages[..place].iter().rposition(is_other),
        }
    });
    let before = || messages[..place].iter().rposition(|message| message.from != *from && !message.text.is_empty());
    Some(other.or_else(before).into_iter().chain([place]).collect())
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
    use crate::judge::samples;
    use crate::model::transcript::StepTranscript;
    use crate::model::verdict::VerdictKind;
    use crate::report::tests::verdict;

    /// The evidence of a verdict on a step, with these messages in the first step.
    fn evidence_of(step: usize, end: End, messages: &[(Party, &str)]) -> Vec<Labelled> {
        let messages = messages.iter().map(|(from, text)| samples::message(*from, text)).collect();
        let first = StepTranscript { messages, end, ..samples::replied(&[]) };
        evidence(&samples::transcript(vec![first]), &Verdict { step, ..verdict(VerdictKind::Note) }, SHOWN)
    }

    #[test]
    fn messages_are_in_the_order_of_time() {
        let (sent, received) = ((Party::Harness, "result"), (Party::Target, "request"));
        let expected = [("received", "request".to_owned()), ("sent", "result".to_owned())];
        assert_eq!(evidence_of(0, End::Handed, &[received, sent]), expected, "of a client");
        let without_body = [received, sent, (Party::Target, ""), (Party::Harness, "")];
        assert_eq!(evidence_of(0, End::Handed, &without_body), expected, "of a client over HTTP");
        assert_eq!(evidence_of(0, End::Handed, &[sent, received])[0].0, "sent", "of a server");
    }

    #[test]
    fn reply_among_several_is_shown_with_its_request() {
        let asked = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#);
        let result = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        let texts = [asked(1), result(1), asked(2), result(2), asked(3), result(3)];
        let parties = [Party::Harness, Party::Target].into_iter().cycle();
        let messages = parties.zip(&texts).map(|(from, text)| samples::message(from, text)).collect();
        let step = StepTranscript { messages, end: End::Replied { message: 5 }, ..samples::replied(&[]) };
        let shown = |reply| {
            let (place, pointer, message) = ("reply".to_owned(), String::new(), "it is wrong".to_owned());
            let finding = Finding::Violation { place, pointer, message, reply };
            let verdict = Verdict { detail: vec![finding.into()], ..verdict(VerdictKind::Note) };
            evidence(&samples::transcript(vec![step.clone()]), &verdict, SHOWN)
        };
        assert_eq!(shown(Some(3)), [("sent", asked(2)), ("received", result(2))]);
        assert_eq!(shown(None), [("sent", asked(3)), ("received", result(3))]);
        assert_eq!(shown(Some(70)), shown(None), "a run log that was changed");
    }

    #[test]
    fn step_that_never_began_has_the_evidence_of_the_last_one() {
        let crash = End::Crash { how: "exit status 1".into() };
        let expected = [("sent", "no JSON".to_owned()), ("ended", "exit status 1".to_owned())];
        assert_eq!(evidence_of(1, crash, &[(Party::Harness, "no JSON")]), expected);
    }

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
