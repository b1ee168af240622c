//! Outcomes of smoke checks.

use std::time::Duration;

use crate::model::transcript::Served;

/// The time limit of an answer.
pub(super) const ANSWER: Duration = Duration::from_secs(10);
/// The name of the only tool in the fixtures.
pub(super) const TOOL: &str = "smoke";

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmokeOutcome {
    /// The adapter gave the expected answer.
    Right,
    /// The adapter gave the expected answer, and wrote these lines to its standard output as well.
    Noisy(Vec<String>),
    /// The adapter gave the expected answer, but a tool that it serves returned something else. The SDK may be the
    /// cause.
    Odd {
        /// The response to the call.
        got: String,
        /// The expected result.
        wanted: String,
    },
    /// The adapter cannot express the fixture, for this reason. The protocol allows that.
    Cannot(String),
    /// The adapter gave another answer, or none.
    Wrong {
        /// A description of the answer.
        got: String,
        /// The expected answer.
        wanted: String,
        /// The text that the adapter wrote to its standard error meanwhile.
        stderr: String,
    },
}

impl SmokeOutcome {
    /// A wrong answer of which the standard error is not known yet.
    pub(super) fn wrong(got: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self::Wrong { got: got.into(), wanted: wanted.into(), stderr: String::new() }
    }

    /// Adds the lines that a target wrote to its standard output in addition to its answers.
    pub(super) fn with_noise(self, noise: Vec<String>) -> Self {
        if self == Self::Right && !noise.is_empty() { Self::Noisy(noise) } else { self }
    }
}

/// The outcome of a fixture that is not served.
pub(super) fn not_served(served: Served, wanted: &str) -> SmokeOutcome {
    let got = match served {
        Served::Cannot { reason } => return SmokeOutcome::Cannot(reason),
        Served::Refused { r#type, message } => format!("it refused the fixture: {type}: {message}"),
        Served::Failed { detail, .. } => detail,
        Served::Unavailable { reason } | Served::Broken { reason } => reason,
        Served::Serving => "nothing".to_owned(),
    };
    SmokeOutcome::wrong(got, wanted)
}
