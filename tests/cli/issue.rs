//! `casebook issue`: drafts for the tracker of a target, from a run or a run log.

use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::process::output;
use crate::sandbox::{Finished, Sandbox, skip};

const WORD: &str = "post/parcel/word@2026-07-28+http";

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
fn draft_is_the_same_of_a_run_and_of_its_run_log() {
    let sandbox = sandbox("");
    let live = sandbox.run("issue post/parcel t --cases cases");
    live.exits(0).matches_snapshot("issue");
    sandbox.run("run t --cases cases --only post/parcel --run-log run.jsonl").exits(1);
    let recorded = sandbox.run("issue post/parcel t --cases cases --run-log run.jsonl --out issue.md");
    recorded.exits(0).stderr_has(&["draft: issue.md"]);
    assert_eq!((recorded.out.as_str(), sandbox.read("issue.md")), ("", live.out));
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn run_log_needs_neither_target_nor_messages() {
    let sandbox = sandbox("");
    sandbox.run("run t --cases cases --run-log run.jsonl").exits(1);
    std::fs::rename(sandbox.path().join("run.wire.jsonl"), sandbox.path().join("wire")).expect("renamed");
    std::fs::remove_dir_all(sandbox.path().join("t")).expect("removed");
    let issue = "issue post/parcel t --cases cases --run-log run.jsonl";
    sandbox
        .run(issue)
        .exits(0)
        .stdout_has(&["The messages of this test were not recorded.", "test:     a word never reaches the tool"])
        .stderr_has(&["the draft has no messages"]);
    sandbox.run(&format!("{issue} --wire wire")).exits(0).stdout_has(&["\"name\": \"send\"", "--data-raw"]);
    sandbox.run(&format!("{issue} --wire nothing")).exits(2).stderr_has(&["nothing"]);
    sandbox
        .run("issue post/parcel u --run-log run.jsonl")
        .exits(2)
        .stderr_has(&["has no test of u; its targets are t"]);
    sandbox.run("issue post/stone t --run-log run.jsonl").exits(2).stderr_has(&["no test of t that `post/stone`"]);
}

#[test]
fn script_shows_the_failure_without_casebook() {
    if !Path::new("/usr/bin/curl").exists() {
        return skip("curl is not installed");
    }
    let sandbox = Sandbox::new();
    for (revision, requests) in [("2025-11-25", 3), ("2026-07-28", 1)] {
        let test = format!("post/parcel/word@{revision}+http");
        let draft = sandbox.run(&format!("issue {test} reference:input-not-validated --cases cases"));
        let shells: Vec<_> = blocks(&draft.exits(0).out).into_iter().filter(|(language, _)| language == "sh").collect();
        let [(_, serve), (_, script), (_, run)] = shells.as_slice() else { panic!("{}", draft.out) };
        let serve = serve.strip_prefix("casebook ").expect("a command");
        let mut server = sandbox.start(serve);
        let url = server.out.next().expect("the URL");
        sandbox.write("issue.sh", script);
        let mut command = Command::new("sh");
        command.arg(sandbox.path().join("issue.sh")).env("URL", url).env("no_proxy", "*");
        let shown = Finished::of(&mut command);
        shown.exits(0).stdout_has(&["\"weight\":\"two\"", &format!("--- {requests}. tools/call")]);
        assert_eq!(shown.out.matches("--- ").count(), requests, "{}", shown.out);
        assert!(!shown.out.contains("\"error\""), "{}", shown.out);
        server.signal(Signal::SIGINT);
        assert_eq!(server.end().0, Some(0));
        let run = run.strip_prefix("casebook ").expect("a command");
        sandbox.run(run).exits(1).stdout_has(&["post/arguments-checked"]);
    }
    let unset = output(Command::new("sh").arg(sandbox.path().join("issue.sh")).env_remove("URL"));
    assert!(String::from_utf8_lossy(&unset.stderr).contains("set URL to the address"), "{unset:?}");
}

#[test]
fn http_and_the_newest_revision_are_preferred() {
    let sandbox = Sandbox::new();
    let draft = sandbox.run("issue post/parcel reference:input-not-validated --cases cases");
    draft.exits(0).stdout_has(&[&format!("--only {WORD}"), "`post/parcel/word@2025-06-18+stdio`"]);
    let stdio = sandbox.run("issue post/parcel/word@2025-06-18+stdio reference:input-not-validated --cases cases");
    stdio.exits(0).stdout_has(&["There is no script for this failure: the server was tested over stdio."]);
}

#[test]
fn client_under_test_has_messages_and_no_script() {
    let sandbox = Sandbox::visited();
    let visit = sandbox.read("visits/post/visit.json").replace("\"success\"", "\"tool-error\"");
    sandbox.write("visits/post/visit.json", &visit);
    sandbox.run("issue post/visit/kept reference --cases visits").exits(0).stdout_has(&[
        "# Client violates a MUST: Clients MUST hand over what they get\n",
        "1. from the target:",
        "There is no script for this failure: a client is under test",
        "expected: the request fails as a tool error\nobserved: the request succeeds",
    ]);
}

#[test]
fn test_without_a_failure_has_no_draft() {
    let sandbox = sandbox("");
    let passed = sandbox.run("issue post/letter t --cases cases");
    passed.exits(3).stderr_has(&["nothing to report: the gravest result of the 3 tests", "`passed`"]);
    assert_eq!(passed.out, "");
    sandbox.run("issue post/stone t --cases cases").exits(2).stderr_has(&["`post/stone` matches no test"]);
    let author = known("url = \"https://example.com/docs\"").replace("[[known]]", "[[author]]");
    sandbox.borrowed("t", Some("input-not-validated"), &author);
    sandbox
        .run("issue post/parcel/word t --cases cases")
        .exits(3)
        .stderr_has(&["`left to the author`", "takes every weight (https://example.com/docs)"]);
    sandbox.script("dead", "echo the last words >&2; exit 7", "");
    sandbox.run("issue post/parcel dead --cases cases").exits(4).stderr_has(&["has no result on dead"]);
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn known_issue_gets_a_comment_and_no_duplicate() {
    let sandbox = sandbox(&known("issue = \"https://example.com/issues/1\""));
    let draft = sandbox.run("issue post/parcel t --cases cases");
    draft.exits(0).stderr_has(&["already reported: https://example.com/issues/1; the text is a comment"]);
    assert!(
        draft.out.starts_with("> **Already reported:** <https://example.com/issues/1>; do not open"),
        "{}",
        draft.out
    );
    draft.stdout_has(&["In short: takes every weight"]);
}

#[test]
fn program_of_a_known_failure_is_in_the_draft() {
    let sandbox = sandbox(&format!("[repro]\ncommand = [\"sh\", \"-e\"]\n\n{}", known("repro = \"a.sh\"")));
    sandbox.write("t/repro/a.sh", "echo it happens # ```\n");
    sandbox.run("issue post/parcel t --cases cases").exits(0).stdout_has(&[
        "`repro/a.sh` shows the failure without casebook's adapter",
        "```sh\nsh -e repro/a.sh\n```",
        "````sh\necho it happens # ```\n````",
    ]);
}

#[test]
fn grave_harm_makes_a_text_for_the_maintainers_alone() {
    let sandbox = sandbox("");
    let requirements = sandbox.read("cases/post/requirements.json");
    for harm in ["ssrf", "data-loss", "crash", "dos"] {
        let changed = requirements.replace("\"silent-acceptance\"", &format!("\"{harm}\""));
        sandbox.write("cases/post/requirements.json", &changed);
        let private = sandbox.run("issue post/parcel t --cases cases");
        private.exits(0).stdout_has(&["**Not for a public tracker.** Send this to the security contact of `t` only"]);
        private.stderr_has(&[&format!("the harm of this failure is {harm}: the text is for the maintainers alone")]);
    }
    let public = sandbox.run("issue post/parcel t --cases cases --public");
    assert!(!public.exits(0).out.contains("Not for a public tracker"), "{}", public.out);
    sandbox.write("cases/post/requirements.json", &requirements);
    let chosen = sandbox.run("issue post/parcel t --cases cases --private");
    chosen.exits(0).stdout_has(&["Not for a public tracker"]);
    sandbox.run("issue post/parcel t --cases cases --private --public").exits(2).stderr_has(&["cannot be used with"]);
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
    let mut drafts = Vec::new();
    for (name, value) in [("x-note", hostile), ("@/etc/passwd", "x"), ("x-note", "it's $HOME `id`")] {
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
        drafts.push(sandbox.run("issue post/parcel t --cases cases --run-log run.jsonl"));
    }
    for draft in &drafts {
        let out = &draft.exits(0).out;
        assert!(!out.contains(['\u{1b}', '\u{202e}']) && !out.contains("\n::error"), "{out}");
        let prose = prose(out);
        assert!(!prose.contains("# owned\n@ada") && !prose.contains("<script>\n"), "{prose}");
        let is_in_code = |line: &str| !line.contains("owned") || line.contains("`````` `````\\u{a}# owned");
        assert!(prose.lines().all(is_in_code), "{prose}");
    }
    for refused in &drafts[..2] {
        refused.stdout_has(&["There is no script for this failure: a header has characters that cannot be"]);
    }
    drafts[2].stdout_has(&[r"--header 'x-note: it'\''s $HOME `id`'"]);
}
