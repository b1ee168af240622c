//! The client goes on with a server that answers `initialize` with a version that nobody knows.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/schema#initializeresult>

mod play;

use std::{error::Error, process::ExitCode};

use rmcp::{ServiceExt, model::ClientConfig};
use serde_json::json;

use play::play;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(play(far, |request| {
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "1900-01-01", "capabilities": { "tools": {} },
                "serverInfo": { "name": "s", "version": "1" },
            }),
            _ => json!({ "tools": [] }),
        };
        vec![json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })]
    }));
    let client = match ClientConfig::default().serve(near).await {
        Ok(client) => client,
        Err(error) => {
            println!("the client refused the version: {error}");
            return Ok(ExitCode::FAILURE);
        }
    };
    let list = client.list_all_tools().await;
    println!("after the version 1900-01-01, tools/list returned {list:?}");
    Ok(if list.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
