//! Typed reading: each function expects a certain type of a node, and reports a node of another type.
//!
//! Takes [`Node`]s, gives plain values, or `None` after it has noted a diagnostic; the reading of a file goes on. Must
//! not know what a case means.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8Path;
use serde_json::Value;

use super::diagnostic::{Diagnostic, File, Lint, did_you_mean};
use super::node::{Kind, Member, Node};
use crate::model::is_id;
use crate::model::spec::{DRAFT, Revision, Revisions};

/// The most characters of the words for a cell of a table.
pub(in crate::load) const SHORT: usize = 40;

/// The number of diagnostics of one file. Each one is shown with its lines, which are searched for from the beginning
/// of the file.
const MOST_FOUND: usize = 200;

/// Reads one file, and keeps the diagnostics.
pub(crate) struct Reader {
    file: Arc<File>,
    /// The ends of its lines. Each check asks for the number of its line.
    ends: Vec<usize>,
    /// The last valid schema at each place. Most rows repeat it unchanged.
    schemas: BTreeMap<usize, Value>,
    found: Vec<Diagnostic>,
    /// The mistakes that count only if every row has them, by place; `None` where some row does not have it.
    doubts: BTreeMap<usize, Option<Diagnostic>>,
    /// `true` if the file has errors that are not reported.
    is_full: bool,
}

