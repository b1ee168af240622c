//! Servers and clients without an adapter: the tests that apply to them, and that each check can fail.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::process::Running;
use crate::sandbox::{Finished, PROGRAM, Sandbox};

/// The tools of a correct server.
fn sound() -> Value {
    let tool = |name: &str| json!({"name": name, "description": "Echo.", "inputSchema": {"type": "object"}, "does": {"echo": true}});
    json!([tool("one"), tool("two"), tool("three")])
}

/// The `serve` object of a server with these tools.
pub(crate) fn order(revision: &str, transport: &str, tools: &Value) -> Value {
    let fixture = json!({"server": {"name": "fixed", "version": "1"}, "tools": tools});
    json!({"revision": revision, "transport": transport, "fixture": fixture})
}

/// Writes a fixed target with these lines in its file.
fn target(sandbox: &Sandbox, name: &str, what: &str, revision: &str) {
    let claims = format!("[claims]\nrevisions = [{revision:?}]\n");
    sandbox.write(&format!("{name}/target.toml"), &format!("title = \"Fixed\"\nkind = \"fixed\"\n{what}\n\n{claims}"));
}

/// Writes a fixed target that is the reference or a mutant of it, over stdio, with these tools.
fn server(sandbox: &Sandbox, name: &str, mutant: Option<&str>, revision: &str, tools: &Value) {
    sandbox.write(&format!("{name}/serve.json"), &order(revision, "stdio", tools).to_string());
    let mutant = mutant.into_iter().flat_map(|mutant| ["--mutant", mutant]);
    let command: Vec<_> =
        [PROGRAM, "__adapter"].into_iter().chain(mutant).chain(["--stdio-server", "serve.json"]).collect();
    target(sandbox, name, &format!("command = {}", serde_json::to_string(&command).expect("strings")), revision);
}

/// Adds a line to the claims of the target `t`.
fn permit(sandbox: &Sandbox, line: &str) {
    let file = sandbox.read("t/target.toml");
    sandbox.write("t/target.toml", &format!("{file}{line}\n"));
}

fn run(sandbox: &Sandbox, name: &str, more: &str) -> Finished {
    sandbox.run(&format!("run {name} --jobs 1 --run-log run.jsonl {more}"))
}

/// Returns the requirements with a verdict other than pass and not asked, with the verdict.
fn broken(sandbox: &Sandbox) -> BTreeSet<(String, String)> {
    broken_by_target(sandbox).into_values().flatten().collect()
}

/// Returns them for each target that has a record.
fn broken_by_target(sandbox: &Sandbox) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let mut broken = BTreeMap::<_, BTreeSet<_>>::new();
    for line in sandbox.read("run.jsonl").lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let Some(target) = line["record"]["target"].as_str() else { continue };
        let of_target = broken.entry(target.to_owned()).or_default();
        for verdict in line["record"]["verdicts"].as_array().into_iter().flatten() {
            let [requirement, kind] = ["requirement", "kind"].map(|key| verdict[key].as_str().unwrap_or("").to_owned());
            if kind != "pass" && kind != "not-asked" {
                of_target.insert((requirement, kind));
            }
        }
    }
    broken
}

#[test]
fn correct_server_passes_all_tests_for_any_server() {
    let sandbox = Sandbox::empty();
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        server(&sandbox, "t", None, revision, &sound());
        run(&sandbox, "t", "--skip everything").exits(0);
        assert_eq!(broken(&sandbox), BTreeSet::new(), "on {revision}");
    }
}

