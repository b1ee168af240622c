//! Calls that are cancelled while the tool's code runs, requests without a message, and the end of input.
//!
//! Takes a call and the canaries that its tool requests, gives the messages before and after the cancellation. Must not
//! know the expected behaviour.

use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::drive::canary::Canaries;
use crate::drive::clock::Deadline;
use crate::drive::server::connection::Connection;
use crate::drive::server::exchange::{Arrival, Exchange, ExchangeLog, GRACE};
use crate::drive::server::headers;
use crate::drive::server::http::Reply;
use crate::jsonrpc::message::{self, Awaits};
use crate::jsonrpc::text::object;
use crate::model::case::{HttpMethod, Step};
use crate::model::spec::Lifecycle;
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, STARTED, STOPPED};

/// The time in which the code of a tool starts, or stops after the cancellation of its call.
const PATIENCE: Duration = Duration::from_secs(7);
/// The time in which the code of a tool begins to wait, after its request has shown that it runs. Code that is cancelled
/// earlier may not be able to tell.
const BEGINS: Duration = Duration::from_millis(50);
/// The time in which the code of a tool would stop if the end of the connection cancelled its call.
const HANG_UP: Duration = Duration::from_secs(3);

/// A call that is to be cancelled.
pub(crate) struct Cancelled<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Option<&'a Template>,
    /// `true` if the client closes the connection of the request, also where this is no cancellation.
    pub(crate) hangs_up: bool,
}

impl Connection {
    /// Calls a tool, cancels the call while the code of the tool runs, and waits until the code stops.
    pub(crate) async fn cancel(
        &mut self,
        call: Cancelled<'_>,
        step: &Step,
        bindings: &Bindings,
        canaries: &Canaries,
        deadline: Deadline,
    ) -> Exchange {
        let capabilities = self.capabilities(step.declares.as_ref(), bindings);
        let mut log = ExchangeLog::new(bindings, capabilities, &[], deadline);
        self.catch_up(&mut log).await;
        let end = self.run_cancelled(&mut log, call, canaries).await;
        log.finish(end.unwrap_or_else(|end| end))
    }

    async fn run_cancelled(
        &mut self,
        log: &mut ExchangeLog<'_>,
        call: Cancelled<'_>,
        canaries: &Canaries,
    ) -> Result<End, End> {
        let id = self.next_id();
        let params = self.params_of_call(log, call.tool, call.arguments, None);
        let awaits = Awaits::Response(id.into());
        let mut reply = self.send(log, message::request(id, "tools/call", &params), &[]).await?;
        let started = timeout(PATIENCE, canaries.requested(STARTED));
        if let Some(message) = self.receive_until(log, &mut reply, &awaits, (started, false)).await? {
            return Ok(End::Replied { message });
        }
        if !canaries.is_requested(STARTED) {
            return Err(End::Timeout);
        }
        let begins = timeout(BEGINS, pending::<()>());
        if let Some(message) = self.receive_until(log, &mut reply, &awaits, (begins, false)).await? {
            return Ok(End::Replied { message });
        }
        let has_stream = reply.as_ref().is_some_and(Reply::is_event_stream);
        let is_stateless = self.revision.facts().lifecycle == Lifecycle::Stateless;
        if reply.is_some() && (call.hangs_up || is_stateless) {
            reply = None;
        } else {
            let params = object([("requestId", id.to_string()), ("reason", "\"casebook\"".to_owned())]);
            let cancelled = object([
                ("jsonrpc", "\"2.0\"".to_owned()),
                ("method", "\"notifications/cancelled\"".to_owned()),
                ("params", params),
            ]);
            _ = log.deadline.narrowed(GRACE).bound(self.deliver(log, cancelled)).await;
        }
        let patience = if call.hangs_up { HANG_UP } else { PATIENCE };
        let stopped = || timeout(patience, canaries.requested(STOPPED));
        let late = match self.receive_until(log, &mut reply, &awaits, (stopped(), true)).await? {
            // A response may also be sent after the code has stopped.
            None => self.receive_until(log, &mut reply, &awaits, (timeout(GRACE, pending::<()>()), true)).await?,
            late => {
                // The code may also stop after a response was sent.
                self.receive_until(log, &mut reply, &awaits, (stopped(), true)).await?;
                late
            }
        };
        // The end of a connection is the end of a stream only if the server had begun one.
        let accepted = if call.hangs_up && !has_stream { End::Empty } else { End::Accepted };
        Ok(late.map_or(accepted, |message| End::Replied { message }))
    }

    /// Receives messages until something else happens. Returns the awaited response, if it arrives before. With `true`, the
    /// end of the reply's connection is no crash: a server has nothing to send for a call that was cancelled.
    async fn receive_until<T>(
        &mut self,
        log: &mut ExchangeLog<'_>,
        reply: &mut Option<Reply>,
        awaits: &Awaits,
        (end, may_end): (impl Future<Output = T>, bool),
    ) -> Result<Option<usize>, End> {
        let mut end = pin!(end);
        let mut has_others = self.has_other_messages();
        loop {
            let can_arrive = reply.is_some() || has_others;
            let came = tokio::select! {
                biased;
                _ = &mut end => return Ok(None),
                came = self.next(reply.as_mut()), if can_arrive => match came {
                    Err(End::Crash { .. }) if may_end && reply.is_some() => None,
                    came => came?,
                },
            };
            match came {
                Some(arrival) if is_empty(&arrival) => {}
                Some(arrival) => {
                    if let Some(response) = self.take(log, arrival, awaits).await? {
                        return Ok(Some(response));
                    }
                }
                None if reply.is_some() => *reply = None,
                None => has_others = false,
            }
        }
    }

    /// Sends an HTTP request without a message, and records its reply up to the headers of an event stream.
    pub(crate) async fn request_bare(
        &mut self,
        method: HttpMethod,
        changes: &[(String, Option<String>)],
        bindings: &Bindings,
        deadline: Deadline,
    ) -> Exchange {
        let mut log = ExchangeLog::new(bindings, String::new(), &[], deadline);
        let end = deadline.bound(self.bare(&mut log, method, changes)).await;
        log.finish(end.unwrap_or(Err(End::Timeout)).unwrap_or_else(|end| end))
    }

    async fn bare(
        &mut self,
        log: &mut ExchangeLog<'_>,
        method: HttpMethod,
        changes: &[(String, Option<String>)],
    ) -> Result<End, End> {
        let mut headers = self.headers();
        if method == HttpMethod::Get {
            headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        }
        headers::change(&mut headers, changes);
        let reason = "a bare request over stdio".to_owned();
        let mut reply = self.bare_reply(method, &headers).ok_or(End::Invalid { reason })?;
        log.sent("", headers);
        let status = reply.opened().await?;
        let head = if reply.is_event_stream() { Some(reply.head()) } else { reply.next().await? };
        if let Some(arrival) = head {
            log.received(arrival)?;
        }
        Ok(if (200..300).contains(&status) { End::Accepted } else { End::Http { status } })
    }
}

/// Returns whether a reply ended without a message.
fn is_empty(arrival: &Arrival) -> bool {
    arrival.text.is_empty() && !arrival.is_refusal()
}
