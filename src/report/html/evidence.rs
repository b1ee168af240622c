//! Transcripts → [`Evidence`]: the messages of the tests that didn't pass, bounded for each of them and in sum.
//!
//! The gravest come first, and the first test of each cell before the second of any. As JSON it is the second part of
//! the page's data, which `docs/report.schema.json` describes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::model::record::Record;
use crate::model::text::{beginning, shortened};
use crate::model::transcript::{End, Message, Party, Phase, Served, StepTranscript, Transcript};
use crate::model::untrusted::escape_json;
use crate::model::{TargetId, TestId};
use crate::report::{Report, Source, Status};

/// The number of tests with evidence, and the bytes of all of it.
const TESTS: usize = 3_000;
const TOTAL: usize = 12 << 20;
/// The bytes that are kept of one message, of all messages of a test, and of each other part.
const MESSAGE: usize = 8 << 10;
const MESSAGES: usize = 40 << 10;
const PART: usize = 12 << 10;
/// The number of headers of a message that are kept, and the bytes of each.
const HEADERS: (usize, usize) = (40, 600);
/// The number of messages of a test that are kept.
const MANY: usize = 200;

/// The evidence of the tests of a report that didn't pass.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The tests that need evidence, with their rank by importance.
    ranks: HashMap<(usize, TestId), (usize, Status)>,
    /// The evidence as JSON, by rank.
    found: BTreeMap<usize, String>,
    /// The number of all tests that didn't pass.
    wanted: usize,
}