#[test]
fn server_that_is_unreadable_passes_nothing_that_it_breaks() {
    let sandbox = Sandbox::empty();
    let proxy = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/veil.py");
    let tools = json!([{"name": "one", "inputSchema": {"type": "object"}, "does": {"echo": true}}]);
    let ways = ["nothing", "number", "levels", "surrogate", "twice", "bytes"];
    for way in ways {
        sandbox.write(&format!("{way}/serve.json"), &order("2026-07-28", "stdio", &tools).to_string());
        let python = ["python3", "-S", "-I", proxy, way];
        let server = [PROGRAM, "__adapter", "--stdio-server", "serve.json"];
        let command: Vec<_> = python.into_iter().chain(server).collect();
        let line = format!("command = {}", serde_json::to_string(&command).expect("strings"));
        target(&sandbox, way, &line, "2026-07-28");
    }
    sandbox.run(&format!("run {} --run-log run.jsonl", ways.join(" "))).exits(1);
    let broken_by = broken_by_target(&sandbox);
    let all_broken = requirements(&broken_by["nothing"]);
    assert!(all_broken.contains("tools/names-characters"), "{all_broken:?}");
    assert!(all_broken.contains("messages/error-codes-are-integers"), "{all_broken:?}");
    for way in ways {
        let lost: Vec<_> = all_broken.difference(&requirements(&broken_by[way])).cloned().collect();
        assert_eq!(lost, Vec::<String>::new(), "passed with {way}");
        let fails_the_run = |(_, kind): &(String, String)| ["fail", "inconclusive"].contains(&kind.as_str());
        assert!(broken_by[way].iter().any(fails_the_run), "no success with {way}");
    }
}

fn requirements(verdicts: &BTreeSet<(String, String)>) -> BTreeSet<String> {
    verdicts.iter().map(|(requirement, _)| requirement.clone()).collect()
}

