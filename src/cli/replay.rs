//! `casebook replay`: a record is judged by the cases of today and reported again; nothing is started.

use std::collections::BTreeMap;

use super::run::targets;
use super::{Exit, Problem, ReplayArgs};
use crate::load;
use crate::model::TestId;
use crate::model::record::{Footer, Transcript};
use crate::model::target::Target;
use crate::report::Summary;
use crate::report::terminal::{Terminal, aside};
use crate::run::{read_log, read_wire, rejudge};

pub(super) fn replay(args: &ReplayArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources())?;
    let log = read_log(&args.record)?;
    // Known failures stand with the targets; a record may come from where these are not.
    let names: Vec<String> = log.header.targets.iter().map(ToString::to_string).collect();
    let known: Vec<Target> = names
        .iter()
        .filter_map(|name| targets(std::slice::from_ref(name)).ok())
        .flatten()
        .map(|target| Target::clone(&target))
        .collect();
    let replay = rejudge(&library, &known, &log);
    let wire: BTreeMap<(String, TestId), Transcript> = read_wire(&args.record)
        .unwrap_or_default()
        .into_iter()
        .map(|transcript| ((transcript.target.to_string(), transcript.test.clone()), transcript))
        .collect();
    let mut terminal = Terminal::new(log.header.planned);
    for record in &replay.records {
        terminal.on_record(record, wire.get(&(record.target.to_string(), record.test.clone())))?;
    }
    let footer = log.footer.map(|footer| Footer { stale: replay.stale.clone(), ..footer });
    let summary = Summary::new(&log.header, &replay.records, footer.as_ref());
    terminal.finish(&summary, &library.requirements, args.strict)?;
    for path in &replay.changed {
        aside(&format!("{path} does something else today than was observed; its old verdicts stand"));
    }
    for path in &replay.gone {
        aside(&format!("{path} is in no case any more; its old verdicts stand"));
    }
    Ok(match (summary.interrupted || summary.missing() > 0, summary.is_as_expected(args.strict)) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Unexpected,
    })
}
