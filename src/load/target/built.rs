//! Embedded targets that are built on something else than their locked release: a checkout of the SDK, or another release.
//!
//! Takes a name with a folder or a version, gives the targets with the commands of their set-up. Must not start a process.

use camino::{Utf8Path, Utf8PathBuf};

use super::{TargetError, embedded, names, read, split, unpacked};
use crate::file;
use crate::load::Here;
use crate::load::target::places::{CHECKOUTS, VERSIONS, occupy};
use crate::load::text::diagnostic::nearest;
use crate::model::fnv1a;
use crate::model::release::{Release, is_version, releases};
use crate::model::target::{Base, Checkout, Known, LeftToAuthor, Package, Setup, Target};

/// The word in the commands of a set-up that stands for the copy of a checkout.
const SDK: &str = "{sdk}";
/// The word that stands for the version.
const VERSION: &str = "{version}";
/// The word that stands for the day after the release, of which users had the dependencies.
const DATE: &str = "{date}";
/// The word that stands for a folder that all releases and checkouts of a target have together, for what a build tool can use
/// again.
const SHARED: &str = "{shared}";
/// The number of bytes of a list of releases.
const MOST_LIST: usize = 4 << 20;

/// A target on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed<'t> {
    /// `NAME` or a path.
    Plain {
        /// The name or path.
        name: &'t str,
    },
    /// `NAME@FOLDER`.
    Checkout {
        /// The name.
        name: &'t str,
        /// The folder.
        folder: &'t str,
    },
    /// `NAME@VERSION`.
    Release {
        /// The name.
        name: &'t str,
        /// The version.
        version: &'t str,
    },
}

/// Returns what the words on the command line build a target on. A folder takes precedence over a version.
pub fn base<'t>(typed: &'t str, here: &Here) -> Typed<'t> {
    let (name, _) = split(typed);
    match name.split_once('@').filter(|(name, _)| names(here).iter().any(|one| one == name)) {
        Some((name, version)) if is_version(version) && !here.folder().join(version).exists() => {
            Typed::Release { name, version }
        }
        Some((name, folder)) => Typed::Checkout { name, folder },
        None => Typed::Plain { name },
    }
}

/// The file in the cache folder with the releases of a target's SDK.
pub fn release_list(name: &str, cache: &Utf8Path) -> Utf8PathBuf {
    cache.join("releases").join(format!("{name}.json"))
}

/// The releases of a target's SDK that the cache folder has; none before somebody asked for them.
pub fn kept_releases(name: &str, cache: &Utf8Path) -> Vec<Release> {
    let list = file::read_text(release_list(name, cache), MOST_LIST).ok();
    list.and_then(|list| releases(&list).ok()).unwrap_or_default()
}

/// Returns the embedded target whose set-up can list its releases and build another one.
///
/// # Errors
/// [`TargetError`] if the target cannot be built on another release.
pub fn lister(name: &str, cache: &Utf8Path) -> Result<Target, TargetError> {
    let failed = |why: &str| TargetError::Releases { name: name.to_owned(), why: why.to_owned() };
    if !embedded::names().contains(&name) {
        return Err(failed("only an adapter that casebook contains is; yours has the version of its own `[setup]`"));
    }
    let first = read(&unpacked(name, cache)?)?.into_iter().next();
    first
        .filter(|target| !target.setup.on_version.is_empty())
        .ok_or_else(|| failed("its `[setup]` has no commands `on-version`"))
}

/// Returns whether a release has its place in the cache folder.
pub fn is_built(typed: &str, cache: &Utf8Path) -> bool {
    cache.join(VERSIONS).join(typed).is_dir()
}

