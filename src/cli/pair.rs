//! `casebook pair`: connects clients with servers, and reports which of them work together.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use camino::Utf8PathBuf;
use clap::Args;

use super::base::built::with_installed;
use super::base::chosen::{plan_problem, targets};
use super::base::exit::Exit;
use super::base::header::header;
use super::base::heading;
use super::base::limits::LimitArgs;
use super::base::lines::{print_all, print_repeated};
use super::base::outputs::OutputArgs;
use super::base::problem::Problem;
use super::base::saving::Saving;
use super::base::set_up::{prepare, set_up_or_leave_out};
use super::base::sources::CaseArgs;
use super::base::values;
use super::targets::targets_with_programs;
use crate::drive::Options;
use crate::judge::Judge;
use crate::load::load;
use crate::load::target::REFERENCE;
use crate::model::case::Library;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::TargetPair;
use crate::model::target::{Target, TargetKind};
use crate::model::transcript::{Transcript, WithoutProxy};
use crate::model::{Pattern, Shard};
use crate::plan::{Plan, Selection, plan as plan_of};
use crate::report::pairs::Pairs;
use crate::report::terminal::{PairTerminal, eprint_line, ignore_broken_pipe, keep_error};
use crate::report::{Rate, Untrusted};
use crate::run::{Seen, conduct};

/// The most characters of a line about a target.
const LINE: usize = 1000;

/// The number of revisions of each pair: the newest that both speak, and an older one.
const REVISIONS: usize = 2;

const AFTER: &str = "\
casebook serves the tools of a case with the server of one target, drives the
client of another, and passes the messages on through a proxy that records them
and changes nothing. Where a value does not arrive, the report names the side
that lost it and the sentence that this breaks, or says that both sides keep to
the specification.

Examples:
  casebook pair some-sdk other-sdk      all variants of both
  casebook pair one,two some-sdk:default --transport http
  casebook pair --all --run-log pairs.jsonl --report pairs=pairs.html
  casebook pair some-sdk other-sdk --check-proxy";

/// `casebook pair`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct PairArgs {
    /// Targets whose clients send the requests
    ///
    /// Names as for `casebook run`, separated by commas. A target without a variant stands for all of its variants.
    #[arg(value_name = "CLIENT", required_unless_present = "all")]
    pub clients: Option<String>,
    /// Targets whose servers have the tools
    #[arg(value_name = "SERVER", required_unless_present = "all")]
    pub servers: Option<String>,
    /// Pair every client with every server of the targets whose programs are installed
    #[arg(long, conflicts_with_all = ["clients", "servers"], help_heading = heading::TARGETS)]
    pub all: bool,
    /// Run only the tests that match; repeatable
    #[arg(long, value_name = "PATTERN", value_parser = values::pattern, help_heading = heading::TESTS)]
    pub only: Vec<Pattern>,
    /// Run only the tests of this revision; repeatable [default: the newest that both speak, and the one before it]
    #[arg(long, value_name = "REVISION", value_parser = values::revision(), hide_possible_values = true)]
    #[arg(help_heading = heading::TESTS)]
    pub revision: Vec<Revision>,
    /// Run only the tests over this transport; repeatable [default: both, or http with --all]
    #[arg(long, value_name = "stdio|http", value_parser = values::transport(), hide_possible_values = true)]
    #[arg(help_heading = heading::TESTS)]
    pub transport: Vec<Transport>,
    /// Also run the tests marked as heavy, which need much time or memory
    #[arg(long, help_heading = heading::TESTS)]
    pub heavy: bool,
    /// Run one of N shards: 2/5 runs the second of five
    #[arg(long, value_name = "K/N", value_parser = values::shard, help_heading = heading::TESTS)]
    pub shard: Option<Shard>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// The reports.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Write the run log to FILE [default: a file in the user's cache folder]
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub run_log: Option<Utf8PathBuf>,
    /// Show each pair and place where a value was lost, and not only the most frequent ones
    #[arg(long, short, help_heading = heading::OUTPUT)]
    pub verbose: bool,
    /// Also run each test without the proxy, and compare the values that the user of the client gets
    ///
    /// The client then reaches the server itself. Over stdio, it starts a process of the adapter. A test whose user gets
    /// something else is listed, and the exit status is 1.
    #[arg(long, help_heading = heading::EXECUTION)]
    pub check_proxy: bool,
    /// Run N workers at the same time [default: twice the number of cores, at most 8]
    ///
    /// Each worker keeps up to 24 adapters.
    #[arg(long, short, value_name = "N", value_parser = values::jobs, allow_negative_numbers = true)]
    #[arg(help_heading = heading::EXECUTION)]
    pub jobs: Option<NonZeroUsize>,
    /// The time limits.
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl PairArgs {
    fn selection(&self) -> Selection {
        Selection {
            only: self.only.clone(),
            revision: self.revision.clone(),
            transport: self.transports(),
            heavy: self.heavy,
            shard: self.shard,
            ..Selection::default()
        }
    }

    /// The transports of the tests. All pairs together are tested over HTTP, unless the user names a transport.
    fn transports(&self) -> Vec<Transport> {
        if self.all && self.transport.is_empty() { vec![Transport::Http] } else { self.transport.clone() }
    }

    /// The options that select fewer tests than usual, as the user typed them; without the shard.
    fn narrowed(&self) -> Option<String> {
        let only = self.only.iter().map(|one| format!("--only {}", one.as_str()));
        let revision = self.revision.iter().map(|one| format!("--revision {one}"));
        let transport = self.transport.iter().map(|one| format!("--transport {one}"));
        let narrowed = only.chain(revision).chain(transport).collect::<Vec<_>>().join(" ");
        (!narrowed.is_empty()).then_some(narrowed)
    }
}

