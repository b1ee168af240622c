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

/// Installs an `npm` that lists four releases and can install three of them, and a `node` that is the reference in place of
/// their adapter: 1.29.0 does not validate, and 1.28.0 does not speak 2025-11-25.
fn releases(sandbox: &Sandbox) {
    let list = r#"{"created":"2025-01-01T00:00:00.000Z","1.27.0":"2026-02-01T00:00:00.000Z",
        "1.28.0":"2026-03-01T00:00:00.000Z","1.29.0":"2026-04-01T00:00:00.000Z","1.30.0":"2026-05-01T00:00:00.000Z",
        "1.31.0-beta.1":"2026-05-02T00:00:00.000Z","1.0.0":"2024-11-25T00:00:00.000Z"}"#;
    let npm = format!(
        "case \"$*\" in view*) echo '{list}';; *sdk@1.27.0) echo no matching version >&2; exit 1;; *sdk@*) echo \"$*\";; esac"
    );
    install(sandbox, "npm", &npm);
    let node = format!(
        r#"version=${{PWD#*typescript-sdk-v1@}}; version=${{version%%/*}}
        case $version in 1.29.0) mutant='--mutant input-not-validated';; 1.28.0) less='s/"2025-11-25",//';; esac
        {PROGRAM} __adapter $mutant | /bin/sed -u "/api/{{ s/casebook-reference/@modelcontextprotocol\/sdk/; s/\"version\":\"[^\"]*/\"version\":\"$version/; s/\"variants\":[^]]*/\"variants\":[\"zod\"/; s/\"api\"/\"dependencies\":{{\"zod\":\"4.$version\"}},&/; $less }}"
        "#
    );
    install(sandbox, "node", &node);
}

#[test]
fn releases_of_a_target_are_listed_with_dates() {
    let sandbox = Sandbox::empty();
    releases(&sandbox);
    let listed = run(&sandbox, "targets --versions typescript-sdk-v1");
    listed.exits(0).stdout_has(&[
        "1.31.0-beta.1   2026-05-02  pre-release\n1.30.0",
        "1.0.0           2024-11-25  not for this adapter",
    ]);
    listed.stderr_has(&["the lock of typescript-sdk-v1, 1.", " is not 1.30.0, the newest release"]);
    run(&sandbox, "targets --versions ruby-sdk").exits(2).stderr_has(&["its `[setup]` has no commands `on-version`"]);
    run(&sandbox, "run typescript-sdk-v1@1.29.9").exits(2).stderr_has(&["no such release; did you mean 1.29.0?"]);
    run(&sandbox, "run typescript-sdk-v1@1.0.0").exits(2).stderr_has(&["the adapter is for 1.13.0..1"]);
    run(&sandbox, "run typescript-sdk-v1 --versions 2.0..2.1").exits(2).stderr_has(&["has no release in `2.0..2.1`"]);
    for (gone, why) in
        [("echo registry gone >&2; exit 7", "exit status: 7\nregistry gone"), ("echo hello", "no JSON object")]
    {
        install(&sandbox, "npm", gone);
        run(&sandbox, "targets --versions typescript-sdk-v1").exits(4).stderr_has(&["cannot list the releases", why]);
    }
}

#[test]
fn several_releases_have_one_history() {
    let sandbox = Sandbox::empty();
    releases(&sandbox);
    let only = "--only sep-1303/input-errors --transport http";
    let arguments = format!("run typescript-sdk-v1:zod --versions 3 {only} --run-log logs --report history=history.md");
    let came = run(&sandbox, &arguments);
    came.exits(0).stdout_has(&[
        "typescript-sdk-v1@1.28.0:zod  2026-03-01\n",
        "typescript-sdk-v1:zod, 1.28.0 to 1.30.0 (3 releases)",
        "1.30.0  2026-05-01, after 1.29.0; zod 4.1.29.0 → 4.1.30.0\n    better",
        "1.29.0  2026-04-01, after 1.28.0; zod 4.1.28.0 → 4.1.29.0\n    worse",
    ]);
    came.stderr_has(&["--before 2026-05-02T00:00:00Z", "@modelcontextprotocol/sdk@1.30.0", "run logs: logs"]);
    let page = sandbox.read("history.md");
    assert!(
        page.contains("| 1.29.0 2026-04-01, after 1.28.0; zod 4.1.28.0 → 4.1.29.0 |")
            && page.contains("✗ **1.29.0** runs the tool"),
        "{page}"
    );
    let log = sandbox.read("logs/typescript-sdk-v1@1.28.0+zod.jsonl");
    assert!(log.contains("@2025-06-18") && !log.contains("@2025-11-25"), "it is asked what its hello confirms");
    // What is there is not run again, and a release that cannot be set up does not stop the others.
    let came = run(&sandbox, &arguments.replace("--versions 3", "--versions 1.27..1.29"));
    assert!(!came.exits(4).err.contains("versions/typescript-sdk-v1@1.29.0"), "{}", came.err);
    came.stderr_has(&["no matching version", "left out typescript-sdk-v1@1.27.0:zod: it cannot be set up"]);
    run(&sandbox, "targets --clear").exits(0).stdout_has(&["removed  versions/typescript-sdk-v1@1.29.0"]);
    assert!(!sandbox.path().join("cache/casebook/versions/typescript-sdk-v1@1.29.0").exists());
}

#[test]
fn release_in_which_an_observation_changed_is_found() {
    let sandbox = Sandbox::empty();
    releases(&sandbox);
    let test = "sep-1303/input-errors/plain-misfits/wrong-type@2025-06-18+http";
    let came = run(&sandbox, &format!("bisect {test} typescript-sdk-v1:zod --good 1.28.0"));
    came.exits(3).stderr_has(&["1.28.0 and 1.30.0 have the same observation"]);
    let came = run(&sandbox, &format!("bisect {test} typescript-sdk-v1:zod --good 1.28.0 --bad 1.29.0"));
    came.exits(0).stdout_has(&[
        "changed in 1.29.0, 2026-04-01",
        "typescript-sdk-v1 1.28.0, zod 4.1.28.0\n",
        "tool-error",
        "success; saw",
    ]);
    run(&sandbox, &format!("bisect {test} typescript-sdk-v1:zod")).exits(4).stderr_has(&["1.27.0 shows nothing"]);
    run(&sandbox, &format!("bisect {test} typescript-sdk-v1 --good 1.1")).exits(2).stderr_has(&["is no release"]);
    run(&sandbox, &format!("bisect {test} go-sdk@1.8.0")).exits(2).stderr_has(&["write the name of the target alone"]);
}

#[test]
fn diff_runs_releases_that_have_no_run_log() {
    let sandbox = Sandbox::new();
    releases(&sandbox);
    let sides = "typescript-sdk-v1@1.29.0:zod typescript-sdk-v1@1.30.0:zod";
    let came = run(&sandbox, &format!("diff {sides} --cases cases"));
    came.exits(0).stdout_has(&[
        "typescript-sdk-v1:zod @modelcontextprotocol/sdk 1.29.0",
        "better in B",
        "arguments-checked",
    ]);
    let again = run(&sandbox, &format!("diff {sides} --cases cases"));
    assert!(again.exits(0).err.is_empty(), "nothing is run again: {}", again.err);
    run(&sandbox, "diff typescript-sdk-v1@1.27.0 typescript-sdk-v1@1.30.0")
        .exits(4)
        .stderr_has(&["no matching version"]);
}
