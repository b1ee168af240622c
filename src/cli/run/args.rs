//! The options of `casebook run`.
//!
//! Gives the selection of tests, and the options for running them. Must not know the results.

use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use crate::cli::AdHocArgs;
use crate::cli::base::heading;
use crate::cli::base::limits::LimitArgs;
use crate::cli::base::outputs::OutputArgs;
use crate::cli::base::sources::CaseArgs;
use crate::cli::base::values;
use crate::drive::Options;
use crate::load::target::REFERENCE;
use crate::model::release::Releases;
use crate::model::set::SetName;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::transcript::StdioMode;
use crate::model::{Pattern, Shard};
use crate::plan::Selection;

/// The selection of tests.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = heading::TESTS)]
pub struct SelectArgs {
    /// Run only the tests that match; repeatable
    ///
    /// `casebook --help` explains patterns, `casebook list PATTERN` lists the tests that match.
    #[arg(long, value_name = "PATTERN", value_parser = values::pattern)]
    pub only: Vec<Pattern>,
    /// Skip the tests that match; repeatable
    #[arg(long, value_name = "PATTERN", value_parser = values::pattern)]
    pub skip: Vec<Pattern>,
    /// Run only the tests of servers or of clients
    #[arg(long, value_name = "server|client", value_parser = values::role(), hide_possible_values = true)]
    pub role: Option<Role>,
    /// Run only the tests of this revision of the specification; repeatable
    #[arg(long, value_name = "REVISION", value_parser = values::revision(), hide_possible_values = true)]
    pub revision: Vec<Revision>,
    /// Run only the tests over this transport; repeatable
    #[arg(long, value_name = "stdio|http", value_parser = values::transport(), hide_possible_values = true)]
    pub transport: Vec<Transport>,
    /// Repeat all tests over both transports
    ///
    /// Without this option, the tests of schemas, arguments and results, whose questions do not depend on the transport,
    /// run over HTTP, and only a fixed sample of their case files runs over stdio too. `--transport` runs all tests over
    /// one transport.
    #[arg(long)]
    pub every_transport: bool,
    /// Also run the tests marked as heavy, which need much time or memory
    #[arg(long)]
    pub heavy: bool,
    /// Run one of N shards: 2/5 runs the second of five
    ///
    /// `casebook report` merges the run logs of all shards.
    #[arg(long, value_name = "K/N", value_parser = values::shard)]
    pub shard: Option<Shard>,
}

/// The options of all commands that show a run on the terminal.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ShowArgs {
    /// Show a line for each test, and each finding in full
    #[arg(long, short, help_heading = heading::OUTPUT)]
    pub verbose: bool,
}

