//! The program `casebook`: parses the command line, runs the command, and exits with its status.

use std::panic::catch_unwind;
use std::process::ExitCode;

use casebook::cli::Exit;

fn main() -> ExitCode {
    match casebook::cli::parse() {
        // The panic hook has printed the panic.
        Ok(cli) => catch_unwind(|| casebook::cli::main(&cli)).unwrap_or_else(|_| Exit::Bug.into()),
        Err(exit) => exit,
    }
}
