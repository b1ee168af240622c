//! The requirement catalogue: the files `requirements.json`, with the sentences that cases check.
//!
//! Takes the tree of one such file, adds its requirements with their places. Must not know the cases.

pub(super) mod bcp14;
pub(super) mod exclusions;
pub(super) mod page;
pub(super) mod quotes;
pub(super) mod sentences;
pub(super) mod unquoted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use miette::SourceSpan;

use crate::load::text::diagnostic::{Diagnostic, File, Lint};
use crate::load::text::node::{Kind, Member, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::RequirementId;
use crate::model::spec::{Also, Catalogue, Harm, Level, Requirement, Revision, Role, Sides};

/// The catalogue, and the places of its requirements.
#[derive(Default)]
pub(super) struct Catalogued {
    pub(super) requirements: Catalogue,
    places: BTreeMap<RequirementId, (Arc<File>, SourceSpan)>,
    /// The folders that have a file of requirements.
    folders: BTreeSet<String>,
    /// Those of them whose file cannot be read, so that nothing is known of its requirements.
    unread: BTreeSet<String>,
    /// The requirements that `sides` name, with their places.
    named: Vec<Named>,
}

/// A requirement that a side of a pair breaks, where a requirement on pairs names it.
struct Named {
    id: RequirementId,
    side: Role,
    file: Arc<File>,
    span: SourceSpan,
}

/// The result of looking a requirement up.
pub(super) enum Entry<'a> {
    Found(&'a Requirement),
    /// The requirement is written down with a mistake, which is reported where it is written.
    Faulty,
    Missing,
    /// The folder of the requirement has no file of requirements.
    NoFile,
}

/// The most characters of `fix`.
const FIX: usize = 180;
#[rustfmt::skip]
const KEYS: [&str; 13] = [
    "level", "roles", "since", "until", "source", "quote", "also", "short", "fix", "harm", "why", "unobservable", "sides",
];

/// The site of which each `source` is a page.
const SITE: &str = "modelcontextprotocol.io/";

impl Catalogued {
    /// Adds the requirements of one folder's file; `None` stands for a file that is not JSON.
    pub(super) fn add(&mut self, reader: &mut Reader, folder: &str, root: Option<&Node>) {
        self.folders.insert(folder.to_owned());
        let Some(members) = root.and_then(|root| reader.members(root, "a file of requirements")) else {
            self.unread.insert(folder.to_owned());
            return;
        };
        for member in members {
            if &*member.key == "$schema" {
                reader.text(&member.value, "`$schema`");
                continue;
            }
            reader.id(&member.key, member.key_span, "the requirement");
            let id = RequirementId::within(folder, &member.key);
            if let Some((file, span)) = self.places.get(&id) {
                let (line, _) = crate::load::text::diagnostic::position(file.inner(), span.offset());
                let twice =
                    reader.mistake(Lint::DuplicateRequirement, format!("the requirement `{id}` is defined twice"));
                let help = format!("the other definition is in {} at line {line}; remove one", file.name());
                reader.push(twice.at(member.key_span, "defined again here").help(help));
                continue;
            }
            self.places.insert(id.clone(), (reader.file(), member.key_span));
            let sides = (Object { node: &member.value }).get("sides");
            let sides = sides.map(|node| sides_of(reader, node, &id, &mut self.named)).unwrap_or_default();
            if let Some(requirement) = requirement(reader, id.clone(), member) {
                self.requirements.insert(id, Requirement { sides, ..requirement });
            }
        }
    }

    /// Reports each requirement of `sides` that the catalogue does not have, or that does not bind the side.
    pub(super) fn check_sides(&self) -> Vec<Diagnostic> {
        let is_bound = |named: &Named, requirement: &Requirement| requirement.roles.contains(&named.side);
        let is_wrong = |named: &&Named| match self.entry(&named.id) {
            Entry::Found(requirement) => !is_bound(named, requirement),
            Entry::Faulty => false,
            Entry::Missing | Entry::NoFile => true,
        };
        let found = self.named.iter().filter(is_wrong).flat_map(|Named { id, side, file, span }| {
            let mut reader = Reader::new(Arc::clone(file));
            let message = format!("the catalogue has no requirement `{id}` on a {side}");
            let unknown = reader.mistake(Lint::UnknownRequirement, message).at(*span, "no such requirement");
            reader.push(unknown.help("name a requirement whose `roles` have this side"));
            reader.into_found()
        });
        found.collect()
    }

    /// The folders that have a file of requirements.
    pub(super) fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(String::as_str)
    }

    /// Looks a requirement up.
    pub(super) fn entry(&self, id: &RequirementId) -> Entry<'_> {
        let folder = id.as_str().split('/').next().unwrap_or_default();
        match self.requirements.get(id) {
            Some(requirement) => Entry::Found(requirement),
            None if self.places.contains_key(id) || self.unread.contains(folder) => Entry::Faulty,
            None if !self.folders.contains(folder) => Entry::NoFile,
            None => Entry::Missing,
        }
    }
}

