//! [`Problem`]: an error that ends a command, as a message and an exit status.

use camino::Utf8Path;

use crate::load::target::TargetError;
use crate::load::{Diagnostic, LoadError};
use crate::model::Printable;
use crate::proof::ProofError;
use crate::run::{LogError, RunError};

use super::caches::{self, NoCache};
use super::exit::Exit;

/// An error that ends a command.
#[derive(Debug)]
pub struct Problem {
    /// The exit status.
    pub exit: Exit,
    /// The message, without a final line end.
    pub text: Printable,
}

impl Problem {
    /// Returns a problem with this message.
    pub(in crate::cli) fn new(exit: Exit, text: impl Into<Printable>) -> Self {
        Self { exit, text: Printable::from("casebook: ") + text.into() }
    }

    /// Returns a problem for an error of the operating system.
    pub(in crate::cli) fn system(error: impl std::fmt::Display) -> Self {
        Self::new(Exit::System, error.to_string())
    }

    /// Returns a problem for a file that cannot be written.
    pub(in crate::cli) fn unsaved(path: &Utf8Path, error: &std::io::Error) -> Self {
        Self::new(Exit::Unsaved, format!("cannot write {path}: {error}"))
    }

    /// Returns a problem for standard output that cannot be written.
    pub(in crate::cli) fn output(error: &std::io::Error) -> Self {
        Self::new(Exit::Unsaved, format!("cannot write standard output: {error}"))
    }
}

impl From<NoCache> for Problem {
    fn from(why: NoCache) -> Self {
        Self::new(Exit::System, why.0)
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Self {
        let report = error.report(crate::report::terminal::colours_errors());
        let is_denied = !error.diagnostics.is_empty() && error.diagnostics.iter().all(Diagnostic::is_denied);
        let exit = if is_denied { Exit::System } else { Exit::Usage };
        Self { exit, text: report + format!("casebook: {error}; no tests were run").into() }
    }
}

impl From<TargetError> for Problem {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::File(error) => error.into(),
            TargetError::Missing { .. }
            | TargetError::Empty
            | TargetError::NotToml { .. }
            | TargetError::Checkout { .. }
            | TargetError::Releases { .. }
            | TargetError::Version { .. }
            | TargetError::Variant { .. } => Self::new(Exit::Usage, error.to_string()),
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
            // A mistyped path, or a file that is not a run log, is a usage error.
            LogError::Io { source, .. } if !typed.contains(&source.kind()) => Self::system(error),
            LogError::Io { path, source, .. }
                if source.kind() == Kind::NotFound && path.as_str().contains(['*', '?']) =>
            {
                Self::new(Exit::Usage, format!("no file matches {path}; the shell did not expand the pattern"))
            }
            LogError::Io { source, .. } if source.kind() == Kind::NotFound => {
                let last = caches::folder().map(|cache| cache.join("last/run.jsonl")).ok();
                let hint = last.filter(|last| last.exists());
                let hint = hint.map_or(String::new(), |last| format!("; the run log of the last run is {last}"));
                Self::new(Exit::Usage, format!("{error}{hint}"))
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::source::unreadable;

    #[test]
    fn denied_file_is_an_error_of_the_system() {
        let exit = |kind: std::io::ErrorKind| {
            let diagnostics = vec![unreadable(Utf8Path::new("a.json"), &kind.into())];
            Problem::from(LoadError::new(diagnostics)).exit
        };
        assert_eq!(exit(std::io::ErrorKind::PermissionDenied), Exit::System);
        assert_eq!(exit(std::io::ErrorKind::NotFound), Exit::Usage);
    }
}
