//! The commands that have a guard above them; makes this process the guard or the harness.
//!
//! Takes a command, gives the exit status of the guarded one. Must not know what is started.

use super::{Cli, Command, Exit, Problem, descriptors, run};
use crate::drive::{Guarded, watch};
use crate::report::terminal::eprint_line;

/// Runs a command that starts something that mustn't stay in a process below this one; gives its exit status. `None`
/// where the command is for this process.
pub(super) fn post(cli: &Cli) -> Option<u8> {
    if cli.guarded || !is_wanted(&cli.command) {
        return None;
    }
    let limit = if let Command::Run(args) = &cli.command { Some(args.run_limit) } else { None };
    let arguments = std::env::args_os().skip(1);
    let watched = run::this_program().and_then(|program| {
        descriptors::check()?;
        Ok(watch(&program, arguments, limit, eprint_line)?)
    });
    let warn = |problem: &Problem| {
        eprint_line(&(problem.text.clone() + "; if this is killed, what it started may stay".into()));
    };
    watched.inspect_err(warn).ok()
}

/// Returns whether a command starts processes and listens for connections.
pub(super) fn is_wanted(command: &Command) -> bool {
    match command {
        Command::Run(_) | Command::Smoke(_) | Command::Serve(_) | Command::Drive(_) | Command::Prove(_) => true,
        Command::Explain(args) => args.wire.is_some(),
        _ => false,
    }
}

/// In a process that has a guard, begins to listen to it.
pub(super) fn begin(cli: &Cli) -> Result<Option<Guarded>, Problem> {
    cli.guarded.then(Guarded::begin).transpose().map_err(|error| match error.kind() {
        // Somebody typed the hidden option.
        std::io::ErrorKind::InvalidInput => Problem::new(Exit::Usage, error.to_string()),
        _ => Problem::system(error),
    })
}
