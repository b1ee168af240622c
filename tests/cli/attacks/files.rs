//! Files that others created or named: casebook opens only regular files, and limits the size that it reads.

use std::path::Path;
use std::process::Command;

use crate::process::succeeds;
use crate::sandbox::Sandbox;

fn pipe(sandbox: &Sandbox, name: &str) {
    let path = sandbox.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    assert!(succeeds(Command::new("mkfifo").arg(path)));
}

#[test]
fn run_log_that_never_ends_is_refused() {
    let sandbox = Sandbox::new();
    pipe(&sandbox, "pipe.jsonl");
    for log in ["pipe.jsonl", "/dev/zero", "/dev/stdin"] {
        for arguments in ["replay {}", "report {}", "diff {} {}"] {
            let finished = sandbox.run(&arguments.replace("{}", log));
            finished.exits(2);
            if log != "/dev/stdin" {
                finished.stderr_has(&["this is a pipe, a socket or a device, not a file"]);
            }
        }
    }
    sandbox.run("replay cases").exits(2).stderr_has(&["this is a folder"]);
}

#[test]
fn wire_file_that_never_ends_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.run("run reference:input-not-validated --cases cases --only post/letter --run-log run.jsonl");
    std::fs::remove_file(sandbox.path().join("run.wire.jsonl")).expect("it was written");
    pipe(&sandbox, "run.wire.jsonl");
    let finished = sandbox.run("replay run.jsonl --cases cases");
    assert!(finished.status.is_some_and(|status| status < 2), "{}", finished.err);
}

#[test]
fn run_log_naming_other_files_opens_only_targets() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "");
    sandbox.run("run t --cases cases --only post/letter --run-log run.jsonl").exits(0);
    pipe(&sandbox, "pipe/target.toml");
    pipe(&sandbox, "pipe/kmsg");
    let log = sandbox.read("run.jsonl");
    let own = sandbox.path().join("t/target.toml");
    let own = own.canonicalize().expect("an existing path");
    assert!(log.contains(&*own.to_string_lossy()), "{log}");
    let names = |file: &Path| log.replace(&*own.to_string_lossy(), &file.to_string_lossy());
    for file in ["pipe/target.toml", "pipe/kmsg", "../../dev/zero"] {
        sandbox.write("forged.jsonl", &names(&sandbox.path().join(file)));
        sandbox.run("replay forged.jsonl --cases cases").exits(0);
    }
    // The name of a target is never used as a path.
    sandbox.write("forged.jsonl", &names(Path::new("/nowhere.toml")).replace("\"t\"", "\"./t\""));
    sandbox.run("replay forged.jsonl --cases cases").stderr_has(&["cannot find the target ./t from here"]);
}

