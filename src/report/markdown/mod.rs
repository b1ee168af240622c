//! A [`Report`] as Markdown, for GitHub's job summaries and for comments on pull requests.
//!
//! Takes a report and a limit in bytes, gives text that keeps to it and says where something is left out. Text from a
//! target or a run log is escaped, inside of code, where it is no markup, no link and no mention.

mod findings;
mod keywords;

use std::collections::{BTreeSet, HashMap};

use super::{Column, Report, Status, embargo};
use crate::model::markdown::{code, url};
use crate::model::text::count;

/// The bytes that GitHub takes of one step's summary.
pub const SUMMARY: usize = 1024 * 1024;
/// The bytes that GitHub takes of one comment.
pub const COMMENT: usize = 65_536;

/// The number of reasons why a report is partial that are shown.
const CAVEATS: usize = 20;

/// Returns the report as Markdown of at most `limit` bytes. The head and the table of targets are always there, the
/// other sections where they fit.
pub fn markdown(report: &Report, limit: usize) -> String {
    let notice = "\n<sub>Shortened to fit GitHub's limit; the other reports have the rest.</sub>\n";
    let mut out = head(report) + &targets(report);
    let mut is_cut = false;
    for section in [
        folders_table(report, limit),
        keywords::table(report),
        findings::broken(report),
        findings::known(report),
        undecided(report),
        findings::left_to_author(report),
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
    if is_cut { out + notice } else { out }
}

/// The heading with the result of the whole, and the reasons why the report is partial.
fn head(report: &Report) -> String {
    let verdict = match (report.is_as_expected(false), report.partial.is_empty() && report.missing() == 0) {
        (false, _) => "❌ not as expected",
        (true, false) => "&#9888;&#65039; as expected so far",
        (true, true) => "✅ as expected",
    };
    let mut out = format!("## MCP casebook: {verdict}\n\n");
    if !report.partial.is_empty() {
        out += "> [!WARNING]\n> This report is partial:\n";
        out.extend(report.partial.iter().take(CAVEATS).map(|caveat| format!("> - {}\n", code(&caveat.text, 600))));
        let more = report.partial.len().saturating_sub(CAVEATS);
        out.extend((more > 0).then(|| format!("> - and {} more\n", count(more, "reason"))));
        out.push('\n');
    }
    out
}

/// The order of the columns by status; one without any test is left out, but for these that are always there.
const COUNTED: [Status; 12] = [
    Status::Failed,
    Status::Flaky,
    Status::Inconclusive,
    Status::Error,
    Status::Known,
    Status::Author,
    Status::Warned,
    Status::Noted,
    Status::Passed,
    Status::Observed,
    Status::NotAsked,
    Status::Cannot,
];
const ALWAYS: [Status; 2] = [Status::Failed, Status::Cannot];

/// A row for each target: the share of its checks that hold, and the number of tests by status.
fn targets(report: &Report) -> String {
    let any = |status: &Status| report.targets.iter().any(|column| column.count(*status) > 0);
    let counted: Vec<_> = COUNTED.iter().filter(|status| any(status) || ALWAYS.contains(status)).collect();
    let mut out = "| | target | version | MUST | SHOULD | tested |".to_owned();
    out.extend(counted.iter().map(|status| format!(" {status} |")));
    out += " skipped | not run |\n| --- | --- | --- | ---: | ---: | ---: |";
    out += &" ---: |".repeat(counted.len() + 2);
    out.push('\n');
    for column in &report.targets {
        let version = column.version.as_ref().map(|version| code(version, 80)).unwrap_or_default();
        let unverified = if column.unverified.is_some() { " (unverified)" } else { "" };
        let left = match column.rates.musts_left() {
            0 => String::new(),
            left => format!("<br><sub>{left} {}</sub>", Status::Author),
        };
        let (name, must) = (code(&column.id.to_string(), 80), column.rates.must().percent() + &left);
        let should = column.rates.should().percent();
        let tested = format!("{} of {}", column.verified, report.requirements.len());
        out += &format!("| {} | {name}{unverified} | {version} | {must} | {should} | {tested} |", verdict(column));
        out.extend(counted.iter().map(|status| format!(" {} |", column.count(**status))));
        out += &format!(" {} | {} |\n", column.skips(), column.missing);
    }
    out + "\n"
}

fn verdict(column: &Column) -> &'static str {
    match (column.is_as_expected(false), column.missing > 0 || column.statuses.total() == 0) {
        (false, _) => "❌",
        (true, true) => WARNING,
        (true, false) => "✅",
    }
}

