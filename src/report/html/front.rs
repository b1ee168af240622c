//! What the page says without its script: what it is about, what it lacks, the numbers, and what is wrong.

use std::fmt::Write as _;

use super::text::{count, line, number};
use crate::model::spec::Level;
use crate::report::{Column, Report, Standing};

/// How many findings are listed for readers without a script.
const LISTED: usize = 500;
/// How many reasons why a report is partial are shown at once.
const REASONS: usize = 4;

pub(super) fn title(report: &Report) -> String {
    match report.targets.as_slice() {
        [one] => format!("{}: conformance to the Model Context Protocol", one.title),
        many => format!("{}: conformance to the Model Context Protocol", count(many.len(), "target")),
    }
}

/// The whole in a sentence.
pub(super) fn lead(report: &Report) -> String {
    let of = |standing| report.targets.iter().map(|column| column.count(standing)).sum::<usize>();
    let found: Vec<_> = Standing::ALL.iter().rev().map(|standing| (*standing, of(*standing))).collect();
    let found = found.iter().filter(|(_, tests)| *tests > 0);
    let found: Vec<_> = found.map(|(standing, tests)| format!("{} {}", number(*tests), label(*standing))).collect();
    let (rows, tests) = (count(report.requirements.len(), "requirement"), count(report.tests.len(), "test"));
    format!("{rows}, {tests}: {}. From records of casebook {}.", found.join(", "), report.casebook)
}

/// Why this isn't all, on top of everything.
pub(super) fn partial(report: &Report) -> String {
    if report.partial.is_empty() {
        return String::new();
    }
    let list = |reasons: &[String]| {
        let reasons: Vec<_> = reasons.iter().map(|reason| format!("<li>{}</li>\n", line(reason))).collect();
        format!("<ul>\n{}</ul>\n", reasons.concat())
    };
    let (first, others) = report.partial.split_at(REASONS.min(report.partial.len()));
    let others = match others.len() {
        0 => String::new(),
        many => format!("<details><summary>and {} more</summary>{}</details>\n", number(many), list(others)),
    };
    let first = list(first);
    format!("<div class=\"partial\" role=\"note\"><strong>This report is partial.</strong>{first}{others}</div>\n")
}

/// A word for people.
fn label(standing: Standing) -> &'static str {
    match standing {
        Standing::Observed => "recorded",
        Standing::Cannot => "not expressible",
        other => other.word(),
    }
}

/// The standings that have a column: those that there are, and those of which people must see that there are none.
fn columns(report: &Report) -> Vec<Standing> {
    let always = [Standing::Passed, Standing::Cannot, Standing::Failed];
    let is_there = |standing: &Standing| report.targets.iter().any(|column| column.count(*standing) > 0);
    Standing::ALL.iter().copied().filter(|standing| always.contains(standing) || is_there(standing)).collect()
}

/// A row a target: how much holds, and how many tests stand how. What was not asked is a number of its own.
pub(super) fn summary(report: &Report) -> String {
    let shown = columns(report);
    let standings: Vec<_> =
        shown.iter().map(|standing| format!("<th scope=\"col\">{}</th>", label(*standing))).collect();
    let verified = report.verified();
    let rows = report.targets.iter().zip(verified);
    let rows: String =
        rows.map(|(column, verified)| row(column, verified, report.requirements.len(), &shown)).collect();
    let standings = standings.concat();
    format!(
        "<table class=\"summary\" aria-label=\"Targets in numbers\">\n<thead><tr><th scope=\"col\">Target</th>\
         <th scope=\"col\">MUST holds</th><th scope=\"col\">SHOULD holds</th><th scope=\"col\">verified</th>{standings}\
         <th scope=\"col\">skipped</th><th scope=\"col\">not run</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n{}",
        asides(report)
    )
}

