//! `requirements.json`: the sentences that cases check.
//!
//! Takes the tree of one such file, adds its requirements to the catalogue, each with its place.
//! Must not know the cases.

use std::collections::BTreeMap;
use std::sync::Arc;

use miette::SourceSpan;

use super::diagnostic::{File, Lint};
use super::node::{Member, Node};
use super::read::{Object, Reader};
use crate::model::RequirementId;
use crate::model::spec::{Also, Catalogue, Harm, Level, Requirement, Revision, Role};

/// The catalogue, and where each of its requirements was written down.
#[derive(Default)]
pub(super) struct Catalogued {
    pub(super) requirements: Catalogue,
    pub(super) places: BTreeMap<RequirementId, (Arc<File>, SourceSpan)>,
}

const KEYS: [&str; 10] = ["level", "roles", "since", "until", "source", "quote", "also", "harm", "why", "unobservable"];

impl Catalogued {
    /// Adds what one file says.
    pub(super) fn add(&mut self, reader: &mut Reader, folder: &str, root: &Node) {
        for member in reader.members(root, "a file of requirements").unwrap_or_default() {
            if &*member.key == "$schema" {
                reader.text(&member.value, "`$schema`");
                continue;
            }
            reader.id(&member.key, member.key_span, "the requirement");
            let id = RequirementId::within(folder, &member.key);
            if let Some((file, span)) = self.places.get(&id) {
                let (line, _) = super::diagnostic::position(file.inner(), span.offset());
                let twice = reader
                    .mistake(Lint::DuplicateRequirement, format!("the requirement `{id}` was written down before"));
                let help = format!("the other one is in {} at line {line}", file.name());
                reader.push(twice.at(member.key_span, "again here").help(help));
                continue;
            }
            self.places.insert(id.clone(), (reader.file(), member.key_span));
            if let Some(requirement) = requirement(reader, id.clone(), member) {
                self.requirements.insert(id, requirement);
            }
        }
    }
}

fn requirement(reader: &mut Reader, id: RequirementId, member: &Member) -> Option<Requirement> {
    let what = format!("the requirement `{}`", member.key);
    let object = reader.object(&member.value, &what, &KEYS)?;
    let level = reader.need(object, &what, "level").and_then(|node| reader.word(node, "`level`", Level::ALL));
    let roles = reader.need(object, &what, "roles").map(|node| roles(reader, object, node));
    let revisions = reader.revisions(object);
    if !Revision::all().any(|revision| revisions.contains(revision)) {
        let never = reader.mistake(Lint::NeverApplies, format!("{what} is in force on no revision"));
        reader.push(never.at(member.key_span, "`since` is later than `until`"));
    }
    let source = needed_text(reader, object, &what, "source");
    let quote = needed_text(reader, object, &what, "quote");
    let harm = reader.need(object, &what, "harm").and_then(|node| reader.word(node, "`harm`", Harm::ALL));
    let why = needed_text(reader, object, &what, "why");
    let unobservable = object.get("unobservable").and_then(|node| reader.text(node, "`unobservable`"));
    let also = object.get("also").and_then(|node| reader.items(node, "`also`")).unwrap_or_default();
    Some(Requirement {
        also: also.iter().filter_map(|node| self::also(reader, node)).collect(),
        unobservable: unobservable.map(str::to_owned),
        level: level?,
        roles: roles?,
        source: source?,
        quote: quote?,
        harm: harm?,
        why: why?,
        revisions,
        id,
    })
}

/// Whom it binds; nobody, only where nothing shows it.
fn roles(reader: &mut Reader, object: Object<'_>, node: &Node) -> Vec<Role> {
    let unobservable = object.get("unobservable").is_some();
    match &node.kind {
        super::node::Kind::Array(items) if items.is_empty() && unobservable => Vec::new(),
        _ if reader.items(node, "`roles`").is_some() => reader.words(node, "`roles`", Role::ALL),
        _ => Vec::new(),
    }
}

fn also(reader: &mut Reader, node: &Node) -> Option<Also> {
    let what = "an entry of `also`";
    let object = reader.object(node, what, &["level", "source", "quote", "when"])?;
    let level = reader.need(object, what, "level").and_then(|node| reader.word(node, "`level`", Level::ALL));
    let source = needed_text(reader, object, what, "source");
    let quote = needed_text(reader, object, what, "quote");
    let when = object.get("when").and_then(|node| reader.text(node, "`when`")).map(str::to_owned);
    Some(Also { level: level?, source: source?, quote: quote?, when })
}

fn needed_text(reader: &mut Reader, object: Object<'_>, what: &str, key: &str) -> Option<String> {
    reader.need(object, what, key).and_then(|node| reader.text(node, &format!("`{key}`"))).map(str::to_owned)
}
