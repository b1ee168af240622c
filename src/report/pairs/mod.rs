//! Pairs of clients and servers: which of them work together, feature by feature, and at which side they do not.
//!
//! Takes records of tests of the role `pair`, in any order and from any number of run logs. Gives a matrix, the losses
//! with their attribution, and the table of SEP-2106 beside what was measured. Must not know the form of the output.

pub mod html;
pub mod markdown;
mod sep_2106;

use std::collections::{BTreeMap, BTreeSet};

pub use self::sep_2106::{AgeCell, age_table};
use super::Rate;
use crate::model::case::Library;
use crate::model::pair::{Attribution, LossPlace, SideAbout};
use crate::model::record::{Header, Record, Verdict};
use crate::model::spec::{Catalogue, Role};
use crate::model::transcript::{Message, Party, Served, Transcript};
use crate::model::verdict::Meaning;
use crate::model::{CaseId, RequirementId, TargetId, TestId};

/// The number of characters of a message that are kept.
const TEXT: usize = 1_200;

/// The results of all pairs.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// The titles of the features, which are the case files of pairs.
    features: BTreeMap<CaseId, String>,
    catalogue: Catalogue,
    clients: BTreeMap<TargetId, SideAbout>,
    servers: BTreeMap<TargetId, SideAbout>,
    cells: BTreeMap<(TargetId, TargetId), PairCell>,
    losses: BTreeMap<LossKey, Loss>,
    /// The tests that were taken. A control is in each shard that needs it.
    seen: BTreeSet<(TargetId, TestId)>,
    /// The tests without an observation, with the reasons.
    unseen: BTreeMap<(TargetId, TestId), String>,
    has_bug: bool,
}

/// The results of one pair.
#[derive(Clone, Debug, Default)]
pub struct PairCell {
    /// The checks by feature.
    pub features: BTreeMap<CaseId, Rate>,
    /// A check of each feature that failed: that of the first test in the order of names.
    pub broken: BTreeMap<CaseId, Broken>,
}

/// A check of a pair that failed, with the messages that show it.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The test.
    pub test: TestId,
    /// The loss.
    pub key: LossKey,
    /// The reasons of its verdict.
    pub reasons: Vec<String>,
    /// Texts with their senders, cut: the request, the message that shows the loss, and what the user got.
    pub evidence: Vec<(&'static str, String)>,
    step: usize,
    message: Option<usize>,
}

impl PairCell {
    /// The checks of all features.
    pub fn rate(&self) -> Rate {
        self.features.values().copied().sum()
    }

    /// The checks of one feature.
    pub fn of(&self, feature: &CaseId) -> Rate {
        self.features.get(feature).copied().unwrap_or_default()
    }
}

/// A way in which values are lost: where, and against which sentence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossKey {
    /// The requirement on the pair.
    pub requirement: RequirementId,
    /// The side.
    pub side: Option<Role>,
    /// The target of the side; `None` if the messages do not decide.
    pub target: Option<TargetId>,
    /// The place.
    pub place: LossPlace,
    /// The sentence that the side broke.
    pub sentence: Option<RequirementId>,
    /// `true` if the SDK leaves the sentence to the author of a server or client.
    pub is_left_to_author: bool,
}

/// The extent of a loss, with an example.
#[derive(Clone, Debug)]
pub struct Loss {
    /// The targets of the other side.
    pub others: BTreeSet<TargetId>,
    /// The number of checks.
    pub checks: usize,
    /// The pair of the example.
    pub pair: TargetId,
    /// The example: the first test in the order of names.
    pub test: TestId,
    /// The reasons of its verdict.
    pub reasons: Vec<String>,
}

impl Pairs {
    /// No results yet.
    pub fn new(library: &Library) -> Self {
        let of_pairs = library.cases.iter().filter(|case| case.role == Role::Pair);
        Self {
            features: of_pairs.map(|case| (case.id.clone(), case.title.clone())).collect(),
            catalogue: library.requirements.clone(),
            clients: BTreeMap::new(),
            servers: BTreeMap::new(),
            cells: BTreeMap::new(),
            losses: BTreeMap::new(),
            seen: BTreeSet::new(),
            unseen: BTreeMap::new(),
            has_bug: false,
        }
    }

    /// Takes the descriptions of a run's pairs.
    pub fn describe(&mut self, header: &Header) {
        for pair in header.about.iter().filter_map(|about| about.pair.as_deref()) {
            // The first run log counts, as for the records.
            self.clients.entry(pair.client.target.clone()).or_insert_with(|| pair.client.clone());
            self.servers.entry(pair.server.target.clone()).or_insert_with(|| pair.server.clone());
        }
    }

