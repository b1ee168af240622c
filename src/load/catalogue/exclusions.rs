//! The file `exclusions.json`: the pages of the specification that the catalogue accounts for, and the sentences on them
//! that no requirement quotes, each with the reason.
//!
//! Takes the tree of the file, gives its pages and exclusions with their places. Must not know the specification's text.

use std::rc::Rc;

use miette::SourceSpan;

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::Node;
use crate::load::text::read::Reader;
use crate::model::spec::{Revision, Revisions};

const KEYS: [&str; 4] = ["$schema", "pages", "permissions", "exclusions"];
const EXCLUSION: [&str; 5] = ["why", "pages", "since", "until", "sentences"];

/// A text with its place.
pub(super) struct Placed {
    pub(super) text: Rc<str>,
    pub(super) span: SourceSpan,
}

/// The pages in scope, and what is excluded on them.
#[derive(Default)]
pub(in crate::load) struct Exclusions {
    /// The pages of each revision, relative to the folder of the revision.
    pub(super) pages: Vec<(Revision, Placed)>,
    /// `true` if sentences that only permit something need no requirement.
    pub(super) has_permissions: bool,
    pub(super) lists: Vec<Exclusion>,
}

/// Sentences that have one reason in common.
pub(super) struct Exclusion {
    pub(super) pages: Vec<Placed>,
    pub(super) revisions: Revisions,
    /// The beginnings of the sentences.
    pub(super) sentences: Vec<Placed>,
}

/// Reads the file.
pub(in crate::load) fn exclusions(reader: &mut Reader, root: &Node) -> Exclusions {
    let what = "a file of exclusions";
    let Some(object) = reader.object(root, what, &KEYS) else { return Exclusions::default() };
    let mut read = Exclusions::default();
    let pages = reader.need(object, what, "pages").and_then(|node| reader.members(node, "`pages`"));
    let all: Vec<Revision> = Revision::all().collect();
    for member in pages.unwrap_or_default() {
        let Some(revision) = all.iter().find(|revision| revision.as_ref() == &*member.key) else {
            reader.unknown_key(member, "`pages`", &all.iter().map(AsRef::as_ref).collect::<Vec<_>>());
            continue;
        };
        let pages = texts(reader, &member.value, "the pages of a revision");
        read.pages.extend(pages.into_iter().map(|page| (*revision, page)));
    }
    if let Some(node) = object.get("permissions") {
        read.has_permissions = reason(reader, node, "`permissions`").is_some();
    }
    let items = reader.need(object, what, "exclusions").and_then(|node| reader.items(node, "`exclusions`"));
    for item in items.unwrap_or_default() {
        let exclusion = exclusion(reader, item, &read.pages);
        read.lists.extend(exclusion);
    }
    read
}

fn exclusion(reader: &mut Reader, node: &Node, known: &[(Revision, Placed)]) -> Option<Exclusion> {
    let what = "an exclusion";
    let object = reader.object(node, what, &EXCLUSION)?;
    reader.need(object, what, "why").and_then(|node| reason(reader, node, "`why`"));
    let revisions = reader.revisions(object);
    let list = |reader: &mut Reader, key: &str| {
        let node = reader.need(object, what, key)?;
        Some(texts(reader, node, &format!("`{key}` of an exclusion")))
    };
    let (pages, sentences) = (list(reader, "pages"), list(reader, "sentences"));
    for page in pages.iter().flatten() {
        if !known.iter().any(|(revision, known)| revisions.contains(*revision) && known.text == page.text) {
            let unknown = format!("`pages` of the file does not have `{}` in these revisions", page.text);
            let unknown = reader.mistake(Lint::UnknownValue, unknown).at(page.span, "not in scope");
            reader.push(unknown.help("correct the page or the revisions, or add the page to `pages`"));
        }
    }
    Some(Exclusion { pages: pages?, revisions, sentences: sentences? })
}

/// A list of at least one text.
fn texts(reader: &mut Reader, node: &Node, what: &str) -> Vec<Placed> {
    let Some(items) = reader.items(node, what) else { return Vec::new() };
    if items.is_empty() {
        let empty = reader.mistake(Lint::WrongCount, format!("{what} is an empty list"));
        reader.push(empty.at(node.span, "no item in it").help("add an item"));
    }
    let place = |item: &Node| Some(Placed { text: reason(reader, item, what)?.into(), span: item.span });
    items.iter().filter_map(place).collect()
}

/// A text that is not blank.
fn reason<'n>(reader: &mut Reader, node: &'n Node, what: &str) -> Option<&'n str> {
    let text = reader.text(node, what)?;
    if text.trim().is_empty() {
        let empty = reader.mistake(Lint::WrongCount, format!("{what} is empty"));
        reader.push(empty.at(node.span, "no text here").help("write the text"));
        return None;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::load::text::diagnostic::{Diagnostic, File};
    use crate::load::text::json;

    fn found(text: &str) -> (Exclusions, Vec<String>) {
        let mut reader = Reader::new(Arc::new(File::new("cases/exclusions.json", text.to_owned())));
        let root = json::parse(&mut reader).expect("JSON");
        let read = exclusions(&mut reader, &root);
        let lines: Vec<_> = reader.into_found().iter().map(Diagnostic::line).collect();
        (read, lines.iter().map(|line| line.split_once(": ").expect("a place").1.to_owned()).collect())
    }

    #[test]
    fn pages_and_sentences_are_read_with_their_range() {
        let text = r#"{
            "pages": { "2025-11-25": ["a"], "2026-07-28": ["a", "b/c"] }, "permissions": "They permit.",
            "exclusions": [{ "why": "No.", "pages": ["a"], "until": "2025-11-25", "sentences": ["It MUST"] }]
        }"#;
        let (read, lines) = found(text);
        assert_eq!(lines, Vec::<String>::new());
        assert_eq!((read.pages.len(), read.has_permissions, read.lists.len()), (3, true, 1));
        assert_eq!(&*read.lists[0].sentences[0].text, "It MUST");
    }

    #[test]
    fn mistakes_are_reported() {
        let text = r#"{
            "pages": { "2025-11-25": ["a"], "2024": ["b"] },
            "exclusions": [{ "why": " ", "pages": ["a"], "since": "2026-07-28", "sentences": [], "page": "a" }]
        }"#;
        let (read, lines) = found(text);
        assert!(!read.has_permissions);
        let wanted = [
            "unknown-key: unknown key `2024` in `pages`",
            "unknown-key: unknown key `page` in an exclusion",
            "wrong-count: `why` is empty",
            "wrong-count: `sentences` of an exclusion is an empty list",
            "unknown-value: `pages` of the file does not have `a` in these revisions",
        ];
        assert_eq!(lines, wanted);
    }
}
