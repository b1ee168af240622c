//! What keeps a command from doing its work: the words for people, and the exit status.

use camino::Utf8Path;

use crate::load::LoadError;
use crate::load::target::TargetError;
use crate::model::Printable;
use crate::proof::ProofError;
use crate::run::{LogError, RunError};

use super::Exit;

/// Why a command ends here.
#[derive(Debug)]
pub struct Problem {
    /// The exit status.
    pub exit: Exit,
    /// What to print, without a final line end.
    pub text: Printable,
}

impl Problem {
    /// A problem in these words.
    pub(super) fn new(exit: Exit, text: impl Into<Printable>) -> Self {
        Self { exit, text: Printable::from("casebook: ") + text.into() }
    }

    /// An error of the operating system.
    pub(super) fn system(error: impl std::fmt::Display) -> Self {
        Self::new(Exit::System, error.to_string())
    }

    /// A file that could not be written.
    pub(super) fn unsaved(path: &Utf8Path, error: &std::io::Error) -> Self {
        Self::new(Exit::Unsaved, format!("cannot write {path}: {error}"))
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Self {
        let report = error.report(crate::report::terminal::colours_errors());
        Self { exit: Exit::Usage, text: report + format!("casebook: {error}; nothing was started").into() }
    }
}

impl From<TargetError> for Problem {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::File(error) => error.into(),
            TargetError::Missing { .. } | TargetError::Variant { .. } => Self::new(Exit::Usage, error.to_string()),
            TargetError::Unpack { .. } => Self::new(Exit::Target, error.to_string()),
        }
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::system(error)
    }
}

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        use std::io::ErrorKind as Kind;
        let typed = [
            Kind::FileTooLarge,
            Kind::InvalidData,
            Kind::InvalidFilename,
            Kind::InvalidInput,
            Kind::IsADirectory,
            Kind::NotADirectory,
            Kind::NotFound,
        ];
        match &error {
            // All but a mistyped path, and a file that is no run log.
            LogError::Io { source, .. } if !typed.contains(&source.kind()) => Self::system(error),
            _ => Self::new(Exit::Usage, error.to_string()),
        }
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        Self::new(Exit::Bug, error.to_string())
    }
}

impl From<ProofError> for Problem {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Plan(error) => Self::new(Exit::Usage, error.to_string()),
            ProofError::Run(error) => error.into(),
        }
    }
}
