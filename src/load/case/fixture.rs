//! Fixtures: the server that the `given` of a case describes.
//!
//! Takes a `given` with the values of a row filled in, gives a [`Fixture`]. Must not know tests or expectations.

use miette::SourceSpan;

use super::elicit::elicit;
use super::methods;
use super::vacuous;
use crate::load::text::diagnostic::Lint;
use crate::load::text::expand::template;
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::case::{Change, Deviation, Does, Fixture, Pages, Tool, Written};
use crate::model::spec::{Revision, Role};
use crate::model::template::Template;

/// The keys of `given`.
const GIVEN: [&str; 6] = ["tools", "capabilities", "methods", "deviations", "pages", "revision"];

/// The help for a `does` without a behaviour, or with two.
const BEHAVIOURS: &str = "write one of `{\"echo\": true}`, `{\"return\": {\"structuredContent\": …}}`, `{\"raise\": \"TEXT\"}`, \
`{\"elicit\": {\"message\": …, \"requestedSchema\": …}}`, `{\"wait\": {\"started\": …, \"stopped\": …}}`, \
`{\"log\": {\"level\": …, \"data\": …}}`, `{\"progress\": {\"progress\": …}}`";

/// The members of a tool that some revision knows. A tool may have others.
const PARTS: [&str; 11] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "icons",
    "execution",
    "_meta",
    "typed",
    "does",
];

/// Reads `given`.
pub(super) fn fixture(reader: &mut Reader, node: &Node, role: Option<Role>) -> Option<Fixture> {
    let object = reader.object(node, "`given`", &GIVEN)?;
    let is_proposal = object.get("methods").is_some() || object.get("capabilities").is_some();
    let listed =
        object.get("tools").or_else(|| if is_proposal { None } else { reader.need(object, "`given`", "tools") });
    if listed.is_none() && !is_proposal {
        return None;
    }
    let tools = listed.map(|listed| tools(reader, listed, role)).unwrap_or_default();
    for key in ["deviations", "pages", "revision"] {
        // The server of a pair can speak another revision than its client, and divide its list.
        let is_allowed = role == Some(Role::Client) || role == Some(Role::Pair) && key != "deviations";
        if let Some(member) = object.member(key).filter(|_| role.is_some() && !is_allowed) {
            let message = format!("`{key}` is allowed only in tests of a client, which casebook serves");
            let mismatch = reader.mistake(Lint::RoleMismatch, message);
            let mismatch = mismatch.at(member.key_span, "a server is under test here");
            reader.push(mismatch.help(format!("remove `{key}`, or write `\"role\": \"client\"`")));
        }
    }
    let items = object.get("deviations").and_then(|node| reader.items(node, "`deviations`")).unwrap_or_default();
    let mut deviations = Vec::new();
    for item in items {
        let Some(one) = deviation(reader, item) else { continue };
        vacuous::deviation(reader, item, &one, &deviations, &tools);
        deviations.push(one);
    }
    let pages = object.get("pages").and_then(|node| pages(reader, node));
    let revision =
        object.get("revision").and_then(|node| reader.word(node, "`revision`", &Revision::all().collect::<Vec<_>>()));
    let capabilities = object.get("capabilities").map(|node| methods::capabilities(reader, node)).unwrap_or_default();
    let methods = object.get("methods").map(|node| methods::methods(reader, node)).unwrap_or_default();
    Some(Fixture { tools, capabilities, methods, deviations, pages, revision })
}

fn pages(reader: &mut Reader, node: &Node) -> Option<Pages> {
    let object = reader.object(node, "`pages`", &["size", "cursors"])?;
    let size = reader.need(object, "`pages`", "size")?;
    let size = reader.integer(size, "`size`", 1, i64::from(u16::MAX)).and_then(|size| usize::try_from(size).ok())?;
    let cursors = object.get("cursors").and_then(|node| reader.items(node, "`cursors`")).unwrap_or_default();
    let cursors = cursors.iter().filter_map(|cursor| reader.text(cursor, "a cursor").map(str::to_owned)).collect();
    Some(Pages { size, cursors })
}

fn tools(reader: &mut Reader, node: &Node, role: Option<Role>) -> Vec<Tool> {
    match &node.kind {
        Kind::Array(items) => items.iter().filter_map(|item| listed(reader, item, role)).collect(),
        Kind::Object(members) => members.iter().map(|member| named(reader, member, role)).collect(),
        _ => {
            reader.members(node, "`tools`");
            Vec::new()
        }
    }
}

