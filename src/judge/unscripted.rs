//! Judging of a client that nobody drives, by its messages alone.
//!
//! Takes the messages of a conversation with the server of a case, gives the verdicts that they decide. A check counts
//! only if the client sent the requests of its step, and if no control shows that the server refuses the client for
//! another reason. Must not know the program of the client, or the way in which it was started.

mod sessions;
mod steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use self::sessions::{Session, joined, sessions};
use self::steps::{Segment, performed, segments};
use super::expect::{ByMessages, Scene, SceneAction, by_messages, reads_messages};
use super::{held, implied, observe, verdict, violated};
use crate::jsonrpc::envelope::{self, Envelope};
use crate::judge::compare;
use crate::model::case::{Action, Answer, Check, Does, Fixture, Outcome, Step, Test, When};
use crate::model::encounter::{Encounter, SessionSummary};
use crate::model::observation::{AnswerObservation, FaultyMessage, Observation, StepObservation};
use crate::model::reason::{Detail, Finding};
use crate::model::record::{Record, Verdict};
use crate::model::schema::SharedSchema;
use crate::model::spec::{Catalogue, Level, Revision};
use crate::model::template::Bindings;
use crate::model::transcript::{End, Message, Party, Served, StepTranscript, Transcript};
use crate::model::verdict::VerdictKind;
use crate::model::{TargetId, TestId};

/// The name of the client in the records.
const CLIENT: &str = "client";
/// The characters of a header's value, or of a name of the client, in a summary.
const SHOWN: usize = 200;
/// The headers that a summary lists.
const TELLING: [&str; 6] = ["accept", "content-type", "mcp-method", "mcp-name", "mcp-protocol-version", "user-agent"];
/// The tools and methods that a summary lists.
const LISTED: usize = 40;

const NOT_SENT: &str = "the client did not send the requests of the step";
const OTHER_ANSWERS: &str = "the user of the client answered otherwise";

/// A test in a session, as far as the client performed it.
struct Scened<'a> {
    id: &'a TestId,
    test: &'a Test,
    transcript: Transcript,
    observation: Observation,
    /// All messages of the session, as one step.
    whole: Observation,
    /// The reason why no check counts.
    why_not: Option<&'static str>,
    /// The reason why no check about elicitation counts.
    why_not_elicited: Option<&'static str>,
    /// `true` if casebook handed the answers of the test to the client.
    has_answers: bool,
}

/// The state of a control in a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ControlState {
    Held,
    Failed,
    NotPerformed,
}

/// Returns the summary of each session.
pub fn summaries(encounter: &Encounter) -> Vec<SessionSummary> {
    sessions(&encounter.messages, &encounter.offered).iter().map(summary).collect()
}

/// Judges the tests of a fixture, each in the session that decides the most. The tests include their controls, which may
/// have other fixtures.
pub fn unscripted(
    catalogue: &Catalogue,
    tests: &[(TestId, Arc<Test>)],
    fixture: &Fixture,
    encounter: &Encounter,
) -> Vec<(Record, Transcript)> {
    let sessions = sessions(&encounter.messages, &encounter.offered);
    let mut best: BTreeMap<&TestId, (Record, Transcript)> = BTreeMap::new();
    for (id, _) in tests {
        let negotiated = fixture.revision.and_then(|_| joined(&encounter.messages, &encounter.offered, id.revision));
        let own = sessions.iter().filter(|one| fixture.revision.is_none() && one.revision == Some(id.revision));
        for session in own.chain(&negotiated) {
            let Some(judged) = judge(catalogue, tests, fixture, encounter, session, id) else { continue };
            match best.get(id) {
                Some((record, _)) if weight(record) >= weight(&judged.0) => {}
                _ => drop(best.insert(id, judged)),
            }
        }
    }
    tests.iter().filter_map(|(id, _)| best.remove(id)).collect()
}

