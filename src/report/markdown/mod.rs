//! A [`Report`] as Markdown, for GitHub's job summaries and for comments on pull requests.
//!
//! Takes a report and a limit in bytes, gives text that keeps to it and says where something is left out. Text from a
//! target or a run log is escaped, inside of code, where it is no markup, no link and no mention.

mod findings;
mod keywords;
mod overview;
mod proposal;

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use overview::compatibility;
pub use proposal::proposal;

use super::view::real_targets;
use super::{Column, Report, Status, View};
use crate::model::markdown::{code, url};
use crate::model::text::count;

/// The bytes that GitHub takes of one step's summary.
pub const SUMMARY: usize = 1024 * 1024;
/// The bytes that GitHub takes of one comment.
pub const COMMENT: usize = 65_536;

/// The number of reasons why a report is partial that are shown.
const CAVEATS: usize = 20;

/// Returns the report as Markdown of at most `limit` bytes. The head is always there, and in the expectation view the
/// table of targets; the other sections are there where they fit.
pub fn markdown(report: &Report, limit: usize) -> String {
    let notice = "\n<sub>Shortened to fit GitHub's limit; the other reports have the rest.</sub>\n";
    let is_conformance = report.view == View::Conformance;
    let mut out = head(report);
    if !is_conformance {
        out += &targets(report);
    }
    let mut is_cut = false;
    let mut add = |section: String| {
        if out.len() + section.len() + notice.len() <= limit {
            out += &section;
        } else {
            is_cut = true;
        }
    };
    if is_conformance {
        let matrix = overview::matrix(report);
        let has_matrix = matrix.is_some();
        [matrix, overview::rates(report), overview::violated(report), overview::questions(report)]
            .into_iter()
            .flatten()
            .for_each(&mut add);
        let table = targets(report);
        add(if has_matrix { folded("Tests by status, of all targets and variants", &table) } else { table });
        keywords::table(report).into_iter().for_each(&mut add);
        let folders = folders_table(report, limit);
        folders.map(|table| folded("Requirements by folder", &table)).into_iter().for_each(&mut add);
    } else {
        [folders_table(report, limit), keywords::table(report)].into_iter().flatten().for_each(&mut add);
    }
    let broken = findings::broken(report, limit);
    if is_conformance {
        // The details of some targets and not of others would look like a judgement.
        add(broken.concat());
    } else {
        broken.into_iter().for_each(&mut add);
    }
    findings::known(report).into_iter().for_each(&mut add);
    if !is_conformance {
        let answers: String = [overview::matrix(report), overview::rates(report)].into_iter().flatten().collect();
        if !answers.is_empty() {
            add(folded("Conformance: what each target can and cannot do", &answers));
        }
    }
    [undecided(report), findings::left_to_author(report), skipped(report), matrices(report, limit)]
        .into_iter()
        .flatten()
        .for_each(&mut add);
    if is_cut { out + notice } else { out }
}

fn folded(title: &str, text: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{text}</details>\n\n")
}

