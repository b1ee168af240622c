//! The file `capabilities.json`: questions of readers, with the requirements and tests that decide them.
//!
//! Takes the tree of the file and the cases, and reports questions that name an unknown requirement or test. Must not know
//! how answers are computed.

use std::collections::BTreeSet;

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::Node;
use crate::load::text::read::{Object, Reader};
use crate::model::RequirementId;
use crate::model::capability::{Absence, Capability, CapabilityGroup, Decider, Lacking, Shown, Unasked, UnaskedAnswer};
use crate::model::case::Library;
use crate::model::spec::{Revision, Role};

const CAPABILITY: [&str; 9] = ["id", "question", "first", "right", "absent", "shows", "unasked", "since", "decided-by"];
/// The longest question, in characters.
const MOST: usize = 62;

/// Reads the groups of capabilities.
pub(in crate::load) fn groups(reader: &mut Reader, root: &Node, library: &Library) -> Vec<CapabilityGroup> {
    let mut reading = Reading { reader, library, names: Names::of(library), ids: BTreeSet::new() };
    let Some(object) = reading.reader.object(root, "a file of capabilities", &["$schema", "groups"]) else {
        return Vec::new();
    };
    let groups = reading.reader.need(object, "a file of capabilities", "groups");
    let items = groups.and_then(|node| reading.reader.items(node, "`groups`")).unwrap_or_default();
    items.iter().filter_map(|item| reading.group(item)).collect()
}

/// The names that an item can have as tests.
struct Names {
    folders: BTreeSet<String>,
    prefixes: BTreeSet<String>,
}

impl Names {
    fn of(library: &Library) -> Self {
        let mut names = Self { folders: BTreeSet::new(), prefixes: BTreeSet::new() };
        for case in &library.cases {
            names.folders.insert(case.id.folder().to_owned());
            names.prefixes.insert(case.id.to_string());
            for test in &case.tests {
                names.prefixes.insert(format!("{}/{}", case.id, test.id));
                names.prefixes.insert(test.path());
            }
        }
        names
    }
}

struct Reading<'r> {
    reader: &'r mut Reader,
    library: &'r Library,
    names: Names,
    ids: BTreeSet<String>,
}

