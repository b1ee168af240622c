//! Remarks on the targets of a report, with each remark once, however many targets it is made on.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::model::text::{count, grouped, plural};
use crate::report::Report;

/// A remark, with the targets that it is made on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) text: String,
    /// The names of the targets, if there are several.
    pub(super) targets: Vec<String>,
}

impl Remark {
    /// The number of targets in words; `None` if the text names the only one.
    pub(super) fn who(&self) -> Option<String> {
        (!self.targets.is_empty()).then(|| count(self.targets.len(), "target"))
    }

    /// The names of all targets.
    pub(super) fn names(&self) -> String {
        self.targets.join(", ")
    }
}

/// Skipped tests, unverified targets, stale known failures and the like.
pub(super) fn remarks(report: &Report) -> Vec<Remark> {
    let mut notes = Vec::new();
    for column in &report.targets {
        let own = column.unverified.iter().map(|why| (format!("unverified: {why}"), None));
        let own = own.chain(column.skipped.iter().map(|one| (one.text.clone(), Some(one.tests))));
        notes.extend(own.map(|(text, tests)| Note { target: column.name.clone(), joint: ": ", text, tests }));
        // These texts name the target themselves.
        let named = column.stale.iter().map(|stale| format!("stale: {stale}"));
        let named = named.chain(column.snapshots.iter().map(|problem| format!("snapshot: {problem}")));
        notes.extend(named.map(|text| Note { target: String::new(), joint: "", text, tests: None }));
    }
    joined(notes)
}

/// The reasons why a report is partial.
pub(super) fn caveats(report: &Report) -> Vec<Remark> {
    let mut names: Vec<_> = report.targets.iter().flat_map(|one| [one.name.clone(), one.id.to_string()]).collect();
    // The longest first: a name can begin with another one.
    names.sort_by_key(|name| Reverse(name.len()));
    let note = |text: &str| {
        let rest = |name: &str| text.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned);
        let of = names.iter().find_map(|name| Some((name.clone(), rest(name)?)));
        let (target, text) = of.unwrap_or_else(|| (String::new(), text.to_owned()));
        Note { target, joint: " ", text, tests: None }
    };
    joined(report.partial.iter().map(|caveat| note(&caveat.text)).collect())
}

/// A remark on one target, or on none if the name is empty.
struct Note {
    target: String,
    /// The text between the name and the remark.
    joint: &'static str,
    text: String,
    /// The number of skipped tests.
    tests: Option<usize>,
}

/// Puts the targets of equal texts together. The order is that of the first occurrence.
fn joined(notes: Vec<Note>) -> Vec<Remark> {
    let mut groups: Vec<Vec<Note>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for note in notes {
        let place = *places.entry(note.text.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(note);
    }
    groups.into_iter().map(|notes| remark(&notes)).collect()
}

fn remark(notes: &[Note]) -> Remark {
    let numbers = || notes.iter().filter_map(|note| note.tests);
    let of_each = if notes.len() > 1 { " of each" } else { "" };
    let text = match (numbers().min(), numbers().max()) {
        (Some(least), Some(most)) if least < most => {
            format!("{} to {} tests skipped{of_each}: {}", grouped(least), grouped(most), notes[0].text)
        }
        (Some(tests), _) => {
            format!("{} {} skipped{of_each}: {}", grouped(tests), plural(tests, "test"), notes[0].text)
        }
        _ => notes[0].text.clone(),
    };
    match notes {
        [one] if one.target.is_empty() => Remark { text, targets: Vec::new() },
        [one] => Remark { text: format!("{}{}{text}", one.target, one.joint), targets: Vec::new() },
        _ => Remark {
            text: text.strip_prefix("was ").map_or(text.clone(), |rest| format!("were {rest}")),
            targets: notes.iter().map(|note| note.target.clone()).filter(|name| !name.is_empty()).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_remarks_are_one_with_all_targets() {
        let note = |target: &str, text: &str, tests: Option<usize>| {
            let joint = if tests.is_some() { ": " } else { " " };
            Note { target: target.to_owned(), joint, text: text.to_owned(), tests }
        };
        let made = joined(vec![
            note("a", "heavy", Some(6)),
            note("a", "was narrowed", None),
            note("b", "heavy", Some(1_200)),
            note("b", "was tested in part", None),
            note("c", "was tested in part", None),
            note("", "the run was interrupted", None),
        ]);
        let made: Vec<_> = made.iter().map(|one| (one.who(), one.text.as_str(), one.names())).collect();
        assert_eq!(
            made,
            [
                (Some("2 targets".to_owned()), "6 to 1,200 tests skipped of each: heavy", "a, b".to_owned()),
                (None, "a was narrowed", String::new()),
                (Some("2 targets".to_owned()), "were tested in part", "b, c".to_owned()),
                (None, "the run was interrupted", String::new()),
            ]
        );
    }
}
