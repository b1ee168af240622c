//! Observations: reduces a transcript to the closed vocabulary of [`Observation`].
//!
//! Takes a test and its transcript, gives an observation without ports, ids and times. Must not know expectations, nor
//! which behaviour is right.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use handshake::Handshakes;

use super::compare;
use super::flaws::{Flaws, flaws};
use super::ids::ids;
use super::messages::{self, Wire};
use super::places::Names;
use super::rounds::rounds;
use super::{asked, beside, calls, events, replies, types};
use crate::jsonrpc::envelope::{self, Envelope, Members};
use crate::jsonrpc::{ambiguity, pointer};
use crate::model::action::Asks;
use crate::model::applicability::Applicability;
use crate::model::case::{CanaryState, Does, Flaw, Outcome, Step, Test, TimeClass, Tool, When, With};
use crate::model::observation::{
    AdvertisedTool, FaultyMessage, Observation, Observed, Parts, SizeClass, StepObservation,
};
use crate::model::spec::{Role, Transport};
use crate::model::template::{Canary, Template};
use crate::model::transcript::{End, Hit, Message, Party, Served, StepTranscript, Transcript};

/// The characters of an error's text that are kept.
const SAID: usize = 300;
/// The codes "invalid params" and "method not found", with which servers answer a call of an unknown tool.
const NOT_OFFERED: [i64; 2] = [-32602, -32601];

/// Reduces a transcript to an observation.
pub fn observe(test: &Test, transcript: &Transcript) -> Observation {
    let mut observation =
        Observation { steps: Vec::new(), cannot: None, unavailable: None, leaky: transcript.leaky, cut: 0 };
    // The user of a pair is the user of its client.
    let role = if test.role == Role::Pair { Role::Client } else { test.role };
    let observer = Observer::new(test, role, transcript);
    match &transcript.served {
        Served::Cannot { reason } => observation.cannot = Some(observer.excerpt(reason)),
        Served::Unavailable { reason } | Served::Broken { reason } => {
            observation.unavailable = Some(observer.excerpt(reason));
        }
        Served::Refused { r#type, message } => {
            let refused = observer.unserved(Outcome::Refused, &format!("{type}: {message}"));
            observation.steps = observer.in_place_of_all(&refused);
        }
        Served::Failed { end, detail } => {
            let failed = observer.unserved(ended(end).unwrap_or(Outcome::Crash), detail);
            observation.steps = observer.in_place_of_all(&failed);
        }
        Served::Serving => observation.steps = observer.steps(),
    }
    match test.role {
        Role::Pair => relayed::add(test, transcript, &mut observation),
        Role::Client => malformed::mark(transcript, &mut observation),
        Role::Server => {}
    }
    observation
}

/// The outcome of a step that ends in this way; `None` if its reply decides.
fn ended(end: &End) -> Option<Outcome> {
    Some(match end {
        End::Replied { .. } | End::Handed => return None,
        End::Accepted => Outcome::Accepted,
        End::Unanswered => Outcome::InputRequired,
        End::Empty => Outcome::EmptyReply,
        End::Http { .. } => Outcome::HttpError,
        End::Invalid { .. } => Outcome::InvalidMessage,
        End::Oversized => Outcome::Oversized,
        End::Timeout => Outcome::Timeout,
        End::Crash { .. } => Outcome::Crash,
    })
}

struct Observer<'a> {
    test: &'a Test,
    /// The side whose behaviour is observed.
    role: Role,
    transcript: &'a Transcript,
    names: Names,
    handshakes: OnceCell<Handshakes>,
}

impl<'a> Observer<'a> {
    fn new(test: &'a Test, role: Role, transcript: &'a Transcript) -> Self {
        let names = Names::new(test, &transcript.bindings);
        Self { test, role, transcript, names, handshakes: OnceCell::new() }
    }

