//! `casebook known`: from the failures of a run to a run that is as expected.

use crate::sandbox::Sandbox;

const LAST: &str = "known cache/casebook/last/run.jsonl --cases cases";

#[test]
fn update_makes_the_run_green_until_the_target_changes() {
    let sandbox = Sandbox::new();
    let update = format!("{LAST} --update t/target.toml");
    sandbox.borrowed("t", Some("input-not-validated"), "# About the claims.\n");
    sandbox.run("run t --cases cases").exits(1).stderr_has(&["tip: `casebook known ", "prints [[known]] entries"]);
    sandbox.run(LAST).exits(0).matches_snapshot("known");
    sandbox.run(&update).exits(0).stderr_has(&["1 known failure added, 0 removed or limited; 1 of all untriaged"]);
    let once = sandbox.read("t/target.toml");
    sandbox.run(&update).exits(0).stderr_has(&["0 known failures added, 0 removed or limited; 1 of all untriaged"]);
    assert_eq!(sandbox.read("t/target.toml"), once, "the same run log adds nothing twice");
    let first_day = sandbox.run("run t --cases cases --report md=report.md");
    first_day.exits(0).stdout_has(&["1 known", "untriaged  t: 1 requirement excused without a reason"]);
    assert!(!first_day.err.contains("tip:"), "{}", first_day.err);
    assert!(sandbox.read("report.md").contains("1 of them untriaged"));
    let again = sandbox.run(LAST);
    again.exits(0).stderr_has(&["no known failure is missing"]);
    assert_eq!(again.out, "", "known failures are not proposed again");
    // A person gives the reason.
    let file = sandbox.read("t/target.toml");
    sandbox.write("t/target.toml", &file.replace("\"untriaged\"", "\"takes every weight\""));
    let green = sandbox.run("run t --cases cases");
    green.exits(0).stdout_has(&["1 known"]);
    assert!(!green.out.contains("untriaged"), "{}", green.out);
    // The target no longer fails.
    let file = sandbox.read("t/target.toml");
    sandbox.write("t/target.toml", &file.replace(",\"--mutant\",\"input-not-validated\"", ""));
    sandbox.run("run t --cases cases").exits(1);
    sandbox.run(LAST).exits(0).stdout_has(&["# remove: test = \"post/parcel/word\""]);
    for shard in ["1", "2"] {
        let log = format!("--shard {shard}/2 --run-log shard-{shard}.jsonl");
        sandbox.run(&format!("run t --cases cases {log}"));
    }
    let of_shards = "known shard-1.jsonl shard-2.jsonl --cases cases --update t";
    sandbox.run(of_shards).exits(0).stderr_has(&["0 known failures added, 1 removed or limited"]);
    assert!(!sandbox.read("t/target.toml").contains("known"));
    assert!(sandbox.read("t/target.toml").contains("# About the claims."));
    sandbox.run("run t --cases cases").exits(0);
}

#[test]
fn failure_that_every_test_looks_for_is_excused_too() {
    let sandbox = Sandbox::empty();
    sandbox.lay_out("odd.py");
    let claims = "[claims]\r\nrevisions = [\"2025-11-25\"]\r\ncalls = \"all\"";
    let command = "kind = \"fixed\"\r\ncommand = [\"python3\", \"../odd.py\", \"latin-1\"]";
    sandbox.write("t/target.toml", &format!("title = \"T\"\r\n{command}\r\n\r\n{claims}"));
    let run = "run t --only any-server";
    sandbox.run(run).exits(1).stdout_has(&["failed  messages/utf-8"]);
    sandbox.run("known cache/casebook/last/run.jsonl --update t").exits(0).stderr_has(&[" of all untriaged"]);
    let file = sandbox.read("t/target.toml");
    assert!(file.starts_with("title = \"T\"\r\n") && !file.replace("\r\n", "").contains('\n'), "{file:?}");
    sandbox.run(run).exits(0).stdout_has(&["untriaged  t: "]);
}

#[test]
fn file_that_cannot_be_updated_stays_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", Some("input-not-validated"), "");
    sandbox.borrowed("other", None, "");
    sandbox.run("run t --cases cases").exits(1);
    let before = sandbox.read("other/target.toml");
    let other = sandbox.run(&format!("{LAST} --update other"));
    other.exits(2).stderr_has(&["cannot update", "the run logs have no test of other"]);
    assert_eq!(sandbox.read("other/target.toml"), before);
    sandbox.run(&format!("{LAST} --update missing")).exits(2).stderr_has(&["there is no target `missing`"]);
}

#[test]
fn run_of_the_reference_has_no_known_failures() {
    let sandbox = Sandbox::new();
    sandbox.run("run reference:input-not-validated --cases cases").exits(1);
    sandbox.run(LAST).exits(2).stderr_has(&["casebook's own reference has no known failures"]);
}

#[test]
fn failures_of_an_embedded_target_need_a_copy_of_it() {
    let sandbox = Sandbox::new();
    let folder = "cache/casebook/targets/0123456789abcdef/t";
    sandbox.borrowed(folder, Some("input-not-validated"), "");
    let run = sandbox.run(&format!("run ./{folder} --cases cases"));
    run.exits(1);
    assert!(!run.err.contains("tip:") && !run.err.contains("--accept"), "{}", run.err);
    sandbox.run(LAST).exits(0).stderr_has(&["t is embedded in casebook: copy ", "for example to targets/t,"]);
}

#[test]
fn wrong_keys_of_evidence_are_refused() {
    let sandbox = Sandbox::new();
    let known = |repro: &str| {
        format!("[[known]]\ntest = \"**\"\nrequirement = \"a/b\"\nreason = \"fails\"\nrepro = \"{repro}\"\n\n")
    };
    for repro in ["../a.sh", "/bin/sh", "", "a/../../b"] {
        sandbox.script("t", "exit 1", &known(repro));
        sandbox.run("run t").exits(2).stderr_has(&["`repro` leads out of the folder `repro/`", "name a file below"]);
    }
    sandbox.script("t", "exit 1", "[repro]\ncommand = []\n");
    sandbox.run("run t").exits(2).stderr_has(&["the command is empty"]);
}
