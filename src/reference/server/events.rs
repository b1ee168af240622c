//! The body of an HTTP response: nothing, a text, or a stream of events.
//!
//! Takes messages as they are made, gives frames. Must not know what a message says.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::server::session::Outgoing;

/// A body.
pub(crate) struct Body {
    next: Option<Bytes>,
    rest: Option<mpsc::UnboundedReceiver<Outgoing>>,
}

impl Body {
    pub(crate) fn empty() -> Self {
        Self { next: None, rest: None }
    }

    pub(crate) fn whole(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        Self { next: (!text.is_empty()).then_some(text), rest: None }
    }

    /// A stream that begins with this message and ends with the reply.
    pub(crate) fn events(first: &str, rest: mpsc::UnboundedReceiver<Outgoing>) -> Self {
        Self { next: Some(event(first)), rest: Some(rest) }
    }
}

/// A message is one line, so its event has one `data` field.
fn event(text: &str) -> Bytes {
    format!("event: message\ndata: {text}\n\n").into()
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(next) = self.next.take() {
            return Poll::Ready(Some(Ok(Frame::data(next))));
        }
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        Poll::Ready(match ready!(rest.poll_recv(context)) {
            Some(Outgoing::Message(text)) => Some(Ok(Frame::data(event(&text)))),
            Some(Outgoing::Reply(_, text)) => {
                self.rest = None;
                Some(Ok(Frame::data(event(&text))))
            }
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.next.is_none() && self.rest.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.next, &self.rest) {
            (_, Some(_)) => SizeHint::default(),
            (next, None) => SizeHint::with_exact(next.as_ref().map_or(0, |text| text.len() as u64)),
        }
    }
}
