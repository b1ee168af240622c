//! The traceability file of the specification's process (SEP-2484): each requirement of a SEP with the checks that
//! exercise it, or with the reason for having none.
//!
//! Takes a [`Coverage`], gives YAML. Must not know how it was counted.

use std::fmt::Write as _;

use super::{Coverage, State};
use crate::model::markdown::url;
use crate::model::spec::{Level, Requirement};
use crate::model::untrusted::escape_json;

const WRITING: &str = "writing to a string never fails";

impl Coverage<'_> {
    /// Returns the text of `sep-NNNN.yaml`, ordered by level from MUST to DERIVED. A MAY needs no row there.
    pub fn traceability(&self, sep: u32) -> String {
        let rows = self.entries().iter().filter_map(|entry| Some((entry, words_of(entry.requirement, sep)?)));
        let mut rows: Vec<_> = rows.filter(|(entry, _)| entry.requirement.level != Level::May).collect();
        rows.sort_by_key(|(entry, _)| entry.requirement.level);
        let mut out = format!("sep: {sep}\n");
        if let Some((entry, _)) = rows.first() {
            // The page; each row has its own heading.
            let link = entry.requirement.link();
            let link = link.split('#').next().unwrap_or_default();
            let link = url(link).map_or_else(|| quoted(link), str::to_owned);
            writeln!(out, "spec_url: {link}").expect(WRITING);
        }
        out.push_str(if rows.is_empty() { "requirements: []\n" } else { "requirements:\n" });
        for (entry, text) in rows {
            let id = &entry.requirement.id;
            let text = quoted(text);
            let excluded = match (entry.state(), &entry.requirement.unobservable) {
                (_, Some(reason)) => Some(reason.as_str()),
                (State::Open, None) => Some("Open: it can be observed, and no case does yet"),
                (_, None) => None,
            };
            match excluded {
                Some(reason) => writeln!(out, "  - text: {text}\n    excluded: {}", quoted(reason)),
                None => writeln!(out, "  - check: {}\n    text: {text}", id.as_str().replace('/', "-")),
            }
            .expect(WRITING);
        }
        out
    }
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

/// A JSON string is a YAML string.
fn quoted(text: &str) -> String {
    escape_json(&serde_json::Value::from(text).to_string()).into_owned()
}
