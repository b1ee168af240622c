//! A raw server for the programs in this folder.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// Plays a server over a pipe: gives each message of the client to `answer`, and sends the lines that it returns.
pub async fn play(far: DuplexStream, answer: impl Fn(&Value) -> Vec<Value>) -> Option<()> {
    let (input, mut output) = tokio::io::split(far);
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await.ok()? {
        for reply in answer(&serde_json::from_str(&line).ok()?) {
            output.write_all(format!("{reply}\n").as_bytes()).await.ok()?;
        }
    }
    Some(())
}
