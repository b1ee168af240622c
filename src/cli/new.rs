//! The command `new`: writes a folder of cases with one requirement and one case, which pass `lint` and run as they are, or
//! prints a `target.toml` or a workflow.
//!
//! Takes the arguments, gives files or text to start from. Starts nothing.

mod target;

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand};

use super::base::exit::Exit;
use super::base::problem::Problem;
use crate::file;
use crate::load::{self, Source};
use crate::model::{Printable, is_id};
use crate::report::terminal::{self, eprint_line, print_line, show};
pub use target::NewTargetArgs;

const REQUIREMENTS: &str = include_str!("new/requirements.json");
const CASE: &str = include_str!("new/first.json");
const MUTANTS: &str = include_str!("new/mutants.json");
const OBSERVED: &str = include_str!("new/observed.json");
const WORKFLOW: &str = include_str!("new/workflow.yml");

/// The most bytes that are read of a file with sentences.
const MOST_BYTES: usize = 1 << 20;

const AFTER: &str = "\
Examples:
  casebook new sep-1234
  casebook new sep-1234 --from seps/1234-rates.md
  git diff main -- docs/specification > rates.diff; casebook new sep-1234 --from rates.diff
  casebook new tools-paging --cases my-cases --title 'Pages are listed in order'
  casebook new target -- node ../server.js > conformance/target.toml
  casebook new workflow > .github/workflows/casebook.yml";

const AFTER_TARGET: &str = "\
A secret in the command or the URL is replaced by its name.

Examples:
  casebook new target -- node ../server.js > conformance/target.toml
  casebook new target https://example.com/mcp > conformance/target.toml";

/// `casebook new`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER, disable_help_subcommand = true)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct NewArgs {
    /// The text to print, in place of a folder to create.
    #[command(subcommand)]
    pub printed: Option<Printed>,
    /// Name of the new folder: sep-NNNN, or a part of the specification
    #[arg(value_name = "NAME", required = true)]
    pub name: Option<String>,
    /// Title of the case: the behaviour that it tests
    #[arg(long)]
    pub title: Option<String>,
    /// Folder of cases to create the new folder in
    #[arg(long, value_name = "DIR", default_value = "cases")]
    pub cases: Utf8PathBuf,
    /// Write a requirement for each sentence of FILE with a word of BCP 14: a page, a SEP, or a diff, of which those that
    /// it adds; repeatable
    #[arg(long, value_name = "FILE")]
    pub from: Vec<Utf8PathBuf>,
}

/// A text to start from.
#[derive(Debug, Subcommand)]
pub enum Printed {
    /// Print a target.toml for a server
    #[command(after_long_help = AFTER_TARGET)]
    Target(NewTargetArgs),
    /// Print a workflow for GitHub
    Workflow,
}

pub(super) fn new(args: &NewArgs) -> Result<Exit, Problem> {
    let text = match &args.printed {
        Some(Printed::Target(args)) => target::target_toml(args)?,
        Some(Printed::Workflow) => WORKFLOW.to_owned(),
        None => return folder_of_cases(args),
    };
    show(&text).map_err(|error| Problem::unsaved("standard output".into(), &error))?;
    Ok(Exit::Fine)
}

fn folder_of_cases(args: &NewArgs) -> Result<Exit, Problem> {
    let name = args.name.as_deref().unwrap_or_default();
    let why = match name {
        "schemas" | "target" | "workflow" => "it has another meaning; choose another name",
        name if !is_id(name) => "use small letters and digits, with single `-` between them, as in `sep-1234`",
        _ => "",
    };
    if !why.is_empty() {
        return Err(Problem::new(Exit::Usage, format!("`{name}` cannot be the name of a folder of cases: {why}")));
    }
    let files = texts(args)?;
    let folder = args.cases.join(name);
    if folder.exists() {
        let remedy = "add a file to it, or choose another name";
        return Err(Problem::new(Exit::Usage, format!("{folder} already exists: {remedy}")));
    }
    let title = args.title.clone().unwrap_or_else(|| format!("{name}: valid arguments are accepted, others refused"));
    let problem = |error: std::io::Error| Problem::unsaved(&folder, &error);
    fs::create_dir_all(&folder).map_err(problem)?;
    let title = serde_json::Value::from(title).to_string();
    for (file, text) in &files {
        // The name of a mutant is one of all folders.
        let text = text.replace("\"TITLE\"", &title).replace("accepts-anything", &format!("{name}-accepts-anything"));
        fs::write(folder.join(file), text).map_err(problem)?;
    }
    check(&args.cases, &folder)?;
    let schemas = write_schemas(&args.cases).map_err(problem)?;
    for (file, _) in files {
        print_line(&format!("{folder}/{file}"));
    }
    for schema in schemas {
        print_line(&schema);
    }
    eprint_line(&if args.from.is_empty() { steps(&args.cases, name) } else { steps_of_text(&args.cases, name) });
    Ok(Exit::Fine)
}

