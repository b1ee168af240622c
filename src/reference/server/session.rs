//! What a stateful connection remembers: who the client is, what it was asked, what it may still cancel.
//!
//! Must not know what is asked or called, nor over which transport.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// What goes out while a request is answered.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A request of our own.
    Message(String),
    /// The reply, and the HTTP status that goes with it.
    Reply(u16, String),
}

/// Where it goes out.
pub(crate) type Outlet = mpsc::UnboundedSender<Outgoing>;

type Answer = Result<Value, Value>;

/// One session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    capabilities: Value,
    initialized: AtomicBool,
    asked: AtomicU64,
    unanswered: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    running: Mutex<HashMap<String, oneshot::Sender<()>>>,
}

impl Session {
    pub(crate) fn new(capabilities: Value) -> Self {
        Self { capabilities, ..Self::default() }
    }

    pub(crate) fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    /// Takes note of a notification.
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

    /// Takes a response to a request of ours; one that nobody waits for is dropped.
    pub(crate) fn take(&self, id: &Value, outcome: Answer) {
        if let Some(waiting) = id.as_u64().and_then(|id| locked(&self.unanswered).remove(&id)) {
            let _nobody_waits = waiting.send(outcome);
        }
    }

    /// Ends it: whoever waits for an answer won't get one.
    pub(crate) fn end(&self) {
        locked(&self.unanswered).clear();
        locked(&self.running).clear();
    }

    /// Asks the client, and waits for its answer.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) async fn ask(&self, outlet: &Outlet, method: &str, params: &Value) -> Result<Value, String> {
        if !self.initialized.load(Ordering::Acquire) {
            return Err("the client can't be asked before it has sent notifications/initialized".to_owned());
        }
        let id = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        {
            let mut unanswered = locked(&self.unanswered);
            unanswered.retain(|_, waiting| !waiting.is_closed());
            unanswered.insert(id, sender);
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        outlet.send(Outgoing::Message(request.to_string())).map_err(|_| "the client has gone".to_owned())?;
        tokio::select! {
            answer = answer => match answer {
                Ok(Ok(result)) => Ok(result),
                Ok(Err(error)) => Err(format!("the client answered with an error: {error}")),
                Err(_) => Err("the session has ended".to_owned()),
            },
            () = outlet.closed() => Err("the client has gone".to_owned()),
        }
    }

    /// Does the work of a request, unless it is cancelled.
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

/// A lock whose holder panicked still guards whole values: every change here is one call.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
