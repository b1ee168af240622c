//! Targets that do not exist, cannot start or misbehave; `smoke`; set-up.

use crate::sandbox::{Finished, PROGRAM, Sandbox};

#[test]
fn unknown_target_is_answered_with_the_nearest() {
    let sandbox = Sandbox::new();
    sandbox.run("run referense").exits(2).stderr_has(&["there is no target `referense`; did you mean `reference`?"]);
    sandbox.borrowed("targets/parcels", None, "");
    sandbox.run("run parcel").exits(2).stderr_has(&["did you mean `parcels`?"]);
    sandbox.run("run parcels --cases cases").exits(0);
    sandbox.run("run targets/parcels/target.toml --cases cases").exits(0);
    sandbox
        .run("run ./no/such/folder")
        .exits(2)
        .stderr_has(&["there is no target `./no/such/folder`", "a folder with a target.toml"]);
    sandbox
        .run("run reference:text-not-mirored")
        .exits(2)
        .stderr_has(&["has no mutant `text-not-mirored`", "text-not-mirrored"]);
    sandbox
        .run("run localhost:3000/mcp")
        .exits(2)
        .stderr_has(&["to test a running server, write its whole address, as in http://localhost:3000/mcp"]);
    sandbox.borrowed("conformance", None, "");
    std::fs::create_dir(sandbox.path().join("deep")).expect("a folder");
    for (typed, near) in [
        ("confromance", "conformance"),
        ("conformances", "conformance"),
        ("./conformanse", "./conformance"),
        ("deep/../conformanse/", "deep/../conformance"),
    ] {
        sandbox.run(&format!("run {typed}")).exits(2).stderr_has(&[&format!("did you mean `{near}`?")]);
    }
    sandbox.run("run conformance:zood").exits(2).stderr_has(&["it has no variants, so name it `conformance`"]);
    sandbox.borrowed("variants", None, "[variants.high]\n[variants.low]\n");
    sandbox.run("run variants:lower").exits(2).stderr_has(&["has no variant `lower`; it has high, low"]);
}

#[test]
fn checkout_that_nothing_can_be_built_on_is_refused() {
    let sandbox = Sandbox::new();
    sandbox
        .run("run go-sdk@missing")
        .exits(2)
        .stderr_has(&["`go-sdk` cannot be built on missing: there is no such folder"]);
    sandbox.run("run ruby-sdk@.").exits(2).stderr_has(&["its `[setup]` has no commands `on-checkout`"]);
    sandbox
        .run("run go-sdk@.:lowest")
        .exits(2)
        .stderr_has(&["has no variant `lowest`; it has high, low, low-validated"]);
    sandbox.borrowed("targets/own", None, "");
    sandbox.run("run own@.").exits(2).stderr_has(&["only an adapter that casebook contains is"]);
    sandbox.run("run go-sdk@.").exits(4).stderr_has(&["is no checkout of a Git repository"]);
    assert!(!sandbox.path().join(".git").exists());
}

#[test]
fn release_that_nothing_can_be_built_on_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.run("run ruby-sdk@0.9.0").exits(2).stderr_has(&["its `[setup]` has no commands `on-version`"]);
    sandbox.borrowed("targets/own", None, "");
    sandbox.run("run own@1.0.0").exits(2).stderr_has(&["only an adapter that casebook contains is"]);
    sandbox.write("cache/casebook/releases/python-sdk.json", "{\"2.9.0\":\"2026-01-01T00:00:00Z\"}");
    sandbox.run("run python-sdk@2.9.0:lowest").exits(2).stderr_has(&["has no variant `lowest`"]);
    // What is no version, or is a folder, is a checkout.
    sandbox.run("run go-sdk@1;x").exits(2).stderr_has(&["cannot be built on 1;x: there is no such folder"]);
    sandbox.write("1.0/file", "");
    sandbox.run("run go-sdk@1.0").exits(4).stderr_has(&["is no checkout of a Git repository"]);
}

#[test]
fn target_file_that_cannot_be_read_is_an_error() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path().join("t/target.toml")).expect("a folder");
    sandbox
        .run("run ./t")
        .exits(2)
        .stderr_has(&["t/target.toml", "cannot read this file: this is a folder, not a file"]);
}

