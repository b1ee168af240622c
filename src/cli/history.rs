//! `casebook run --versions`: several releases of targets, one after another, and since when each answer holds.
//!
//! Takes the options of a run, gives one run log per release and the history. A release that cannot be set up is named, and
//! the others go on.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::here::here;
use super::releases::ask;
use super::{Exit, Problem, RunArgs, caches, report, run};
use crate::load;
use crate::load::target::{TypedTarget, typed_target};
use crate::model::case::Library;
use crate::model::release::Releases;
use crate::model::text::count;
use crate::report::history::History;
use crate::report::terminal::{eprint_line, print_line, show};
use crate::report::{Counts, ReportContext, Source, Status, Untrusted};

/// The most characters of a line that are shown.
const LINE: usize = 1000;

pub(super) fn run(args: &RunArgs, releases: &Releases) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let folder = folder(args)?;
    let (mut sources, mut left_out) = (Vec::new(), Vec::new());
    let mut gravest = Exit::Fine;
    for (name, variant) in plain(args)? {
        let cache = caches::folder().map_err(|why| Problem::new(Exit::System, why))?;
        let (target, listed) = ask(&name, &cache)?;
        let wanted = releases.of(&listed, target.setup.oldest.as_deref());
        if wanted.is_empty() {
            let text =
                format!("{name} has no release in `{releases}`; list them with `casebook targets --versions {name}`");
            return Err(Problem::new(Exit::Usage, text));
        }
        for release in wanted {
            let typed = format!("{name}@{}{variant}", release.version);
            print_line(&format!("{typed}  {}", release.day().unwrap_or_default()));
            let log = folder.join(format!("{}.jsonl", typed.replace(':', "+")));
            let of_release = args.of_release(typed.clone(), log.clone());
            if let Some(source) = kept(&log, &of_release, &library) {
                print_line(&format!("    {}, kept in {log}", numbers(&source)));
                sources.push(source);
                continue;
            }
            let before = sources.len();
            match run::run(&of_release) {
                Ok(Exit::Interrupted) => return Ok(Exit::Interrupted),
                Ok(exit @ (Exit::Bug | Exit::System | Exit::Unsaved)) => return Ok(exit),
                Ok(Exit::Target) => {
                    gravest = Exit::Target;
                    left_out.push(format!("incomplete {typed}: its adapter did not start, or ended"));
                    sources.push(report::source(&log)?);
                }
                // Whether an older release is as expected is not the question.
                Ok(_) => sources.push(report::source(&log)?),
                Err(problem) if problem.exit == Exit::Target => {
                    gravest = Exit::Target;
                    eprint_line(&problem.text);
                    left_out.push(format!("left out {typed}: it cannot be set up"));
                }
                Err(problem) => return Err(problem),
            }
            sources[before..].iter().for_each(|source| print_line(&format!("    {}", numbers(source))));
        }
    }
    for history in History::all(&sources, &ReportContext::of(&library)) {
        show(&format!("\n{}", history.text())).map_err(|error| Problem::output(&error))?;
    }
    run::print_all(&left_out);
    eprint_line(&format!("run logs: {folder}"));
    if args.outputs.is_wanted() && !sources.is_empty() {
        args.outputs.write(&sources, &library)?;
        args.outputs.print_paths();
    }
    Ok(gravest)
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
    let cached = || caches::folder().map(|cache| cache.join("history")).map_err(|why| Problem::new(Exit::System, why));
    let folder = args.run_log.clone().map_or_else(cached, Ok)?;
    fs::create_dir_all(&folder).map_err(|error| Problem::unsaved(&folder, &error))?;
    Ok(folder)
}

/// Returns the run log of an earlier run of the same release with the same cases and options, if that run ended.
pub(super) fn kept(log: &Utf8Path, args: &RunArgs, library: &Library) -> Option<Source> {
    let source = report::source(log).ok().filter(|_| log.is_file())?;
    let header = &source.header;
    let is_same = header.casebook == env!("CARGO_PKG_VERSION")
        && header.cases.as_ref() == Some(&library.hash)
        && header.narrowed == args.narrowed();
    let is_whole = source.footer.as_ref().is_some_and(|footer| !footer.interrupted);
    (is_same && is_whole && source.records.len() >= header.planned).then_some(source)
}
