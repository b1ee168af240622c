//! The router lists the schemas of a tool but applies neither of them. A `#[tool]` takes all that its type takes.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations>

mod exchange;

use std::{error::Error, process::ExitCode, sync::Arc};

use rmcp::{
    Json, ServerHandler,
    handler::server::{
        router::tool::{ToolRoute, ToolRouter},
        wrapper::Parameters,
    },
    model::{CallToolResult, ServerCapabilities, ServerConfig, Tool},
    tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use exchange::exchange;

struct Tools(ToolRouter<Self>);

#[tool_handler(router = self.0)]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    #[schemars(range(max = 10))]
    n: i64,
}

#[derive(Serialize, JsonSchema)]
struct Ratio {
    of: i64,
    ratio: f64,
}

#[tool_router]
impl Tools {
    #[tool]
    fn typed(&self, Parameters(Count { n }): Parameters<Count>) -> Json<Ratio> {
        Json(Ratio { of: n, ratio: f64::NAN })
    }
}

fn tools() -> Tools {
    let object = |schema: Value| Arc::new(schema.as_object().cloned().unwrap_or_default());
    // The argument must be an integer, and the results need a member.
    let input = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let output = object(json!({ "type": "object", "required": ["missing"] }));
    let echo = Tool::new_with_raw("echo", None, object(input)).with_raw_output_schema(output.clone());
    let silent = Tool::new_with_raw("silent", None, object(json!({ "type": "object" }))).with_raw_output_schema(output);
    let mut router = Tools::tool_router();
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
    // The listed maximum is 10, and the ratio is a number.
    let typed = call(json!({ "name": "typed", "arguments": { "n": 11 } })).await?;
    if invalid.contains(r#""structuredContent":{"n":"no integer"}"#)
        && missing.contains(r#""content":[]"#)
        && typed.contains(r#""structuredContent":{"of":11,"ratio":null}"#)
    {
        println!(
            "invalid arguments reached the tools, and invalid results were sent: {invalid}; {typed}; and none: {missing}"
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!("the server answered {invalid}, {missing} and {typed}");
    Ok(ExitCode::FAILURE)
}
