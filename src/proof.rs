//! The proof of one mutant: runs the tests of its role, and compares the violations with its declaration.
//!
//! Takes cases and a mutant, gives a [`Kill`]. Must not know how a proof is shown.

mod by_damage;
mod damage;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

pub use by_damage::{damage_log, damage_run};
use reference::{About, mutants};
use tokio::sync::watch;

use crate::drive::{Cancel, Options};
use crate::judge::Judge;
use crate::model::case::Library;
use crate::model::implied::is_implied;
use crate::model::target::Target;
use crate::model::transcript::StdioMode;
use crate::model::{RequirementId, Shard};
use crate::plan::{PlanError, Selection, plan};
use crate::report::proof::{Declared, Kill, Trace, checked};
use crate::run::{RunError, Seen, conduct};

/// The limit of a step while many mutants run. The reference gives up by itself within two seconds, so a longer step
/// hangs. The caller runs doubtful mutants again with [`Pace::Patient`].
const BRISK: Duration = Duration::from_secs(5);

/// The limits of a mutant's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Short limits, which still let every step of a working mutant end.
    Brisk,
    /// The limits of any other target.
    Patient,
}

/// The reason why there are no results to compare.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// Nothing could be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The run cannot continue.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The declarations of all mutants.
pub fn all() -> impl Iterator<Item = Declared<'static>> {
    mutants().map(|about| {
        let About { name, role, does, breaks, keeps } = *about;
        Declared { name, role: role.parse().expect("a mutant's role is a role"), does, breaks, keeps }
    })
}

/// Runs the tests of a mutant's role against `target`, which is the mutant, on one process at a time. `None` if the run
/// was stopped. A declared requirement that no case of the library checks is not missed. With a shard, those tests that
/// ask about a declared requirement run, and the shard of the others.
///
/// # Errors
/// [`ProofError`] if nothing could be run. Failures of the mutant are part of the result.
pub async fn examine(
    library: &Library,
    (mutant, target): (Declared<'_>, Arc<Target>),
    shard: Option<Shard>,
    options: (Options, Pace),
    cancel: watch::Receiver<Cancel>,
) -> Result<Option<Kill>, ProofError> {
    let selection = Selection {
        role: Some(mutant.role),
        shard,
        in_each_shard: library.requirements.keys().filter(|id| mutant.breaks.contains(&id.as_str())).cloned().collect(),
        stdio: Some(StdioMode::Stream),
        is_thin: true,
        ..Selection::default()
    };
    let plan = match plan(library, &[Arc::clone(&target)], &selection) {
        Ok(plan) => Arc::new(plan),
        Err(PlanError::Nothing { .. }) => return Ok(Some(Trace::of(mutant).kill())),
        Err(error) => return Err(error.into()),
    };
    let (options, pace) = options;
    let options = Options {
        jobs: NonZeroUsize::MIN,
        // A mutant with an unexpected result is examined again as a whole.
        repetitions: 0,
        step_limit: if pace == Pace::Brisk { BRISK.min(options.step_limit) } else { options.step_limit },
        ..options
    };
    let judge = Judge::new(&library.requirements, [target.as_ref()]);
    let mut trace = Trace::of(mutant);
    let see = |seen: Seen<'_>| {
        if let Seen::Judged(record, _) = seen {
            trace.add(record);
        }
    };
    let conducted = conduct(plan, judge, options, cancel, None, see).await;
    if let Some(error) = conducted.broken {
        return Err(error.into());
    }
    Ok((!conducted.footer.interrupted).then(|| {
        let mut kill = trace.kill();
        // What is checked in every test may be violated in those of other shards.
        let is_here = |id: &RequirementId| shard.is_none() || !is_implied(id);
        kill.missed.retain(|id| {
            checked(library).any(|(role, one)| role == mutant.role && one.as_str() == id.as_str() && is_here(one))
        });
        kill
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::load::{Source, load};

    /// Mutants that break nothing: a target may behave as the first three do, no case detects the next one yet, and only
    /// fixed servers are asked about the last two.
    const UNDETECTED: [&str; 6] = [
        "defaults-ignored",
        "older-values-as-text",
        "older-values-wrapped",
        "numbers-as-floats",
        "marks-not-checked",
        "names-not-checked",
    ];

    #[test]
    fn mutants_break_requirements_that_cases_check_in_their_role() {
        let library = load(&[Source::Embedded]).expect("the embedded cases are sound");
        let checked: BTreeSet<_> = checked(&library).map(|(role, id)| (role, id.as_str())).collect();
        for mutant in all() {
            let breaks: BTreeSet<_> = mutant.breaks.iter().collect();
            assert!(mutant.breaks.is_sorted() && breaks.len() == mutant.breaks.len(), "{}", mutant.name);
            for id in mutant.breaks {
                let one = library.requirements.values().find(|one| one.id.as_str() == *id);
                let one = one.unwrap_or_else(|| panic!("{} breaks {id}, which is in no catalogue", mutant.name));
                assert!(one.roles.contains(&mutant.role), "{id} binds no {}", mutant.role);
                assert!(checked.contains(&(mutant.role, *id)), "no case checks {id}, which {} violates", mutant.name);
            }
            assert_eq!(mutant.breaks.is_empty(), UNDETECTED.contains(&mutant.name), "{}", mutant.name);
        }
    }
}
