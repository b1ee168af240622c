//! Permanent addresses: the path of each page follows from the names in run logs alone, so that more run logs change
//! none.
//!
//! Takes names that nobody checked, gives parts of paths that are valid on every system and different for different
//! names. Must not know the content of a page.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::model::{CaseId, RequirementId, TargetId, TestId};

/// The part of a path for a target without variants. No name of a variant becomes this part.
const ONLY: &str = "_";
/// The part of a path for a target without a version.
const UNVERSIONED: &str = "unversioned";
/// The length of the readable part of a name, in bytes.
const LONGEST: usize = 60;

/// Returns a name as one part of a path: unchanged if it consists of lower-case letters, digits and single `-`, `.` or
/// `_` between them, and is no name that a system reserves; otherwise with a hash, which keeps different names apart.
pub(super) fn part(name: &str) -> String {
    if is_plain(name) {
        return name.to_owned();
    }
    let keep = |one: char| match one {
        'a'..='z' | '0'..='9' => one,
        'A'..='Z' => one.to_ascii_lowercase(),
        _ => '-',
    };
    let kept: String = name.chars().take(LONGEST).map(keep).collect();
    let words: Vec<_> = kept.split('-').filter(|word| !word.is_empty()).collect();
    let digest = Sha256::digest(name);
    let hash = digest[..6].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    // No plain name has a `~`.
    if words.is_empty() { format!("x~{hash:012x}") } else { format!("{}~{hash:012x}", words.join("-")) }
}

/// Returns an id of several parts as a path.
fn parts(id: &str) -> String {
    id.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn is_plain(name: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.len() <= LONGEST && name.split(['-', '.', '_']).all(is_word) && !is_reserved(name)
}

/// Returns whether Windows has a device of this name.
fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || stem
            .strip_prefix("com")
            .or_else(|| stem.strip_prefix("lpt"))
            .is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
}

/// The address of one target in one version: the parts of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) variant: String,
    pub(super) version: String,
}

impl Place {
    /// The parts with slashes between them.
    pub(super) fn path(&self) -> String {
        format!("{}/{}/{}", self.name, self.variant, self.version)
    }

    /// The target without its version, as an anchor and as the beginning of the name of a badge.
    pub(super) fn target(&self) -> String {
        match self.variant.as_str() {
            ONLY => self.name.clone(),
            variant => format!("{}_{variant}", self.name),
        }
    }

    /// The folder of the badges of the target.
    pub(super) fn badges(&self) -> String {
        format!("badges/{}", self.target())
    }

    /// The page of the target in this version.
    pub(super) fn page(&self) -> String {
        format!("targets/{}/index.html", self.path())
    }

    /// The page of the target with its history.
    pub(super) fn history(&self) -> String {
        format!("targets/{}/{}/index.html", self.name, self.variant)
    }

    /// The page with the results of a case.
    pub(super) fn results(&self, case: &CaseId) -> String {
        format!("results/{}/{}/index.html", self.path(), parts(case.as_str()))
    }

    /// The address of the result of a test.
    pub(super) fn result(&self, test: &TestId) -> String {
        format!("{}#{}", self.results(&test.case), anchor(test))
    }
}

/// The anchor of a test on the page of its case: its name without the name of the case.
pub(super) fn anchor(test: &TestId) -> String {
    match &test.row {
        Some(row) => format!("{}/{row}@{}", test.test, test.how()),
        None => format!("{}@{}", test.test, test.how()),
    }
}

/// The page of a requirement.
pub(super) fn requirement(id: &RequirementId) -> String {
    format!("requirements/{}/index.html", parts(id.as_str()))
}

/// The page of a case.
pub(super) fn case(id: &CaseId) -> String {
    format!("cases/{}/index.html", parts(id.as_str()))
}

/// The page of a capability.
pub(super) fn capability(id: &str) -> String {
    format!("capabilities/{}/index.html", part(id))
}

/// Gives each target in each version its address.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By the short form of a version, the whole version that has the address with the short form.
    taken: HashMap<(TargetId, String), Option<String>>,
}

impl Places {
    /// Returns the address of a target in a version. The address has the number of the version, without the package; if
    /// two packages of one target have the same number, the first one that is asked for has this address.
    pub(super) fn of(&mut self, id: &TargetId, version: Option<&str>) -> Place {
        let number = version.map(|version| version.rsplit(' ').next().unwrap_or(version));
        let short = number.map_or_else(|| UNVERSIONED.to_owned(), part);
        let owner = self.taken.entry((id.clone(), short.clone())).or_insert_with(|| version.map(str::to_owned));
        let version = match version {
            Some(version) if owner.as_deref() != Some(version) => part(&format!("{version} ")),
            None if owner.is_some() => part(" "),
            _ => short,
        };
        let variant = id.variant.as_deref().map_or_else(|| ONLY.to_owned(), part);
        Place { name: part(&id.name), variant, version }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_name_is_unchanged_and_others_are_safe_and_different() {
        for plain in ["some-sdk", "1.8.0", "2026.8.31", "low-validated", "a_b", "1.25.2-sep834.4"] {
            assert_eq!(part(plain), plain);
        }
        let hostile = [
            "", ".", "..", "../x", "a/b", "a\\b", "A", "a ", "a.", "-a", "con", "com1.txt", "é", "a--b", "_", "a:b",
            "x\0",
        ];
        let mut parts: Vec<_> = hostile.iter().map(|name| part(name)).collect();
        for part in &parts {
            let is_safe = |one: u8| one.is_ascii_lowercase() || one.is_ascii_digit() || matches!(one, b'-' | b'~');
            assert!(part.contains('~') && part.bytes().all(is_safe) && !part.starts_with('-'), "{part}");
        }
        parts.sort();
        parts.dedup();
        assert_eq!(parts.len(), hostile.len());
        assert!(part(&"a".repeat(5000)).len() < 80);
    }

    #[test]
    fn address_has_the_number_and_keeps_it_if_another_package_has_the_same() {
        let id: TargetId = "sdk:low".parse().expect("a target");
        let mut places = Places::default();
        let paths = ["pkg 1.0", "other 1.0", "pkg 1.0", "1.0"].map(|version| places.of(&id, Some(version)).path());
        assert_eq!((paths[0].as_str(), &paths[2]), ("sdk/low/1.0", &paths[0]));
        assert!(paths[1] != paths[0] && paths[3] != paths[0] && paths[1] != paths[3]);
        assert_eq!(places.of(&id, None).path(), "sdk/low/unversioned");
    }
}
