//! Transcripts → [`Evidence`]: the transcripts of the tests that didn't pass, or that an answer names, bounded for each of
//! them and in sum.
//!
//! The worst come first, and the first test of each cell before the second of any. As JSON it is the second part of
//! the page's data, which `docs/report.schema.json` describes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use crate::model::record::Record;
use crate::model::text::{beginning, shortened};
use crate::model::transcript::Transcript;
use crate::model::untrusted::escape_json;
use crate::model::{TargetId, TestId};
use crate::report::{Report, Source, Status};

/// The number of tests with evidence, and the bytes of all of it.
const TESTS: usize = 3_000;
const TOTAL: usize = 12 << 20;
/// The bytes that are kept of a text of a transcript, and of all of them.
const TEXT: usize = 8 << 10;
const TEXTS: usize = 60 << 10;
/// The number of items of a list of a transcript that are kept.
const ITEMS: usize = 200;
/// The bytes that are kept of a fixture, and of an observation.
const PART: usize = 12 << 10;

/// The evidence of the tests of a report that didn't pass, or that an answer names.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The tests that need evidence, with their rank by importance.
    ranks: HashMap<(usize, TestId), (usize, Status)>,
    /// The evidence as JSON, by rank.
    found: BTreeMap<usize, String>,
    /// The number of all tests that didn't pass.
    wanted: usize,
}

impl Evidence {
    /// The tests of a report that need evidence, without any yet.
    pub fn of(report: &Report) -> Self {
        let is_calm = |status| [Status::Observed, Status::NotAsked].contains(&status);
        let rows = report.capabilities.iter().flat_map(|group| &group.capabilities);
        // Options that are not taken have no other finding.
        let answers: HashSet<usize> =
            rows.flat_map(|row| &row.answers).filter_map(|cell| cell.tests.first().copied()).collect();
        let wanted = report.tests.iter().enumerate();
        let wanted = wanted.filter(|(at, test)| test.status != Status::Passed || answers.contains(at));
        let mut wanted: Vec<_> = wanted.map(|(at, test)| (at, test, report.status_of_test(test))).collect();
        wanted.sort_by_key(|(_, _, status)| (is_calm(*status), Reverse(*status)));
        // The first test of each answer, and of each requirement and target, comes before the second of any.
        let mut proven = HashSet::new();
        wanted.sort_by_cached_key(|(at, test, status)| {
            let checks = test.checks.iter().filter(|check| Status::from(check.kind) != Status::Passed);
            let new = checks.filter(|check| proven.insert((test.target, check.requirement))).count();
            (is_calm(*status), new == 0 && !answers.contains(at))
        });
        let ranks = wanted.iter().take(TESTS).enumerate();
        let ranks = ranks.map(|(rank, (_, test, _))| ((test.target, test.test.clone()), (rank, test.status))).collect();
        Self { ranks, found: BTreeMap::new(), wanted: wanted.len() }
    }

    /// Takes the evidence from the transcripts of one run log. `fixture` gives the fixture of a test, as it was run.
    pub fn read(
        &mut self,
        report: &Report,
        source: &Source,
        transcripts: impl IntoIterator<Item = Transcript>,
        fixture: impl Fn(&Record, &Transcript) -> Option<String>,
    ) {
        let columns = columns(report, source);
        let records: HashMap<(&TargetId, &TestId), &Record> =
            source.records.iter().map(|record| ((&record.target, &record.test), record)).collect();
        for transcript in transcripts {
            let Some(column) = columns.get(&transcript.target) else { continue };
            let Some((rank, status)) = self.ranks.get(&(*column, transcript.test.clone())).copied() else { continue };
            let Some(record) = records.get(&(&transcript.target, &transcript.test)) else { continue };
            // Of two records of one test the worse one counts, and the evidence must be from the same run.
            if Status::of(record) == status {
                let fixture = || fixture(record, &transcript);
                self.found.entry(rank).or_insert_with(|| evidence(*column, record, &transcript, fixture()));
            }
        }
    }

    /// The evidence as JSON, as far as there is room.
    pub(super) fn json(&self) -> String {
        let mut room = TOTAL;
        let fits = self.found.values().take_while(|json| {
            let left = room.checked_sub(json.len());
            room = left.unwrap_or(0);
            left.is_some()
        });
        let tests: Vec<&str> = fits.map(String::as_str).collect();
        let json = format!("{{\"left_out\":{},\"tests\":[{}]}}\n", self.wanted - tests.len(), tests.join(","));
        escape_json(&json).into_owned()
    }
}

/// The columns of the targets of a run log.
fn columns<'s>(report: &Report, source: &'s Source) -> HashMap<&'s TargetId, usize> {
    let mut versions: HashMap<&TargetId, Option<&str>> = HashMap::new();
    for about in &source.header.about {
        versions.entry(&about.target).or_insert(about.version.as_deref());
    }
    let own = report.targets.iter().enumerate().filter(|(_, column)| column.cases == source.header.cases);
    let places: HashMap<_, usize> = own.map(|(at, column)| ((&column.id, column.version.as_deref()), at)).collect();
    let column = |id: &'s TargetId| Some((id, *places.get(&(id, versions.get(id).copied().flatten()))?));
    source.header.targets.iter().filter_map(column).collect()
}

/// The evidence of one test as JSON: its transcript as in a run's `.wire.jsonl`, fixture and observation.
fn evidence(target: usize, record: &Record, transcript: &Transcript, fixture: Option<String>) -> String {
    let mut room = Room { bytes: TEXTS, is_cut: false };
    let mut transcript = serde_json::to_value(transcript).expect("a transcript is JSON");
    room.keep(&mut transcript);
    let mut part = |text: String| {
        room.is_cut |= text.len() > PART;
        shortened(&text, PART).into_owned()
    };
    let observation = part(serde_json::to_string(&record.observation).expect("an observation is JSON"));
    let fixture = fixture.map(part);
    let is_cut = room.is_cut;
    json!({ "target": target, "test": record.test, "is_cut": is_cut, "fixture": fixture, "observation": observation,
        "transcript": transcript })
    .to_string()
}

/// The room that is left for the texts of a transcript.
struct Room {
    bytes: usize,
    is_cut: bool,
}

impl Room {
    /// Cuts the texts and lists of a transcript; a cut message gets the length of the whole.
    fn keep(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let kept = beginning(text, TEXT.min(self.bytes)).len();
                self.bytes -= kept;
                self.is_cut |= kept < text.len();
                text.truncate(kept);
            }
            Value::Array(items) => {
                self.is_cut |= items.len() > ITEMS;
                items.truncate(ITEMS);
                for item in items {
                    self.keep(item);
                }
            }
            Value::Object(members) => {
                let length = |members: &serde_json::Map<String, Value>| members.get("text")?.as_str().map(str::len);
                let whole = length(members);
                for member in members.values_mut() {
                    self.keep(member);
                }
                if whole > length(members) {
                    members.entry("cut_from").or_insert_with(|| whole.into());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
