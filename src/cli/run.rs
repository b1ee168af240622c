//! `casebook run`: loads cases, finds targets, plans, sets up, runs, compares with the snapshots and reports.

mod args;

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::sync::watch;

pub use args::{RunArgs, SelectArgs, ShowArgs};

use super::ad_hoc;
use super::built::{replace_targets, with_installed};
use super::here::{here, show_files, unpacked_folder};
use super::history;
use super::releases;
use super::saving::Saving;
use super::set_up::{prepare, set_up_or_leave_out};
use super::sets::{self, Narrowed};
use super::snapshots::{self, Snapshots};
use super::sources::CaseArgs;
use super::targets::{targets_with_programs, warn_of_needs};
use super::{Exit, Problem, caches};
use crate::drive::{Cancel, Options};
use crate::judge::Judge;
use crate::load::target::{self, TargetError};
use crate::load::{Here, is_embedded_folder, load, nearest, root};
use crate::model::case::Library;
use crate::model::mutant::Mutant;
use crate::model::pair::PairAbout;
use crate::model::record::{About, FORMAT, Header, Record};
use crate::model::target::{Target, TargetKind};
use crate::model::text::count;
use crate::model::transcript::StdioMode;
use crate::model::{CaseId, Pattern, RequirementId};
use crate::plan::{Plan, PlanError, Selection, means_a_test, plan as plan_of};
use crate::report::terminal::{Terminal, eprint_line, ignore_broken_pipe, keep_error};
use crate::report::{Column, RunSummary, Status, Untrusted};
use crate::run::{Secrets, Seen, conduct};
use crate::set;
use reference::{is_mutant, mutants};

/// The most characters of a line of a setup command that are shown.
const LINE: usize = 1000;

pub(super) fn run(args: &RunArgs) -> Result<Exit, Problem> {
    args.outputs.check()?;
    if let Some(releases) = &args.versions {
        return history::run(args, releases);
    }
    args.outputs.refuse_pairs()?;
    let mut library = load(&args.cases.sources()?)?;
    let ad_hoc = ad_hoc::named(args)?;
    let (names, mut left_out) = match &ad_hoc {
        Some(_) => (Vec::new(), Vec::new()),
        None if args.all => targets_with_programs()?,
        None => (args.targets(), Vec::new()),
    };
    print_all(&left_out);
    let mut targets = with_known(with_snapshots(targets(&names, &library)?, args), &args.cases, &library);
    let runtime = super::interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = super::interrupt::listen_for(args.limits.run());
        if let Some(target) = ad_hoc {
            targets = vec![Box::pin(ad_hoc::surveyed(args, target, &cancel)).await?];
        }
        let wanted = targets.len();
        if args.all {
            targets = set_up_or_leave_out(targets, &cancel, &mut left_out).await?;
        }
        let are_all_set_up = targets.len() == wanted;
        let mut planned = planned(args, &mut library, &targets)?;
        prepare(&targets, &cancel).await?;
        for target in &targets {
            ad_hoc::introduce(target, &planned.0);
        }
        let installed = with_installed(targets.clone(), args.limits.options().start_limit).await;
        if installed.iter().zip(&targets).any(|(installed, target)| installed.claims != target.claims) {
            planned.0 = self::planned(args, &mut library, &installed)?.0;
        }
        targets = installed;
        replace_targets(Arc::make_mut(&mut planned.0), &targets);
        let judge = Judge::new(&library.requirements, targets.iter().map(Arc::as_ref));
        let exit = carry_out(args, &library, &targets, planned, judge, cancel).await?;
        if exit == Exit::Target {
            warn_of_needs(&targets).await;
        }
        // Repeated, because the output of the run hides the first lines.
        print_all(&left_out);
        Ok(if are_all_set_up { exit } else { exit.max(Exit::Target) })
    })
}

/// A plan, and what a frozen set says of it.
type Planned = (Arc<Plan>, Option<Narrowed>);

