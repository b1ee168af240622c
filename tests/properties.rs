//! Properties that hold for every input, not only for those that somebody thought of.

use camino::Utf8PathBuf;
use casebook::model::record::{FORMAT, Footer, Header, Record, Transcript};
use casebook::report::{Standing, Summary};
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

/// How many tests a log shows as passed, and as run.
fn shown(log: &RunLog) -> (usize, usize) {
    let summary = Summary::new(&log.header, &log.records, log.footer.as_ref());
    (summary.total.get(Standing::Passed), summary.total.total())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_log_cut_at_any_byte_is_read_without_a_panic_and_shows_no_more_passes(
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
        log.finish(Footer { ran: tests.len(), interrupted: false, stale: vec![], micros: 1 }).expect("written");

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
            // Only the last line's end can go without a loss.
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
