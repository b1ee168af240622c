//! Snapshots of runs that are narrowed, cut short or damaged: what is compared, kept, written and reported.

use crate::sandbox::Desk;

const LETTER: &str = "snapshots/reference/post/letter.snap";
const PARCEL: &str = "snapshots/reference/post/parcel.snap";

/// The last test of the parcel's snapshot, and the same with another observation over stdio.
const WORD: &str = "\nword\n  tool-error\n";
const STDIO_DIFFERS: &str =
    "\nword\n  2025-06-18..2026-07-28 stdio: crash\n  2025-06-18..2026-07-28 http: tool-error\n";

/// The small cases with accepted snapshots of the reference.
fn accepted() -> Desk {
    let desk = Desk::new();
    desk.run("run --cases cases --accept").ends(0).adds(&["snapshots written: 2"]);
    assert!(desk.read(PARCEL).ends_with(WORD), "{}", desk.read(PARCEL));
    desk
}

/// Replaces a part of a file.
fn replace(desk: &Desk, file: &str, old: &str, new: &str) {
    let text = desk.read(file);
    assert!(text.contains(old), "{file}: {text}");
    desk.write(file, &text.replace(old, new));
}

#[test]
fn narrowed_run_compares_the_lines_that_it_ran() {
    let desk = accepted();
    replace(&desk, PARCEL, WORD, STDIO_DIFFERS);
    let run = |narrowed: &str| desk.run(&format!("run --cases cases {narrowed}"));
    run("--transport http").ends(0).adds(&["snapshots compared: 2\n"]);
    let stdio = run("--transport stdio");
    stdio.ends(1).says(&["snapshot changed  reference  post/parcel", "snapshots changed: 1"]);
    stdio.says(&["-   crash", "+   tool-error"]);
    run("--revision 2025-11-25").ends(1).says(&["-   2025-11-25 stdio: crash", "+   tool-error"]);
    run("--only post/parcel/word@2026-07-28+http").ends(0).adds(&["compared: 1; left out: 1 (1 not run, 0 not seen)"]);
    run("--only post/parcel/word@2026-07-28+stdio").ends(1).says(&["-   crash", "+   tool-error"]);
    run("--skip post/parcel/word").ends(0).adds(&["snapshots compared: 2\n"]);
    run("--role server").ends(1).says(&["snapshots changed: 1"]);
    let shards = ["1/2", "2/2"].map(|shard| run(&format!("--shard {shard}")).status);
    assert!(shards.contains(&Some(1)), "{shards:?}");
    desk.run("freeze today --cases cases").ends(0);
    run("--set today").ends(1).says(&["snapshots changed: 1"]);
}

#[test]
fn narrowed_accept_keeps_lines_that_were_not_run() {
    let desk = accepted();
    let whole = desk.read(PARCEL);
    replace(&desk, PARCEL, WORD, STDIO_DIFFERS);
    let run = |narrowed: &str| desk.run(&format!("run --cases cases {narrowed} --accept"));
    run("--transport http").ends(0).adds(&["snapshots written: 0\n"]);
    assert_ne!(desk.read(PARCEL), whole);
    let merged = ["snapshots written: 1 (1 merged with what this run left out)"];
    run("--transport stdio --revision 2025-11-25").ends(0).adds(&merged);
    let text = desk.read(PARCEL);
    let (before, after) = text.split_once("\nword\n").expect("the test");
    assert!(whole.starts_with(before), "{before}");
    let lines = "  2025-06-18 stdio, 2026-07-28 stdio: crash\n  \
                 2025-06-18 http, 2025-11-25 stdio http, 2026-07-28 http: tool-error\n";
    assert_eq!(after, lines);
    run("--transport stdio").ends(0).adds(&merged);
    assert_eq!(desk.read(PARCEL), whole);
}

#[test]
fn new_snapshot_of_a_narrowed_accept_is_completed_later() {
    let desk = accepted();
    let whole = desk.read(PARCEL);
    std::fs::remove_file(desk.path().join(PARCEL)).expect("it is there");
    let http = desk.run("run --cases cases --transport http --accept");
    http.ends(0).adds(&["snapshots written: 1 (1 still without some tests, which no accepted run has seen)"]);
    let lacks = desk.run("run --cases cases --only post/parcel");
    lacks.ends(1).says(&["-   2025-06-18..2026-07-28 http: tool-error", "+   tool-error"]);
    desk.run("run --cases cases --transport stdio --accept").ends(0);
    assert_eq!(desk.read(PARCEL), whole);
}

#[test]
fn test_that_no_longer_exists_fails_runs_of_its_case_file() {
    let desk = accepted();
    let whole = desk.read(PARCEL);
    replace(&desk, PARCEL, WORD, "\nweight\n  2026-07-28 http: success\n\nword\n  tool-error\n");
    let narrowed = desk.run("run --cases cases --only post/parcel/number@2026-07-28+stdio");
    narrowed.ends(1).says(&["- weight", "-   2026-07-28 http: success"]);
    desk.run("run --cases cases").ends(1).says(&["- weight"]);
    desk.run("run --cases cases --only post/letter").ends(0);
    desk.run("run --cases cases --only post/parcel/number@2026-07-28+stdio --accept").ends(0);
    assert_eq!(desk.read(PARCEL), whole);
}

