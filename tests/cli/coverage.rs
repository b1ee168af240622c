//! `coverage`, `new`, `freeze` and `run --set`.

use serde_json::Value;

use crate::sandbox::{PROGRAM, Sandbox};

/// A sandbox with cases that verify some requirements and leave others open.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["sep-7/requirements.json", "sep-7/parcel.json", "tools/requirements.json"] {
        sandbox.lay_out(&format!("coverage/{name}"));
    }
    sandbox
}

#[test]
fn coverage_lists_verified_open_and_other_requirements() {
    let sandbox = sandbox();
    sandbox.run("coverage --cases coverage").exits(0).matches_snapshot("coverage");
    sandbox.run("coverage --cases coverage --format md").exits(0).matches_snapshot("coverage-markdown");
    let json = sandbox.run("coverage --cases coverage --format json");
    let json: Value = serde_json::from_str(&json.exits(0).out).expect("JSON");
    let open = json["requirements"].as_array().expect("a list").iter().filter(|one| one["state"] == "open");
    assert_eq!(
        open.filter_map(|one| one["id"].as_str()).collect::<Vec<_>>(),
        ["sep-7/answers-checked", "sep-7/may-sing", "tools/named", "tools/unnamed"]
    );
    sandbox.run("coverage").exits(0).stdout_has(&["sep-2106     MUST NOT", "unobservable"]);
}

#[test]
fn traceability_file_has_a_row_per_requirement() {
    let sandbox = sandbox();
    sandbox.run("coverage --cases coverage --sep 7 --format sep-yaml").exits(0).matches_snapshot("coverage-sep");
    sandbox.run("coverage --cases coverage --format sep-yaml").exits(2).stderr_has(&["--sep N"]);
    sandbox.run("coverage --cases coverage --sep 8").exits(2).stderr_has(&["no requirement of SEP 8"]);
    sandbox.run("coverage --cases coverage --format yaml").exits(2).stderr_has(&["sep-yaml"]);
    sandbox.run("coverage --cases nowhere").exits(2).stderr_has(&["nowhere"]);
}

