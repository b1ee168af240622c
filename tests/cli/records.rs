//! `--run-log` and `replay`: a run log is judged and shown again without a target.

use crate::sandbox::{PROGRAM, Sandbox};

const RUN: &str = "run reference --cases cases --run-log kept/run.jsonl --jobs 1";

/// The lines of a run, without those about slow tests.
fn lines(out: &str) -> Vec<&str> {
    out.lines().filter(|line| !line.contains("slow")).collect()
}

#[test]
fn run_log_has_a_header_a_record_per_test_and_a_footer() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0).stderr_has(&["run log: kept/run.jsonl"]);
    let record = sandbox.read("kept/run.jsonl");
    let lines: Vec<&str> = record.lines().collect();
    assert!(lines[0].starts_with(r#"{"header":{"format":3,"#), "{}", lines[0]);
    assert!(lines[1..31].iter().all(|line| line.starts_with(r#"{"record":"#)));
    assert!(lines[31].starts_with(r#"{"footer":{"ran":30,"interrupted":false"#), "{}", lines[31]);
    assert_eq!(lines.len(), 32);
    assert_eq!(sandbox.read("kept/run.wire.jsonl").lines().count(), 30);
}

#[test]
fn handshake_of_a_session_is_in_its_first_transcript() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    let wire = sandbox.read("kept/run.wire.jsonl");
    let opened = |revision: &str| {
        let of = wire.lines().filter(|line| line.contains(&format!("@{revision}+")));
        of.filter(|line| {
            line.contains(
                r#""opening":[{"from":"harness","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\""#,
            )
        })
        .count()
    };
    // Each transport has three letters with a tool each, and parcels, two of them with the same fixture.
    assert_eq!(["2025-06-18", "2025-11-25", "2026-07-28"].map(opened), [8, 8, 0]);
}

#[test]
fn replay_prints_the_same_results_and_starts_nothing() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("run reference:input-not-validated --cases cases --run-log run.jsonl --jobs 1");
    let replayed = sandbox.run("replay run.jsonl --cases cases");
    replayed.exits(1);
    assert_eq!(ran.exits(1).out, replayed.out);

    // The same for a target that cannot be started again.
    let marked = format!("echo x >> starts; exec {PROGRAM} __adapter");
    sandbox.script("t", &marked, "");
    let ran = sandbox.run("run t --cases cases --run-log t.jsonl --jobs 1");
    let starts = sandbox.read("t/starts");
    assert_eq!(ran.exits(0).out, sandbox.run("replay t.jsonl --cases cases").exits(0).out);
    assert_eq!(sandbox.read("t/starts"), starts);
    sandbox.write("t/target.toml", "title = ");
    let invalid = sandbox.run("replay t.jsonl --cases cases");
    assert_eq!(invalid.exits(2).err, sandbox.run("run t --cases cases").exits(2).stderr_has(&["t/target.toml:1:"]).err);
    assert!(!invalid.err.contains("cannot find"), "{}", invalid.err);
    std::fs::remove_dir_all(sandbox.path().join("t")).expect("it is there");
    let away = sandbox.run("replay t.jsonl --cases cases");
    assert_eq!(away.exits(0).stderr_has(&["cannot find the target t from here"]).out, ran.out);
    // Transcripts are not needed either.
    std::fs::remove_file(sandbox.path().join("t.wire.jsonl")).expect("it is there");
    sandbox.run("replay t.jsonl --cases cases").exits(0);
}

#[test]
fn replay_uses_current_known_failures() {
    let sandbox = Sandbox::new();
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    sandbox.borrowed("t", Some("input-not-validated"), known);
    for (only, status) in [("post/**", 0), ("post/parcel", 0), ("post/letter", 0)] {
        let ran = sandbox.run(&format!("run t --cases cases --run-log run.jsonl --only {only} --jobs 1"));
        let replayed = sandbox.run("replay run.jsonl --cases cases");
        assert_eq!(lines(&ran.exits(status).out), lines(&replayed.exits(status).out), "{only}");
    }
    // The current known failures count, not those of the run.
    sandbox.borrowed("t", Some("input-not-validated"), "");
    sandbox.run("run t --cases cases --run-log run.jsonl").exits(1);
    sandbox.borrowed("t", Some("input-not-validated"), known);
    sandbox.run("replay run.jsonl --cases cases").exits(0).stdout_has(&["1 known"]);
}

#[test]
fn replay_finds_the_target_from_another_folder() {
    let sandbox = Sandbox::new();
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    sandbox.borrowed("deep/within/t", Some("input-not-validated"), known);
    let ran = sandbox.run("run deep/within/t --cases cases --run-log run.jsonl");
    let replayed = sandbox.run("replay run.jsonl --cases cases");
    assert_eq!(lines(&ran.exits(0).out), lines(&replayed.exits(0).out));
    assert_eq!(replayed.err, "");
}

#[test]
fn replay_of_a_target_that_never_started_exits_with_4() {
    let sandbox = Sandbox::new();
    sandbox.script("t", "exit 9", "");
    sandbox.run("run t --cases cases --run-log run.jsonl").exits(4);
    sandbox.run("replay run.jsonl --cases cases").exits(4).stdout_has(&["exit status 9"]);
}

#[test]
fn cut_run_log_is_incomplete() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    let record = sandbox.read("kept/run.jsonl");
    sandbox.write("kept/run.jsonl", &record[..record.len() / 2]);
    let cut = sandbox.run("replay kept/run.jsonl --cases cases");
    cut.exits(5).stdout_has(&["INCOMPLETE: ", "of 30 tests were not run", "as expected so far"]);
    let without_footer = record.rsplit_once("{\"footer\"").expect("a footer").0;
    sandbox.write("kept/run.jsonl", without_footer);
    sandbox.run("replay kept/run.jsonl --cases cases").exits(5).stdout_has(&["INCOMPLETE: 0 of 30"]);
}

#[test]
fn other_files_and_other_formats_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    let record = sandbox.read("kept/run.jsonl");
    sandbox.write("newer.jsonl", &record.replacen(r#""format":3"#, r#""format":99"#, 1));
    sandbox.run("replay newer.jsonl").exits(2).stderr_has(&["format 99", "use the version that wrote it"]);
    sandbox.write("older.jsonl", &record.replacen(r#""format":3"#, r#""format":1"#, 1));
    sandbox.run("replay older.jsonl").exits(2).stderr_has(&["format 1", "run the tests again"]);
    sandbox.run("replay nothing.jsonl").exits(2).stderr_has(&["nothing.jsonl"]);
    sandbox.write("letter.txt", "Dear reader\n");
    sandbox.run("replay letter.txt").exits(2).stderr_has(&["letter.txt is not a run log"]);
    sandbox.write("broken.jsonl", &record.replacen("{\"record\"", "{\"rec", 1));
    sandbox.run("replay broken.jsonl").exits(2).stderr_has(&["broken.jsonl:2: "]);
}

#[test]
fn run_log_of_other_cases_keeps_its_verdicts() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    let came = sandbox.run("replay kept/run.jsonl");
    came.exits(0)
        .stdout_has(&["30 passed"])
        .stderr_has(&["post/parcel/word no longer exists; keeping its old verdicts"]);
    let parcel = sandbox.read("cases/post/parcel.json").replace("\"two\"", "\"three\"");
    sandbox.write("cases/post/parcel.json", &parcel);
    let came = sandbox.run("replay kept/run.jsonl --cases cases");
    came.exits(0).stderr_has(&["post/parcel/word has changed since it was recorded"]);
}
