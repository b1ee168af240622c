//! Damages of a recorded test, one at a time: a message changes, is lost, moves, or comes in addition; what came with it is
//! another; the target does what it did in another test; a step has no result.
//!
//! Takes a transcript, gives damaged transcripts. Must not know how they are judged.

mod content;
mod harmless;
mod obedient;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use self::content::Words;
pub(super) use self::harmless::ways;
use crate::model::case::Test;
use crate::model::spec::Role;
use crate::model::transcript::{
    EARLY, End, Hit, LATE, Message, OTHER_SESSION, Party, Phase, Served, StepTranscript, Transcript,
};

/// The messages of other steps that come in addition.
const STRANGE: usize = 24;
/// The time by which a message or a step is late, in microseconds.
const TOO_LONG: u64 = 30_000_000;
/// The statuses of replies over HTTP that take the place of others.
const STATUSES: [u16; 8] = [200, 202, 204, 400, 401, 404, 405, 500];
/// The methods of messages that come in addition.
const METHODS: [&str; 12] = [
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "notifications/initialized",
    "notifications/message",
    "notifications/progress",
    "ping",
    "resources/list",
    "sampling/createMessage",
    "server/discover",
    "tools/list",
];

/// The kind of a damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DamageKind {
    /// The target does something else.
    Change,
    /// A step, or the whole test, has no result.
    NoResult,
}

/// Takes a damaged transcript, and says whether another one is wanted.
pub(super) type Visit<'v> = dyn FnMut(DamageKind, &Transcript) -> ControlFlow<()> + 'v;

/// Damages a transcript in one way after the other: those that are few and likely to break a check come first, and those
/// that leave no result last. `others` are recordings of the same file.
pub(super) fn each(test: &Test, whole: &Transcript, others: &[&Transcript], visit: &mut Visit<'_>) -> ControlFlow<()> {
    let words = &Words::of(test, whole);
    let mut damager = Damager { test, whole, words, visit };
    damager.contents(content::plain)?;
    damager.canaries()?;
    damager.answers(others)?;
    for step in 0..whole.steps.len() {
        damager.around(step)?;
        damager.places(step)?;
    }
    damager.opening()?;
    damager.contents(|text, give| content::worded(text, words, give))?;
    damager.no_results()
}

struct Damager<'a, 'v> {
    test: &'a Test,
    whole: &'a Transcript,
    words: &'a Words,
    visit: &'a mut Visit<'v>,
}

impl Damager<'_, '_> {
    fn give(&mut self, kind: DamageKind, change: impl FnOnce(&mut Transcript)) -> ControlFlow<()> {
        let mut damaged = self.whole.clone();
        change(&mut damaged);
        (self.visit)(kind, &damaged)
    }

    fn change(&mut self, change: impl FnOnce(&mut Transcript)) -> ControlFlow<()> {
        self.give(DamageKind::Change, change)
    }

    fn change_step(&mut self, step: usize, change: impl FnOnce(&mut StepTranscript)) -> ControlFlow<()> {
        self.change(|all| change(&mut all.steps[step]))
    }

    fn change_message(&mut self, (step, place): (usize, usize), change: impl FnOnce(&mut Message)) -> ControlFlow<()> {
        self.change_step(step, |step| change(&mut step.messages[place]))
    }