#[test]
fn suite_reference_outside_its_remotes_opens_no_file() {
    let sandbox = Sandbox::empty();
    pipe(&sandbox, "outside");
    pipe(&sandbox, "suite/remotes/draft2020-12/pipe.json");
    sandbox.lay_out("suite/tests/draft2020-12/type.json");
    let refers = |name: &str, path: &str| {
        let address = format!("http://localhost:1234/{path}");
        let tests = r#"[{ "description": "a word fits", "data": "word", "valid": true }]"#;
        let group =
            format!(r#"[{{ "description": "a file", "schema": {{ "$ref": "{address}" }}, "tests": {tests} }}]"#);
        sandbox.write(&format!("suite/tests/draft2020-12/{name}.json"), &group);
    };
    refers("absolute", &sandbox.path().join("outside").to_string_lossy());
    refers("upward", "../../outside");
    refers("pipe", "draft2020-12/pipe.json");
    refers("device", "/dev/zero");
    let finished = sandbox.run("list --import json-schema-test-suite=suite/tests/draft2020-12");
    finished.exits(0).stdout_has(&["type-arguments"]);
}

#[test]
fn endless_set_or_setup_input_is_refused() {
    let sandbox = Sandbox::new();
    pipe(&sandbox, "sets/endless.json");
    let finished = sandbox.run("run reference --cases cases --set endless");
    finished.exits(2).stderr_has(&["sets/endless.json", "this is a pipe"]);
    sandbox.borrowed("targets/t", None, "[setup]\ncommands = [[\"true\"]]\ninputs = [\"endless\"]\n");
    pipe(&sandbox, "targets/t/endless");
    sandbox.write("targets/t/.casebook-setup", "");
    sandbox.run("targets").exits(0).stdout_has(&["not set up"]);
    sandbox.run("run t --cases cases").exits(4).stderr_has(&["endless", "this is a pipe"]);
}

#[test]
fn replay_reads_no_target_outside_the_repository() {
    let (sandbox, outside) = (Sandbox::new(), Sandbox::empty());
    let known =
        "[[known]]\ntest = \"post/parcel/word\"\nrequirement = \"post/arguments-checked\"\nreason = \"known\"\n";
    for sandbox in [&sandbox, &outside] {
        sandbox.borrowed("t", Some("input-not-validated"), known);
    }
    sandbox.run("run t --cases cases --run-log run.jsonl").exits(0);
    let place = |sandbox: &Sandbox| sandbox.path().canonicalize().expect("an existing path").display().to_string();
    sandbox.write("forged.jsonl", &sandbox.read("run.jsonl").replace(&place(&sandbox), &place(&outside)));
    std::fs::remove_dir_all(sandbox.path().join("t")).expect("own file");
    let upward = format!("{}/../{}", place(&sandbox), outside.path().file_name().expect("a name").display());
    sandbox.write("upward.jsonl", &sandbox.read("run.jsonl").replace(&place(&sandbox), &upward));
    for log in ["forged.jsonl", "upward.jsonl"] {
        sandbox
            .run(&format!("replay {log} --cases cases"))
            .exits(1)
            .stderr_has(&["cannot find the target t from here"]);
    }
}

#[test]
fn suite_behind_links_is_not_read() {
    let sandbox = Sandbox::empty();
    sandbox.write("outside/draft2020-12/word.json", r#"{ "const": "of-somebody-else" }"#);
    sandbox.write("suite/tests/draft2020-12/.keep", "");
    let group = r#"[{ "description": "a file", "schema": { "$ref": "http://localhost:1234/draft2020-12/word.json" },
        "tests": [{ "description": "a word fits", "data": "word", "valid": true }] }]"#;
    sandbox.write("suite/tests/draft2020-12/refers.json", group);
    let link = |name: &str, to: &str| {
        std::os::unix::fs::symlink(sandbox.path().join(to), sandbox.path().join(name)).expect("a link");
    };
    link("suite/remotes", "outside");
    let import = "--import json-schema-test-suite=suite/tests/draft2020-12";
    let written = sandbox.run(&format!("explain json-schema-2020-12/remote-refs-results --json {import}"));
    written.exits(0).stdout_has(&["word.json"]);
    assert!(!written.out.contains("of-somebody-else"), "{}", written.out);
    std::fs::create_dir_all(sandbox.path().join("linked/remotes")).expect("a folder");
    link("linked/tests", "outside");
    std::fs::create_dir_all(sandbox.path().join("inner/tests")).expect("a folder");
    link("inner/tests/draft2020-12", "outside/draft2020-12");
    std::fs::create_dir_all(sandbox.path().join("below")).expect("a folder");
    std::fs::create_dir_all(sandbox.path().join("theirs")).expect("a folder");
    link("theirs/tests", "outside");
    link("below/json", "theirs");
    for suite in ["linked", "inner", "below/json"] {
        let folder = format!("{suite}/tests/draft2020-12");
        let finished = sandbox.run(&format!("list --import json-schema-test-suite={folder}"));
        finished.exits(2);
        assert!(!finished.err.contains("of-somebody-else"), "{}", finished.err);
    }
}

#[test]
fn snapshot_that_is_a_link_is_neither_shown_nor_written() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "");
    sandbox.run("run t --cases cases --only post/letter --accept").exits(0);
    let snapshot = sandbox.path().join("t/snapshots/post/letter.snap");
    assert!(snapshot.exists(), "no snapshot there");
    sandbox.write("private", "of-somebody-else\n");
    std::fs::remove_file(&snapshot).expect("own file");
    std::os::unix::fs::symlink(sandbox.path().join("private"), &snapshot).expect("a link");
    for accept in ["", "--accept"] {
        let finished = sandbox.run(&format!("run t --cases cases --only post/letter {accept}"));
        finished.stderr_has(&["letter.snap: it is behind a symbolic link"]);
        assert!(!finished.out.contains("of-somebody-else"), "{}", finished.out);
    }
    assert_eq!(sandbox.read("private"), "of-somebody-else\n");
}
