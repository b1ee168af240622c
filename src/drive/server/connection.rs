//! A raw client for a server under test: JSON-RPC over Streamable HTTP or stdio, without any SDK.
//!
//! Takes texts to send, gives the responses, which are recorded before they are parsed. The module `perform` derives
//! the texts from steps. Must not know the expected behaviour or the start of the server.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::drive::clock::Deadline;
use crate::drive::kept_headers::Headers;
use crate::drive::process::lines::{LineEvent, Lines};
use crate::drive::server::exchange::{Arrival, ExchangeLog, GRACE};
use crate::drive::server::get_stream::GetStream;
use crate::drive::server::headers::{self, Context, Mirrored};
use crate::drive::server::http::{self, Http, Resumable};
use crate::jsonrpc::message::{self, Awaits, Kind};
use crate::model::case::{Answer, HttpMethod};
use crate::model::spec::{Lifecycle, Revision};
use crate::model::template::Bindings;
use crate::model::transcript::{End, LAST_EVENT, SESSION_HEADER};

/// The time for which an event stream may stay open after its response. It suffices for a server that closes the
/// stream, as it should.
const AFTERMATH: Duration = Duration::from_millis(20);
/// The longest pause before a cut stream is resumed, regardless of the server's `retry` value.
const MAX_PAUSE: Duration = Duration::from_secs(2);
/// The time in which a process that was just started is expected to read its first message.
const START: Duration = Duration::from_secs(5);
/// The longest wait for the headers of a GET stream; some servers send them with the first message. A server that asks
/// gets more time, because it may drop a question before its stream is open.
const HEADERS: Duration = Duration::from_millis(100);
const HEADERS_BEFORE_QUESTION: Duration = Duration::from_millis(300);
/// The same for a process that has sent them late before: the time in which the request leaves.
const LATE_HEADERS: Duration = Duration::from_millis(5);
/// The JSON-RPC error code of an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;

/// A connection to a server under test.
#[derive(Debug)]
pub(crate) struct Connection {
    channel: Channel,
    /// The protocol revision of the connection.
    pub(crate) revision: Revision,
    /// The parameters that the listed tools mirror in headers.
    pub(crate) mirrored: Mirrored,
    session: Option<String>,
    /// The stream of a GET request, on which the server may send requests and notifications.
    get_stream: Option<GetStream>,
    /// Set if a tool of the server asks the user.
    pub(crate) is_asked: bool,
    /// Set once revision and session are negotiated.
    agreed: bool,
    ids: u64,
    /// The ids of the requests without a response, including those that were given up.
    open: HashSet<u64>,
    /// Set while the connection is to a process that may still be starting, because it has sent nothing yet.
    is_starting: bool,
}

#[derive(Debug)]
enum Channel {
    Http(Http),
    Stdio(Stdio),
}

impl Connection {
    /// A connection over Streamable HTTP to an endpoint.
    pub(crate) fn to(endpoint: Http, revision: Revision) -> Self {
        Self::over(Channel::Http(endpoint), revision)
    }

    /// A connection over a stream, or over a process's standard input and output.
    pub(crate) fn stdio(input: impl AsyncWrite + Unpin + Send + 'static, output: Lines, revision: Revision) -> Self {
        Self::over(Channel::Stdio(Stdio { input: Box::new(input), output, torn: false }), revision)
    }

    /// Marks the connection as one to a process that was just started. The process gets time to start before a missing
    /// response counts.
    pub(crate) fn starting(self) -> Self {
        Self { is_starting: true, ..self }
    }

    /// Returns whether the connection is to a process that has sent nothing yet.
    pub(crate) fn is_starting(&self) -> bool {
        self.is_starting
    }

    /// Marks the connection as one to a server with a tool that asks the user.
    pub(crate) fn asked(self, is_asked: bool) -> Self {
        Self { is_asked, ..self }
    }

    fn over(channel: Channel, revision: Revision) -> Self {
        let agreed = revision.facts().lifecycle == Lifecycle::Stateless;
        let (mirrored, open) = (Mirrored::default(), HashSet::new());
        let (session, get_stream, ids) = (None, None, 0);
        Self {
            channel,
            revision,
            mirrored,
            session,
            get_stream,
            is_asked: false,
            agreed,
            ids,
            open,
            is_starting: false,
        }
    }

