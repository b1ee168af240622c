//! Sets up targets before a run: the folder of each target once, whatever the number of its variants.
//!
//! Package managers mostly wait for the network or use one core, so that several folders are set up side by side; those of
//! the same package manager follow each other, because not all of them can share their caches.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::try_join_all;
use tokio::sync::{Semaphore, watch};

use super::exit::Exit;
use super::needs::warn_of_needs;
use super::problem::Problem;
use crate::drive::{Cancel, SetupError, set_up};
use crate::model::target::Target;
use crate::report::Untrusted;
use crate::report::terminal::eprint_line;
use crate::run::Secrets;

/// The most characters of a line of a setup command that are shown.
const LINE: usize = 1000;
/// The most characters of its last lines together that are shown.
const BLOCK: usize = 16_000;

/// Sets up the folders of targets.
///
/// # Errors
/// The first problem; the other set-ups are stopped.
pub(in crate::cli) async fn prepare(targets: &[Arc<Target>], cancel: &watch::Receiver<Cancel>) -> Result<(), Problem> {
    set_up_all(targets, cancel, |_, problem| Err(problem)).await
}

/// Returns the targets that can be set up, and adds the reasons for the others to `left_out`.
///
/// # Errors
/// The user has interrupted the set-up.
pub(in crate::cli) async fn set_up_or_leave_out(
    targets: Vec<Arc<Target>>,
    cancel: &watch::Receiver<Cancel>,
    left_out: &mut Vec<String>,
) -> Result<Vec<Arc<Target>>, Problem> {
    let broken = RefCell::new(BTreeMap::new());
    let leave_out = |target: &Arc<Target>, problem: Problem| {
        if problem.exit == Exit::Interrupted {
            return Err(problem);
        }
        eprint_line(&problem.text);
        broken.borrow_mut().insert(target.folder.clone(), format!("skipped {}: it cannot be set up", target.id.name));
        Ok(())
    };
    set_up_all(&targets, cancel, leave_out).await?;
    let broken = broken.into_inner();
    left_out.extend(broken.values().cloned());
    Ok(targets.into_iter().filter(|target| !broken.contains_key(&target.folder)).collect())
}

/// Sets up the folders of targets, and passes each problem to a function, whose error stops all set-ups.
async fn set_up_all(
    targets: &[Arc<Target>],
    cancel: &watch::Receiver<Cancel>,
    on_problem: impl Fn(&Arc<Target>, Problem) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let (permits, on_problem) = (permits(), &on_problem);
    let queues = queues(targets).into_iter().map(|queue| async {
        for target in queue {
            let _permit = permits.acquire().await;
            set_up_folder(target, cancel).await.or_else(|problem| on_problem(target, problem))?;
        }
        Ok(())
    });
    try_join_all(queues).await.map(drop)
}

/// The number of set-ups that run at the same time: one more than there are cores, because most of them wait.
fn permits() -> Semaphore {
    Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from) + 1)
}

/// Returns one target of each folder, in queues that do not use the same program.
fn queues(targets: &[Arc<Target>]) -> Vec<Vec<&Arc<Target>>> {
    let mut folders = BTreeSet::new();
    let mut queues: BTreeMap<Option<&String>, Vec<&Arc<Target>>> = BTreeMap::new();
    for target in targets.iter().filter(|target| folders.insert(&target.folder)) {
        let program = target.setup.commands.first().and_then(|command| command.first());
        queues.entry(program).or_default().push(target);
    }
    queues.into_values().collect()
}

async fn set_up_folder(target: &Arc<Target>, cancel: &watch::Receiver<Cancel>) -> Result<(), Problem> {
    let name = &target.id.name;
    let secrets = Secrets::of(target);
    let say = |line: &str| eprint_line(&Untrusted(&format!("{name}: {}", secrets.out_of(line))).line(LINE));
    let mut stop = cancel.clone();
    tokio::select! {
        done = set_up(target, say) => {
            let problem = |error: SetupError| {
                let text = format!("cannot set up {name}: {error}");
                Untrusted(&secrets.out_of(&text)).block(BLOCK)
            };
            if let Err(error) = done {
                warn_of_needs(std::slice::from_ref(target)).await;
                return Err(Problem::new(Exit::Target, problem(error)));
            }
            Ok(())
        }
        _ = stop.wait_for(|cancel| *cancel != Cancel::Go) => {
            Err(Problem::new(Exit::Interrupted, format!("interrupted while {name} was set up")))
        }
    }
}
