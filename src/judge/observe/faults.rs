//! Sentences of the specification that the messages of a pair violate, by either side.
//!
//! Takes all messages of a session, gives each violation with its side and message. A rule is here only if its violation
//! can be the reason for which the other side refuses something. Must not know expectations.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::jsonrpc::envelope::{self, Envelope, Members};
use crate::judge::flaws::has_invalid_schema;
use crate::judge::messages::{self, Wire};
use crate::judge::rounds::rounds;
use crate::model::case::{Test, When};
use crate::model::observation::{Observed, Params, StateEcho};
use crate::model::pair::{Fault, Rule};
use crate::model::spec::{Lifecycle, Revision, Transport};
use crate::model::transcript::{
    CLOSED, End, LAST_EVENT, Message, Party, SESSION_HEADER, Served, Transcript, VERSION_HEADER,
};

/// The status of a reply to a notification or an answer that the server accepts.
const ACCEPTED: u16 = 202;
/// The status of a reply to a message that the server cannot accept.
const BAD_REQUEST: u16 = 400;
/// Published revisions with a handshake that casebook does not test. A server may name them.
const EARLIER: [&str; 2] = ["2024-11-05", "2025-03-26"];

/// The progress of the handshake.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handshake {
    /// The client did not ask for one.
    None,
    Begun,
    /// The client said that it is initialized.
    Ended,
}

/// A session as far as it was read.
struct Session<'t> {
    test: &'t Test,
    is_http: bool,
    /// The revision for which the server was built.
    served: Revision,
    faults: Vec<Fault>,
    handshake: Handshake,
    /// The revision that the server named in its response to `initialize`.
    agreed: Option<String>,
    /// The revision that the client named.
    named: Option<String>,
    /// The id of the session that the server gave.
    id: Option<String>,
    /// `true` if the client declared elicitation in the handshake.
    elicits: bool,
    /// The revision in the header of the last POST request.
    last_version: Option<String>,
    /// The first GET request without a reply.
    open_get: Option<(usize, usize)>,
    /// `true` if the client resumed a stream, on which a response may come again.
    resumes: bool,
    /// The requests of the client.
    asked: Vec<Asked>,
    /// The places of notifications and answers that the server has not accepted or refused yet.
    sent: VecDeque<(usize, usize)>,
    /// The listed tools with an `outputSchema`.
    typed: BTreeSet<String>,
    /// The states that the server gave for retries of calls that have not ended.
    states: BTreeSet<String>,
}

/// A request of the client.
#[derive(Clone)]
struct Asked {
    /// Its id, as JSON.
    id: String,
    method: String,
    /// The tool that it calls.
    tool: Option<String>,
    /// The state that it has.
    state: Option<String>,
    /// Its step and its index there.
    at: (usize, usize),
}

/// What the messages of a session show of both sides.
pub(super) struct Read {
    /// The violations in the order of the messages: the first one of each rule in each step.
    pub(super) faults: Vec<Fault>,
    /// The revision that the server named in the last handshake.
    pub(super) agreed: Option<Revision>,
    /// The first GET request without a reply, if the pair hung.
    pub(super) silent_stream: Option<(usize, usize)>,
}

/// Reads the messages of a session.
pub(super) fn read(test: &Test, transcript: &Transcript) -> Read {
    let mut session = Session {
        test,
        is_http: transcript.test.transport == Transport::Http,
        served: test.given.revision.unwrap_or(transcript.test.revision),
        faults: Vec::new(),
        handshake: Handshake::None,
        agreed: None,
        named: None,
        id: None,
        elicits: false,
        last_version: None,
        open_get: None,
        resumes: false,
        asked: Vec::new(),
        sent: VecDeque::new(),
        typed: BTreeSet::new(),
        states: BTreeSet::new(),
    };
    for (step, seen) in transcript.steps.iter().enumerate() {
        for (place, message) in seen.messages.iter().enumerate() {
            let envelope = Envelope::read(&message.text).unwrap_or_default();
            let is_close = message.header(":method") == Some(CLOSED);
            let at = (step, place);
            match message.from {
                Party::Target if !is_close => session.of_client(at, message, &envelope),
                Party::Target => {}
                Party::Harness => session.of_server(at, message, &envelope),
            }
        }
        session.of_rounds(step, &Wire::new(seen));
    }
    // A session that ended had no time to open the stream.
    let is_hung = matches!(transcript.served, Served::Failed { end: End::Timeout, .. });
    Read {
        faults: session.faults,
        agreed: session.agreed.and_then(|agreed| agreed.parse().ok()),
        silent_stream: session.open_get.filter(|_| is_hung),
    }
}

