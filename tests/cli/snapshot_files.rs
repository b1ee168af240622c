//! Snapshots of partial runs and damaged snapshots: compared, kept, written and reported.

use crate::sandbox::{PROGRAM, Sandbox};

const LETTER: &str = "snapshots/reference/post/letter.snap";
const PARCEL: &str = "snapshots/reference/post/parcel.snap";

/// The last test of the parcel's snapshot, and the same with another observation over stdio.
const WORD: &str = "\nword\n  tool-error\n";
const STDIO_DIFFERS: &str =
    "\nword\n  2025-06-18..2026-07-28 stdio: crash\n  2025-06-18..2026-07-28 http: tool-error\n";

/// The small cases with accepted snapshots of the reference.
fn accepted() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("run --cases cases --accept").exits(0).stderr_has(&["snapshots written: 2"]);
    assert!(sandbox.read(PARCEL).ends_with(WORD), "{}", sandbox.read(PARCEL));
    sandbox
}

/// Replaces a part of a file.
fn replace(sandbox: &Sandbox, file: &str, old: &str, new: &str) {
    let text = sandbox.read(file);
    assert!(text.contains(old), "{file}: {text}");
    sandbox.write(file, &text.replace(old, new));
}

#[test]
fn narrowed_run_compares_the_lines_that_it_ran() {
    let sandbox = accepted();
    replace(&sandbox, PARCEL, WORD, STDIO_DIFFERS);
    let run = |narrowed: &str| sandbox.run(&format!("run --cases cases {narrowed}"));
    run("--transport http").exits(0).stderr_has(&["snapshots compared: 2\n"]);
    let stdio = run("--transport stdio");
    stdio.exits(1).stdout_has(&["snapshot changed  reference  post/parcel", "snapshots changed: 1"]);
    stdio.stdout_has(&["-   crash", "+   tool-error"]);
    run("--revision 2025-11-25").exits(1).stdout_has(&["-   2025-11-25 stdio: crash", "+   tool-error"]);
    run("--only post/parcel/word@2026-07-28+http")
        .exits(0)
        .stderr_has(&["compared: 1; not compared: 1 (1 not run, 0 without an observation)"]);
    run("--only post/parcel/word@2026-07-28+stdio").exits(1).stdout_has(&["-   crash", "+   tool-error"]);
    run("--skip post/parcel/word").exits(0).stderr_has(&["snapshots compared: 2\n"]);
    run("--role server").exits(1).stdout_has(&["snapshots changed: 1"]);
    let shards = ["1/2", "2/2"].map(|shard| run(&format!("--shard {shard}")).status);
    assert!(shards.contains(&Some(1)), "{shards:?}");
    sandbox.run("freeze today --cases cases").exits(0);
    run("--set today").exits(1).stdout_has(&["snapshots changed: 1"]);
}

#[test]
fn narrowed_accept_keeps_lines_that_were_not_run() {
    let sandbox = accepted();
    let whole = sandbox.read(PARCEL);
    replace(&sandbox, PARCEL, WORD, STDIO_DIFFERS);
    let run = |narrowed: &str| sandbox.run(&format!("run --cases cases {narrowed} --accept"));
    run("--transport http").exits(0).stderr_has(&["snapshots written: 0\n"]);
    assert_ne!(sandbox.read(PARCEL), whole);
    let merged = ["snapshots written: 1 (1 merged with lines of tests that were not run)"];
    run("--transport stdio --revision 2025-11-25").exits(0).stderr_has(&merged);
    let text = sandbox.read(PARCEL);
    let (before, after) = text.split_once("\nword\n").expect("the test");
    assert!(whole.starts_with(before), "{before}");
    let lines = "  2025-06-18 stdio, 2026-07-28 stdio: crash\n  \
                 2025-06-18 http, 2025-11-25 stdio http, 2026-07-28 http: tool-error\n";
    assert_eq!(after, lines);
    run("--transport stdio").exits(0).stderr_has(&merged);
    assert_eq!(sandbox.read(PARCEL), whole);
}

