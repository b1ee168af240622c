//! The client returns results of an unknown resultType, or of a resultType of null, as complete.
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic#result>

mod play;

use std::{error::Error, process::ExitCode};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt,
    model::{CallToolRequestParams, ClientConfig, ProtocolVersion},
};
use serde_json::json;

use play::play;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(play(far, |request| {
        let result = match request["method"].as_str() {
            Some("server/discover") => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private",
            }),
            Some("tools/list") => json!({ "resultType": "partial", "tools": [], "ttlMs": 0, "cacheScope": "private" }),
            _ => json!({ "resultType": null, "content": [] }),
        };
        vec![json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })]
    }));
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = ClientConfig::default().serve_with_lifecycle(near, lifecycle).await?;
    let list = client.list_all_tools().await;
    let call = client.call_tool(CallToolRequestParams::new("t")).await;
    if list.is_ok() && call.is_ok() {
        println!(r#"tools/list with "resultType":"partial" and tools/call with "resultType":null succeeded"#);
        return Ok(ExitCode::SUCCESS);
    }
    println!("the client returned {list:?} and {call:?}");
    Ok(ExitCode::FAILURE)
}
