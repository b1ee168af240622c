//! The file `capabilities.json`: questions of readers, with the requirements and tests that decide them.
//!
//! Takes the tree of the file and the cases, and reports questions that name an unknown requirement or test. Must not know
//! how answers are computed.

use std::collections::BTreeSet;

use super::diagnostic::Lint;
use super::node::Node;
use super::read::Reader;
use super::seeds::Names;
use crate::model::RequirementId;
use crate::model::capability::{Capability, CapabilityGroup, Decider};
use crate::model::case::Library;
use crate::model::seed::Seed;
use crate::model::spec::Role;

const CAPABILITY: [&str; 6] = ["id", "question", "short", "role", "right", "decided-by"];
/// The longest label of a small picture, in characters.
const MOST_SHORT: usize = 26;

/// Reads the groups of capabilities.
pub(super) fn groups(reader: &mut Reader, root: &Node, library: &Library) -> Vec<CapabilityGroup> {
    let mut reading = Reading { reader, library, names: Names::of(library), ids: BTreeSet::new() };
    let Some(object) = reading.reader.object(root, "a file of capabilities", &["$schema", "groups"]) else {
        return Vec::new();
    };
    let groups = reading.reader.need(object, "a file of capabilities", "groups");
    let items = groups.and_then(|node| reading.reader.items(node, "`groups`")).unwrap_or_default();
    items.iter().filter_map(|item| reading.group(item)).collect()
}

/// Reports the observable requirements of seeds that decide no capability.
pub(super) fn check_seeds(
    reader: &mut Reader,
    root: &Node,
    groups: &[CapabilityGroup],
    seeds: &[Seed],
    library: &Library,
) {
    let deciders = groups.iter().flat_map(|group| &group.capabilities).flat_map(|one| &one.decided_by);
    let decided: BTreeSet<&RequirementId> = deciders.map(|decider| &decider.requirement).collect();
    let named = seeds.iter().flat_map(|seed| &seed.paragraphs).flat_map(|paragraph| &paragraph.requirements);
    let is_observable =
        |id: &&RequirementId| library.requirements.get(id).is_some_and(|one| one.unobservable.is_none());
    let missing: BTreeSet<&RequirementId> = named.filter(is_observable).filter(|id| !decided.contains(id)).collect();
    for id in missing {
        let why = format!("`{id}`, a requirement of a seed, decides no capability");
        let help = "name it in the `decided-by` of the question that its tests answer";
        let unasked = reader.mistake(Lint::SeedUnasked, why);
        reader.push(unasked.at(root.span, "no question has it").help(help));
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
        let object = self.reader.object(node, what, &["id", "title", "capabilities"])?;
        let id = self.reader.need(object, what, "id").and_then(|node| self.id(node));
        let title = self.reader.need(object, what, "title").and_then(|node| self.reader.text(node, "`title`"));
        let listed = self.reader.need(object, what, "capabilities")?;
        let items = self.reader.items(listed, "`capabilities`")?;
        let capabilities = items.iter().filter_map(|item| self.capability(item)).collect();
        Some(CapabilityGroup { id: id?, title: title?.to_owned(), capabilities })
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
        let short = self.reader.need(object, what, "short");
        let short = short.and_then(|node| Some((node, self.reader.text(node, "`short`")?)));
        if let Some((node, text)) = short
            && text.chars().count() > MOST_SHORT
        {
            let why = format!("the label of a capability has at most {MOST_SHORT} characters");
            let long = self.reader.mistake(Lint::TitleStyle, why);
            self.reader.push(long.at(node.span, "too long for a small picture"));
        }
        let role = self.reader.need(object, what, "role");
        let role = role.and_then(|node| self.reader.word(node, "`role`", &Role::SINGLE));
        let right = self.reader.need(object, what, "right");
        let right = right.and_then(|node| self.reader.word(node, "`right`", &["yes", "no"]));
        let deciders = self.reader.need(object, what, "decided-by")?;
        let items = self.reader.items(deciders, "`decided-by`")?;
        let one = |item| decider(self.reader, item, self.library, &self.names);
        let decided_by = items.iter().filter_map(one).collect();
        Some(Capability {
            id: id?,
            question: question?.1.to_owned(),
            short: short?.1.to_owned(),
            role: role?,
            right_is_yes: right? == "yes",
            decided_by,
        })
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
    let object = reader.object(node, what, &["requirement", "tests"])?;
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
    let tests = super::seeds::tests(reader, object, names);
    is_known.then_some(Decider { requirement, tests })
}
