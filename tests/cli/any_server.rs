//! Servers without an adapter that have one fault each, of those that people report: each is found in the words of its own
//! sentence, and a sound server passes.

use std::process::{Command, Stdio};

use crate::process::Running;
use crate::sandbox::{Finished, Sandbox};

const ODD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/odd.py");

/// The ways of a server over stdio, each with the exit status and words of the output.
const OVER_STDIO: [(&str, i32, &[&str]); 24] = [
    ("sound", 0, &[" 0 MUSTs violated, 0 SHOULDs violated"]),
    (
        "crashes",
        1,
        &["messages/request-answered", "the server ended or hung: any-server/results/called@2025-11-25+stdio"],
    ),
    (
        "hangs",
        1,
        &["messages/request-answered", "the server ended or hung: any-server/results/called@2025-11-25+stdio"],
    ),
    (
        "ascii-alone",
        1,
        &["messages/request-answered", "the server ended or hung: any-server/results/called@2025-11-25+stdio"],
    ),
    ("decline-crashes", 1, &["messages/request-answered", "the server ended or hung: any-server/results/called"]),
    ("asks-again", 1, &["messages/request-answered", "the server ended or hung: any-server/results/"]),
    (
        "cancellation-ends",
        1,
        &["warned  lifecycle/invalid-cancellation-ignored", "the server ended or hung: lifecycle/"],
    ),
    ("progress-back", 1, &["failed  base/progress-increases", "the progress 1 follows 2", " 1 MUST violated"]),
    (
        "result-for-nobody",
        1,
        &["failed  messages/result-has-the-id", "the id 9999, which no request had", " 1 MUST violated"],
    ),
    (
        "cancels-the-list",
        1,
        &["failed  lifecycle/own-requests-cancelled", "the server cancels the request ", " 1 MUST violated"],
    ),
    ("method-as-number", 0, &["noted  messages/types-kept", "`method` is 5, expected a string"]),
    ("image-as-text", 0, &["noted  messages/types-kept", "`result.content[0].data` of the reply"]),
    ("announces", 1, &["failed  lifecycle/negotiated-capabilities-only", " 1 MUST violated"]),
    ("progresses", 1, &["failed  base/progress-wanted", " 1 MUST violated"]),
    ("error-id-null", 1, &["failed  messages/error-has-the-id", " 1 MUST violated"]),
    ("any-version", 1, &["failed  lifecycle/other-version", "1900-01-01"]),
    ("notification-answered", 1, &["failed  messages/notifications-get-no-response"]),
    ("probe-poisons", 0, &["noted  lifecycle/opened-after-a-probe", "the server is initialized already"]),
    ("envelope-unanswered", 0, &["noted  messages/failure-answered", r#""method":7"#]),
    ("cursor-null", 0, &["noted  messages/types-kept", "`result.nextCursor` of the reply is null, expected a string"]),
    ("latin-1", 1, &["failed  messages/utf-8", "the bytes of a message are not UTF-8"]),
    ("hint-as-text", 0, &["noted  messages/types-kept", "`result.tools[0].annotations.readOnlyHint` of the reply is"]),
    (
        "tools-undeclared",
        1,
        &["failed  tools/capability-declared", "`result.capabilities.tools` of the reply is missing"],
    ),
    ("capabilities-missing", 1, &["failed  lifecycle/server-named", "`result.capabilities` of the reply is missing"]),
];

/// The ways of a server over Streamable HTTP. A server that refuses the second handshake breaks one sentence.
const OVER_HTTP: [(&str, i32, &[&str]); 6] = [
    ("sound", 0, &[" 0 MUSTs violated, 0 SHOULDs violated"]),
    ("ping-in-stream", 0, &[" 0 MUSTs violated, 0 SHOULDs violated"]),
    ("text-on-get", 0, &[" 0 MUSTs violated, 0 SHOULDs violated"]),
    ("cancellation-refused", 0, &[" 0 MUSTs violated, 0 SHOULDs violated"]),
    (
        "loose",
        1,
        &[
            "failed  http/origin-checked",
            "failed  http/invalid-version-status",
            "failed  http/notification-taken",
            "3 MUSTs violated",
        ],
    ),
    (
        "one-session",
        1,
        &[
            "failed  lifecycle/server-named",
            "`initialize` was answered with the error the server is initialized already",
            "1 MUST violated",
        ],
    ),
];

fn run(sandbox: &Sandbox, words: &[&str]) -> Finished {
    let mut command = sandbox.command("run --call * --run-log run.jsonl");
    Finished::of(command.args(words))
}

fn check(done: &Finished, way: &str, status: i32, words: &[&str]) {
    assert_eq!(done.status, Some(status), "{way}: {}{}", done.out, done.err);
    done.exits(status).stdout_has(words);
}

#[test]
fn fault_of_a_server_over_stdio_is_found_in_its_own_words() {
    for (way, status, words) in OVER_STDIO {
        let sandbox = Sandbox::empty();
        check(&run(&sandbox, &["--limit", "step=2s", "--", "python3", "-S", "-I", ODD, way]), way, status, words);
    }
}

#[test]
fn fault_of_a_running_server_is_found_in_its_own_words() {
    for (way, status, words) in OVER_HTTP {
        let mut command = Command::new("python3");
        let mut server = Running::with_outputs(command.args([ODD, way, "http"]).stdout(Stdio::piped()));
        let url = server.out.next().expect("its URL");
        let sandbox = Sandbox::empty();
        check(&run(&sandbox, &[&url]), way, status, words);
        server.kill();
    }
}