/// `casebook run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Targets to test [default: reference]
    ///
    /// A TARGET is a name that `casebook targets` lists, or the path of a target.toml or of its folder. TARGET:VARIANT
    /// selects one variant of the target, TARGET@FOLDER builds it on a checkout of its SDK, and TARGET@VERSION on another
    /// release. A URL, with http:// or
    /// https://, is a running server without a target.toml. Without a TARGET, casebook tests its own reference and no SDK.
    #[arg(value_name = "TARGET|URL")]
    pub targets: Vec<String>,
    /// Command of a server over stdio without a target.toml
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["targets", "all"])]
    pub command: Vec<String>,
    /// Run every target whose programs are installed, and name the others
    #[arg(long, conflicts_with = "targets", help_heading = heading::TARGETS)]
    pub all: bool,
    /// Run several releases of the SDK: the newest N, a range as in 1.20..1.30, or minor
    ///
    /// `minor` is the last release of each minor version. Afterwards, casebook prints since when each answer holds, and what
    /// each release changed. Each release has a run log of its own in the folder --run-log; a release whose run log is
    /// whole is not run again. `casebook targets --versions TARGET` lists the releases.
    #[arg(long, value_name = "RELEASES", requires = "targets", conflicts_with_all = ["all", "command", "accept", "strict"])]
    #[arg(help_heading = heading::TARGETS)]
    pub versions: Option<Releases>,
    /// The options for servers without a target.toml.
    #[command(flatten)]
    pub ad_hoc: AdHocArgs,
    /// The selection of tests.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Run only the checks of a frozen set: a revision, or sets/NAME.json
    ///
    /// The set of a revision is published with casebook: `--set 2026-07-28`. `casebook freeze` writes others.
    #[arg(long, value_name = "NAME", help_heading = heading::TESTS)]
    pub set: Option<SetName>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// Write the observations of this run to the snapshots
    ///
    /// Without this option, a run fails if an observation differs from its snapshot. Lines of tests that were not run
    /// stay as they are.
    #[arg(long, help_heading = heading::RESULT)]
    pub accept: bool,
    /// Re-run a test that violates a MUST up to N times [default: 0]
    ///
    /// Each attempt uses fresh processes. If a later attempt passes, casebook reports the test as flaky, and the run
    /// still fails.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::retries, hide_default_value = true)]
    #[arg(allow_negative_numbers = true, help_heading = heading::RESULT)]
    pub retries: usize,
    /// The reports.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Write the run log to FILE, which is a folder for --versions [default: in the user's cache folder]
    ///
    /// The commands report, diff, replay and known read run logs.
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub run_log: Option<Utf8PathBuf>,
    /// The extent of the output.
    #[command(flatten)]
    pub show: ShowArgs,
    /// Run N workers at the same time [default: twice the number of cores, at most 8]
    ///
    /// Each worker has a process of the target.
    #[arg(long, short, value_name = "N", value_parser = values::jobs, allow_negative_numbers = true)]
    #[arg(help_heading = heading::EXECUTION)]
    pub jobs: Option<NonZeroUsize>,
    /// Serve over stdio as a stream, a process, or both [default: stream, and both for a sample]
    ///
    /// As a `stream`, the adapter serves a test in its own process. As a `process`, each server has a process and
    /// standard streams of its own, which is slower. With `both`, casebook compares the two.
    #[arg(long, value_name = "MODE", value_parser = values::stdio(), hide_possible_values = true)]
    #[arg(help_heading = heading::EXECUTION)]
    pub stdio: Option<StdioMode>,
    /// The time limits.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Show only the numbers at the end, and write no report: this is one run of several.
    #[arg(skip)]
    pub(in crate::cli) is_part: bool,
}

impl RunArgs {
    /// The names or paths of the targets to test, unless all are.
    pub(in crate::cli) fn targets(&self) -> Vec<String> {
        if self.targets.is_empty() { vec![REFERENCE.to_owned()] } else { self.targets.clone() }
    }

    /// Returns whether the user named no target.
    pub(super) fn is_default(&self) -> bool {
        self.targets.is_empty() && self.command.is_empty()
    }

    /// The run of one of several releases, with a run log of its own in a folder.
    pub(in crate::cli) fn of_release(&self, typed: &str, folder: &Utf8Path) -> Self {
        let run_log = Some(folder.join(format!("{}.jsonl", typed.replace(':', "+"))));
        let targets = vec![typed.to_owned()];
        Self { targets, run_log, versions: None, outputs: OutputArgs::default(), is_part: true, ..self.clone() }
    }

    pub(super) fn selection(&self) -> Selection {
        let one = &self.select;
        Selection {
            only: one.only.clone(),
            skip: one.skip.clone(),
            role: one.role,
            revision: one.revision.clone(),
            transport: one.transport.clone(),
            heavy: one.heavy,
            shard: one.shard,
            in_each_shard: Vec::new(),
            stdio: self.stdio,
            is_thin: false,
            // A frozen set names the transports of its tests.
            every_transport: one.every_transport || self.set.is_some(),
        }
    }

    /// The options that select fewer tests or more than usual, as the user typed them; without the shard.
    pub(in crate::cli) fn narrowed(&self) -> Option<String> {
        fn typed<T: ToString>(option: &str, values: impl IntoIterator<Item = T>) -> Vec<String> {
            values.into_iter().map(|value| format!("--{option} {}", value.to_string())).collect()
        }
        let one = &self.select;
        let all = [
            typed("only", one.only.iter().map(Pattern::as_str)),
            typed("skip", one.skip.iter().map(Pattern::as_str)),
            typed("role", one.role),
            typed("revision", &one.revision),
            typed("transport", &one.transport),
            typed("set", &self.set),
        ];
        let narrowed = all.concat().join(" ");
        (!narrowed.is_empty()).then_some(narrowed)
    }

    pub(super) fn options(&self) -> Options {
        let usual = self.limits.options();
        Options { jobs: self.jobs.unwrap_or(usual.jobs), retries: self.retries, ..usual }
    }
}
