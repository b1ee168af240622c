//! Targets: finds and reads a `target.toml`, and gives one [`Target`] for each variant.
//!
//! Takes a name or path from the command line, gives targets, or all mistakes in the file. Must not start a process.

pub mod ad_hoc;
pub(super) mod callable;
pub(super) mod drives;
pub(super) mod embedded;
pub(super) mod excuses;
pub(super) mod here;
pub(super) mod package;
pub(super) mod places;
pub(super) mod programs;
pub(super) mod variants;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use self::here::Here;
use crate::file;
use crate::load::LoadError;
use crate::load::source::{MOST_BYTES, refuse};
use crate::load::text::diagnostic::{Diagnostic, File, Lint, did_you_mean, nearest};
use crate::load::text::node::Node;
use crate::load::text::read::Reader;
use crate::load::text::{masked, toml};
use crate::model::callable::Callable;
use crate::model::case::{Library, Need};
use crate::model::mutant::Mutant;
use crate::model::release::Releases;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::{Base, Claims, Known, LeftToAuthor, Setup, Target, TargetKind};
use crate::model::{TargetId, is_target_name};
pub use built::{Typed as TypedTarget, base as typed_target, is_built, kept_releases, lister, release_list};
use built::{Typed, base, on_checkout, on_release};
use callable::callable;
use drives::{claims, drives, kind};
use excuses::{author, known, of_variant};
use package::package;
use programs::programs;
use variants::{Variant, variants};

/// The name of the reference target, which is part of this program.
pub const REFERENCE: &str = "reference";
const FILE: &str = "target.toml";
/// The folder of a repository with its targets.
const TARGETS: &str = "targets";
/// The remedy for a word that resembles no target.
const EXPECTED: &str = "name one that `casebook targets` lists, or a folder with a target.toml";

