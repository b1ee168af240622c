//! `casebook run`: load, find targets, plan, set up, carry out, compare with the snapshots, report.

mod args;

use std::collections::BTreeSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::sync::watch;

pub use args::{RunArgs, SelectArgs};

use super::here::{here, show_files, warn_of_skipped};
use super::logs::CachedLog;
use super::sets;
use super::snapshots::{self, Changes, Snapshots};
use super::targets::targets_with_programs;
use super::timings::Started;
use super::{Exit, Problem, caches};
use crate::drive::{Cancel, SetupError, set_up};
use crate::judge::Judge;
use crate::load::load;
use crate::load::target::{self, TargetError};
use crate::model::Pattern;
use crate::model::case::Library;
use crate::model::record::{About, FORMAT, Header, Record};
use crate::model::set::Drift;
use crate::model::target::Target;
use crate::model::transcript::StdioMode;
use crate::plan::{Plan, PlanError, Selection, means_a_test, plan as plan_of};
use crate::report::terminal::{Terminal, eprint_line, ignore_broken_pipe};
use crate::report::{self, RunSummary, Untrusted};
use crate::run::{Log, LogError, Secrets, Seen, conduct};
use crate::set;
use reference::{is_mutant, mutants};

/// How many characters of a line of a setup command are shown.
const LINE: usize = 1000;
/// How many of its last lines together.
const BLOCK: usize = 16_000;

pub(super) fn run(args: &RunArgs) -> Result<Exit, Problem> {
    args.outputs.check()?;
    let mut library = load(&args.cases.sources()?)?;
    let (names, mut left_out) = if args.all { targets_with_programs()? } else { (args.targets.clone(), Vec::new()) };
    tell(&left_out);
    let mut targets = with_known(with_snapshots(targets(&names)?, args), args, &library);
    let runtime = super::interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = super::interrupt::listen_for(args.run_limit);
        let asked = targets.len();
        if args.all {
            targets = set_up_or_leave_out(targets, &cancel, &mut left_out).await?;
        }
        let are_all_there = targets.len() == asked;
        let planned = planned(args, &mut library, &targets)?;
        prepare(&targets, &cancel).await?;
        let exit = carry_out(args, &library, &targets, planned, cancel).await?;
        // Once more at the end, where it is read.
        tell(&left_out);
        Ok(if are_all_there { exit } else { exit.max(Exit::Target) })
    })
}

/// What is to be run, and how that differs from the set, where there is one.
fn planned(
    args: &RunArgs,
    library: &mut Library,
    targets: &[Arc<Target>],
) -> Result<(Arc<Plan>, Option<Drift>), Problem> {
    let set = args.set.as_ref().map(|name| Ok::<_, Problem>((name, sets::read(name)?))).transpose()?;
    let drift = set.as_ref().map(|(name, set)| set::narrow(library, (*name).clone(), set));
    let mut plan = plan_of(library, targets, &args.selection()).map_err(|error| plan_problem(&error))?;
    if let Some((name, set)) = &set {
        set::keep(&mut plan, set);
        if plan.is_empty() {
            return Err(Problem::new(Exit::Nothing, format!("nothing to run: the set {name} has none of these tests")));
        }
    }
    Ok((Arc::new(plan), drift))
}

/// Of many targets, those that can be set up; why the others can't goes to what is left out.
async fn set_up_or_leave_out(
    targets: Vec<Arc<Target>>,
    cancel: &watch::Receiver<Cancel>,
    left_out: &mut Vec<String>,
) -> Result<Vec<Arc<Target>>, Problem> {
    let mut broken: BTreeSet<&Utf8Path> = BTreeSet::new();
    for target in &targets {
        if broken.contains(target.folder.as_path()) {
            continue;
        }
        if let Err(problem) = prepare(std::slice::from_ref(target), cancel).await {
            if problem.exit == Exit::Interrupted {
                return Err(problem);
            }
            eprint_line(&problem.text);
            left_out.push(format!("{} is left out: it could not be set up", target.id.name));
            broken.insert(&target.folder);
        }
    }
    Ok(targets.iter().filter(|target| !broken.contains(target.folder.as_path())).cloned().collect())
}

fn tell(left_out: &[String]) {
    for why in left_out {
        eprint_line(&Untrusted(why).line(LINE));
    }
}

