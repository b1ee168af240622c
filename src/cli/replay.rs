//! `casebook replay`: a record is judged by the cases of today and reported again; nothing is started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::run::{never_started, targets};
use super::{Exit, Problem, ReplayArgs};
use crate::load;
use crate::model::case::Library;
use crate::model::record::{Footer, Record, Transcript};
use crate::model::target::Target;
use crate::model::{TargetId, TestId};
use crate::plan::{Selection, plan};
use crate::report::terminal::{Terminal, aside, heard};
use crate::report::{Summary, Untrusted};
use crate::run::{read_log, read_wire, rejudge};

pub(super) fn replay(args: &ReplayArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources())?;
    let log = read_log(&args.record)?;
    // Known failures stand with the targets; a record may come from where these are not.
    let found = find(&log.header.targets);
    let known: Vec<Target> = found.iter().map(|target| Target::clone(target)).collect();
    let mut replay = rejudge(&library, &known, &log);
    if !is_whole(&library, &found, &log.records) {
        // In a part of a run, what fails may be in the other part.
        replay.stale.clear();
    }
    let wire: BTreeMap<(String, TestId), Transcript> = read_wire(&args.record)
        .unwrap_or_default()
        .into_iter()
        .map(|transcript| ((transcript.target.to_string(), transcript.test.clone()), transcript))
        .collect();
    let mut terminal = Terminal::new(log.header.planned);
    for record in &replay.records {
        heard(terminal.on_record(record, wire.get(&(record.target.to_string(), record.test.clone()))))?;
    }
    let footer = log.footer.map(|footer| Footer { stale: replay.stale.clone(), ..footer });
    let summary = Summary::new(&log.header, &replay.records, footer.as_ref());
    heard(terminal.finish(&summary, &library.requirements, args.strict, args.rates))?;
    for path in &replay.changed {
        aside(&format!("{path} does something else today than was observed; its old verdicts stand"));
    }
    for path in &replay.gone {
        aside(&format!("{path} is in no case any more; its old verdicts stand"));
    }
    Ok(if summary.interrupted || summary.missing() > 0 {
        Exit::Interrupted
    } else if !never_started(&replay.records).is_empty() {
        Exit::Target
    } else if summary.is_as_expected(args.strict) {
        Exit::Fine
    } else {
        Exit::Unexpected
    })
}

/// The targets of a record, as far as they are here; nothing of them is started.
fn find(ids: &[TargetId]) -> Vec<Arc<Target>> {
    let mut found = Vec::new();
    for id in ids {
        match targets(&[id.to_string()]) {
            Ok(targets) => found.extend(targets),
            Err(_) => aside(&Untrusted(&format!("{id} isn't found from here: its known failures count")).line(400)),
        }
    }
    found
}

/// Whether a record has every test that an unfiltered run of these targets has.
fn is_whole(library: &Library, targets: &[Arc<Target>], records: &[Record]) -> bool {
    let seen: BTreeSet<_> = records.iter().map(|record| (&record.target, &record.test)).collect();
    plan(library, targets, &Selection::default())
        .is_ok_and(|plan| plan.tests().all(|(group, planned)| seen.contains(&(&group.target.id, &planned.id))))
}
