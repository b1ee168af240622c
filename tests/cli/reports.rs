//! `report`, `diff`, `--report` and `--shard`: reports from run logs.

use serde_json::Value;

use crate::sandbox::Sandbox;

const MUTANT: &str = "run reference:input-not-validated --cases cases --jobs 1";

fn json(sandbox: &Sandbox, name: &str) -> Value {
    serde_json::from_str(&sandbox.read(name)).expect("JSON")
}

#[test]
fn merged_shards_equal_the_whole_run() {
    let sandbox = Sandbox::new();
    let whole = sandbox.run(&format!("{MUTANT} --run-log whole.jsonl --report json=whole.json"));
    assert_eq!(whole.exits(1).err.matches("report: whole.json\n").count(), 1, "{}", whole.err);
    for shard in ["1/3", "2/3", "3/3"] {
        let name = &shard[..1];
        sandbox.run(&format!("{MUTANT} --shard {shard} --run-log shards/{name}.jsonl"));
    }
    let all = "report shards/3.jsonl shards/1.jsonl shards/1.wire.jsonl shards/2.jsonl --cases cases";
    sandbox
        .run(&format!("{all} --report json=merged.json --report junit=j.xml --report badge=badges --report md=m.md"))
        .exits(0);
    sandbox.run(&format!("{all} --check --report md=-")).exits(1).stdout_has(&["## MCP casebook: ❌ not as expected"]);
    let [whole, merged] = ["whole.json", "merged.json"].map(|name| json(&sandbox, name));
    for part in ["cells", "requirements", "partial"] {
        assert_eq!(whole[part], merged[part], "{part}");
    }
    for number in ["planned", "missing", "statuses", "skipped", "rates"] {
        assert_eq!(whole["targets"][0][number], merged["targets"][0][number], "{number}");
    }
    assert!(sandbox.read("j.xml").contains("<testsuite name=\"reference:input-not-validated\""));
    assert!(sandbox.read("badges/reference_input-not-validated.json").contains("\"color\":\"red\""));
    let lacking = sandbox.run("report shards/1.jsonl shards/2.jsonl --cases cases --report json=less.json");
    lacking.exits(5).stderr_has(&["partial: reference:input-not-validated lacks the run log of shard 3/3"]);
    sandbox.run("run --shard 4/3").exits(2).stderr_has(&["expected K/N"]);
}

#[test]
fn reports_of_a_run_and_of_its_run_log_are_equal() {
    let sandbox = Sandbox::new();
    let files = [("html", "r.html"), ("json", "r.json"), ("junit", "r.xml"), ("md", "r.md")];
    let options = |folder: &str| files.map(|(kind, file)| format!(" --report {kind}={folder}/{file}")).concat();
    sandbox.run(&format!("{MUTANT} --run-log run.jsonl{}", options("run"))).exits(1);
    sandbox.run(&format!("report run.jsonl --cases cases{}", options("later"))).exits(0);
    sandbox.run(&format!("replay run.jsonl --cases cases{}", options("again"))).exits(1);
    sandbox
        .run("replay run.jsonl --cases cases --report md=-")
        .exits(2)
        .stderr_has(&["standard output, which shows the run"]);
    for (kind, file) in files {
        let [run, later, again] = ["run", "later", "again"].map(|folder| sandbox.read(&format!("{folder}/{file}")));
        assert!(run == later && run == again && run.contains("arguments-checked"), "{kind}");
    }
}

#[test]
fn stale_known_failures_show_only_in_merged_shards() {
    let sandbox = Sandbox::new();
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    sandbox.borrowed("t", None, known);
    sandbox.run("run t --cases cases --jobs 1").exits(1).stdout_has(&["stale"]);
    for shard in ["1/2", "2/2"] {
        sandbox.run(&format!("run t --cases cases --jobs 1 --shard {shard} --run-log {}.jsonl", &shard[..1])).exits(0);
    }
    sandbox.run("report 1.jsonl 2.jsonl --cases cases --check").exits(1).stdout_has(&["stale"]);
}

