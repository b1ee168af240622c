//! `casebook prove`: checks that every mutant of the reference violates the requirements it declares, and no others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use camino::Utf8Path;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::base::chosen::{targets, unknown_mutant};
use super::base::exit::Exit;
use super::base::problem::Problem;
use super::{ProofFormat, ProveArgs};
use crate::drive::{Cancel, Options};
use crate::load::{self, target};
use crate::model::Printable;
use crate::model::case::Library;
use crate::model::spec::Role;
use crate::proof::{self, Pace, ProofError};
use crate::report::proof::{Declared, Kill, Proof, unproved};
use crate::report::terminal::{Progress, print_line};
use reference::UNBROKEN;

/// The number of mutants at a time for each core. Mutants wait most of the time, above all those that hang.
const A_CORE: usize = 12;
/// The most mutants at a time.
const MOST: usize = 32;

/// The requirements that cases check and no mutant declares, by role.
type Undeclared = Arc<BTreeSet<(Role, String)>>;

pub(super) fn prove(args: &ProveArgs) -> Result<Exit, Problem> {
    let library = Arc::new(load::load(&args.cases.sources()?)?);
    if let Some(log) = &args.by_damage {
        return by_damage(&library, log.as_deref(), args.format);
    }
    let all = proof::all(&library);
    let is_selected = |one: &&Declared| args.only_mutants.as_ref().is_none_or(|only| only.matches_path(&one.name));
    let mut chosen: Vec<_> = all.iter().filter(is_selected).cloned().collect();
    if let (true, Some(pattern)) = (chosen.is_empty(), &args.only_mutants) {
        let names: Vec<_> = all.iter().map(|mutant| mutant.name.as_str()).collect();
        return Err(Problem::new(Exit::Usage, unknown_mutant(pattern.as_str(), &names)));
    }
    let undeclared = Arc::new(unproved(&library, &all, &UNBROKEN));
    let is_foreign = !args.cases.are_embedded();
    if is_foreign {
        let roles: BTreeSet<_> = library.cases.iter().map(|case| case.role).collect();
        chosen.retain(|mutant| roles.contains(&mutant.role));
    }
    if chosen.is_empty() {
        return Err(Problem::new(Exit::Nothing, "nothing to run: no case has the role of a selected mutant"));
    }
    // The mutants that casebook contains declare no requirement of other cases.
    let contained: Vec<_> = proof::contained().collect();
    let foreign = is_foreign.then(|| Arc::new(unproved(&library, &contained, &UNBROKEN)));
    let runtime = super::base::interrupt::runtime()?;
    let kills = runtime.block_on(async {
        let roles: BTreeSet<_> = chosen.iter().map(|mutant| mutant.role).filter(|_| is_foreign).collect();
        let sound: Vec<_> = roles.into_iter().map(proof::sound).collect();
        let Some(sound) = examine(args, &library, &sound, None).await? else { return Ok(None) };
        Ok::<_, Problem>(examine(args, &library, &chosen, foreign).await?.map(|kills| (kills, sound)))
    });
    let Some((kills, sound)) = kills? else { return Ok(Exit::Interrupted) };
    // A selection of mutants cannot show which requirements no mutant violates.
    let is_whole = args.only_mutants.is_none();
    let proof = if is_foreign {
        Proof::of_foreign(kills, &undeclared, is_whole).beside(&sound)
    } else {
        let unproved = if is_whole { Arc::unwrap_or_clone(undeclared) } else { BTreeSet::new() };
        Proof { mutants: kills, unproved, ..Proof::default() }
    };
    let proof = if is_whole && args.shard.is_none() { proof.with_checks(&library) } else { proof };
    print_line(&match args.format {
        ProofFormat::Text => Printable::from(proof.text()).trimmed(),
        ProofFormat::Md => Printable::from(proof.markdown()).trimmed(),
        ProofFormat::Json => json(&proof),
    });
    Ok(if proof.holds() { Exit::Fine } else { Exit::Unexpected })
}

/// Lists the checks of a run that no damage breaks.
fn by_damage(library: &Library, log: Option<&Utf8Path>, format: ProofFormat) -> Result<Exit, Problem> {
    let damages = if let Some(log) = log {
        proof::damage_log(library, log)?
    } else {
        let target = targets(&[target::REFERENCE.to_owned()], library)?.remove(0);
        let cancel = super::base::interrupt::listen();
        let run = proof::damage_run(library, target, Options::default(), cancel);
        let Some(damages) = super::base::interrupt::runtime()?.block_on(run)? else { return Ok(Exit::Interrupted) };
        damages
    };
    if damages.checks == 0 {
        let why = "nothing to damage: no check held in a test whose messages were recorded";
        return Err(Problem::new(Exit::Nothing, why));
    }
    print_line(&match format {
        ProofFormat::Text | ProofFormat::Md => Printable::from(damages.text()).trimmed(),
        ProofFormat::Json => json(&damages),
    });
    Ok(if damages.holds() { Exit::Fine } else { Exit::Unexpected })
}

