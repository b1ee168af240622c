//! The opening picture of the page: capabilities × targets, and the sentences that hold for each target.
//!
//! Takes a report; gives plain rows for the template, which are a table also without the page's script.

use crate::model::spec::Role;
use crate::model::text::{count, plural};
use crate::report::matrix::{decided, is_asked_enough, is_optional, short_version};
use crate::report::{Answer, CapabilityCell, CapabilityRow, Column, Rate, Report};

/// Capabilities × targets.
pub(super) struct Overview<'r> {
    /// The columns: the targets that were asked enough.
    pub(super) heads: Vec<Head<'r>>,
    /// The groups that have an answer, with their rows.
    pub(super) groups: Vec<Group<'r>>,
    /// The sentences that hold, by target.
    pub(super) sentences: Vec<Sentences<'r>>,
    /// `true` if some columns are shown on demand only.
    pub(super) has_variants: bool,
    /// The agreement of the targets, in one sentence; `None` for fewer than two targets.
    pub(super) agreement: Option<String>,
    /// The targets and questions that are left out.
    pub(super) notes: Vec<String>,
}

/// A target as the head of a column.
pub(super) struct Head<'r> {
    /// Its index in the report.
    pub(super) column: usize,
    /// Its name, and the variant.
    pub(super) name: &'r str,
    pub(super) variant: Option<&'r str>,
    /// The last word of its version.
    pub(super) version: Option<&'r str>,
    /// The name, the title and the version.
    pub(super) title: String,
    pub(super) class: &'static str,
}

/// The capabilities of a feature.
pub(super) struct Group<'r> {
    pub(super) title: &'r str,
    /// The share of right answers by column, with the class of the column.
    pub(super) shares: Vec<(&'static str, String)>,
    pub(super) rows: Vec<Row<'r>>,
}

/// A capability with its answers.
pub(super) struct Row<'r> {
    pub(super) id: &'r str,
    /// The question in parts; `true` for code.
    pub(super) question: Vec<(bool, &'r str)>,
    pub(super) short: &'r str,
    pub(super) role: &'static str,
    pub(super) cells: Vec<Answered>,
}

/// The answer to a question about a target.
pub(super) struct Answered {
    pub(super) class: String,
    pub(super) mark: &'static str,
    pub(super) word: String,
    /// The number of checks that hold, of a partial answer.
    pub(super) share: Option<String>,
    /// `true` if all that does not hold is optional.
    pub(super) is_option: bool,
}

/// The number of sentences that hold for a target, by role.
pub(super) struct Sentences<'r> {
    pub(super) head: Head<'r>,
    pub(super) cells: Vec<Number>,
}

/// A cell of the table of sentences.
pub(super) struct Number {
    pub(super) label: String,
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// The columns of the table of sentences, for each role: MUSTs and SHOULDs that hold, and MUSTs that the SDK leaves to
/// the author.
pub(super) const COUNTED: [&str; 3] = ["MUST", "SHOULD", "left to the author"];

/// The number of targets up to which all of them are shown.
const ALWAYS: usize = 6;

impl<'r> Overview<'r> {
    /// The overview of a report; `None` if no question was answered.
    pub(super) fn of(report: &'r Report) -> Option<Self> {
        let asked = decided(report);
        let most = asked.iter().copied().max().filter(|most| *most > 0)?;
        let is_shown = |column: usize| is_asked_enough(asked[column], most);
        let has_real = report.targets.iter().enumerate().any(|(at, one)| is_shown(at) && !one.is_reference());
        let is_extra = |at: usize, one: &Column| !one.is_main || !is_shown(at) || (has_real && one.is_reference());
        let is_hidden = |at: usize| report.targets.len() > ALWAYS && is_extra(at, &report.targets[at]);
        let head = |at: usize| head(at, &report.targets[at], is_hidden(at));
        let heads: Vec<_> = (0..report.targets.len()).filter(|at| is_shown(*at)).map(head).collect();
        let is_answered =
            |row: &&CapabilityRow| heads.iter().any(|head| row.answers[head.column].answer != Answer::NotAsked);
        let groups = report.capabilities.iter().map(|group| {
            let rows: Vec<_> = group.capabilities.iter().filter(is_answered).collect();
            Group {
                title: &group.title,
                shares: heads.iter().map(|head| (head.class, right_answers(&rows, head.column))).collect(),
                rows: rows.into_iter().map(|one| row(one, &heads)).collect(),
            }
        });
        let groups: Vec<_> = groups.filter(|group| !group.rows.is_empty()).collect();
        let left: Vec<_> = report.targets.iter().enumerate().filter(|(at, _)| !is_shown(*at)).collect();
        let left: Vec<_> = left.iter().map(|(_, column)| column.name.as_str()).collect();
        let unanswered = report.capabilities.iter().map(|group| group.capabilities.len()).sum::<usize>()
            - groups.iter().map(|group| group.rows.len()).sum::<usize>();
        let notes = [
            (!left.is_empty()).then(|| {
                let (targets, verb) = (count(left.len(), "target"), if left.len() == 1 { "was" } else { "were" });
                format!("{targets} {verb} asked too little for a column: {}.", left.join(", "))
            }),
            (unanswered > 0).then(|| format!("{} not asked of any target.", questions(unanswered))),
        ];
        let sentences =
            (0..report.targets.len()).map(|at| Sentences { head: head(at), cells: numbers(&report.targets[at]) });
        let agreement = report.agreement();
        Some(Self {
            has_variants: (0..report.targets.len()).any(is_hidden),
            sentences: sentences.collect(),
            agreement: (agreement.asked > 0).then(|| agreed(agreement)),
            notes: notes.into_iter().flatten().collect(),
            groups,
            heads,
        })
    }
}

/// The answers as marks, with their class and words.
pub(super) fn key() -> Vec<(&'static str, &'static str, &'static str)> {
    let one = |answer: &Answer| {
        let words = match answer {
            Answer::Right => "does what is expected",
            Answer::Partly => "does it in part",
            Answer::Wrong => "does not",
            other => other.word(),
        };
        (answer.mark(), class(*answer, true), words)
    };
    Answer::ALL.iter().map(one).collect()
}

fn class(answer: Answer, is_fault: bool) -> &'static str {
    match answer {
        Answer::Right => "right",
        // An option that is not taken is no fault.
        Answer::Partly | Answer::Wrong if !is_fault => "optional",
        Answer::Partly => "partly",
        Answer::Wrong => "wrong",
        Answer::Author => "author",
        Answer::Cannot => "inexpressible",
        Answer::NotAsked => "unasked",
    }
}