#[test]
fn all_mistakes_in_a_target_are_listed() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bad/target.toml",
        "title = 1\ncomand = [\"a\"]\n\n[claims]\nroles = [\"servr\"]\ntransports = [\"http\"]\n\n[[known]]\ntest = \"[\"\n",
    );
    sandbox.run("run bad --cases cases").exits(2).matches_snapshot("mistakes-in-a-target");
    sandbox.write("bad/target.toml", "title = \n");
    let empty = sandbox.run("run bad --cases cases");
    assert!(!empty.exits(2).stderr_has(&["bad/target.toml:1:"]).err.contains("quotes"), "{}", empty.err);
    for text in ["title = tmcp\n", "roles = [server]\n"] {
        sandbox.write("bad/target.toml", text);
        sandbox.run("run bad --cases cases").exits(2).stderr_has(&["help: a text needs quotes"]);
    }
}

/// Runs a few cases against one target.
fn run(sandbox: &Sandbox, name: &str, more: &str) -> Finished {
    sandbox.run(&format!("run {name} --cases cases --jobs 1 {more}"))
}

#[test]
fn target_that_dies_at_its_start_shows_its_stderr() {
    let sandbox = Sandbox::new();
    let long = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i of a trace that is long >&2; done; seq -s , 999 >&2; ";
    sandbox.script("dies", &format!("{long} echo the last words >&2; exit 7"), "");
    let came = run(&sandbox, "dies", "");
    came.exits(4).stdout_has(&["error  dies", "exit status 7", "the last words", "5 tests"]);
    assert!(came.out.lines().count() < 40, "{}", came.out);
    run(&sandbox, "dies", "--accept").exits(4);
    assert!(!sandbox.path().join("dies/snapshots").exists(), "what nobody saw was accepted");
    sandbox.target("nowhere", &["./no-such-program"], "");
    run(&sandbox, "nowhere", "").exits(4).stdout_has(&["no-such-program", "cannot start", "No such file"]);
    sandbox.target("typo", &["nodee"], "");
    run(&sandbox, "typo", "").exits(4).stdout_has(&["no such program on PATH", "correct `command` in target.toml"]);
}

#[test]
fn target_without_hello_or_with_false_claims_is_not_used() {
    let sandbox = Sandbox::new();
    sandbox.script("silent", "echo still thinking >&2; exec sleep 1000", "");
    run(&sandbox, "silent", "--limit start=300ms")
        .exits(4)
        .stdout_has(&["sent no answer within the time limit", "still thinking"]);
    let hello = r#"{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":["server"],"transports":["stdio"],"revisions":["2026-07-28"]}}"#;
    sandbox.script("boaster", &format!("read line; echo '{hello}'; cat"), "");
    run(&sandbox, "boaster", "").exits(4).stdout_has(&["target.toml claims the transport `http`", "has only: stdio"]);
}

#[test]
fn target_that_cannot_start_does_not_stop_others() {
    let sandbox = Sandbox::new();
    sandbox.script("dies", "exit 7", "");
    let came = run(&sandbox, "dies reference", "");
    came.exits(4).stdout_has(&["error  dies", "30 passed"]);
}

