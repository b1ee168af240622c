//! The methods that a proposal adds, with replies as data.
//!
//! The module takes the parameters of a request, and returns the reply. It must not know transports.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::edits::Hook;
use crate::message::{Fault, Request, SERVER_KEY, Success, success};
use crate::server::Server;
use crate::server::session::{Outgoing, Outlet};

/// A reply as the fixture writes it.
#[derive(Debug, Deserialize)]
pub(crate) struct ProposedReply {
    result: Option<Map<String, Value>>,
    error: Option<ProposedError>,
    #[serde(default)]
    notify: Vec<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
struct ProposedError {
    code: i32,
    message: String,
    data: Option<Value>,
}

/// A method with its replies in the order of the requests; the last one is repeated.
#[derive(Debug)]
pub(crate) struct Method {
    replies: Vec<ProposedReply>,
    requests: AtomicUsize,
}

impl Method {
    pub(crate) fn new(replies: Vec<ProposedReply>) -> Self {
        Self { replies, requests: AtomicUsize::new(0) }
    }

    fn next(&self) -> Option<&ProposedReply> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        self.replies.get(number).or(self.replies.last())
    }
}

impl Server {
    /// Returns the result of a request for a method that no released revision knows. `status` is the HTTP status for a
    /// method that the fixture does not have either.
    ///
    /// # Errors
    /// The fault to respond with.
    pub(crate) fn proposed(&self, request: &Request, status: u16, outlet: &Outlet) -> Result<Success, Fault> {
        let unknown = || Fault::unknown_method(status, &request.method);
        let reply = self.fixture.methods.get(&request.method).and_then(Method::next).ok_or_else(unknown)?;
        for notice in &reply.notify {
            let mut message = json!({ "jsonrpc": "2.0" });
            for (key, value) in notice {
                message[key] = value.clone();
            }
            self.policy().pass(Hook::Notice, &mut message);
            let _client_gone = outlet.send(Outgoing::Message(message.to_string()));
        }
        if let Some(ProposedError { code, message, data }) = &reply.error {
            return Err(Fault { status: 200, code: *code, message: message.clone(), data: data.clone() });
        }
        let mut result = reply.result.clone().unwrap_or_else(|| {
            // The echo of the parameters, without what a client completes.
            let mut params = request.params.clone().unwrap_or_else(|| json!({}));
            params.as_object_mut().and_then(|params| params.shift_remove("_meta"));
            Map::from_iter([("params".to_owned(), params)])
        });
        if self.fixture.revision.is_stateless() {
            result.entry("resultType").or_insert_with(|| json!("complete"));
            result.entry("_meta").or_insert_with(|| json!({ SERVER_KEY: self.fixture.server }));
        }
        Ok(success(&result))
    }
}
