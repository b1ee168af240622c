//! `casebook run`: what is right, what is wrong, what is known, and what was otherwise before.

use crate::sandbox::{Came, Desk};

#[test]
fn a_run_of_own_cases_against_the_reference_ends_well() {
    let desk = Desk::new();
    let came = desk.run("run --cases cases --jobs 1");
    came.ends(0).is("run");
    assert!(!came.out.contains('\u{1b}') && !came.err.contains('\u{1b}'), "no escapes in a pipe");
    assert!(desk.path().join("cache/casebook/last/run.jsonl").is_file());
    desk.run("run reference --cases cases --only post/parcel --strict --jobs 2").ends(0).says(&["12 passed"]);
}

#[test]
fn colour_is_for_those_who_can_see_it() {
    let desk = Desk::new();
    let run = |variables: &[(&str, &str)]| {
        let mut command = desk.command("run --cases cases --only post/parcel");
        Came::of(command.envs(variables.iter().copied()))
    };
    assert!(run(&[("CLICOLOR_FORCE", "1")]).ends(0).out.contains('\u{1b}'));
    assert!(!run(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).ends(0).out.contains('\u{1b}'));
}

#[test]
fn a_broken_must_is_shown_with_its_sentence_and_the_messages_that_prove_it() {
    let desk = Desk::new();
    let only = "--only post/parcel/word@2026-07-28+http --only post/parcel/number@2026-07-28+http";
    desk.run(&format!("run reference:input-not-validated --cases cases {only}")).ends(1).is("broken-must");
}

#[test]
fn a_broken_should_is_a_warning_and_with_strict_a_failure() {
    let desk = Desk::empty();
    let only = "--only sep-2106/text-mirror/*/zero@2026-07-28+http";
    let run = |more: &str| desk.run(&format!("run reference:text-not-mirrored {only} {more}"));
    run("").ends(0).is("broken-should");
    run("--strict").ends(1).says(&["not as expected"]);
}

#[test]
fn what_shows_nothing_is_inconclusive_and_never_passes() {
    let desk = Desk::new();
    let came = desk.run("run reference:refuses-everything --cases cases --only post/parcel/word --jobs 1");
    came.ends(1).says(&["inconclusive", "its control post/parcel/number doesn't hold"]);
    assert!(!came.verdict().contains("passed"), "{}", came.verdict());
}

#[test]
fn nothing_to_run_is_an_error_that_names_the_nearest() {
    let desk = Desk::new();
    let run = |more: &str| desk.run(&format!("run --cases cases {more}"));
    run("--only post/parcl").ends(2).adds(&["`post/parcl` matches no test; the nearest: post/parcel"]);
    run("--skip post/lettr").ends(2).adds(&["`post/lettr` matches no test; the nearest: post/letter"]);
    run("--role client").ends(3).adds(&["nothing to run"]);
    run("--only post/parcel --skip post/**").ends(3).adds(&["nothing to run: the selection leaves no test"]);
    desk.borrowed("t", None, "");
    let none = desk.run("run t --cases cases --revision 2025-06-18");
    none.ends(3).adds(&["nothing to run: t: the target doesn't claim revision 2025-06-18 (10)"]);
}

fn known(test: &str, requirement: &str) -> String {
    format!("[[known]]\ntest = \"{test}\"\nrequirement = \"{requirement}\"\nreason = \"takes every weight\"\n")
}

#[test]
fn known_failures_are_excused_until_they_no_longer_fail() {
    let desk = Desk::new();
    let entry = known("post/parcel/word", "post/arguments-checked");
    desk.borrowed("excused", Some("input-not-validated"), &entry);
    let excused = desk.run("run excused --cases cases");
    excused.ends(0).says(&["1 known", "excused  post/arguments-checked: takes every weight"]);
    desk.borrowed("stale", None, &entry);
    desk.run("run stale --cases cases").ends(1).is("stale");
    // A part of the tests doesn't show that nothing fails any more.
    desk.run("run stale --cases cases --only post/letter").ends(0);
    desk.borrowed("unmatched", None, &known("post/parcl", "post/arguments-checked"));
    let unmatched = desk.run("run unmatched --cases cases");
    unmatched.ends(2).adds(&["unmatched lists `post/parcl` as a known failure", "the nearest: post/parcel"]);
}

#[test]
fn narrowed_runs_know_all_cases() {
    let desk = Desk::new();
    desk.run("run --only sep-2106/boundz").ends(2).adds(&["matches no test; the nearest: sep-2106/bounds"]);
    desk.run("explain sep-2106/boundz").ends(2).adds(&["did you mean `sep-2106/bounds`?"]);
    let only = |only: &str| desk.run(&format!("run t --only {only} --transport http --record run.jsonl"));
    desk.borrowed("t", None, &known("{sep-2106/text-mirror,sep-1303/input-errors}/*", "sep-2106/text-mirrored"));
    let cases = ["base/server-meta", "tools/list-empty"].map(|name| {
        only(name).ends(0);
        let header = desk.read("run.jsonl").lines().next().expect("a header").to_owned();
        let header: serde_json::Value = serde_json::from_str(&header).expect("JSON");
        header["header"]["cases"].as_str().expect("a hash").to_owned()
    });
    assert_eq!(cases[0], cases[1], "both are parts of the same");
    // A mistyped entry is one in every run.
    desk.borrowed("t", None, &known("sep-2106/text-mirror/zero", "sep-2106/text-mirrored"));
    only("base/server-meta")
        .ends(2)
        .adds(&["t lists `sep-2106/text-mirror/zero` as a known failure, but it matches no test"]);
}

