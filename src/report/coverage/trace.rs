//! The traceability file of the specification's process (SEP-2484): each requirement of a SEP with the checks that
//! exercise it, or with the reason for having none.
//!
//! Takes a [`Coverage`], gives YAML in the form of the official suite. Must not know how it was counted.

use std::collections::BTreeMap;

use super::{Coverage, Entry, State};
use crate::model::markdown::url;
use crate::model::spec::{Level, Requirement};
use crate::model::untrusted::escape_json;

impl Coverage<'_> {
    /// Returns the text of `sep-NNNN.yaml`: the rows with a check, ordered by level from MUST to DERIVED, then those that no
    /// process shows. A MAY needs no row. A row with neither is open.
    pub fn traceability(&self, sep: u32) -> String {
        let rows = self.entries().iter().filter_map(|entry| Some((entry, words_of(entry.requirement, sep)?)));
        let mut rows: Vec<_> = rows.filter(|(entry, _)| entry.requirement.level != Level::May).collect();
        rows.sort_by_key(|(entry, _)| entry.requirement.level);
        let mut out = format!("sep: {sep}\n");
        let pages = rows.iter().map(|(entry, _)| page(entry.requirement));
        let page = most_common(pages);
        if let Some(page) = &page {
            out += &format!("spec_url: {}\n", address(page));
        }
        let (excluded, kept): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|(entry, _)| entry.requirement.unobservable.is_some());
        let (checked, open): (Vec<_>, Vec<_>) = kept.into_iter().partition(|(entry, _)| entry.state() != State::Open);
        if checked.is_empty() && open.is_empty() && excluded.is_empty() {
            return out + "requirements: []\n";
        }
        out += "requirements:\n";
        for (entry, text) in &checked {
            let id = check_id(entry.requirement, sep);
            out += &format!("  - check: {id}\n    text: {}\n{}", quoted(text), own_page(entry, page.as_deref()));
        }
        let groups = [&checked, &open, &excluded];
        let blank = |at: usize| if groups[..at].iter().any(|group| !group.is_empty()) { "\n" } else { "" };
        if !open.is_empty() {
            out += blank(1);
        }
        for (entry, text) in &open {
            out += &format!("  - text: {}\n{}", quoted(text), own_page(entry, page.as_deref()));
        }
        if !excluded.is_empty() {
            out += blank(2);
        }
        for (entry, text) in &excluded {
            let reason = entry.requirement.unobservable.as_deref().unwrap_or_default();
            out += &format!("  - text: {}\n    excluded: {}\n", quoted(text), quoted(reason));
        }
        out
    }
}

/// The address of a row, if it is on another page than the others.
fn own_page(entry: &Entry<'_>, common: Option<&str>) -> String {
    let link = entry.requirement.link();
    if common == Some(page(entry.requirement).as_str()) {
        String::new()
    } else {
        format!("    url: {}\n", address(&link))
    }
}

fn page(requirement: &Requirement) -> String {
    requirement.link().split('#').next().unwrap_or_default().to_owned()
}

fn most_common(pages: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    pages.for_each(|page| *counts.entry(page).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(page, _)| page)
}

/// The name of the check of a requirement in the files of a SEP. That of another folder has the folder in it.
pub(in crate::report) fn check_id(requirement: &Requirement, sep: u32) -> String {
    let id = &requirement.id;
    let own = format!("sep-{sep}/");
    let name = id.as_str().strip_prefix(&own).unwrap_or(id.as_str());
    format!("sep-{sep}-{}", name.replace('/', "-"))
}

/// The SEPs whose files have a requirement: the one of its folder, and those that it quotes.
pub(in crate::report) fn seps(requirement: &Requirement) -> Vec<u32> {
    let sources = std::iter::once(&requirement.source).chain(requirement.also.iter().map(|also| &also.source));
    let quoted = sources.filter_map(|source| source.strip_prefix("seps/")?.split('-').next()?.parse().ok());
    let own = requirement.id.folder().strip_prefix("sep-").and_then(|number| number.parse().ok());
    let mut seps: Vec<u32> = own.into_iter().chain(quoted).collect();
    seps.sort_unstable();
    seps.dedup();
    seps
}

/// Returns the quotes of a requirement that are from a SEP: all in its own folder, and its own quotes elsewhere.
pub(super) fn words_of(requirement: &Requirement, sep: u32) -> Option<&str> {
    if requirement.id.folder() == format!("sep-{sep}") {
        return Some(&requirement.quote);
    }
    let page = format!("seps/{sep}-");
    let also = requirement.also.iter().map(|also| (&also.source, &also.quote));
    let places = std::iter::once((&requirement.source, &requirement.quote)).chain(also);
    places.into_iter().find(|(source, _)| source.starts_with(&page)).map(|(_, quote)| quote.as_str())
}

fn address(link: &str) -> String {
    url(link).map_or_else(|| quoted(link), str::to_owned)
}

/// A YAML string in single quotes. One with a character that they cannot have is a JSON string, which is a YAML string.
fn quoted(text: &str) -> String {
    let escaped = escape_json(&serde_json::Value::from(text).to_string()).into_owned();
    let is_plain = escaped.len() == text.len() + 2 + text.matches(['"', '\\']).count();
    if is_plain { format!("'{}'", text.replace('\'', "''")) } else { escaped }
}
