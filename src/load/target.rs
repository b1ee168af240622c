//! `target.toml` → [`Target`]s, one a variant.
//!
//! Takes what the user typed, gives targets, or everything that is wrong with the file. Must not start anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::diagnostic::{Diagnostic, File, Lint, did_you_mean};
use super::drives::{claims, drives, kind};
use super::node::Node;
use super::programs::programs;
use super::read::{Object, Reader};
use super::source::{MOST_BYTES, refuse};
use super::{Here, LoadError, Skipped, embedded, masked, toml};
use crate::file;
use crate::model::spec::{Revision, Role, Transport};
use crate::model::target::{Claims, Flaky, Known, Package, Setup, Target, TargetKind};
use crate::model::{Pattern, RequirementId, TargetId, is_target_name};

/// The target that is embedded.
pub const REFERENCE: &str = "reference";
const FILE: &str = "target.toml";
/// The folder of a repository in which targets have names.
const TARGETS: &str = "targets";
/// What to type, for those who typed nothing like it.
const WHAT_IS_ONE: &str = "it is a name that `casebook targets` lists, or a folder with a target.toml in it";

/// Why a target can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// There is none of that name.
    #[error("there is no target `{name}`; {}", .hint.as_deref().unwrap_or(WHAT_IS_ONE))]
    Missing {
        /// What was typed.
        name: String,
        /// The question for a target with a similar name.
        hint: Option<String>,
    },
    /// It has no such variant.
    #[error("the target `{target}` has no variant `{variant}`; it has {}", .variants.join(", "))]
    Variant {
        /// The target's name.
        target: String,
        /// What was typed.
        variant: String,
        /// What there is.
        variants: Vec<String>,
    },
    /// It is embedded, and can't be unpacked.
    #[error("the target `{name}` can't be unpacked into {cache}: {error}")]
    Unpack {
        /// The target's name.
        name: String,
        /// The cache folder.
        cache: Utf8PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Its file is wrong.
    #[error(transparent)]
    File(#[from] LoadError),
}

/// The embedded reference target: this program, as an adapter, with a defect or without.
pub fn reference(program: &Utf8Path, here: &Here, mutant: Option<&str>) -> Target {
    let mut command = vec![program.to_string(), "__adapter".to_owned()];
    command.extend(mutant.into_iter().flat_map(|name| ["--mutant".to_owned(), name.to_owned()]));
    let snapshots = here.nearest("snapshots", REFERENCE).and_then(Result::ok);
    Target {
        id: TargetId { name: REFERENCE.to_owned(), variant: mutant.map(str::to_owned) },
        title: "the embedded reference target".to_owned(),
        file: None,
        folder: here.folder().to_owned(),
        setup: Setup::default(),
        drives: TargetKind::Adapter(command),
        env: BTreeMap::new(),
        secrets: Vec::new(),
        claims: Claims {
            roles: vec![Role::Server, Role::Client],
            transports: Transport::ALL.to_vec(),
            revisions: Revision::all().collect(),
            lacks: Vec::new(),
        },
        known: Vec::new(),
        flaky: Vec::new(),
        snapshots: snapshots.filter(|_| mutant.is_none()).map(|folder| folder.join(REFERENCE)),
        unverified: None,
        needs: Vec::new(),
        package: None,
    }
}

/// Finds and reads a target: a path, or a name in the current repository's `targets/` or the current folder, or else,
/// where there is a cache folder that it can be unpacked into, the name of one that is embedded; `NAME:VARIANT` for one
/// variant.
///
/// # Errors
/// [`TargetError`] where there is none, or its file is wrong.
pub fn target(typed: &str, here: &Here, cache: Option<&Utf8Path>) -> Result<Vec<Target>, TargetError> {
    let (name, variant) = split(typed);
    let found = find(name, here).find_map(Result::ok).map(|path| path.canonicalize_utf8().unwrap_or(path));
    let file = match (found, cache) {
        (Some(file), _) => file,
        (None, Some(cache)) if embedded::names().contains(&name) => {
            let failed = |error| TargetError::Unpack { name: name.to_owned(), cache: cache.to_owned(), error };
            unpacked(name, here, cache).map_err(failed)?.join(FILE)
        }
        (None, _) => {
            let names = names(here);
            let known: Vec<&str> = names.iter().map(String::as_str).chain([REFERENCE]).collect();
            let hint = if known.contains(&name) { None } else { did_you_mean(name, &known) };
            return Err(TargetError::Missing { name: name.to_owned(), hint });
        }
    };
    let targets = read(&file)?;
    let Some(variant) = variant else { return Ok(targets) };
    let variants = targets.iter().filter_map(|target| target.id.variant.clone()).collect();
    let one: Vec<_> = targets.into_iter().filter(|target| target.id.variant.as_deref() == Some(variant)).collect();
    if one.is_empty() {
        return Err(TargetError::Variant { target: name.to_owned(), variant: variant.to_owned(), variants });
    }
    Ok(one)
}

/// The files of other users to which a target's name leads, and that are not used; for no name, the folder of targets.
pub fn skipped(typed: Option<&str>, here: &Here) -> Vec<Skipped> {
    match typed.map(|typed| split(typed).0) {
        Some(REFERENCE) => here.nearest("snapshots", REFERENCE).and_then(Result::err).into_iter().collect(),
        Some(name) => find(name, here).map_while(Result::err).collect(),
        None => here.nearest(TARGETS, "").and_then(Result::err).into_iter().collect(),
    }
}

/// Every target that has a name here, the embedded ones among them, one a variant. Nothing is unpacked.
///
/// # Errors
/// [`LoadError`] where a file is wrong.
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

/// Returns whether a target is one of those inside of this program, unpacked into the cache folder or not.
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
    let Some(Ok(folder)) = here.nearest(TARGETS, "") else { return BTreeMap::new() };
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().to_owned(), within(entry.path(), here)?.ok()?)));
    named.collect()
}

