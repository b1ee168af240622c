//! Files that somebody else made or named: nothing but regular files is opened, and none is read without a bound.

use std::path::Path;
use std::process::Command;

use crate::process::{output, succeeds};
use crate::sandbox::Desk;

fn pipe(desk: &Desk, name: &str) {
    let path = desk.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    assert!(succeeds(Command::new("mkfifo").arg(path)));
}

#[test]
fn run_log_that_never_ends_is_refused() {
    let desk = Desk::new();
    pipe(&desk, "pipe.jsonl");
    for log in ["pipe.jsonl", "/dev/zero", "/dev/stdin"] {
        for arguments in ["replay {}", "report {}", "diff {} {}"] {
            let came = desk.run(&arguments.replace("{}", log));
            came.ends(2);
            if log != "/dev/stdin" {
                came.adds(&["this is a pipe, a socket or a device, not a file"]);
            }
        }
    }
    desk.run("replay cases").ends(2).adds(&["this is a folder"]);
}

#[test]
fn wire_file_that_never_ends_is_not_read() {
    let desk = Desk::new();
    desk.run("run reference:input-not-validated --cases cases --only post/letter --record run.jsonl");
    std::fs::remove_file(desk.path().join("run.wire.jsonl")).expect("it was written");
    pipe(&desk, "run.wire.jsonl");
    let came = desk.run("replay run.jsonl --cases cases");
    assert!(came.status.is_some_and(|status| status < 2), "{}", came.err);
}

#[test]
fn files_that_a_run_log_names_are_not_opened_unless_they_are_targets() {
    let desk = Desk::new();
    desk.borrowed("t", None, "");
    desk.run("run t --cases cases --only post/letter --record run.jsonl").ends(0);
    pipe(&desk, "pipe/target.toml");
    pipe(&desk, "pipe/kmsg");
    let log = desk.read("run.jsonl");
    let own = desk.path().join("t/target.toml");
    let own = own.canonicalize().expect("it is there");
    assert!(log.contains(&*own.to_string_lossy()), "{log}");
    let names = |file: &Path| log.replace(&*own.to_string_lossy(), &file.to_string_lossy());
    for file in ["pipe/target.toml", "pipe/kmsg", "../../dev/zero"] {
        desk.write("forged.jsonl", &names(&desk.path().join(file)));
        desk.run("replay forged.jsonl --cases cases").ends(0);
    }
    // A target's name is no path.
    desk.write("forged.jsonl", &names(Path::new("/nowhere.toml")).replace("\"t\"", "\"./t\""));
    desk.run("replay forged.jsonl --cases cases").adds(&["./t isn't found from here"]);
}

