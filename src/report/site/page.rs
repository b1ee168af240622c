//! The frame that all pages share, and the matrix of answers as a table.
//!
//! Gives the values that templates show. Must not know where results come from.

use super::super::matrix::{OPTIONAL, is_optional};
use super::super::{Answer, CapabilityCell, CapabilityRow, CapabilityRows, Column};
use super::address;
use super::edition::{Edition, Tally};
use crate::model::spec::Role;
use crate::model::text::shortened;

/// The length of a version that is shown, in bytes.
const NUMBER: usize = 100;

/// The policy of all pages: the site's own style, and nothing else.
pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

/// The parts of each page that are not its own.
pub(super) struct Frame {
    /// The path from the page to the root of the site.
    pub(super) root: String,
    pub(super) title: String,
    /// The pages above it: their titles and paths.
    pub(super) trail: Vec<(String, String)>,
    pub(super) policy: &'static str,
    pub(super) casebook: &'static str,
    pub(super) question: String,
}

impl Frame {
    pub(super) fn new(path: &str, title: impl Into<String>, trail: Vec<(String, String)>) -> Self {
        Self {
            root: "../".repeat(path.matches('/').count()),
            title: title.into(),
            trail,
            policy: POLICY,
            casebook: env!("CARGO_PKG_VERSION"),
            question: format!("Conformance: {}.", super::super::View::Conformance.question()),
        }
    }
}

/// A part of the answers as a table: capabilities × editions.
pub(super) struct Matrix {
    pub(super) caption: String,
    pub(super) heads: Vec<Head>,
    pub(super) groups: Vec<MatrixGroup>,
}

/// A column of a matrix.
pub(super) struct Head {
    pub(super) name: String,
    pub(super) detail: String,
    pub(super) page: String,
    /// The share of sentences that hold.
    pub(super) must: String,
}

pub(super) struct MatrixGroup {
    pub(super) title: String,
    pub(super) rows: Vec<MatrixRow>,
}

pub(super) struct MatrixRow {
    pub(super) question: String,
    pub(super) short: String,
    pub(super) page: String,
    pub(super) cells: Vec<Mark>,
}

/// An answer as a sign with words, and the page that it leads to.
pub(super) struct Mark {
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    /// The word beside the sign; empty if the sign has none.
    pub(super) text: String,
    /// The words for screen readers, where the sign stands alone.
    pub(super) spoken: String,
    pub(super) page: String,
}

impl Mark {
    /// The answer to a capability.
    pub(super) fn answer(row: &CapabilityRow, cell: &CapabilityCell, page: String) -> Self {
        let words = row.words(cell);
        let optional = optional(cell);
        let (text, spoken) = match cell.answer {
            Answer::Right | Answer::Wrong => (words + optional, String::new()),
            Answer::Partly => (format!("{}/{}{optional}", cell.held, cell.decided), "hold".to_owned()),
            _ => (String::new(), words),
        };
        Self { class: class(cell.answer), sign: cell.answer.mark(), text, spoken, page }
    }

    /// The same, with all of it in words.
    pub(super) fn in_words(row: &CapabilityRow, cell: &CapabilityCell, page: String) -> Self {
        let text = row.words(cell) + optional(cell);
        Self { text, spoken: String::new(), ..Self::answer(row, cell, page) }
    }

    /// The result of a requirement.
    pub(super) fn requirement(tally: Tally, page: String) -> Self {
        let answer = tally.answer();
        Self { class: class(answer), sign: answer.mark(), text: tally.words(), spoken: String::new(), page }
    }
}

/// The sign of an answer where all that does not hold is optional.
fn optional(cell: &CapabilityCell) -> &'static str {
    if is_optional(cell) { OPTIONAL } else { "" }
}

/// The class of an answer in the style.
pub(super) fn class(answer: Answer) -> &'static str {
    match answer {
        Answer::Right => "right",
        Answer::Partly => "partly",
        Answer::Wrong => "wrong",
        Answer::Author => "author",
        Answer::Cannot => "cannot",
        Answer::NotAsked => "none",
    }
}

/// The name of a target among the newest versions: without the variant that stands for it.
pub(super) fn short_name(column: &Column) -> String {
    if column.is_main { column.id.name.clone() } else { column.id.to_string() }
}

/// The version without its package.
pub(super) fn number(column: &Column) -> String {
    let Some(version) = &column.version else { return "of no known version".to_owned() };
    shortened(version.rsplit(' ').next().unwrap_or(version), NUMBER).into_owned()
}

/// Returns a matrix for servers and one for clients; columns without any answer are left out, and an empty matrix too.
/// `name` gives the first and the second line of a column's head, `page` the page that a cell leads to.
pub(super) fn matrices(
    groups: &[CapabilityRows],
    editions: &[&Edition],
    name: impl Fn(&Edition) -> (String, String),
    page: impl Fn(&CapabilityRow, &Edition) -> String,
) -> Vec<Matrix> {
    let rows: Vec<(&CapabilityRows, &CapabilityRow)> =
        groups.iter().flat_map(|group| group.capabilities.iter().map(move |row| (group, row))).collect();
    let of_role = |role: Role| {
        let has_answer = |edition: &&&Edition| {
            let answers = rows.iter().zip(&edition.answers).filter(|((_, row), _)| row.role == role);
            answers.filter(|(_, cell)| is_decided(cell)).count() > 0
        };
        let shown: Vec<&Edition> = editions.iter().filter(has_answer).copied().collect();
        let mut groups: Vec<MatrixGroup> = Vec::new();
        for (at, (group, row)) in rows.iter().enumerate().filter(|(_, (_, row))| row.role == role) {
            let cell = |edition: &&Edition| Mark::answer(row, &edition.answers[at], page(row, edition));
            let row = MatrixRow {
                question: row.question.clone(),
                short: row.short.clone(),
                page: address::capability(&row.id),
                cells: shown.iter().map(cell).collect(),
            };
            match groups.last_mut().filter(|last| last.title == group.title) {
                Some(last) => last.rows.push(row),
                None => groups.push(MatrixGroup { title: group.title.clone(), rows: vec![row] }),
            }
        }
        let head = |edition: &&Edition| {
            let (name, detail) = name(edition);
            let must = edition.column.sentences.get(&role).map(|rates| rates.must).unwrap_or_default();
            Head { name, detail, page: edition.place.page(), must: format!("{}/{}", must.held, must.asked) }
        };
        let caption = match role {
            Role::Server => "Servers",
            Role::Client => "Clients",
            Role::Pair => "Pairs",
        };
        Matrix { caption: caption.to_owned(), heads: shown.iter().map(head).collect(), groups }
    };
    let all = Role::SINGLE.iter().map(|role| of_role(*role));
    all.filter(|matrix| !matrix.heads.is_empty() && !matrix.groups.is_empty()).collect()
}

/// Returns whether a question was answered.
pub(super) fn is_decided(cell: &CapabilityCell) -> bool {
    matches!(cell.answer, Answer::Right | Answer::Partly | Answer::Wrong)
}