fn questions(number: usize) -> String {
    format!("{} {}", count(number, "question"), if number == 1 { "was" } else { "were" })
}

/// The number of right answers of a target, of all that it gives.
fn right_answers(rows: &[&CapabilityRow], column: usize) -> String {
    let answers = rows.iter().map(|row| row.answers[column].answer);
    let given: Vec<_> = answers.filter(|one| matches!(one, Answer::Right | Answer::Partly | Answer::Wrong)).collect();
    let right = given.iter().filter(|one| **one == Answer::Right).count();
    if given.is_empty() { "–".to_owned() } else { format!("{right} of {}", given.len()) }
}

fn agreed(rate: Rate) -> String {
    let Rate { held, asked } = rate;
    let noun = plural(asked, "question");
    format!("{held} of {asked} {noun} ({})", rate.percent())
}

fn head(column: usize, one: &Column, is_hidden: bool) -> Head<'_> {
    let version = one.version.as_deref();
    Head {
        column,
        name: &one.id.name,
        variant: one.id.variant.as_deref(),
        version: Some(short_version(one)).filter(|version| !version.is_empty()),
        title: format!("{}: {}, {}", one.name, one.title, version.unwrap_or("version unknown")),
        class: if is_hidden { "variant" } else { "" },
    }
}

fn row<'r>(row: &'r CapabilityRow, heads: &[Head<'_>]) -> Row<'r> {
    let question = row.question.split('`').enumerate().map(|(at, part)| (at % 2 == 1, part));
    Row {
        id: &row.id,
        question: question.filter(|(_, part)| !part.is_empty()).collect(),
        short: &row.short,
        role: row.role.word(),
        cells: heads.iter().map(|head| answered(row, &row.answers[head.column], head.class)).collect(),
    }
}

fn answered(row: &CapabilityRow, cell: &CapabilityCell, hidden: &str) -> Answered {
    let is_partly = cell.answer == Answer::Partly;
    Answered {
        class: format!("{} {hidden}", class(cell.answer, cell.is_fault)).trim_end().to_owned(),
        mark: cell.answer.mark(),
        word: if is_partly { cell.answer.to_string() } else { row.words(cell) },
        is_option: is_optional(cell),
        share: is_partly.then(|| format!("{} of {}", cell.held, cell.decided)),
    }
}

fn numbers(column: &Column) -> Vec<Number> {
    let mut numbers = Vec::new();
    for (role, name) in [(Role::Server, "Servers"), (Role::Client, "Clients")] {
        let rates = column.sentences.get(&role);
        let rates = rates.copied().unwrap_or_default();
        for (label, rate, class) in [(COUNTED[0], rates.must, "bad"), (COUNTED[1], rates.should, "warn")] {
            let (class, text) = match rate {
                Rate { asked: 0, .. } => ("zero", "–".to_owned()),
                Rate { held, asked } => (if held < asked { class } else { "" }, format!("{held} of {asked}")),
            };
            numbers.push(Number { label: format!("{name}: {label}"), class, text });
        }
        let (class, text) = if rates.author == 0 { ("zero", "–".to_owned()) } else { ("", rates.author.to_string()) };
        numbers.push(Number { label: format!("{name}: {}", COUNTED[2]), class, text });
    }
    numbers
}