    /// Changes what a client handed to its user, and the texts of all messages.
    fn contents(&mut self, edits: impl Fn(&str, &mut content::Give<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let whole = self.whole;
        // In a pair, both sides are targets.
        let is_own = |message: &Message| self.test.role == Role::Pair || message.from == Party::Target;
        for (step, seen) in whole.steps.iter().enumerate() {
            if let Some(handed) = &seen.handed {
                edits(handed, &mut |text| self.change_step(step, |step| step.handed = Some(text.to_owned())))?;
            }
            for (place, message) in seen.messages.iter().enumerate().filter(|(_, message)| is_own(message)) {
                edits(&message.text, &mut |text| {
                    self.change_message((step, place), |message| text.clone_into(&mut message.text))
                })?;
            }
        }
        for (place, message) in own(&whole.opening) {
            edits(&message.text, &mut |text| self.change(|all| text.clone_into(&mut all.opening[place].text)))?;
        }
        ControlFlow::Continue(())
    }

    /// Loses the fetches of each canary, and adds one.
    fn canaries(&mut self) -> ControlFlow<()> {
        let whole = self.whole;
        let fetched: BTreeSet<_> = whole.canary.iter().map(|hit| &hit.url).collect();
        for url in fetched {
            self.change(|all| {
                let lists = all.steps.iter_mut().map(|step| &mut step.canary).chain([&mut all.canary]);
                lists.for_each(|hits| hits.retain(|hit| hit.url != *url));
            })?;
        }
        for (_, url) in &whole.bindings.canaries {
            for begun in 0..=whole.steps.len() {
                let phase = if begun == 0 { Phase::Serve } else { Phase::Step };
                self.change(|all| {
                    let lists = all.steps.iter_mut().skip(begun).map(|step| &mut step.canary).chain([&mut all.canary]);
                    lists.for_each(|hits| hits.push(Hit { url: url.clone(), phase }));
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Puts what a target did in another test in the place of what it did in this one; or what a server does that
    /// validates nothing.
    fn answers(&mut self, others: &[&Transcript]) -> ControlFlow<()> {
        let whole = self.whole;
        let obedient = (self.test.role == Role::Server).then(|| Transcript {
            served: Served::Serving,
            steps: obedient::steps(self.test, whole),
            ..whole.clone()
        });
        for other in obedient.iter().chain(others.iter().copied()) {
            self.change(|all| {
                (all.served, all.steps, all.opening) =
                    (other.served.clone(), other.steps.clone(), other.opening.clone());
            })?;
            for (step, seen) in other.steps.iter().enumerate().take(whole.steps.len()) {
                self.change_step(step, |step| *step = seen.clone())?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Changes what comes with the messages of a step, and its time.
    fn around(&mut self, step: usize) -> ControlFlow<()> {
        let whole = self.whole;
        for (place, message) in own(&whole.steps[step].messages) {
            let at = (step, place);
            for status in STATUSES.into_iter().filter(|_| message.status.is_some()) {
                self.change_message(at, |message| message.status = Some(status))?;
            }
            let texts = self.words.values.iter().filter_map(Value::as_str).map(str::to_owned);
            let values: Vec<_> = ["damaged", "", "damaged\u{7f}\u{e9} ", "damaged\n"].map(str::to_owned).into();
            let values: Vec<_> = values.into_iter().chain(texts).collect();
            for header in 0..message.headers.len() {
                self.change_message(at, |message| _ = message.headers.remove(header))?;
                for value in &values {
                    self.change_message(at, |message| value.clone_into(&mut message.headers[header].1))?;
                }
            }
            let names = self.words.names.iter().filter(|name| message.header(name).is_none()).cloned();
            let marks = [EARLY, LATE, OTHER_SESSION].map(str::to_owned);
            for name in names.chain(marks).collect::<Vec<_>>() {
                self.change_message(at, |message| message.headers.push((name, "damaged".to_owned())))?;
            }
            for call in (0..2).filter(|_| message.on_call.is_some()) {
                self.change_message(at, |message| message.on_call = Some(call))?;
            }
            self.change_message(at, |message| message.at += TOO_LONG)?;
            self.change_message(at, |message| message.lossy = true)?;
            self.change_message(at, |message| message.on_get_stream = !message.on_get_stream)?;
        }
        if let End::Http { .. } = whole.steps[step].end {
            for status in STATUSES {
                self.change_step(step, |step| step.end = End::Http { status })?;
            }
        }
        self.change_step(step, |step| step.micros += TOO_LONG)
    }

    /// Loses, repeats, divides, moves and adds messages of a step.
    fn places(&mut self, step: usize) -> ControlFlow<()> {
        let whole = self.whole;
        let seen = &whole.steps[step];
        for (place, message) in own(&seen.messages) {
            self.change_step(step, |step| remove(step, place))?;
            for at in BTreeSet::from([0, place + 1, seen.messages.len()]) {
                self.change_step(step, |step| insert(step, at, message.clone()))?;
            }
            let inside = |at: &usize| *at <= message.text.len() && message.text.is_char_boundary(*at);
            for at in [1, message.text.len() / 2].into_iter().filter(inside) {
                self.change_step(step, |step| {
                    let text = step.messages[place].text.split_off(at);
                    insert(step, place + 1, Message { text, ..message.clone() });
                })?;
            }
            let first_of_two = [place.checked_sub(1), Some(place)].into_iter().flatten();
            for first in first_of_two.filter(|first| first + 1 < seen.messages.len()) {
                self.change_step(step, |step| swap(step, first))?;
            }
            let neighbours = [step.checked_sub(1), Some(step + 1)].into_iter().flatten();
            for other in neighbours.filter(|other| *other < whole.steps.len()) {
                self.change(|all| {
                    remove(&mut all.steps[step], place);
                    let at = if other < step { all.steps[other].messages.len() } else { 0 };
                    insert(&mut all.steps[other], at, message.clone());
                })?;
            }
        }
        let handed = &whole.steps[step.saturating_sub(1)].handed;
        self.change_step(step, |step| {
            (0..step.messages.len()).rev().for_each(|place| remove(step, place));
            step.handed.clone_from(handed);
        })?;
        for message in self.additional(step) {
            let places = BTreeSet::from([0, 1, seen.messages.len()]);
            for at in places.into_iter().filter(|at| *at <= seen.messages.len()) {
                self.change_step(step, |step| insert(step, at, message.clone()))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The target's messages of other steps, and such as no target of this kind sends.
    fn additional(&self, step: usize) -> Vec<Message> {
        let seen = &self.whole.steps[step];
        let others = self.whole.steps.iter().enumerate().filter(|(other, _)| *other != step);
        let mut all: Vec<Message> =
            others.flat_map(|(_, other)| own(&other.messages)).take(STRANGE).map(|(_, one)| one.clone()).collect();
        let methods = self.words.values.iter().filter_map(Value::as_str).filter(|text| text.contains('/'));
        let mut texts: Vec<Value> = METHODS
            .into_iter()
            .chain(methods)
            .flat_map(|method| {
                let request = json!({ "jsonrpc": "2.0", "id": 4711, "method": method, "params": {} });
                [json!({ "jsonrpc": "2.0", "method": method }), request]
            })
            .collect();
        texts.push(json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32603, "message": "damaged" } }));
        let asked = seen.messages.iter().filter(|one| one.from == Party::Harness);
        for id in asked.filter_map(|one| serde_json::from_str::<Value>(&one.text).ok()?.get("id").cloned()) {
            let params = json!({ "requestId": id });
            texts.push(json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
            texts.push(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
        }
        let like = own(&seen.messages).next().map(|(_, one)| one.clone());
        let like = like.unwrap_or_else(|| Message::new(Party::Target, String::new()));
        let texts = texts.iter().map(Value::to_string).chain(["damaged".to_owned()]);
        all.extend(texts.map(|text| Message { text, ..like.clone() }));
        all
    }

    /// Loses the messages of the handshake.
    fn opening(&mut self) -> ControlFlow<()> {
        for place in 0..self.whole.opening.len() {
            self.change(|all| _ = all.opening.remove(place))?;
        }
        ControlFlow::Continue(())
    }

    /// Ends each step, and the test, without a result.
    fn no_results(&mut self) -> ControlFlow<()> {
        let reason = || "damaged".to_owned();
        let ends = [
            End::Timeout,
            End::Crash { how: reason() },
            End::Invalid { reason: reason() },
            End::Empty,
            End::Http { status: 500 },
            End::Accepted,
        ];
        for end in ends {
            for step in 0..self.whole.steps.len() {
                self.give(DamageKind::NoResult, |all| {
                    all.steps[step].end = end.clone();
                    all.steps[step].handed = None;
                })?;
            }
            self.give(DamageKind::NoResult, |all| {
                all.served = Served::Failed { end, detail: reason() };
                all.steps.clear();
            })?;
        }
        for step in 0..self.whole.steps.len() {
            self.give(DamageKind::NoResult, |all| all.steps.truncate(step))?;
        }
        self.give(DamageKind::NoResult, |all| {
            all.served = Served::Refused { r#type: reason(), message: reason() };
            all.steps.clear();
        })
    }
}

/// The messages of the target, with their places.
fn own(messages: &[Message]) -> impl Iterator<Item = (usize, &Message)> {
    messages.iter().enumerate().filter(|(_, message)| message.from == Party::Target)
}

fn remove(step: &mut StepTranscript, place: usize) {
    step.messages.remove(place);
    if let End::Replied { message } = &mut step.end {
        match place.cmp(message) {
            Ordering::Less => *message -= 1,
            Ordering::Equal => step.end = End::Timeout,
            Ordering::Greater => {}
        }
    }
}

fn insert(step: &mut StepTranscript, place: usize, message: Message) {
    step.messages.insert(place, message);
    if let End::Replied { message } = &mut step.end {
        *message += usize::from(place <= *message);
    }
}

/// Exchanges a message and the next one.
fn swap(step: &mut StepTranscript, first: usize) {
    step.messages.swap(first, first + 1);
    if let End::Replied { message } = &mut step.end {
        if *message == first {
            *message += 1;
        } else if *message == first + 1 {
            *message -= 1;
        }
    }
}
