//! `casebook diff`: two records, targets or versions beside each other; nothing is started.

use std::collections::{HashMap, HashSet};

use camino::Utf8Path;

use super::{DiffArgs, Exit, Problem, report};
use crate::load;
use crate::model::record::Record;
use crate::model::{Printable, TargetId};
use crate::report::Source;
use crate::report::terminal::{eprint_line, show};
use crate::report::versus::Versus;

pub(super) fn diff(args: &DiffArgs) -> Result<Exit, Problem> {
    let library = load::load(&args.cases.sources()?)?;
    let (old, old_target) = opened(&args.old)?;
    let (new, new_target) = match &args.new {
        Some(new) => opened(new)?,
        None => (old.clone(), None),
    };
    let (first, second) = match args.target.as_slice() {
        [] => (None, None),
        [both] if args.new.is_some() => (Some(both), Some(both)),
        [one, two] => (Some(one), Some(two)),
        [_] => return Err(usage("one record needs two --target, to hold the second against the first")),
        _ => return Err(usage("there are two sides: --target once for both, or once for each")),
    };
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
        show(&text)?;
        is_worse |= versus.is_worse();
        compared += before.len() - versus.only_old.len() - versus.rewritten.len();
    }
    let cut: Vec<_> = [&old, &new].into_iter().filter(|source| is_partial(source)).map(|source| &source.name).collect();
    for name in &cut {
        eprint_line(&format!("partial: {name} hasn't all that was planned"));
    }
    Ok(match (is_worse, compared) {
        (true, _) => Exit::Unexpected,
        (false, 0) => return Err(Problem::new(Exit::Nothing, "the records have no test in common")),
        (false, _) if !cut.is_empty() => Exit::Interrupted,
        (false, _) => Exit::Fine,
    })
}

fn usage(text: impl Into<Printable>) -> Problem {
    Problem::new(Exit::Usage, text)
}

fn is_partial(source: &Source) -> bool {
    source.footer.as_ref().is_none_or(|footer| footer.interrupted) || source.records.len() < source.header.planned
}

/// `RECORD`, or `RECORD#TARGET`; a file that has a `#` in its name is found first.
fn opened(typed: &str) -> Result<(Source, Option<TargetId>), Problem> {
    match typed.rsplit_once('#') {
        Some((path, target)) if !Utf8Path::new(typed).is_file() => {
            let source = report::source(Utf8Path::new(path))?;
            let id = found(target, &source)?;
            Ok((source, Some(id)))
        }
        _ => Ok((report::source(Utf8Path::new(typed))?, None)),
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

/// Which target is held against which: those that were named, or the only ones, or each against itself.
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
        "which targets? {} has {}, {} has {}; write RECORD#TARGET",
        old.name,
        names(old),
        new.name,
        names(new)
    )))
}

/// The parts of a record for each of its targets, of which there may be many.
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
        // Of a target that is told of twice, the first counts.
        let about = source.header.about.iter().rev();
        let versions = about.map(|about| (&about.target, about.version.as_deref().unwrap_or_default())).collect();
        Self { source, records, versions }
    }

    fn records(&self, id: &TargetId) -> &[&'a Record] {
        self.records.get(id).map_or(&[], Vec::as_slice)
    }

    /// The target, its version, and the record that it is from.
    fn name(&self, id: &TargetId) -> String {
        let version = self.versions.get(id).filter(|version| !version.is_empty());
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        format!("{id}{version} ({})", self.source.name)
    }
}
