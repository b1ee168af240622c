//! The code of tools that does more than return a result: waiting, and sending notifications.
//!
//! The module takes the description of an effect, and the parameters of the call. It must not know transports.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::message::LOG_LEVEL_KEY;
use crate::policy::RequestsPolicy;
use crate::revision::Revision;
use crate::server::session::{Outgoing, Outlet};

/// The levels of log messages, the least severe first.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The longest time that a tool waits.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The time limit of a request for one of the two URLs.
const PATIENCE: Duration = Duration::from_secs(2);

/// A tool that waits until its call is cancelled.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Wait {
    started: String,
    stopped: String,
}

impl Wait {
    /// Requests one URL, waits, and requests the other one when the work is given up.
    pub(crate) async fn run(&self, goes_on: bool) {
        get(self.started.clone()).await;
        let stopped = (!goes_on).then(|| Stopped(self.stopped.clone()));
        sleep(LONGEST_WAIT).await;
        drop(stopped);
    }
}

/// Requests its URL when it is dropped.
struct Stopped(String);

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(get(std::mem::take(&mut self.0)));
        }
    }
}

/// Sends a GET request, and discards the response.
async fn get(url: String) {
    let request = async {
        let (authority, path) = url.strip_prefix("http://")?.split_once('/')?;
        let mut stream = TcpStream::connect(authority).await.ok()?;
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        stream.take(1 << 20).read_to_end(&mut Vec::new()).await.ok()
    };
    _ = timeout(PATIENCE, request).await;
}

/// A notification that a tool sends.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// The parameters of a log message.
    Log(Value),
    /// The parameters of a report of progress, without its token.
    Progress(Value),
}

impl Notice {
    /// Sends the notification, if the call requests it.
    pub(crate) fn send(&self, params: &Value, revision: Revision, policy: &RequestsPolicy, outlet: &Outlet) {
        let meta = |key: &str| params.get("_meta").and_then(|meta| meta.get(key));
        let (method, params) = match self {
            Self::Log(message) => {
                let least = meta(LOG_LEVEL_KEY);
                let is_requested = if revision.is_stateless() && policy.logs_on_demand {
                    least.and_then(severity).is_some_and(|least| severity(&message["level"]) >= Some(least))
                } else {
                    true
                };
                if !is_requested {
                    return;
                }
                ("notifications/message", message.clone())
            }
            Self::Progress(progress) => {
                let mut progress = progress.clone();
                progress["progressToken"] = match meta("progressToken") {
                    Some(token) => (policy.progress_token)(token),
                    None if policy.reports_unasked => json!("unasked"),
                    None => return,
                };
                ("notifications/progress", progress)
            }
        };
        let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        if policy.numbers_notifications {
            message["id"] = json!("notification");
        }
        let times = if policy.reports_twice && matches!(self, Self::Progress(_)) { 2 } else { 1 };
        for _ in 0..times {
            let _client_gone = outlet.send(Outgoing::Message(message.to_string()));
        }
        if policy.cancels_after_logs && matches!(self, Self::Log(_)) {
            let params = json!({ "requestId": "casebook-call" });
            let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            let _client_gone = outlet.send(Outgoing::Message(cancelled.to_string()));
        }
    }
}

/// Returns the severity of a level, or `None` for an unknown level.
pub(crate) fn severity(level: &Value) -> Option<usize> {
    LEVELS.iter().position(|known| level == known)
}
