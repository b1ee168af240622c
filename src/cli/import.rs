//! `casebook import`: a suite is written down as a folder of cases.

use std::collections::BTreeSet;
use std::fs;

use camino::Utf8PathBuf;
use clap::Args;

use super::sources::PartArgs;
use super::{Exit, Problem};
use crate::load::{self, Source};
use crate::report::terminal::{eprint_line, print_line};

/// `casebook import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// What is imported
    #[arg(value_name = "SUITE")]
    pub suite: SuiteName,
    /// The folder of the suite: it has `tests` and `remotes`
    #[arg(value_name = "DIR")]
    pub folder: Utf8PathBuf,
    /// Which part of it.
    #[command(flatten)]
    pub part: PartArgs,
    /// The folder of cases to write it into
    #[arg(long, value_name = "FOLDER")]
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
            let there = format!("{folder} is there already; take it away, or choose another folder with --out");
            return Err(Problem::new(Exit::Usage, there));
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
        "{} case files, {tests} tests; `casebook run --cases {}` runs them",
        library.cases.len(),
        args.out
    ));
    let found = load::lint(&[Source::Folder(args.out.clone())]);
    if !found.is_empty() {
        eprint_line(&format!("lint finds {} of its own to say: casebook lint {}", found.len(), args.out));
    }
    Ok(Exit::Fine)
}
