//! Servers that try to hide a violation: with unsolicited messages, lines that are no messages, and incomplete answers.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::sandbox::{PROGRAM, Sandbox};

/// Runs the reference over stdio behind `between.py`, which manipulates its answers. Returns the exit status, and the
/// verdicts that are not `pass`, by requirement.
fn run(manipulation: &str, revision: &str, only: &str) -> (Option<i32>, BTreeSet<(String, String)>) {
    let sandbox = Sandbox::empty();
    let between = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/attacks/between.py");
    let command = serde_json::to_string(&["python3", between, manipulation, PROGRAM, "__adapter"]).expect("strings");
    sandbox.write(
        "t/target.toml",
        &format!(
            "title = \"Between\"\ncommand = {command}\n[claims]\nroles = [\"server\"]\ntransports = [\"stdio\"]\n\
             revisions = [{revision:?}]\n"
        ),
    );
    let finished = sandbox.run(&format!("run t --jobs 1 --stdio process --run-log run.jsonl --only {only}"));
    let lines = sandbox.read("run.jsonl");
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let verdicts = records.flat_map(|line| line["record"]["verdicts"].as_array().cloned().unwrap_or_default());
    let verdicts =
        verdicts.map(|one| [&one["requirement"], &one["kind"]].map(|it| it.as_str().unwrap_or("").to_owned()));
    (finished.status, verdicts.filter(|[_, kind]| kind != "pass").map(Into::into).collect())
}

const NEWEST: &str = "2026-07-28";

fn verdict(requirement: &str, kind: &str) -> (String, String) {
    (requirement.to_owned(), kind.to_owned())
}

#[test]
fn unsolicited_message_does_not_hide_a_list() {
    let stripped = verdict("sep-2106/input-keywords-kept", "note");
    for manipulation in ["shadow notification", "shadow id"] {
        let (_, verdicts) = run(manipulation, NEWEST, "sep-2106/composition/listed/any-of");
        assert!(verdicts.contains(&stripped), "{manipulation}: {verdicts:?}");
    }
}

#[test]
fn json_line_that_is_no_message_fails() {
    let broken = verdict("stdio/nothing-but-messages", "fail");
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
        let (status, verdicts) = run(&format!("line {line}"), NEWEST, "stdio/server-lines");
        assert!(status == Some(1) && verdicts.contains(&broken), "{line}: {verdicts:?}");
    }
    let notification = r#"line {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    assert_eq!(run(notification, NEWEST, "stdio/server-lines"), (Some(0), BTreeSet::new()));
}

#[test]
fn message_without_a_line_end_is_no_success() {
    let (status, verdicts) = run("unended", NEWEST, "stdio/server-lines");
    assert_eq!(status, Some(1));
    assert!(verdicts.contains(&verdict("stdio/one-message-a-line", "inconclusive")), "{verdicts:?}");
}

#[test]
fn error_that_is_not_an_object_has_no_code_that_could_be_wrong() {
    let code = verdict("messages/error-codes-are-integers", "not-asked");
    let broken = BTreeSet::from([code, verdict("messages/error-has-code-and-message", "fail")]);
    for error in [r#""boom""#, "7", "[]"] {
        let verdicts = run(&format!("error {error}"), NEWEST, "messages/server-errors/shape");
        assert_eq!(verdicts, (Some(1), broken.clone()), "{error}");
    }
}

#[test]
fn list_with_missing_pages_never_passes() {
    for cursor in ["7", r#""again""#] {
        let (status, verdicts) = run(&format!("cursor {cursor}"), NEWEST, "tools/list/order");
        let holds = verdicts.iter().any(|(_, kind)| kind == "pass");
        assert!(status == Some(1) && !holds && !verdicts.is_empty(), "{cursor}: {verdicts:?}");
    }
}

#[test]
fn server_that_sent_a_result_is_judged_by_it() {
    let (_, verdicts) = run("leave", NEWEST, "tools/content/texts");
    assert_eq!(verdicts, BTreeSet::from([verdict("tools/content-as-given", "note")]));
}