#[test]
fn missing_snapshot_fails_a_narrowed_run_that_has_its_case_file() {
    let desk = accepted();
    std::fs::remove_file(desk.path().join(LETTER)).expect("it is there");
    for narrowed in ["--transport http", "--revision 2026-07-28", "--only post/letter/sent/first", "--shard 1/2"] {
        let run = desk.run(&format!("run --cases cases {narrowed}"));
        run.ends(1).says(&["snapshot missing  reference  post/letter", "snapshots missing: 1"]);
        run.adds(&["; missing: 1", "a run with --accept writes them"]);
    }
    desk.run("run --cases cases --only post/parcel").ends(0);
}

#[test]
fn tests_that_nobody_saw_are_neither_compared_nor_written() {
    let desk = Desk::new();
    desk.borrowed("t", None, "");
    desk.run("run t --cases cases --accept").ends(0);
    let [letter, parcel] = ["letter", "parcel"].map(|case| format!("t/snapshots/post/{case}.snap"));
    std::fs::remove_file(desk.path().join(&letter)).expect("it is there");
    let accepted = desk.read(&parcel);
    desk.script("t", "exit 7", "");
    for accept in ["", "--accept"] {
        let run = desk.run(&format!("run t --cases cases {accept}"));
        run.ends(4).adds(&["snapshots compared: 0; left out: "]);
        assert!(!run.out.contains("snapshot"), "{}", run.out);
        assert!(!desk.path().join(&letter).exists());
        assert_eq!(desk.read(&parcel), accepted);
    }
}

#[test]
fn malformed_snapshot_is_reported_and_only_replaced_as_a_whole() {
    let desk = accepted();
    let whole = desk.read(PARCEL);
    replace(&desk, PARCEL, "\nnumber\n", "\nnumber\n  2026-07-28 http: success\n");
    let damaged = desk.read(PARCEL);
    for narrowed in ["", "--transport http", "--transport http --accept"] {
        let run = desk.run(&format!("run --cases cases {narrowed}"));
        run.ends(1).says(&["snapshot unreadable  reference  post/parcel", "post/parcel.snap:8: a second observation"]);
        run.adds(&[
            "snapshots compared: 1; unreadable: 1",
            "a run of their whole case files with --accept replaces them",
        ]);
        assert_eq!(desk.read(PARCEL), damaged);
    }
    desk.run("run --cases cases --only post/parcel --accept").ends(0).adds(&["snapshots written: 1\n"]);
    assert_eq!(desk.read(PARCEL), whole);
    let left = std::fs::read_dir(desk.path().join("snapshots/reference/post")).expect("a folder");
    assert_eq!(left.count(), 2, "a temporary file was left");
}

#[test]
fn snapshot_of_an_earlier_format_is_refused_with_the_remedy() {
    let desk = accepted();
    desk.write(
        PARCEL,
        "---\nsource: tests/conformance.rs\n---\nword\n  2025-06-18..2026-07-28 stdio http: tool-error\n",
    );
    let run = desk.run("run --cases cases --only post/parcel");
    run.ends(1).says(&["post/parcel.snap:4: the first line does not begin with `unless noted: `"]);
    run.adds(&["a run of their whole case files with --accept replaces them"]);
}

#[test]
fn accept_writes_the_page_of_differences_and_keeps_it_current() {
    const PAGE: &str = "snapshots/t/DIFFERENCES.md";
    let desk = accepted();
    desk.borrowed("targets/t", None, "");
    let run = |run: &str| {
        desk.run(&format!("run {run} --cases cases --accept")).ends(0);
    };
    assert!(!desk.path().join("snapshots/reference/DIFFERENCES.md").exists());
    run("targets/t");
    let equal = desk.read(PAGE);
    assert!(
        equal.starts_with("# t: differences from the reference\n") && equal.contains("| different | 0 |"),
        "{equal}"
    );
    replace(&desk, PARCEL, WORD, "\nword\n  crash\n");
    run("targets/t --only post/letter");
    let page = desk.read(PAGE);
    let section = "\n### [post/parcel](post/parcel.snap)\n\n`word`\n\n```diff\n\
                   @@ 2026-07-28 http @@\n- crash\n+ tool-error\n```\n";
    assert!(page.ends_with(section), "{page}");
    run("reference");
    assert_eq!(desk.read(PAGE), equal);
}

#[test]
fn heavy_tests_are_in_no_snapshot() {
    let desk = accepted();
    let whole = desk.read(PARCEL);
    replace(&desk, "cases/post/parcel.json", "\"title\": \"a word", "\"heavy\": true,\n      \"title\": \"a word");
    desk.run("run --cases cases --only post/parcel --heavy").ends(1).says(&["- word"]);
    desk.run("run --cases cases --only post/parcel --heavy --accept").ends(0);
    assert!(whole.starts_with(&desk.read(PARCEL)) && !desk.read(PARCEL).contains("word"));
    desk.run("run --cases cases --heavy").ends(0).adds(&["snapshots compared: 2\n"]);
    std::fs::remove_dir_all(desk.path().join("snapshots/reference/post")).expect("it is there");
    replace(&desk, "cases/post/parcel.json", "\"title\": \"a number", "\"heavy\": true,\n      \"title\": \"a number");
    desk.run("run --cases cases --only post/parcel --heavy").ends(0).adds(&["snapshots compared: 0\n"]);
}

#[test]
fn run_that_compares_nothing_says_so() {
    let desk = Desk::new();
    desk.borrowed("t", None, "");
    let only = "--cases cases --only post/parcel/number@2026-07-28+http";
    let run = desk.run(&format!("run t reference reference:input-not-validated {only}"));
    run.ends(0).adds(&["t has no snapshots yet", "snapshots: none are kept for reference here"]);
    run.adds(&["snapshots: none are kept for reference:input-not-validated here"]);
}
