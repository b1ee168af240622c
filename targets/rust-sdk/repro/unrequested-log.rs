//! The server sends a log message for a request that asks for none.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#per-request-log-level>

#![expect(deprecated, reason = "the SDK deprecates log messages")]

mod exchange;

use std::{error::Error, process::ExitCode};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, LoggingLevel, LoggingMessageNotificationParam,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::json;

use exchange::exchange;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;

struct Tools;

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_logging().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!("working"));
        match context.peer.notify_logging_message(message).await {
            Ok(()) => Ok(CallToolResult::success(vec![]).into()),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let line = exchange(Tools, &[CALL]).await?;
    println!("a request without a log level got {line}");
    Ok(if line.contains("notifications/message") { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
