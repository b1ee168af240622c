//! The frame that all pages share, and the answers as tables.
//!
//! Gives the values that templates show. Must not know where results come from.

use super::super::matrix::Matrix;
use super::super::{Answer, CapabilityCell, CapabilityRow, Column, Report};
use super::address::{self, Place};
use super::edition::{Edition, Tally};
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

/// The answers of one role as a table, with the pages that its heads and cells lead to.
pub(super) struct TableView<'r> {
    pub(super) table: Matrix<'r>,
    places: Vec<&'r Place>,
}

impl<'r> TableView<'r> {
    /// The tables of a report, whose columns are these editions.
    pub(super) fn all(report: &'r Report, editions: &[&'r Edition]) -> Vec<Self> {
        let view = |table: Matrix<'r>| {
            let places = table.heads.iter().map(|head| &editions[head.place].place).collect();
            Self { table, places }
        };
        Matrix::all(report).into_iter().map(view).collect()
    }

    /// The page of a column.
    pub(super) fn head(&self, at: usize) -> String {
        self.places[at].page()
    }

    /// The page of an answer.
    pub(super) fn cell(&self, row: &CapabilityRow, at: usize) -> String {
        format!("{}#{}", address::capability(&row.id), self.places[at].target())
    }

    #[expect(clippy::unused_self, reason = "templates call methods of the table")]
    pub(super) fn row(&self, row: &CapabilityRow) -> String {
        address::capability(&row.id)
    }
}

/// The head of a row with the result of one target.
pub(super) struct LineHead {
    pub(super) name: String,
    pub(super) detail: String,
    pub(super) page: String,
}

/// An answer as a sign with words, and the page that it leads to.
pub(super) struct Mark {
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) text: String,
    pub(super) page: String,
}

impl Mark {
    /// The answer to a capability.
    pub(super) fn answer(cell: &CapabilityCell, page: String) -> Self {
        let with = cell.with().map(|api| format!(" (with {api})")).unwrap_or_default();
        let text = format!("{}{with}", cell.words);
        Self { class: cell.answer.class(), sign: cell.answer.mark(), text, page }
    }

    /// The result of a requirement.
    pub(super) fn requirement(tally: Tally, page: String) -> Self {
        let answer = tally.answer();
        Self { class: answer.class(), sign: answer.mark(), text: tally.words(), page }
    }
}

impl Answer {
    /// The class in the style.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Nearly => "nearly",
            Self::Partly => "partly",
            Self::Wrong => "wrong",
            Self::Author => "author",
            Self::Absent => "absent",
            Self::NotTested => "none",
        }
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
