//! The coverage of the requirement catalogue by the cases: verified, open and unobservable requirements.
//!
//! Takes a [`Library`], gives a [`Coverage`], and that as text, Markdown, JSON or a traceability file. Pure. The coverage
//! is the same for all targets; a [`Report`] adds on how many of them each requirement was decided.

mod table;
pub(in crate::report) mod trace;

use std::collections::BTreeMap;

use super::Report;
use crate::model::RequirementId;
use crate::model::case::Library;
use crate::model::spec::{Level, Requirement, Role, words};

words! {
    /// The coverage of one requirement.
    State {
        /// Cases check every role that it binds.
        Verified = "verified",
        /// Cases check only one of the roles that it binds.
        Partly = "partly",
        /// No case checks it, without a reason.
        Open = "open",
        /// No test can observe it; the catalogue has the reason.
        Unobservable = "unobservable",
    }
}

/// One requirement, and its checks.
#[derive(Debug)]
pub struct Entry<'l> {
    /// The requirement.
    pub requirement: &'l Requirement,
    /// The number of positive checks: valid input must be accepted.
    pub positive: usize,
    /// The number of negative checks: invalid input must be refused, or an action must not happen.
    pub negative: usize,
    /// The roles that cases check.
    pub checked: Vec<Role>,
    /// The numbers of targets that decided it and that did not; `None` without run logs.
    pub decided: Option<(usize, usize)>,
}

impl Entry<'_> {
    /// Returns the coverage of the requirement.
    pub fn state(&self) -> State {
        match () {
            () if self.requirement.unobservable.is_some() => State::Unobservable,
            () if self.checked.is_empty() => State::Open,
            () if self.unchecked().next().is_some() => State::Partly,
            () => State::Verified,
        }
    }

    /// The roles that it binds and that no case checks.
    pub fn unchecked(&self) -> impl Iterator<Item = Role> {
        self.requirement.roles.iter().copied().filter(|role| !self.checked.contains(role))
    }
}

/// Every requirement of a library, and its checks.
#[derive(Debug)]
pub struct Coverage<'l>(Vec<Entry<'l>>);

impl<'l> Coverage<'l> {
    /// Counts the checks of a library. A test with several rows counts once for each row.
    pub fn of(library: &'l Library) -> Self {
        let mut entries: BTreeMap<&RequirementId, Entry<'l>> =
            library.requirements.values().map(|one| (&one.id, Entry::new(one))).collect();
        for test in library.cases.iter().flat_map(|case| &case.tests) {
            for check in test.checks() {
                let is_positive = check.needs_success();
                let allowing = check.alternatives.iter().filter_map(|one| one.allowed_by.as_ref());
                // An alternative that a MAY allows accepts valid input.
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

    /// Returns the coverage of one SEP: its own folder, and requirements elsewhere that quote it.
    #[must_use]
    pub fn of_sep(mut self, sep: u32) -> Self {
        self.0.retain(|entry| trace::words_of(entry.requirement, sep).is_some());
        self
    }

    /// Adds the numbers of targets that decided each requirement, from a report of their run logs.
    #[must_use]
    pub fn decided(mut self, report: &Report) -> Self {
        let rows: BTreeMap<_, _> =
            report.requirements.iter().map(|row| (&row.id, (row.decided, row.vacuous))).collect();
        for entry in &mut self.0 {
            entry.decided = Some(rows.get(&entry.requirement.id).copied().unwrap_or_default());
        }
        self
    }

    /// The entries in the order of their ids.
    pub fn entries(&self) -> &[Entry<'l>] {
        &self.0
    }
}

impl<'l> Entry<'l> {
    fn new(requirement: &'l Requirement) -> Self {
        Self { requirement, positive: 0, negative: 0, checked: Vec::new(), decided: None }
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

/// Returns the sums of each folder and level in order, and then the total of each level.
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
