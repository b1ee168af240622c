//! JSON Schema keywords: the share of imported tests that each target passes.
//!
//! Takes records, whose names contain the keyword, gives [`Keywords`], and of a report a [`Table`] for people. A test
//! is correct if all of its checks hold; an undecided test is not.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Rate, Report};
use crate::model::record::Record;
use crate::model::suite::{CONTROL, Door, Draft, Imported};
use crate::model::verdict::Meaning;

/// The number of tests of each keyword that one target passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keywords(BTreeMap<Imported, Rate>);

impl Keywords {
    /// Counts a test that is about a keyword, and ignores others.
    pub fn add(&mut self, record: &Record) {
        let is_judged = record.test.test != CONTROL && !record.verdicts.is_empty();
        let Some(imported) = Imported::of(&record.test.case).filter(|_| is_judged) else { return };
        let is_right = record.verdicts.iter().all(|verdict| verdict.kind.meaning() == Meaning::Holds);
        let rate = self.0.entry(imported).or_default();
        rate.asked += 1;
        rate.held += usize::from(is_right);
    }

    /// The keywords, by draft and name.
    pub fn iter(&self) -> impl Iterator<Item = (&Imported, Rate)> {
        self.0.iter().map(|(imported, rate)| (imported, *rate))
    }
}

/// The number of tests of one keyword that one target passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeywordEntry {
    /// The draft of JSON Schema.
    pub draft: Draft,
    /// The keyword: a file of the suite.
    pub keyword: String,
    /// The place at which an instance is validated.
    pub door: Door,
    /// An index into the targets.
    pub target: usize,
    /// The number of passed tests, of all.
    pub rate: Rate,
}

/// The rates of a row, by target and door.
type Row = BTreeMap<(usize, Door), Rate>;

/// Keywords × targets and doors.
pub(super) struct Table {
    /// The heading of each column: the target and the door.
    pub(super) columns: Vec<(String, Door)>,
    /// The heading of each row, with the rates of the columns that have any; the last row is the sum.
    pub(super) rows: Vec<(String, Vec<Option<Rate>>)>,
}

impl Table {
    /// Returns the table of a report with such tests.
    pub(super) fn of(report: &Report) -> Option<Self> {
        let places: BTreeSet<_> = report.keywords.iter().map(|one| (one.target, one.door)).collect();
        let is_mixed = report.keywords.iter().any(|one| one.draft != report.keywords[0].draft);
        let mut rows: BTreeMap<(Draft, &str), Row> = BTreeMap::new();
        let mut sums = Row::new();
        for KeywordEntry { draft, keyword, door, target, rate } in &report.keywords {
            rows.entry((*draft, keyword)).or_default().insert((*target, *door), *rate);
            let sum = sums.entry((*target, *door)).or_default();
            *sum = *sum + *rate;
        }
        let in_columns = |rates: &Row| places.iter().map(|place| rates.get(place).copied()).collect();
        let name = |draft, keyword: &str| if is_mixed { format!("{keyword} ({draft})") } else { keyword.to_owned() };
        let mut rows: Vec<_> =
            rows.iter().map(|((draft, keyword), rates)| (name(*draft, keyword), in_columns(rates))).collect();
        rows.push(("total".to_owned(), in_columns(&sums)));
        let columns = places.iter().map(|(target, door)| (report.targets[*target].name.clone(), *door)).collect();
        (!places.is_empty()).then_some(Self { columns, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::Outcome;
    use crate::report::tests::verdict;

    #[test]
    fn test_passes_only_if_all_its_verdicts_hold() {
        use crate::model::verdict::VerdictKind::{self, Inconclusive, Note, Pass};
        let record = |test: &str, kinds: &[VerdictKind]| {
            let verdicts = kinds.iter().map(|kind| verdict(*kind)).collect();
            Record { verdicts, ..samples::record(0, &format!("{test}@2026-07-28+http"), Outcome::Success) }
        };
        let mut keywords = Keywords::default();
        for (test, kinds) in [
            ("json-schema-2020-12/items-results/accepts-a/r", [Pass].as_slice()),
            ("json-schema-2020-12/items-results/refuses-a/r", &[Pass, Pass]),
            ("json-schema-2020-12/items-results/refuses-b/r", &[Note, Pass]),
            ("json-schema-2020-12/items-results/refuses-c/r", &[Inconclusive]),
            ("json-schema-2020-12/items-results/either-a/r", &[]),
            ("json-schema-2020-12/remote-refs-client/local/local", &[Pass]),
            ("sep-2106/items-results/accepts/r", &[Pass]),
        ] {
            keywords.add(&record(test, kinds));
        }
        let imported = Imported { draft: Draft::Latest, keyword: "items".into(), door: Door::Results };
        assert_eq!(keywords.iter().collect::<Vec<_>>(), [(&imported, Rate { held: 2, asked: 4 })]);
    }
}
