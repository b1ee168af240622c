//! The JSON Schemas for editors accept the same files as the loader, except for mistakes that only the loader can see.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use casebook::load::{Diagnostic, Source, lint};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The side that refuses a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Nobody,
    Both,
    /// Only the loader knows the names in the rest of the file and in other files.
    Loader,
}
use By::{Both, Loader, Nobody};

fn case() -> Value {
    json!({
        "$schema": "../schemas/case.json",
        "title": "A server holds arguments against the schema",
        "role": "server",
        "rows": { "one": { "value": 1 } },
        "given": { "tools": { "ship": { "inputSchema": { "type": "object" }, "does": { "echo": true } } } },
        "tests": {
            "works": {
                "control": "file",
                "when": { "call": "ship", "arguments": { "a": { "@row": "value" } } },
                "then": { "inputs-validated": { "outcome": "success" } }
            }
        }
    })
}

fn requirements() -> Value {
    let requirement = json!({
        "level": "MUST", "roles": ["server"], "source": "specification/a#1", "quote": "MUST validate",
        "harm": "silent-acceptance", "why": "Code sees what its schema forbids."
    });
    json!({ "inputs-validated": requirement })
}

/// The value with one member set, or, for `None`, taken away.
fn with(mut value: Value, pointer: &str, member: Option<&Value>) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer has a slash");
    let parent = value.pointer_mut(parent).and_then(Value::as_object_mut).expect("the parent is there");
    match member {
        Some(member) => drop(parent.insert(key.to_owned(), member.clone())),
        None => drop(parent.remove(key)),
    }
    value
}

fn schema(name: &str) -> jsonschema::Validator {
    let text = fs::read_to_string(Utf8Path::new("cases/schemas").join(name)).expect("the schema is there");
    jsonschema::validator_for(&serde_json::from_str(&text).expect("JSON")).expect("a schema")
}

fn lints(case: &Value, requirements: &Value) -> Vec<String> {
    let folder = TempDir::new().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    fs::create_dir(root.join("sep-1")).expect("a folder");
    fs::write(root.join("sep-1/case.json"), format!("{case:#}")).expect("a file");
    fs::write(root.join("sep-1/requirements.json"), format!("{requirements:#}")).expect("a file");
    lint(&[Source::Folder(root.to_owned())]).iter().map(Diagnostic::line).collect()
}

/// Checks one file with both; gives a line where the result is not the expected one.
fn compare(schema: &jsonschema::Validator, file: &Value, lints: &[String], by: By, what: &str) -> Option<String> {
    let seen = match (schema.is_valid(file), lints.is_empty()) {
        (true, true) => Nobody,
        (false, false) => Both,
        (true, false) => Loader,
        (false, true) => return Some(format!("{what}: only the schema refuses it")),
    };
    (seen != by).then(|| format!("{what}: refused by {seen:?}, should be {by:?}: {lints:#?}"))
}

/// Calls with these arguments, at once.
fn at_once(values: &[Value]) -> Value {
    let calls = values.iter().map(|value| json!({ "call": "ship", "arguments": { "a": value }, "token": "t" }));
    json!({ "at-once": calls.collect::<Vec<_>>() })
}

