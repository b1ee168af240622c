//! The retry of a call after questions, where a case wants one that no usual client would send.

use serde::Serialize;

use super::spec::words;
use super::template::Template;

/// The differences between a retry with answers and the retry of a usual client (stateless lifecycle only).
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Retry {
    /// The change to the `requestState`, where the server sent one.
    pub state: Option<Tampering>,
    /// The change to the answers.
    pub answers: Option<Misplacing>,
    /// Arguments that differ from those of the call.
    pub arguments: Option<Template>,
    /// Another tool than that of the call.
    pub tool: Option<String>,
    /// The number of seconds between the question and the retry.
    pub after: u8,
    /// `true` if the retry is sent over a new connection (HTTP only).
    pub fresh: bool,
}

words! {
    /// A change to the answers of a retry.
    Misplacing {
        /// The retry has none.
        LeftOut = "left-out",
        /// Each one is under another key.
        Renamed = "renamed",
        /// The retry has them, and one more under a key that the server did not give.
        Added = "added",
    }
}

words! {
    /// A change to a `requestState`.
    Tampering {
        /// casebook replaces it with a text of its own.
        Forged = "forged",
        /// casebook changes a character in its middle.
        Altered = "altered",
    }
}
