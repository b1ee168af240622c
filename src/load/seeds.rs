//! The files `seeds.json`: documents from which the cases of a folder were made, paragraph by paragraph.
//!
//! Takes the tree of one such file and the cases, and reports paragraphs that name an unknown requirement or test. Must not
//! know how coverage is shown.

use std::collections::BTreeSet;

use super::diagnostic::Lint;
use super::node::{Member, Node};
use super::read::{Object, Reader};
use crate::model::RequirementId;
use crate::model::case::Library;
use crate::model::seed::{Paragraph, Seed};

const PARAGRAPH: [&str; 4] = ["says", "requirements", "tests", "reason"];

/// Reads the seeds of one folder.
pub(super) fn seeds(reader: &mut Reader, folder: &str, root: &Node, library: &Library) -> Vec<Seed> {
    let members = reader.members(root, "a file of seeds").unwrap_or_default();
    let names = Names::of(library);
    let seeds = members.iter().filter(|member| &*member.key != "$schema");
    seeds.filter_map(|member| seed(reader, folder, member, library, &names)).collect()
}

/// The names that a paragraph can have as tests.
pub(super) struct Names {
    folders: BTreeSet<String>,
    prefixes: BTreeSet<String>,
}

impl Names {
    pub(super) fn of(library: &Library) -> Self {
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

fn seed(reader: &mut Reader, folder: &str, member: &Member, library: &Library, names: &Names) -> Option<Seed> {
    reader.id(&member.key, member.key_span, "the seed");
    let what = format!("the seed `{}`", member.key);
    let object = reader.object(&member.value, &what, &["title", "source", "paragraphs"])?;
    let mut text = |key: &str| {
        let node = reader.need(object, &what, key)?;
        reader.text(node, &format!("`{key}`")).map(str::to_owned)
    };
    let (title, source) = (text("title"), text("source"));
    let listed = reader.need(object, &what, "paragraphs")?;
    let paragraphs = reader.members(listed, "`paragraphs`")?.iter();
    let paragraphs = paragraphs.filter_map(|one| paragraph(reader, folder, one, library, names)).collect();
    Some(Seed { id: (*member.key).to_owned(), title: title?, source: source?, paragraphs })
}

fn paragraph(
    reader: &mut Reader,
    folder: &str,
    member: &Member,
    library: &Library,
    names: &Names,
) -> Option<Paragraph> {
    reader.id(&member.key, member.key_span, "the paragraph");
    let what = format!("the paragraph `{}`", member.key);
    let object = reader.object(&member.value, &what, &PARAGRAPH)?;
    let says = reader.need(object, &what, "says").and_then(|node| reader.text(node, "`says`"));
    let reason = object.get("reason").and_then(|node| reader.text(node, "`reason`"));
    if PARAGRAPH[1..].iter().all(|key| object.get(key).is_none()) {
        let nothing = reader.mistake(Lint::MissingKey, format!("{what} has no `requirements`, `tests` or `reason`"));
        let help = "name what asks for it, or write in `reason` why nothing does";
        reader.push(nothing.at(member.key_span, "nothing asks for it").help(help));
    }
    let requirements = requirements(reader, folder, object, library);
    Some(Paragraph {
        id: (*member.key).to_owned(),
        says: says?.to_owned(),
        requirements,
        tests: tests(reader, object, names),
        reason: reason.map(str::to_owned),
    })
}

fn requirements(reader: &mut Reader, folder: &str, object: Object<'_>, library: &Library) -> Vec<RequirementId> {
    let items = object.get("requirements").and_then(|node| reader.items(node, "`requirements`")).unwrap_or_default();
    let mut found = Vec::new();
    for item in items {
        let Some(written) = reader.text(item, "an item of `requirements`") else { continue };
        let id = RequirementId::within(folder, written);
        if !library.requirements.contains_key(&id) {
            let unknown = reader.mistake(Lint::UnknownRequirement, format!("the catalogue has no requirement `{id}`"));
            let known = library.requirements.keys().map(RequirementId::as_str);
            reader.push(unknown.at(item.span, "unknown requirement").known(id.as_str(), "its requirements are", known));
            continue;
        }
        found.push(id);
    }
    found
}

/// Reads the member `tests`.
pub(super) fn tests(reader: &mut Reader, object: Object<'_>, names: &Names) -> Vec<String> {
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
