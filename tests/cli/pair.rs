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
    assert!(sandbox.read("pairs.html").contains("<strong>Pairs that lose nothing: 1 of 1.</strong>"));
    assert!(sandbox.read("pairs.md").starts_with("Pairs that lose nothing: 1 of 1."));
}

#[cfg(unix)]
#[test]
fn user_gets_the_same_with_and_without_the_proxy() {
    let sandbox = Sandbox::empty();
    for transport in ["http", "stdio"] {
        let finished = run(&sandbox, "reference reference", &format!("--check-proxy --transport {transport}"));
        finished.exits(0).stdout_has(&["100 % of the checks hold"]);
        let line = finished.err.lines().find(|line| line.starts_with("with and without the proxy: "));
        let line = line.expect("the numbers of the check");
        let numbers: Vec<usize> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(numbers[0] > 60 && numbers[1..] == [0], "{transport}: {line}");
    }
    assert!(!sandbox.run("pair reference reference --transport http").exits(0).err.contains("without the proxy"));
}

/// A mutant, and all that a pair with it breaks. The other side is the reference.
struct Mutant {
    name: &'static str,
    /// The features with a broken check: no others may have one.
    features: &'static [&'static str],
    /// The feature whose checks fail at `place`, because of one of `sentences`. Each of the sentences is named.
    main: &'static str,
    place: &'static str,
    sentences: &'static [&'static str],
}

const REPLY: &str = "the reply does not have what the tool returned";
const USER: &str = "the user did not get what the reply has";
const REQUEST: &str = "the request does not have what the user gave";
const MESSAGE: &str = "a message that the other side need not accept";

const SERVERS: [Mutant; 12] = [
    Mutant {
        name: "structured-lost",
        features: &[
            "any-untyped-values",
            "any-values",
            "arguments",
            "choices",
            "defaults",
            "errors",
            "forms",
            "large",
            "odd-arguments",
            "older-choices",
            "revisions",
            "untyped-values",
            "values",
        ],
        main: "values",
        place: REPLY,
        sentences: &["tools/structured-returned"],
    },
    Mutant {
        name: "array-wrapped-in-result",
        features: &["any-untyped-values", "any-values"],
        main: "any-values",
        place: REPLY,
        sentences: &["sep-2106/any-json-value"],
    },
    Mutant {
        name: "failure-as-success",
        features: &["errors"],
        main: "errors",
        place: REPLY,
        sentences: &["sep-1303/failures-are-tool-errors"],
    },
    Mutant {
        name: "enum-turned-into-text",
        features: &["older-choices"],
        main: "older-choices",
        place: "the question does not have what the tool asked",
        sentences: &["elicitation/field-kept"],
    },
    Mutant {
        name: "any-version-agreed",
        features: &["revisions"],
        main: "revisions",
        place: MESSAGE,
        sentences: &["lifecycle/other-version"],
    },
    Mutant {
        name: "decline-unforeseen",
        features: &["forms"],
        main: "forms",
        place: REPLY,
        sentences: &["elicitation/action-arrives"],
    },
    Mutant {
        name: "session-id-with-space",
        features: OF_2025,
        main: "members",
        place: MESSAGE,
        sentences: &["http/session-id-characters"],
    },
    Mutant {
        name: "outputs-closed",
        features: &["values"],
        main: "values",
        place: "the listed schema is not the one that the author gave",
        sentences: &["tools/output-schema-kept"],
    },
    Mutant {
        name: "output-schema-lost",
        features: &["list"],
        main: "list",
        place: REPLY,
        sentences: &["tools/output-schema-kept"],
    },
    Mutant {
        name: "title-not-listed",
        features: &["members"],
        main: "members",
        place: REPLY,
        sentences: &["tools/title-kept"],
    },
    Mutant {
        name: "older-values-lost",
        features: &["untyped-values-before-2026", "values-before-2026"],
        main: "values-before-2026",
        place: REPLY,
        sentences: &["sep-2106/text-for-older-clients"],
    },
    Mutant {
        name: "older-clients-forgotten",
        features: &["untyped-values-before-2026", "values-before-2026"],
        main: "values-before-2026",
        place: MESSAGE,
        sentences: &["sep-2106/object-structured-before-2026"],
    },
];

