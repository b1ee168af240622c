//! Judging by messages alone, as `casebook serve --case` does, compared with the whole judge: the reference is accused of
//! nothing, and a mutant only of requirements that the whole judge finds violated.
//!
//! Without optimisation only a sample runs; `cargo test --test conformance -- --include-ignored any_client` runs all.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8Path;
use casebook::drive::{Cancel, Options};
use casebook::judge::{Judge, unscripted};
use casebook::load::{Here, Source, load, target};
use casebook::model::case::{Case, Library, Test};
use casebook::model::encounter::Encounter;
use casebook::model::record::{Record, Verdict};
use casebook::model::spec::Role;
use casebook::model::transcript::Transcript;
use casebook::model::verdict::VerdictKind;
use casebook::model::{CaseId, TestId};
use casebook::plan::{Selection, plan};
use casebook::proof;
use casebook::run as conduct;
use libtest_mimic::{Failed, Trial};

use crate::PROGRAM;

/// Without optimisation, one of this many mutants, and one of this many case files of the reference.
const STRIDES: (usize, usize) = (80, 8);
/// Mutants that the messages alone must reveal, each with a requirement. The server refuses the calls of the first for a
/// missing header, so that many other checks fail too.
const CAUGHT: [(&str, &str); 2] =
    [("name-header-missing", "http/name-header-sent"), ("session-header-missing", "lifecycle/session-id-sent")];

/// The work of a trial.
type Examination = Box<dyn FnOnce(&Library) -> Result<(), Failed> + Send>;

/// The requirements that a judge finds violated.
type Accused = BTreeSet<String>;

/// A conversation, the tests of its fixture, and the findings of the whole judge.
struct Met {
    record: Record,
    transcript: Transcript,
}

/// Mutants whose requests the server refuses at once. In one conversation of several tests, a later request is then taken
/// for one of another step, and accuses the mutant of a sentence beside its own.
const MISTAKEN: [&str; 5] =
    ["meta-missing", "method-header-missing", "state-dropped", "version-header-missing", "version-header-outdated"];

pub(crate) fn trials() -> Vec<Trial> {
    let library = Arc::new(load(&[Source::Embedded]).expect("the cases are sound"));
    let of = |name: &str, is_sample: bool, run: Examination| {
        let library = Arc::clone(&library);
        Trial::test(format!("any_client::{name}"), move || run(&library))
            .with_ignored_flag(cfg!(debug_assertions) && !is_sample)
    };
    let mut trials = vec![
        of("reference::sample", true, Box::new(|library| reference_is_accused_of_nothing(library, STRIDES.1))),
        of("reference::all", false, Box::new(|library| reference_is_accused_of_nothing(library, 1))),
    ];
    for (index, mutant) in proof::contained().filter(|mutant| mutant.role == Role::Client).enumerate() {
        let is_sample = index % STRIDES.0 == 0 || CAUGHT.iter().any(|(name, _)| *name == mutant.name);
        let name = format!("mutants::{}", mutant.name);
        let run =
            move |library: &Library| accuses_only_where_the_whole_judge_does(library, &mutant.name, &mutant.breaks);
        trials.push(of(&name, is_sample, Box::new(run)));
    }
    trials
}

/// Judges each conversation of the reference with one of `stride` case files.
fn reference_is_accused_of_nothing(library: &Library, stride: usize) -> Result<(), Failed> {
    let cases = library.cases.iter().filter(|case| case.role == Role::Client).step_by(stride);
    let met = meet(library, None, cases.map(|case| case.id.clone()))?;
    let (accused, held) = by_messages(library, &met);
    // A quarter of the client's requirements can be decided by its messages in a run of all cases.
    if !accused.is_empty() || held.len() * stride < 50 {
        return Err(format!("accused of {accused:?}; {} requirements hold: {held:?}", held.len()).into());
    }
    Ok(())
}

fn accuses_only_where_the_whole_judge_does(library: &Library, name: &str, breaks: &[String]) -> Result<(), Failed> {
    let shows = |case: &&Case| {
        let mut checks = case.tests.iter().flat_map(|test| test.checks());
        let is_other = case.id.as_str() == "tools/client-header-values" || case.id.as_str() == "base/client-ids";
        case.role == Role::Client
            && (is_other || checks.any(|check| breaks.iter().any(|id| id == check.requirement.as_str())))
    };
    let met = meet(library, Some(name), library.cases.iter().filter(shows).map(|case| case.id.clone()))?;
    // Here the whole judge sees a part of the tests; with all of them it finds what the mutant declares.
    let declared = breaks.iter().cloned();
    let whole: Accused = met.iter().flat_map(|one| accused(&one.record.verdicts)).chain(declared).collect();
    let (accused, _) = by_messages(library, &met);
    let others: Vec<_> = accused.difference(&whole).collect();
    if MISTAKEN.contains(&name) {
        return if others.is_empty() { Err(format!("remove {name} from the list").into()) } else { Ok(()) };
    }
    if !others.is_empty() {
        return Err(format!("accused of {others:?}; the whole judge finds {whole:?}").into());
    }
    let own = CAUGHT.iter().find(|(caught, _)| *caught == name).map(|(_, requirement)| *requirement);
    match own.filter(|own| !accused.contains(*own)) {
        Some(own) => Err(format!("not accused of {own}, but of {accused:?}").into()),
        None => Ok(()),
    }
}

