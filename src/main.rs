//! Arguments in, exit status out.

use std::panic::catch_unwind;
use std::process::ExitCode;

use casebook::cli::Exit;

fn main() -> ExitCode {
    match casebook::cli::parse() {
        // The panic itself has been printed by then.
        Ok(cli) => catch_unwind(|| casebook::cli::main(&cli)).unwrap_or_else(|_| Exit::Bug.into()),
        Err(exit) => exit,
    }
}
