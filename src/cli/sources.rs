//! Where cases come from: the options that every command about cases has.
//!
//! Takes what was typed, gives [`Source`]s, or the cases of these that were meant. Must not know what is in them.

use camino::Utf8PathBuf;
use clap::Args;

use crate::load::{LoadError, Source, Suite, load, load_some};
use crate::model::Pattern;
use crate::model::case::Library;
use crate::model::suite::Draft;
use crate::plan::means_a_test;

/// A suite that can be imported, and how it is named on the command line.
pub(super) const SUITE: &str = "json-schema-test-suite";

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
    /// The sources that were meant.
    pub fn sources(&self) -> Vec<Source> {
        let source = |path: &Utf8PathBuf| match path.as_str() {
            "embedded" => Source::Embedded,
            _ => Source::Folder(path.clone()),
        };
        let suite = self.import.iter().map(|folder| Source::Suite(self.part.of(folder)));
        let sources: Vec<_> = self.cases.iter().map(source).chain(suite).collect();
        if sources.is_empty() { vec![Source::Embedded] } else { sources }
    }
}

/// The cases that any of these patterns may mean; without one all of them, and all where one of them means no test, for
/// what is near to it may be anywhere.
pub(super) fn meant<'p>(
    sources: &[Source],
    patterns: impl IntoIterator<Item = &'p Pattern>,
) -> Result<Library, LoadError> {
    let patterns: Vec<_> = patterns.into_iter().collect();
    if patterns.is_empty() {
        return load(sources);
    }
    let library = load_some(sources, |case| patterns.iter().any(|pattern| pattern.may_mean(case)))?;
    let is_enough = !library.is_part || patterns.iter().all(|pattern| means_a_test(pattern, &library));
    if is_enough { Ok(library) } else { load(sources) }
}

fn suite(text: &str) -> Result<Utf8PathBuf, String> {
    match text.split_once('=') {
        Some((SUITE, folder)) if !folder.is_empty() => Ok(folder.into()),
        _ => Err(format!("write {SUITE}=DIR, with the folder of the suite")),
    }
}
