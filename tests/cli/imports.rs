//! `--import`: the JSON-Schema-Test-Suite as cases. The tests use a small suite of their own.

use serde_json::Value;

use crate::sandbox::{Finished, Sandbox};

const IMPORT: &str = "--import json-schema-test-suite=suite/tests/draft2020-12";

/// A sandbox with the suite.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::empty();
    for name in ["type", "minProperties", "refRemote", "optional/depth"] {
        sandbox.lay_out(&format!("suite/tests/draft2020-12/{name}.json"));
    }
    for name in ["word", "dialect"] {
        sandbox.lay_out(&format!("suite/remotes/draft2020-12/{name}.json"));
    }
    sandbox
}

/// The lines about keywords at the end of a run, without the target's name.
fn keywords(came: &Finished) -> Vec<&str> {
    came.out.lines().filter_map(|line| Some(line.split_once("JSON Schema 2020-12, ")?.1)).collect()
}

#[test]
fn reference_passes_the_suite_at_every_door() {
    let sandbox = sandbox();
    let came = sandbox.run(&format!(
        "run reference {IMPORT} --run-log r.jsonl --report json=r.json --report md=r.md --report html=r.html"
    ));
    came.exits(0);
    assert_eq!(keywords(&came), ["arguments: 12 of 12", "results: 14 of 14", "client: 14 of 14"]);
    let report: Value = serde_json::from_str(&sandbox.read("r.json")).expect("JSON");
    let told: Vec<String> = report["keywords"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| format!("{} {} {}", one["keyword"], one["door"], one["rate"]).replace('"', ""))
        .collect();
    let count = |number| format!("{{held:{number},asked:{number}}}");
    for (keyword, door, number) in [
        ("type", "arguments", 2),
        ("type", "results", 5),
        ("min-properties", "arguments", 8),
        ("min-properties", "client", 5),
        ("ref-remote", "results", 2),
        ("remote-refs", "arguments", 2),
        ("remote-refs", "client", 2),
    ] {
        assert!(told.contains(&format!("{keyword} {door} {}", count(number))), "{keyword} {door}: {told:?}");
    }
    assert!(sandbox.read("r.md").contains("| <code>min-properties</code> | 8 | 5 | 5 |"), "{}", sandbox.read("r.md"));
    assert!(
        sandbox.read("r.html").contains("<th scope=\"row\">min-properties</th><td class=\"\""),
        "no table on the page"
    );
    // The table needs only the records.
    sandbox
        .run("report r.jsonl --report md=-")
        .stdout_has(&["### JSON Schema keywords", "<code>total</code> | 12 | 14 | 14 |"]);
}

#[test]
fn wrong_results_are_shown_by_door_and_do_not_fail_the_run() {
    let sandbox = sandbox();
    for (mutant, wrong) in [
        ("input-not-validated", "arguments: 6 of 12: type 0/2, min-properties 4/8"),
        ("output-not-validated", "results: 8 of 14: type 2/5, ref-remote 1/2, min-properties 3/5"),
        ("output-not-validated-by-client", "client: 8 of 14: type 2/5, ref-remote 1/2, min-properties 3/5"),
    ] {
        let came = sandbox.run(&format!("run reference:{mutant} {IMPORT}"));
        came.exits(0).stdout_has(&["noted  json-schema-2020-12/invalid-refused"]);
        let lines = keywords(&came);
        assert!(lines.contains(&wrong) && lines.len() == 3, "{mutant}: {lines:?}");
    }
}

#[test]
fn fetched_ref_fails_the_run_and_other_fetches_are_shown() {
    let sandbox = sandbox();
    for (mutant, status, said) in [
        ("ref-fetched", 1, "failed  json-schema-2020-12/no-network-deref"),
        ("client-fetches-ref", 1, "failed  json-schema-2020-12/no-network-deref"),
        ("dialect-fetched", 0, "noted  json-schema-2020-12/no-other-deref"),
        ("client-fetches-dialect", 0, "noted  json-schema-2020-12/no-other-deref"),
    ] {
        let only = "--only json-schema-2020-12/remote-refs-*";
        let came = sandbox.run(&format!("run reference:{mutant} {IMPORT} {only} --run-log {mutant}.jsonl"));
        came.exits(status).stdout_has(&[said, "canary: expected untouched"]);
    }
    // The fetched file is the file of the suite, at its path.
    let wire = sandbox.read("ref-fetched.wire.jsonl");
    let hits = wire.lines().filter_map(|line| Some(line.split_once("\"canary\":[{\"url\":\"http://127.0.0.1:")?.1));
    let fetched: Vec<_> = hits.filter_map(|hit| hit.split('"').next()).collect();
    assert!(!fetched.is_empty() && fetched.iter().all(|url| url.ends_with("/draft2020-12/word.json")), "{fetched:?}");
}

