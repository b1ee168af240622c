//! `--record` and `replay`: what was seen once is judged and told again, without any process.

use crate::sandbox::{Desk, PROGRAM};

const RUN: &str = "run reference --cases cases --record kept/run.jsonl --jobs 1";

/// What is told of a record, without the lines of tests that took long.
fn told(out: &str) -> Vec<&str> {
    out.lines().filter(|line| !line.contains("slow")).collect()
}

#[test]
fn a_record_has_a_header_a_line_a_test_and_a_footer() {
    let desk = Desk::new();
    desk.run(RUN).ends(0).adds(&["record: kept/run.jsonl"]);
    let record = desk.read("kept/run.jsonl");
    let lines: Vec<&str> = record.lines().collect();
    assert!(lines[0].starts_with(r#"{"header":{"format":3,"#), "{}", lines[0]);
    assert!(lines[1..31].iter().all(|line| line.starts_with(r#"{"record":"#)));
    assert!(lines[31].starts_with(r#"{"footer":{"ran":30,"interrupted":false"#), "{}", lines[31]);
    assert_eq!(lines.len(), 32);
    assert_eq!(desk.read("kept/run.wire.jsonl").lines().count(), 30);
}

#[test]
fn the_handshake_of_a_session_is_recorded_with_its_first_test() {
    let desk = Desk::new();
    desk.run(RUN).ends(0);
    let wire = desk.read("kept/run.wire.jsonl");
    let opened = |revision: &str| {
        let of = wire.lines().filter(|line| line.contains(&format!("@{revision}+")));
        of.filter(|line| {
            line.contains(
                r#""opening":[{"from":"harness","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\""#,
            )
        })
        .count()
    };
    // Over each transport three letters, each with a tool of its own, and parcels, two of one fixture.
    assert_eq!(["2025-06-18", "2025-11-25", "2026-07-28"].map(opened), [8, 8, 0]);
}

#[test]
fn a_replay_says_what_the_run_said_and_starts_nothing() {
    let desk = Desk::new();
    let ran = desk.run("run reference:input-not-validated --cases cases --record run.jsonl --jobs 1");
    let replayed = desk.run("replay run.jsonl --cases cases");
    replayed.ends(1);
    assert_eq!(ran.ends(1).out, replayed.out);

    // The same of a target that could not be started again.
    let marked = format!("echo x >> starts; exec {PROGRAM} __adapter");
    desk.script("t", &marked, "");
    let ran = desk.run("run t --cases cases --record t.jsonl --jobs 1");
    let starts = desk.read("t/starts");
    assert_eq!(ran.ends(0).out, desk.run("replay t.jsonl --cases cases").ends(0).out);
    assert_eq!(desk.read("t/starts"), starts);
    std::fs::remove_dir_all(desk.path().join("t")).expect("it is there");
    let away = desk.run("replay t.jsonl --cases cases");
    assert_eq!(away.ends(0).adds(&["t isn't found from here"]).out, ran.out);
    // Nor are the messages needed.
    std::fs::remove_file(desk.path().join("t.wire.jsonl")).expect("it is there");
    desk.run("replay t.jsonl --cases cases").ends(0);
}

#[test]
fn a_replay_excuses_what_the_run_excused() {
    let desk = Desk::new();
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    desk.borrowed("t", Some("input-not-validated"), known);
    for (only, status) in [("post/**", 0), ("post/parcel", 0), ("post/letter", 0)] {
        let ran = desk.run(&format!("run t --cases cases --record run.jsonl --only {only} --jobs 1"));
        let replayed = desk.run("replay run.jsonl --cases cases");
        assert_eq!(told(&ran.ends(status).out), told(&replayed.ends(status).out), "{only}");
    }
    // Today's known failures count, not those of then.
    desk.borrowed("t", Some("input-not-validated"), "");
    desk.run("run t --cases cases --record run.jsonl").ends(1);
    desk.borrowed("t", Some("input-not-validated"), known);
    desk.run("replay run.jsonl --cases cases").ends(0).says(&["1 known"]);
}

#[test]
fn a_replay_finds_the_target_from_anywhere() {
    let desk = Desk::new();
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    desk.borrowed("deep/within/t", Some("input-not-validated"), known);
    let ran = desk.run("run deep/within/t --cases cases --record run.jsonl");
    let replayed = desk.run("replay run.jsonl --cases cases");
    assert_eq!(told(&ran.ends(0).out), told(&replayed.ends(0).out));
    assert_eq!(replayed.err, "");
}

#[test]
fn a_replay_of_a_target_that_never_started_says_so_again() {
    let desk = Desk::new();
    desk.script("t", "exit 9", "");
    desk.run("run t --cases cases --record run.jsonl").ends(4);
    desk.run("replay run.jsonl --cases cases").ends(4).says(&["exit status 9"]);
}

#[test]
fn a_record_that_was_cut_short_is_incomplete() {
    let desk = Desk::new();
    desk.run(RUN).ends(0);
    let record = desk.read("kept/run.jsonl");
    desk.write("kept/run.jsonl", &record[..record.len() / 2]);
    let cut = desk.run("replay kept/run.jsonl --cases cases");
    cut.ends(5).says(&["INCOMPLETE: ", "of 30 tests were not run", "as expected so far"]);
    let without_footer = record.rsplit_once("{\"footer\"").expect("a footer").0;
    desk.write("kept/run.jsonl", without_footer);
    desk.run("replay kept/run.jsonl --cases cases").ends(5).says(&["INCOMPLETE: 0 of 30"]);
}

#[test]
fn what_is_no_record_or_one_of_another_format_is_refused() {
    let desk = Desk::new();
    desk.run(RUN).ends(0);
    let record = desk.read("kept/run.jsonl");
    desk.write("newer.jsonl", &record.replacen(r#""format":3"#, r#""format":99"#, 1));
    desk.run("replay newer.jsonl").ends(2).adds(&["format 99", "read it with the casebook that wrote it"]);
    desk.write("older.jsonl", &record.replacen(r#""format":3"#, r#""format":1"#, 1));
    desk.run("replay older.jsonl").ends(2).adds(&["format 1", "run the tests again"]);
    desk.run("replay nothing.jsonl").ends(2).adds(&["nothing.jsonl"]);
    desk.write("letter.txt", "Dear reader\n");
    desk.run("replay letter.txt").ends(2).adds(&["letter.txt is no record of a run"]);
    desk.write("broken.jsonl", &record.replacen("{\"record\"", "{\"rec", 1));
    desk.run("replay broken.jsonl").ends(2).adds(&["broken.jsonl:2: "]);
}

#[test]
fn a_record_of_other_cases_keeps_its_old_verdicts() {
    let desk = Desk::new();
    desk.run(RUN).ends(0);
    let came = desk.run("replay kept/run.jsonl");
    came.ends(0).says(&["30 passed"]).adds(&["post/parcel/word is in no case any more; its old verdicts stand"]);
    let parcel = desk.read("cases/post/parcel.json").replace("\"two\"", "\"three\"");
    desk.write("cases/post/parcel.json", &parcel);
    let came = desk.run("replay kept/run.jsonl --cases cases");
    came.ends(0).adds(&["post/parcel/word does something else today"]);
}
