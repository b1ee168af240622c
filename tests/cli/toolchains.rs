//! `casebook targets`, `casebook run --all`, and the targets inside of the program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::process::Running;
use crate::sandbox::{Came, Desk, PROGRAM};

/// A program that says its version, and else does what the script says.
fn install(desk: &Desk, name: &str, script: &str) {
    desk.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    let file = desk.path().join("bin").join(name);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// On a machine that has nothing but what the desk has.
fn alone(mut command: Command, desk: &Desk) -> Came {
    Came::of(command.env("PATH", desk.path().join("bin")))
}

fn run(desk: &Desk, arguments: &str) -> Came {
    alone(desk.command(arguments), desk)
}

#[test]
fn targets_are_listed_with_what_they_need_and_what_of_it_is_here() {
    let desk = Desk::new();
    install(&desk, "cmake", "echo cmake v3.11.2; echo noise >&2");
    install(&desk, "zig", "test \"$1\" = version && echo zig 3.9");
    desk.borrowed("targets/mine", None, "[needs]\ncmake = \"3.11\"\n\n[variants.high]\n[variants.low]\n");
    desk.borrowed("targets/yours", None, "[needs]\nzig = \"3.11\"\nnowhere = \"any\"\n");
    let came = run(&desk, "targets");
    came.ends(0).says(&["reference  the embedded reference target", "mutants; `casebook prove`", "high, low"]);
    came.says(&["cmake >= 3.11 (here is 3.11.2)", "zig >= 3.11 (here is 3.9), nowhere (not found)"]);
    came.says(&["python-sdk  Python SDK", "python3 >= 3.11 (not found, or without a version)"]);
    let listed: Vec<Value> = serde_json::from_str(&run(&desk, "targets --format json").out).expect("JSON");
    let one = |name: &str| listed.iter().find(|one| one["name"] == name).expect(name).clone();
    assert_eq!((one("mine")["ready"].clone(), one("mine")["setUp"].clone()), (true.into(), true.into()));
    assert_eq!((one("yours")["ready"].clone(), one("python-sdk")["setUp"].clone()), (false.into(), false.into()));
    assert_eq!(one("yours")["needs"][0]["found"], "3.9");
    assert!(!desk.path().join("cache").exists(), "a list unpacks nothing");
}

#[test]
fn what_a_target_needs_is_checked_as_the_rest_of_its_file() {
    let desk = Desk::new();
    desk.borrowed("t", None, "[needs]\n\"../sh\" = \"1\"\nsh = \"new\"\nls = 1\n");
    let came = desk.run("run t --cases cases");
    came.ends(2).adds(&["`../sh` is no name of a program", "`new` is no version", "numbers with dots between"]);
}

#[test]
fn a_run_of_all_names_what_it_leaves_out() {
    let desk = Desk::new();
    desk.borrowed("targets/mine", None, "");
    let came = run(&desk, "run --all --cases cases --jobs 1 --only post/parcel");
    came.ends(0).says(&["reference", "mine"]);
    let why = "python-sdk is left out: it needs python3 >= 3.11 (not found";
    assert_eq!(came.err.matches(why).count(), 2, "at the beginning and at the end: {}", came.err);
    run(&desk, "run --all mine").ends(2).adds(&["cannot be used with"]);
    install(&desk, "breaks", "exit 3");
    desk.borrowed("targets/broken", None, "[setup]\ncommands = [[\"breaks\"]]\n");
    let came = run(&desk, "run --all --cases cases --jobs 1 --only post/parcel");
    came.ends(4).says(&["reference", "mine"]).adds(&["broken could not be set up", "broken is left out"]);
}

#[test]
fn an_embedded_target_is_unpacked_into_the_cache_and_set_up_there() {
    let desk = Desk::new();
    install(&desk, "npm", "echo \"$@\" >> installed");
    // Our own reference, with what the adapter would say of itself.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/targets/typescript-sdk/target.toml");
    let file = fs::read_to_string(file).expect("it is in this repository");
    let said = |key: &str| {
        let line = file.lines().find_map(|line| line.strip_prefix(key)).expect(key);
        line.trim_matches([' ', '=']).to_owned()
    };
    let (package, version) = (said("package"), said("version"));
    let hello = format!(
        r#"/bin/sed -u -e 's|"sdk":"[^"]*"|"sdk":{package}|' -e 's|"version":"[^"]*"|"version":{version}|' \
        -e 's|"variants":\[\]|"variants":["high","low"]|'"#
    );
    install(&desk, "node", &format!("test \"$1\" = adapter.mjs && test -f \"$1\" && {PROGRAM} __adapter | {hello}"));
    desk.run("run typescript-sd").ends(2).adds(&["did you mean `typescript-sdk`?"]);
    for _ in 0..2 {
        let mut command = desk.command("serve typescript-sdk:high post/parcel --cases cases");
        command.env("PATH", desk.path().join("bin"));
        let mut server = Running::start(command);
        let url = server.out.next().expect("a line");
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        server.signal(Signal::SIGINT);
        assert_eq!(server.end().0, Some(0));
    }
    let unpacked = desk.path().join("cache/casebook/targets");
    let there: Vec<_> = fs::read_dir(unpacked).expect("a folder").map(|one| one.expect("an entry").path()).collect();
    let [one] = there.as_slice() else { panic!("one content, one folder: {there:?}") };
    let installed = fs::read_to_string(one.join("typescript-sdk/installed")).expect("it was set up");
    assert_eq!(installed.lines().count(), 1, "it is set up once: {installed}");
    // In a repository that has one of that name, that is the one.
    desk.borrowed("targets/typescript-sdk", None, "");
    run(&desk, "run typescript-sdk --cases cases").ends(0);
    assert_eq!(desk.survivors(), 0);
}
