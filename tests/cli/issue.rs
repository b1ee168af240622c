//! `casebook issue`: drafts for the tracker of a target, from a run log.

use crate::sandbox::Sandbox;

/// A sandbox with a target `t` that validates nothing.
fn sandbox(more: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", Some("input-not-validated"), more);
    sandbox
}

/// An entry of `[[known]]` for the failure.
fn known(more: &str) -> String {
    format!(
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\n\
         reason = \"takes every weight\"\n{more}\n"
    )
}

/// The code blocks of Markdown, with their languages.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        if ticks >= 3 {
            let (fence, language) = line.split_at(ticks);
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != fence).collect();
            blocks.push((language.to_owned(), block.join("\n")));
        }
    }
    blocks
}

/// The text of Markdown outside of its code blocks.
fn prose(text: &str) -> String {
    let mut prose = text.to_owned();
    for (_, block) in blocks(text) {
        prose = prose.replacen(&block, "", 1);
    }
    prose
}

#[test]
fn draft_is_of_the_last_run_or_of_a_run_log() {
    let sandbox = sandbox("");
    sandbox.run("issue post/parcel t --cases cases").exits(2).stderr_has(&["there is no last run"]);
    sandbox.run("run t --cases cases").exits(1);
    let last = sandbox.run("issue post/parcel t --cases cases");
    last.exits(0).matches_snapshot("issue");
    sandbox.run("run t --cases cases --only post/parcel --run-log run.jsonl").exits(1);
    let named = sandbox.run("issue post/parcel t --cases cases --run-log run.jsonl");
    assert_eq!(named.exits(0).out, last.out);
    let command = last.out.lines().rev().nth(1).and_then(|line| line.strip_prefix("casebook ")).expect("a command");
    sandbox.run(command).exits(1).stdout_has(&["post/arguments-checked"]);
}

#[test]
fn run_log_needs_neither_target_nor_messages() {
    let sandbox = sandbox("");
    sandbox.run("run t --cases cases --run-log run.jsonl").exits(1);
    std::fs::remove_file(sandbox.path().join("run.wire.jsonl")).expect("removed");
    std::fs::remove_dir_all(sandbox.path().join("t")).expect("removed");
    sandbox
        .run("issue post/parcel t --cases cases --run-log run.jsonl")
        .exits(0)
        .stdout_has(&["The messages of this test were not recorded.", "a word never reaches the tool:"]);
    sandbox
        .run("issue post/parcel u --run-log run.jsonl")
        .exits(2)
        .stderr_has(&["has no test of u; its targets are t"]);
    sandbox.run("issue post/stone t --run-log run.jsonl").exits(2).stderr_has(&["no test of t that `post/stone`"]);
}

#[test]
fn http_and_the_newest_revision_are_preferred() {
    let sandbox = Sandbox::new();
    sandbox.run("run reference:input-not-validated --cases cases").exits(1);
    let draft = sandbox.run("issue post/parcel reference:input-not-validated --cases cases");
    draft.exits(0).stdout_has(&["--only post/parcel/word@2026-07-28+http --cases cases\n"]);
}

#[test]
fn client_under_test_has_a_draft() {
    let sandbox = Sandbox::visited();
    let visit = sandbox.read("visits/post/visit.json").replace("\"success\"", "\"tool-error\"");
    sandbox.write("visits/post/visit.json", &visit);
    sandbox.run("run reference --cases visits").exits(1);
    sandbox.run("issue post/visit/kept reference --cases visits").exits(0).stdout_has(&[
        "# Client violates a MUST: Clients MUST hand over what they get\n",
        "received:\n\n```json\n{\"jsonrpc\"",
        "outcome: expected tool-error, observed success",
    ]);
}

#[test]
fn test_without_a_failure_has_no_draft() {
    let sandbox = sandbox("");
    sandbox.run("run t --cases cases").exits(1);
    let passed = sandbox.run("issue post/letter t --cases cases");
    passed.exits(3).stderr_has(&["nothing to report: no test of t that `post/letter` matches fails"]);
    assert_eq!(passed.out, "");
    let author =
        known("url = \"https://example.com/docs\"").replace("[[known]]", "[[author]]").replace("reason", "quote");
    sandbox.borrowed("t", Some("input-not-validated"), &author);
    sandbox.run("run t --cases cases").exits(0);
    sandbox.run("issue post/parcel/word t --cases cases").exits(3).stderr_has(&["nothing to report"]);
}

