//! [`Report`] and [`Evidence`] → one HTML page that needs nothing else: no network, no fonts, no second file.
//!
//! The page's data are the published report and the evidence, gzipped and in base64. Its script reads them and writes
//! text nodes only; its policy blocks all other scripts. Without JavaScript the page shows the numbers and the
//! findings. Must not know where run logs come from.

mod evidence;
mod overview;
mod remarks;

use std::cmp::Reverse;
use std::io::Write as _;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

pub use evidence::Evidence;

use super::keywords::Table;
use super::{Column, Counts, Report, Sentence, Status, View, filters};
use crate::model::spec::{Harm, Level};
use crate::model::text::{count, grouped, plural};
use overview::Overview;
use remarks::{Remark, caveats, remarks};

const STYLE: &str = include_str!("html/page.css");

/// The number of findings that are listed for readers without a script.
const LISTED: usize = 500;

/// One script, in the order in which its parts need each other.
const SCRIPT: &str = concat!(
    include_str!("html/text.js"),
    include_str!("html/data.js"),
    include_str!("html/filter.js"),
    include_str!("html/matrix.js"),
    include_str!("html/evidence.js"),
    include_str!("html/overview.js"),
    include_str!("html/target.js"),
    include_str!("html/page.js"),
);

#[derive(Template)]
#[template(path = "page.html", config = "src/report/html/askama.toml")]
struct Page<'r> {
    report: &'r Report,
    title: String,
    /// The view, with the question that the page answers.
    view: &'static str,
    question: &'static str,
    /// The result in one sentence.
    lead: String,
    /// The reasons why the report is partial.
    caveats: Vec<Remark>,
    overview: Option<Overview<'r>>,
    /// The answers as marks, with their class and words.
    answers: Vec<(&'static str, &'static str, &'static str)>,
    /// The columns of the table of sentences, for each role.
    counted: [&'static str; 3],
    /// `true` if the numbers of tests are shown, and not folded.
    has_open_numbers: bool,
    labels: Vec<&'static str>,
    rows: Vec<(&'r Column, Vec<Number>)>,
    remark_count: String,
    /// Skipped tests, unverified targets, and stale known failures.
    remarks: Vec<Remark>,
    keywords: Option<Table>,
    findings: Vec<(Status, &'r String, &'r Sentence)>,
    /// The number of findings that are not listed.
    more: usize,
    policy: String,
    style: &'static str,
    script: &'static str,
    data: String,
    evidence: String,
}

/// A number of tests in the table of targets.
struct Number {
    label: &'static str,
    class: &'static str,
    text: String,
}

/// The labels of the numbers, and the numbers of each target: tests by status, and those that have no result.
fn numbers(report: &Report) -> (Vec<&'static str>, Vec<(&Column, Vec<Number>)>) {
    let always = [Status::Passed, Status::Cannot, Status::Failed];
    let counts = report.counts();
    let is_there = |status: &Status| counts.iter().any(|counts| counts.get(*status) > 0);
    let statuses = Status::ALL.iter().filter(|status| always.contains(status) || is_there(status));
    let statuses: Vec<_> = statuses.copied().collect();
    let number = |label, tests: usize, class| Number {
        label,
        class: if tests == 0 { "zero" } else { class },
        text: grouped(tests),
    };
    let class = |status: Status| match status {
        _ if status.is_unexpected(false) => "bad",
        _ if status.is_unexpected(true) => "warn",
        _ => "",
    };
    let rows = report.targets.iter().zip(&counts).map(|(column, counts)| {
        let results = statuses.iter().map(|status| number(status.word(), counts.get(*status), class(*status)));
        let others = [number("skipped", column.skips(), "warn"), number("not run", column.missing, "warn")];
        (column, results.chain(others).collect())
    });
    let labels = statuses.iter().map(|status| status.word()).chain(["skipped", "not run"]);
    (labels.collect(), rows.collect())
}

/// Returns the page.
///
/// # Panics
/// Never: writing to memory doesn't fail.
pub fn page(report: &Report, evidence: &Evidence) -> String {
    let (labels, rows) = numbers(report);
    let found = report.cells.iter().map(|cell| (report.status_of_cell(cell), cell.requirement, cell.target));
    let mut found: Vec<_> = found.filter(|(status, ..)| *status > Status::Observed).collect();
    found.sort_by_key(|(status, row, target)| (gravity(&report.requirements[*row]), Reverse(*status), *row, *target));
    let findings = found.iter().take(LISTED);
    let remarks = remarks(report);
    let page = Page {
        report,
        title: title(report),
        view: report.view.word(),
        question: report.view.question(),
        lead: lead(report),
        caveats: caveats(report),
        overview: Overview::of(report),
        answers: overview::key(),
        counted: overview::COUNTED,
        has_open_numbers: report.view == View::Expectation || report.capabilities.is_empty(),
        labels,
        rows,
        remark_count: count(remarks.len(), "remark"),
        remarks,
        keywords: Table::of(report),
        findings: findings
            .map(|(status, row, target)| (*status, &report.targets[*target].name, &report.requirements[*row]))
            .collect(),
        more: found.len().saturating_sub(LISTED),
        policy: policy(),
        style: STYLE,
        script: SCRIPT,
        data: packed(&report.json()),
        evidence: packed(&evidence.json()),
    };
    page.render().expect("writing to memory doesn't fail")
}

/// The place of a requirement in lists of violations: by the harm to users, then by the level.
fn gravity(requirement: &Sentence) -> (Harm, usize) {
    let harm = requirement.harm.unwrap_or(Harm::None);
    let level = match requirement.level {
        Level::Must | Level::MustNot => 0,
        Level::Should | Level::ShouldNot => 1,
        Level::Derived => 2,
        Level::May => 3,
    };
    (harm, level)
}

fn title(report: &Report) -> String {
    let what = match report.view {
        View::Conformance => "conformance to the Model Context Protocol",
        View::Expectation => "tests of the Model Context Protocol",
    };
    match report.targets.as_slice() {
        [one] => format!("{}: {what}", one.title),
        many => format!("{}: {what}", count(many.len(), "target")),
    }
}

fn lead(report: &Report) -> String {
    let mut tests = Counts::default();
    for counts in report.counts() {
        tests.extend(counts.iter());
    }
    let number = |number, noun| format!("{} {}", grouped(number), plural(number, noun));
    let mut found: Vec<_> = tests.iter().map(|(status, tests)| format!("{} {status}", grouped(tests))).collect();
    found.reverse();
    let (rows, tests) = (number(report.requirements.len(), "requirement"), number(report.tests.len(), "test"));
    format!("{rows}, {tests}: {}. Made by casebook {}.", found.join(", "), report.casebook)
}

/// Returns text as gzip in base64, which needs no escaping in HTML.
fn packed(text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("writing to memory doesn't fail");
    STANDARD.encode(encoder.finish().expect("writing to memory doesn't fail"))
}

/// Returns the page's Content-Security-Policy: only its own style and script, no requests, no markup from text.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

#[cfg(test)]
mod tests;
