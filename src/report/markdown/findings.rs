//! What doesn't hold, folded, a sentence at a time: what is unexpected, and, apart from it, what is known.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::markdown::{block, code, url};
use crate::model::record::VerdictKind;
use crate::report::{CheckEntry, Report, Standing, TestEntry};

/// How many sentences of a target are told in full.
const SENTENCES: usize = 40;
/// How many tests of a sentence are named beside the first.
const NAMED: usize = 10;

/// Tests and checks that came to the same.
type Found<'r> = Vec<(&'r TestEntry, &'r CheckEntry)>;

/// What is unexpected, a fold a target.
pub(super) fn broken(report: &Report) -> Option<String> {
    let mut out = String::new();
    for ((column, name), tests) in report.targets.iter().zip(report.names()).zip(report.tests_by_target()) {
        let mut found: BTreeMap<(std::cmp::Reverse<Standing>, usize), Found<'_>> = BTreeMap::new();
        for (test, check) in checks(tests) {
            let standing = Standing::from(check.kind);
            if standing.is_unexpected(false) || standing == Standing::Warned {
                found.entry((std::cmp::Reverse(standing), check.requirement)).or_default().push((test, check));
            }
        }
        let stale = &column.stale;
        if found.is_empty() && stale.is_empty() {
            continue;
        }
        let name = code(&name, 80);
        let is_grave = !stale.is_empty() || found.keys().any(|(standing, _)| standing.0.is_unexpected(false));
        let what = if is_grave { "❌" } else { super::WARNING };
        let tests: usize = found.values().map(Vec::len).sum();
        write!(out, "<details><summary>{what} {name}: {} sentences, {tests} checks</summary>\n\n", found.len())
            .expect("a string takes all");
        for stale in stale.iter().take(SENTENCES) {
            writeln!(out, "- stale: {}", code(stale, 400)).expect("a string takes all");
        }
        for ((standing, requirement), found) in found.iter().take(SENTENCES) {
            out += &sentence(report, standing.0, *requirement, found);
        }
        if found.len() > SENTENCES {
            writeln!(out, "\nAnd {} more sentences.", found.len() - SENTENCES).expect("a string takes all");
        }
        out += "\n</details>\n\n";
    }
    (!out.is_empty()).then_some(out)
}

fn checks<'r>(tests: impl IntoIterator<Item = &'r TestEntry>) -> impl Iterator<Item = (&'r TestEntry, &'r CheckEntry)> {
    tests.into_iter().flat_map(|test| test.checks.iter().map(move |check| (test, check)))
}

/// The sentence, its first test in full, and the others by name.
fn sentence(report: &Report, standing: Standing, requirement: usize, found: &Found<'_>) -> String {
    let sentence = &report.requirements[requirement];
    let mut out = format!("\n**{}** {} {}", standing, code(sentence.id.as_str(), 100), sentence.level);
    if let Some(quote) = &sentence.quote {
        write!(out, " “{}”", code(quote, 600)).expect("a string takes all");
    }
    if let Some(url) = sentence.url.as_deref().and_then(url) {
        write!(out, " [§]({url})").expect("a string takes all");
    }
    out += "\n\n";
    let Some((test, check)) = found.first() else { return out };
    let mut lines = vec![test.test.to_string(), test.title.clone()];
    lines.push(format!("{}:{} step {}", test.file, check.line, check.step + 1));
    lines.extend(check.detail.iter().take(8).cloned());
    let lines: Vec<_> = lines.iter().map(|line| crate::report::Untrusted(line).line(400)).collect();
    out += &block(&lines.join("\n"), 4000);
    out += "\n\n";
    let others: Vec<_> = found[1..].iter().take(NAMED).map(|(test, _)| code(&test.test.to_string(), 200)).collect();
    if !others.is_empty() {
        let more = found.len() - 1 - others.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(out, "Also: {}{more}\n", others.join(", ")).expect("a string takes all");
    }
    out
}

/// What is known to fail: a line a target, sentence and reason.
pub(super) fn known(report: &Report) -> Option<String> {
    let mut found: BTreeMap<(usize, usize, &str, Option<&str>), usize> = BTreeMap::new();
    for (test, check) in checks(&report.tests).filter(|(_, check)| check.kind == VerdictKind::Known) {
        let reason = check.reason.as_deref().unwrap_or_default();
        *found.entry((test.target, check.requirement, reason, check.issue.as_deref())).or_default() += 1;
    }
    let names = report.names();
    if found.is_empty() {
        return None;
    }
    let mut out = format!("<details><summary>🟡 Known failures: {}</summary>\n\n", found.len());
    for ((target, requirement, reason, issue), checks) in found.iter().take(500) {
        let (name, id) = (&names[*target], &report.requirements[*requirement].id);
        let issue = issue.map(|issue| match url(issue) {
            Some(url) => format!(" ([issue]({url}))"),
            None => format!(" ({})", code(issue, 200)),
        });
        let (name, id, reason) = (code(name, 80), code(id.as_str(), 100), code(reason, 400));
        writeln!(out, "- {name} {id}: {reason}{} × {checks}", issue.unwrap_or_default()).expect("a string takes all");
    }
    out += "\n</details>\n\n";
    Some(out)
}
