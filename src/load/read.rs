//! Typed reading: a node should be this or that, and if it isn't, that is noted and the reading goes on.
//!
//! Takes [`Node`]s, gives plain values or `None` after a diagnostic. Must not know what a case means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::diagnostic::{Diagnostic, File, Lint};
use super::node::{Kind, Member, Node};
use crate::model::is_id;
use crate::model::spec::{Revision, Revisions};

/// How much is told of one file: each mistake is shown with its lines, which are looked for from the file's beginning.
const MOST_FOUND: usize = 200;

/// Reads one file, and keeps what it finds wrong.
pub(crate) struct Reader {
    file: Arc<File>,
    /// Where its lines end: what a check is known by is asked for very often.
    ends: Vec<usize>,
    /// The last schema at each place that was good: rows repeat most of them as they are.
    schemas: BTreeMap<usize, Value>,
    found: Vec<Diagnostic>,
    /// Whether there are mistakes that aren't told.
    is_full: bool,
}

/// An object whose keys were looked at.
#[derive(Clone, Copy)]
pub(crate) struct Object<'n> {
    pub(crate) node: &'n Node,
}

impl<'n> Object<'n> {
    pub(crate) fn member(self, key: &str) -> Option<&'n Member> {
        self.node.members().iter().find(|member| *member.key == *key)
    }

    pub(crate) fn get(self, key: &str) -> Option<&'n Node> {
        self.member(key).map(|member| &member.value)
    }
}

