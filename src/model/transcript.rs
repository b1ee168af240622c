//! What went over the wire while a test ran: all that was seen, and nothing that was thought of it.

use serde::{Deserialize, Serialize};

use super::spec::words;
use super::template::Bindings;
use super::{TargetId, TestId};

words! {
    /// The way in which an adapter serves over stdio.
    StdioMode {
        /// In the adapter's process, over a stream on loopback in place of the standard streams.
        Stream = "stream",
        /// In a process of its own, over its standard streams.
        Process = "process",
        /// Both, one after the other, and compared.
        Both = "both",
    }
}

/// Everything that was seen while one test ran. It can't say whether that was right.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transcript {
    /// The target.
    pub target: TargetId,
    /// The test.
    pub test: TestId,
    /// What the case's places were filled with.
    pub bindings: Bindings,
    /// What became of the fixture.
    pub served: Served,
    /// The handshake by which the connection was opened; tests that share one have it with the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opening: Vec<Message>,
    /// One entry a step that was begun.
    pub steps: Vec<StepTranscript>,
    /// Every fetch of a canary, from when the fixture was handed over to the end of the test; a server that was
    /// refused has no step to tell them.
    #[serde(default)]
    pub canary: Vec<Hit>,
    /// The last lines that the target wrote to its standard error while this test ran.
    pub stderr: String,
    /// Whether the process left something behind that held its pipes open.
    pub leaky: bool,
    /// From the first byte to the last, in microseconds.
    pub micros: u64,
    /// The way in which an adapter served it, where that was over stdio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdio: Option<StdioMode>,
    /// The same test in a process of its own, where it was run in both ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Box<Transcript>>,
}

impl Transcript {
    /// A transcript in which nothing was seen.
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
        }
    }
}

/// What became of the fixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Served {
    /// The server (or the client) is there.
    Serving,
    /// The SDK would not build it.
    Refused {
        /// The class of the SDK's error.
        r#type: String,
        /// Its words.
        message: String,
    },
    /// The SDK's public API can't express it; the adapter says why.
    Cannot {
        /// Why.
        reason: String,
    },
    /// The target died, hung, or answered nonsense while it built.
    Failed {
        /// How.
        end: End,
        /// What happened, in words.
        detail: String,
    },
    /// A bug of the harness's own.
    Broken {
        /// The words of the panic.
        reason: String,
    },
    /// The target was given up before this test's turn.
    Unavailable {
        /// Why.
        reason: String,
    },
}

/// What was seen during one step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepTranscript {
    /// The messages, in the order in which they were sent and came.
    pub messages: Vec<Message>,
    /// How the step ended.
    pub end: End,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Fetches of canaries since the fixture was served, up to the end of this step.
    pub canary: Vec<Hit>,
    /// What a client under test handed to its user: the text of the adapter's answer for this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<String>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// With a response to the request: the message at this index.
    Replied {
        /// Index into the step's messages.
        message: usize,
    },
    /// There was nothing to wait for: a notification or an answer was taken.
    Accepted,
    /// A client under test was done, and handed something to its user.
    Handed,
    /// The server asked for more than the case answers.
    Unanswered,
    /// The reply ended without a response in it.
    Empty,
    /// An HTTP status that tells an error, without a JSON-RPC message.
    Http {
        /// The status.
        status: u16,
    },
    /// Something that is no message of the protocol.
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// More bytes than the harness reads.
    Oversized,
    /// The limit passed.
    Timeout,
    /// The process died or the connection broke.
    Crash {
        /// How: the exit status, the signal, or the transport's error.
        how: String,
    },
}

/// One message on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    /// Who sent it.
    pub from: Party,
    /// Its text, as it came; cut in the log where it is long.
    pub text: String,
    /// The length of the whole text in bytes, where `text` was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
    /// Some of its bytes were no UTF-8, and were replaced in `text`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
    /// The HTTP status that it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The HTTP headers that it was sent or came with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// When, in microseconds since the test began.
    pub at: u64,
}

words! {
    /// Who sent a message.
    Party {
        /// The harness.
        Harness = "harness",
        /// The target.
        Target = "target",
    }
}

/// The bytes of a header's value that are kept: one that is as long may have been longer.
pub const HEADER_BYTES: usize = 1 << 10;
/// The number of headers of a message that are kept: where there are as many, there may have been more.
pub const HEADERS: usize = 64;

impl Message {
    /// Leaves at most so many bytes of its text, and says how long it was.
    pub fn cut(&mut self, most: usize) {
        if self.text.len() > most {
            self.cut_from.get_or_insert(self.text.len() as u64);
            let end = (0..=most).rev().find(|end| self.text.is_char_boundary(*end));
            self.text.truncate(end.unwrap_or(0));
            self.text.shrink_to_fit();
        }
    }
}

/// One fetch of a canary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The address that was fetched.
    pub url: String,
    /// What was done in the meantime.
    pub phase: Phase,
}

words! {
    /// What was going on.
    Phase {
        /// The fixture was being built.
        Serve = "serve",
        /// The connection was being made.
        Connect = "connect",
        /// A step was under way.
        Step = "step",
    }
}
