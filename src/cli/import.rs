//! `casebook import`: converts a test suite to a folder of cases.

use std::collections::BTreeSet;
use std::fs;

use camino::Utf8PathBuf;
use clap::Args;

use super::sources::PartArgs;
use super::{Exit, Problem, heading};
use crate::load::{self, Source};
use crate::report::terminal::{eprint_line, print_line};

/// `casebook import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Suite to convert
    #[arg(value_name = "SUITE")]
    pub suite: SuiteName,
    /// Folder of the suite, with `tests` and `remotes` in it
    #[arg(value_name = "DIR")]
    pub folder: Utf8PathBuf,
    /// The part of the suite.
    #[command(flatten)]
    pub part: PartArgs,
    /// Write the cases to this folder
    #[arg(long, value_name = "FOLDER", help_heading = heading::OUTPUT)]
    pub out: Utf8PathBuf,
}

/// A suite that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SuiteName {
    /// The JSON-Schema-Test-Suite
    JsonSchemaTestSuite,
}

pub(super) fn import(args: &ImportArgs) -> Result<Exit, Problem> {
    let files = crate::import::files(&args.part.of(&args.folder))?;
    let library = load::load(&[Source::Texts(files.clone())])?;
    for folder in files.iter().filter_map(|(path, _)| path.parent()).map(|folder| args.out.join(folder)) {
        if folder.exists() {
            let exists = format!("{folder} already exists; delete it, or choose another folder with --out");
            return Err(Problem::new(Exit::Usage, exists));
        }
    }
    for (path, text) in &files {
        let path = args.out.join(path);
        let problem = |error: std::io::Error| Problem::unsaved(&path, &error);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(problem)?;
        fs::write(&path, text).map_err(problem)?;
    }
    let folders: BTreeSet<_> = files.iter().filter_map(|(path, _)| path.parent()).collect();
    for folder in folders {
        print_line(args.out.join(folder).as_str());
    }
    let tests: usize = library.cases.iter().map(|case| case.tests.len()).sum();
    eprint_line(&format!(
        "{} case files with {tests} tests; run them with `casebook run TARGET --cases {}`",
        library.cases.len(),
        args.out
    ));
    let found = load::lint(&[Source::Folder(args.out.clone())]);
    if !found.is_empty() {
        eprint_line(&format!("{} warnings; show them with `casebook lint {}`", found.len(), args.out));
    }
    Ok(Exit::Fine)
}
