//! The result of the program.

use std::process::ExitCode;

/// The result of the program, for the shell. A later one outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All results are as expected, known failures included.
    Fine,
    /// There are no tests to run, or the adapter cannot express any of them.
    Nothing,
    /// An unexpected result: a MUST violated, an inconclusive or flaky test, a stale known failure, a frozen check that
    /// no longer exists, or a snapshot that changed, is missing or cannot be read.
    Unexpected,
    /// A usage error: a wrong option or name, or an error in a case file or a `target.toml`.
    Usage,
    /// A target cannot be set up or started.
    Target,
    /// A file or the output cannot be written, whatever the other results are.
    Unsaved,
    /// The user stopped the run, or its time limit passed. casebook reports the tests that have ended.
    Interrupted,
    /// An error in casebook itself.
    Bug,
    /// The operating system refused a file, a folder or a process.
    System,
}

impl Exit {
    /// Returns the result of a run of which several may apply: the one that outweighs the others, or [`Exit::Fine`].
    pub(in crate::cli) fn gravest(results: &[(bool, Self)]) -> Self {
        results.iter().filter(|(applies, _)| *applies).map(|(_, exit)| *exit).max().unwrap_or(Self::Fine)
    }

    /// The exit status of the process.
    pub fn status(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Nothing => 3,
            Self::Target => 4,
            Self::Interrupted => 5,
            Self::Unsaved => 6,
            Self::Bug => 70,
            Self::System => 71,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}