/// The targets that were typed, each once.
pub(super) fn targets(typed: &[String]) -> Result<Vec<Arc<Target>>, Problem> {
    let (here, cache) = (here()?, caches::folder());
    for one in typed {
        warn_of_skipped(Some(one), &here);
    }
    let mut targets: Vec<Arc<Target>> = Vec::new();
    for one in typed {
        let found = match one.split_once(':') {
            _ if one == target::REFERENCE => vec![target::reference(&this_program()?, &here, None)],
            Some((target::REFERENCE, mutant)) => vec![target::reference(&this_program()?, &here, Some(known(mutant)?))],
            _ => target::target(one, &here, cache.as_deref())?,
        };
        let new = found.into_iter().filter(|one| !targets.iter().any(|known| known.id == one.id));
        targets.extend(new.map(Arc::new).collect::<Vec<_>>());
    }
    show_files(targets.iter().map(Arc::as_ref), &here);
    Ok(targets)
}

/// With cases of somebody else, the snapshots are beside these: in a folder `snapshots` beside the folder of cases.
fn with_snapshots(targets: Vec<Arc<Target>>, args: &RunArgs) -> Vec<Arc<Target>> {
    if args.cases.are_embedded() {
        return targets;
    }
    let folder = args.cases.only_folder().and_then(|folder| folder.canonicalize_utf8().ok());
    let beside = folder.and_then(|folder| Some(folder.parent()?.join("snapshots")));
    let beside = beside.filter(|folder| args.accept || folder.is_dir());
    let moved = |target: Arc<Target>| Arc::new(target::for_cases(Arc::unwrap_or_clone(target), beside.as_deref()));
    targets.into_iter().map(moved).collect()
}

/// Leaves out what a target is known to do in cases that are not here: with an imported suite these are all others.
fn with_known(targets: Vec<Arc<Target>>, args: &RunArgs, library: &Library) -> Vec<Arc<Target>> {
    if args.cases.import.is_none() {
        return targets;
    }
    let is_here = |pattern: &Pattern| means_a_test(pattern, library);
    let narrowed = |target: Arc<Target>| {
        let mut target = Arc::unwrap_or_clone(target);
        target.known.retain(|known| is_here(&known.test));
        target.flaky.retain(|flaky| is_here(&flaky.test));
        Arc::new(target)
    };
    targets.into_iter().map(narrowed).collect()
}

/// The mutants are variants of the reference.
fn known(mutant: &str) -> Result<&str, TargetError> {
    if is_mutant(mutant) {
        return Ok(mutant);
    }
    let variants = mutants().map(|one| one.name.to_owned()).collect();
    Err(TargetError::Variant { target: target::REFERENCE.to_owned(), variant: mutant.to_owned(), variants })
}

pub(super) fn this_program() -> Result<Utf8PathBuf, Problem> {
    let program = std::env::current_exe().map_err(Problem::system)?;
    Utf8PathBuf::try_from(program).map_err(|error| Problem::system(error.into_io_error()))
}

pub(super) fn plan_problem(error: &PlanError) -> Problem {
    let exit = match error {
        PlanError::UnmatchedKnown { .. } | PlanError::KnownTwice { .. } | PlanError::UnmatchedPattern { .. } => {
            Exit::Usage
        }
        PlanError::Nothing { .. } => Exit::Nothing,
    };
    Problem::new(exit, error.to_string())
}

/// Sets up each target's folder, once for all of its variants.
pub(super) async fn prepare(targets: &[Arc<Target>], cancel: &watch::Receiver<Cancel>) -> Result<(), Problem> {
    let mut ready: Vec<&Utf8Path> = Vec::new();
    for target in targets {
        if ready.contains(&target.folder.as_path()) {
            continue;
        }
        let name = &target.id.name;
        let secrets = Secrets::of(target);
        let say = |line: &str| eprint_line(&Untrusted(&format!("{name}: {}", secrets.out_of(line))).line(LINE));
        let mut stop = cancel.clone();
        tokio::select! {
            done = set_up(target, say) => {
                let problem = |error: SetupError| {
                    let words = format!("{name} could not be set up: {error}");
                    Untrusted(&secrets.out_of(&words)).block(BLOCK)
                };
                done.map_err(|error| Problem::new(Exit::Target, problem(error)))?;
            }
            _ = stop.wait_for(|cancel| *cancel != Cancel::Go) => {
                return Err(Problem::new(Exit::Interrupted, format!("interrupted while {name} was set up")));
            }
        }
        ready.push(&target.folder);
    }
    Ok(())
}

