//! What each target does today of the sentences that are only proposed, as Markdown for the text of a proposal.
//!
//! Takes a [`Report`], gives a section for each sentence that has a verdict of a proposal, with a line for each target.

use crate::model::markdown::{code, text, url};
use crate::model::reason::Finding;
use crate::model::text::count;
use crate::model::verdict::{Meaning, VerdictKind};
use crate::report::{Cell, CheckEntry, Report};

/// The most characters of a part of a quote.
const QUOTE: usize = 2_000;

/// Returns the page; `None` if no target was asked about a proposed sentence.
pub fn proposal(report: &Report) -> Option<String> {
    let is_asked = |kind: &VerdictKind| matches!(kind, VerdictKind::Adopted | VerdictKind::NotAdopted);
    let asked = |place: usize| {
        let mut cells = report.cells.iter().filter(move |cell| cell.requirement == place);
        cells.any(|cell| cell.checks.keys().any(is_asked))
    };
    let places: Vec<usize> = (0..report.requirements.len()).filter(|place| asked(*place)).collect();
    let sections: Vec<_> = places.iter().map(|place| section(report, *place)).collect();
    let targets = report.targets.iter().map(|column| match &column.version {
        Some(version) => format!("{} {}", code(&column.name, 80), text(version, 80)),
        None => code(&column.name, 80),
    });
    let targets = targets.collect::<Vec<_>>().join(", ");
    let head = format!(
        "# What implementations do today\n\n{} on {}. No release binds anybody to them.\n\n",
        count(places.len(), "proposed sentence"),
        if targets.is_empty() { "no target".to_owned() } else { targets },
    );
    (!sections.is_empty()).then(|| head + &sections.join("\n"))
}

fn section(report: &Report, place: usize) -> String {
    let sentence = &report.requirements[place];
    let quote = sentence.quote.as_deref().map(with_code).unwrap_or_default();
    let quote = match sentence.url.as_deref().and_then(url) {
        Some(url) => format!("[{quote}]({url})"),
        None => quote,
    };
    let mut out = format!(
        "## {}\n\n> {} — {quote}\n\n| target | today | for example |\n| --- | --- | --- |\n",
        code(sentence.id.as_str(), 100),
        sentence.level
    );
    for (index, column) in report.targets.iter().enumerate() {
        let cell = report.cells.iter().find(|cell| cell.requirement == place && cell.target == index);
        let checks = || checks(report, place, index);
        let today = cell.map_or("not tested".to_owned(), |cell| in_words(cell, checks().all(is_carried)));
        let example = checks().find_map(example).map(|reason| code(&reason, 200)).unwrap_or_default();
        out += &format!("| {} | {today} | {example} |\n", code(&column.name, 80));
    }
    out
}

/// A sentence, with its code as code.
fn with_code(quote: &str) -> String {
    let parts: Vec<_> = quote.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(quote, QUOTE);
    }
    let blank = |is_there: bool| if is_there { " " } else { "" };
    let marked = |(place, part): (usize, &&str)| match (place % 2, part.trim().is_empty()) {
        (_, true) => blank(!part.is_empty()).to_owned(),
        (0, _) => format!("{}{}{}", blank(part.starts_with(' ')), text(part.trim(), QUOTE), blank(part.ends_with(' '))),
        _ => code(part, QUOTE),
    };
    parts.iter().enumerate().map(marked).collect()
}

/// The checks of a sentence on a target that say something.
fn checks(report: &Report, place: usize, target: usize) -> impl Iterator<Item = &CheckEntry> {
    let checks = report.tests.iter().filter(move |test| test.target == target).flat_map(|test| &test.checks);
    checks.filter(move |check| check.requirement == place && check.kind.meaning() != Meaning::Aside)
}

/// The verdicts of a cell, in words. What is carried is a reply of the fixture, which shows only that the target has room for
/// it.
fn in_words(cell: &Cell, is_carried: bool) -> String {
    let of = |wanted: &dyn Fn(VerdictKind) -> bool| -> usize {
        cell.checks.iter().filter(|(kind, _)| wanted(**kind)).map(|(_, checks)| checks).sum()
    };
    let does = of(&|kind| kind == VerdictKind::Adopted || kind.meaning() == Meaning::Holds);
    let not = of(&lacks);
    match (does, not) {
        (0, 0) if of(&|kind| kind == VerdictKind::Cannot) > 0 => "cannot be expressed by its adapter".to_owned(),
        (0, 0) => "not asked".to_owned(),
        (_, 0) if is_carried => "can carry it; the test has the reply".to_owned(),
        (_, 0) => "does it".to_owned(),
        (0, _) => "does not".to_owned(),
        (does, not) => format!("in {does} of {} checks", does + not),
    }
}

/// Returns whether a verdict says that a target does not do it, be it held to the sentence or not.
fn lacks(kind: VerdictKind) -> bool {
    kind == VerdictKind::NotAdopted || kind.is_broken()
}

/// Returns whether the reply of a check is that of the fixture.
fn is_carried(check: &CheckEntry) -> bool {
    let of_fixture = Finding::OfFixture.to_string();
    check.kind == VerdictKind::Adopted && check.detail.iter().any(|reason| reason.text == of_fixture)
}

/// The reason why a target does not do it, or why its adapter cannot express the test.
fn example(check: &CheckEntry) -> Option<String> {
    let is_said = lacks(check.kind) || check.kind == VerdictKind::Cannot;
    check.detail.first().filter(|_| is_said).map(|reason| reason.text.clone())
}
