//! A [`Report`] as Markdown, for GitHub's job summaries and for comments on pull requests.
//!
//! Takes a report and a limit in bytes, gives text that keeps to it: what is left out is said. Whatever came from a
//! target or a record stands escaped, inside of code, where it is no markup, no link and no mention.

mod findings;
mod keywords;

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Column, Rate, Report, Standing};
use crate::model::markdown::{code, url};
use crate::model::spec::Level;

/// What GitHub takes of one step's summary, in bytes.
pub const SUMMARY: usize = 1024 * 1024;
/// What GitHub takes of one comment.
pub const COMMENT: usize = 65_536;

/// The text. The head and the table of targets are always there, the rest as far as the limit lets it.
pub fn markdown(report: &Report, limit: usize) -> String {
    let notice = "\n<sub>Cut, to keep to what GitHub shows: the rest is in the other reports.</sub>\n";
    let mut out = head(report);
    out += &targets(report);
    let mut is_cut = false;
    for section in [
        areas(report, limit),
        keywords::table(report),
        findings::broken(report),
        findings::known(report),
        skipped(report),
        matrices(report, limit),
    ]
    .into_iter()
    .flatten()
    {
        if out.len() + section.len() + notice.len() <= limit {
            out += &section;
        } else {
            is_cut = true;
        }
    }
    if is_cut {
        out += notice;
    }
    out
}

/// The line that people look for, and whatever qualifies it.
fn head(report: &Report) -> String {
    let expected = report.is_as_expected(false);
    let missing: usize = report.targets.iter().map(|column| column.missing).sum();
    let verdict = match (expected, report.partial.is_empty() && missing == 0) {
        (false, _) => "❌ not as expected",
        (true, false) => "&#9888;&#65039; as expected so far",
        (true, true) => "✅ as expected",
    };
    let mut out = format!("## MCP casebook: {verdict}\n\n");
    if !report.partial.is_empty() {
        out += "> [!WARNING]\n> This report is partial:\n";
        for reason in report.partial.iter().take(20) {
            writeln!(out, "> - {}", code(reason, 600)).expect("a string takes all");
        }
        if report.partial.len() > 20 {
            writeln!(out, "> - and {} more reasons", report.partial.len() - 20).expect("a string takes all");
        }
        out.push('\n');
    }
    out
}

/// Those that are shown as columns only where there are any; what was not shown has a column always.
const COUNTED: [(Standing, &str); 9] = [
    (Standing::Failed, "failed"),
    (Standing::Flaky, "flaky"),
    (Standing::Inconclusive, "inconclusive"),
    (Standing::Error, "errors"),
    (Standing::Known, "known"),
    (Standing::Warned, "warned"),
    (Standing::Noted, "noted"),
    (Standing::Passed, "passed"),
    (Standing::Observed, "observed"),
];

/// A row a target: what holds of its checks, and every number by itself.
fn targets(report: &Report) -> String {
    let any = |standing: &Standing| report.targets.iter().any(|column| column.count(*standing) > 0);
    let counted: Vec<_> =
        COUNTED.iter().filter(|(standing, _)| any(standing) || *standing == Standing::Failed).collect();
    let mut out = "| | target | version | MUST | SHOULD | verified |".to_owned();
    out.extend(counted.iter().map(|(_, word)| format!(" {word} |")));
    out += " not expressible | skipped | not run |\n| --- | --- | --- | ---: | ---: | ---: |";
    out += &" ---: |".repeat(counted.len() + 3);
    out.push('\n');
    for (column, verified) in report.targets.iter().zip(report.verified()) {
        let version = column.version.as_ref().map(|version| code(version, 80)).unwrap_or_default();
        let unverified = if column.unverified.is_some() { " (unverified)" } else { "" };
        write!(
            out,
            "| {} | {}{unverified} | {version} | {} | {} | {} of {} |",
            verdict(column),
            code(&column.id.to_string(), 80),
            share(column.rates.of(&[Level::Must, Level::MustNot])),
            share(column.rates.of(&[Level::Should, Level::ShouldNot])),
            verified,
            report.requirements.len(),
        )
        .expect("a string takes all");
        out.extend(counted.iter().map(|(standing, _)| format!(" {} |", column.count(*standing))));
        let (cannot, skips) = (column.count(Standing::Cannot), column.skips());
        writeln!(out, " {cannot} | {skips} | {} |", column.missing).expect("a string takes all");
    }
    out.push('\n');
    out
}

fn verdict(column: &Column) -> &'static str {
    match (column.is_as_expected(false), column.missing > 0 || column.standings.is_empty()) {
        (false, _) => "❌",
        (true, true) => WARNING,
        (true, false) => "✅",
    }
}

fn share(rate: Rate) -> String {
    if rate.asked == 0 { "–".to_owned() } else { rate.percent() }
}