/// Plans the run. With a frozen set, also returns the differences between the set and the cases.
fn planned(args: &RunArgs, library: &mut Library, targets: &[Arc<Target>]) -> Result<Planned, Problem> {
    let set = args.set.as_ref().map(|name| Ok::<_, Problem>((name, sets::read(name)?))).transpose()?;
    let narrowed = set.as_ref().map(|(name, set)| Narrowed::new(library, name, set));
    let plan = plan_of(library, targets, &args.selection());
    let mut plan = plan.map_err(|error| args.cases.with_hint(plan_problem(&error), library, error.unmatched()))?;
    if let Some((name, set)) = &set {
        set::keep(&mut plan, set);
        if plan.is_empty() {
            return Err(Problem::new(
                Exit::Nothing,
                format!("no tests to run: the frozen set {name} has none of the selected tests"),
            ));
        }
    }
    Ok((Arc::new(plan), narrowed))
}

/// Prints lines about targets.
pub(super) fn print_all(lines: &[String]) {
    for line in lines {
        eprint_line(&Untrusted(line).line(LINE));
    }
}

/// Finds the targets of the command line, each once. The mutants of a library are variants of the reference.
pub(super) fn targets(typed: &[String], library: &Library) -> Result<Vec<Arc<Target>>, Problem> {
    let (here, cache) = (here()?, caches::folder());
    if let Ok(cache) = &cache {
        releases::know(typed, cache)?;
    }
    check_names(&library.mutants)?;
    let mut targets: Vec<Arc<Target>> = Vec::new();
    for one in typed {
        let found = match one.split_once(':') {
            _ if one == target::REFERENCE => vec![target::reference(&this_program()?, &here, None, library)],
            Some((target::REFERENCE, name)) => {
                vec![target::reference(&this_program()?, &here, Some(mutant(name, &library.mutants)?), library)]
            }
            _ => match (target::target(one, &here, cache.as_deref().ok()), &cache) {
                (Err(TargetError::Missing { name, .. }), Err(why)) if is_embedded(&name, &here) => {
                    let text = format!("cannot unpack the embedded target {name}: {why}");
                    return Err(Problem::new(Exit::System, text));
                }
                (found, _) => found?,
            },
        };
        let new = found.into_iter().filter(|one| !targets.iter().any(|known| known.id == one.id));
        targets.extend(new.map(Arc::new).collect::<Vec<_>>());
    }
    show_files(targets.iter().map(Arc::as_ref), &here);
    Ok(targets)
}

/// Returns whether casebook contains a target of this name.
fn is_embedded(name: &str, here: &Here) -> bool {
    target::all(here, Utf8Path::new("")).is_ok_and(|all| all.iter().any(|target| target.id.name == name))
}

/// Finds the snapshots of other cases than the embedded ones: in a folder `snapshots` beside the folder of cases.
fn with_snapshots(targets: Vec<Arc<Target>>, args: &RunArgs) -> Vec<Arc<Target>> {
    if args.cases.are_embedded() {
        return targets;
    }
    let folder = args.cases.only_folder().and_then(|folder| root(folder).canonicalize_utf8().ok());
    let beside = folder.and_then(|folder| Some(folder.parent()?.join("snapshots")));
    let beside = beside.filter(|folder| args.accept || folder.is_dir());
    let moved = |target: Arc<Target>| Arc::new(target::for_cases(Arc::unwrap_or_clone(target), beside.as_deref()));
    targets.into_iter().map(moved).collect()
}

/// Removes the known failures of cases that are not loaded. With the embedded cases, an entry that matches no test stays,
/// so that the plan reports it.
pub(super) fn with_known(targets: Vec<Arc<Target>>, cases: &CaseArgs, library: &Library) -> Vec<Arc<Target>> {
    let is_imported = cases.import.is_some();
    if cases.has_embedded() && !is_imported {
        return targets;
    }
    let is_here = |pattern: &Pattern, requirement: &RequirementId| {
        // A pattern such as `**` means each test, also those of cases that do not check its requirement.
        let is_checked = library.requirements.contains_key(requirement);
        is_checked && (means_a_test(pattern, library) || !is_imported && names_a_loaded_case(pattern, cases, library))
    };
    let narrowed = |target: Arc<Target>| {
        let mut target = Arc::unwrap_or_clone(target);
        target.known.retain(|known| is_here(&known.test, &known.requirement));
        target.author.retain(|left| is_here(&left.test, &left.requirement));
        Arc::new(target)
    };
    targets.into_iter().map(narrowed).collect()
}