/// Withdraws the violations in tests whose control has a fixture of its own, unless the client showed with that one what the
/// control asks for: a client that follows no page shows nothing by not following an odd one.
pub fn withdraw_uncontrolled(tests: &[(TestId, Arc<Test>)], records: &mut [(Record, Transcript)]) {
    let holds = |id: &TestId| {
        let kinds = || records.iter().filter(|(one, _)| one.test == *id).flat_map(|(one, _)| &one.verdicts);
        kinds().any(|verdict| verdict.kind.is_decided()) && !kinds().any(|verdict| verdict.kind.is_broken())
    };
    let uncontrolled = |(record, _): &(Record, Transcript)| {
        let own = tests.iter().find(|(id, _)| *id == record.test).map(|(_, test)| test)?;
        let is_elsewhere =
            |(id, test): &&(TestId, Arc<Test>)| governs(id, test, &record.test, own) && test.given != own.given;
        tests.iter().filter(is_elsewhere).find(|(id, _)| !holds(id)).map(|(_, test)| test.path())
    };
    let gates: Vec<_> = records.iter().map(uncontrolled).collect();
    for ((record, _), control) in records.iter_mut().zip(gates) {
        let Some(control) = control else { continue };
        for verdict in record.verdicts.iter_mut().filter(|verdict| verdict.kind.is_broken()) {
            let finding = Finding::ControlFailed { control: control.clone() };
            (verdict.kind, verdict.detail) = (VerdictKind::NotAsked, vec![finding.into()]);
        }
    }
}

/// The gravity of a record: a violation outweighs any number of checks that hold.
fn weight(record: &Record) -> (usize, usize) {
    let count = |is: fn(VerdictKind) -> bool| record.verdicts.iter().filter(|verdict| is(verdict.kind)).count();
    (count(VerdictKind::is_broken), count(VerdictKind::is_decided))
}

/// Judges one test in a session; `None` if the test has another fixture.
fn judge(
    catalogue: &Catalogue,
    tests: &[(TestId, Arc<Test>)],
    fixture: &Fixture,
    encounter: &Encounter,
    session: &Session,
    id: &TestId,
) -> Option<(Record, Transcript)> {
    let segments = segments(&session.messages);
    let scened = |id: &TestId| {
        let (id, test) = tests.iter().find(|(own, test)| own == id && *test.given == *fixture)?;
        Some(Scened::new(id, test, session, &segments, encounter))
    };
    let own = scened(id)?;
    let state = |(control, test): &(TestId, Arc<Test>)| {
        let state = scened(control).map_or(ControlState::NotPerformed, |control| control.state(catalogue));
        (test.path(), state)
    };
    let controls: Vec<_> = tests.iter().filter(|(other, test)| governs(other, test, id, own.test)).map(state).collect();
    let failed = controls.iter().find(|(_, state)| *state == ControlState::Failed);
    // Without a control, a request that the server refuses shows as little as a control that fails.
    let is_refused = segments.iter().any(|segment| segment.is_refused() && !segment.is_to_be_refused(fixture));
    let unheld = controls.iter().find(|(_, state)| *state != ControlState::Held);
    // A refused request counts only beside another one that the server accepted.
    let is_trusted = unheld.is_none() && !controls.is_empty();
    let gate = failed.or(unheld.filter(|_| is_refused)).map(|(path, _)| path.clone());
    let mut verdicts = own.verdicts(catalogue, is_trusted);
    if let Some(control) = gate {
        let finding = Finding::ControlFailed { control };
        for verdict in verdicts.iter_mut().filter(|verdict| verdict.kind != VerdictKind::NotAsked) {
            (verdict.kind, verdict.detail) = (VerdictKind::NotAsked, vec![finding.clone().into()]);
        }
    }
    Some(own.record(verdicts))
}

/// Returns whether a test is a control of another one.
fn governs(control: &TestId, test: &Test, id: &TestId, governed: &Test) -> bool {
    let is_beside = control.case == id.case && control.revision == id.revision && control.transport == id.transport;
    is_beside && test.governs(governed)
}