fn changes_to_a_case() -> Vec<(&'static str, Value, By)> {
    let call = |arguments: Value| json!({ "call": "ship", "arguments": arguments, "answer": "decline" });
    let when = "/tests/works/when";
    let used = |value: Value| json!({ "a": { "@row": "value" }, "b": value });
    let arguments = |value: Value| call(used(value));
    let then = "/tests/works/then";
    let expect = |value: Value| json!({ "inputs-validated": value });
    let first = json!({ "as": "a", "outcome": "success" });
    let last = json!({ "as": "b", "outcome": "tool-error", "not-asked": true });
    let success = |key: &str, value: Value| json!({ "inputs-validated": { "outcome": "success", key: value } });
    vec![
        ("/title", json!("ends with a full stop."), Both),
        ("/title", json!("short"), Both),
        ("/note", json!(["a", "b"]), Nobody),
        ("/note", json!([]), Both),
        ("/role", json!("sdk"), Both),
        ("/since", json!("2025-11-25"), Nobody),
        ("/since", json!("2024-11-05"), Both),
        ("/since", json!(2025), Both),
        ("/transports", json!(["http"]), Nobody),
        ("/transports", json!("stdio"), Nobody),
        ("/transports", json!(["http", "http"]), Both),
        ("/needs", json!(["elicitation.form"]), Nobody),
        ("/needs", json!(["elicitation"]), Both),
        ("/needs", json!(["elicitation.form", "tool:ship"]), Nobody),
        ("/needs", json!("tool:"), Both),
        ("/needs", json!("scenario:ship"), Loader),
        ("/heavy", json!(true), Nobody),
        ("/step-limit", json!(3), Both),
        ("/unknown", json!(1), Both),
        ("/rows", json!({}), Both),
        ("/rows/Two", json!({ "value": 1 }), Both),
        ("/rows/two", json!({ "value": 1, "heavy": true, "note": "It is large." }), Nobody),
        ("/rows/two", json!({ "value": 1, "since": 7 }), Both),
        ("/rows/two", json!({ "value": 1, "step-limit": 3 }), Nobody),
        ("/rows/two", json!({ "value": 1, "step-limit": 3.5 }), Both),
        ("/rows/two", json!({ "other": 1 }), Loader),
        ("/given/tools/ship", json!({ "inputSchema": { "@absent": true }, "does": { "return": {} } }), Nobody),
        ("/given/tools/ship", json!({ "inputSchema": {}, "does": { "return": { "structured": 1 } } }), Both),
        ("/given/tools/ship", json!({ "inputSchema": {}, "does": { "raise": "no", "echo": true } }), Both),
        ("/given/tools/ship", json!({ "does": { "echo": true } }), Both),
        ("/given/tools/ship/title", json!({ "@text": { "of": "a", "length": 9 } }), Nobody),
        ("/given/tools/ship/title", json!(1), Both),
        ("/given/tools/ship/name", json!("ship"), Both),
        ("/given/tools", json!([{ "name": "ship", "inputSchema": {}, "does": { "echo": true } }]), Nobody),
        ("/given/tools", json!([{ "inputSchema": {}, "does": { "echo": true } }]), Both),
        ("/given/deviations", json!([{ "in": "tools/list", "at": "/x", "remove": true }]), Loader),
        ("/given/pages", json!({ "size": 2 }), Loader),
        ("/given/tools/ship", elicits(&json!({ "message": "?", "requestedSchema": {} })), Nobody),
        ("/given/tools/ship", elicits(&json!({ "message": "?", "requestedSchema": {}, "rounds": 2 })), Loader),
        ("/given/tools/ship", elicits(&json!({ "message": "?" })), Both),
        ("/given/tools", json!([{ "name": { "@row": "value" }, "inputSchema": {}, "does": { "echo": true } }]), Loader),
        (when, json!({ "call": "shop" }), Loader),
        (when, json!({ "call": "ship", "list": "tools" }), Both),
        (when, at_once(&[json!({ "@row": "value" }), json!(2)]), Nobody),
        (when, at_once(&[json!({ "@row": "value" })]), Both),
        (when, json!({ "at-once": [{ "call": "ship" }, { "call": "ship", "token": 1 }] }), Both),
        (when, json!({ "at-once": [{ "call": "ship" }, { "list": "tools" }] }), Both),
        (when, json!({ "serve": false }), Both),
        (when, json!({}), Both),
        (when, arguments(json!({ "@canary": "http", "path": "a.json", "delay": "3s", "redirects": true })), Nobody),
        (when, arguments(json!({ "@canary": "ftp" })), Both),
        (when, arguments(json!({ "@canary": "http", "delay": "soon" })), Loader),
        (when, arguments(json!({ "@nested": { "depth": 3 } })), Nobody),
        (when, arguments(json!({ "@nested": { "depth": -3 } })), Both),
        (when, arguments(json!({ "@nested": { "deep": 3 } })), Both),
        (when, arguments(json!({ "@wide": { "keyword": "oneOf", "count": 3 }, "beside": 1 })), Both),
        (when, arguments(json!({ "@unknown": 1 })), Both),
        (when, arguments(json!({ "deep": [{ "@unknown": 1 }] })), Both),
        (when, arguments(json!({ "@literal": { "@unknown": 1 } })), Nobody),
        (when, arguments(json!({ "@unique": "urn:x:" })), Nobody),
        (when, arguments(json!({ "@revision": false })), Both),
        (when, arguments(json!([{ "@absent": true }])), Loader),
        (when, json!({ "call": "ship", "arguments": used(json!(1)), "answer": { "accept": "as presented" } }), Nobody),
        (when, json!({ "call": "ship", "arguments": used(json!(1)), "answer": ["cancel", { "raw": 1 }] }), Nobody),
        (when, json!({ "call": "ship", "arguments": { "@row": "value" }, "answer": "refuse" }), Both),
        (when, json!({ "call": "ship", "arguments": { "@row": "value" }, "answer": { "error": { "code": 1 } } }), Both),
        (when, json!({ "call": "ship", "arguments": used(json!(1)), "retry": { "state": "altered" } }), Nobody),
        (when, json!({ "call": "ship", "arguments": used(json!(1)), "retry": { "arguments": {} } }), Nobody),
        (when, json!({ "call": "ship", "arguments": used(json!(1)), "retry": { "state": "lost" } }), Both),
        (when, json!({ "call": "ship", "arguments": used(json!(1)), "retry": {} }), Both),
        (when, json!({ "send": { "id": { "@row": "value" } }, "headers": { "Accept": null } }), Nobody),
        (when, json!({ "send": { "id": { "@row": "value" } }, "headers": { "Accept": 1 } }), Both),
        (when, json!({ "call": "ship", "arguments": { "a": { "@row": "other" } } }), Loader),
        (then, json!("observe"), Loader),
        (then, json!("observed"), Both),
        (then, json!({}), Both),
        (then, expect(json!({})), Both),
        (then, expect(json!({ "as": "nothing" })), Both),
        (then, expect(json!({ "outcome": [] })), Both),
        (then, expect(json!({ "outcome": "sucess" })), Both),
        (then, expect(json!([{ "as": "a", "outcome": "success" }])), Both),
        (then, expect(json!([{ "outcome": "success" }, { "as": "b", "outcome": "refused" }])), Both),
        (then, expect(json!([{ "as": "a", "outcome": "success" }, { "as": "b", "outcome": "accepted" }])), Nobody),
        (then, expect(json!([{ "as": "a", "outcome": "success" }, { "as": "b", "outcome": "success" }])), Loader),
        (then, json!({ "other": { "outcome": "success" } }), Loader),
        (then, success("status", json!([200, 202])), Nobody),
        (then, success("status", json!(20)), Both),
        (then, success("code", json!("1")), Both),
        (then, success("took", json!("endless")), Both),
        (then, success("reply", json!({ "required": ["status"] })), Nobody),
        (then, success("reply", json!(7)), Both),
        (then, success("sent", json!({ "required": ["message"] })), Loader),
        (then, success("sent", json!(7)), Both),
        (then, success("saw", json!({ "equals": 1, "absent": true })), Both),
        (then, success("saw", json!({ "contains": 1 })), Both),
        (then, success("structured", json!({ "equals": null })), Nobody),
        (then, success("answered", json!({ "action": "accept" })), Loader),
        (then, success("advertised", json!({ "ship": { "keeps": ["/inputSchema"] } })), Loader),
        (then, success("advertised", json!({ "ship": { "keeps": ["inputSchema"] } })), Both),
        (then, success("advertised", json!({ "shop": "as given" })), Loader),
        (then, success("tools", json!({ "without": "deep" })), Loader),
        (then, success("tools", json!({ "without": ["shallow"] })), Both),
        (then, success("text", json!("mirrors")), Both),
        (then, success("matches", json!({ "required": ["outcome"] })), Nobody),
        (then, success("matches", json!([])), Both),
        (then, success("allowed-by", json!("nobody")), Loader),
        (then, json!({ "inputs-validated": [first, last] }), Nobody),
        (then, json!({ "inputs-validated": [last, first] }), Loader),
        (then, json!({ "inputs-validated": [first, { "outcome": "tool-error", "not-asked": true }] }), Both),
        (
            then,
            json!({ "inputs-validated": [first, { "as": "b", "outcome": "tool-error", "not-asked": false }] }),
            Both,
        ),
        (then, json!({ "inputs-validated": [first, { "as": "b", "not-asked": true }] }), Both),
        (then, json!({ "inputs-validated": last }), Both),
        (then, json!({ "inputs-validated": { "outcome": ["success", { "@row": "value" }] } }), Loader),
        (then, json!({ "inputs-validated": { "outcome": "success", "status": { "@row": "value" } } }), Loader),
        ("/tests/works/declares", json!({ "elicitation": {} }), Nobody),
        ("/tests/works/declares", json!([]), Both),
        ("/tests/works/initialized", json!(false), Loader),
        ("/tests/works/initialized", json!("no"), Both),
        ("/tests/works/control", json!("test"), Both),
        ("/given/methods", json!({ "a/b": { "result": { "c": 1 } } }), Nobody),
        ("/given/methods", json!({ "a/b": [{ "echo": true }, { "error": { "code": -1, "message": "no" } }] }), Nobody),
        (
            "/given/methods",
            json!({ "a/b": { "echo": true, "notify": [{ "method": "notifications/a", "params": {} }] } }),
            Nobody,
        ),
        ("/given/methods", json!({ "a/b": { "echo": true, "notify": [{ "method": "a" }] } }), Loader),
        ("/given/methods", json!({ "a/b": { "echo": true, "result": {} } }), Both),
        ("/given/methods", json!({ "a/b": { "notify": [] } }), Both),
        ("/given/methods", json!({ "a/b": { "error": { "code": "a", "message": "no" } } }), Both),
        ("/given/methods", json!({ "a/b": [] }), Both),
        ("/given/methods", json!({ "a/b": { "result": 1 } }), Both),
        ("/given/methods", json!({ "tools/list": { "echo": true } }), Both),
        ("/given/methods", json!({ "notifications/a": { "echo": true } }), Both),
        ("/given/methods", json!({ "a b": { "echo": true } }), Both),
        ("/given/capabilities", json!({ "a": {} }), Nobody),
        ("/given/capabilities", json!([]), Both),
        ("/tests/works/step-limit", json!(9), Nobody),
        ("/tests/works/step-limit", json!(0), Both),
        ("/tests/works/step-limit", json!(10), Both),
        ("/tests/works/step-limit", json!("3s"), Both),
        ("/tests/works/step-limit", json!([3]), Both),
        ("/tests/works/rows", json!(["one"]), Nobody),
        ("/tests/works/rows", json!(["two"]), Loader),
        ("/tests/works/steps", json!([{ "when": { "serve": true } }, { "when": { "list": "tools" } }]), Both),
        ("/tests/more", json!({ "steps": [{ "when": { "serve": true } }, { "when": { "list": "tools" } }] }), Nobody),
        ("/tests/more", json!({ "steps": [{ "when": { "serve": true } }] }), Both),
        ("/tests/more", json!({ "steps": [{ "then": "observe" }, { "when": { "list": "tools" } }] }), Both),
        ("/tests/more", json!({ "when": { "serve": true } }), Both),
        ("/tests/More", json!({ "when": { "serve": true }, "then": "observe" }), Both),
    ]
}

