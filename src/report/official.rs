//! The results of a run in the form of the official suite: a `checks.json` for each target and case file.
//!
//! Takes a [`Report`] and the requirements, gives files. Must not know what reads them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::coverage::trace::{check_id, seps};
use super::{Report, Sentence};
use crate::model::spec::{Catalogue, Level, Role};
use crate::model::untrusted::escape_json;
use crate::model::verdict::{Meaning, VerdictKind};

/// The most characters of a message of an error.
const MESSAGE: usize = 1_000;

/// The worst verdict of a check so far, and why.
struct Worst {
    kind: VerdictKind,
    why: Option<String>,
    tests: usize,
}

/// Returns the files by their paths: `TARGET/[server-]CASE/checks.json`. All have the same time, in the form of RFC 3339.
pub fn official(report: &Report, requirements: &Catalogue, time: &str) -> Vec<(String, String)> {
    let mut found: BTreeMap<String, BTreeMap<usize, Worst>> = BTreeMap::new();
    for test in &report.tests {
        let target = file_name(&report.targets[test.target].name);
        let side = if test.role == Some(Role::Server) { "server-" } else { "" };
        let path = format!("{target}/{side}{}/checks.json", test.test.case.to_string().replace('/', "-"));
        let checks = found.entry(path).or_default();
        // A MAY has no row in a traceability file.
        let is_binding = |place: usize| report.requirements[place].level != Level::May;
        for check in test.checks.iter().filter(|check| is_binding(check.requirement)) {
            let why = check.detail.first().map(|detail| detail.text.chars().take(MESSAGE).collect());
            let one = || Worst { kind: check.kind, why: why.clone(), tests: 0 };
            let worst = checks.entry(check.requirement).or_insert_with(one);
            if rank(check.kind) > rank(worst.kind) {
                (worst.kind, worst.why) = (check.kind, why);
            }
            worst.tests += 1;
        }
    }
    let text = |checks: BTreeMap<usize, Worst>| {
        let rows = checks.iter().flat_map(|(place, worst)| {
            let sentence = &report.requirements[*place];
            names(sentence, requirements).into_iter().map(|id| row(id, sentence, worst, time))
        });
        let rows: Vec<_> = rows.collect();
        escape_json(&serde_json::to_string_pretty(&rows).expect("rows are JSON")).into_owned() + "\n"
    };
    found.into_iter().map(|(path, checks)| (path, text(checks))).collect()
}

/// The names of a check: one for each SEP that has the sentence, or else its own.
fn names(sentence: &Sentence, requirements: &Catalogue) -> Vec<String> {
    let known = requirements.get(&sentence.id);
    let names: Vec<_> =
        known.into_iter().flat_map(|known| seps(known).into_iter().map(|sep| check_id(known, sep))).collect();
    if names.is_empty() { vec![sentence.id.as_str().replace('/', "-")] } else { names }
}

fn row(id: String, sentence: &Sentence, worst: &Worst, time: &str) -> Value {
    let status = status(worst.kind, sentence.level);
    let mut row = Map::new();
    row.insert("id".into(), id.into());
    row.insert("name".into(), sentence.id.as_str().into());
    row.insert("description".into(), sentence.quote.as_deref().unwrap_or_default().into());
    row.insert("status".into(), status.into());
    row.insert("timestamp".into(), time.into());
    if let Some(url) = &sentence.url {
        row.insert("specReferences".into(), json!([{ "id": sentence.id.as_str(), "url": url }]));
    }
    row.insert("details".into(), json!({ "level": sentence.level, "verdict": worst.kind, "checks": worst.tests }));
    if let Some(why) = worst.why.as_ref().filter(|_| matches!(status, "FAILURE" | "WARNING")) {
        row.insert("errorMessage".into(), why.as_str().into());
    }
    Value::Object(row)
}

/// The status of the official suite. A known failure is one.
fn status(kind: VerdictKind, level: Level) -> &'static str {
    match (kind.meaning(), level) {
        (Meaning::Holds, _) => "SUCCESS",
        (Meaning::Broken, Level::Must | Level::MustNot) => "FAILURE",
        (Meaning::Broken, Level::Should | Level::ShouldNot) => "WARNING",
        (Meaning::Broken, _) => "INFO",
        (Meaning::Option | Meaning::Undecided | Meaning::Aside, _) => "SKIPPED",
    }
}

fn rank(kind: VerdictKind) -> u8 {
    match kind.meaning() {
        Meaning::Broken => 2,
        Meaning::Holds => 1,
        Meaning::Option | Meaning::Undecided | Meaning::Aside => 0,
    }
}

/// A name as the name of a folder.
fn file_name(name: &str) -> String {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.' | '@');
    let name: String = name.chars().map(|one| if is_plain(one) { one } else { '-' }).collect();
    if name.trim_matches('.').is_empty() { "target".to_owned() } else { name }
}
