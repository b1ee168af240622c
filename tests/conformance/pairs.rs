//! Mutants in pairs: each mutant with the reference on the other side, which is sound. No verdict may blame the sound side.
//!
//! The trials `mutants::paired::…` connect the sides over HTTP, and those of `mutants::paired::stdio::…` over stdio. Without
//! optimisation they take minutes, so that every test run includes each sixteenth of them, and each eightieth over stdio.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use casebook::drive::{Cancel, Options};
use casebook::judge::Judge;
use casebook::load::{Here, Source, load, target};
use casebook::model::case::Library;
use casebook::model::spec::{Role, Transport};
use casebook::model::target::TargetKind;
use casebook::model::target::TargetPair;
use casebook::model::verdict::VerdictKind;
use casebook::plan::{Selection, plan};
use casebook::proof;
use casebook::report::proof::Declared;
use casebook::run as conduct;
use libtest_mimic::{Failed, Trial};

use crate::PROGRAM;

/// The time limit of a step. The sound side answers in milliseconds, and some mutants hang.
const BRISK: Duration = Duration::from_secs(5);

/// The transports, with the name of their trials. Without optimisation, one of this many mutants is tested.
const OVER: [(Transport, &str, usize); 2] =
    [(Transport::Http, "mutants::paired", 16), (Transport::Stdio, "mutants::paired::stdio", 80)];

pub(crate) fn trials() -> Vec<Trial> {
    let library = Arc::new(load(&[Source::Embedded]).expect("the cases are sound"));
    let mut trials = Vec::new();
    for (transport, name, stride) in OVER {
        for (index, mutant) in proof::contained().enumerate() {
            let library = Arc::clone(&library);
            let name = format!("{name}::{}::{}", mutant.role, mutant.name);
            let trial = Trial::test(name, move || sound_side_is_not_blamed(&library, &mutant, transport));
            trials.push(trial.with_ignored_flag(cfg!(debug_assertions) && index % stride != 0));
        }
    }
    trials
}

/// Connects a mutant with the reference, and checks the side of each loss.
fn sound_side_is_not_blamed(library: &Library, mutant: &Declared, transport: Transport) -> Result<(), Failed> {
    let here = Here::new(Utf8Path::new(env!("CARGO_MANIFEST_DIR")));
    let target = |mutant| Arc::new(target::reference(Utf8Path::new(PROGRAM), &here, mutant, library));
    let (sound, unsound) = (target(None), target(Some(&mutant.name)));
    let (pair, sound_role) = match mutant.role {
        Role::Client => (TargetPair { client: unsound, server: sound }, Role::Server),
        _ => (TargetPair { client: sound, server: unsound }, Role::Client),
    };
    // Two, as in `casebook pair`. The reference refuses fixtures with features that the oldest revision lacks.
    let mut revisions = pair.revisions();
    revisions.truncate(2);
    let pair = Arc::new(pair.target(revisions));
    let TargetKind::Pair(sides) = &pair.drives else { return Err("the target is no pair".into()) };
    let selection = Selection { transport: vec![transport], ..Selection::default() };
    let plan = Arc::new(plan(library, &[Arc::clone(&pair)], &selection).map_err(|error| error.to_string())?);
    let judge = Judge::new(&library.requirements, [&*sides.client, &*sides.server]);
    let options = Options {
        program: Utf8Path::new(PROGRAM).to_owned(),
        jobs: NonZeroUsize::MIN,
        step_limit: BRISK,
        ..Options::default()
    };
    let (mut tested, mut blamed) = (0, Vec::new());
    let keep = |one: conduct::Seen<'_>| {
        let conduct::Seen::Judged(record, _) = one else { return };
        for verdict in &record.verdicts {
            tested += 1;
            if matches!(verdict.kind, VerdictKind::Fail | VerdictKind::Warn | VerdictKind::Note) {
                match verdict.attribution.as_deref() {
                    Some(attribution) if attribution.side != Some(sound_role) => {}
                    attribution => blamed.push(format!("{} {}: {attribution:?}", record.test, verdict.requirement)),
                }
            }
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
    let conducted = runtime.block_on(conduct::conduct(plan, judge, options, cancel, None, keep));
    conducted.broken.map_or(Ok(()), Err)?;
    match (tested, blamed.as_slice()) {
        (0, _) => Err("nothing was tested".into()),
        (_, []) => Ok(()),
        (_, blamed) => Err(format!("the {sound_role} is sound, and is blamed:\n{}", blamed.join("\n")).into()),
    }
}
