//! The router lists the schemas of a dynamic tool but applies neither of them.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations>

mod exchange;

use std::{error::Error, process::ExitCode, sync::Arc};

use rmcp::{
    ServerHandler,
    handler::server::router::tool::{ToolRoute, ToolRouter},
    model::{CallToolResult, ServerCapabilities, ServerConfig, Tool},
    tool_handler,
};
use serde_json::{Value, json};

use exchange::exchange;

struct Tools(ToolRouter<Self>);

#[tool_handler(router = self.0)]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

fn tools() -> Tools {
    let object = |schema: Value| Arc::new(schema.as_object().cloned().unwrap_or_default());
    // The argument must be an integer, and the results need a member.
    let input = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let output = object(json!({ "type": "object", "required": ["missing"] }));
    let echo = Tool::new_with_raw("echo", None, object(input)).with_raw_output_schema(output.clone());
    let silent = Tool::new_with_raw("silent", None, object(json!({ "type": "object" }))).with_raw_output_schema(output);
    let mut router = ToolRouter::new();
    router.add_route(ToolRoute::new_dyn(echo, |call| {
        Box::pin(async move { Ok(CallToolResult::structured(json!(call.arguments)).into()) })
    }));
    router
        .add_route(ToolRoute::new_dyn(silent, |_| Box::pin(async { Ok(CallToolResult::success(Vec::new()).into()) })));
    Tools(router)
}

/// Calls a tool of a new server, and returns the answer.
async fn call(params: Value) -> Result<String, Box<dyn Error>> {
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }).to_string();
    exchange(
        tools(),
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            &call,
        ],
    )
    .await
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let invalid = call(json!({ "name": "echo", "arguments": { "n": "no integer" } })).await?;
    let missing = call(json!({ "name": "silent", "arguments": {} })).await?;
    if invalid.contains(r#""structuredContent":{"n":"no integer"}"#) && missing.contains(r#""content":[]"#) {
        println!(
            "an invalid argument reached the tool, and its invalid result was sent: {invalid}; and none: {missing}"
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!("the server answered {invalid} and {missing}");
    Ok(ExitCode::FAILURE)
}
