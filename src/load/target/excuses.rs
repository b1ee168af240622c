//! The known failures of a target, and the requirements that it leaves to the author.
//!
//! Takes `[[known]]` and `[[author]]` of a `target.toml`, gives each entry with the variants that it is limited to. Must not know which tests exist.

use camino::{Utf8Component, Utf8PathBuf};

use crate::load::text::diagnostic::Lint;
use crate::load::text::node::Node;
use crate::load::text::read::{Object, Reader};
use crate::model::target::{Known, LeftToAuthor};
use crate::model::{Pattern, PatternError, RequirementId};

/// The number of requirements of one entry. Each has a copy of the entry.
const REQUIREMENTS: usize = 100;

/// An entry, and the variants that it is limited to; none for an entry of all variants.
pub(super) struct Excuse<T> {
    variants: Vec<String>,
    entry: T,
}

/// The parts that all entries have in common.
struct Common {
    test: Pattern,
    reason: String,
    short: Option<String>,
    issue: Option<String>,
}

/// The entries for this variant, each with the information whether other variants have it too.
pub(super) fn of_variant<T: Clone>(entries: &[Excuse<T>], variant: Option<&str>) -> impl Iterator<Item = (T, bool)> {
    let applicable = move |excuse: &&Excuse<T>| {
        excuse.variants.is_empty() || variant.is_some_and(|variant| excuse.variants.iter().any(|one| one == variant))
    };
    entries.iter().filter(applicable).map(|Excuse { variants, entry }| (entry.clone(), variants.len() != 1))
}

/// The key by which an entry says why it excuses a failure.
#[derive(Clone, Copy)]
struct Why {
    key: &'static str,
    /// What to write there.
    help: &'static str,
}

const REASON: Why =
    Why { key: "reason", help: "write why the target fails, as in `reason = \"does not validate arguments\"`" };
const QUOTE: Why =
    Why { key: "quote", help: "quote the sentence by which the documentation orders its users to do this themselves" };

/// Reads the known failures. An entry of several requirements gives one known failure for each.
pub(super) fn known(reader: &mut Reader, node: &Node, variants: &[&str]) -> Vec<Excuse<Known>> {
    let items = reader.items(node, "`known`").unwrap_or_default();
    let known = items.iter().filter_map(|item| {
        let what = "a known failure";
        let object =
            reader.object(item, what, &["test", "requirement", "variant", "reason", "short", "issue", "repro"])?;
        let requirements = requirements(reader, object, what);
        let repro = object.get("repro").and_then(|node| repro(reader, node));
        let Excuse { variants, entry: Common { test, reason, short, issue } } =
            excuse(reader, object, what, REASON, variants)?;
        let one = |requirement| Known {
            test: test.clone(),
            requirement,
            reason: reason.clone(),
            short: short.clone(),
            issue: issue.clone(),
            repro: repro.clone(),
            is_shared: false,
        };
        let known = requirements.into_iter().map(one);
        Some(known.map(|entry| Excuse { variants: variants.clone(), entry }).collect::<Vec<_>>())
    });
    known.flatten().collect()
}

/// Reads the requirements that are left to the author. An entry of several requirements gives one for each.
pub(super) fn author(reader: &mut Reader, node: &Node, variants: &[&str]) -> Vec<Excuse<LeftToAuthor>> {
    let items = reader.items(node, "`author`").unwrap_or_default();
    let left = items.iter().filter_map(|item| {
        let what = "an entry of `author`";
        let object = reader.object(item, what, &["test", "requirement", "variant", "quote", "short", "url"])?;
        let requirements = requirements(reader, object, what);
        let url = reader.need(object, what, "url").and_then(|node| https(reader, node));
        let Excuse { variants, entry: Common { test, reason, short, issue: _ } } =
            excuse(reader, object, what, QUOTE, variants)?;
        let url = url?;
        let one = |requirement| LeftToAuthor {
            test: test.clone(),
            requirement,
            reason: format!("\"{reason}\""),
            short: short.clone(),
            url: url.clone(),
            is_shared: false,
        };
        let left = requirements.into_iter().map(one);
        Some(left.map(|entry| Excuse { variants: variants.clone(), entry }).collect::<Vec<_>>())
    });
    left.flatten().collect()
}