fn requirement(reader: &mut Reader, id: RequirementId, member: &Member) -> Option<Requirement> {
    let what = format!("the requirement `{}`", member.key);
    let object = reader.object(&member.value, &what, &KEYS)?;
    let level = reader.need(object, &what, "level").and_then(|node| reader.word(node, "`level`", Level::ALL));
    let roles = reader.need(object, &what, "roles").and_then(|node| roles(reader, object, node));
    let revisions = reader.revisions(object);
    if !Revision::all().any(|revision| revisions.contains(revision)) {
        let never = reader.mistake(Lint::NeverApplies, format!("{what} is in force on no revision"));
        reader.push(never.at(member.key_span, "`since` is later than `until`").help("swap them, or leave one out"));
        return None;
    }
    let source = needed_source(reader, object, &what);
    let quote = needed_text(reader, object, &what, "quote");
    quoted(reader, object, level, quote.as_deref());
    let harm = reader.need(object, &what, "harm").and_then(|node| reader.word(node, "`harm`", Harm::ALL));
    let why = needed_text(reader, object, &what, "why");
    let short = reader.short(object);
    let fix = reader.few_words(object, "fix", FIX, "say what to do in one sentence");
    let unobservable = object.get("unobservable").and_then(|node| some_text(reader, node, "`unobservable`"));
    let also = object.get("also").and_then(|node| reader.items(node, "`also`")).unwrap_or_default();
    Some(Requirement {
        also: also.iter().filter_map(|node| self::also(reader, node)).collect(),
        unobservable,
        short,
        fix,
        sides: Sides::default(),
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

/// The roles that a requirement binds; `None` after a mistake. Only an unobservable requirement may bind no role.
fn roles(reader: &mut Reader, object: Object<'_>, node: &Node) -> Option<Vec<Role>> {
    let unobservable = object.get("unobservable").is_some();
    match &node.kind {
        Kind::Array(items) if items.is_empty() && unobservable => Some(Vec::new()),
        Kind::Array(items) if items.is_empty() => {
            let empty = reader.mistake(Lint::WrongCount, "`roles` is an empty list").at(node.span, "no item in it");
            let help = "name the sides that the requirement binds: `[\"server\"]`, `[\"client\"]` or both; only a \
                        requirement with `unobservable` can bind none";
            reader.push(empty.help(help));
            None
        }
        _ => {
            reader.items(node, "`roles`")?;
            Some(reader.words(node, "`roles`", Role::ALL)).filter(|roles| !roles.is_empty())
        }
    }
}

/// Reads the requirements that each side of a pair breaks.
fn sides_of(reader: &mut Reader, node: &Node, id: &RequirementId, named: &mut Vec<Named>) -> Sides {
    let Some(object) = reader.object(node, "`sides`", &["client", "server", "answer"]) else {
        return Sides::default();
    };
    let mut of = |key: &str, side: Role| {
        let mut ids = Vec::new();
        for item in object.get(key).and_then(|node| reader.items(node, &format!("`{key}`"))).unwrap_or_default() {
            let Some(written) = reader.text(item, "a requirement") else { continue };
            let one = RequirementId::within(id.folder(), written);
            named.push(Named { id: one.clone(), side, file: reader.file(), span: item.span });
            ids.push(one);
        }
        ids
    };
    Sides { client: of("client", Role::Client), server: of("server", Role::Server), answer: of("answer", Role::Client) }
}

/// Reports a level that differs from all keywords of BCP 14 in the quote. A quote without a keyword has any level.
fn quoted(reader: &mut Reader, object: Object<'_>, level: Option<Level>, quote: Option<&str>) {
    let (Some(level), Some(quote), Some(node)) = (level, quote, object.get("quote")) else { return };
    let keywords: BTreeSet<Level> = bcp14::keywords(quote).into_iter().map(|keyword| keyword.level).collect();
    if level != Level::Derived && !keywords.is_empty() && !keywords.contains(&level) {
        let found: Vec<_> = keywords.iter().map(|keyword| keyword.word()).collect();
        let message = format!("the level is {level}, and the quote has only {}", found.join(" and "));
        let other = reader.mistake(Lint::LevelNotQuoted, message).at(node.span, "this quote");
        reader.push(other.help("write the level of the sentence, or quote the sentence that has this level"));
    }
}

fn also(reader: &mut Reader, node: &Node) -> Option<Also> {
    let what = "an entry of `also`";
    let object = reader.object(node, what, &["level", "source", "quote", "when"])?;
    let level = reader.need(object, what, "level").and_then(|node| reader.word(node, "`level`", Level::ALL));
    let source = needed_source(reader, object, what);
    let quote = needed_text(reader, object, what, "quote");
    quoted(reader, object, level, quote.as_deref());
    let when = object.get("when").and_then(|node| some_text(reader, node, "`when` of `also`"));
    Some(Also { level: level?, source: source?, quote: quote?, when })
}

fn needed_text(reader: &mut Reader, object: Object<'_>, what: &str, key: &str) -> Option<String> {
    let node = reader.need(object, what, key)?;
    some_text(reader, node, &format!("`{key}`"))
}

/// A text of at least one character that is not a blank.
fn some_text(reader: &mut Reader, node: &Node, what: &str) -> Option<String> {
    let text = reader.text(node, what)?;
    if text.trim().is_empty() {
        let empty = reader.mistake(Lint::WrongCount, format!("{what} is empty"));
        let help = match what {
            "`quote`" => "copy the words of the sentence from the page that `source` names",
            "`why`" => "write one sentence on why the requirement matters",
            _ => "write the text, or leave the key out where it is optional",
        };
        reader.push(empty.at(node.span, "no text here").help(help));
        return None;
    }
    Some(text.to_owned())
}

/// A page of the specification's site, relative to it, with or without an anchor.
fn needed_source(reader: &mut Reader, object: Object<'_>, what: &str) -> Option<String> {
    let node = reader.need(object, what, "source")?;
    let text = reader.text(node, "`source`")?;
    let first = text.split(['/', '#']).next().unwrap_or_default();
    let is_name = |one: char| one.is_ascii_alphanumeric() || one == '-' || one == '_';
    if !first.is_empty() && first.chars().all(is_name) && !text.contains(char::is_whitespace) {
        return Some(text.to_owned());
    }
    let wrong =
        reader.mistake(Lint::UnknownValue, "`source` must be a page of the specification's site, relative to it");
    let rest = text.split_once(SITE).map(|(_, rest)| rest).filter(|rest| !rest.is_empty());
    let example = rest.unwrap_or("specification/2026-07-28/server/tools#tool-result");
    let help = format!("write `\"source\": \"{example}\"`; reports put https://{SITE} before it");
    reader.push(wrong.at(node.span, "not a relative path").help(help));
    None
}
