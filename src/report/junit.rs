//! A [`Report`] as `JUnit` XML, as Jenkins, GitLab and GitHub's reporters read it.
//!
//! Takes a report, gives a suite for each column and a case for each test, within what `junit-10.xsd` of Jenkins' xUnit
//! plugin allows, the strictest of them. Tests that were not asked, that the adapter cannot express or that the SDK leaves
//! to its users, and known failures are `skipped`; planned tests that were not run are an `error`.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{CheckEntry, Column, Report, Status, TestEntry, Untrusted};
use crate::model::text::count;

/// The number of characters of a test's findings.
const BLOCK: usize = 8000;
/// The number of characters of a line.
const LINE: usize = 600;

/// Returns the report as XML.
///
/// # Panics
/// Never: writing to a string doesn't fail.
pub fn junit(report: &Report) -> String {
    let mut whole = quick_junit::Report::new("casebook");
    let mut seconds = 0.0;
    for (column, tests) in report.targets.iter().zip(report.tests_by_target()) {
        let name = &Untrusted(&column.name).line(200);
        let mut suite = TestSuite::new(name.as_str());
        suite.set_time(Duration::from_secs_f64(column.seconds.max(0.0)));
        seconds += column.seconds.max(0.0);
        for (key, value) in numbers(column) {
            suite.add_property((format!("casebook.{key}"), value));
        }
        suite.add_test_cases(tests.into_iter().map(|test| case(report, name, test)));
        suite.add_test_cases(nameless(name, column));
        whole.add_test_suite(suite);
    }
    whole.set_time(Duration::from_secs_f64(seconds));
    let text = whole.to_string().expect("writing to a string doesn't fail");
    // The schema has no such count at the root, which comes first.
    text.replacen(&format!(" skipped=\"{}\"", whole.skipped), "", 1)
}

/// Numbers for which a suite has no attribute of its own.
fn numbers(column: &Column) -> Vec<(&'static str, String)> {
    let mut numbers: Vec<_> =
        column.statuses.iter().map(|(status, tests)| (status.word(), tests.to_string())).collect();
    numbers.extend([
        ("planned", column.planned.to_string()),
        ("not-run", column.missing.to_string()),
        ("skipped", column.skips().to_string()),
    ]);
    numbers.extend(column.version.iter().map(|version| ("version", Untrusted(version).line(LINE))));
    numbers
}

fn case(report: &Report, name: &str, test: &TestEntry) -> TestCase {
    let notable = || test.checks.iter().filter(|check| Status::from(check.kind) == test.status);
    let message = match (&test.unseen, notable().next()) {
        (Some(reason), _) => reason.clone(),
        (None, Some(check)) => message(report, check),
        (None, None) => String::new(),
    };
    let message = Untrusted(&message).line(LINE);
    let mut status = match test.status {
        Status::Failed | Status::Flaky | Status::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Status::NotAsked | Status::NotAdopted | Status::Author | Status::Known | Status::Cannot => {
            TestCaseStatus::skipped()
        }
        Status::Passed | Status::Observed | Status::Noted | Status::Warned => TestCaseStatus::success(),
    };
    let is_plain = matches!(status, TestCaseStatus::Success { .. });
    let text = description(report, test, notable());
    if !is_plain {
        let word = test.status.word();
        status.set_message(format!("{word}: {message}")).set_type(word).set_description(text.clone());
    }
    let mut case = TestCase::new(Untrusted(&test.test.to_string()).line(LINE), status);
    let place = format!("{name}.{}.{}", test.test.case.folder(), test.test.case.file());
    case.set_classname(Untrusted(&place).line(LINE));
    case.set_time(Duration::from_micros(test.micros));
    if is_plain && matches!(test.status, Status::Warned | Status::Noted) {
        case.set_system_out(text);
    }
    case
}

/// `tools/inputs-validated (MUST): outcome: expected …`.
fn message(report: &Report, check: &CheckEntry) -> String {
    let sentence = &report.requirements[check.requirement];
    let detail = check.detail.first().map(|detail| detail.text.as_str());
    format!("{} ({}): {}", sentence.id, sentence.level, check.reason.as_deref().or(detail).unwrap_or_default())
}

/// Returns the checks that decided the status of a test, in words.
fn description<'c>(report: &Report, test: &TestEntry, checks: impl Iterator<Item = &'c CheckEntry>) -> String {
    let mut lines = vec![test.title.clone()];
    lines.extend(test.unseen.clone());
    for check in checks {
        let sentence = &report.requirements[check.requirement];
        lines.push(format!("{}:{} step {}", test.file, check.line, check.step + 1));
        lines.push(format!("{} {} \"{}\"", sentence.id, sentence.level, sentence.quote.as_deref().unwrap_or("…")));
        lines.extend(sentence.url.clone());
        let class = if check.url.is_some() { Status::Author } else { Status::Known };
        lines.extend(check.reason.iter().map(|reason| format!("{class}: {reason}")));
        lines.extend(check.issue.iter().chain(&check.url).cloned());
        lines.extend(check.detail.iter().map(|detail| format!("missed: {}", detail.text)));
    }
    let lines: Vec<_> = lines.iter().map(|line| Untrusted(line).line(LINE)).collect();
    Untrusted(&lines.join("\n")).block(BLOCK)
}

/// Returns cases for planned tests without a record, whose names are unknown, for stale known failures, and for
/// snapshots that the observations do not match.
fn nameless(name: &str, column: &Column) -> Vec<TestCase> {
    let of = |what: String, mut status: TestCaseStatus, word: &'static str| {
        status.set_message(what.clone()).set_type(word);
        let mut case = TestCase::new(what, status);
        case.set_classname(name);
        case
    };
    let error = TestCaseStatus::non_success;
    let skipped = column.skipped.iter().map(|one| {
        of(format!("{} skipped: {}", count(one.tests, "test"), one.text), TestCaseStatus::skipped(), "skipped")
    });
    let missing = (column.missing > 0)
        .then(|| of(format!("{} not run", count(column.missing, "test")), error(NonSuccessKind::Error), "not run"));
    let stale = column
        .stale
        .iter()
        .map(|stale| of(Untrusted(&stale.to_string()).line(LINE), error(NonSuccessKind::Failure), "stale"));
    let snapshots = column
        .snapshots
        .iter()
        .map(|one| of(Untrusted(&one.to_string()).line(LINE), error(NonSuccessKind::Failure), "snapshot"));
    skipped.chain(missing).chain(stale).chain(snapshots).collect()
}