async fn carry_out(
    args: &RunArgs,
    library: &Library,
    targets: &[Arc<Target>],
    (plan, drift): (Arc<Plan>, Option<Drift>),
    cancel: watch::Receiver<Cancel>,
) -> Result<Exit, Problem> {
    let header = header(args, library, targets, &plan);
    let mut unsaved = Vec::new();
    let (log, saved) = begun(args, &header, &mut unsaved)?;
    for what in &unsaved {
        eprint_line(&not_saved(what));
    }
    let record = saved.as_ref().map(Saved::path);
    let started = Started::now();
    let judge = Judge::new(&library.requirements, targets.iter().map(Arc::as_ref));
    let differs = plan.is_partial || args.select.heavy;
    let whole = if differs && snapshots::are_wanted(args.accept, targets) {
        Arc::new(unfiltered(args, library, targets)?)
    } else {
        Arc::clone(&plan)
    };
    let mut terminal = Terminal::new(plan.len());
    let planned = plan.tests().map(|(group, _)| (&group.target.id, &group.case));
    let mut summary = RunSummary::new(&header, planned);
    let mut snapshots = Snapshots::new(args.accept, targets, &whole);
    let mut source = args
        .outputs
        .is_wanted()
        .then(|| report::Source::begun(record.as_deref().map_or("the run", Utf8Path::as_str), &header));
    let mut two_ways = TwoWays::default();
    let mut shown = Ok(());
    let see = |seen: Seen<'_>| {
        if let Seen::Judged(record, _) = &seen {
            summary.add(record);
            snapshots.add(record);
            two_ways.add(record);
            if let Some(source) = &mut source {
                source.add(record);
            }
        }
        // What can't be shown any more is still run and recorded.
        if shown.is_ok() {
            shown = ignore_broken_pipe(match seen {
                Seen::Slow(target, test, after) => terminal.on_slow(target, test, after),
                Seen::Judged(record, transcript) => terminal.on_record(record, Some(transcript)),
            });
        }
    };
    let conducted = conduct(Arc::clone(&plan), judge, args.options(), cancel, log, see).await;
    if let Some(error) = conducted.unsaved {
        unsaved.push(format!("the rest of the record: {error}"));
    } else if let Some(Saved::Cached(log)) = saved {
        unsaved.extend(log.publish().err().map(|error| format!("which run is the last one: {error}")));
    }
    let reported = source.map_or(Ok(()), |source| {
        let source = report::Source { footer: Some(conducted.footer.clone()), ..source };
        args.outputs.write(&[source], library).map(|_| ())
    });
    let (changes, accepted) = snapshots.finish();
    let shown = shown.and_then(|()| ignore_broken_pipe(changes.show(&mut terminal)));
    summary.end(&conducted.footer);
    summary.drift = drift;
    summary.timings = args.timings.timings.then(|| started.finish(conducted.timings.clone()));
    let finished = terminal.finish(&summary, &library.requirements, args.outputs.strict, args.rates);
    let shown = shown.and(ignore_broken_pipe(finished));
    changes.tell();
    two_ways.tell();
    if let Some(path) = record {
        eprint_line(&format!("record: {path}"));
    }
    let saving = shown.map_err(|error| format!("all of standard output: {error}"));
    unsaved.extend(saving.err());
    for what in &unsaved {
        eprint_line(&not_saved(what));
    }
    let exit = exit(args.outputs.strict, &summary, &changes);
    let exit = if unsaved.is_empty() { exit } else { exit.max(Exit::Unsaved) };
    let exit = match reported {
        Ok(()) => exit,
        Err(problem) => {
            eprint_line(&problem.text);
            exit.max(Exit::Unsaved)
        }
    };
    match (conducted.broken, accepted) {
        (Some(error), _) => Err(error.into()),
        (None, Err(problem)) => Err(Problem { exit: exit.max(problem.exit), ..problem }),
        (None, Ok(())) => Ok(exit),
    }
}

/// The plan of a run of the same targets and cases without a filter.
fn unfiltered(args: &RunArgs, library: &Library, targets: &[Arc<Target>]) -> Result<Plan, Problem> {
    // A set took checks from the library, which decide where a test applies.
    let whole = args.set.as_ref().map(|_| load(&args.cases.sources()?)).transpose()?;
    match plan_of(whole.as_ref().unwrap_or(library), targets, &Selection::default()) {
        // All that is run is heavy.
        Err(PlanError::Nothing { .. }) => Ok(Plan::default()),
        plan => plan.map_err(|error| plan_problem(&error)),
    }
}

