//! The Streamable HTTP service serves a request whose Origin is a foreign site.
//!
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning>

use std::{error::Error, process::ExitCode};

use axum::Router;
use rmcp::{
    ServerHandler,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::local::LocalSessionManager,
    },
};

struct Server;

impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let service = StreamableHttpService::new(
        || Ok(Server),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, Router::new().nest_service("/mcp", service)).await });
    let request = reqwest::Client::new()
        .post(url)
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .header("Origin", "http://evil.example")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#);
    let response = request.send().await?;
    if response.status().as_u16() == 200 {
        println!("initialize with Origin: http://evil.example got {}", response.status());
        return Ok(ExitCode::SUCCESS);
    }
    println!("the request got {}", response.status());
    Ok(ExitCode::FAILURE)
}
