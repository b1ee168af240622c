//! Names of files and folders for names of targets and cases.
//!
//! Takes any names, gives names that each file system can have, each once. Must not know what the files contain.

use std::collections::{HashMap, HashSet};

/// The most characters of a name, without its number.
const MOST: usize = 100;

/// Unique names in one folder: of several equal names, all but the first get a number.
pub(super) struct FileNames {
    /// What stands before a number.
    separator: char,
    taken: HashSet<String>,
    /// The numbers that were tried for each name.
    numbers: HashMap<String, usize>,
}

impl FileNames {
    pub(super) fn new(separator: char) -> Self {
        Self { separator, taken: HashSet::new(), numbers: HashMap::new() }
    }

    pub(super) fn place(&mut self, name: &str) -> String {
        let mut file = name.to_owned();
        // File systems may ignore case.
        while !self.taken.insert(file.to_ascii_lowercase()) {
            let number = self.numbers.entry(name.to_ascii_lowercase()).or_insert(1);
            *number += 1;
            file = format!("{name}{}{number}", self.separator);
        }
        file
    }
}

/// Returns the beginning of a name, with `other` in the place of what is no letter, no digit and none of `marks`.
pub(super) fn plain(name: &str, marks: &[char], other: char) -> String {
    let keep = |one: char| if one.is_ascii_alphanumeric() || marks.contains(&one) { one } else { other };
    name.chars().take(MOST).map(keep).collect()
}