/// The evidence of one test.
#[derive(Debug, Serialize)]
struct TestEvidence<'t> {
    target: usize,
    test: &'t TestId,
    #[serde(skip_serializing_if = "Option::is_none")]
    served: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixture: Option<String>,
    observation: String,
    steps: Vec<Step>,
    stderr: String,
    /// A sentence for each way in which it is cut.
    cut: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Step {
    title: String,
    messages: Vec<MessageEvidence>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MessageEvidence {
    from: Party,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headers: Vec<(String, String)>,
    at: u64,
}

impl Evidence {
    /// The tests of a report that need evidence, without any yet.
    pub fn of(report: &Report) -> Self {
        let is_observed = |status| status == Status::Observed;
        let mut wanted: Vec<_> = report.tests.iter().filter(|test| test.status != Status::Passed).collect();
        wanted.sort_by_key(|test| (is_observed(test.status), Reverse(test.status)));
        let mut proven = HashSet::new();
        // Tests that show something new of a cell come first, and those without a finding last.
        wanted.sort_by_cached_key(|test| {
            let checks = test.checks.iter().filter(|check| Status::from(check.kind) != Status::Passed);
            let new = checks.filter(|check| proven.insert((test.target, check.requirement))).count();
            (is_observed(test.status), new == 0)
        });
        let ranks = wanted.iter().take(TESTS).enumerate();
        let ranks = ranks.map(|(rank, test)| ((test.target, test.test.clone()), (rank, test.status))).collect();
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
            // Of two records of one test the graver one counts, and the evidence must be of that one.
            if Status::of(record) == status {
                self.found.entry(rank).or_insert_with(|| {
                    let evidence = {
                        let fixture = fixture(record, &transcript);
                        TestEvidence::new(*column, record, &transcript, fixture.as_deref())
                    };
                    serde_json::to_string(&evidence).expect("evidence is JSON")
                });
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

impl<'t> TestEvidence<'t> {
    fn new(target: usize, record: &'t Record, transcript: &Transcript, fixture: Option<&str>) -> Self {
        let mut room = Room { bytes: MESSAGES, messages: MANY, is_short: false };
        let mut steps = Vec::new();
        if !transcript.opening.is_empty() {
            let messages = room.messages(&transcript.opening);
            steps.push(Step { title: "Opening".to_owned(), messages, notes: Vec::new() });
        }
        for (number, step) in transcript.steps.iter().enumerate().take(MANY) {
            let title = format!("Step {}", number + 1);
            steps.push(Step { title, messages: room.messages(&step.messages), notes: notes(step) });
        }
        let observation = serde_json::to_string(&record.observation).expect("an observation is JSON");
        let parts = [fixture, Some(observation.as_str()), Some(transcript.stderr.as_str())];
        let is_long = parts.into_iter().flatten().any(|part| part.len() > PART);
        let cut = [
            (
                room.is_short,
                "Long messages, and those after many, are cut; the .wire.jsonl of the run has more of them.",
            ),
            (is_long, "Parts of more than 12 kB are cut."),
        ];
        let part = |text: &str| shortened(text, PART).into_owned();
        Self {
            target,
            test: &record.test,
            served: served(&transcript.served).as_deref().map(part),
            fixture: fixture.map(part),
            observation: part(&observation),
            steps,
            stderr: part(&transcript.stderr),
            cut: cut.into_iter().filter(|(is_cut, _)| *is_cut).map(|(_, why)| why).collect(),
        }
    }
}

/// The room that is left for the messages of a test.
struct Room {
    bytes: usize,
    messages: usize,
    is_short: bool,
}

impl Room {
    fn messages(&mut self, messages: &[Message]) -> Vec<MessageEvidence> {
        let kept = messages.len().min(self.messages);
        self.messages -= kept;
        self.is_short |= kept < messages.len();
        messages[..kept].iter().map(|message| self.message(message)).collect()
    }

    fn message(&mut self, message: &Message) -> MessageEvidence {
        let text = beginning(&message.text, MESSAGE.min(self.bytes));
        let is_cut = text.len() < message.text.len();
        self.bytes -= text.len();
        self.is_short |= is_cut;
        let cut_from = message.cut_from.or_else(|| is_cut.then_some(message.text.len() as u64));
        let header = |text: &str| shortened(text, HEADERS.1).into_owned();
        let headers = message.headers.iter().take(HEADERS.0);
        MessageEvidence {
            from: message.from,
            text: text.to_owned(),
            cut_from,
            status: message.status,
            headers: headers.map(|(name, value)| (header(name), header(value))).collect(),
            at: message.at,
        }
    }
}

fn served(served: &Served) -> Option<String> {
    match served {
        Served::Serving => None,
        Served::Refused { r#type, message } => Some(format!("The SDK refused to build the fixture: {type}: {message}")),
        Served::Cannot { reason } => Some(format!("The adapter can't express the fixture: {reason}")),
        Served::Failed { detail, .. } => Some(format!("The target failed while it built the fixture: {detail}")),
        Served::Broken { reason } => Some(format!("The harness failed: {reason}")),
        Served::Unavailable { reason } => Some(format!("The target was given up: {reason}")),
    }
}

/// The end of a step, the addresses that were fetched, and the results that a client handed to its user.
fn notes(step: &StepTranscript) -> Vec<String> {
    let end = match &step.end {
        End::Replied { .. } | End::Accepted | End::Handed => None,
        End::Unanswered => Some("The server asked for more than the case answers.".to_owned()),
        End::Empty => Some("The reply ended without a response in it.".to_owned()),
        End::Http { status } => Some(format!("HTTP {status}, without a JSON-RPC message.")),
        End::Invalid { reason } => Some(format!("No message of the protocol: {reason}")),
        End::Oversized => Some("More bytes than the harness reads.".to_owned()),
        End::Timeout => Some("The limit passed.".to_owned()),
        End::Crash { how } => Some(format!("The process died or the connection broke: {how}")),
    };
    let fetched = step.canary.iter().take(20).map(|hit| {
        let when = match hit.phase {
            Phase::Serve => "while the fixture was built",
            Phase::Connect => "while the connection was made",
            Phase::Step => "during a step",
        };
        format!("Fetched {when}: {}", hit.url)
    });
    let handed = step.handed.iter().map(|handed| format!("Handed to the user: {handed}"));
    let notes = end.into_iter().chain(fetched).chain(handed);
    notes.map(|note| shortened(&note, HEADERS.1 * 4).into_owned()).collect()
}
