//! Tests of [`Bounds`].

use serde_json::json;

use super::*;
use crate::judge::samples;
use crate::model::case::{CallMark, Outcome, TimeClass};
use crate::model::observation::{
    AnswerObservation, Beside, CallAtOnceObservation, CallEvidence, FaultyMessage, Observed, ResponseAtOnce, SizeClass,
};
use crate::model::reason::Finding;
use crate::model::spec::Level;
use crate::model::transcript::{Party, Phase};
use crate::model::verdict::VerdictKind;
use crate::run::lines::LONGEST;
use crate::run::secrets::tests::secrets;

const VALUE: &str = "s3cr\"t/ßé\u{1f511}";

fn record() -> Record {
    samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success)
}

fn verdict(texts: Vec<String>) -> Verdict {
    let detail = texts.into_iter().map(|reason| Finding::Unavailable { reason }.into()).collect();
    Verdict {
        step: 0,
        requirement: samples::requirement("r", Level::Must).id,
        level: Level::Must,
        kind: VerdictKind::Fail,
        excuses: None,
        detail,
        line: 1,
        known: None,
        attribution: None,
    }
}

/// Bounds a transcript, with an empty record; returns it and the cuts.
fn kept(mut transcript: Transcript) -> (Transcript, Cuts) {
    let mut bounds = Bounds::default();
    bounds.keep(&Secrets::default(), &mut record(), &mut transcript);
    (transcript, bounds.cuts())
}

