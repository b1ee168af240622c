//! `casebook known`: the known failures that would make runs green, for a person to give reasons.
//!
//! Takes run logs, prints TOML on standard output, or puts it into a `target.toml`.

use std::collections::BTreeSet;
use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use tempfile::NamedTempFile;

use super::base::exit::Exit;
use super::base::here::{here, unpacked_folder};
use super::base::problem::Problem;
use super::base::results::source;
use super::base::sources::CaseArgs;
use crate::load::{self, target, target::REFERENCE};
use crate::model::spec::Catalogue;
use crate::model::target::UNTRIAGED;
use crate::model::text::count;
use crate::report::known::{Proposals, Update};
use crate::report::terminal::{eprint_line, show};
use crate::report::{Untrusted, stale};

/// The most characters of a line that are shown.
const LINE: usize = 1000;

/// `casebook known`.
#[derive(Debug, Args)]
pub struct KnownArgs {
    /// The run logs of a target, as `casebook run` names them
    #[arg(value_name = "RUN_LOG", required = true)]
    pub run_logs: Vec<Utf8PathBuf>,
    /// Update the target.toml FILE in place: add entries, and remove the stale ones
    ///
    /// Comments, and the entries that still fail, stay as they are.
    #[arg(long, value_name = "FILE")]
    pub update: Option<Utf8PathBuf>,
    /// Also excuse violated SHOULDs, which fail a run with --strict
    #[arg(long)]
    pub strict: bool,
    /// The sources of cases, which have the requirements.
    #[command(flatten)]
    pub cases: CaseArgs,
}

pub(super) fn known(args: &KnownArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let mut proposals = Proposals::new(args.strict);
    let (mut has_target, mut exit, mut files) = (false, Exit::Fine, Vec::new());
    // A shell's `*` matches the transcripts beside the run logs too.
    let mut sources = Vec::new();
    for path in args.run_logs.iter().filter(|path| !path.as_str().ends_with(".wire.jsonl")) {
        let source = source(path)?;
        if let Some(error) = &source.cut {
            eprint_line(&format!("{path} is incomplete: {error}; the tests after that are not covered"));
            exit = Exit::Interrupted;
        }
        files.extend(source.header.files.clone());
        // The embedded reference and its mutants have no target.toml.
        let records = source.records.iter().filter(|record| record.target.name != REFERENCE);
        records.for_each(|record| {
            has_target = true;
            proposals.add(record);
        });
        sources.push(source);
    }
    for stale in &stale(&sources) {
        proposals.add_stale(stale);
    }
    if !has_target {
        let text =
            "no test of a target with a target.toml is in the run log; casebook's own reference has no known failures";
        return Err(Problem::new(Exit::Usage, text));
    }
    if let Some(path) = &args.update {
        return update(path, proposals, &library.requirements).map(|()| exit);
    }
    let texts = proposals.texts(&library.requirements);
    let all: Vec<_> = texts.iter().map(|(_, _, text)| text.as_str()).collect();
    show(&all.join("\n")).map_err(|error| Problem::unsaved("standard output".into(), &error))?;
    for (target, entries, _) in &texts {
        if *entries == 0 {
            continue;
        }
        let text = match unpacked_folder(target, &files) {
            Some(folder) => format!(
                "{target} is embedded in casebook: copy {folder}, for example to targets/{target}, add these entries to the \
                 target.toml of the copy, and replace the reason of each"
            ),
            None => format!(
                "add these entries to the target.toml of {target}, which --update does, and replace the reason of each"
            ),
        };
        eprint_line(&Untrusted(&text).line(LINE));
    }
    if texts.iter().all(|(_, entries, _)| *entries == 0) {
        eprint_line("no known failure is missing");
    }
    Ok(exit)
}

/// Puts the entries of a target into its `target.toml`. A file that would have mistakes is not written.
fn update(typed: &Utf8Path, mut proposals: Proposals, catalogue: &Catalogue) -> Result<(), Problem> {
    let usage = |text: String| Problem::new(Exit::Usage, text);
    let targets = target::target(typed.as_str(), &here()?, None)?;
    let Some((path, name)) = targets.first().and_then(|one| Some((one.file.clone()?, one.id.name.clone()))) else {
        return Err(usage(format!("{typed} has no target.toml")));
    };
    let refused = |why: &dyn std::fmt::Display| usage(format!("cannot update {path}: {why}"));
    let text = target::text(&path)?;
    let variants: Vec<&str> = targets.iter().map(|one| one.id.variant.as_deref().unwrap_or_default()).collect();
    let none = || refused(&format!("the run logs have no test of {name}"));
    for target in &targets {
        proposals.leave_out(target);
    }
    let updated = proposals.updated((&name, &variants), &text, catalogue).ok_or_else(none)?;
    let Update { text, added, removed } = updated.map_err(|why| refused(&why))?;
    let targets = target::parse(&path, text.clone())?;
    let unsaved = |error: std::io::Error| Problem::unsaved(&path, &error);
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(&path)).map_err(unsaved)?;
    file.write_all(text.as_bytes()).map_err(unsaved)?;
    let permissions = path.metadata().map_err(unsaved)?.permissions();
    file.as_file().set_permissions(permissions).map_err(unsaved)?;
    file.persist(&path).map_err(|error| unsaved(error.error))?;
    let known = targets.iter().flat_map(|target| &target.known).filter(|known| known.reason == UNTRIAGED);
    let untriaged = known.map(|known| (known.test.as_str(), &known.requirement)).collect::<BTreeSet<_>>().len();
    let left = match untriaged {
        0 => String::new(),
        some => format!("; {some} of all {UNTRIAGED}: replace the word by a reason"),
    };
    let line = format!("{path}: {} added, {removed} removed or limited{left}", count(added, "known failure"));
    eprint_line(&Untrusted(&line).line(LINE));
    Ok(())
}
