//! `casebook targets`: lists the targets, and finds those that `casebook run --all` can run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::base::caches;
use super::base::chosen::targets as typed;
use super::base::exit::Exit;
use super::base::heading;
use super::base::here::{file, here};
use super::base::needs::{Needed, needed};
use super::base::problem::Problem;
use super::base::releases;
use crate::drive::{is_set_up, probe};
use crate::load;
use crate::load::target::{REFERENCE, all};
use crate::model::Printable;
use crate::model::case::Library;
use crate::model::program::Found;
use crate::model::target::Target;
use crate::report::Untrusted;
use crate::report::terminal::print_line;
use reference::mutants;

/// The most characters of a line of a `target.toml` that are shown.
const SHOWN: usize = 400;

const AFTER: &str = "\
The list has the targets in targets/ of the current repository and the targets
that casebook contains. The first `casebook run NAME` of a target sets it up.
`casebook run --all` runs all targets whose programs are installed.

Examples:
  casebook targets
  casebook targets --format json | jq -r '.[] | select(.ready) | .name'";

/// `casebook targets`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER)]
pub struct TargetsArgs {
    /// Print in this format
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = heading::OUTPUT)]
    pub format: TargetsFormat,
    /// List the releases of a target's SDK, which its package manager knows, with their dates
    #[arg(long, value_name = "TARGET", conflicts_with = "format")]
    pub versions: Option<String>,
    /// Remove what was built on checkouts and other releases from the cache, except what is in use
    #[arg(long, conflicts_with_all = ["format", "versions"])]
    pub clear: bool,
}

/// The formats of a list of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TargetsFormat {
    /// Text for a terminal
    Text,
    /// JSON
    Json,
}

/// A target in the JSON output.
#[derive(Serialize)]
struct Listed {
    name: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    variants: Vec<String>,
    roles: Vec<String>,
    transports: Vec<String>,
    revisions: Vec<String>,
    lacks: Vec<String>,
    needs: Vec<Needed>,
    /// `true` if all programs that the target needs are installed.
    ready: bool,
    #[serde(rename = "setUp")]
    set_up: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<String>,
    folder: String,
    /// The path of its `target.toml` from the current folder, or `embedded`.
    file: String,
}

pub(super) fn targets(args: &TargetsArgs) -> Result<Exit, Problem> {
    if let Some(name) = &args.versions {
        return releases::print(name);
    }
    if args.clear {
        return clear();
    }
    let listed = list()?;
    match args.format {
        TargetsFormat::Json => {
            print_line(&Printable::json(&serde_json::to_string_pretty(&listed).map_err(Problem::system)?));
        }
        TargetsFormat::Text => listed.iter().for_each(|one| print_line(&text(one))),
    }
    Ok(Exit::Fine)
}

/// Removes the places of checkouts and other releases.
fn clear() -> Result<Exit, Problem> {
    let cache = caches::folder()?;
    let [removed, in_use] = load::clear(&cache).map_err(Problem::system)?;
    let lines = removed.iter().map(|place| ("removed", place)).chain(in_use.iter().map(|place| ("in use ", place)));
    for (what, place) in lines {
        print_line(&Untrusted(&format!("{what}  {place}")).line(SHOWN));
    }
    Ok(Exit::Fine)
}

/// Returns the names of the targets for `casebook run --all`, and for each other target the reason why it is skipped.
pub(super) fn targets_with_programs() -> Result<(Vec<String>, Vec<String>), Problem> {
    let (ready, rest): (Vec<_>, Vec<_>) = list()?.into_iter().partition(|one| one.ready);
    let why = |one: &Listed| {
        let missing = one.needs.iter().filter(|need| !need.met).map(Needed::text);
        format!("skipped {}: it needs {}", one.name, missing.collect::<Vec<_>>().join(" and "))
    };
    Ok((ready.iter().map(|one| one.name.clone()).collect(), rest.iter().map(why).collect()))
}

/// Lists the reference first, then the other targets by name.
fn list() -> Result<Vec<Listed>, Problem> {
    let cache = caches::folder().unwrap_or_default();
    let mut targets = typed(&[REFERENCE.to_owned()], &Library::default())?;
    let here = here()?;
    targets.extend(all(&here, &cache)?.into_iter().map(Arc::new));
    let names: BTreeSet<String> =
        targets.iter().flat_map(|target| &target.needs).map(|program| program.name.clone()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Problem::system)?;
    let found = runtime.block_on(probe(names));
    let mut listed: Vec<Listed> = Vec::new();
    for target in &targets {
        match listed.last_mut().filter(|last| last.name == target.id.name) {
            Some(last) => last.variants.extend(target.id.variant.clone()),
            None => listed.push(Listed::of(target, &found, file(target, here.folder()))),
        }
    }
    Ok(listed)
}

impl Listed {
    fn of(target: &Target, found: &BTreeMap<String, Found>, file: String) -> Self {
        let needs = needed(target, found);
        let is_reference = target.file.is_none();
        Self {
            name: target.id.name.clone(),
            title: target.title.clone(),
            package: target.package.as_ref().map(|package| package.name.clone()),
            version: target.package.as_ref().map(|package| package.version.clone()),
            variants: if is_reference {
                mutants().map(|mutant| mutant.name.to_owned()).collect()
            } else {
                target.id.variant.iter().cloned().collect()
            },
            roles: names(&target.announced.roles),
            transports: names(&target.announced.transports),
            revisions: names(&target.announced.revisions),
            lacks: names(&target.announced.lacks),
            ready: needs.iter().all(|need| need.met),
            needs,
            set_up: is_set_up(target),
            unverified: target.unverified.clone(),
            folder: target.folder.to_string(),
            file,
        }
    }
}

fn names<T: ToString>(all: &[T]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

fn text(one: &Listed) -> String {
    const FEW: usize = 8;
    let mut lines = vec![format!("{}  {}", one.name, one.title)];
    let mut add = |what: &str, said: String| lines.push(format!("    {what:<10}  {said}"));
    add("file", one.file.clone());
    if let (Some(package), Some(version)) = (&one.package, &one.version) {
        add("package", format!("{package} {version}"));
    }
    match one.variants.as_slice() {
        [] => {}
        few if few.len() <= FEW => add("variants", few.join(", ")),
        many => add("variants", format!("{} mutants; list them with `casebook targets --format json`", many.len())),
    }
    let speaks = [one.roles.join(", "), one.transports.join(", "), one.revisions.join(", ")];
    add("speaks", speaks.join("; "));
    if !one.lacks.is_empty() {
        add("lacks", one.lacks.join(", "));
    }
    if !one.needs.is_empty() {
        let needs: Vec<_> = one.needs.iter().map(Needed::text).collect();
        add("needs", needs.join(", "));
    }
    add(
        "state",
        match (one.set_up, one.ready) {
            (true, true) => "ready",
            (_, false) => "a program that it needs is missing",
            (false, true) => "not set up; the first run sets it up",
        }
        .to_owned(),
    );
    if let Some(why) = &one.unverified {
        add("unverified", why.clone());
    }
    let lines: Vec<_> = lines.iter().map(|line| Untrusted(line).line(SHOWN)).collect();
    lines.join("\n")
}
