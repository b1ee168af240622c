//! Fixed servers whose tools are called with arguments derived from their schemas: that each check can fail alone, that a
//! correct server passes all, and that nothing is called that nobody permitted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::fixed::order;
use crate::sandbox::{Finished, PROGRAM, Sandbox};

const OLDEST: &str = "2025-06-18";
const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";
/// Permits all calls.
const ALL: &str = "calls = \"all\"";

/// A tool whose arguments are validated.
fn book() -> Value {
    let properties = json!({
        "day": {"type": "string", "enum": ["Monday", "Tuesday"]},
        "hour": {"type": "integer", "minimum": 0, "maximum": 23}
    });
    let input = json!({"type": "object", "properties": properties, "required": ["day"]});
    json!({"name": "book", "description": "Echo.", "inputSchema": input, "does": {"echo": true}})
}

/// A tool that returns this, with an output schema.
fn count(returns: &Value) -> Value {
    let output = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let does = json!({"return": returns});
    json!({"name": "count", "description": "Count.", "inputSchema": {"type": "object"}, "outputSchema": output, "does": does})
}

/// A tool that asks for one field.
fn ask(field: &Value) -> Value {
    let form = json!({"type": "object", "properties": {"x": field}});
    let does = json!({"elicit": {"message": "One field, please.", "requestedSchema": form}});
    json!({"name": "ask", "description": "Ask.", "inputSchema": {"type": "object"}, "does": does})
}

fn text() -> Value {
    json!({"type": "string"})
}

/// A tool that returns a block of each type but one.
fn plain() -> Value {
    let blocks = json!([
        {"type": "text", "text": "a"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}}
    ]);
    let does = json!({"return": {"content": blocks}});
    json!({"name": "plain", "description": "Blocks.", "inputSchema": {"type": "object"}, "does": does})
}

/// The tools of a correct server.
fn sound(revision: &str) -> Value {
    let mut choice = json!({"type": "string", "enum": ["red", "green"]});
    if revision != OLDEST {
        choice["default"] = json!("red");
    }
    json!([book(), count(&json!({"structuredContent": {"n": 7}})), ask(&choice), plain()])
}

/// Writes a target that is the reference or a mutant of it, perhaps behind a proxy, with these tools and permissions.
fn server(sandbox: &Sandbox, before: &[&str], mutant: Option<&str>, revision: &str, tools: &Value, calls: &str) {
    sandbox.write("t/serve.json", &order(revision, "stdio", tools).to_string());
    let mutant = mutant.into_iter().flat_map(|mutant| ["--mutant", mutant]);
    let adapter = [PROGRAM, "__adapter"].into_iter().chain(mutant).chain(["--stdio-server", "serve.json"]);
    let command: Vec<_> = before.iter().copied().chain(adapter).collect();
    let command = serde_json::to_string(&command).expect("strings");
    let claims = format!("[claims]\nrevisions = [{revision:?}]\n{calls}\n");
    sandbox.write("t/target.toml", &format!("title = \"Fixed\"\nkind = \"fixed\"\ncommand = {command}\n\n{claims}"));
}

fn run(sandbox: &Sandbox) -> Finished {
    sandbox.run("run t --jobs 1 --run-log run.jsonl --only any-server")
}

/// Returns the violated requirements but that on the types of messages, which every test judges beside its own.
fn violated_beside_types(sandbox: &Sandbox) -> Vec<String> {
    violated(sandbox).into_iter().filter(|requirement| requirement != "messages/types-kept").collect()
}

/// Returns the requirements with a verdict of one of these kinds.
fn verdicts(sandbox: &Sandbox, kinds: &[&str]) -> BTreeSet<String> {
    let lines = sandbox.read("run.jsonl");
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let verdicts = records.flat_map(|line| line["record"]["verdicts"].as_array().cloned().unwrap_or_default());
    let wanted = verdicts.filter(|verdict| kinds.iter().any(|kind| verdict["kind"] == *kind));
    wanted.map(|verdict| verdict["requirement"].as_str().expect("a name").to_owned()).collect()
}

fn violated(sandbox: &Sandbox) -> Vec<String> {
    verdicts(sandbox, &["fail", "warn", "note", "inconclusive", "error"]).into_iter().collect()
}