/// Reads `requirement`: one, or a list.
fn requirements(reader: &mut Reader, object: Object<'_>, what: &str) -> Vec<RequirementId> {
    let Some(node) = reader.need(object, what, "requirement") else { return Vec::new() };
    let items = reader.one_or_more(node, "`requirement`");
    if items.len() > REQUIREMENTS {
        let many = reader.mistake(Lint::WrongCount, format!("{what} may have at most {REQUIREMENTS} requirements"));
        reader.push(many.at(node.span, format!("{} in it", items.len())).help("split the entry"));
        return Vec::new();
    }
    let ids =
        items.iter().filter_map(|item| reader.text(item, "`requirement`").map(|id| RequirementId::within("", id)));
    ids.collect()
}

/// Reads the address of documentation, which anyone can open.
fn https(reader: &mut Reader, node: &Node) -> Option<String> {
    let url = reader.text(node, "`url`")?;
    let host = url.strip_prefix("https://").unwrap_or_default();
    if host.is_empty() || host.starts_with('/') || url.contains(char::is_whitespace) {
        let wrong = reader.mistake(Lint::UnknownValue, "`url` is not an address that begins with https://");
        let help = "name the page of the SDK's documentation that orders its users to do this themselves";
        reader.push(wrong.at(node.span, "not such an address").help(help));
        return None;
    }
    Some(url.to_owned())
}

/// Reads the path of a program below the folder `repro/`.
fn repro(reader: &mut Reader, node: &Node) -> Option<Utf8PathBuf> {
    let path = Utf8PathBuf::from(reader.text(node, "`repro`")?);
    let is_below = path.components().all(|part| matches!(part, Utf8Component::Normal(_)));
    if path.as_str().is_empty() || !is_below {
        let mistake = reader.mistake(Lint::UnknownValue, "`repro` leads out of the folder `repro/`");
        let help = "name a file below the target's folder `repro/`, as in `repro = \"null-result.py\"`";
        reader.push(mistake.at(node.span, "not the name of a file").help(help));
        return None;
    }
    Some(path)
}

/// Reads the parts that all entries have in common, and the variants.
fn excuse(reader: &mut Reader, object: Object<'_>, what: &str, why: Why, known: &[&str]) -> Option<Excuse<Common>> {
    let mut need = |key: &str| {
        let node = reader.need(object, what, key)?;
        reader.text(node, &format!("`{key}`")).map(|text| (node, text.to_owned()))
    };
    let (test, reason) = (need("test"), need(why.key));
    if let Some((node, _)) = reason.as_ref().filter(|(_, reason)| reason.trim().is_empty()) {
        let empty = reader.mistake(Lint::WrongCount, format!("the `{}` of {what} is empty", why.key));
        reader.push(empty.at(node.span, "no text in it").help(why.help));
        return None;
    }
    let short = reader.short(object);
    let issue = object.get("issue").and_then(|node| reader.text(node, "`issue`")).map(str::to_owned);
    let variants = object.get("variant").map_or_else(Vec::new, |node| reader.words(node, "`variant`", known));
    let (node, test) = test?;
    let test: Pattern = match test.parse() {
        Ok(pattern) => pattern,
        Err(error) => {
            let error: PatternError = error;
            reader.push(reader.mistake(Lint::UnknownValue, error.to_string()).at(node.span, "not a pattern"));
            return None;
        }
    };
    let variants = variants.into_iter().map(str::to_owned).collect();
    Some(Excuse { variants, entry: Common { test, reason: reason?.1, short, issue } })
}
