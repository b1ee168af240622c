//! The number of workers and the order of tests do not change records, snapshots and output.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Removes times, and replies, which contain ids and dates.
fn timeless(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !["micros", "took", "replies"].contains(&key.as_str()));
            members.values_mut().for_each(timeless);
        }
        Value::Array(items) => items.iter_mut().for_each(timeless),
        _ => {}
    }
}

/// The lines of a run log in the order of the plan. The file has them in the order in which tests ended.
fn record(text: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.iter_mut().for_each(timeless);
    lines.sort_by_key(|line| line["record"]["index"].as_u64());
    lines
}

/// The places of the tests in the plan, in the order in which they ended.
fn as_they_ended(text: &str) -> Vec<u64> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter_map(|line| line["record"]["index"].as_u64()).collect()
}

/// Each snapshot by its path.
fn snapshots(folder: &std::path::Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(snapshots(&path));
        } else {
            let text = std::fs::read_to_string(&path).expect("text");
            found.insert(path.to_string_lossy().into_owned(), text);
        }
    }
    found
}

#[test]
fn number_of_workers_does_not_change_results() {
    let sandbox = Sandbox::empty();
    sandbox.borrowed("honest", None, "");
    sandbox.borrowed("wrong", Some("input-not-validated"), "");
    let mut seen = Vec::new();
    let mut orders = Vec::new();
    let only = "--only sep-2106/composition/** --only elicitation/** --only sep-2322/**";
    for how in ["--jobs 1", "--jobs 2", "--jobs 8"] {
        sandbox.run(&format!("run honest wrong {only} {how} --accept --run-log run.jsonl")).exits(1);
        let snapshots = ["honest/snapshots", "wrong/snapshots"].map(|folder| snapshots(&sandbox.path().join(folder)));
        assert!(snapshots.iter().all(|some| some.len() > 10));
        let text = sandbox.read("run.jsonl");
        orders.push(as_they_ended(&text));
        seen.push((record(&text), snapshots));
    }
    assert!(orders[0].is_sorted(), "one worker takes them in the order of the plan");
    assert!(!orders[2].is_sorted(), "several end them in another one");
    let [(first, accepted), others @ ..] = &seen[..] else { panic!("several runs") };
    assert!(first.len() > 200, "{} lines", first.len());
    for (lines, snapshots) in others {
        assert_eq!(lines.len(), first.len());
        for (one, other) in lines.iter().zip(first) {
            assert_eq!(one, other);
        }
        assert_eq!(snapshots, accepted);
    }
}
