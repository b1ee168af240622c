//! The mock MCP server, in both lifecycles, without any transport.
//!
//! Takes a client's messages, gives the responses of a conformant server with the deviations of the case. Must not know
//! sockets or the expected behaviour of a client.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::HeaderMap;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::choice;
use super::elicit::{Dialog, Elicits};
use super::log::Log;
use super::outlet::ReplyDeviation;
use super::stateless;
use super::tools::{Tools, failure};
use crate::drive::fault;
use crate::drive::token::token;
use crate::jsonrpc::message::{self, Kind};
use crate::jsonrpc::text::{Members, edit, is_object, string};
use crate::jsonrpc::text::{object, quoted};
use crate::model::case::{Change, Deviation, Fixture, Test};
use crate::model::spec::{Lifecycle, Revision};
use crate::model::template::Bindings;
use crate::model::transcript::{LATE, PROCESS};

/// Error codes of JSON-RPC.
const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;

/// The `serverInfo` of casebook.
const SERVER_INFO: &str = r#"{"name":"casebook","version":"1"}"#;

/// A server with one test's fixture.
#[derive(Debug)]
pub(super) struct Server {
    /// All messages that were sent and received.
    pub(super) log: Arc<Log>,
    /// Held while a long body is read, so that only one is in memory regardless of the number of connections.
    pub(super) long: tokio::sync::Mutex<()>,
    /// The number of open bodies without a response.
    pub(super) unanswered: watch::Sender<usize>,
    /// The number of calls that arrived in a test whose calls begin at the same time.
    pub(super) begun: watch::Sender<usize>,
    /// Servers of the same fixture on other revisions, for a client that chooses.
    pub(super) others: Vec<Arc<Server>>,
    pub(super) revision: Revision,
    pub(super) test: Arc<Test>,
    bindings: Bindings,
    tools: Tools,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The sessions of the stateful lifecycle, each with the client's capabilities as JSON.
    sessions: BTreeMap<String, String>,
    /// The channels for the client's answers, by the id of the request as JSON.
    waiting: HashMap<String, oneshot::Sender<Answered>>,
    asked: u64,
    /// The number of responses to each method so far, and of questions.
    turns: HashMap<String, u64>,
    /// The responses whose streams have ended before them.
    held: Vec<Held>,
    /// The number of relays that were started.
    relays: usize,
}

impl State {
    /// Returns the channel for the client's answer to the request with this id.
    fn answer_to(&mut self, id: String) -> oneshot::Receiver<Answered> {
        let (sender, answer) = oneshot::channel();
        self.waiting.insert(id, sender);
        answer
    }
}

/// A response that the client gets when it resumes a stream.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) message: String,
    /// The end of its stream.
    pub(super) since: Instant,
}

/// A client's answer to a request: the text of the result, or `None` for an error.
pub(super) type Answered = Option<String>;

/// A message of the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming<'a> {
    pub(super) text: &'a str,
    /// The session of the message, according to the transport.
    pub(super) session: Option<&'a str>,
    /// The headers of the message, if the transport has headers.
    pub(super) headers: Option<&'a HeaderMap>,
}

/// A request of the client.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) method: String,
    pub(super) params: Members<'a>,
    /// The number of the request among those of its method, counted from 1.
    pub(super) number: u64,
}

/// A reply to the client.
#[derive(Debug)]
pub(super) struct Reply {
    /// The correct HTTP status.
    pub(super) status: u16,
    /// The session that begins with this reply.
    pub(super) session: Option<String>,
    /// The messages of the reply.
    pub(super) content: ReplyContent,
    /// The deviations that concern the reply as a whole.
    pub(super) wrong: ReplyDeviation,
}

/// A method, and the number of the response to it, counted from 1. Some deviations apply to the first ones only.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) method: String,
    pub(super) number: u64,
}

/// The messages of a reply.
#[derive(Debug)]
pub(super) enum ReplyContent {
    /// No message: the client's message was accepted.
    Nothing,
    /// One message.
    Message(String),
    /// Requests to the client before the response.
    Dialog(Dialog),
    /// No response, although the client waits for one.
    Unanswered {
        /// The id of the request, as JSON.
        id: String,
    },
}

/// The outcome of a valid request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A result, as JSON.
    Result(String),
    /// A result with which a session begins.
    Begun { session: String, result: String },
    /// Requests to the client first.
    Asks(Elicits),
}