/// A tool under its name, which is no member of it.
fn named(reader: &mut Reader, member: &Member, role: Option<Role>) -> Tool {
    if let Some(name) = (Object { node: &member.value }).member("name") {
        reader.unknown_key(name, &format!("the tool `{}`", member.key), &PARTS[1..]);
    }
    tool(reader, &member.key, &member.value, role)
}

/// A tool of a list, with its name as a member.
fn listed(reader: &mut Reader, node: &Node, role: Option<Role>) -> Option<Tool> {
    let name = reader.need(Object { node }, "the tool", "name").and_then(|name| reader.text(name, "a tool's `name`"));
    match name {
        Some(name) => Some(tool(reader, name, node, role)),
        None => reader.open_object(node, "the tool", &PARTS).and(None),
    }
}

fn tool(reader: &mut Reader, name: &str, node: &Node, role: Option<Role>) -> Tool {
    let what = format!("the tool `{name}`");
    let object = reader.open_object(node, &what, &PARTS);
    let code = object.and_then(|object| reader.need(object, &what, "does"));
    // A tool with a mistake keeps its name, so that the tests that call it do not report an unknown tool.
    let (does, code) = code.and_then(|node| does(reader, node, role)).unwrap_or((Does::Echo, Template::Null));
    let mut definition = vec![("name".to_owned(), Template::String(name.to_owned()))];
    let lacks_schema =
        |object: Object<'_>| object.get("inputSchema").is_none() && !reader.is_misspelt(object, "inputSchema");
    if object.is_some_and(lacks_schema) {
        let missing = reader.mistake(Lint::MissingKey, format!("{what} has no `inputSchema`"));
        let help = "add it, as in `\"inputSchema\": {\"type\": \"object\"}`; for a tool without one, write \
                    `\"inputSchema\": {\"@absent\": true}`";
        reader.push(missing.at(first(node), "`inputSchema` is missing in this object").help(help));
    }
    for member in node.members().iter().filter(|member| !matches!(&*member.key, "name" | "does")) {
        let part = template(reader, &member.value);
        if matches!(&*member.key, "title" | "description" | "typed") && !is_text(&part) {
            reader.text(&member.value, &format!("`{}`", member.key));
        }
        definition.push(((*member.key).to_owned(), part));
    }
    definition.push(("does".to_owned(), code));
    Tool { name: name.to_owned(), definition: Template::Object(definition), does }
}

fn is_text(template: &Template) -> bool {
    use Template::{Absent, Generated, Revision, String, Unique};
    matches!(template, String(_) | Unique(_) | Revision | Generated(_) | Absent)
}

fn does(reader: &mut Reader, node: &Node, role: Option<Role>) -> Option<(Does, Template)> {
    let known: Vec<&str> = Does::ALL.iter().map(|does| does.word()).collect();
    let object = reader.object(node, "`does`", &known)?;
    let mut behaviours = Does::ALL.iter().filter_map(|does| Some((*does, object.get(does.word())?)));
    let Some((does, how)) = behaviours.next() else {
        if known.iter().any(|word| reader.is_misspelt(object, word)) {
            return None;
        }
        let missing = reader.mistake(Lint::MissingKey, "`does` has no behaviour");
        reader.push(missing.at(first(node), "no behaviour in it").help(BEHAVIOURS));
        return None;
    };
    if let Some((other, _)) = behaviours.next() {
        let both = reader.mistake(Lint::ConflictingKeys, format!("a tool cannot both `{does}` and `{other}`"));
        reader.push(both.at(node.span, "two behaviours").help(BEHAVIOURS));
        return None;
    }
    match does {
        Does::Echo => reader.yes(how, "`echo`")?,
        Does::Raise => drop(reader.text(how, "`raise`")?),
        Does::Return => drop(reader.object(how, "`return`", &["structuredContent", "content", "isError"])?),
        Does::Elicit => elicit(reader, how, role)?,
        Does::Wait => effect(reader, how, role, does, &["started", "stopped"], &[])?,
        Does::Log => effect(reader, how, role, does, &["level", "data"], &["logger"])?,
        Does::Progress => effect(reader, how, role, does, &["progress"], &["total", "message"])?,
    }
    Some((does, template(reader, node)))
}

