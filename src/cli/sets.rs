//! `casebook freeze`, and sets as `casebook run --set` finds them: `sets/NAME.json`.

use std::fs;
use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Exit, FreezeArgs, Problem};
use crate::file;
use crate::load;
use crate::model::set::{SET_FORMAT, Set, SetName};
use crate::report::terminal::{eprint_line, print_line};
use crate::set;

pub(super) fn freeze(args: &FreezeArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let set = set::freeze(&library);
    if set.tests.is_empty() {
        return Err(Problem::new(Exit::Nothing, "there is nothing to freeze: no test checks anything"));
    }
    let path = place(&args.name);
    let unsaved = |error: std::io::Error| Problem::unsaved(&path, &error);
    fs::create_dir_all(path.parent().unwrap_or(Utf8Path::new("."))).map_err(unsaved)?;
    let mut file = fs::File::create_new(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Problem::new(Exit::Usage, format!("{path} is there; a set that was published stays as it is"))
        }
        _ => unsaved(error),
    })?;
    file.write_all(set.text().as_bytes()).map_err(unsaved)?;
    let checks: usize = set.tests.values().map(|frozen| frozen.checks.len()).sum();
    print_line(path.as_str());
    eprint_line(&format!(
        "{} tests with {checks} checks; `casebook run --set {}` asks just these",
        set.tests.len(),
        args.name
    ));
    Ok(Exit::Fine)
}

/// The most that is read of a set, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// Reads a set.
pub(super) fn read(name: &SetName) -> Result<Set, Problem> {
    let path = place(name);
    let problem = |why: String| Problem::new(Exit::Usage, format!("{path}: {why}"));
    let text = file::read_text(&path, MOST_BYTES).map_err(|error| problem(error.to_string()))?;
    let set: Set = serde_json::from_str(&text).map_err(|error| problem(error.to_string()))?;
    if set.format == SET_FORMAT {
        Ok(set)
    } else {
        Err(problem(format!("its form is {}, not {SET_FORMAT}", set.format)))
    }
}

fn place(name: &SetName) -> Utf8PathBuf {
    Utf8Path::new("sets").join(format!("{name}.json"))
}
