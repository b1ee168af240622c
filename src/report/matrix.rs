//! The answers as tables: the questions of one role × the targets that were asked, with numbered notes.
//!
//! Takes a report; gives the columns, the rows and the notes that Markdown and HTML show. Names of targets, versions and
//! words are untrusted text. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::filters::external;
use super::{Answer, CapabilityCell, CapabilityRow, CapabilityRows, Column, Report};
use crate::model::reason::SkipReason;
use crate::model::spec::{Revision, Role};
use crate::model::text::count;
use crate::model::version;

/// The number of columns of a table. A wider one cannot be read.
const COLUMNS: usize = 28;
/// The number of notes of a table, and of one cell.
const NOTES: usize = 80;
const CELL_NOTES: usize = 3;

/// The questions of one role, and the targets that were asked.
pub(super) struct Matrix<'r> {
    /// The role.
    pub(super) role: Role,
    /// The columns, those of one language beside each other.
    pub(super) heads: Vec<Head<'r>>,
    /// The questions that people ask often, if not all columns give the right answer.
    pub(super) first: Vec<Group<'r>>,
    /// The other questions of this kind.
    pub(super) others: Vec<Group<'r>>,
    /// The questions to which all columns give the right answer, in the same words.
    pub(super) alike: Vec<Row<'r>>,
    /// The notes, of which the first has the number 1.
    pub(super) notes: Vec<Note<'r>>,
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
    /// The package, without the parts that say who publishes it; the name of the target if no package is known.
    pub(super) package: &'r str,
    /// The version, without the name of the package.
    pub(super) version: &'r str,
    /// The API, which is that of the server where a target has both roles.
    pub(super) api: Option<&'r str>,
}

/// The rows of one subject.
pub(super) struct Group<'r> {
    /// The subject.
    pub(super) title: &'r str,
    /// The questions.
    pub(super) rows: Vec<Row<'r>>,
}

/// A question with the answer of each column.
pub(super) struct Row<'r> {
    /// The question.
    pub(super) row: &'r CapabilityRow,
    /// The answers, each with the numbers of its notes.
    pub(super) cells: Vec<(&'r CapabilityCell, Vec<usize>)>,
}

/// A note under the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Note<'r> {
    /// A sentence.
    pub(super) text: &'r str,
    /// The address of a report, or of the documentation.
    pub(super) url: Option<&'r str>,
}

impl<'r> Matrix<'r> {
    /// The tables of a report, one for each role that has an answer.
    pub(super) fn all(report: &'r Report) -> Vec<Self> {
        Role::SINGLE.iter().filter_map(|role| Self::new(report, *role)).collect()
    }

    /// The table of one role; `None` if no question was answered.
    fn new(report: &'r Report, role: Role) -> Option<Self> {
        let groups: Vec<&CapabilityRows> = report.capabilities.iter().filter(|group| group.role == role).collect();
        let decided = |place: usize| {
            let rows = groups.iter().flat_map(|group| &group.capabilities);
            rows.filter(|row| {
                let answer = row.answers[place].answer;
                answer.is_decided() || answer == Answer::Author
            })
            .count()
        };
        let (columns, others) = columns(report, &decided);
        let more = columns.len().saturating_sub(COLUMNS);
        let heads: Vec<_> =
            columns.into_iter().take(COLUMNS).map(|place| Head::new(place, &report.targets[place], role)).collect();
        let mut table = Self {
            role,
            first: Vec::new(),
            others: Vec::new(),
            alike: Vec::new(),
            notes: Vec::new(),
            unasked: unasked(report, &others, &decided),
            more,
            heads,
        };
        for group in groups {
            table.add(group);
        }
        let is_empty = table.first.is_empty() && table.others.is_empty() && table.alike.is_empty();
        (!is_empty).then_some(table)
    }

    fn add(&mut self, group: &'r CapabilityRows) {
        let mut rows: [Vec<Row<'r>>; 2] = [Vec::new(), Vec::new()];
        let (first, others): (Vec<_>, Vec<_>) = group.capabilities.iter().partition(|row| row.first);
        for row in first.into_iter().chain(others) {
            let cells: Vec<&CapabilityCell> = self.heads.iter().map(|head| &row.answers[head.place]).collect();
            // A question that nobody answers tells nothing.
            if cells.iter().all(|cell| matches!(cell.answer, Answer::NotTested | Answer::Absent)) {
                continue;
            }
            // A failure is told with its table: the notes, and how many checks fail in each target.
            let is_right = |cell: &&CapabilityCell| cell.answer == Answer::Right && cell.words == cells[0].words;
            let is_alike = cells.len() > 1 && cells.iter().all(is_right);
            let cells = cells.into_iter().map(|cell| (cell, self.note(cell))).collect();
            let row = Row { row, cells };
            if is_alike {
                self.alike.push(row);
            } else {
                rows[usize::from(!row.row.first)].push(row);
            }
        }
        let [first, others] = rows;
        let title = group.title.as_str();
        self.first.extend((!first.is_empty()).then_some(Group { title, rows: first }));
        self.others.extend((!others.is_empty()).then_some(Group { title, rows: others }));
    }

    /// Returns the numbers of the notes of an answer, and adds those that are new.
    fn note(&mut self, cell: &'r CapabilityCell) -> Vec<usize> {
        if cell.answer == Answer::Right {
            return Vec::new();
        }
        let told = cell.reasons.iter().filter_map(|reason| {
            let (text, url) = (reason.text.as_deref()?, reason.url.as_deref());
            Some(Note { text, url })
        });
        let mut numbers = BTreeSet::new();
        let most = if matches!(cell.answer, Answer::Absent | Answer::Author) { 1 } else { CELL_NOTES };
        for note in told.take(most) {
            let known = self.notes.iter().position(|other| *other == note);
            if known.is_none() && self.notes.len() >= NOTES {
                continue;
            }
            numbers.insert(known.map_or_else(
                || {
                    self.notes.push(note);
                    self.notes.len()
                },
                |at| at + 1,
            ));
        }
        numbers.into_iter().collect()
    }

    /// The languages in their order, each with the number of its columns.
    pub(super) fn languages(&self) -> Vec<(&'r str, usize)> {
        let language = |head: &Head<'r>| head.column.language.as_deref().unwrap_or_default();
        let runs = self.heads.chunk_by(|one, other| language(one) == language(other));
        runs.map(|run| (language(&run[0]), run.len())).collect()
    }

    /// All rows, in the order of the table.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row<'r>> {
        self.first.iter().chain(&self.others).flat_map(|group| &group.rows).chain(&self.alike)
    }
}