/// Reads a behaviour with effects besides its result, which only the code of a server under test has.
fn effect(
    reader: &mut Reader,
    node: &Node,
    role: Option<Role>,
    does: Does,
    required: &[&str],
    optional: &[&str],
) -> Option<()> {
    if role == Some(Role::Client) {
        let message = format!("`{does}` is allowed only in tests of a server");
        let mismatch = reader.mistake(Lint::RoleMismatch, message).at(node.span, "the client is under test here");
        reader.push(mismatch.help("write another behaviour, such as `{\"echo\": true}`"));
    }
    let what = format!("`{does}`");
    let object = reader.object(node, &what, &[required, optional].concat())?;
    for key in required {
        reader.need(object, &what, key);
    }
    Some(())
}

/// The keys of a deviation, each with a kind of change.
const CHANGES: [&str; 6] = ["set", "remove", "http", "before", "written", "unanswered"];

fn deviation(reader: &mut Reader, node: &Node) -> Option<Deviation> {
    let what = "the deviation";
    let object = reader.object(node, what, &[&["in", "times", "at"], CHANGES.as_slice()].concat())?;
    let method = reader.need(object, what, "in").and_then(|node| reader.text(node, "`in`"))?.to_owned();
    let times = object.get("times").and_then(|node| reader.integer(node, "`times`", 1, i64::from(u16::MAX)));
    let mut changes = CHANGES.iter().filter_map(|key| Some((*key, object.get(key)?)));
    let (Some((key, value)), None) = (changes.next(), changes.next()) else {
        let message =
            "the deviation must have exactly one of `set`, `remove`, `http`, `before`, `written`, `unanswered`";
        let unclear = reader.mistake(Lint::ConflictingKeys, message);
        let help = "write `at` with `set`, `at` with `\"remove\": true`, `http`, `before`, `written`, or `\"unanswered\": true`";
        reader.push(unclear.at(node.span, "none or several of them").help(help));
        return None;
    };
    let change = match key {
        "set" => Change::Set { at: pointer(reader, object, what)?, value: template(reader, value) },
        "remove" => {
            reader.yes(value, "`remove`")?;
            Change::Remove { at: pointer(reader, object, what)? }
        }
        "before" => {
            reader.members(value, "`before`")?;
            Change::Before { message: template(reader, value) }
        }
        "written" => Change::Written(reader.word(value, "`written`", Written::ALL)?),
        "unanswered" => {
            reader.yes(value, "`unanswered`")?;
            Change::Unanswered
        }
        _ => reply(reader, value)?,
    };
    Some(Deviation { method, times: times.and_then(|times| u64::try_from(times).ok()), change })
}

fn pointer(reader: &mut Reader, object: Object<'_>, what: &str) -> Option<String> {
    let node = reader.need(object, what, "at")?;
    json_pointer(reader, node, "`at`")
}

/// Reads a JSON Pointer.
pub(super) fn json_pointer(reader: &mut Reader, node: &Node, what: &str) -> Option<String> {
    let text = reader.text(node, what)?;
    pointer_text(reader, text, node.span)
}

/// Checks a JSON Pointer at a place of the file.
pub(super) fn pointer_text(reader: &mut Reader, text: &str, span: SourceSpan) -> Option<String> {
    if !text.is_empty() && !text.starts_with('/') {
        let wrong = reader.mistake(Lint::UnknownValue, format!("`{text}` is not a JSON Pointer"));
        let help = format!("write `/{}`", text.replace('.', "/"));
        reader.push(wrong.at(span, "does not begin with `/`").help(help));
        return None;
    }
    if text.split('~').skip(1).any(|after| !after.starts_with(['0', '1'])) {
        let wrong = reader.mistake(Lint::UnknownValue, format!("`{text}` is not a JSON Pointer"));
        reader.push(wrong.at(span, "an escape that does not exist").help("write `~0` for `~`, and `~1` for `/`"));
        return None;
    }
    Some(text.to_owned())
}

fn reply(reader: &mut Reader, node: &Node) -> Option<Change> {
    let object = reader.object(node, "`http`", &["status", "headers", "cut-after"])?;
    let status = object.get("status").and_then(|node| reader.integer(node, "`status`", 100, 599));
    let cut_after = object.get("cut-after").and_then(|node| reader.count(node, "`cut-after`", 64 << 20));
    let mut headers = Vec::new();
    for member in object.get("headers").and_then(|node| reader.members(node, "`headers`")).unwrap_or_default() {
        let value = reader.text(&member.value, &format!("the header `{}`", member.key));
        headers.extend(value.map(|value| ((*member.key).to_owned(), value.to_owned())));
    }
    Some(Change::Http { status: status.and_then(|status| u16::try_from(status).ok()), headers, cut_after })
}

/// The first character of a node, the place of a missing key.
fn first(node: &Node) -> SourceSpan {
    SourceSpan::new(node.span.offset().into(), 1)
}
