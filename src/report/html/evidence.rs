//! Transcripts → [`Evidence`]: what proves the tests that didn't pass, bounded for each of them and in sum.
//!
//! The gravest come first, and the first test of each cell before the second of any.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::text::{cut, embedded, shortened};
use crate::model::record::Record;
use crate::model::transcript::{End, Message, Party, Phase, Served, StepTranscript, Transcript};
use crate::model::{TargetId, TestId};
use crate::report::{Report, Source, Standing};

/// How many tests are proven at most, and how many bytes their proofs may come to.
const TESTS: usize = 3_000;
const TOTAL: usize = 12 << 20;
/// How many bytes are kept of one message, of all messages of a test, and of each other part.
const MESSAGE: usize = 8 << 10;
const MESSAGES: usize = 40 << 10;
const PART: usize = 12 << 10;
/// How many headers of a message are kept, and how much of each.
const HEADERS: (usize, usize) = (40, 600);
/// How many messages of a test are kept.
const MANY: usize = 200;

/// What proves the tests of a report that didn't pass, by column and test.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Which tests are to be proven, and how important each is.
    ranks: HashMap<(usize, TestId), Place>,
    proofs: BTreeMap<usize, (Place, String)>,
    wanted: usize,
}

/// Where a test stands: in the order of importance, and as what the page knows it.
#[derive(Clone, Copy, Debug)]
struct Place {
    rank: usize,
    column: usize,
    ordinal: usize,
    standing: Standing,
}

/// The proof of one test, as `evidence.js` reads it.
#[derive(Debug, Serialize)]
struct Proof {
    served: Option<String>,
    fixture: Option<String>,
    observation: String,
    steps: Vec<Step>,
    stderr: String,
    /// What of it isn't here, a sentence each.
    cut: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct Step {
    title: String,
    messages: Vec<Shown>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Shown {
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
    /// Evidence that has nothing yet, and knows what it is asked for.
    pub fn of(report: &Report) -> Self {
        let mut ordinals = vec![0; report.targets.len()];
        let mut wanted: Vec<_> = Vec::new();
        for test in &report.tests {
            wanted.push((test, ordinals[test.target]));
            ordinals[test.target] += 1;
        }
        wanted.retain(|(test, _)| test.standing != Standing::Passed);
        wanted.sort_by_key(|(test, _)| (is_quiet(test.standing), Reverse(test.standing)));
        let mut proven = HashSet::new();
        let mut ranked: Vec<_> = wanted
            .into_iter()
            .map(|(test, ordinal)| {
                let rows = test.checks.iter().filter(|check| Standing::from(check.kind) != Standing::Passed);
                let new = rows.filter(|check| proven.insert((test.target, check.requirement))).count();
                (is_quiet(test.standing), new == 0, test, ordinal)
            })
            .collect();
        ranked.sort_by_key(|(quiet, repeats, ..)| (*quiet, *repeats));
        let wanted = ranked.len();
        let ranks = ranked.into_iter().take(TESTS).enumerate().map(|(rank, (_, _, test, ordinal))| {
            let place = Place { rank, column: test.target, ordinal, standing: test.standing };
            ((test.target, test.test.clone()), place)
        });
        Self { ranks: ranks.collect(), proofs: BTreeMap::new(), wanted }
    }

    /// Takes what is wanted from the transcripts of one record. `fixture` gives the fixture of a test, as it was run.
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
            let Some(place) = self.ranks.get(&(*column, transcript.test.clone())).copied() else { continue };
            let Some(record) = records.get(&(&transcript.target, &transcript.test)) else { continue };
            // Of two records of one test the graver one counts; the proof must be of that one.
            if Standing::of(record) == place.standing {
                let proof = Proof::new(record, &transcript, fixture(record, &transcript));
                self.proofs.entry(place.rank).or_insert_with(|| (place, embedded(&proof)));
            }
        }
    }

    /// The elements of a page, an element a test, and how many tests had no room.
    pub(super) fn elements(&self) -> (String, usize) {
        let (mut out, mut shown) = (String::new(), 0);
        for (Place { column, ordinal, .. }, json) in self.proofs.values() {
            if out.len() + json.len() > TOTAL {
                break;
            }
            shown += 1;
            let _ =
                writeln!(out, "<script type=\"application/json\" id=\"evidence-{column}-{ordinal}\">{json}</script>");
        }
        (out, self.wanted - shown)
    }
}

/// Tests in which nothing is wrong; they come after all others.
fn is_quiet(standing: Standing) -> bool {
    standing == Standing::Observed
}

/// The columns that the targets of a record are in.
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

impl Proof {
    fn new(record: &Record, transcript: &Transcript, fixture: Option<String>) -> Self {
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
        let parts = [fixture.as_deref(), Some(observation.as_str()), Some(transcript.stderr.as_str())];
        let is_long = parts.into_iter().flatten().any(|part| part.len() > PART);
        let cut = [
            (room.is_short, "Long messages, and those after many, are cut; the record's .wire.jsonl has more of them."),
            (is_long, "What is longer than 12 kB is cut."),
        ];
        Self {
            served: served(&transcript.served),
            fixture: fixture.map(|fixture| shortened(&fixture, PART)),
            observation: shortened(&observation, PART),
            steps,
            stderr: shortened(&transcript.stderr, PART),
            cut: cut.into_iter().filter(|(is, _)| *is).map(|(_, why)| why).collect(),
        }
    }
}

/// What is left for the messages of a test.
struct Room {
    bytes: usize,
    messages: usize,
    is_short: bool,
}

impl Room {
    fn messages(&mut self, messages: &[Message]) -> Vec<Shown> {
        let kept = messages.len().min(self.messages);
        self.messages -= kept;
        self.is_short |= kept < messages.len();
        messages[..kept].iter().map(|message| self.message(message)).collect()
    }

    fn message(&mut self, message: &Message) -> Shown {
        let (text, is_whole) = cut(&message.text, MESSAGE.min(self.bytes));
        self.bytes -= text.len();
        self.is_short |= !is_whole;
        let cut_from = message.cut_from.or_else(|| (!is_whole).then_some(message.text.len() as u64));
        let headers = message.headers.iter().take(HEADERS.0);
        Shown {
            from: message.from,
            text: text.to_owned(),
            cut_from,
            status: message.status,
            headers: headers.map(|(name, value)| (shortened(name, HEADERS.1), shortened(value, HEADERS.1))).collect(),
            at: message.at,
        }
    }
}

fn served(served: &Served) -> Option<String> {
    let text = match served {
        Served::Serving => return None,
        Served::Refused { r#type, message } => format!("The SDK would not build the fixture: {type}: {message}"),
        Served::Cannot { reason } => format!("The adapter can't express the fixture: {reason}"),
        Served::Failed { detail, .. } => format!("The target failed while it built the fixture: {detail}"),
        Served::Broken { reason } => format!("The harness failed: {reason}"),
        Served::Unavailable { reason } => format!("The target was given up: {reason}"),
    };
    Some(shortened(&text, PART))
}

/// How a step ended, what was fetched, and what a client handed to its user.
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
    end.into_iter().chain(fetched).chain(handed).map(|note| shortened(&note, HEADERS.1 * 4)).collect()
}
