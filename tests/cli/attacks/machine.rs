//! A machine that has nothing left to give: what can't be asked is unavailable, and the rest is run and reported.

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
fn without_inotify_tests_with_files_are_unavailable_and_others_run() {
    let sandbox = Sandbox::empty();
    let none_left = ["unshare", "-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$@\"", "-"];
    if !succeeds(&mut behind(&none_left, &sandbox.command("--version"))) {
        skip("this user may make no namespace");
        return;
    }
    let reports = "--record run.jsonl --report junit=junit.xml --report md=summary.md";
    let only = "--only sep-2106/unresolved-ref --only sep-2106/composition";
    let came = Finished::of(&mut behind(&none_left, &sandbox.command(&format!("run reference {only} {reports}"))));
    came.exits(1).stdout_has(&["the harness cannot watch files: "]);
    let (blind, seen): (Vec<_>, Vec<_>) =
        records(&sandbox).into_iter().partition(|record| record["observation"]["unavailable"].is_string());
    assert!(!blind.is_empty() && seen.len() > blind.len(), "{} unavailable, {} seen", blind.len(), seen.len());
    for record in &blind {
        let is_passed = |verdict: &Value| verdict["kind"] == "pass";
        assert!(!record["verdicts"].as_array().is_some_and(|verdicts| verdicts.iter().any(is_passed)), "{record}");
        assert_eq!(record["bug"], Value::Null, "{record}");
    }
    assert!(sandbox.read("junit.xml").contains("cannot watch files") && !sandbox.read("summary.md").is_empty());
}

#[test]
fn with_few_descriptors_a_run_ends_with_a_status_of_its_own() {
    let sandbox = Sandbox::empty();
    let mut statuses = Vec::new();
    for number in [6, 8, 10, 12, 14, 16, 18, 20, 24, 32, 48] {
        let limit = format!("ulimit -n {number}; exec \"$@\"");
        let arguments = "run reference --only sep-2106/external-ref --record run.jsonl --step-limit 2s";
        let came = Finished::of(&mut behind(&["bash", "-c", &limit, "-"], &sandbox.command(arguments)));
        let status = came.status.unwrap_or_else(|| panic!("{number} descriptors: {}", came.err));
        assert!([0, 1, 4, 71].contains(&status), "{number} descriptors: {status}\n{}\n{}", came.out, came.err);
        statuses.push(status);
    }
    assert_eq!(statuses.last(), Some(&0), "{statuses:?}");
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn with_few_threads_a_run_ends_with_a_status_of_its_own() {
    if !has_two_users() {
        return;
    }
    let sandbox = Sandbox::empty();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(sandbox.path(), open).expect("it is ours");
    // The limit is one of a user's, and none of root's.
    let nobody = ["setpriv", "--reuid=65534", "--clear-groups", "bash", "-c"];
    let as_nobody =
        |shell: &str, arguments: &str| behind(&[&nobody[..], &[shell, "-"]].concat(), &sandbox.command(arguments));
    if !succeeds(&mut as_nobody("exec \"$@\"", "--version")) {
        skip("nobody can't execute the program from where it is");
        return;
    }
    for number in [1, 2, 3, 4, 5, 6, 8] {
        let limit = format!("ulimit -u {number}; exec \"$@\"");
        let arguments = "run reference --only sep-2106/composition/rejects/any-of --transport http --record run.jsonl";
        let came = Finished::of(&mut as_nobody(&limit, arguments));
        let status = came.status.unwrap_or_else(|| panic!("{number} threads: {}", came.err));
        assert!([0, 1, 4, 71].contains(&status), "{number} threads: {status}\n{}\n{}", came.out, came.err);
    }
    assert_eq!(sandbox.survivors(), 0);
}
