//! `casebook new`: a folder for a proposal, with a requirement and a case that run as they are.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::{Exit, NewArgs, Problem};
use crate::load::{self, Source};
use crate::model::{Printable, is_id};
use crate::report::terminal::{self, eprint_line, print_line};

const REQUIREMENTS: &str = include_str!("new/requirements.json");
const CASE: &str = include_str!("new/first.json");

pub(super) fn new(args: &NewArgs) -> Result<Exit, Problem> {
    let name = &args.name;
    if !is_id(name) {
        let style = "small letters and digits, with single `-` between them";
        return Err(Problem::new(Exit::Usage, format!("`{name}` can't be a folder's name: {style}")));
    }
    let folder = args.cases.join(name);
    if folder.exists() {
        return Err(Problem::new(Exit::Usage, format!("{folder} is there already; add a file to it")));
    }
    let title = args.title.clone().unwrap_or_else(|| format!("{name}: what is right is accepted, the rest refused"));
    let problem = |error: std::io::Error| Problem::unsaved(&folder, &error);
    fs::create_dir_all(&folder).map_err(problem)?;
    let case = CASE.replace("\"TITLE\"", &serde_json::Value::from(title).to_string());
    for (file, text) in [("requirements.json", REQUIREMENTS), ("first.json", &case)] {
        fs::write(folder.join(file), text).map_err(problem)?;
    }
    sound(&args.cases, &folder)?;
    print_line(&format!("{folder}/requirements.json\n{folder}/first.json"));
    eprint_line(&steps(&args.cases, name));
    Ok(Exit::Fine)
}

/// What was typed may make a case that lint finds fault with: then there is no folder.
fn sound(cases: &Utf8PathBuf, folder: &Utf8Path) -> Result<(), Problem> {
    let mut found = load::lint(&[Source::Folder(cases.clone())]);
    let place = format!("{folder}/");
    found.retain(|one| one.line().starts_with(&place));
    if found.is_empty() {
        return Ok(());
    }
    fs::remove_dir_all(folder).map_err(|error| Problem::unsaved(folder, &error))?;
    let report = load::render(&found, terminal::colours_errors()).trimmed();
    Err(Problem::new(Exit::Usage, Printable::from("nothing was written:\n") + report))
}

fn steps(cases: &Utf8Path, name: &str) -> String {
    format!(
        "\
It lints and runs as it is. Now make it your own:
1. Put the proposal's sentences into {cases}/{name}/requirements.json: each with its level, its exact words and where
   they stand. A sentence of two duties is two requirements; one that no process shows says so in `unobservable`.
2. Put a fixture and its tests into {cases}/{name}/first.json: what is right is accepted, what is wrong refused.
3. casebook lint {cases}
4. casebook run --cases {cases} --only {name}
   and once with a mutant that breaks the sentence (run reference:NAME): a case that never fails shows nothing.
5. casebook coverage --cases {cases}   says what is still open."
    )
}
