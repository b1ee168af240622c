//! `casebook known`: prints the known failures that would make runs green, for a person to give reasons.
//!
//! Takes run logs, prints TOML on standard output. It writes no `target.toml`.

use camino::Utf8PathBuf;
use clap::Args;

use super::here::unpacked_folder;
use super::{CaseArgs, Exit, Problem};
use crate::load::{self, target::REFERENCE};
use crate::report::Untrusted;
use crate::report::known::Proposals;
use crate::report::terminal::{eprint_line, show};
use crate::run::read_what_is_there;

/// The most characters of a line that are shown.
const LINE: usize = 1000;

/// `casebook known`.
#[derive(Debug, Args)]
pub struct KnownArgs {
    /// The run logs of a target, as `casebook run` names them
    #[arg(value_name = "RUN_LOG", required = true)]
    pub run_logs: Vec<Utf8PathBuf>,
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
    for path in args.run_logs.iter().filter(|path| !path.as_str().ends_with(".wire.jsonl")) {
        let (log, cut) = read_what_is_there(path)?;
        if let Some(error) = cut {
            eprint_line(&format!("{path} is incomplete: {error}; the tests after that are not covered"));
            exit = Exit::Interrupted;
        }
        files.extend(log.header.files);
        // The embedded reference and its mutants have no target.toml.
        let records = log.records.iter().filter(|record| record.target.name != REFERENCE);
        records.for_each(|record| {
            has_target = true;
            proposals.add(record);
        });
        log.footer.iter().flat_map(|footer| &footer.stale).for_each(|stale| proposals.add_stale(stale));
    }
    if !has_target {
        let text =
            "no test of a target with a target.toml is in the run log; casebook's own reference has no known failures";
        return Err(Problem::new(Exit::Usage, text));
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
                 target.toml of the copy, and write the reason of each"
            ),
            None => format!("add these entries to the target.toml of {target}, and write the reason of each"),
        };
        eprint_line(&Untrusted(&text).line(LINE));
    }
    if texts.iter().all(|(_, entries, _)| *entries == 0) {
        eprint_line("no known failure is missing");
    }
    Ok(exit)
}