impl Reading<'_> {
    fn group(&mut self, node: &Node) -> Option<CapabilityGroup> {
        let what = "a group of capabilities";
        let object = self.reader.object(node, what, &["id", "title", "role", "capabilities"])?;
        let id = self.reader.need(object, what, "id").and_then(|node| self.id(node));
        let title = self.reader.need(object, what, "title").and_then(|node| self.reader.text(node, "`title`"));
        let role = self.reader.need(object, what, "role");
        let role = role.and_then(|node| self.reader.word(node, "`role`", &Role::SINGLE));
        let listed = self.reader.need(object, what, "capabilities")?;
        let items = self.reader.items(listed, "`capabilities`")?;
        let capabilities = items.iter().filter_map(|item| self.capability(item)).collect();
        Some(CapabilityGroup { id: id?, title: title?.to_owned(), role: role?, capabilities })
    }

    fn capability(&mut self, node: &Node) -> Option<Capability> {
        let what = "a capability";
        let object = self.reader.object(node, what, &CAPABILITY)?;
        let id = self.reader.need(object, what, "id").and_then(|node| self.id(node));
        let question = self.reader.need(object, what, "question");
        let question = question.and_then(|node| Some((node, self.reader.text(node, "`question`")?)));
        if let Some((node, text)) = question
            && !text.ends_with('?')
        {
            let no = self.reader.mistake(Lint::TitleStyle, "the question of a capability ends with a question mark");
            self.reader.push(no.at(node.span, "no question"));
        }
        if let Some((node, text)) = question
            && text.chars().count() > MOST
        {
            let why = format!("the question of a capability has at most {MOST} characters");
            let long = self.reader.mistake(Lint::TitleStyle, why);
            self.reader.push(long.at(node.span, "too long for a table"));
        }
        let first = object.get("first").and_then(|node| self.reader.flag(node, "`first`"));
        let right = self.reader.need(object, what, "right");
        let right = right.and_then(|node| self.reader.word(node, "`right`", &["yes", "no"]));
        let absent = object.get("absent").and_then(|node| self.absence(node));
        let shows = object.get("shows").and_then(|node| self.shown(node));
        let unasked = object.get("unasked").and_then(|node| self.unasked(node, right == Some("yes")));
        let since = object.get("since").and_then(|node| {
            let all: Vec<_> = Revision::all().collect();
            self.reader.word(node, "`since`", &all)
        });
        let deciders = self.reader.need(object, what, "decided-by")?;
        let items = self.reader.items(deciders, "`decided-by`")?;
        let one = |item| decider(self.reader, item, self.library, &self.names);
        let decided_by = items.iter().filter_map(one).collect();
        Some(Capability {
            id: id?,
            question: question?.1.to_owned(),
            is_first: first.unwrap_or_default(),
            absent,
            shows,
            unasked,
            since,
            right_is_yes: right? == "yes",
            decided_by,
        })
    }

    /// Reads the test whose value is shown, and the value that readers expect.
    fn shown(&mut self, node: &Node) -> Option<Shown> {
        let what = "`shows`";
        let object = self.reader.object(node, what, &["test", "value"])?;
        let named = self.reader.need(object, what, "test")?;
        let test = self.reader.text(named, "`test`")?.to_owned();
        let path = test.rsplit_once('@').map_or(test.as_str(), |(path, _)| path);
        let is_read = path.split('/').next().is_some_and(|folder| self.names.folders.contains(folder));
        if is_read && (path == test || !self.names.prefixes.contains(path)) {
            let unknown = self.reader.mistake(Lint::UnknownTest, format!("`{test}` is not a test with its revision"));
            let help = "write FOLDER/FILE/TEST/ROW@REVISION";
            self.reader.push(unknown.at(named.span, "unknown test").help(help));
        }
        let value = self.reader.need(object, what, "value")?.value();
        Some(Shown { test, value })
    }

    /// Reads the answer where an SDK has no such thing.
    fn absence(&mut self, node: &Node) -> Option<Absence> {
        let what = "`absent`";
        let object = self.reader.object(node, what, &["words", "means"])?;
        let means = object.get("means").and_then(|node| self.reader.word(node, "`means`", Lacking::ALL));
        self.reader.need(object, what, "words")?;
        let words = self.reader.words_of_a_cell(object, "words")?;
        Some(Absence { words, answer: means.unwrap_or(Lacking::Nothing) })
    }

    /// Reads the answer of a target of which most checks were not asked.
    fn unasked(&mut self, node: &Node, right_is_yes: bool) -> Option<Unasked> {
        let what = "`unasked`";
        let object = self.reader.object(node, what, &["answer", "words", "cannot"])?;
        let answer = self.reader.need(object, what, "answer")?;
        let answer = match self.reader.word(answer, "`answer`", &["yes", "no", "absent"])? {
            "absent" => UnaskedAnswer::Absent,
            answer if (answer == "yes") == right_is_yes => UnaskedAnswer::Right,
            _ => UnaskedAnswer::Wrong,
        };
        let with_cannot = object.get("cannot").and_then(|node| self.reader.flag(node, "`cannot`")).unwrap_or_default();
        Some(Unasked { answer, words: self.reader.words_of_a_cell(object, "words"), with_cannot })
    }

    /// Reads an id that no other group or capability has.
    fn id(&mut self, node: &Node) -> Option<String> {
        let text = self.reader.text(node, "`id`")?;
        self.reader.id(text, node.span, "the capability");
        if !self.ids.insert(text.to_owned()) {
            let twice = self.reader.mistake(Lint::DuplicateKey, format!("two capabilities have the id `{text}`"));
            self.reader.push(twice.at(node.span, "used before"));
        }
        Some(text.to_owned())
    }
}

/// Reads a requirement and the tests that count, and reports those that do not exist.
fn decider(reader: &mut Reader, node: &Node, library: &Library, names: &Names) -> Option<Decider> {
    let what = "an item of `decided-by`";
    let object = reader.object(node, what, &["requirement", "tests", "short"])?;
    let named = reader.need(object, what, "requirement")?;
    let written = reader.text(named, "`requirement`")?;
    let requirement = RequirementId::within("", written);
    let is_known = library.requirements.contains_key(&requirement);
    if !is_known {
        let unknown = format!("the catalogue has no requirement `{written}`");
        let unknown = reader.mistake(Lint::UnknownRequirement, unknown);
        let known = library.requirements.keys().map(RequirementId::as_str);
        reader.push(unknown.at(named.span, "unknown requirement").known(written, "requirements are", known));
    }
    let tests = tests(reader, object, names);
    let short = reader.words_of_a_cell(object, "short");
    is_known.then_some(Decider { requirement, tests, short })
}

/// Reads the member `tests`.
fn tests(reader: &mut Reader, object: Object<'_>, names: &Names) -> Vec<String> {
    let items = object.get("tests").and_then(|node| reader.items(node, "`tests`")).unwrap_or_default();
    let mut found = Vec::new();
    for item in items {
        let Some(written) = reader.text(item, "an item of `tests`") else { continue };
        // A file that is checked alone may name the tests of a folder that is not read.
        let is_read = written.split('/').next().is_some_and(|folder| names.folders.contains(folder));
        if is_read && !names.prefixes.contains(written) && !names.folders.contains(written) {
            let unknown = reader.mistake(Lint::UnknownTest, format!("no test is named `{written}`"));
            let folder = written.split('/').next().unwrap_or_default();
            let known = names.prefixes.iter().map(String::as_str).filter(|name| name.starts_with(folder));
            reader.push(unknown.at(item.span, "unknown test").known(written, "its folder has", known));
            continue;
        }
        found.push(written.to_owned());
    }
    found
}
