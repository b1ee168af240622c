//! The results of a run in the form of the official suite: a `checks.json` for each target and case file.
//!
//! Takes a [`Report`] and the requirements, gives files. Must not know what reads them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::coverage::trace::{check_id, seps};
use super::file_names::{FileNames, plain};
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
    // By what they are: names of folders may be equal.
    let mut found: BTreeMap<_, BTreeMap<usize, Worst>> = BTreeMap::new();
    for test in &report.tests {
        let is_server = test.role == Some(Role::Server);
        let checks = found.entry((test.target, is_server, &test.test.case)).or_default();
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
    let mut folders = FileNames::new('-');
    let targets = report.targets.iter().map(|column| (folders.place(&file_name(&column.name)), FileNames::new('-')));
    let mut targets: Vec<_> = targets.collect();
    let mut files = Vec::new();
    for ((target, is_server, case), checks) in found {
        let (folder, cases) = &mut targets[target];
        let case = cases.place(&file_name(&format!("{}{case}", if is_server { "server-" } else { "" })));
        files.push((format!("{folder}/{case}/checks.json"), text(checks)));
    }
    files
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
    let name = plain(name, &['-', '_', '.', '@'], '-');
    if name.trim_matches('.').is_empty() { "target".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::TargetId;
    use crate::model::case::Outcome;
    use crate::model::record::{Header, Record};
    use crate::report::tests::{self, verdict};
    use crate::report::{ReportContext, Source};

    #[test]
    fn failure_is_told_of_its_own_target_and_case() {
        let target = |name: &str, variant: Option<&str>| TargetId {
            name: name.to_owned(),
            variant: variant.map(ToOwned::to_owned),
        };
        let header = Header { targets: vec![target("a", Some("b")), target("a-b", None)], ..tests::header(3) };
        let mut source = Source::begun("run.jsonl", &header);
        for (name, variant, case, kind) in [
            ("a", Some("b"), "a/b-c", VerdictKind::Fail),
            ("a", Some("b"), "a-b/c", VerdictKind::Pass),
            ("a-b", None, "a/b-c", VerdictKind::Pass),
        ] {
            source.add(&Record {
                target: target(name, variant),
                verdicts: vec![verdict(kind)],
                ..samples::record(0, &format!("{case}/t@2026-07-28+http"), Outcome::Success)
            });
        }
        let report = Report::new(&[source], &ReportContext::default());
        let files = official(&report, &Catalogue::default(), "now");
        let failed = files.iter().filter(|(_, text)| text.contains("FAILURE"));
        assert_eq!(failed.count(), 1, "{files:?}");
        let paths: BTreeMap<_, _> = files.iter().map(|(path, text)| (path.to_lowercase(), text)).collect();
        assert_eq!((files.len(), paths.len()), (3, 3), "{files:?}");
    }

    #[test]
    fn each_target_and_case_has_a_folder_of_its_own() {
        let mut folders = FileNames::new('-');
        let names = ["a:b", "a-b", "A/B", "a-b-2", "a-b", "\u{e9}\u{e9}", "\u{e8}\u{e8}", "..", "target"];
        let places = names.map(|name| folders.place(&file_name(name)));
        assert_eq!(places, ["a-b", "a-b-2", "A-B-3", "a-b-2-2", "a-b-4", "--", "---2", "target", "target-2"]);
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let mut folders = FileNames::new('-');
        let long = "\u{e9}".repeat(300);
        assert_eq!(folders.place(&file_name(&long)), "-".repeat(100));
        assert_eq!(folders.place(&file_name(&format!("{long}x"))), format!("{}-2", "-".repeat(100)));
    }
}