#[test]
fn failed_setup_shows_its_last_lines_and_starts_nothing() {
    let sandbox = Sandbox::new();
    let setup = |command: &str| format!("[setup]\ncommands = [[{command}]]\n");
    sandbox.script("unready", "echo x > started", &setup(r#""sh", "-c", "seq 30; echo no such luck >&2; exit 3""#));
    let came = run(&sandbox, "unready", "");
    came.exits(4).stderr_has(&[
        "unready: setting up: sh -c",
        "cannot set up unready",
        "exit status: 3",
        "no such luck",
    ]);
    assert!(!sandbox.path().join("unready/started").exists());
    sandbox.script("nowhere", "true", &setup(r#""no-such-program""#));
    run(&sandbox, "nowhere", "").exits(4).stderr_has(&["cannot start `no-such-program`", "is it installed"]);
    sandbox.script("loud", "true", &setup(r#""printf", "\\033[31mred\\n""#));
    assert!(!run(&sandbox, "loud", "").err.contains('\u{1b}'), "a target's escapes reach no terminal");
}

#[test]
fn setup_runs_again_when_its_inputs_change() {
    let sandbox = Sandbox::new();
    let setup = "[setup]\ncommands = [[\"sh\", \"-c\", \"echo x >> times\"]]\ninputs = [\"lock\"]\n";
    let setup_of = |name: &str, lock: &str| {
        sandbox.borrowed(name, None, setup);
        sandbox.write(&format!("{name}/lock"), lock);
        run(&sandbox, name, "").exits(0);
        sandbox.read(&format!("{name}/times")).lines().count()
    };
    assert_eq!([setup_of("t", "1"), setup_of("t", "1"), setup_of("t", "2"), setup_of("t", "2")], [1, 1, 2, 2]);
    sandbox.borrowed("t", None, setup);
    std::fs::remove_file(sandbox.path().join("t/lock")).expect("it is there");
    run(&sandbox, "t", "").exits(4).stderr_has(&["t/lock: ", "correct `[setup] inputs` in target.toml"]);
}

#[cfg(unix)]
#[test]
fn complete_setup_in_a_read_only_folder_is_used() {
    use std::os::unix::fs::PermissionsExt as _;
    if nix::unistd::geteuid().is_root() {
        // Past the capture of the test runner.
        _ = std::io::Write::write_all(&mut std::io::stderr(), b"SKIPPED: root can write to every folder\n");
        return;
    }
    let sandbox = Sandbox::new();
    let setup = |command: &str| format!("[setup]\ncommands = [[\"{command}\"]]\n");
    let allow = |name: &str, mode| {
        let path = sandbox.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    sandbox.borrowed("t", None, &setup("true"));
    run(&sandbox, "t", "--only post/letter").exits(0);
    allow("t/.casebook-setup", 0o444);
    allow("t", 0o555);
    run(&sandbox, "t", "--only post/letter").exits(0);
    allow("t", 0o755);
    sandbox.borrowed("t", None, &setup("echo"));
    allow("t", 0o555);
    run(&sandbox, "t", "").exits(4).stderr_has(&["make the folder writable, or copy it"]);
    allow("t", 0o755);
}

#[test]
fn misbehaving_target_fails_one_test_and_the_run_goes_on() {
    let sandbox = Sandbox::new();
    for mode in ["dies", "mumbles", "hangs"] {
        sandbox.proxy(mode, mode);
        let came = run(&sandbox, mode, "--only post/letter --limit test=1500ms");
        came.exits(1).matches_snapshot(&format!("target-that-{mode}"));
        // The snapshots omit lines about slow tests, which depend on the machine.
        assert!(
            mode != "hangs" || came.out.contains("slow  hangs  post/letter/sent/second@2026-07-28+http"),
            "{}",
            came.out
        );
    }
}

#[test]
fn smoke_shows_the_expected_answer_of_an_adapter() {
    let sandbox = Sandbox::new();
    let good = sandbox.run("smoke reference");
    good.exits(0).stdout_has(&[
        "stdio: one process serves the fixtures, each over a stream",
        "right   hello",
        "right   serve: echo over stdio",
        "right   end of standard input",
        "124 right. Next: casebook run reference --transport http\n",
    ]);
    for drive in
        ["a list over stdio on 2025-06-18", "a call over http on 2025-11-25", "an elicitation over http on 2026-07-28"]
    {
        good.stdout_has(&[&format!("right   drive: {drive}")]);
    }
    assert!(!good.out.contains("WRONG"));
    sandbox.script("stopper", r#"while read line; do echo '{"id":"1","stopped":true}'; done"#, "");
    sandbox.run("smoke stopper").exits(4).stdout_has(&["WRONG   hello", "expected: {\"id\":\"1\",\"hello\":"]);
    let greeter =
        format!(r#"read hello; echo '{HELLO}'; while read line; do echo '{{"id":"2","stopped":true}}'; done"#);
    sandbox.script("greeter", &greeter, "");
    sandbox.run("smoke greeter").exits(4).matches_snapshot("smoke-greeter");
    sandbox.script("dies", "echo the last words >&2; exit 1", "");
    sandbox.run("smoke dies").exits(4).stdout_has(&["WRONG   hello", "the last words"]);
    sandbox.run("smoke referense").exits(2).stderr_has(&["did you mean `reference`?"]);
}

const HELLO: &str = r#"{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":["server"],"transports":["http"],"revisions":["2026-07-28"]}}"#;

#[test]
fn target_gets_the_environment_of_its_file() {
    let sandbox = Sandbox::new();
    let script = format!("test \"$PARCEL\" = big && exec {PROGRAM} __adapter");
    sandbox.script("t", &script, "[env]\nPARCEL = \"big\"\n");
    run(&sandbox, "t", "").exits(0);
}

#[test]
fn adapter_that_can_express_nothing_is_no_success() {
    let sandbox = Sandbox::new();
    let script = format!(
        r#"while read -r line; do case $line in *'"hello"'*) echo '{HELLO}';;
        *) id=${{line#*\"id\":\"}}; echo "{{\"id\":\"${{id%%\"*}}\",\"cannot\":\"not written yet\"}}";; esac; done"#
    );
    sandbox.script("blank", &script, "");
    run(&sandbox, "blank", "--revision 2026-07-28 --transport http").exits(3).stdout_has(&[
        "not as expected",
        "0 of 2 requirements tested; nothing was tested: the adapter answered `cannot`",
    ]);
}