/// Runs case files with the reference or a mutant of it.
fn meet(library: &Library, mutant: Option<&str>, cases: impl Iterator<Item = CaseId>) -> Result<Vec<Met>, Failed> {
    let here = Here::new(Utf8Path::new(env!("CARGO_MANIFEST_DIR")));
    let target = Arc::new(target::reference(Utf8Path::new(PROGRAM), &here, mutant, library));
    let only = cases.map(|case| case.to_string().parse().expect("a pattern")).collect();
    let selection = Selection { only, role: Some(Role::Client), is_thin: true, ..Selection::default() };
    let plan = plan(library, &[Arc::clone(&target)], &selection).map_err(|error| error.to_string())?;
    let mut met = Vec::new();
    let keep = |one: conduct::Seen<'_>| {
        if let conduct::Seen::Judged(record, transcript) = one {
            met.push(Met { record: record.clone(), transcript: transcript.clone() });
        }
    };
    let options = Options { program: Utf8Path::new(PROGRAM).to_owned(), ..Options::default() };
    let (_never, cancel) = tokio::sync::watch::channel(Cancel::Go);
    let judge = Judge::new(&library.requirements, [target.as_ref()]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let conducted = runtime.block_on(conduct::conduct(Arc::new(plan), judge, options, cancel, None, keep));
    conducted.broken.map_or(Ok(()), Err)?;
    Ok(met)
}

/// Judges each conversation by its messages, once alone, and once after all others with the same fixture.
fn by_messages(library: &Library, met: &[Met]) -> (Accused, Accused) {
    let tests: BTreeMap<String, &Arc<Test>> =
        library.cases.iter().flat_map(|case| &case.tests).map(|test| (test.path(), test)).collect();
    let of_case = |id: &TestId| -> Vec<(TestId, Arc<Test>)> {
        let own = tests.values().filter(|test| test.case == id.case && test.revisions.contains(id.revision));
        let id_of = |test: &Test| TestId { test: test.id.clone(), row: test.row.clone(), ..id.clone() };
        own.map(|test| (id_of(test), Arc::clone(test))).collect()
    };
    let (mut accused, mut held) = (Accused::new(), Accused::new());
    let mut joined: BTreeMap<(String, String), Encounter> = BTreeMap::new();
    for Met { record, transcript } in met {
        let (id, test) = (&record.test, tests[record.test.path().as_str()]);
        let encounter = Encounter {
            messages: transcript.steps.iter().flat_map(|step| step.messages.clone()).collect(),
            hits: transcript.canary.clone(),
            bindings: transcript.bindings.clone(),
            offered: vec![test.given.revision.unwrap_or(id.revision)],
            led: None,
        };
        let fixture = test.given.template().render(&transcript.bindings);
        // The template has the tools alone, and a server that deviates otherwise is another one.
        let deviations = format!("{:?}", test.given.deviations);
        let key = (format!("{}@{}+{} {deviations}", id.case, id.revision, id.transport), fixture);
        let all = joined.entry(key).or_insert_with(|| Encounter { messages: Vec::new(), ..encounter.clone() });
        all.messages.extend(encounter.messages.iter().cloned());
        all.hits.extend(encounter.hits.iter().cloned());
        for one in [&encounter, all] {
            for (record, _) in unscripted(&library.requirements, &of_case(id), &test.given, one) {
                accused.extend(self::accused(&record.verdicts));
                let holds = record.verdicts.iter().filter(|verdict| verdict.kind == VerdictKind::Pass);
                held.extend(holds.map(|verdict| verdict.requirement.to_string()));
            }
        }
    }
    (accused, held)
}

fn accused(verdicts: &[Verdict]) -> impl Iterator<Item = String> {
    let fails = |verdict: &&Verdict| {
        let kind = verdict.excuses.unwrap_or(verdict.kind);
        matches!(kind, VerdictKind::Fail | VerdictKind::Warn | VerdictKind::Note)
    };
    verdicts.iter().filter(fails).map(|verdict| verdict.requirement.to_string())
}