pub(super) fn pair(args: &PairArgs) -> Result<Exit, Problem> {
    args.outputs.check()?;
    let library = load(&args.cases.sources()?)?;
    let (clients, servers, mut left_out) = if args.all {
        let (mut names, left_out) = targets_with_programs()?;
        names.retain(|name| name != REFERENCE);
        (names.clone(), names, left_out)
    } else {
        (names(args.clients.as_deref()), names(args.servers.as_deref()), Vec::new())
    };
    print_all(&left_out);
    let (clients, servers) = (sides(&clients, Role::Client, args.all)?, sides(&servers, Role::Server, args.all)?);
    let runtime = super::base::interrupt::runtime()?;
    runtime.block_on(async {
        let cancel = super::base::interrupt::listen_for(args.limits.run());
        let all: Vec<_> = clients.iter().chain(&servers).cloned().collect();
        let ready = if args.all {
            set_up_or_leave_out(all.clone(), &cancel, &mut left_out).await?
        } else {
            prepare(&all, &cancel).await?;
            all.clone()
        };
        let ready = with_installed(ready, args.limits.options().start_limit).await;
        let installed = |target: &Arc<Target>| ready.iter().find(|one| one.id == target.id);
        let (clients, servers) = (clients.iter().filter_map(installed), servers.iter().filter_map(installed));
        let (targets, unfit) = pairs(clients, servers, &args.revision);
        print_all(&unfit);
        let plan = plan_of(&library, &targets, &args.selection());
        let plan = plan.map_err(|error| args.cases.with_hint(plan_problem(&error), &library, error.unmatched()))?;
        let exit = carry_out(args, &library, &targets, Arc::new(plan), cancel).await?;
        print_all(&left_out);
        Ok(exit)
    })
}

/// Divides the names of a side.
fn names(typed: Option<&str>) -> Vec<String> {
    typed.unwrap_or_default().split(',').map(|name| name.trim().to_owned()).collect()
}

/// Finds the targets of one side. Targets with another role, or without an adapter, are left out of all targets, and an
/// error where the user named them.
fn sides(names: &[String], role: Role, are_all: bool) -> Result<Vec<Arc<Target>>, Problem> {
    let found = targets(names, &Library::default())?;
    let can =
        |target: &Arc<Target>| matches!(target.drives, TargetKind::Adapter(_)) && target.claims.roles.contains(&role);
    let fit: Vec<_> = found.iter().filter(|target| can(target)).cloned().collect();
    let named: BTreeSet<_> = found.iter().map(|target| &target.id.name).collect();
    let lacking = named.iter().find(|name| !fit.iter().any(|target| &&target.id.name == *name));
    match lacking.filter(|_| !are_all) {
        Some(name) => {
            let text = format!("{name} cannot be the {role} of a pair: it has no adapter with the role `{role}`");
            Err(Problem::new(Exit::Usage, Untrusted(&text).line(LINE)))
        }
        None => Ok(fit),
    }
}

/// Returns each client with each server, ordered by the server, and a line for each pair without a common revision.
fn pairs<'t>(
    clients: impl Iterator<Item = &'t Arc<Target>>,
    servers: impl Iterator<Item = &'t Arc<Target>>,
    wanted: &[Revision],
) -> (Vec<Arc<Target>>, Vec<String>) {
    let clients: Vec<_> = clients.collect();
    let (mut targets, mut unfit) = (Vec::new(), Vec::new());
    for server in servers {
        for client in &clients {
            let pair = TargetPair { client: Arc::clone(client), server: Arc::clone(server) };
            let mut revisions = pair.revisions();
            if wanted.is_empty() {
                revisions.truncate(REVISIONS);
            }
            if revisions.is_empty() {
                let line = format!("skipped {}: there is no revision that both speak", pair.id());
                unfit.push(Untrusted(&line).line(LINE));
            } else {
                targets.push(Arc::new(pair.target(revisions)));
            }
        }
    }
    (targets, unfit)
}

