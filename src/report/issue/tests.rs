//! Drafts of hostile records and transcripts.

use super::*;
use crate::fuzz::{fuzz, samples as seeds};
use crate::jsonrpc::nesting;
use crate::judge::samples;
use crate::model::case::Outcome;
use crate::model::transcript::{End, Message, Party, StepTranscript};
use crate::model::untrusted::is_safe;
use crate::report::tests::verdict;

/// The longest body of an issue on GitHub.
const BODY: usize = 65_536;

fn draft_of(record: &Record, verdict: &Verdict, transcript: &Transcript, role: Role) -> String {
    let draft = Draft {
        record,
        verdict,
        transcript: Some(transcript),
        requirement: None,
        role,
        package: "sdk 1".to_owned(),
        casebook: "0",
        command: "casebook".to_owned(),
        repro: None,
    };
    draft.markdown()
}

#[test]
fn hostile_draft_is_safe_and_fits_into_an_issue() {
    let hostile = "`````\u{202e}\u{1b}@a\n".repeat(10_000);
    let mut record = samples::record(0, "f/c/t@2025-11-25+http", Outcome::Success);
    record.title.clone_from(&hostile);
    let mut failed = verdict(VerdictKind::Fail);
    failed.detail = vec![failed.detail[0].clone(); 200];
    failed
        .detail
        .iter_mut()
        .flat_map(crate::model::reason::Detail::texts_mut)
        .for_each(|text| text.clone_from(&hostile));
    let both = [Party::Harness, Party::Target].map(|from| samples::message(from, &hostile));
    let deep = format!("{}{}", "[".repeat(16_000), "]".repeat(16_000));
    let messages: Vec<Message> = both.into_iter().chain([samples::message(Party::Target, &deep)]).collect();
    let step = StepTranscript { messages, end: End::Crash { how: hostile.clone() }, ..samples::replied(&[]) };
    let mut transcript = samples::transcript(vec![step]);
    transcript.stderr = hostile;
    let draft = draft_of(&record, &failed, &transcript, Role::Server);
    assert!(is_safe(&draft));
    assert!(draft.len() < BODY, "{} bytes", draft.len());
    assert_eq!(code("a`b|"), "<code>a&#96;b&#124;</code>");
    assert_eq!(fenced("", "a\n`````\n"), "``````\na\n`````\n\n``````\n\n");
}

#[test]
fn fuzzed_transcript_makes_a_safe_draft() {
    let failed = verdict(VerdictKind::Fail);
    fuzz("drafts", seeds::wire(), |bytes| {
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(transcript) = nesting::read::<Transcript>(line) else { continue };
            let record = samples::record(0, &transcript.test.to_string(), Outcome::Success);
            for role in Role::ALL {
                assert!(is_safe(&draft_of(&record, &failed, &transcript, *role)));
            }
        }
    });
}
