//! A [`Report`] as `JUnit` XML, as Jenkins, GitLab and GitHub's reporters read it.
//!
//! Takes a report, gives a suite a column and a case a test, within what `junit-10.xsd` of Jenkins' xUnit plugin allows,
//! the strictest of them. What was not shown is never a plain success: not expressible and not asked are skipped, what
//! was planned and not run is an error.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{CheckEntry, Column, Report, Standing, TestEntry, Untrusted};

/// How many characters of a test's findings are told.
const TOLD: usize = 8000;
/// How many characters of a line.
const LINE: usize = 600;

/// The XML.
///
/// # Panics
/// Never: what is written here is text, and a string takes all.
pub fn junit(report: &Report) -> String {
    let mut whole = quick_junit::Report::new("casebook");
    let mut seconds = 0.0;
    let names: Vec<_> = report.names().iter().map(|name| Untrusted(name).line(200)).collect();
    for ((column, name), tests) in report.targets.iter().zip(&names).zip(report.tests_by_target()) {
        let mut suite = TestSuite::new(name.as_str());
        suite.set_time(Duration::from_secs_f64(column.seconds.max(0.0)));
        seconds += column.seconds.max(0.0);
        for (key, value) in numbers(column) {
            suite.add_property((format!("casebook.{key}"), value));
        }
        suite.add_test_cases(tests.into_iter().map(|test| case(report, name, test)));
        suite.add_test_cases(unseen(name, column));
        whole.add_test_suite(suite);
    }
    whole.set_time(Duration::from_secs_f64(seconds));
    let text = whole.to_string().expect("a string takes all");
    // The schema has no such count at the root, which comes first.
    text.replacen(&format!(" skipped=\"{}\"", whole.skipped), "", 1)
}

/// What a suite's own attributes have no room for.
fn numbers(column: &Column) -> Vec<(&'static str, String)> {
    let mut numbers: Vec<_> =
        column.standings.iter().map(|(standing, count)| (standing.word(), count.to_string())).collect();
    numbers.extend([
        ("planned", column.planned.to_string()),
        ("not-run", column.missing.to_string()),
        ("skipped", column.skips().to_string()),
    ]);
    numbers.extend(column.version.iter().map(|version| ("version", Untrusted(version).line(LINE))));
    numbers
}

fn case(report: &Report, name: &str, test: &TestEntry) -> TestCase {
    let notable = || test.checks.iter().filter(|check| Standing::from(check.kind) == test.standing);
    let message = match (&test.unseen, notable().next()) {
        (Some(reason), _) => reason.clone(),
        (None, Some(check)) => message(report, check),
        (None, None) => String::new(),
    };
    let message = Untrusted(&message).line(LINE);
    let mut status = match test.standing {
        Standing::Failed | Standing::Flaky | Standing::Inconclusive => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
        Standing::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Standing::Known | Standing::Cannot => TestCaseStatus::skipped(),
        Standing::Passed | Standing::Observed | Standing::Noted | Standing::Warned => TestCaseStatus::success(),
    };
    let is_plain = matches!(status, TestCaseStatus::Success { .. });
    let text = told(report, test, notable());
    if !is_plain {
        let word = if test.standing == Standing::Cannot { "not expressible" } else { test.standing.word() };
        status.set_message(format!("{word}: {message}")).set_type(word).set_description(text.clone());
    }
    let mut case = TestCase::new(Untrusted(&test.test.to_string()).line(LINE), status);
    let place = format!("{name}.{}.{}", test.test.case.folder(), test.test.case.file());
    case.set_classname(Untrusted(&place).line(LINE));
    case.set_time(Duration::from_micros(test.micros));
    if is_plain && matches!(test.standing, Standing::Warned | Standing::Noted) {
        case.set_system_out(text);
    }
    case
}

/// `tools/inputs-validated (MUST): outcome: expected …`.
fn message(report: &Report, check: &CheckEntry) -> String {
    let sentence = &report.requirements[check.requirement];
    let said = check.reason.as_ref().or(check.detail.first()).cloned().unwrap_or_default();
    format!("{} ({}): {said}", sentence.id, sentence.level)
}

/// Everything that made the test stand as it does.
fn told<'c>(report: &Report, test: &TestEntry, checks: impl Iterator<Item = &'c CheckEntry>) -> String {
    let mut lines = vec![test.title.clone()];
    lines.extend(test.unseen.clone());
    for check in checks {
        let sentence = &report.requirements[check.requirement];
        lines.push(format!("{}:{} step {}", test.file, check.line, check.step + 1));
        lines.push(format!("{} {} \"{}\"", sentence.id, sentence.level, sentence.quote.as_deref().unwrap_or("…")));
        lines.extend(sentence.url.clone());
        lines.extend(check.reason.iter().map(|reason| format!("known: {reason}")));
        lines.extend(check.issue.clone());
        lines.extend(check.detail.iter().map(|miss| format!("missed: {miss}")));
    }
    let lines: Vec<_> = lines.iter().map(|line| Untrusted(line).line(LINE)).collect();
    Untrusted(&lines.join("\n")).block(TOLD)
}

/// Tests without a record have no name, and still have to be seen.
fn unseen(name: &str, column: &Column) -> Vec<TestCase> {
    let of = |what: String, mut status: TestCaseStatus, word: &'static str| {
        status.set_message(what.clone()).set_type(word);
        let mut case = TestCase::new(what, status);
        case.set_classname(name);
        case
    };
    let skipped = column.skipped.iter().map(|one| {
        of(
            format!("{} tests skipped: {}", one.tests, Untrusted(&one.reason).line(LINE)),
            TestCaseStatus::skipped(),
            "skipped",
        )
    });
    let error = || TestCaseStatus::non_success(NonSuccessKind::Error);
    let missing = (column.missing > 0).then(|| of(format!("{} tests not run", column.missing), error(), "not run"));
    let failure = || TestCaseStatus::non_success(NonSuccessKind::Failure);
    let stale = column.stale.iter().map(|stale| of(Untrusted(stale).line(LINE), failure(), "stale"));
    skipped.chain(missing).chain(stale).collect()
}
