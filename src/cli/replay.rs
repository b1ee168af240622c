//! `casebook replay`: a record is judged by the cases of today and reported again; nothing is started.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;

use super::here::here;
use super::run::targets;
use super::{Exit, Problem, ReplayArgs};
use crate::load::{self, target};
use crate::model::bound::length;
use crate::model::case::Library;
use crate::model::record::{Footer, Header, Record, VerdictKind};
use crate::model::target::Target;
use crate::model::transcript::Transcript;
use crate::model::{TargetId, TestId};
use crate::plan::{Selection, plan};
use crate::report::terminal::{Terminal, eprint_line, ignore_broken_pipe};
use crate::report::{RunSummary, Source, Untrusted};
use crate::run::{RunLog, read_log, read_wire, rejudge};

/// Bytes of the transcripts that are shown.
const EVIDENCE: usize = 256 << 20;

pub(super) fn replay(args: &ReplayArgs) -> Result<Exit, Problem> {
    args.outputs.check()?;
    let library = load::load(&args.cases.sources()?)?;
    let RunLog { header, records, footer } = read_log(&args.record)?;
    // Known failures stand with the targets; a record may come from where these are not.
    let found = find(&header)?;
    let known: Vec<Target> = found.iter().map(|target| Target::clone(target)).collect();
    let mut replay = rejudge(&library, &known, records);
    if !is_whole(&library, &found, &replay.records) {
        // In a part of a run, what fails may be in the other part.
        replay.stale.clear();
    }
    let wire = evidence(args, &replay.records);
    let mut terminal = Terminal::new(header.planned);
    let mut summary = RunSummary::new(&header, std::iter::empty());
    for record in &replay.records {
        summary.add(record);
        ignore_broken_pipe(terminal.on_record(record, wire.get(&(record.target.clone(), record.test.clone()))))?;
    }
    let footer = footer.map(|footer| Footer { stale: replay.stale, ..footer });
    if let Some(footer) = &footer {
        summary.end(footer);
    }
    ignore_broken_pipe(terminal.finish(&summary, &library.requirements, args.outputs.strict, args.rates))?;
    if args.outputs.is_wanted() {
        let mut source = Source { footer, ..Source::begun(args.record.as_str(), &header) };
        replay.records.iter().for_each(|record| source.add(record));
        args.outputs.write(&[source], &library)?;
    }
    for path in &replay.changed {
        eprint_line(&format!("{path} does something else today than was observed; its old verdicts stand"));
    }
    for path in &replay.gone {
        eprint_line(&format!("{path} is in no case any more; its old verdicts stand"));
    }
    for path in &replay.cut {
        eprint_line(&format!(
            "{path} was cut when it was recorded and cannot be judged again; its old verdicts are kept"
        ));
    }
    Ok(if summary.has_bug {
        Exit::Bug
    } else if summary.interrupted || summary.missing() > 0 {
        Exit::Interrupted
    } else if summary.has_unseen() {
        Exit::Target
    } else if summary.is_as_expected(args.outputs.strict) {
        Exit::Fine
    } else {
        Exit::Unexpected
    })
}

/// The transcripts of the tests that are shown in full: the first of each finding. All of them may be more than memory.
fn evidence(args: &ReplayArgs, records: &[Record]) -> BTreeMap<(TargetId, TestId), Transcript> {
    let (mut found, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for record in records {
        let mut unsettled = record.verdicts.iter().filter(|verdict| verdict.kind != VerdictKind::Pass);
        let is_first = unsettled.any(|verdict| found.insert((&record.target, &verdict.requirement, verdict.kind)));
        if is_first || record.observation.unavailable.is_some() {
            shown.insert((record.target.clone(), record.test.clone()));
        }
    }
    let transcripts = read_wire(&args.record).into_iter().flatten().flatten();
    let named = transcripts.map(|transcript| ((transcript.target.clone(), transcript.test.clone()), transcript));
    let mut room = EVIDENCE;
    let wanted = named.filter(|(name, _)| shown.contains(name)).take_while(|(_, transcript)| {
        let left = room.checked_sub(length(transcript));
        room = left.unwrap_or(0);
        left.is_some()
    });
    wanted.collect()
}

/// The targets of a record: where they were, in this repository, or else by their names, as far as they are here. Nothing is started.
fn find(header: &Header) -> Result<Vec<Arc<Target>>, Problem> {
    // The log may be somebody else's: of the files that it names, only those of this repository are looked at.
    let here = here()?;
    let may_be_one = |file: &&Utf8PathBuf| here.has(file) && file.extension() == Some("toml") && file.is_file();
    let mut there: Vec<Arc<Target>> = Vec::new();
    for file in header.files.iter().filter(may_be_one) {
        match target::read(file) {
            Ok(targets) => there.extend(targets.into_iter().map(Arc::new)),
            Err(error) => eprint_line(&Problem::from(error).text),
        }
    }
    let mut found = Vec::new();
    for id in &header.targets {
        match by_name(id) {
            _ if there.iter().any(|target| target.id == *id) => {
                found.extend(there.iter().filter(|target| target.id == *id).cloned());
            }
            Ok(targets) => found.extend(targets),
            Err(_) => {
                eprint_line(&Untrusted(&format!("{id} isn't found from here: its known failures count")).line(400));
            }
        }
    }
    Ok(found)
}

/// Finds a target of a run log by its name, which is never taken for a path.
fn by_name(id: &TargetId) -> Result<Vec<Arc<Target>>, Problem> {
    if target::is_path(&id.name) {
        return Err(Problem::new(Exit::Target, format!("{} is no name of a target", id.name)));
    }
    targets(&[id.to_string()])
}

/// Whether a record has every test that an unfiltered run of these targets has.
fn is_whole(library: &Library, targets: &[Arc<Target>], records: &[Record]) -> bool {
    let seen: BTreeSet<_> = records.iter().map(|record| (&record.target, &record.test)).collect();
    plan(library, targets, &Selection::default())
        .is_ok_and(|plan| plan.tests().all(|(group, planned)| seen.contains(&(&group.target.id, &planned.id))))
}
