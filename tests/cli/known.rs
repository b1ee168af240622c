//! `casebook known`: from the failures of a run to a run that is as expected.

use crate::sandbox::Sandbox;

const LAST: &str = "known cache/casebook/last/run.jsonl --cases cases";

#[test]
fn proposed_entries_with_reasons_make_the_run_green() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", Some("input-not-validated"), "");
    sandbox.run("run t --cases cases").exits(1).stderr_has(&["tip: `casebook known ", "prints [[known]] entries"]);
    let proposed = sandbox.run(LAST);
    proposed.exits(0).matches_snapshot("known");
    sandbox.borrowed("t", Some("input-not-validated"), &proposed.out);
    let refused = sandbox.run("run t --cases cases");
    refused.exits(2).stderr_has(&["the `reason` of a known failure is empty", "write why the target fails"]);
    let filled_in = proposed.out.replace("reason = \"\"", "reason = \"takes every weight\"");
    sandbox.borrowed("t", Some("input-not-validated"), &filled_in);
    let green = sandbox.run("run t --cases cases");
    green.exits(0).stdout_has(&["1 known"]);
    assert!(!green.err.contains("tip:"), "{}", green.err);
    let again = sandbox.run(LAST);
    again.exits(0).stderr_has(&["no known failure is missing"]);
    assert_eq!(again.out, "", "known failures are not proposed again");
    // The target no longer fails.
    sandbox.borrowed("t", None, &filled_in);
    sandbox.run("run t --cases cases").exits(1);
    sandbox.run(LAST).exits(0).stdout_has(&["# remove: test = \"post/parcel/word\""]);
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
