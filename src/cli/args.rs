//! The commands and their options, with the texts of `--help`.
//!
//! Gives [`Cli`] and one type of arguments per command; the larger ones are in the modules of their commands. Must not
//! know how a command works.

use std::num::NonZeroUsize;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand};

use super::base::heading;
use super::base::outputs::OutputArgs;
use super::base::sources::CaseArgs;
use super::base::values;
use super::{
    BisectArgs, DriveArgs, IssueArgs, KnownArgs, NewArgs, PairArgs, PromoteArgs, RunArgs, ServeArgs, ShowArgs,
    TargetsArgs, WatchArgs,
};
use crate::model::set::SetName;
use crate::model::spec::Revision;
use crate::model::{Pattern, Shard};

const LONG_ABOUT: &str = "\
casebook tests implementations of the Model Context Protocol (MCP) against its
specification. Cases are JSON files. A small adapter per SDK builds a real
server or client from a case; casebook plays the other side over stdio or
Streamable HTTP, records the messages, and then judges the recording.";

const AFTER: &str = "\
Examples:
  casebook run go-sdk                test the Go SDK with all cases
  casebook explain tools/root-type   read one case in words
  casebook help run                  show all options of a command

`casebook --help` also explains patterns and exit statuses.";

pub(super) const AFTER_LONG: &str = "\
Examples:
  casebook run go-sdk                test the Go SDK with all cases
  casebook explain tools/root-type   read one case in words
  casebook help run                  show all options of a command

Names of tests:
  FOLDER/FILE/TEST/ROW@REVISION+TRANSPORT, as `casebook list` prints them; tests
  without rows have no ROW.

Patterns:
  A PATTERN is the beginning of a name, in whole parts: a folder, a case file or
  a test selects all tests below it. `*` stands for one part of a name and `**`
  for any number of parts. A pattern without `@` selects all revisions and
  transports.

Exit statuses:
   0  success: all results are as expected, known failures included
   1  unexpected result: a MUST violated, an inconclusive or flaky test, a stale
      known failure, a frozen check that no longer exists, or a snapshot that
      changed, is missing or cannot be read
   2  usage error: a wrong option or name, or an error in a case file or a
      target.toml
   3  no tests to run, or the adapter cannot express any of them
   4  a target cannot be set up or started
   5  interrupted, or the time limit of the run passed; casebook reports the
      tests that have ended
   6  a file or the output cannot be written; replaces the statuses 0 to 4
  70  an error in casebook itself
  71  the operating system refused a file, a folder or a process

Environment:
  NO_COLOR=1        print without colours
  XDG_CACHE_HOME    the folder for run logs and unpacked targets
                    [default: ~/.cache]";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "casebook",
    version,
    about = "Test implementations of the Model Context Protocol (MCP) against its specification",
    long_about = LONG_ABOUT,
    after_help = AFTER,
    after_long_help = AFTER_LONG,
    max_term_width = 100
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order of the list in `--help`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run cases against targets and judge the results
    #[command(after_long_help = RUN)]
    Run(Box<RunArgs>),
    /// Connect clients with servers, and report which of them work together
    Pair(Box<PairArgs>),
    /// List tests, one per line
    #[command(after_long_help = LIST)]
    List(ListArgs),
    /// Explain a case: messages, expectations and requirements
    #[command(after_long_help = EXPLAIN)]
    Explain(ExplainArgs),
    /// List the targets and the programs that they need
    Targets(TargetsArgs),
    /// Check that an adapter speaks the adapter protocol
    #[command(after_long_help = SMOKE)]
    Smoke(SmokeArgs),
    /// Print or add the [[known]] entries that would make a run succeed
    #[command(after_long_help = KNOWN)]
    Known(KnownArgs),
    /// Print the draft of an issue for a failed test
    Issue(IssueArgs),
    /// Write reports from one or more run logs
    #[command(after_long_help = REPORT)]
    Report(ReportArgs),
    /// Compare two run logs, targets, versions or folders of snapshots
    #[command(after_long_help = DIFF)]
    Diff(DiffArgs),
    /// Find the release of an SDK in which the observation of a test changed
    #[command(after_long_help = BISECT)]
    Bisect(BisectArgs),
    /// Judge a run log again by the current cases
    #[command(after_long_help = REPLAY)]
    Replay(ReplayArgs),
    /// Show the requirements with and without cases
    #[command(after_long_help = COVERAGE)]
    Coverage(CoverageArgs),
    /// Check case files for errors
    #[command(after_long_help = LINT)]
    Lint(LintArgs),
    /// Lint and run cases after each save, and show what changed
    Watch(WatchArgs),
    /// Create a folder of cases to start from, or print a target.toml or a workflow
    New(NewArgs),
    /// Give a proposal its number, or the revision that has it
    #[command(after_long_help = PROMOTE)]
    Promote(PromoteArgs),
    /// Serve the fixture of a case, to send requests by hand
    Serve(ServeArgs),
    /// Drive the client of a target against your own server
    Drive(DriveArgs),
    /// Save the current checks as a frozen set
    #[command(after_long_help = FREEZE)]
    Freeze(FreezeArgs),
    /// Check that the cases detect each mutant of the reference
    #[command(after_long_help = PROVE)]
    Prove(ProveArgs),
    /// Run the embedded reference target as an adapter.
    #[command(name = "__adapter", hide = true)]
    Adapter(AdapterArgs),
    /// Write the completions and the man pages for the archives of a release.
    #[command(name = "__package", hide = true)]
    Package(PackageArgs),
    /// Connect a client, over standard input and output, to a waiting mock server.
    #[command(name = "__relay", hide = true)]
    Relay(RelayArgs),
}

