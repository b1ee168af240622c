//! The meeting of two calls that run at once, which only mutants use.
//!
//! It takes the text of a reply and gives the text to send. It must not know transports.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::message::Request;
use crate::policy::AtOnce;
use crate::server::Server;
use crate::server::session::{Outgoing, Outlet, locked};

/// The time in which another call must end.
const PATIENCE: Duration = Duration::from_millis(200);

/// The reply to a call that waits for the reply to another one, and the way to give it that one.
#[derive(Debug, Default)]
pub(crate) struct Meeting(Mutex<Option<(String, oneshot::Sender<String>)>>);

impl Server {
    /// Returns the text of a reply. A mutant changes it if another call ends at about the same time.
    ///
    /// Only calls with a progress token wait for one another, so that all others stay fast.
    pub(crate) async fn met(&self, request: &Request, text: String, outlet: &Outlet) -> String {
        let Some(kind) = self.fixture.policy.transport.calls_at_once else { return text };
        let token = request.params.as_ref().and_then(|params| params.pointer("/_meta/progressToken"));
        if request.method != "tools/call" || token.is_none() {
            return text;
        }
        let Some(other) = self.other(&text).await else { return text };
        match kind {
            AtOnce::Exchanged => other,
            AtOnce::Crossed => with_id(&other, &request.id),
            AtOnce::Copied => {
                let _client_gone = outlet.send(Outgoing::Message(other));
                text
            }
        }
    }

    /// Gives the text to a call that waits, or waits for another call. Returns the text of the other one.
    async fn other(&self, text: &str) -> Option<String> {
        let waiting = {
            let mut place = locked(&self.meeting.0);
            if let Some((other, sender)) = place.take()
                && sender.send(text.to_owned()).is_ok()
            {
                return Some(other);
            }
            let (sender, receiver) = oneshot::channel();
            *place = Some((text.to_owned(), sender));
            receiver
        };
        timeout(PATIENCE, waiting).await.ok()?.ok()
    }
}

/// Returns a reply with another id.
fn with_id(text: &str, id: &Value) -> String {
    let Ok(mut reply) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    reply["id"] = id.clone();
    reply.to_string()
}
