//! [`Report`] and [`Evidence`] → one HTML page that needs nothing else: no network, no fonts, no second file.
//!
//! The page's data are the published report and the evidence, gzipped and in base64. Its script reads them and writes
//! text nodes only; its policy blocks all other scripts. Without JavaScript the page shows the numbers and the
//! findings. Must not know where run logs come from.

mod evidence;

use std::cmp::Reverse;
use std::fmt::Display;
use std::io::Write as _;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

pub use evidence::Evidence;

use super::keywords::Table;
use super::{Cell, Column, Report, Sentence, Status, Untrusted, embargo};
use crate::model::text::{count, grouped, plural};

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
    include_str!("html/page.js"),
);

#[derive(Template)]
#[template(path = "page.html", config = "src/report/html/askama.toml")]
struct Page<'r> {
    report: &'r Report,
    title: String,
    /// The result in one sentence.
    lead: String,
    labels: Vec<&'static str>,
    rows: Vec<(&'r Column, Vec<Number>)>,
    remark_count: String,
    /// Skipped tests, unverified targets, and stale known failures.
    remarks: Vec<String>,
    keywords: Option<Table>,
    findings: Vec<(&'r Cell, &'r String, &'r Sentence)>,
    /// The number of findings that are not listed.
    more: usize,
    policy: String,
    style: &'static str,
    script: &'static str,
    data: String,
    evidence: String,
}

#[expect(
    unreachable_pub,
    clippy::inline_always,
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "the shape that askama wants and makes"
)]
mod filters {
    use super::{Display, Untrusted};

    /// Returns untrusted text on one bounded line without invisible characters; the template escapes it.
    #[askama::filter_fn]
    pub(super) fn line(text: impl Display, _: &dyn askama::Values) -> askama::Result<String> {
        Ok(Untrusted(&text.to_string()).line(300))
    }
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
    let is_there = |status: &Status| report.targets.iter().any(|column| column.count(*status) > 0);
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
    let rows = report.targets.iter().map(|column| {
        let results = statuses.iter().map(|status| number(status.word(), column.count(*status), class(*status)));
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
    let mut cells: Vec<_> = report.cells.iter().filter(|cell| cell.status > Status::Observed).collect();
    cells.sort_by_key(|cell| (Reverse(cell.status), cell.requirement, cell.target));
    let findings = cells.iter().take(LISTED);
    let remarks = remarks(report);
    let page = Page {
        report,
        title: title(report),
        lead: lead(report),
        labels,
        rows,
        remark_count: count(remarks.len(), "remark"),
        remarks,
        keywords: Table::of(report),
        findings: findings
            .map(|cell| (*cell, &report.targets[cell.target].name, &report.requirements[cell.requirement]))
            .collect(),
        more: cells.len().saturating_sub(LISTED),
        policy: policy(),
        style: STYLE,
        script: SCRIPT,
        data: packed(&report.json()),
        evidence: packed(&evidence.json()),
    };
    page.render().expect("writing to memory doesn't fail")
}

fn title(report: &Report) -> String {
    match report.targets.as_slice() {
        [one] => format!("{}: conformance to the Model Context Protocol", one.title),
        many => format!("{}: conformance to the Model Context Protocol", count(many.len(), "target")),
    }
}

fn lead(report: &Report) -> String {
    let of = |status: &Status| report.targets.iter().map(|column| column.count(*status)).sum::<usize>();
    let number = |number, noun| format!("{} {}", grouped(number), plural(number, noun));
    let found = Status::ALL.iter().rev().map(|status| (status, of(status))).filter(|(_, tests)| *tests > 0);
    let found: Vec<_> = found.map(|(status, tests)| format!("{} {status}", grouped(tests))).collect();
    let (rows, tests) = (number(report.requirements.len(), "requirement"), number(report.tests.len(), "test"));
    format!("{rows}, {tests}: {}. Made by casebook {}.", found.join(", "), report.casebook)
}

fn remarks(report: &Report) -> Vec<String> {
    let mut remarks = Vec::new();
    for column in &report.targets {
        let name = &column.name;
        remarks.extend(embargo(column).map(|text| format!("{name}: {text}")));
        remarks.extend(column.unverified.iter().map(|why| format!("{name} is unverified: {why}")));
        remarks.extend(column.stale.iter().map(|stale| format!("Stale: {stale}")));
        remarks.extend(column.snapshots.iter().map(|problem| format!("Snapshot: {problem}")));
        let skipped = column.skipped.iter();
        remarks.extend(skipped.map(|one| format!("{name}: {} skipped: {}", count(one.tests, "test"), one.text)));
    }
    remarks
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