#[test]
fn known_failure_has_its_reason_issue_and_program() {
    let more = "issue = \"https://example.com/issues/1\"\nrepro = \"a.sh\"";
    let sandbox = sandbox(&format!("[repro]\ncommand = [\"sh\", \"-e\"]\n\n{}", known(more)));
    sandbox.run("run t --cases cases").exits(0);
    sandbox.run("issue post/parcel t --cases cases").exits(0).stdout_has(&[
        "> **Already reported:** <https://example.com/issues/1>; do not open another issue.\n",
        "\ntakes every weight\n",
        "With the SDK alone, in the folder of the target:\n\n```sh\nsh -e repro/a.sh\n```",
    ]);
}

#[test]
fn grave_harm_is_not_for_a_public_tracker() {
    let sandbox = sandbox("");
    let requirements = sandbox.read("cases/post/requirements.json");
    for harm in ["ssrf", "data-loss", "crash", "dos"] {
        let changed = requirements.replace("\"silent-acceptance\"", &format!("\"{harm}\""));
        sandbox.write("cases/post/requirements.json", &changed);
        sandbox.run("run t --cases cases").exits(1);
        let draft = sandbox.run("issue post/parcel t --cases cases");
        draft.exits(0).stdout_has(&[&format!("**Not for a public tracker:** the harm of this failure is {harm}.")]);
    }
}

#[test]
fn hostile_texts_of_a_run_log_stay_text() {
    let sandbox = sandbox("");
    sandbox.run("run t --cases cases --run-log run.jsonl").exits(1);
    let hostile = "`````\n# owned\n@ada #1 [a](http://evil.example) \u{1b}[31m\u{202e}\n::error::x\n<script>";
    let edited = |name: &str, edit: &dyn Fn(&mut serde_json::Value)| {
        let lines: Vec<String> = sandbox
            .read(name)
            .lines()
            .map(|line| {
                let mut line = serde_json::from_str(line).expect("JSON");
                edit(&mut line);
                line.to_string()
            })
            .collect();
        sandbox.write(name, &(lines.join("\n") + "\n"));
    };
    edited("run.jsonl", &|line| {
        if let Some(record) = line.get_mut("record") {
            record["title"] = hostile.into();
            for verdict in record["verdicts"].as_array_mut().expect("a list") {
                for detail in verdict.get_mut("detail").and_then(|all| all.as_array_mut()).into_iter().flatten() {
                    *detail = serde_json::json!({ "finding": { "missing": { "place": hostile } } });
                }
            }
        } else if let Some(header) = line.get_mut("header") {
            header["casebook"] = hostile.into();
            header["about"][0]["version"] = hostile.into();
        }
    });
    for (name, value) in [("x-note", hostile), ("@/etc/passwd", "x")] {
        edited("run.wire.jsonl", &|line| {
            line["stderr"] = hostile.into();
            for message in line["steps"]
                .as_array_mut()
                .expect("a list")
                .iter_mut()
                .flat_map(|step| step["messages"].as_array_mut().expect("a list").iter_mut())
            {
                if message["from"] == "target" {
                    message["text"] = hostile.into();
                } else {
                    message["headers"] = serde_json::json!([[name, value]]);
                }
            }
        });
        let draft = sandbox.run("issue post/parcel t --cases cases --run-log run.jsonl");
        let out = &draft.exits(0).out;
        assert!(!out.contains(['\u{1b}', '\u{202e}']) && !out.contains("\n::error"), "{out}");
        let prose = prose(out);
        assert!(!prose.contains("# owned\n@ada") && !prose.contains("<script>\n"), "{prose}");
        for active in ["@ada", "[a](http", "<script>", "# owned"] {
            assert!(!prose.contains(active), "{active} in {prose}");
        }
    }
}