/// The tests that ran with and without the proxy.
#[derive(Default)]
struct ProxyCheck {
    all: usize,
    /// The number of tests whose results differed once.
    varied: usize,
    /// The tests whose results differed, with the part that differs in both ways.
    differences: Vec<[String; 3]>,
}

impl ProxyCheck {
    fn add(&mut self, transcript: &Transcript) {
        self.all += usize::from(transcript.without_proxy.is_some());
        match &transcript.without_proxy {
            Some(WithoutProxy::Different { with, without }) => {
                let test = format!("{} {}", transcript.target, transcript.test);
                self.differences.push([test, with.clone(), without.clone()]);
            }
            Some(WithoutProxy::Varied) => self.varied += 1,
            Some(WithoutProxy::Same) | None => {}
        }
    }

    fn print(&self) {
        let Self { all, varied, differences } = self;
        for [test, with, without] in differences {
            eprint_line(&Untrusted(&format!("{test}: the user gets something else without the proxy")).line(LINE));
            eprint_line(&Untrusted(&format!("     with the proxy: {with}")).line(LINE));
            eprint_line(&Untrusted(&format!("  without the proxy: {without}")).line(LINE));
        }
        let different = differences.len();
        let varied = if *varied > 0 { format!("; {varied} differed only once") } else { String::new() };
        eprint_line(&format!("with and without the proxy: {all} tests compared, {different} different{varied}"));
    }
}

async fn carry_out(
    args: &PairArgs,
    library: &Library,
    targets: &[Arc<Target>],
    plan: Arc<Plan>,
    cancel: tokio::sync::watch::Receiver<crate::drive::Cancel>,
) -> Result<Exit, Problem> {
    let header = header(args.narrowed(), library, targets, &plan);
    let (log, mut saving) = Saving::begin(args.run_log.as_ref(), &header)?;
    let mut terminal = PairTerminal::new(plan.len());
    let mut pairs = Pairs::new(library);
    pairs.describe(&header);
    let run_log = saving.path();
    let mut source = args.outputs.begin(run_log.as_deref(), &header);
    let mut proxy_check = ProxyCheck::default();
    let see = |seen: Seen<'_>| match seen {
        Seen::Judged(record, transcript) => {
            proxy_check.add(transcript);
            pairs.add(record);
            pairs.add_evidence(transcript);
            if let Some(source) = &mut source {
                source.add(record);
            }
            terminal.on_record(record);
        }
        Seen::Slow(..) => {}
    };
    // The entries of the sides tell what their SDKs leave to authors.
    let sides = targets.iter().filter_map(|target| match &target.drives {
        TargetKind::Pair(pair) => Some([&*pair.client, &*pair.server]),
        TargetKind::Adapter(_) | TargetKind::Fixed(_) => None,
    });
    let sides: BTreeMap<_, _> = sides.flatten().map(|side| (&side.id, side)).collect();
    let judge = Judge::new(&library.requirements, sides.into_values());
    let usual = args.limits.options();
    let options = Options { jobs: args.jobs.unwrap_or(usual.jobs), checks_proxy: args.check_proxy, ..usual };
    let conducted = conduct(Arc::clone(&plan), judge, options, cancel, log, see).await;
    saving.end(conducted.log, conducted.footer.clone());
    let reported = args.outputs.end(source, conducted.footer.clone(), library);
    if let Err(error) = ignore_broken_pipe(terminal.finish(&pairs, conducted.footer.micros, args.verbose)) {
        keep_error(error);
    }
    if args.check_proxy {
        proxy_check.print();
    }
    print_repeated(conducted.repeated);
    if let Some(path) = &run_log {
        eprint_line(&format!("run log: {path}"));
    }
    saving.print();
    if let Some(error) = conducted.broken {
        return Err(error.into());
    }
    let Rate { held, asked } = pairs.overall();
    let exit = Exit::gravest(&[
        (pairs.has_bug(), Exit::Bug),
        (conducted.footer.interrupted, Exit::Interrupted),
        (pairs.unseen() > 0, Exit::Target),
        (!proxy_check.differences.is_empty() || args.outputs.strict && held < asked, Exit::Unexpected),
        (asked == 0 || args.check_proxy && proxy_check.all == 0, Exit::Nothing),
    ]);
    Ok(exit.max(saving.exit()).max(args.outputs.tell(reported)))
}