#[test]
fn new_snapshot_of_a_narrowed_accept_is_completed_later() {
    let sandbox = accepted();
    let whole = sandbox.read(PARCEL);
    std::fs::remove_file(sandbox.path().join(PARCEL)).expect("it is there");
    let http = sandbox.run("run --cases cases --transport http --accept");
    http.exits(0).stderr_has(&["snapshots written: 1 (1 incomplete, because no accepted run has observed all tests)"]);
    let lacks = sandbox.run("run --cases cases --only post/parcel");
    lacks.exits(1).stdout_has(&["-   2025-06-18..2026-07-28 http: tool-error", "+   tool-error"]);
    sandbox.run("run --cases cases --transport stdio --accept").exits(0);
    assert_eq!(sandbox.read(PARCEL), whole);
}

#[test]
fn test_that_no_longer_exists_fails_runs_of_its_case_file() {
    let sandbox = accepted();
    let whole = sandbox.read(PARCEL);
    replace(&sandbox, PARCEL, WORD, "\nweight\n  2026-07-28 http: success\n\nword\n  tool-error\n");
    let narrowed = sandbox.run("run --cases cases --only post/parcel/number@2026-07-28+stdio");
    narrowed.exits(1).stdout_has(&["- weight", "-   2026-07-28 http: success"]);
    sandbox.run("run --cases cases").exits(1).stdout_has(&["- weight"]);
    sandbox.run("run --cases cases --only post/letter").exits(0);
    sandbox.run("run --cases cases --only post/parcel/number@2026-07-28+stdio --accept").exits(0);
    assert_eq!(sandbox.read(PARCEL), whole);
}

#[test]
fn missing_snapshot_fails_a_narrowed_run_that_has_its_case_file() {
    let sandbox = accepted();
    std::fs::remove_file(sandbox.path().join(LETTER)).expect("it is there");
    for narrowed in ["--transport http", "--revision 2026-07-28", "--only post/letter/sent/first", "--shard 1/2"] {
        let run = sandbox.run(&format!("run --cases cases {narrowed}"));
        run.exits(1).stdout_has(&["snapshot missing  reference  post/letter", "snapshots missing: 1"]);
        run.stderr_has(&["; missing: 1", "write them with --accept"]);
    }
    sandbox.run("run --cases cases --only post/parcel").exits(0);
}

#[test]
fn tests_without_observation_are_not_compared_or_written() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "");
    sandbox.run("run t --cases cases --accept").exits(0);
    let [letter, parcel] = ["letter", "parcel"].map(|case| format!("t/snapshots/post/{case}.snap"));
    std::fs::remove_file(sandbox.path().join(&letter)).expect("it is there");
    let accepted = sandbox.read(&parcel);
    sandbox.script("t", "exit 7", "");
    for accept in ["", "--accept"] {
        let run = sandbox.run(&format!("run t --cases cases {accept}"));
        run.exits(4).stderr_has(&["snapshots compared: 0; not compared: "]);
        assert!(!run.out.contains("snapshot"), "{}", run.out);
        assert!(!sandbox.path().join(&letter).exists());
        assert_eq!(sandbox.read(&parcel), accepted);
    }
}

#[test]
fn malformed_snapshot_is_reported_and_only_replaced_as_a_whole() {
    let sandbox = accepted();
    let whole = sandbox.read(PARCEL);
    replace(&sandbox, PARCEL, "\nnumber\n", "\nnumber\n  2026-07-28 http: success\n");
    let damaged = sandbox.read(PARCEL);
    for narrowed in ["", "--transport http", "--transport http --accept"] {
        let run = sandbox.run(&format!("run --cases cases {narrowed}"));
        run.exits(1)
            .stdout_has(&["snapshot unreadable  reference  post/parcel", "post/parcel.snap:8: a second observation"]);
        run.stderr_has(&[
            "snapshots compared: 1; unreadable: 1",
            "to replace them, run their whole case files with --accept",
        ]);
        assert_eq!(sandbox.read(PARCEL), damaged);
    }
    sandbox.run("run --cases cases --only post/parcel --accept").exits(0).stderr_has(&["snapshots written: 1\n"]);
    assert_eq!(sandbox.read(PARCEL), whole);
    let left = std::fs::read_dir(sandbox.path().join("snapshots/reference/post")).expect("a folder");
    assert_eq!(left.count(), 2, "a temporary file was left");
}

