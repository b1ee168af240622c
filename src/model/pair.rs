//! Pairs: the client of one target, connected with the server of another, and the side at which such a test fails.

use serde::{Deserialize, Serialize};

use super::spec::{Lifecycle, Revision, Role, words};
use super::target::{Target, TargetPair};
use super::{RequirementId, TargetId};

words! {
    /// A rule about the messages of a pair, named by its requirement. Its violation can be the reason for which the
    /// other side refuses something.
    Rule {
        /// The client declares elicitation before it calls a tool that asks.
        ClientDeclares = "elicitation/client-declares",
        /// The client declares elicitation on each request, without a handshake.
        DeclaredOnEachRequest = "elicitation/declared-on-each-request",
        /// A notification has no id.
        NotificationHasNoId = "base/notification-has-no-id",
        /// `Accept` lists both media types.
        AcceptListsBoth = "http/accept-lists-both",
        /// The method is in a header.
        MethodHeaderSent = "http/method-header-sent",
        /// The name of the tool is in a header.
        NameHeaderSent = "http/name-header-sent",
        /// The revision is in a header, without a handshake.
        VersionHeaderSent = "http/version-header-sent",
        /// The header has the revision of `_meta`.
        VersionHeaderAgrees = "http/version-header-agrees",
        /// `initialize` has all of its members.
        InitializeIsWhole = "lifecycle/initialize-is-whole",
        /// The client ends the handshake before it sends other requests.
        InitializedSent = "lifecycle/initialized-sent",
        /// The server writes nothing but messages.
        NothingButMessages = "stdio/nothing-but-messages",
        /// The session id is sent back.
        SessionIdSent = "lifecycle/session-id-sent",
        /// The revision is in a header, after a handshake.
        NegotiatedHeaderSent = "lifecycle/version-header-sent",
        /// The header has the revision that was negotiated.
        VersionHeaderNegotiated = "lifecycle/version-header-negotiated",
        /// `_meta` has the revision and the capabilities.
        FieldsOnEachRequest = "sep-2575/fields-on-every-request",
        /// A retry has the state that the server sent.
        StateEchoed = "sep-2322/state-echoed",
        /// A retry has no state if the server sent none.
        NoStateInvented = "sep-2322/no-state-invented",
        /// The first request of a call has no state.
        StateOfRetryAlone = "sep-2322/state-affects-the-retry-only",
        /// A retry has a new id.
        RetryHasNewId = "sep-2322/retry-has-new-id",
        /// A retry has the parameters of the first request.
        OriginalRetried = "sep-2322/original-retried",
        /// A request of the server has an id that is not null.
        IdNotNull = "base/id-not-null",
        /// A session id has visible ASCII characters only.
        SessionIdCharacters = "http/session-id-characters",
        /// The stream of a GET request has no responses.
        GetStreamNoResponse = "lifecycle/get-stream-no-response",
        /// The server names a revision that it speaks.
        OtherVersion = "lifecycle/other-version",
        /// The server names the revision of the client if it speaks it.
        SameVersion = "lifecycle/same-version",
        /// `structuredContent` is an object, up to 2025-11-25.
        ObjectBefore2026 = "sep-2106/object-structured-before-2026",
        /// A result of a tool with an `outputSchema` has `structuredContent`.
        OutputPresent = "tools/output-present",
        /// The schemas of the listed tools are valid.
        SchemaIsValid = "sep-1613/schema-is-valid",
        /// The server sends no requests, without a handshake.
        NoRequestsToTheClient = "sep-2322/no-requests-to-the-client",
        /// A result has its type, without a handshake.
        ResultType = "sep-2575/result-type",
    }
}

impl Rule {
    /// The side that keeps the rule.
    pub fn side(self) -> Role {
        match self {
            Self::IdNotNull
            | Self::NothingButMessages
            | Self::SessionIdCharacters
            | Self::GetStreamNoResponse
            | Self::OtherVersion
            | Self::SameVersion
            | Self::ObjectBefore2026
            | Self::OutputPresent
            | Self::SchemaIsValid
            | Self::NoRequestsToTheClient
            | Self::ResultType => Role::Server,
            _ => Role::Client,
        }
    }

