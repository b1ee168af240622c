//! `casebook __guard RUN`, and which commands need one.
//!
//! Takes a command, gives a guard that clears up behind it. Must not know what is started.

use clap::Args;

use super::{Command, Exit, Problem, run};
use crate::drive::Guard;
use crate::report::terminal::aside;

/// Whose end to wait for.
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// The run
    #[arg(value_name = "RUN")]
    pub run: String,
}

/// Posts a guard where anything is started that mustn't stay. Without one, only what we can still do ourselves is done.
pub(super) fn post(command: &Command) -> Option<Guard> {
    let starts_something = match command {
        Command::Run(_) | Command::Smoke(_) | Command::Serve(_) | Command::Drive(_) | Command::Prove(_) => true,
        Command::Explain(args) => args.wire.is_some(),
        _ => false,
    };
    let posted = starts_something.then(|| run::this_program().and_then(|program| Ok(Guard::post(&program)?)))?;
    let warn =
        |problem: &Problem| aside(&(problem.text.clone() + "; if this is killed, what it started may stay".into()));
    posted.inspect_err(warn).ok()
}

pub(super) fn keep(args: &GuardArgs) -> Result<Exit, Problem> {
    Guard::keep(&args.run).map(|()| Exit::Fine).map_err(Problem::system)
}