#[test]
fn imported_cases_have_names_of_the_suite() {
    let sandbox = sandbox();
    let imported = sandbox.run(&format!("list {IMPORT}"));
    imported.exits(0).stdout_has(&[
        "json-schema-2020-12/type-results/refuses-seven-and-a-half-isn-t/whole-numbers@2026-07-28+http\n",
        "json-schema-2020-12/type-client/either-a-word-is-no-date/a-form-that-a-text-may-have@2026-07-28+http\n",
        "json-schema-2020-12/min-properties-arguments/accepts-three-are-enough/at-least-two-members@2025-11-25+http\n",
    ]);
    for unwanted in ["stdio", "a-root-that-is-no-object", "nobody-s", "optional", "type-results/accepts-three"] {
        assert!(!imported.out.contains(unwanted), "{unwanted}");
    }
    sandbox
        .run(&format!("list {IMPORT} --optional"))
        .stdout_has(&["/optional-depth-client/accepts-a-letter-is-long-enough/"]);
    sandbox.run(&format!("list {IMPORT} --cases embedded")).stdout_has(&["sep-2106/bounds/", "json-schema-2020-12/"]);
    sandbox.run(&format!("explain json-schema-2020-12/type-client {IMPORT}")).exits(0).stdout_has(&["whole numbers"]);
}

#[test]
fn target_that_refuses_everything_passes_nothing() {
    let sandbox = sandbox();
    for (mutant, wrong) in [
        ("own-dialect-unknown", ["arguments: 0 of 10", "results: 0 of 12"].as_slice()),
        // A schema that nothing matches must be refused.
        ("own-dialect-unknown-to-client", &["client: 1 of 12: min-properties 0/5, ref-remote 0/2, type 1/5"]),
    ] {
        let skip = "--skip json-schema-2020-12/remote-refs-*";
        let came = sandbox.run(&format!("run reference:{mutant} {IMPORT} {skip}"));
        let lines = keywords(came.exits(0));
        assert!(wrong.iter().all(|wrong| lines.iter().any(|line| line.starts_with(wrong))), "{mutant}: {lines:?}");
    }
    for door in ["arguments", "results", "client"] {
        let case = sandbox.run(&format!("explain json-schema-2020-12/type-{door} --json {IMPORT}"));
        let case: Value = serde_json::from_str(&case.exits(0).out).expect("JSON");
        let tests = case["tests"].as_object().expect("tests");
        let refused: Vec<_> = tests.iter().filter(|(id, _)| id.starts_with("refuses-")).collect();
        assert!(!refused.is_empty(), "{door}");
        for (id, test) in refused {
            let steps = test["steps"].as_array().expect("steps");
            let checked = |back: usize| steps[steps.len() - back]["then"].as_object().expect("a check").keys().next();
            assert_eq!(checked(1).map(String::as_str), Some("invalid-refused"), "{door} {id}");
            assert_eq!(checked(2).map(String::as_str), Some("valid-accepted"), "{door} {id}");
        }
    }
}

#[test]
fn folder_without_a_suite_is_refused_with_the_remedy() {
    let sandbox = sandbox();
    let bad = |folder: &str| sandbox.run(&format!("run reference --import json-schema-test-suite={folder}"));
    bad("nowhere").exits(2).stderr_has(&[
        "nowhere",
        "cannot be read",
        "needs the folder `tests/draft2020-12` of the JSON-Schema-Test-Suite",
    ]);
    sandbox.write("empty/README.md", "");
    let wrong = "this is not the folder `tests/draft2020-12` or `tests/draft2019-09` of a JSON-Schema-Test-Suite";
    bad("empty").exits(2).stderr_has(&[wrong, "clone the suite"]);
    sandbox.write("json/tests/draft2019-09/type.json", "[]");
    bad("suite").exits(2).stderr_has(&[wrong, "choose a draft: suite/tests/draft2020-12\n"]);
    bad(".").exits(2).stderr_has(&[wrong, "choose a draft: ./json/tests/draft2019-09\n"]);
    bad("suite/tests").exits(2).stderr_has(&[wrong]);
    sandbox.run("list --import suite").exits(2).stderr_has(&["expected json-schema-test-suite=DIR"]);
    sandbox.write("hollow/tests/draft2020-12/README.md", "");
    bad("hollow/tests/draft2020-12/").exits(2).stderr_has(&["the suite has no test files"]);
}

