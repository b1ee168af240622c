//! `casebook pair`: clients with servers, the side at which a pair fails, and the report.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::sandbox::{Finished, Sandbox};

/// The verdicts of a run log that do not hold, with their tests and pairs.
fn broken(sandbox: &Sandbox, log: &str) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for line in sandbox.read(log).lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let Some(record) = line.get("record") else { continue };
        let text = |key: &str| record[key].as_str().expect("a text").to_owned();
        for verdict in record["verdicts"].as_array().expect("verdicts") {
            if matches!(verdict["kind"].as_str(), Some("fail" | "warn" | "note")) {
                found.push((text("target"), text("test"), verdict.clone()));
            }
        }
    }
    found
}

/// The features that are broken for a pair.
fn features(broken: &[(String, String, Value)], pair: &str) -> BTreeSet<String> {
    let own = broken.iter().filter(|(target, ..)| target == pair);
    own.map(|(_, test, _)| test.split('/').nth(1).expect("a case file").to_owned()).collect()
}

fn run(sandbox: &Sandbox, sides: &str, more: &str) -> Finished {
    sandbox.run(&format!("pair {sides} --run-log pairs.jsonl {more}"))
}

#[test]
fn reference_works_with_itself_over_both_transports() {
    let sandbox = Sandbox::empty();
    let finished = run(&sandbox, "reference reference", "--strict --report pairs=pairs.html --report pairs=pairs.md");
    finished.exits(0).stdout_has(&["100 % of the checks hold", "in 1 pair"]);
    let log = sandbox.read("pairs.jsonl");
    for how in ["2025-11-25+http", "2025-11-25+stdio", "2026-07-28+http", "2026-07-28+stdio"] {
        assert!(log.contains(&format!("pairs/values/typed@{how}")), "{how}");
    }
    assert!(broken(&sandbox, "pairs.jsonl").is_empty());
    assert!(sandbox.read("pairs.html").contains("<strong>100 %</strong> of the checks hold"));
    assert!(sandbox.read("pairs.md").starts_with("100 % of the checks hold"));
}

