//! Collapsed sections with the failing checks of each target by requirement, and with the known failures.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::overview::plain;
use crate::model::markdown::{block, code, url};
use crate::model::spec::Harm;
use crate::model::target::UNTRIAGED;
use crate::model::text::count;
use crate::model::verdict::VerdictKind;
use crate::report::{CheckEntry, Report, Status, TestEntry, Untrusted, View};

/// The number of requirements of a target that are shown in full.
const REQUIREMENTS: usize = 40;
/// The number of tests of a requirement that are named beside the first.
const NAMED: usize = 10;

/// Tests and checks with the same requirement and status.
type Found<'r> = Vec<(&'r TestEntry, &'r CheckEntry)>;

/// Returns the failures of the view, a collapsed section for each target. Sections after `limit` bytes are left out.
pub(super) fn broken(report: &Report, limit: usize) -> Vec<String> {
    let mut sections = Vec::new();
    let mut length = 0;
    for (column, tests) in report.targets.iter().zip(report.tests_by_target()) {
        let mut found: BTreeMap<(Reverse<Status>, usize), Found<'_>> = BTreeMap::new();
        for (test, check) in checks(tests) {
            let status = report.status(check);
            let is_grave = report.requirements[check.requirement].harm.is_some_and(Harm::is_grave);
            let is_harmful = is_grave && status == Status::Noted;
            if status.is_unexpected(false) || status == Status::Warned || is_harmful {
                found.entry((Reverse(status), check.requirement)).or_default().push((test, check));
            }
        }
        // The expectations of snapshots and known failures are no matter of conformance.
        let (stale, snapshots) = match report.view {
            View::Conformance => (&[][..], &[][..]),
            View::Expectation => (&*column.stale, &*column.snapshots),
        };
        if found.is_empty() && stale.is_empty() && snapshots.is_empty() {
            continue;
        }
        let is_grave =
            !stale.is_empty() || !snapshots.is_empty() || found.keys().any(|(status, _)| status.0.is_unexpected(false));
        let sign = if is_grave { "❌" } else { super::WARNING };
        let tests: usize = found.values().map(Vec::len).sum();
        let (name, requirements) = (code(&column.name, 80), count(found.len(), "requirement"));
        let mut out =
            format!("<details><summary>{sign} {name}: {requirements}, {}</summary>\n\n", count(tests, "check"));
        for stale in stale.iter().take(REQUIREMENTS) {
            out += &format!("- stale: {}\n", code(&stale.to_string(), 400));
        }
        for problem in snapshots.iter().take(REQUIREMENTS) {
            out += &format!("- snapshot: {}\n", code(&problem.to_string(), 400));
        }
        for ((status, place), found) in found.iter().take(REQUIREMENTS) {
            out += &requirement(report, status.0, *place, found);
        }
        if found.len() > REQUIREMENTS {
            out += &format!("\nAnd {} more.\n", count(found.len() - REQUIREMENTS, "requirement"));
        }
        out += "\n</details>\n\n";
        length += out.len();
        sections.push(out);
        if length > limit {
            break;
        }
    }
    sections
}

fn checks<'r>(tests: impl IntoIterator<Item = &'r TestEntry>) -> impl Iterator<Item = (&'r TestEntry, &'r CheckEntry)> {
    tests.into_iter().flat_map(|test| test.checks.iter().map(move |check| (test, check)))
}

/// A requirement, its first test in full, and the others by name.
fn requirement(report: &Report, status: Status, place: usize, found: &Found<'_>) -> String {
    let sentence = &report.requirements[place];
    let mut out = format!("\n**{status}** {} {}", code(sentence.id.as_str(), 100), sentence.level);
    let marks = |quote: &str| if quote.starts_with(['"', '“']) { ["", ""] } else { ["“", "”"] };
    let quoted = |quote: &String| {
        let [before, after] = marks(quote);
        format!(" {before}{}{after}", code(quote, 600))
    };
    out.extend(sentence.quote.iter().map(quoted));
    out.extend(sentence.url.as_deref().and_then(url).map(|url| format!(" [§]({url})")));
    out.extend(sentence.fix.as_deref().map(|fix| format!(" **Fix:** {}", plain(fix))));
    out += "\n\n";
    let Some((test, check)) = found.first() else { return out };
    let mut lines = vec![test.test.to_string(), test.title.clone()];
    lines.push(format!("{}:{} step {}", test.file, check.line, check.step + 1));
    lines.extend(check.detail.iter().take(8).map(|detail| detail.text.clone()));
    let lines: Vec<_> = lines.iter().map(|line| Untrusted(line).line(400)).collect();
    out += &block(&lines.join("\n"), 4000);
    out += "\n\n";
    let others: Vec<_> = found[1..].iter().take(NAMED).map(|(test, _)| code(&test.test.to_string(), 200)).collect();
    if !others.is_empty() {
        let more = found.len() - 1 - others.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        out += &format!("Also: {}{more}\n\n", others.join(", "));
    }
    out
}

/// Known failures: a line for each target, requirement and reason.
pub(super) fn known(report: &Report) -> Option<String> {
    let title = match report.view {
        View::Conformance => "❌ Failures that target.toml files list, with their reasons",
        View::Expectation => "🟡 Known failures",
    };
    excused(report, &[VerdictKind::Known, VerdictKind::KnownInconclusive], title, "issue")
}

/// Violations that the SDK's documentation leaves to its users: a line for each target, requirement and reason.
pub(super) fn left_to_author(report: &Report) -> Option<String> {
    excused(report, &[VerdictKind::Author], "📝 Left to the author by the documentation of the SDK", "documentation")
}

fn excused(report: &Report, kinds: &[VerdictKind], title: &str, link: &str) -> Option<String> {
    let mut found: BTreeMap<(usize, usize, &str, Option<&str>), usize> = BTreeMap::new();
    for (test, check) in checks(&report.tests).filter(|(_, check)| kinds.contains(&check.kind)) {
        let (reason, address) =
            (check.reason.as_deref().unwrap_or_default(), check.url.as_ref().or(check.issue.as_ref()));
        *found.entry((test.target, check.requirement, reason, address.map(String::as_str))).or_default() += 1;
    }
    let untriaged = found.keys().filter(|(_, _, reason, _)| *reason == UNTRIAGED).count();
    let untriaged = if untriaged > 0 { format!(", {untriaged} of them {UNTRIAGED}") } else { String::new() };
    let mut out = format!("<details><summary>{title}: {}{untriaged}</summary>\n\n", found.len());
    for ((target, requirement, reason, address), checks) in found.iter().take(500) {
        let issue = address.map(|address| match url(address) {
            Some(url) => format!(" ([{link}]({url}))"),
            None => format!(" ({})", code(address, 200)),
        });
        let (name, id) =
            (code(&report.targets[*target].name, 80), code(report.requirements[*requirement].id.as_str(), 100));
        out += &format!("- {name} {id}: {}{} × {checks}\n", code(reason, 400), issue.unwrap_or_default());
    }
    out += "\n</details>\n\n";
    (!found.is_empty()).then_some(out)
}
