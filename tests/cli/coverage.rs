//! `coverage`, `new`, `freeze`, `run --set`, `run --rates`: what the casebook covers, and what a rate counts.

use serde_json::Value;

use crate::sandbox::Desk;

/// A desk with cases of which some requirements are verified, and others not.
fn desk() -> Desk {
    let desk = Desk::new();
    for name in ["sep-7/requirements.json", "sep-7/parcel.json", "tools/requirements.json"] {
        desk.lay_out(&format!("coverage/{name}"));
    }
    desk
}

#[test]
fn coverage_tells_what_is_verified_what_is_open_and_why_the_rest_is_neither() {
    let desk = desk();
    desk.run("coverage --cases coverage").ends(0).is("coverage");
    desk.run("coverage --cases coverage --format md").ends(0).is("coverage-markdown");
    let json = desk.run("coverage --cases coverage --format json");
    let json: Value = serde_json::from_str(&json.ends(0).out).expect("JSON");
    let open = json["requirements"].as_array().expect("a list").iter().filter(|one| one["state"] == "open");
    assert_eq!(
        open.filter_map(|one| one["id"].as_str()).collect::<Vec<_>>(),
        ["sep-7/answers-checked", "sep-7/may-sing", "tools/named", "tools/unnamed"]
    );
    desk.run("coverage").ends(0).says(&["sep-2106", "no-network-deref"]);
}

#[test]
fn the_traceability_file_has_a_row_for_all_that_a_proposal_says() {
    let desk = desk();
    desk.run("coverage --cases coverage --sep 7 --format sep-yaml").ends(0).is("coverage-sep");
    desk.run("coverage --cases coverage --format sep-yaml").ends(2).adds(&["--sep N"]);
    desk.run("coverage --cases coverage --sep 8").ends(2).adds(&["no requirement is of that proposal"]);
    desk.run("coverage --cases coverage --format yaml").ends(2).adds(&["sep-yaml"]);
    desk.run("coverage --cases nowhere").ends(2).adds(&["nowhere"]);
}

#[test]
fn a_new_folder_lints_and_runs_as_it_is_and_is_never_written_twice() {
    let desk = Desk::empty();
    desk.run("new sep-9999").ends(0).is("new");
    desk.run("lint cases").ends(0);
    desk.run("run --cases cases --role server --jobs 1").ends(0).says(&["12 passed"]);
    desk.run("run reference:input-not-validated --cases cases --jobs 1").ends(1);
    desk.run("new sep-9999").ends(2).adds(&["is there already"]);
    let titled = crate::process::output(desk.command("new tools --title").arg("A \"tool\" is called"));
    assert!(titled.status.success() && desk.read("cases/tools/first.json").contains(r#""A \"tool\" is called""#));
}

#[test]
fn a_new_folder_that_lint_would_refuse_is_not_written() {
    let desk = Desk::empty();
    desk.run("new sep-9998 --title Short").ends(2).adds(&["nothing was written", "has only 5 characters"]);
    desk.run("new Sep_9998").ends(2).adds(&["small letters and digits"]);
    desk.run("new ../sep-9998").ends(2).adds(&["small letters and digits"]);
    assert!(!desk.path().join("cases/sep-9998").exists() && !desk.path().join("sep-9998").exists());
}

#[test]
fn a_set_is_asked_as_it_was_and_what_came_later_is_told_apart() {
    let desk = desk();
    desk.run("freeze 2026-11 --cases coverage").ends(0).says(&["sets/2026-11.json"]);
    desk.run("freeze 2026-11 --cases coverage").ends(2).adds(&["a set that was published stays as it is"]);
    desk.run("freeze ../x --cases coverage").ends(2).adds(&["can't be a set's name"]);
    let before = desk.run("run --cases coverage --set 2026-11 --rates --jobs 1");
    before.ends(0).is("set");
    // A later check of an old test, and a later test, which would both fail.
    let case = desk.read("coverage/sep-7/parcel.json");
    let stricter = r#""arguments-checked": { "outcome": "success" }, "tools/named": { "outcome": "tool-error" },"#;
    let case = case.replacen(r#""arguments-checked": { "outcome": "success" },"#, stricter, 1);
    let later = r#""tests": {
    "later": {
      "title": "a test that came later",
      "when": { "call": "send", "arguments": {} },
      "then": { "arguments-checked": { "outcome": "success" } }
    },"#;
    desk.write("coverage/sep-7/parcel.json", &case.replacen("\"tests\": {", later, 1));
    desk.run("run --cases coverage --jobs 1").ends(1);
    let after = desk.run("run --cases coverage --set 2026-11 --rates --jobs 1");
    after.ends(0).says(&["later  than the set 2026-11, and not asked"]);
    assert_eq!(after.verdict(), before.verdict());
    let rates = |out: &str| out.lines().filter(|line| line.contains(" % ")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rates(&after.out), rates(&before.out));
}

#[test]
fn what_a_set_has_and_nobody_can_ask_any_more_is_named_and_never_green() {
    let desk = desk();
    desk.run("freeze old --cases coverage").ends(0);
    let case = desk.read("coverage/sep-7/parcel.json");
    desk.write("coverage/sep-7/parcel.json", &case.replacen("\"missing\":", "\"renamed\":", 1));
    let came = desk.run("run --cases coverage --set old --jobs 1");
    came.ends(1).says(&["gone  sep-7/parcel/missing/heavy", "is in the set old", "not as expected"]);
    desk.run("run --cases cases --set old").ends(3).adds(&["the set old has none of these tests"]);
    desk.run("run --cases coverage --set none").ends(2).adds(&["sets/none.json"]);
    desk.write("sets/bad.json", "{\"format\": 1, \"casebook\": \"0\", \"tests\": {}, \"more\": 1}");
    desk.run("run --cases coverage --set bad").ends(2).adds(&["sets/bad.json", "more"]);
    desk.write("sets/other.json", "{\"format\": 9, \"casebook\": \"0\", \"tests\": {}}");
    desk.run("run --cases coverage --set other").ends(2).adds(&["its form is 9"]);
}

#[test]
fn rates_are_shown_by_level_folder_and_revision_for_a_run_and_its_record() {
    let desk = Desk::new();
    let run = "run reference:input-not-validated --cases cases --rates --jobs 1 --record run.jsonl";
    let of = |out: &str| out.lines().filter(|line| line.contains(" % ")).map(str::to_owned).collect::<Vec<_>>();
    let ran = of(&desk.run(run).ends(1).out);
    assert!(ran.iter().any(|line| line.contains("2026-07-28")), "{ran:?}");
    assert!(ran.iter().any(|line| line.contains("MUST")) && ran.iter().any(|line| line.contains("post")), "{ran:?}");
    assert_eq!(of(&desk.run("replay run.jsonl --cases cases --rates").ends(1).out), ran);
}

#[test]
fn a_target_of_which_nothing_is_asked_is_named_and_never_green() {
    let desk = Desk::new();
    desk.borrowed("t", None, "");
    let came = desk.run("run reference t --cases cases --revision 2025-06-18 --only post/parcel --jobs 1");
    came.ends(3).says(&["not asked  t: nothing of it was asked", "as expected so far"]);
}
