//! What people see, without colour.

use super::*;
use crate::judge::samples;
use crate::model::case::Outcome;
use crate::model::observation::Observation;
use crate::model::reason::{Finding, SkipReason};
use crate::model::record::{Skipped, VerdictKind};
use crate::model::spec::{Level, Transport};
use crate::report::tests::{footer, header, verdict};

fn record(index: usize, test: &str, kinds: &[VerdictKind]) -> Record {
    let verdicts = kinds.iter().map(|kind| verdict(*kind)).collect();
    Record { verdicts, ..samples::record(index, test, Outcome::Success) }
}

fn shown(records: &[Record], transcript: Option<&Transcript>) -> String {
    let mut out = Vec::new();
    let requirement = samples::requirement("r", Level::Must);
    let catalogue = [(requirement.id.clone(), requirement)].into();
    let mut header = header(records.len() + 1);
    header.skipped =
        vec![Skipped { target: samples::target(), reason: SkipReason::Transport(Transport::Stdio), tests: 3 }];
    let mut summary = RunSummary::new(&header, std::iter::empty());
    for record in records {
        summary.add(record);
    }
    summary.end(&footer());
    let mut terminal =
        Terminal::to(AutoStream::never(&mut out as &mut dyn Write), records.len(), ProgressDrawTarget::hidden());
    for record in records {
        terminal.on_begin(&record.target, &record.test);
        terminal.on_record(record, transcript).expect("written");
    }
    terminal.finish(&summary, &catalogue, false, false).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn a_broken_sentence_is_told_once_in_full_with_its_evidence() {
    use VerdictKind::{Fail, Known, Pass};
    let mut records: Vec<_> =
        (0..14).map(|index| record(index, &format!("f/c/t/r{index}@2026-07-28+http"), &[Fail])).collect();
    records.push(record(14, "f/d/t@2026-07-28+http", &[Pass]));
    records.push(record(15, "g/e/t@2026-07-28+http", &[Known]));
    let transcript = samples::transcript(vec![samples::replied(&["{\"x\":\"\u{1b}[31m\u{202e}\"}"])]);
    insta::assert_snapshot!(shown(&records, Some(&transcript)), @r#"
      failed  sample  f/c/t/r0@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r1@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r2@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r3@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r4@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r5@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r6@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r7@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r8@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r9@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r10@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r11@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r12@2026-07-28+http 0.000 s
      failed  sample  f/c/t/r13@2026-07-28+http 0.000 s
          14  sample  f/c: 14 failed
           1  sample  f/d: 1 passed
           1  sample  g/e: 1 known

FAIL  f/r
        MUST  "servers do as they are told"
              https://modelcontextprotocol.io/specification/page#anchor
         why  It matters.
        test  sample  f/c/t/r0@2026-07-28+http
              A sentence
       check  f/c.json:7, step 1
      missed  outcome: expected success, observed crash
    received  {"x":"\u{1b}[31m\u{202e}"}
        also  sample  f/c/t/r1@2026-07-28+http
              sample  f/c/t/r2@2026-07-28+http
              sample  f/c/t/r3@2026-07-28+http
              sample  f/c/t/r4@2026-07-28+http
              sample  f/c/t/r5@2026-07-28+http
              sample  f/c/t/r6@2026-07-28+http
              sample  f/c/t/r7@2026-07-28+http
              sample  f/c/t/r8@2026-07-28+http
              sample  f/c/t/r9@2026-07-28+http
              sample  f/c/t/r10@2026-07-28+http
              … and 3 more; see the record

       known  sample  f/r: outcome: expected success, observed crash

             passed         known        failed
f                 1             0            14
g                 0             1             0
total             1             1            14
   3 skipped  sample  the target does not support transport stdio
INCOMPLETE: 1 of 17 tests were not run
not as expected: 16 tests in 1.500 s: 1 passed, 1 known, 14 failed; 1 of 1 requirements verified
"#);
}

#[test]
fn a_slow_test_is_marked_though_it_passed() {
    let slow = Record { micros: 2_500_000, ..record(0, "f/c/t@2026-07-28+http", &[VerdictKind::Pass]) };
    let text = shown(&[slow], None);
    assert!(text.contains("2.500 s  SLOW"), "{text}");
    assert!(text.contains("INCOMPLETE: 1 of 2 tests were not run"), "{text}");
}

#[test]
fn nothing_of_a_target_moves_the_cursor() {
    let mut hostile = record(0, "f/c/t@2026-07-28+http", &[VerdictKind::Fail, VerdictKind::Cannot]);
    for verdict in &mut hostile.verdicts {
        verdict.detail = vec![Finding::Unavailable { reason: "\u{1b}]0;owned\u{7}\u{202e}\r\n".into() }.into()];
    }
    hostile.title = "\u{9b}2J".into();
    let Ok(target) = "a\u{1b}[2J".parse();
    hostile.target = target;
    let mut transcript = samples::transcript(vec![samples::replied(&["\u{1b}[2J"])]);
    transcript.stderr = "\u{1b}[2J\n".into();
    let text = shown(&[hostile], Some(&transcript));
    assert!(text.chars().all(|one| one == '\n' || !one.is_control()) && !text.contains('\u{202e}'), "{text:?}");
}

#[test]
fn a_snapshot_that_differs_is_shown_as_lines_lost_and_won() {
    let mut out = Vec::new();
    let mut terminal = Terminal::to(AutoStream::never(&mut out as &mut dyn Write), 1, ProgressDrawTarget::hidden());
    let diff = crate::report::snapshot::compare("a\nb\n", "a\nc\n").expect("a difference");
    terminal.on_diff(&samples::target(), &CaseId::new("f", "c"), &diff).expect("written");
    drop(terminal);
    let text = String::from_utf8(out).expect("UTF-8");
    assert_eq!(text, "\nsnapshot changed  sample  f/c\n    a\n  - b\n  + c\n");
}

#[test]
fn a_bug_of_our_own_is_told_by_test_and_not_as_a_target_that_is_gone() {
    let broken = record(0, "f/c/t@2026-07-28+http", &[VerdictKind::Error]);
    let observation =
        Observation { unavailable: Some("no such \u{1b}place".into()), ..samples::observation(Vec::new()) };
    let told = shown(&[Record { bug: true, observation, ..broken }], None);
    for line in ["error  sample  f/c/t@2026-07-28+http", "BUG   in casebook", "panicked  no such "] {
        assert!(told.contains(line), "{told}");
    }
    assert!(!told.contains("GONE") && !told.contains('\u{1b}'), "{told}");
}