/// The reason for which a request is refused.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) status: u16,
    pub(super) code: i64,
    pub(super) message: String,
    /// The `data` of the error, as JSON.
    pub(super) data: Option<String>,
}

impl Fault {
    pub(super) fn new(status: u16, code: i64, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), data: None }
    }

    /// Invalid parameters of a method.
    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::new(200, INVALID_PARAMS, message)
    }

    fn text(&self, id: &str) -> String {
        let mut members = vec![("code", self.code.to_string()), ("message", quoted(&self.message))];
        members.extend(self.data.clone().map(|data| ("data", data)));
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, object(members))
    }
}

impl Reply {
    fn nothing(status: u16) -> Self {
        Self { status, session: None, content: ReplyContent::Nothing, wrong: ReplyDeviation::default() }
    }

    pub(super) fn message(status: u16, text: String) -> Self {
        Self { content: ReplyContent::Message(text), ..Self::nothing(status) }
    }

    /// The reply to an unreadable message: invalid JSON, or JSON that is no message.
    pub(super) fn unreadable(reason: &str, is_json: bool) -> Self {
        let code = if is_json { INVALID_REQUEST } else { PARSE_ERROR };
        Self::message(400, Fault::new(400, code, reason).text("null"))
    }
}

impl Server {
    pub(super) fn new(test: Arc<Test>, bindings: Bindings, revision: Revision) -> Self {
        let tools = Tools::of(&test.given, &bindings);
        Self {
            log: Arc::new(Log::new()),
            long: tokio::sync::Mutex::default(),
            unanswered: watch::Sender::default(),
            begun: watch::Sender::default(),
            others: Vec::new(),
            revision,
            test,
            bindings,
            tools,
            state: Mutex::default(),
        }
    }

    /// Makes the server write to the log of another one.
    pub(super) fn logging_to(self, log: &Arc<Log>) -> Self {
        Self { log: Arc::clone(log), ..self }
    }

    /// Returns the reply to a message.
    pub(super) fn answer(self: &Arc<Self>, incoming: Incoming<'_>) -> Reply {
        fault::trip(incoming.text);
        let server = choice::of_message(self, incoming);
        server.answer_as_chosen(incoming)
    }

    fn answer_as_chosen(self: &Arc<Self>, incoming: Incoming<'_>) -> Reply {
        match message::read(incoming.text) {
            Ok(Kind::Request { id, method }) if message::is_id(&id) => self.request(id, method, incoming),
            Ok(Kind::Request { .. }) => Reply::unreadable("an id that is neither a string nor a number", true),
            Ok(Kind::Notification) => self.notification(incoming),
            Ok(Kind::Response { id, .. }) => self.response(id.as_ref(), incoming),
            Err(reason) => Reply::unreadable(&reason, serde_json::from_str::<IgnoredAny>(incoming.text).is_ok()),
        }
    }

    /// Returns whether a session has begun and not ended.
    fn has_session(&self, session: &str) -> bool {
        self.state().sessions.contains_key(session)
    }

    /// The servers at the same address: this one, and those of other revisions.
    pub(super) fn all(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::once(self).chain(&self.others)
    }

    /// Returns the server at the same address that has a session.
    pub(super) fn of_session(self: &Arc<Self>, session: &str) -> Option<&Arc<Self>> {
        self.all().find(|one| one.has_session(session))
    }

    /// Keeps a response until the client resumes its stream; returns the id of the event that it names then.
    pub(super) fn hold(&self, message: String) -> String {
        let held = &mut self.state().held;
        held.push(Held { message, since: Instant::now() });
        format!("event-{}", held.len())
    }

    /// Returns the response that follows an event.
    pub(super) fn held(&self, id: &str) -> Option<Held> {
        let number: usize = id.strip_prefix("event-")?.parse().ok()?;
        self.state().held.get(number.checked_sub(1)?).cloned()
    }

    /// Ends a session; returns the HTTP status of the reply.
    pub(super) fn end(self: &Arc<Self>, session: Option<&str>) -> u16 {
        let ended = session.and_then(|session| self.of_session(session)?.state().sessions.remove(session));
        match session {
            _ if ended.is_some() => 200,
            _ if self.is_stateless() => 405,
            None => 400,
            Some(_) => 404,
        }
    }

