//! The output without colour.

use super::*;
use crate::judge::samples;
use crate::model::RequirementId;
use crate::model::case::{Case, Outcome};
use crate::model::observation::Observation;
use crate::model::reason::{Finding, SkipReason};
use crate::model::record::{Skipped, Verdict};
use crate::model::spec::{Harm, Level, Role, Transport};
use crate::model::verdict::VerdictKind;
use crate::report::tests::{footer, header, verdict};

fn record(index: usize, test: &str, kinds: &[VerdictKind]) -> Record {
    let verdicts = kinds.iter().map(|kind| verdict(*kind)).collect();
    Record { verdicts, ..samples::record(index, test, Outcome::Success) }
}

/// A record of a variant of the sample target, which violates one requirement.
fn violates(variant: &str, test: &str, requirement: &str, kind: VerdictKind) -> Record {
    let mut record = record(0, &format!("{test}@2026-07-28+http"), &[kind]);
    record.target.variant = Some(variant.to_owned());
    record.verdicts[0].requirement = RequirementId::within("f", requirement);
    record
}

/// A library without cases, with requirements `f/r` and one for each harm.
fn library() -> Library {
    let harm = |harm: &Harm| (harm.word(), *harm);
    let requirements = Harm::ALL.iter().map(harm).chain([("r", Harm::None)]).map(|(name, harm)| {
        let requirement = samples::requirement(name, Level::Must);
        (requirement.id.clone(), crate::model::spec::Requirement { harm, ..requirement })
    });
    Library { requirements: requirements.collect(), ..Library::default() }
}

fn shown(records: &[Record], transcript: Option<&Transcript>) -> String {
    shown_with(records, transcript, &library(), false)
}

