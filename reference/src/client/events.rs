//! Server-sent events: the messages of a response's events.
//!
//! The size is limited. The reader keeps the data that is needed to resume a broken stream. It must not know the
//! content of messages.

use std::io;
use std::time::Duration;

use futures_util::StreamExt as _;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, LengthLimitError, Limited, StreamBody};
use hyper::body::{Bytes, Frame};
use reqwest::{Body, Response};
use sse_stream::{Error, SseStream};

use super::failure::Failure;
use super::http::too_large;
use super::incoming::Incoming;
use crate::message::LONGEST;
use crate::policy::ClientPolicy;

/// A stream of events that is being read.
pub(super) struct Events {
    policy: &'static ClientPolicy,
    stream: SseStream<BoxBody<Bytes, io::Error>>,
    /// The id from which a broken stream can be resumed.
    pub(super) last_id: Option<String>,
    /// The delay before a broken stream is resumed.
    pub(super) retry: Duration,
}

impl Events {
    pub(super) fn of(response: Response, policy: &'static ClientPolicy) -> Self {
        let body = Limited::new(Body::from(response), LONGEST).map_err(io::Error::other);
        let pieces = body.into_data_stream().map(|piece| (policy.stream)(piece?).map(Frame::data));
        let body = StreamBody::new(pieces);
        Self { policy, stream: SseStream::new(BodyExt::boxed(body)), last_id: None, retry: Duration::from_millis(100) }
    }

    /// Returns the rest of this stream, from another response.
    pub(super) fn resumed(&self, response: Response) -> Self {
        Self { last_id: self.last_id.clone(), retry: self.retry, ..Self::of(response, self.policy) }
    }

    /// Returns the next message, or `None` if the stream ends or breaks.
    pub(super) async fn next(&mut self) -> Option<Result<Incoming, Failure>> {
        loop {
            let event = match self.stream.next().await? {
                Ok(event) => event,
                Err(Error::Body(error)) => {
                    let cause = error.downcast::<io::Error>().ok().and_then(|error| error.into_inner());
                    return cause.is_some_and(|cause| cause.is::<LengthLimitError>()).then(|| Err(too_large()));
                }
                Err(error) => return Some(Err(Failure::protocol(error.to_string()))),
            };
            self.last_id = event.id.or(self.last_id.take());
            self.retry = event.retry.map_or(self.retry, Duration::from_millis);
            // An event without data only sets the id from which the stream can be resumed.
            let data = event.data.filter(|data| !data.is_empty() || !self.policy.skips_empty_events);
            let is_message =
                event.event.map_or(!self.policy.needs_event_name, |kind| kind.is_empty() || kind == "message");
            if let Some(data) = data.filter(|_| is_message) {
                return Some(Incoming::read((self.policy.data)(&data).as_bytes()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use serde_json::json;

    use super::*;

    const STREAM: &str = "\u{feff}: hello\nid: 7\r\nretry: 5\rdata\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\n\
                          data:\"id\":1,\"result\":{}}\r\n\r\n:\r\revent: other\ndata: lost\n\nid: 8\ndata:?\n\n\
                          data: unfinished";

    fn events(pieces: impl IntoIterator<Item = Vec<u8>>) -> Events {
        let frames: Vec<_> =
            pieces.into_iter().map(|piece| Ok::<_, io::Error>(Frame::data(Bytes::from(piece)))).collect();
        let body = Body::wrap(StreamBody::new(stream::iter(frames)));
        Events::of(Response::from(hyper::Response::new(body)), &ClientPolicy::STRICT)
    }

    #[tokio::test]
    async fn stream_in_pieces_of_any_size_is_read_the_same() {
        for size in 1..=STREAM.len() {
            let mut events = events(STREAM.as_bytes().chunks(size).map(<[u8]>::to_vec));
            let reply = events.next().await;
            assert!(
                matches!(reply, Some(Ok(Incoming::Reply { id: Some(id), .. })) if id == json!(1)),
                "pieces of {size}"
            );
            assert_eq!((events.last_id.as_deref(), events.retry), (Some("7"), Duration::from_millis(5)));
            assert!(matches!(events.next().await, Some(Err(_))), "`?` is no message");
            assert_eq!(events.last_id.as_deref(), Some("8"));
            assert!(events.next().await.is_none(), "pieces of {size}");
        }
    }

    #[tokio::test]
    async fn stream_over_the_size_limit_is_refused() {
        let endless = std::iter::repeat_n(vec![b'x'; 1 << 20], (LONGEST >> 20) + 1);
        assert!(matches!(events(endless).next().await, Some(Err(Failure::Protocol(_)))));
    }
}