    /// Takes a record. A record of a single target is ignored, and so is a second one of a test.
    pub fn add(&mut self, record: &Record) {
        let Some((client, server)) = record.target.sides() else { return };
        self.has_bug |= record.bug;
        let key = (record.target.clone(), record.test.clone());
        if let Some(reason) = &record.observation.unavailable {
            self.cells.entry((client, server)).or_default();
            if !self.seen.contains(&key) {
                self.unseen.entry(key).or_insert_with(|| reason.clone());
            }
            return;
        }
        // Another shard may have run a test for which this one had given up the pair.
        self.unseen.remove(&key);
        if !self.seen.insert(key) {
            return;
        }
        let cell = self.cells.entry((client.clone(), server.clone())).or_default();
        for verdict in &record.verdicts {
            let held = match verdict.kind.meaning() {
                Meaning::Holds => true,
                Meaning::Broken => false,
                Meaning::Option | Meaning::Undecided | Meaning::Aside => continue,
            };
            let rate = cell.features.entry(record.test.case.clone()).or_default();
            rate.asked += 1;
            rate.held += usize::from(held);
            if !held {
                take_loss(cell, &mut self.losses, record, verdict, (&client, &server));
            }
        }
    }

    /// Takes the messages of a test, of which those are kept that show a loss.
    pub fn add_evidence(&mut self, transcript: &Transcript) {
        let Some(sides) = transcript.target.sides() else { return };
        let Some(cell) = self.cells.get_mut(&sides) else { return };
        let Some(broken) = cell.broken.get_mut(&transcript.test.case) else { return };
        if broken.test == transcript.test && broken.evidence.is_empty() {
            broken.evidence = evidence(broken, transcript);
        }
    }

    /// The features in order, with their titles.
    pub fn features(&self) -> impl Iterator<Item = (&CaseId, &str)> {
        let is_asked = |feature: &CaseId| self.cells.values().any(|cell| cell.features.contains_key(feature));
        self.features.iter().filter(move |(id, _)| is_asked(id)).map(|(id, title)| (id, title.as_str()))
    }

    /// The clients, in the order of their names.
    pub fn clients(&self) -> Vec<&TargetId> {
        let found: BTreeSet<_> = self.cells.keys().map(|(client, _)| client).collect();
        found.into_iter().collect()
    }

    /// The servers, in the order of their names.
    pub fn servers(&self) -> Vec<&TargetId> {
        let found: BTreeSet<_> = self.cells.keys().map(|(_, server)| server).collect();
        found.into_iter().collect()
    }

    /// The description of a client or a server, if the run log has it.
    pub fn about(&self, role: Role, target: &TargetId) -> Option<&SideAbout> {
        if role == Role::Client { self.clients.get(target) } else { self.servers.get(target) }
    }

    /// The results of a pair.
    pub fn cell(&self, client: &TargetId, server: &TargetId) -> Option<&PairCell> {
        self.cells.get(&(client.clone(), server.clone()))
    }

    /// All results, by client and server.
    pub fn cells(&self) -> impl Iterator<Item = (&TargetId, &TargetId, &PairCell)> {
        self.cells.iter().map(|((client, server), cell)| (client, server, cell))
    }

    /// The checks of all pairs with a target on a side.
    pub fn of_side(&self, role: Role, target: &TargetId) -> Rate {
        let is_own = |client: &TargetId, server: &TargetId| {
            if role == Role::Client { client == target } else { server == target }
        };
        let own = self.cells().filter(|(client, server, _)| is_own(client, server));
        own.map(|(_, _, cell)| cell.rate()).sum()
    }

    /// The checks of one feature, of all pairs.
    pub fn of_feature(&self, feature: &CaseId) -> Rate {
        self.cells.values().map(|cell| cell.of(feature)).sum()
    }

    /// The checks of all pairs: the score of interoperability.
    pub fn overall(&self) -> Rate {
        self.cells.values().map(PairCell::rate).sum()
    }

    /// The ways in which values are lost, those with the most checks first.
    pub fn losses(&self) -> Vec<(&LossKey, &Loss)> {
        let mut losses: Vec<_> = self.losses.iter().collect();
        losses.sort_by_key(|(key, loss)| (std::cmp::Reverse(loss.checks), *key));
        losses
    }

    /// The catalogue of requirements.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The number of tests without an observation.
    pub fn unseen(&self) -> usize {
        self.unseen.len()
    }

    /// The pairs of which tests have no observation, with the number of these tests and the reason of the last one.
    pub fn given_up(&self) -> BTreeMap<&TargetId, (usize, &str)> {
        let mut pairs = BTreeMap::new();
        for ((pair, _), reason) in &self.unseen {
            let (tests, last) = pairs.entry(pair).or_insert((0, ""));
            (*tests, *last) = (*tests + 1, reason.as_str());
        }
        pairs
    }

    /// Returns whether each test of a pair has an observation.
    pub fn is_whole(&self, client: &TargetId, server: &TargetId) -> bool {
        let pair = TargetId::of_pair(client, server);
        !self.unseen.keys().any(|(one, _)| *one == pair)
    }

    /// Returns whether casebook itself failed in a test.
    pub fn has_bug(&self) -> bool {
        self.has_bug
    }
}

