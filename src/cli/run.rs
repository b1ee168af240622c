//! `casebook run`: loads cases, finds targets, plans, sets up, runs, compares with the snapshots and reports.

mod args;

use std::sync::Arc;

use tokio::sync::watch;

pub use args::{RunArgs, SelectArgs, ShowArgs};

use super::ad_hoc;
use super::base::built::{replace_targets, with_installed};
use super::base::chosen::{plan_problem, targets, with_known};
use super::base::exit::Exit;
use super::base::header::header;
use super::base::here::unpacked_folder;
use super::base::lines::{print_all, print_repeated};
use super::base::needs::warn_of_needs;
use super::base::problem::Problem;
use super::base::saving::Saving;
use super::base::set_up::{prepare, set_up_or_leave_out};
use super::base::snapshots::{self, Snapshots};
use super::sets::{self, Narrowed};
use super::targets::targets_with_programs;
use crate::drive::{Cancel, Options};
use crate::judge::Judge;
use crate::load::target;
use crate::load::{load, root};
use crate::model::case::Library;
use crate::model::record::{Header, Record};
use crate::model::target::Target;
use crate::model::transcript::StdioMode;
use crate::plan::{Plan, PlanError, Selection, plan as plan_of};
use crate::report::terminal::{Terminal, eprint_line, ignore_broken_pipe, keep_error};
use crate::report::{Column, RunSummary, Status};
use crate::run::{Seen, conduct};
use crate::set;

pub(super) fn run(args: &RunArgs) -> Result<Exit, Problem> {
    args.outputs.check()?;
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
    let runtime = super::base::interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = super::base::interrupt::listen_for(args.limits.run());
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

fn exit(strict: bool, summary: &RunSummary) -> Exit {
    Exit::gravest(&[
        (summary.has_bug, Exit::Bug),
        (summary.interrupted, Exit::Interrupted),
        (summary.has_unseen(), Exit::Target),
        (!summary.is_as_expected(strict) || summary.missing() > 0, Exit::Unexpected),
        (summary.unasked().next().is_some() || summary.is_undecided(), Exit::Nothing),
    ])
}