    fn steps(&self) -> Vec<StepObservation> {
        let wires: Vec<_> = self.transcript.steps.iter().map(Wire::new).collect();
        let begun = self.test.steps.iter().zip(&self.transcript.steps).zip(&wires);
        let mut steps: Vec<_> = begun.map(|((step, seen), wire)| self.step(step, seen, wire)).collect();
        for (step, seen) in self.test.steps.iter().zip(&mut steps) {
            if self.is_hidden(step, seen) {
                seen.outcome = Outcome::Hidden;
            }
        }
        if let Some(first) = steps.first_mut() {
            first.stray = self.stray(&self.transcript.opening).or_else(|| first.stray.take());
            first.not_utf8 |= self.is_not_utf8(&self.transcript.opening);
            let opening = self.mistyped(&Wire::of_all(&self.transcript.opening));
            let opening = opening.map(|one| one.map(|one| FaultyMessage { place: None, ..one }));
            first.mistyped = opening.or_else(|| first.mistyped.take());
        }
        lists::compare(self.test, self.transcript, &wires, &mut steps);
        if self.role == Role::Server && self.test.steps.iter().any(events::are_kept) {
            let mut used = BTreeSet::new();
            for ((step, seen), observed) in self.test.steps.iter().zip(&self.transcript.steps).zip(&mut steps) {
                let found = events::events(step, seen, &mut used);
                observed.events = found.into_iter().map(|event| self.named(event)).collect();
            }
        }
        // A pair has two targets.
        if self.test.role != Role::Pair {
            for (observed, found) in steps.iter_mut().zip(beside::beside(self.role, self.transcript, &wires)) {
                observed.beside = found;
            }
        }
        for (observed, ids) in steps.iter_mut().zip(ids(&self.transcript.opening, &wires)) {
            observed.repeated_id = ids.are_repeated;
            // The session of a server outlasts a test, so that it may cancel a request of an earlier one.
            observed.cancelled_unknown = ids.cancelled_unknown.filter(|_| self.role == Role::Client);
        }
        // After such an outcome the session can go on.
        let goes_on = |last: &Outcome| {
            matches!(last, Outcome::Success | Outcome::ToolError | Outcome::Accepted | Outcome::InputRequired)
        };
        let outcome = steps.last().map(|step| step.outcome).filter(|last| !goes_on(last)).unwrap_or(Outcome::Crash);
        let missing = self.test.steps.len().saturating_sub(steps.len());
        let not_begun = StepObservation { not_begun: true, ..self.unserved(outcome, super::NOT_BEGUN) };
        steps.extend(std::iter::repeat_n(not_begun, missing));
        steps
    }

    /// A step without a session.
    fn unserved(&self, outcome: Outcome, said: &str) -> StepObservation {
        let mut step = blank(outcome, self.transcript.micros);
        step.said = Some(self.excerpt(said));
        self.canaries(&self.transcript.canary, || said.contains(Canary::MARKER), &mut step);
        step
    }

    /// The same observation for each step, with the messages that a client sent before it was refused.
    fn in_place_of_all(&self, step: &StepObservation) -> Vec<StepObservation> {
        let mut steps = vec![step.clone(); self.test.steps.len()];
        for ((step, seen), observed) in self.test.steps.iter().zip(&self.transcript.steps).zip(&mut steps) {
            let wire = Wire::new(seen);
            observed.sent = self.sent(step, seen, &wire);
            observed.split = messages::is_split(&seen.messages);
            observed.mistyped = self.mistyped(&wire);
            observed.unread = unread(step, seen, &wire);
        }
        steps
    }

    fn sent(&self, step: &Step, seen: &StepTranscript, wire: &Wire<'_>) -> Vec<Parts> {
        if self.role != Role::Client || !step.then.looks_into_messages() {
            return Vec::new();
        }
        let handshakes = self.handshakes.get_or_init(|| Handshakes::of(self.transcript));
        let index = self.transcript.steps.iter().position(|one| std::ptr::eq(one, seen)).unwrap_or_default();
        let described = |(place, message): (usize, &Message)| {
            let mut parts = self.named_parts(messages::whole(message));
            let phase = handshakes.phase((index, place));
            parts.extend(phase.map(|phase| ("handshake".to_owned(), Observed::Value(phase.word().into()))));
            parts
        };
        sent(step, seen, wire).map(described).collect()
    }

