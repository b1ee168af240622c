//! The survey of a server: the revisions, capabilities and tools that it declares.
//!
//! Plain data, made from its responses before the first test. Must not know how it was asked.

use std::collections::BTreeMap;

use super::spec::Revision;

/// The declarations of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The name and the version that the server gives itself.
    pub server: Option<(String, String)>,
    /// The declarations on each revision that the server accepts.
    pub revisions: BTreeMap<Revision, Declared>,
    /// Revisions on which casebook asked in vain: there was no answer, or none that is a message.
    pub unanswered: Vec<Revision>,
    /// Revisions that the server declares and casebook does not test.
    pub others: Vec<String>,
}

/// The declarations of a server on one revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The names of the capabilities.
    pub capabilities: Vec<String>,
    /// The names of the listed tools; `None` if the server does not list tools, or if its list cannot be read.
    pub tools: Option<Vec<String>>,
}

impl Declared {
    /// Returns whether the server declares the capability of tools, or lists some all the same.
    pub fn has_tools(&self) -> bool {
        let lists = self.tools.as_ref().is_some_and(|tools| !tools.is_empty());
        lists || self.capabilities.iter().any(|name| name == "tools")
    }
}

impl Survey {
    /// Returns the revisions on which the server declares tools, and its list cannot be read.
    pub fn unlisted(&self) -> Vec<Revision> {
        let unlisted = self.revisions.iter().filter(|(_, declared)| declared.has_tools() && declared.tools.is_none());
        unlisted.map(|(revision, _)| *revision).collect()
    }

    /// Returns the capabilities of all revisions.
    pub fn capabilities(&self) -> Vec<&str> {
        unique(self.revisions.values().flat_map(|declared| &declared.capabilities))
    }

    /// Returns the names of the tools of all revisions.
    pub fn tools(&self) -> Vec<&str> {
        unique(self.revisions.values().filter_map(|declared| declared.tools.as_ref()).flatten())
    }
}

/// Returns each text once, in the order of the first occurrences.
fn unique<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    all.map(String::as_str).filter(|one| seen.insert(*one)).collect()
}
