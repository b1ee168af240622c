//! Removes secrets from the record and the transcript of a test, and bounds their length.
//!
//! Takes both after the test was judged; hides secrets first, then cuts, marks and counts. Everything that goes to a
//! file, a report or the terminal must pass through this module.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::Secrets;
use crate::model::bound::{LEAST, OBSERVATION, bound, length};
use crate::model::observation::{
    AdvertisedTool, AnswerObservation, Observation, Observed, StepObservation, seen_at_once,
};
use crate::model::reason::Detail;
use crate::model::record::{Cuts, Record, Verdict};
use crate::model::transcript::{End, Hit, Message, Served, StepTranscript, Transcript, WithoutProxy};

/// The most bytes of a text that are kept.
pub(super) const TEXT: usize = 32 << 10;
/// The most bytes of all texts of a transcript that are kept, headers included.
const TRANSCRIPT: usize = 2 << 20;
/// The number of bytes that each message, header and URL counts in addition to its text.
const ENTRY: usize = 64;
/// The most bytes of one text of a verdict's detail that are kept, and of all such texts of a record.
const DETAIL: (usize, usize) = (2 << 10, 16 << 10);
/// The most bytes of all records of a run that are kept in full, and of all transcripts.
const RUN: u64 = 2 << 30;

/// The bytes that are left for the tests of a run, and the cuts so far.
#[derive(Debug)]
pub(super) struct Bounds {
    records: u64,
    transcripts: u64,
    cuts: Cuts,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { records: RUN, transcripts: RUN, cuts: Cuts::default() }
    }
}

impl Bounds {
    /// Hides the secrets in the record and the transcript of a test, and cuts texts over the bounds.
    pub(super) fn keep(&mut self, secrets: &Secrets, record: &mut Record, transcript: &mut Transcript) {
        let room = TRANSCRIPT.min(usize::try_from(self.transcripts).unwrap_or(usize::MAX));
        let mut kept = Keeper { secrets, room, texts: 0, bytes: 0, is_short: false };
        kept.transcript(transcript);
        self.transcripts = self.transcripts.saturating_sub((room - kept.room) as u64);

        let has_room = self.records > 0;
        kept.room = if has_room { DETAIL.1 } else { 0 };
        kept.record(record, if has_room { OBSERVATION } else { LEAST });
        self.records = self.records.saturating_sub(length(record) as u64);

        self.cuts.texts += kept.texts;
        self.cuts.bytes += kept.bytes;
        self.cuts.tests += u64::from(kept.is_short);
    }

    /// Returns the cuts so far.
    pub(super) fn cuts(&self) -> Cuts {
        self.cuts
    }
}

/// The state of one test.
struct Keeper<'s> {
    secrets: &'s Secrets,
    /// The number of bytes that may still be kept.
    room: usize,
    texts: u64,
    bytes: u64,
    /// Set if more is missing than the ends of long messages.
    is_short: bool,
}