/// An object whose keys were checked.
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
        Self {
            ends: ends.collect(),
            file,
            schemas: BTreeMap::new(),
            found: Vec::new(),
            doubts: BTreeMap::new(),
            is_full: false,
        }
    }

    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(crate) fn into_found(self) -> Vec<Diagnostic> {
        self.found
    }

    /// Returns whether the file has an error.
    pub(crate) fn failed(&self) -> bool {
        self.found.iter().any(Diagnostic::is_error)
    }

    /// Begins a diagnostic of this file.
    pub(crate) fn mistake(&self, lint: Lint, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(lint, &self.file, message)
    }

    /// Keeps a diagnostic, once. Of very many, it keeps the first, and whether the others have an error among them.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.found.iter().any(|known| known.same(&diagnostic)) {
            return;
        }
        if self.found.len() < MOST_FOUND {
            self.found.push(diagnostic);
        } else if diagnostic.is_error() && !self.is_full {
            self.is_full = true;
            self.found.push(self.mistake(Lint::TooLarge, "the file has more mistakes than are shown"));
        }
    }

    /// Keeps a diagnostic, unless the file has one with the same message already.
    pub(crate) fn push_once(&mut self, diagnostic: Diagnostic) {
        if !self.found.iter().any(|known| known.repeats(&diagnostic)) {
            self.push(diagnostic);
        }
    }

    /// Notes what one row shows of a place: a mistake, or `None` if there is none with this row.
    pub(crate) fn doubt(&mut self, place: miette::SourceSpan, doubt: Option<Diagnostic>) {
        match doubt {
            Some(doubt) => drop(self.doubts.entry(place.offset()).or_insert(Some(doubt))),
            None => drop(self.doubts.insert(place.offset(), None)),
        }
    }

    /// Reports the mistakes that every row has.
    pub(crate) fn report_doubts(&mut self) {
        for doubt in std::mem::take(&mut self.doubts).into_values().flatten() {
            self.push(doubt);
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

    /// Returns whether this schema was found valid at this place before.
    pub(crate) fn is_known_schema(&self, span: miette::SourceSpan, schema: &Value) -> bool {
        self.schemas.get(&span.offset()) == Some(schema)
    }

    /// Notes a valid schema.
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

    /// An object with these keys and any others. A key that resembles one of them is a mistake, and so is a placeholder.
    pub(crate) fn open_object<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Option<Object<'n>> {
        for member in self.members(node, what)? {
            // Most keys are right, and a search for similar words costs more than the rest of loading.
            let is_known = known.contains(&&*member.key);
            if !is_known && (member.key.starts_with('@') || did_you_mean(&member.key, known).is_some()) {
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

    /// A list, or one item that stands for a list of one.
    pub(crate) fn one_or_more<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        let Kind::Array(items) = &node.kind else { return std::slice::from_ref(node) };
        if items.is_empty() {
            let empty = self.mistake(Lint::WrongCount, format!("{what} is an empty list"));
            self.push(empty.at(node.span, "no item in it").help("add an item, or leave the key out"));
        }
        items
    }

    pub(crate) fn text<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n str> {
        match &node.kind {
            Kind::String(text) => Some(text),
            _ => self.wrong(node, what, "a string"),
        }
    }

    /// Reads the key `short`: what happens instead, for the cell of a table.
    pub(crate) fn short(&mut self, object: Object<'_>) -> Option<String> {
        self.words_of_a_cell(object, "short")
    }

    /// Reads a key with the words for the cell of a table.
    pub(crate) fn words_of_a_cell(&mut self, object: Object<'_>, key: &str) -> Option<String> {
        self.few_words(object, key, SHORT, "say in a few words what happens instead")
    }

    /// Reads a key with a text of at most so many characters.
    pub(crate) fn few_words(&mut self, object: Object<'_>, key: &str, most: usize, help: &str) -> Option<String> {
        let node = object.get(key)?;
        let text = self.text(node, &format!("`{key}`"))?;
        let count = text.chars().count();
        if count == 0 || count > most {
            let wrong = self.mistake(Lint::TitleStyle, format!("`{key}` must have 1 to {most} characters"));
            self.push(wrong.at(node.span, format!("{count} characters")).help(help));
        }
        Some(text.to_owned())
    }

    pub(crate) fn flag(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.kind {
            Kind::Bool(value) => Some(value),
            _ => self.wrong(node, what, "`true` or `false`"),
        }
    }

    /// The value `true`, for keys that have no other value.
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
            Kind::String(text) if text.parse::<i64>().is_ok() => {
                let wrong = self.mistake(Lint::WrongType, format!("{what} must be an integer, not a string"));
                self.push(wrong.at(node.span, "expected an integer").help(format!("write {text} without quotes")));
                return None;
            }
            _ => return self.wrong(node, what, "an integer"),
        };
        match number {
            Some(number) if (least..=most).contains(&number) => Some(number),
            _ if (least, most) == (i64::MIN, i64::MAX) => self.wrong(node, what, "an integer"),
            _ => self.wrong(node, what, &format!("an integer from {least} to {most}")),
        }
    }

    /// A number of something, from 0 to `most`.
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
            self.mistake(Lint::UnknownValue, format!("{what} cannot be `{text}`")).at(node.span, "unknown value");
        self.push(unknown.known(text, "expected one of", all.iter().map(AsRef::as_ref)));
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
                let twice = self.mistake(Lint::WrongCount, format!("{what} has `{}` twice", word.as_ref()));
                self.push(twice.at(item.span, "again here").help("remove one of them"));
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
        let names: Vec<&str> = all.iter().map(|one| one.name()).chain([DRAFT]).collect();
        let since = object.get("since").and_then(|node| self.word(node, "`since`", &names));
        let until = object.get("until").and_then(|node| self.word(node, "`until`", &all));
        Revisions { since: since.and_then(|name| name.parse().ok()), until, is_draft: since == Some(DRAFT) }
    }

    /// The value of a required key.
    pub(crate) fn need<'n>(&mut self, object: Object<'n>, what: &str, key: &str) -> Option<&'n Node> {
        let found = object.get(key);
        if found.is_none() && !self.is_misspelt(object, key) {
            let missing = self.mistake(Lint::MissingKey, format!("{what} has no `{key}`"));
            let start = miette::SourceSpan::new(object.node.span.offset().into(), 1);
            let missing = missing.at(start, format!("`{key}` is missing in this object"));
            self.push(match self.example(key) {
                Some(example) => missing.help(format!("add it, as in {example}")),
                None => missing,
            });
        }
        found
    }

    /// Returns whether the object has an unknown key that was probably meant as this one, and was reported as such.
    pub(crate) fn is_misspelt(&self, object: Object<'_>, key: &str) -> bool {
        let is_reported = |member: &&Member| {
            let at = member.key_span.offset();
            self.found.iter().any(|found| found.lint() == Lint::UnknownKey && found.order().1 == at)
        };
        let mut unknown = object.node.members().iter().filter(is_reported);
        unknown.any(|member| did_you_mean(&member.key, &[key]).is_some())
    }

    /// Checks a part of a test's name: kebab-case, at most 60 characters.
    pub(crate) fn id(&mut self, id: &str, span: miette::SourceSpan, what: &str) {
        if !is_id(id) {
            let style = self.mistake(Lint::IdStyle, format!("the name of {what} `{id}` is not in kebab-case"));
            self.push(
                style
                    .at(span, "not kebab-case")
                    .help("use small letters and digits, with single `-` between them, at most 60 characters"),
            );
        }
    }

    pub(crate) fn unknown_key(&mut self, member: &Member, what: &str, known: &[&str]) {
        let unknown = self.mistake(Lint::UnknownKey, format!("unknown key `{}` in {what}", member.key));
        let unknown = unknown.at(member.key_span, "unknown key");
        self.push(if known.is_empty() {
            unknown.help("no key is allowed here: leave the object empty")
        } else {
            unknown.known(&member.key, "expected one of", known.iter().copied())
        });
    }

    fn wrong<T>(&mut self, node: &Node, what: &str, wanted: &str) -> Option<T> {
        if !matches!(node.kind, Kind::Missing) {
            let found = match &node.kind {
                Kind::Number(number) => number.to_string(),
                Kind::Bool(value) => format!("`{value}`"),
                _ => node.describe().to_owned(),
            };
            let wrong = self.mistake(Lint::WrongType, format!("{what} must be {wanted}, not {found}"));
            let wrong = wrong.at(node.span, format!("expected {wanted}"));
            self.push(match self.example(what.trim_matches('`')) {
                Some(example) => wrong.help(format!("write it as in {example}")),
                None => wrong,
            });
        }
        None
    }

    /// An example of a key in a JSON file.
    fn example(&self, key: &str) -> Option<&'static str> {
        example(key).filter(|_| Utf8Path::new(self.file.name()).extension() == Some("json"))
    }
}

