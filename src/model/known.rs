//! An entry of a `target.toml` that excuses a failed check, as records have it.

use serde::{Deserialize, Serialize};

use super::target::{Known, LeftToAuthor};

/// A copy of an entry of `[[known]]` or `[[author]]`, so that a report does not need the `target.toml`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KnownAs {
    /// The pattern of the tests that the entry matches.
    pub test: String,
    /// The reason of the entry: a description of the target's behaviour.
    pub reason: String,
    /// The same in a few words, for the cell of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
    /// The address of the issue, where one was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    /// The documentation by which the SDK leaves the requirement to its users; only entries of `[[author]]` have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `true` if the entry cannot be stale in this variant, which claims less than others that have the entry too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

impl From<&Known> for KnownAs {
    fn from(known: &Known) -> Self {
        let Known { test, reason, short, issue, is_shared: shared, .. } = known;
        let (test, reason, short) = (test.as_str().to_owned(), reason.clone(), short.clone());
        Self { test, reason, short, issue: issue.clone(), url: None, shared: *shared }
    }
}

impl From<&LeftToAuthor> for KnownAs {
    fn from(left: &LeftToAuthor) -> Self {
        let LeftToAuthor { test, reason, short, url, is_shared, .. } = left;
        let (test, reason, short) = (test.as_str().to_owned(), reason.clone(), short.clone());
        Self { test, reason, short, issue: None, url: Some(url.clone()), shared: *is_shared }
    }
}
