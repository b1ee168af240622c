//! The proof by damage: judges what was recorded again and again, each time with one damage in it, and finds the checks that
//! hold all the same; and the checks that break although the target only says the same in another way.
//!
//! Takes a library and the recordings of a run, gives [`Damages`]. Must not know how messages are damaged, nor how the result
//! is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use camino::Utf8Path;
use tokio::sync::watch;

use super::ProofError;
use super::damage::{self, DamageKind};
use crate::drive::{Cancel, Options};
use crate::judge::{Judge, observe};
use crate::model::case::{Library, Test};
use crate::model::observation::Observation;
use crate::model::record::Verdict;
use crate::model::schema::SharedSchema;
use crate::model::spec::Level;
use crate::model::target::Target;
use crate::model::transcript::{StdioMode, Transcript};
use crate::model::verdict::{Meaning, VerdictKind};
use crate::model::{RequirementId, TargetId, TestId};
use crate::plan::{Selection, plan};
use crate::report::damages::{Brittle, CheckOfTest, Damages};
use crate::run::{LogError, RunLog, Seen, conduct, hash, read_log, read_wire};

/// The most recordings of the same file that take the place of one.
const OTHERS: usize = 40;
/// The most recordings of a check. A check that the first does not break may need another row, revision or target.
const TRIES: usize = 3;

/// The recordings of a run.
struct Recordings<'l> {
    library: &'l Library,
    judge: Judge,
    kept: Vec<Recorded>,
    /// The number of recordings of each check that held.
    tries: BTreeMap<CheckOfTest, usize>,
}

/// A test that ran, with the checks that held.
struct Recorded {
    target: TargetId,
    test: Arc<Test>,
    id: TestId,
    held: Held,
    transcript: Transcript,
}

/// The checks of a test that held, and the judge as it was before.
struct Held {
    checks: Vec<(usize, RequirementId)>,
    judge: Judge,
}

impl Recorded {
    fn check(&self, (step, requirement): &(usize, RequirementId)) -> CheckOfTest {
        CheckOfTest { test: self.id.path(), step: *step, requirement: requirement.clone() }
    }
}

/// Runs the tests of a target once, and judges its recordings with one damage at a time. `None` if the run was stopped.
///
/// # Errors
/// [`ProofError`] if nothing could be run.
pub async fn damage_run(
    library: &Library,
    target: Arc<Target>,
    options: Options,
    cancel: watch::Receiver<Cancel>,
) -> Result<Option<Damages>, ProofError> {
    let selection = Selection { stdio: Some(StdioMode::Stream), is_thin: true, ..Selection::default() };
    let plan = Arc::new(plan(library, &[Arc::clone(&target)], &selection)?);
    let tests: BTreeMap<TestId, Arc<Test>> =
        plan.tests().map(|(_, planned)| (planned.id.clone(), Arc::clone(&planned.test))).collect();
    let judge = Judge::new(&library.requirements, [target.as_ref()]);
    let mut recordings = Recordings::new(library, judge.clone());
    let see = |seen: Seen<'_>| {
        if let Seen::Judged(record, transcript) = seen {
            let (test, seen) = (&tests[&record.test], &record.observation);
            let held = recordings.held(&record.target, test, &record.test, seen);
            if let Some(held) = held {
                recordings.keep(test, held, transcript.clone());
            }
        }
    };
    let conducted = conduct(plan, judge, options, cancel.clone(), None, see).await;
    match conducted.broken {
        Some(error) => Err(error.into()),
        None if conducted.footer.interrupted => Ok(None),
        None => Ok(recordings.damages(&|| *cancel.borrow() != Cancel::Go)),
    }
}

