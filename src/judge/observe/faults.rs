//! Sentences of the specification that the messages of a pair violate, by either side.
//!
//! Takes all messages of a session, gives each violation with its side and message. A rule is here only if its violation
//! can be the reason for which the other side refuses something. Must not know expectations.

use serde_json::Value;

use crate::jsonrpc::envelope::{self, Envelope, Members};
use crate::judge::messages::Wire;
use crate::judge::rounds::rounds;
use crate::model::case::{Test, When};
use crate::model::observation::{Observed, Params, StateEcho};
use crate::model::pair::{Fault, Rule};
use crate::model::spec::{Lifecycle, Revision, Transport};
use crate::model::transcript::{CLOSED, End, Message, Party, SESSION_HEADER, Served, Transcript, VERSION_HEADER};

/// The least status of an HTTP reply that is an error.
pub(super) const HTTP_ERROR: u16 = 400;

/// A session as far as it was read.
struct Session<'t> {
    test: &'t Test,
    is_http: bool,
    faults: Vec<Fault>,
    /// The revision that the server named in its response to `initialize`.
    agreed: Option<String>,
    /// The revision that the client named.
    named: Option<String>,
    /// The id of the session that the server gave.
    id: Option<String>,
    is_initialized: bool,
    /// `true` if the client declared elicitation.
    elicits: bool,
    /// The first GET request without a reply.
    open_get: Option<(usize, usize)>,
    /// The ids of the client's requests, as JSON, with their methods.
    asked: Vec<(String, String)>,
}

