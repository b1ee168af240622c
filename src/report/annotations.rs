//! What is unexpected, as the lines by which a GitHub job marks files.
//!
//! Takes a report, gives `::error file=…,line=…` and the like, bounded in number, for GitHub shows only the first few.
//! Text of targets can't end a line or begin another command.

use std::collections::BTreeMap;
use std::fmt;

use super::{CheckEntry, Report, Standing, TestEntry, Untrusted};
use crate::model::record::VerdictKind;

/// How many places are marked.
const MARKED: usize = 50;
/// How many characters of what didn't hold.
const TOLD: usize = 400;

/// A line that GitHub takes as a command; everything in it that came from outside is escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation(String);

impl Annotation {
    fn new(word: &str, properties: &[(&str, &str)], message: &str) -> Self {
        let properties: Vec<_> = properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
        Self(format!("::{word} {}::{}", properties.join(","), data(message)))
    }

    /// The line, without its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Column, file, line and requirement.
type Place<'r> = (usize, &'r str, usize, usize);

/// The lines; none where nothing is unexpected. A place is marked once a column, with its first test.
pub fn annotations(report: &Report, strict: bool) -> Vec<Annotation> {
    let mut places: BTreeMap<Place<'_>, (&TestEntry, &CheckEntry, usize)> = BTreeMap::new();
    let (mut lines, names) = (Vec::new(), report.names());
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
    lines.extend(
        places
            .values()
            .take(MARKED)
            .map(|(test, check, tests)| mark(report, &names[test.target], (test, check), *tests)),
    );
    if total > MARKED {
        let more = format!("{} more findings are in the report", total - MARKED);
        lines.push(Annotation::new("notice", &[("title", "casebook")], &more));
    }
    for (target, column) in report.targets.iter().enumerate() {
        let name = &names[target];
        let error = |message: &str| Annotation::new("error", &[("title", name)], message);
        lines.extend(column.stale.iter().take(MARKED).map(|stale| error(stale)));
        let gone = column.count(Standing::Error);
        lines.extend((gone > 0).then(|| error(&format!("{gone} tests had no target to ask, or the harness failed"))));
        let missing = column.missing;
        lines.extend((missing > 0).then(|| error(&format!("{missing} of {} tests were not run", column.planned))));
    }
    lines
}

fn mark(report: &Report, name: &str, (test, check): (&TestEntry, &CheckEntry), tests: usize) -> Annotation {
    let sentence = &report.requirements[check.requirement];
    let word = if check.kind == VerdictKind::Warn || check.kind == VerdictKind::Cannot { "warning" } else { "error" };
    let title = format!("{} {}: {}", sentence.level, sentence.id, name);
    let mut message = vec![test.test.to_string(), test.title.clone()];
    message.extend(check.detail.iter().take(3).cloned());
    message.extend((tests > 1).then(|| format!("and {} more checks like it", tests - 1)));
    let message: Vec<_> = message.iter().map(|line| Untrusted(line).line(TOLD)).collect();
    let line = check.line.to_string();
    Annotation::new(word, &[("file", &test.file), ("line", &line), ("title", &title)], &message.join("\n"))
}

/// What stands behind the second `::`: only these end it.
fn data(text: &str) -> String {
    Untrusted(text).block(4000).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands between the commas.
fn property(text: &str) -> String {
    data(&Untrusted(text).line(300)).replace(':', "%3A").replace(',', "%2C")
}