/// Mutants, with the features that they break, the place and the sentence.
type Broken = (&'static str, &'static [&'static str], &'static str, Option<&'static str>);

const SERVERS: [Broken; 9] = [
    ("structured-lost", &[], "the reply does not have what the tool returned", None),
    (
        "array-wrapped-in-result",
        &["any-values"],
        "the reply does not have what the tool returned",
        Some("sep-2106/any-json-value"),
    ),
    (
        "failure-as-success",
        &["errors"],
        "the reply does not have what the tool returned",
        Some("sep-1303/failures-are-tool-errors"),
    ),
    (
        "enum-turned-into-text",
        &["choices"],
        "the question does not have what the tool asked",
        Some("elicitation/field-kept"),
    ),
    (
        "any-version-agreed",
        &["revisions"],
        "a message that the other side need not accept",
        Some("lifecycle/other-version"),
    ),
    (
        "decline-unforeseen",
        &["forms"],
        "the reply does not have what the tool returned",
        Some("elicitation/action-arrives"),
    ),
    (
        "responds-on-get-stream",
        &[],
        "a message that the other side need not accept",
        Some("lifecycle/get-stream-no-response"),
    ),
    ("session-id-with-space", &[], "a message that the other side need not accept", Some("http/session-id-characters")),
    (
        "outputs-closed",
        &["values"],
        "the listed schema is not the one that the author gave",
        Some("tools/output-schema-kept"),
    ),
];

const CLIENTS: [Broken; 6] = [
    ("structured-lost-by-client", &[], "the user did not get what the reply has", None),
    (
        "multi-select-flattened",
        &["choices"],
        "the answer does not have what the user answered",
        Some("sep-1330/choice-sent"),
    ),
    ("accept-json-only", &[], "a message that the other side need not accept", Some("http/accept-lists-both")),
    ("state-dropped", &[], "a message that the other side need not accept", Some("sep-2322/state-echoed")),
    (
        "is-error-lost",
        &["errors"],
        "the user did not get what the reply has",
        Some("sep-1303/tool-errors-reach-the-user"),
    ),
    ("elicitation-undeclared", &[], "a message that the other side need not accept", None),
];

/// Runs mutants on one side, and checks that only their cells are broken, and that each loss is theirs.
fn check(side: &str, mutants: &[Broken]) {
    let sandbox = Sandbox::empty();
    let names: Vec<_> = mutants.iter().map(|(name, ..)| format!("reference:{name}")).collect();
    let both = format!("reference,{}", names.join(","));
    let sides = if side == "client" { format!("{both} reference") } else { format!("reference {both}") };
    let finished = run(&sandbox, &sides, "--transport http");
    finished.exits(0);
    let broken = broken(&sandbox, "pairs.jsonl");
    assert_eq!(features(&broken, "reference+reference"), BTreeSet::new());
    for (mutant, expected, place, sentence) in mutants {
        let (client, server) = if side == "client" {
            (format!("reference:{mutant}"), "reference".to_owned())
        } else {
            ("reference".to_owned(), format!("reference:{mutant}"))
        };
        let pair = format!("{client}+{server}");
        let found = features(&broken, &pair);
        assert!(!found.is_empty(), "{pair} breaks nothing");
        if !expected.is_empty() {
            assert_eq!(found, expected.iter().map(|name| (*name).to_owned()).collect(), "{pair}");
        }
        let own: Vec<_> = broken.iter().filter(|(target, ..)| *target == pair).collect();
        for (_, test, verdict) in &own {
            assert_eq!(verdict["attribution"]["side"], side, "{pair} {test}: {verdict}");
        }
        let named = |verdict: &Value| {
            let attribution = &verdict["attribution"];
            attribution["place"] == *place && sentence.is_none_or(|sentence| attribution["requirement"] == sentence)
        };
        assert!(own.iter().any(|(_, _, verdict)| named(verdict)), "{pair}: {own:?}");
    }
}

#[test]
fn broken_server_breaks_its_cells_only_and_is_named() {
    check("server", &SERVERS);
}

#[test]
fn broken_client_breaks_its_cells_only_and_is_named() {
    check("client", &CLIENTS);
}

#[test]
fn shards_together_have_the_tests_of_a_whole_run() {
    let sandbox = Sandbox::empty();
    let sides = "reference:structured-lost-by-client reference";
    let tests = |log: &str| -> BTreeSet<String> {
        let text = sandbox.read(log);
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?.get("record").cloned());
        records.map(|record| format!("{} {}", record["target"], record["test"])).collect()
    };
    sandbox.run(&format!("pair {sides} --transport http --run-log whole.jsonl")).exits(0);
    for shard in ["1/2", "2/2"] {
        let log = format!("shard{}.jsonl", &shard[..1]);
        sandbox.run(&format!("pair {sides} --transport http --shard {shard} --run-log {log}")).exits(0);
    }
    let both: BTreeSet<_> = tests("shard1.jsonl").union(&tests("shard2.jsonl")).cloned().collect();
    assert_eq!(both, tests("whole.jsonl"));
    sandbox.run("report shard1.jsonl shard2.jsonl --report pairs=shards.md").exits(0);
    sandbox.run("report whole.jsonl --report pairs=whole.md").exits(0);
    assert_eq!(sandbox.read("shards.md"), sandbox.read("whole.md"));
}

#[test]
fn broken_cell_opens_its_messages_and_hostile_text_is_escaped() {
    let sandbox = Sandbox::empty();
    run(&sandbox, "reference reference:array-wrapped-in-result", "--transport http --report pairs=pairs.html").exits(0);
    let page = sandbox.read("pairs.html");
    let anchor = "pair/reference/reference:array-wrapped-in-result/any-values";
    for part in [format!("href=\"#{anchor}\""), format!("id=\"{anchor}\""), "breaks sep-2106/any-json-value".to_owned()]
    {
        assert!(page.contains(&part), "{part}");
    }
    assert!(page.contains("the user got") && !page.contains("<script"));
}

#[test]
fn sides_that_cannot_be_paired_are_refused() {
    let sandbox = Sandbox::empty();
    sandbox.run("pair").exits(2).stderr_has(&["required arguments were not provided"]);
    sandbox.run("pair reference nothing").exits(2).stderr_has(&["nothing"]);
    sandbox.write(
        "targets/fixed/target.toml",
        "title = \"a fixed server\"\nkind = \"fixed\"\ncommand = [\"true\"]\n[claims]\nrevisions = [\"2025-11-25\"]\n",
    );
    let refused = sandbox.run("pair reference targets/fixed");
    refused.exits(2).stderr_has(&["fixed cannot be the server of a pair: it has no adapter with the role `server`"]);
    sandbox.run("pair reference reference --only pairs/nothing").exits(2).stderr_has(&["matches no test"]);
}
