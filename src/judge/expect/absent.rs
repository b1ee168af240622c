//! Steps without an answer: a sentence about the content of answers is not broken by their absence, which other checks
//! are about.
//!
//! Takes an outcome, gives the reason why there is nothing to judge. Must not know expectations.

use crate::model::case::Outcome;

/// Returns why a step with this outcome has no answer, if it has none.
pub(in crate::judge) fn reason(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Timeout => Some("there was none within the time limit"),
        Outcome::Crash => Some("there was none before the process ended"),
        Outcome::EmptyReply => Some("there was none"),
        Outcome::Oversized => Some("it is larger than casebook reads"),
        Outcome::Success
        | Outcome::ToolError
        | Outcome::ProtocolError
        | Outcome::InputRequired
        | Outcome::Refused
        | Outcome::Hidden
        | Outcome::InvalidMessage
        | Outcome::HttpError
        | Outcome::Accepted => None,
    }
}
