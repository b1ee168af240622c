//! The answers to the questions of readers: the compatibility matrix, the rates by sentence, and the violated MUSTs by
//! requirement.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::markdown::{code, url};
use crate::model::spec::{Harm, Role};
use crate::model::text::count;
use crate::report::matrix::{self, Matrix, OPTIONAL, short_version};
use crate::report::{Answer, CapabilityCell, CapabilityRow, Column, Rate, Report, Sentence, Status};

/// The number of rows of a table of targets.
const ROWS: usize = 60;
/// The number of requirements that are listed, and of targets beside each.
const REQUIREMENTS: usize = 120;
const NAMED: usize = 30;

/// Returns the page about a report of many targets: the matrix, the rates and the questions.
pub fn compatibility(report: &Report) -> String {
    [matrix(report), rates(report), questions(report)].into_iter().flatten().collect()
}

/// Questions × targets. GitHub makes the columns of a wide table as narrow as it can, so that the texts in them must not
/// break.
pub(super) fn matrix(report: &Report) -> Option<String> {
    let Matrix { heads, groups, unasked, more } = Matrix::of(report)?;
    let mut out = "| |".to_owned();
    for head in &heads {
        let version = Some(&head.version).filter(|version| !version.is_empty());
        let version = version.map(|version| format!("<br>{}", unmarked(version, 24))).unwrap_or_default();
        out += &format!(" <sub>{}{version}</sub> |", unmarked(&head.column.id.name, 40));
    }
    out += "\n| --- |";
    out += &" :---: |".repeat(heads.len());
    out.push('\n');
    for group in groups {
        out += &format!("| **{}** |{}\n", plain(&group.rows.title), " |".repeat(heads.len()));
        for row in group.asked {
            out += &format!("| {}&nbsp;<sub>{}</sub> |", plain(&row.short).replace(' ', "&nbsp;"), row.role);
            out.extend(heads.iter().map(|head| format!(" {} |", cell(row, head.cell(row)))));
            out.push('\n');
        }
    }
    out += &format!("\n<sub>{}</sub>\n\n", matrix::legend().join("; ").replace(OPTIONAL, "\\*"));
    let agreement = report.agreement();
    if agreement.asked > 0 {
        out += &format!("**Agreement:** {}.\n\n", agreement_text(agreement));
    }
    out.extend(unasked.map(|text| format!("{}.\n\n", code(&text, 1500))));
    out.extend((more > 0).then(|| format!("{} are not in this table.\n\n", count(more, "further target"))));
    Some(out)
}

/// A mark, with its word or its numbers.
fn cell(row: &CapabilityRow, cell: &CapabilityCell) -> String {
    let brief = row.brief(cell).replace(OPTIONAL, "\\*");
    match brief.split_once(' ') {
        None => brief,
        Some((mark, numbers)) if cell.answer == Answer::Partly => format!("{mark}&nbsp;<sub>{numbers}</sub>"),
        Some((mark, word)) => format!("{mark}&nbsp;{word}"),
    }
}

/// The agreement in words.
pub(super) fn agreement_text(agreement: Rate) -> String {
    let Rate { held, asked } = agreement;
    format!(
        "all targets that were asked give the right answer to {held} of {} ({})",
        count(asked, "question"),
        agreement.percent()
    )
}

/// A title, label or question in escaped text, with code where its author wrote backquotes.
fn plain(text: &str) -> String {
    let part = |(place, part): (usize, &str)| if place % 2 == 1 { code(part, 300) } else { unmarked(part, 300) };
    text.split('`').enumerate().map(part).collect()
}

/// Untrusted text on one line, escaped, and without an element around it.
fn unmarked(text: &str, limit: usize) -> String {
    code(text, limit).replace("<code>", "").replace("</code>", "")
}

