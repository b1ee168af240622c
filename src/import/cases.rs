//! The conversion of groups to a case file, with one row for each group and one test for each instance.
//!
//! The module takes groups and returns the case file as JSON. In a test of an invalid instance, the first step sends a
//! valid instance of the same group, so that a target that rejects everything does not pass. The module must not know
//! how cases are read.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::names;
use super::placeholders::{has_places, literal};
use super::references::{ReferenceTargets, forced_object_root, reference_targets, with_canaries, with_object_root};
use super::remotes::Remotes;
use super::suite::{Expected, Group, Instance, Keyword, Origin};
use crate::model::suite::{CONTROL, Door, Draft};

/// Returns the requirements that the tests check.
pub(super) fn requirements(draft: Draft) -> Value {
    let (level, quote) = match draft {
        Draft::Latest => ("DERIVED", "Implementations MUST support at least 2020-12"),
        Draft::Earlier => ("MAY", "Schemas MAY include a `$schema` field to specify a different dialect"),
    };
    let supported = |harm: &str, why: &str| {
        json!({
            "level": level, "roles": ["server", "client"], "since": "2025-11-25",
            "source": "specification/2026-07-28/basic/index#schema-dialect", "quote": quote, "harm": harm, "why": why
        })
    };
    let untouched = |level: &str, why: &str| {
        json!({
            "level": level, "roles": ["server", "client"], "since": "2026-07-28",
            "source": "specification/2026-07-28/basic/index#ref-resolution",
            "quote": "Implementations MUST NOT automatically dereference `$ref` values that resolve to a network URI",
            "harm": "ssrf", "why": why
        })
    };
    json!({
        "$schema": "../schemas/requirements.json",
        "valid-accepted": supported("interop", "Values that are valid against the schema are rejected."),
        "invalid-refused": supported("silent-acceptance", "Values that the schema forbids are accepted."),
        "no-network-deref": untouched("MUST NOT", "A schema can make this process fetch any reachable address."),
        "no-other-deref": untouched("DERIVED", "`$schema` and `$dynamicRef` can contain the same addresses as `$ref`.")
    })
}

/// Returns the case file of a keyword, or `None` if no group can be tested at this door.
pub(super) fn keyword(door: Door, origin: &Origin, groups: &[Group]) -> Option<Value> {
    let (mut rows, mut tests, mut taken) = (Map::new(), Tests::default(), BTreeSet::new());
    for group in groups.iter().filter(|group| reference_targets(&group.schema) == ReferenceTargets::Nowhere) {
        let Some(schema) = at_door(door, origin.draft, group, with_object_root) else { continue };
        let mut ids = BTreeSet::new();
        let instances = group.tests.iter().filter(|one| door.takes(&one.data));
        let selected: Vec<_> = instances.map(|instance| InstanceTest::new(group, instance, &mut ids)).collect();
        if selected.is_empty() {
            continue;
        }
        let row = names::row(&group.description, &mut taken);
        for one in &selected {
            tests.add(door, one, &row);
        }
        rows.insert(row, door.row(group, &schema, &selected));
    }
    let title = match door {
        Door::Arguments => "A server validates arguments against",
        Door::Results => "A server validates a tool's result against",
        Door::Client => "A client validates a result against",
    };
    let Origin { id, file, draft } = origin;
    let head = head(
        door,
        &format!("{title} {id} as draft {draft} defines it"),
        &format!("From {file} of the JSON-Schema-Test-Suite."),
    );
    (!rows.is_empty()).then(|| whole(head, rows, door.given(), tests.into_value()))
}

