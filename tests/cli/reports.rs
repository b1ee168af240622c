//! `report`, `diff`, `--report` and `--shard`: what people pass on, from records alone.

use serde_json::Value;

use crate::sandbox::Desk;

const MUTANT: &str = "run reference:input-not-validated --cases cases --jobs 1";

fn json(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(&desk.read(name)).expect("JSON")
}

#[test]
fn shards_make_up_the_whole_run_each_with_the_controls_that_it_needs() {
    let desk = Desk::new();
    desk.run(&format!("{MUTANT} --record whole.jsonl --report json=whole.json")).ends(1);
    for shard in ["1/3", "2/3", "3/3"] {
        let name = &shard[..1];
        desk.run(&format!("{MUTANT} --shard {shard} --record shards/{name}.jsonl"));
    }
    let all = "report shards/3.jsonl shards/1.jsonl shards/1.wire.jsonl shards/2.jsonl --cases cases";
    desk.run(&format!("{all} --report json=merged.json --report junit=j.xml --report badge=badges --report md=m.md"))
        .ends(0);
    desk.run(&format!("{all} --check --report md=-")).ends(1).says(&["## MCP casebook: ❌ not as expected"]);
    let [whole, merged] = ["whole.json", "merged.json"].map(|name| json(&desk, name));
    for part in ["cells", "requirements", "partial"] {
        assert_eq!(whole[part], merged[part], "{part}");
    }
    for number in ["planned", "missing", "statuses", "skipped", "rates"] {
        assert_eq!(whole["targets"][0][number], merged["targets"][0][number], "{number}");
    }
    assert!(desk.read("j.xml").contains("<testsuite name=\"reference:input-not-validated\""));
    assert!(desk.read("badges/reference_input-not-validated.json").contains("\"color\":\"red\""));
    let lacking = desk.run("report shards/1.jsonl shards/2.jsonl --cases cases --report json=less.json");
    lacking.ends(5).adds(&["partial: reference:input-not-validated lacks the run log of shard 3/3"]);
    desk.run("run --shard 4/3").ends(2).adds(&["`4/3` is no shard"]);
}

#[test]
fn a_run_reports_what_is_reported_of_its_record() {
    let desk = Desk::new();
    let files = [("html", "r.html"), ("json", "r.json"), ("junit", "r.xml"), ("md", "r.md")];
    let options = |folder: &str| files.map(|(kind, file)| format!(" --report {kind}={folder}/{file}")).concat();
    desk.run(&format!("{MUTANT} --record run.jsonl{}", options("run"))).ends(1);
    desk.run(&format!("report run.jsonl --cases cases{}", options("later"))).ends(0);
    desk.run(&format!("replay run.jsonl --cases cases{}", options("again"))).ends(1);
    desk.run("replay run.jsonl --cases cases --report md=-").ends(2).adds(&["standard output shows the run"]);
    for (kind, file) in files {
        let [run, later, again] = ["run", "later", "again"].map(|folder| desk.read(&format!("{folder}/{file}")));
        assert!(run == later && run == again && run.contains("arguments-checked"), "{kind}");
    }
}

#[test]
fn a_shard_calls_no_known_failure_stale_and_all_of_them_do() {
    let desk = Desk::new();
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    desk.borrowed("t", None, known);
    desk.run("run t --cases cases --jobs 1").ends(1).says(&["stale"]);
    for shard in ["1/2", "2/2"] {
        desk.run(&format!("run t --cases cases --jobs 1 --shard {shard} --record {}.jsonl", &shard[..1])).ends(0);
    }
    desk.run("report 1.jsonl 2.jsonl --cases cases --check").ends(1).says(&["stale"]);
}

