//! Reasons as types: for a verdict, for a skipped test, and for a known failure that passes.
//!
//! The run log stores these types, and only their `Display` puts them into words. They can contain texts of a target,
//! which are not escaped here. This module must not know where the words are shown.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::case::{CallMark, Need};
use super::known::KnownAs;
use super::spec::{Revision, Role, Transport};
use super::{RequirementId, TargetId};

/// One reason of a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The name of the alternative, where the check has named alternatives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<String>,
    /// The reason.
    pub finding: Finding,
}

/// The finding of a judged check, or the reason why it was not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// The alternative holds. If only a MAY allows it, `allowed_by` names that MAY.
    Holds {
        /// The requirement of level MAY.
        allowed_by: Option<RequirementId>,
    },
    /// A part of the observation differs from the expectation.
    Mismatch {
        /// The part: a key of the expectation, followed by the name of a tool where one is concerned.
        place: String,
        /// The expected value, abridged.
        expected: String,
        /// The observed value, abridged.
        observed: String,
    },
    /// A call of a tool that casebook did not write has a flaw.
    Call {
        /// The tool.
        tool: String,
        /// The flaw.
        flaw: CallMark,
        /// The violation of the listed schema; empty if there is none.
        reason: String,
        /// The index of the request in the messages of the step.
        request: usize,
    },
    /// An expected part of the observation is missing.
    Missing {
        /// The part.
        place: String,
    },
    /// A part of the observation violates a schema of the expectation.
    Violation {
        /// The part.
        place: String,
        /// A JSON pointer into the part.
        pointer: String,
        /// The violation as a sentence, which names the place.
        message: String,
        /// The index in the messages of the step of the reply that violates it, if the part is a reply of a server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<usize>,
    },
    /// The MAY that would allow the alternative is not in force on the test's revision.
    NotInForce {
        /// The requirement of level MAY.
        requirement: RequirementId,
    },
    /// A line on standard output is no message.
    NoMessage {
        /// The line.
        line: String,
    },
    /// A part of the observation cannot be read.
    Unreadable {
        /// The part.
        place: String,
        /// The reason.
        reason: String,
    },
    /// The expectation cannot be compared with the observation.
    Undecidable {
        /// The part.
        place: String,
        /// The reason.
        reason: String,
    },
    /// The control of the test failed, so the result of the test proves nothing.
    ControlFailed {
        /// The control.
        control: String,
    },
    /// The control of the test could not be decided, so the result of the test proves nothing.
    ControlUndecided {
        /// The control.
        control: String,
    },
    /// The control of the test was not asked itself.
    ControlNotAsked {
        /// The control.
        control: String,
    },
    /// There is nothing to check, by an alternative of the expectation.
    NotAsked {
        /// The name of the alternative.
        reason: String,
    },
    /// The adapter cannot express the control of the test.
    ControlInexpressible {
        /// The control.
        control: String,
    },
    /// The adapter cannot express the test.
    Inexpressible {
        /// The adapter's reason.
        reason: String,
    },
    /// Nothing was observed, because casebook stopped running tests on the target or had an error itself.
    Unavailable {
        /// The reason.
        reason: String,
    },
    /// The reply is that of the fixture, which the target only carried.
    OfFixture,
    /// The step of the check was not observed.
    NotObserved,
    /// The server answered the handshake before the step with an error.
    NoSession {
        /// The words of the error, or its status.
        error: String,
    },
    /// The loaded catalogue does not contain the check's requirement.
    NoRequirement,
    /// The check failed in some attempts only.
    Flaky {
        /// The number of attempts in which it failed.
        failed: usize,
        /// The number of all attempts.
        attempts: usize,
    },
}

impl From<Finding> for Detail {
    fn from(finding: Finding) -> Self {
        Self { alternative: None, finding }
    }
}