    /// Returns the first line that a server wrote to its standard output and that is no message.
    fn stray(&self, messages: &[Message]) -> Option<String> {
        let is_stdio = self.role == Role::Server && self.transcript.test.transport == Transport::Stdio;
        let is_stray = |line: &&Message| line.from == Party::Target && messages::is_stray(line);
        let line = messages.iter().filter(|_| is_stdio).find(is_stray)?;
        Some(self.excerpt(&line.text))
    }

    /// Returns whether a message of the target is not encoded as UTF-8. A compressed body is another matter.
    fn is_not_utf8(&self, messages: &[Message]) -> bool {
        let is_undecoded = |message: &Message| {
            message.from == Party::Target
                && messages::is_undecoded(message)
                && message.header("content-encoding").is_none()
        };
        self.test.role != Role::Pair && messages.iter().any(is_undecoded)
    }

    /// The first message that has another type than the schema of the revision gives it. A pair has two targets.
    fn mistyped(&self, wire: &Wire<'_>) -> Option<Observed<FaultyMessage>> {
        if self.test.role == Role::Pair { None } else { types::mistyped(self.transcript.test.revision, wire) }
    }

    fn step(&self, step: &Step, seen: &StepTranscript, wire: &Wire<'_>) -> StepObservation {
        let from_target = || seen.messages.iter().filter(|message| message.from == Party::Target);
        let mut observed = blank(ended(&seen.end).unwrap_or(Outcome::InvalidMessage), seen.micros);
        let has_marker = |text: &str| text.contains(Canary::MARKER);
        let is_disclosed =
            || seen.handed.as_deref().is_some_and(has_marker) || from_target().any(|message| has_marker(&message.text));
        self.canaries(self.transcript.hits(seen), is_disclosed, &mut observed);
        observed.asked = asked::asked(self.role, wire).into_iter().map(|params| self.named(params)).collect();
        observed.undeclared = asked::undeclared(self.role, wire, step.declares.as_ref());
        observed.answered = asked::answered(self.role, wire);
        for answer in &mut observed.answered {
            answer.content = answer.content.take().map(|content| self.named(content));
        }
        observed.get_stream = asked::on_get_stream(&seen.messages, wire);
        observed.stray = self.stray(&seen.messages);
        observed.mistyped = self.mistyped(wire);
        observed.split = messages::is_split(&seen.messages);
        observed.not_utf8 = self.is_not_utf8(&seen.messages);
        observed.endless = messages::repeated_page(wire);
        observed.sent = self.sent(step, seen, wire);
        observed.unread = unread(step, seen, wire);
        if let Some(handed) = &seen.handed {
            observed.size = SizeClass::of(handed.len());
            observed.rounds = rounds(wire);
            if step.then.looks_into_messages() {
                let answer = Parts::from([("message".to_owned(), messages::kept_text(handed))]);
                observed.replies = vec![self.named_parts(answer)];
            }
            observed.outcome = self.user_outcome(step, wire, handed, &mut observed);
            return observed;
        }
        let reply = match &seen.end {
            End::Replied { message } => seen.messages.get(*message),
            _ => from_target().next_back(),
        };
        observed.status = match &seen.end {
            End::Http { status } => Some(*status),
            _ => reply.and_then(|reply| reply.status),
        };
        let size = from_target().map(|message| message.cut_from.unwrap_or(message.text.len() as u64)).max();
        observed.size = SizeClass::of(usize::try_from(size.unwrap_or(0)).unwrap_or(usize::MAX));
        if self.role == Role::Server && step.then.looks_into_messages() {
            observed.reply_places = replies::replies(seen, wire);
            let replies = observed.reply_places.iter().map(|place| &seen.messages[*place]);
            observed.replies = replies.map(|one| self.named_parts(messages::replied(one))).collect();
        }
        if let When::CallEach { with, .. } = step.when {
            return self.call_each(with, step, seen, wire, observed);
        }
        if let When::AtOnce(calls) = &step.when {
            self.at_once(calls, seen, wire, &mut observed);
        }
        match &seen.end {
            End::Replied { message } if reply.is_some() => {
                self.reply(step, wire, *message, &mut observed);
                let sent = calls::sent_arguments(wire).map(|arguments| self.named(messages::kept(arguments)));
                let schema = || calls::input_schema(self.test, step.when.tool()?, &self.transcript.bindings);
                observed.converted = calls::is_converted(sent.as_ref(), observed.saw.as_ref(), schema);
            }
            End::Accepted if matches!(step.when, When::Serve) => observed.outcome = Outcome::Success,
            End::Invalid { reason: words } | End::Crash { how: words } => observed.said = Some(self.excerpt(words)),
            _ => {}
        }
        observed.unopened = self.is_unopened(wire, observed.outcome);
        observed
    }

