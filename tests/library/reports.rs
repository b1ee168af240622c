//! Reports of constructed run logs: the form of each kind of report, and properties that do not depend on shards.

use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
#[cfg(target_os = "linux")]
use std::time::Duration;

use casebook::model::case::Library;
use casebook::model::record::{Footer, Header, Record};
use casebook::model::spec::{Catalogue, Harm, Level, Requirement, Revisions, Role};
use casebook::model::{RequirementId, TargetId};
use casebook::report::evidence::Evidence;
use casebook::report::markdown::{COMMENT, markdown};
use casebook::report::site::page;
use casebook::report::{CaveatKind, Report, ReportContext, Source, annotations, badges, junit};
use proptest::prelude::*;
use serde_json::{Value, json};

const HOSTILE: &str = "</pre></script><img src=x onerror=alert(1)> `*_[a](b)|@all #1 www.a.b https://a.b ]]>\u{1b}[31m\u{202e}\u{0}\n::error::x";

fn record(target: &str, index: usize, kind: &str, said: &str) -> Record {
    let (requirement, level) = [("f/r", "MUST"), ("sep-1/s", "SHOULD")][index % 2];
    let mut verdict = json!({
        "step": 0, "requirement": requirement, "level": level, "kind": kind,
        "detail": [{ "finding": { "undecidable": { "place": "outcome", "reason": said } } }], "line": 7 + index,
    });
    if kind == "known" {
        verdict["excuses"] = json!("fail");
        let issue = "https://example.com/issues/1";
        verdict["known"] = json!({ "test": "**", "reason": "it is slow", "issue": issue });
    }
    let cannot = (kind == "cannot").then_some(said);
    let record = json!({
        "index": index, "target": target, "test": format!("f/c/t{index}@2026-07-28+http"), "title": "A sentence",
        "hash": "0", "micros": 1_500 * (index + 1), "verdicts": [verdict],
        "observation": { "steps": [{ "outcome": "success", "took": "instant", "size": "small" }], "cannot": cannot },
    });
    serde_json::from_value(record).expect("a record")
}

fn header(target: &str, version: &str, planned: usize, shard: Option<&str>) -> Header {
    let header = json!({
        "format": 3, "casebook": "0", "targets": [target], "planned": planned, "cases": "c0", "shard": shard,
        "about": [{ "target": target, "title": "A target", "version": version, "planned": planned }],
        "skipped": [{ "target": target, "reason": { "role": "client" }, "tests": 3 }],
    });
    serde_json::from_value(header).expect("a header")
}

fn source(name: &str, header: Header, records: Vec<Record>) -> Source {
    let footer = Footer { ran: records.len(), micros: 1, ..Footer::default() };
    Source { name: name.into(), header, records, footer: Some(footer), cut: None, is_broken: false }
}

fn context() -> ReportContext {
    let requirement = |id: &str, level| Requirement {
        short: None,
        fix: None,
        id: RequirementId::within("", id),
        level,
        roles: vec![Role::Server],
        revisions: Revisions::default(),
        source: "specification/page#anchor".into(),
        quote: "Servers <b>do</b> `as` they are told".into(),
        also: Vec::new(),
        harm: Harm::Interop,
        why: "It matters.".into(),
        unobservable: None,
        sides: casebook::model::spec::Sides::default(),
    };
    let all = [requirement("f/r", Level::Must), requirement("sep-1/s", Level::Should)];
    let catalogue: Catalogue = all.into_iter().map(|one| (one.id.clone(), one)).collect();
    ReportContext { catalogue, ..ReportContext::default() }
}

fn report(sources: &[Source]) -> Report {
    Report::new(sources, &context())
}

/// A report with verdicts of every kind, a target in two versions, and a target whose texts are hostile.
fn sample() -> Report {
    let kinds = ["pass", "pass", "fail", "warn", "known", "cannot", "inconclusive", "error", "taken"];
    let all = |target, said| kinds.iter().enumerate().map(move |(index, kind)| record(target, index, kind, said));
    let good = (0..4).map(|index| record("sdk", index, "pass", ""));
    report(&[
        source("b.jsonl", header("sdk", "sdk 1.10.0", 4, None), good.collect()),
        source("a.jsonl", header("sdk", "sdk 1.9.0", 11, None), all("sdk", "expected success").collect()),
        source("x.jsonl", header("evil:low", "evil 1", 9, None), all("evil:low", HOSTILE).collect()),
    ])
}

#[test]
fn markdown_folds_failures_and_counts_the_rest() {
    insta::assert_snapshot!("markdown", markdown(&sample(), COMMENT));
}

