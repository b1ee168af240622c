//! Log messages: <https://github.com/modelcontextprotocol/rust-sdk#logging>

#![expect(deprecated, reason = "the SDK deprecates log messages, which the revisions of 2025 have")]

use rmcp::{
    Peer, RoleServer, ServiceError,
    model::{LoggingLevel, LoggingMessageNotificationParam, SetLevelRequestParams},
};
use serde::Deserialize;

use crate::protocol::{Cannot, Log};

pub type Message = LoggingMessageNotificationParam;
pub type SetLevel = SetLevelRequestParams;

pub fn message(Log { level, data, logger }: Log) -> Result<Message, Cannot> {
    let level = LoggingLevel::deserialize(level).map_err(|error| Cannot(format!("no `LoggingLevel`: {error}")))?;
    let message = Message::new(level, data);
    Ok(match logger {
        Some(logger) => message.with_logger(logger),
        None => message,
    })
}

pub async fn send(message: &Message, peer: &Peer<RoleServer>) -> Result<(), ServiceError> {
    peer.notify_logging_message(message.clone()).await
}
