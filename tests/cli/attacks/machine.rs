//! Machines without resources: tests that cannot run are unavailable, and all others run and are reported.

use serde_json::Value;

use super::has_two_users;
use crate::process::{behind, succeeds};
use crate::sandbox::{Finished, Sandbox, skip};

fn records(sandbox: &Sandbox) -> Vec<Value> {
    let lines = sandbox.read("run.jsonl");
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.map(|line| line["record"].clone()).filter(|record| !record.is_null()).collect()
}

#[test]
fn machine_without_inotify_makes_only_file_tests_unavailable() {
    let sandbox = Sandbox::empty();
    let without_inotify =
        ["unshare", "-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$@\"", "-"];
    if !succeeds(&mut behind(&without_inotify, &sandbox.command("--version"))) {
        skip("this user cannot create a namespace");
        return;
    }
    let reports = "--run-log run.jsonl --report junit=junit.xml --report md=summary.md";
    let only = "--only sep-2106/unresolved-ref --only sep-2106/composition";
    let finished =
        Finished::of(&mut behind(&without_inotify, &sandbox.command(&format!("run reference {only} {reports}"))));
    finished.exits(1).stdout_has(&["casebook cannot watch canary files: "]);
    let (unavailable, observed): (Vec<_>, Vec<_>) =
        records(&sandbox).into_iter().partition(|record| record["observation"]["unavailable"].is_string());
    assert!(
        !unavailable.is_empty() && observed.len() > unavailable.len(),
        "{} unavailable, {} observed",
        unavailable.len(),
        observed.len()
    );
    for record in &unavailable {
        let is_passed = |verdict: &Value| verdict["kind"] == "pass";
        assert!(!record["verdicts"].as_array().is_some_and(|verdicts| verdicts.iter().any(is_passed)), "{record}");
        assert_eq!(record["bug"], Value::Null, "{record}");
    }
    assert!(sandbox.read("junit.xml").contains("cannot watch canary files") && !sandbox.read("summary.md").is_empty());
}

#[test]
fn run_with_few_descriptors_ends_with_a_known_status() {
    let sandbox = Sandbox::empty();
    let mut statuses = Vec::new();
    for number in [6, 8, 10, 12, 14, 16, 18, 20, 24, 32, 48] {
        let limit = format!("ulimit -n {number}; exec \"$@\"");
        let arguments = "run reference --only sep-2106/external-ref --run-log run.jsonl --limit step=2s";
        let finished = Finished::of(&mut behind(&["bash", "-c", &limit, "-"], &sandbox.command(arguments)));
        let status = finished.status.unwrap_or_else(|| panic!("{number} descriptors: {}", finished.err));
        assert!([0, 1, 4, 71].contains(&status), "{number} descriptors: {status}\n{}\n{}", finished.out, finished.err);
        statuses.push(status);
    }
    assert_eq!(statuses.last(), Some(&0), "{statuses:?}");
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn run_with_few_threads_ends_with_a_known_status() {
    if !has_two_users() {
        return;
    }
    let sandbox = Sandbox::empty();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(sandbox.path(), open).expect("it is ours");
    // The limit applies to users other than root.
    let nobody = ["setpriv", "--reuid=65534", "--clear-groups", "bash", "-c"];
    let as_nobody =
        |shell: &str, arguments: &str| behind(&[&nobody[..], &[shell, "-"]].concat(), &sandbox.command(arguments));
    if !succeeds(&mut as_nobody("exec \"$@\"", "--version")) {
        skip("the user nobody cannot execute the program");
        return;
    }
    for number in [1, 2, 3, 4, 5, 6, 8] {
        let limit = format!("ulimit -u {number}; exec \"$@\"");
        let arguments = "run reference --only sep-2106/composition/rejects/any-of --transport http --run-log run.jsonl";
        let finished = Finished::of(&mut as_nobody(&limit, arguments));
        let status = finished.status.unwrap_or_else(|| panic!("{number} threads: {}", finished.err));
        assert!([0, 1, 4, 71].contains(&status), "{number} threads: {status}\n{}\n{}", finished.out, finished.err);
    }
    assert_eq!(sandbox.survivors(), 0);
}