fn json(proof: &impl Serialize) -> Printable {
    Printable::json(&serde_json::to_string_pretty(proof).expect("a proof has only string keys"))
}

/// Returns the mutants of one role by the requirements that they violate.
pub(super) fn breakers(library: &Library, role: Role) -> BTreeMap<String, Vec<String>> {
    let mut breakers: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for mutant in proof::all(library).into_iter().filter(|mutant| mutant.role == role) {
        mutant.breaks.into_iter().for_each(|id| breakers.entry(id).or_default().push(mutant.name.clone()));
    }
    breakers
}

/// Runs many mutants at a time. Runs those with unexpected results again, each alone and with the usual time limits, so
/// that a busy machine does not cause wrong results. Returns `None` if the user stopped the command.
async fn examine(
    args: &ProveArgs,
    library: &Arc<Library>,
    chosen: &[Declared],
    foreign: Option<Undeclared>,
) -> Result<Option<Vec<Kill>>, Problem> {
    let cancel = super::base::interrupt::listen();
    let examined = |mutant, pace| one(args, Arc::clone(library), mutant, foreign.clone(), pace, cancel.clone());
    let Some(mut kills) = together(args, chosen, examined).await? else { return Ok(None) };
    let in_doubt = |kill: &Kill| !kill.is_as_declared() && kill.tests > 0;
    for (kill, mutant) in kills.iter_mut().zip(chosen).filter(|(kill, _)| in_doubt(kill)) {
        let Some(again) = examined(mutant.clone(), Pace::Patient)?.await? else {
            return Ok(None);
        };
        *kill = again;
    }
    Ok(Some(kills))
}

/// Runs many mutants at a time, and returns the results in order.
async fn together<F>(
    args: &ProveArgs,
    chosen: &[Declared],
    examined: impl Fn(Declared, Pace) -> Result<F, Problem>,
) -> Result<Option<Vec<Kill>>, Problem>
where
    F: Future<Output = Result<Option<Kill>, ProofError>> + Send + 'static,
{
    let jobs = args.jobs.map_or_else(at_a_time, NonZeroUsize::get);
    let progress = Progress::new(chosen.len());
    let mut kills: Vec<Option<Kill>> = vec![None; chosen.len()];
    let mut order: Vec<_> = chosen.iter().enumerate().collect();
    // The slowest mutants are among those that violate the most. Started last, they would run alone at the end.
    order.sort_by_key(|(_, mutant)| Reverse(mutant.breaks.len()));
    let (mut waiting, mut running) = (order.into_iter(), JoinSet::new());
    loop {
        while running.len() < jobs
            && let Some((place, mutant)) = waiting.next()
        {
            let examined = examined(mutant.clone(), Pace::Brisk)?;
            running.spawn(async move { (place, examined.await) });
        }
        let Some(done) = running.join_next().await else { break };
        let (place, kill) = done.unwrap_or_else(|bug| std::panic::resume_unwind(bug.into_panic()));
        let Some(kill) = kill? else {
            // The request to stop reaches the other mutants too; wait until they have cleaned up.
            while running.join_next().await.is_some() {}
            progress.finish();
            return Ok(None);
        };
        progress.on(&kill.mutant);
        kills[place] = Some(kill);
    }
    progress.finish();
    Ok(kills.into_iter().collect())
}

fn at_a_time() -> usize {
    available_parallelism().map_or(1, NonZeroUsize::get).saturating_mul(A_CORE).min(MOST)
}

/// Returns the examination of one mutant, which begins when it is awaited. A mutant may violate `foreign` requirements
/// without a declaration.
fn one(
    args: &ProveArgs,
    library: Arc<Library>,
    mutant: Declared,
    foreign: Option<Undeclared>,
    pace: Pace,
    cancel: watch::Receiver<Cancel>,
) -> Result<impl Future<Output = Result<Option<Kill>, ProofError>> + Send + use<>, Problem> {
    let variant = if mutant.name.is_empty() { String::new() } else { format!(":{}", mutant.name) };
    let target = targets(&[format!("{}{variant}", target::REFERENCE)], &library)?.remove(0);
    let (role, is_of_cases) = (mutant.role, mutant.is_of_cases);
    let (shard, options) = (args.shard, (Options::default(), pace));
    Ok(async move {
        let kill = proof::examine(&library, (mutant, target), shard, options, cancel).await?;
        Ok(kill.map(|mut kill| {
            if let Some(foreign) = foreign.filter(|_| !is_of_cases) {
                kill.undeclared.retain(|id| !foreign.contains(&(role, id.clone())));
            }
            kill
        }))
    })
}
