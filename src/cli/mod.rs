//! The command line: what was typed, and what it means. The exit statuses.
//!
//! Takes arguments, gives [`Command`]. Must not know how any stage works.

mod by_hand;
mod caches;
mod cases;
mod coverage;
mod descriptors;
mod diff;
mod drive;
mod guard;
mod here;
mod import;
mod interrupt;
mod logs;
mod new;
mod outputs;
mod problem;
mod prove;
mod relay;
mod replay;
mod report;
mod run;
mod serve;
mod sets;
mod smoke;
mod snapshots;
mod sources;
mod targets;
mod timings;
mod wire;

use std::num::NonZeroUsize;
use std::process::ExitCode;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::model::Pattern;
use crate::model::set::SetName;
use crate::model::spec::{Revision, Transport};
use crate::model::untrusted::is_safe;
use crate::peer::{self, Peer};
use crate::report::terminal::{self, eprint_line};
pub use drive::DriveArgs;
pub use import::{ImportArgs, SuiteName};
pub use outputs::{Annotations, Kind, Output, OutputArgs};
pub use problem::Problem;
pub use run::{RunArgs, SelectArgs};
pub use serve::ServeArgs;
pub use sources::{CaseArgs, PartArgs};
pub use targets::{TargetsArgs, TargetsFormat};
pub use timings::TimingsArgs;

const ABOUT: &str = "A conformance harness for the Model Context Protocol: case files go in, a target is driven over \
the real wire, what it did is written down, and only then is it judged against the specification's sentences.";

const AFTER: &str = "\
Test names:   folder/file/test/row@revision+transport, as `casebook list` prints
Patterns:     `*` stands for one part of a name, `**` for many; a folder, file
              or test means all below it, on every revision and transport
              where there is no `@…`

Exit status:  0  all as expected, known failures included
              1  a MUST is broken, a test is inconclusive, a known failure is
                 stale, a set has what is gone, or a snapshot changed, is
                 missing or cannot be read
              2  wrong usage, such as a name that nothing has, or a bad case
                 file or target.toml
              3  nothing to run
              4  a target could not be set up or started
              5  interrupted, or out of time; what was seen is reported
              6  a file or the output could not be written; takes the place of
                 0 to 4
             70  a bug of casebook's own
             71  the system refused what casebook needs, such as a folder or a
                 process

Environment:  NO_COLOR (any value) switches colour off";

/// How the program ended, for the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All is as expected, known failures included.
    Fine,
    /// A MUST is broken, a test is inconclusive, a known failure is stale, a set has what is gone, or a snapshot
    /// changed, is missing or cannot be read.
    Unexpected,
    /// Wrong usage, such as a name that nothing has, or a bad case file or `target.toml`.
    Usage,
    /// Nothing to run.
    Nothing,
    /// A target could not be set up or started.
    Target,
    /// A file or the output could not be written, whatever else came of the command.
    Unsaved,
    /// Somebody stopped the run, or its limit passed; what was seen until then is reported.
    Interrupted,
    /// A bug in casebook.
    Bug,
    /// The operating system refused what casebook needs.
    System,
}

impl Exit {
    /// The number that the shell sees.
    pub fn status(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Nothing => 3,
            Self::Target => 4,
            Self::Interrupted => 5,
            Self::Unsaved => 6,
            Self::Bug => 70,
            Self::System => 71,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "casebook", version, about = ABOUT, after_help = AFTER, max_term_width = 120)]
#[command(disable_help_subcommand = true, infer_subcommands = false)]
pub struct Cli {
    /// Be the harness below a guard, which speaks on standard input.
    #[arg(long, hide = true)]
    pub guarded: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Looks names up in folders of other users, too.
    #[arg(long, global = true, help = "Look up names in folders of other users, too [env: CASEBOOK_TRUST=1]")]
    pub trust: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run cases against targets, and judge what they did
    Run(RunArgs),
    /// Say everything that is wrong with case files
    Lint(LintArgs),
    /// List tests, one a line
    List(ListArgs),
    /// Tell a case in words: what is sent, what is right, and which sentence says so
    Explain(ExplainArgs),
    /// List the targets: what each speaks, what it needs, and whether that is on this machine
    Targets(TargetsArgs),
    /// Prove an adapter before its SDK is blamed: every kind of message once
    Smoke(SmokeArgs),
    /// Serve a case's fixture by a target, until Ctrl-C
    Serve(ServeArgs),
    /// Drive a target's client through a case's script, against a server of yours
    Drive(DriveArgs),
    /// Show that every check can fail: each mutant of the reference breaks what it declares, and nothing else
    Prove(ProveArgs),
    /// Judge and report a record again, without any target
    Replay(ReplayArgs),
    /// Make reports of any number of records: shards are merged, targets and versions stand side by side
    #[command(after_help = REPORT)]
    Report(ReportArgs),
    /// Say what two records, targets or versions do differently; exit 1 where the second is worse
    #[command(after_help = DIFF)]
    Diff(DiffArgs),
    /// Say which sentences the cases verify, which are open, and why the rest is neither
    Coverage(CoverageArgs),
    /// Write down today's checks as a set, so that later cases change no published rate
    Freeze(FreezeArgs),
    /// Write down a suite that nobody here wrote as a folder of cases; `run --import` does without
    Import(ImportArgs),
    /// Begin a folder of cases: a requirement and a case that run as they are
    New(NewArgs),
    /// Print the completions of a shell: casebook completions bash > FILE
    Completions(CompletionsArgs),
    /// Be the embedded reference target, as an adapter
    #[command(name = "__adapter", hide = true)]
    Adapter(AdapterArgs),
    /// Connect a client, over standard input and output, with the mock server that waits for it
    #[command(name = "__relay", hide = true)]
    Relay(RelayArgs),
}

