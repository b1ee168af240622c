//! `casebook run`: results, known failures, snapshots and retries.

use crate::sandbox::{Finished, PROGRAM, Sandbox};

#[test]
fn run_of_own_cases_against_the_reference_succeeds() {
    let sandbox = Sandbox::new();
    let came = sandbox.run("run --cases cases --jobs 1");
    came.exits(0).matches_snapshot("run");
    assert!(!came.out.contains('\u{1b}') && !came.err.contains('\u{1b}'), "no escapes in a pipe");
    assert!(sandbox.path().join("cache/casebook/last/run.jsonl").is_file());
    sandbox.run("run reference --cases cases --only post/parcel --strict --jobs 2").exits(0).stdout_has(&["12 passed"]);
}

#[test]
fn colours_are_only_for_terminals_that_want_them() {
    let sandbox = Sandbox::new();
    let run = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command("run --cases cases --only post/parcel");
        Finished::of(command.envs(variables.iter().copied()))
    };
    assert!(run(&[("CLICOLOR_FORCE", "1")]).exits(0).out.contains('\u{1b}'));
    assert!(!run(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).exits(0).out.contains('\u{1b}'));
}

#[test]
fn violated_must_is_shown_with_its_quote_and_messages() {
    let sandbox = Sandbox::new();
    let only = "--only post/parcel/word@2026-07-28+http --only post/parcel/number@2026-07-28+http";
    sandbox
        .run(&format!("run reference:input-not-validated --cases cases {only}"))
        .exits(1)
        .matches_snapshot("broken-must");
}

#[test]
fn violated_should_is_a_warning_and_fails_with_strict() {
    let sandbox = Sandbox::empty();
    let only = "--only sep-2106/text-mirror/*/zero@2026-07-28+http";
    let run = |more: &str| sandbox.run(&format!("run reference:text-not-mirrored {only} {more}"));
    run("").exits(0).matches_snapshot("broken-should");
    run("--strict").exits(1).stdout_has(&["not as expected"]);
}

#[test]
fn test_without_its_control_is_not_asked() {
    let sandbox = Sandbox::new();
    let came = sandbox.run("run reference:refuses-everything --cases cases --only post/parcel/word --jobs 1");
    came.exits(1).stdout_has(&["not asked", "its control post/parcel/number doesn't hold"]);
    assert!(!came.verdict().contains("passed"), "{}", came.verdict());
}

#[test]
fn run_of_nothing_is_an_error_with_the_nearest_names() {
    let sandbox = Sandbox::new();
    let run = |more: &str| sandbox.run(&format!("run --cases cases {more}"));
    run("--only post/parcl").exits(2).stderr_has(&["`post/parcl` matches no test; the nearest: post/parcel"]);
    run("--skip post/lettr").exits(2).stderr_has(&["`post/lettr` matches no test; the nearest: post/letter"]);
    run("--role client").exits(3).stderr_has(&["nothing to run"]);
    run("--only post/parcel --skip post/**").exits(3).stderr_has(&["nothing to run: the selection leaves no test"]);
    sandbox.borrowed("t", None, "");
    let none = sandbox.run("run t --cases cases --revision 2025-06-18");
    none.exits(3).stderr_has(&["nothing to run: t: the target does not declare revision 2025-06-18 (10)"]);
}

fn known(test: &str, requirement: &str) -> String {
    format!("[[known]]\ntest = \"{test}\"\nrequirement = \"{requirement}\"\nreason = \"takes every weight\"\n")
}

#[test]
fn known_failures_are_excused_until_they_pass() {
    let sandbox = Sandbox::new();
    let entry = known("post/parcel/word", "post/arguments-checked");
    sandbox.borrowed("excused", Some("input-not-validated"), &entry);
    let excused = sandbox.run("run excused --cases cases");
    excused.exits(0).stdout_has(&["1 known", "excused  post/arguments-checked: takes every weight"]);
    sandbox.borrowed("stale", None, &entry);
    sandbox.run("run stale --cases cases").exits(1).matches_snapshot("stale");
    // A selection of tests cannot show that a known failure is stale.
    sandbox.run("run stale --cases cases --only post/letter").exits(0);
    sandbox.borrowed("unmatched", None, &known("post/parcl", "post/arguments-checked"));
    let unmatched = sandbox.run("run unmatched --cases cases");
    unmatched.exits(2).stderr_has(&["unmatched excuses failures in `post/parcl`", "the nearest: post/parcel"]);
}

