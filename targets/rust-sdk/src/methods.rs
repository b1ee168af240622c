//! The methods and capabilities that a proposal adds to a server.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{CustomNotification, CustomRequest, CustomResult, ErrorCode, ServerCapabilities, ServerNotification},
};
use serde_json::{Map, Value, json};

use crate::protocol::{Cannot, Message, Reply, take};

/// The replies to each method. All copies of a server count its requests together.
#[derive(Clone)]
pub struct Methods(Arc<HashMap<String, (Vec<Reply>, AtomicUsize)>>);

impl Methods {
    pub fn new(methods: HashMap<String, Vec<Reply>>) -> Self {
        Self(Arc::new(methods.into_iter().map(|(name, replies)| (name, (replies, AtomicUsize::new(0)))).collect()))
    }

    /// Answers as the author of a server does, and as the SDK does by default if the server does not have the method.
    /// <https://docs.rs/rmcp/3.11.0/rmcp/trait.ServerHandler.html#method.on_custom_request>
    pub async fn answer(&self, request: CustomRequest, peer: &Peer<RoleServer>) -> Result<CustomResult, ErrorData> {
        let Some(reply) = self.next(&request.method) else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        };
        for Message { method, params } in &reply.notify {
            let notification = CustomNotification::new(method.clone(), params.clone());
            let sent = peer.send_notification(ServerNotification::CustomNotification(notification)).await;
            sent.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        match (&reply.result, &reply.error) {
            (_, Some(error)) => Err(ErrorData::new(ErrorCode(error.code), error.message.clone(), error.data.clone())),
            (Some(result), None) => Ok(CustomResult::new(result.clone())),
            (None, None) => {
                // The SDK takes `_meta` out of the parameters.
                let params = request.params.unwrap_or_else(|| json!({}));
                Ok(CustomResult::new(json!({ "params": params })))
            }
        }
    }

    fn next(&self, method: &str) -> Option<&Reply> {
        let (replies, requests) = self.0.get(method)?;
        replies.get(requests.fetch_add(1, Ordering::Relaxed)).or(replies.last())
    }
}

/// Adds capabilities as far as the SDK's type has members for them.
pub fn declare(capabilities: &mut ServerCapabilities, mut added: Map<String, Value>) -> Result<(), Cannot> {
    capabilities.extensions = take(&mut added, "extensions")?;
    capabilities.experimental = take(&mut added, "experimental")?;
    match added.keys().next() {
        Some(member) => Err(Cannot(format!("`ServerCapabilities` has no member `{member}`"))),
        None => Ok(()),
    }
}
