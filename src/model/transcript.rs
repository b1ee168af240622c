//! The recording of one test: all messages on the wire, without any judgement.

use serde::{Deserialize, Serialize};

use super::spec::words;
use super::template::Bindings;
use super::{TargetId, TestId};

words! {
    /// The way in which an adapter serves a fixture over stdio.
    StdioMode {
        /// In the adapter's process, over a loopback stream in place of the standard streams.
        Stream = "stream",
        /// In a process of its own, over that process's standard streams.
        Process = "process",
        /// In both ways, one after the other; casebook compares the results.
        Both = "both",
    }
}

/// The recording of one test. It contains no judgement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transcript {
    /// The target.
    pub target: TargetId,
    /// The test.
    pub test: TestId,
    /// The values that the placeholders of the case were filled with.
    pub bindings: Bindings,
    /// The result of handing over the fixture.
    pub served: Served,
    /// The handshake that opened the connection. If several tests share a connection, the first of them has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opening: Vec<Message>,
    /// One entry for each step that was started.
    pub steps: Vec<StepTranscript>,
    /// Every fetch of a canary, from the time when casebook handed over the fixture to the end of the test. A server
    /// that the SDK refused to build has no steps that could list these fetches.
    #[serde(default)]
    pub canary: Vec<Hit>,
    /// The last lines that the target wrote to its standard error while this test ran.
    pub stderr: String,
    /// `true` if the target left a process behind that kept its pipes open.
    pub leaky: bool,
    /// The time from the first byte to the last, in microseconds.
    pub micros: u64,
    /// The way in which the adapter served the test over stdio, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdio: Option<StdioMode>,
    /// The recording of the same test in a process of its own, where it was run in both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Box<Transcript>>,
    /// The result of the same test of a pair without the proxy, if the run checks its proxy and the server was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_proxy: Option<WithoutProxy>,
}

/// The result of a test of a pair without the proxy, compared with the result of the same test with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WithoutProxy {
    /// The user of the client got the same.
    Same,
    /// The user got something else once, and the same when the test was run again in both ways.
    Varied,
    /// The user got something else twice.
    Different {
        /// The first part of the result that differs, with the proxy.
        with: String,
        /// The same part without the proxy.
        without: String,
    },
}

impl Transcript {
    /// The fetches of canaries until the end of a step. One that the last step began may come after its reply.
    pub(crate) fn hits<'t>(&'t self, step: &'t StepTranscript) -> &'t [Hit] {
        let is_last = self.steps.last().is_some_and(|last| std::ptr::eq(last, step));
        if is_last && self.canary.len() > step.canary.len() { &self.canary } else { &step.canary }
    }

    /// Returns a transcript without steps and messages.
    pub(crate) fn blank(target: TargetId, test: TestId, served: Served) -> Self {
        Self {
            target,
            test,
            bindings: Bindings::default(),
            served,
            opening: Vec::new(),
            steps: Vec::new(),
            canary: Vec::new(),
            stderr: String::new(),
            leaky: false,
            micros: 0,
            stdio: None,
            process: None,
            without_proxy: None,
        }
    }
}

/// The result of handing a fixture to a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Served {
    /// The server (or the client) was built.
    Serving,
    /// The SDK refused to build the server.
    Refused {
        /// The class of the SDK's error.
        r#type: String,
        /// The message of the SDK's error.
        message: String,
    },
    /// The SDK's public API cannot express the fixture.
    Cannot {
        /// The reason, as the adapter gives it.
        reason: String,
    },
    /// The target exited, timed out or sent an invalid response while it built the fixture.
    Failed {
        /// The kind of failure.
        end: End,
        /// A description for people.
        detail: String,
    },
    /// casebook failed because of a bug of its own.
    Broken {
        /// The message of the panic.
        reason: String,
    },
    /// casebook had stopped running tests on the target before this test.
    Unavailable {
        /// The reason.
        reason: String,
    },
}

/// The recording of one step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepTranscript {
    /// The messages, in the order in which they were sent and received.
    pub messages: Vec<Message>,
    /// The end of the step.
    pub end: End,
    /// The duration of the step, in microseconds.
    pub micros: u64,
    /// All fetches of canaries from the handover of the fixture to the end of this step.
    pub canary: Vec<Hit>,
    /// The result that a client under test returned to its user: the text of the adapter's response to this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<String>,
}

