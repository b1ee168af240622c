//! The casebook's adapter for the Rust SDK: one JSON object a line on standard input, one answer a line on standard
//! output, in order. `--stdio-server FILE` serves one fixture on the standard streams instead.

mod drive;
mod fixture;
mod protocol;

use std::{collections::HashMap, error::Error, process::ExitCode};

use axum::{Router, serve::ListenerExt};
use rmcp::{
    ServiceExt,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use fixture::Server;
use protocol::{Cannot, REVISIONS, Request, Serve, VARIANTS};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => control().await,
        ["--stdio-server", file] => serve_streams(file).await,
        _ => Err("usage: adapter [--stdio-server FILE]".into()),
    }
}

/// What is being served, by the id of the request that asked for it; dropping one stops it.
type Serving = HashMap<String, DropGuard>;

async fn control() -> Result<ExitCode, Box<dyn Error>> {
    let mut serving = Serving::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut out = tokio::io::stdout();
    while let Some(line) = lines.next_line().await? {
        let request: Request = protocol::read(&line)?;
        let id = request.id.clone();
        let mut answer = answer(request, &mut serving).await.unwrap_or_else(Cannot::answer);
        answer["id"] = Value::String(id);
        out.write_all(format!("{answer}\n").as_bytes()).await?;
        out.flush().await?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn answer(request: Request, serving: &mut Serving) -> Result<Value, Cannot> {
    Ok(match request {
        Request { hello: Some(_), .. } => hello(),
        Request { id, serve: Some(order), .. } => {
            let (url, stop) = publish(order).await?;
            serving.insert(id, stop);
            json!({ "serving": { "url": url } })
        }
        Request { stop: Some(order), .. } => json!({ "stopped": serving.remove(&order.serving).is_some() }),
        Request { drive: Some(order), .. } => json!({ "drove": drive::drive(order).await? }),
        _ => json!({ "unsupported": "hello, serve, stop or drive was expected" }),
    })
}

fn hello() -> Value {
    json!({ "hello": {
        "sdk": "rmcp",
        "version": version(),
        "language": "rust",
        "api": "router: ToolRouter with ToolRoute::new_dyn; client: RunningService",
        "roles": ["server", "client"],
        "transports": ["stdio", "http"],
        "revisions": REVISIONS,
        "variants": VARIANTS,
    } })
}

/// The SDK's version, of which Cargo tells a dependent nothing at compile time.
fn version() -> Option<&'static str> {
    let (_, entry) = include_str!("../Cargo.lock").split_once("name = \"rmcp\"\nversion = \"")?;
    entry.split('"').next()
}

/// <https://github.com/modelcontextprotocol/rust-sdk#stateless-streamable-http>
async fn publish(order: Serve) -> Result<(String, DropGuard), Cannot> {
    if order.transport != "http" {
        return Err(Cannot("`serve` is for http; for stdio start --stdio-server".to_owned()));
    }
    let server = Server::build(order)?;
    let unbound = |error: std::io::Error| Cannot(error.to_string());
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(unbound)?;
    let address = listener.local_addr().map_err(unbound)?;
    // Otherwise an event stream waits for the client's delayed acknowledgements, 40 ms each.
    // https://docs.rs/axum/0.8/axum/serve/trait.ListenerExt.html#method.tap_io
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));

    let stop = CancellationToken::new();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default().with_cancellation_token(stop.child_token()),
    );
    let app = Router::new().nest_service("/mcp", service);
    let serving = axum::serve(listener, app).with_graceful_shutdown(stop.child_token().cancelled_owned());
    tokio::spawn(async move { serving.await });
    Ok((format!("http://{address}/mcp"), stop.drop_guard()))
}

/// <https://github.com/modelcontextprotocol/rust-sdk#build-a-server>
async fn serve_streams(file: &str) -> Result<ExitCode, Box<dyn Error>> {
    match Server::build(protocol::read(&std::fs::read_to_string(file)?)?) {
        Ok(server) => {
            server.serve(stdio()).await?.waiting().await?;
            Ok(ExitCode::SUCCESS)
        }
        Err(cannot) => {
            eprintln!("{}", cannot.answer());
            Ok(ExitCode::from(3))
        }
    }
}