    /// Ends the session, if there is one, and closes the connection.
    pub(crate) async fn close(self, deadline: Deadline) {
        if let (Channel::Http(http), Some(_)) = (&self.channel, &self.session) {
            let headers = headers::of_connection(self.context());
            // The response to DELETE has no influence on any check.
            _ = deadline.narrowed(GRACE).bound(http.delete(&headers).opened()).await;
        }
    }

    /// Returns the id of the next request.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.open.insert(self.ids);
        self.ids += 1;
        self.ids - 1
    }

    /// Stores the revision and the session that `initialize` negotiated.
    pub(crate) fn store_agreement(&mut self, log: &ExchangeLog<'_>) {
        self.agreed = true;
        self.session = log.header(SESSION_HEADER).map(str::to_owned);
    }

    /// Opens a stream for the server's own messages by a GET request, as clients do after the handshake. A server that
    /// has no such stream refuses the request. Returns whether the stream is open.
    pub(crate) async fn open_get_stream(&mut self, log: &mut ExchangeLog<'_>) -> bool {
        let Channel::Http(http) = &self.channel else { return false };
        let mut headers = headers::of_connection(self.context());
        headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        log.sent("", headers.clone());
        let limit = match (self.is_asked, http.has_late_headers()) {
            (true, _) => HEADERS_BEFORE_QUESTION,
            (false, true) => LATE_HEADERS,
            (false, false) => HEADERS,
        };
        let opened = GetStream::open(http.get(&headers), log.deadline.narrowed(limit)).await;
        if opened.as_ref().is_some_and(|stream| !stream.has_headers) {
            http.set_late_headers();
        }
        self.get_stream = opened;
        self.get_stream.is_some()
    }

    /// Uses new connections from now on, over HTTP.
    pub(crate) fn renew(&mut self) {
        if let Channel::Http(http) = &mut self.channel {
            http.renew();
        }
    }

    /// Returns whether messages may arrive without a reply: over stdio, or on the stream of a GET request.
    pub(crate) fn has_other_messages(&self) -> bool {
        matches!(self.channel, Channel::Stdio(_)) || self.get_stream.is_some()
    }

    /// Returns the headers of a request without a message.
    pub(crate) fn headers(&self) -> Headers {
        headers::of_connection(self.context())
    }

    /// Prepares an HTTP request without a message; `None` over stdio.
    pub(crate) fn bare_reply(&self, method: HttpMethod, headers: &Headers) -> Option<http::Reply> {
        let Channel::Http(http) = &self.channel else { return None };
        Some(match method {
            HttpMethod::Get => http.get(headers),
            HttpMethod::Delete => http.delete(headers),
        })
    }

    /// Closes the input of a server over stdio.
    pub(crate) fn close_input(&mut self) {
        if let Channel::Stdio(stdio) = &mut self.channel {
            stdio.input = Box::new(tokio::io::sink());
        }
    }

    /// Records what a server wrote before it closed its standard output.
    pub(crate) async fn read_to_end(&mut self, log: &mut ExchangeLog<'_>) {
        let Channel::Stdio(stdio) = &mut self.channel else { return };
        let limit = Deadline::within(GRACE);
        while let Some(Ok(arrival)) = limit.bound(stdio.next()).await
            && log.received(arrival).is_ok()
        {}
    }

    fn context(&self) -> Context<'_> {
        let revision = self.agreed.then_some(self.revision);
        Context { revision, session: self.session.as_deref(), mirrored: &self.mirrored }
    }

    /// Sends a message, and waits for its response. Returns the index of the response, or another end.
    pub(crate) async fn exchange(
        &mut self,
        log: &mut ExchangeLog<'_>,
        message: String,
        changes: &[(String, Option<String>)],
        awaits: &Awaits,
    ) -> Result<usize, End> {
        let limit = log.deadline;
        let mut reply = limit.bound(self.send(log, message, changes)).await.unwrap_or(Err(End::Timeout))?;
        let (mut status, mut is_over) = (None, false);
        if reply.is_none() {
            // Over stdio, no response shows that a message was accepted, and few show that it was not understood.
            match awaits {
                Awaits::Response(_) => {}
                Awaits::Nothing => return Err(End::Accepted),
                Awaits::Anything => {
                    log.set_fallback_end(End::Accepted);
                    if self.is_starting {
                        log.deadline = log.deadline.narrowed(START);
                    } else {
                        log.shorten_deadline();
                    }
                }
            }
        }
        loop {
            let came = log.deadline.bound(self.next(reply.as_mut())).await.unwrap_or(Err(End::Timeout))?;
            let Some(arrival) = came else {
                status = status.or(reply.as_ref().and_then(|over| over.status));
                let resumable = reply.take().and_then(|over| over.resumable);
                // Where no response is awaited, the stream lacks nothing.
                if !matches!(awaits, Awaits::Nothing) {
                    reply = self.resume(log, resumable).await?;
                }
                if reply.is_some() {
                    continue;
                }
                let end = end_of_reply(status, awaits);
                // The response may still arrive on the other stream, where it does not belong.
                let may_follow =
                    end == End::Empty && self.get_stream.is_some() && matches!(awaits, Awaits::Response(_));
                if !may_follow || std::mem::replace(&mut is_over, true) {
                    return Err(end);
                }
                log.set_fallback_end(end);
                log.shorten_deadline();
                continue;
            };
            match self.take(log, arrival, awaits).await {
                Ok(None) => {}
                Ok(Some(response)) => {
                    self.drain(log, reply).await;
                    return Ok(response);
                }
                Err(end) => {
                    // The lines behind show whether a message was divided.
                    if matches!(end, End::Invalid { .. }) && reply.is_none() {
                        self.drain(log, None).await;
                    }
                    return Err(end);
                }
            }
        }
    }

    /// Records the messages that arrived over stdio, or on the GET stream, since the last step: none of them can answer a
    /// later message.
    pub(crate) async fn catch_up(&mut self, log: &mut ExchangeLog<'_>) {
        while let Some(arrival) = self.at_hand().await {
            if self.take(log, arrival, &Awaits::Anything).await.is_err() {
                break;
            }
        }
    }

    /// Takes the messages that come over stdio, or on the GET stream, just after a response.
    pub(crate) async fn linger(&mut self, log: &mut ExchangeLog<'_>) {
        let limit = log.deadline.narrowed(AFTERMATH);
        while let Some(Ok(Some(arrival))) = limit.bound(self.next(None)).await
            && log.received(arrival).is_ok()
        {}
    }

    /// Returns a message that has already arrived over stdio, or on the GET stream.
    async fn at_hand(&mut self) -> Option<Arrival> {
        let Channel::Stdio(stdio) = &mut self.channel else {
            return self.get_stream.as_mut().and_then(GetStream::at_hand);
        };
        stdio.output.at_hand().await.and_then(|event| arrival(event).ok())
    }

    /// Records a message and sends it; over HTTP, prepares to send it and returns the reply.
    pub(crate) async fn send(
        &mut self,
        log: &mut ExchangeLog<'_>,
        message: String,
        changes: &[(String, Option<String>)],
    ) -> Result<Option<http::Reply>, End> {
        let mut headers = headers::of_message(&message, self.context());
        match &mut self.channel {
            Channel::Http(http) => {
                headers::change(&mut headers, changes);
                log.sent(&message, headers.clone());
                Ok(Some(http.post(&headers, message)))
            }
            Channel::Stdio(stdio) => {
                log.sent(&message, Vec::new());
                stdio.write(&message).await.map(|()| None)
            }
        }
    }

    /// Returns the next message of a reply, of the GET stream or over stdio; `None` at the end of the reply.
    pub(crate) async fn next(&mut self, reply: Option<&mut http::Reply>) -> Result<Option<Arrival>, End> {
        match (reply, &mut self.channel) {
            (Some(reply), _) => tokio::select! {
                // A server may wait for the answer to this message before it replies.
                biased;
                Some(arrival) = next_on(self.get_stream.as_mut()) => Ok(Some(arrival)),
                came = reply.next() => came,
            },
            (None, Channel::Stdio(stdio)) => stdio.next().await.map(Some),
            (None, Channel::Http(_)) => Ok(next_on(self.get_stream.as_mut()).await),
        }
    }

    /// Evaluates a message that arrived. Returns its index if it is the awaited response.
    pub(crate) async fn take(
        &mut self,
        log: &mut ExchangeLog<'_>,
        arrival: Arrival,
        awaits: &Awaits,
    ) -> Result<Option<usize>, End> {
        let by_stdio = matches!(self.channel, Channel::Stdio(_));
        let (is_refusal, fault) = (arrival.is_refusal(), arrival.fault.clone());
        let is_beside = arrival.on_get_stream;
        self.is_starting = false;
        let index = log.received(arrival)?;
        let kind = fault.map_or_else(|| message::read(log.text(index)), Err);
        let is_open = match &kind {
            Ok(Kind::Response { id, .. }) => {
                id.as_ref().and_then(Value::as_u64).is_some_and(|id| self.open.remove(&id))
            }
            _ => false,
        };
        match kind {
            Ok(Kind::Notification) => Ok(None),
            Ok(Kind::Request { id, method }) => self.serve(log, &id, &method).await.map(|()| None),
            Ok(Kind::Response { id, is_error }) if awaits.is_met(id.as_ref(), is_error) => Ok(Some(index)),
            // A server that refuses a request entirely may not have read its id.
            Ok(Kind::Response { is_error: true, .. }) if is_refusal => Ok(Some(index)),
            Ok(Kind::Response { id, .. }) => {
                // Over stdio, the response to a request that was given up may still arrive.
                if !(by_stdio && is_open) {
                    log.set_fallback_end(End::Invalid { reason: stray(id.as_ref(), awaits) });
                }
                Ok(None)
            }
            // What else comes on the stream of a GET request is no reply to another request.
            Err(_) if is_refusal || is_beside || is_noise(log.text(index), by_stdio) => Ok(None),
            Err(reason) => Err(End::Invalid { reason }),
        }
    }

    /// Answers a request of the server.
    async fn serve(&mut self, log: &mut ExchangeLog<'_>, id: &str, method: &str) -> Result<(), End> {
        if self.revision.facts().lifecycle == Lifecycle::Stateless {
            let method: String = method.chars().take(80).collect();
            return Err(End::Invalid { reason: format!("a request to the client, `{method}`") });
        }
        let text = match method {
            "ping" => message::response(id, "{}"),
            "elicitation/create" => match log.answer() {
                Some(Answer::Error { code, message }) => message::error(id, *code, message),
                Some(answer) => message::response(id, &elicit_result(answer, log.bindings)),
                // Who asks again after that asks forever.
                None if log.is_settled() => return Err(End::Unanswered),
                None => {
                    // The server gets an answer in any case. Its reaction is recorded and not judged.
                    log.end_with(End::Unanswered);
                    message::response(id, &elicit_result(&Answer::Cancel, log.bindings))
                }
            },
            _ => message::error(id, METHOD_NOT_FOUND, "Method not found"),
        };
        // A server that is slow to accept the answer, or that closes the connection, is noticed on the first stream.
        let limit = log.deadline.narrowed(GRACE);
        _ = limit.bound(self.deliver(log, text)).await;
        Ok(())
    }

    /// Sends an answer, and records how the server accepted it.
    pub(crate) async fn deliver(&mut self, log: &mut ExchangeLog<'_>, text: String) -> Result<(), End> {
        let Some(mut reply) = self.send(log, text, &[]).await? else { return Ok(()) };
        let status = reply.opened().await?;
        if !(200..300).contains(&status) {
            log.set_fallback_end(End::Http { status });
            log.shorten_deadline();
        }
        while let Some(arrival) = reply.next().await? {
            log.received(arrival)?;
        }
        Ok(())
    }

    /// Resumes a stream that ended too early, once, if the server has named a position.
    async fn resume(
        &mut self,
        log: &mut ExchangeLog<'_>,
        resumable: Option<Resumable>,
    ) -> Result<Option<http::Reply>, End> {
        let (Some(Resumable { id, pause }), Channel::Http(http)) = (resumable, &self.channel) else { return Ok(None) };
        if self.revision.facts().lifecycle == Lifecycle::Stateless || !log.may_resume() {
            return Ok(None);
        }
        let mut headers = headers::of_connection(self.context());
        headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        headers.push((LAST_EVENT.to_owned(), id));
        let limit = log.deadline;
        let resume = async {
            tokio::time::sleep(pause.min(MAX_PAUSE)).await; // The server's `retry:`, which binds its clients.
            log.sent("", headers.clone());
            http.get(&headers)
        };
        limit.bound(resume).await.map(Some).ok_or(End::Timeout)
    }

    /// Records the messages after the response, such as a second response.
    async fn drain(&mut self, log: &mut ExchangeLog<'_>, reply: Option<http::Reply>) {
        if let Some(mut reply) = reply {
            let limit = log.deadline.narrowed(AFTERMATH);
            while let Some(Ok(Some(arrival))) = limit.bound(reply.next()).await
                && log.received(arrival).is_ok()
            {}
        }
        while let Some(arrival) = self.at_hand().await
            && log.received(arrival).is_ok()
        {}
    }
}

