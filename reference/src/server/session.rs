//! The state of a stateful connection: the client's capabilities, the pending questions and the running requests.
//!
//! It must not know the content of questions and calls, nor the transport.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// A message that is sent while a request is processed.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A request of the server.
    Message(String),
    /// The reply to the request, and its HTTP status.
    Reply(u16, String),
}

/// The channel for these messages.
pub(crate) type Outlet = mpsc::UnboundedSender<Outgoing>;

type Answer = Result<Value, Value>;

/// One session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    capabilities: Value,
    initialized: AtomicBool,
    asked: AtomicU64,
    unanswered: Mutex<HashMap<String, oneshot::Sender<Answer>>>,
    running: Mutex<HashMap<String, oneshot::Sender<()>>>,
    get_stream: Mutex<Option<Outlet>>,
}

impl Session {
    pub(crate) fn new(capabilities: Value) -> Self {
        Self { capabilities, ..Self::default() }
    }

    pub(crate) fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    /// Processes a notification.
    pub(crate) fn notice(&self, method: &str, params: Option<&Value>) {
        match method {
            "notifications/initialized" => self.initialized.store(true, Ordering::Release),
            "notifications/cancelled" => {
                if let Some(id) = params.and_then(|params| params.get("requestId")) {
                    drop(locked(&self.running).remove(&id.to_string()));
                }
            }
            _ => {}
        }
    }

    /// Returns whether the request that a cancellation names is running.
    pub(crate) fn runs(&self, params: Option<&Value>) -> bool {
        let id = params.and_then(|params| params.get("requestId"));
        id.is_some_and(|id| locked(&self.running).contains_key(&id.to_string()))
    }

    /// Processes a response of the client. A response that no request waits for is ignored.
    pub(crate) fn take(&self, id: &Value, outcome: Answer) {
        if let Some(waiting) = locked(&self.unanswered).remove(&id.to_string()) {
            let _ignored = waiting.send(outcome);
        }
    }

    /// Ends the session, and with it all pending questions and running requests.
    pub(crate) fn end(&self) {
        locked(&self.unanswered).clear();
        locked(&self.running).clear();
        *locked(&self.get_stream) = None;
    }

    /// Opens the stream of a GET request, in place of an earlier one. Returns its messages.
    pub(crate) fn listen(&self) -> mpsc::UnboundedReceiver<Outgoing> {
        let (outlet, messages) = mpsc::unbounded_channel();
        *locked(&self.get_stream) = Some(outlet);
        messages
    }

    /// Sends a message on the stream of a GET request, if there is one.
    pub(crate) fn send(&self, text: String) {
        if let Some(outlet) = &*locked(&self.get_stream) {
            let _client_gone = outlet.send(Outgoing::Message(text));
        }
    }

    /// Elicits input from the client, and waits for the response.
    ///
    /// # Errors
    /// The reason why there is no response.
    pub(crate) async fn ask(
        &self,
        outlet: &Outlet,
        written: fn(u64) -> Value,
        params: &Value,
    ) -> Result<Value, String> {
        if !self.initialized.load(Ordering::Acquire) {
            return Err("the client cannot be asked before it has sent notifications/initialized".to_owned());
        }
        let id = written(self.asked.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, answer) = oneshot::channel();
        {
            let mut unanswered = locked(&self.unanswered);
            unanswered.retain(|_, waiting| !waiting.is_closed());
            unanswered.insert(id.to_string(), sender);
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params });
        outlet.send(Outgoing::Message(request.to_string())).map_err(|_| "the client has disconnected".to_owned())?;
        tokio::select! {
            answer = answer => match answer {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(error)) => Err(format!("the client responded with an error: {error}")),
                Err(_) => Err("the session has ended".to_owned()),
            },
            () = outlet.closed() => Err("the client has disconnected".to_owned()),
        }
    }

    /// Runs the work of a request, unless the request is cancelled.
    pub(crate) async fn unless_cancelled<T>(&self, id: &Value, work: impl Future<Output = T>) -> Option<T> {
        let (sender, cancelled) = oneshot::channel();
        locked(&self.running).insert(id.to_string(), sender);
        let outcome = tokio::select! {
            outcome = work => Some(outcome),
            _ = cancelled => None,
        };
        locked(&self.running).remove(&id.to_string());
        outcome
    }
}

/// Locks a mutex, even if a previous holder panicked: every change here is a single call, so the value is consistent.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