    /// Returns whether the handshake before a step ended with an error or a message that is none, and the step sent nothing
    /// else. The error can be due to the fixture, unless the test needs none, and in a test that sends the first message of
    /// the connection itself, the handshake is a part of the question.
    fn is_unopened(&self, wire: &Wire<'_>, outcome: Outcome) -> bool {
        let is_unusable = matches!(outcome, Outcome::ProtocolError | Outcome::HttpError | Outcome::InvalidMessage);
        let is_handshake = |method: &str| method == "initialize";
        let mut sent = wire.of(Party::Harness).filter_map(|(_, envelope)| envelope.method.as_deref()).peekable();
        let is_own = self.test.opens(self.transcript.test.revision);
        let needs_fixture = self.test.reach == Applicability::AdapterOnly;
        self.test.role == Role::Server
            && !needs_fixture
            && is_unusable
            && !is_own
            && sent.peek().is_some()
            && sent.all(is_handshake)
    }

    /// Calls of all tools, of which single ones may fail. The step is a success if the tools are listed, and if each
    /// call is over.
    fn call_each(
        &self,
        with: With,
        step: &Step,
        seen: &StepTranscript,
        wire: &Wire<'_>,
        mut observed: StepObservation,
    ) -> StepObservation {
        observed.calls = calls::calls(self.transcript.test.revision, with, wire);
        let has_called = messages::answers(wire).iter().any(|answer| answer.method != messages::LIST);
        match &seen.end {
            End::Replied { .. } if has_called => observed.outcome = Outcome::Success,
            End::Replied { message } => self.reply(step, wire, *message, &mut observed),
            End::Invalid { reason: words } | End::Crash { how: words } => observed.said = Some(self.excerpt(words)),
            _ => {}
        }
        // The last call is not the one that a status would be about.
        observed.status = observed.status.filter(|_| !has_called);
        observed
    }

    fn reply(&self, step: &Step, wire: &Wire<'_>, message: usize, observed: &mut StepObservation) {
        if let Some(envelope) = wire.at(message) {
            self.response(step.when.asks(&self.test.given), wire, envelope, observed);
        }
    }

    /// Records the response to a request. The outcome stays as it is if there is neither a result nor an error.
    fn response(&self, asks: Asks<'_>, wire: &Wire<'_>, envelope: &Envelope<'_>, observed: &mut StepObservation) {
        if let (Some(error), None) = (envelope.error, envelope.result) {
            observed.outcome = Outcome::ProtocolError;
            observed.code = envelope::code(error);
            let error = envelope::members(error).unwrap_or_default();
            let words: Option<String> = error.get("message").and_then(|message| envelope::scalar(message));
            observed.said = words.map(|words| self.excerpt(&words));
        } else if let (Some(result), None) = (envelope.members(), envelope.error) {
            observed.outcome = self.result(asks, wire, &result, observed).unwrap_or(Outcome::InvalidMessage);
        }
    }