impl<'a> Scened<'a> {
    fn new(id: &'a TestId, test: &'a Test, session: &Session, segments: &[Segment], encounter: &Encounter) -> Self {
        let bindings = Bindings { revision: id.revision.name().to_owned(), ..encounter.bindings.clone() };
        let led = encounter.led.as_ref().filter(|led| led.test == test.path());
        let mut steps = performed(test, segments, &session.messages, &bindings, led.is_some());
        for step in &mut steps {
            step.canary.clone_from(&encounter.hits);
        }
        let target = TargetId { name: CLIENT.to_owned(), variant: None };
        let blank = Transcript::blank(target, id.clone(), Served::Serving);
        let transcript = Transcript { bindings, steps, canary: encounter.hits.clone(), ..blank };
        let observation = observe(test, &transcript);
        // What holds for every message holds for those between the steps too.
        let all = StepTranscript {
            messages: session.messages.clone(),
            end: End::Handed,
            micros: 0,
            canary: Vec::new(),
            handed: None,
        };
        let mut whole = observe(test, &Transcript { steps: vec![all], ..transcript.clone() });
        whole.steps.truncate(1);
        // The messages of a record are those of its steps.
        for step in &mut whole.steps {
            step.mistyped = step.mistyped.take().map(|one| one.map(|one| FaultyMessage { place: None, ..one }));
        }
        let wants = test.steps.iter().any(|step| !answers(step).is_empty());
        let why_not_elicited = (wants != session.elicits()).then_some(if wants {
            "the client declares no elicitation"
        } else {
            "the client declares elicitation"
        });
        let has_answers = led.is_some_and(|led| led.has_answers);
        Self {
            id,
            test,
            transcript,
            observation,
            whole,
            why_not: why_not(test, session),
            why_not_elicited,
            has_answers,
        }
    }

    /// Judges each check of each step.
    fn verdicts(&self, catalogue: &Catalogue, is_trusted: bool) -> Vec<Verdict> {
        let steps = self.test.steps.iter().enumerate();
        let checks = steps.flat_map(|(index, step)| step.then.checks().iter().map(move |check| (index, step, check)));
        let verdict_of = |(index, step, check): (usize, &Step, &Check)| {
            let requirement = catalogue.get(&check.requirement)?;
            let in_force =
                requirement.revisions.contains(self.id.revision) && requirement.roles.contains(&self.test.role);
            in_force.then(|| {
                let (kind, detail) = self.compare(index, step, check, requirement.level, is_trusted, catalogue);
                let kind = if requirement.revisions.is_draft { kind.of_proposal() } else { kind };
                verdict(index, check, requirement.level, kind, detail)
            })
        };
        let mut verdicts: Vec<_> = checks.filter_map(verdict_of).collect();
        if self.why_not.is_none() {
            let beside = implied::verdicts(catalogue, self.test, self.id, &self.whole, &verdicts);
            verdicts.extend(beside);
        }
        verdicts
    }

    /// Compares a step with each alternative of a check.
    fn compare(
        &self,
        index: usize,
        step: &Step,
        check: &Check,
        level: Level,
        is_trusted: bool,
        catalogue: &Catalogue,
    ) -> (VerdictKind, Vec<Detail>) {
        let not_asked =
            |reason: &str| (VerdictKind::NotAsked, vec![Finding::NotAsked { reason: reason.to_owned() }.into()]);
        if let Some(reason) = self.why_not {
            return not_asked(reason);
        }
        let is_performed = index < self.transcript.steps.len();
        let Some(observed) = self.observation.steps.get(index).filter(|_| is_performed) else {
            return not_asked(NOT_SENT);
        };
        if let Some(reason) = self.why_not_elicited.filter(|_| is_about_elicitation(self.test, step, check)) {
            return not_asked(reason);
        }
        let answers = answers(step);
        // An answer with the id of no question is one too.
        let is_answered = observed.asked.len() <= observed.answered.len() + self.astray(index);
        let fits = || self.has_answers || fits_answers(answers, &observed.answered, &self.transcript.bindings);
        if !is_answered || !fits() {
            return not_asked(OTHER_ANSWERS);
        }
        // A later request shows that the client has its connection.
        let is_connected = matches!(step.when, When::Serve) && index + 1 < self.transcript.steps.len();
        let connected = is_connected.then(|| StepObservation { outcome: Outcome::Success, ..observed.clone() });
        let observed = connected.as_ref().unwrap_or(observed);
        let scene = Scene {
            observed,
            id: self.id,
            action: match step.when {
                When::Call { .. } => SceneAction::Call,
                _ if is_connected => SceneAction::UsedConnection,
                _ => SceneAction::Other,
            },
            // The values of an answer as presented are those of the user.
            answers_known: !answers.iter().any(|answer| matches!(answer, Answer::AcceptAsPresented)),
            is_trusted,
        };
        let (mut missed, mut open) = (Vec::new(), None);
        for alternative in &check.alternatives {
            let allowed = alternative.allowed_by.as_ref();
            let is_allowed = |revision: Revision| {
                allowed.is_none_or(|may| catalogue.get(may).is_some_and(|may| may.revisions.contains(revision)))
            };
            let detail = |finding| Detail { alternative: alternative.name.clone(), finding };
            match by_messages(alternative, scene) {
                ByMessages::Holds if !is_allowed(self.id.revision) => {}
                ByMessages::Holds if alternative.not_asked => {
                    return not_asked(alternative.name.as_deref().unwrap_or_default());
                }
                ByMessages::Holds => {
                    let kind = if allowed.is_some() { VerdictKind::Allowed } else { held(level) };
                    return (kind, Vec::new());
                }
                ByMessages::Misses(findings) => missed.extend(findings.into_iter().map(detail)),
                ByMessages::Open(reason) => open = open.or(Some(reason)),
            }
        }
        match open {
            Some(reason) => not_asked(&reason),
            None => (violated(level), missed),
        }
    }

