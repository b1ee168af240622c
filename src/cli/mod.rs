//! The command line: parses arguments, calls the command, and turns its result into an exit status.
//!
//! Takes arguments, gives [`Command`] and [`Exit`]. Must not know how any stage works.

mod ad_hoc;
mod any_client;
mod args;
mod base;
mod bisect;
mod cases;
mod coverage;
mod diff;
mod drive;
mod history;
mod issue;
mod known;
mod new;
mod package;
mod pair;
mod promote;
mod prove;
mod relay;
mod replay;
mod report;
mod run;
mod serve;
mod sets;
mod site;
mod smoke;
mod targets;
mod watch;
mod wire;

use std::process::ExitCode;
use std::time::Duration;

use camino::Utf8Path;
use clap::Parser as _;

use crate::model::untrusted::is_safe;
use crate::report::terminal::{self, eprint_line, ignore_broken_pipe};
pub use ad_hoc::AdHocArgs;
pub use args::{
    AdapterArgs, Cli, Command, CoverageArgs, CoverageFormat, DiffArgs, ExplainArgs, FreezeArgs, LintArgs, ListArgs,
    PackageArgs, ProofFormat, ProveArgs, RelayArgs, ReplayArgs, ReportArgs, SmokeArgs,
};
pub use base::exit::Exit;
use base::interrupt;
pub use base::limits::{Limit, LimitArgs, LimitKind};
pub use base::outputs::{Kind, Output, OutputArgs};
pub use base::problem::Problem;
pub use base::sources::CaseArgs;
pub use bisect::BisectArgs;
pub use drive::DriveArgs;
pub use issue::IssueArgs;
pub use known::KnownArgs;
pub use new::{NewArgs, NewTargetArgs, Printed};
pub use pair::PairArgs;
pub use promote::PromoteArgs;
pub use run::{RunArgs, SelectArgs, ShowArgs};
pub use serve::ServeArgs;
pub use targets::{TargetsArgs, TargetsFormat};
pub use watch::WatchArgs;

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

/// Returns whether a command starts processes or listens for connections.
fn is_session(command: &Command) -> bool {
    match command {
        Command::Run(_)
        | Command::Pair(_)
        | Command::Smoke(_)
        | Command::Serve(_)
        | Command::Drive(_)
        | Command::Prove(_)
        | Command::Bisect(_) => true,
        Command::Diff(args) => diff::starts_targets(args),
        Command::Explain(args) => args.wire.is_some(),
        _ => false,
    }
}

/// Returns the time limit of a command as a whole.
fn limit(command: &Command) -> Option<Duration> {
    match command {
        Command::Run(args) => args.versions.is_none().then(|| args.limits.run()),
        Command::Pair(args) => Some(args.limits.run()),
        _ => None,
    }
}

/// Runs the command.
pub fn main(cli: &Cli) -> ExitCode {
    escape_panics();
    // Kept until the end of this function, when everything else has been dropped.
    let _session = match is_session(&cli.command).then(|| interrupt::begin(limit(&cli.command))).transpose() {
        Ok(session) => session,
        Err(problem) => {
            eprint_line(&problem.text);
            return problem.exit.into();
        }
    };
    let done = match &cli.command {
        Command::Run(args) => match &args.versions {
            Some(releases) => history::run(args, releases),
            None => run::run(args),
        },
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