/// Folders of requirements × targets: the worst mark, and the number of requirements that hold, of all with a verdict.
fn folders_table(report: &Report, limit: usize) -> Option<String> {
    let mut sums: HashMap<(&str, usize), (Status, usize, usize)> = HashMap::new();
    for cell in &report.cells {
        let key = (report.requirements[cell.requirement].folder.as_str(), cell.target);
        let (worst, held, asked) = sums.entry(key).or_insert((cell.status, 0, 0));
        *worst = cell.status.max(*worst);
        *held += usize::from(matches!(cell.status, Status::Passed | Status::Observed));
        *asked += usize::from(!matches!(cell.status, Status::NotAsked | Status::Author));
    }
    let folders = folders(report);
    let mut out = header(report, "");
    for (folder, _) in &folders {
        if out.len() > limit {
            break;
        }
        out += &format!("| {} |", code(folder, 60));
        for target in 0..report.targets.len() {
            match sums.get(&(*folder, target)) {
                None => out += " · |",
                Some((worst, held, asked)) => out += &format!(" {} {held}/{asked} |", mark(*worst)),
            }
        }
        out.push('\n');
    }
    (!folders.is_empty())
        .then(|| format!("{out}\n<sub>Requirements that hold, of all that were tested. {}</sub>\n\n", legend()))
}

/// A coloured warning sign. The invisible character that colours it is written as an entity, like all others.
const WARNING: &str = "&#9888;&#65039;";

fn legend() -> String {
    let shown = Status::ALL.iter().filter(|status| **status != Status::Observed);
    let marks = shown.map(|status| format!("{} {status}: {}", mark(*status), status.meaning()));
    marks.chain(["· not tested".to_owned()]).collect::<Vec<_>>().join(" · ")
}

/// Requirements × targets, folded, a table for each folder.
fn matrices(report: &Report, limit: usize) -> Option<String> {
    let mut out = String::new();
    let cells: HashMap<(usize, usize), Status> =
        report.cells.iter().map(|cell| ((cell.requirement, cell.target), cell.status)).collect();
    for (folder, rows) in folders(report) {
        let requirements = count(rows.len(), "requirement");
        out += &format!("<details><summary>{}: {requirements}</summary>\n\n", code(folder, 60));
        out += &header(report, "level |");
        for row in rows {
            // The section no longer fits, and the rest may have very many rows and columns.
            if out.len() > limit {
                return Some(out);
            }
            let sentence = &report.requirements[row];
            let name = code(sentence.id.as_str(), 100);
            let name = sentence.url.as_deref().and_then(url).map_or(name.clone(), |url| format!("[{name}]({url})"));
            out += &format!("| {name} | {} |", sentence.level);
            let marks = (0..report.targets.len()).map(|target| cells.get(&(row, target)).map_or("·", |it| mark(*it)));
            out.extend(marks.map(|mark| format!(" {mark} |")));
            out.push('\n');
        }
        out += "\n</details>\n\n";
    }
    (!out.is_empty()).then_some(out)
}

fn header(report: &Report, extra: &str) -> String {
    let mut out = format!("| | {extra}");
    out.extend(report.targets.iter().map(|column| format!(" {} |", code(&column.name, 80))));
    out += if extra.is_empty() { "\n| --- |" } else { "\n| --- | --- |" };
    out + &" :---: |".repeat(report.targets.len()) + "\n"
}

/// The folders with their rows: proposals first, then the parts of the specification.
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

fn mark(status: Status) -> &'static str {
    match status {
        Status::Passed | Status::Observed => "✅",
        Status::NotAsked => "➖",
        Status::Author => "📝",
        Status::Known => "🟡",
        Status::Noted => "🔵",
        Status::Warned => WARNING,
        Status::Cannot => "⬜",
        Status::Flaky => "🔁",
        Status::Inconclusive => "❔",
        Status::Failed => "❌",
        Status::Error => "💥",
    }
}

/// The requirements that no target decides, if the report compares several.
fn undecided(report: &Report) -> Option<String> {
    let names: BTreeSet<&str> = report.targets.iter().map(|column| column.id.name.as_str()).collect();
    let undecided = report.requirements.iter().filter(|one| one.decided == 0 && one.vacuous > 0);
    let undecided: Vec<_> = undecided.map(|one| format!("- {} {}", one.level, code(one.id.as_str(), 100))).collect();
    (names.len() > 1 && !undecided.is_empty()).then(|| {
        let requirements = count(undecided.len(), "requirement");
        let lines = undecided.join("\n");
        format!("<details><summary>{requirements} decided on no target</summary>\n\n{lines}\n\n</details>\n\n")
    })
}

/// The skipped tests, with the reasons, and the unverified targets.
fn skipped(report: &Report) -> Option<String> {
    let mut lines = Vec::new();
    for column in &report.targets {
        let name = code(&column.name, 80);
        lines.extend(embargo(column).map(|text| format!("- {name} {text}")));
        lines.extend(column.unverified.iter().map(|why| format!("- {name} unverified: {}", code(why, 300))));
        let skipped = column.skipped.iter();
        lines.extend(skipped.map(|one| format!("- {name} {} skipped: {}", one.tests, code(&one.text, 300))));
    }
    lines.truncate(200);
    (!lines.is_empty())
        .then(|| format!("<details><summary>Skipped tests</summary>\n\n{}\n\n</details>\n\n", lines.join("\n")))
}
