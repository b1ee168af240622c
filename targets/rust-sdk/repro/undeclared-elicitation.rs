//! The server sends a question to a client that declares no elicitation, with either way to ask.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#capabilities>
//! <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation>

mod exchange;

use std::{error::Error, process::ExitCode};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitationSchema,
        InputRequest, InputRequests, InputRequiredResult, JsonObject, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::json;

use exchange::exchange;

struct Tools;

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let form = json!({ "type": "object", "properties": {} }).as_object().cloned().unwrap_or_default();
        let question = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Your name?".to_owned(),
            requested_schema: schema(form)?,
        };
        if context.protocol_version().is_some_and(|version| !version.has_initialize()) {
            let request = InputRequest::Elicitation(ElicitRequest::new(question));
            return Ok(
                InputRequiredResult::from_input_requests(InputRequests::from([("q".to_owned(), request)])).into()
            );
        }
        match context.peer.create_elicitation(question).await {
            Ok(_) => Ok(CallToolResult::success(vec![]).into()),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

fn schema(form: JsonObject) -> Result<ElicitationSchema, ErrorData> {
    ElicitationSchema::from_json_schema(form).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let older = exchange(
        Tools,
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","arguments":{}}}"#,
        ],
    )
    .await?;
    let newer = exchange(
        Tools,
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        ],
    )
    .await?;
    if older.contains("elicitation/create") && newer.contains("elicitation/create") {
        println!("a client without capabilities got on 2025-11-25: {older}, and on 2026-07-28: {newer}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("the server answered on 2025-11-25: {older}, and on 2026-07-28: {newer}");
    Ok(ExitCode::FAILURE)
}