    /// Returns whether the rule is about each message of the client alone. A server that accepted one such message does
    /// not refuse another one because of it.
    pub fn is_of_each_message(self) -> bool {
        matches!(
            self,
            Self::NotificationHasNoId
                | Self::AcceptListsBoth
                | Self::MethodHeaderSent
                | Self::NameHeaderSent
                | Self::VersionHeaderSent
                | Self::VersionHeaderAgrees
                | Self::SessionIdSent
                | Self::NegotiatedHeaderSent
                | Self::VersionHeaderNegotiated
                | Self::FieldsOnEachRequest
        )
    }

    /// The requirement.
    pub fn requirement(self) -> RequirementId {
        RequirementId::within("", self.word())
    }
}

/// A violation of a rule by the messages of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The rule.
    pub rule: Rule,
    /// The index of the step.
    pub step: usize,
    /// The index of the message in its step.
    pub message: usize,
    /// `true` if the server accepted this message: it answered with a result or a status of success.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_accepted: bool,
}

/// The indices of some messages of a step; `None` where there is no such message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessagePlaces {
    /// The first request of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<usize>,
    /// The first question of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<usize>,
    /// The first answer to a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<usize>,
    /// The last reply to a request of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<usize>,
}

words! {
    /// The request of a client, compared with the values of its user.
    RequestState {
        /// The request has the name and the arguments that the user gave.
        AsGiven = "as given",
        /// The request has another name or other arguments.
        Changed = "changed",
        /// The client sent no request.
        NotSent = "not sent",
        /// The client opened no session.
        NoSession = "no session",
    }
}

/// The side of a pair at which a check fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// The side: client or server; `None` if the messages do not decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Role>,
    /// The place where the value was lost.
    pub place: LossPlace,
    /// The sentence that the side broke. Without it, both sides keep to the specification and do not fit together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<RequirementId>,
    /// The index of the message that shows it, in the messages of its step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// The index of the step of this message, where it is another one than that of the check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// `true` if the SDK's documentation leaves the sentence to the author of a server or client.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_left_to_author: bool,
}

words! {
    /// The place between the two users of a pair where a value was lost.
    LossPlace {
        /// The server was not built.
        Build = "the server was not built",
        /// The client opened no session.
        Session = "the client opened no session",
        /// The request does not have the values of the client's user.
        Request = "the request does not have what the user gave",
        /// The server sent no question that the client could answer.
        Unasked = "the server did not ask",
        /// The question of the server does not have the values of the tool.
        Question = "the question does not have what the tool asked",
        /// The client sent no answer.
        Unanswered = "the client did not answer the question",
        /// The answer to a question does not have the values of the user.
        Answer = "the answer does not have what the user answered",
        /// The reply does not have the values of the tool.
        Reply = "the reply does not have what the tool returned",
        /// The server answered with an error.
        Error = "the server answered with an error",
        /// The user got something else than the reply.
        User = "the user did not get what the reply has",
        /// The client rejects the reply, because the listed schema is not the one that the tool's author gave.
        Schema = "the listed schema is not the one that the author gave",
        /// A message that violates a sentence, so that the other side refuses it.
        Message = "a message that the other side need not accept",
        /// The client waits for a reply to its GET request, and the server sends none before its first event. No sentence
        /// says when.
        Stream = "the client waits for the headers of a stream that the server has not begun",
        /// A process ended, or a side sent nothing until the time limit.
        End = "a process ended, or nothing came until the time limit",
    }
}

/// The two sides of a pair at the time of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairAbout {
    /// The client.
    pub client: SideAbout,
    /// The server.
    pub server: SideAbout,
}

/// One side of a pair at the time of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideAbout {
    /// The target.
    pub target: TargetId,
    /// The package and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The newest revision that the target speaks, in this pair or in others.
    pub newest: Revision,
    /// The changes of the specification that the target implements on revisions before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implements: Vec<String>,
}

impl SideAbout {
    /// Returns whether the target implements SEP-2106, which is part of the revisions without sessions.
    pub fn has_any_schemas(&self) -> bool {
        self.newest.facts().lifecycle == Lifecycle::Stateless || self.implements.iter().any(|one| one == "sep-2106")
    }
}

impl PairAbout {
    /// Returns the sides of a pair; `None` if a side claims no revision.
    pub fn of(pair: &TargetPair) -> Option<Self> {
        let side = |target: &Target| {
            let newest = target.announced.revisions.iter().max().copied()?;
            let version = target.package.as_ref().map(ToString::to_string);
            let implements = target.claims.implements.clone();
            Some(SideAbout { target: target.id.clone(), version, newest, implements })
        };
        Some(Self { client: side(&pair.client)?, server: side(&pair.server)? })
    }
}