/// The sentences of the specification that hold, for servers and clients apart.
pub(super) fn rates(report: &Report) -> Option<String> {
    let mut out = String::new();
    for role in &Role::SINGLE {
        let is_there = |column: &&Column| column.is_main && !column.is_reference();
        let rates = report.targets.iter().filter(is_there);
        let rates = rates.filter_map(|column| Some((column, column.sentences.get(role)?)));
        let most = rates.clone().map(|(_, rates)| rates.must.asked).max().unwrap_or(0);
        // A target that was hardly asked would stand here with all of its few sentences.
        let rates: Vec<_> =
            rates.filter(|(_, rates)| rates.must.asked * 5 >= most.max(1) || rates.author > 0).collect();
        if rates.is_empty() {
            continue;
        }
        out += &format!(
            "| {role}s | version | MUST sentences that hold | SHOULD sentences that hold | MUSTs {} |\n",
            Status::Author
        );
        out += "| --- | --- | ---: | ---: | ---: |\n";
        for (column, rates) in rates.iter().take(ROWS) {
            let version = Some(short_version(column)).filter(|version| !version.is_empty());
            let version = version.map(|version| code(version, 40)).unwrap_or_default();
            let name = code(&column.id.to_string(), 80);
            out += &format!("| {name} | {version} | {} | {} | {} |\n", of(rates.must), of(rates.should), rates.author);
        }
        out.extend((rates.len() > ROWS).then(|| format!("\nAnd {} more.\n", count(rates.len() - ROWS, "target"))));
        out.push('\n');
    }
    let note = "A sentence counts if at least one check of it was decided, and holds if none of its checks fails. Each \
                target stands here with its first variant.";
    (!out.is_empty()).then(|| format!("### Sentences of the specification\n\n{out}<sub>{note}</sub>\n\n"))
}

fn of(rate: Rate) -> String {
    let Rate { held, asked } = rate;
    if asked == 0 { "–".to_owned() } else { format!("{held} of {asked}") }
}

/// The sentences that targets violate, the worst harm first, then those that most targets violate: at first those whose
/// violation harms users, at any level and in any variant, then the other MUSTs.
pub(super) fn violated(report: &Report) -> Option<String> {
    let (mut harmful, mut musts) = (Broken::new(), Broken::new());
    for cell in report.cells.iter().filter(|cell| report.status_of_cell(cell).is_violation()) {
        let (sentence, column) = (&report.requirements[cell.requirement], &report.targets[cell.target]);
        let is_must = sentence.level.is_must();
        if sentence.harm.is_some_and(Harm::is_grave) && !column.is_reference() {
            harmful.entry(cell.requirement).or_default().push(column);
        } else if is_must && column.is_main {
            musts.entry(cell.requirement).or_default().push(column);
        }
    }
    let of_harm = count(harmful.len(), "sentence");
    let harmful = listed(report, harmful, &format!("⚠️ {of_harm} whose violation by a target can harm its users"));
    let of_musts = count(musts.len(), if harmful.is_empty() { "MUST" } else { "other MUST" });
    let musts = listed(report, musts, &format!("❌ {of_musts} violated by at least one target, the worst harm first"));
    let all = format!("{harmful}{musts}");
    (!all.is_empty()).then_some(all)
}

/// The targets that violate each requirement, by its place.
type Broken<'r> = BTreeMap<usize, Vec<&'r Column>>;

fn listed(report: &Report, broken: Broken<'_>, title: &str) -> String {
    let mut broken: Vec<_> =
        broken.into_iter().map(|(place, targets)| (&report.requirements[place], targets)).collect();
    broken.sort_by_key(|(sentence, targets)| (sentence.harm.unwrap_or(Harm::None), Reverse(targets.len())));
    let lines: String = broken.iter().take(REQUIREMENTS).map(|(sentence, targets)| line(sentence, targets)).collect();
    let more = broken.len().saturating_sub(REQUIREMENTS);
    let more = if more > 0 { format!("- and {} more\n", count(more, "requirement")) } else { String::new() };
    if broken.is_empty() {
        return String::new();
    }
    format!("<details><summary>{title}</summary>\n\n{lines}{more}\n</details>\n\n")
}

fn line(sentence: &Sentence, targets: &[&Column]) -> String {
    let id = code(sentence.id.as_str(), 100);
    let id = sentence.url.as_deref().and_then(url).map_or(id.clone(), |url| format!("[{id}]({url})"));
    let why = sentence.why.as_deref().map(|why| format!(" {}", plain(why))).unwrap_or_default();
    let names: Vec<_> = targets.iter().take(NAMED).map(|column| code(&column.name, 80)).collect();
    let more = targets.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let harm = sentence.harm.filter(|harm| *harm != Harm::None).map(|harm| format!(" ({harm})")).unwrap_or_default();
    format!("- {id}{harm}{why} Violated by {}: {}{more}\n", targets.len(), names.join(", "))
}

/// The questions in full.
pub(super) fn questions(report: &Report) -> Option<String> {
    let matrix = Matrix::of(report)?;
    let mut out = String::new();
    for row in matrix.groups.iter().flat_map(|group| &group.asked) {
        out += &format!("- {}, {}: {} (right: {})\n", plain(&row.short), row.role, plain(&row.question), row.right);
    }
    Some(format!("<details><summary>The questions in full</summary>\n\n{out}\n</details>\n\n"))
}