    fn request(self: &Arc<Self>, id: String, method: String, incoming: Incoming<'_>) -> Reply {
        let message = Members::of(incoming.text).unwrap_or_default();
        let params = message.get("params").map_or(Some(Members::default()), Members::of);
        let turn = self.turn(&method);
        let mut wrong = self.wrong(&turn);
        wrong.preface.messages.extend(self.notices(&turn));
        if let (Some(404), Some(session)) = (wrong.status, incoming.session) {
            // The status says that the session has ended.
            self.state().sessions.remove(session);
        }
        let outcome = match params {
            None => Err(Fault::new(400, INVALID_PARAMS, "`params` is no object")),
            Some(params) => {
                let call = Call { method, params, number: turn.number };
                if self.is_stateless() {
                    self.stateless_request(&call, incoming)
                } else {
                    self.stateful_request(&call, incoming)
                }
            }
        };
        let reply = match outcome {
            _ if self.changes(&turn).any(|change| matches!(change, Change::Unanswered)) => {
                Reply { content: ReplyContent::Unanswered { id }, ..Reply::nothing(200) }
            }
            Err(fault) => Reply::message(fault.status, self.deviated(&turn, fault.text(&id))),
            Ok(Outcome::Result(result)) => Reply::message(200, self.response_to(&id, &turn, &result)),
            Ok(Outcome::Begun { session, result }) => {
                let reply = Reply::message(200, self.response_to(&id, &turn, &result));
                Reply { session: Some(session), ..reply }
            }
            Ok(Outcome::Asks(elicits)) => {
                let content = ReplyContent::Dialog(Dialog::new(Arc::clone(self), id, turn, elicits));
                Reply { content, ..Reply::nothing(200) }
            }
        };
        Reply { wrong, ..reply }
    }

    /// Handles a request of the stateful lifecycle.
    fn stateful_request(&self, call: &Call<'_>, incoming: Incoming<'_>) -> Result<Outcome, Fault> {
        match call.method.as_str() {
            "initialize" => return self.initialize(call),
            "ping" if incoming.headers.is_none() => return Ok(Outcome::Result("{}".to_owned())),
            "ping" | "tools/list" | "tools/call" => {}
            proposed if self.test.given.method(proposed).is_some() => {}
            unknown => {
                // A client without a session may be testing for another lifecycle. The status 400 without an error code
                // of the newer revision shows that this server has none.
                let status = if incoming.session.is_some() { 200 } else { 400 };
                return Err(Fault::new(status, METHOD_NOT_FOUND, format!("Method not found: {unknown}")));
            }
        }
        let capabilities = self.session_capabilities(incoming)?;
        match call.method.as_str() {
            "ping" => Ok(Outcome::Result("{}".to_owned())),
            "tools/list" => self.tools.list(call, self).map(Outcome::Result),
            proposed if proposed != "tools/call" => self.proposed(call).map(Outcome::Result),
            _ => match self.tools.call(call, self)? {
                Outcome::Asks(elicits) if !elicits.may_ask(&capabilities) => {
                    let reason = "the client declared no elicitation in form mode";
                    Ok(Outcome::Result(self.complete(failure(reason))))
                }
                outcome => Ok(outcome),
            },
        }
    }

    fn initialize(&self, call: &Call<'_>) -> Result<Outcome, Fault> {
        let capabilities = call.params.get("capabilities").filter(|capabilities| is_object(capabilities));
        let (Some(_), Some(capabilities)) = (call.params.get("protocolVersion").and_then(string), capabilities) else {
            return Err(Fault::params("`initialize` needs a `protocolVersion` and `capabilities`"));
        };
        let session = token();
        self.state().sessions.insert(session.clone(), capabilities.to_owned());
        let result = object([
            ("protocolVersion", quoted(self.revision.name())),
            ("capabilities", self.declared()),
            ("serverInfo", SERVER_INFO.to_owned()),
        ]);
        Ok(Outcome::Begun { session, result })
    }

    /// Returns the capabilities that a client declared when it began the session of this message.
    fn session_capabilities(&self, incoming: Incoming<'_>) -> Result<String, Fault> {
        let Some(session) = incoming.session else {
            return Err(Fault::new(400, INVALID_REQUEST, "no session: `initialize` comes first"));
        };
        let known = self.state().sessions.get(session).cloned();
        let capabilities = known.ok_or_else(|| Fault::new(404, INVALID_REQUEST, "no such session"))?;
        let version = incoming.headers.and_then(|headers| headers.get("mcp-protocol-version"));
        if version.is_some_and(|version| version != self.revision.name()) {
            return Err(Fault::new(400, INVALID_REQUEST, "another MCP-Protocol-Version than the one agreed on"));
        }
        Ok(capabilities)
    }