fn shown_with(records: &[Record], transcript: Option<&Transcript>, library: &Library, is_verbose: bool) -> String {
    let mut out = Vec::new();
    let mut header = header(records.len() + 1);
    header.skipped =
        vec![Skipped { target: samples::target(), reason: SkipReason::Transport(Transport::Stdio), tests: 3 }];
    let mut summary = RunSummary::new(&header, std::iter::empty());
    for record in records {
        summary.add(record);
    }
    summary.end(&footer());
    let plain = AutoStream::never(&mut out as &mut dyn Write);
    let (findings, bar) = (Findings::new(library), ProgressDrawTarget::hidden());
    let mut terminal = Terminal::to(plain, records.len(), findings, bar, is_verbose);
    for record in records {
        terminal.on_begin(&record.target, &record.test);
        terminal.on_record(record, transcript).expect("written");
    }
    terminal.finish(&summary, &library.requirements, false).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn finding_is_shown_once_with_its_evidence_and_a_few_tests() {
    use VerdictKind::{Fail, Known, Pass};
    let mut records: Vec<_> =
        (0..14).map(|index| record(index, &format!("f/c/t/r{index}@2026-07-28+http"), &[Fail])).collect();
    records.push(record(14, "f/d/t@2026-07-28+http", &[Pass]));
    records.push(record(15, "g/e/t@2026-07-28+http", &[Known]));
    let transcript = samples::transcript(vec![samples::replied(&["{\"x\":\"\u{1b}[31m\u{202e}\"}"])]);
    insta::assert_snapshot!(shown(&records, Some(&transcript)), @r#"
failed  f/r  server; 14 tests
        MUST  "servers do as they are told"
              https://modelcontextprotocol.io/specification/page#anchor
         why  It matters.
        test  sample  f/c/t/r0@2026-07-28+http
              A sentence
       check  f/c.json:7, step 1
      reason  outcome: expected success, observed crash
    received  {"x":"\u{1b}[31m\u{202e}"}
        also  f/c/t/r1@2026-07-28+http
              f/c/t/r2@2026-07-28+http
              f/c/t/r3@2026-07-28+http
              f/c/t/r4@2026-07-28+http
              9 more; --verbose lists every test

       known  sample  f/r: outcome: expected success, observed crash

   3 skipped  sample  the target does not support transport stdio
INCOMPLETE: 1 of 17 tests were not run
not as expected: 16 tests of sample in 1.500 s: 1 passed, 1 known, 14 failed; 1 of 1 requirements tested
"#);
}

#[test]
fn worst_findings_lead_the_overview_and_variants_share_a_row() {
    use VerdictKind::{Fail, Note, Warn};
    let records = [
        violates("high", "f/c/t", "r", Note),
        violates("high", "f/c/t", "interop", Fail),
        violates("high", "f/c/t", "ssrf", Warn),
        violates("high", "f/c/t", "dos", Fail),
        violates("high", "f/c/t", "crash", Fail),
        violates("high", "f/c/t", "data-loss", Fail),
        violates("high", "f/client/t", "ssrf", Fail),
        violates("low", "f/c/t", "dos", Fail),
        violates("low", "f/c/u", "dos", Fail),
    ];
    let client = Case {
        id: CaseId::new("f", "client"),
        path: String::new(),
        title: String::new(),
        note: Vec::new(),
        role: Role::Client,
        rows: Vec::new(),
        tests: Vec::new(),
    };
    let text = shown_with(&records, None, &Library { cases: vec![client], ..library() }, false);
    let (overview, rest) = text.split_once("\n\nfailed").expect("the findings follow the overview");
    insta::assert_snapshot!(overview, @r#"
sample  7 findings, the worst first: 5 failed, 1 warned, 1 noted

            level  harm       requirement  tested  tests  variants
    failed  MUST   ssrf       f/ssrf       client      1  high
    failed  MUST   data-loss  f/data-loss  server      1  high
    failed  MUST   crash      f/crash      server      1  high
    failed  MUST   dos        f/dos        server      3  high, low
    warned  MUST   ssrf       f/ssrf       server      1  high
    failed  MUST   interop    f/interop    server      1  high
     noted  MUST   none       f/r          server      1  high
"#);
    assert!(rest.starts_with("  f/ssrf  client; 1 test; harm ssrf"), "{rest}");
    assert!(rest.contains("failed  f/dos  server; 3 tests; variants high, low; harm dos"), "{rest}");
}

#[test]
fn verbose_output_has_a_line_for_each_test() {
    use VerdictKind::{Fail, Pass};
    let records = [record(0, "f/c/t@2026-07-28+http", &[Pass]), record(1, "f/c/u@2026-07-28+http", &[Fail])];
    let verbose = shown_with(&records, None, &library(), true);
    assert!(
        verbose.starts_with("      passed  sample  f/c/t@2026-07-28+http 0.000 s\n      failed  sample"),
        "{verbose}"
    );
    assert!(shown(&records, None).starts_with("failed  f/r"), "no line for each test");
}

#[test]
fn long_run_without_a_bar_shows_its_progress_in_ten_lines() {
    let records: Vec<_> = (0..LONG).map(|index| record(index, "f/c/t@2026-07-28+http", &[VerdictKind::Pass])).collect();
    let text = shown(&records, None);
    let lines: Vec<_> = text.lines().filter(|line| line.contains(" tests, now ")).collect();
    assert_eq!(lines.len(), PROGRESS_LINES - 1, "the last line of the run is the tenth");
    assert_eq!(lines[0], "        10 %  100 of 1,000 tests, now sample: 100 passed");
    assert!(!shown(&records[1..], None).contains(" tests, now "), "a short run shows none");
}

#[test]
fn long_run_shows_the_first_failures_of_requirements_at_once() {
    let failing = |index: usize| {
        let record = record(index, "f/c/t@2026-07-28+http", &[VerdictKind::Fail]);
        let requirement = RequirementId::within("f", &format!("r{}", index / 2));
        Record { verdicts: vec![Verdict { requirement, ..verdict(VerdictKind::Fail) }], ..record }
    };
    let records: Vec<_> = (0..LONG).map(failing).collect();
    let text = shown(&records, None);
    let lines: Vec<_> = text.lines().take_while(|line| !line.contains(" tests, now ")).collect();
    assert_eq!(
        lines[..2].join("\n"),
        "      failed  f/r0  sample  f/c/t@2026-07-28+http\n      failed  f/r1  sample  f/c/t@2026-07-28+http"
    );
    assert_eq!(lines.len(), EARLY);
    assert!(!shown(&records[1..], None).starts_with("      failed"), "a short run shows them at its end");
}

#[test]
fn slow_test_is_named_though_it_passed() {
    let slow = Record { micros: 2_500_000, ..record(0, "f/c/t@2026-07-28+http", &[VerdictKind::Pass]) };
    let text = shown(&[slow], None);
    assert!(text.contains("slow  sample  f/c/t@2026-07-28+http 2.500 s"), "{text}");
    assert!(text.contains("INCOMPLETE: 1 of 2 tests were not run"), "{text}");
}

#[test]
fn text_of_a_target_never_moves_the_cursor() {
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
fn changed_snapshot_is_shown_with_its_old_and_new_lines() {
    let mut out = Vec::new();
    let plain = AutoStream::never(&mut out as &mut dyn Write);
    let mut terminal = Terminal::to(plain, 1, Findings::default(), ProgressDrawTarget::hidden(), false);
    let diff = crate::report::snapshot::compare("a\nb\n", "a\nc\n").expect("a difference");
    terminal.on_diff(&samples::target(), &CaseId::new("f", "c"), &diff).expect("written");
    drop(terminal);
    let text = String::from_utf8(out).expect("UTF-8");
    assert_eq!(text, "snapshot changed  sample  f/c\n    a\n  - b\n  + c\n");
}

#[test]
fn bug_of_the_harness_is_no_target_that_was_given_up() {
    let broken = record(0, "f/c/t@2026-07-28+http", &[VerdictKind::Error]);
    let observation =
        Observation { unavailable: Some("no such \u{1b}place".into()), ..samples::observation(Vec::new()) };
    let text = shown(&[Record { bug: true, observation, ..broken }], None);
    for line in ["error  a bug of casebook", "test  sample  f/c/t@2026-07-28+http", "panicked  no such "] {
        assert!(text.contains(line), "{text}");
    }
    assert!(!text.contains("given up") && !text.contains('\u{1b}'), "{text}");
}