    /// Returns the number of responses of the client in a step that have the id of no request of the server.
    fn astray(&self, index: usize) -> usize {
        let messages = self.transcript.steps.get(index).map_or(&[][..], |step| step.messages.as_slice());
        let ids = |party, is_request| {
            let own = messages.iter().filter(move |message| message.from == party);
            let read = own.filter_map(|message| Envelope::read(&message.text));
            let of_kind = read.filter(move |one| one.method.is_some() == is_request);
            of_kind.filter_map(|one| one.id.map(|id| id.get().to_owned()))
        };
        let asked: Vec<_> = ids(Party::Harness, true).collect();
        ids(Party::Target, false).filter(|id| !asked.contains(id)).count()
    }

    /// The state of this test as a control: it fails if one of its checks does, or if the server refuses a request.
    fn state(&self, catalogue: &Catalogue) -> ControlState {
        let verdicts = self.verdicts(catalogue, true);
        if verdicts.iter().any(|verdict| verdict.kind.is_broken()) {
            ControlState::Failed
        } else if self.why_not.is_some() || self.transcript.steps.len() < self.test.steps.len() {
            ControlState::NotPerformed
        } else {
            ControlState::Held
        }
    }

    fn record(self, verdicts: Vec<Verdict>) -> (Record, Transcript) {
        let record = Record {
            index: 0,
            target: self.transcript.target.clone(),
            test: self.id.clone(),
            title: self.test.title.clone(),
            hash: String::new(),
            observation: self.observation,
            verdicts,
            attempts: Vec::new(),
            bug: false,
            stdio: None,
            micros: 0,
        };
        (record, self.transcript)
    }
}

/// Returns whether the messages of a client can decide a check of a test.
pub fn is_decidable(test: &Test) -> bool {
    let alternatives = test.checks().flat_map(|check| &check.alternatives);
    why_never(test).is_none() && alternatives.filter(|one| !one.not_asked).any(reads_messages)
}

/// Returns why no check of a test counts in a session, if so.
fn why_not(test: &Test, session: &Session) -> Option<&'static str> {
    if session.is_agreed { why_never(test) } else { Some("the client did not show that it speaks this revision") }
}

/// Returns why no check of a test ever counts, if so.
fn why_never(test: &Test) -> Option<&'static str> {
    let declares = test.steps.iter().find_map(|step| step.declares.as_ref());
    if test.request_timeout.is_some() {
        Some("depends on a time limit that the user of the client sets")
    } else if test.steps.iter().any(|step| matches!(step.when, When::Call { parallel: true, .. })) {
        Some("needs calls that begin at the same time")
    } else if declares.is_some() {
        Some("needs capabilities that the user of the client declares")
    } else {
        None
    }
}