const RUN: &str = "\
Examples:
  casebook run go-sdk
  casebook run -- npx -y some-server --flag
  casebook run https://example.com/mcp --header-env Authorization=MCP_TOKEN
  casebook run ./my-sdk --only tools --only 'sep-2106/**'
  casebook run typescript-sdk:low go-sdk --report html=report.html
  casebook run --all --shard 2/5 --run-log shard-2.jsonl";

const LIST: &str = "\
Examples:
  casebook list
  casebook list 'tools/**@2025-11-25+stdio'";

const EXPLAIN: &str = "\
Examples:
  casebook explain tools/root-type
  casebook explain tools/root-type --wire 2026-07-28";

const SMOKE: &str = "\
WRONG is a mistake of the adapter. `odd` is a change on the way through the
adapter and its SDK; one of them makes it.

Examples:
  casebook smoke ./my-sdk";

const KNOWN: &str = "\
Each entry matches the failing tests of one requirement, and no test that
passes. Its reason is `untriaged`, and reports count it so until you replace it.

Examples:
  casebook known run.jsonl
  casebook known shard-*.jsonl --update conformance/target.toml";

const REPORT: &str = "\
Without --report, casebook prints a Markdown report on standard output.

Examples:
  casebook report run.jsonl --report html=report.html
  casebook report shard-*.jsonl --report json=report.json --report md=-
  casebook report sdk-2.2.jsonl sdk-2.3.jsonl --report md=history.md
  casebook report runs/*.jsonl --report site=site

A site is a folder of pages that is new, empty or an earlier site. Of several
run logs of one version with different cases, the last one counts there.

Exit statuses:
  0  the reports contain all run logs
  1  with --check: an unexpected result
  2  a run log cannot be read; the reports contain the others
  5  a run log has no end, a shard is missing, or tests were not run";

const DIFF: &str = "\
RUN_LOG#TARGET selects one target of a run log. A run log of one target needs no
#TARGET. TARGET@VERSION is run first, unless it was run before. To compare two
targets of one run log, select both. The exit status is 1 if the second side is
worse.

Of two folders of snapshots, the observations are compared. They have no
verdicts, so that the exit status is 0.

Examples:
  casebook diff before.jsonl after.jsonl
  casebook diff python-sdk-v1@1.26.0:high python-sdk-v1@1.30.0:high
  casebook diff run.jsonl#sdk:high run.jsonl#sdk:low
  casebook diff snapshots/reference snapshots/sdk/high
  casebook diff run.jsonl --target sdk:high --target sdk:low";

const BISECT: &str = "\
A release that cannot be set up is left out. What was run once is not run again,
so that an interrupted search goes on where it was.

Examples:
  casebook bisect tools/input-schema/validated python-sdk-v1:high
  casebook bisect 'sep-1303/**@2025-11-25+http' fastmcp --good 3.0.0 --bad 4.0.0

Exit statuses:
  0  found
  2  usage error; for example, there is no such release
  3  both ends have the same observation
  4  a release at an end cannot be set up
  5  interrupted";

const REPLAY: &str = "\
Examples:
  casebook replay run.jsonl
  casebook replay run.jsonl --cases my-cases --report html=report.html";

const COVERAGE: &str = "\
Examples:
  casebook coverage
  casebook coverage --sep 2106 --format sep-yaml";

const LINT: &str = "\
Exit status 0: no errors and no warnings; 2: at least one.

Examples:
  casebook lint my-cases
  casebook lint --short my-cases";

const PROMOTE: &str = "\
Examples:
  casebook promote sep-9999 --to sep-2345
  casebook promote sep-2345 --since 2026-07-28";

const FREEZE: &str = "\
`casebook run --set NAME` runs only the checks of a frozen set, so that results
stay comparable when cases are added. casebook never overwrites a frozen set.

Examples:
  casebook freeze 2026.1
  casebook run go-sdk --set 2026.1";

const PROVE: &str = "\
A mutant is a deliberately wrong variant of the reference, which declares the
requirements that it violates. prove checks that each mutant violates these
requirements and no others.

Examples:
  casebook prove
  casebook prove --only-mutants input-not-validated";

/// `casebook lint`.
#[derive(Debug, Args)]
pub struct LintArgs {
    /// Folders or files of cases [default: the embedded cases]
    ///
    /// The PATH `embedded` is the embedded cases: `casebook lint embedded my-cases` also knows their requirements.
    #[arg(value_name = "PATH")]
    pub paths: Vec<Utf8PathBuf>,
    /// Also compare the quotes of requirements with a checkout of the specification's repository
    ///
    /// Reports quotes that their page does not have, quotes that begin or end inside a sentence, and sentences of the pages
    /// in `exclusions.json` that are neither quoted nor excluded. Nothing is downloaded.
    #[arg(long, value_name = "DIR")]
    pub spec: Option<Utf8PathBuf>,
    /// Print one line per error or warning, for editors
    #[arg(long, help_heading = heading::OUTPUT)]
    pub short: bool,
}

/// `casebook list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// List only the tests that match
    #[arg(value_name = "PATTERN", value_parser = values::pattern)]
    pub pattern: Option<Pattern>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Case file, as `casebook list` names it, or requirement, as reports name it: FOLDER/NAME
    #[arg(value_name = "CASE|REQUIREMENT")]
    pub case: String,
    /// Print the fixtures as an adapter receives them, with the values of each row
    #[arg(long, help_heading = heading::OUTPUT)]
    pub expanded: bool,
    /// Print the case file as it is written, to copy it
    #[arg(long, conflicts_with_all = ["expanded", "wire"], help_heading = heading::OUTPUT)]
    pub json: bool,
    /// Run the case with the reference target and print the messages of both sides
    #[arg(long, value_name = "REVISION", value_parser = values::revision(), hide_possible_values = true)]
    #[arg(help_heading = heading::OUTPUT)]
    pub wire: Option<Revision>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook smoke`.
#[derive(Debug, Args)]
pub struct SmokeArgs {
    /// Target with an adapter: a name, or the path of a target.toml or its folder
    #[arg(value_name = "TARGET")]
    pub target: String,
}

/// `casebook prove`.
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// Run only the mutants whose names match
    #[arg(long, value_name = "PATTERN", value_parser = values::pattern, help_heading = heading::TESTS)]
    pub only_mutants: Option<Pattern>,
    /// Damage what a run recorded in many ways, and list the checks that hold all the same: of this run log, or else of a run
    /// of the reference
    #[arg(long, value_name = "RUN_LOG", num_args = 0..=1, conflicts_with_all = ["only_mutants", "shard", "jobs"])]
    #[arg(help_heading = heading::TESTS)]
    pub by_damage: Option<Option<Utf8PathBuf>>,
    /// Of the tests that ask about no declared requirement, run one of N shards: 2/5 runs the second of five
    #[arg(long, value_name = "K/N", value_parser = values::shard, help_heading = heading::TESTS)]
    pub shard: Option<Shard>,
    /// Print the matrix of mutants and requirements in this format
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = heading::OUTPUT)]
    pub format: ProofFormat,
    /// Run N mutants at the same time [default: 12 per core, at most 32]
    #[arg(long, short, value_name = "N", value_parser = values::jobs, allow_negative_numbers = true)]
    #[arg(help_heading = heading::EXECUTION)]
    pub jobs: Option<NonZeroUsize>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// The formats of the matrix of mutants and requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProofFormat {
    /// Text for a terminal
    Text,
    /// Two Markdown tables
    Md,
    /// JSON
    Json,
}

/// `casebook replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// Run log
    #[arg(value_name = "RUN_LOG")]
    pub run_log: Utf8PathBuf,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// The reports.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// The extent of the output.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// `casebook report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run logs
    #[arg(value_name = "RUN_LOG", required = true)]
    pub run_logs: Vec<Utf8PathBuf>,
    /// The reports.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Exit with 1 if a result is unexpected, as `casebook run` does
    #[arg(long, help_heading = heading::RESULT)]
    pub check: bool,
    /// The sources of cases, for their requirements and files.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// First run log, one target of it, or a folder of snapshots with one of its variants
    #[arg(value_name = "RUN_LOG[#TARGET]|DIR[:VARIANT]")]
    pub old: String,
    /// Second run log, one target of it, or a folder of snapshots with one of its variants [default: the first run log, with two --target]
    #[arg(value_name = "RUN_LOG[#TARGET]|DIR[:VARIANT]")]
    pub new: Option<String>,
    /// Compare this target; give it once for both run logs, or twice for two targets
    #[arg(long, value_name = "TARGET", help_heading = heading::TARGETS)]
    pub target: Vec<String>,
    /// Show at most N tests of each cause, with both observations
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::tests, allow_negative_numbers = true)]
    #[arg(help_heading = heading::OUTPUT)]
    pub tests: usize,
    /// The sources of cases, for their requirements.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook coverage`.
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// Show only the requirements of proposal N
    #[arg(long, value_name = "N", value_parser = values::sep, allow_negative_numbers = true)]
    #[arg(help_heading = heading::OUTPUT)]
    pub sep: Option<u32>,
    /// Also show on how many targets of this run log each requirement was decided; repeatable
    #[arg(long = "run-log", value_name = "FILE", help_heading = heading::OUTPUT)]
    pub run_logs: Vec<Utf8PathBuf>,
    /// Print in this format
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = heading::OUTPUT)]
    pub format: CoverageFormat,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// The formats of coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CoverageFormat {
    /// Text for a terminal
    Text,
    /// Markdown
    Md,
    /// JSON
    Json,
    /// Traceability file of one proposal, for the specification's process; needs --sep
    SepYaml,
}

/// `casebook freeze`.
#[derive(Debug, Args)]
pub struct FreezeArgs {
    /// Name of the frozen set; casebook writes sets/NAME.json
    #[arg(value_name = "NAME")]
    pub name: SetName,
    /// Save only the checks of this revision, and name the MUSTs and SHOULDs that it does not score
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<Revision>,
    /// The sources of cases.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// The embedded reference target.
#[derive(Debug, Args)]
pub struct AdapterArgs {
    /// Run as this mutant.
    #[arg(long)]
    pub mutant: Option<String>,
    /// Run with these changes of messages, a JSON text.
    #[arg(long)]
    pub changes: Option<String>,
    /// Serve the fixture of this file over standard input and output.
    #[arg(long, value_name = "FILE")]
    pub stdio_server: Option<Utf8PathBuf>,
}

/// The client's end of a mock server over stdio.
#[derive(Debug, Args)]
pub struct RelayArgs {
    /// The file with the address of the mock server.
    #[arg(value_name = "FILE")]
    pub file: Utf8PathBuf,
}

/// The completions and the man pages.
#[derive(Debug, Args)]
pub struct PackageArgs {
    /// The folder to write them to.
    #[arg(value_name = "DIR")]
    pub folder: Utf8PathBuf,
}