#[test]
fn diff_shows_both_observations_and_fails_if_worse() {
    let sandbox = Sandbox::new();
    sandbox.run("run reference --cases cases --jobs 1 --run-log good.jsonl").exits(0);
    sandbox.run(&format!("{MUTANT} --run-log bad.jsonl")).exits(1);
    let worse = sandbox.run("diff good.jsonl bad.jsonl --cases cases --tests 1");
    worse.exits(1).stdout_has(&[
        "A  reference (good.jsonl)",
        "worse in B",
        "post/arguments-checked",
        " pass → fail",
        "B is worse",
    ]);
    let better = sandbox.run("diff bad.jsonl good.jsonl --cases cases");
    better.exits(0).stdout_has(&["better in B: no longer", "B is not worse"]);
    sandbox
        .run("diff good.jsonl good.jsonl --cases cases")
        .exits(0)
        .stdout_has(&["0 checks worse", "30 tests with the same result"]);
    let both = "run reference reference:input-not-validated --cases cases --jobs 1 --run-log both.jsonl";
    sandbox.run(both).exits(1);
    let one = "diff both.jsonl#reference both.jsonl#reference:input-not-validated --cases cases --tests 1";
    sandbox.run(one).exits(1);
    let two = "diff both.jsonl --target reference --target reference:input-not-validated --cases cases";
    sandbox.run(two).exits(1);
    sandbox.run("diff both.jsonl --target reference").exits(2).stderr_has(&["diff compares two sides"]);
    sandbox
        .run("diff both.jsonl#nobody good.jsonl")
        .exits(2)
        .stderr_has(&["both.jsonl has no target `nobody`; it has reference"]);
    let record = sandbox.read("good.jsonl");
    let without_end = record.rsplit_once("{\"footer\"").expect("a footer").0;
    sandbox.write("cut.jsonl", without_end);
    sandbox.run("diff good.jsonl cut.jsonl --cases cases").exits(5).stderr_has(&["partial: cut.jsonl"]);
}

