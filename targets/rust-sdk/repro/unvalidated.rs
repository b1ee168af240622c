//! The router lists the schemas of a dynamic tool but applies neither of them, and accepts an invalid one.
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

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let object = |schema: Value| Arc::new(schema.as_object().cloned().unwrap_or_default());
    // The argument must be an integer, the result needs a member, and minLength cannot be negative.
    let input = json!({ "type": "object", "properties": { "n": { "type": "integer" }, "s": { "minLength": -1 } } });
    let output = json!({ "type": "object", "required": ["missing"] });
    let tool = Tool::new_with_raw("echo", None, object(input)).with_raw_output_schema(object(output));
    let mut router = ToolRouter::new();
    router.add_route(ToolRoute::new_dyn(tool, |call| {
        Box::pin(async move { Ok(CallToolResult::structured(json!(call.arguments)).into()) })
    }));
    let answer = exchange(
        Tools(router),
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"n":"no integer"}}}"#,
        ],
    )
    .await?;
    if answer.contains(r#""structuredContent":{"n":"no integer"}"#) {
        println!("an invalid argument reached the tool, and its invalid result was sent: {answer}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("the server answered {answer}");
    Ok(ExitCode::FAILURE)
}