/// Returns the next message of a stream; `None` without a stream.
async fn next_on(stream: Option<&mut GetStream>) -> Option<Arrival> {
    stream?.next().await
}

/// Returns the end of an exchange whose reply contains no response.
fn end_of_reply(status: Option<u16>, awaits: &Awaits) -> End {
    match status {
        Some(202) if !matches!(awaits, Awaits::Response(_)) => End::Accepted,
        None | Some(200..300) => End::Empty,
        Some(status) => End::Http { status },
    }
}

/// Returns whether a text is not intended as a message: it is empty, or a stray line on standard output.
fn is_noise(text: &str, by_stdio: bool) -> bool {
    message::visible(text).is_empty() || by_stdio && !message::is_intended(text)
}

fn stray(id: Option<&Value>, awaits: &Awaits) -> String {
    let name = |id: Option<&Value>| id.map_or_else(|| "no id".to_owned(), |id| format!("the id {id}"));
    let own = match awaits {
        Awaits::Response(own) => Some(own),
        Awaits::Anything | Awaits::Nothing => None,
    };
    let stray: String = name(id).chars().take(80).collect();
    format!("a response with {stray} instead of {}", name(own))
}

/// Returns an `ElicitResult`.
pub(crate) fn elicit_result(answer: &Answer, bindings: &Bindings) -> String {
    let accept = |content: &str| format!(r#"{{"action":"accept","content":{content}}}"#);
    match answer {
        Answer::Accept(content) => accept(&content.render(bindings)),
        // A raw client adds no default values.
        Answer::AcceptAlone => r#"{"action":"accept"}"#.to_owned(),
        Answer::AcceptAsPresented => accept("{}"),
        Answer::Decline => r#"{"action":"decline"}"#.to_owned(),
        // A multi round-trip result cannot carry an error; cancelling is the closest to it.
        Answer::Cancel | Answer::Error { .. } => r#"{"action":"cancel"}"#.to_owned(),
        Answer::Raw(value) => value.render(bindings),
    }
}

/// A process's standard input and output, with one message per line.
struct Stdio {
    input: Box<dyn AsyncWrite + Unpin + Send>,
    output: Lines,
    /// Set if a message was written in part only: no other message can follow.
    torn: bool,
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio").field("torn", &self.torn).finish_non_exhaustive()
    }
}