/// Returns the violations of a session, in the order of the messages.
pub(super) fn faults(test: &Test, transcript: &Transcript) -> Vec<Fault> {
    let mut session = Session {
        test,
        is_http: transcript.test.transport == Transport::Http,
        faults: Vec::new(),
        agreed: None,
        named: None,
        id: None,
        is_initialized: false,
        elicits: false,
        open_get: None,
        asked: Vec::new(),
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
    if let Some(at) = session.open_get.filter(|_| is_hung) {
        session.add(Rule::GetOpensOrRefuses, at);
    }
    session.faults
}

impl Session<'_> {
    fn add(&mut self, rule: Rule, (step, message): (usize, usize)) {
        if !self.faults.iter().any(|fault| fault.rule == rule) {
            self.faults.push(Fault { rule, step, message });
        }
    }

    fn of_client(&mut self, at: (usize, usize), message: &Message, envelope: &Envelope<'_>) {
        let params = envelope.params.and_then(envelope::members).unwrap_or_default();
        let meta = member(&params, "_meta").and_then(envelope::members).unwrap_or_default();
        let of_meta = |key: &str| member(&meta, &format!("io.modelcontextprotocol/{key}"));
        let own = of_meta("protocolVersion").and_then(envelope::scalar::<String>);
        let is_post = !self.is_http || message.header(":method") == Some("POST");
        if message.header(":method") == Some("GET") {
            self.open_get.get_or_insert(at);
        }
        let method = envelope.method.as_deref().unwrap_or_default();
        let is_request = envelope.method.is_some() && envelope.id.is_some();
        if let (Some(id), true) = (envelope.id, is_request) {
            self.asked.push((id.get().to_owned(), method.to_owned()));
        }
        if method.starts_with("notifications/") && envelope.id.is_some() {
            self.add(Rule::NotificationHasNoId, at);
        }
        if self.is_http && is_post {
            let accept = message.header("accept").unwrap_or_default();
            let accepts = |kind: &str| accept.contains(kind) || accept.contains("*/*");
            if !(accepts("application/json") && accepts("text/event-stream")) {
                self.add(Rule::AcceptListsBoth, at);
            }
        }
        let capabilities = match method {
            "initialize" => {
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
        self.elicits |= capabilities.is_some_and(has_elicitation);
        let is_stateless = own.as_deref().is_some_and(|own| lifecycle(own) == Some(Lifecycle::Stateless));
        if self.agreed.is_some() && !is_stateless && is_post {
            self.of_stateful_client(at, message, envelope, method);
        } else if self.agreed.is_none() && method != "initialize" && is_request && is_post {
            self.of_stateless_client(at, message, &params, own.as_deref(), of_meta("clientCapabilities").is_some());
        }
        if method == "tools/call" && !self.elicits && self.wants_answers() {
            let rule = match self.agreed {
                Some(_) => Rule::ClientDeclares,
                None => Rule::DeclaredOnEachRequest,
            };
            self.add(rule, at);
        }
    }

    /// The rules for a client after its handshake.
    fn of_stateful_client(&mut self, at: (usize, usize), message: &Message, envelope: &Envelope<'_>, method: &str) {
        if method == "notifications/initialized" && envelope.id.is_none() {
            self.is_initialized = true;
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
        if envelope.id.is_some() && matches!(method, "tools/call" | "tools/list") && !self.is_initialized {
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
        if message.on_get_stream {
            self.open_get = None;
        }
        let result = envelope.members().unwrap_or_default();
        let answered = envelope
            .id
            .filter(|_| envelope.method.is_none())
            .and_then(|id| self.asked.iter().rev().find(|(own, _)| own == id.get()).map(|(_, method)| method.clone()));
        if answered.as_deref() == Some("initialize") && envelope.error.is_none() {
            self.agreed = text(&result, "protocolVersion");
            self.id = message.header(SESSION_HEADER).map(str::to_owned);
            let is_visible = |id: &str| !id.is_empty() && id.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
            if self.id.as_deref().is_some_and(|id| !is_visible(id)) {
                self.add(Rule::SessionIdCharacters, at);
            }
            let served = self.test.given.revision;
            let speaks_named = served.is_none() && self.named.as_deref().is_some_and(is_known);
            if speaks_named && self.agreed != self.named {
                self.add(Rule::SameVersion, at);
            } else if self.agreed.as_deref().and_then(lifecycle) != Some(Lifecycle::Stateful) {
                self.add(Rule::OtherVersion, at);
            }
            return;
        }
        let newest = self.test.given.revision.map(Revision::name);
        let is_beyond = self.agreed.as_deref().is_some_and(|agreed| newest.is_some_and(|newest| agreed > newest));
        // The server refuses a message that has the revision which the server itself named.
        if is_beyond && message.status.is_some_and(|status| status >= HTTP_ERROR) {
            self.add(Rule::OtherVersion, at);
        }
        let is_stateless = self.agreed.is_none();
        if is_stateless && envelope.method.is_some() && envelope.id.is_some() {
            self.add(Rule::NoRequestsToTheClient, at);
        }
        if envelope.id.is_some_and(|id| id.get() == "null") && envelope.method.is_some() {
            self.add(Rule::IdNotNull, at);
        }
        if answered.is_some() && message.on_get_stream && !is_stateless {
            self.add(Rule::GetStreamNoResponse, at);
        }
        if answered.as_deref() != Some("tools/call") && answered.as_deref() != Some("tools/list") {
            return;
        }
        if is_stateless && envelope.result.is_some() && !result.contains_key("resultType") {
            self.add(Rule::ResultType, at);
        }
        let structured = member(&result, "structuredContent");
        if !is_stateless && structured.is_some_and(|value| !value.get().trim_start().starts_with('{')) {
            self.add(Rule::ObjectBefore2026, at);
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

    /// Returns whether the user of the client answers questions in this test.
    fn wants_answers(&self) -> bool {
        self.test.steps.iter().any(|step| matches!(&step.when, When::Call { answers, .. } if !answers.is_empty()))
    }
}

fn member<'a>(members: &Members<'a>, key: &str) -> Option<&'a serde_json::value::RawValue> {
    members.get(key).copied()
}

fn text(members: &Members<'_>, key: &str) -> Option<String> {
    member(members, key).and_then(envelope::scalar)
}

/// Returns whether capabilities declare elicitation, in a form that the specification knows.
fn has_elicitation(capabilities: &serde_json::value::RawValue) -> bool {
    let read: Option<Value> = serde_json::from_str(capabilities.get()).ok();
    let elicitation = read.as_ref().and_then(|all| all.get("elicitation"));
    let is_mode = |mode: &Value| mode.is_object();
    match elicitation {
        Some(Value::Object(modes)) => modes.values().all(is_mode),
        _ => false,
    }
}

fn is_known(name: &str) -> bool {
    name.parse::<Revision>().is_ok()
}

fn lifecycle(name: &str) -> Option<Lifecycle> {
    name.parse::<Revision>().ok().map(|revision| revision.facts().lifecycle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Source, load};

    #[test]
    fn rules_name_requirements_of_the_catalogue() {
        let library = load(&[Source::Embedded]).expect("the embedded cases");
        let is_unknown = |rule: &&Rule| !library.requirements.contains_key(&rule.requirement());
        assert_eq!(Rule::ALL.iter().find(is_unknown), None);
    }
}
