//! The answers of the compatibility matrix are what a reader who knows all facts would say.
//!
//! The rules hold for all cells of a report, and for those of the published page.

use std::collections::{BTreeMap, BTreeSet};

use casebook::report::{Answer, CapabilityCell, CapabilityRow, Report};

/// The longest words of a cell.
const WORDS: usize = 6;
const CHARACTERS: usize = 40;

/// The words of cells that break a rule, each with the reason.
pub(crate) fn flaws(report: &Report) -> Vec<String> {
    let mut flaws = Vec::new();
    let mut signs: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let columns = report.targets.iter().enumerate().filter(|(_, column)| column.is_main && column.language.is_some());
    let columns: Vec<_> = columns.collect();
    for group in &report.capabilities {
        for row in &group.capabilities {
            for &(at, column) in &columns {
                let cell = &row.answers[at];
                let found = words(&cell.words).or_else(|| flaw(row, cell));
                // The file of the target names a condition.
                let found = found.filter(|_| !column.by_hand.contains_key(&row.id));
                let place = format!("{} of {}: {} {}", row.id, column.id, cell.answer.mark(), cell.words);
                flaws.extend(found.map(|flaw| format!("{place}: {flaw}")));
                signs.entry(cell.words.clone()).or_default().insert(meaning(cell.answer.mark()));
            }
        }
    }
    flaws.extend(ambiguous(&signs));
    flaws
}

/// A sign for something that works, for something that does not, or for nothing that can be said.
fn meaning(sign: &str) -> &str {
    match sign {
        "!" | "✗" | "✓ but" => "a failure",
        other => other,
    }
}

/// Words that stand beside signs of different meaning.
fn ambiguous(signs: &BTreeMap<String, BTreeSet<&str>>) -> Vec<String> {
    let ambiguous = signs.iter().filter(|(_, signs)| signs.len() > 1);
    ambiguous.map(|(words, signs)| format!("“{words}” has the signs {signs:?}")).collect()
}

fn words(words: &str) -> Option<&'static str> {
    // A value that callers get stands as it is.
    let is_value = words.starts_with(['{', '[', '"']);
    match words {
        "" => Some("no words"),
        "in part" => Some("words that tell nothing"),
        _ if words.chars().count() > CHARACTERS => Some("too many characters"),
        _ if !is_value && words.split_whitespace().count() > WORDS => Some("too many words"),
        _ => None,
    }
}

fn flaw(row: &CapabilityRow, cell: &CapabilityCell) -> Option<&'static str> {
    let is_plain = cell.words == row.right;
    match cell.answer {
        Answer::Right if is_plain && cell.held == 0 => Some("✓, and nothing was asked"),
        Answer::Right if is_plain && cell.decided < cell.cannot.max(cell.not_asked) => Some("✓, and hardly asked"),
        Answer::Right if cell.held < cell.decided => Some("✓, and a check fails"),
        Answer::Nearly if cell.held == cell.decided => Some("an exception that is none"),
        Answer::Wrong if ["yes", "no"].contains(&cell.words.as_str()) => Some("✗, and nothing said"),
        Answer::Absent if cell.not_asked > cell.cannot && cell.words != "keeps no sessions" => Some("— for a no"),
        Answer::Absent if cell.held > 0 && cell.held < cell.decided => Some("— for a partial answer"),
        _ => None,
    }
}

/// The cells of a page in Markdown, each with its sign.
fn cells(page: &str) -> Vec<(&str, String)> {
    let cells = page.lines().filter(|line| line.starts_with("| ")).flat_map(|line| line.split(" | ").skip(1));
    let cell = |cell| -> Option<(&str, String)> {
        let text: &str = str::trim(cell).strip_prefix("<sub>")?;
        let (text, _) = text.split_once("</sub>")?;
        let (sign, words) = text.split_once("&nbsp;")?;
        // The name of another API stands below the words.
        let words = words.split("<br>").next()?;
        let words = words.replace("<span>", "").replace("</span>", "");
        Some((sign, words))
    };
    cells.filter_map(cell).collect()
}

#[test]
fn cells_of_the_published_page_have_words_and_one_meaning() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/compatibility.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let cells = cells(&page);
    assert!(cells.len() > 500, "{} cells", cells.len());
    let mut signs: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut flaws = Vec::new();
    for (sign, text) in cells {
        let is_long = text.split_whitespace().count() > WORDS && !text.contains("&#123;") && !text.contains("&#91;");
        if text.is_empty() || is_long {
            flaws.push(format!("{sign} {text}: no words, or too many"));
        }
        signs.entry(text).or_default().insert(meaning(sign));
    }
    flaws.extend(ambiguous(&signs));
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

#[test]
fn flaws_of_cells_are_found() {
    for (text, flaw) in [
        ("", Some("no words")),
        ("yes", None),
        ("one two three four five six seven", Some("too many words")),
        ("{\"a b c d e f\": 1}", None),
    ] {
        assert_eq!(words(text), flaw, "{text}");
    }
    let empty = CapabilityCell::default();
    let cell = |answer, words: &str, held, decided, not_asked| {
        let mut cell = empty.clone();
        (cell.answer, cell.words) = (answer, words.to_owned());
        (cell.held, cell.decided, cell.not_asked) = (held, decided, not_asked);
        cell
    };
    let row = |right| CapabilityRow {
        id: String::new(),
        question: String::new(),
        first: true,
        right,
        keyword: None,
        requirements: Vec::new(),
        decided_by: Vec::new(),
        answers: Vec::new(),
    };
    for (cell, is_flawed) in [
        (cell(Answer::Right, "yes", 6, 6, 51), true),
        (cell(Answer::Right, "yes, as it validates nothing", 6, 6, 51), false),
        (cell(Answer::Right, "yes", 6, 6, 2), false),
        (cell(Answer::Nearly, "a field is lost", 334, 340, 0), false),
        (cell(Answer::Absent, "validates nothing", 0, 0, 52), true),
        (cell(Answer::Wrong, "no", 0, 4, 0), true),
    ] {
        assert_eq!(flaw(&row("yes"), &cell).is_some(), is_flawed, "{cell:?}");
    }
    let signs = [("validates nothing".to_owned(), BTreeSet::from(["—", "a failure"]))].into();
    assert_eq!(ambiguous(&signs).len(), 1);
}