/// An example of a key with its value, for keys whose value is not evident from the name.
fn example(key: &str) -> Option<&'static str> {
    Some(match key {
        "$schema" => "`\"$schema\": \"../schemas/case.json\"`",
        "title" => "`\"title\": \"Arguments that violate the schema are refused\"`",
        "role" => "`\"role\": \"server\"`",
        "given" => {
            "`\"given\": {\"tools\": {\"send\": {\"inputSchema\": {\"type\": \"object\"}, \"does\": {\"echo\": true}}}}`"
        }
        "tests" => "`\"tests\": {\"accepts\": {\"when\": {…}, \"then\": {…}}}`",
        "when" => "`\"when\": {\"call\": \"send\", \"arguments\": {}}`",
        "then" => "`\"then\": {\"inputs-validated\": {\"outcome\": \"success\"}}`, or `\"then\": \"observe\"`",
        "as" => "`\"as\": \"refused\"`, the name under which reports show the alternative",
        "tools" => "`\"tools\": {\"send\": {…}}`",
        "does" => "`\"does\": {\"echo\": true}`",
        "roles" => "`\"roles\": [\"server\"]`",
        "level" => "`\"level\": \"MUST\"`",
        "source" => "`\"source\": \"specification/2026-07-28/server/tools#tool-result\"`",
        "quote" => "`\"quote\": \"Servers MUST validate all tool inputs\"`, the exact words of the page",
        "harm" => "`\"harm\": \"interop\"`",
        "why" => "`\"why\": \"…\"`, one sentence on why the requirement matters",
        "rows" => "`\"rows\": {\"small\": {\"value\": 1}, \"large\": {\"value\": 9}}`",
        "steps" => "`\"steps\": [{\"when\": {…}, \"then\": {…}}, {…}]`",
        "control" => {
            "`\"control\": \"file\"`, `\"row\"` for the other tests of the same row, or a list of names of tests"
        }
        "since" => "`\"since\": \"2026-07-28\"`, a revision of the protocol",
        "until" => "`\"until\": \"2025-11-25\"`, a revision of the protocol",
        "step-limit" => "`\"step-limit\": 3`, in seconds",
        "echo" => "`\"does\": {\"echo\": true}`; another behaviour is `return`, `raise` or `elicit`",
        "keeps" => "`\"keeps\": [\"/inputSchema/anyOf\"]`",
        "deviations" => "`\"deviations\": [{\"in\": \"tools/list\", \"at\": \"/result/tools\", \"set\": 7}]`",
        _ => return None,
    })
}
