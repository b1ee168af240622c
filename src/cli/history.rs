//! `casebook run --versions`: several releases of targets, one after another, and since when each answer holds.
//!
//! Takes the options of a run, gives one run log per release and the history. A release that cannot be set up is named, and
//! the others go on.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser as _;

use super::base::caches;
use super::base::exit::Exit;
use super::base::here::here;
use super::base::lines::print_all;
use super::base::problem::Problem;
use super::base::releases::ask;
use super::base::results::source;
use super::base::sources::CaseArgs;
use super::{Cli, Command, RunArgs, run};
use crate::load;
use crate::load::target::{TypedTarget, typed_target};
use crate::model::case::Library;
use crate::model::release::Releases;
use crate::model::text::count;
use crate::report::history::History;
use crate::report::terminal::{eprint_line, print_line, show};
use crate::report::{Counts, ReportContext, Source, Status, Untrusted};

/// The folder in the cache with the run logs of releases.
pub(super) const HISTORY: &str = "history";
/// The most characters of a line that are shown.
const LINE: usize = 1000;

pub(super) fn run(args: &RunArgs, releases: &Releases) -> Result<Exit, Problem> {
    args.outputs.check()?;
    let library = load::load(&args.cases.sources()?)?;
    let folder = folder(args)?;
    let (mut sources, mut left_out) = (Vec::new(), Vec::new());
    for (name, variant) in plain(args)? {
        let (target, listed) = ask(&name, &caches::folder()?)?;
        let wanted = releases.of(&listed, target.setup.supports.as_ref());
        if wanted.is_empty() {
            let text =
                format!("{name} has no release in `{releases}`; list them with `casebook targets --versions {name}`");
            return Err(Problem::new(Exit::Usage, text));
        }
        for release in wanted {
            let typed = format!("{name}@{}{variant}", release.version);
            print_line(&format!("{typed}  {}", release.day().unwrap_or_default()));
            let before = sources.len();
            match on_release(&args.of_release(&typed, &folder), &library)? {
                Ran::Whole(source) => sources.push(source),
                Ran::Partly(source) => {
                    left_out.push(format!("incomplete {typed}: its adapter did not start, or ended"));
                    sources.push(source);
                }
                Ran::Not(problem) => {
                    eprint_line(&problem.text);
                    let why =
                        if problem.exit == Exit::Nothing { "no test applies to it" } else { "it cannot be set up" };
                    left_out.push(format!("left out {typed}: {why}"));
                }
            }
            sources[before..].iter().for_each(|source| print_line(&format!("    {}", numbers(source))));
        }
    }
    for history in History::all(&sources, &ReportContext::of(&library)) {
        show(&format!("\n{}", history.text())).map_err(|error| Problem::output(&error))?;
    }
    print_all(&left_out);
    eprint_line(&format!("run logs: {folder}"));
    if args.outputs.is_wanted() && !sources.is_empty() {
        args.outputs.write(&sources, &library)?;
        args.outputs.print_paths();
    }
    Ok(if left_out.is_empty() { Exit::Fine } else { Exit::Target })
}

/// The results of one release.
pub(super) enum Ran {
    /// All tests have a result.
    Whole(Source),
    /// The adapter did not start, or ended.
    Partly(Source),
    /// The release cannot be set up, or no test applies to it.
    Not(Problem),
}

/// The options of a run of one release, with the words that select tests.
pub(super) fn options(typed: &str, words: &[&str], cases: &CaseArgs, folder: &Utf8Path) -> Result<RunArgs, Problem> {
    let command = ["casebook", "run", typed];
    match Cli::try_parse_from(command.iter().chain(words)).map(|cli| cli.command) {
        Ok(Command::Run(run)) => Ok(RunArgs { cases: cases.clone(), ..run.of_release(typed, folder) }),
        Ok(_) => unreachable!("`run` is the command `run`"),
        Err(error) => Err(Problem::new(Exit::Usage, error.to_string())),
    }
}

/// Runs one release, unless its run log has the results of the same cases and options.
///
/// # Errors
/// Problems that are not the release's own, and the user's interruption.
pub(super) fn on_release(args: &RunArgs, library: &Library) -> Result<Ran, Problem> {
    let log = args.run_log.as_deref().expect("the run of a release has a run log");
    if let Some(source) = kept(log, args, library) {
        return Ok(Ran::Whole(source));
    }
    match run::run(args) {
        Ok(Exit::Interrupted) => Err(Problem::new(
            Exit::Interrupted,
            "interrupted; the same command goes on with the releases that are left",
        )),
        Ok(exit @ (Exit::Bug | Exit::System | Exit::Unsaved)) => Err(Problem::new(exit, format!("see {log}"))),
        Ok(Exit::Target) => source(log).map(Ran::Partly),
        // Whether an older release is as expected is not the question.
        Ok(_) => source(log).map(Ran::Whole),
        Err(problem) if [Exit::Target, Exit::Nothing].contains(&problem.exit) => Ok(Ran::Not(problem)),
        Err(problem) => Err(problem),
    }
}

/// The number of tests by status.
fn numbers(source: &Source) -> String {
    let mut counts = Counts::default();
    source.records.iter().for_each(|record| counts.add(Status::of(record)));
    format!("{}: {counts}", count(counts.total(), "test"))
}

/// The names of the targets, each with its variant as it was typed.
fn plain(args: &RunArgs) -> Result<Vec<(String, String)>, Problem> {
    let here = here()?;
    let targets = args.targets();
    let names = targets.iter().map(|typed| match typed_target(typed, &here) {
        TypedTarget::Plain { name } => Ok((name.to_owned(), typed[name.len()..].to_owned())),
        TypedTarget::Checkout { .. } | TypedTarget::Release { .. } => {
            let text =
                format!("`{typed}` has a version of its own; with --versions, write the name of the target alone");
            Err(Problem::new(Exit::Usage, Untrusted(&text).line(LINE)))
        }
    });
    names.collect()
}

/// The folder of the run logs.
fn folder(args: &RunArgs) -> Result<Utf8PathBuf, Problem> {
    let folder = args.run_log.clone().map_or_else(|| caches::folder().map(|cache| cache.join(HISTORY)), Ok)?;
    fs::create_dir_all(&folder).map_err(|error| Problem::unsaved(&folder, &error))?;
    Ok(folder)
}

/// Returns the run log of an earlier run of the same release with the same cases and options, if that run ended.
fn kept(log: &Utf8Path, args: &RunArgs, library: &Library) -> Option<Source> {
    let source = source(log).ok().filter(|_| log.is_file())?;
    let header = &source.header;
    let is_same = header.casebook == env!("CARGO_PKG_VERSION")
        && header.cases.as_ref() == Some(&library.hash)
        && header.narrowed == args.narrowed();
    let is_whole = source.footer.as_ref().is_some_and(|footer| !footer.interrupted);
    (is_same && is_whole && source.records.len() >= header.planned).then_some(source)
}