#[test]
fn junit_has_a_suite_per_target_and_passes_nothing_unseen() {
    insta::assert_snapshot!("junit", junit(&sample()));
}

#[test]
fn json_matches_its_schema() {
    let report: Value = serde_json::from_str(&sample().json()).expect("JSON");
    let schema: Value = serde_json::from_str(include_str!("../../docs/report.schema.json")).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<_> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // The schema must also reject a report with a missing member.
    let mut broken = report.clone();
    broken["cells"][0].as_object_mut().expect("a cell").remove("status");
    assert!(!validator.is_valid(&broken));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&report).expect("JSON"));
}

#[test]
fn badges_are_green_only_if_all_tests_ran_and_passed() {
    let files: Vec<_> = badges(&sample()).into_iter().map(|(file, text)| format!("{file} {text}")).collect();
    insta::assert_snapshot!(files.concat(), @r#"
    evil_low.json {"schemaVersion":1,"label":"MCP evil:low","message":"25.0 % of MUST, 3 failing","color":"red","isError":true}
    sdk_sdk_1.9.0.json {"schemaVersion":1,"label":"MCP sdk sdk 1.9.0","message":"25.0 % of MUST, 3 failing","color":"red","isError":true}
    sdk_sdk_1.10.0.json {"schemaVersion":1,"label":"MCP sdk sdk 1.10.0","message":"100 % of MUST","color":"brightgreen","isError":false}
    "#);
}

#[test]
fn text_of_a_target_is_no_markup_mention_or_command() {
    let report = sample();
    let text = markdown(&report, COMMENT);
    for wrong in ["<img", "</script", "@all", "](b)", "https://a.b", "www.a", "\u{1b}", "\u{202e}", "`*_"] {
        assert!(!text.contains(wrong), "{wrong} in\n{text}");
    }
    for line in annotations(&report, true) {
        let line = line.as_str();
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(["::error ", "::warning ", "::notice "].iter().any(|start| line.starts_with(start)), "{line}");
        assert!(!line.chars().any(|one| one.is_control() || one == '\u{202e}'), "{line}");
        let (properties, _) = line[2..].split_once("::").expect("a command");
        assert!(!properties.contains(':'), "{line}");
    }
    assert!(!junit(&report).contains("<img"));
}

#[test]
fn junit_uses_only_known_elements_and_attributes() {
    // The elements of `junit-10.xsd` in Jenkins' xUnit plugin; other readers accept more.
    let allowed: BTreeMap<&str, &[&str]> = [
        ("testsuites", ["name", "time", "tests", "failures", "errors"].as_slice()),
        ("testsuite", &["name", "tests", "failures", "errors", "time", "skipped"]),
        ("properties", &[]),
        ("property", &["name", "value"]),
        ("testcase", &["name", "time", "classname"]),
        ("skipped", &["message", "type"]),
        ("error", &["message", "type"]),
        ("failure", &["message", "type"]),
        ("system-out", &[]),
    ]
    .into();
    let text = junit(&sample());
    let tags = text.split('<').skip(1).filter(|tag| !tag.starts_with(['/', '?']));
    let mut cases = BTreeMap::new();
    for tag in tags.map(|tag| tag.split('>').next().expect("a tag has an end").trim_end_matches('/')) {
        let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
        *cases.entry(name).or_insert(0) += 1;
        let known = allowed.get(name).unwrap_or_else(|| panic!("<{name}> is unknown"));
        // Every second part between quotation marks is a value.
        for attribute in rest.split('"').step_by(2).map(|one| one.trim().trim_end_matches('=')) {
            assert!(attribute.is_empty() || known.contains(&attribute), "{attribute} of {name}");
        }
    }
    assert!(text.contains(&format!("tests=\"{}\"", cases["testcase"])));
    assert_eq!((cases["failure"], cases["error"]), (4, 3), "{cases:?}");
}

#[test]
fn annotations_are_limited_and_count_the_rest() {
    let records = (0..300).map(|index| record("sdk", index * 2, "fail", "no")).collect();
    let lines = annotations(&report(&[source("a", header("sdk", "1", 300, None), records)]), false);
    assert_eq!(lines.len(), 51);
    assert_eq!(lines[50].as_str(), "::notice title=casebook::250 more findings are in the report");
    let first =
        "::error file=cases/f/c.json,line=7,title=MUST f/r%3A sdk::f/c/t0@2026-07-28+http%0AA sentence%0Aoutcome: no";
    assert_eq!(lines[0].as_str(), first);
}

#[test]
fn requirement_decided_on_no_target_is_listed() {
    let run = |target: &str, kinds: [&str; 2]| {
        let records = vec![record(target, 0, kinds[0], "no"), record(target, 1, kinds[1], "no")];
        source(target, header(target, "1", 2, None), records)
    };
    let sources =
        [run("sdk", ["pass", "cannot"]), run("other", ["fail", "inconclusive"]), run("reference", ["pass"; 2])];
    let report = report(&sources);
    let decided: Vec<_> = report.requirements.iter().map(|row| (row.id.as_str(), row.decided, row.vacuous)).collect();
    assert_eq!(decided, [("f/r", 2, 0), ("sep-1/s", 0, 2)]);
    let text = markdown(&report, COMMENT);
    assert!(text.contains("1 requirement decided on no target</summary>\n\n- SHOULD <code>sep-1/s</code>\n"), "{text}");
}

#[test]
fn markdown_above_its_limit_is_cut_with_a_note() {
    let said = "x".repeat(3000);
    let records = (0..4000).map(|index| record("sdk", index, ["fail", "warn"][index % 2], &said)).collect();
    let report = report(&[source("a", header("sdk", "1", 4000, None), records)]);
    for limit in [1500, 5000, COMMENT] {
        let text = markdown(&report, limit);
        assert!(text.len() <= limit && text.contains("❌ not as expected"), "{} of {limit}", text.len());
    }
    assert!(markdown(&report, 1500).contains("Shortened to fit GitHub's limit"));
}

#[test]
fn missing_and_contradictory_run_logs_are_named() {
    let pass = |index| record("sdk", index, "pass", "");
    let shard = |name, part, planned, records| source(name, header("sdk", "1", planned, Some(part)), records);
    let one = shard("1.jsonl", "1/3", 3, vec![pass(0), pass(1)]);
    let two = Source { footer: None, ..shard("2.jsonl", "2/3", 2, vec![pass(2)]) };
    let sources = [two, one];
    let report = report(&sources);
    let caveats: Vec<_> = report.partial.iter().map(|caveat| (caveat.kind, caveat.text.as_str())).collect();
    let cut = "2.jsonl has no end: the run was killed, or is still running";
    let expected = [(CaveatKind::Missing, cut), (CaveatKind::Missing, "sdk lacks the run log of shard 3/3")];
    assert_eq!(caveats, expected);
    assert_eq!((report.targets[0].planned, report.targets[0].missing), (5, 2));

    let fail = source("y.jsonl", header("sdk", "1", 1, None), vec![record("sdk", 0, "fail", "no")]);
    let sources = [source("x.jsonl", header("sdk", "1", 1, None), vec![pass(0)]), fail];
    let report = self::report(&sources);
    let caveat = &report.partial[0];
    assert_eq!(caveat.kind, CaveatKind::Contradiction);
    let text = "x.jsonl and y.jsonl disagree on 1 test of sdk, the first of them f/c/t0@";
    assert!(caveat.text.starts_with(text), "{caveat:?}");
    assert!(!report.is_as_expected(false));

    let other = Header { cases: Some("c1".into()), ..header("sdk", "1", 1, None) };
    let two = [source("x.jsonl", header("sdk", "1", 1, None), vec![pass(0)]), source("z.jsonl", other, vec![pass(0)])];
    let report = self::report(&two);
    let caveat = &report.partial[0];
    assert!(caveat.text.contains("x.jsonl (cases c0) and z.jsonl (cases c1)"), "{caveat:?}");
    assert_eq!(report.targets.len(), 2);
}

#[test]
fn known_failure_is_stale_only_if_it_passes_in_all_shards() {
    let held = |index| {
        let known = record("sdk", index, "known", "no").verdicts.remove(0).known;
        let mut record = record("sdk", index, "pass", "");
        record.verdicts[0].known = known;
        record
    };
    let shard = |part, record| source(part, header("sdk", "1", 1, Some(part)), vec![record]);
    let stale =
        |sources: &[Source]| report(sources).targets[0].stale.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(stale(&[shard("1/2", held(0))]).is_empty());
    assert!(stale(&[shard("1/2", held(0)), shard("2/2", record("sdk", 2, "known", "no"))]).is_empty());
    let expected = ["sdk: f/r no longer fails in **; remove it from [[known]] (\"it is slow\")"];
    assert_eq!(stale(&[shard("1/2", held(0)), shard("2/2", held(2))]), expected);
}

#[test]
fn run_log_without_versions_is_still_read() {
    let header = json!({ "format": 3, "casebook": "0.1.0", "targets": ["sdk"], "planned": 2, "skipped": [] });
    let header = serde_json::from_value(header).expect("a header");
    let report = report(&[source("old.jsonl", header, vec![record("sdk", 0, "pass", "")])]);
    let id: TargetId = "sdk".parse().expect("a name");
    let column = &report.targets[0];
    assert_eq!((&column.id, &column.version, column.planned, column.missing), (&id, &None, 2, 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn split_run_gives_the_same_report_in_any_order(
        kinds in prop::collection::vec(prop::sample::select(&["pass", "fail", "known", "cannot", "warn"][..]), 1..30),
        parts in 1_usize..5,
        homes in prop::collection::vec((0_usize..5, 0_usize..5), 30),
        turn in 0_usize..5,
    ) {
        let records: Vec<_> = kinds.iter().enumerate().map(|(index, kind)| record("sdk", index, kind, "no")).collect();
        let whole = report(&[source("a.jsonl", Header { skipped: Vec::new(), ..header("sdk", "1", records.len(), None) }, records.clone())]);
        let mut shards: Vec<Vec<Record>> = vec![Vec::new(); parts];
        for (record, (home, guest)) in records.iter().zip(&homes) {
            // Each shard runs the controls that it needs.
            shards[home % parts].push(record.clone());
            if home % parts != guest % parts {
                shards[guest % parts].push(record.clone());
            }
        }
        let mut sources: Vec<_> = shards.into_iter().enumerate().map(|(at, records)| {
            let shard = format!("{}/{parts}", at + 1);
            let header = Header { skipped: Vec::new(), ..header("sdk", "1", records.len(), Some(&shard)) };
            source(&shard, header, records)
        }).collect();
        sources.rotate_left(turn % parts);
        prop_assert_eq!(report(&sources), whole);
    }
}

/// The processor time of this thread.
#[cfg(target_os = "linux")]
fn processor_time() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("Linux supports it");
    Duration::from_micros(usage.user_time().num_microseconds().unsigned_abs())
}

/// The processor time for all kinds of reports of many targets (`is_wide`) or many requirements.
#[cfg(target_os = "linux")]
fn time_of_reports(many: usize, is_wide: bool) -> Duration {
    // As a file name, each of these names becomes `sdk_`.
    let wide = |index| format!("sdk{}", ('\u{4e00}'..).nth(index).expect("a sign"));
    let name = |index: usize| if is_wide { wide(index) } else { "sdk".to_owned() };
    let records = (0..many).map(|index| {
        let mut record = record(&name(index), index, "fail", "no");
        if !is_wide {
            record.verdicts[0].requirement = RequirementId::within("f", &format!("r{index}"));
        }
        record
    });
    let targets: BTreeSet<_> = (0..many).map(name).collect();
    let about: Vec<_> = targets.iter().map(|id| json!({ "target": id, "title": "A", "planned": 1 })).collect();
    let known = json!({ "test": "**", "reason": "slow" });
    let stale = targets.iter().map(|id| json!({ "target": id, "requirement": "f/r", "known": known }));
    let stale = serde_json::from_value(Value::Array(stale.collect())).expect("known failures");
    let header = json!({ "format": 3, "casebook": "0", "targets": targets, "planned": many, "about": about,
        "skipped": about.iter().map(|one| json!({ "target": one["target"], "reason": "heavy", "tests": 1 })).collect::<Vec<_>>() });
    let header = serde_json::from_value(header).expect("a header");
    let footer = Footer { ran: many, stale, micros: 1, ..Footer::default() };
    let sources = [Source { footer: Some(footer), ..source("a", header, records.collect()) }];
    let begun = processor_time();
    let report = report(&sources);
    let files: BTreeSet<_> = badges(&report).into_iter().map(|(file, _)| file).collect();
    assert_eq!(files.len(), targets.len());
    let mut evidence = Evidence::of(&report);
    evidence.read(&sources[0], None);
    let length = markdown(&report, COMMENT).len()
        + junit(&report).len()
        + page(&sources, &Library::default(), &report, &evidence).len();
    assert!(length > 0 && !annotations(&report, true).is_empty());
    processor_time().saturating_sub(begun)
}

/// With eight times as many, linear work takes about 8 times as long, and quadratic work 64 times. The limit of 24 leaves
/// room for noise.
#[cfg(target_os = "linux")]
#[test]
fn report_of_many_targets_takes_linear_time() {
    for is_wide in [true, false] {
        let best = |many| (0..2).map(|_| time_of_reports(many, is_wide)).min().expect("two");
        let (some, more) = (best(500), best(4_000));
        assert!(more < 24 * some, "wide: {is_wide}, 500: {some:?}, 4000: {more:?}");
    }
}
