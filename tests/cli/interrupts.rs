//! Ctrl-C and SIGTERM during a run: casebook reports the tests that have ended, and no process stays.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::sandbox::Sandbox;

#[test]
fn interrupted_run_reports_ended_tests_and_cleans_up() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let sandbox = Sandbox::new();
        let mut run = sandbox.start("run reference:sleeps-1s --cases slow --run-log run.jsonl --jobs 2 --verbose");
        run.until("post/queue/listed/r01");
        run.signal(signal);
        run.until_interrupted();
        let (status, rest) = run.end();
        assert_eq!(status, Some(5), "{signal}: {rest}");
        assert!(rest.contains("INCOMPLETE: ") && rest.contains("of 31 tests were not run"), "{rest}");
        assert!(rest.contains("failed  post/arguments-checked"), "what was seen is reported: {rest}");
        let record = sandbox.read("run.jsonl");
        let lines: Vec<&str> = record.lines().collect();
        assert!((3..20).contains(&lines.len()), "{record}");
        let footer = lines.last().expect("a footer");
        assert!(
            footer.starts_with(&format!(r#"{{"footer":{{"ran":{},"interrupted":true"#, lines.len() - 2)),
            "{footer}"
        );
        assert_eq!(sandbox.survivors(), 0);
        sandbox.run("replay run.jsonl --cases slow").exits(5).stdout_has(&["INCOMPLETE: "]);
    }
}

#[test]
fn second_signal_ends_a_run_at_once() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let sandbox = Sandbox::new();
        sandbox.proxy("hangs", "hangs");
        let arguments = "run hangs --cases cases --run-log run.jsonl --only post/letter --limit test=10m --jobs 1";
        let mut run = sandbox.start(arguments);
        // Wait for the test that hangs; on a busy machine the test before it may be slow too.
        run.until("sent/second@2026-07-28+http still runs after");
        let began = Instant::now();
        run.signal(signal);
        run.until_interrupted();
        run.signal(signal);
        let (status, rest) = run.end();
        assert!(began.elapsed() < Duration::from_secs(10), "it waited for the test");
        assert_eq!(status, Some(5), "{signal}: {rest}");
        assert!(rest.contains("INCOMPLETE: 2 of 3 tests were not run"), "{rest}");
        let record = sandbox.read("run.jsonl");
        assert!(record.lines().last().is_some_and(|line| line.contains(r#""interrupted":true"#)), "{record}");
        assert_eq!(sandbox.survivors(), 0);
    }
}

#[test]
fn interrupted_setup_ends_with_all_its_processes() {
    let waiting = "sleep 1000 & setsid sleep 1000 & echo waiting; sleep 1000";
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let sandbox = Sandbox::new();
        sandbox.borrowed("t", None, &format!("[setup]\ncommands = [[\"sh\", \"-c\", \"{waiting}\"]]\n"));
        let mut run = sandbox.start("run t --cases cases");
        assert!(run.err.any(|line| line == "t: waiting"));
        run.signal(signal);
        assert_eq!(run.end().0, Some(5), "{signal}");
        assert_eq!(sandbox.survivors(), 0, "{signal}");
    }
}

#[test]
fn leftover_processes_of_a_setup_end_before_the_target() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "[setup]\ncommands = [[\"sh\", \"-c\", \"sleep 1000 & setsid sleep 1000 &\"]]\n");
    sandbox.run("run t --cases cases --only post/letter").exits(0);
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn killed_run_leaves_an_incomplete_run_log() {
    let sandbox = Sandbox::new();
    let mut run = sandbox.start("run reference:sleeps-1s --cases slow --run-log run.jsonl --jobs 1 --verbose");
    run.until("post/queue/listed/r01");
    run.signal(Signal::SIGKILL);
    assert_eq!(run.end().0, None);
    sandbox.run("replay run.jsonl --cases slow").exits(5).stdout_has(&["INCOMPLETE: ", "of 31 tests were not run"]);
    assert_eq!(sandbox.survivors(), 0);
}
