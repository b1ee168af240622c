//! The status of a test, with the one word that it has everywhere, and counts of tests by status.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::model::record::Record;
use crate::model::spec::words;
use crate::model::verdict::VerdictKind;

words! {
    /// The status of a test: the gravest of its verdicts. From the least to the most grave.
    Status {
        /// No check was asked.
        NotAsked = "not asked",
        /// Every check holds.
        Passed = "passed",
        /// Nothing was judged.
        Observed = "observed",
        /// A check of a proposal does not hold.
        NotAdopted = "not adopted",
        /// A check fails that the SDK's documentation leaves to the author of a server or client.
        Author = "left to the author",
        /// All failures are known.
        Known = "known",
        /// A check fails that users rely on, but that no sentence of the specification demands.
        Noted = "noted",
        /// A SHOULD is violated.
        Warned = "warned",
        /// The adapter cannot express the test.
        Cannot = "cannot",
        /// A MUST is violated in some attempts only.
        Flaky = "flaky",
        /// A check could not be decided.
        Inconclusive = "inconclusive",
        /// A MUST is violated.
        Failed = "failed",
        /// The target was given up, or the harness failed.
        Error = "error",
    }
}

impl Status {
    /// The meaning of the word, for legends.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::NotAsked => "a control, or an alternative that holds, shows that there is nothing to check",
            Self::Passed => "every check that was asked holds",
            Self::Observed => "recorded for comparison, not judged",
            Self::NotAdopted => "does not do what a proposal demands, which binds nobody yet",
            Self::Author => "fails, and the SDK's documentation orders its users to do this themselves",
            Self::Known => "fails, and is listed as a known failure",
            Self::Noted => "fails a check that users rely on, but that no sentence of the specification demands",
            Self::Warned => "violates a SHOULD",
            Self::Cannot => "the adapter cannot express the test",
            Self::Flaky => "violates a MUST in some attempts",
            Self::Inconclusive => "could not be decided, for example because a control ended in a crash",
            Self::Failed => "violates a MUST",
            Self::Error => "the target was given up, or casebook failed",
        }
    }

    /// Returns whether it fails a run; with `strict`, violated SHOULDs and inexpressible tests do too.
    pub fn is_unexpected(self, strict: bool) -> bool {
        match self {
            Self::Failed | Self::Flaky | Self::Inconclusive | Self::Error => true,
            Self::Warned | Self::Cannot => strict,
            Self::NotAsked
            | Self::Passed
            | Self::Observed
            | Self::NotAdopted
            | Self::Author
            | Self::Known
            | Self::Noted => false,
        }
    }

    /// Returns whether a check of the target failed, at any level, and the view does not take it for known.
    pub fn is_violation(self) -> bool {
        matches!(self, Self::Noted | Self::Warned | Self::Flaky | Self::Failed)
    }

    /// The status of a recorded test.
    pub fn of(record: &Record) -> Self {
        let unjudged = match &record.observation {
            seen if seen.unavailable.is_some() => Self::Error,
            seen if seen.cannot.is_some() => Self::Cannot,
            _ => Self::Observed,
        };
        record.verdicts.iter().map(|verdict| verdict.kind.into()).max().unwrap_or(unjudged)
    }
}

impl From<VerdictKind> for Status {
    fn from(kind: VerdictKind) -> Self {
        match kind {
            VerdictKind::Pass
            | VerdictKind::Allowed
            | VerdictKind::Taken
            | VerdictKind::NotTaken
            | VerdictKind::Adopted => Self::Passed,
            VerdictKind::NotAdopted => Self::NotAdopted,
            VerdictKind::NotAsked => Self::NotAsked,
            VerdictKind::Author => Self::Author,
            VerdictKind::Known | VerdictKind::KnownInconclusive => Self::Known,
            VerdictKind::Note => Self::Noted,
            VerdictKind::Warn => Self::Warned,
            VerdictKind::Cannot => Self::Cannot,
            VerdictKind::Flaky => Self::Flaky,
            VerdictKind::Inconclusive => Self::Inconclusive,
            VerdictKind::Fail | VerdictKind::Stale => Self::Failed,
            VerdictKind::Error => Self::Error,
        }
    }
}

/// Numbers of tests by status; those of which there is none are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts(BTreeMap<Status, usize>);

impl Counts {
    /// The number of tests with a status.
    pub fn get(&self, status: Status) -> usize {
        self.0.get(&status).copied().unwrap_or(0)
    }

    /// The number of all tests.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Counts one more test.
    pub fn add(&mut self, status: Status) {
        *self.0.entry(status).or_default() += 1;
    }

    /// The numbers that aren't 0, from the least grave status to the gravest.
    pub fn iter(&self) -> impl Iterator<Item = (Status, usize)> {
        self.0.iter().map(|(status, count)| (*status, *count))
    }

    /// Returns whether a status fails a run.
    pub fn has_unexpected(&self, strict: bool) -> bool {
        self.0.keys().any(|status| status.is_unexpected(strict))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.iter().map(|(status, count)| format!("{count} {status}")).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Extend<(Status, usize)> for Counts {
    fn extend<T: IntoIterator<Item = (Status, usize)>>(&mut self, more: T) {
        for (status, count) in more {
            *self.0.entry(status).or_default() += count;
        }
    }
}