#[test]
fn no_field_of_a_record_or_transcript_keeps_a_secret() {
    let (text, name) = (|| format!("<{VALUE}>"), || VALUE.to_owned());
    let wire = || json!({ "a": { "text": json!({ "b": VALUE }).to_string() } }).to_string();
    let value = || Observed::Value(json!({ VALUE: [VALUE, 1_234_567_890] }));
    let hit = || Hit { url: text(), phase: Phase::Step };
    let message = || Message { headers: vec![(text(), text())], ..Message::new(Party::Target, wire()) };
    let ends = [End::Invalid { reason: text() }, End::Crash { how: text() }];
    let step =
        |end| StepTranscript { messages: vec![message()], end, micros: 0, canary: vec![hit()], handed: Some(wire()) };
    let tool =
        AdvertisedTool { removed: vec![text()], added: vec![text()], changed: vec![text()], unreadable: Some(text()) };
    let seen = StepObservation {
        not_begun: false,
        outcome: Outcome::Success,
        code: None,
        status: None,
        advertised: [(name(), tool)].into(),
        listed: [(name(), [("inputSchema".to_owned(), value())].into())].into(),
        tools: [(name(), [].into())].into(),
        possible_flaws: [].into(),
        calls: [(name(), [(CallMark::Result, CallEvidence { request: 0, reason: text() })].into())].into(),
        at_once: vec![CallAtOnceObservation {
            outcome: Outcome::Success,
            code: None,
            responses: vec![ResponseAtOnce { on: None, saw: Some(value()) }],
        }],
        saw: Some(value()),
        structured: Some(value()),
        text: None,
        asked: vec![value(), Observed::Unreadable(text())],
        answered: vec![AnswerObservation { action: None, content: Some(value()), code: None }],
        rounds: Vec::new(),
        canary: None,
        fetches: 0,
        get_stream: [].into(),
        events: Vec::new(),
        varies: None,
        stray: None,
        mistyped: None,
        not_utf8: false,
        endless: None,
        repeated_id: false,
        split: false,
        converted: false,
        cancelled_unknown: Some(text()),
        beside: [(Beside::ProgressBack, FaultyMessage { pointer: text(), message: text(), place: None })].into(),
        undeclared: None,
        unopened: false,
        malformed: false,
        replies: vec![[("message".to_owned(), value())].into()],
        reply_places: vec![0],
        sent: vec![[("message".to_owned(), value())].into()],
        unread: Some(text()),
        took: TimeClass::Instant,
        size: SizeClass::Small,
        said: Some(text()),
        relayed: None,
    };
    let observation =
        Observation { steps: vec![seen], cannot: Some(text()), unavailable: Some(text()), leaky: false, cut: 0 };
    let verdict = verdict(vec![text()]);
    let mut record = Record { observation, verdicts: vec![verdict], ..record() };
    let served = [
        Served::Refused { r#type: text(), message: text() },
        Served::Cannot { reason: text() },
        Served::Failed { end: End::Crash { how: text() }, detail: text() },
        Served::Broken { reason: text() },
        Served::Unavailable { reason: text() },
    ];
    for served in served {
        let mut transcript = Transcript {
            served,
            opening: vec![message()],
            canary: vec![hit()],
            stderr: text(),
            ..samples::transcript(ends.clone().map(step).into())
        };
        let secrets = secrets(&[("TOKEN", VALUE), ("PIN", "1234567890")], &[]);
        Bounds::default().keep(&secrets, &mut record, &mut transcript);
        for line in [serde_json::to_string(&record), serde_json::to_string(&transcript)].map(Result::unwrap) {
            assert!(line.contains("[TOKEN]"), "{line}");
            for left in ["s3cr", "1234567890"] {
                assert!(!line.contains(left), "{line}");
            }
        }
    }
}

#[test]
fn long_messages_are_cut_marked_and_counted() {
    let flood = vec!["\u{1}".repeat(TEXT); 2 * TRANSCRIPT / TEXT];
    let flood: Vec<&str> = flood.iter().map(String::as_str).collect();
    let mut transcript = samples::transcript(vec![samples::replied(&flood)]);
    transcript.steps[0].messages[0].headers = vec![("x".into(), "é".repeat(TEXT))];
    let (short, cuts) = kept(transcript);
    let messages = &short.steps[0].messages;
    assert_eq!(messages[0].headers[0].1, format!("{}… ({} bytes)", "é".repeat(TEXT / 2), 2 * TEXT));
    assert!(messages[0].cut_from.is_none());
    let last = messages.last().expect("messages");
    assert!(last.text.len() < TEXT && last.cut_from == Some(TEXT as u64), "{}", last.text.len());
    assert!(messages.len() < flood.len());
    assert!(serde_json::to_vec(&short).expect("JSON").len() < LONGEST);
    let written: usize = messages.iter().map(|message| message.text.len()).sum();
    assert_eq!(cuts.bytes, (flood.len() * TEXT - written + TEXT) as u64);
    assert_eq!((cuts.texts, cuts.tests), ((flood.len() - messages.len() + 2) as u64, 1));
}

#[test]
fn end_of_one_long_message_is_counted_and_no_loss_for_reports() {
    let (short, cuts) = kept(samples::transcript(vec![samples::replied(&["é".repeat(TEXT).as_str()])]));
    let message = &short.steps[0].messages[0];
    assert_eq!((message.text.len(), message.cut_from), (TEXT, Some(2 * TEXT as u64)));
    assert_eq!(cuts, Cuts { texts: 1, bytes: TEXT as u64, tests: 0 });
}

#[test]
fn every_text_of_a_transcript_is_bounded() {
    let long = || "x".repeat(16 << 20);
    let served = [
        Served::Refused { r#type: long(), message: long() },
        Served::Cannot { reason: long() },
        Served::Failed { end: End::Crash { how: long() }, detail: long() },
        Served::Broken { reason: long() },
        Served::Unavailable { reason: long() },
    ];
    for served in served {
        let hit = || Hit { url: long(), phase: Phase::Step };
        let end = End::Invalid { reason: long() };
        let step = StepTranscript { end, canary: vec![hit()], handed: Some(long()), ..samples::replied(&[]) };
        let (short, cuts) =
            kept(Transcript { served, canary: vec![hit(); 2], stderr: long(), ..samples::transcript(vec![step]) });
        assert!(length(&short) < 16 * TEXT + 2000, "{}", length(&short));
        assert!(short.stderr.ends_with("… (16777216 bytes)") && cuts.texts >= 7 && cuts.bytes > 7 * (15 << 20));
    }
}

#[test]
fn record_is_bounded_and_says_that_it_cannot_be_judged_again() {
    let step = StepObservation { structured: Some(json!(vec![0; 1 << 20]).into()), ..samples::step(Outcome::Success) };
    let mut record = Record {
        observation: samples::observation(vec![step]),
        verdicts: vec![verdict(vec!["d".repeat(1 << 20); 100])],
        ..record()
    };
    let mut bounds = Bounds::default();
    bounds.keep(&Secrets::default(), &mut record, &mut samples::transcript(Vec::new()));
    assert!(length(&record) < 100 << 10, "{}", length(&record));
    assert!(record.observation.cut > 1 << 20);
    let cuts = bounds.cuts();
    assert_eq!((cuts.texts, cuts.tests), (101, 1));
}

#[test]
fn run_without_room_keeps_outcomes_and_drops_texts() {
    let mut bounds = Bounds { records: 1000, transcripts: 1000, cuts: Cuts::default() };
    let mut sizes = Vec::new();
    for _ in 0..3 {
        let step =
            StepObservation { structured: Some(json!("y".repeat(10_000)).into()), ..samples::step(Outcome::Success) };
        let mut record = Record {
            observation: samples::observation(vec![step]),
            verdicts: vec![verdict(vec!["d".repeat(500)])],
            ..record()
        };
        let mut transcript = samples::transcript(vec![samples::replied(&["x".repeat(5000).as_str(); 3])]);
        bounds.keep(&Secrets::default(), &mut record, &mut transcript);
        assert_eq!(
            (record.observation.steps[0].outcome, record.verdicts[0].kind),
            (Outcome::Success, VerdictKind::Fail)
        );
        sizes.push((length(&record), length(&transcript)));
    }
    assert!(sizes[0].0 > 10_000 && sizes[2].0 < 1000 && sizes[2].1 < 500, "{sizes:?}");
    assert!(bounds.cuts().tests == 3);
}

#[test]
fn secret_across_a_cut_is_hidden_whole() {
    let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let secrets = secrets(&[("TOKEN", token)], &[]);
    for before in TEXT - token.len()..TEXT {
        let text = format!("{}{token} and more", ".".repeat(before));
        let mut transcript = Transcript {
            served: Served::Refused { r#type: String::new(), message: text.clone() },
            ..samples::transcript(vec![samples::replied(&[&text])])
        };
        Bounds::default().keep(&secrets, &mut record(), &mut transcript);
        let line = serde_json::to_string(&transcript).expect("JSON");
        assert!(!line.contains("ghp_") && line.matches("[TOKEN]").count() == 2);
    }
}