/// `NAME:VARIANT`, or a name alone.
fn split(typed: &str) -> (&str, Option<&str>) {
    match typed.rsplit_once(':') {
        Some((name, variant)) if !variant.contains('/') => (name, Some(variant)),
        _ => (typed, None),
    }
}

/// The files that somebody may mean, the nearest first. A path is used whoever the file belongs to.
fn find(typed: &str, here: &Here) -> impl Iterator<Item = Result<Utf8PathBuf, Skipped>> {
    let path = here.folder().join(typed);
    let found: Vec<_> = if is_path(typed) {
        let file = Some(path.join(FILE)).filter(|file| file.symlink_metadata().is_ok());
        file.or_else(|| path.is_file().then_some(path)).map(Ok).into_iter().collect()
    } else {
        let named = here.nearest(TARGETS, "").and_then(|folder| match folder {
            Ok(folder) => within(&folder.join(typed), here),
            Err(skipped) => skipped.leads_to(typed, FILE).then_some(Err(skipped)),
        });
        let file = path.is_file().then(|| here.own(path.clone(), [here.folder().to_owned(), path.clone()]));
        let inside =
            within(&path, here).map(|inside| inside.and_then(|file| here.own(file, [here.folder().to_owned()])));
        [named, inside, file].into_iter().flatten().collect()
    };
    found.into_iter()
}

/// The file of a target in its folder.
fn within(folder: &Utf8Path, here: &Here) -> Option<Result<Utf8PathBuf, Skipped>> {
    let file = folder.join(FILE);
    file.is_file().then(|| here.own(file.clone(), [folder.to_owned(), file]))
}

/// The folder of an embedded target, which is this user's.
fn unpacked(name: &str, here: &Here, cache: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    let other = |skipped: Skipped| std::io::Error::other(skipped.to_string());
    // Nothing is written by way of another user's folder.
    here.own_cache(cache.to_owned(), &["targets"]).map_err(other)?;
    let place = embedded::unpack(name, cache)?;
    let above: Vec<_> =
        place.ancestors().take_while(|above| above.starts_with(cache)).map(Utf8Path::to_owned).collect();
    here.own(place, above).map_err(other)
}