impl Session<'_> {
    fn add(&mut self, rule: Rule, (step, message): (usize, usize)) {
        if !self.faults.iter().any(|fault| fault.rule == rule && fault.step == step) {
            self.faults.push(Fault { rule, step, message, is_accepted: false });
        }
    }

    /// Notes that the server accepted a message of the client.
    fn accept(&mut self, (step, message): (usize, usize)) {
        let own = self.faults.iter_mut().filter(|fault| (fault.step, fault.message) == (step, message));
        own.for_each(|fault| fault.is_accepted = true);
    }

    fn of_client(&mut self, at: (usize, usize), message: &Message, envelope: &Envelope<'_>) {
        let params = envelope.params.and_then(envelope::members).unwrap_or_default();
        let meta = member(&params, "_meta").and_then(envelope::members).unwrap_or_default();
        let of_meta = |key: &str| member(&meta, &format!("io.modelcontextprotocol/{key}"));
        let own = of_meta("protocolVersion").and_then(envelope::scalar::<String>);
        let is_post = !self.is_http || message.header(":method") == Some("POST");
        if message.header(":method") == Some("GET") {
            self.open_get.get_or_insert(at);
            self.resumes |= message.header(LAST_EVENT).is_some();
        }
        let method = envelope.method.as_deref().unwrap_or_default();
        let is_request = envelope.method.is_some() && envelope.id.is_some();
        if let (Some(id), true) = (envelope.id, is_request) {
            let tool = text(&params, "name").filter(|_| method == "tools/call");
            let state = text(&params, "requestState");
            // The states of retries with answers are compared with their questions, call by call.
            if !params.contains_key("inputResponses")
                && state.as_ref().is_some_and(|state| !self.states.contains(state))
            {
                self.add(Rule::StateOfRetryAlone, at);
            }
            self.asked.push(Asked { id: id.get().to_owned(), method: method.to_owned(), tool, state, at });
        } else if self.is_http && is_post {
            self.sent.push_back(at);
        }
        if method.starts_with("notifications/") && envelope.id.is_some() {
            self.add(Rule::NotificationHasNoId, at);
        }
        if self.is_http && is_post {
            self.last_version = message.header(VERSION_HEADER).map(str::to_owned);
            let accepts = |kind: &str| {
                let mut lines = message.headers.iter().filter(|(name, _)| name == "accept");
                lines.any(|(_, accept)| accept.contains(kind) || accept.contains("*/*"))
            };
            if !(accepts("application/json") && accepts("text/event-stream")) {
                self.add(Rule::AcceptListsBoth, at);
            }
        }
        let capabilities = match method {
            "initialize" => {
                // A further handshake begins a session anew.
                (self.handshake, self.agreed, self.id) = (Handshake::Begun, None, None);
                self.named = text(&params, "protocolVersion");
                let client = member(&params, "clientInfo").and_then(envelope::members).unwrap_or_default();
                let has_client = ["name", "version"].iter().all(|key| client.contains_key(*key));
                if !has_client || ["protocolVersion", "capabilities"].iter().any(|key| !params.contains_key(*key)) {
                    self.add(Rule::InitializeIsWhole, at);
                }
                member(&params, "capabilities")
            }
            _ => of_meta("clientCapabilities"),
        };
        let declares = capabilities.is_some_and(has_elicitation);
        if method == "initialize" {
            self.elicits = declares;
        }
        let is_stateless = own.as_deref().is_some_and(|own| lifecycle(own) == Some(Lifecycle::Stateless));
        if self.agreed.is_some() && !is_stateless && is_post && method != "initialize" {
            self.of_stateful_client(at, message, envelope, method);
        } else if !self.has_handshake() && is_request && is_post {
            self.of_stateless_client(at, message, &params, own.as_deref(), of_meta("clientCapabilities").is_some());
        }
        if method == "tools/call" && self.wants_answers() {
            let (rule, is_kept) = if self.has_handshake() {
                (Rule::ClientDeclares, self.elicits)
            } else {
                (Rule::DeclaredOnEachRequest, declares)
            };
            if !is_kept {
                self.add(rule, at);
            }
        }
    }

    /// The rules for a client after its handshake.
    fn of_stateful_client(&mut self, at: (usize, usize), message: &Message, envelope: &Envelope<'_>, method: &str) {
        if method == "notifications/initialized" && envelope.id.is_none() {
            self.handshake = Handshake::Ended;
        }
        if self.is_http {
            match (message.header(VERSION_HEADER), &self.agreed) {
                (None, _) => self.add(Rule::NegotiatedHeaderSent, at),
                (Some(sent), Some(agreed)) if sent != agreed => {
                    self.add(Rule::VersionHeaderNegotiated, at);
                }
                _ => {}
            }
            if self.id.is_some() && message.header(SESSION_HEADER) != self.id.as_deref() {
                self.add(Rule::SessionIdSent, at);
            }
        }
        if envelope.id.is_some() && matches!(method, "tools/call" | "tools/list") && self.handshake != Handshake::Ended
        {
            self.add(Rule::InitializedSent, at);
        }
    }

    /// The rules for a client without a handshake.
    fn of_stateless_client(
        &mut self,
        at: (usize, usize),
        message: &Message,
        params: &Members<'_>,
        own: Option<&str>,
        has_capabilities: bool,
    ) {
        if own.is_none() || !has_capabilities {
            return self.add(Rule::FieldsOnEachRequest, at);
        }
        if !self.is_http {
            return;
        }
        match message.header(VERSION_HEADER) {
            None => self.add(Rule::VersionHeaderSent, at),
            Some(sent) if Some(sent) != own => self.add(Rule::VersionHeaderAgrees, at),
            Some(_) => {}
        }
        if message.header("mcp-method").is_none() {
            self.add(Rule::MethodHeaderSent, at);
        }
        if message.header("mcp-name").is_none() && params.contains_key("name") {
            self.add(Rule::NameHeaderSent, at);
        }
    }

    fn of_server(&mut self, at: (usize, usize), message: &Message, envelope: &Envelope<'_>) {
        if !self.is_http && messages::is_stray(message) {
            self.add(Rule::NothingButMessages, at);
        }
        if message.on_get_stream {
            self.open_get = None;
        }
        let result = envelope.members().unwrap_or_default();
        let answered = envelope
            .id
            .filter(|_| envelope.method.is_none())
            .and_then(|id| self.asked.iter().rev().find(|asked| asked.id == id.get()).cloned());
        match &answered {
            Some(asked) if envelope.result.is_some() => self.accept(asked.at),
            // Such a reply has no body. Replies come in the order in which they were asked for, but for those with an id.
            None if message.text.is_empty() && !message.on_get_stream => {
                let sent = self.sent.pop_front();
                sent.filter(|_| message.status == Some(ACCEPTED)).into_iter().for_each(|at| self.accept(at));
            }
            _ => {}
        }
        let method = answered.as_ref().map(|asked| asked.method.as_str());
        // The response can follow other messages on its stream, of which the first one has the headers.
        if self.has_handshake() && self.agreed.is_none() && !message.on_get_stream {
            self.id = message.header(SESSION_HEADER).map(str::to_owned).or(self.id.take());
        }
        if method == Some("initialize") && envelope.error.is_none() {
            self.agreed = Some(text(&result, "protocolVersion").unwrap_or_default());
            let is_visible = |id: &str| !id.is_empty() && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
            if self.id.as_deref().is_some_and(|id| !is_visible(id)) {
                self.add(Rule::SessionIdCharacters, at);
            }
            // A server that was built for one revision may or may not speak others.
            let speaks_named = self.named.as_deref() == Some(self.served.name());
            if speaks_named && self.agreed != self.named {
                self.add(Rule::SameVersion, at);
            } else if !self.agreed.as_deref().is_some_and(has_sessions) {
                self.add(Rule::OtherVersion, at);
            }
            return;
        }
        // The server refuses a message that has the revision which the server itself named.
        let has_agreed = self.agreed.is_some() && self.last_version == self.agreed;
        if has_agreed && message.status == Some(BAD_REQUEST) && !message.on_get_stream && self.is_beyond() {
            self.add(Rule::OtherVersion, at);
        }
        let is_stateless = !self.has_handshake() && self.served.facts().lifecycle == Lifecycle::Stateless;
        if is_stateless && envelope.method.is_some() && envelope.id.is_some() {
            self.add(Rule::NoRequestsToTheClient, at);
        }
        if messages::has_null_id(envelope, &message.text) {
            self.add(Rule::IdNotNull, at);
        }
        if answered.is_some() && message.on_get_stream && self.has_handshake() && !self.resumes {
            self.add(Rule::GetStreamNoResponse, at);
        }
        if method == Some("tools/list") {
            let tools = member(&result, "tools");
            if tools.is_some_and(has_invalid_schema) {
                self.add(Rule::SchemaIsValid, at);
            }
            self.typed.extend(tools.map(typed).unwrap_or_default());
        } else if method != Some("tools/call") {
            return;
        }
        if is_stateless && envelope.result.is_some() && !result.contains_key("resultType") {
            self.add(Rule::ResultType, at);
        }
        if text(&result, "resultType").as_deref() == Some("input_required") {
            self.states.extend(text(&result, "requestState"));
        } else if let Some(state) = answered.as_ref().and_then(|asked| asked.state.as_ref()) {
            self.states.remove(state);
        }
        let structured = member(&result, "structuredContent");
        if self.has_handshake() && structured.is_some_and(|value| !value.get().trim_start().starts_with('{')) {
            self.add(Rule::ObjectBefore2026, at);
        }
        let is_typed = answered.and_then(|asked| asked.tool).is_some_and(|tool| self.typed.contains(&tool));
        let is_error = member(&result, "isError").and_then(envelope::scalar) == Some(true);
        if is_typed && structured.is_none() && result.contains_key("content") && !is_error {
            self.add(Rule::OutputPresent, at);
        }
    }

    /// The rules about the requests of one call.
    fn of_rounds(&mut self, step: usize, wire: &Wire<'_>) {
        let mut call = wire.of(Party::Target).filter(|(_, one)| one.method.as_deref() == Some("tools/call"));
        let Some(last) = call.next_back().map(|(place, _)| place) else { return };
        for round in rounds(wire).iter().filter_map(Observed::value) {
            let rule = match (round.state, round.fresh_id, round.params) {
                (StateEcho::Changed | StateEcho::Dropped, ..) => Rule::StateEchoed,
                (StateEcho::Invented, ..) => Rule::NoStateInvented,
                (_, false, _) => Rule::RetryHasNewId,
                (_, _, Params::Changed) => Rule::OriginalRetried,
                _ => continue,
            };
            self.add(rule, (step, last));
        }
    }

    /// Returns whether the client asked for a handshake.
    fn has_handshake(&self) -> bool {
        self.handshake != Handshake::None
    }

    /// Returns whether the server named a revision that is newer than the one it was built for.
    fn is_beyond(&self) -> bool {
        let agreed = self.agreed.as_deref().and_then(|agreed| agreed.parse::<Revision>().ok());
        agreed.is_some_and(|agreed| agreed > self.served)
    }

    /// Returns whether the user of the client answers questions in this test.
    fn wants_answers(&self) -> bool {
        self.test.steps.iter().any(|step| matches!(&step.when, When::Call { answers, .. } if !answers.is_empty()))
    }
}

