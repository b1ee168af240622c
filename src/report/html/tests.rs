//! The page: its data, its policy and its escaping.

use serde_json::Value;

use super::*;
use crate::judge::samples;
use crate::model::capability::{Capability, CapabilityGroup, Decider};
use crate::model::case::Outcome;
use crate::model::reason::Finding;
use crate::model::record::{About, FORMAT, Footer, Header, Record, Verdict};
use crate::model::spec::Role;
use crate::model::verdict::VerdictKind;
use crate::model::{RequirementId, TargetId};
use crate::report::{ReportContext, Source};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{1b}[31m\u{202e}&\"'\u{2028}";

fn verdict(kind: VerdictKind, detail: &str) -> Verdict {
    let detail = Finding::Undecidable { place: "outcome".to_owned(), reason: detail.to_owned() };
    Verdict { detail: vec![detail.into()], ..crate::report::tests::verdict(kind) }
}

fn record(index: usize, test: &str, verdicts: Vec<Verdict>) -> Record {
    Record { verdicts, title: HOSTILE.to_owned(), ..samples::record(index, test, Outcome::Success) }
}

fn source(records: Vec<Record>) -> Source {
    source_of(samples::target(), records)
}

fn source_of(target: TargetId, records: Vec<Record>) -> Source {
    let records: Vec<_> = records.into_iter().map(|record| Record { target: target.clone(), ..record }).collect();
    let about = About {
        target: target.clone(),
        title: HOSTILE.to_owned(),
        version: Some(HOSTILE.to_owned()),
        unverified: None,
        ad_hoc: false,
        pair: None,
        planned: records.len() + 2,
    };
    let header = Header {
        format: FORMAT,
        casebook: "0".into(),
        targets: vec![target],
        about: vec![about],
        planned: records.len() + 2,
        ..Header::default()
    };
    let footer = Footer { ran: records.len(), interrupted: true, micros: 1, ..Footer::default() };
    Source { name: "run.jsonl".into(), header, records, footer: Some(footer), cut: None, is_broken: false }
}

fn drawn(records: Vec<Record>, replies: &[&str]) -> String {
    let source = source(records);
    let report = Report::new(std::slice::from_ref(&source), &ReportContext::default());
    let mut evidence = Evidence::of(&report);
    let transcripts = source.records.iter().map(|record| crate::model::transcript::Transcript {
        test: record.test.clone(),
        stderr: HOSTILE.to_owned(),
        ..samples::transcript(vec![samples::replied(replies)])
    });
    evidence.read(&report, &source, transcripts.collect::<Vec<_>>(), |_, _| Some(HOSTILE.to_owned()));
    page(&report, &evidence)
}

/// A page with one question, which the requirement `f/r` decides.
fn asked(sources: &[Source]) -> String {
    let decider = Decider { requirement: RequirementId::within("f", "r"), tests: vec!["f/c".to_owned()] };
    let capability = Capability {
        id: "arrays".to_owned(),
        question: format!("Is `a` {HOSTILE} kept?"),
        short: HOSTILE.to_owned(),
        role: Role::Server,
        right_is_yes: true,
        decided_by: vec![decider],
    };
    let group = CapabilityGroup { id: "g".to_owned(), title: HOSTILE.to_owned(), capabilities: vec![capability] };
    let roles = sources.iter().flat_map(|source| &source.records);
    let roles = roles.map(|record| (record.test.case.clone(), Role::Server)).collect();
    let context = ReportContext { capabilities: vec![group], roles, ..ReportContext::default() };
    let report = Report::new(sources, &context);
    page(&report, &Evidence::of(&report))
}

/// A part of the page's data, as its script gets it.
fn data(page: &str, id: &str) -> Value {
    let (_, rest) = page.split_once(&format!("<script type=\"application/gzip\" id=\"{id}\">")).expect("the element");
    let (base64, _) = rest.split_once("</script>").expect("its end");
    let gzip = STANDARD.decode(base64).expect("base64");
    serde_json::from_reader(flate2::read::GzDecoder::new(gzip.as_slice())).expect("JSON")
}

/// The tests that have evidence, the worst first.
fn proven(page: &str) -> Vec<String> {
    let evidence = data(page, "evidence");
    let tests = evidence["tests"].as_array().expect("a list").iter();
    tests.map(|test| test["test"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn text_from_a_target_is_never_markup() {
    let failed = record(0, "f/c/t@2026-07-28+http", vec![verdict(VerdictKind::Fail, HOSTILE)]);
    let page = drawn(vec![failed], &[HOSTILE]);
    assert!(!page.contains("<img"));
    assert_eq!(page.matches("</script>").count(), 3, "the report, the evidence, the script");
    assert_eq!(data(&page, "report")["tests"][0]["title"], HOSTILE);
    let evidence = &data(&page, "evidence")["tests"][0];
    assert_eq!((&evidence["fixture"], &evidence["transcript"]["stderr"]), (&HOSTILE.into(), &HOSTILE.into()));
    assert_eq!(evidence["transcript"]["steps"][0]["messages"][0]["text"], HOSTILE);
}

#[test]
fn data_of_the_page_is_what_its_schema_describes() {
    let failed = record(0, "f/c/t@2026-07-28+http", vec![verdict(VerdictKind::Fail, "why")]);
    let page = drawn(vec![failed], &["{}"]);
    let mut schema: Value = serde_json::from_str(include_str!("../../../docs/report.schema.json")).expect("a schema");
    assert!(jsonschema::is_valid(&schema, &data(&page, "report")));
    schema["$ref"] = "#/$defs/evidence".into();
    for keyword in ["type", "required", "properties"] {
        schema.as_object_mut().expect("an object").remove(keyword);
    }
    let evidence = data(&page, "evidence");
    assert!(jsonschema::is_valid(&schema, &evidence), "{evidence}");
    let without = serde_json::json!({ "left_out": 0, "tests": [{}] });
    assert!(!jsonschema::is_valid(&schema, &without));
}

#[test]
fn policy_allows_only_the_pages_own_style_and_script() {
    let page = drawn(vec![record(0, "f/c/t@2026-07-28+http", vec![])], &[]);
    let between = |from: &str, to: &str| page.split_once(from).expect(from).1.split_once(to).expect(to).0.to_owned();
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let policy = between("Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(
        policy.contains(&format!("script-src {};", hash(&between("<script type=\"module\">", "</script>")))),
        "{policy}"
    );
    assert!(policy.contains(&format!("style-src {};", hash(&between("<style>", "</style>")))), "{policy}");
}

#[test]
fn caveats_come_first_and_missing_tests_have_a_column() {
    let page = drawn(vec![record(0, "f/c/t@2026-07-28+http", vec![verdict(VerdictKind::Cannot, "why")])], &[]);
    assert!(page.contains("This report is partial") && page.contains("interrupted"));
    assert!(page.contains("<td class=\"warn\" data-label=\"cannot\">1</td>"));
    assert!(page.contains("<td class=\"warn\" data-label=\"not run\">2</td>"));
    assert!(page.contains("<td class=\"zero\" data-label=\"passed\">0</td>"));
    assert!(page.contains("<td data-label=\"tested\">0/1</td>"));
}

#[test]
fn opening_picture_is_a_table_without_a_script() {
    use VerdictKind::{Fail, Pass};
    let kinds = [Pass, Fail, Pass].into_iter().enumerate();
    let records = kinds.map(|(at, kind)| record(at, &format!("f/c/t{at}@2026-07-28+http"), vec![verdict(kind, "why")]));
    let page = asked(&[source(records.collect())]);
    assert!(!page.contains("<img"));
    assert!(page.contains("<p class=\"view\"><strong>expectation:</strong>"), "the first line");
    assert!(page.contains("<tr data-capability=\"arrays\"><th scope=\"row\"><span class=\"long\">Is <code>a</code>"));
    assert!(page.contains("<td class=\"partly\"><span class=\"mark\" aria-hidden=\"true\">◐</span> partly"));
    assert!(page.contains("<small>2 of 3</small>"));
    assert!(page.contains("<td class=\"bad\" data-label=\"Servers: MUST\">0 of 1</td>"));
    let row = &data(&page, "report")["capabilities"][0]["capabilities"][0];
    assert_eq!(row["decided_by"], serde_json::json!([{ "requirement": "f/r", "tests": ["f/c"] }]));
    assert_eq!(data(&page, "report")["tests"][0]["role"], "server");
}

#[test]
fn known_failures_are_failures_in_the_conformance_view() {
    let known = Verdict { excuses: Some(VerdictKind::Fail), ..verdict(VerdictKind::Known, "why") };
    let sources = ["one", "two"].map(|name| {
        let target = TargetId { name: name.to_owned(), variant: None };
        source_of(target, vec![record(0, "f/c/t@2026-07-28+http", vec![known.clone()])])
    });
    let page = asked(&sources);
    assert!(page.contains("<p class=\"view\"><strong>conformance:</strong>"), "the first line");
    assert!(page.contains("1 requirement, 2 tests: 2 failed."), "the numbers");
    assert!(page.contains("<td class=\"bad\" data-label=\"failed\">1</td>"));
    assert!(!page.contains("data-label=\"known\""));
    assert!(page.contains("<td class=\"wrong\"><span class=\"mark\" aria-hidden=\"true\">✗</span> no</td>"));
    assert!(page.contains("0 of 1 question (0.0 %)"), "the agreement");
}

#[test]
fn evidence_of_a_test_is_bounded_and_marked_as_cut() {
    let failed = record(0, "f/c/t@2026-07-28+http", vec![verdict(VerdictKind::Fail, &"é".repeat(1 << 20))]);
    let page = drawn(vec![failed], &["é".repeat(1 << 20).as_str(); 40]);
    let evidence = data(&page, "evidence");
    assert!(evidence.to_string().len() < 300_000, "{} bytes", evidence.to_string().len());
    let proof = &evidence["tests"][0];
    assert_eq!(proof["transcript"]["steps"][0]["messages"][0]["cut_from"], 2 << 20);
    assert_eq!(proof["is_cut"], true);
    let detail = data(&page, "report")["tests"][0]["checks"][0]["detail"][0]["text"].as_str().map(str::len);
    assert!(detail.is_some_and(|bytes| bytes < 2_100));
}

#[test]
fn worst_tests_get_evidence_first_and_passed_tests_none() {
    use VerdictKind::{Fail, Pass, Warn};
    let kinds = [Pass, Warn, Fail];
    let records: Vec<_> = kinds
        .iter()
        .enumerate()
        .map(|(at, kind)| record(at, &format!("f/c/t{at}@2026-07-28+http"), vec![verdict(*kind, "why")]))
        .collect();
    let proven = proven(&drawn(records, &["{}"]));
    assert_eq!(proven, ["f/c/t2@2026-07-28+http", "f/c/t1@2026-07-28+http"]);
}

#[test]
fn the_script_has_a_mark_for_each_status_and_no_others() {
    let (_, marks) = include_str!("data.js").split_once("const GLYPHS = {").expect("the marks");
    let (marks, _) = marks.split_once("};").expect("their end");
    let marks = marks.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().trim_matches('"')));
    let of_options = ["none", "taken", "partly", "not-taken"];
    let mut marks: Vec<_> = marks.filter(|mark| !of_options.contains(mark)).collect();
    let mut statuses: Vec<_> = Status::ALL.iter().map(|status| status.word()).collect();
    marks.sort_unstable();
    statuses.sort_unstable();
    assert_eq!(marks, statuses);
}

#[test]
fn the_pages_script_hides_the_same_characters() {
    let (_, class) = include_str!("text.js").split_once("/[").expect("a class");
    let (class, _) = class.split_once("]|\\p{Noncharacter_Code_Point}/gu").expect("its end");
    let mut escapes = class.split("\\u").skip(1).map(|escape| {
        let (hex, dash) = (escape.trim_end_matches('-').trim_matches(['{', '}']), escape.ends_with('-'));
        (u32::from_str_radix(hex, 16).expect("a number"), dash)
    });
    let mut ranges = Vec::new();
    while let Some((from, is_range)) = escapes.next() {
        ranges.push(from..=if is_range { escapes.next().expect("an end").0 } else { from });
    }
    for one in '\0'..=char::MAX {
        let number = u32::from(one);
        let is_in_class = ranges.iter().any(|range| range.contains(&number)) || number & 0xfffe == 0xfffe;
        assert_eq!(crate::model::untrusted::is_hidden(one), is_in_class, "{}", one.escape_unicode());
    }
}
