//! A mutant put to the proof: the tests of its side carried out, and what they saw held against what it declares.
//!
//! Takes cases and a mutant, gives a [`Kill`]. Must not know who wants it, nor how a proof looks.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use reference::{About, mutants};
use tokio::sync::watch;

use crate::drive::{Cancel, Options};
use crate::judge::Judge;
use crate::model::case::Library;
use crate::model::spec::Transport;
use crate::model::target::Target;
use crate::model::transcript::StdioMode;
use crate::plan::{PlanError, Selection, plan};
use crate::report::proof::{Declared, Kill, Trace};
use crate::run::{RunError, Seen, conduct};

/// How long a step may take where much else goes on. What the reference gives up by itself, it does within two
/// seconds; what takes longer hangs, and who is in doubt looks again with the patience of a run.
const BRISK: Duration = Duration::from_secs(5);

/// How long is waited for a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Long enough for one that hangs to be known.
    Brisk,
    /// As long as for any other target.
    Patient,
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// Nothing could be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The harness can't go on.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Everything that declares what it breaks.
pub fn all() -> impl Iterator<Item = Declared<'static>> {
    mutants().map(|about| {
        let About { name, role, does, breaks, keeps } = *about;
        Declared { name, role: role.parse().expect("a mutant's role is a role"), does, breaks, keeps }
    })
}

/// Runs the tests of a mutant's side against `target`, which is the mutant, on one process at a time. `None` where
/// somebody stopped it.
///
/// # Errors
/// [`ProofError`] where the harness can't. Whatever the mutant does is part of what it gives.
pub async fn examine(
    library: &Library,
    (mutant, target): (Declared<'_>, Arc<Target>),
    transports: &[Transport],
    options: (Options, Pace),
    cancel: watch::Receiver<Cancel>,
) -> Result<Option<Kill>, ProofError> {
    let selection = Selection {
        role: Some(mutant.role),
        transport: transports.to_vec(),
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
    Ok((!conducted.footer.interrupted).then(|| trace.kill()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::load::{Source, load};

    /// Mutants that break nothing: a target may behave as the first does, and no case detects the second yet.
    const UNDETECTED: [&str; 2] = ["defaults-ignored", "numbers-as-floats"];

    #[test]
    fn mutants_break_requirements_of_their_own_role() {
        let library = load(&[Source::Embedded]).expect("the embedded cases are sound");
        for mutant in all() {
            let breaks: BTreeSet<_> = mutant.breaks.iter().collect();
            assert!(mutant.breaks.is_sorted() && breaks.len() == mutant.breaks.len(), "{}", mutant.name);
            for id in mutant.breaks {
                let one = library.requirements.values().find(|one| one.id.as_str() == *id);
                let one = one.unwrap_or_else(|| panic!("{} breaks {id}, which is in no catalogue", mutant.name));
                assert!(one.roles.contains(&mutant.role), "{id} binds no {}", mutant.role);
            }
            assert_eq!(mutant.breaks.is_empty(), UNDETECTED.contains(&mutant.name), "{}", mutant.name);
        }
    }
}
