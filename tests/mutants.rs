//! Every check can fail: a trial for each mutant of the reference target, which breaks what it declares and nothing
//! else, and one for the requirements that no mutant breaks. Without optimisation the mutants take minutes, and wait
//! for `cargo test --test mutants -- --include-ignored`.

use std::process::ExitCode;
use std::sync::Arc;

use camino::Utf8Path;
use casebook::drive::{Cancel, Options};
use casebook::load::{Source, load, target};
use casebook::model::case::Library;
use casebook::proof::{self, Pace};
use casebook::reference::UNBROKEN;
use casebook::report::proof::{Declared, Kill, unproved};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let library = Arc::new(load(&[Source::Embedded]).expect("the cases are sound"));
    let mut trials: Vec<_> = proof::all()
        .map(|mutant| {
            let library = Arc::clone(&library);
            Trial::test(format!("{}::{}", mutant.role, mutant.name), move || examine(&library, mutant))
                .with_ignored_flag(cfg!(debug_assertions))
        })
        .collect();
    trials.push(Trial::test("every_requirement_with_a_check_has_a_mutant", move || none_is_unproved(&library)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn none_is_unproved(library: &Library) -> Result<(), Failed> {
    let unproved = unproved(library, proof::all(), &UNBROKEN);
    if unproved.is_empty() { Ok(()) } else { Err(format!("no mutant breaks {unproved:?}").into()) }
}

/// What only a busy machine breaks isn't broken twice.
fn examine(library: &Library, mutant: Declared<'_>) -> Result<(), Failed> {
    let kill = run(library, mutant, Pace::Brisk)?;
    let kill = if kill.is_as_declared() { kill } else { run(library, mutant, Pace::Patient)? };
    if kill.is_as_declared() { Ok(()) } else { Err(kill.complaints().join("\n").into()) }
}

fn run(library: &Library, mutant: Declared<'_>, pace: Pace) -> Result<Kill, Failed> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Utf8Path::new(env!("CARGO_BIN_EXE_casebook"));
    let target = Arc::new(target::reference(program, root, Some(mutant.name)));
    let options = Options { program: program.to_owned(), ..Options::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
    let kill = runtime.block_on(proof::examine(library, (mutant, target), &[], (options, pace), cancel))?;
    Ok(kill.expect("nobody stops it"))
}