const CLIENTS: [Mutant; 9] = [
    Mutant {
        name: "structured-lost-by-client",
        features: &[
            "any-untyped-values",
            "any-values",
            "arguments",
            "choices",
            "defaults",
            "errors",
            "forms",
            "large",
            "odd-arguments",
            "older-choices",
            "revisions",
            "untyped-values",
            "values",
        ],
        main: "values",
        place: USER,
        sentences: &["tools/structured-returned"],
    },
    Mutant {
        name: "multi-select-flattened",
        features: &["choices"],
        main: "choices",
        place: "the answer does not have what the user answered",
        sentences: &["sep-1330/choice-sent"],
    },
    Mutant {
        name: "accept-json-only",
        features: ALL,
        main: "list",
        place: MESSAGE,
        sentences: &["http/accept-lists-both"],
    },
    Mutant {
        name: "state-dropped",
        features: &["choices", "defaults", "forms", "older-choices"],
        main: "defaults",
        place: MESSAGE,
        sentences: &["sep-2322/state-echoed"],
    },
    Mutant {
        name: "is-error-lost",
        features: &["errors", "untyped-values-before-2026"],
        main: "errors",
        place: USER,
        sentences: &["sep-1303/tool-errors-reach-the-user"],
    },
    Mutant {
        name: "error-result-validated",
        features: &["errors"],
        main: "errors",
        place: USER,
        sentences: &["sep-1303/tool-errors-reach-the-user"],
    },
    Mutant {
        name: "content-lost-by-client",
        features: &["errors", "large", "untyped-values-before-2026"],
        main: "errors",
        place: USER,
        sentences: &["sep-1303/tool-errors-reach-the-user"],
    },
    Mutant {
        name: "elicitation-undeclared",
        features: &["choices", "defaults", "forms", "older-choices"],
        main: "choices",
        place: MESSAGE,
        sentences: &["elicitation/client-declares", "elicitation/declared-on-each-request"],
    },
    Mutant {
        name: "title-lost-by-client",
        features: &["members"],
        main: "members",
        place: USER,
        sentences: &["tools/title-kept"],
    },
];

/// Clients that lose tools of a list in several pages.
const READERS: [Mutant; 4] = [
    Mutant {
        name: "pages-ignored",
        features: &["pages"],
        main: "pages",
        place: REQUEST,
        sentences: &[
            "tools/cursors-are-opaque",
            "tools/empty-cursor-is-no-end",
            "tools/page-size-not-assumed",
            "tools/pages-or-none",
        ],
    },
    Mutant {
        name: "short-page-taken-for-last",
        features: &["pages"],
        main: "pages",
        place: REQUEST,
        sentences: &["tools/page-size-not-assumed"],
    },
    Mutant {
        name: "cursor-trimmed",
        features: &["pages"],
        main: "pages",
        place: REQUEST,
        sentences: &["tools/cursors-are-opaque"],
    },
    Mutant {
        name: "cursor-empty-is-end",
        features: &["pages"],
        main: "pages",
        place: REQUEST,
        sentences: &["tools/empty-cursor-is-no-end"],
    },
];

/// All features that are tested with the reference over HTTP.
const ALL: &[&str] = &[
    "any-untyped-values",
    "any-values",
    "arguments",
    "choices",
    "defaults",
    "errors",
    "forms",
    "large",
    "list",
    "members",
    "odd-arguments",
    "older-choices",
    "pages",
    "revisions",
    "untyped-values",
    "untyped-values-before-2026",
    "values",
];

/// The features of the revisions with sessions.
const OF_2025: &[&str] = &[
    "arguments",
    "choices",
    "defaults",
    "errors",
    "forms",
    "large",
    "list",
    "members",
    "odd-arguments",
    "older-choices",
    "pages",
    "revisions",
    "untyped-values",
    "untyped-values-before-2026",
    "values",
];

