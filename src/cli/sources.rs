//! Where cases come from: the options that every command about cases has.
//!
//! Takes what was typed, gives [`Source`]s. Must not know what is in them.

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use crate::import::{self, Suite};
use crate::load::{LoadError, Source};
use crate::model::suite::Draft;

/// A suite that can be imported, and how it is named on the command line.
pub(super) const SUITE: &str = "json-schema-test-suite";

/// The name that stands for the embedded cases.
const EMBEDDED: &str = "embedded";

/// Where cases come from.
#[derive(Debug, Args)]
pub struct CaseArgs {
    /// A folder of cases to use in place of the embedded ones; `embedded` stands for these. Repeat it for more
    #[arg(long = "cases", value_name = "DIR", global = true)]
    pub cases: Vec<Utf8PathBuf>,
    /// A suite to make cases of, in place of the embedded ones: json-schema-test-suite=DIR
    #[arg(long, value_name = "SUITE=DIR", value_parser = suite)]
    pub import: Option<Utf8PathBuf>,
    /// Which part of the suite.
    #[command(flatten)]
    pub part: PartArgs,
}

/// Which part of a suite.
#[derive(Debug, Args)]
pub struct PartArgs {
    /// The draft of JSON Schema that is imported: 2020-12 or 2019-09
    #[arg(long, value_name = "DRAFT", default_value_t = Draft::Latest)]
    pub draft: Draft,
    /// Import what the suite calls optional too
    #[arg(long)]
    pub optional: bool,
}

impl PartArgs {
    /// This part of the suite in a folder.
    pub fn of(&self, folder: &Utf8PathBuf) -> Suite {
        Suite { folder: folder.clone(), draft: self.draft, is_whole: self.optional }
    }
}

impl CaseArgs {
    /// Returns whether only the embedded cases are used.
    pub fn are_embedded(&self) -> bool {
        self.import.is_none() && self.cases.iter().all(|folder| folder == EMBEDDED) && self.cases.len() <= 1
    }

    /// The folder of cases, where there is one and nothing else.
    pub fn only_folder(&self) -> Option<&Utf8Path> {
        match (self.cases.as_slice(), &self.import) {
            ([folder], None) if folder != EMBEDDED => Some(folder),
            _ => None,
        }
    }

    /// The sources that were meant.
    ///
    /// # Errors
    /// [`LoadError`] where a suite cannot be converted.
    pub fn sources(&self) -> Result<Vec<Source>, LoadError> {
        let source = |path: &Utf8PathBuf| match path.as_str() {
            EMBEDDED => Source::Embedded,
            _ => Source::Folder(path.clone()),
        };
        let mut sources: Vec<_> = self.cases.iter().map(source).collect();
        if let Some(folder) = &self.import {
            sources.push(Source::Texts(import::files(&self.part.of(folder))?));
        }
        Ok(if sources.is_empty() { vec![Source::Embedded] } else { sources })
    }
}

fn suite(text: &str) -> Result<Utf8PathBuf, String> {
    match text.split_once('=') {
        Some((SUITE, folder)) if !folder.is_empty() => Ok(folder.into()),
        _ => Err(format!("write {SUITE}=DIR, with the folder of the suite")),
    }
}
