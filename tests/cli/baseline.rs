//! `--baseline`: expected failures of the official suite excuse the checks that casebook has too.

use std::path::Path;

use crate::sandbox::{Finished, Sandbox};

/// A sandbox with the embedded cases about ping, so that a run of all cases is short.
fn sandbox(baseline: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    let embedded = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/lifecycle");
    for name in ["requirements.json", "server-ping.json"] {
        let text = std::fs::read_to_string(embedded.join(name)).expect("a case file");
        sandbox.write(&format!("cases/lifecycle/{name}"), &text);
    }
    sandbox.write("expected.yml", baseline);
    sandbox
}

fn run(sandbox: &Sandbox, target: &str, more: &str) -> Finished {
    sandbox.run(&format!("run {target} --cases cases --run-log run.jsonl {more}"))
}

const LISTED: &str = "# Ours.\nserver:\n  - ping # no reason yet\n  - resources-list\n\nclient: []\n";

#[test]
fn listed_failure_is_known_and_others_still_fail() {
    let sandbox = sandbox(LISTED);
    run(&sandbox, "reference:ping-unknown", "").exits(1);
    let excused = run(&sandbox, "reference:ping-unknown", "--baseline expected.yml");
    excused.exits(0).stdout_has(&["4 known", "listed in expected.yml: ping"]);
    excused.stderr_has(&[
        "baseline expected.yml: 1 of 2 entries have checks in casebook",
        "not in casebook: resources-list",
    ]);
    sandbox.run("replay run.jsonl --cases cases").exits(1);
    sandbox.run("replay run.jsonl --cases cases --baseline expected.yml").exits(0).stdout_has(&["4 known"]);
    sandbox.run("report run.jsonl --cases cases --check --report md=summary.md").exits(0);
    assert!(sandbox.read("summary.md").contains("listed in expected.yml&#58; ping"));

    // The list of clients excuses no server.
    sandbox.write("expected.yml", "client: [ping]\n");
    let other = run(&sandbox, "reference:ping-unknown", "--baseline expected.yml");
    other.exits(1).stderr_has(&["not in casebook: ping"]);
}

#[test]
fn line_that_excuses_nothing_is_stale() {
    let sandbox = sandbox(LISTED);
    let stale = run(&sandbox, "reference", "--baseline expected.yml");
    let words = "reference: none of the checks of expected.yml: ping fails any more; remove this line of the baseline";
    stale.exits(1).stdout_has(&[words]);
    sandbox.run("replay run.jsonl --cases cases --baseline expected.yml").exits(1).stdout_has(&[words]);
    sandbox.run("report run.jsonl --cases cases --check").exits(1);
    let known = sandbox.run("known run.jsonl --cases cases");
    assert!(!known.out.contains("# remove"), "the line is in no target.toml: {}", known.out);

    // One of both targets still fails.
    run(&sandbox, "reference reference:ping-unknown", "--baseline expected.yml").exits(0);
    // In a part of the tests, the failure may be elsewhere.
    run(&sandbox, "reference", "--baseline expected.yml --only lifecycle/server-ping@2025-11-25").exits(0);
    // Of tests that do not run, nothing is known.
    sandbox.write("expected.yml", "server: [caching]\n");
    run(&sandbox, "reference", "--baseline expected.yml").exits(0);
}

#[test]
fn baseline_that_cannot_be_read_starts_no_run() {
    let sandbox = sandbox("server:\n  - ping: slow\n");
    let refused = run(&sandbox, "reference", "--baseline expected.yml");
    refused.exits(2).stderr_has(&["expected.yml:2:5", "without a space after the colon", "no tests were run"]);
    let missing = run(&sandbox, "reference", "--baseline nothing.yml");
    missing.exits(2).stderr_has(&["cannot read this path: no such file or folder", "nothing.yml"]);
    sandbox.write("expected.yml", &"- \u{1b}[2J\n".repeat(1 << 18));
    let large = run(&sandbox, "reference", "--baseline expected.yml");
    large.exits(2).stderr_has(&["the file has more than 1 MiB"]);
}
