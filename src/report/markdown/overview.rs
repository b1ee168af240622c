//! The answers to the questions of readers: the compatibility matrix, the rates by sentence, and the violated MUSTs by
//! requirement.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::model::markdown::{code, url};
use crate::model::spec::{Harm, Role};
use crate::model::text::count;
use crate::report::matrix::{self, Group, Head, Matrix, Note, package};
use crate::report::{Answer, CapabilityCell, CapabilityRow, Column, Rate, Report, Sentence, Status};

/// The number of columns that GitHub shows without a scroll bar.
const COLUMNS: usize = 5;
/// The number of reasons of an answer.
const REASONS: usize = 2;
/// The number of rows of a table of targets.
const ROWS: usize = 60;
/// The number of requirements that are listed, and of targets beside each.
const REQUIREMENTS: usize = 120;
const NAMED: usize = 30;

/// Returns the page about a report of many targets: the answers, the rates, and the answers in full.
pub fn compatibility(report: &Report) -> String {
    [matrix(report), rates(report), questions(report)].into_iter().flatten().collect()
}

/// Questions × targets, a table for servers and one for clients.
pub(super) fn matrix(report: &Report) -> Option<String> {
    let tables = Matrix::all(report);
    let mut out = String::new();
    for table in &tables {
        out += &format!("### I write a {}\n\n", table.role);
        out += &grids(table, &table.first);
        if !table.alike.is_empty() {
            let alike = table.alike.iter().map(|row| format!("{} {}", question(row.row), words(row.cells[0].0)));
            out += &format!("All answer as they should: {}\n\n", alike.collect::<Vec<_>>().join(" · "));
        }
        if !table.others.is_empty() {
            let title = format!("{} more about {}s", count(rows(&table.others), "question"), table.role);
            out += &format!("<details><summary>{title}</summary>\n\n{}</details>\n\n", grids(table, &table.others));
        }
        out += &notes(table);
        out.extend(table.unasked.as_ref().map(|text| format!("{}.\n\n", code(text, 1500))));
        let more = (table.more > 0).then(|| count(table.more, "further target"));
        out.extend(more.map(|more| format!("{more} are not in this table.\n\n")));
    }
    if tables.is_empty() {
        return None;
    }
    out += &format!("<sub>{}; MUST and SHOULD: the specification demands it</sub>\n\n", matrix::legend().join("; "));
    let agreement = report.agreement();
    if agreement.asked > 0 {
        out += &format!("**Agreement:** {}.\n\n", agreement_text(agreement));
    }
    Some(out)
}

fn rows(groups: &[Group<'_>]) -> usize {
    groups.iter().map(|group| group.rows.len()).sum()
}

/// The table with these groups, in as many parts as it needs, so that each can be read beside its questions.
fn grids(table: &Matrix<'_>, groups: &[Group<'_>]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let parts = table.heads.len().div_ceil(COLUMNS).max(1);
    let size = table.heads.len().div_ceil(parts).max(1);
    let parts = (0..parts).map(|part| part * size..((part + 1) * size).min(table.heads.len()));
    parts.map(|part| grid(&table.heads[part.clone()], groups, &part)).collect()
}

fn grid(heads: &[Head<'_>], groups: &[Group<'_>], part: &Range<usize>) -> String {
    let mut out = "| |".to_owned();
    for head in heads {
        let api = head.api.map(|api| format!("<br><sub>{}</sub>", unmarked(api, 40)));
        let revisions = head.revisions().filter(|(_, speaks)| *speaks);
        let revisions: Vec<_> = revisions.map(|(revision, _)| revision.brief()).collect();
        let (package, version) = (unmarked(head.package, 40), unmarked(head.version, 24));
        let revisions = revisions.join(", ");
        let language = head.column.language.as_deref().map(|language| format!("{}<br>", unmarked(language, 40)));
        out += &format!(
            " {}{package} {version}{}<br><sub>{revisions}</sub> |",
            language.unwrap_or_default(),
            api.unwrap_or_default()
        );
    }
    out += "\n| --- |";
    out += &" --- |".repeat(heads.len());
    out.push('\n');
    for group in groups {
        out += &format!("| **{}** |{}\n", plain(group.title), " |".repeat(heads.len()));
        for row in &group.rows {
            out += &format!("| {} |", question(row.row));
            for (cell, notes) in &row.cells[part.clone()] {
                let notes = notes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
                let notes = if notes.is_empty() { notes } else { format!("&nbsp;<sup>{notes}</sup>") };
                // The longest words would make five columns wider than the page.
                let with = cell.with().map(|api| format!("<br>with {}", unmarked(api, 40))).unwrap_or_default();
                out += &format!(" <sub>{}{with}</sub>{notes} |", words(cell));
            }
            out.push('\n');
        }
    }
    out.push('\n');
    out
}

/// A question with its keyword.
fn question(row: &CapabilityRow) -> String {
    let keyword = row.keyword.map(|keyword| format!("&nbsp;<sub>{keyword}</sub>")).unwrap_or_default();
    format!("{}{keyword}", plain(&row.question))
}

/// The sign of an answer with its words.
fn words(cell: &CapabilityCell) -> String {
    format!("{}&nbsp;{}", cell.answer.mark(), unmarked(&cell.words, 60))
}

fn notes(table: &Matrix<'_>) -> String {
    let note = |(at, note): (usize, &Note<'_>)| {
        let link = note.url.and_then(url).map(|url| format!(" [upstream]({url})")).unwrap_or_default();
        format!("{}. {}{link}\n", at + 1, unmarked(note.text, 400))
    };
    let notes: String = table.notes.iter().enumerate().map(note).collect();
    if notes.is_empty() { notes } else { format!("<details><summary>Notes</summary>\n\n{notes}\n</details>\n\n") }
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
pub(super) fn plain(text: &str) -> String {
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
            let version = Some(package(column).1).filter(|version| !version.is_empty());
            let version = version.map(|version| code(version, 40)).unwrap_or_default();
            let name = code(&column.id.to_string(), 80);
            out += &format!("| {name} | {version} | {} | {} | {} |\n", of(rates.must), of(rates.should), rates.author);
        }
        let scores = rates.iter().filter_map(|(column, _)| Some((column, column.score(*role)?)));
        for (column, score) in scores.take(ROWS) {
            out += &format!("\n{}: {}\n", code(&column.id.to_string(), 80), code(&score, 300));
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

/// The answers that are not right, for each question, with the reasons and their links.
pub(super) fn questions(report: &Report) -> Option<String> {
    let mut out = String::new();
    for table in Matrix::all(report) {
        for row in table.rows() {
            let title = format!("{} ({}s; right: {})", plain(&row.row.question), table.role, row.row.right);
            out += &format!("- {title}\n");
            let told = table.heads.iter().zip(&row.cells);
            for (head, (cell, _)) in told.filter(|(_, (cell, _))| cell.answer != Answer::Right) {
                out += &format!("  - {}: {}", code(&head.column.id.name, 60), words(cell));
                for reason in cell
                    .reasons
                    .iter()
                    .filter(|reason| reason.text.is_some() || reason.short != cell.words)
                    .take(REASONS)
                {
                    let link = reason.url.as_deref().and_then(url).map(|url| format!(" [upstream]({url})"));
                    let text = reason.text.as_deref().unwrap_or(&reason.short);
                    out += &format!("; {}{}", unmarked(text, 400), link.unwrap_or_default());
                }
                out.push('\n');
            }
        }
    }
    (!out.is_empty())
        .then(|| format!("<details><summary>The reasons of each answer</summary>\n\n{out}\n</details>\n\n"))
}