/// Numbers of the tests that were run in both ways over stdio.
#[derive(Default)]
struct TwoWays {
    all: usize,
    unlike: usize,
}

impl TwoWays {
    fn add(&mut self, record: &Record) {
        if record.stdio == Some(StdioMode::Both) {
            self.all += 1;
            self.unlike += usize::from(record.observation.unavailable.is_some());
        }
    }

    fn tell(&self) {
        match self {
            Self { all: 0, .. } => {}
            Self { all, unlike: 0 } => {
                eprint_line(&format!("run by a stream and in a process: {all} tests, all alike"));
            }
            Self { all, unlike } => {
                eprint_line(&format!("run by a stream and in a process: {all} tests, {unlike} not alike"));
            }
        }
    }
}

/// The place of the run log.
enum Saved {
    /// At a path from the command line.
    Named(Utf8PathBuf),
    /// In the cache.
    Cached(CachedLog),
}

impl Saved {
    fn path(&self) -> Utf8PathBuf {
        match self {
            Self::Named(path) => path.clone(),
            Self::Cached(log) => log.path(),
        }
    }
}

/// Begins the run log. Where it can't be written, the run goes on without.
fn begun(args: &RunArgs, header: &Header, unsaved: &mut Vec<String>) -> Result<(Option<Log>, Option<Saved>), Problem> {
    let saved = match (&args.record, caches::folder()) {
        (Some(path), _) => Saved::Named(path.clone()),
        (None, Some(cache)) => match here()?.own_cache(cache.clone(), &["runs"]).map(CachedLog::begin) {
            Ok(Ok(log)) => Saved::Cached(log),
            Err(skipped) => {
                eprint_line(&Untrusted(&format!("there is no record: {skipped}; --record FILE saves one")).line(LINE));
                return Ok((None, None));
            }
            Ok(Err(error)) => {
                unsaved.push(format!("the record: {cache}: {error}; --record FILE saves it elsewhere"));
                return Ok((None, None));
            }
        },
        (None, None) => {
            eprint_line(
                "there is no record, because no cache folder is known (HOME is not set); --record FILE saves one",
            );
            return Ok((None, None));
        }
    };
    match Log::create(&saved.path(), header.clone()) {
        Ok(log) => Ok((Some(log), Some(saved))),
        Err(error @ LogError::InUse { .. }) => Err(error.into()),
        Err(error) => {
            unsaved.push(format!("the record: {error}"));
            Ok((None, None))
        }
    }
}

fn not_saved(what: &str) -> String {
    format!("casebook: cannot save {}", Untrusted(what).line(LINE))
}

fn header(args: &RunArgs, library: &Library, targets: &[Arc<Target>], plan: &Plan) -> Header {
    Header {
        format: FORMAT,
        casebook: env!("CARGO_PKG_VERSION").to_owned(),
        targets: targets.iter().map(|target| target.id.clone()).collect(),
        about: targets.iter().map(|target| about(target, plan)).collect(),
        cases: Some(library.hash.clone()),
        shard: plan.shard,
        narrowed: args.narrowed(),
        files: files(targets),
        planned: plan.len(),
        skipped: plan.skipped.clone(),
    }
}

/// The facts about a target that reports show.
fn about(target: &Target, plan: &Plan) -> About {
    About {
        target: target.id.clone(),
        title: target.title.clone(),
        version: target.package.as_ref().map(ToString::to_string),
        unverified: target.unverified.clone(),
        planned: plan.tests().filter(|(group, _)| group.target.id == target.id).count(),
    }
}

/// The files of the targets, those of variants once.
fn files(targets: &[Arc<Target>]) -> Vec<Utf8PathBuf> {
    let mut files: Vec<_> = targets.iter().filter_map(|target| target.file.clone()).collect();
    files.dedup();
    files
}

fn exit(strict: bool, summary: &RunSummary, changes: &Changes) -> Exit {
    if summary.has_bug {
        Exit::Bug
    } else if summary.interrupted {
        Exit::Interrupted
    } else if summary.has_unseen() {
        Exit::Target
    } else if !summary.is_as_expected(strict) || !changes.is_none() || summary.missing() > 0 {
        Exit::Unexpected
    } else if summary.unasked().next().is_none() {
        Exit::Fine
    } else {
        Exit::Nothing
    }
}
