//! A set of checks, as they were on some day: what a published rate counts, whatever is written later.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RequirementId;

/// The version of the file's form.
pub const SET_FORMAT: u32 = 1;

/// What a set is called, and its file: small letters, digits, `-` and `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetName(String);

impl FromStr for SetName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-' || one == '.';
        if text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("`{text}` can't be a set's name: small letters, digits, `-` and `.`"))
        }
    }
}

impl fmt::Display for SetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tests, with what is checked in each and where each applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// [`SET_FORMAT`].
    pub format: u32,
    /// The version of the harness that wrote it.
    pub casebook: String,
    /// By the part of a test's name before the `@`.
    pub tests: BTreeMap<String, Frozen>,
}

/// What is asked of one test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frozen {
    /// The sentences that it checks.
    pub checks: BTreeSet<RequirementId>,
    /// Where it applies: the part of its names behind the `@`.
    pub on: BTreeSet<String>,
}

impl Set {
    /// What it has and the other hasn't: tests by name, or within a test the check, or the place.
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

    /// The file's text: a line a test, so that a change of it can be read.
    pub fn text(&self) -> String {
        let tests = self.tests.iter().map(|(path, frozen)| format!("    {}: {}", json(path), json(frozen)));
        let tests: Vec<_> = tests.collect();
        let (format, casebook) = (self.format, json(&self.casebook));
        let tests = if tests.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n  }}", tests.join(",\n")) };
        format!("{{\n  \"format\": {format},\n  \"casebook\": {casebook},\n  \"tests\": {tests}\n}}\n")
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and lists of texts are JSON")
}

/// How the cases of today differ from a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// The set's name.
    pub set: SetName,
    /// What the set has, and nobody can ask any more.
    pub gone: Vec<String>,
    /// What came after the set; it is not asked.
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
        Set { format: SET_FORMAT, casebook: "0".into(), tests: tests.iter().map(frozen).collect() }
    }

    #[test]
    fn what_one_set_has_beyond_another_is_a_test_a_check_or_a_place() {
        let old = set(&[("f/c/a", &["r"], &["2025-06-18+http"]), ("f/c/b", &["r"], &[])]);
        let new = set(&[("f/c/a", &["r", "s"], &["2025-06-18+http", "2025-06-18+stdio"])]);
        assert_eq!(new.beyond(&old), ["f/c/a of f/s", "f/c/a@2025-06-18+stdio"]);
        assert_eq!(old.beyond(&new), ["f/c/b"]);
    }

    #[test]
    fn a_set_reads_as_it_was_written_a_line_a_test() {
        let one = set(&[("f/c/a", &["r", "s"], &["2025-06-18+http"]), ("f/c/b", &["r"], &[])]);
        assert_eq!(serde_json::from_str::<Set>(&one.text()).expect("it was written"), one);
        assert_eq!(one.text().lines().filter(|line| line.contains("f/c/")).count(), 2);
        assert_eq!(serde_json::from_str::<Set>(&set(&[]).text()).expect("it was written"), set(&[]));
    }

    #[test]
    fn the_name_of_a_set_leads_to_no_other_folder() {
        assert!("2026-11-a.1".parse::<SetName>().is_ok());
        for name in ["", "../x", ".x", "a/b", "A", "a b"] {
            assert!(name.parse::<SetName>().is_err(), "{name}");
        }
    }
}