/// Judges a recorded run again, with one damage at a time. Tests that have changed since are left out.
///
/// # Errors
/// [`LogError`] if a file cannot be read.
pub fn damage_log(library: &Library, log: &Utf8Path) -> Result<Damages, LogError> {
    let RunLog { records, .. } = read_log(log)?;
    let tests: BTreeMap<_, _> =
        library.cases.iter().flat_map(|case| &case.tests).map(|test| (test.path(), test)).collect();
    let mut recordings = Recordings::new(library, Judge::new(&library.requirements, []));
    let mut wanted = BTreeMap::new();
    for record in records {
        let Some(test) = tests.get(&record.test.path()).filter(|test| hash(test) == record.hash) else { continue };
        if let Some(held) = recordings.held(&record.target, test, &record.test, &record.observation) {
            wanted.insert((record.target, record.test), (*test, held));
        }
    }
    for transcript in read_wire(log)? {
        let transcript = transcript?;
        if let Some((test, held)) = wanted.remove(&(transcript.target.clone(), transcript.test.clone())) {
            recordings.keep(test, held, transcript);
        }
    }
    Ok(recordings.damages(&|| false).unwrap_or_default())
}

impl<'l> Recordings<'l> {
    fn new(library: &'l Library, judge: Judge) -> Self {
        Self { library, judge, kept: Vec::new(), tries: BTreeMap::new() }
    }

    /// Judges a test. Returns its own checks that held; `None` if each of them has enough recordings.
    fn held(&mut self, target: &TargetId, test: &Test, id: &TestId, observation: &Observation) -> Option<Held> {
        let judge = self.judge.about(target, id);
        let verdicts = self.judge.judge(target, test, id, observation);
        let checks = held(test, &verdicts);
        let mut is_wanted = false;
        for (step, requirement) in checks.iter().filter(|_| observation.cut == 0) {
            let check = CheckOfTest { test: id.path(), step: *step, requirement: requirement.clone() };
            let tries = self.tries.entry(check).or_default();
            is_wanted |= *tries < TRIES;
            *tries += 1;
        }
        is_wanted.then_some(Held { checks, judge })
    }

    fn keep(&mut self, test: &Arc<Test>, held: Held, transcript: Transcript) {
        if transcript.process.is_none() {
            let (target, id) = (transcript.target.clone(), transcript.test.clone());
            self.kept.push(Recorded { target, test: Arc::clone(test), id, held, transcript });
        }
    }

    /// Damages all recordings, on all cores; `None` if it is to stop.
    fn damages(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> Option<Damages> {
        let mut of_file: BTreeMap<_, Vec<&Recorded>> = BTreeMap::new();
        let file = |one: &Recorded| (one.target.clone(), one.id.case.clone(), one.id.revision, one.id.transport);
        for one in &self.kept {
            of_file.entry(file(one)).or_default().push(one);
        }
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Found::default()));
        std::thread::scope(|scope| {
            for _ in 0..available_parallelism().map_or(1, Into::into) {
                scope.spawn(|| {
                    while !is_stopped()
                        && let Some(one) = self.kept.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        damage(one, &of_file[&file(one)], &found);
                    }
                });
            }
        });
        let Found { checks, brittle } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let with = |wanted: Option<DamageKind>| {
            checks.iter().filter(|(_, kind)| **kind == wanted).map(|(check, _)| check.clone()).collect()
        };
        let (vacuous, without_result_only) = (with(None), with(Some(DamageKind::NoResult)));
        let not_held = not_held(self.library, &checks);
        (!is_stopped()).then_some(Damages { checks: checks.len(), vacuous, brittle, without_result_only, not_held })
    }
}

/// The checks of the library that are not among these, each once for all rows.
fn not_held(library: &Library, checks: &BTreeMap<CheckOfTest, Option<DamageKind>>) -> BTreeSet<CheckOfTest> {
    let (mut all, mut held) = (BTreeSet::new(), BTreeSet::new());
    let tests = library.cases.iter().flat_map(|case| &case.tests);
    for (test, (step, then)) in tests.flat_map(|test| test.steps.iter().enumerate().map(move |step| (test, step))) {
        for requirement in then.then.checks().iter().map(|check| &check.requirement) {
            let of = |test: String| CheckOfTest { test, step, requirement: requirement.clone() };
            let name = of(format!("{}/{}", test.case, test.id));
            if checks.contains_key(&of(test.path())) {
                held.insert(name);
            } else if library.requirements.get(requirement).is_some_and(|one| one.level != Level::May) {
                all.insert(name);
            }
        }
    }
    all.difference(&held).cloned().collect()
}

