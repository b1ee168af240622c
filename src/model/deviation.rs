//! The deliberate errors, and the further messages, of the server that casebook runs for a client under test.

use serde::Serialize;

use super::spec::words;
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
    /// Writes the response in another legal way. It is an error only of a client that cannot read it.
    Written(Written),
    /// Sends no response.
    Unanswered,
}

words! {
    /// A legal way in which a message is written. All but the last three need an event stream.
    Written {
        /// The lines of the event stream end with a carriage return and a line feed.
        CrLf = "cr-lf",
        /// The lines of the event stream end with a carriage return alone.
        Cr = "cr",
        /// The event has several `data` lines.
        SeveralLines = "several-lines",
        /// No space follows the colon of a field.
        NoSpace = "no-space",
        /// The event has no name.
        Unnamed = "unnamed",
        /// A comment precedes the event.
        Comment = "comment",
        /// The event has an id.
        WithId = "with-id",
        /// An event with an id and without data precedes the event.
        Primed = "primed",
        /// The event tells how long the client waits before it reconnects.
        Retry = "retry",
        /// An event of another name precedes the event.
        OtherEvent = "other-event",
        /// The stream begins with a byte order mark.
        ByteOrderMark = "byte-order-mark",
        /// The bytes of each character outside ASCII arrive in two parts.
        CutCharacters = "cut-characters",
        /// The stream ends before the message, which follows when the client resumes the stream by its last event.
        Resumed = "resumed",
        /// Over HTTP as over stdio, each slash and each character outside ASCII is an escape of JSON.
        Escaped = "escaped",
        /// Over HTTP as over stdio, white space surrounds the message.
        Padded = "padded",
        /// Over stdio, the line ends with a carriage return and a line feed.
        LineCrLf = "line-cr-lf",
    }
}

impl Written {
    /// Returns whether it is a form of an event stream.
    pub fn is_of_events(self) -> bool {
        !matches!(self, Self::Escaped | Self::Padded | Self::LineCrLf)
    }

    /// Returns the form in words.
    pub fn description(self) -> &'static str {
        match self {
            Self::CrLf => "its lines end with CR LF",
            Self::Cr => "its lines end with CR",
            Self::SeveralLines => "its event has several `data` lines",
            Self::NoSpace => "its fields have no space after the colon",
            Self::Unnamed => "its event has no name",
            Self::Comment => "a comment precedes its event",
            Self::WithId => "its event has an id",
            Self::Primed => "an event with an id and without data precedes it",
            Self::Retry => "its event has a `retry` field",
            Self::OtherEvent => "an event of another name precedes it",
            Self::ByteOrderMark => "its stream begins with a byte order mark",
            Self::CutCharacters => "its characters outside ASCII arrive in two parts",
            Self::Resumed => "its stream ends before it, and has it when the client resumes the stream",
            Self::Escaped => "slashes and characters outside ASCII are escaped in its JSON",
            Self::Padded => "white space surrounds its JSON",
            Self::LineCrLf => "its line ends with CR LF",
        }
    }
}