/// Returns whether a pattern names one of the loaded case files, or a folder of which all cases are loaded. The folder of
/// a proposal can have the name of an embedded folder without having its cases.
fn names_a_loaded_case(pattern: &Pattern, cases: &CaseArgs, library: &Library) -> bool {
    let is_whole = |folder: &str| !is_embedded_folder(folder) && !cases.cases.iter().any(|path| path.is_file());
    let is_named = |case: &CaseId| pattern.is_below(case.as_str());
    let is_near = |case: &CaseId| pattern.is_below(case.folder()) && is_whole(case.folder());
    library.cases.iter().any(|case| is_named(&case.id) || is_near(&case.id))
}

/// Refuses mutants of cases that have the name of one of casebook's own.
fn check_names(of_cases: &[Mutant]) -> Result<(), Problem> {
    let Some(one) = of_cases.iter().find(|one| is_mutant(&one.name)) else { return Ok(()) };
    let text = format!("casebook has a mutant `{}` of its own; choose another name in `mutants.json`", one.name);
    Err(Problem::new(Exit::Usage, text))
}

/// Checks the name of a variant of the reference: its mutants are its variants.
fn mutant<'n>(name: &'n str, of_cases: &[Mutant]) -> Result<&'n str, Problem> {
    if is_mutant(name) || of_cases.iter().any(|one| one.name == name) {
        return Ok(name);
    }
    let names: Vec<_> = mutants().map(|one| one.name).chain(of_cases.iter().map(|one| one.name.as_str())).collect();
    Err(Problem::new(Exit::Usage, unknown_mutant(name, &names)))
}

/// The error for a name that no mutant has, with the most similar names.
pub(super) fn unknown_mutant(name: &str, names: &[&str]) -> String {
    let parts: Vec<_> = name.split('-').filter(|part| part.len() > 3).collect();
    let similar: Vec<_> = match nearest(name, names) {
        Some(name) => vec![name],
        None => names.iter().copied().filter(|one| parts.iter().any(|part| one.contains(part))).take(5).collect(),
    };
    let hint = match similar.as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        several => format!("; similar names: {}", several.join(", ")),
    };
    format!(
        "the reference has no mutant `{name}`{hint}; list all {} with `casebook targets --format json`",
        names.len()
    )
}

pub(super) fn this_program() -> Result<Utf8PathBuf, Problem> {
    let program = std::env::current_exe().map_err(Problem::system)?;
    Utf8PathBuf::try_from(program).map_err(|error| Problem::system(error.into_io_error()))
}

pub(super) fn plan_problem(error: &PlanError) -> Problem {
    let exit = match error {
        PlanError::UnmatchedKnown { .. }
        | PlanError::UncheckedKnown { .. }
        | PlanError::KnownTwice { .. }
        | PlanError::UnmatchedPattern { .. } => Exit::Usage,
        PlanError::Nothing { .. } => Exit::Nothing,
    };
    let hint = match error {
        PlanError::UnmatchedPattern { hint: None, .. } => "; list all tests with `casebook list`",
        _ => "",
    };
    Problem::new(exit, format!("{error}{hint}"))
}