#[test]
fn unreadable_run_log_is_named_and_others_are_reported() {
    let sandbox = Sandbox::new();
    sandbox.run("run reference --cases cases --jobs 1 --run-log good.jsonl").exits(0);
    let record = sandbox.read("good.jsonl");
    sandbox.write("newer.jsonl", &record.replacen(r#""format":3"#, r#""format":99"#, 1));
    sandbox.write("cut.jsonl", &record[..record.len() / 2]);
    let broken: Vec<_> = record.lines().enumerate().map(|(at, line)| if at == 5 { "{\"rec" } else { line }).collect();
    sandbox.write("broken.jsonl", &(broken.join("\n") + "\n"));
    let came = sandbox.run("report newer.jsonl nothing.jsonl good.jsonl --cases cases --report json=r.json");
    came.exits(2).stderr_has(&[
        "newer.jsonl is a run log of format 99",
        "nothing.jsonl: ",
        "the reports contain the other 1 of 3 run logs",
    ]);
    assert_eq!(json(&sandbox, "r.json")["targets"][0]["statuses"]["passed"], 30);
    let cut = sandbox.run("report cut.jsonl --cases cases --report json=cut.json");
    cut.exits(5).stderr_has(&["): cut.jsonl is cut in the middle of line "]);
    let counted = &json(&sandbox, "cut.json")["targets"][0];
    let ran = counted["statuses"]["passed"].as_u64().expect("a number");
    assert_eq!((counted["planned"].as_u64(), counted["missing"].as_u64()), (Some(30), Some(30 - ran)));
    sandbox
        .run("report broken.jsonl --cases cases")
        .exits(2)
        .stderr_has(&["broken.jsonl:6: ", "only a part of broken.jsonl could be read (4 tests)"]);
    sandbox.run("report newer.jsonl").exits(2).stderr_has(&["cannot read any of the run logs"]);
}

#[test]
fn view_changes_markdown_but_not_the_exit_status() {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("{MUTANT} --run-log run.jsonl --report md=run.md --view conformance")).exits(1);
    assert!(sandbox.read("run.md").starts_with("## MCP casebook: 1 target (conformance view)\n"));
    let report = "report run.jsonl --cases cases --check";
    let expected = sandbox.run(report);
    expected.exits(1).stdout_has(&["## MCP casebook: ❌ not as expected (expectation view)\n"]);
    let conformance = sandbox.run(&format!("{report} --view conformance"));
    conformance.exits(1).stdout_has(&["## MCP casebook: 1 target (conformance view)\n", "❌ 1 MUST violated"]);
    sandbox.run("report run.jsonl --cases cases --report pairs=p.html").exits(2).stderr_has(&["no results of pairs"]);
    sandbox.run(&format!("{report} --view other")).exits(2).stderr_has(&["conformance, expectation"]);
}

#[test]
fn github_job_gets_a_summary_and_requested_annotations() {
    let sandbox = Sandbox::new();
    let run = format!("{MUTANT} --report github=- --run-log run.jsonl");
    let mut command = sandbox.command(&run);
    sandbox.write("summary.md", "before\n");
    let came = crate::sandbox::Finished::of(command.env("GITHUB_STEP_SUMMARY", "summary.md"));
    came.exits(1).stdout_has(&["::error file=cases/post/parcel.json,line="]);
    let summary = sandbox.read("summary.md");
    assert!(summary.starts_with("before\n") && summary.contains("## MCP casebook: ❌"), "{summary}");
    let plain = sandbox.run("run reference --cases cases --report md=-");
    plain.exits(2).stderr_has(&["standard output, which shows the run"]);
    sandbox.run("run reference --cases cases --report pdf=x").exits(2).stderr_has(&["junit, md, history, json, badge"]);
}

#[test]
fn target_with_a_wrong_version_is_not_run() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "");
    let file = sandbox.read("t/target.toml");
    let versioned = |version: &str| format!("package = \"casebook-reference\"\nversion = \"{version}\"\n{file}");
    sandbox.write("t/target.toml", &versioned("9.9.9"));
    let came = sandbox.run("run t --cases cases --jobs 1");
    came.exits(4)
        .stdout_has(&["target.toml names casebook-reference 9.9.9, but the adapter's hello names casebook-reference"]);
    came.stdout_has(&["or delete .casebook-setup to run the setup again"]);
    sandbox.run("smoke t").exits(4).stdout_has(&["target.toml names casebook-reference 9.9.9"]);
    sandbox.write("t/target.toml", &versioned(env!("CARGO_PKG_VERSION")));
    sandbox.run("run t --cases cases --jobs 1 --report json=r.json").exits(0);
    let version = format!("casebook-reference {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(json(&sandbox, "r.json")["targets"][0]["version"], version);
    sandbox.write("t/target.toml", &format!("version = \"1\"\n{file}"));
    sandbox.run("run t --cases cases").exits(2).stderr_has(&["package"]);
}

/// The names are those of the traceability file, so that the official suite's `traceability` finds them.
#[test]
fn results_in_the_form_of_the_official_suite_have_the_names_of_the_traceability_file() {
    let sandbox = Sandbox::empty();
    sandbox.run("new sep-9999").exits(0);
    sandbox.run("run reference:sep-9999-accepts-anything --cases cases --report official=results").exits(1);
    let checks = sandbox.read("results/reference-sep-9999-accepts-anything/server-sep-9999-first/checks.json");
    let checks: Value = serde_json::from_str(&checks).expect("JSON");
    let check = &checks[0];
    assert_eq!((&check["id"], &check["status"]), (&"sep-9999-arguments-checked".into(), &"FAILURE".into()), "{check}");
    assert!(check["errorMessage"].as_str().is_some_and(|why| why.contains("observed success")), "{check}");
    let yaml = sandbox.run("coverage --cases cases --sep 9999 --format sep-yaml");
    yaml.exits(0).stdout_has(&["  - check: sep-9999-arguments-checked\n    text: 'Validate all tool inputs'\n"]);
    sandbox.run("run reference --cases cases --report official=results").exits(0);
    let held = sandbox.read("results/reference/server-sep-9999-first/checks.json");
    assert!(held.contains(r#""status": "SUCCESS""#) && !held.contains("errorMessage"), "{held}");
}
