//! Properties that must hold for every input, tested with random inputs.

use camino::Utf8PathBuf;
use casebook::model::record::{About, FORMAT, Footer, Header, Record};
use casebook::model::transcript::Transcript;
use casebook::model::{Shard, TestId};
use casebook::report::{Report, ReportContext, RunSummary, Source, Status};
use casebook::run::{Log, RunLog, read_log, read_wire, wire_path};
use proptest::prelude::*;
use serde_json::json;

const KINDS: [&str; 6] = ["pass", "fail", "warn", "known", "inconclusive", "cannot"];

fn record(index: usize, kind: &str, said: &str) -> Record {
    let record = json!({
        "index": index, "target": "sample", "test": format!("f/c/t{index}@2026-07-28+http"), "title": "A sentence",
        "hash": "0", "micros": 1,
        "observation": { "steps": [{
            "outcome": "success", "took": "instant", "size": "small", "said": said, "structured": null
        }] },
        "verdicts": [{ "step": 0, "requirement": "f/r", "level": "MUST", "kind": kind, "line": 1 }],
    });
    serde_json::from_value(record).expect("a record")
}

fn transcript() -> Transcript {
    let transcript = json!({
        "target": "sample", "test": "f/c/t@2026-07-28+http", "served": "serving", "stderr": "", "leaky": false,
        "bindings": { "canaries": [], "unique": "1", "revision": "2026-07-28" }, "micros": 1,
        "steps": [{ "messages": [{ "from": "target", "text": "{\"é\":1}", "at": 0 }], "end": "timeout", "micros": 1,
            "canary": [] }],
    });
    serde_json::from_value(transcript).expect("a transcript")
}

/// The numbers of passed tests and of all tests in a run log.
fn shown(log: &RunLog) -> (usize, usize) {
    let mut summary = RunSummary::new(&log.header, std::iter::empty());
    for record in &log.records {
        summary.add(record);
    }
    (summary.total().get(Status::Passed), summary.total().total())
}

/// A run log with these records, of a run with `planned` tests.
fn source(name: &str, shard: Option<Shard>, planned: usize, records: Vec<Record>) -> Source {
    let target: casebook::model::TargetId = "sample".parse().expect("a target");
    let about = About {
        target: target.clone(),
        title: "A sample".into(),
        by_hand: std::collections::BTreeMap::new(),
        version: None,
        language: None,
        api: None,
        date: None,
        dependencies: std::collections::BTreeMap::new(),
        unverified: None,
        planned,
        ad_hoc: false,
        pair: None,
    };
    let header = Header {
        format: FORMAT,
        casebook: "0".into(),
        targets: vec![target],
        about: vec![about],
        shard,
        planned,
        ..Header::default()
    };
    let footer = Some(Footer { ran: records.len(), micros: 1, ..Footer::default() });
    Source { name: name.into(), header, records, footer, cut: None, is_broken: false }
}

fn report(sources: &[Source]) -> String {
    Report::new(sources, &ReportContext::default()).json()
}

fn shards(parts: u32) -> Vec<Shard> {
    (1..=parts).map(|part| format!("{part}/{parts}").parse().expect("a shard")).collect()
}

/// Generates up to `most` tests, each as the kind of its verdict.
fn tests(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&KINDS[..]), 0..most)
}

fn records(kinds: &[&str]) -> Vec<Record> {
    kinds.iter().enumerate().map(|(index, kind)| record(index, kind, "")).collect()
}

