//! Conformance of the reference target: it meets the expectations of each case, and each of its mutants violates exactly
//! the requirements that it declares.
//!
//! The trials of `cases` have the names of case files; those of `mutants` and `pairs` begin with `mutants::`, and those
//! of `any_client` with `any_client::`.

mod any_client;
mod cases;
mod mutants;
mod pairs;
mod veil;

use std::process::ExitCode;

use libtest_mimic::Arguments;

/// The program that the tests start: that of `CASEBOOK_PROGRAM`, which is optimised, or that of this build.
pub(crate) const PROGRAM: &str = match option_env!("CASEBOOK_PROGRAM") {
    Some(program) => program,
    None => env!("CARGO_BIN_EXE_casebook"),
};

fn main() -> ExitCode {
    let trials =
        [cases::trials(), mutants::trials(), pairs::trials(), any_client::trials()].into_iter().flatten().collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