#[test]
fn snapshot_of_an_earlier_format_is_refused_with_the_remedy() {
    let sandbox = accepted();
    sandbox.write(
        PARCEL,
        "---\nsource: tests/conformance.rs\n---\nword\n  2025-06-18..2026-07-28 stdio http: tool-error\n",
    );
    let run = sandbox.run("run --cases cases --only post/parcel");
    run.exits(1).stdout_has(&["post/parcel.snap:4: the first line does not begin with `unless noted: `"]);
    run.stderr_has(&["to replace them, run their whole case files with --accept"]);
}

#[test]
fn diff_of_two_folders_shows_the_differences_of_their_snapshots() {
    let sandbox = accepted();
    sandbox.borrowed("targets/t", None, "");
    sandbox.run("run targets/t --cases cases --accept").exits(0);
    let diff = |second: &str| sandbox.run(&format!("diff snapshots/reference {second}"));
    diff("snapshots/t")
        .exits(0)
        .stdout_has(&["# snapshots/t: differences from snapshots/reference", "| different | 0 |"]);
    replace(&sandbox, PARCEL, WORD, "\nword\n  crash\n");
    let changed = diff("snapshots/t");
    let section = "\n### post/parcel\n\n`word`\n\n```diff\n@@ 2026-07-28 http @@\n- crash\n+ tool-error\n```\n";
    assert!(changed.exits(0).out.ends_with(section), "{}", changed.out);
    diff("cases").exits(3).stderr_has(&["the snapshots have no test in common"]);
    sandbox.write("snapshots/t/post/parcel.snap", "damaged");
    diff("snapshots/t").exits(2).stderr_has(&["snapshots/t/post/parcel.snap:1: "]);
}

/// The snapshot of a target with variants.
const OF_VARIANTS: &str = "t/snapshots/post/parcel.snap";

/// A target with the variants `high` and `low`, which claims one revision less.
fn with_variants() -> Sandbox {
    let sandbox = Sandbox::new();
    let hello = r#"sed -u -e 's|"variants":[[][^]]*\]|"variants":["high","low"]|'"#;
    let command = serde_json::to_string(&["sh", "-c", &format!("{PROGRAM} __adapter | {hello}")]).expect("strings");
    let claims = "roles = [\"server\"]\ntransports = [\"http\"]\nrevisions = [\"2025-11-25\", \"2026-07-28\"]";
    let variants = "[variants.high]\n[variants.low]\nrevisions = [\"2026-07-28\"]\n";
    let text = format!("title = \"A target\"\ncommand = {command}\n\n[claims]\n{claims}\n\n{variants}");
    sandbox.write("t/target.toml", &text);
    sandbox
}

#[test]
fn variants_share_a_file_and_are_compared_and_accepted_alone() {
    let sandbox = with_variants();
    let run = |what: &str| sandbox.run(&format!("run {what} --cases cases"));
    run("t:high --accept").exits(0).stderr_has(&["snapshots written: 2"]);
    run("t:low").exits(1).stdout_has(&["snapshots missing: 2"]);
    run("t:low --only post/parcel --accept").exits(0).stderr_has(&["snapshots written: 1\n"]);
    run("t:low").exits(1).stdout_has(&["snapshot missing  t:low  post/letter"]);
    run("t --accept").exits(0).stderr_has(&["snapshots written: 1\n"]);
    run("t:low --only post/parcel").exits(0).stderr_has(&["compared: 1; not compared: 1 (1 not run, "]);
    let whole = sandbox.read(OF_VARIANTS);
    let head = "---\ndescription: \"post/parcel as t has it\"\n---\n\
                unless noted: 2025-11-25..2026-07-28 http of high; 2026-07-28 http of low; ";
    assert!(whole.starts_with(head) && whole.ends_with(WORD), "{whole}");
    replace(&sandbox, OF_VARIANTS, WORD, "\nword\n  of high: tool-error\n  of low: crash\n");
    let changed = sandbox.read(OF_VARIANTS);
    run("t:high").exits(0).stderr_has(&["snapshots compared: 2\n"]);
    run("t:high --accept").exits(0).stderr_has(&["snapshots written: 0\n"]);
    let shown = ["snapshot changed  t:low  post/parcel", "-   crash", "+   tool-error"];
    run("t").exits(1).stdout_has(&shown).stdout_has(&["snapshots changed: 1"]);
    replace(&sandbox, OF_VARIANTS, "  of high: tool-error", "  of high: success");
    run("t:high --revision 2026-07-28 --accept").exits(0).stderr_has(&["snapshots written: 1 (1 merged"]);
    let line = "  2025-11-25 http: success\n  2026-07-28 http of high: tool-error\n  of low: crash\n";
    assert_eq!(sandbox.read(OF_VARIANTS), changed.replace("  of high: tool-error\n  of low: crash\n", line));
    run("t:high --accept").exits(0);
    assert_eq!(sandbox.read(OF_VARIANTS), changed);
    run("t:low --accept").exits(0);
    assert_eq!(sandbox.read(OF_VARIANTS), whole);
    replace(&sandbox, OF_VARIANTS, WORD, "\nword\n  of high: tool-error\n  of lower: crash\n");
    for variant in ["t:high", "t:low"] {
        run(variant).exits(1).stdout_has(&["post/parcel.snap:", "`of lower: crash` does not begin with revisions"]);
    }
}