/// Reads a file, one target a variant.
///
/// # Errors
/// Everything that is wrong with it, or the reason why it cannot be read.
pub fn read(path: &Utf8Path) -> Result<Vec<Target>, LoadError> {
    let text = file::read_text(path, MOST_BYTES);
    let refused = |error| LoadError::new(vec![refuse(path, Lint::Unreadable, &format!("can't be read: {error}"))]);
    parse(path, text.map_err(refused)?)
}

fn parse(path: &Utf8Path, text: String) -> Result<Vec<Target>, LoadError> {
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

/// Bytes of the file, times the variants, each of which is a target with all that is in it.
const COPIES: usize = 4 << 20;

const KEYS: [&str; 16] = [
    "title",
    "package",
    "version",
    "kind",
    "command",
    "url",
    "client",
    "env",
    "secrets",
    "needs",
    "setup",
    "claims",
    "variants",
    "known",
    "flaky",
    "unverified",
];

fn targets(reader: &mut Reader, node: &Node, path: &Utf8Path) -> Option<Vec<Target>> {
    let what = "a target";
    let object = reader.object(node, what, &KEYS)?;
    let folder = path.parent()?.to_owned();
    let text = |reader: &mut Reader, key: &str, node: &Node| reader.text(node, &format!("`{key}`")).map(str::to_owned);
    let title = reader.need(object, what, "title").and_then(|node| text(reader, "title", node));
    let kind = kind(reader, object);
    let drives = kind.and_then(|kind| drives(reader, object, kind, &folder));
    let claims = reader.need(object, what, "claims").and_then(|node| claims(reader, node, drives.as_ref(), kind?));
    let env = object.get("env").map_or_else(BTreeMap::new, |node| env(reader, node));
    let secrets = object.get("secrets").and_then(|node| strings(reader, node, "`secrets`")).unwrap_or_default();
    let setup = object.get("setup").map_or_else(Setup::default, |node| setup(reader, node, &folder));
    let unverified = object.get("unverified").and_then(|node| text(reader, "unverified", node));
    let needs = object.get("needs").map_or_else(Vec::new, |node| programs(reader, node));
    let package = package(reader, object);
    let variants = object.get("variants").map_or_else(Vec::new, |node| variants(reader, node));
    if variants.len().saturating_mul(reader.file().inner().len()) > COPIES {
        let (many, node) = (variants.len(), object.get("variants").map_or(node, |node| node));
        let mistake = reader.mistake(Lint::TooLarge, format!("the file is too large for {many} variants"));
        reader.push(mistake.at(node.span, "each has all of the file").help("make several targets of them"));
        return None;
    }
    let known = object.get("known").map_or_else(Vec::new, |node| known(reader, node, &variants));
    let flaky = object.get("flaky").map_or_else(Vec::new, |node| flaky(reader, node, &variants));
    let name = folder.file_name().unwrap_or("target").to_owned();
    if !is_target_name(&name) {
        let mistake = reader.mistake(Lint::IdStyle, format!("`{name}` can't be the name of a target"));
        reader.push(mistake.help("give its folder a shorter name, without hidden characters"));
    }
    let target = Target {
        id: TargetId { name, variant: None },
        title: title?,
        drives: drives?,
        claims: claims?,
        file: Some(path.to_owned()),
        folder,
        setup,
        env,
        secrets,
        unverified,
        needs,
        package,
        known: Vec::new(),
        flaky: Vec::new(),
        snapshots: None,
    };
    let one = |variant: Option<String>| {
        let id = TargetId { variant: variant.clone(), ..target.id.clone() };
        let known = narrowed(&known, variant.as_deref());
        let flaky = narrowed(&flaky, variant.as_deref());
        Target { snapshots: Some(snapshots(&target.folder, &id)), id, known, flaky, ..target.clone() }
    };
    if variants.is_empty() {
        return Some(vec![one(None)]);
    }
    Some(variants.into_iter().map(|variant| one(Some(variant))).collect())
}

/// `package` and `version`: both, or neither.
fn package(reader: &mut Reader, object: Object<'_>) -> Option<Package> {
    let text = |reader: &mut Reader, key: &str, node: &Node| reader.text(node, &format!("`{key}`")).map(str::to_owned);
    let what = "a target with one of `package` and `version`";
    object.get("package").or_else(|| object.get("version"))?;
    let name = reader.need(object, what, "package").and_then(|node| text(reader, "package", node));
    let version = reader.need(object, what, "version").and_then(|node| text(reader, "version", node));
    Some(Package { name: name?, version: version? })
}

/// In a repository with `targets/` and `snapshots/`, the latter; anywhere else beside the file.
fn snapshots(folder: &Utf8Path, id: &TargetId) -> Utf8PathBuf {
    shared(folder).map_or_else(|| variant_of(folder.join("snapshots"), id), |shared| below(&shared, id))
}

/// The snapshots of a repository, which are of the cases beside them.
fn shared(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let targets = folder.parent().filter(|parent| parent.file_name() == Some("targets"))?;
    targets.parent().map(|root| root.join("snapshots")).filter(|snapshots| snapshots.is_dir())
}

fn below(shared: &Utf8Path, id: &TargetId) -> Utf8PathBuf {
    variant_of(shared.join(&id.name), id)
}

fn variant_of(own: Utf8PathBuf, id: &TargetId) -> Utf8PathBuf {
    id.variant.iter().fold(own, |own, variant| own.join(variant))
}

/// A target for other cases than the embedded ones: what a repository's snapshots say isn't about these. In its place
/// stand those beside the cases, if there are any. A target's own, beside its file, are its owner's affair.
pub fn for_cases(target: Target, beside: Option<&Utf8Path>) -> Target {
    let is_shared = target.file.is_none() || shared(&target.folder).is_some();
    let is_mutant = target.file.is_none() && target.id.variant.is_some();
    if is_mutant || !is_shared {
        return target;
    }
    Target { snapshots: beside.map(|beside| below(beside, &target.id)), ..target }
}

/// A command: its program is found on the PATH, or below the target's folder where it has a slash.
pub(super) fn command(reader: &mut Reader, node: &Node, folder: &Utf8Path) -> Option<Vec<String>> {
    let mut command = strings(reader, node, "a command")?;
    let Some(program) = command.first_mut() else {
        reader.push(reader.mistake(Lint::WrongCount, "a command is empty").at(node.span, "no program in here"));
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

fn env(reader: &mut Reader, node: &Node) -> BTreeMap<String, String> {
    let members = reader.members(node, "`env`").unwrap_or_default();
    let text = |member: &super::node::Member| {
        Some(((*member.key).to_owned(), reader.text(&member.value, "a variable")?.to_owned()))
    };
    members.iter().filter_map(text).collect()
}

fn setup(reader: &mut Reader, node: &Node, folder: &Utf8Path) -> Setup {
    let Some(object) = reader.object(node, "`setup`", &["commands", "inputs"]) else { return Setup::default() };
    let commands = object.get("commands").and_then(|node| reader.items(node, "`commands`")).unwrap_or_default();
    let commands = commands.iter().filter_map(|one| command(reader, one, folder)).collect();
    let inputs = object.get("inputs").and_then(|node| strings(reader, node, "`inputs`")).unwrap_or_default();
    Setup { commands, inputs: inputs.into_iter().map(Utf8PathBuf::from).collect() }
}

fn variants(reader: &mut Reader, node: &Node) -> Vec<String> {
    let members = reader.members(node, "`variants`").unwrap_or_default();
    for member in members {
        reader.id(&member.key, member.key_span, "the variant");
        reader.object(&member.value, "a variant", &[]);
    }
    members.iter().map(|member| (*member.key).to_owned()).collect()
}

/// What is narrowed to no variant, or to this one.
fn narrowed<T: Clone>(entries: &[(Option<String>, T)], variant: Option<&str>) -> Vec<T> {
    let meant = entries.iter().filter(|(only, _)| only.is_none() || only.as_deref() == variant);
    meant.map(|(_, entry)| entry.clone()).collect()
}

/// Known failures, each with the variant that it is narrowed to.
fn known(reader: &mut Reader, node: &Node, variants: &[String]) -> Vec<(Option<String>, Known)> {
    let items = reader.items(node, "`known`").unwrap_or_default();
    let known = items.iter().filter_map(|item| {
        let what = "a known failure";
        let object = reader.object(item, what, &["test", "requirement", "variant", "reason", "issue"])?;
        let requirement = reader.need(object, what, "requirement");
        let requirement = requirement.and_then(|node| reader.text(node, "`requirement`")).map(str::to_owned);
        let (variant, Flaky { test, reason, issue }) = excuse(reader, object, what, variants)?;
        Some((variant, Known { test, requirement: RequirementId::within("", &requirement?), reason, issue }))
    });
    known.collect()
}

/// Tests that fail now and then, each with the variant that it is narrowed to.
fn flaky(reader: &mut Reader, node: &Node, variants: &[String]) -> Vec<(Option<String>, Flaky)> {
    let items = reader.items(node, "`flaky`").unwrap_or_default();
    let flaky = items.iter().filter_map(|item| {
        let what = "a flaky test";
        let object = reader.object(item, what, &["test", "variant", "reason", "issue"])?;
        excuse(reader, object, what, variants)
    });
    flaky.collect()
}

/// What all excuses say: of which tests, and why.
fn excuse(reader: &mut Reader, object: Object<'_>, what: &str, variants: &[String]) -> Option<(Option<String>, Flaky)> {
    let mut need = |key: &str| {
        let node = reader.need(object, what, key)?;
        reader.text(node, &format!("`{key}`")).map(|text| (node, text.to_owned()))
    };
    let (test, reason) = (need("test"), need("reason"));
    if let Some((node, _)) = reason.as_ref().filter(|(_, reason)| reason.trim().is_empty()) {
        let empty = reader.mistake(Lint::WrongCount, format!("the `reason` of {what} is empty"));
        reader.push(empty.at(node.span, "nothing here").help("write what the target does, and why"));
    }
    let issue = object.get("issue").and_then(|node| reader.text(node, "`issue`")).map(str::to_owned);
    let known: Vec<&str> = variants.iter().map(String::as_str).collect();
    let variant = object.get("variant").and_then(|node| reader.word(node, "`variant`", &known)).map(str::to_owned);
    let (node, test) = test?;
    let test: Pattern = match test.parse() {
        Ok(pattern) => pattern,
        Err(error) => {
            let error: crate::model::PatternError = error;
            reader.push(reader.mistake(Lint::UnknownValue, error.to_string()).at(node.span, "no pattern"));
            return None;
        }
    };
    Some((variant, Flaky { test, reason: reason?.1, issue }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::fuzz;
    use crate::model::untrusted::is_safe;

    #[test]
    fn many_variants_of_much_are_refused() {
        let read = |variants: usize, known: usize| {
            let mut text = "title = \"A\"\ncommand = [\"a\"]\n[claims]\nroles = [\"server\"]\n\
                transports = [\"http\"]\nrevisions = [\"2026-07-28\"]\n"
                .to_owned();
            text.extend((0..variants).map(|one| format!("[variants.v{one}]\n")));
            let known =
                (0..known).map(|one| format!("[[known]]\ntest = \"**\"\nrequirement = \"a/r{one}\"\nreason = \"x\"\n"));
            text.extend(known);
            parse(Utf8Path::new("targets/a/target.toml"), text).map(|targets| targets.len())
        };
        assert_eq!(read(10, 1000).expect("it is small"), 10);
        let error = read(1000, 1000).expect_err("a thousand times a thousand");
        assert!(error.report(false).as_str().contains("too large for 1000 variants"));
    }

    #[test]
    fn any_target_file_is_read_or_its_mistakes_are_shown() {
        let seeds = embedded::names().into_iter().filter_map(|name| embedded::text(name, "target.toml"));
        fuzz("target-files", seeds, |bytes| {
            let read = parse(Utf8Path::new("targets/a/target.toml"), String::from_utf8_lossy(bytes).into_owned());
            if let Err(error) = read {
                assert!(is_safe(error.report(false).as_str()));
            }
        });
    }
}
