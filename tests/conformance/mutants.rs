//! Proof that every check can fail: one trial per mutant of the reference, which must violate exactly the requirements that
//! it declares, and one trial for requirements that no mutant violates. Without optimisation the mutants take minutes, so
//! that they run only with `cargo test --test conformance -- --include-ignored mutants::`.
//!
//! The trials `mutants::veiled::…` check that no verdict on a mutant improves if its messages are made unreadable. Every
//! test run includes one of 120 of them, on the case files that detect the mutant.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use casebook::drive::{Cancel, Options};
use casebook::judge::Judge;
use casebook::load::{Here, Source, load, target};
use casebook::model::case::{Case, Library};
use casebook::model::target::Target;
use casebook::plan::{Selection, plan};
use casebook::proof::{self, Pace};
use casebook::report::proof::{Declared, Kill, unproved};
use casebook::run as conduct;
use libtest_mimic::{Failed, Trial};
use reference::UNBROKEN;
use tokio::runtime::Runtime;

use crate::{PROGRAM, veil};

/// The time limit of a step of a mutant with veiled messages. A mutant that hangs has sent all of its messages by then.
const BRISK: Duration = Duration::from_secs(5);

/// Without optimisation, one of this many mutants is veiled.
const STRIDE: usize = 120;

pub(crate) fn trials() -> Vec<Trial> {
    let library = Arc::new(load(&[Source::Embedded]).expect("the cases are sound"));
    let mut trials: Vec<_> = proof::contained()
        .map(|mutant| {
            let library = Arc::clone(&library);
            Trial::test(format!("mutants::{}::{}", mutant.role, mutant.name), move || examine(&library, &mutant))
                .with_ignored_flag(cfg!(debug_assertions))
        })
        .collect();
    for (index, mutant) in proof::contained().enumerate() {
        let library = Arc::clone(&library);
        let name = format!("mutants::veiled::{}::{}", mutant.role, mutant.name);
        let trial = Trial::test(name, move || no_verdict_improves(&library, &mutant, index == 0));
        trials.push(trial.with_ignored_flag(cfg!(debug_assertions) && index % STRIDE != 0));
    }
    trials.push(Trial::test("mutants::every_requirement_with_a_check_has_a_mutant", move || {
        every_requirement_has_a_mutant(&library)
    }));
    trials
}

fn every_requirement_has_a_mutant(library: &Library) -> Result<(), Failed> {
    let unproved = unproved(library, &proof::all(library), &UNBROKEN);
    if unproved.is_empty() { Ok(()) } else { Err(format!("no mutant violates {unproved:?}").into()) }
}

/// Runs a mutant, and repeats it with longer limits if the result differs: a busy machine can cause one wrong result.
fn examine(library: &Library, mutant: &Declared) -> Result<(), Failed> {
    let kill = run(library, mutant, Pace::Brisk)?;
    let kill = if kill.is_as_declared() { kill } else { run(library, mutant, Pace::Patient)? };
    if kill.is_as_declared() { Ok(()) } else { Err(kill.complaints().join("\n").into()) }
}

/// Runs the case files that detect a mutant, and judges its messages again after veiling them.
fn no_verdict_improves(library: &Library, mutant: &Declared, large: bool) -> Result<(), Failed> {
    let shows = |case: &&Case| {
        let mut checks = case.tests.iter().flat_map(|test| test.checks());
        checks.any(|check| mutant.breaks.iter().any(|id| id == check.requirement.as_str()))
    };
    let only = library.cases.iter().filter(shows).map(|case| case.id.to_string().parse().expect("a pattern"));
    let selection = Selection { only: only.collect(), role: Some(mutant.role), is_thin: true, ..Selection::default() };
    let target = target(library, mutant);
    let plan = Arc::new(plan(library, &[Arc::clone(&target)], &selection).map_err(|error| error.to_string())?);
    let tests: BTreeMap<_, _> = plan.tests().map(|(_, one)| (one.id.clone(), Arc::clone(&one.test))).collect();
    let mut seen = Vec::new();
    let keep = |one: conduct::Seen<'_>| {
        if let conduct::Seen::Judged(record, transcript) = one {
            let test = Arc::clone(&tests[&record.test]);
            seen.push(veil::Seen { test, transcript: transcript.clone() });
        }
    };
    let options = Options { step_limit: BRISK, ..options() };
    let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
    let judge = Judge::new(&library.requirements, [target.as_ref()]);
    let conducted = runtime()?.block_on(conduct::conduct(plan, judge, options, cancel, None, keep));
    conducted.broken.map_or(Ok(()), Err)?;
    let improved = veil::improved(library, &seen, large || !cfg!(debug_assertions));
    if improved.is_empty() { Ok(()) } else { Err(improved.join("\n").into()) }
}

fn run(library: &Library, mutant: &Declared, pace: Pace) -> Result<Kill, Failed> {
    let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
    let target = target(library, mutant);
    let kill =
        runtime()?.block_on(proof::examine(library, (mutant.clone(), target), None, (options(), pace), cancel))?;
    Ok(kill.expect("a run that is not cancelled"))
}

fn target(library: &Library, mutant: &Declared) -> Arc<Target> {
    let here = Here::new(Utf8Path::new(env!("CARGO_MANIFEST_DIR")));
    Arc::new(target::reference(Utf8Path::new(PROGRAM), &here, Some(&mutant.name), library))
}

fn options() -> Options {
    Options { program: Utf8Path::new(PROGRAM).to_owned(), ..Options::default() }
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
