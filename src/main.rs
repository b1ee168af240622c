//! Arguments in, exit status out.

use std::panic::catch_unwind;
use std::process::ExitCode;

use casebook::cli::{Cli, Exit};
use clap::Parser as _;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // The panic itself has been printed by then.
    catch_unwind(|| casebook::cli::main(&cli)).unwrap_or_else(|_| Exit::Bug.into())
}
