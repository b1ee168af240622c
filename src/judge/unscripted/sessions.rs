//! The sessions of a conversation with a client that nobody drives.
//!
//! Takes messages in their order, gives those of each session with its revision and the declared capabilities. Must not
//! know tests.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::jsonrpc::envelope::{self, Envelope, Members};
use crate::judge::messages;
use crate::model::spec::{Lifecycle, Revision};
use crate::model::transcript::{CLOSED_REQUEST, Message, Party, SESSION_HEADER, VERSION_HEADER};

/// The messages of one session; all messages without a lifecycle are one session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) messages: Vec<Message>,
    pub(super) lifecycle: Lifecycle,
    /// The revision by which the server answers, if it has the lifecycle.
    pub(super) revision: Option<Revision>,
    /// The revision that the client named first, as sent.
    pub(super) named: Option<String>,
    /// `true` if the client named the revision of the server, or went on after the server did.
    pub(super) is_agreed: bool,
    /// The capabilities that the client declared.
    pub(super) capabilities: Option<Value>,
    /// The name and the version of the client.
    pub(super) client: Option<Value>,
    /// The value of the header of the session.
    key: Option<String>,
    /// The ids of requests of the client without a response.
    open: Vec<String>,
    /// The ids of requests of the server.
    asked: Vec<String>,
}

/// The parts of a request that belong to its session.
#[derive(Default)]
struct Claims {
    version: Option<String>,
    capabilities: Option<Value>,
    client: Option<Value>,
}

/// Returns the sessions of a conversation with a server that speaks these revisions, in the order of their beginnings.
pub(super) fn sessions(messages: &[Message], offered: &[Revision]) -> Vec<Session> {
    let mut all: Vec<Session> = Vec::new();
    // What comes before the first session belongs to it: a line that is no message, and the answer to it.
    let mut early = Vec::new();
    let mut last = 0;
    for message in messages {
        let envelope = Envelope::read(&message.text).unwrap_or_default();
        let place = match message.from {
            Party::Target => of_client(message, &envelope, &mut all, last, offered),
            Party::Harness => of_server(&envelope, &all, last),
        };
        let Some(session) = all.get_mut(place) else {
            early.push(message.clone());
            continue;
        };
        session.note(message, &envelope);
        session.messages.append(&mut early);
        session.messages.push(message.clone());
        last = place;
    }
    all
}

/// Joins the sessions of a client that determines the revision by itself, where its probe is part of what is tested.
pub(super) fn joined(messages: &[Message], offered: &[Revision], revision: Revision) -> Option<Session> {
    let mut all = sessions(messages, offered);
    let names = |session: &Session| session.named.as_deref() == Some(revision.name());
    let is_agreed = all.iter().any(names);
    let place = all.iter().rposition(|session| session.revision.is_some())?;
    let session = all.swap_remove(place);
    Some(Session { messages: messages.to_vec(), revision: Some(revision), is_agreed, ..session })
}

/// Returns the session of a message of the client, and begins it if necessary.
fn of_client(
    message: &Message,
    envelope: &Envelope<'_>,
    all: &mut Vec<Session>,
    last: usize,
    offered: &[Revision],
) -> usize {
    if let Some(key) = message.header(SESSION_HEADER) {
        return all.iter().position(|one| one.key.as_deref() == Some(key)).unwrap_or(last);
    }
    let params = envelope.params.and_then(envelope::members).unwrap_or_default();
    if envelope.method.as_deref() == Some("initialize") {
        let claims = Claims {
            version: text(&params, "protocolVersion"),
            capabilities: value(&params, "capabilities"),
            client: value(&params, "clientInfo"),
        };
        all.push(Session::new(Lifecycle::Stateful, claims, offered));
        return all.len() - 1;
    }
    let meta = params.get("_meta").and_then(|meta| envelope::members(meta)).unwrap_or_default();
    let of_meta = |key: &str| format!("io.modelcontextprotocol/{key}");
    let is_modern = |version: &str| {
        version.parse::<Revision>().is_ok_and(|revision| revision.facts().lifecycle == Lifecycle::Stateless)
    };
    let version = text(&meta, &of_meta("protocolVersion"));
    let version =
        version.or_else(|| message.header(VERSION_HEADER).filter(|version| is_modern(version)).map(str::to_owned));
    let is_discover = envelope.method.as_deref() == Some("server/discover");
    if version.is_some() || is_discover || (all.is_empty() && envelope.method.is_some()) {
        let claims = Claims {
            version,
            capabilities: value(&meta, &of_meta("clientCapabilities")),
            client: value(&meta, &of_meta("clientInfo")),
        };
        if let Some(place) = all.iter().position(|one| one.lifecycle == Lifecycle::Stateless) {
            all[place].complete(claims, offered);
            return place;
        }
        all.push(Session::new(Lifecycle::Stateless, claims, offered));
        return all.len() - 1;
    }
    let id = message.header(CLOSED_REQUEST).or(envelope.id.map(RawValue::get));
    let has = |one: &Session, id: &str| {
        if envelope.method.is_none() { one.asked.iter() } else { one.open.iter() }.any(|own| own == id)
    };
    let of_id = id.and_then(|id| all.iter().rposition(|one| has(one, id)));
    of_id.filter(|_| envelope.method.is_none()).unwrap_or(last)
}

