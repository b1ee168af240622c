//! The reason why a step of a client's script has no result.
//!
//! The module takes an error and returns the object that the adapter reports. It must not know the cause.

use serde_json::{Value, json};

/// The reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Transport(String),
    #[error("no reply within the time limit")]
    Timeout,
    #[error("the server has ended the session")]
    SessionLost,
    #[error("the server violates the protocol: {0}")]
    Protocol(String),
    #[error("{message}")]
    Refused { code: i64, message: String },
    #[error("the tool `{tool}` cannot be used: {reason}")]
    Unusable { tool: String, reason: String },
    #[error("the result of `{tool}` is invalid against its outputSchema: {reason}")]
    Output { tool: String, reason: String },
    #[error("elicitation: {reason}")]
    Question { code: i32, reason: String },
}

impl Failure {
    pub(super) fn protocol(reason: impl Into<String>) -> Self {
        Self::Protocol(reason.into())
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Transport(_) | Self::SessionLost => "TransportError",
            Self::Timeout => "TimeoutError",
            Self::Protocol(_) => "ProtocolError",
            Self::Refused { .. } => "JsonRpcError",
            Self::Unusable { .. } => "SchemaError",
            Self::Output { .. } => "OutputError",
            Self::Question { .. } => "ElicitationError",
        }
    }
}

impl From<Failure> for Value {
    fn from(failure: Failure) -> Self {
        let mut value = json!({ "type": failure.kind(), "message": failure.to_string() });
        if let Failure::Refused { code, .. } = failure {
            value["code"] = code.into();
        }
        value
    }
}
