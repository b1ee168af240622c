//! Several calls that run at once.
//!
//! Takes calls, sends all of them before it reads an answer, and gives the messages with the call on whose reply each came.
//! Must not know the expected behaviour.

use std::time::Duration;

use futures_util::future::select_all;
use serde_json::Value;

use crate::drive::clock::Deadline;
use crate::drive::server::connection::Connection;
use crate::drive::server::exchange::{Arrival, Exchange, ExchangeLog};
use crate::drive::server::http::Reply;
use crate::jsonrpc::message::{self, Awaits, Kind};
use crate::model::case::{CallAtOnce, Step};
use crate::model::template::Bindings;
use crate::model::transcript::End;

/// The time for which the replies may stay open after the last response, in which a message may come a second time.
const AFTERMATH: Duration = Duration::from_millis(100);

/// A call of which the end is awaited.
struct Pending {
    id: u64,
    /// The reply to its request over HTTP, until it ends.
    reply: Option<Reply>,
    is_answered: bool,
}

impl Connection {
    /// Sends several calls, and then receives their responses.
    pub(crate) async fn call_at_once(
        &mut self,
        calls: &[CallAtOnce],
        step: &Step,
        bindings: &Bindings,
        deadline: Deadline,
    ) -> Exchange {
        let capabilities = self.capabilities(step.declares.as_ref(), bindings);
        let mut log = ExchangeLog::new(bindings, capabilities, &[], deadline);
        self.catch_up(&mut log).await;
        let end = self.run_at_once(&mut log, calls).await;
        log.finish(end.err().unwrap_or(End::Accepted))
    }

    async fn run_at_once(&mut self, log: &mut ExchangeLog<'_>, calls: &[CallAtOnce]) -> Result<(), End> {
        let mut pending = Vec::new();
        for CallAtOnce { tool, arguments, token } in calls {
            let id = self.next_id();
            let params = self.params_of_call(log, tool, arguments.as_ref(), token.as_deref());
            let limit = log.deadline;
            let sent = limit.bound(self.send(log, message::request(id, "tools/call", &params), &[])).await;
            pending.push(Pending { id, reply: sent.unwrap_or(Err(End::Timeout))?, is_answered: false });
        }
        let by_stdio = pending.iter().all(|call| call.reply.is_none());
        let goes_on = |pending: &[Pending]| {
            pending.iter().any(|call| !call.is_answered)
                && (by_stdio || pending.iter().any(|call| call.reply.is_some()))
        };
        while goes_on(&pending) {
            let limit = log.deadline;
            limit.bound(self.receive_one(log, &mut pending)).await.unwrap_or(Err(End::Timeout))?;
        }
        let limit = log.deadline.narrowed(AFTERMATH);
        while by_stdio || pending.iter().any(|call| call.reply.is_some()) {
            let Some(Ok(())) = limit.bound(self.receive_one(log, &mut pending)).await else { break };
        }
        Ok(())
    }

    /// Receives a message, or the end of a reply.
    async fn receive_one(&mut self, log: &mut ExchangeLog<'_>, pending: &mut [Pending]) -> Result<(), End> {
        let (place, came) = self.next_of(pending).await;
        let Some(arrival) = came? else {
            if let Some(place) = place {
                pending[place].reply = None;
            }
            return Ok(());
        };
        let is_refusal = arrival.is_refusal();
        let arrival = Arrival { on_call: place, ..arrival };
        let Some(response) = self.take(log, arrival, &Awaits::Anything).await? else { return Ok(()) };
        let id = match message::read(log.text(response)) {
            Ok(Kind::Response { id, .. }) => id.as_ref().and_then(Value::as_u64),
            _ => None,
        };
        let refused = place.filter(|_| is_refusal);
        let answered = pending.iter().position(|call| Some(call.id) == id).or(refused);
        if let Some(place) = answered {
            pending[place].is_answered = true;
        }
        Ok(())
    }

    /// Returns the next message of a reply with the place of its call, or of another stream.
    async fn next_of(&mut self, pending: &mut [Pending]) -> (Option<usize>, Result<Option<Arrival>, End>) {
        let open = pending.iter_mut().enumerate().filter_map(|(place, call)| Some((place, call.reply.as_mut()?)));
        let next = open.map(|(place, reply)| Box::pin(async move { (place, reply.next().await) }));
        let next: Vec<_> = next.collect();
        if next.is_empty() {
            return (None, self.next(None).await);
        }
        let has_others = self.has_other_messages();
        tokio::select! {
            biased;
            ((place, came), ..) = select_all(next) => (Some(place), came),
            came = self.next(None), if has_others => (None, came),
        }
    }
}
