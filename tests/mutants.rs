//! Every check can fail: a trial for each mutant of the reference target, which breaks what it declares and nothing
//! else, and one for the requirements that no mutant breaks. Without optimisation the mutants take minutes, and wait
//! for `cargo test --test mutants -- --include-ignored`.

use std::process::ExitCode;
use std::sync::Arc;

use camino::Utf8Path;
use casebook::drive::{Cancel, Options};
use casebook::judge::Judge;
use casebook::load::{Source, load, target};
use casebook::model::case::Library;
use casebook::model::record::Record;
use casebook::plan::{Selection, plan};
use casebook::reference::{About, UNBROKEN, mutants};
use casebook::report::proof::{Declared, Kill, unproved};
use casebook::run::conduct;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let library = Arc::new(load(&[Source::Embedded]).expect("the cases are sound"));
    let mut trials: Vec<_> = mutants()
        .map(|about| {
            let library = Arc::clone(&library);
            Trial::test(format!("{}::{}", about.role, about.name), move || examine(&library, about))
                .with_ignored_flag(cfg!(debug_assertions))
        })
        .collect();
    trials.push(Trial::test("every_requirement_with_a_check_has_a_mutant", move || none_is_unproved(&library)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn declared(about: &'static About) -> Declared<'static> {
    let About { name, role, does, breaks, keeps } = *about;
    Declared { name, role: role.parse().expect("a role"), does, breaks, keeps }
}

fn none_is_unproved(library: &Library) -> Result<(), Failed> {
    let unproved = unproved(library, mutants().map(declared), &UNBROKEN);
    if unproved.is_empty() { Ok(()) } else { Err(format!("no mutant breaks {unproved:?}").into()) }
}

/// What only a busy machine breaks isn't broken twice.
fn examine(library: &Library, about: &'static About) -> Result<(), Failed> {
    let mutant = declared(about);
    let kill = Kill::new(mutant, &run(library, mutant)?);
    let kill = if kill.is_as_declared() { kill } else { Kill::new(mutant, &run(library, mutant)?) };
    if kill.is_as_declared() { Ok(()) } else { Err(kill.complaints().join("\n").into()) }
}

fn run(library: &Library, mutant: Declared<'_>) -> Result<Vec<Record>, Failed> {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Utf8Path::new(env!("CARGO_BIN_EXE_casebook"));
    let target = Arc::new(target::reference(program, root, Some(mutant.name)));
    let selection = Selection { role: Some(mutant.role), is_thin: true, ..Selection::default() };
    let plan = Arc::new(plan(library, &[Arc::clone(&target)], &selection)?);
    let mut judge = Judge::new(&library.requirements, [target.as_ref()]);
    let options = Options { program: program.to_owned(), jobs: std::num::NonZeroUsize::MIN, ..Options::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
    Ok(runtime.block_on(conduct(plan, &mut judge, options, cancel, None, |_| {}))?.records)
}
