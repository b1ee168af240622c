//! Runs some commands below a guard process: makes this process the guard, or the harness below it.
//!
//! Takes a command, gives the exit status of the harness. Must not know which processes the harness starts.

use super::{Cli, Command, Exit, Problem, descriptors, run};
use crate::drive::{Guarded, watch};
use crate::report::terminal::eprint_line;

/// Runs a command that starts processes in a process below this one, which then is its guard. Returns the exit status, or
/// `None` if the command is to run in this process.
pub(super) fn post(cli: &Cli) -> Option<u8> {
    if cli.guarded || !is_wanted(&cli.command) {
        return None;
    }
    let limit = match &cli.command {
        Command::Run(args) => Some(args.run_limit),
        Command::Pair(args) => Some(args.run_limit),
        _ => None,
    };
    let arguments = std::env::args_os().skip(1);
    let watched = run::this_program().and_then(|program| {
        descriptors::check()?;
        Ok(watch(&program, arguments, limit, eprint_line)?)
    });
    let warn = |problem: &Problem| {
        let effect = "; casebook runs without a guard: if it is killed, its processes may keep running";
        eprint_line(&(problem.text.clone() + effect.into()));
    };
    watched.inspect_err(warn).ok()
}

/// Returns whether a command starts processes or listens for connections.
pub(super) fn is_wanted(command: &Command) -> bool {
    match command {
        Command::Run(_)
        | Command::Pair(_)
        | Command::Smoke(_)
        | Command::Serve(_)
        | Command::Drive(_)
        | Command::Prove(_) => true,
        Command::Explain(args) => args.wire.is_some(),
        _ => false,
    }
}

/// Starts to listen to the guard, if this process has one.
pub(super) fn begin(cli: &Cli) -> Result<Option<Guarded>, Problem> {
    cli.guarded.then(Guarded::begin).transpose().map_err(|error| match error.kind() {
        // The user typed the hidden option.
        std::io::ErrorKind::InvalidInput => Problem::new(Exit::Usage, error.to_string()),
        _ => Problem::system(error),
    })
}