async fn carry_out(
    args: &RunArgs,
    library: &Library,
    targets: &[Arc<Target>],
    (plan, set): Planned,
    judge: Judge,
    cancel: watch::Receiver<Cancel>,
) -> Result<Exit, Problem> {
    let header = Header { set: set.as_ref().map(Narrowed::about), ..header(args.narrowed(), library, targets, &plan) };
    let (log, mut saving) = Saving::begin(args.run_log.as_ref(), &header)?;
    let run_log = saving.path();
    let differs = plan.is_partial || args.select.heavy || args.select.every_transport;
    let whole = if differs && snapshots::are_wanted(args.accept, targets) {
        Arc::new(unfiltered(args, library, targets)?)
    } else {
        Arc::clone(&plan)
    };
    let mut terminal = if args.is_part {
        Terminal::replay(library, false)
    } else {
        Terminal::new(plan.len(), library, args.show.verbose)
    };
    let planned = plan.tests().map(|(group, _)| (&group.target.id, &group.case));
    let mut summary = RunSummary::new(&header, planned);
    if let Some(set) = set {
        set.begin(&mut summary);
    }
    let is_ad_hoc = targets.iter().any(|target| target.is_ad_hoc());
    let mut snapshots = Snapshots::new(args.accept, targets, &whole);
    let mut source = args.outputs.begin(run_log.as_deref(), &header).filter(|_| !args.is_part);
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
        // If standard output fails, the run goes on and the run log is complete.
        if shown.is_ok() {
            shown = ignore_broken_pipe(match seen {
                // The first requests of a server that its package manager starts are usually slow.
                Seen::Slow(..) if is_ad_hoc => Ok(()),
                Seen::Slow(target, test, after) => terminal.on_slow(target, test, after),
                Seen::Judged(record, transcript) => terminal.on_record(record, Some(transcript)),
            });
        }
    };
    let mut conducted = conduct(Arc::clone(&plan), judge, options(args, targets), cancel, log, see).await;
    let (changes, accepted) = snapshots.finish();
    conducted.footer.snapshots = changes.problems();
    saving.end(conducted.log, conducted.footer.clone());
    let reported = args.outputs.end(source, conducted.footer.clone(), library);
    let shown = shown.and_then(|()| ignore_broken_pipe(changes.show(&mut terminal)));
    summary.end(&conducted.footer);
    summary.is_default = args.is_default() && targets.iter().all(|target| target.id.name == target::REFERENCE);
    let finished =
        if args.is_part { Ok(()) } else { terminal.finish(&summary, &library.requirements, args.outputs.strict) };
    let shown = shown.and(ignore_broken_pipe(finished));
    changes.print();
    two_ways.print();
    print_repeated(conducted.repeated);
    if let Some(path) = run_log.filter(|_| !args.is_part) {
        eprint_line(&format!("run log: {path}"));
        if needs_known(&summary, targets) {
            eprint_line(&format!(
                "tip: `casebook known {path}` prints [[known]] entries for the failures, or adds them with --update"
            ));
        }
    }
    if let Err(error) = shown {
        keep_error(error);
    }
    saving.print();
    let exit = exit(args.outputs.strict, &summary);
    let exit = exit.max(saving.exit()).max(args.outputs.tell(reported));
    match (conducted.broken, accepted) {
        (Some(error), _) => Err(error.into()),
        (None, Err(problem)) => Err(Problem { exit: exit.max(problem.exit), ..problem }),
        (None, Ok(())) => Ok(exit),
    }
}

/// Prints the number of tests that were run again after a time-out.
pub(super) fn print_repeated(tests: usize) {
    if tests > 0 {
        let tests = count(tests, "test");
        eprint_line(&format!("{tests} timed out and ran once more, alone; the second result counts"));
    }
}

/// Returns the settings of the run. Few workers test a server without a `target.toml`, or one on another machine.
fn options(args: &RunArgs, targets: &[Arc<Target>]) -> Options {
    let usual = args.options();
    let jobs = targets.iter().map(|target| ad_hoc::workers(target, usual.jobs)).min();
    Options { jobs: jobs.filter(|_| args.jobs.is_none()).unwrap_or(usual.jobs), ..usual }
}

