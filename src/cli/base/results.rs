//! Run logs as the sources of reports.

use camino::Utf8Path;

use super::problem::Problem;
use crate::report::Source;
use crate::run::{LogError, RunLog, read_what_is_there};

/// Reads a run log, up to the first line that cannot be read.
pub(in crate::cli) fn source(path: &Utf8Path) -> Result<Source, Problem> {
    let (log, cut) = read_what_is_there(path)?;
    Ok(named(path, log, cut))
}

/// A run log with its name, and with the error that ended it.
pub(in crate::cli) fn named(path: &Utf8Path, log: RunLog, cut: Option<LogError>) -> Source {
    Source {
        name: path.to_string(),
        header: log.header,
        records: log.records,
        footer: log.footer,
        is_broken: matches!(cut, Some(LogError::Line { .. })),
        cut: cut.map(|error| error.to_string()),
    }
}