/// `casebook lint`.
#[derive(Debug, Args)]
pub struct LintArgs {
    /// Folders of cases [default: the embedded ones]
    #[arg(value_name = "PATH")]
    pub paths: Vec<Utf8PathBuf>,
    /// One line a finding, for editors
    #[arg(long)]
    pub short: bool,
}

/// `casebook list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only the tests that match
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<Pattern>,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A case file, as `casebook list` names it: folder/file
    #[arg(value_name = "CASE")]
    pub case: String,
    /// Print the fixture as an adapter gets it, row by row
    #[arg(long)]
    pub expanded: bool,
    /// Print the messages as they go over the wire with the reference target
    #[arg(long, value_name = "REVISION")]
    pub wire: Option<Revision>,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook smoke`.
#[derive(Debug, Args)]
pub struct SmokeArgs {
    /// A target, as `casebook run` takes it
    #[arg(value_name = "TARGET")]
    pub target: String,
}

/// `casebook prove`.
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// Run only the mutants with such a name
    #[arg(long, value_name = "PATTERN")]
    pub only_mutants: Option<Pattern>,
    /// Use only this transport [default: HTTP, and stdio for the tests that go over nothing else]
    #[arg(long, value_name = "stdio|http")]
    pub transport: Option<Transport>,
    /// How the matrix is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ProofFormat,
    /// How many mutants at a time [default: four a core, at most 32]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// How the matrix of mutants and requirements is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ProofFormat {
    /// For a terminal.
    Text,
    /// Two Markdown tables.
    Md,
    /// JSON.
    Json,
}

/// `casebook replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The record of a run
    #[arg(value_name = "RECORD")]
    pub record: Utf8PathBuf,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
    /// Reports.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Show how many checks hold, by level, folder of requirements and revision
    #[arg(long)]
    pub rates: bool,
}

const REPORT: &str = "\
Examples:     casebook report run.jsonl --report html=report.html
              casebook report shard-*.jsonl --report json=report.json --report md=-
              casebook report sdk-2.2.jsonl sdk-2.3.jsonl --report md=history.md

FILE `-` is standard output; without --report, Markdown goes there. Exit 0: all
run logs are in the reports; 1: with --check, something is unexpected; 2: a run
log can't be read, the others are reported; 5: a run log has no end, a shard is
missing, or tests were not run";

/// `casebook report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run logs
    #[arg(value_name = "RECORD", required = true)]
    pub records: Vec<Utf8PathBuf>,
    /// Reports.
    #[command(flatten)]
    pub outputs: OutputArgs,
    /// Fail where something is unexpected, as `casebook run` does
    #[arg(long)]
    pub check: bool,
    /// Where cases come from: their sentences and files.
    #[command(flatten)]
    pub cases: CaseArgs,
}

const DIFF: &str = "\
Examples:     casebook diff before.jsonl after.jsonl
              casebook diff run.jsonl#sdk:high run.jsonl#sdk:low
              casebook diff run.jsonl --target sdk:high --target sdk:low

RECORD#TARGET means one target of a record; a record of one target needs none.";

/// `casebook diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A record, or one target of it
    #[arg(value_name = "A[#TARGET]")]
    pub old: String,
    /// The record, or target, to hold against it [default: the same record, with two --target]
    #[arg(value_name = "B[#TARGET]")]
    pub new: Option<String>,
    /// A target of the record; once for both, or once for each
    #[arg(long, value_name = "TARGET")]
    pub target: Vec<String>,
    /// How many tests of a sentence are shown
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub tests: usize,
    /// Where cases come from: their sentences.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook coverage`.