#[test]
fn snapshots_are_written_when_accepted_and_compared_ever_after() {
    let desk = Desk::new();
    desk.borrowed("t", None, "");
    desk.run("run t --cases cases").ends(0).adds(&["t has no snapshots yet; --accept writes them"]);
    desk.run("run t --cases cases --accept").ends(0).adds(&["snapshots written: 2"]);
    desk.run("run t --cases cases").ends(0).says(&["as expected: 5 tests"]);

    let file = "t/snapshots/post/parcel.snap";
    let accepted = desk.read(file);
    desk.write(file, &accepted.replace("tool-error", "success"));
    desk.run("run t --cases cases").ends(1).is("snapshot-changed");
    // A part of a case file says nothing of the whole.
    desk.run("run t --cases cases --only post/parcel/number").ends(0);
    desk.run("run t --cases cases --only post/letter").ends(0);

    desk.run("run t --cases cases --only post/parcel/number --accept").ends(0);
    assert_ne!(desk.read(file), accepted, "a part of a case file is not written");
    desk.run("run t --cases cases --accept").ends(0).adds(&["snapshots written: 1"]);
    assert_eq!(desk.read(file), accepted);

    std::fs::remove_file(desk.path().join(file)).expect("it is there");
    desk.run("run t --cases cases").ends(1).says(&["snapshot missing  t  post/parcel"]);
}

#[test]
fn snapshots_of_somebody_s_cases_are_beside_these() {
    let desk = Desk::new();
    // A repository with snapshots of its own cases, in which other cases are run.
    desk.write("snapshots/reference/other/case.snap", "");
    desk.write("own/cases/post/letter.json", &desk.read("cases/post/letter.json"));
    desk.write("own/cases/post/requirements.json", &desk.read("cases/post/requirements.json"));
    let none = desk.run("run reference --cases own/cases");
    assert!(!none.ends(0).out.contains("snapshot"), "{}", none.out);
    desk.run("run reference --cases own/cases --accept").ends(0).adds(&["snapshots written: 1"]);
    let file = "own/snapshots/reference/post/letter.snap";
    desk.write(file, &desk.read(file).replace("success", "crash"));
    desk.run("run reference --cases own/cases").ends(1).says(&["snapshot"]);
    let both = desk.run("run reference --cases own/cases --cases slow --only post/letter");
    assert!(!both.out.contains("snapshot"), "{}", both.out);
    // The cases beside the repository's snapshots.
    desk.run("run reference --cases cases").ends(1).says(&["snapshot missing  reference  post/letter"]);
}

#[test]
fn several_targets_are_told_apart() {
    let desk = Desk::new();
    let came =
        desk.run("run reference reference:input-not-validated reference --cases cases --only post/parcel --jobs 2");
    came.ends(1).says(&["\nreference  post  ", "\nreference:input-not-validated  post  ", "\ntotal  "]);
    assert_eq!(came.verdict().split(':').next(), Some("not as expected"));
}

#[test]
fn what_fails_and_then_holds_is_flaky_and_excused_only_where_it_is_listed() {
    let desk = Desk::new();
    desk.proxy("moody", "refuses");
    let run = |more: &str| {
        _ = std::fs::remove_file(desk.path().join("moody/refused"));
        let only = "--only post/letter/sent/*@2026-07-28+http";
        desk.run(&format!("run moody --cases cases {only} --jobs 1 --record run.jsonl {more}"))
    };
    run("").ends(1).says(&["FAIL", "2 passed, 1 failed"]);
    run("--retries 2").ends(1).says(&["failed in 1 of 2 attempts", "2 passed, 1 flaky"]);
    assert!(desk.read("run.jsonl").contains("the door sticks"), "the attempt that failed is in the record");
    desk.run("replay run.jsonl --cases cases").ends(1).says(&["2 passed, 1 flaky"]);

    let listed = "[[flaky]]\ntest = \"post/letter\"\nreason = \"its door sticks when it is cold\"\n";
    desk.write("moody/target.toml", &format!("{}\n{listed}", desk.read("moody/target.toml")));
    run("--retries 1").ends(0).says(&["its door sticks when it is cold", "2 passed, 1 known"]);
    desk.run("replay run.jsonl --cases cases").ends(0);
    // Once is not enough for what fails each time.
    run("").ends(1);
    let unreasoned = desk.read("moody/target.toml").replace("reason = \"its door sticks when it is cold\"\n", "");
    desk.write("moody/target.toml", &unreasoned);
    run("").ends(2).adds(&["`reason`"]);
}