/// Plans a run of the same targets and cases without a selection.
fn unfiltered(args: &RunArgs, library: &Library, targets: &[Arc<Target>]) -> Result<Plan, Problem> {
    // A frozen set has removed checks from the library, and the checks decide where a test applies.
    let whole = args.set.as_ref().map(|_| load(&args.cases.sources()?)).transpose()?;
    match plan_of(whole.as_ref().unwrap_or(library), targets, &Selection::default()) {
        // All selected tests are heavy.
        Err(PlanError::Nothing { .. }) => Ok(Plan::default()),
        plan => plan.map_err(|error| plan_problem(&error)),
    }
}

/// The numbers of tests that ran over stdio both as a stream and as a process.
#[derive(Default)]
struct TwoWays {
    all: usize,
    different: usize,
}

impl TwoWays {
    fn add(&mut self, record: &Record) {
        if record.stdio == Some(StdioMode::Both) {
            self.all += 1;
            self.different += usize::from(record.observation.unavailable.is_some());
        }
    }

    fn print(&self) {
        let Self { all, different } = self;
        if *all > 0 {
            eprint_line(&format!("stdio as a stream and as a process: {all} tests compared, {different} different"));
        }
    }
}

/// Returns whether a target with a `target.toml` of the user has failures that could be listed there.
fn needs_known(summary: &RunSummary, targets: &[Arc<Target>]) -> bool {
    let has_own_file =
        |target: &&Arc<Target>| target.file.is_some() && unpacked_folder(&target.id.name, &target.file).is_none();
    let with_file: Vec<_> = targets.iter().filter(has_own_file).map(|target| &target.id).collect();
    let has_failures = |column: &Column| column.count(Status::Failed) + column.count(Status::Inconclusive) > 0;
    summary.columns.iter().any(|column| with_file.contains(&&column.id) && has_failures(column))
}

pub(super) fn header(narrowed: Option<String>, library: &Library, targets: &[Arc<Target>], plan: &Plan) -> Header {
    Header {
        format: FORMAT,
        casebook: env!("CARGO_PKG_VERSION").to_owned(),
        targets: targets.iter().map(|target| target.id.clone()).collect(),
        about: targets.iter().map(|target| about(target, plan)).collect(),
        cases: Some(library.hash.clone()),
        shard: plan.shard,
        narrowed,
        set: None,
        files: files(targets),
        planned: plan.len(),
        skipped: plan.skipped.clone(),
    }
}

/// Returns the facts about a target that reports show.
fn about(target: &Target, plan: &Plan) -> About {
    About {
        target: target.id.clone(),
        title: Secrets::of(target).out_of(&target.title).into_owned(),
        language: target.language.clone(),
        api: target.api.clone(),
        by_hand: target.by_hand.clone(),
        version: target.package.as_ref().map(ToString::to_string),
        date: target.setup.release().and_then(|release| release.day()).map(str::to_owned),
        dependencies: target.package.as_ref().map(|package| package.dependencies.clone()).unwrap_or_default(),
        unverified: target.unverified.clone(),
        planned: plan.tests().filter(|(group, _)| group.target.id == target.id).count(),
        ad_hoc: target.is_ad_hoc(),
        pair: match &target.drives {
            TargetKind::Pair(pair) => PairAbout::of(pair).map(Box::new),
            TargetKind::Adapter(_) | TargetKind::Fixed(_) => None,
        },
    }
}

/// Returns the files of the targets; variants share one file.
fn files(targets: &[Arc<Target>]) -> Vec<Utf8PathBuf> {
    let mut files: Vec<_> = targets.iter().filter_map(|target| target.file.clone()).collect();
    files.dedup();
    files
}

fn exit(strict: bool, summary: &RunSummary) -> Exit {
    Exit::gravest(&[
        (summary.has_bug, Exit::Bug),
        (summary.interrupted, Exit::Interrupted),
        (summary.has_unseen(), Exit::Target),
        (!summary.is_as_expected(strict) || summary.missing() > 0, Exit::Unexpected),
        (summary.unasked().next().is_some() || summary.is_undecided(), Exit::Nothing),
    ])
}