/// Returns whether a check depends on the elicitation that a client declares: its step calls a tool that asks, or it reads
/// capabilities.
fn is_about_elicitation(test: &Test, step: &Step, check: &Check) -> bool {
    let asks = match &step.when {
        When::Call { tool, .. } => {
            let is_wrong = test.given.deviations.iter().any(|deviation| deviation.method == "elicitation/create");
            is_wrong || test.given.tool(tool).is_none_or(|tool| tool.does == Does::Elicit)
        }
        _ => false,
    };
    let words = |schema: &SharedSchema| {
        let text = schema.value().to_string();
        text.contains("apabilities") || text.contains("elicitation")
    };
    let schemas = check.alternatives.iter().flat_map(|one| one.sent.iter().chain(&one.matches));
    asks || schemas.into_iter().any(words)
}

fn answers(step: &Step) -> &[Answer] {
    match &step.when {
        When::Call { answers, .. } => answers,
        _ => &[],
    }
}

/// Returns whether the user of a client answered as the case does, as far as there were questions.
fn fits_answers(wanted: &[Answer], observed: &[AnswerObservation], bindings: &Bindings) -> bool {
    let fits = |(wanted, seen): (&Answer, &AnswerObservation)| match wanted {
        Answer::Accept(content) => {
            let (given, seen_content) = (content.value(bindings), seen.content.as_ref().and_then(|one| one.value()));
            let is_same = |(one, other): (&Value, &Value)| compare::equal(one, other);
            seen.action == Some(Action::Accept) && given.as_ref().zip(seen_content).is_some_and(is_same)
        }
        Answer::AcceptAlone | Answer::AcceptAsPresented => seen.action == Some(Action::Accept),
        Answer::Decline => seen.action == Some(Action::Decline),
        Answer::Cancel => seen.action == Some(Action::Cancel),
        Answer::Raw(_) | Answer::Error { .. } => false,
    };
    observed.len() <= wanted.len() && wanted.iter().zip(observed).all(fits)
}

/// Returns the summary of a session.
fn summary(session: &Session) -> SessionSummary {
    let bounded = |text: &str| text.chars().take(SHOWN).collect::<String>();
    let mut summary = SessionSummary {
        revision: session.revision.filter(|_| session.is_agreed),
        named: session.named.as_deref().map(bounded),
        client: client(session).as_deref().map(bounded),
        capabilities: session.capabilities.as_ref().map(|all| bounded(&all.to_string())),
        ..SessionSummary::default()
    };
    let mut count = |message: &Message| {
        let Some(read) = Envelope::read(&message.text) else {
            summary.unreadable += usize::from(!message.text.is_empty());
            return;
        };
        match (message.from, read.method, read.error) {
            (Party::Target, Some(method), _) => add(&mut summary.methods, bounded(&method)),
            (Party::Harness, None, Some(_)) => summary.refused += 1,
            _ => {}
        }
        let params = read.params.and_then(envelope::members).unwrap_or_default();
        let name = params.get("name").and_then(|name| envelope::scalar::<String>(name));
        if let Some(name) = name.filter(|_| message.from == Party::Target) {
            add(&mut summary.tools, bounded(&name));
        }
    };
    session.messages.iter().for_each(&mut count);
    let from_client = || session.messages.iter().filter(|message| message.from == Party::Target);
    for name in TELLING {
        let mut values: Vec<String> = Vec::new();
        for value in from_client().filter_map(|message| message.header(name)).map(bounded) {
            if !values.contains(&value) && values.len() < LISTED {
                values.push(value);
            }
        }
        summary.headers.extend((!values.is_empty()).then(|| (name.to_owned(), values)));
    }
    summary
}

/// Counts a name, if there are not too many others.
fn add(counts: &mut Vec<(String, usize)>, name: String) {
    match counts.iter().position(|(own, _)| *own == name) {
        Some(place) => counts[place].1 += 1,
        None if counts.len() < LISTED => counts.push((name, 1)),
        None => {}
    }
}

/// Returns the name and the version of the client.
fn client(session: &Session) -> Option<String> {
    let text = |key: &str| session.client.as_ref()?.get(key)?.as_str().map(str::to_owned);
    let parts: Vec<_> = ["name", "version"].into_iter().filter_map(text).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

#[cfg(test)]
mod tests;
