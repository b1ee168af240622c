//! The command line: parses arguments, calls the command, and turns its result into an exit status.
//!
//! Takes arguments, gives [`Command`] and [`Exit`]. Must not know how any stage works.

mod ad_hoc;
mod any_client;
mod args;
mod bisect;
mod built;
mod by_hand;
mod caches;
mod cases;
mod coverage;
mod descriptors;
mod diff;
mod drive;
mod here;
mod history;
mod interrupt;
mod issue;
mod known;
mod limits;
mod logs;
mod new;
mod outputs;
mod package;
mod pair;
mod problem;
mod promote;
mod prove;
mod relay;
mod releases;
mod replay;
mod report;
mod run;
mod saving;
mod serve;
mod set_up;
mod sets;
mod site;
mod smoke;
mod snapshots;
mod sources;
mod targets;
mod values;
mod watch;
mod wire;

use std::process::ExitCode;

use camino::Utf8Path;
use clap::Parser as _;

use crate::model::untrusted::is_safe;
use crate::report::terminal::{self, eprint_line, ignore_broken_pipe};
pub use ad_hoc::AdHocArgs;
use args::heading;
pub use args::{
    AdapterArgs, Cli, Command, CoverageArgs, CoverageFormat, DiffArgs, ExplainArgs, FreezeArgs, LintArgs, ListArgs,
    PackageArgs, ProofFormat, ProveArgs, RelayArgs, ReplayArgs, ReportArgs, SmokeArgs,
};
pub use bisect::BisectArgs;
pub use drive::DriveArgs;
pub use issue::IssueArgs;
pub use known::KnownArgs;
pub use limits::{Limit, LimitArgs, LimitKind};
pub use new::{NewArgs, NewTargetArgs, Printed};
pub use outputs::{Kind, Output, OutputArgs};
pub use pair::PairArgs;
pub use problem::Problem;
pub use promote::PromoteArgs;
pub use run::{RunArgs, SelectArgs, ShowArgs};
pub use serve::ServeArgs;
pub use sources::CaseArgs;
pub use targets::{TargetsArgs, TargetsFormat};
pub use watch::WatchArgs;

/// The result of the program, for the shell. A later one outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// All results are as expected, known failures included.
    Fine,
    /// There are no tests to run, or the adapter cannot express any of them.
    Nothing,
    /// An unexpected result: a MUST violated, an inconclusive or flaky test, a stale known failure, a frozen check that
    /// no longer exists, or a snapshot that changed, is missing or cannot be read.
    Unexpected,
    /// A usage error: a wrong option or name, or an error in a case file or a `target.toml`.
    Usage,
    /// A target cannot be set up or started.
    Target,
    /// A file or the output cannot be written, whatever the other results are.
    Unsaved,
    /// The user stopped the run, or its time limit passed. casebook reports the tests that have ended.
    Interrupted,
    /// An error in casebook itself.
    Bug,
    /// The operating system refused a file, a folder or a process.
    System,
}

impl Exit {
    /// Returns the result of a run of which several may apply: the one that outweighs the others, or [`Exit::Fine`].
    fn gravest(results: &[(bool, Self)]) -> Self {
        results.iter().filter(|(applies, _)| *applies).map(|(_, exit)| *exit).max().unwrap_or(Self::Fine)
    }

    /// The exit status of the process.
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

/// Parses the command line. Its errors repeat arguments, which a script may have made from any text.
///
/// # Errors
/// The exit status, if the command line asks for help or is wrong. The help or the error has been printed by then.
pub fn parse() -> Result<Cli, ExitCode> {
    Cli::try_parse().map_err(|error| {
        let text = error.render().to_string();
        if !is_safe(&text) {
            eprint_line(text.trim_end());
        } else if let Err(error) = ignore_broken_pipe(error.print()) {
            // Help goes to standard output, errors to standard error.
            let problem = Problem::output(&error);
            eprint_line(&problem.text);
            return problem.exit.into();
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage.status()))
    })
}

/// Makes panics print their message escaped and without a backtrace if it quotes unsafe text from outside.
fn escape_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.to_string();
        if is_safe(&text) { default(panic) } else { eprint_line(&text) }
    }));
}

/// Runs the command.
pub fn main(cli: &Cli) -> ExitCode {
    escape_panics();
    // Kept until the end of this function, when everything else has been dropped.
    let _session = match interrupt::begin(&cli.command) {
        Ok(session) => session,
        Err(problem) => {
            eprint_line(&problem.text);
            return problem.exit.into();
        }
    };
    let done = match &cli.command {
        Command::Run(args) => run::run(args),
        Command::Pair(args) => pair::pair(args),
        Command::List(args) => cases::list(args),
        Command::Explain(args) => cases::explain(args),
        Command::Targets(args) => targets::targets(args),
        Command::Smoke(args) => smoke::smoke(args),
        Command::Known(args) => known::known(args),
        Command::Issue(args) => issue::issue(args),
        Command::Report(args) => report::report(args),
        Command::Diff(args) => diff::diff(args),
        Command::Bisect(args) => bisect::bisect(args),
        Command::Replay(args) => replay::replay(args),
        Command::Coverage(args) => coverage::coverage(args),
        Command::Lint(args) => cases::lint(args),
        Command::Watch(args) => watch::watch(args),
        Command::New(args) => new::new(args),
        Command::Promote(args) => promote::promote(args),
        Command::Serve(args) => serve::serve(args),
        Command::Drive(args) => drive::drive(args),
        Command::Freeze(args) => sets::freeze(args),
        Command::Prove(args) => prove::prove(args),
        Command::Package(PackageArgs { folder }) => package::package(folder),
        Command::Relay(RelayArgs { file }) => relay::relay(file),
        // This is a process of its own, which shares nothing with the harness.
        Command::Adapter(AdapterArgs { mutant, changes, stdio_server }) => {
            let file = stdio_server.as_deref().map(Utf8Path::as_std_path);
            return reference::run(mutant.as_deref(), changes.as_deref(), file);
        }
    };
    // A command that could not write its output ends with the same problem.
    let written = terminal::finish_output().map_err(|error| Problem::output(&error));
    let problems: Vec<Problem> = match (done, written) {
        (Ok(exit), Ok(())) => return exit.into(),
        (Ok(exit), Err(problem)) => vec![Problem { exit: exit.max(problem.exit), ..problem }],
        (Err(problem), Err(output)) if problem.text != output.text => vec![problem, output],
        (Err(problem), _) => vec![problem],
    };
    for problem in &problems {
        eprint_line(&problem.text);
    }
    problems.iter().map(|problem| problem.exit).max().unwrap_or(Exit::Bug).into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn command_line_definition_is_consistent() {
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
            assert!(args::AFTER_LONG.contains(&format!("\n  {:>2}  ", exit.status())), "{exit:?}");
        }
    }
}
