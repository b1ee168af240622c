//! A client without elicitation declines a question, and a client with forms answers an unknown mode as a form. Both must
//! be answered by the error -32602.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling>

mod play;

use std::{error::Error, process::ExitCode, sync::mpsc};

use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        Implementation,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use play::play;

/// A client that accepts every form.
struct Forms;

impl ClientHandler for Forms {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("c", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({})))
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let nobody = ask(ClientConfig::default(), "form").await?;
    let unknown = ask(Forms, "voice").await?;
    if nobody.get("result").is_some() && unknown.get("result").is_some() {
        println!(
            "a client without elicitation answered {nobody}, and one with forms answered the mode voice by {unknown}"
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!("the clients answered {nobody} and {unknown}");
    Ok(ExitCode::FAILURE)
}

/// Asks a client during a call of a tool, and returns its answer.
async fn ask(client: impl ClientHandler, mode: &'static str) -> Result<Value, Box<dyn Error>> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (answers, received) = mpsc::channel();
    tokio::spawn(play(far, move |message| match message["method"].as_str() {
        Some("initialize") => vec![json!({ "jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "repro", "version": "1" },
        } })],
        Some("tools/call") => vec![
            json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {
                "mode": mode, "message": "Your name?", "requestedSchema": { "type": "object", "properties": {} },
            } }),
            json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": [] } }),
        ],
        Some(_) => vec![],
        None => {
            _ = answers.send(message.clone());
            vec![]
        }
    }));
    let client = client.serve(near).await?;
    client.call_tool(CallToolRequestParams::new("t")).await?;
    Ok(tokio::task::spawn_blocking(move || received.recv()).await??)
}