#[test]
fn each_check_for_any_server_can_fail() {
    let sandbox = Sandbox::empty();
    let schema = |schema: Value| json!([{"name": "one", "inputSchema": schema, "does": {"echo": true}}]);
    let named = |names: &[&str]| {
        names
            .iter()
            .map(|name| json!({"name": name, "inputSchema": {"type": "object"}, "does": {"echo": true}}))
            .collect()
    };
    let output = json!([{
        "name": "one", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}, "does": {"echo": true}
    }]);
    let boolean = json!([{
        "name": "one", "inputSchema": {"type": "object"}, "outputSchema": true, "does": {"echo": true}
    }]);
    let marked = |mark: Value| {
        let value = json!({"type": "string", "x-mcp-header": mark});
        schema(json!({"type": "object", "properties": {"a": value}}))
    };
    let mark = |name: &str| json!({"type": "string", "x-mcp-header": name});
    let twice = schema(json!({"type": "object", "properties": {"a": mark("Region"), "b": mark("region")}}));
    let items = json!({"type": "array", "items": mark("Region")});
    let unreachable = schema(json!({"type": "object", "properties": {"a": items}}));
    let (old, new) = ("2025-11-25", "2026-07-28");
    let uncompilable = "validation-skipped-when-uncompilable";
    let servers = [
        ("root-not-checked", new, schema(json!({"properties": {}})), "tools/input-root-is-object"),
        ("no-object-listed", new, schema(json!([])), "tools/input-is-schema-object"),
        ("no-object-listed", new, boolean, "sep-2106/output-schema-is-object"),
        (uncompilable, new, schema(json!({"type": "object", "required": "a"})), "sep-1613/schema-is-valid"),
        (
            uncompilable,
            new,
            schema(json!({"type": "object", "$ref": "#/$defs/a"})),
            "sep-2106/listed-references-resolve",
        ),
        ("revision-ignored", old, output, "sep-2106/object-output-before-2026"),
        ("names-not-checked", new, named(&["one tool"]), "tools/names-characters"),
        ("names-not-checked", new, named(&[&"x".repeat(129)]), "tools/names-length"),
        ("names-twice-accepted", new, named(&["one", "one"]), "tools/names-unique"),
        ("list-shuffled", new, sound(), "tools/list-order"),
        ("cursor-ignored", new, sound(), "tools/invalid-cursor-code"),
        ("cursor-stays", old, sound(), "tools/list-ends"),
        ("cache-hints-lost", new, sound(), "tools/caching-hints-present"),
        ("ttl-negative", new, sound(), "tools/ttl-not-negative"),
        ("unknown-method-code-wrong", new, sound(), "tools/unknown-method-code"),
        ("unknown-tool-as-tool-error", new, sound(), "tools/unknown-tool-is-protocol-error"),
        ("unknown-tool-code-wrong", new, sound(), "tools/unknown-tool-code"),
        ("malformed-as-tool-error", new, sound(), "tools/malformed-is-protocol-error"),
        ("error-id-lost", new, sound(), "messages/error-has-the-id"),
        ("error-without-message", new, sound(), "messages/error-has-code-and-message"),
        ("error-code-as-text", new, sound(), "messages/error-codes-are-integers"),
        ("marks-not-checked", new, marked(json!("")), "tools/header-marks-legal"),
        ("marks-not-checked", new, marked(json!("a b")), "tools/header-marks-legal"),
        ("marks-not-checked", new, twice, "tools/header-marks-unique"),
        ("marks-not-checked", new, unreachable, "tools/header-marks-reachable"),
        ("server-info-lost", new, sound(), "sep-2575/server-info"),
        ("discover-missing", new, sound(), "sep-2575/discover"),
        ("result-type-in-2025", old, sound(), "sep-2575/no-result-type-before-2026"),
        ("ping-unknown", old, sound(), "lifecycle/ping"),
        ("meta-prefix-malformed", new, sound(), "base/meta-prefix"),
        ("meta-name-malformed", new, sound(), "base/meta-names"),
        ("second-page-of-other-scope", new, sound(), "tools/cache-scope-of-all-pages"),
        ("parse-error-code-wrong", new, sound(), "messages/parse-error-code"),
        ("stray-line", new, sound(), "stdio/nothing-but-messages"),
        ("outlives-input", new, sound(), "stdio/exit-at-end-of-input"),
        ("garbage-is-fatal", new, sound(), "messages/garbage-is-survived"),
    ];
    let name = |at: usize| format!("t{at}");
    for (at, (mutant, revision, tools, _)) in servers.iter().enumerate() {
        server(&sandbox, &name(at), Some(mutant), revision, tools);
    }
    let names: Vec<_> = (0..servers.len()).map(name).collect();
    sandbox.run(&format!("run {} --run-log run.jsonl", names.join(" ")));
    let broken_by = broken_by_target(&sandbox);
    for ((mutant, _, _, requirement), name) in servers.iter().zip(&names) {
        let is_seen = |(known, kind): &(String, String)| known == requirement && kind != "inconclusive";
        let broken = &broken_by[name];
        assert!(broken.iter().any(is_seen), "{mutant} isn't seen to break {requirement}: {broken:?}");
    }
}

#[test]
fn server_without_the_tools_of_a_test_does_not_pass_it() {
    let sandbox = Sandbox::empty();
    server(&sandbox, "t", None, "2026-07-28", &json!([]));
    run(&sandbox, "t", "--only any-server/list");
    assert!(broken(&sandbox).iter().all(|(_, kind)| kind == "cannot") && !broken(&sandbox).is_empty());
    server(&sandbox, "t", None, "2026-07-28", &sound());
    let came = run(&sandbox, "t", "--only everything");
    came.stdout_has(&["has no tool `json_schema_2020_12_tool`", "has no tool `test_elicitation_sep1330_enums`"]);
    assert!(broken(&sandbox).iter().all(|(_, kind)| kind == "cannot"));
    run(&sandbox, "t", "--only sep-2106").exits(3).stderr_has(&["a fixed target has no adapter to build it"]);
    sandbox.run("run reference --only any-server").exits(3).stderr_has(&["applies only to fixed servers"]);
}

/// Returns the tool of a case with the official fixture.
fn official(case: &str, name: &str) -> Value {
    let file = format!("{}/cases/everything/{case}.json", env!("CARGO_MANIFEST_DIR"));
    let case: Value = serde_json::from_str(&std::fs::read_to_string(file).expect("the case")).expect("JSON");
    let mut tool = case["given"]["tools"][name].clone();
    tool["name"] = name.into();
    tool
}

