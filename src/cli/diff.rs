//! `casebook diff`: compares two run logs, targets or versions, or the snapshots of two. It starts a target only if a side is
//! `TARGET@VERSION` without a run log.

use std::collections::{HashMap, HashSet};

use camino::Utf8Path;

use super::DiffArgs;
use super::base::caches;
use super::base::exit::Exit;
use super::base::here::here;
use super::base::problem::Problem;
use super::base::results::source;
use super::base::sources::CaseArgs;
use super::history::{HISTORY, Ran, on_release, options};
use crate::load;
use crate::load::target::{TypedTarget, typed_target};
use crate::model::case::Library;
use crate::model::record::Record;
use crate::model::{Printable, TargetId};
use crate::report::Source;
use crate::report::snapshot::{differences, folder_of_variant};
use crate::report::terminal::{eprint_line, show};
use crate::report::versus::Versus;

pub(super) fn diff(args: &DiffArgs) -> Result<Exit, Problem> {
    if let (Some(old), Some(new)) = (folder_of_variant(&args.old), args.new.as_deref().and_then(folder_of_variant)) {
        let text = differences(old, new).map_err(usage)?;
        let text = text.ok_or_else(|| Problem::new(Exit::Nothing, "the snapshots have no test in common"))?;
        show(&text).map_err(|error| Problem::output(&error))?;
        return Ok(Exit::Fine);
    }
    let library = load::load(&args.cases.sources()?)?;
    let (old, old_target) = opened(&args.old, &args.cases, &library)?;
    let (new, new_target) = match &args.new {
        Some(new) => opened(new, &args.cases, &library)?,
        None => (old.clone(), None),
    };
    let (first, second) = match args.target.as_slice() {
        [] => (None, None),
        [both] if args.new.is_some() => (Some(both), Some(both)),
        [one, two] => (Some(one), Some(two)),
        _ if args.new.is_none() => return Err(one_sided(&old)),
        _ => return Err(usage("too many --target; give one for both run logs, or one for each")),
    };
    if args.new.is_none() && second.is_none() {
        return Err(one_sided(&old));
    }
    let side = |typed: Option<&String>, own: Option<TargetId>, source: &Source| match typed {
        Some(typed) => Ok(Some(found(typed, source)?)),
        None => Ok::<_, Problem>(own),
    };
    let (first, second) = (side(first, old_target, &old)?, side(second, new_target, &new)?);
    let pairs = pairs(&old, first.as_ref(), &new, second.as_ref())?;
    let (mut is_worse, mut compared) = (false, 0);
    let (old_sides, new_sides) = (Sides::of(&old), Sides::of(&new));
    for (one, two) in pairs {
        let (before, after) = (old_sides.records(&one), new_sides.records(&two));
        let versus = Versus::new(before.iter().copied(), after.iter().copied());
        let text = versus.text([&old_sides.name(&one), &new_sides.name(&two)], &library.requirements, args.tests);
        show(&text).map_err(|error| Problem::output(&error))?;
        is_worse |= versus.is_worse();
        compared += before.len() - versus.only_old.len() - versus.rewritten.len();
    }
    let cut: Vec<_> = [&old, &new].into_iter().filter(|source| is_partial(source)).map(|source| &source.name).collect();
    for name in &cut {
        eprint_line(&format!("partial: {name} lacks tests that were planned"));
    }
    Ok(match (is_worse, compared) {
        (true, _) => Exit::Unexpected,
        (false, 0) => return Err(Problem::new(Exit::Nothing, "the run logs have no test in common")),
        (false, _) if !cut.is_empty() => Exit::Interrupted,
        (false, _) => Exit::Fine,
    })
}

fn usage(text: impl Into<Printable>) -> Problem {
    Problem::new(Exit::Usage, text)
}

/// The error for a run log that has nothing to be compared with.
fn one_sided(source: &Source) -> Problem {
    let name = &source.name;
    usage(match source.header.targets.as_slice() {
        [one, two, ..] => format!(
            "diff compares two sides; name a second run log, or two targets of {name} ({}), as in --target {one} \
             --target {two}",
            names(source)
        ),
        _ => format!(
            "diff compares two sides; name a second run log, as in casebook diff {name} OTHER.jsonl ({name} has only \
             one target, {})",
            names(source)
        ),
    })
}

