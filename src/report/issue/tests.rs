//! Drafts of hostile records and transcripts, and the requests for which there is no script.

use serde_json::json;

use super::*;
use crate::fuzz::{fuzz, samples as seeds};
use crate::jsonrpc::nesting;
use crate::judge::samples;
use crate::model::case::Outcome;
use crate::model::record::VerdictKind;
use crate::model::template::{Canary, CanaryKind};
use crate::model::transcript::{End, Message, Party, StepTranscript};
use crate::model::untrusted::is_safe;
use crate::report::tests::verdict;

/// The longest body of an issue on GitHub.
const BODY: usize = 65_536;

/// A record with a violated MUST in its first step.
fn failed(test: &str) -> Record {
    Record { verdicts: vec![verdict(VerdictKind::Fail)], ..samples::record(0, test, Outcome::Success) }
}

fn draft_of(record: &Record, transcript: Option<&Transcript>, role: Role) -> String {
    let evidence = Evidence {
        record,
        transcript,
        test: None,
        role,
        catalogue: &Catalogue::new(),
        package: Some("sdk 1"),
        casebook: "0",
        repository: "https://example.com",
        programs: Vec::new(),
        others: (Vec::new(), 0),
        command: vec!["casebook".to_owned()],
        serve: None,
    };
    draft(&evidence, Audience::Public)
}

/// A transcript with these messages in its first step.
fn transcript(messages: Vec<Message>) -> Transcript {
    let end = End::Replied { message: 1 };
    samples::transcript(vec![StepTranscript { messages, end, ..samples::replied(&[]) }])
}

/// The reason why there is no script for these requests.
fn reason(test: &str, messages: Vec<Message>) -> String {
    let draft = draft_of(&failed(test), Some(&transcript(messages)), Role::Server);
    let reason = draft.split_once("There is no script for this failure: ").unwrap_or_else(|| panic!("{draft}")).1;
    reason.split_once(".\n").expect("a sentence").0.to_owned()
}

#[test]
fn requests_that_depend_on_responses_have_no_script() {
    let sent = |text: &str| samples::message(Party::Harness, text);
    let received = |text: &str| samples::message(Party::Target, text);
    let http = "f/c/t@2026-07-28+http";
    let call = |params: serde_json::Value| sent(&json!({ "method": "tools/list", "params": params }).to_string());
    let question = "it takes the answer to a question of the server";
    assert_eq!(reason(http, vec![call(json!({ "requestState": "x" }))]), question);
    assert_eq!(reason(http, vec![sent(r#"{"id":1,"result":{}}"#)]), question);
    let cursor = vec![received(r#"{"nextCursor":"abc"}"#), call(json!({ "cursor": "abc" }))];
    assert_eq!(reason(http, cursor), "it takes a cursor that the server chooses");
    let stream = Message { on_get_stream: true, ..received("{}") };
    assert_eq!(reason(http, vec![call(json!({})), stream]), "it takes the event stream of a GET request");
    let cut = Message { cut_from: Some(99_999), ..sent("{") };
    assert_eq!(reason(http, vec![cut]), "a request is longer than a run log keeps, or is no text");
    assert_eq!(reason(http, vec![sent("\u{1b}[2J")]), "a request has characters that cannot be shown");
    assert_eq!(reason(http, vec![sent(&"x".repeat(20_000))]), "its requests are too long");
    assert_eq!(reason("f/c/t@2026-07-28+stdio", vec![sent("{}")]), "the server was tested over stdio");
    let mut with_canary = transcript(vec![sent(r#"{"method":"a","params":"http://127.0.0.1:1/x"}"#)]);
    with_canary.bindings.canaries = vec![(Canary::new(CanaryKind::Http), "http://127.0.0.1:1/x".to_owned())];
    let draft = draft_of(&failed(http), Some(&with_canary), Role::Server);
    assert!(draft.contains("a request has an address that only casebook serves"), "{draft}");
}

#[test]
fn hostile_draft_is_safe_and_fits_into_an_issue() {
    let hostile = "`````\u{202e}\u{1b}@a\n".repeat(10_000);
    let mut record = failed("f/c/t@2025-11-25+http");
    record.title.clone_from(&hostile);
    let mut first = verdict(VerdictKind::Fail);
    first.detail = vec![first.detail[0].clone(); 200];
    first
        .detail
        .iter_mut()
        .flat_map(crate::model::reason::Detail::texts_mut)
        .for_each(|text| text.clone_from(&hostile));
    record.verdicts = (0..100)
        .map(|number| {
            let requirement = crate::model::RequirementId::within("f", &format!("r-{number}"));
            Verdict { requirement, ..first.clone() }
        })
        .collect();
    let headers = vec![("x-a".to_owned(), "b".repeat(1_000)); 60];
    let both = [Party::Harness, Party::Target]
        .map(|from| Message { headers: headers.clone(), ..samples::message(from, &hostile) });
    let deep = format!("{}{}", "[".repeat(16_000), "]".repeat(16_000));
    let messages = both.into_iter().chain([samples::message(Party::Target, &deep)]);
    let mut transcript = transcript(messages.cycle().take(300).collect());
    transcript.stderr.clone_from(&hostile);
    transcript.steps[0].end = End::Crash { how: hostile };
    let draft = draft_of(&record, Some(&transcript), Role::Server);
    assert!(is_safe(&draft));
    assert!(draft.len() < BODY, "{} bytes", draft.len());
}

#[test]
fn fuzzed_transcript_makes_a_safe_draft() {
    fuzz("drafts", seeds::wire(), |bytes| {
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(transcript) = nesting::read::<Transcript>(line) else { continue };
            let record = failed(&transcript.test.to_string());
            for role in Role::ALL {
                assert!(is_safe(&draft_of(&record, Some(&transcript), *role)));
            }
        }
    });
}