/// Returns the names of the listed tools that have an `outputSchema`.
fn typed(tools: &RawValue) -> BTreeSet<String> {
    let tools = envelope::items(tools).unwrap_or_default().into_iter().filter_map(envelope::members);
    tools.filter(|tool| tool.contains_key("outputSchema")).filter_map(|tool| text(&tool, "name")).collect()
}

fn member<'a>(members: &Members<'a>, key: &str) -> Option<&'a RawValue> {
    members.get(key).copied()
}

fn text(members: &Members<'_>, key: &str) -> Option<String> {
    member(members, key).and_then(envelope::scalar)
}

/// Returns whether capabilities declare elicitation, in a form that the specification knows.
fn has_elicitation(capabilities: &RawValue) -> bool {
    let read: Option<Value> = serde_json::from_str(capabilities.get()).ok();
    let elicitation = read.as_ref().and_then(|all| all.get("elicitation"));
    let is_mode = |mode: &Value| mode.is_object();
    match elicitation {
        Some(Value::Object(modes)) => modes.values().all(is_mode),
        _ => false,
    }
}

/// Returns whether a revision has a handshake.
fn has_sessions(name: &str) -> bool {
    EARLIER.contains(&name) || lifecycle(name) == Some(Lifecycle::Stateful)
}

fn lifecycle(name: &str) -> Option<Lifecycle> {
    name.parse::<Revision>().ok().map(|revision| revision.facts().lifecycle)
}

#[cfg(test)]
mod tests;