    /// Handles a request of the stateless lifecycle.
    fn stateless_request(&self, call: &Call<'_>, incoming: Incoming<'_>) -> Result<Outcome, Fault> {
        let capabilities = stateless::checked(call, incoming.headers, self.revision)?;
        match call.method.as_str() {
            "server/discover" => Ok(Outcome::Result(self.complete(vec![
                ("supportedVersions", format!("[{}]", quoted(self.revision.name()))),
                ("capabilities", self.declared()),
                ("ttlMs", "0".to_owned()),
                ("cacheScope", quoted("private")),
            ]))),
            "tools/list" => self.tools.list(call, self).map(Outcome::Result),
            "tools/call" => match self.tools.call(call, self)? {
                Outcome::Asks(elicits) if !elicits.may_ask(capabilities) => Err(stateless::lacks_elicitation()),
                Outcome::Asks(elicits) => elicits.round_trip(call, self).map(Outcome::Result),
                outcome => Ok(outcome),
            },
            _ => self.proposed(call).map(Outcome::Result),
        }
    }

    fn notification(&self, incoming: Incoming<'_>) -> Reply {
        let method = Members::of(incoming.text).and_then(|message| string(message.get("method")?));
        let wrong = method.map(|method| self.wrong(&self.turn(&method))).unwrap_or_default();
        match self.check_accepted(incoming) {
            Ok(()) => Reply { wrong, ..Reply::nothing(202) },
            Err(fault) => Reply::message(fault.status, fault.text("null")),
        }
    }

    fn response(&self, id: Option<&Value>, incoming: Incoming<'_>) -> Reply {
        if self.is_stateless() {
            return Reply::unreadable("a response, although nothing was asked", true);
        }
        if let Err(fault) = self.check_accepted(incoming) {
            return Reply::message(fault.status, fault.text("null"));
        }
        let waiting = id.and_then(|id| self.state().waiting.remove(&id.to_string()));
        if let Some(waiting) = waiting {
            // The requesting call may have been closed; the answer is accepted all the same.
            _ = waiting.send(message::result_of(incoming.text).map(|result| result.get().to_owned()));
        }
        Reply::nothing(202)
    }

    /// Checks a message that needs no response. Over stdio, a refusal could not be reported.
    fn check_accepted(&self, incoming: Incoming<'_>) -> Result<(), Fault> {
        if self.is_stateless() || incoming.headers.is_none() {
            Ok(())
        } else {
            self.session_capabilities(incoming).map(drop)
        }
    }

    /// Returns a request to the client, and the channel for its answer.
    pub(super) fn ask(&self, params: &str) -> (String, oneshot::Receiver<Answered>) {
        let mut state = self.state();
        let id = state.asked;
        state.asked += 1;
        let answer = state.answer_to(id.to_string());
        drop(state);
        let request = message::request(id, "elicitation/create", params);
        (self.question(request), answer)
    }

    /// Returns the channel for the answer to a message of the case, if it is a request.
    fn awaited(&self, message: &str) -> Option<oneshot::Receiver<Answered>> {
        let message: Value = serde_json::from_str(message).ok()?;
        let id = message.get("method").and(message.get("id"))?;
        Some(self.state().answer_to(id.to_string()))
    }

    /// Returns the header that marks an answer as late, if nothing waits for it any longer.
    pub(super) fn lateness(&self, text: &str) -> Option<(String, String)> {
        let state = self.state();
        // Nearly all messages come while nothing is or was awaited.
        let message: Value = (!state.waiting.is_empty()).then(|| serde_json::from_str(text).ok())??;
        let waiting = message.get("id").filter(|_| message.get("method").is_none());
        let is_late = waiting.and_then(|id| state.waiting.get(&id.to_string())).is_some_and(oneshot::Sender::is_closed);
        is_late.then(|| (LATE.to_owned(), "true".to_owned()))
    }

    /// Counts one more relay. Returns the mark of its messages, unless it is the first.
    pub(super) fn mark_of_relay(&self) -> Option<(String, String)> {
        let mut state = self.state();
        state.relays += 1;
        (state.relays > 1).then(|| (PROCESS.to_owned(), state.relays.to_string()))
    }

    /// Returns a question to the client, with the deviations of the case.
    pub(super) fn question(&self, request: String) -> String {
        self.deviated(&self.turn("elicitation/create"), request)
    }