/// Proposals and parts of the specification × targets: the gravest mark, and how many sentences hold of how many.
fn areas(report: &Report, limit: usize) -> Option<String> {
    let folders = folders(report);
    if folders.is_empty() {
        return None;
    }
    let mut sums: HashMap<(&str, usize), (Standing, usize, usize)> = HashMap::new();
    for cell in &report.cells {
        let key = (report.requirements[cell.requirement].folder.as_str(), cell.target);
        let (worst, held, asked) = sums.entry(key).or_insert((cell.standing, 0, 0));
        *worst = cell.standing.max(*worst);
        *held += usize::from(cell.standing <= Standing::Observed);
        *asked += 1;
    }
    let mut out = header(&report.names(), "");
    for (folder, _) in &folders {
        if out.len() > limit {
            break;
        }
        write!(out, "| {} |", code(folder, 60)).expect("a string takes all");
        for target in 0..report.targets.len() {
            match sums.get(&(*folder, target)) {
                None => out += " · |",
                Some((worst, held, asked)) => {
                    write!(out, " {} {held}/{asked} |", mark(*worst)).expect("a string takes all");
                }
            }
        }
        out.push('\n');
    }
    Some(format!("{out}\n<sub>Sentences that hold, of those that were asked. {LEGEND}</sub>\n\n"))
}

/// A sign in colour. The character that makes it so is invisible, and invisible characters are written as entities.
const WARNING: &str = "&#9888;&#65039;";

const LEGEND: &str = "✅ holds · 🟡 known failure · 🔵 noted · &#9888;&#65039; SHOULD broken · ⬜ not expressible · 🔁 flaky · ❔ inconclusive · \
                      ❌ MUST broken · 💥 error · · not asked";

/// Requirements × targets, folded, a table a folder.
fn matrices(report: &Report, limit: usize) -> Option<String> {
    let mut out = String::new();
    let cells: HashMap<(usize, usize), Standing> =
        report.cells.iter().map(|cell| ((cell.requirement, cell.target), cell.standing)).collect();
    let names = report.names();
    for (folder, rows) in folders(report) {
        write!(out, "<details><summary>{}: {} sentences</summary>\n\n", code(folder, 60), rows.len())
            .expect("a string takes all");
        out += &header(&names, "level |");
        for row in rows {
            // It has no room already, and may have very many rows and columns.
            if out.len() > limit {
                return Some(out);
            }
            let sentence = &report.requirements[row];
            let name = code(sentence.id.as_str(), 100);
            let name = sentence.url.as_deref().and_then(url).map_or(name.clone(), |url| format!("[{name}]({url})"));
            write!(out, "| {name} | {} |", sentence.level).expect("a string takes all");
            for target in 0..report.targets.len() {
                let standing = cells.get(&(row, target));
                write!(out, " {} |", standing.map_or("·", |standing| mark(*standing))).expect("a string takes all");
            }
            out.push('\n');
        }
        out += "\n</details>\n\n";
    }
    (!out.is_empty()).then_some(out)
}

fn header(names: &[String], extra: &str) -> String {
    let mut out = format!("| | {extra}");
    out.extend(names.iter().map(|name| format!(" {} |", code(name, 80))));
    out += if extra.is_empty() { "\n| --- |" } else { "\n| --- | --- |" };
    out + &" :---: |".repeat(names.len()) + "\n"
}

/// Proposals first, then the parts of the specification; each with its rows.
fn folders(report: &Report) -> Vec<(&str, Vec<usize>)> {
    let mut folders: Vec<(&str, Vec<usize>)> = Vec::new();
    for (row, sentence) in report.requirements.iter().enumerate() {
        match folders.last_mut() {
            Some((folder, rows)) if *folder == sentence.folder => rows.push(row),
            _ => folders.push((&sentence.folder, vec![row])),
        }
    }
    folders.sort_by_key(|(folder, _)| !folder.starts_with("sep-"));
    folders
}

fn mark(standing: Standing) -> &'static str {
    match standing {
        Standing::Passed | Standing::Observed => "✅",
        Standing::Known => "🟡",
        Standing::Noted => "🔵",
        Standing::Warned => WARNING,
        Standing::Cannot => "⬜",
        Standing::Flaky => "🔁",
        Standing::Inconclusive => "❔",
        Standing::Failed => "❌",
        Standing::Error => "💥",
    }
}

/// What was not asked, and why; and what nobody has run.
fn skipped(report: &Report) -> Option<String> {
    let mut lines = Vec::new();
    for (column, name) in report.targets.iter().zip(report.names()) {
        let name = code(&name, 80);
        lines.extend(column.unverified.iter().map(|why| format!("- {name} unverified: {}", code(why, 300))));
        let skipped = column.skipped.iter();
        lines.extend(skipped.map(|one| format!("- {name} {} skipped: {}", one.tests, code(&one.reason, 300))));
    }
    let lines: Vec<_> = lines.into_iter().take(200).collect();
    (!lines.is_empty())
        .then(|| format!("<details><summary>Not asked</summary>\n\n{}\n\n</details>\n\n", lines.join("\n")))
}
