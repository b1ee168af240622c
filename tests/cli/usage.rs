//! Wrong command lines: each answer names the mistake and the remedy. Output that cannot be written is an error.

#[cfg(target_os = "linux")]
use std::fs::File;

#[cfg(target_os = "linux")]
use crate::process::Running;
use crate::sandbox::{Finished, Sandbox};

/// A wrong command line, and parts of the answer.
type Mistake = (&'static str, &'static [&'static str]);

const MISTAKES: &[Mistake] = &[
    ("rnu", &["unrecognized subcommand 'rnu'"]),
    ("run referenc", &["`referenc`", "did you mean `reference`?"]),
    ("run t:hihg", &["no variant `hihg`", "did you mean `t:high`?"]),
    ("run cases/post/letter.json", &["is not a TOML file; name the folder of the target, or its target.toml"]),
    ("run ./cases", &["the folder ./cases has no target.toml"]),
    ("run cases", &["the folder cases has no target.toml"]),
    ("run reference:input-not-validatd", &["no mutant `input-not-validatd`", "did you mean `input-not-validated`?"]),
    ("run reference:validated-input", &["similar names: input-not-validated, "]),
    ("run --cases cases --only post/leter", &["`post/leter` matches no test", "post/letter"]),
    ("run --cases cases --only zzz", &["`casebook list`"]),
    ("run --revision 2025-11-52", &["'2025-11-52'", "2025-06-18, 2025-11-25, 2026-07-28"]),
    ("run --transport htp", &["stdio, http", "'http'"]),
    ("run --shard 3/2", &["expected K/N, with K from 1 to N: 2/5 is the second of five shards"]),
    ("run --jobs 0", &["expected a whole number, at least 1, as in --jobs 4"]),
    ("run --retries -1", &["expected a whole number from 0 to 100, as in --retries 2"]),
    ("run --limit step=10", &["expected a time with its unit", "10s"]),
    ("run --limit step=-1s", &["expected a time with its unit", "10s"]),
    ("run --limit step", &["the time is missing; write step=TIME, as in step=10s"]),
    ("run --limit stp=10s", &["with a KIND of step, test, start, run, as in run=2m; did you mean `step`?"]),
    ("pair reference reference --limit silence=1s", &["with a KIND of step, test, start, run"]),
    ("serve --case post/letter --limit step=1s", &["with a KIND of run, silence"]),
    ("run --report md", &["write md=FILE, as in md=report.md"]),
    ("run --report junit", &["write junit=FILE, as in junit=junit.xml"]),
    ("run --report junit.xml", &["did you mean `junit=junit.xml`?"]),
    ("report shrad-*.jsonl", &["no file matches shrad-*.jsonl; the shell did not expand the pattern"]),
    ("list --cases cases post/**@2026-07-28+htp", &["`htp` is not a transport: expected stdio or http"]),
    ("run --report jsn=x", &["html, junit, md, history, json, badge", "did you mean `json`?"]),
    ("run --report github", &["write github=FILE, as in github=-"]),
    ("run --report github=notes.txt", &["GitHub reads annotations from standard output; write github=-"]),
    ("report run.jsonl --report site=-", &["a site is a folder; write site=DIR"]),
    ("run --report pairs=p.html", &["no results of pairs", "`casebook pair CLIENT SERVER --report pairs=FILE`"]),
    ("run --report md=-", &["`casebook report RUN_LOG --report md=-`"]),
    ("run --cases cases --set 2026.11", &["sets/2026.11.json", "did you mean `2026.1`?"]),
    ("coverage --sep 9999", &["no requirement of SEP 9999", "1034"]),
    ("coverage --format sep-yaml", &["add --sep N"]),
    ("prove --only-mutants zzz", &["no mutant `zzz`", "`casebook targets --format json`"]),
    ("report nowhere.jsonl", &["cannot read nowhere.jsonl"]),
    ("replay cases/post/letter.json", &["cases/post/letter.json is not a run log"]),
    ("freeze 2026.1 --cases cases", &["sets/2026.1.json already exists", "choose another name"]),
    ("drive reference post/letter", &["`post/letter`, is not a URL", "http://"]),
];

const VARIANTS: &str = "[variants.low]\n\n[variants.high]\n";

#[test]
fn wrong_command_line_is_answered_with_a_remedy() {
    let sandbox = Sandbox::new();
    sandbox.target("t", &["true"], VARIANTS);
    sandbox.run("freeze 2026.1 --cases cases").exits(0);
    for (arguments, answer) in MISTAKES {
        sandbox.run(arguments).exits(2).stderr_has(answer);
    }
    for wrong in ["", " "] {
        let mut command = sandbox.command("run --cases cases");
        Finished::of(command.arg(wrong)).exits(2).stderr_has(&["name of the target is empty (an unset variable?)"]);
        let mut command = sandbox.command("run --cases cases --only");
        Finished::of(command.arg(wrong)).exits(2).stderr_has(&["the pattern is empty", "casebook list"]);
    }
}

#[test]
fn serve_with_a_path_proposes_names_that_work() {
    let sandbox = Sandbox::new();
    sandbox.target("t", &["true"], VARIANTS);
    std::fs::create_dir(sandbox.path().join("deep")).expect("a folder");
    let in_deep = |arguments: &str| Finished::of(sandbox.command(arguments).current_dir(sandbox.path().join("deep")));
    in_deep("serve ../t ../cases/post/letter.json").exits(2).stderr_has(&["choose one:\n  ../t:low\n  ../t:high"]);
    let fixtures = in_deep("serve reference ../cases/post/letter.json");
    fixtures.exits(2).stderr_has(&["3 fixtures", "  post/letter/sent/first --cases ../cases\n"]);
    // The proposed variant is found: the next mistake is the fixture.
    in_deep("serve ../t:low ../cases/post/letter.json").exits(2).stderr_has(&["3 fixtures"]);
}

#[test]
fn diff_of_one_side_is_refused() {
    let sandbox = Sandbox::new();
    let only = "--cases cases --only post/letter --jobs 1";
    sandbox.run(&format!("run reference {only} --run-log one.jsonl")).exits(0);
    sandbox.run(&format!("run reference reference:sleeps-1s {only} --run-log two.jsonl"));
    sandbox.run("diff one.jsonl --cases cases").exits(2).stderr_has(&["casebook diff one.jsonl OTHER.jsonl"]);
    let two = sandbox.run("diff two.jsonl --cases cases");
    two.exits(2).stderr_has(&["--target reference --target reference:sleeps-1s"]);
    sandbox.run("diff one.jsonl one.jsonl --cases cases").exits(0);
}

#[test]
fn last_line_of_a_run_names_its_targets() {
    let sandbox = Sandbox::new();
    let last = |arguments: &str| {
        let ran = sandbox.run(&format!("run {arguments} --cases cases --only post/letter --jobs 1"));
        ran.out.lines().last().unwrap_or_default().to_owned()
    };
    let unnamed = last("");
    assert!(unnamed.contains(" tests of reference in "), "{unnamed}");
    assert!(unnamed.ends_with("no SDK was tested, only casebook's own reference: name one, as in casebook run go-sdk"));
    let named = last("reference");
    assert!(named.contains(" tests of reference in ") && !named.contains("no SDK"), "{named}");
    sandbox.borrowed("t", None, "");
    let two = last("reference t");
    assert!(two.contains(" tests of 2 targets (reference, t) in "), "{two}");
}

#[test]
fn help_is_available_as_a_command_and_as_an_option() {
    let sandbox = Sandbox::empty();
    let long = sandbox.run("help run");
    long.exits(0).stdout_has(&["Usage: casebook run", "Examples:", "Select tests:", "Execution:"]);
    assert_eq!(long.out, sandbox.run("run --help").out);
    assert!(sandbox.run("run -h").out.len() < long.out.len());
    sandbox.run("help").exits(0).stdout_has(&["Exit statuses:", "\n  prove "]);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let sandbox = Sandbox::new();
    let runs = "run reference reference:input-not-validated --cases cases --only post/parcel --jobs 1";
    sandbox.run(&format!("{runs} --run-log run.jsonl"));
    for arguments in [
        "help",
        "help run",
        "--version",
        "list",
        "coverage",
        "targets",
        "explain post/letter --cases cases",
        "explain tools/list --wire 2026-07-28",
        "lint --short nowhere",
        "prove --only-mutants cursor-ignored",
        "report run.jsonl --cases cases",
        "report run.jsonl --cases cases --report github=-",
        "diff run.jsonl#reference run.jsonl#reference:input-not-validated --cases cases",
        "replay run.jsonl --cases cases",
        "issue post/parcel reference:input-not-validated --cases cases --run-log run.jsonl",
        "smoke reference",
        "freeze 2026.1 --cases cases",
        "new sep-1 --cases mine",
        "run reference --cases cases --only post/letter --jobs 1",
    ] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = sandbox.command(arguments);
        let mut run = Running::with_outputs(command.stdout(full).stderr(std::process::Stdio::piped()));
        let stderr = run.err.by_ref().collect::<Vec<_>>().join("\n");
        assert_eq!(run.end().0, Some(6), "{arguments}: {stderr}");
        assert_eq!(stderr.matches("cannot write standard output: ").count(), 1, "{arguments}: {stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn run_without_home_uses_the_named_cache_folder() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("run reference --cases cases --only post/letter --jobs 1");
    let ran = Finished::of(command.env_remove("HOME"));
    ran.exits(0).stderr_has(&["run log: ", "/cache/casebook/"]);
    let mut command = sandbox.command("run go-sdk --cases cases");
    let unknown = Finished::of(command.env("HOME", "relative").env_remove("XDG_CACHE_HOME"));
    unknown.exits(71).stderr_has(&["cannot unpack the embedded target go-sdk", "set HOME or XDG_CACHE_HOME"]);
}