fn is_partial(source: &Source) -> bool {
    source.footer.as_ref().is_none_or(|footer| footer.interrupted) || source.records.len() < source.header.planned
}

/// Returns whether the command runs a release, and not only reads run logs.
pub(super) fn starts_targets(args: &DiffArgs) -> bool {
    [Some(&args.old), args.new.as_ref()].into_iter().flatten().any(|typed| is_release(typed))
}

fn is_release(typed: &str) -> bool {
    let is_typed = |here| matches!(typed_target(typed, &here), TypedTarget::Release { .. });
    !Utf8Path::new(typed).is_file() && here().is_ok_and(is_typed)
}

/// Reads `RUN_LOG` or `RUN_LOG#TARGET`, or runs `TARGET@VERSION`. A file of that name takes precedence.
fn opened(typed: &str, cases: &CaseArgs, library: &Library) -> Result<(Source, Option<TargetId>), Problem> {
    if is_release(typed) {
        return match on_release(&options(typed, &[], cases, &caches::folder()?.join(HISTORY))?, library)? {
            Ran::Whole(source) | Ran::Partly(source) => Ok((source, None)),
            Ran::Not(problem) => Err(problem),
        };
    }
    match typed.rsplit_once('#') {
        Some((path, target)) if !Utf8Path::new(typed).is_file() => {
            let source = source(Utf8Path::new(path))?;
            let id = found(target, &source)?;
            Ok((source, Some(id)))
        }
        _ => Ok((source(Utf8Path::new(typed))?, None)),
    }
}

fn found(typed: &str, source: &Source) -> Result<TargetId, Problem> {
    let Ok(id) = typed.parse::<TargetId>();
    let has = names(source);
    if source.header.targets.contains(&id) {
        Ok(id)
    } else {
        Err(usage(format!("{} has no target `{typed}`; it has {has}", source.name)))
    }
}

fn names(source: &Source) -> String {
    let names: Vec<_> = source.header.targets.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// Returns the pairs of targets to compare: the selected ones, the only ones, or the targets that both sides have.
fn pairs(
    old: &Source,
    first: Option<&TargetId>,
    new: &Source,
    second: Option<&TargetId>,
) -> Result<Vec<(TargetId, TargetId)>, Problem> {
    let only = |source: &Source| match source.header.targets.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    if let (Some(one), Some(two)) = (first.cloned().or_else(|| only(old)), second.cloned().or_else(|| only(new))) {
        return Ok(vec![(one, two)]);
    }
    if first.is_none() && second.is_none() {
        let there: HashSet<_> = new.header.targets.iter().collect();
        let both = old.header.targets.iter().filter(|id| there.contains(id));
        let both: Vec<_> = both.map(|id| (id.clone(), id.clone())).collect();
        if !both.is_empty() {
            return Ok(both);
        }
    }
    Err(usage(format!(
        "cannot decide which targets to compare: {} has {}, {} has {}; select them with RUN_LOG#TARGET",
        old.name,
        names(old),
        new.name,
        names(new)
    )))
}

/// A run log with its records by target.
struct Sides<'a> {
    source: &'a Source,
    records: HashMap<&'a TargetId, Vec<&'a Record>>,
    versions: HashMap<&'a TargetId, &'a str>,
}

impl<'a> Sides<'a> {
    fn of(source: &'a Source) -> Self {
        let mut records: HashMap<_, Vec<_>> = HashMap::new();
        for record in &source.records {
            records.entry(&record.target).or_default().push(record);
        }
        // If the header describes a target twice, the first description counts.
        let about = source.header.about.iter().rev();
        let versions = about.map(|about| (&about.target, about.version.as_deref().unwrap_or_default())).collect();
        Self { source, records, versions }
    }

    fn records(&self, id: &TargetId) -> &[&'a Record] {
        self.records.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns the target with its version and its run log.
    fn name(&self, id: &TargetId) -> String {
        let version = self.versions.get(id).filter(|version| !version.is_empty());
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        format!("{id}{version} ({})", self.source.name)
    }
}
