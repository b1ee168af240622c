//! The targets that a command line names, and what is wrong with a name.

use super::here::show_files;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::caches;
use super::exit::Exit;
use super::here::here;
use super::problem::Problem;
use super::releases;
use super::sources::CaseArgs;
use crate::load::target::{self, TargetError};
use crate::load::{Here, is_embedded_folder, nearest};
use crate::model::case::Library;
use crate::model::mutant::Mutant;
use crate::model::target::Target;
use crate::model::{CaseId, Pattern, RequirementId};
use crate::plan::{PlanError, means_a_test};
use reference::{is_mutant, mutants};

/// Finds the targets of the command line, each once. The mutants of a library are variants of the reference.
pub(in crate::cli) fn targets(typed: &[String], library: &Library) -> Result<Vec<Arc<Target>>, Problem> {
    let (here, cache) = (here()?, caches::folder());
    if let Ok(cache) = &cache {
        releases::know(typed, cache)?;
    }
    check_names(&library.mutants)?;
    let mut targets: Vec<Arc<Target>> = Vec::new();
    for one in typed {
        let found = match one.split_once(':') {
            _ if one == target::REFERENCE => vec![target::reference(&this_program()?, &here, None, library)],
            Some((target::REFERENCE, name)) => {
                vec![target::reference(&this_program()?, &here, Some(mutant(name, &library.mutants)?), library)]
            }
            _ => match (target::target(one, &here, cache.as_deref().ok()), &cache) {
                (Err(TargetError::Missing { name, .. }), Err(why)) if is_embedded(&name, &here) => {
                    let text = format!("cannot unpack the embedded target {name}: {why}");
                    return Err(Problem::new(Exit::System, text));
                }
                (found, _) => found?,
            },
        };
        let new = found.into_iter().filter(|one| !targets.iter().any(|known| known.id == one.id));
        targets.extend(new.map(Arc::new).collect::<Vec<_>>());
    }
    show_files(targets.iter().map(Arc::as_ref), &here);
    Ok(targets)
}

/// Returns whether casebook contains a target of this name.
fn is_embedded(name: &str, here: &Here) -> bool {
    target::all(here, Utf8Path::new("")).is_ok_and(|all| all.iter().any(|target| target.id.name == name))
}

/// Removes the known failures of cases that are not loaded. With the embedded cases, an entry that matches no test stays,
/// so that the plan reports it.
pub(in crate::cli) fn with_known(targets: Vec<Arc<Target>>, cases: &CaseArgs, library: &Library) -> Vec<Arc<Target>> {
    let is_imported = cases.import.is_some();
    if cases.has_embedded() && !is_imported {
        return targets;
    }
    let is_here = |pattern: &Pattern, requirement: &RequirementId| {
        // A pattern such as `**` means each test, also those of cases that do not check its requirement.
        let is_checked = library.requirements.contains_key(requirement);
        is_checked && (means_a_test(pattern, library) || !is_imported && names_a_loaded_case(pattern, cases, library))
    };
    let narrowed = |target: Arc<Target>| {
        let mut target = Arc::unwrap_or_clone(target);
        target.known.retain(|known| is_here(&known.test, &known.requirement));
        target.author.retain(|left| is_here(&left.test, &left.requirement));
        Arc::new(target)
    };
    targets.into_iter().map(narrowed).collect()
}

/// Returns whether a pattern names one of the loaded case files, or a folder of which all cases are loaded. The folder of
/// a proposal can have the name of an embedded folder without having its cases.
fn names_a_loaded_case(pattern: &Pattern, cases: &CaseArgs, library: &Library) -> bool {
    let is_whole = |folder: &str| !is_embedded_folder(folder) && !cases.cases.iter().any(|path| path.is_file());
    let is_named = |case: &CaseId| pattern.is_below(case.as_str());
    let is_near = |case: &CaseId| pattern.is_below(case.folder()) && is_whole(case.folder());
    library.cases.iter().any(|case| is_named(&case.id) || is_near(&case.id))
}

/// Refuses mutants of cases that have the name of one of casebook's own.
fn check_names(of_cases: &[Mutant]) -> Result<(), Problem> {
    let Some(one) = of_cases.iter().find(|one| is_mutant(&one.name)) else { return Ok(()) };
    let text = format!("casebook has a mutant `{}` of its own; choose another name in `mutants.json`", one.name);
    Err(Problem::new(Exit::Usage, text))
}

/// Checks the name of a variant of the reference: its mutants are its variants.
fn mutant<'n>(name: &'n str, of_cases: &[Mutant]) -> Result<&'n str, Problem> {
    if is_mutant(name) || of_cases.iter().any(|one| one.name == name) {
        return Ok(name);
    }
    let names: Vec<_> = mutants().map(|one| one.name).chain(of_cases.iter().map(|one| one.name.as_str())).collect();
    Err(Problem::new(Exit::Usage, unknown_mutant(name, &names)))
}

/// The error for a name that no mutant has, with the most similar names.
pub(in crate::cli) fn unknown_mutant(name: &str, names: &[&str]) -> String {
    let parts: Vec<_> = name.split('-').filter(|part| part.len() > 3).collect();
    let similar: Vec<_> = match nearest(name, names) {
        Some(name) => vec![name],
        None => names.iter().copied().filter(|one| parts.iter().any(|part| one.contains(part))).take(5).collect(),
    };
    let hint = match similar.as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        several => format!("; similar names: {}", several.join(", ")),
    };
    format!(
        "the reference has no mutant `{name}`{hint}; list all {} with `casebook targets --format json`",
        names.len()
    )
}

pub(in crate::cli) fn this_program() -> Result<Utf8PathBuf, Problem> {
    let program = std::env::current_exe().map_err(Problem::system)?;
    Utf8PathBuf::try_from(program).map_err(|error| Problem::system(error.into_io_error()))
}

pub(in crate::cli) fn plan_problem(error: &PlanError) -> Problem {
    let exit = match error {
        PlanError::UnmatchedKnown { .. }
        | PlanError::UncheckedKnown { .. }
        | PlanError::KnownTwice { .. }
        | PlanError::UnmatchedPattern { .. } => Exit::Usage,
        PlanError::Nothing { .. } => Exit::Nothing,
    };
    let hint = match error {
        PlanError::UnmatchedPattern { hint: None, .. } => "; list all tests with `casebook list`",
        _ => "",
    };
    Problem::new(exit, format!("{error}{hint}"))
}