/// Returns the calls that were sent: the names of the tools with their arguments.
fn sent(sandbox: &Sandbox) -> Vec<(String, Value)> {
    let wire = sandbox.read_unpacked("run.wire.jsonl");
    let mut found = Vec::new();
    for line in wire.lines() {
        let mut values = vec![serde_json::from_str::<Value>(line).expect("JSON")];
        while let Some(value) = values.pop() {
            match value {
                Value::Object(members) if members.get("from") == Some(&json!("harness")) => {
                    let text = members["text"].as_str().expect("a text");
                    let message: Value = serde_json::from_str(text).unwrap_or_default();
                    if message["method"] == "tools/call" {
                        let name = message["params"]["name"].as_str().unwrap_or_default();
                        found.push((name.to_owned(), message["params"]["arguments"].clone()));
                    }
                }
                Value::Object(members) => values.extend(members.into_iter().rev().map(|(_, value)| value)),
                Value::Array(items) => values.extend(items.into_iter().rev()),
                _ => {}
            }
        }
    }
    found
}

#[test]
fn correct_server_passes_all_checks_of_its_calls() {
    let sandbox = Sandbox::empty();
    for (revision, checked) in [
        (OLDEST, &["elicitation/message-present-2025-06-18", "sep-1330/older-enums-only"][..]),
        (OLD, &["elicitation/requested-schema-present", "sep-1303/input-errors-are-tool-errors"]),
        (NEW, &["elicitation/only-declared-modes", "sep-2575/result-type", "sep-1034/default-has-the-type"]),
    ] {
        server(&sandbox, &[], None, revision, &sound(revision), ALL);
        run(&sandbox).exits(0);
        assert_eq!(violated(&sandbox), Vec::<String>::new(), "on {revision}");
        let passed = verdicts(&sandbox, &["pass"]);
        let always = [
            "tools/arguments-optional",
            "tools/inputs-validated",
            "tools/output-conforms",
            "tools/output-present",
            "tools/text-mirrors-structured",
        ];
        for requirement in always.iter().chain(checked) {
            assert!(passed.contains(*requirement), "{requirement} is not asked on {revision}");
        }
    }
}

#[test]
fn each_check_of_calls_fails_alone() {
    let sandbox = Sandbox::empty();
    let wrong = count(&json!({"structuredContent": {"n": "seven"}}));
    let silent = count(&json!({"content": [{"type": "text", "text": "7"}]}));
    let right = count(&json!({"structuredContent": {"n": 7}}));
    let list = json!({"return": {"structuredContent": [1]}});
    let list = json!({"name": "list", "description": "List.", "inputSchema": {"type": "object"}, "does": list});
    let nested = ask(&json!({"type": "object", "properties": {"y": {"type": "string"}}}));
    let default = ask(&json!({"type": "string", "default": 7}));
    let titled = ask(&json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}));
    for (mutant, revision, tool, calls, requirement) in [
        ("input-not-validated", NEW, book(), "", "tools/inputs-validated"),
        ("input-not-validated", OLD, book(), ALL, "tools/inputs-validated"),
        ("input-error-as-protocol-error", NEW, book(), "", "sep-1303/input-errors-are-tool-errors"),
        ("input-error-as-invalid-request", OLDEST, book(), "", "sep-1303/input-error-channel-2025-06-18"),
        ("arguments-required", NEW, plain(), ALL, "tools/arguments-optional"),
        ("output-not-validated", NEW, wrong, ALL, "tools/output-conforms"),
        ("missing-structured-accepted", NEW, silent, ALL, "tools/output-present"),
        ("text-not-mirrored", NEW, right.clone(), ALL, "tools/text-mirrors-structured"),
        ("revision-ignored", OLD, list, ALL, "sep-2106/object-structured-before-2026"),
        ("result-type-lost", NEW, right, ALL, "sep-2575/result-type"),
        ("message-lost", NEW, ask(&text()), ALL, "elicitation/message-present"),
        ("message-lost", OLDEST, ask(&text()), ALL, "elicitation/message-present-2025-06-18"),
        ("schema-misnamed", OLD, ask(&text()), ALL, "elicitation/requested-schema-present"),
        ("schema-misnamed", OLDEST, ask(&text()), ALL, "elicitation/requested-schema-present-2025-06-18"),
        ("mode-misnamed", NEW, ask(&text()), ALL, "elicitation/only-declared-modes"),
        ("capability-not-checked", NEW, ask(&text()), ALL, "elicitation/only-declared-modes"),
        ("capability-not-checked", OLDEST, ask(&text()), ALL, "elicitation/only-negotiated-capabilities"),
        ("form-not-checked", NEW, nested, ALL, "elicitation/form-is-flat"),
        ("form-not-checked", NEW, default, ALL, "sep-1034/default-has-the-type"),
        ("form-not-checked", OLDEST, titled, ALL, "sep-1330/older-enums-only"),
    ] {
        server(&sandbox, &[], Some(mutant), revision, &json!([tool]), calls);
        run(&sandbox);
        assert_eq!(violated_beside_types(&sandbox), [requirement], "{mutant} on {revision}");
    }
    let twist = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/twist.py");
    for (way, tools, calls, requirement) in [
        ("content-lost", json!([plain()]), ALL, "tools/content-present"),
        ("content-of-unknown-type", sound(NEW), ALL, "tools/content-blocks"),
        ("content-without-text", sound(NEW), ALL, "tools/content-blocks"),
        ("lists-nothing-after-an-error", json!([book()]), "", "sep-1303/error-leaves-no-trace"),
    ] {
        server(&sandbox, &["python3", "-S", "-I", twist, way], None, NEW, &tools, calls);
        sandbox.run("run t --jobs 1 --run-log run.jsonl --only any-server/{arguments,results}");
        assert_eq!(violated_beside_types(&sandbox), [requirement], "{way}");
    }
}

