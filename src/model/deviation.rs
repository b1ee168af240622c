//! The deliberate errors, and the further messages, of the server that casebook runs for a client under test.

use serde::Serialize;

use super::template::Template;

/// One deliberate error that casebook makes as the server.
#[derive(Debug, PartialEq, Serialize)]
pub struct Deviation {
    /// The method whose response is changed.
    pub method: String,
    /// The number of responses to the method that are changed, from the first one; `None` changes all of them.
    pub times: Option<u64>,
    /// The change.
    pub change: Change,
}

/// A change to a response that would have been correct.
#[derive(Debug, PartialEq, Serialize)]
pub enum Change {
    /// Sets a member.
    Set {
        /// The place, as a JSON Pointer into the message.
        at: String,
        /// The new value.
        value: Template,
    },
    /// Removes a member.
    Remove {
        /// The place, as a JSON Pointer into the message.
        at: String,
    },
    /// Changes the HTTP response.
    Http {
        /// The new status.
        status: Option<u16>,
        /// Headers to replace or add.
        headers: Vec<(String, String)>,
        /// The number of bytes of the body after which the connection is closed.
        cut_after: Option<usize>,
    },
    /// Sends another message before the response.
    Before {
        /// The message, sent as it is written.
        message: Template,
    },
    /// Sends no response.
    Unanswered,
}