/// The end of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The target responded to the request with the message at this index.
    Replied {
        /// The index in the step's messages.
        message: usize,
    },
    /// The target accepted a notification or a response, which have no response of their own.
    Accepted,
    /// A client under test finished and returned a result to its user.
    Handed,
    /// The server asked for more input than the case answers.
    Unanswered,
    /// The HTTP reply ended without a response in it.
    Empty,
    /// The target replied with an HTTP error status and without a JSON-RPC message.
    Http {
        /// The status.
        status: u16,
    },
    /// The target sent something that is not a valid message of the protocol.
    Invalid {
        /// A description of the error.
        reason: String,
    },
    /// The target sent more bytes than casebook reads.
    Oversized,
    /// The time limit of the step passed.
    Timeout,
    /// The process exited or the connection broke.
    Crash {
        /// The exit status, the signal, or the error of the transport.
        how: String,
    },
}

/// One message on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    /// The sender.
    pub from: Party,
    /// The text as received. In a run log a long text is cut.
    pub text: String,
    /// The length of the whole text in bytes, if `text` was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
    /// `true` if some bytes were not valid UTF-8 and were replaced in `text`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// The HTTP status of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The HTTP headers of the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// `true` if a server sent the message on the stream of a GET request, and not in the reply to a message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_get_stream: bool,
    /// The number of the call, from 0, on whose reply a server sent the message, if several calls run at once over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_call: Option<usize>,
    /// The time at which the message was sent or received, in microseconds since the start of the test.
    pub at: u64,
}

words! {
    /// The sender of a message. In a pair, the client is the target, and its server stands in the harness's place.
    Party {
        /// The harness.
        Harness = "harness",
        /// The target.
        Target = "target",
    }
}

/// The largest number of bytes kept of a header's value. A value of this length may have been longer.
pub const HEADER_BYTES: usize = 1 << 10;
/// The name of the header with the id of a session.
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";
/// The name of the header with the revision.
pub(crate) const VERSION_HEADER: &str = "mcp-protocol-version";
/// The value of `:method` in the headers of an event: a client has closed the body of a reply that had no response.
pub(crate) const CLOSED: &str = "CLOSE";
/// The name of the header of such an event that has the id of the request.
pub(crate) const CLOSED_REQUEST: &str = ":request";
/// The name of the header of a GET request that comes before the time that the server named has passed.
pub(crate) const EARLY: &str = ":early";
/// The name of the header of an answer that comes after the reply that waited for it.
pub(crate) const LATE: &str = ":late";
/// The name of the header of a message over stdio that came from a further process of the client, with its number.
pub(crate) const PROCESS: &str = ":process";
/// The name of the header of a request with the id of a session that its server did not begin, or has ended.
pub(crate) const OTHER_SESSION: &str = ":other-session";
/// The header of a request that resumes a stream, with the id of its last event.
pub(crate) const LAST_EVENT: &str = "last-event-id";
/// The largest number of headers kept of a message. A message with this many may have had more.
pub const HEADERS: usize = 64;
/// The least status of an HTTP reply that is an error.
pub const HTTP_ERROR: u16 = 400;

impl Message {
    /// A whole message without information of the transport.
    pub(crate) fn new(from: Party, text: impl Into<String>) -> Self {
        let (text, headers) = (text.into(), Vec::new());
        Self {
            from,
            text,
            cut_from: None,
            lossy: false,
            status: None,
            headers,
            on_get_stream: false,
            on_call: None,
            at: 0,
        }
    }

    /// A whole message of bytes, which need not be UTF-8.
    pub(crate) fn of_bytes(from: Party, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let lossy = matches!(text, std::borrow::Cow::Owned(_));
        Self { lossy, ..Self::new(from, text) }
    }

    /// Returns the value of a header; the first one if there are several.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Cuts the text to at most `most` bytes, and notes its original length in `cut_from`.
    pub fn cut(&mut self, most: usize) {
        if self.text.len() > most {
            self.cut_from.get_or_insert(self.text.len() as u64);
            let end = (0..=most).rev().find(|end| self.text.is_char_boundary(*end));
            self.text.truncate(end.unwrap_or(0));
            self.text.shrink_to_fit();
        }
    }
}

/// The end of the address that the code of a tool requests when it starts to wait.
pub const STARTED: &str = "/started";
/// The end of the address that the code of a tool requests when its call is cancelled.
pub const STOPPED: &str = "/stopped";

/// One fetch of a canary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The fetched address.
    pub url: String,
    /// The phase of the test in which the address was fetched.
    pub phase: Phase,
}

words! {
    /// A phase of a test.
    Phase {
        /// The target was building the fixture.
        Serve = "serve",
        /// The connection was being opened.
        Connect = "connect",
        /// A step was running.
        Step = "step",
    }
}