fn row(column: &Column, verified: usize, requirements: usize, shown: &[Standing]) -> String {
    let version = column.version.as_deref().map(|version| format!(" · {version}")).unwrap_or_default();
    let mut out = format!(
        "<tr><th scope=\"row\">{}<small>{}</small></th>",
        line(&column.title),
        line(&format!("{}{version}", column.id))
    );
    for (name, levels) in
        [("MUST holds", [Level::Must, Level::MustNot]), ("SHOULD holds", [Level::Should, Level::ShouldNot])]
    {
        let _ = write!(out, "<td data-label=\"{name}\">{}</td>", share(column, levels));
    }
    let _ = write!(out, "<td data-label=\"verified\">{verified}/{requirements}</td>");
    for &standing in shown {
        let tests = column.count(standing);
        let class = match standing {
            _ if tests == 0 => "zero",
            Standing::Failed | Standing::Error | Standing::Flaky | Standing::Inconclusive => "bad",
            Standing::Warned | Standing::Cannot => "warn",
            _ => "",
        };
        let _ = write!(out, "<td class=\"{class}\" data-label=\"{}\">{}</td>", label(standing), number(tests));
    }
    for (name, tests) in [("skipped", column.skips()), ("not run", column.missing)] {
        let class = if tests == 0 { "zero" } else { "warn" };
        let _ = write!(out, "<td class=\"{class}\" data-label=\"{name}\">{}</td>", number(tests));
    }
    out + "</tr>\n"
}

fn share(column: &Column, levels: [Level; 2]) -> String {
    let rate = column.rates.of(&levels);
    match (rate.asked, rate.per_mille()) {
        (0, _) => "–".to_owned(),
        (_, 1000) => "100 %".to_owned(),
        _ => rate.percent(),
    }
}

/// What wasn't asked and why, which targets nobody has run, and known failures that no longer fail.
fn asides(report: &Report) -> String {
    let mut lines = Vec::new();
    for (column, name) in report.targets.iter().zip(report.names()) {
        lines.extend(column.unverified.iter().map(|why| format!("{name} is unverified: {why}")));
        lines.extend(column.stale.iter().map(|stale| format!("Stale: {stale}")));
        lines.extend(
            column.skipped.iter().map(|one| format!("{name}: {} skipped: {}", count(one.tests, "test"), one.reason)),
        );
    }
    if lines.is_empty() {
        return String::new();
    }
    let items: Vec<_> = lines.iter().map(|one| format!("<li>{}</li>\n", line(one))).collect();
    let items = items.concat();
    format!(
        "<details class=\"asides\"><summary>{}: what was skipped, and what else to know</summary>\n<ul>\n{items}</ul>\
         </details>\n",
        count(lines.len(), "remark")
    )
}

/// What is wrong, for readers without a script.
pub(super) fn plain(report: &Report) -> String {
    let calm = [Standing::Passed, Standing::Observed];
    let mut cells: Vec<_> = report.cells.iter().filter(|cell| !calm.contains(&cell.standing)).collect();
    cells.sort_by_key(|cell| (std::cmp::Reverse(cell.standing), cell.requirement, cell.target));
    let names = report.names();
    let rows: Vec<_> = cells
        .iter()
        .take(LISTED)
        .map(|cell| {
            let sentence = &report.requirements[cell.requirement];
            format!(
                "<tr><td>{}</td><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
                label(cell.standing),
                line(&names[cell.target]),
                line(sentence.id.as_str()),
                sentence.level,
                line(sentence.quote.as_deref().unwrap_or_default()),
            )
        })
        .collect();
    let rows = rows.concat();
    let more = cells.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("<p>And {} more.</p>\n", number(more)) } else { String::new() };
    format!(
        "<noscript>\n<p class=\"lead\">The matrix, its filter and the evidence need this page's own script.</p>\n\
         <table class=\"plain\"><thead><tr><th scope=\"col\">Verdict</th><th scope=\"col\">Target</th>\
         <th scope=\"col\">Requirement</th><th scope=\"col\">Level</th><th scope=\"col\">Sentence</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table>\n{more}</noscript>\n"
    )
}
