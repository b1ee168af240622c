//! Servers that break a sentence and dress it up: what nobody asked for, what is no message, what is not all there.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::sandbox::{PROGRAM, Sandbox};

/// What becomes of a run on the newest revision over stdio against the reference behind `between.py`: its exit status,
/// and what it says of each requirement, but for what holds.
fn run(way: &str, revision: &str, only: &str) -> (Option<i32>, BTreeSet<(String, String)>) {
    let sandbox = Sandbox::empty();
    let between = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/attacks/between.py");
    let command = serde_json::to_string(&["python3", between, way, PROGRAM, "__adapter"]).expect("strings");
    sandbox.write(
        "t/target.toml",
        &format!(
            "title = \"Between\"\ncommand = {command}\n[claims]\nroles = [\"server\"]\ntransports = [\"stdio\"]\n\
             revisions = [{revision:?}]\n"
        ),
    );
    let came = sandbox.run(&format!("run t --jobs 1 --stdio process --record run.jsonl --only {only}"));
    let lines = sandbox.read("run.jsonl");
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let verdicts = records.flat_map(|line| line["record"]["verdicts"].as_array().cloned().unwrap_or_default());
    let told = verdicts.map(|one| [&one["requirement"], &one["kind"]].map(|it| it.as_str().unwrap_or("").to_owned()));
    (came.status, told.filter(|[_, kind]| kind != "pass").map(Into::into).collect())
}

const NEWEST: &str = "2026-07-28";

fn verdict(requirement: &str, kind: &str) -> (String, String) {
    (requirement.to_owned(), kind.to_owned())
}

#[test]
fn message_that_nobody_asked_for_hides_no_list() {
    let stripped = verdict("sep-2106/input-keywords-kept", "note");
    for way in ["shadow notification", "shadow id"] {
        let (_, told) = run(way, NEWEST, "sep-2106/composition/listed/any-of");
        assert!(told.contains(&stripped), "{way}: {told:?}");
    }
}

#[test]
fn line_that_is_json_and_no_message_is_no_message() {
    let broken = BTreeSet::from([verdict("stdio/nothing-but-messages", "fail")]);
    let lines = [
        "42",
        "null",
        r#""started""#,
        "[1,2]",
        r#"{"method":7}"#,
        r#"{"jsonrpc":"1.0","method":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":7}"#,
        r#"{"jsonrpc":"2.0","method":"x","result":{}}"#,
    ];
    for line in lines {
        let told = run(&format!("line {line}"), NEWEST, "stdio/server-lines");
        assert_eq!(told, (Some(1), broken.clone()), "{line}");
    }
    let notification = r#"line {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    assert_eq!(run(notification, NEWEST, "stdio/server-lines"), (Some(0), BTreeSet::new()));
}

#[test]
fn line_without_an_end_is_no_message() {
    let (status, told) = run("unended", NEWEST, "stdio/server-lines");
    assert_eq!(status, Some(1));
    assert!(told.contains(&verdict("stdio/one-message-a-line", "fail")), "{told:?}");
}

#[test]
fn error_that_is_no_object_has_neither_code_nor_message() {
    let broken = ["messages/error-codes-are-integers", "messages/error-has-code-and-message"];
    let broken: BTreeSet<_> = broken.iter().map(|requirement| verdict(requirement, "fail")).collect();
    for error in [r#""boom""#, "7", "[]"] {
        let told = run(&format!("error {error}"), NEWEST, "messages/server-errors/shape");
        assert_eq!(told, (Some(1), broken.clone()), "{error}");
    }
}

#[test]
fn list_of_which_pages_are_missing_is_inconclusive() {
    for cursor in ["7", r#""again""#] {
        let (status, told) = run(&format!("cursor {cursor}"), NEWEST, "tools/list/whole");
        let held = told.iter().all(|(_, kind)| kind == "inconclusive" || kind == "fail");
        assert!(status == Some(1) && held && !told.is_empty(), "{cursor}: {told:?}");
    }
}

#[test]
fn server_that_has_spoken_cannot_take_it_back() {
    let (_, told) = run("leave", NEWEST, "tools/content/texts");
    assert_eq!(told, BTreeSet::from([verdict("tools/content-as-given", "note")]));
}