impl Keeper<'_> {
    fn transcript(&mut self, transcript: &mut Transcript) {
        // The ignored fields contain no text of the target.
        let Transcript {
            target: _,
            test: _,
            bindings: _,
            served,
            opening,
            steps,
            canary,
            stderr,
            leaky: _,
            micros: _,
            stdio: _,
            process,
            without_proxy,
        } = transcript;
        self.served(served);
        self.messages(opening);
        for StepTranscript { messages, end, micros: _, canary, handed } in steps {
            self.messages(messages);
            self.end(end);
            // This is a message too, so a missing end does not count as a loss.
            if let Some(handed) = handed {
                let is_short = self.is_short || handed.len().min(TEXT) > self.room;
                self.text(handed, TEXT);
                self.is_short = is_short;
            }
            self.hits(canary);
        }
        self.hits(canary);
        self.text(stderr, 4 * TEXT);
        if let Some(process) = process {
            self.transcript(process);
        }
        if let Some(WithoutProxy::Different { with, without }) = without_proxy {
            self.text(with, TEXT);
            self.text(without, TEXT);
        }
    }

    fn served(&mut self, served: &mut Served) {
        match served {
            Served::Serving => {}
            Served::Refused { r#type, message } => {
                self.text(r#type, TEXT);
                self.text(message, TEXT);
            }
            Served::Failed { end, detail } => {
                self.end(end);
                self.text(detail, 4 * TEXT);
            }
            Served::Cannot { reason } | Served::Broken { reason } | Served::Unavailable { reason } => {
                self.text(reason, 4 * TEXT);
            }
        }
    }

    fn end(&mut self, end: &mut End) {
        match end {
            End::Invalid { reason: text } | End::Crash { how: text } => self.text(text, TEXT),
            End::Replied { .. }
            | End::Http { .. }
            | End::Accepted
            | End::Handed
            | End::Unanswered
            | End::Empty
            | End::Oversized
            | End::Timeout => {}
        }
    }

    fn messages(&mut self, messages: &mut Vec<Message>) {
        let all = messages.len();
        let mut kept = 0;
        for message in messages.iter_mut() {
            if !self.has_entry() {
                break;
            }
            kept += 1;
            let Message {
                from: _,
                text: _,
                cut_from: _,
                lossy: _,
                status: _,
                headers,
                on_get_stream: _,
                on_call: _,
                at: _,
            } = &mut *message;
            let named = headers.len();
            headers.retain_mut(|(name, value)| {
                let fits = self.has_entry();
                self.text(name, TEXT);
                self.text(value, TEXT);
                fits
            });
            self.drop_entries(named - headers.len(), 0);
            self.message(message);
        }
        let lost = messages.drain(kept..).map(|message| message.text.len());
        let (dropped, bytes) = lost.fold((0, 0), |(count, bytes), length| (count + 1, bytes + length));
        debug_assert_eq!(dropped, all - kept);
        self.drop_entries(dropped, bytes);
        messages.shrink_to_fit();
    }

    fn message(&mut self, message: &mut Message) {
        let whole = message.text.len();
        let most = TEXT.min(self.room);
        let kept = self.secrets.out_of_first(&message.text, most);
        self.room = self.room.saturating_sub(kept.len());
        if whole > most {
            message.cut_from.get_or_insert(whole as u64);
            self.texts += 1;
            self.bytes += (whole - most) as u64;
            self.is_short |= most < TEXT;
        }
        if whole > most || matches!(kept, Cow::Owned(_)) {
            message.text = kept.into_owned();
        }
    }

    fn hits(&mut self, hits: &mut Vec<Hit>) {
        let all = hits.len();
        hits.retain_mut(|Hit { url, phase: _ }| {
            let fits = self.has_entry();
            self.text(url, TEXT);
            fits
        });
        self.drop_entries(all - hits.len(), 0);
    }

    /// Takes the bytes of one more entry; returns whether there are enough.
    fn has_entry(&mut self) -> bool {
        let fits = self.room >= ENTRY;
        self.room -= if fits { ENTRY } else { 0 };
        fits
    }

    fn drop_entries(&mut self, entries: usize, bytes: usize) {
        self.texts += entries as u64;
        self.bytes += bytes as u64;
        self.is_short |= entries > 0;
    }

    /// Hides secrets in a text, and cuts it.
    fn text(&mut self, text: &mut String, most: usize) {
        let (whole, most) = (text.len(), most.min(self.room));
        let mut kept = self.secrets.out_of_first(text, most);
        self.room = self.room.saturating_sub(kept.len());
        if whole > most {
            kept.to_mut().extend(["… (", &whole.to_string(), " bytes)"]);
            self.texts += 1;
            self.bytes += (whole - most) as u64;
            self.is_short = true;
        }
        if let Cow::Owned(kept) = kept {
            *text = kept;
        }
    }

    fn record(&mut self, record: &mut Record, most: usize) {
        let Record {
            index: _,
            target: _,
            test: _,
            title: _,
            hash: _,
            observation,
            verdicts,
            // The attempts were bounded when they ended.
            attempts: _,
            bug: _,
            stdio: _,
            micros: _,
        } = record;
        if !self.secrets.is_empty() {
            self.observation(observation);
        }
        let left_out = bound(observation, most);
        self.texts += u64::from(left_out > 0);
        self.bytes += left_out;
        self.is_short |= left_out > 0;
        for Verdict { detail, .. } in verdicts {
            for text in detail.iter_mut().flat_map(Detail::texts_mut) {
                self.text(text, DETAIL.0);
            }
        }
    }

    fn observation(&self, observation: &mut Observation) {
        let Observation { steps, cannot, unavailable, leaky: _, cut: _ } = observation;
        self.hide_all(cannot.iter_mut().chain(unavailable));
        for step in steps {
            self.step(step);
        }
    }

    fn step(&self, step: &mut StepObservation) {
        // All fields are named, so that a new field does not compile until it is handled here.
        let StepObservation {
            outcome: _,
            not_begun: _,
            code: _,
            status: _,
            advertised,
            listed,
            tools,
            possible_flaws: _,
            calls,
            at_once,
            saw,
            structured,
            text: _,
            asked,
            answered,
            rounds: _,
            canary: _,
            fetches: _,
            get_stream: _,
            events,
            varies: _,
            repeated_id: _,
            split: _,
            converted: _,
            cancelled_unknown,
            beside,
            undeclared: _,
            unopened: _,
            malformed: _,
            stray,
            mistyped,
            not_utf8: _,
            endless: _,
            replies,
            reply_places: _,
            sent,
            unread,
            took: _,
            size: _,
            said,
            relayed,
        } = step;
        self.keys(advertised);
        self.keys(listed);
        self.keys(tools);
        self.keys(calls);
        let evidence = calls.values_mut().flat_map(BTreeMap::values_mut);
        self.hide_all(evidence.map(|evidence| &mut evidence.reason));
        for AdvertisedTool { removed, added, changed, unreadable } in advertised.values_mut() {
            self.hide_all([removed, added, changed].into_iter().flatten().chain(unreadable));
        }
        let answers = answered.iter_mut();
        let answers = answers.filter_map(|AnswerObservation { action: _, content, code: _ }| content.as_mut());
        let parts = replies.iter_mut().chain(sent).chain(listed.values_mut()).flat_map(|parts| parts.values_mut());
        let saw = saw.iter_mut().chain(seen_at_once(at_once));
        for observed in saw.chain(structured).chain(asked).chain(events).chain(answers).chain(parts) {
            match observed {
                Observed::Value(value) => self.value(value),
                Observed::Unreadable(reason) => self.hide(reason),
            }
        }
        let mistyped = mistyped.iter_mut().flat_map(|one| match one {
            Observed::Value(one) => vec![&mut one.pointer, &mut one.message],
            Observed::Unreadable(reason) => vec![reason],
        });
        self.hide_all(
            unread
                .iter_mut()
                .chain(said)
                .chain(stray)
                .chain(cancelled_unknown)
                .chain(beside.values_mut().flat_map(|one| [&mut one.pointer, &mut one.message]))
                .chain(mistyped),
        );
        if let Some(relayed) = relayed {
            self.step(&mut relayed.server);
        }
    }

    fn hide_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| self.hide(text));
    }

    fn hide(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.secrets.out_of(text) {
            *text = hidden;
        }
    }

    fn keys<T>(&self, named: &mut BTreeMap<String, T>) {
        let all = std::mem::take(named);
        named.extend(all.into_iter().map(|(name, one)| (self.secrets.out_of(&name).into_owned(), one)));
    }

    /// A tree has a depth of its own only as far as it was read within our bound.
    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                let all = std::mem::take(members);
                members.extend(all.into_iter().map(|(name, mut value)| {
                    self.value(&mut value);
                    (self.secrets.out_of(&name).into_owned(), value)
                }));
            }
            Value::Number(number) => {
                let text = number.to_string();
                if let Cow::Owned(hidden) = self.secrets.out_of(&text) {
                    *value = Value::String(hidden);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