#[test]
fn finding_about_a_call_shows_its_messages_and_the_violation() {
    let sandbox = Sandbox::empty();
    server(&sandbox, &[], Some("input-not-validated"), NEW, &json!([book()]), "");
    run(&sandbox).exits(1).stdout_has(&[
        "the tool `book` accepts arguments that its listed inputSchema refuses: \"day\" is a required property",
        r#""method":"tools/call","params":{"name":"book","arguments":{}"#,
    ]);
}

#[test]
fn finding_about_one_of_many_replies_shows_it_with_its_request() {
    let sandbox = Sandbox::empty();
    let tools = ["first", "second"].map(|name| {
        let value = if name == "first" { json!([1]) } else { json!({"n": 1}) };
        let does = json!({"return": {"structuredContent": value}});
        json!({"name": name, "description": "Return.", "inputSchema": {"type": "object"}, "does": does})
    });
    server(&sandbox, &[], Some("revision-ignored"), OLD, &json!(tools), ALL);
    run(&sandbox).exits(0).stdout_has(&[
        "`result.structuredContent` of the reply is [1], expected an object",
        r#""method":"tools/call","params":{"name":"first","#,
        r#""structuredContent":[1]"#,
    ]);
}

#[test]
fn tool_that_nobody_permitted_gets_no_useful_arguments() {
    let sandbox = Sandbox::empty();
    server(&sandbox, &[], None, NEW, &sound(NEW), "");
    run(&sandbox).exits(0).stdout_has(&["no tool may be called: permit it with --call"]);
    let hopeless = [json!({}), json!({"day": {"casebook": "refused"}}), json!(["casebook"])];
    let of_listed = |(name, _): &(String, Value)| name != "casebook-no-such-tool" && !name.is_empty();
    let calls: Vec<_> = sent(&sandbox).into_iter().filter(of_listed).collect();
    assert_eq!(calls, hopeless.clone().map(|arguments| ("book".to_owned(), arguments)));
    assert!(!verdicts(&sandbox, &["pass"]).contains("tools/output-conforms"));
    // A name permits one tool, and the others stay as they are.
    server(&sandbox, &[], None, NEW, &sound(NEW), "calls = [\"plain\"]");
    run(&sandbox).exits(0);
    let names: BTreeSet<_> = sent(&sandbox).into_iter().filter(of_listed).map(|(name, _)| name).collect();
    assert_eq!(names, ["book", "plain"].map(str::to_owned).into());
    let of_book: Vec<_> = sent(&sandbox).into_iter().filter(|(name, _)| name == "book").collect();
    assert!(of_book.iter().all(|(_, arguments)| hopeless.contains(arguments)), "{of_book:?}");
}

#[test]
fn permitted_tool_that_the_server_does_not_list_is_no_silent_gap() {
    for calls in [r#"["no-such-tool"]"#, r#"["plain", "no-such-tool"]"#] {
        let sandbox = Sandbox::empty();
        server(&sandbox, &[], None, NEW, &sound(NEW), &format!("calls = {calls}"));
        run(&sandbox).exits(1).stdout_has(&["permits the tool `no-such-tool`", "it lists book, count, ask, plain"]);
        assert!(sandbox.read("run.jsonl").contains("which the server does not list"), "the run log has the reason");
    }
}