    /// The outcome of a result; `None` if the result does not have the shape of an answer to the request.
    fn result(
        &self,
        asks: Asks<'_>,
        wire: &Wire<'_>,
        result: &Members<'_>,
        observed: &mut StepObservation,
    ) -> Option<Outcome> {
        let kind: Option<String> = result.get("resultType").and_then(|kind| envelope::scalar(kind));
        if kind.as_deref() == Some("input_required") {
            return Some(Outcome::InputRequired);
        }
        match asks {
            Asks::Nothing | Asks::Other => Some(Outcome::Success),
            Asks::CallEach => envelope::items(result.get("tools")?).map(|_| Outcome::Success),
            Asks::List => {
                envelope::items(result.get("tools")?)?;
                observed.advertised = self.advertised(wire)?;
                self.look_for_flaws(wire, observed)?;
                Some(Outcome::Success)
            }
            Asks::Call(tool) => self.call(tool, result, observed),
        }
    }

    fn call(&self, tool: Option<&Tool>, result: &Members<'_>, observed: &mut StepObservation) -> Option<Outcome> {
        let structured = result.get("structuredContent").map(|raw| messages::kept(raw));
        let texts = messages::texts(result);
        observed.text = calls::text_state(result);
        observed.structured = structured.map(|value| self.named(value));
        let failed = result.get("isError").map_or(Some(false), |raw| envelope::scalar(raw))?;
        let texts = texts?;
        if failed {
            observed.said = texts.iter().flatten().next().map(|text| self.excerpt(text));
            return Some(Outcome::ToolError);
        }
        if tool.is_some_and(|tool| matches!(tool.does, Does::Echo | Does::Elicit | Does::Log | Does::Progress)) {
            observed.saw.clone_from(&observed.structured);
        }
        Some(Outcome::Success)
    }

    /// The tools of all pages, each compared with the fixture's; `None` if a page is not a list of tools.
    fn advertised(&self, wire: &Wire<'_>) -> Option<BTreeMap<String, AdvertisedTool>> {
        let mut first: BTreeMap<String, Members<'_>> = BTreeMap::new();
        for (name, tool) in messages::listed(wire)? {
            first.extend(name.filter(|name| !first.contains_key(name)).map(|name| (name, tool)));
        }
        Some(self.compare_tools(&first))
    }

    /// Records the schemas and the flaws of the tools of a server whose schemas are not those of a fixture.
    fn look_for_flaws(&self, wire: &Wire<'_>, observed: &mut StepObservation) -> Option<()> {
        if !matches!(self.test.reach, Applicability::FixedOnly(_)) && !self.test.given.is_typed() {
            return Some(());
        }
        let mut names = BTreeSet::new();
        for (name, tool) in messages::listed(wire)? {
            let is_twice = name.clone().is_some_and(|name| !names.insert(name));
            let Flaws { found, possible } = flaws(&tool);
            if let Some(name) = name.as_ref().filter(|name| self.test.given.tool(name).is_some_and(Tool::is_typed)) {
                let schema = |key: &str| Some((key.to_owned(), self.named(messages::kept(tool.get(key)?))));
                let schemas = ["inputSchema", "outputSchema"].into_iter().filter_map(schema);
                observed.listed.insert(name.clone(), schemas.collect());
            }
            observed.possible_flaws.extend(possible);
            observed.possible_flaws.extend((names.len() > 1).then_some(Flaw::ListedTwice));
            let found = found.into_iter().chain(is_twice.then_some(Flaw::ListedTwice));
            // A tool without a name has flaws as well.
            observed.tools.entry(name.unwrap_or_default()).or_default().extend(found);
        }
        Some(())
    }

