//! A client without elicitation declines a question. A client with forms answers an unknown mode as a form, and gives a
//! question in URL mode to its handler. All three must be answered by the error -32602.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#error-handling>

mod play;

use std::{error::Error, process::ExitCode, sync::mpsc};

use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, FormElicitationCapability, Implementation,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use play::play;

/// A client that declares only forms, and accepts every question.
struct Forms;

impl ClientHandler for Forms {
    fn get_info(&self) -> ClientConfig {
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        let capabilities = ClientCapabilities::builder().enable_elicitation_with(forms).build();
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
    let empty = json!({ "type": "object", "properties": {} });
    let form = |mode| json!({ "mode": mode, "message": "Your name?", "requestedSchema": empty });
    let visit = json!({ "mode": "url", "message": "There, please.", "url": "http://127.0.0.1/", "elicitationId": "1" });
    let nobody = ask(ClientConfig::default(), form("form")).await?;
    let unknown = ask(Forms, form("voice")).await?;
    let url = ask(Forms, visit).await?;
    println!("a client without elicitation answered {nobody}, and one with forms: voice by {unknown}, url by {url}");
    let wrong = [nobody, unknown, url].iter().all(|answer| answer.get("result").is_some());
    Ok(if wrong { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks a client during a call of a tool, and returns its answer.
async fn ask(client: impl ClientHandler, question: Value) -> Result<Value, Box<dyn Error>> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (answers, received) = mpsc::channel();
    tokio::spawn(play(far, move |message| match message["method"].as_str() {
        Some("initialize") => vec![json!({ "jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "repro", "version": "1" },
        } })],
        Some("tools/call") => vec![
            json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": question }),
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
