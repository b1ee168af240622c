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

fn main() -> ExitCode {
    let trials =
        [cases::trials(), mutants::trials(), pairs::trials(), any_client::trials()].into_iter().flatten().collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
