//! The messages of a request as a stream of events.
//!
//! Takes the work on a request and the messages that it sends, gives the body of a response. Must not know what the
//! messages mean.

use std::convert::Infallible;
use std::pin::Pin;

use futures_util::future::{self, FusedFuture, FutureExt as _};
use futures_util::{StreamExt as _, stream};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;
use sse_stream::{BodyError, Sse, SseBody};
use tokio::sync::mpsc;

use crate::policy::TransportPolicy;
use crate::server::session::Outgoing;

/// The body of a response.
pub(super) type Body = UnsyncBoxBody<Bytes, BodyError>;

/// The work on a request, which ends before its messages do.
pub(super) type Work = Pin<Box<dyn FusedFuture<Output = ()> + Send>>;

/// Returns no work, for messages that come from elsewhere.
pub(super) fn nothing() -> Work {
    Box::pin(future::ready(()).fuse())
}

/// Works on a request until it has a message.
pub(super) async fn next(work: &mut Work, outgoing: &mut mpsc::UnboundedReceiver<Outgoing>) -> Option<Outgoing> {
    loop {
        tokio::select! {
            biased;
            message = outgoing.recv() => return message,
            () = &mut *work, if !work.is_terminated() => {}
        }
    }
}

/// Returns a stream of events that begins with a message of the server, and ends with the reply.
pub(super) fn notified(
    policy: &TransportPolicy,
    first: String,
    work: Work,
    rest: mpsc::UnboundedReceiver<Outgoing>,
) -> Body {
    // A question must precede its answer.
    if policy.notifies_last && first.contains(r#""method":"notifications/progress""#) {
        return events(None, work, rest, Some(first));
    }
    events(Some(first), work, rest, None)
}

/// Returns a stream of events that begins with the first message, if there is one, and ends with the reply, or with the
/// last message after it.
pub(super) fn events(
    first: Option<String>,
    work: Work,
    rest: mpsc::UnboundedReceiver<Outgoing>,
    last: Option<String>,
) -> Body {
    let rest = stream::unfold(Some((work, rest)), |rest| async {
        let (mut work, mut rest) = rest?;
        match next(&mut work, &mut rest).await? {
            Outgoing::Message(text) => Some((text, Some((work, rest)))),
            Outgoing::Reply(_, text) => Some((text, None)),
        }
    });
    let messages = stream::iter(first).chain(rest).chain(stream::iter(last));
    let event = |text: String| Ok::<_, Infallible>(Sse::default().event("message").data(text));
    SseBody::new(messages.map(event)).boxed_unsync()
}
