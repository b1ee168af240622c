//! What is unexpected, as the lines by which a GitHub job marks files.
//!
//! Takes a report, gives `::error file=…,line=…` and the like, bounded in number, for GitHub shows only the first few.
//! Text of targets can't end a line or begin another command.

use std::collections::BTreeMap;

use super::{CheckEntry, Report, Standing, TestEntry, Untrusted};
use crate::model::record::VerdictKind;

/// How many places are marked.
const MARKED: usize = 50;
/// How many characters of what didn't hold.
const TOLD: usize = 400;

/// Column, file, line and requirement.
type Place<'r> = (usize, &'r str, usize, usize);

/// The lines; none where nothing is unexpected. A place is marked once a column, with its first test.
pub fn annotations(report: &Report, strict: bool) -> Vec<String> {
    let mut places: BTreeMap<Place<'_>, (&TestEntry, &CheckEntry, usize)> = BTreeMap::new();
    let mut lines = Vec::new();
    for test in &report.tests {
        for check in test.checks.iter().filter(|check| Standing::from(check.kind).is_unexpected(strict)) {
            if check.kind == VerdictKind::Error {
                continue;
            }
            let key = (test.target, test.file.as_str(), check.line, check.requirement);
            places.entry(key).and_modify(|(_, _, tests)| *tests += 1).or_insert((test, check, 1));
        }
    }
    let total = places.len();
    lines.extend(places.values().take(MARKED).map(|(test, check, tests)| mark(report, test, check, *tests)));
    if total > MARKED {
        lines.push(notice("casebook", &format!("{} more findings are in the report", total - MARKED)));
    }
    for (target, column) in report.targets.iter().enumerate() {
        let name = report.name(target);
        let error = |message: &str| format!("::error title={}::{}", property(&name), data(message));
        lines.extend(column.stale.iter().take(MARKED).map(|stale| error(stale)));
        let gone = column.count(Standing::Error);
        lines.extend((gone > 0).then(|| error(&format!("{gone} tests had no target to ask, or the harness failed"))));
        let missing = column.missing;
        lines.extend((missing > 0).then(|| error(&format!("{missing} of {} tests were not run", column.planned))));
    }
    lines
}

fn mark(report: &Report, test: &TestEntry, check: &CheckEntry, tests: usize) -> String {
    let sentence = &report.requirements[check.requirement];
    let word = if check.kind == VerdictKind::Warn || check.kind == VerdictKind::Cannot { "warning" } else { "error" };
    let title = format!("{} {}: {}", sentence.level, sentence.id, report.name(test.target));
    let mut message = vec![test.test.to_string(), test.title.clone()];
    message.extend(check.detail.iter().take(3).cloned());
    message.extend((tests > 1).then(|| format!("and {} more checks like it", tests - 1)));
    let message: Vec<_> = message.iter().map(|line| Untrusted(line).line(TOLD)).collect();
    let (file, line) = (property(&test.file), check.line);
    format!("::{word} file={file},line={line},title={}::{}", property(&title), data(&message.join("\n")))
}

fn notice(title: &str, message: &str) -> String {
    format!("::notice title={}::{}", property(title), data(message))
}

/// What stands behind the second `::`: only these end it.
fn data(text: &str) -> String {
    Untrusted(text).block(4000).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands between the commas.
fn property(text: &str) -> String {
    data(&Untrusted(text).line(300)).replace(':', "%3A").replace(',', "%2C")
}