#[test]
fn new_folder_lints_and_runs_and_is_not_overwritten() {
    let sandbox = Sandbox::empty();
    sandbox.run("new sep-9999").exits(0).matches_snapshot("new");
    sandbox.run("lint cases").exits(0);
    sandbox.run("run --cases cases --role server --jobs 1").exits(0).stdout_has(&["6 passed"]);
    sandbox.run("run reference:input-not-validated --cases cases --jobs 1").exits(1);
    sandbox.run("new sep-9999").exits(2).stderr_has(&["already exists"]);
    let titled = crate::process::output(sandbox.command("new tools --title").arg("A \"tool\" is called"));
    assert!(titled.status.success() && sandbox.read("cases/tools/first.json").contains(r#""A \"tool\" is called""#));
}

/// A proposal that the reference plays, and its mutant does not.
#[test]
fn proposal_is_judged_apart_until_it_is_promoted() {
    let sandbox = Sandbox::empty();
    sandbox.write("sep.md", "# Rates\n\nServers **MUST** check the rate of `send`. Clients MAY wait.\n");
    sandbox.run("new sep-9999 --from sep.md").exits(0).stdout_has(&["cases/sep-9999/requirements.json"]);
    sandbox.run("new sep-9998 --from nothing.md").exits(2).stderr_has(&["cannot read nothing.md"]);
    sandbox.write("plain.md", "Servers must check.");
    sandbox.run("new sep-9998 --from plain.md").exits(2).stderr_has(&["plain.md has no sentence"]);
    sandbox.run("lint cases").exits(0);
    sandbox.run("run --cases cases --jobs 1").exits(0).stdout_has(&["2 observed"]);
    let case = sandbox.read("cases/sep-9999/first.json").replacen(
        "\"then\": \"observe\"",
        "\"then\": {\"check-rate-send\": {\"outcome\": \"success\"}}",
        1,
    );
    let refuses =
        "\"then\": {\"check-rate-send\": {\"outcome\": [\"tool-error\", \"protocol-error\", \"http-error\"]}}";
    sandbox.write("cases/sep-9999/first.json", &case.replacen("\"then\": \"observe\"", refuses, 1));
    sandbox.run("run --cases cases --jobs 1").exits(0).stdout_has(&["2 passed"]);
    let run = "run reference:input-not-validated --cases cases --jobs 1";
    sandbox.run(run).exits(1).stdout_has(&["failed  sep-9999/check-rate-send", "1 passed, 1 failed"]);
    sandbox.run("freeze 1 --cases cases").exits(3);
    // A target that implements the proposal is held to it.
    let own = |implements: &str| {
        let command = serde_json::to_string(&[PROGRAM, "__adapter", "--mutant", "input-not-validated"]);
        let claims = "roles = [\"server\"]\ntransports = [\"http\"]\nrevisions = [\"2025-11-25\"]";
        let text =
            format!("title = \"T\"\ncommand = {}\n[claims]\n{claims}\n{implements}\n", command.expect("strings"));
        sandbox.write("own/target.toml", &text);
        sandbox.run("run ./own --cases cases --jobs 1")
    };
    own("").exits(0).stdout_has(&["1 passed, 1 not adopted", "first/refuses@2025-11-25+http"]);
    sandbox.run("report cache/casebook/last/run.jsonl --cases cases --report proposal=-").exits(0).stdout_has(&[
        "## <code>sep-9999/check-rate-send</code>",
        "MUST — [Servers MUST check the rate of <code>send</code>.](https://modelcontextprotocol.io/sep#rates)",
        "in 1 of 2 checks",
    ]);
    own("implements = [\"sep-9999\"]").exits(1).stdout_has(&["1 passed, 1 failed"]);
    // A released test cannot ask it.
    let released = sandbox.read("cases/sep-9999/first.json").replace("\"since\": \"draft\",", "");
    sandbox.write("cases/sep-9999/second.json", &released);
    sandbox.run("lint cases").exits(2).stdout_has(&["is only proposed"]);
    std::fs::remove_file(sandbox.path().join("cases/sep-9999/second.json")).expect("the file");
    sandbox.run("promote sep-9999").exits(2);
    sandbox.run("promote sep-1 --to sep-2").exits(2).stderr_has(&["there is no folder cases/sep-1"]);
    sandbox.run("promote sep-9999 --to sep-9999").exits(2).stderr_has(&["is not taken"]);
    let promoted = sandbox.run("promote sep-9999 --to sep-2345 --since 2026-07-28");
    promoted.exits(0).stdout_has(&["cases/sep-2345/first.json", "cases/sep-2345/requirements.json"]);
    sandbox
        .run("run reference:input-not-validated --cases cases --jobs 1")
        .exits(1)
        .stdout_has(&["sep-2345/check-rate-send"]);
    sandbox.run("promote sep-2345 --since 2026-07-28").exits(2).stderr_has(&["no file in cases/sep-2345"]);
}

#[test]
fn new_folder_with_a_lint_error_is_not_written() {
    let sandbox = Sandbox::empty();
    sandbox.run("new sep-9998 --title Short").exits(2).stderr_has(&["nothing was written", "has only 5 characters"]);
    sandbox.run("new Sep_9998").exits(2).stderr_has(&["small letters and digits"]);
    sandbox.run("new ../sep-9998").exits(2).stderr_has(&["small letters and digits"]);
    sandbox.run("new").exits(2).stderr_has(&["<NAME>"]);
    sandbox.run("new --title A-letter workflow").exits(2).stderr_has(&["`workflow` cannot be the name"]);
    assert!(!sandbox.path().join("cases/sep-9998").exists() && !sandbox.path().join("sep-9998").exists());
}

#[test]
fn frozen_set_excludes_later_checks() {
    let sandbox = sandbox();
    sandbox.run("freeze 2026-11 --cases coverage").exits(0).stdout_has(&["sets/2026-11.json"]);
    sandbox.run("freeze 2026-11 --cases coverage").exits(2).stderr_has(&["casebook never overwrites a frozen set"]);
    sandbox.run("freeze ../x --cases coverage").exits(2).stderr_has(&["is not a valid set name"]);
    let run = "run --cases coverage --set 2026-11 --jobs 1";
    let before = sandbox.run(&format!("{run} --report json=before.json"));
    before.exits(0).matches_snapshot("set");
    // Add a check to an old test, and a new test. Both would fail.
    let case = sandbox.read("coverage/sep-7/parcel.json");
    let stricter = r#""arguments-checked": { "outcome": "success" }, "tools/named": { "outcome": "tool-error" },"#;
    let case = case.replacen(r#""arguments-checked": { "outcome": "success" },"#, stricter, 1);
    let later = r#""tests": {
    "later": {
      "title": "a test that came later",
      "when": { "call": "send", "arguments": {} },
      "then": { "arguments-checked": { "outcome": "success" } }
    },"#;
    sandbox.write("coverage/sep-7/parcel.json", &case.replacen("\"tests\": {", later, 1));
    sandbox.run("run --cases coverage --jobs 1").exits(1);
    let after = sandbox.run(&format!("{run} --report json=after.json"));
    after.exits(0).stdout_has(&["newer  than the frozen set 2026-11, and not run"]);
    assert_eq!(after.verdict(), before.verdict());
    let rates = |file| {
        let report: Value = serde_json::from_str(&sandbox.read(file)).expect("JSON");
        report["targets"][0]["rates"].clone()
    };
    assert_eq!(rates("before.json")["levels"]["MUST"]["asked"], 36);
    assert_eq!(rates("after.json"), rates("before.json"));
}

#[test]
fn set_of_a_revision_has_a_score_and_names_what_it_lacks() {
    let sandbox = sandbox();
    sandbox.run("freeze ours --revision 2026-07-28 --cases coverage").exits(0);
    let set: Value = serde_json::from_str(&sandbox.read("sets/ours.json")).expect("JSON");
    assert_eq!(set["revision"], "2026-07-28");
    let all: Vec<_> =
        set["tests"].as_object().expect("tests").values().filter_map(|one| one["on"].as_array()).collect();
    let is_of_it = |on: &Value| on.as_str().is_some_and(|on| on.starts_with("2026-07-28+"));
    assert!(!all.is_empty() && all.iter().all(|on| on.iter().all(is_of_it)));
    assert!(set["not-scored"].as_object().is_some_and(|open| !open.is_empty()), "{}", set["not-scored"]);
    let run = sandbox.run("run --cases coverage --set ours --jobs 1");
    run.exits(0).stdout_has(&["score  reference, server, set ours: "]);
    assert!(!run.out.contains(" newer  than"), "other revisions are no later checks: {}", run.out);
}

#[test]
fn published_set_needs_no_file() {
    let sandbox = Sandbox::empty();
    let reports = "--report badge=badges --report md=report.md";
    let run = sandbox.run(&format!("run --set 2025-11-25 --jobs 1 --only tools/protocol {reports}"));
    assert!(sandbox.read("badges/reference-server.json").contains("MCP 2025-11-25 server reference"));
    assert!(sandbox.read("report.md").contains("--set 2025-11-25"));
    run.exits(0).stdout_has(&["score  reference, server, set 2025-11-25: 0 of "]);
    sandbox.run("run --set 2026-07-29").exits(2).stderr_has(&["did you mean `2026-07-28`?"]);
    sandbox.run("run --set none").exits(2).stderr_has(&["the published and local sets are 2025-06-18, "]);
}

#[test]
fn missing_check_of_a_frozen_set_fails_the_run() {
    let sandbox = sandbox();
    sandbox.run("freeze old --cases coverage").exits(0);
    let case = sandbox.read("coverage/sep-7/parcel.json");
    sandbox.write("coverage/sep-7/parcel.json", &case.replacen("\"missing\":", "\"renamed\":", 1));
    let came = sandbox.run("run --cases coverage --set old --jobs 1");
    came.exits(1).stdout_has(&["gone  sep-7/parcel/missing/heavy", "is in the frozen set old", "not as expected"]);
    sandbox
        .run("run --cases cases --set old")
        .exits(3)
        .stderr_has(&["the frozen set old has none of the selected tests"]);
    sandbox.run("run --cases coverage --set none").exits(2).stderr_has(&["sets/none.json"]);
    sandbox.write("sets/bad.json", "{\"format\": 1, \"casebook\": \"0\", \"tests\": {}, \"more\": 1}");
    sandbox.run("run --cases coverage --set bad").exits(2).stderr_has(&["sets/bad.json", "more"]);
    sandbox.write("sets/other.json", "{\"format\": 9, \"casebook\": \"0\", \"tests\": {}}");
    sandbox.run("run --cases coverage --set other").exits(2).stderr_has(&["it has format 9"]);
}

#[test]
fn target_without_planned_tests_fails_the_run() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "");
    let came = sandbox.run("run reference t --cases cases --revision 2025-06-18 --only post/parcel --jobs 1");
    came.exits(3).stdout_has(&["not tested  t: no test was planned for it", "as expected so far"]);
}
