//! Unexpected results as GitHub annotations: lines with which a job marks files.
//!
//! Takes a report, gives `::error file=…,line=…` and the like, bounded in number, because GitHub shows only the first
//! few. Text of targets can't end a line or begin another command.

use std::collections::BTreeMap;
use std::fmt;

use super::{CheckEntry, Report, Status, TestEntry, Untrusted};
use crate::model::text::count;
use crate::model::verdict::VerdictKind;

/// The number of places that are marked.
const MARKED: usize = 50;
/// The number of characters of each line of a message.
const LINE: usize = 400;

/// A line that GitHub reads as a command; untrusted text in it is escaped.
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

/// Returns the annotations of a report. A place is marked once for each column, with its first test.
pub fn annotations(report: &Report, strict: bool) -> Vec<Annotation> {
    let mut places: BTreeMap<Place<'_>, (&TestEntry, &CheckEntry, usize)> = BTreeMap::new();
    for test in &report.tests {
        let unexpected =
            |check: &&CheckEntry| Status::from(check.kind).is_unexpected(strict) && check.kind != VerdictKind::Error;
        for check in test.checks.iter().filter(unexpected) {
            let key = (test.target, test.file.as_str(), check.line, check.requirement);
            places.entry(key).and_modify(|(_, _, tests)| *tests += 1).or_insert((test, check, 1));
        }
    }
    let marks = places.values().take(MARKED);
    let marks = marks.map(|(test, check, tests)| mark(report, (test, check), *tests));
    let mut lines: Vec<_> = marks.collect();
    if places.len() > MARKED {
        let more = format!("{} more findings are in the report", places.len() - MARKED);
        lines.push(Annotation::new("notice", &[("title", "casebook")], &more));
    }
    for column in &report.targets {
        let mut error = |message: &str| lines.push(Annotation::new("error", &[("title", &column.name)], message));
        column.stale.iter().take(MARKED).for_each(|stale| error(&stale.to_string()));
        column.snapshots.iter().take(MARKED).for_each(|problem| error(&problem.to_string()));
        let errors = column.count(Status::Error);
        if errors > 0 {
            let errors = count(errors, "test");
            error(&format!("{errors} had no result: the target was given up, or casebook failed"));
        }
        if column.missing > 0 {
            error(&format!("{} of {} were not run", column.missing, count(column.planned, "test")));
        }
    }
    lines
}

fn mark(report: &Report, (test, check): (&TestEntry, &CheckEntry), tests: usize) -> Annotation {
    let sentence = &report.requirements[check.requirement];
    let word = if matches!(check.kind, VerdictKind::Warn | VerdictKind::Cannot) { "warning" } else { "error" };
    let title = format!("{} {}: {}", sentence.level, sentence.id, report.targets[test.target].name);
    let mut message = vec![test.test.to_string(), test.title.clone()];
    message.extend(check.detail.iter().take(3).map(|detail| detail.text.clone()));
    message.extend(sentence.fix.as_ref().map(|fix| format!("fix: {fix}")));
    message.extend((tests > 1).then(|| format!("and {} more like it", count(tests - 1, "check"))));
    let message: Vec<_> = message.iter().map(|line| Untrusted(line).line(LINE)).collect();
    let line = check.line.to_string();
    Annotation::new(word, &[("file", &test.file), ("line", &line), ("title", &title)], &message.join("\n"))
}

/// The text behind the second `::`: only these characters end it.
fn data(text: &str) -> String {
    Untrusted(text).block(4000).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The text between two commas.
fn property(text: &str) -> String {
    data(&Untrusted(text).line(300)).replace(':', "%3A").replace(',', "%2C")
}
