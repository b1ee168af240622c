//! Frozen sets: published lists of checks, which later cases do not change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RequirementId;
use super::spec::{Revision, Role};

/// The version of the file format.
pub const SET_FORMAT: u32 = 1;

/// The name of a frozen set and of its file: lower-case letters, digits, `-` and `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetName(String);

impl FromStr for SetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-' || one == '.';
        if text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("`{text}` is not a valid set name: use lower-case letters, digits, `-` and `.`"))
        }
    }
}

impl fmt::Display for SetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A frozen set: tests, with the checks of each and the revisions and transports on which it applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// [`SET_FORMAT`].
    pub format: u32,
    /// The version of casebook that wrote the set.
    pub casebook: String,
    /// The revision, if the set has the tests of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// The MUSTs and SHOULDs in force that no check of the set decides, each with the reason.
    #[serde(default, rename = "not-scored")]
    pub not_scored: BTreeMap<RequirementId, String>,
    /// The tests, by the part of their ids before the `@`.
    pub tests: BTreeMap<String, Frozen>,
}

/// The frozen set of a run, as its run log names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScoredSet {
    /// The name.
    pub name: String,
    /// The numbers of its MUSTs and of its SHOULDs, for each role.
    pub sizes: BTreeMap<Role, [usize; 2]>,
}

/// The frozen checks of one test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The requirements that the test checks.
    pub checks: BTreeSet<RequirementId>,
    /// The revisions and transports on which the test applies: the parts of its ids after the `@`.
    pub on: BTreeSet<String>,
}

impl Set {
    /// Lists the entries of this set that the other set lacks: whole tests, or checks or revisions and transports of a
    /// test.
    pub fn beyond(&self, other: &Self) -> Vec<String> {
        let mut beyond = Vec::new();
        for (path, own) in &self.tests {
            let Some(theirs) = other.tests.get(path) else {
                beyond.push(path.clone());
                continue;
            };
            beyond.extend(own.checks.difference(&theirs.checks).map(|check| format!("{path} of {check}")));
            beyond.extend(own.on.difference(&theirs.on).map(|on| format!("{path}@{on}")));
        }
        beyond
    }

    /// Returns the text of the file, with one line for each test so that a diff is readable.
    pub fn text(&self) -> String {
        let revision = self.revision.map(|one| format!("  \"revision\": {},\n", json(&one))).unwrap_or_default();
        let (format, casebook) = (self.format, json(&self.casebook));
        let (not_scored, tests) = (listed(&self.not_scored), listed(&self.tests));
        format!(
            "{{\n  \"format\": {format},\n  \"casebook\": {casebook},\n{revision}  \"not-scored\": {not_scored},\n  \
             \"tests\": {tests}\n}}\n"
        )
    }
}

/// An object with a line for each member.
fn listed(members: &BTreeMap<impl Serialize, impl Serialize>) -> String {
    let lines: Vec<_> = members.iter().map(|(key, value)| format!("    {}: {}", json(key), json(value))).collect();
    if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n  }}", lines.join(",\n")) }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and lists of texts are JSON")
}

/// The differences between the current cases and a frozen set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The name of the set.
    pub set: SetName,
    /// The entries of the set that no longer exist.
    pub gone: Vec<String>,
    /// The entries that were added after the set was written; they are not run.
    pub later: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tests: &[(&str, &[&str], &[&str])]) -> Set {
        let frozen = |(path, checks, on): &(&str, &[&str], &[&str])| {
            let checks = checks.iter().map(|check| RequirementId::within("f", check)).collect();
            ((*path).to_owned(), Frozen { checks, on: on.iter().map(|one| (*one).to_owned()).collect() })
        };
        let not_scored = [(RequirementId::within("f", "s"), "why".to_owned())].into();
        let tests = tests.iter().map(frozen).collect();
        Set { format: SET_FORMAT, casebook: "0".into(), revision: Some(Revision::newest()), not_scored, tests }
    }

    #[test]
    fn beyond_lists_missing_tests_checks_and_transports() {
        let old = set(&[("f/c/a", &["r"], &["2025-06-18+http"]), ("f/c/b", &["r"], &[])]);
        let new = set(&[("f/c/a", &["r", "s"], &["2025-06-18+http", "2025-06-18+stdio"])]);
        assert_eq!(new.beyond(&old), ["f/c/a of f/s", "f/c/a@2025-06-18+stdio"]);
        assert_eq!(old.beyond(&new), ["f/c/b"]);
    }

    #[test]
    fn set_round_trips_with_one_line_per_test() {
        let one = set(&[("f/c/a", &["r", "s"], &["2025-06-18+http"]), ("f/c/b", &["r"], &[])]);
        assert_eq!(serde_json::from_str::<Set>(&one.text()).expect("it was written"), one);
        assert_eq!(one.text().lines().filter(|line| line.contains("f/c/")).count(), 2);
        assert_eq!(serde_json::from_str::<Set>(&set(&[]).text()).expect("it was written"), set(&[]));
    }

    #[test]
    fn set_name_with_path_characters_is_rejected() {
        assert!("2026-11-a.1".parse::<SetName>().is_ok());
        for name in ["", "../x", ".x", "a/b", "A", "a b"] {
            assert!(name.parse::<SetName>().is_err(), "{name}");
        }
    }
}
