//! The compatibility matrix: the questions of readers × the targets that were asked.
//!
//! Takes a report, gives the columns and rows that Markdown shows, and the text of each cell. Names of targets
//! and versions are untrusted text. Pure.

use std::collections::BTreeSet;

use super::{Answer, CapabilityCell, CapabilityRow, CapabilityRows, Column, Report};
use crate::model::text::count;

/// The number of columns of a matrix. A table with more of them cannot be read.
const COLUMNS: usize = 28;

/// The sign beside an answer of which only optional parts do not hold.
pub(super) const OPTIONAL: &str = "*";

/// The questions of readers, and the targets that were asked.
pub(super) struct Matrix<'r> {
    /// The columns.
    pub(super) heads: Vec<Head<'r>>,
    /// The groups that have a row.
    pub(super) groups: Vec<Group<'r>>,
    /// The targets that were asked nearly nothing, as a sentence.
    pub(super) unasked: Option<String>,
    /// The number of columns that are left out.
    pub(super) more: usize,
}

/// A column.
pub(super) struct Head<'r> {
    /// The target.
    pub(super) column: &'r Column,
    /// Its place in the report.
    pub(super) place: usize,
    /// The version, without the name of the package.
    pub(super) version: String,
}

/// The rows of one feature.
pub(super) struct Group<'r> {
    /// The feature.
    pub(super) rows: &'r CapabilityRows,
    /// The questions that one of the columns was asked.
    pub(super) asked: Vec<&'r CapabilityRow>,
}

impl<'r> Matrix<'r> {
    /// The matrix of a report; `None` if no question was answered.
    pub(super) fn of(report: &'r Report) -> Option<Self> {
        let mains = |is_reference: bool| {
            let is_kind = move |column: &Column| column.is_main && column.is_reference() == is_reference;
            report.targets.iter().enumerate().filter(move |(_, column)| is_kind(column))
        };
        let decided = decided(report);
        let mut columns: Vec<_> = mains(false).collect();
        if columns.iter().all(|(place, _)| decided[*place] == 0) {
            columns = mains(true).collect();
        }
        let most = columns.iter().map(|(place, _)| decided[*place]).max().unwrap_or(0);
        let (asked, others): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|(place, _)| is_asked_enough(decided[*place], most));
        let more = asked.len().saturating_sub(COLUMNS);
        let heads: Vec<_> = asked.into_iter().take(COLUMNS).map(|(place, column)| head(place, column)).collect();
        let groups: Vec<_> = report.capabilities.iter().filter_map(|rows| group(rows, &heads)).collect();
        let unasked = unasked(&others, others.iter().map(|(place, _)| decided[*place]).max().unwrap_or(0));
        (!groups.is_empty()).then_some(Self { heads, groups, unasked, more })
    }
}

impl Head<'_> {
    /// The answer of the column.
    pub(super) fn cell<'c>(&self, row: &'c CapabilityRow) -> &'c CapabilityCell {
        &row.answers[self.place]
    }
}

/// Returns whether a target with so many answers has a column, if the target with the most has `most`. A target that was
/// asked less than a fifth of what others were would be a nearly empty column.
pub(super) fn is_asked_enough(answers: usize, most: usize) -> bool {
    answers > 0 && answers * 5 >= most
}

/// The number of questions with a decided check, by column of the report.
pub(super) fn decided(report: &Report) -> Vec<usize> {
    let mut decided = vec![0; report.targets.len()];
    for row in report.capabilities.iter().flat_map(|group| &group.capabilities) {
        for (number, cell) in decided.iter_mut().zip(&row.answers) {
            *number += usize::from(cell.decided > 0);
        }
    }
    decided
}

fn head(place: usize, column: &Column) -> Head<'_> {
    Head { column, place, version: short_version(column).to_owned() }
}

/// Returns the version of a target without the name of its package, or an empty text.
pub(super) fn short_version(column: &Column) -> &str {
    column.version.as_deref().and_then(|version| version.split_whitespace().last()).unwrap_or_default()
}

fn group<'r>(rows: &'r CapabilityRows, heads: &[Head<'r>]) -> Option<Group<'r>> {
    let is_asked = |row: &&CapabilityRow| heads.iter().any(|head| head.cell(row).answer != Answer::NotAsked);
    let asked: Vec<_> = rows.capabilities.iter().filter(is_asked).collect();
    (!asked.is_empty()).then_some(Group { rows, asked })
}

/// Names the targets that were asked nearly nothing; the variants and versions of one target count once.
fn unasked(others: &[(usize, &Column)], most: usize) -> Option<String> {
    const NAMED: usize = 20;
    let names: BTreeSet<&str> = others.iter().map(|(_, column)| column.id.name.as_str()).collect();
    let asked = if most == 0 { "no question".to_owned() } else { format!("at most {}", count(most, "question")) };
    let more = if names.len() > NAMED { ", …" } else { "" };
    let named: Vec<_> = names.iter().take(NAMED).copied().collect();
    let was = if names.len() == 1 { "was" } else { "were" };
    (!names.is_empty())
        .then(|| format!("{} {was} asked {asked}: {}{more}", count(names.len(), "other target"), named.join(", ")))
}

impl CapabilityRow {
    /// The answer in a few characters: a mark, and `yes`, `no`, or the numbers of checks.
    pub(super) fn brief(&self, cell: &CapabilityCell) -> String {
        let mark = cell.answer.mark();
        let optional = if is_optional(cell) { OPTIONAL } else { "" };
        match cell.answer {
            Answer::Right | Answer::Wrong => format!("{mark} {}{optional}", self.words(cell)),
            Answer::Partly => format!("{mark} {}/{}{optional}", cell.held, cell.decided),
            Answer::Author | Answer::Cannot | Answer::NotAsked => mark.to_owned(),
        }
    }
}

/// Returns whether all that does not hold is optional.
pub(super) fn is_optional(cell: &CapabilityCell) -> bool {
    matches!(cell.answer, Answer::Partly | Answer::Wrong) && !cell.is_fault
}

/// The marks with their meanings, for legends.
pub(super) fn legend() -> Vec<String> {
    let meaning = |answer: &Answer| match answer {
        Answer::Right => "right: every check holds",
        Answer::Partly => "partly: 3/7 says that 3 of 7 checks hold",
        Answer::Wrong => "wrong: no check holds",
        Answer::Author => "left by the SDK's documentation to the author of a server or client",
        Answer::Cannot => "cannot be expressed with the SDK's public interface",
        Answer::NotAsked => "not asked, or not decided",
    };
    let marks = Answer::ALL.iter().map(|answer| format!("{} {}", answer.mark(), meaning(answer)));
    marks.chain([format!("{OPTIONAL} what does not hold is optional")]).collect()
}