#[cfg(unix)]
#[test]
fn variants_that_are_accepted_at_the_same_time_are_both_written() {
    let sandbox = with_variants();
    sandbox.run("run t --cases cases --accept").exits(0);
    let whole = sandbox.read(OF_VARIANTS);
    std::fs::remove_dir_all(sandbox.path().join("t/snapshots")).expect("it is there");
    std::thread::scope(|scope| {
        for variant in ["high", "low"] {
            let sandbox = &sandbox;
            scope.spawn(move || sandbox.run(&format!("run t:{variant} --cases cases --accept")).exits(0).status);
        }
    });
    assert_eq!(sandbox.read(OF_VARIANTS), whole);
}

#[test]
fn diff_compares_two_variants_in_one_folder() {
    let sandbox = with_variants();
    sandbox.run("run t --cases cases --accept").exits(0);
    replace(&sandbox, OF_VARIANTS, WORD, "\nword\n  of high: tool-error\n  of low: crash\n");
    let diff = |first: &str, second: &str| sandbox.run(&format!("diff {first} {second}"));
    let section = "\n### post/parcel\n\n`word`\n\n```diff\n@@ 2026-07-28 http @@\n- tool-error\n+ crash\n```\n";
    let variants = diff("t/snapshots:high", "t/snapshots:low");
    variants.exits(0).stdout_has(&["# t/snapshots:low: differences from t/snapshots:high", "| different | 1 |"]);
    assert!(variants.out.ends_with(section), "{}", variants.out);
    let unnamed = diff("t/snapshots:high", "t/snapshots");
    unnamed.exits(2).stderr_has(&["are of the variants high, low; name one of them, as in t/snapshots:high"]);
    diff("t/snapshots:high", "t/snapshots:lower").exits(3).stderr_has(&["the snapshots have no test in common"]);
}

#[test]
fn heavy_tests_are_not_in_snapshots() {
    let sandbox = accepted();
    let whole = sandbox.read(PARCEL);
    replace(&sandbox, "cases/post/parcel.json", "\"title\": \"a word", "\"heavy\": true,\n      \"title\": \"a word");
    sandbox.run("run --cases cases --only post/parcel --heavy").exits(1).stdout_has(&["- word"]);
    sandbox.run("run --cases cases --only post/parcel --heavy --accept").exits(0);
    assert!(whole.starts_with(&sandbox.read(PARCEL)) && !sandbox.read(PARCEL).contains("word"));
    sandbox.run("run --cases cases --heavy").exits(0).stderr_has(&["snapshots compared: 2\n"]);
    std::fs::remove_dir_all(sandbox.path().join("snapshots/reference/post")).expect("it is there");
    replace(
        &sandbox,
        "cases/post/parcel.json",
        "\"title\": \"a number",
        "\"heavy\": true,\n      \"title\": \"a number",
    );
    sandbox.run("run --cases cases --only post/parcel --heavy").exits(0).stderr_has(&["snapshots compared: 0\n"]);
}

#[test]
fn run_that_compares_nothing_says_so() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "");
    let only = "--cases cases --only post/parcel/number@2026-07-28+http";
    let run = sandbox.run(&format!("run t reference reference:input-not-validated {only}"));
    run.exits(0).stderr_has(&["t has no snapshots yet", "no snapshots are kept for reference here"]);
    run.stderr_has(&["no snapshots are kept for reference:input-not-validated here"]);
}
