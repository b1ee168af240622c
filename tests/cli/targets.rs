//! Targets that aren't there, can't be had, or misbehave; `smoke`; set-up.

use crate::sandbox::{Came, Desk, PROGRAM};

#[test]
fn a_target_that_is_not_there_is_named_with_the_nearest() {
    let desk = Desk::new();
    desk.run("run referense").ends(2).adds(&["there is no target `referense`; did you mean `reference`?"]);
    desk.borrowed("targets/parcels", None, "");
    desk.run("run parcel").ends(2).adds(&["did you mean `parcels`?"]);
    desk.run("run parcels --cases cases").ends(0);
    desk.run("run targets/parcels/target.toml --cases cases").ends(0);
    desk.run("run ./no/such/folder")
        .ends(2)
        .adds(&["there is no target `./no/such/folder`", "a folder with a target.toml"]);
    desk.run("run reference:text-not-mirored")
        .ends(2)
        .adds(&["has no variant `text-not-mirored`", "text-not-mirrored"]);
    desk.borrowed("variants", None, "[variants.high]\n[variants.low]\n");
    desk.run("run variants:lower").ends(2).adds(&["has no variant `lower`; it has high, low"]);
}

#[test]
fn target_file_that_cannot_be_read_is_an_error() {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path().join("t/target.toml")).expect("a folder");
    desk.run("run ./t").ends(2).adds(&["t/target.toml", "can't be read: this is a folder, not a file"]);
}

#[test]
fn mistakes_in_a_target_are_all_listed() {
    let desk = Desk::new();
    desk.write(
        "bad/target.toml",
        "title = 1\ncomand = [\"a\"]\n\n[claims]\nroles = [\"servr\"]\ntransports = [\"http\"]\n\n[[known]]\ntest = \"[\"\n",
    );
    desk.run("run bad --cases cases").ends(2).is("mistakes-in-a-target");
    desk.write("bad/target.toml", "title = \n");
    desk.run("run bad --cases cases").ends(2).adds(&["bad/target.toml:1:"]);
}

/// A run of a few cases against one target.
fn run(desk: &Desk, name: &str, more: &str) -> Came {
    desk.run(&format!("run {name} --cases cases --jobs 1 {more}"))
}

#[test]
fn a_target_that_dies_at_its_start_shows_its_last_words() {
    let desk = Desk::new();
    let long = "for i in 1 2 3 4 5 6 7 8 9; do echo line $i of a trace that is long >&2; done; seq -s , 999 >&2; ";
    desk.script("dies", &format!("{long} echo the last words >&2; exit 7"), "");
    let came = run(&desk, "dies", "");
    came.ends(4).says(&["GONE  dies", "exit status 7", "the last words", "5 tests"]);
    assert!(came.out.lines().count() < 40, "{}", came.out);
    run(&desk, "dies", "--accept").ends(4);
    assert!(!desk.path().join("dies/snapshots").exists(), "what nobody saw was accepted");
    desk.target("nowhere", &["./no-such-program"], "");
    run(&desk, "nowhere", "").ends(4).says(&["no-such-program", "could not be started", "No such file"]);
}

#[test]
fn a_target_that_says_no_hello_or_less_than_was_claimed_is_not_used() {
    let desk = Desk::new();
    desk.script("silent", "echo still thinking >&2; exec sleep 1000", "");
    run(&desk, "silent", "--start-limit 300ms").ends(4).says(&["said nothing within the limit", "still thinking"]);
    let hello = r#"{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":["server"],"transports":["stdio"],"revisions":["2026-07-28"]}}"#;
    desk.script("boaster", &format!("read line; echo '{hello}'; cat"), "");
    run(&desk, "boaster", "").ends(4).says(&["target.toml claims the transport `http`", "has only: stdio"]);
}

#[test]
fn one_target_that_cannot_be_had_does_not_keep_the_others_from_running() {
    let desk = Desk::new();
    desk.script("dies", "exit 7", "");
    let came = run(&desk, "dies reference", "");
    came.ends(4).says(&["GONE  dies", "30 passed"]);
}

