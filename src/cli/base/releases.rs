//! The releases of targets: asked from their package managers, and kept in the cache folder.
//!
//! Takes the names of targets, gives releases. Must not know how a target is built on one.

use std::io::Write as _;

use camino::Utf8Path;

use super::caches;
use super::exit::Exit;
use super::here::here;
use super::problem::Problem;
use crate::drive;
use crate::load::target::{TypedTarget, is_built, kept_releases, lister, release_list, typed_target};
use crate::model::release::Release;
use crate::model::target::Target;
use crate::report::Untrusted;
use crate::report::terminal::print_line;

/// The most characters of a line that are shown.
const LINE: usize = 400;
/// The most characters of an error.
const BLOCK: usize = 4000;

/// Asks for the releases of targets that are typed as `NAME@VERSION`, unless the list in the cache has the version.
pub(in crate::cli) fn know(typed: &[String], cache: &Utf8Path) -> Result<(), Problem> {
    let here = here()?;
    for one in typed {
        if let TypedTarget::Release { name, version } = typed_target(one, &here)
            && !kept_releases(name, cache).iter().any(|release| release.version == version)
        {
            ask(name, cache)?;
        }
    }
    Ok(())
}

/// Asks for the releases of a target, and keeps them.
pub(in crate::cli) fn ask(name: &str, cache: &Utf8Path) -> Result<(Target, Vec<Release>), Problem> {
    let target = lister(name, cache)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Problem::system)?;
    let listed = runtime.block_on(drive::releases(&target)).map_err(|error| {
        let text = format!("cannot list the releases of {name}: {error}");
        Problem::new(Exit::Target, Untrusted(&text).block(BLOCK))
    })?;
    keep(&release_list(name, cache), &listed).map_err(Problem::system)?;
    Ok((target, listed))
}

/// Writes a list, which other processes may read and write at the same time.
fn keep(path: &Utf8Path, listed: &[Release]) -> std::io::Result<()> {
    let members = listed.iter().map(|release| (release.version.clone(), release.date.clone().into()));
    let json = serde_json::Value::Object(members.collect());
    let folder = path.parent().expect("a list has a folder");
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    write!(file, "{json}")?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Prints the releases of a target, the newest first, as lines with version, date and state.
pub(in crate::cli) fn print(name: &str) -> Result<Exit, Problem> {
    let cache = caches::folder()?;
    let (target, listed) = ask(name, &cache)?;
    let locked = target.package.as_ref().map(|package| package.version.as_str()).unwrap_or_default();
    let supports =
        |release: &Release| target.setup.supports.as_ref().is_none_or(|range| range.may_have(&release.version));
    let newest = listed
        .iter()
        .rfind(|release| !release.is_pre_release() && supports(release))
        .map(|release| release.version.as_str());
    for release in listed.iter().rev() {
        let typed = format!("{name}@{}", release.version);
        let states = [
            (release.version == locked, "locked"),
            (is_built(&typed, &cache), "in the cache"),
            (release.is_pre_release(), "pre-release"),
            (!supports(release), "not for this adapter"),
        ];
        let states: Vec<_> = states.iter().filter(|(applies, _)| *applies).map(|(_, state)| *state).collect();
        let line = format!("{:<14}  {:<10}  {}", release.version, release.day().unwrap_or("?"), states.join(", "));
        print_line(&Untrusted(line.trim_end()).line(LINE));
    }
    if let Some(newest) = newest.filter(|newest| *newest != locked) {
        super::lines::print_all(&[format!("the lock of {name}, {locked}, is not {newest}, the newest release")]);
    }
    Ok(Exit::Fine)
}