#[test]
fn draft_follows_from_the_folder_of_its_tests() {
    let sandbox = sandbox();
    sandbox.write("suite/tests/draft2019-09/type.json", &sandbox.read("suite/tests/draft2020-12/type.json"));
    let list = |folder: &str| sandbox.run(&format!("list --import json-schema-test-suite={folder}"));
    list("suite/tests/draft2019-09").exits(0).stdout_has(&["json-schema-2019-09/type-arguments/"]);
    let mut command = sandbox.command("list --import json-schema-test-suite=draft2020-12");
    let inside = Finished::of(command.current_dir(sandbox.path().join("suite/tests")));
    inside.exits(0).stdout_has(&["json-schema-2020-12/ref-remote-results/"]);
}

#[test]
fn every_mistake_in_a_suite_is_listed_with_its_file() {
    let sandbox = sandbox();
    let draft = |name: &str, text: &str| sandbox.write(&format!("suite/tests/draft2020-12/{name}.json"), text);
    draft("broken", "[ { ]");
    draft("empty", "[]");
    draft("other", r#"{ "description": "no list" }"#);
    draft("lacking", r#"[{ "description": "no tests", "schema": {} }, { "description": "no schema", "tests": [] }]"#);
    draft(
        "wrong",
        r#"[{ "description": 1, "schema": {}, "tests": [{ "description": "a", "data": 1, "valid": "yes" }] }]"#,
    );
    let schema = format!(r#"{{ "const": "{}" }}"#, "a".repeat(2000));
    let tests: Vec<_> =
        (0..400).map(|at| format!(r#"{{ "description": "{at}", "data": {at}, "valid": false }}"#)).collect();
    draft("wide", &format!(r#"[{{ "description": "wide", "schema": {schema}, "tests": [{}] }}]"#, tests.join(",")));
    draft(
        "deep",
        &format!(r#"[{{ "description": "deep", "schema": {}1{}, "tests": [] }}]"#, "[".repeat(110), "]".repeat(110)),
    );
    let came = sandbox.run(&format!("list {IMPORT}"));
    came.exits(2).stderr_has(&[
        "broken.json",
        "the file is not valid JSON",
        "empty.json",
        "needs at least one group",
        "other.json",
        "must be a list",
        "lacking.json",
        "has no `tests`",
        "has no `schema`",
        "wrong.json",
        "`description` must be a string",
        "`valid` must be `true` or `false`",
        "wide.json",
        "the group `wide` at line 1 is too large",
        "768 kB per file",
        "deep.json",
        "the group `deep` at line 1 is too large",
    ]);
    draft("huge", &" ".repeat((1 << 20) + 1));
    sandbox.run(&format!("list {IMPORT}")).exits(2).stderr_has(&["huge.json", "the suite is too large"]);
}

#[cfg(unix)]
#[test]
fn suite_cannot_refer_to_files_outside_of_it() {
    let sandbox = Sandbox::empty();
    sandbox.write("secret.json", r#"{ "title": "secret" }"#);
    let group = |to: &str| {
        format!(
            r#"[{{ "description": "out", "schema": {{ "$ref": "http://localhost:1234/{to}" }},
               "tests": [{{ "description": "a", "data": 1, "valid": true }}] }}]"#
        )
    };
    sandbox.write("suite/remotes/README.md", "");
    std::os::unix::fs::symlink(sandbox.path().join("secret.json"), sandbox.path().join("suite/remotes/link.json"))
        .expect("a link");
    for (at, to) in ["../../secret.json", "%2e%2e/secret.json", "/etc/hostname", "link.json"].into_iter().enumerate() {
        sandbox.write(&format!("suite/tests/draft2020-12/a{at}.json"), &group(to));
    }
    let tests = sandbox.path().join("suite/tests/draft2020-12");
    std::os::unix::fs::symlink(sandbox.path().join("secret.json"), tests.join("linked.json")).expect("a link");
    let written = sandbox.run(&format!("explain json-schema-2020-12/remote-refs-results --json {IMPORT}"));
    written.exits(0).stdout_has(&["link.json"]);
    assert!(!written.out.contains("serves"), "{}", written.out);
}