/// Returns the session of a message of the server.
fn of_server(envelope: &Envelope<'_>, all: &[Session], last: usize) -> usize {
    let is_open = |one: &Session, id: &str| one.open.iter().any(|own| own == id);
    match (envelope.id.map(RawValue::get), &envelope.method) {
        (Some(id), None) if !all.get(last).is_some_and(|one| is_open(one, id)) => {
            all.iter().rposition(|one| is_open(one, id)).unwrap_or(last)
        }
        _ => last,
    }
}

impl Session {
    fn new(lifecycle: Lifecycle, claims: Claims, offered: &[Revision]) -> Self {
        let mut session = Self {
            messages: Vec::new(),
            lifecycle,
            revision: None,
            named: None,
            is_agreed: false,
            capabilities: None,
            client: None,
            key: None,
            open: Vec::new(),
            asked: Vec::new(),
        };
        session.complete(claims, offered);
        session
    }

    /// Adds what a request says about the client.
    fn complete(&mut self, claims: Claims, offered: &[Revision]) {
        let Claims { version, capabilities, client } = claims;
        let named = version.as_deref().unwrap_or_default();
        self.revision = self.revision.or_else(|| match self.lifecycle {
            Lifecycle::Stateful => Revision::agreed(offered, named),
            Lifecycle::Stateless => {
                offered.iter().copied().find(|one| one.name() == named && one.facts().lifecycle == self.lifecycle)
            }
        });
        self.is_agreed |= self.revision.is_some_and(|revision| revision.name() == named);
        self.named = self.named.take().or(version);
        self.capabilities = self.capabilities.take().or(capabilities);
        self.client = self.client.take().or(client);
    }

    /// Remembers the ids of a message.
    fn note(&mut self, message: &Message, envelope: &Envelope<'_>) {
        let id = envelope.id.map(|id| id.get().to_owned());
        match (message.from, &envelope.method, id) {
            (Party::Target, Some(_), Some(id)) => self.open.push(id),
            (Party::Harness, Some(_), Some(id)) => self.asked.push(id),
            (Party::Harness, None, Some(id)) => self.open.retain(|own| *own != id),
            _ => {}
        }
        match message.from {
            Party::Harness => {
                if let Some(key) = message.header(SESSION_HEADER).filter(|_| self.key.is_none()) {
                    self.key = Some(key.to_owned());
                }
            }
            // The first message is the one with which the session began.
            Party::Target if !self.messages.is_empty() && !message.text.is_empty() => self.is_agreed = true,
            Party::Target => {}
        }
    }

    /// Returns whether the client declared elicitation by forms.
    pub(super) fn elicits(&self) -> bool {
        let elicitation = self.capabilities.as_ref().and_then(|all| all.get("elicitation")).and_then(Value::as_object);
        elicitation.is_some_and(|modes| modes.is_empty() || modes.contains_key("form"))
    }
}

fn text(members: &Members<'_>, key: &str) -> Option<String> {
    envelope::scalar(members.get(key)?)
}

fn value(members: &Members<'_>, key: &str) -> Option<Value> {
    messages::kept(members.get(key)?).value().cloned()
}