impl Reader {
    pub(crate) fn new(file: Arc<File>) -> Self {
        let ends = file.inner().bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(place, _)| place);
        Self { ends: ends.collect(), file, schemas: BTreeMap::new(), found: Vec::new(), is_full: false }
    }

    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(crate) fn into_found(self) -> Vec<Diagnostic> {
        self.found
    }

    /// Whether something was found that keeps a run from starting.
    pub(crate) fn failed(&self) -> bool {
        self.found.iter().any(Diagnostic::is_error)
    }

    /// Begins a diagnostic of this file.
    pub(crate) fn mistake(&self, lint: Lint, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(lint, &self.file, message)
    }

    /// Keeps a diagnostic, once. Of very many the first are kept; that one of the others is a mistake isn't forgotten.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.found.iter().any(|known| known.same(&diagnostic)) {
            return;
        }
        if self.found.len() < MOST_FOUND {
            self.found.push(diagnostic);
        } else if diagnostic.is_error() && !self.is_full {
            self.is_full = true;
            self.found.push(self.mistake(Lint::TooLarge, "the file has more mistakes than are told here"));
        }
    }

    /// Returns whether no further mistake will be reported.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The line of a place, counted from 1.
    pub(crate) fn line(&self, span: miette::SourceSpan) -> usize {
        self.ends.partition_point(|end| *end < span.offset()) + 1
    }

    /// Returns whether this schema was found good at this place before.
    pub(crate) fn is_known_schema(&self, span: miette::SourceSpan, schema: &Value) -> bool {
        self.schemas.get(&span.offset()) == Some(schema)
    }

    /// Notes a good schema.
    pub(crate) fn know_schema(&mut self, span: miette::SourceSpan, schema: &Value) {
        self.schemas.insert(span.offset(), schema.clone());
    }

    /// An object with these keys and no others.
    pub(crate) fn object<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Option<Object<'n>> {
        for member in self.members(node, what)? {
            if !known.contains(&&*member.key) {
                self.unknown_key(member, what, known);
            }
        }
        Some(Object { node })
    }

    /// The members of an object whose keys are free.
    pub(crate) fn members<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Member]> {
        match &node.kind {
            Kind::Object(members) => Some(members),
            _ => self.wrong(node, what, "an object"),
        }
    }

    pub(crate) fn items<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.kind {
            Kind::Array(items) => Some(items),
            _ => self.wrong(node, what, "a list"),
        }
    }

    /// A list, or one of what could be in it.
    pub(crate) fn one_or_more<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        let Kind::Array(items) = &node.kind else { return std::slice::from_ref(node) };
        if items.is_empty() {
            let empty = self.mistake(Lint::WrongCount, format!("{what} is an empty list"));
            self.push(empty.at(node.span, "nothing in it").help("leave the key out, or say what it may be"));
        }
        items
    }

    pub(crate) fn text<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        match &node.kind {
            Kind::String(text) => Some(text),
            _ => self.wrong(node, what, "a string"),
        }
    }

    pub(crate) fn flag(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.kind {
            Kind::Bool(value) => Some(value),
            _ => self.wrong(node, what, "`true` or `false`"),
        }
    }

    /// `true`, for keys that mean something by being there.
    pub(crate) fn yes(&mut self, node: &Node, what: &str) -> Option<()> {
        match node.kind {
            Kind::Bool(true) => Some(()),
            _ => self.wrong(node, what, "`true`"),
        }
    }

    /// An integer between these two, both included.
    pub(crate) fn integer(&mut self, node: &Node, what: &str, least: i64, most: i64) -> Option<i64> {
        let number = match &node.kind {
            Kind::Number(number) => number.as_i64(),
            _ => return self.wrong(node, what, "an integer"),
        };
        match number {
            Some(number) if (least..=most).contains(&number) => Some(number),
            _ if (least, most) == (i64::MIN, i64::MAX) => self.wrong(node, what, "an integer"),
            _ => self.wrong(node, what, &format!("an integer from {least} to {most}")),
        }
    }

    /// How many: an integer of the generators and limits.
    pub(crate) fn count(&mut self, node: &Node, what: &str, most: i64) -> Option<usize> {
        self.integer(node, what, 0, most).and_then(|count| usize::try_from(count).ok())
    }

    /// One word of a closed vocabulary.
    pub(crate) fn word<W: Copy + AsRef<str>>(&mut self, node: &Node, what: &str, all: &[W]) -> Option<W> {
        let text = self.text(node, what)?;
        if let Some(word) = all.iter().find(|word| (*word).as_ref() == text) {
            return Some(*word);
        }
        let unknown =
            self.mistake(Lint::UnknownValue, format!("{what} can't be `{text}`")).at(node.span, "no such word");
        self.push(unknown.known(text, "it is one of", all.iter().map(AsRef::as_ref)));
        None
    }

    /// One or more words, each once.
    pub(crate) fn words<W: Copy + AsRef<str> + Ord>(&mut self, node: &Node, what: &str, all: &[W]) -> Vec<W> {
        let mut seen = BTreeSet::new();
        let mut words = Vec::new();
        for item in self.one_or_more(node, what) {
            let Some(word) = self.word(item, what, all) else { continue };
            if seen.insert(word) {
                words.push(word);
            } else {
                self.push(
                    self.mistake(Lint::WrongCount, format!("{what} says `{}` twice", word.as_ref()))
                        .at(item.span, "again"),
                );
            }
        }
        words
    }

    /// A text, or a list of lines.
    pub(crate) fn note(&mut self, object: Object<'_>) -> Vec<String> {
        let Some(node) = object.get("note") else { return Vec::new() };
        self.one_or_more(node, "`note`")
            .iter()
            .filter_map(|line| self.text(line, "`note`"))
            .map(str::to_owned)
            .collect()
    }

    /// `since` and `until`.
    pub(crate) fn revisions(&mut self, object: Object<'_>) -> Revisions {
        let all: Vec<Revision> = Revision::all().collect();
        let since = object.get("since").and_then(|node| self.word(node, "`since`", &all));
        let until = object.get("until").and_then(|node| self.word(node, "`until`", &all));
        Revisions { since, until }
    }

    /// A key that must be there.
    pub(crate) fn need<'n>(&mut self, object: Object<'n>, what: &str, key: &str) -> Option<&'n Node> {
        let found = object.get(key);
        if found.is_none() {
            let missing = self.mistake(Lint::MissingKey, format!("{what} lacks `{key}`"));
            let start = miette::SourceSpan::new(object.node.span.offset().into(), 1);
            self.push(missing.at(start, format!("no `{key}` in here")));
        }
        found
    }

    /// A part of a test's name: kebab-case, at most 60 characters.
    pub(crate) fn id(&mut self, id: &str, span: miette::SourceSpan, what: &str) {
        if !is_id(id) {
            let style = self.mistake(Lint::IdStyle, format!("{what} `{id}` can't be part of a test's name"));
            self.push(
                style
                    .at(span, "not kebab-case")
                    .help("small letters and digits, with single `-` between them, at most 60"),
            );
        }
    }

    fn unknown_key(&mut self, member: &Member, what: &str, known: &[&str]) {
        let unknown = self.mistake(Lint::UnknownKey, format!("{what} has no key `{}`", member.key));
        self.push(unknown.at(member.key_span, "no such key").known(&member.key, "its keys", known.iter().copied()));
    }

    fn wrong<T>(&mut self, node: &Node, what: &str, wanted: &str) -> Option<T> {
        if !matches!(node.kind, Kind::Missing) {
            let wrong = self.mistake(Lint::WrongType, format!("{what} should be {wanted}"));
            self.push(wrong.at(node.span, format!("{} here", node.describe())));
        }
        None
    }
}