    /// The listed tools, each compared with the fixture's.
    fn compare_tools(&self, listed: &BTreeMap<String, Members<'_>>) -> BTreeMap<String, AdvertisedTool> {
        let mut advertised = BTreeMap::new();
        for tool in &self.test.given.tools {
            if let Some(wire) = listed.get(&tool.name)
                && !advertised.contains_key(&tool.name)
            {
                // The SDK derives the schemas of code, so that there is nothing to compare them with.
                let compared = if tool.is_typed() { AdvertisedTool::default() } else { self.compare_tool(tool, wire) };
                advertised.insert(tool.name.clone(), compared);
            }
        }
        advertised
    }

    /// Compares a listed tool with the tool of the fixture.
    fn compare_tool(&self, tool: &Tool, wire: &Members<'_>) -> AdvertisedTool {
        let mut found = AdvertisedTool::default();
        let Template::Object(given) = &tool.definition else { return found };
        let keys: BTreeSet<&str> =
            given.iter().map(|(key, _)| key.as_str()).chain(wire.keys().map(String::as_str)).collect();
        // The name was compared to find the tool, and the code of a tool is not listed.
        for key in keys.into_iter().filter(|key| !matches!(*key, "name" | "does")) {
            let given = tool.definition.get(key).filter(|given| **given != Template::Absent);
            let given = given.map(|given| given.render(&self.transcript.bindings));
            let wire = wire.get(key).map(|wire| wire.get());
            if given.as_deref() == wire {
                continue;
            }
            let place = pointer::below("", key);
            if given.is_none() {
                // Of a member that the fixture does not have, only the presence counts.
                compare::member(None, Some(&serde_json::Value::Null), place, &mut found);
                continue;
            }
            let tree = |text: Option<&str>| text.map(messages::kept_text);
            let (given, wire) = (tree(given.as_deref()), tree(wire));
            if let Some(reason) = [&given, &wire].into_iter().flatten().find_map(Observed::reason) {
                found.unreadable = Some(reason.to_owned());
            } else {
                let value = |one: &'_ Option<Observed>| one.as_ref().and_then(Observed::value).cloned();
                compare::member(value(&given).as_ref(), value(&wire).as_ref(), place, &mut found);
            }
        }
        compare::bound(&mut found);
        for list in [&mut found.removed, &mut found.added, &mut found.changed] {
            for pointer in list {
                *pointer = self.names.text(pointer);
            }
        }
        found
    }

    /// Returns whether a call failed for a tool of the fixture that a list of the same session does not have.
    fn is_hidden(&self, step: &Step, observed: &StepObservation) -> bool {
        let Asks::Call(Some(tool)) = step.when.asks(&self.test.given) else { return false };
        let not_offered = match self.role {
            Role::Server => {
                let code = observed.code.is_some_and(|code| NOT_OFFERED.contains(&code));
                observed.outcome == Outcome::ProtocolError && code
            }
            Role::Client | Role::Pair => observed.outcome == Outcome::Refused,
        };
        not_offered && self.lists().any(|listed| !listed.contains_key(&tool.name))
    }

    /// The tools of each list of the session.
    fn lists(&self) -> impl Iterator<Item = BTreeMap<String, AdvertisedTool>> {
        let begun = self.test.steps.iter().zip(&self.transcript.steps);
        let lists = begun.filter(|(step, _)| matches!(step.when.asks(&self.test.given), Asks::List));
        lists.filter_map(|(_, seen)| match &seen.end {
            End::Replied { .. } => {
                Some(Wire::new(seen)).filter(messages::has_list).and_then(|wire| self.advertised(&wire))
            }
            End::Handed => self.tools_of_user(seen.handed.as_deref()?),
            _ => None,
        })
    }

