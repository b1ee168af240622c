//! The known failures and the flaky tests of a target.
//!
//! Takes `[[known]]` and `[[flaky]]` of a `target.toml`, gives each entry with the variants that it is limited to. Must
//! not know which tests exist.

use camino::{Utf8Component, Utf8PathBuf};

use super::diagnostic::Lint;
use super::node::Node;
use super::read::{Object, Reader};
use crate::model::target::{Disclosure, Flaky, Known};
use crate::model::{Pattern, PatternError, RequirementId};

/// An entry, and the variants that it is limited to; none for an entry of all variants.
pub(super) struct Excuse<T> {
    variants: Vec<String>,
    entry: T,
}

/// The entries for this variant, each with the information whether other variants have it too.
pub(super) fn of_variant<T: Clone>(entries: &[Excuse<T>], variant: Option<&str>) -> impl Iterator<Item = (T, bool)> {
    let applicable = move |excuse: &&Excuse<T>| {
        excuse.variants.is_empty() || variant.is_some_and(|variant| excuse.variants.iter().any(|one| one == variant))
    };
    entries.iter().filter(applicable).map(|Excuse { variants, entry }| (entry.clone(), variants.len() != 1))
}

/// Reads the known failures.
pub(super) fn known(reader: &mut Reader, node: &Node, variants: &[&str]) -> Vec<Excuse<Known>> {
    let items = reader.items(node, "`known`").unwrap_or_default();
    let known = items.iter().filter_map(|item| {
        let what = "a known failure";
        let object =
            reader.object(item, what, &["test", "requirement", "variant", "reason", "issue", "repro", "disclosure"])?;
        let requirement = reader.need(object, what, "requirement");
        let requirement = requirement.and_then(|node| reader.text(node, "`requirement`")).map(str::to_owned);
        let repro = object.get("repro").and_then(|node| repro(reader, node));
        let disclosure = object.get("disclosure");
        let disclosure = disclosure.and_then(|node| reader.word(node, "`disclosure`", Disclosure::ALL));
        let Excuse { variants, entry: Flaky { test, reason, issue } } = excuse(reader, object, what, variants)?;
        let requirement = RequirementId::within("", &requirement?);
        let known = Known { test, requirement, reason, issue, repro, disclosure, is_shared: false };
        Some(Excuse { variants, entry: known })
    });
    known.collect()
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

/// Reads the flaky tests.
pub(super) fn flaky(reader: &mut Reader, node: &Node, variants: &[&str]) -> Vec<Excuse<Flaky>> {
    let items = reader.items(node, "`flaky`").unwrap_or_default();
    let flaky = items.iter().filter_map(|item| {
        let what = "a flaky test";
        let object = reader.object(item, what, &["test", "variant", "reason", "issue"])?;
        excuse(reader, object, what, variants)
    });
    flaky.collect()
}

/// Reads the parts that known failures and flaky tests have in common: the tests, the reason, the variants.
fn excuse(reader: &mut Reader, object: Object<'_>, what: &str, known: &[&str]) -> Option<Excuse<Flaky>> {
    let mut need = |key: &str| {
        let node = reader.need(object, what, key)?;
        reader.text(node, &format!("`{key}`")).map(|text| (node, text.to_owned()))
    };
    let (test, reason) = (need("test"), need("reason"));
    if let Some((node, _)) = reason.as_ref().filter(|(_, reason)| reason.trim().is_empty()) {
        let empty = reader.mistake(Lint::WrongCount, format!("the `reason` of {what} is empty"));
        let help = "write why the target fails, as in `reason = \"does not validate arguments\"`";
        reader.push(empty.at(node.span, "no text in it").help(help));
        return None;
    }
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
    Some(Excuse { variants, entry: Flaky { test, reason: reason?.1, issue } })
}
