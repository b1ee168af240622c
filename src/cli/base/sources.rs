//! The sources of cases: the options that every command about cases has.
//!
//! Takes options, gives [`Source`]s. Must not know the content of cases.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::heading;
use super::problem::Problem;
use crate::import::{self, Suite};
use crate::load::{LoadError, Source};
use crate::model::case::Library;
use crate::model::is_id;

/// The name of the suite that `--import` converts.
pub(in crate::cli) const SUITE: &str = "json-schema-test-suite";

/// The name of the embedded cases, in place of a folder.
const EMBEDDED: &str = "embedded";

/// The folder of cases that `casebook new` creates, and that is only used with `--cases`.
const FORGOTTEN: &str = "cases";

/// The sources of cases.
#[derive(Clone, Debug, Args)]
pub struct CaseArgs {
    /// Use the cases in DIR instead of the embedded cases; repeatable
    ///
    /// The DIR `embedded` is the embedded cases: `--cases embedded --cases my-cases` uses both.
    #[arg(long = "cases", value_name = "DIR", global = true, help_heading = heading::CASES)]
    pub cases: Vec<Utf8PathBuf>,
    /// Convert a test suite and use its cases: json-schema-test-suite=DIR
    ///
    /// DIR has the tests of a draft of JSON Schema, as in JSON-Schema-Test-Suite/tests/draft2020-12.
    #[arg(long, value_name = "SUITE=DIR", value_parser = suite, help_heading = heading::CASES)]
    pub import: Option<Utf8PathBuf>,
    /// Also import the tests that the suite marks as optional
    #[arg(long, help_heading = heading::CASES)]
    pub optional: bool,
}

/// Returns the source that a path on the command line names.
pub(in crate::cli) fn source(path: &Utf8PathBuf) -> Source {
    match path.as_str() {
        EMBEDDED => Source::Embedded,
        _ => Source::Folder(path.clone()),
    }
}

impl CaseArgs {
    /// Returns whether only the embedded cases are used.
    pub fn are_embedded(&self) -> bool {
        self.import.is_none() && self.cases.iter().all(|folder| folder == EMBEDDED) && self.cases.len() <= 1
    }

    /// Returns whether the embedded cases are among the sources.
    pub fn has_embedded(&self) -> bool {
        self.are_embedded() || self.cases.iter().any(|folder| folder == EMBEDDED)
    }

    /// Adds the remedy to the error for a name that no case has, if the option for the folder `cases` was forgotten.
    pub fn with_hint(&self, mut problem: Problem, library: &Library, name: &str) -> Problem {
        let parts: Vec<_> = name.split(['/', '@']).take(2).collect();
        let is_name = parts.iter().all(|part| is_id(part));
        let is_used = self.import.is_some() || self.cases.iter().any(|folder| folder != EMBEDDED);
        if is_used || !is_name {
            return problem;
        }
        let below = Utf8Path::new(FORGOTTEN).join(parts[0]);
        let cases = || library.cases.iter().map(|case| &case.id);
        let is_new_file = |file: &str| {
            below.join(format!("{file}.json")).is_file()
                && cases().all(|id| (id.folder(), id.file()) != (parts[0], file))
        };
        let is_new_folder = below.is_dir() && cases().all(|id| id.folder() != parts[0]);
        let found = match parts.get(1) {
            Some(file) if is_new_file(file) => format!("{}/{file}", parts[0]),
            _ if is_new_folder => parts[0].to_owned(),
            _ => return problem,
        };
        let hint = format!("; the folder `{FORGOTTEN}` has `{found}`: add `--cases {FORGOTTEN}`");
        problem.text = problem.text + hint.into();
        problem
    }

    /// The folder of cases, if it is the only source.
    pub fn only_folder(&self) -> Option<&Utf8Path> {
        match (self.cases.as_slice(), &self.import) {
            ([folder], None) if folder != EMBEDDED => Some(folder),
            _ => None,
        }
    }

    /// Returns the options as words of a command line.
    pub fn typed(&self) -> Vec<String> {
        let cases = self.cases.iter().flat_map(|folder| ["--cases".to_owned(), folder.to_string()]);
        let import = self.import.iter().flat_map(|folder| ["--import".to_owned(), format!("{SUITE}={folder}")]);
        cases.chain(import).collect()
    }

    /// Returns the sources of these options.
    ///
    /// # Errors
    /// [`LoadError`] if a suite cannot be converted.
    pub fn sources(&self) -> Result<Vec<Source>, LoadError> {
        let mut sources: Vec<_> = self.cases.iter().map(source).collect();
        if let Some(folder) = &self.import {
            let suite = Suite { folder: folder.clone(), is_whole: self.optional };
            sources.push(Source::Texts(import::files(&suite)?));
        }
        Ok(if sources.is_empty() { vec![Source::Embedded] } else { sources })
    }
}

fn suite(text: &str) -> Result<Utf8PathBuf, String> {
    match text.split_once('=') {
        Some((SUITE, folder)) if !folder.is_empty() => Ok(folder.into()),
        _ => Err(format!("expected {SUITE}=DIR, with the tests of a draft, as in {SUITE}=suite/tests/draft2020-12")),
    }
}
