//! A raw client for the programs in this folder.

use std::error::Error;

use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

/// Serves `server` over a pipe, sends each line, and returns the line that answers the last one.
pub async fn exchange(server: impl ServerHandler, lines: &[&str]) -> Result<String, Box<dyn Error>> {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(far).await.ok()?.waiting().await.ok() });
    let (input, mut output) = tokio::io::split(near);
    let mut answers = BufReader::new(input).lines();
    let mut answer = String::new();
    for line in lines {
        output.write_all(format!("{line}\n").as_bytes()).await?;
        if line.contains("\"id\"") {
            answer = answers.next_line().await?.unwrap_or_default();
        }
    }
    Ok(answer)
}