fn elicits(how: &Value) -> Value {
    json!({ "inputSchema": {}, "does": { "elicit": how } })
}

fn changes_to_a_clients_case() -> Vec<(&'static str, Value, By)> {
    let (pages, ship, when) = ("/given/pages", "/given/tools/ship", "/tests/works/when");
    let form = json!({ "message": "?", "requestedSchema": {} });
    let called = |answer: Value| json!({ "call": "ship", "arguments": { "a": { "@row": "value" } }, "answer": answer });
    vec![
        ("/role", json!("client"), Nobody),
        ("/given/deviations", json!([{ "in": "tools/list", "at": "/result/tools", "remove": true }]), Nobody),
        ("/given/deviations", json!([{ "in": "tools/list", "http": { "status": 404, "cut-after": 3 } }]), Nobody),
        ("/given/deviations", json!([{ "in": "tools/list", "at": "/x", "remove": false }]), Both),
        (pages, json!({ "size": 2, "cursors": ["", "b"] }), Nobody),
        (pages, json!({ "size": 0 }), Both),
        (pages, json!({ "cursors": [""] }), Both),
        (pages, json!({ "size": 2, "cursors": [1] }), Both),
        (ship, elicits(&json!({ "message": "?", "mode": "url", "url": "https://a/", "elicitationId": "1" })), Nobody),
        (ship, elicits(&json!({ "mode": "form", "message": "?" })), Both),
        (ship, elicits(&json!({ "requests": { "a": form }, "rounds": 2, "state": null })), Nobody),
        (ship, elicits(&json!({ "requests": { "a": { "message": "?" } } })), Both),
        (ship, elicits(&json!({ "requests": {} })), Both),
        (ship, elicits(&json!({ "stateOnly": true, "state": "s" })), Nobody),
        (ship, elicits(&json!({ "stateOnly": true, "state": ["s", null] })), Nobody),
        (ship, elicits(&json!({ "stateOnly": true, "state": [] })), Both),
        (ship, elicits(&json!({ "stateOnly": false })), Both),
        (ship, elicits(&json!({ "stateOnly": true, "rounds": 0 })), Both),
        (ship, elicits(&json!({ "stateOnly": true, "state": 1 })), Both),
        (when, called(json!({ "accept": { "a": 1 } })), Nobody),
        (when, called(json!({ "raw": 1 })), Loader),
        (when, called(json!({ "error": { "code": 1, "message": "no" } })), Loader),
        (when, json!({ "send": { "id": { "@row": "value" } } }), Loader),
        (when, json!({ "send": { "method": "a/b", "params": { "c": { "@row": "value" } } } }), Nobody),
        (when, json!({ "send": { "method": "tools/list" } }), Loader),
        (when, json!({ "send": { "method": "a/b" }, "headers": {} }), Loader),
    ]
}