/// Returns the case file of all groups that refer to a remote document. Its tests only check that the document is not
/// fetched.
pub(super) fn remote(door: Door, keywords: &[Keyword], remotes: &mut Remotes) -> Option<Value> {
    let (mut rows, mut taken) = (Map::new(), BTreeSet::from([CONTROL.to_owned()]));
    let (mut by_ref, mut by_others) = (Vec::new(), Vec::new());
    let all = keywords.iter().flat_map(|one| one.groups.iter().map(move |group| (&one.origin, group)));
    for (origin, group) in all {
        let ReferenceTargets::ToRemotes { by_ref: is_by_ref } = reference_targets(&group.schema) else { continue };
        let schema = at_door(door, origin.draft, group, forced_object_root).filter(|schema| !has_places(schema));
        let Some(schema) = schema else { continue };
        let row = names::row(&format!("{} {}", origin.id, group.description), &mut taken);
        // An invalid instance makes the validator evaluate the whole schema.
        let instances = || group.tests.iter().filter(|one| door.takes(&one.data));
        let value = instances().find(|one| !one.is_valid).or_else(|| instances().next());
        let value = value.map_or_else(|| json!({}), |one| literal(&one.data));
        let schema = with_canaries(&schema, |path| remotes.document(path));
        rows.insert(row.clone(), json!({ "note": note(&group.description), "schema": schema, "value": value }));
        if is_by_ref { by_ref.push(row) } else { by_others.push(row) }
    }
    if rows.is_empty() {
        return None;
    }
    let local = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "type": "string" } } });
    rows.insert(CONTROL.to_owned(), json!({ "note": "The control.", "schema": local, "value": { "a": "b" } }));
    let call = |then: Value| door.steps(vec![json!({ "when": door.call_of(&"check".into(), "value"), "then": then })]);
    let mut tests = Map::new();
    let control = json!({ "title": "a local reference works", "control": "file", "rows": [CONTROL] });
    tests.insert(CONTROL.to_owned(), merged(control, call(json!({ "valid-accepted": { "outcome": "success" } }))));
    for (id, requirement, rows) in
        [("fetches-nothing", "no-network-deref", by_ref), ("fetches-nothing-else", "no-other-deref", by_others)]
    {
        if !rows.is_empty() {
            let test = json!({ "title": "the target fetches none of the schema's references", "rows": rows });
            tests.insert(id.to_owned(), merged(test, call(json!({ requirement: { "canary": "untouched" } }))));
        }
    }
    let mut head = head(
        door,
        "Remote references in schemas of the suite are not fetched",
        "Whether instances are valid is not checked: a target that does not fetch the reference cannot know.",
    );
    head.insert("since".to_owned(), "2026-07-28".into());
    Some(whole(head, rows, door.single(), tests))
}

/// Returns the group's schema in the form that the door requires.
fn at_door(door: Door, draft: Draft, group: &Group, root: fn(&Value) -> Option<Value>) -> Option<Value> {
    // A schema without `$schema` has the dialect of the latest draft.
    let is_named = draft == Draft::Latest || group.schema.get("$schema").is_some();
    match door {
        _ if !is_named => None,
        Door::Arguments => root(&group.schema),
        Door::Results | Door::Client => Some(group.schema.clone()).filter(Value::is_object),
    }
}

fn head(door: Door, title: &str, note: &str) -> Map<String, Value> {
    let (role, since) = match door {
        Door::Arguments => ("server", "2025-11-25"),
        Door::Results => ("server", "2026-07-28"),
        Door::Client => ("client", "2026-07-28"),
    };
    let why = "Over HTTP only: validation does not depend on the transport.";
    let mut head = object(json!({
        "$schema": "../schemas/case.json", "title": title, "note": [note, why],
        "role": role, "since": since, "transports": ["http"]
    }));
    if door != Door::Arguments {
        head.insert("needs".to_owned(), json!(["tools.outputSchema"]));
    }
    head
}

fn whole(mut head: Map<String, Value>, rows: Map<String, Value>, given: Value, tests: Map<String, Value>) -> Value {
    head.extend([("rows".to_owned(), rows.into()), ("given".to_owned(), given), ("tests".to_owned(), tests.into())]);
    Value::Object(head)
}

/// An instance, as used in a test.
struct InstanceTest<'a> {
    id: String,
    expected: Expected,
    instance: &'a Instance,
}

impl<'a> InstanceTest<'a> {
    fn new(group: &Group, instance: &'a Instance, taken: &mut BTreeSet<String>) -> Self {
        let expected = group.expected_result(instance);
        Self { id: names::test(expected, &instance.description, taken), expected, instance }
    }
}

/// The tests of a file. Instances with the same name in several groups become one test with several rows.
#[derive(Default)]
struct Tests {
    bodies: Map<String, Value>,
    rows: Map<String, Value>,
}

impl Tests {
    fn add(&mut self, door: Door, test: &InstanceTest<'_>, row: &str) {
        let InstanceTest { id, expected, instance } = test;
        if !self.bodies.contains_key(id) {
            let head = json!({ "title": names::title(*expected, &instance.description), "rows": [] });
            self.bodies.insert(id.clone(), merged(head, door.steps(steps(door, id, *expected))));
        }
        let rows = self.rows.entry(id.clone()).or_insert_with(|| json!([]));
        rows.as_array_mut().expect("it is one").push(row.into());
    }

    fn into_value(mut self) -> Map<String, Value> {
        for (id, rows) in self.rows {
            self.bodies[&id]["rows"] = rows;
        }
        self.bodies
    }
}

/// Returns the steps for an instance. An invalid instance comes after a valid one.
fn steps(door: Door, id: &str, expected: Expected) -> Vec<Value> {
    let accepted = json!({ "valid-accepted": { "outcome": "success" } });
    match expected {
        Expected::Accepted => return vec![json!({ "when": door.call(id), "then": accepted })],
        Expected::Either => return vec![json!({ "when": door.call(id), "then": "observe" })],
        Expected::Refused => {}
    }
    let refused = match door {
        Door::Arguments | Door::Results => json!(["tool-error", "protocol-error"]),
        Door::Client => json!(["refused", "tool-error"]),
    };
    vec![
        json!({ "when": door.call_of(&json!({ "@row": "works" }), "working"), "then": accepted }),
        json!({ "when": door.call(id), "then": { "invalid-refused": { "outcome": refused } } }),
    ]
}