impl Note<'_> {
    /// The address, if it can be a link.
    pub(super) fn link(&self) -> Option<String> {
        self.url.and_then(external)
    }
}

impl<'r> Head<'r> {
    fn new(place: usize, column: &'r Column, role: Role) -> Self {
        let (package, version) = package(column);
        // Where the language does not tell packages of the same name apart, the target does.
        let package = if column.language.is_some() { package } else { &column.id.name };
        let is_named = role == Role::Server || column.sentences.len() == 1;
        let api = column.api.as_deref().filter(|_| is_named);
        Self { column, place, package, version, api }
    }

    /// The column in a few words, where no other column is beside it.
    pub(super) fn label(&self) -> String {
        let language = self.column.language.as_ref().map(|language| format!(" ({language})"));
        format!("{} {}{}", self.package, self.version, language.unwrap_or_default())
    }

    /// The revisions, each with the information whether the column was tested in it.
    pub(super) fn revisions(&self) -> impl Iterator<Item = (Revision, bool)> {
        Revision::all().map(|revision| (revision, self.column.revisions.contains(&revision)))
    }
}

/// The name of the package without its owner, and its version.
pub(super) fn package(column: &Column) -> (&str, &str) {
    let Some((package, version)) = column.version.as_deref().and_then(|version| version.rsplit_once(' ')) else {
        return (&column.id.name, column.version.as_deref().unwrap_or_default());
    };
    (package.rsplit(['/', ':']).next().unwrap_or(package), version)
}

/// Returns the columns in their order, and the targets that were asked nearly nothing. Beside SDKs, whose languages are
/// known, published servers have no column: they answer few of the questions.
fn columns(report: &Report, decided: &impl Fn(usize) -> usize) -> (Vec<usize>, Vec<usize>) {
    let mains = |is_reference: bool| {
        let is_kind = move |column: &Column| column.is_main && column.is_reference() == is_reference;
        report.targets.iter().enumerate().filter(move |(_, column)| is_kind(column)).map(|(place, _)| place)
    };
    let mut columns: Vec<_> = mains(false).collect();
    if columns.iter().all(|place| decided(*place) == 0) {
        columns = mains(true).collect();
    }
    let language = |place: usize| report.targets[place].language.as_deref();
    let is_published =
        |place: &usize| report.targets[*place].skipped.iter().any(|skipped| skipped.reason == SkipReason::NoAdapter);
    let known = columns.iter().filter(|place| language(**place).is_some()).count();
    if known > 0 {
        columns.retain(|place| !is_published(place));
    }
    // A fork answers for no SDK that a reader can choose.
    if known * 2 > columns.len() {
        columns.retain(|place| language(*place).is_some());
    }
    let most = columns.iter().map(|place| decided(*place)).max().unwrap_or(0);
    // A target that was asked less than a fifth of what others were would be a nearly empty column.
    let is_asked = |place: &usize| decided(*place) > 0 && decided(*place) * 5 >= most;
    let (mut asked, others): (Vec<_>, Vec<_>) = columns.into_iter().partition(is_asked);
    let mut of_language: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for place in &asked {
        *of_language.entry(language(*place)).or_default() += 1;
    }
    asked.sort_by_cached_key(|place| {
        let order = version::order(package(&report.targets[*place]).1);
        let (_, number, text) = order;
        let language = language(*place);
        let newest = language.map(|_| Reverse((number, text.to_owned())));
        (Reverse(of_language[&language]), language.map(str::to_owned), newest)
    });
    (asked, others)
}

/// Names the targets that were asked nearly nothing; the variants and versions of one target count once.
fn unasked(report: &Report, others: &[usize], decided: &impl Fn(usize) -> usize) -> Option<String> {
    const NAMED: usize = 20;
    let most = others.iter().map(|place| decided(*place)).max().unwrap_or(0);
    let others = others.iter().filter(|place| !report.targets[**place].sentences.is_empty());
    let names: BTreeSet<&str> = others.map(|place| report.targets[*place].id.name.as_str()).collect();
    let asked = if most == 0 { "no question".to_owned() } else { format!("at most {}", count(most, "question")) };
    let more = if names.len() > NAMED { ", …" } else { "" };
    let named: Vec<_> = names.iter().take(NAMED).copied().collect();
    let was = if names.len() == 1 { "was" } else { "were" };
    (!names.is_empty())
        .then(|| format!("{} {was} asked {asked}: {}{more}", count(names.len(), "other target"), named.join(", ")))
}

/// The signs with their meanings, for legends.
pub(super) fn legend() -> Vec<String> {
    Answer::ALL.iter().map(|answer| format!("{} {}", answer.mark(), answer.meaning())).collect()
}