/// The reason why a target cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// There is no target of this name.
    #[error("there is no target `{name}`; {}", .hint.as_deref().unwrap_or(EXPECTED))]
    Missing {
        /// The name on the command line.
        name: String,
        /// The question for a target with a similar name.
        hint: Option<String>,
    },
    /// The name on the command line is empty.
    #[error("the name of the target is empty (an unset variable?); {EXPECTED}")]
    Empty,
    /// A file on the command line is not TOML.
    #[error("{path} is not a TOML file; name the folder of the target, or its target.toml")]
    NotToml {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The target has no such variant.
    #[error("the target `{target}` has no variant `{variant}`; {}", variants_of(.target, .variant, .variants))]
    Variant {
        /// The target's name.
        target: String,
        /// The variant on the command line.
        variant: String,
        /// The variants of the target.
        variants: Vec<String>,
    },
    /// The target is embedded, and cannot be unpacked.
    #[error("cannot unpack the target `{name}` into {cache}: {error}")]
    Unpack {
        /// The target's name.
        name: String,
        /// The cache folder.
        cache: Utf8PathBuf,
        /// The error of the file system.
        error: io::Error,
    },
    /// The target cannot be built on a checkout.
    #[error("`{name}` cannot be built on {folder}: {why}")]
    Checkout {
        /// The target's name.
        name: String,
        /// The folder on the command line.
        folder: Utf8PathBuf,
        /// The reason, and the remedy.
        why: &'static str,
    },
    /// The target cannot be built on other releases.
    #[error("`{name}` cannot be built on other releases: {why}")]
    Releases {
        /// The target's name.
        name: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// The target cannot be built on another release.
    #[error("`{name}` cannot be built on the release {version}: {why}")]
    Version {
        /// The target's name.
        name: String,
        /// The version on the command line.
        version: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// The file of the target has mistakes.
    #[error(transparent)]
    File(#[from] LoadError),
}

/// Returns the remedy for an unknown variant.
fn variants_of(target: &str, variant: &str, variants: &[String]) -> String {
    if variants.is_empty() {
        return format!("it has no variants, so name it `{target}`");
    }
    let known: Vec<&str> = variants.iter().map(String::as_str).collect();
    let near = nearest(variant, &known).map_or_else(String::new, |near| format!("; did you mean `{target}:{near}`?"));
    format!("it has {}{near}", known.join(", "))
}

/// The reference target: this program as an adapter, with or without a mutant's defect. A library can have further mutants, and
/// proposals that the reference plays by their fixtures.
pub fn reference(program: &Utf8Path, here: &Here, mutant: Option<&str>, library: &Library) -> Target {
    let mut command = vec![program.to_string(), "__adapter".to_owned()];
    command.extend(mutant.into_iter().flat_map(|name| ["--mutant".to_owned(), name.to_owned()]));
    let changes = library.mutants.iter().find(|one| mutant == Some(&one.name)).map(Mutant::instructions);
    command.extend(changes.into_iter().flat_map(|changes| ["--changes".to_owned(), changes]));
    let snapshots = here.root().join("snapshots").join(REFERENCE);
    let claims = Claims {
        roles: vec![Role::Server, Role::Client],
        transports: Transport::ALL.to_vec(),
        revisions: Revision::all().collect(),
        lacks: vec![Need::VersionsOlder],
        implements: library.proposals(),
    };
    Target {
        id: TargetId { name: REFERENCE.to_owned(), variant: mutant.map(str::to_owned) },
        title: "the embedded reference target".to_owned(),
        file: None,
        folder: here.folder().to_owned(),
        setup: Setup::default(),
        drives: TargetKind::Adapter(command),
        env: BTreeMap::new(),
        secrets: Vec::new(),
        announced: claims.clone(),
        claims,
        callable: Callable::default(),
        known: Vec::new(),
        repro: Vec::new(),
        author: Vec::new(),
        snapshots: (mutant.is_none() && snapshots.is_dir()).then_some(snapshots),
        language: None,
        api: None,
        by_hand: BTreeMap::new(),
        unverified: None,
        needs: Vec::new(),
        package: None,
        survey: None,
    }
}

/// Finds and reads a target. The release list of a target on another release is in the cache folder, if it has been asked
/// for.
///
/// A name is that of a folder in `targets/` of the current repository or, if there is a cache folder to unpack into, of an
/// embedded target. Everything else is a path. `NAME:VARIANT` names one variant. `NAME@FOLDER` is an embedded target that
/// is built on a checkout of its SDK, and `NAME@VERSION` one that is built on another release.
///
/// # Errors
/// [`TargetError`] if there is no such target, or its file has mistakes.
pub fn target(typed: &str, here: &Here, cache: Option<&Utf8Path>) -> Result<Vec<Target>, TargetError> {
    let (name, variant) = split(typed);
    if name.trim().is_empty() {
        return Err(TargetError::Empty);
    }
    let targets = match base(typed, here) {
        Typed::Release { name, version } => on_release(name, version, cache)?,
        Typed::Checkout { name, folder } => on_checkout(name, folder, here, cache)?,
        Typed::Plain { name } => read(&file(name, typed, here, cache)?)?,
    };
    let Some(variant) = variant else { return Ok(targets) };
    let variants = targets.iter().filter_map(|target| target.id.variant.clone()).collect();
    let one: Vec<_> = targets.into_iter().filter(|target| target.id.variant.as_deref() == Some(variant)).collect();
    if one.is_empty() {
        return Err(TargetError::Variant { target: name.to_owned(), variant: variant.to_owned(), variants });
    }
    Ok(one)
}

/// Returns the `target.toml` of a name or path.
fn file(name: &str, typed: &str, here: &Here, cache: Option<&Utf8Path>) -> Result<Utf8PathBuf, TargetError> {
    let canonical = |path: Utf8PathBuf| path.canonicalize_utf8().unwrap_or(path);
    Ok(match (own(here).remove(name), cache) {
        (Some(file), _) => canonical(file),
        (None, Some(cache)) if embedded::names().contains(&name) => unpacked(name, cache)?,
        (None, _) => match at(&here.folder().join(name)) {
            Some(path) if path.extension() != Some("toml") => return Err(TargetError::NotToml { path: name.into() }),
            Some(path) => canonical(path),
            None => {
                let hint = address(typed).or_else(|| hint(name, here));
                return Err(TargetError::Missing { name: name.to_owned(), hint });
            }
        },
    })
}

/// Unpacks an embedded target below a folder. Returns its `target.toml`.
fn unpacked(name: &str, cache: &Utf8Path) -> Result<Utf8PathBuf, TargetError> {
    let failed = |error| TargetError::Unpack { name: name.to_owned(), cache: cache.to_owned(), error };
    Ok(embedded::unpack(name, cache).map_err(failed)?.join(FILE))
}

/// Returns the remedy for the host and port of a running server.
fn address(typed: &str) -> Option<String> {
    let (host, rest) = typed.split_once(':')?;
    let port = rest.split('/').next().unwrap_or_default();
    let is_port = !host.contains('/') && !port.is_empty() && port.chars().all(|one| one.is_ascii_digit());
    is_port.then(|| format!("to test a running server, write its whole address, as in http://{typed}"))
}

/// Returns the reason why a word or path leads to no target, or the question for a target with a similar name.
fn hint(typed: &str, here: &Here) -> Option<String> {
    let path = here.folder().join(typed);
    if path.is_dir() {
        return Some(format!("the folder {typed} has no target.toml"));
    }
    let (names, prefix) = if is_path(typed) {
        let length = Utf8Path::new(typed).file_name().map_or(0, str::len);
        let folder = typed.trim_end_matches(std::path::is_separator);
        (beside(path.parent()?), folder.get(..folder.len().checked_sub(length)?)?)
    } else {
        (names(here).into_iter().chain([REFERENCE.to_owned()]).chain(beside(here.folder())).collect(), "")
    };
    let names: Vec<_> = names.iter().map(|name| format!("{prefix}{name}")).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    if known.contains(&typed) { None } else { did_you_mean(typed, &known) }
}

/// The names of the folders in this folder that have a `target.toml`.
fn beside(folder: &Utf8Path) -> Vec<String> {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let targets = entries.filter(|entry| entry.path().join(FILE).is_file());
    let mut names: Vec<_> = targets.map(|entry| entry.file_name().to_owned()).collect();
    names.sort();
    names
}

/// All targets with a name in this folder, including the embedded ones, one for each variant. Nothing is unpacked.
///
/// # Errors
/// [`LoadError`] if a file has mistakes.
pub fn all(here: &Here, cache: &Utf8Path) -> Result<Vec<Target>, LoadError> {
    let own = own(here);
    let mut targets = Vec::new();
    for name in names(here) {
        targets.extend(if let Some(file) = own.get(&name) {
            read(file)?
        } else {
            let text = embedded::text(&name, FILE).unwrap_or_default();
            parse(&embedded::place(&name, cache).join(FILE), text.to_owned())?
        });
    }
    Ok(targets)
}

/// Returns whether a target is embedded in this program, unpacked into the cache folder or not.
pub fn is_embedded(target: &Target, cache: &Utf8Path) -> bool {
    target.folder == embedded::place(&target.id.name, cache)
}

/// Returns whether a word on the command line is a path, and not a name.
pub fn is_path(typed: &str) -> bool {
    typed.contains(std::path::is_separator) || [".", ".."].contains(&typed)
}

/// The names in the current repository's `targets/`, and those of the embedded targets.
fn names(here: &Here) -> Vec<String> {
    let mut names: Vec<_> = own(here).into_keys().collect();
    names.extend(embedded::names().into_iter().map(str::to_owned));
    names.sort();
    names.dedup();
    names
}

/// The files of the current repository's `targets/`, by the names of the targets.
fn own(here: &Here) -> BTreeMap<String, Utf8PathBuf> {
    let targets = here.root().join(TARGETS);
    beside(&targets).into_iter().map(|name| (name.clone(), targets.join(name).join(FILE))).collect()
}

/// `NAME:VARIANT`, or a name alone.
fn split(typed: &str) -> (&str, Option<&str>) {
    match typed.rsplit_once(':') {
        Some((name, variant)) if !variant.contains(std::path::is_separator) => (name, Some(variant)),
        _ => (typed, None),
    }
}

/// The file at a path of a target, which may be its folder.
fn at(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let file = Some(path.join(FILE)).filter(|file| file.symlink_metadata().is_ok());
    file.or_else(|| path.is_file().then(|| path.to_owned()))
}

/// Reads a file, and gives one target for each variant.
///
/// # Errors
/// All mistakes in the file, or the reason why it cannot be read.
pub fn read(path: &Utf8Path) -> Result<Vec<Target>, LoadError> {
    parse(path, text(path)?)
}

/// Returns the text of a file.
///
/// # Errors
/// The reason why it cannot be read.
pub fn text(path: &Utf8Path) -> Result<String, LoadError> {
    let refused =
        |error: io::Error| refuse(path, Lint::Unreadable, &format!("cannot read this file: {error}")).caused_by(&error);
    file::read_text(path, MOST_BYTES).map_err(|error| LoadError::new(vec![refused(error)]))
}

/// Reads the text of a file, as [`read`].
///
/// # Errors
/// All mistakes in the text.
pub fn parse(path: &Utf8Path, text: String) -> Result<Vec<Target>, LoadError> {
    let mut reader = Reader::new(Arc::new(File::new(path.as_str(), text)));
    let targets = toml::parse(&mut reader).and_then(|node| targets(&mut reader, &node, path));
    let file = reader.file();
    let found: Vec<Diagnostic> = reader.into_found();
    match targets {
        Some(targets) if found.is_empty() => Ok(targets),
        _ => {
            let shown = Arc::new(File::new(path.as_str(), masked::without_values(file.inner())));
            Err(LoadError::new(found.into_iter().map(|one| one.shown_in(&shown)).collect()))
        }
    }
}

/// The bytes of the file times its variants, each of which is a target with all parts of the file.
const COPIES: usize = 4 << 20;

const KEYS: [&str; 22] = [
    "title",
    "language",
    "api",
    "by-hand",
    "package",
    "version",
    "kind",
    "command",
    "url",
    "header-env",
    "cacert",
    "client",
    "env",
    "secrets",
    "needs",
    "setup",
    "claims",
    "variants",
    "known",
    "author",
    "repro",
    "unverified",
];

fn targets(reader: &mut Reader, node: &Node, path: &Utf8Path) -> Option<Vec<Target>> {
    let what = "the target";
    let object = reader.object(node, what, &KEYS)?;
    let folder = path.parent()?.to_owned();
    let text = |reader: &mut Reader, key: &str, node: &Node| reader.text(node, &format!("`{key}`")).map(str::to_owned);
    let title = reader.need(object, what, "title").and_then(|node| text(reader, "title", node));
    let language = object.get("language").and_then(|node| text(reader, "language", node));
    let api = object.get("api").and_then(|node| text(reader, "api", node));
    let by_hand = object.get("by-hand").map_or_else(BTreeMap::new, |node| texts(reader, node, "`by-hand`"));
    let kind = kind(reader, object);
    let drives = kind.and_then(|kind| drives(reader, object, kind, &folder));
    let claims = reader.need(object, what, "claims").and_then(|node| claims(reader, node, drives.as_ref(), kind?));
    let callable = callable(reader, object, drives.as_ref());
    let env = object.get("env").map_or_else(BTreeMap::new, |node| texts(reader, node, "`env`"));
    let secrets = object.get("secrets").and_then(|node| strings(reader, node, "`secrets`")).unwrap_or_default();
    let setup = object.get("setup").map_or_else(Setup::default, |node| setup(reader, node, &folder));
    let unverified = object.get("unverified").and_then(|node| text(reader, "unverified", node));
    let needs = object.get("needs").map_or_else(Vec::new, |node| programs(reader, node));
    let package = package(reader, object);
    let repro = object.get("repro").and_then(|node| repro(reader, node, &folder)).unwrap_or_default();
    let variants = object.get("variants").map_or_else(Vec::new, |node| variants(reader, node, claims.as_ref()));
    if variants.len().saturating_mul(reader.file().inner().len()) > COPIES {
        let (many, node) = (variants.len(), object.get("variants").map_or(node, |node| node));
        let mistake = reader.mistake(Lint::TooLarge, format!("the file is too large for {many} variants"));
        reader.push(
            mistake.at(node.span, "each variant has all parts of the file").help("split the file into several targets"),
        );
        return None;
    }
    let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    let known = object.get("known").map_or_else(Vec::new, |node| known(reader, node, &names));
    let author = object.get("author").map_or_else(Vec::new, |node| author(reader, node, &names));
    let name = folder.file_name().unwrap_or("target").to_owned();
    // `snapshots/` of a repository that has it beside `targets/`, or one beside the file.
    let snapshots = shared(&folder).map_or_else(|| folder.join("snapshots"), |shared| shared.join(&name));
    if !is_target_name(&name) || name.contains('+') {
        let mistake = reader.mistake(Lint::IdStyle, format!("`{name}` cannot be the name of a target"));
        reader.push(mistake.help("rename its folder to a shorter name without hidden characters and without `+`"));
    }
    let target = Target {
        id: TargetId { name, variant: None },
        title: title?,
        language,
        api,
        by_hand,
        drives: drives?,
        announced: claims.clone()?,
        claims: claims?,
        callable: callable?,
        file: Some(path.to_owned()),
        folder,
        setup,
        env,
        secrets,
        unverified,
        needs,
        package,
        known: Vec::new(),
        repro,
        author: Vec::new(),
        snapshots: Some(snapshots),
        survey: None,
    };
    let one = |variant: Option<&Variant>| {
        let name = variant.map(|variant| variant.name.clone());
        let claims = variant.and_then(|variant| variant.claims.clone()).unwrap_or_else(|| target.claims.clone());
        let is_narrowed = claims != target.claims;
        let known = of_variant(&known, name.as_deref());
        let known = known.map(|(known, is_shared)| Known { is_shared: is_shared && is_narrowed, ..known }).collect();
        let author = of_variant(&author, name.as_deref());
        let author = author.map(|(left, is_shared)| LeftToAuthor { is_shared: is_shared && is_narrowed, ..left });
        let author = author.collect();
        let id = TargetId { variant: name, ..target.id.clone() };
        let api = variant.and_then(|variant| variant.api.clone()).or_else(|| target.api.clone());
        Target { id, api, claims, known, author, ..target.clone() }
    };
    if variants.is_empty() {
        return Some(vec![one(None)]);
    }
    Some(variants.iter().map(|variant| one(Some(variant))).collect())
}

/// The folder `snapshots/` of a repository, which belongs to the cases beside it.
fn shared(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let targets = folder.parent().filter(|parent| parent.file_name() == Some(TARGETS))?;
    targets.parent().map(|root| root.join("snapshots")).filter(|snapshots| snapshots.is_dir())
}

/// Sets the snapshots of a target for cases other than the embedded ones.
///
/// The snapshots of a repository belong to its own cases, so those beside the given cases replace them, if there are
/// any. Snapshots beside the target's own file are kept.
pub fn for_cases(target: Target, beside: Option<&Utf8Path>) -> Target {
    let is_shared = target.file.is_none() || shared(&target.folder).is_some();
    let is_mutant = target.file.is_none() && target.id.variant.is_some();
    if is_mutant || !is_shared {
        return target;
    }
    Target { snapshots: beside.map(|beside| beside.join(&target.id.name)), ..target }
}

/// Reads a command. A program with a slash is a path relative to the target's folder; any other is found on the PATH.
pub(super) fn command(reader: &mut Reader, node: &Node, folder: &Utf8Path) -> Option<Vec<String>> {
    let mut command = strings(reader, node, "a command")?;
    let Some(program) = command.first_mut() else {
        reader.push(reader.mistake(Lint::WrongCount, "the command is empty").at(node.span, "no program in it"));
        return None;
    };
    if program.contains('/') {
        *program = folder.join(&program).into_string();
    }
    Some(command)
}

fn strings(reader: &mut Reader, node: &Node, what: &str) -> Option<Vec<String>> {
    let items = reader.items(node, what)?;
    Some(items.iter().filter_map(|item| reader.text(item, &format!("a part of {what}"))).map(str::to_owned).collect())
}

/// Reads a table of texts.
fn texts(reader: &mut Reader, node: &Node, what: &str) -> BTreeMap<String, String> {
    let members = reader.members(node, what).unwrap_or_default();
    let text = |member: &crate::load::text::node::Member| {
        Some(((*member.key).to_owned(), reader.text(&member.value, &format!("a value of {what}"))?.to_owned()))
    };
    members.iter().filter_map(text).collect()
}

fn setup(reader: &mut Reader, node: &Node, folder: &Utf8Path) -> Setup {
    let keys = ["commands", "inputs", "on-checkout", "on-version", "releases", "supports"];
    let Some(object) = reader.object(node, "`setup`", &keys) else { return Setup::default() };
    let mut commands = |key: &str| -> Vec<_> {
        let commands = object.get(key).and_then(|node| reader.items(node, &format!("`{key}`"))).unwrap_or_default();
        commands.iter().filter_map(|one| command(reader, one, folder)).collect()
    };
    let [commands, on_checkout, on_version] = ["commands", "on-checkout", "on-version"].map(&mut commands);
    let inputs = object.get("inputs").and_then(|node| strings(reader, node, "`inputs`")).unwrap_or_default();
    let inputs = inputs.into_iter().map(Utf8PathBuf::from).collect();
    let releases = object.get("releases").and_then(|node| command(reader, node, folder)).unwrap_or_default();
    if releases.is_empty() && !on_version.is_empty() {
        let mistake = reader.mistake(Lint::MissingKey, "`setup` has `on-version`, and no `releases`");
        reader.push(mistake.at(node.span, "here").help("add the command that prints the releases as a JSON object"));
    }
    let supports = object.get("supports").and_then(|node| {
        let parsed = reader.text(node, "`supports`")?.parse();
        let range = parsed.ok().filter(|range| matches!(range, Releases::Range(..)));
        if range.is_none() {
            let mistake = reader.mistake(Lint::WrongType, "`supports` is no range of releases");
            reader.push(
                mistake.at(node.span, "expected one such as 1.10.0..1").help("1.10.0..1 is all of 1.x since 1.10.0"),
            );
        }
        range
    });
    Setup { commands, inputs, on_checkout, on_version, releases, supports, base: Base::Locked }
}

fn repro(reader: &mut Reader, node: &Node, folder: &Utf8Path) -> Option<Vec<String>> {
    let object = reader.object(node, "`repro`", &["command"])?;
    reader.need(object, "`repro`", "command").and_then(|node| command(reader, node, folder))
}

mod built;
#[cfg(test)]
mod tests;
