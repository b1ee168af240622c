//! `casebook freeze`, and the frozen sets of `casebook run --set`: embedded ones, or files `sets/NAME.json` in the current
//! folder.

use std::fs;
use std::io::{ErrorKind, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::FreezeArgs;
use super::base::exit::Exit;
use super::base::problem::Problem;
use crate::file;
use crate::load::{self, did_you_mean};
use crate::model::case::Library;
use crate::model::set::{Drift, SET_FORMAT, ScoredSet, Set, SetName};
use crate::report::terminal::{eprint_line, print_line};
use crate::report::{RunSummary, Score};
use crate::set;

/// The folder of frozen sets.
const FOLDER: &str = "sets";

pub(super) fn freeze(args: &FreezeArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let set = set::freeze(&library, args.revision);
    if set.tests.is_empty() {
        return Err(Problem::new(Exit::Nothing, "no checks to freeze: no test of these cases has a check"));
    }
    if load::published_sets().any(|name| name == args.name.to_string()) {
        let text = format!(
            "{} is the name of a published set, which `--set` would no longer mean; choose another name",
            args.name
        );
        return Err(Problem::new(Exit::Usage, text));
    }
    let path = place(&args.name);
    let unsaved = |error: std::io::Error| Problem::unsaved(&path, &error);
    fs::create_dir_all(path.parent().unwrap_or(Utf8Path::new("."))).map_err(unsaved)?;
    let mut file = fs::File::create_new(&path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let text = format!("{path} already exists; casebook never overwrites a frozen set, choose another name");
            Problem::new(Exit::Usage, text)
        }
        _ => unsaved(error),
    })?;
    file.write_all(set.text().as_bytes()).map_err(unsaved)?;
    let checks: usize = set.tests.values().map(|frozen| frozen.checks.len()).sum();
    print_line(path.as_str());
    eprint_line(&format!(
        "{} tests with {checks} checks; run only these with `casebook run TARGET --set {}`",
        set.tests.len(),
        args.name
    ));
    Ok(Exit::Fine)
}

/// A frozen set of a run, whose cases have no other checks.
pub(super) struct Narrowed {
    drift: Drift,
    score: Score,
}

impl Narrowed {
    /// Removes all other checks from the cases.
    pub(super) fn new(library: &mut Library, name: &SetName, set: &Set) -> Self {
        let drift = set::narrow(library, name.clone(), set);
        Self { drift, score: Score::new(library, set::sizes(library, set)) }
    }

    /// What the run log says of the set.
    pub(super) fn about(&self) -> ScoredSet {
        ScoredSet { name: self.drift.set.to_string(), sizes: self.score.sizes().clone() }
    }

    /// Has a run counted by the set.
    pub(super) fn begin(self, summary: &mut RunSummary) {
        (summary.drift, summary.score) = (Some(self.drift), Some(self.score));
    }
}

/// The most bytes that are read of a frozen set.
const MOST_BYTES: usize = 64 << 20;

/// Reads a frozen set: a published one, which is embedded, or else a file of the current folder.
pub(super) fn read(name: &SetName) -> Result<Set, Problem> {
    let path = place(name);
    let problem = |exit: Exit, why: String| Problem::new(exit, format!("cannot read the frozen set {path}: {why}"));
    let published = load::published_set(&name.to_string()).map(str::to_owned);
    let text =
        published.map_or_else(|| file::read_text(&path, MOST_BYTES), Ok).map_err(|error| match error.kind() {
            ErrorKind::NotFound => problem(Exit::Usage, format!("there is no such file; {}", others(name))),
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::FileTooLarge => {
                problem(Exit::Usage, error.to_string())
            }
            _ => problem(Exit::System, error.to_string()),
        })?;
    let set: Set = serde_json::from_str(&text).map_err(|error| problem(Exit::Usage, error.to_string()))?;
    if set.format == SET_FORMAT {
        Ok(set)
    } else {
        let text = format!("it has format {}, and this version of casebook reads format {SET_FORMAT}", set.format);
        Err(problem(Exit::Usage, text))
    }
}

/// The published sets and those of the current folder, as the remedy for a wrong name.
fn others(name: &SetName) -> String {
    let entries = Utf8Path::new(FOLDER).read_dir_utf8().into_iter().flatten().flatten();
    let here = entries.filter_map(|entry| entry.file_name().strip_suffix(".json").map(str::to_owned));
    let mut names: Vec<String> = here.chain(load::published_sets().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    match (did_you_mean(&name.to_string(), &known), known.as_slice()) {
        (Some(question), _) => question,
        (None, known) => format!("the published and local sets are {}", known.join(", ")),
    }
}

fn place(name: &SetName) -> Utf8PathBuf {
    Utf8Path::new(FOLDER).join(format!("{name}.json"))
}
