//! `casebook run --timings`: the form of the table. No test asserts a duration.

use crate::sandbox::{Finished, Sandbox};

/// The rows of the table: a name, and the number of times and shares after it.
fn rows(came: &Finished) -> Vec<(&str, usize)> {
    let lines = came.out.lines().skip_while(|line| !line.starts_with("where the time went")).skip(2);
    let rows = lines.take_while(|line| line.starts_with("  "));
    rows.map(|line| (line.split_whitespace().next().unwrap_or_default(), line.matches(" %").count())).collect()
}

#[test]
fn timings_have_a_row_per_target() {
    let sandbox = Sandbox::new();
    let came =
        sandbox.run("run reference reference:input-not-validated --cases cases --only post/parcel --jobs 2 --timings");
    came.exits(1).stdout_has(&[
        "where the time went  2 workers for",
        "target start",
        "target busy",
        "harness",
        "waiting",
    ]);
    let mut wanted = vec![("reference", 3), ("reference:input-not-validated", 3), ("all", 4)];
    wanted.extend(cfg!(unix).then_some(("processor", 2)));
    assert_eq!(rows(&came), wanted);
    assert!(came.verdict().starts_with("not as expected"), "the line that people look for stays the last");
}

#[test]
fn timings_of_one_target_are_one_row() {
    let sandbox = Sandbox::new();
    let came = sandbox.run("run --cases cases --only post/parcel --jobs 1 --timings");
    came.exits(0).stdout_has(&["where the time went  1 worker for"]);
    assert_eq!(rows(&came)[0], ("reference", 4));
    assert!(rows(&came).iter().all(|(name, _)| *name != "all"));
}

#[test]
fn timings_are_shown_only_with_the_option() {
    let sandbox = Sandbox::new();
    assert_eq!(rows(sandbox.run("run --cases cases --only post/parcel --jobs 1").exits(0)), []);
}

#[test]
fn target_that_never_starts_has_timings() {
    let sandbox = Sandbox::new();
    sandbox.script("dead", "exit 1", "");
    let came = sandbox.run("run dead --cases cases --only post/parcel --jobs 1 --timings");
    assert_eq!(rows(came.exits(4))[0], ("dead", 4));
}