impl Door {
    /// Returns whether an instance can be validated at this door.
    fn takes(self, data: &Value) -> bool {
        self != Self::Arguments || data.is_object()
    }

    /// Returns the row of a group: the tools or their arguments, and the call that shows that the target works at all.
    fn row(self, group: &Group, schema: &Value, selected: &[InstanceTest<'_>]) -> Value {
        let mut row = object(json!({ "note": note(&group.description) }));
        let working = selected.iter().find(|one| one.expected == Expected::Accepted);
        let is_refused = selected.iter().any(|one| one.expected == Expected::Refused);
        if self == Self::Arguments {
            row.insert("schema".to_owned(), literal(schema));
            row.extend(selected.iter().map(|one| (one.id.clone(), literal(&one.instance.data))));
            if is_refused {
                row.insert("works".to_owned(), if working.is_some() { "check".into() } else { "plain".into() });
                row.insert("working".to_owned(), working.map_or_else(|| json!({}), |one| literal(&one.instance.data)));
            }
            return Value::Object(row);
        }
        let tool = |instance: &Value, schema: Option<&Value>| {
            let mut tool = object(json!({ "description": "Returns this.", "inputSchema": { "type": "object" } }));
            tool.extend(schema.map(|schema| ("outputSchema".to_owned(), literal(schema))));
            tool.insert("does".to_owned(), json!({ "return": { "structuredContent": literal(instance) } }));
            Value::Object(tool)
        };
        let mut tools: Map<String, Value> =
            selected.iter().map(|one| (one.id.clone(), tool(&one.instance.data, Some(schema)))).collect();
        if is_refused {
            row.insert("works".to_owned(), working.map_or("plain", |one| one.id.as_str()).into());
            // If no instance is valid, another tool shows that the server works.
            let plain = working.is_none().then(|| ("plain".to_owned(), tool(&json!({}), None)));
            tools.extend(plain);
        }
        row.insert("tools".to_owned(), tools.into());
        Value::Object(row)
    }

    /// Returns the fixture for all groups.
    fn given(self) -> Value {
        match self {
            Self::Arguments => {
                let mut given = self.single();
                given["tools"]["plain"] = json!({ "description": "Returns its arguments.", "inputSchema": { "type": "object" }, "does": { "echo": true } });
                given
            }
            Self::Results | Self::Client => json!({ "tools": { "@row": "tools" } }),
        }
    }

    /// Returns a fixture with one tool.
    fn single(self) -> Value {
        let tool = match self {
            Self::Arguments => json!({
                "description": "Returns its arguments.", "inputSchema": { "@row": "schema" }, "does": { "echo": true }
            }),
            Self::Results | Self::Client => json!({
                "description": "Returns this.", "inputSchema": { "type": "object" }, "outputSchema": { "@row": "schema" },
                "does": { "return": { "structuredContent": { "@row": "value" } } }
            }),
        };
        json!({ "tools": { "check": tool } })
    }

    /// Returns the call that sends an instance.
    fn call(self, id: &str) -> Value {
        match self {
            Self::Arguments => self.call_of(&"check".into(), id),
            Self::Results | Self::Client => self.call_of(&id.into(), id),
        }
    }

    /// Returns a call of a tool, with the row's value of this name as arguments where the door has arguments.
    fn call_of(self, tool: &Value, arguments: &str) -> Value {
        match self {
            Self::Arguments => json!({ "call": tool, "arguments": { "@row": arguments } }),
            Self::Results | Self::Client => json!({ "call": tool, "arguments": {} }),
        }
    }

    /// Returns the steps of a test. A client first lists the tools, because the list contains the schemas.
    fn steps(self, mut steps: Vec<Value>) -> Value {
        if self == Self::Client {
            steps.insert(0, json!({ "when": { "list": "tools" }, "then": "observe" }));
        }
        if steps.len() == 1 { steps.remove(0) } else { json!({ "steps": steps }) }
    }
}

/// Breaks a text into lines that are short enough for a case file.
fn note(text: &str) -> Value {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() > 100 {
            lines.push(std::mem::take(&mut line));
        }
        line += if line.is_empty() { "" } else { " " };
        line.extend(word.chars().take(100));
    }
    lines.push(line);
    if lines.len() == 1 { lines.remove(0).into() } else { lines.into() }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn merged(one: Value, other: Value) -> Value {
    Value::Object(object(one).into_iter().chain(object(other)).collect())
}
