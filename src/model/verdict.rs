//! The kinds of verdicts, and the one table of what each of them means.
//!
//! Writers and counters ask [`VerdictKind::meaning`] rather than list kinds, so that a new kind cannot be forgotten.

use super::spec::words;

words! {
    /// The kind of a verdict.
    VerdictKind {
        /// The check holds.
        Pass = "pass",
        /// The check violates a MUST or MUST NOT.
        Fail = "fail",
        /// The check violates a SHOULD or SHOULD NOT.
        Warn = "warn",
        /// A derived requirement, which no BCP 14 keyword states, does not hold.
        Note = "note",
        /// An alternative holds that only a MAY allows.
        Allowed = "allowed",
        /// The target takes the option of a MAY.
        Taken = "taken",
        /// The target does not take the option of a MAY.
        NotTaken = "not-taken",
        /// The check does not hold, and this is a known failure.
        Known = "known",
        /// The target does what a proposal demands.
        Adopted = "adopted",
        /// The target does not do what a proposal demands. It may: no release binds it to.
        NotAdopted = "not-adopted",
        /// The check holds, although it is listed as a known failure.
        Stale = "stale",
        /// The check failed in one attempt and passed in another.
        Flaky = "flaky",
        /// The check does not hold, and the SDK's documentation leaves it to the author of a server or client.
        Author = "author",
        /// The check was not asked: its control shows that the target lacks what it is about, or an alternative holds by
        /// which there is nothing to check.
        NotAsked = "not-asked",
        /// The check could not be decided: the control is undecided, or a needed part of the observation cannot be read.
        Inconclusive = "inconclusive",
        /// The check could not be decided, and an entry for known failures covers it.
        KnownInconclusive = "known-inconclusive",
        /// The adapter cannot express the test.
        Cannot = "cannot",
        /// casebook stopped running tests on the target, or had an error itself.
        Error = "error",
    }
}

/// What a kind of verdict says of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The check holds.
    Holds,
    /// The check does not hold, whether or not somebody expected it.
    Broken,
    /// The check is about an option or a proposal, which the target may take or leave.
    Option,
    /// The check counts, and nobody knows whether it holds.
    Undecided,
    /// The check does not count: there was nothing to check, or the result is no property of the SDK.
    Aside,
}

impl VerdictKind {
    /// Returns what the verdict says of the check.
    pub const fn meaning(self) -> Meaning {
        match self {
            Self::Pass | Self::Allowed | Self::Stale => Meaning::Holds,
            Self::Fail | Self::Warn | Self::Note | Self::Known | Self::Flaky => Meaning::Broken,
            Self::Taken | Self::NotTaken | Self::Adopted | Self::NotAdopted => Meaning::Option,
            Self::Cannot | Self::Inconclusive | Self::KnownInconclusive | Self::Error => Meaning::Undecided,
            Self::NotAsked | Self::Author => Meaning::Aside,
        }
    }

    /// Returns the verdict on a sentence that is only proposed. A proposal binds nobody.
    #[must_use]
    pub const fn of_proposal(self) -> Self {
        match self.meaning() {
            Meaning::Holds => Self::Adopted,
            Meaning::Broken => Self::NotAdopted,
            Meaning::Undecided if matches!(self, Self::Inconclusive | Self::KnownInconclusive) => Self::NotAsked,
            Meaning::Option | Meaning::Undecided | Meaning::Aside => self,
        }
    }

    /// Returns whether the check does not hold. Known failures do not.
    pub const fn is_broken(self) -> bool {
        matches!(self.meaning(), Meaning::Broken)
    }

    /// Returns whether the check counts, and nobody knows whether it holds.
    pub const fn is_undecided(self) -> bool {
        matches!(self.meaning(), Meaning::Undecided)
    }

    /// Returns whether the verdict is a result for the target, rather than a reason why there is none.
    pub const fn is_decided(self) -> bool {
        matches!(self.meaning(), Meaning::Holds | Meaning::Broken | Meaning::Option)
    }
}