    /// Records the state of the canaries, in a test that has some.
    fn canaries(&self, hits: &[Hit], is_disclosed: impl FnOnce() -> bool, observed: &mut StepObservation) {
        if self.transcript.bindings.canaries.is_empty() {
            return;
        }
        observed.fetches = hits.len() as u64;
        observed.canary = Some(match hits {
            [] => CanaryState::Untouched,
            _ if is_disclosed() => CanaryState::Disclosed,
            _ => CanaryState::Touched,
        });
    }

    fn named(&self, value: Observed) -> Observed {
        value.map(|value| self.names.value(value))
    }

    fn named_parts(&self, parts: Parts) -> Parts {
        parts.into_iter().map(|(name, part)| (name, self.named(part))).collect()
    }

    fn excerpt(&self, words: &str) -> String {
        self.names.text(words).chars().take(SAID).collect()
    }
}

/// The messages that a client sent in a step. The handshake belongs to `serve`; any other step begins with its request.
fn sent<'w>(
    step: &'w Step,
    seen: &'w StepTranscript,
    wire: &'w Wire<'_>,
) -> impl Iterator<Item = (usize, &'w Message)> + 'w {
    let own = step.when.method();
    let is_own = move |place: usize, message: &Message| {
        let is_called = |own| wire.at(place).is_some_and(|it| it.method.as_deref() == Some(own));
        own.is_none_or(is_called) || messages::doubt(message).is_some()
    };
    let from_client = seen.messages.iter().enumerate().filter(|(_, message)| message.from == Party::Target);
    from_client.skip_while(move |(place, message)| !is_own(*place, message))
}

/// The reason why some of the target's messages of a step cannot be read; `None` if all can.
fn unread(step: &Step, seen: &StepTranscript, wire: &Wire<'_>) -> Option<String> {
    let mut from_target = seen.messages.iter().filter(|message| message.from == Party::Target);
    let of_end = match &seen.end {
        End::Invalid { .. } => Some("something that is no message of the protocol".to_owned()),
        End::Oversized => Some("more than is read".to_owned()),
        // casebook reads a limited number of pages, and follows only valid cursors.
        End::Replied { .. } if matches!(step.when, When::List) && messages::goes_on(wire) => {
            Some("a list that goes on where no page was asked for".to_owned())
        }
        _ => None,
    };
    let of_handed = || seen.handed.as_deref().and_then(ambiguity::of_strings).map(str::to_owned);
    from_target.find_map(messages::doubt).or(of_end).or_else(of_handed)
}

/// A step with this outcome and duration, and nothing else.
pub(super) fn blank(outcome: Outcome, micros: u64) -> StepObservation {
    StepObservation {
        outcome,
        not_begun: false,
        code: None,
        status: None,
        advertised: BTreeMap::new(),
        tools: BTreeMap::new(),
        listed: BTreeMap::new(),
        possible_flaws: BTreeSet::new(),
        calls: BTreeMap::new(),
        at_once: Vec::new(),
        saw: None,
        structured: None,
        text: None,
        asked: Vec::new(),
        answered: Vec::new(),
        rounds: Vec::new(),
        stray: None,
        mistyped: None,
        not_utf8: false,
        endless: None,
        get_stream: BTreeSet::new(),
        events: Vec::new(),
        varies: None,
        repeated_id: false,
        split: false,
        converted: false,
        cancelled_unknown: None,
        beside: BTreeMap::new(),
        undeclared: None,
        unopened: false,
        malformed: false,
        replies: Vec::new(),
        reply_places: Vec::new(),
        sent: Vec::new(),
        unread: None,
        canary: None,
        fetches: 0,
        // The time limit of a test may be shorter than the longest class.
        took: if outcome == Outcome::Timeout { TimeClass::Endless } else { TimeClass::of(micros) },
        size: SizeClass::Small,
        said: None,
        relayed: None,
    }
}

mod at_once;
mod client;
mod faults;
mod handshake;
mod lists;
mod malformed;
mod relayed;
#[cfg(test)]
mod tests;