#[test]
fn server_with_the_official_fixture_is_tested_like_an_adapter() {
    let sandbox = Sandbox::empty();
    let tool = official("json-schema-2020-12", "json_schema_2020_12_tool");
    for (mutant, broke) in [
        (None, None),
        (Some("dialect-lost"), Some("sep-1613/schema-keyword-kept")),
        (Some("keyword-emptied"), Some("sep-2106/input-keywords-kept")),
    ] {
        server(&sandbox, "t", mutant, "2026-07-28", &json!([tool]));
        permit(&sandbox, "calls = \"all\"");
        run(&sandbox, "t", "--only everything/json-schema-2020-12");
        let broken: Vec<_> = broken(&sandbox).into_iter().map(|(requirement, _)| requirement).collect();
        assert_eq!(broken.first().map(String::as_str), broke);
    }
}

#[test]
fn tool_that_a_case_names_is_called_only_if_the_target_permits_it() {
    let sandbox = Sandbox::empty();
    let name = "test_elicitation_sep1330_enums";
    let tool = official("elicitation-sep1330-enums", name);
    for permission in ["", "calls = [\"other\"]", "calls = [\"test_elicitation_sep1330_enums\"]"] {
        server(&sandbox, "t", None, "2026-07-28", &json!([tool]));
        permit(&sandbox, permission);
        let came = run(&sandbox, "t", "--only everything/elicitation-sep1330-enums");
        let is_called = permission.contains(name);
        assert_eq!(sandbox.read("run.jsonl").contains(r#""kind":"pass""#), is_called, "{permission}");
        assert_eq!(sandbox.read("run.wire.jsonl").contains("tools/call"), is_called, "{permission}");
        if is_called {
            assert_eq!(broken(&sandbox), BTreeSet::new());
        } else {
            assert!(broken(&sandbox).iter().all(|(_, kind)| kind == "cannot"), "{permission}");
            came.stdout_has(&["the tool `test_elicitation_sep1330_enums` may not be called", "`calls` in [claims]"]);
        }
    }
}

/// Starts a server; returns it and its address.
fn running(tools: &Value) -> (Running, String) {
    let mut command = Command::new(PROGRAM);
    command.arg("__adapter").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = Running::with_outputs(&mut command);
    let ask = json!({"id": "1", "serve": order("2026-07-28", "http", tools)});
    writeln!(server.stdin(), "{ask}").expect("it listens");
    let answer = server.out.next().expect("a line");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let url = answer["serving"]["url"].as_str().expect("an address").to_owned();
    (server, url)
}

#[test]
fn running_server_is_tested_at_its_url_and_not_stopped() {
    let sandbox = Sandbox::empty();
    let (running, url) = running(&sound());
    target(&sandbox, "t", &format!("url = {url:?}"), "2026-07-28");
    run(&sandbox, "t", "").exits(0);
    assert_eq!(broken(&sandbox).iter().filter(|(_, kind)| kind != "cannot").count(), 0);
    run(&sandbox, "t", "--only any-server").exits(0);
    running.kill();
    run(&sandbox, "t", "--only any-server").exits(4).stdout_has(&["error  t", "did not list its tools on 2026-07-28"]);
}

#[test]
fn server_that_does_not_answer_is_given_up() {
    let sandbox = Sandbox::empty();
    target(&sandbox, "dies", r#"command = ["sh", "-c", "echo the last words >&2; exit 7"]"#, "2026-07-28");
    run(&sandbox, "dies", "").exits(4).stdout_has(&[
        "error  dies",
        "did not list its tools on 2026-07-28",
        "the last words",
    ]);
    target(&sandbox, "hangs", r#"command = ["sleep", "1000"]"#, "2025-11-25");
    run(&sandbox, "hangs", "--limit start=200ms").exits(4).stdout_has(&["no response within the time limit"]);
    target(&sandbox, "nowhere", r#"command = ["./no-such-program"]"#, "2026-07-28");
    run(&sandbox, "nowhere", "").exits(4).stdout_has(&["cannot start"]);
    sandbox.run("smoke dies").exits(2).stderr_has(&["dies is a fixed target, without an adapter to check"]);
}

#[test]
fn server_that_fails_beside_another_one_is_asked_again_alone() {
    let sandbox = Sandbox::empty();
    sandbox.write("serve.json", &order("2025-11-25", "stdio", &sound()).to_string());
    let serve = format!("{PROGRAM} __adapter --stdio-server serve.json");
    sandbox.write("server.sh", &format!("mkdir lock || exit 3\ntrap 'rmdir lock' EXIT\n{serve}\n"));
    let finished = sandbox.run("run --jobs 1 --only any-server/list -- sh server.sh");
    let all = format!("{}{}", finished.out, finished.err);
    assert!(all.contains("2025-11-25") && !all.contains("no answer"), "{all}");
}

#[test]
fn fixed_client_is_judged_by_its_messages_and_exit() {
    let sandbox = Sandbox::empty();
    sandbox.lay_out("fixed.py");
    let defaults = "sep-1034/client-prefills";
    let (kept, deref) = ("sep-2106/input-keywords-kept", "sep-2106/no-network-deref");
    // A client that never answers shows nothing about defaults, and one that never lists shows nothing about references.
    let idle = ["elicitation/three-actions"];
    for (mode, broke) in [
        ("good", [].as_slice()),
        ("fetches", &[deref]),
        ("strips", &["sep-1613/schema-keyword-kept", kept]),
        ("forgets", &[defaults]),
        ("idle", &idle),
        ("hangs", &idle),
    ] {
        let client = format!(r#"client = ["python3", "-S", "-I", "../fixed.py", "{mode}"]"#);
        target(&sandbox, "t", &client, "2026-07-28");
        let patience = if mode == "hangs" { "--limit test=2s" } else { "" };
        run(&sandbox, "t", &format!("--only everything {patience}"));
        let broken: BTreeSet<_> = broken(&sandbox).into_iter().map(|(requirement, _)| requirement).collect();
        assert_eq!(broken, broke.iter().map(|one| (*one).to_owned()).collect(), "{mode}");
    }
    target(&sandbox, "t", r#"client = ["python3", "-S", "-I", "../fixed.py", "fails"]"#, "2026-07-28");
    run(&sandbox, "t", "--only everything/client-json-schema-ref-no-deref");
    let record = sandbox.read("run.jsonl");
    assert!(record.contains("exit status 1: the last words") && record.contains(r#""outcome":"refused""#), "{record}");
}

#[test]
fn all_mistakes_in_a_fixed_target_are_listed() {
    let sandbox = Sandbox::empty();
    let claims = "[claims]\nroles = [\"server\"]\nrevisions = [\"2026-07-28\"]\n";
    let twice = "command = [\"a\"]\nurl = \"http://127.0.0.1/\"";
    sandbox
        .write("bad/target.toml", &format!("title = \"x\"\nkind = \"fixed\"\n{twice}\n\n{claims}\n[variants.high]\n"));
    sandbox.run("run bad").exits(2).matches_snapshot("mistakes-in-a-fixed-target");
    let wrong = |what: &str| {
        target(&sandbox, "bad", what, "2026-07-28");
        sandbox.run("run bad")
    };
    wrong("").exits(2).stderr_has(&["bad/target.toml:1:", "the fixed target has no command and no address"]);
    wrong("url = \"ftp://x\"").exits(2).stderr_has(&["`ftp://x` is not the address of a server"]);
    wrong("client = []").exits(2).stderr_has(&["the command is empty"]);
    sandbox.target("bad", &["a"], "");
    let text = sandbox.read("bad/target.toml").replace("command", "url = \"http://x/\"\ncommand");
    sandbox.write("bad/target.toml", &text);
    sandbox.run("run bad").exits(2).stderr_has(&["a target with an adapter cannot have `url`", "kind = \"fixed\""]);
}