    /// Returns the response to a request, with the deviations of the case.
    pub(super) fn response_to(&self, id: &str, turn: &Turn, result: &str) -> String {
        self.deviated(turn, message::response(id, result))
    }

    /// Returns a result of these members, together with those that every result has.
    pub(super) fn complete(&self, members: Vec<(&str, String)>) -> String {
        self.result("complete", members)
    }

    /// Returns a result of a given type.
    pub(super) fn result(&self, kind: &str, members: Vec<(&str, String)>) -> String {
        if !self.is_stateless() {
            return object(members);
        }
        let meta = object([("io.modelcontextprotocol/serverInfo", SERVER_INFO.to_owned())]);
        object([("resultType", quoted(kind))].into_iter().chain(members).chain([("_meta", meta)]))
    }

    /// The fixture.
    pub(super) fn given(&self) -> &Fixture {
        &self.test.given
    }

    /// The values of the placeholders.
    pub(super) fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    pub(super) fn is_stateless(&self) -> bool {
        self.revision.facts().lifecycle == Lifecycle::Stateless
    }

    /// Applies the deviations of the case to a message.
    fn deviated(&self, turn: &Turn, right: String) -> String {
        self.changes(turn).fold(right, |text, change| {
            let edited = match change {
                Change::Set { at, value } => edit(&text, at, Some(&value.render(&self.bindings))),
                Change::Remove { at } => edit(&text, at, None),
                Change::Http { .. } | Change::Before { .. } | Change::Written(_) | Change::Unanswered => None,
            };
            // A place that this message lacks, such as one in `error`, belongs to another message.
            edited.unwrap_or(text)
        })
    }

    fn wrong(&self, turn: &Turn) -> ReplyDeviation {
        let mut wrong = ReplyDeviation::default();
        for change in self.changes(turn) {
            match change {
                Change::Http { status, headers, cut_after } => {
                    wrong.status = status.or(wrong.status);
                    wrong.cut_after = cut_after.or(wrong.cut_after);
                    let lower = headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
                    wrong.headers.extend(lower);
                }
                Change::Before { message } => {
                    let message = message.render(&self.bindings);
                    wrong.preface.answers.extend(self.awaited(&message));
                    wrong.preface.messages.push(message);
                }
                Change::Written(written) => wrong.written = Some(*written),
                Change::Set { .. } | Change::Remove { .. } | Change::Unanswered => {}
            }
        }
        wrong
    }

    /// Counts a response to this method.
    fn turn(&self, method: &str) -> Turn {
        let mut state = self.state();
        let number = state.turns.entry(method.to_owned()).and_modify(|number| *number += 1).or_insert(1);
        Turn { method: method.to_owned(), number: *number }
    }

    fn changes(&self, turn: &Turn) -> impl Iterator<Item = &Change> {
        let applies = |one: &&Deviation| one.method == turn.method && one.times.is_none_or(|most| turn.number <= most);
        self.test.given.deviations.iter().filter(applies).map(|deviation| &deviation.change)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::{fuzz, samples};
    use crate::load::{Source, load};
    use crate::model::spec::Role;

    #[test]
    fn fuzzed_client_message_gets_reply_of_one_json_line() {
        let library = load(&[Source::Embedded]).expect("the embedded cases");
        let all = library.cases.iter().flat_map(|case| &case.tests);
        let honest = all.filter(|test| test.role == Role::Client && test.given.deviations.is_empty());
        let tests: Vec<_> = honest.step_by(7).collect();
        fuzz("clients", samples::texts(), |bytes| {
            let text = String::from_utf8_lossy(bytes);
            for revision in Revision::all() {
                let test = Arc::clone(tests[bytes.len() % tests.len()]);
                let template = test.given.template();
                let canaries = template
                    .canaries()
                    .into_iter()
                    .map(|one| (one.clone(), "http://127.0.0.1:1/x".to_owned()))
                    .collect();
                let bindings = Bindings { canaries, revision: revision.name().to_owned(), ..Bindings::default() };
                let server = Arc::new(Server::new(test, bindings, revision));
                server.state().sessions.insert("s".to_owned(), "{}".to_owned());
                let incoming = Incoming { text: &text, session: Some("s"), headers: None };
                if let ReplyContent::Message(content) = server.answer(incoming).content {
                    assert!(
                        serde_json::from_str::<IgnoredAny>(&content).is_ok() && !content.contains('\n'),
                        "{content}"
                    );
                }
            }
        });
    }
}