#[derive(Debug, Args)]
pub struct CoverageArgs {
    /// Only one proposal: its folder, and what is quoted from it elsewhere
    #[arg(long, value_name = "N")]
    pub sep: Option<u32>,
    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CoverageFormat,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// The formats of coverage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CoverageFormat {
    /// For a terminal.
    Text,
    /// For a page.
    Md,
    /// For a program.
    Json,
    /// For the specification's process: the traceability file of one proposal.
    SepYaml,
}

/// `casebook completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `casebook freeze`.
#[derive(Debug, Args)]
pub struct FreezeArgs {
    /// The set's name; its file is sets/NAME.json
    #[arg(value_name = "NAME")]
    pub name: SetName,
    /// Where cases come from.
    #[command(flatten)]
    pub cases: CaseArgs,
}

/// `casebook new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The folder's name: sep-NNNN, or a part of the specification
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The case's title: the truth that it tests
    #[arg(long)]
    pub title: Option<String>,
    /// The folder of cases to begin it in
    #[arg(long, value_name = "DIR", default_value = "cases")]
    pub cases: Utf8PathBuf,
}

/// The embedded reference target.
#[derive(Debug, Args)]
pub struct AdapterArgs {
    /// A defect to have
    #[arg(long)]
    pub mutant: Option<String>,
    /// Serve this one fixture over standard input and output
    #[arg(long, value_name = "FILE")]
    pub stdio_server: Option<Utf8PathBuf>,
}

/// The other end of a mock server's stdio.
#[derive(Debug, Args)]
pub struct RelayArgs {
    /// The file that leads to the mock server
    #[arg(value_name = "FILE")]
    pub file: Utf8PathBuf,
}

/// Reads the command line. What is wrong with it repeats arguments, which a script may have made from any text.
///
/// # Errors
/// The exit status, where it asks for help or makes no sense; that is printed by then.
pub fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| {
        let text = error.render().to_string();
        if is_safe(&text) {
            // With styling, and on the right output. There is nowhere to say anything else.
            _ = error.print();
        } else {
            eprint_line(text.trim_end());
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.status()))
    })
}

fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "casebook", &mut script);
    terminal::print_line(String::from_utf8_lossy(&script).trim_end());
    Exit::Fine
}

/// A panic's message may quote text from outside; then it is printed escaped, and without a backtrace.
fn escape_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.to_string();
        if is_safe(&text) { default(panic) } else { eprint_line(&text) }
    }));
}

/// Does what was asked.
pub fn main(cli: &Cli) -> ExitCode {
    escape_panics();
    if let Some(status) = guard::post(cli) {
        return ExitCode::from(status);
    }
    here::trust(cli.trust);
    if guard::is_wanted(&cli.command) {
        descriptors::raise();
    }
    // Dropped at the very end.
    let _guarded = match guard::begin(cli) {
        Ok(guarded) => guarded,
        Err(problem) => {
            eprint_line(&problem.text);
            return problem.exit.into();
        }
    };
    let done = match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Lint(args) => Ok(cases::lint(args)),
        Command::List(args) => cases::list(args),
        Command::Explain(args) => cases::explain(args),
        Command::Targets(args) => targets::targets(args),
        Command::Smoke(args) => smoke::smoke(args),
        Command::Serve(args) => serve::serve(args),
        Command::Drive(args) => drive::drive(args),
        Command::Prove(args) => prove::prove(args),
        Command::Replay(args) => replay::replay(args),
        Command::Report(args) => report::report(args),
        Command::Diff(args) => diff::diff(args),
        Command::Coverage(args) => coverage::coverage(args),
        Command::Freeze(args) => sets::freeze(args),
        Command::Import(args) => import::import(args),
        Command::New(args) => new::new(args),
        Command::Completions(CompletionsArgs { shell }) => Ok(completions(*shell)),
        Command::Relay(RelayArgs { file }) => relay::relay(file),
        // A process of its own, which shares nothing with the rest.
        Command::Adapter(AdapterArgs { mutant, stdio_server }) => {
            let file = stdio_server.as_deref().map(Utf8Path::as_std_path);
            return reference::run(mutant.as_deref(), file, |peer| peer::of(peer) != Peer::Foreign);
        }
    };
    let exit = done.unwrap_or_else(|problem| {
        eprint_line(&problem.text);
        problem.exit
    });
    exit.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_names_every_exit_status() {
        for exit in [
            Exit::Fine,
            Exit::Unexpected,
            Exit::Usage,
            Exit::Nothing,
            Exit::Target,
            Exit::Unsaved,
            Exit::Interrupted,
            Exit::Bug,
            Exit::System,
        ] {
            assert!(AFTER.contains(&format!("{:>2}  ", exit.status())), "{exit:?}");
        }
    }
}
