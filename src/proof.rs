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
use crate::model::spec::Role;
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

/// The declarations of the mutants that casebook contains.
pub fn contained() -> impl Iterator<Item = Declared> {
    mutants().map(|about| {
        let About { name, role, does, breaks, keeps } = *about;
        let role = role.parse().expect("a mutant's role is a role");
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
        let (name, does) = (name.to_owned(), does.to_owned());
        Declared { name, role, does, breaks: owned(breaks), keeps: keeps.map(owned), is_of_cases: false }
    })
}

/// The declaration of the reference without a defect, in a role.
pub fn sound(role: Role) -> Declared {
    let (name, does) = (String::new(), "Nothing.".to_owned());
    Declared { name, role, does, breaks: Vec::new(), keeps: None, is_of_cases: false }
}

/// The declarations of all mutants: those that casebook contains, and those of the cases.
pub fn all(library: &Library) -> Vec<Declared> {
    let of_cases = library.mutants.iter().map(|mutant| Declared {
        name: mutant.name.clone(),
        role: mutant.role,
        does: mutant.does.clone(),
        breaks: mutant.breaks.iter().map(ToString::to_string).collect(),
        keeps: None,
        is_of_cases: true,
    });
    contained().chain(of_cases).collect()
}

/// Runs the tests of a mutant's role against `target`, which is the mutant, on one process at a time. `None` if the run
/// was stopped. A declared requirement that no case of the library checks is not missed. With a shard, those tests that
/// ask about a declared requirement run, and the shard of the others.
///
/// # Errors
/// [`ProofError`] if nothing could be run. Failures of the mutant are part of the result.
pub async fn examine(
    library: &Library,
    (mutant, target): (Declared, Arc<Target>),
    shard: Option<Shard>,
    options: (Options, Pace),
    cancel: watch::Receiver<Cancel>,
) -> Result<Option<Kill>, ProofError> {
    let declares = |id: &RequirementId| mutant.breaks.iter().any(|one| one == id.as_str());
    let role = mutant.role;
    let selection = Selection {
        role: Some(role),
        shard,
        in_each_shard: library.requirements.keys().filter(|id| declares(id)).cloned().collect(),
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
        kill.missed
            .retain(|id| checked(library).any(|(of, one)| of == role && one.as_str() == id.as_str() && is_here(one)));
        kill
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::load::{Source, load};
    use crate::model::implied::is_implied;

    /// Mutants that break nothing: a target may behave as the first three do, no case detects the next one yet, and only
    /// fixed servers are asked about the last two.
    const UNDETECTED: [&str; 5] =
        ["defaults-ignored", "older-values-as-text", "older-values-wrapped", "marks-not-checked", "names-not-checked"];

    #[test]
    fn mutants_break_requirements_that_cases_check_in_their_role() {
        let library = load(&[Source::Embedded]).expect("the embedded cases are sound");
        let checked: BTreeSet<_> = checked(&library).map(|(role, id)| (role, id.as_str())).collect();
        for mutant in contained() {
            let breaks: BTreeSet<_> = mutant.breaks.iter().collect();
            assert!(mutant.breaks.is_sorted() && breaks.len() == mutant.breaks.len(), "{}", mutant.name);
            for id in &mutant.breaks {
                let one = library.requirements.values().find(|one| one.id.as_str() == id);
                let one = one.unwrap_or_else(|| panic!("{} breaks {id}, which is in no catalogue", mutant.name));
                assert!(one.roles.contains(&mutant.role), "{id} binds no {}", mutant.role);
                assert!(
                    checked.contains(&(mutant.role, id.as_str())) || is_implied(&one.id),
                    "no case checks {id}, which {} violates",
                    mutant.name
                );
            }
            assert_eq!(mutant.breaks.is_empty(), UNDETECTED.contains(&mutant.name.as_str()), "{}", mutant.name);
        }
    }
}