/// Takes a check that failed. The examples are those of the first tests in the order of names, so that they do not depend
/// on the order of the records.
fn take_loss(
    cell: &mut PairCell,
    losses: &mut BTreeMap<LossKey, Loss>,
    record: &Record,
    verdict: &Verdict,
    (client, server): (&TargetId, &TargetId),
) {
    let Some(attribution) = verdict.attribution.as_deref() else { return };
    let Attribution { side, place, requirement: sentence, message, step, is_left_to_author } = attribution.clone();
    let (target, other) = match side {
        Some(Role::Client) => (Some(client.clone()), server.clone()),
        Some(Role::Server | Role::Pair) => (Some(server.clone()), client.clone()),
        None => (None, client.clone()),
    };
    let requirement = verdict.requirement.clone();
    let key = LossKey { requirement, side, target, place, sentence, is_left_to_author };
    let reasons = || verdict.detail.iter().map(|detail| detail.finding.to_string()).collect();
    if cell.broken.get(&record.test.case).is_none_or(|broken| record.test < broken.test) {
        let broken = Broken {
            test: record.test.clone(),
            key: key.clone(),
            reasons: reasons(),
            evidence: Vec::new(),
            step: step.unwrap_or(verdict.step),
            message,
        };
        cell.broken.insert(record.test.case.clone(), broken);
    }
    let is_first = |loss: &Loss| (&record.test, &record.target) < (&loss.test, &loss.pair);
    let (others, checks) = losses.get(&key).map_or_else(Default::default, |loss| (loss.others.clone(), loss.checks));
    if losses.get(&key).is_none_or(is_first) {
        let (pair, test) = (record.target.clone(), record.test.clone());
        losses.insert(key.clone(), Loss { others, checks, pair, test, reasons: reasons() });
    }
    if let Some(loss) = losses.get_mut(&key) {
        loss.others.insert(other);
        loss.checks += 1;
    }
}

/// Returns the texts that show a loss: the request of the step, the message, and what the user got.
fn evidence(broken: &Broken, transcript: &Transcript) -> Vec<(&'static str, String)> {
    let cut = |text: &str| match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    };
    let Some(step) = transcript.steps.get(broken.step) else {
        return match &transcript.served {
            Served::Refused { r#type, message } => vec![("the server's SDK", cut(&format!("{type}: {message}")))],
            Served::Failed { detail, .. } => vec![("casebook", cut(detail))],
            _ => Vec::new(),
        };
    };
    let sender = |message: &Message| if message.from == Party::Target { "client" } else { "server" };
    let is_request = |message: &&Message| {
        message.from == Party::Target && (message.text.contains("tools/call") || message.text.contains("tools/list"))
    };
    let request = step.messages.iter().find(is_request);
    let shown = broken.message.and_then(|place| step.messages.get(place)).or(step.messages.last());
    let mut texts: Vec<_> = request.iter().map(|message| (sender(message), cut(&message.text))).collect();
    if let Some(shown) = shown.filter(|shown| request.is_none_or(|request| !std::ptr::eq(*shown, request))) {
        let status = shown.status.map_or_else(String::new, |status| format!("HTTP {status} "));
        texts.push((sender(shown), cut(&format!("{status}{}", shown.text))));
    }
    texts.extend(step.handed.as_ref().map(|handed| ("the user got", cut(handed))));
    texts
}

impl Pairs {
    /// What a pair loses, or one feature of it, each in the words of its requirement with the place.
    pub fn lost(&self, cell: &PairCell, feature: Option<&CaseId>) -> Vec<(String, LossPlace)> {
        let mut lost = Vec::new();
        let of_feature = cell.broken.iter().filter(|(id, _)| feature.is_none_or(|feature| feature == *id));
        for (_, Broken { key, .. }) in of_feature {
            let requirement = self.catalogue.get(&key.requirement);
            let short = requirement.and_then(|requirement| requirement.short.clone());
            let one = (short.unwrap_or_else(|| key.requirement.to_string()), key.place);
            if !lost.contains(&one) {
                lost.push(one);
            }
        }
        lost
    }

    /// The pairs that lose nothing, in words.
    pub fn whole(&self) -> String {
        let whole = self.cells().filter(|(_, _, cell)| cell.broken.is_empty()).count();
        format!("Pairs that lose nothing: {whole} of {}", self.len())
    }
}

impl LossKey {
    /// Returns the side and its target.
    pub fn who(&self) -> String {
        match (self.side, &self.target) {
            (Some(side), Some(target)) => format!("{side} {target}"),
            _ => "neither side".to_owned(),
        }
    }

    /// Returns the loss in words: `server x: PLACE; breaks SENTENCE`.
    pub fn words(&self) -> String {
        let who = self.who();
        match &self.sentence {
            Some(sentence) if self.is_left_to_author => {
                format!(
                    "{who}: {}; {sentence} is left to the author of the {}",
                    self.place,
                    self.side.unwrap_or(Role::Pair)
                )
            }
            Some(sentence) => format!("{who}: {}; breaks {sentence}", self.place),
            None if self.place == LossPlace::Build => format!("{who}: {}", self.place),
            None => format!("{who}: {}; no sentence that is checked here forbids it", self.place),
        }
    }
}
