//! The needs of a test: features of a target, and tools or a scenario of a fixed one.
//!
//! Takes the words of `needs` in a case file, gives [`Needs`] and the [`Applicability`] that follows from them. Must not
//! know targets.

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::Node;
use crate::load::text::read::Reader;
use crate::model::applicability::{Applicability, Inside, Listed};
use crate::model::case::Need;
use crate::model::spec::Role;

/// The `needs` of a file or a test.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    pub(super) features: Vec<Need>,
    tools: Vec<Listed>,
    scenario: Option<String>,
}

impl Needs {
    /// Reads one word or a list: features, `tool:NAME`, `tool:*`, `scenario:NAME`.
    pub(super) fn read(reader: &mut Reader, node: &Node, role: Option<Role>) -> Self {
        let mut needs = Self::default();
        for item in reader.one_or_more(node, "`needs`") {
            let Some(text) = reader.text(item, "`needs`") else { continue };
            let (of, before) = match text.split_once(':') {
                Some(("tool", name)) if !name.is_empty() => {
                    let tool = if name == "*" { Listed::Any } else { Listed::Named(name.to_owned()) };
                    let twice = needs.tools.contains(&tool);
                    needs.tools.push(tool);
                    (Some(Role::Server), twice)
                }
                Some(("scenario", name)) if !name.is_empty() => {
                    (Some(Role::Client), needs.scenario.replace(name.to_owned()).is_some())
                }
                _ => {
                    let Some(need) = reader.word(item, "`needs`", Need::ALL) else { continue };
                    let twice = needs.features.contains(&need);
                    needs.features.push(need);
                    (None, twice)
                }
            };
            if before {
                let twice = reader
                    .mistake(Lint::WrongCount, format!("`needs` has `{text}`, or another word of its kind, twice"));
                reader.push(twice.at(item.span, "again here").help("remove one of them"));
            }
            if let (Some(of), Some(role)) = (of.filter(|of| role.is_some_and(|role| role != *of)), role) {
                let mismatch =
                    reader.mistake(Lint::RoleMismatch, format!("`{text}` is allowed only in tests of a {of}"));
                let mismatch = mismatch.at(item.span, format!("the {role} is under test here"));
                reader.push(mismatch.help("use `tool:NAME` for servers, and `scenario:NAME` for clients"));
            }
        }
        needs
    }

    /// The needs of a test with those of its file.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.features.extend(other.features.iter().filter(|need| !self.features.contains(need)));
        both.tools.extend(other.tools.iter().filter(|tool| !self.tools.contains(tool)).cloned());
        both.scenario = other.scenario.clone().or(both.scenario);
        both
    }

    /// The targets that a test with these needs applies to, with a fixture or without.
    pub(super) fn reach(&self, has_fixture: bool) -> Applicability {
        match &self.scenario {
            _ if !has_fixture => Applicability::FixedOnly(self.tools.clone()),
            Some(scenario) => Applicability::AlsoFixed(Inside::Scenario(scenario.clone())),
            None if self.tools.is_empty() => Applicability::AdapterOnly,
            None => Applicability::AlsoFixed(Inside::Tools(self.tools.clone())),
        }
    }

    /// The names of the tools that a fixed server must list.
    pub(super) fn named(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter_map(|tool| match tool {
            Listed::Any => None,
            Listed::Named(name) => Some(name.as_str()),
        })
    }
}