/// The new files: examples, or the sentences of the files and a case that only observes.
fn texts(args: &NewArgs) -> Result<Vec<(&'static str, String)>, Problem> {
    if args.from.is_empty() {
        let examples = [("requirements.json", REQUIREMENTS), ("first.json", CASE), ("mutants.json", MUTANTS)];
        return Ok(examples.map(|(file, text)| (file, text.to_owned())).into());
    }
    let mut found = Vec::new();
    for path in &args.from {
        let text = file::read_text(path, MOST_BYTES)
            .map_err(|error| Problem::new(Exit::Usage, format!("cannot read {path}: {error}")))?;
        let sentences = load::sentences(path.as_str(), &text);
        if sentences.is_empty() {
            let text = format!("{path} has no sentence with a word of BCP 14, as in `Servers MUST …`");
            return Err(Problem::new(Exit::Usage, text));
        }
        found.extend(sentences);
    }
    Ok(vec![("requirements.json", load::requirements(found)), ("first.json", OBSERVED.to_owned())])
}

/// Checks the new files. The title may make them invalid, as it is free text; then the folder is removed again.
fn check(cases: &Utf8Path, folder: &Utf8Path) -> Result<(), Problem> {
    let mut found = load::lint(&[Source::Folder(cases.to_owned())]);
    let place = format!("{folder}/");
    found.retain(|one| one.line().starts_with(&place));
    if found.is_empty() {
        return Ok(());
    }
    fs::remove_dir_all(folder).map_err(|error| Problem::unsaved(folder, &error))?;
    let report = load::render(&found, terminal::colours_errors()).trimmed();
    Err(Problem::new(Exit::Usage, Printable::from("nothing was written:\n") + report))
}

/// Writes the JSON Schemas to which the `$schema` of the new files leads, for editors; gives the files that were missing.
fn write_schemas(cases: &Utf8Path) -> std::io::Result<Vec<String>> {
    let mut written = Vec::new();
    for (name, text) in load::schemas() {
        let file: Utf8PathBuf = cases.join("schemas").join(name);
        if !file.exists() {
            fs::create_dir_all(cases.join("schemas"))?;
            fs::write(&file, text)?;
            written.push(format!("{cases}/schemas/{name}"));
        }
    }
    Ok(written)
}

fn steps_of_text(cases: &Utf8Path, name: &str) -> String {
    format!(
        "\
The sides, names and headings are guesses. Next steps:
1. Read {cases}/{name}/requirements.json beside the text: correct, divide, and delete what no test can show, or give it an
   `unobservable` with the reason.
2. Replace the example in {cases}/{name}/first.json: what a server has is its fixture, also methods that no revision knows.
3. casebook lint {cases}
4. casebook run --cases {cases}
5. Write variants of the reference that violate the sentences into {cases}/{name}/mutants.json, and see the tests fail:
   casebook prove --cases {cases}
6. casebook coverage --cases {cases}   lists the requirements without a test"
    )
}

fn steps(cases: &Utf8Path, name: &str) -> String {
    format!(
        "\
The new case passes `lint` and runs as it is. Next steps:
1. Write the sentences of the proposal into {cases}/{name}/requirements.json, each with its level, its exact words and
   its page. Write a sentence with two duties as two requirements. Give a sentence that no test can show an
   `unobservable` with the reason.
2. Write a fixture and its tests into {cases}/{name}/first.json: valid input is accepted, invalid input is refused.
   An editor completes the keys and explains them by {cases}/schemas/case.json.
3. casebook lint {cases}
4. casebook run --cases {cases} --only {name}
5. Write variants of the reference that violate the sentences into {cases}/{name}/mutants.json, and see the tests fail:
   casebook prove --cases {cases}
6. casebook coverage --cases {cases}   lists the requirements without a test"
    )
}