#[test]
fn a_setup_that_fails_shows_its_last_lines_and_starts_nothing() {
    let desk = Desk::new();
    let setup = |command: &str| format!("[setup]\ncommands = [[{command}]]\n");
    desk.script("unready", "echo x > started", &setup(r#""sh", "-c", "seq 30; echo no such luck >&2; exit 3""#));
    let came = run(&desk, "unready", "");
    came.ends(4).adds(&["unready: setting up: sh -c", "unready could not be set up", "exit status: 3", "no such luck"]);
    assert!(!desk.path().join("unready/started").exists());
    desk.script("nowhere", "true", &setup(r#""no-such-program""#));
    run(&desk, "nowhere", "").ends(4).adds(&["`no-such-program` can't be started", "is it installed"]);
    desk.script("loud", "true", &setup(r#""printf", "\\033[31mred\\n""#));
    assert!(!run(&desk, "loud", "").err.contains('\u{1b}'), "a target's escapes reach no terminal");
}

#[test]
fn setup_runs_once_and_again_when_what_it_depends_on_changes() {
    let desk = Desk::new();
    let setup = "[setup]\ncommands = [[\"sh\", \"-c\", \"echo x >> times\"]]\ninputs = [\"lock\"]\n";
    let setup_of = |name: &str, lock: &str| {
        desk.borrowed(name, None, setup);
        desk.write(&format!("{name}/lock"), lock);
        run(&desk, name, "").ends(0);
        desk.read(&format!("{name}/times")).lines().count()
    };
    assert_eq!([setup_of("t", "1"), setup_of("t", "1"), setup_of("t", "2"), setup_of("t", "2")], [1, 1, 2, 2]);
    desk.borrowed("t", None, setup);
    std::fs::remove_file(desk.path().join("t/lock")).expect("it is there");
    run(&desk, "t", "").ends(4).adds(&["lock"]);
}

#[test]
fn a_target_that_misbehaves_in_a_test_costs_that_test_and_the_run_goes_on() {
    let desk = Desk::new();
    for mode in ["dies", "mumbles", "hangs"] {
        desk.proxy(mode, mode);
        let came = run(&desk, mode, "--only post/letter --test-limit 1500ms");
        came.ends(1).is(&format!("target-that-{mode}"));
        // The snapshots have no lines about slow tests, which depend on the machine.
        assert!(
            mode != "hangs" || came.out.contains("slow  hangs  post/letter/sent/second@2026-07-28+http"),
            "{}",
            came.out
        );
    }
}

#[test]
fn a_smoke_test_says_what_an_adapter_should_have_answered() {
    let desk = Desk::new();
    let good = desk.run("smoke reference");
    good.ends(0).says(&["right   hello", "right   serve: echo over stdio", "right   closing its standard input"]);
    for drive in
        ["a list over stdio on 2025-06-18", "a call over http on 2025-11-25", "an elicitation over http on 2026-07-28"]
    {
        good.says(&[&format!("right   drive: {drive}")]);
    }
    assert!(!good.out.contains("WRONG"));
    desk.script("stopper", r#"while read line; do echo '{"id":"1","stopped":true}'; done"#, "");
    desk.run("smoke stopper").ends(4).says(&["WRONG   hello", "should be: {\"id\":\"1\",\"hello\":"]);
    let greeter =
        format!(r#"read hello; echo '{HELLO}'; while read line; do echo '{{"id":"2","stopped":true}}'; done"#);
    desk.script("greeter", &greeter, "");
    desk.run("smoke greeter").ends(4).is("smoke-greeter");
    desk.script("dies", "echo the last words >&2; exit 1", "");
    desk.run("smoke dies").ends(4).says(&["WRONG   hello", "the last words"]);
    desk.run("smoke referense").ends(2).adds(&["did you mean `reference`?"]);
}

const HELLO: &str = r#"{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":["server"],"transports":["http"],"revisions":["2026-07-28"]}}"#;

#[test]
fn the_environment_of_a_target_is_what_its_file_adds() {
    let desk = Desk::new();
    let script = format!("test \"$PARCEL\" = big && exec {PROGRAM} __adapter");
    desk.script("t", &script, "[env]\nPARCEL = \"big\"\n");
    run(&desk, "t", "").ends(0);
}
