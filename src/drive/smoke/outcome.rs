//! Outcomes of smoke checks.

use std::time::Duration;

use crate::model::transcript::Served;

/// The longest that an answer may take.
pub(super) const ANSWER: Duration = Duration::from_secs(10);
/// The name of the one tool.
pub(super) const TOOL: &str = "smoke";

/// The outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmokeOutcome {
    /// The expected answer came.
    Right,
    /// The adapter can't express it, which it may say.
    Cannot(String),
    /// Something else.
    Wrong {
        /// The answer.
        got: String,
        /// The expected answer.
        wanted: String,
    },
}

pub(super) fn not_served(served: Served, wanted: &str) -> SmokeOutcome {
    let got = match served {
        Served::Cannot { reason } => return SmokeOutcome::Cannot(reason),
        Served::Refused { r#type, message } => format!("it refused: {type}: {message}"),
        Served::Failed { detail, .. } => detail,
        Served::Unavailable { reason } | Served::Broken { reason } => reason,
        Served::Serving => "nothing".to_owned(),
    };
    SmokeOutcome::Wrong { got, wanted: wanted.to_owned() }
}
