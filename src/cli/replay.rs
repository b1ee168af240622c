//! `casebook replay`: judges a run log again by the current cases, and reports it. It starts no target.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;

use super::ReplayArgs;
use super::base::chosen::targets;
use super::base::exit::Exit;
use super::base::here::here;
use super::base::problem::Problem;
use super::sets::{self, Narrowed};
use crate::load::target::{self, TargetError};
use crate::load::{self, Here};
use crate::model::bound::length;
use crate::model::case::Library;
use crate::model::record::{Footer, Header, Record};
use crate::model::target::Target;
use crate::model::transcript::Transcript;
use crate::model::verdict::VerdictKind;
use crate::model::{TargetId, TestId};
use crate::plan::{Selection, plan};
use crate::report::terminal::{Terminal, eprint_line, ignore_broken_pipe};
use crate::report::{RunSummary, Source, Untrusted};
use crate::run::{RunLog, read_log, read_wire, rejudge};

/// The most bytes of transcripts that are shown.
const EVIDENCE: usize = 256 << 20;

pub(super) fn replay(args: &ReplayArgs) -> Result<Exit, Problem> {
    args.outputs.check()?;
    let mut library = load::load(&args.cases.sources()?)?;
    let RunLog { header, records, footer } = read_log(&args.run_log)?;
    let set = narrowed(&mut library, &header)?;
    // Known failures are in the files of the targets, and these may not exist on this machine.
    let found = find(&header)?;
    let known: Vec<Target> = found.iter().map(|target| Target::clone(target)).collect();
    let mut replay = rejudge(&library, &known, records);
    if !is_whole(&library, &found, &replay.records) {
        // A known failure may fail in a test that this run log lacks.
        replay.stale.clear();
    }
    let wire = evidence(args, &replay.records);
    let mut terminal = Terminal::replay(&library, args.show.verbose);
    let mut summary = RunSummary::new(&header, std::iter::empty());
    if let Some(set) = set {
        set.begin(&mut summary);
    }
    for record in &replay.records {
        summary.add(record);
        let transcript = wire.get(&(record.target.clone(), record.test.clone()));
        ignore_broken_pipe(terminal.on_record(record, transcript)).map_err(unwritten)?;
    }
    let footer = footer.map(|footer| Footer { stale: replay.stale, ..footer });
    if let Some(footer) = &footer {
        summary.end(footer);
    }
    let finished = terminal.finish(&summary, &library.requirements, args.outputs.strict);
    ignore_broken_pipe(finished).map_err(unwritten)?;
    if args.outputs.is_wanted() {
        let mut source = Source { footer, ..Source::begun(args.run_log.as_str(), &header) };
        replay.records.iter().for_each(|record| source.add(record));
        args.outputs.write(&[source], &library)?;
        args.outputs.print_paths();
    }
    for path in &replay.changed {
        eprint_line(&format!("{path} has changed since it was recorded; keeping its old verdicts"));
    }
    for path in &replay.gone {
        eprint_line(&format!("{path} no longer exists; keeping its old verdicts"));
    }
    for path in &replay.cut {
        eprint_line(&format!(
            "{path} was cut when it was recorded and cannot be judged again; keeping its old verdicts"
        ));
    }
    Ok(Exit::gravest(&[
        (summary.has_bug, Exit::Bug),
        (summary.interrupted || summary.missing() > 0, Exit::Interrupted),
        (summary.has_unseen(), Exit::Target),
        (!summary.is_as_expected(args.outputs.strict), Exit::Unexpected),
    ]))
}

/// Removes all checks from the cases that the frozen set of the run does not have.
fn narrowed(library: &mut Library, header: &Header) -> Result<Option<Narrowed>, Problem> {
    let Some(set) = &header.set else { return Ok(None) };
    let name = set.name.parse().map_err(|why: String| Problem::new(Exit::Usage, Untrusted(&why).line(300)))?;
    let set = sets::read(&name)?;
    Ok(Some(Narrowed::new(library, &name, &set)))
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unwritten(error: std::io::Error) -> Problem {
    Problem::output(&error)
}

/// Reads the transcripts of the tests that are shown in full, the first of each finding. All transcripts of a run may not
/// fit into memory.
fn evidence(args: &ReplayArgs, records: &[Record]) -> BTreeMap<(TargetId, TestId), Transcript> {
    let (mut found, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for record in records {
        let mut unsettled = record.verdicts.iter().filter(|verdict| verdict.kind != VerdictKind::Pass);
        let is_first = unsettled.any(|verdict| found.insert((&record.target, &verdict.requirement, verdict.kind)));
        if is_first || record.observation.unavailable.is_some() {
            shown.insert((record.target.clone(), record.test.clone()));
        }
    }
    let transcripts = read_wire(&args.run_log).into_iter().flatten().flatten();
    let named = transcripts.map(|transcript| ((transcript.target.clone(), transcript.test.clone()), transcript));
    let mut room = EVIDENCE;
    let wanted = named.filter(|(name, _)| shown.contains(name)).take_while(|(_, transcript)| {
        let left = room.checked_sub(length(transcript));
        room = left.unwrap_or(0);
        left.is_some()
    });
    wanted.collect()
}

/// Finds the targets of a run log: by their files, if these are in this repository, or by their names.
fn find(header: &Header) -> Result<Vec<Arc<Target>>, Problem> {
    // The run log may come from another person, so casebook reads only files of this repository.
    let here = here()?;
    let may_be_one = |file: &&Utf8PathBuf| here.has(file) && file.extension() == Some("toml") && file.is_file();
    let mut there: Vec<Arc<Target>> = Vec::new();
    for file in header.files.iter().filter(may_be_one) {
        there.extend(target::read(file)?.into_iter().map(Arc::new));
    }
    let mut found = Vec::new();
    for id in &header.targets {
        match by_name(id) {
            _ if there.iter().any(|target| target.id == *id) => {
                found.extend(there.iter().filter(|target| target.id == *id).cloned());
            }
            Ok(targets) => found.extend(targets),
            Err(problem) if has_mistakes(id, &here) => return Err(problem),
            Err(_) => {
                let text = format!("cannot find the target {id} from here; its known failures count as failures");
                eprint_line(&Untrusted(&text).line(400));
            }
        }
    }
    Ok(found)
}

/// Finds a target of a run log by its name. A name is never used as a path.
fn by_name(id: &TargetId) -> Result<Vec<Arc<Target>>, Problem> {
    if target::is_path(&id.name) {
        return Err(Problem::new(Exit::Target, format!("`{}` is not the name of a target", id.name)));
    }
    targets(&[id.to_string()], &Library::default())
}

/// Returns whether a target of a run log has a file here, and this file has mistakes.
fn has_mistakes(id: &TargetId, here: &Here) -> bool {
    !target::is_path(&id.name) && matches!(target::target(&id.to_string(), here, None), Err(TargetError::File(_)))
}

/// Returns whether the records include every test of a run without a selection.
fn is_whole(library: &Library, targets: &[Arc<Target>], records: &[Record]) -> bool {
    let seen: BTreeSet<_> = records.iter().map(|record| (&record.target, &record.test)).collect();
    plan(library, targets, &Selection::default())
        .is_ok_and(|plan| plan.tests().all(|(group, planned)| seen.contains(&(&group.target.id, &planned.id))))
}
