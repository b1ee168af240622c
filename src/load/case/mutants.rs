//! The files `mutants.json`: variants of the reference that break the requirements of their folder, as data.
//!
//! Takes the tree of one such file, gives its mutants. Must not know how a message is changed.

use std::collections::BTreeSet;

use super::fixture::{json_pointer, pointer_text};
use crate::load::catalogue::{Catalogued, Entry};
use crate::load::text::diagnostic::Lint;
use crate::load::text::expand::plain;
use crate::load::text::node::{Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::RequirementId;
use crate::model::action;
use crate::model::case::{Case, When};
use crate::model::mutant::Mutant;
use crate::model::spec::Role;

const KEYS: [&str; 4] = ["role", "does", "breaks", "changes"];
const CHANGE: [&str; 5] = ["in", "if", "at", "set", "remove"];

/// The bytes of the changes of a mutant, which are a word of the reference's command.
const MOST_BYTES: usize = 64 << 10;

/// The methods that the reference answers or sends without a fixture.
const OWN: [&str; 7] = [
    "initialize",
    "logging/setLevel",
    "notifications/initialized",
    "ping",
    "server/discover",
    "tools/call",
    "tools/list",
];

/// The methods that occur in cases.
pub(in crate::load) fn methods<'c>(cases: impl Iterator<Item = &'c Case>) -> BTreeSet<String> {
    let mut methods: BTreeSet<_> = OWN.map(ToOwned::to_owned).into();
    for test in cases.flat_map(|case| &case.tests) {
        for method in &test.given.methods {
            methods.insert(method.name.clone());
            for reply in &method.replies {
                reply.visit(&mut |part| methods.extend(action::method(part).map(ToOwned::to_owned)));
            }
        }
        let sent = test.steps.iter().filter_map(|step| match &step.when {
            When::Send { message, .. } => action::method(message),
            _ => None,
        });
        methods.extend(sent.map(ToOwned::to_owned));
    }
    methods
}

/// Reads the mutants of one folder's file. `methods` are those that occur in the cases.
pub(in crate::load) fn mutants(
    reader: &mut Reader,
    folder: &str,
    root: &Node,
    catalogued: &Catalogued,
    methods: &BTreeSet<String>,
) -> Vec<Mutant> {
    let members = reader.members(root, "a file of mutants").unwrap_or_default();
    let named = members.iter().filter(|member| &*member.key != "$schema");
    named.filter_map(|member| mutant(reader, folder, member, catalogued, methods)).collect()
}

fn mutant(
    reader: &mut Reader,
    folder: &str,
    member: &Member,
    catalogued: &Catalogued,
    methods: &BTreeSet<String>,
) -> Option<Mutant> {
    let what = format!("the mutant `{}`", member.key);
    reader.id(&member.key, member.key_span, "the mutant");
    let object = reader.object(&member.value, &what, &KEYS)?;
    let role = reader.need(object, &what, "role").and_then(|node| reader.word(node, "`role`", &Role::SINGLE));
    let does = reader.need(object, &what, "does").and_then(|node| reader.text(node, "`does`"));
    let breaks = reader.need(object, &what, "breaks").map(|node| breaks(reader, folder, node, role, catalogued));
    let items = reader.need(object, &what, "changes").and_then(|node| reader.items(node, "`changes`"));
    if let (Some([]), Some(node)) = (items, object.get("changes")) {
        let none = reader.mistake(Lint::WrongCount, format!("{what} changes nothing"));
        reader.push(
            none.at(node.span, "an empty list")
                .help("add a change, as in `{\"in\": \"tools/list\", \"at\": \"/result\", \"remove\": true}`"),
        );
    }
    for item in items.unwrap_or_default() {
        change(reader, item, methods)?;
    }
    let changes: Vec<_> = items.unwrap_or_default().iter().map(|item| plain(reader, item, "a change")).collect();
    if serde_json::to_string(&changes).is_ok_and(|text| text.len() > MOST_BYTES) {
        let large = reader.mistake(Lint::TooLarge, format!("the changes of {what} have more than 64 KiB"));
        reader.push(large.at(member.key_span, "too large for a command line").help("set a smaller value"));
    }
    Some(Mutant { name: (*member.key).to_owned(), role: role?, does: does?.to_owned(), breaks: breaks?, changes })
}

/// Reads the requirements that a mutant violates, each as `ID` of its folder or as `FOLDER/ID`.
fn breaks(
    reader: &mut Reader,
    folder: &str,
    node: &Node,
    role: Option<Role>,
    catalogued: &Catalogued,
) -> Vec<RequirementId> {
    let mut breaks = Vec::new();
    for item in reader.items(node, "`breaks`").unwrap_or_default() {
        let Some(name) = reader.text(item, "a requirement") else { continue };
        let (folder, name) = name.split_once('/').unwrap_or((folder, name));
        let id = RequirementId::within(folder, name);
        let help = match catalogued.entry(&id) {
            Entry::Found(requirement) if role.is_none_or(|role| requirement.roles.contains(&role)) => None,
            Entry::Faulty => None,
            Entry::Found(_) => Some("its `roles` do not have the role of the mutant"),
            Entry::Missing | Entry::NoFile => Some("name a requirement of this folder, or another one as `FOLDER/ID`"),
        };
        if let Some(help) = help {
            let unknown =
                reader.mistake(Lint::UnknownRequirement, format!("a mutant cannot break `{id}` in this role"));
            reader.push(unknown.at(item.span, "no such requirement").help(help));
        }
        breaks.push(id);
    }
    breaks.sort();
    breaks
}

fn change(reader: &mut Reader, node: &Node, methods: &BTreeSet<String>) -> Option<()> {
    let what = "the change";
    let object: Object<'_> = reader.object(node, what, &CHANGE)?;
    let method = reader.need(object, what, "in")?;
    let name = reader.text(method, "`in`")?;
    if !methods.contains(name) {
        let unknown =
            reader.mistake(Lint::UnknownValue, format!("no case has the method `{name}`, so that nothing changes"));
        let known: Vec<_> = methods.iter().map(String::as_str).collect();
        reader.push(unknown.at(method.span, "unknown method").known(name, "the methods of the cases are", known));
    }
    if let Some(conditions) = object.get("if") {
        for member in reader.members(conditions, "`if`")? {
            pointer_text(reader, &member.key, member.key_span)?;
        }
    }
    let at = reader.need(object, what, "at")?;
    let place = json_pointer(reader, at, "`at`")?;
    if place.is_empty() {
        let whole = reader.mistake(Lint::UnknownValue, "`at` is the whole message");
        reader.push(whole.at(at.span, "no part of it").help("name a member, as in `/result`"));
    }
    match (object.get("set"), object.get("remove")) {
        (Some(status), None) if place == "/status" => reader.integer(status, "the status", 200, 599).map(|_| ()),
        (Some(_), None) => Some(()),
        (None, Some(remove)) => reader.yes(remove, "`remove`"),
        _ => {
            let unclear = reader.mistake(Lint::ConflictingKeys, "the change must have exactly one of `set`, `remove`");
            reader.push(
                unclear.at(node.span, "none or both of them").help("write `\"set\": VALUE` or `\"remove\": true`"),
            );
            None
        }
    }
}