/// Runs mutants on one side, and checks that they break only what they should, and that each loss is theirs.
fn check(side: &str, mutants: &[Mutant]) {
    let sandbox = Sandbox::empty();
    let names: Vec<_> = mutants.iter().map(|mutant| format!("reference:{}", mutant.name)).collect();
    let both = format!("reference,{}", names.join(","));
    let sides = if side == "client" { format!("{both} reference") } else { format!("reference {both}") };
    run(&sandbox, &sides, "--transport http").exits(0);
    let broken = broken(&sandbox, "pairs.jsonl");
    assert_eq!(features(&broken, "reference+reference"), BTreeSet::new());
    for Mutant { name, features: expected, main, place, sentences } in mutants {
        let pair = if side == "client" {
            format!("reference:{name}+reference")
        } else {
            format!("reference+reference:{name}")
        };
        assert_eq!(features(&broken, &pair), expected.iter().map(|one| (*one).to_owned()).collect(), "{pair}");
        let mut named = BTreeSet::new();
        for (_, test, verdict) in broken.iter().filter(|(target, ..)| *target == pair) {
            let attribution = &verdict["attribution"];
            assert_eq!(attribution["side"], side, "{pair} {test}: {verdict}");
            if test.split('/').nth(1) == Some(main) {
                assert_eq!(attribution["place"], *place, "{pair} {test}: {verdict}");
                let sentence = attribution["requirement"].as_str().unwrap_or_default();
                assert!(sentences.contains(&sentence), "{pair} {test}: {verdict}");
                named.insert(sentence);
            }
        }
        assert_eq!(named, sentences.iter().copied().collect(), "{pair}");
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
fn server_that_responds_on_the_get_stream_is_named() {
    let sandbox = Sandbox::empty();
    run(&sandbox, "reference reference:responds-on-get-stream", "--transport http").exits(0);
    let broken = broken(&sandbox, "pairs.jsonl");
    // A client that opens the stream in time gets the response, so that some calls succeed.
    for (_, test, verdict) in &broken {
        // A newer client opens the stream of an older server as well.
        let has_handshake = test.contains("@2025-") || test.starts_with("pairs/revisions/");
        assert!(has_handshake, "{test}: {verdict}");
        assert_eq!(verdict["attribution"]["side"], "server", "{test}: {verdict}");
    }
    let is_named = |verdict: &Value| verdict["attribution"]["requirement"] == "lifecycle/get-stream-no-response";
    assert!(broken.iter().any(|(.., verdict)| is_named(verdict)), "{broken:?}");
}

#[test]
fn client_that_loses_pages_is_named() {
    check("client", &READERS);
}

#[test]
fn server_that_translates_older_values_breaks_nothing() {
    let sandbox = Sandbox::empty();
    let servers = "reference:older-values-as-text,reference:older-values-wrapped";
    let cases = "--only pairs/values-before-2026 --only pairs/untyped-values-before-2026";
    run(&sandbox, &format!("reference {servers}"), &format!("--transport http {cases} --strict")).exits(0);
    let log = sandbox.read("pairs.jsonl");
    assert_eq!(log.matches("\"kind\":\"pass\"").count(), 18, "{log}");
}

/// Connects a broken client with a broken server, and checks the side of each loss.
///
/// `side` returns the side that broke a check, which is given by the path of its test and its requirement.
fn check_both(client: &str, server: &str, feature: &str, side: fn(&str, &str) -> &'static str) {
    let sandbox = Sandbox::empty();
    let sides = format!("reference:{client} reference:{server}");
    run(&sandbox, &sides, &format!("--transport http --only pairs/{feature}")).exits(0);
    let broken = broken(&sandbox, "pairs.jsonl");
    assert!(!broken.is_empty(), "{sides} breaks nothing");
    for (_, test, verdict) in broken {
        let requirement = verdict["requirement"].as_str().expect("a requirement");
        assert_eq!(verdict["attribution"]["side"], side(&test, requirement), "{sides} {test}: {verdict}");
    }
}

#[test]
fn client_that_loses_values_is_named_beside_other_fault() {
    check_both("structured-lost-by-client", "result-type-lost", "any-values", |_, _| "client");
}

#[test]
fn server_whose_errors_are_wrong_is_named_beside_other_fault() {
    let side = |test: &str, _: &str| if test.starts_with("pairs/errors/works/") { "client" } else { "server" };
    check_both("version-header-missing", "failure-as-protocol-error", "errors", side);
}

#[test]
fn each_side_is_named_for_its_own_loss() {
    let side = |_: &str, requirement: &str| if requirement == "pairs/form-arrives" { "server" } else { "client" };
    check_both("structured-lost-by-client", "titles-lost", "choices", side);
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
fn broken_cell_opens_its_messages() {
    let sandbox = Sandbox::empty();
    run(&sandbox, "reference reference:array-wrapped-in-result", "--transport http --report pairs=pairs.html").exits(0);
    let page = sandbox.read("pairs.html");
    let anchor = "pair/reference/reference:array-wrapped-in-result/any-values";
    for part in [format!("href=\"#{anchor}\""), format!("id=\"{anchor}\""), "breaks sep-2106/any-json-value".to_owned()]
    {
        assert!(page.contains(&part), "{part}");
    }
    assert!(page.contains("the user got"));
}

/// A text that is code on a page, a link in Markdown, a command of a terminal, and a mark that turns the text around.
const HOSTILE: &str = "<script>alert(1)</script> \"'> [x](javascript:alert) `|` \u{7}\u{1b}[31m\u{202e}";

#[test]
fn hostile_text_of_a_tool_is_escaped_in_reports() {
    let sandbox = Sandbox::empty();
    let quoted = serde_json::to_string(HOSTILE).expect("a text");
    let requirement = r#"{ "$schema": "../schemas/requirements.json", "text-arrives": {
        "level": "DERIVED", "roles": ["pair"],
        "source": "specification/2026-07-28/server/tools#structured-content",
        "quote": "This can be any JSON value", "harm": "none", "why": "The text must arrive."
    } }"#;
    sandbox.write("cases/hostile/requirements.json", requirement);
    let case = r#"{
        "$schema": "../schemas/case.json",
        "title": "A hostile text is shown as a text",
        "role": "pair",
        "given": { "tools": { "speak": {
            "description": HOSTILE, "inputSchema": { "type": "object" },
            "does": { "return": { "structuredContent": { "text": HOSTILE } } }
        } } },
        "tests": { "spoken": { "steps": [
            { "when": { "list": "tools" } },
            {
                "when": { "call": "speak", "arguments": { "text": HOSTILE } },
                "then": { "text-arrives": { "structured": { "equals": { "text": "another text" } } } }
            }
        ] } }
    }"#;
    sandbox.write("cases/hostile/text.json", &case.replace("HOSTILE", &quoted));
    let reports = "--report pairs=pairs.html --report pairs=pairs.md";
    let finished = run(&sandbox, "reference reference", &format!("--cases cases --transport http {reports}"));
    finished.exits(0);
    let (page, markdown) = (sandbox.read("pairs.html"), sandbox.read("pairs.md"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") || page.contains("&#60;script&#62;"), "{page}");
    for shown in [&page, &markdown] {
        assert!(!shown.contains("<script"), "{shown}");
    }
    for shown in [&page, &markdown, &finished.out, &finished.err] {
        for raw in ["\u{7}", "\u{1b}", "\u{202e}"] {
            assert!(!shown.contains(raw), "{raw:?} in {shown}");
        }
    }
    assert!(!markdown.contains("](javascript:"), "{markdown}");
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

#[cfg(target_os = "linux")]
#[test]
fn unsaved_run_log_replaces_a_failure_of_a_pair() {
    let sandbox = Sandbox::empty();
    std::os::unix::fs::symlink("/dev/full", sandbox.path().join("full.jsonl")).expect("a link");
    let sides = "reference reference:array-wrapped-in-result --only pairs/any-values --transport http";
    let run = |more: &str| sandbox.run(&format!("pair {sides} --strict {more}"));
    run("--run-log pairs.jsonl").exits(1);
    sandbox.write("file", "");
    for unsaved in ["--run-log full.jsonl", "--run-log pairs.jsonl --report md=file/x.md"] {
        run(unsaved).exits(6).stderr_has(&["cannot write "]);
    }
}