#[test]
fn a_difference_is_told_with_both_observations_and_only_a_worse_one_fails() {
    let desk = Desk::new();
    desk.run("run reference --cases cases --jobs 1 --record good.jsonl").ends(0);
    desk.run(&format!("{MUTANT} --record bad.jsonl")).ends(1);
    let worse = desk.run("diff good.jsonl bad.jsonl --cases cases --tests 1");
    worse.ends(1).says(&["A  reference (good.jsonl)", "post/arguments-checked: ", " pass → fail", "B is worse"]);
    desk.run("diff bad.jsonl good.jsonl --cases cases").ends(0).says(&["B is not worse", " fail → pass"]);
    desk.run("diff good.jsonl good.jsonl --cases cases")
        .ends(0)
        .says(&["0 checks worse", "30 tests with the same result"]);
    let both = "run reference reference:input-not-validated --cases cases --jobs 1 --record both.jsonl";
    desk.run(both).ends(1);
    let one = "diff both.jsonl#reference both.jsonl#reference:input-not-validated --cases cases --tests 1";
    desk.run(one).ends(1);
    let two = "diff both.jsonl --target reference --target reference:input-not-validated --cases cases";
    desk.run(two).ends(1);
    desk.run("diff both.jsonl --target reference").ends(2).adds(&["one record needs two --target"]);
    desk.run("diff both.jsonl#nobody good.jsonl")
        .ends(2)
        .adds(&["both.jsonl has no target `nobody`; it has reference"]);
    let record = desk.read("good.jsonl");
    let without_end = record.rsplit_once("{\"footer\"").expect("a footer").0;
    desk.write("cut.jsonl", without_end);
    desk.run("diff good.jsonl cut.jsonl --cases cases").ends(5).adds(&["partial: cut.jsonl"]);
}

#[test]
fn a_record_that_is_newer_cut_broken_or_missing_is_named_and_the_others_are_reported() {
    let desk = Desk::new();
    desk.run("run reference --cases cases --jobs 1 --record good.jsonl").ends(0);
    let record = desk.read("good.jsonl");
    desk.write("newer.jsonl", &record.replacen(r#""format":3"#, r#""format":99"#, 1));
    desk.write("cut.jsonl", &record[..record.len() / 2]);
    let broken: Vec<_> = record.lines().enumerate().map(|(at, line)| if at == 5 { "{\"rec" } else { line }).collect();
    desk.write("broken.jsonl", &(broken.join("\n") + "\n"));
    let came = desk.run("report newer.jsonl nothing.jsonl good.jsonl --cases cases --report json=r.json");
    came.ends(2).adds(&[
        "newer.jsonl is a record of format 99",
        "nothing.jsonl: ",
        "the other 1 of 3 records are reported",
    ]);
    assert_eq!(json(&desk, "r.json")["targets"][0]["statuses"]["passed"], 30);
    let cut = desk.run("report cut.jsonl --cases cases --report json=cut.json");
    cut.ends(5).adds(&["): cut.jsonl is cut in the middle of line "]);
    let counted = &json(&desk, "cut.json")["targets"][0];
    let ran = counted["statuses"]["passed"].as_u64().expect("a number");
    assert_eq!((counted["planned"].as_u64(), counted["missing"].as_u64()), (Some(30), Some(30 - ran)));
    desk.run("report broken.jsonl --cases cases")
        .ends(2)
        .adds(&["broken.jsonl:6: ", "only a part of broken.jsonl could be read (4 tests)"]);
    desk.run("report newer.jsonl").ends(2).adds(&["none of the records can be read"]);
}

#[test]
fn a_github_job_gets_its_summary_unasked_and_its_annotations_when_asked() {
    let desk = Desk::new();
    let run = format!("{MUTANT} --annotations github --record run.jsonl");
    let mut command = desk.command(&run);
    desk.write("summary.md", "before\n");
    let came = crate::sandbox::Came::of(command.env("GITHUB_STEP_SUMMARY", "summary.md"));
    came.ends(1).says(&["\n::error file=cases/post/parcel.json,line="]);
    let summary = desk.read("summary.md");
    assert!(summary.starts_with("before\n") && summary.contains("## MCP casebook: ❌"), "{summary}");
    let plain = desk.run("run reference --cases cases --report md=-");
    plain.ends(2).adds(&["standard output shows the run"]);
    desk.run("run reference --cases cases --report pdf=x").ends(2).adds(&["junit, md, json, badge"]);
}

#[test]
fn a_target_of_another_version_than_it_says_is_not_run() {
    let desk = Desk::new();
    desk.borrowed("t", None, "");
    let file = desk.read("t/target.toml");
    let versioned = |version: &str| format!("package = \"casebook-reference\"\nversion = \"{version}\"\n{file}");
    desk.write("t/target.toml", &versioned("9.9.9"));
    let came = desk.run("run t --cases cases --jobs 1");
    came.ends(4).says(&["target.toml says casebook-reference 9.9.9, but the adapter's hello says casebook-reference"]);
    desk.write("t/target.toml", &versioned(env!("CARGO_PKG_VERSION")));
    desk.run("run t --cases cases --jobs 1 --report json=r.json").ends(0);
    let version = format!("casebook-reference {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(json(&desk, "r.json")["targets"][0]["version"], version);
    desk.write("t/target.toml", &format!("version = \"1\"\n{file}"));
    desk.run("run t --cases cases").ends(2).adds(&["package"]);
}