/// Reads an embedded target that is built on another release of its SDK. Each release has a folder of its own in the cache.
pub(super) fn on_release(name: &str, version: &str, cache: Option<&Utf8Path>) -> Result<Vec<Target>, TargetError> {
    let failed = |why: String| TargetError::Version { name: name.to_owned(), version: version.to_owned(), why };
    let cache = cache.ok_or_else(|| failed("the cache folder is not known".to_owned()))?;
    let setup = lister(name, cache)?.setup;
    if let Some(supports) = setup.supports.as_ref().filter(|supports| !supports.may_have(version)) {
        return Err(failed(format!("the adapter is for {supports}")));
    }
    let list = kept_releases(name, cache);
    let release = list.iter().find(|release| release.version == version);
    if release.is_none() && !list.is_empty() {
        let known: Vec<_> = list.iter().map(|release| release.version.as_str()).collect();
        let near = nearest(version, &known).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return Err(failed(format!("there is no such release{near} (list: `casebook targets --versions {name}`)")));
    }
    let release = release.cloned().unwrap_or_else(|| Release { version: version.to_owned(), date: None });
    let uses_date = setup.on_version.iter().flatten().any(|word| word.contains(DATE));
    let date = release.next_day();
    if uses_date && date.is_none() {
        return Err(failed(
            "the registry does not tell when it was published, so its dependencies are not known".to_owned(),
        ));
    }
    let shared = shared(name, &setup.on_version, cache)?;
    let words = [(VERSION, version), (DATE, date.as_deref().unwrap_or_default()), (SHARED, shared.as_str())];
    let dependencies = if uses_date { "the day after its release" } else { "the day on which it was set up" };
    let place = cache.join(VERSIONS).join(format!("{name}@{version}"));
    let built = |target: Target| {
        let base = Base::Release(release.clone());
        let commands = filled(&target.setup.on_version, &words);
        let setup = Setup { commands, inputs: Vec::new(), base, ..target.setup };
        let package = target.package.map(|package| Package { version: version.to_owned(), ..package });
        let title = format!("{}, with the dependencies of {dependencies}", target.title);
        // An entry is about the locked release; on another one it may have nothing to excuse.
        let known = target.known.into_iter().map(|one| Known { is_shared: true, ..one }).collect();
        let author = target.author.into_iter().map(|one| LeftToAuthor { is_shared: true, ..one }).collect();
        Target { setup, package, title, known, author, snapshots: None, ..target }
    };
    Ok(in_place(name, &place, cache)?.into_iter().map(built).collect())
}

/// Reads an embedded target that is built on a checkout of its SDK. Each checkout has a folder of its own in the cache.
pub(super) fn on_checkout(
    name: &str,
    typed: &str,
    here: &Here,
    cache: Option<&Utf8Path>,
) -> Result<Vec<Target>, TargetError> {
    let failed = |why| TargetError::Checkout { name: name.to_owned(), folder: typed.into(), why };
    if !embedded::names().contains(&name) {
        return Err(failed("only an adapter that casebook contains is; yours is built by its own `[setup]`"));
    }
    let folder = here.folder().join(typed).canonicalize_utf8();
    let folder = folder.ok().filter(|folder| folder.is_dir()).ok_or_else(|| failed("there is no such folder"))?;
    let cache = cache.ok_or_else(|| failed("the cache folder is not known"))?;
    let place = cache.join(CHECKOUTS).join(format!("{:016x}", fnv1a(folder.as_str().as_bytes())));
    let copy = place.join("sdk");
    let targets = in_place(name, &place, cache)?;
    if targets.iter().any(|target| target.setup.on_checkout.is_empty()) {
        return Err(failed("its `[setup]` has no commands `on-checkout`"));
    }
    let commands = targets.first().map_or(&[][..], |target| &target.setup.on_checkout);
    let shared = shared(name, commands, cache)?;
    let built = |target: Target| {
        let commands = filled(&target.setup.on_checkout, &[(SDK, copy.as_str()), (SHARED, shared.as_str())]);
        let base = Base::Checkout(Checkout { folder: folder.clone(), copy: copy.clone() });
        let setup = Setup { commands, inputs: Vec::new(), base, ..target.setup };
        // The adapter names the version of the checkout, whose observations belong to no release.
        Target { setup, package: None, snapshots: None, ..target }
    };
    Ok(targets.into_iter().map(built).collect())
}

/// The folder that all builds of a target's other releases and checkouts have together, kept from being removed while this
/// process runs if commands name it.
fn shared(name: &str, commands: &[Vec<String>], cache: &Utf8Path) -> Result<Utf8PathBuf, TargetError> {
    let folder = cache.join(VERSIONS).join(name);
    if commands.iter().flatten().any(|word| word.contains(SHARED)) {
        let failed = |error| TargetError::Unpack { name: name.to_owned(), cache: cache.to_owned(), error };
        occupy(&folder, None).map_err(failed)?;
    }
    Ok(folder)
}

/// Unpacks an embedded target into a place of its own, and keeps the place from being removed while this process runs.
fn in_place(name: &str, place: &Utf8Path, cache: &Utf8Path) -> Result<Vec<Target>, TargetError> {
    let failed = |error| TargetError::Unpack { name: name.to_owned(), cache: cache.to_owned(), error };
    let unpacked_into = embedded::place(name, place);
    occupy(place, unpacked_into.parent()).map_err(failed)?;
    Ok(read(&unpacked(name, place)?)?)
}

/// Commands in which placeholders are filled in.
fn filled(commands: &[Vec<String>], by: &[(&str, &str)]) -> Vec<Vec<String>> {
    let word = |word: &String| by.iter().fold(word.clone(), |word, (placeholder, by)| word.replace(placeholder, by));
    commands.iter().map(|one| one.iter().map(word).collect()).collect()
}