proptest! {
    #[test]
    fn test_belongs_to_exactly_one_shard(names in prop::collection::btree_set("[a-z]{1,8}", 1..40), parts in 1..=32u32) {
        for name in names {
            let id: TestId = format!("f/{name}/t@2026-07-28+http").parse().expect("a test");
            prop_assert_eq!(shards(parts).iter().filter(|shard| shard.has(&id)).count(), 1);
        }
    }

    #[test]
    fn shards_in_any_order_or_twice_equal_the_run(
        kinds in tests(24),
        parts in 1..8u32,
        order in any::<prop::sample::Index>(),
        again in any::<prop::sample::Index>(),
    ) {
        let all = records(&kinds);
        let whole = report(&[source("whole", None, all.len(), all.clone())]);
        let part = |shard: Shard| {
            let own: Vec<_> = all.iter().filter(|record| shard.has(&record.test)).cloned().collect();
            source(&shard.to_string(), Some(shard), own.len(), own)
        };
        let mut sources: Vec<_> = shards(parts).into_iter().map(part).collect();
        sources.push(again.get(&sources).clone());
        let by = order.index(sources.len());
        sources.rotate_left(by);
        prop_assert_eq!(&report(&sources), &whole);
        sources.reverse();
        prop_assert_eq!(&report(&sources), &whole);
    }

    #[test]
    fn records_in_any_files_and_order_give_one_report(
        tests in prop::collection::vec((prop::sample::select(&KINDS[..]), 0..4usize), 0..24),
        // A test that is in two run logs with different verdicts.
        contradiction in prop::option::of((prop::sample::select(&KINDS[..]), 0..4usize, any::<prop::sample::Index>())),
        order in Just([0usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let kinds: Vec<_> = tests.iter().map(|(kind, _)| *kind).collect();
        let all = records(&kinds);
        let has = |part: usize, index: usize| tests[index].1 == part;
        let part = |part: usize| {
            let own = all.iter().enumerate().filter(|(index, _)| has(part, *index)).map(|(_, record)| record.clone());
            source(&part.to_string(), None, all.len(), own.collect())
        };
        let mut sources: Vec<_> = (0..4).map(part).collect();
        let whole = report(&[source("whole", None, all.len(), all.clone())]);
        prop_assert_eq!(&report(&sources), &whole);
        if let (Some((kind, part, index)), false) = (contradiction, all.is_empty()) {
            sources[part].records.push(record(index.index(all.len()), kind, "otherwise"));
        }
        let mixed: Vec<_> = order.iter().map(|part| sources[*part].clone()).collect();
        prop_assert_eq!(report(&mixed), report(&sources));
        // The worse verdict wins.
        let passed = |sources: &[Source]| {
            let report = Report::new(sources, &ReportContext::default());
            report.targets.iter().map(|column| column.count(Status::Passed)).sum::<usize>()
        };
        prop_assert!(passed(&mixed) <= passed(&[source("whole", None, all.len(), all.clone())]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn truncated_run_log_never_panics_or_adds_passes(
        tests in prop::collection::vec((prop::sample::select(&KINDS[..]), ".{0,12}"), 0..4),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("run.jsonl")).expect("UTF-8");
        let header = Header { format: FORMAT, casebook: "0".into(), planned: tests.len(), ..Header::default() };
        let mut log = Log::create(&path, header).expect("a log");
        let records: Vec<_> =
            tests.iter().enumerate().map(|(index, (kind, said))| record(index, kind, said)).collect();
        for record in &records {
            log.append(record, &transcript()).expect("written");
        }
        log.finish(Footer { ran: tests.len(), micros: 1, ..Footer::default() }).expect("written");

        let whole = read_log(&path).expect("a log");
        prop_assert_eq!(&whole.records, &records);
        prop_assert!(!whole.is_partial());
        let (passed, ran) = shown(&whole);
        let bytes = std::fs::read(&path).expect("bytes");
        for end in 0..bytes.len() {
            std::fs::write(&path, &bytes[..end]).expect("written");
            let Ok(cut) = read_log(&path) else { continue };
            let (cut_passed, cut_ran) = shown(&cut);
            prop_assert!(cut_passed <= passed && cut_ran <= ran);
            // Only the final line feed can be missing without a loss.
            prop_assert!(cut.is_partial() || end + 1 == bytes.len());
        }
        let wire = std::fs::read(wire_path(&path)).expect("bytes");
        for end in (0..wire.len()).step_by(7) {
            std::fs::write(wire_path(&path), &wire[..end]).expect("written");
            let transcripts: Result<Vec<_>, _> = read_wire(&path).expect("a file").collect();
            prop_assert!(transcripts.is_ok_and(|transcripts| transcripts.len() <= tests.len()));
        }
    }
}