/// The heading with the view, and the result of the whole where the view has one; and the reasons why the report is
/// partial.
fn head(report: &Report) -> String {
    let verdict = match (report.is_as_expected(false), report.partial.is_empty() && report.missing() == 0) {
        (false, _) => "❌ not as expected",
        (true, false) => "&#9888;&#65039; as expected so far",
        (true, true) => "✅ as expected",
    };
    let result = match report.view {
        // Of the reference alone, it is the target.
        View::Conformance => {
            count(real_targets(&report.targets).max(usize::from(!report.targets.is_empty())), "target")
        }
        View::Expectation => verdict.to_owned(),
    };
    let (view, question) = (report.view, report.view.question());
    let mut out = format!("## MCP casebook: {result} ({view} view)\n\nThis view shows {question}.\n\n");
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
    let counts = report.counts();
    let any = |status: &Status| counts.iter().any(|counts| counts.get(*status) > 0);
    let counted: Vec<_> = COUNTED.iter().filter(|status| any(status) || ALWAYS.contains(status)).collect();
    // A sign for “as expected” would be the answer to another question.
    let has_verdict = report.view == View::Expectation;
    let mut out = if has_verdict { "| |" } else { "|" }.to_owned();
    out += " target | version | MUST | SHOULD | tested |";
    out.extend(counted.iter().map(|status| format!(" {status} |")));
    out += if has_verdict { " skipped | not run |\n| --- |" } else { " skipped | not run |\n|" };
    out += " --- | --- | ---: | ---: | ---: |";
    out += &" ---: |".repeat(counted.len() + 2);
    out.push('\n');
    for (column, counts) in report.targets.iter().zip(&counts) {
        let version = column.version.as_ref().map(|version| code(version, 80)).unwrap_or_default();
        let unverified = if column.unverified.is_some() { " (unverified)" } else { "" };
        let left = match column.rates.musts_left() {
            0 => String::new(),
            left => format!("<br><sub>{left} {}</sub>", Status::Author),
        };
        let (name, must) = (code(&column.id.to_string(), 80), column.rates.must().percent() + &left);
        let should = column.rates.should().percent();
        let tested = format!("{} of {}", column.verified, report.requirements.len());
        out.extend(has_verdict.then(|| format!("| {} ", verdict(column))));
        out += &format!("| {name}{unverified} | {version} | {must} | {should} | {tested} |");
        out.extend(counted.iter().map(|status| format!(" {} |", counts.get(**status))));
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
        let status = report.status_of_cell(cell);
        let (worst, held, asked) = sums.entry(key).or_insert((status, 0, 0));
        *worst = status.max(*worst);
        *held += usize::from(matches!(status, Status::Passed | Status::Observed));
        *asked += usize::from(!matches!(status, Status::NotAsked | Status::Author));
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
    (!folders.is_empty()).then(|| {
        format!("{out}\n<sub>Requirements that hold, of all that were tested. {}</sub>\n\n", legend(report.view))
    })
}

/// A coloured warning sign. The invisible character that colours it is written as an entity, like all others.
const WARNING: &str = "&#9888;&#65039;";

fn legend(view: View) -> String {
    let is_shown = |status: &&Status| match **status {
        Status::Observed => false,
        Status::Known => view == View::Expectation,
        _ => true,
    };
    let shown = Status::ALL.iter().filter(is_shown);
    let marks = shown.map(|status| format!("{} {status}: {}", mark(*status), status.meaning()));
    marks.chain(["· not tested".to_owned()]).collect::<Vec<_>>().join(" · ")
}

/// Requirements × targets, folded, a table for each folder.
fn matrices(report: &Report, limit: usize) -> Option<String> {
    let mut out = String::new();
    let cells: HashMap<(usize, usize), Status> =
        report.cells.iter().map(|cell| ((cell.requirement, cell.target), report.status_of_cell(cell))).collect();
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
        Status::NotAdopted => "◽",
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

/// The skipped tests, with the reasons, and the unverified targets. Targets with the same remark share a line.
fn skipped(report: &Report) -> Option<String> {
    let mut remarks: BTreeMap<String, Vec<(&str, Option<usize>)>> = BTreeMap::new();
    for column in &report.targets {
        let mut add = |remark, tests| remarks.entry(remark).or_default().push((column.name.as_str(), tests));
        if let Some(why) = &column.unverified {
            add(format!("unverified: {}", code(why, 300)), None);
        }
        for one in &column.skipped {
            add(format!("skipped: {}", code(&one.text, 300)), Some(one.tests));
        }
    }
    let mut lines: Vec<_> = remarks.iter().map(|(remark, targets)| remark_line(remark, targets)).collect();
    lines.truncate(200);
    (!lines.is_empty())
        .then(|| format!("<details><summary>Skipped tests</summary>\n\n{}\n\n</details>\n\n", lines.join("\n")))
}

/// A remark, with the targets that it is about and the numbers of tests.
fn remark_line(remark: &str, targets: &[(&str, Option<usize>)]) -> String {
    const NAMED: usize = 8;
    let tests: BTreeSet<usize> = targets.iter().filter_map(|(_, tests)| *tests).collect();
    let tests = match (tests.first(), tests.last()) {
        (Some(least), Some(most)) if least == most => format!("{least} "),
        (Some(least), Some(most)) => format!("{least} to {most} "),
        _ => String::new(),
    };
    let names: Vec<_> = targets.iter().take(NAMED).map(|(name, _)| code(name, 80)).collect();
    match (names.as_slice(), targets.len().saturating_sub(NAMED)) {
        ([one], _) => format!("- {one} {tests}{remark}"),
        (several, 0) => format!("- {} targets: {tests}{remark} ({})", targets.len(), several.join(", ")),
        (several, more) => {
            format!("- {} targets: {tests}{remark} ({} and {more} more)", targets.len(), several.join(", "))
        }
    }
}