/// Damages one recording until each check is broken that no other one broke, and says the same in other ways.
fn damage(one: &Recorded, of_file: &[&Recorded], found: &Mutex<Found>) {
    let verdicts = |transcript: &Transcript| {
        one.held.judge.verdicts(&one.target, &one.test, &one.id, &observe(&one.test, transcript))
    };
    let breaks = |verdicts: &[Verdict], (step, requirement): &(usize, RequirementId)| {
        let own = verdicts.iter().filter(|one| one.step == *step && one.requirement == *requirement);
        own.into_iter().any(|verdict| verdict.kind.is_broken())
    };
    // A run log cuts long messages, and what is left of them is another recording.
    let still = held(&one.test, &verdicts(&one.transcript));
    let mut open: Vec<_> = one.held.checks.iter().map(|held| (held, one.check(held), None)).collect();
    open.retain(|(held, check, _)| {
        let is_done = locked(found).checks.get(check).copied().flatten() == Some(DamageKind::Change);
        !is_done && still.contains(held)
    });
    for (what, way) in damage::ways(&one.transcript).filter(|_| !open.is_empty()) {
        let verdicts = verdicts(&way);
        let held = open.iter().filter(|(held, ..)| breaks(&verdicts, held));
        locked(found).brittle.extend(held.map(|(_, check, _)| Brittle { check: check.clone(), by: what.to_owned() }));
    }
    if !open.is_empty() {
        let others = of_file.iter().filter(|other| other.id != one.id).map(|other| &other.transcript);
        let _ =
            damage::each(&one.test, &one.transcript, &others.take(OTHERS).collect::<Vec<_>>(), &mut |kind, damaged| {
                let verdicts = verdicts(damaged);
                let can_show =
                    |held: &(usize, RequirementId)| kind == DamageKind::Change || demands_a_result(&one.test, held);
                for (held, _, by) in open.iter_mut().filter(|(held, _, by)| by.is_none() && can_show(held)) {
                    *by = breaks(&verdicts, held).then_some(kind);
                }
                if open.iter().all(|(_, _, by)| by.is_some()) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
    }
    let mut found = locked(found);
    for (_, check, by) in open {
        let before = found.checks.entry(check).or_insert(by);
        *before = [*before, by].into_iter().flatten().min();
    }
}

/// Returns the test's own checks that held.
fn held(test: &Test, verdicts: &[Verdict]) -> Vec<(usize, RequirementId)> {
    // What is checked in every test is no check of this one.
    let is_own = |one: &&Verdict| {
        let step = test.steps.get(one.step).map(|step| step.then.checks());
        step.is_some_and(|checks| checks.iter().any(|check| check.requirement == one.requirement))
    };
    let is_held = |one: &&Verdict| {
        one.kind.meaning() == Meaning::Holds && one.kind != VerdictKind::Allowed && one.level != Level::May
    };
    verdicts.iter().filter(|one| is_held(one) && is_own(one)).map(|one| (one.step, one.requirement.clone())).collect()
}

/// Returns whether a check is about the result of its step as such, and not only about a part of it.
fn demands_a_result(test: &Test, (step, requirement): &(usize, RequirementId)) -> bool {
    let checks = test.steps[*step].then.checks().iter().filter(|check| check.requirement == *requirement);
    checks.flat_map(|check| &check.alternatives).any(|one| {
        let is_in = |schema: &SharedSchema| schema.mentions(r#""outcome""#);
        !one.outcome.is_empty() || one.took.is_some() || one.matches.as_ref().is_some_and(is_in)
    })
}

/// What damages have shown so far.
#[derive(Default)]
struct Found {
    /// The first kind of damage that broke each check; `None` if none did.
    checks: BTreeMap<CheckOfTest, Option<DamageKind>>,
    brittle: BTreeSet<Brittle>,
}

fn locked(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}
