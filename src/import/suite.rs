//! A file of the suite: groups of instances, each group with a schema.
//!
//! The module takes the text of one file and returns its [`Group`]s, or diagnostics. It must not know cases.

use serde_json::Value;

use crate::jsonrpc::nesting;
use crate::load::text::diagnostic::Lint;
use crate::load::text::json;
use crate::load::text::node::Node;
use crate::load::text::read::{Object, Reader};
use crate::model::suite::Draft;

/// One file of the suite.
pub(super) struct Keyword {
    pub(super) origin: Origin,
    pub(super) groups: Vec<Group>,
}

/// The file that groups come from.
pub(super) struct Origin {
    /// The name of the file, as a component of an id.
    pub(super) id: String,
    /// The path of the file within the suite.
    pub(super) file: String,
    pub(super) draft: Draft,
}

/// The deepest nesting of a schema or an instance. A case nests them some levels deeper.
const LEVELS: usize = 100;
/// The maximum size of a file's groups in a case, in bytes. A case repeats each schema for every instance.
const MOST: usize = 768 << 10;

/// One schema, and valid and invalid instances.
pub(super) struct Group {
    pub(super) description: String,
    pub(super) schema: Value,
    pub(super) tests: Vec<Instance>,
}

/// One instance of a group.
pub(super) struct Instance {
    pub(super) description: String,
    pub(super) data: Value,
    pub(super) is_valid: bool,
}

/// The expected result for an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The target accepts the instance.
    Accepted,
    /// The target rejects the instance.
    Refused,
    /// Both are correct.
    Either,
}

impl Group {
    /// Returns the expected result for an instance. In 2020-12, `format` is an annotation unless a validator is
    /// configured to assert it. The protocol's own example of an invalid argument is a date in a wrong format. For
    /// strings, both results are therefore correct.
    pub(super) fn expected_result(&self, instance: &Instance) -> Expected {
        match instance.is_valid {
            _ if instance.data.is_string() && has_format(&self.schema) => Expected::Either,
            true => Expected::Accepted,
            false => Expected::Refused,
        }
    }
}

fn has_format(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(has_format),
        Value::Object(members) => {
            members.iter().any(|(key, value)| key == "format" && value.is_string() || has_format(value))
        }
        _ => false,
    }
}

/// Reads a file of the suite.
pub(super) fn groups(reader: &mut Reader) -> Vec<Group> {
    let Some(root) = json::parse(reader) else { return Vec::new() };
    let Some(items) = reader.items(&root, "a file of the JSON-Schema-Test-Suite") else { return Vec::new() };
    if items.is_empty() {
        let empty = reader.mistake(Lint::WrongCount, "a file of the JSON-Schema-Test-Suite needs at least one group");
        reader.push(empty.at(root.span, "no groups here").help("remove the file, or replace it with the original one"));
    }
    let mut room = MOST;
    items.iter().filter_map(|item| group(reader, item, &mut room)).collect()
}

fn group(reader: &mut Reader, node: &Node, room: &mut usize) -> Option<Group> {
    let what = "a group of the suite";
    reader.members(node, what)?;
    let object = Object { node };
    let description = text(reader, object, what);
    let schema = reader.need(object, what, "schema").map(|node| with_short_comments(node.value()));
    let tests = reader.need(object, what, "tests").and_then(|node| reader.items(node, "`tests`")).unwrap_or_default();
    let tests: Vec<Instance> = tests.iter().filter_map(|node| instance(reader, node)).collect();
    let group = Group { description: description?, schema: schema?, tests };
    let schema = group.schema.to_string();
    let size: usize = group.tests.iter().map(|test| schema.len() + test.data.to_string().len()).sum();
    if size > *room || nesting::depth(schema.as_bytes()) > LEVELS {
        // The lines are not shown, because they are too long.
        let (name, line) = (short(&group.description), reader.line(node.span));
        let large = reader.mistake(Lint::TooLarge, format!("the group `{name}` at line {line} is too large"));
        reader.push(large.help(
            "the limits are 100 levels per schema, and 768 kB per file with each schema counted once per instance",
        ));
        return None;
    }
    *room -= size;
    Some(group)
}

/// Shortens long comments. A comment has no meaning, and may be too long for a line of a case file.
fn with_short_comments(schema: Value) -> Value {
    const LONGEST: usize = 60;
    match schema {
        Value::Array(items) => items.into_iter().map(with_short_comments).collect(),
        Value::Object(members) => {
            let member = |(key, value): (String, Value)| {
                let value = match value.as_str().filter(|text| key == "$comment" && text.chars().count() > LONGEST) {
                    Some(text) => (text.chars().take(LONGEST).collect::<String>() + "…").into(),
                    None => with_short_comments(value),
                };
                (key, value)
            };
            Value::Object(members.into_iter().map(member).collect())
        }
        scalar => scalar,
    }
}

fn instance(reader: &mut Reader, node: &Node) -> Option<Instance> {
    let what = "a test of the suite";
    reader.members(node, what)?;
    let object = Object { node };
    let description = text(reader, object, what);
    let data = reader.need(object, what, "data").map(Node::value);
    let is_valid = reader.need(object, what, "valid").and_then(|node| reader.flag(node, "`valid`"));
    let data = data.filter(|data| nesting::depth(data.to_string().as_bytes()) <= LEVELS);
    Some(Instance { description: description?, data: data?, is_valid: is_valid? })
}

fn text(reader: &mut Reader, object: Object<'_>, what: &str) -> Option<String> {
    let node = reader.need(object, what, "description")?;
    reader.text(node, "`description`").map(str::to_owned)
}

fn short(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(60).collect()
}