impl Stdio {
    async fn write(&mut self, message: &str) -> Result<(), End> {
        if std::mem::replace(&mut self.torn, true) {
            return Err(End::Crash { how: "does not read its standard input".to_owned() });
        }
        let line = format!("{message}\n");
        let written = async { self.input.write_all(line.as_bytes()).await.and(self.input.flush().await) };
        written.await.map_err(|error| End::Crash { how: format!("closed its standard input: {error}") })?;
        self.torn = false;
        Ok(())
    }

    async fn next(&mut self) -> Result<Arrival, End> {
        arrival(self.output.next().await)
    }
}

fn arrival(event: LineEvent) -> Result<Arrival, End> {
    match event {
        LineEvent::Line(line) => Ok(match String::from_utf8(line) {
            Ok(text) => Arrival { text, ..Arrival::default() },
            Err(error) => Arrival {
                text: String::from_utf8_lossy(error.as_bytes()).into_owned(),
                fault: Some("a line that is not UTF-8".to_owned()),
                lossy: true,
                ..Arrival::default()
            },
        }),
        LineEvent::Unended(line) => Ok(Arrival {
            lossy: std::str::from_utf8(&line).is_err(),
            text: String::from_utf8_lossy(&line).into_owned(),
            fault: Some("a line without a line feed".to_owned()),
            ..Arrival::default()
        }),
        LineEvent::Oversized => Err(End::Oversized),
        LineEvent::Eof => Err(End::Crash { how: "closed its standard output".to_owned() }),
    }
}

#[cfg(test)]
mod tests;
