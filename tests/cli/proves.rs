//! `casebook prove` with cases that the mutants do not know.

use serde_json::{Map, Value, json};

use crate::sandbox::Sandbox;

#[test]
fn requirement_of_own_cases_names_the_mutants_that_violate_it() {
    let sandbox = Sandbox::new();
    let proof = sandbox.run("prove --cases cases --only-mutants input-not-validated");
    proof.exits(0).stdout_has(&["post/arguments-checked: violated by 1 of 1 server mutants: input-not-validated\n"]);
    assert!(!proof.out.contains("WRONG") && !proof.out.contains("no mutant"), "{}", proof.out);
    // These mutants are clients, and the cases test servers.
    sandbox.run("prove --cases cases --only-mutants client-fetches-*").exits(3).stderr_has(&["nothing to run"]);
}

/// A proposal with methods of its own, which the reference plays, and with mutants as data.
#[test]
fn proposal_holds_and_breaks_by_data_alone() {
    let sandbox = Sandbox::empty();
    let requirement = |role: &str, quote: &str| {
        json!({
            "level": "MUST", "roles": [role], "since": "draft", "source": "seps/9001-events#events", "quote": quote,
            "harm": "interop", "why": "Nobody knows the events."
        })
    };
    let requirements = json!({
        "$schema": "../schemas/requirements.json",
        "events-listed": requirement("server", "Servers MUST list their events."),
        "event-named": requirement("client", "Clients MUST name the event."),
    });
    let case = |role: &str, given: Value, when: Value, then: Value| {
        json!({
            "$schema": "../schemas/case.json", "title": "Events are known", "role": role, "since": "draft", "given": given,
            "tests": { "known": { "title": "the events are known", "when": when, "then": then } }
        })
    };
    let lists = case(
        "server",
        json!({ "capabilities": { "events": {} }, "methods": { "events/list": { "result": { "events": ["changed"] } } } }),
        json!({ "send": { "method": "events/list", "params": {} } }),
        json!({ "events-listed": {
            "outcome": "success",
            "reply": { "properties": { "message": { "properties": { "result": { "required": ["events"] } } } } }
        } }),
    );
    let names = case(
        "client",
        json!({ "methods": { "events/subscribe": { "echo": true, "notify": [{ "method": "notifications/events" }] } } }),
        json!({ "send": { "method": "events/subscribe", "params": { "name": "changed" } } }),
        json!({ "event-named": {
            "outcome": "success",
            "sent": {
                "if": { "properties": { "message": { "properties": { "method": { "const": "events/subscribe" } } } } },
                "then": { "properties": { "message": { "properties": { "params": { "required": ["name"] } } } } }
            }
        } }),
    );
    let mutant = |role: &str, breaks: &str, method: &str, at: &str| {
        let changes = [json!({ "in": method, "at": at, "remove": true })];
        json!({ "role": role, "does": "It has a defect.", "breaks": [breaks], "changes": changes })
    };
    let mutants = json!({
        "$schema": "../schemas/mutants.json",
        "no-events": mutant("server", "events-listed", "events/list", "/result/events"),
        "no-name": mutant("client", "event-named", "events/subscribe", "/params/name"),
    });
    for (name, text) in [("requirements", &requirements), ("lists", &lists), ("names", &names), ("mutants", &mutants)] {
        sandbox.write(&format!("cases/sep-9001/{name}.json"), &format!("{text:#}"));
    }
    sandbox.run("lint cases").exits(0);
    sandbox.run("run --cases cases --jobs 1").exits(0).stdout_has(&["4 passed"]);
    sandbox.run("run reference:no-name --cases cases --jobs 1").exits(1).stdout_has(&["failed  sep-9001/event-named"]);
    let both = ["no-events: It has a defect.\n            1  sep-9001/events-listed", "1  sep-9001/event-named"];
    sandbox.run("prove --cases cases --only-mutants no-*").stdout_has(&both);
    sandbox.run("run reference:no-nam --cases cases").exits(2).stderr_has(&["did you mean `no-name`?"]);
    // A name that casebook's own mutants have.
    let taken = format!("{mutants:#}").replace("no-events", "input-not-validated");
    sandbox.write("cases/sep-9001/mutants.json", &taken);
    sandbox.run("run --cases cases").exits(2).stderr_has(&["casebook has a mutant `input-not-validated` of its own"]);
    // What would end the reference, or change nothing.
    for (change, words) in [
        (json!({ "in": "events/list", "at": "", "set": 5 }), "`at` is the whole message"),
        (json!({ "in": "events/list", "at": "/status", "set": 99_999_999 }), "the status"),
        (json!({ "in": "events/list", "at": "/a~2b", "set": 1 }), "an escape that does not exist"),
    ] {
        let mut wrong = mutants.clone();
        wrong["no-events"]["changes"] = json!([change]);
        sandbox.write("cases/sep-9001/mutants.json", &format!("{wrong:#}"));
        sandbox.run("run --cases cases").exits(2).stderr_has(&[words]);
    }
    // A name in two folders.
    sandbox.write("cases/sep-9001/mutants.json", &format!("{mutants:#}"));
    sandbox.write("cases/sep-9002/requirements.json", &format!("{requirements:#}"));
    let other = format!("{mutants:#}").replace("/params/name", "/params");
    sandbox.write("cases/sep-9002/mutants.json", &other);
    let twice = sandbox.run("run --cases cases");
    twice.exits(2).stderr_has(&["two mutants are named `no-events`", "the other one is in sep-9001/mutants.json"]);
    std::fs::remove_dir_all(sandbox.path().join("cases/sep-9002")).expect("removed");
    // What no reply, no capability and no request of a proposal can be.
    for (from, to, words) in [
        (json!({ "result": { "events": ["changed"] } }), json!({ "result": { "@absent": true } }), "not `@absent`"),
        (json!({ "events": {} }), json!({ "tools": {} }), "the server declares `tools` itself"),
    ] {
        let text = lists.to_string().replace(&from.to_string(), &to.to_string());
        assert_ne!(text, lists.to_string());
        sandbox
            .write("cases/sep-9001/lists.json", &format!("{:#}", serde_json::from_str::<Value>(&text).expect("JSON")));
        sandbox.run("run --cases cases").exits(2).stderr_has(&[words]);
    }
    let initializes =
        names.to_string().replace(r#""method":"events/subscribe","params""#, r#""method":"initialize","params""#);
    sandbox.write("cases/sep-9001/names.json", &initializes);
    sandbox.run("run --cases cases").exits(2).stderr_has(&["`initialize` is a request of the SDK"]);
    sandbox.write("cases/sep-9001/lists.json", &format!("{lists:#}"));
    sandbox.write("cases/sep-9001/names.json", &format!("{names:#}"));
    // A mutant that breaks nothing is not as it declares.
    let harmless = format!("{mutants:#}").replace("/result/events", "/result/others");
    sandbox.write("cases/sep-9001/mutants.json", &harmless);
    let missed = sandbox.run("prove --cases cases --only-mutants no-events");
    missed.exits(1).stdout_has(&["no-events: no test detects that it violates sep-9001/events-listed"]);
}

/// Checks that no message of any server fails: the first ones hold always, the others have nothing to look at.
fn vacuous() -> [(&'static str, Value); 20] {
    let reply = |message: Value| json!({ "reply": { "properties": { "message": { "properties": message } } } });
    let result = |members: Value| reply(json!({ "result": { "properties": members } }));
    [
        ("always-unique", json!({ "reply": { "properties": { "headers": { "uniqueItems": true } } } })),
        ("any-code", json!({ "matches": { "properties": { "code": { "minimum": -9_999_999_999_i64 } } } })),
        ("any-length", result(json!({ "tools": { "items": { "properties": { "name": { "minLength": 0 } } } } }))),
        ("any-object", json!({ "reply": { "minProperties": 0 } })),
        ("any-type", json!({ "reply": { "type": ["null", "boolean", "number", "string", "array", "object"] } })),
        (
            "any-word",
            json!({ "matches": { "properties": { "took": { "enum": ["instant", "quick", "slow", "endless"] } } } }),
        ),
        ("contains-none", result(json!({ "tools": { "contains": { "required": ["x"] }, "minContains": 0 } }))),
        ("dependent", result(json!({ "tools": { "items": { "dependentRequired": { "inputSchemas": ["name"] } } } }))),
        ("else-same", reply(json!({ "result": { "if": { "required": ["tools"] }, "then": {}, "else": {} } }))),
        ("low-status", json!({ "reply": { "properties": { "status": { "minimum": 0 } } } })),
        ("many-members", json!({ "matches": { "maxProperties": 1000 } })),
        ("names", json!({ "matches": { "propertyNames": { "type": "string" } } })),
        ("not-impossible", result(json!({ "tools": { "not": { "type": "array", "minItems": 1, "maxItems": 0 } } }))),
        (
            "one-of-both",
            json!([
                { "as": "a success", "outcome": "success" },
                { "as": "no success", "matches": { "properties": { "outcome": { "not": { "const": "success" } } } } },
            ]),
        ),
        ("or-true", json!({ "reply": { "anyOf": [{ "required": ["text"] }, true] } })),
        ("pattern", json!({ "matches": { "patternProperties": { "^outcom$": false } } })),
        ("idle-premise", reply(json!({ "id": { "if": { "const": "never-an-id" }, "then": false } }))),
        ("long-text", reply(json!({ "error": { "properties": { "message": { "maxLength": 100_000 } } } }))),
        ("misplaced", reply(json!({ "tools": { "minItems": 99 } }))),
        ("misspelt", result(json!({ "toolList": { "minItems": 99 } }))),
    ]
}

#[test]
fn damage_finds_checks_that_cannot_fail_and_such_that_fail_for_nothing() {
    let sandbox = Sandbox::empty();
    sandbox.lay_out("cases/post/requirements.json");
    let test = |check: Value| json!({ "title": "a list", "when": { "list": "tools" }, "then": { "arguments-checked": check } });
    let vacuous = vacuous();
    let mut tests: Map<_, _> = vacuous.iter().map(|(name, check)| ((*name).to_owned(), test(check.clone()))).collect();
    tests.insert("sound".to_owned(), test(json!({ "outcome": "success" })));
    let first = json!({ "prefixItems": [{ "properties": { "name": { "const": "send" } } }] });
    let first =
        json!({ "properties": { "message": { "properties": { "result": { "properties": { "tools": first } } } } } });
    tests.insert("brittle".to_owned(), test(json!({ "reply": first })));
    let tool = json!({ "description": "Echo.", "inputSchema": { "type": "object" }, "does": { "echo": true } });
    let case = json!({
        "$schema": "../../../../cases/schemas/case.json",
        "title": "Checks that show nothing",
        "role": "server", "transports": ["http"],
        "given": { "tools": { "send": tool, "keep": tool } },
        "tests": tests,
    });
    sandbox.write("cases/post/planted.json", &case.to_string());
    let proof = sandbox.run("prove --cases cases --by-damage --format json");
    let proved: Value = serde_json::from_str(&proof.out).expect("JSON");
    proof.exits(1);
    let named = |list: &str| -> Vec<String> {
        let checks = proved[list].as_array().expect("a list").iter();
        checks.map(|one| one["test"].as_str().expect("a path").replace("post/planted/", "")).collect()
    };
    let idle = ["idle-premise", "long-text", "misplaced", "misspelt"];
    let always: Vec<_> = vacuous.iter().map(|(name, _)| *name).filter(|name| !idle.contains(name)).collect();
    assert_eq!(named("vacuous"), always);
    assert_eq!(named("not-held"), idle);
    let brittle = &proved["brittle"][0];
    assert_eq!(
        (&brittle["check"]["test"], &brittle["by"]),
        (&json!("post/planted/brittle"), &json!("tools in another order"))
    );
    // A recorded run is damaged in the same way.
    sandbox.run("run reference --cases cases --run-log run.jsonl").exits(0);
    let again = sandbox.run("prove --cases cases --by-damage run.jsonl");
    again.exits(1).stdout_has(&["post/planted/names, step 1: post/arguments-checked: no damage breaks this check\n"]);
}

#[test]
fn damaged_recordings_need_not_be_sound() {
    let sandbox = Sandbox::new();
    sandbox.run("run reference --cases cases --run-log run.jsonl").exits(0);
    let wire = sandbox.read("run.wire.jsonl").replace(r#""replied":{"message":1}"#, r#""replied":{"message":99}"#);
    sandbox.write("run.wire.jsonl", &wire);
    // What is left is another recording than the one that was judged.
    sandbox.run("prove --cases cases --by-damage run.jsonl").exits(3);
    sandbox.write("run.wire.jsonl", "{}\n");
    sandbox.run("prove --cases cases --by-damage run.jsonl").stderr_has(&["run.wire.jsonl"]);
    sandbox.write("run.wire.jsonl", "");
    sandbox.run("prove --cases cases --by-damage run.jsonl").exits(3).stderr_has(&["nothing to damage"]);
}