impl Detail {
    /// Returns every text of the detail, because a target may have written it.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let texts = match &mut self.finding {
            Finding::Mismatch { place, expected, observed } => vec![place, expected, observed],
            Finding::Violation { place, pointer, message, reply: _ } => vec![place, pointer, message],
            Finding::Call { tool, flaw: _, reason, request: _ } => vec![tool, reason],
            Finding::Unreadable { place, reason } | Finding::Undecidable { place, reason } => vec![place, reason],
            Finding::Missing { place: text }
            | Finding::NoMessage { line: text }
            | Finding::ControlFailed { control: text }
            | Finding::ControlUndecided { control: text }
            | Finding::ControlNotAsked { control: text }
            | Finding::ControlInexpressible { control: text }
            | Finding::NotAsked { reason: text }
            | Finding::NoSession { error: text }
            | Finding::Inexpressible { reason: text }
            | Finding::Unavailable { reason: text } => vec![text],
            Finding::Holds { allowed_by: _ }
            | Finding::NotInForce { requirement: _ }
            | Finding::Flaky { failed: _, attempts: _ }
            | Finding::OfFixture
            | Finding::NotObserved
            | Finding::NoRequirement => Vec::new(),
        };
        self.alternative.iter_mut().chain(texts)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { alternative, finding } = self;
        alternative.as_ref().map_or(Ok(()), |name| write!(f, "{name}: "))?;
        finding.fmt(f)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds { allowed_by: None } => f.write_str("holds"),
            Self::Holds { allowed_by: Some(may) } => write!(f, "allowed by {may}"),
            Self::Mismatch { place, expected, observed } => {
                write!(f, "{place}: expected {expected}, observed {observed}")
            }
            Self::Call { tool, flaw, reason, request: _ } => {
                let colon = if reason.is_empty() { "" } else { ": " };
                write!(f, "the tool `{tool}` {}{colon}{reason}", flaw.sentence())
            }
            Self::Missing { place } => write!(f, "{place}: missing"),
            Self::NoMessage { line } => write!(f, "standard output: `{line}` is no message"),
            Self::Violation { place, pointer: _, message, reply: _ } => write!(f, "{place}: {message}"),
            Self::NotInForce { requirement } => {
                write!(f, "allowed by {requirement}, which is not in force on this revision")
            }
            Self::Unreadable { place, reason } => write!(f, "{place} cannot be read: {reason}"),
            Self::Undecidable { place, reason } => write!(f, "{place}: {reason}"),
            Self::ControlFailed { control } => write!(f, "its control {control} doesn't hold"),
            Self::ControlUndecided { control } => write!(f, "its control {control} could not be decided"),
            Self::ControlNotAsked { control } => write!(f, "its control {control} was not asked"),
            Self::ControlInexpressible { control } => write!(f, "the adapter cannot express its control {control}"),
            Self::NotAsked { reason } | Self::Inexpressible { reason } | Self::Unavailable { reason } => {
                f.write_str(reason)
            }
            Self::NoSession { error } => write!(f, "no session was opened: `initialize` was answered with {error}"),
            Self::OfFixture => f.write_str("the fixture has the reply"),
            Self::NotObserved => f.write_str("the step was not observed"),
            Self::NoRequirement => f.write_str("no catalogue at hand has this requirement"),
            Self::Flaky { failed, attempts } => write!(f, "failed in {failed} of {attempts} attempts"),
        }
    }
}

/// The reason why a test is skipped on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// The target does not implement this role.
    Role(Role),
    /// The target does not support this revision.
    Revision(Revision),
    /// The target does not support this transport.
    Transport(Transport),
    /// The target lacks a feature that the case requires.
    Lacks(Need),
    /// The test has a fixture, and a fixed target has no adapter that could build it.
    NoAdapter,
    /// The test calls tools of the server, and none of them may be called.
    NotCallable,
    /// The test has no fixture: it is meant for fixed servers, which have their own tools.
    NoFixture,
    /// The server does not declare the capability of tools, which the test uses.
    NoTools,
    /// The server does not list the tools that the test uses.
    ToolsNotListed,
    /// The test is too expensive to run by default.
    Heavy,
    /// The test is too expensive to repeat on each revision and transport.
    HeavyOnce,
    /// The question of the test does not depend on the transport, and is asked over this one.
    AskedOver(Transport),
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(role) => write!(f, "the target does not implement the {role} role"),
            Self::Revision(revision) => write!(f, "the target does not declare revision {revision}"),
            Self::Transport(transport) => write!(f, "the target does not support transport {transport}"),
            Self::Lacks(need) => write!(f, "the target lacks {need}"),
            Self::NoAdapter => f.write_str("the test has a fixture, and a fixed target has no adapter to build it"),
            Self::NotCallable => f.write_str("no tool may be called: permit it with --call, or `calls` in [claims]"),
            Self::NoFixture => f.write_str("the test applies only to fixed servers, which have their own tools"),
            Self::NoTools => f.write_str("the server does not declare the capability `tools`"),
            Self::ToolsNotListed => f.write_str("the server does not list the tools that the test uses"),
            Self::Heavy => f.write_str("heavy: runs only with --heavy"),
            Self::HeavyOnce => f.write_str("heavy: runs only on the newest revision and one transport"),
            Self::AskedOver(transport) => write!(f, "the same question over each transport: asked over {transport}"),
        }
    }
}

/// An entry of `[[known]]` or `[[author]]` whose tests were run, and of which none fails any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stale {
    /// The target that has the entry.
    pub target: TargetId,
    /// The requirement that no test violates any more.
    pub requirement: RequirementId,
    /// The entry.
    pub known: KnownAs,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, requirement, known: KnownAs { test, reason, url, .. } } = self;
        let list = if url.is_some() { "[[author]]" } else { "[[known]]" };
        write!(f, "{target}: {requirement} no longer fails in {test}; remove it from {list} (\"{reason}\")")
    }
}
