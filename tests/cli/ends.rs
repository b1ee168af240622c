//! The end of a run: in time, without leftover processes, and with all ended tests on disk.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::process::{Running, behind, output};
use crate::sandbox::{PROGRAM, Sandbox};

/// A server that ignores the end of its input and SIGTERM, with a child in another process group that does the same.
const STAYS: &str = r#"
case $1 in
    --stdio-server)
        trap '' TERM HUP
        setsid sh -c "trap '' TERM HUP; while :; do sleep 1000; done" &
        while :; do sleep 1000; done ;;
esac
exec "$CASEBOOK" __adapter
"#;

/// The command that makes another one react to a hangup, even if the tests run under `nohup`.
pub(crate) const HEEDS_HANGUP: &[&str] = &["env", "--default-signal=HUP"];

/// Writes a target over stdio on the newest revision: a shell script that receives the arguments of the adapter.
fn over_stdio(sandbox: &Sandbox, name: &str, script: &str) {
    let command = serde_json::to_string(&["sh", "-c", script, "sh"]).expect("strings");
    let claims = "roles = [\"server\"]\ntransports = [\"stdio\"]\nrevisions = [\"2026-07-28\"]";
    let env = format!("env = {{ CASEBOOK = {PROGRAM:?} }}");
    sandbox.write(
        &format!("{name}/target.toml"),
        &format!("title = \"A target\"\ncommand = {command}\n{env}\n\n[claims]\n{claims}\n"),
    );
}

fn is_empty(folder: &std::path::Path) -> bool {
    fs::read_dir(folder).expect("it can be listed").next().is_none()
}

#[test]
fn run_out_of_time_stops_and_reports_ended_tests() {
    let sandbox = Sandbox::new();
    sandbox.proxy("hangs", "hangs");
    let limits = "--limit step=10m --limit test=10m --limit run=6s";
    let began = Instant::now();
    let ran = sandbox.run(&format!("run hangs --cases cases --only post/letter --run-log run.jsonl --jobs 1 {limits}"));
    ran.exits(5).stdout_has(&["INCOMPLETE: "]).stderr_has(&["out of time: stopping after 6s"]);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_eq!(sandbox.survivors(), 0);
    let record = sandbox.read("run.jsonl");
    assert!(record.lines().last().is_some_and(|line| line.contains(r#""interrupted":true"#)), "{record}");
}

#[test]
fn run_that_waits_for_another_setup_ends_in_time() {
    let sandbox = Sandbox::new();
    sandbox.borrowed("t", None, "[setup]\ncommands = [[\"true\"]]\n");
    sandbox.write("t/.casebook-setup", "");
    let holding = ["--no-fork", "t/.casebook-setup", "sh", "-c", "echo held; exec sleep 60"];
    let mut holder = Command::new("flock");
    let mut holder = Running::with_outputs(holder.args(holding).current_dir(sandbox.path()).stdout(Stdio::piped()));
    holder.until("held");
    let began = Instant::now();
    let ran = sandbox.run("run t --cases cases --limit run=1s");
    let took = began.elapsed();
    holder.kill();
    ran.exits(5).stderr_has(&["interrupted while t was set up"]);
    assert!(took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn no_process_or_file_is_left_after_any_end_of_a_run() {
    let sandbox = Sandbox::new();
    over_stdio(&sandbox, "stays", STAYS);
    let tmp = sandbox.path().join("tmp");
    fs::create_dir(&tmp).expect("a folder");
    let with_tmp = |arguments: &str| {
        let status = output(sandbox.command(arguments).env("TMPDIR", &tmp)).status.code();
        assert_eq!(sandbox.survivors(), 0, "{arguments}");
        assert!(is_empty(&tmp), "{arguments}");
        status
    };
    assert_eq!(with_tmp("run reference --cases cases --transport stdio"), Some(0));
    assert_eq!(with_tmp("run reference:input-not-validated --cases cases --transport stdio"), Some(1));
    assert_eq!(with_tmp("run stays --cases cases --only post/letter --limit test=1s --stdio process"), Some(1));
    let ends: [&[Signal]; 3] =
        [&[Signal::SIGINT, Signal::SIGINT], &[Signal::SIGTERM, Signal::SIGTERM], &[Signal::SIGHUP]];
    for signals in ends {
        let arguments =
            "run stays --cases cases --stdio process --run-log run.jsonl --limit step=10m --limit test=10m --jobs 1";
        let mut command = sandbox.command(arguments);
        command.env("TMPDIR", &tmp);
        let mut run = Running::start(behind(HEEDS_HANGUP, &command));
        run.until("still runs after");
        assert!(!is_empty(&tmp), "the fixture is in a file");
        for (place, signal) in signals.iter().enumerate() {
            if place > 0 {
                run.until_interrupted();
            }
            run.signal(*signal);
        }
        assert_eq!(run.end().0, Some(5), "{signals:?}");
        assert_eq!(sandbox.survivors(), 0, "{signals:?}");
        assert!(is_empty(&tmp), "{signals:?}");
        sandbox.run("replay run.jsonl --cases cases").exits(5);
    }
}

#[test]
fn run_under_nohup_survives_a_hangup() {
    let sandbox = Sandbox::new();
    let rows = "--only post/queue/listed/r01 --only post/queue/called/r02";
    let arguments = format!("run reference:sleeps-1s --cases slow --run-log run.jsonl --verbose {rows}");
    let ignoring = ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""];
    let mut run = Running::start(behind(&ignoring, &sandbox.command(&arguments)));
    run.until("post/queue/listed/r01");
    run.signal(Signal::SIGHUP);
    let (status, rest) = run.end();
    assert_eq!(status, Some(1), "{rest}");
    assert!(sandbox.read("run.jsonl").lines().last().is_some_and(|line| line.contains(r#""interrupted":false"#)));
}

#[test]
fn test_is_on_disk_before_the_next_test_of_its_worker() {
    let sandbox = Sandbox::new();
    // Each fixture has its own process, which counts the lines of the run log when it starts.
    let counts = "[ \"$1\" = --stdio-server ] && wc -l < ../run.jsonl >> ../seen; exec \"$CASEBOOK\" __adapter \"$@\"";
    over_stdio(&sandbox, "counts", counts);
    sandbox.run("run counts --cases cases --only post/letter --stdio process --run-log run.jsonl --jobs 1").exits(0);
    assert_eq!(sandbox.read("seen"), "1\n2\n3\n");
}