#[test]
fn suite_leads_to_no_file_outside_of_its_remotes() {
    let desk = Desk::empty();
    pipe(&desk, "outside");
    pipe(&desk, "suite/remotes/draft2020-12/pipe.json");
    desk.lay_out("suite/tests/draft2020-12/type.json");
    let refers = |name: &str, path: &str| {
        let address = format!("http://localhost:1234/{path}");
        let tests = r#"[{ "description": "a word fits", "data": "word", "valid": true }]"#;
        let group =
            format!(r#"[{{ "description": "a file", "schema": {{ "$ref": "{address}" }}, "tests": {tests} }}]"#);
        desk.write(&format!("suite/tests/draft2020-12/{name}.json"), &group);
    };
    refers("absolute", &desk.path().join("outside").to_string_lossy());
    refers("upward", "../../outside");
    refers("pipe", "draft2020-12/pipe.json");
    refers("device", "/dev/zero");
    let came = desk.run("list --import json-schema-test-suite=suite");
    came.ends(0).says(&["type-arguments"]);
}

#[test]
fn set_or_set_up_input_that_never_ends_is_refused() {
    let desk = Desk::new();
    pipe(&desk, "sets/endless.json");
    let came = desk.run("run reference --cases cases --set endless");
    came.ends(2).adds(&["sets/endless.json", "this is a pipe"]);
    desk.borrowed("targets/t", None, "[setup]\ncommands = [[\"true\"]]\ninputs = [\"endless\"]\n");
    pipe(&desk, "targets/t/endless");
    desk.write("targets/t/.casebook-setup", "");
    desk.run("targets").ends(0).says(&["not set up"]);
    desk.run("run t --cases cases").ends(4).adds(&["endless", "this is a pipe"]);
}

#[test]
fn target_outside_of_the_repository_is_not_read_for_a_run_log() {
    let (desk, outside) = (Desk::new(), Desk::empty());
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    for desk in [&desk, &outside] {
        desk.borrowed("t", Some("input-not-validated"), known);
    }
    desk.run("run t --cases cases --record run.jsonl").ends(0);
    let place = |desk: &Desk| desk.path().canonicalize().expect("it is there").display().to_string();
    desk.write("forged.jsonl", &desk.read("run.jsonl").replace(&place(&desk), &place(&outside)));
    std::fs::remove_dir_all(desk.path().join("t")).expect("it is ours");
    let upward = format!("{}/../{}", place(&desk), outside.path().file_name().expect("a name").display());
    desk.write("upward.jsonl", &desk.read("run.jsonl").replace(&place(&desk), &upward));
    for log in ["forged.jsonl", "upward.jsonl"] {
        desk.run(&format!("replay {log} --cases cases")).ends(1).adds(&["t isn't found from here"]);
    }
}

#[test]
fn suite_whose_folders_are_links_leads_nowhere() {
    let desk = Desk::empty();
    desk.write("outside/draft2020-12/word.json", r#"{ "const": "of-somebody-else" }"#);
    desk.write("suite/tests/draft2020-12/.keep", "");
    let group = r#"[{ "description": "a file", "schema": { "$ref": "http://localhost:1234/draft2020-12/word.json" },
        "tests": [{ "description": "a word fits", "data": "word", "valid": true }] }]"#;
    desk.write("suite/tests/draft2020-12/refers.json", group);
    let link = |name: &str, to: &str| {
        std::os::unix::fs::symlink(desk.path().join(to), desk.path().join(name)).expect("a link");
    };
    link("suite/remotes", "outside");
    desk.run("import json-schema-test-suite suite --out out");
    let written = output(Command::new("grep").args(["-r", "of-somebody-else", "out"]).current_dir(desk.path()));
    assert_eq!(written.stdout, b"");
    std::fs::create_dir_all(desk.path().join("linked/remotes")).expect("a folder");
    link("linked/tests", "outside");
    std::fs::create_dir_all(desk.path().join("inner/tests")).expect("a folder");
    link("inner/tests/draft2020-12", "outside/draft2020-12");
    std::fs::create_dir_all(desk.path().join("below")).expect("a folder");
    std::fs::create_dir_all(desk.path().join("theirs")).expect("a folder");
    link("theirs/tests", "outside");
    link("below/json", "theirs");
    for suite in ["linked", "inner", "below"] {
        let came = desk.run(&format!("list --import json-schema-test-suite={suite}"));
        came.ends(2);
        assert!(!came.err.contains("of-somebody-else"), "{}", came.err);
    }
}

#[test]
fn snapshot_that_is_a_link_is_neither_shown_nor_written() {
    let desk = Desk::new();
    desk.borrowed("t", None, "");
    desk.run("run t --cases cases --only post/letter --accept").ends(0);
    let snapshot = desk.path().join("t/snapshots/post/letter.snap");
    assert!(snapshot.exists(), "no snapshot there");
    desk.write("private", "of-somebody-else\n");
    std::fs::remove_file(&snapshot).expect("it is ours");
    std::os::unix::fs::symlink(desk.path().join("private"), &snapshot).expect("a link");
    for accept in ["", "--accept"] {
        let came = desk.run(&format!("run t --cases cases --only post/letter {accept}"));
        came.adds(&["letter.snap: this is behind a link"]);
        assert!(!came.out.contains("of-somebody-else"), "{}", came.out);
    }
    assert_eq!(desk.read("private"), "of-somebody-else\n");
}
