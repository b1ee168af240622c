//! `casebook prove`: every mutant of the reference target breaks what it declares, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use super::run::targets;
use super::{Exit, Problem, ProofFormat, ProveArgs};
use crate::drive::{Cancel, Options};
use crate::judge::Judge;
use crate::load::{self, target};
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::spec::Role;
use crate::plan::{PlanError, Selection, plan};
use crate::reference::{About, UNBROKEN, mutants};
use crate::report::proof::{Declared, Kill, Proof, unproved};
use crate::report::terminal::{Progress, say};
use crate::run::{Conducted, Seen, conduct};

pub(super) fn prove(args: &ProveArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources())?;
    let meant = |about: &About| args.only_mutants.as_ref().is_none_or(|only| only.matches_path(about.name));
    let chosen: Vec<Declared<'_>> = mutants().filter(|about| meant(about)).map(declared).collect();
    if chosen.is_empty() {
        return Err(Problem::new(Exit::Nothing, "no mutant has such a name"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Problem::system)?;
    let Some(kills) = runtime.block_on(examine(args, &library, &chosen))? else { return Ok(Exit::Interrupted) };
    // What some mutants break says nothing of what none does.
    let unproved = args.only_mutants.is_none().then(|| unproved(&library, mutants().map(declared), &UNBROKEN));
    let proof = Proof { mutants: kills, unproved: unproved.unwrap_or_default() };
    say(match args.format {
        ProofFormat::Text => proof.text(),
        ProofFormat::Md => proof.markdown(),
        ProofFormat::Json => serde_json::to_string_pretty(&proof).expect("a proof has only string keys"),
    }
    .trim_end());
    Ok(if proof.holds() { Exit::Fine } else { Exit::Unexpected })
}

/// The mutants of the reference as the reports know them.
pub(super) fn declared(about: &'static About) -> Declared<'static> {
    let About { name, role, does, breaks, keeps } = *about;
    let role = role.parse().expect("a mutant's role is a role");
    Declared { name, role, does, breaks, keeps }
}

/// The mutants of one side by the requirements that they break.
pub(super) fn breakers(role: Role) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut breakers: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for mutant in mutants().map(declared).filter(|mutant| mutant.role == role) {
        mutant.breaks.iter().for_each(|id| breakers.entry(*id).or_default().push(mutant.name));
    }
    breakers
}

/// Runs the mutants all at once; those that seem not to be as declared once more, each alone, so that a busy machine
/// proves nothing against them. `None` where somebody stopped it.
async fn examine(args: &ProveArgs, library: &Library, chosen: &[Declared<'_>]) -> Result<Option<Vec<Kill>>, Problem> {
    let cancel = super::interrupt::listen();
    let mut kills = Vec::new();
    for role in Role::ALL {
        let mutants: Vec<_> = chosen.iter().filter(|mutant| mutant.role == *role).copied().collect();
        let Some(records) = run(args, library, *role, &mutants, &cancel).await? else { return Ok(None) };
        for mutant in mutants {
            let mut kill = Kill::new(mutant, of(&records, mutant.name));
            if !kill.is_as_declared() && kill.tests > 0 {
                let Some(alone) = run(args, library, *role, &[mutant], &cancel).await? else { return Ok(None) };
                kill = Kill::new(mutant, &alone);
            }
            kills.push(kill);
        }
    }
    Ok(Some(kills))
}

/// The records of one mutant, which stand together.
fn of<'r>(records: &'r [Record], name: &str) -> &'r [Record] {
    let is_its = |record: &Record| record.target.variant.as_deref() == Some(name);
    let start = records.iter().position(is_its).unwrap_or(records.len());
    let length = records[start..].iter().take_while(|record| is_its(record)).count();
    &records[start..start + length]
}

async fn run(
    args: &ProveArgs,
    library: &Library,
    role: Role,
    mutants: &[Declared<'_>],
    cancel: &watch::Receiver<Cancel>,
) -> Result<Option<Vec<Record>>, Problem> {
    let names: Vec<_> = mutants.iter().map(|mutant| format!("{}:{}", target::REFERENCE, mutant.name)).collect();
    let targets = targets(&names)?;
    let selection = Selection {
        role: Some(role),
        transport: args.transport.into_iter().collect(),
        is_thin: true,
        ..Selection::default()
    };
    let plan = match plan(library, &targets, &selection) {
        Ok(plan) => Arc::new(plan),
        Err(PlanError::Nothing { .. }) => return Ok(Some(Vec::new())),
        Err(error) => return Err(Problem::new(Exit::Usage, error.to_string())),
    };
    let options = args.jobs.map_or_else(Options::default, |jobs| Options { jobs, ..Options::default() });
    let mut judge = Judge::new(&library.requirements, targets.iter().map(Arc::as_ref));
    let progress = Progress::new(plan.len());
    let see = |seen: Seen<'_>| {
        if let Seen::Judged(record, _) = seen {
            progress.on(record.target.variant.as_deref().unwrap_or_default());
        }
    };
    let Conducted { records, footer } = conduct(plan, &mut judge, options, cancel.clone(), None, see).await?;
    progress.finish();
    Ok((!footer.interrupted).then_some(records))
}
