//! `casebook targets`, `casebook run --all` and the embedded targets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::process::Running;
use crate::sandbox::{Finished, PROGRAM, Sandbox};

/// Installs a program that prints its version, and otherwise runs the script.
fn install(sandbox: &Sandbox, name: &str, script: &str) {
    sandbox.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    let file = sandbox.path().join("bin").join(name);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Runs a command with only the programs of the sandbox on the search path.
fn alone(mut command: Command, sandbox: &Sandbox) -> Finished {
    Finished::of(command.env("PATH", sandbox.path().join("bin")))
}

fn run(sandbox: &Sandbox, arguments: &str) -> Finished {
    alone(sandbox.command(arguments), sandbox)
}

#[test]
fn targets_are_listed_with_needed_and_found_programs() {
    let sandbox = Sandbox::new();
    install(&sandbox, "cmake", "echo cmake v3.11.2; echo noise >&2");
    install(&sandbox, "zig", "test \"$1\" = version && echo zig 3.9");
    sandbox.borrowed("targets/mine", None, "[needs]\ncmake = \"3.11\"\n\n[variants.high]\n[variants.low]\n");
    sandbox.borrowed("targets/yours", None, "[needs]\nzig = \"3.11\"\nnowhere = \"any\"\n");
    let came = run(&sandbox, "targets");
    came.exits(0).stdout_has(&["reference  the embedded reference target", "mutants; list them with", "high, low"]);
    came.stdout_has(&["cmake >= 3.11 (found 3.11.2)", "zig >= 3.11 (found 3.9), nowhere (not found)"]);
    came.stdout_has(&["python-sdk  Python SDK", "python3 >= 3.11 (not found, or its version is unknown)"]);
    let listed: Vec<Value> = serde_json::from_str(&run(&sandbox, "targets --format json").out).expect("JSON");
    let one = |name: &str| listed.iter().find(|one| one["name"] == name).expect(name).clone();
    assert_eq!((one("mine")["ready"].clone(), one("mine")["setUp"].clone()), (true.into(), true.into()));
    assert_eq!((one("yours")["ready"].clone(), one("python-sdk")["setUp"].clone()), (false.into(), false.into()));
    assert_eq!(one("yours")["needs"][0]["found"], "3.9");
    assert!(!sandbox.path().join("cache").exists(), "a list unpacks nothing");
}

#[test]
fn mistakes_in_needed_programs_are_listed() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "[needs]\n\"../sh\" = \"1\"\nsh = \"new\"\nls = 1\n");
    let came = sandbox.run("run t --cases cases");
    came.exits(2).stderr_has(&[
        "`../sh` is not the name of a program",
        "`new` is not a version",
        "numbers with dots between",
    ]);
}

#[test]
fn failed_start_names_the_programs_that_are_missing() {
    let sandbox = Sandbox::new();
    install(&sandbox, "zig", "test \"$1\" = version && echo zig 3.9");
    let needs = "[needs]\nzig = \"3.11\"\n";
    sandbox.target("bad", &["zig"], needs);
    for command in ["run bad --cases cases --jobs 1", "smoke bad"] {
        run(&sandbox, command).exits(4).stderr_has(&["bad needs zig >= 3.11 (found 3.9)"]);
    }
    sandbox.target("unready", &["zig"], &format!("{needs}[setup]\ncommands = [[\"zig\"]]\n"));
    run(&sandbox, "run unready --cases cases").exits(4).stderr_has(&["unready needs zig >= 3.11", "cannot set up"]);
    sandbox.borrowed("good", None, needs);
    let good = run(&sandbox, "run good --cases cases --jobs 1");
    assert!(!good.exits(0).err.contains("needs zig"), "{}", good.err);
}

#[test]
fn run_of_all_targets_names_the_skipped_ones() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("targets/mine", None, "");
    let came = run(&sandbox, "run --all --cases cases --jobs 1 --only post/parcel");
    came.exits(0).stdout_has(&["reference", "mine"]);
    let why = "skipped python-sdk: it needs python3 >= 3.11 (not found";
    assert_eq!(came.err.matches(why).count(), 2, "at the beginning and at the end: {}", came.err);
    run(&sandbox, "run --all mine").exits(2).stderr_has(&["cannot be used with"]);
    install(&sandbox, "breaks", "exit 3");
    sandbox.borrowed("targets/broken", None, "[setup]\ncommands = [[\"breaks\"]]\n");
    let came = run(&sandbox, "run --all --cases cases --jobs 1 --only post/parcel");
    came.exits(4).stdout_has(&["reference", "mine"]).stderr_has(&["cannot set up broken", "skipped broken"]);
}

#[test]
fn embedded_target_is_unpacked_and_set_up_in_the_cache() {
    let sandbox = Sandbox::new();
    install(&sandbox, "npm", "echo \"$@\" >> installed");
    // The reference, with the hello of the embedded target's adapter.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/targets/typescript-sdk/target.toml");
    let file = fs::read_to_string(file).expect("it is in this repository");
    let said = |key: &str| {
        let line = file.lines().find_map(|line| line.strip_prefix(key)).expect(key);
        line.trim_matches([' ', '=']).to_owned()
    };
    let (package, version) = (said("package"), said("version"));
    let variant = file.lines().find_map(|line| line.strip_prefix("[variants.")?.strip_suffix(']')).expect("a variant");
    let hello = format!(
        r#"/bin/sed -u -e 's|"sdk":"[^"]*"|"sdk":{package}|' -e 's|"version":"[^"]*"|"version":{version}|' \
        -e 's|"variants":\[\]|"variants":["{variant}"]|'"#
    );
    install(&sandbox, "node", &format!("test -f adapter.ts && {PROGRAM} __adapter | {hello}"));
    sandbox.run("run typescript-sd").exits(2).stderr_has(&["did you mean `typescript-sdk`?"]);
    for _ in 0..2 {
        let mut command = sandbox.command(&format!("serve typescript-sdk:{variant} post/parcel --cases cases"));
        command.env("PATH", sandbox.path().join("bin"));
        let mut server = Running::start(command);
        let url = server.out.next().expect("a line");
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        server.signal(Signal::SIGINT);
        assert_eq!(server.end().0, Some(0));
    }
    let unpacked = sandbox.path().join("cache/casebook/targets");
    let there: Vec<_> = fs::read_dir(unpacked).expect("a folder").map(|one| one.expect("an entry").path()).collect();
    let [one] = there.as_slice() else { panic!("one content, one folder: {there:?}") };
    let installed = fs::read_to_string(one.join("typescript-sdk/installed")).expect("it was set up");
    assert_eq!(installed.lines().count(), 2, "it is set up once, with two commands: {installed}");
    // A target of the repository takes precedence over an embedded one of the same name.
    sandbox.borrowed("targets/typescript-sdk", None, "");
    run(&sandbox, "run typescript-sdk --cases cases").exits(0);
    assert_eq!(sandbox.survivors(), 0);
}