#[test]
fn variant_is_asked_only_for_what_it_claims() {
    let sandbox = Sandbox::new();
    let adapter = format!("{PROGRAM} __adapter --mutant input-not-validated");
    let hello = r#"sed -u -e 's|"variants":[[][^]]*\]|"variants":["both","new"]|'"#;
    let claims =
        "[claims]\nroles = [\"server\"]\ntransports = [\"http\"]\nrevisions = [\"2025-11-25\", \"2026-07-28\"]";
    let file = |new: &str| {
        let command = serde_json::to_string(&["sh", "-c", &format!("{adapter} | {hello}")]).expect("strings");
        let known = known("post/parcel/word", "post/arguments-checked");
        let variants = format!("[variants.both]\n[variants.new]\n{new}");
        sandbox.write(
            "t/target.toml",
            &format!("title = \"A target\"\ncommand = {command}\n\n{claims}\n\n{variants}\n{known}"),
        );
    };
    file("revisions = [\"2026-07-28\"]\n");
    let came = sandbox.run("run t --cases cases");
    came.exits(0).stdout_has(&["10 skipped  t:new  the target does not declare revision 2025-11-25"]);
    sandbox.run("run t:new --cases cases --revision 2025-11-25").exits(3);
    file("revisions = [\"2025-06-18\"]\n");
    let more = sandbox.run("run t --cases cases");
    more.exits(2).stderr_has(&["t/target.toml:", "a variant cannot claim `2025-06-18`", "help: add it to `revisions`"]);
}

#[test]
fn selection_does_not_hide_mistyped_known_failures() {
    let sandbox = Sandbox::new();
    sandbox.run("run --only sep-2106/boundz").exits(2).stderr_has(&["matches no test; the nearest: sep-2106/bounds"]);
    sandbox.run("explain sep-2106/boundz").exits(2).stderr_has(&["did you mean `sep-2106/bounds`?"]);
    let only = |only: &str| sandbox.run(&format!("run t --only {only} --transport http --run-log run.jsonl"));
    sandbox.borrowed(
        "t",
        None,
        &known("{sep-2106/text-mirror,sep-1303/input-errors}/*", "tools/text-mirrors-structured"),
    );
    let cases = ["base/server-meta", "tools/list-empty"].map(|name| {
        only(name).exits(0);
        let header = sandbox.read("run.jsonl").lines().next().expect("a header").to_owned();
        let header: serde_json::Value = serde_json::from_str(&header).expect("JSON");
        header["header"]["cases"].as_str().expect("a hash").to_owned()
    });
    assert_eq!(cases[0], cases[1], "both are parts of the same");
    // A mistyped entry is an error in every run.
    sandbox.borrowed("t", None, &known("sep-2106/text-mirror/zero", "tools/text-mirrors-structured"));
    only("base/server-meta")
        .exits(2)
        .stderr_has(&["t excuses failures in `sep-2106/text-mirror/zero`, but it matches no test"]);
}

#[test]
fn known_failures_of_cases_not_loaded_are_ignored() {
    let sandbox = Sandbox::new();
    let entries = known("sep-1613/invalid-schema/noticed", "sep-1613/invalid-schema-noticed");
    sandbox.borrowed("t", None, &entries);
    let run = sandbox.run("run t --cases cases --accept");
    run.exits(0).stdout_has(&["as expected: 5 tests"]);
    let again = sandbox.run("run t --cases cases");
    assert!(!again.exits(0).out.contains("missing"), "{}", again.out);
    sandbox.run("run t --cases cases/post/letter.json").exits(0);
    // The folder of a proposal can have the name of an embedded one.
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, &entries);
    sandbox.write("mine/sep-1613/parcel.json", &sandbox.read("cases/post/parcel.json"));
    sandbox.write("mine/sep-1613/requirements.json", &sandbox.read("cases/post/requirements.json"));
    sandbox.run("run t --cases mine").exits(0);
    let mistyped = known("sep-1613/parcel/nmuber", "sep-1613/arguments-checked");
    sandbox.borrowed("t", None, &mistyped);
    sandbox
        .run("run t --cases mine")
        .exits(2)
        .stderr_has(&["but it matches no test; the nearest: sep-1613/parcel/number"]);
    sandbox.borrowed("t", None, &entries.replace("/noticed", "/notised"));
    sandbox
        .run("run t --cases embedded --cases cases --only post")
        .exits(2)
        .stderr_has(&["sep-1613/invalid-schema/notised"]);
}

