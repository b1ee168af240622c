//! The catalogue against the cases: which sentence is verified by how many checks, which is open, and why the rest is
//! neither.
//!
//! Takes a [`Library`], gives a [`Coverage`], and that as text, Markdown, JSON or a traceability file. Pure. Must not
//! know targets: what is covered here is covered whoever is run.

mod table;
mod trace;

use std::collections::BTreeMap;

use crate::model::RequirementId;
use crate::model::case::Library;
use crate::model::spec::{Level, Requirement, Role, words};

words! {
    /// What the cases do for a requirement.
    State {
        /// Everybody whom it binds is checked.
        Verified = "verified",
        /// Only one of the sides that it binds is.
        Partly = "partly",
        /// Nobody is, and nothing says why.
        Open = "open",
        /// No process shows it; the catalogue says why.
        Unobservable = "unobservable",
    }
}

/// One requirement, and its checks.
#[derive(Debug)]
pub struct Entry<'l> {
    /// The sentence.
    pub requirement: &'l Requirement,
    /// Checks that need something to have worked: what is right is accepted.
    pub positive: usize,
    /// Checks that hold without it: what is wrong is refused, or a temptation resisted.
    pub negative: usize,
    /// The sides that are checked.
    pub checked: Vec<Role>,
}

impl Entry<'_> {
    /// What the cases do for it.
    pub fn state(&self) -> State {
        match () {
            () if self.requirement.unobservable.is_some() => State::Unobservable,
            () if self.checked.is_empty() => State::Open,
            () if self.unchecked().next().is_some() => State::Partly,
            () => State::Verified,
        }
    }

    /// The sides that it binds, and that no case checks.
    pub fn unchecked(&self) -> impl Iterator<Item = Role> {
        self.requirement.roles.iter().copied().filter(|role| !self.checked.contains(role))
    }
}

/// Every requirement of a library, and its checks.
#[derive(Debug)]
pub struct Coverage<'l>(Vec<Entry<'l>>);

impl<'l> Coverage<'l> {
    /// Counts. A test that is run with several rows checks once a row.
    pub fn of(library: &'l Library) -> Self {
        let mut entries: BTreeMap<&RequirementId, Entry<'l>> =
            library.requirements.values().map(|one| (&one.id, Entry::new(one))).collect();
        for test in library.cases.iter().flat_map(|case| &case.tests) {
            for check in test.checks() {
                let is_positive = check.needs_success();
                let allowing = check.alternatives.iter().filter_map(|one| one.allowed_by.as_ref());
                // What a MAY allows is something that works.
                for (id, is_positive) in
                    [(&check.requirement, is_positive)].into_iter().chain(allowing.map(|id| (id, true)))
                {
                    if let Some(entry) = entries.get_mut(id) {
                        entry.add(is_positive, test.role);
                    }
                }
            }
        }
        Self(entries.into_values().collect())
    }

    /// What is left of it where only one proposal counts: its own folder, and what stands elsewhere but in its words.
    #[must_use]
    pub fn of_sep(mut self, sep: u32) -> Self {
        self.0.retain(|entry| trace::words_of(entry.requirement, sep).is_some());
        self
    }

    /// In the order of the ids.
    pub fn entries(&self) -> &[Entry<'l>] {
        &self.0
    }
}

impl<'l> Entry<'l> {
    fn new(requirement: &'l Requirement) -> Self {
        Self { requirement, positive: 0, negative: 0, checked: Vec::new() }
    }

    fn add(&mut self, is_positive: bool, role: Role) {
        *(if is_positive { &mut self.positive } else { &mut self.negative }) += 1;
        if !self.checked.contains(&role) {
            self.checked.push(role);
        }
    }
}

/// Sums over some entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    states: [usize; State::ALL.len()],
    positive: usize,
    negative: usize,
}

impl Sum {
    fn of<'a>(entries: impl Iterator<Item = &'a Entry<'a>>) -> Self {
        entries.fold(Self::default(), |mut sum, entry| {
            sum.states[entry.state() as usize] += 1;
            sum.positive += entry.positive;
            sum.negative += entry.negative;
            sum
        })
    }

    fn requirements(self) -> usize {
        self.states.iter().sum()
    }
}

/// The folders, each with its levels and the sums over both, in order; the total, level by level, comes last.
fn sums(coverage: &Coverage<'_>) -> Vec<(String, Level, Sum)> {
    let mut folders: Vec<&str> = coverage.0.iter().map(|entry| entry.requirement.id.folder()).collect();
    folders.dedup();
    let groups = folders.into_iter().map(Some).chain([None]);
    let rows = groups.flat_map(|folder| {
        Level::ALL.iter().map(move |level| {
            let within = |entry: &&Entry<'_>| {
                entry.requirement.level == *level && folder.is_none_or(|folder| entry.requirement.id.folder() == folder)
            };
            let sum = Sum::of(coverage.0.iter().filter(within));
            (folder.unwrap_or("total").to_owned(), *level, sum)
        })
    });
    rows.filter(|(_, _, sum)| sum.requirements() > 0).collect()
}

#[cfg(test)]
mod tests;