#[test]
fn schema_and_loader_agree_on_client_cases() {
    let schema = schema("case.json");
    let requirements = with(requirements(), "/inputs-validated/roles", Some(&json!(["client"])));
    let case = with(case(), "/role", Some(&json!("client")));
    let checked = changes_to_a_clients_case().into_iter().filter_map(|(pointer, value, by)| {
        let file = with(case.clone(), pointer, Some(&value));
        compare(&schema, &file, &lints(&file, &requirements), by, &format!("{pointer} = {value}"))
    });
    let wrong: Vec<_> = checked.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn schema_and_loader_agree_on_cases() {
    let schema = schema("case.json");
    let check = |file: Value, by: By, what: String| compare(&schema, &file, &lints(&file, &requirements()), by, &what);
    let mut wrong: Vec<String> = check(case(), Nobody, "unchanged".to_owned()).into_iter().collect();
    for key in ["/$schema", "/title", "/role", "/tests"] {
        wrong.extend(check(with(case(), key, None), Both, format!("without {key}")));
    }
    // A server can be taken as it is, but the case calls a tool of the fixture.
    wrong.extend(check(with(case(), "/given", None), Loader, "without /given".to_owned()));
    for (pointer, value, by) in changes_to_a_case() {
        wrong.extend(check(with(case(), pointer, Some(&value)), by, format!("{pointer} = {value}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn schema_and_loader_agree_on_requirements() {
    let schema = schema("requirements.json");
    let at = |key: &str| format!("/inputs-validated/{key}");
    let table = [
        ("$schema".to_owned(), None, Nobody),
        (at("level"), Some(json!("must")), Both),
        (at("level"), None, Both),
        (at("roles"), Some(json!([])), Both),
        (at("roles"), Some(json!(["sdk"])), Both),
        (at("roles"), Some(json!(["server", "client"])), Nobody),
        (at("since"), Some(json!("2025-11-25")), Nobody),
        (at("since"), Some(json!("2025")), Both),
        (at("quote"), None, Both),
        (at("quote"), Some(json!("")), Both),
        (at("why"), Some(json!(" ")), Both),
        (at("source"), Some(json!("https://modelcontextprotocol.io/specification/2026-07-28/schema")), Both),
        (at("source"), Some(json!("modelcontextprotocol.io/specification")), Both),
        (at("source"), Some(json!("/specification/2026-07-28/schema")), Both),
        (at("source"), Some(json!("seps/1034--support-default-values#a")), Nobody),
        (at("harm"), Some(json!("death")), Both),
        (at("why"), Some(json!(1)), Both),
        (at("quotes"), Some(json!("a")), Both),
        (at("also"), Some(json!([{ "level": "MAY", "source": "a", "quote": "b", "when": "c" }])), Nobody),
        (at("also"), Some(json!([{ "level": "MAY", "source": "a" }])), Both),
        (at("unobservable"), Some(json!("because")), Loader),
        ("/Other".to_owned(), Some(requirements()["inputs-validated"].clone()), Both),
        ("/other".to_owned(), Some(requirements()["inputs-validated"].clone()), Nobody),
    ];
    let mut wrong = Vec::new();
    for (pointer, value, by) in table {
        let pointer = if pointer.starts_with('/') { pointer } else { format!("/{pointer}") };
        let file = with(requirements(), &pointer, value.as_ref());
        wrong.extend(compare(&schema, &file, &lints(&case(), &file), by, &format!("{pointer} = {value:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn schema_and_loader_agree_on_mutants() {
    let schema = schema("mutants.json");
    let mutant = json!({
        "role": "server", "does": "It.", "breaks": ["inputs-validated"],
        "changes": [{ "in": "tools/call", "at": "/result/isError", "remove": true }]
    });
    let table = [
        ("/role", Some(json!("pair")), Both),
        ("/role", Some(json!("client")), Loader),
        ("/does", None, Both),
        ("/breaks", Some(json!([])), Nobody),
        ("/breaks", Some(json!(["unknown"])), Loader),
        ("/breaks", Some(json!("inputs-validated")), Both),
        ("/changes", Some(json!([])), Both),
        ("/changes/0/set", Some(json!(1)), Both),
        ("/changes/0/at", Some(json!("result")), Both),
        ("/changes/0/in", None, Both),
        ("/changes/0/remove", Some(json!(false)), Both),
        ("/changes/0/in", Some(json!("tools/cal")), Loader),
        ("/changes/0/if", Some(json!({ "/params/name": "ship" })), Nobody),
        ("/changes/0/if", Some(json!({ "params": 1 })), Both),
        ("/changes", Some(json!([{ "in": "tools/call", "at": "/a", "set": "a".repeat(70_000) }])), Loader),
        ("/unknown", Some(json!(1)), Both),
    ];
    let compared = |value: Value, by, what: &str| {
        let file = json!({ "$schema": "../schemas/mutants.json", "lax": value });
        let texts = [("a/b.json", case()), ("a/requirements.json", requirements()), ("a/mutants.json", file.clone())];
        let texts = texts.map(|(path, value)| (path.into(), format!("{value:#}")));
        let lints: Vec<_> = lint(&[Source::Texts(texts.into())]).iter().map(Diagnostic::line).collect();
        compare(&schema, &file, &lints, by, what)
    };
    let mut wrong: Vec<_> = compared(mutant.clone(), Nobody, "unchanged").into_iter().collect();
    for (pointer, value, by) in table {
        let what = format!("{pointer} = {value:?}");
        wrong.extend(compared(with(mutant.clone(), pointer, value.as_ref()), by, &what));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every case file below a folder, the schemas left out.
fn files(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = folder.read_dir_utf8().expect("a folder").map(|entry| entry.expect("an entry").into_path());
    let (folders, files): (Vec<_>, Vec<_>) =
        entries.filter(|path| !path.ends_with("schemas")).partition(|path| path.is_dir());
    folders.iter().flat_map(|folder| self::files(folder)).chain(files).collect()
}

#[test]
fn every_case_fits_the_schemas() {
    let (case, requirements) = (schema("case.json"), schema("requirements.json"));
    let (capabilities, exclusions) = (schema("capabilities.json"), schema("exclusions.json"));
    let mutants = schema("mutants.json");
    for file in ["tests/library/lint/worked", "cases"].iter().flat_map(|folder| files(Utf8Path::new(folder))) {
        let schema = match file.file_name() {
            _ if file == "cases/capabilities.json" => &capabilities,
            _ if file == "cases/exclusions.json" => &exclusions,
            Some("requirements.json") => &requirements,
            Some("mutants.json") => &mutants,
            _ => &case,
        };
        let value: Value = serde_json::from_str(&fs::read_to_string(&file).expect("it is there")).expect("JSON");
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{file}: {errors:#?}");
    }
}

/// The new files are validated with the schema that their own `$schema` leads to.
#[test]
fn files_of_casebook_new_fit_the_schemas_beside_them() {
    let folder = TempDir::new().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
    let casebook = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_casebook"));
        command.args(arguments).current_dir(root).output().expect("casebook runs")
    };
    assert!(casebook(&["new", "sep-9"]).status.success());
    for name in ["first.json", "mutants.json", "requirements.json"] {
        let file = root.join("cases/sep-9").join(name);
        let value: Value = serde_json::from_str(&fs::read_to_string(&file).expect("written")).expect("JSON");
        let schema = root.join("cases/sep-9").join(value["$schema"].as_str().expect("a path"));
        let schema: Value = serde_json::from_str(&fs::read_to_string(schema).expect("written")).expect("JSON");
        let schema = jsonschema::validator_for(&schema).expect("a schema");
        assert!(schema.is_valid(&value), "{name}");
        assert!(!schema.is_valid(&with(value, "/unknown", Some(&json!({ "title": 7 })))), "{name}");
    }
    fs::write(root.join("cases/schemas/case.json"), "{}").expect("changed");
    assert!(casebook(&["new", "sep-10"]).status.success());
    let kept = fs::read_to_string(root.join("cases/schemas/case.json")).expect("it is there");
    assert_eq!(kept, "{}", "a schema that exists is not overwritten");
    for path in ["cases", "cases/sep-9", "cases/sep-9/first.json", "cases/sep-9/requirements.json"] {
        assert!(casebook(&["lint", path]).status.success(), "{path}");
    }
}

#[test]
fn explain_json_prints_the_case_file_as_it_is_written() {
    let arguments = ["explain", "tools/list", "--json", "--cases", "cases"];
    let printed = std::process::Command::new(env!("CARGO_BIN_EXE_casebook")).args(arguments).output().expect("it runs");
    let written = fs::read_to_string("cases/tools/list.json").expect("the case");
    assert_eq!(String::from_utf8(printed.stdout).expect("UTF-8").trim_end(), written.trim_end());
}