#[test]
fn accepted_snapshots_are_compared_later() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "");
    sandbox.run("run t --cases cases").exits(0).stderr_has(&["t has no snapshots yet; write them with --accept"]);
    sandbox.run("run t --cases cases --accept").exits(0).stderr_has(&["snapshots written: 2"]);
    sandbox.run("run t --cases cases").exits(0).stdout_has(&["as expected: 5 tests"]);

    let file = "t/snapshots/post/parcel.snap";
    let accepted = sandbox.read(file);
    sandbox.write(file, &accepted.replace("tool-error", "success"));
    sandbox.run("run t --cases cases").exits(1).matches_snapshot("snapshot-changed");
    sandbox.run("run t --cases cases --run-log run.jsonl").exits(1);
    let reports = "--report md=summary.md --report junit=junit.xml --report json=report.json";
    sandbox.run(&format!("report run.jsonl --cases cases --check {reports}")).exits(1);
    for file in ["summary.md", "junit.xml", "report.json"] {
        let report = sandbox.read(file);
        assert!(report.contains("the snapshot of post/parcel for t differs from the observations"), "{report}");
    }
    sandbox.run("replay run.jsonl --cases cases").exits(1).stdout_has(&["not as expected", "snapshots changed: 1"]);
    // A selection of tests is not compared as a whole case file.
    sandbox.run("run t --cases cases --only post/parcel/number").exits(0);
    sandbox.run("run t --cases cases --only post/letter").exits(0);

    sandbox.run("run t --cases cases --only post/parcel/number --accept").exits(0);
    assert_ne!(sandbox.read(file), accepted, "a part of a case file is not written");
    sandbox.run("run t --cases cases --accept").exits(0).stderr_has(&["snapshots written: 1"]);
    assert_eq!(sandbox.read(file), accepted);

    std::fs::remove_file(sandbox.path().join(file)).expect("it is there");
    sandbox.run("run t --cases cases").exits(1).stdout_has(&["snapshot missing  t  post/parcel"]);
}

#[test]
fn snapshots_of_other_cases_are_beside_them() {
    let sandbox = Sandbox::new();
    // A repository with snapshots of its own cases runs other cases.
    sandbox.write("snapshots/reference/other/case.snap", "");
    sandbox.write("own/cases/post/letter.json", &sandbox.read("cases/post/letter.json"));
    sandbox.write("own/cases/post/requirements.json", &sandbox.read("cases/post/requirements.json"));
    let none = sandbox.run("run reference --cases own/cases");
    assert!(!none.exits(0).out.contains("snapshot"), "{}", none.out);
    sandbox.run("run reference --cases own/cases --accept").exits(0).stderr_has(&["snapshots written: 1"]);
    let file = "own/snapshots/reference/post/letter.snap";
    sandbox.write(file, &sandbox.read(file).replace("success", "crash"));
    sandbox.run("run reference --cases own/cases").exits(1).stdout_has(&["snapshot"]);
    let both = sandbox.run("run reference --cases own/cases --cases slow --only post/letter");
    assert!(!both.out.contains("snapshot"), "{}", both.out);
    // Cases beside the snapshots of the repository.
    sandbox.run("run reference --cases cases").exits(1).stdout_has(&["snapshot missing  reference  post/letter"]);
}

#[test]
fn results_of_several_targets_are_separate() {
    let sandbox = Sandbox::new();
    let came =
        sandbox.run("run reference reference:input-not-validated reference --cases cases --only post/parcel --jobs 2");
    came.exits(1).stdout_has(&["\nreference   ", "\nreference:input-not-validated   ", "\ntotal   "]);
    assert_eq!(came.verdict().split(':').next(), Some("not as expected"));
    let verbose = sandbox.run("run --cases cases --only post/parcel --jobs 1 --verbose");
    verbose.exits(0).stdout_has(&["passed  reference  post/parcel/word@2026-07-28+http", "\npost   "]);
}

#[test]
fn test_that_passes_on_retry_is_flaky() {
    let sandbox = Sandbox::new();
    sandbox.proxy("moody", "forgets");
    let run = |more: &str| {
        _ = std::fs::remove_file(sandbox.path().join("moody/forgotten"));
        let only = "--only post/letter/sent/*@2026-07-28+http";
        sandbox.run(&format!("run moody --cases cases {only} --jobs 1 --run-log run.jsonl {more}"))
    };
    run("").exits(1).stdout_has(&["failed", "2 passed, 1 failed"]);
    run("--retries 2").exits(1).stdout_has(&["failed in 1 of 2 attempts", "2 passed, 1 flaky"]);
    assert!(sandbox.read("run.jsonl").contains("protocol-error"), "the attempt that failed is in the record");
    sandbox.run("replay run.jsonl --cases cases").exits(1).stdout_has(&["2 passed, 1 flaky"]);
}
