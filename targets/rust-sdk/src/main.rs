//! The mcp-casebook adapter for the Rust SDK.
//!
//! It reads one JSON request per line from standard input and writes one JSON answer per line to standard output, in
//! the same order. With `--stdio-server FILE`, the process serves one fixture on its standard streams instead.

mod authored;
mod drive;
mod fixture;
mod log;
mod methods;
mod protocol;
mod typed;
mod versions;

use std::{
    collections::HashMap,
    error::Error,
    io::Write,
    net::{Shutdown, TcpStream},
    process::ExitCode,
};

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
use tracing_subscriber::filter::LevelFilter;

use fixture::Server;
use protocol::{Cannot, Failure, REVISIONS, Request, Serve, StreamAddress, VARIANTS};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    tracing_subscriber::fmt().with_max_level(LevelFilter::WARN).with_writer(std::io::stderr).with_ansi(false).init();
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => control().await,
        ["--stdio-server", file] => serve_process(file).await,
        _ => Err("usage: adapter [--stdio-server FILE]".into()),
    }
}

/// The running servers, by the id of their `serve` request. Dropping a guard stops its server.
type Serving = HashMap<String, DropGuard>;

async fn control() -> Result<ExitCode, Box<dyn Error>> {
    let mut serving = Serving::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut out = tokio::io::stdout();
    while let Some(line) = lines.next_line().await? {
        let request: Request = protocol::read(&line)?;
        let id = request.id.clone();
        let mut answer = answer(request, &mut serving).await.unwrap_or_else(Failure::answer);
        answer["id"] = Value::String(id);
        out.write_all(format!("{answer}\n").as_bytes()).await?;
        out.flush().await?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn answer(request: Request, serving: &mut Serving) -> Result<Value, Failure> {
    Ok(match request {
        Request { hello: Some(_), .. } => hello(),
        Request { id, serve: Some(request), .. } => {
            let (server, stop) = serve(request).await?;
            serving.insert(id, stop);
            json!({ "serving": server })
        }
        Request { stop: Some(request), .. } => json!({ "stopped": serving.remove(&request.serving).is_some() }),
        Request { drive: Some(request), .. } => json!({ "drove": drive::drive(request).await? }),
        _ => json!({ "unsupported": "expected hello, serve, stop or drive" }),
    })
}

/// The parts of the adapter protocol beyond its first version, all of which this adapter handles.
const KNOWS: [&str; 11] = [
    "elicit-url",
    "state",
    "wait",
    "log",
    "progress",
    "callTools",
    "requestTimeout",
    "as-presented",
    "methods",
    "capabilities",
    "request",
];

fn hello() -> Value {
    json!({ "hello": {
        "sdk": "rmcp",
        "version": versions::RMCP,
        "language": "rust",
        "api": "router, typed: ToolRouter with ToolRoute::new_dyn, and #[tool] for typed tools; client: RunningService",
        "roles": ["server", "client"],
        "transports": ["stdio", "http"],
        "revisions": REVISIONS,
        "variants": VARIANTS,
        "knows": KNOWS,
        "streams": true,
    } })
}

/// Starts a server. Returns the content of the `serving` answer, and the guard that stops the server.
async fn serve(mut request: Serve) -> Result<(Value, DropGuard), Failure> {
    let stream = request.stream.take();
    let http = request.transport == "http";
    let server = Server::build(request)?;
    match stream {
        Some(address) => Ok((json!({}), connect(server, address))),
        None if http => {
            let (url, stop) = publish(server).await?;
            Ok((json!({ "url": url }), stop))
        }
        None => Err(Cannot("`serve` is for http and for streams; for stdio start --stdio-server".to_owned()).into()),
    }
}

/// Serves over HTTP on a listener of its own.
/// <https://github.com/modelcontextprotocol/rust-sdk#stateless-streamable-http>
async fn publish(server: Server) -> Result<(String, DropGuard), Cannot> {
    let unbound = |error: std::io::Error| Cannot(error.to_string());
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(unbound)?;
    let address = listener.local_addr().map_err(unbound)?;
    // Without TCP_NODELAY, each event waits 40 ms for the client's delayed acknowledgement.
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
    tokio::spawn(async move {
        if let Err(error) = serving.await {
            eprintln!("Error: {error:?}");
        }
    });
    Ok((format!("http://{address}/mcp"), stop.drop_guard()))
}

/// Serves on a connection instead of the standard streams. A failure ends only this server.
fn connect(server: Server, address: StreamAddress) -> DropGuard {
    let stop = CancellationToken::new();
    let stopped = stop.child_token();
    tokio::spawn(async move {
        if let Err(error) = serve_stream(server, address, stopped).await {
            eprintln!("Error: {error:?}");
        }
    });
    stop.drop_guard()
}

/// Serves on a connection until it ends or `stopped` is cancelled. Like `stdio()`, any pair of a reader and a writer is
/// a transport.
/// <https://docs.rs/rmcp/3.11.0/rmcp/transport/async_rw/struct.AsyncRwTransport.html>
async fn serve_stream(
    server: Server,
    address: StreamAddress,
    stopped: CancellationToken,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut connection = TcpStream::connect(("127.0.0.1", address.port))?;
    connection.set_nodelay(true)?;
    writeln!(connection, "{}", address.word)?;
    connection.set_nonblocking(true)?;
    // The clone closes the connection at once. The SDK would first wait some seconds for its handlers.
    let end = connection.try_clone()?;
    let (input, output) = tokio::net::TcpStream::from_std(connection)?.into_split();
    let serving = async {
        server.serve((input, output)).await?.waiting().await?;
        Ok(())
    };
    let served = stopped.run_until_cancelled(serving).await;
    // The connection may already be closed.
    _ = end.shutdown(Shutdown::Both);
    served.unwrap_or(Ok(()))
}

/// Serves on the standard streams: <https://github.com/modelcontextprotocol/rust-sdk#build-a-server>
async fn serve_process(file: &str) -> Result<ExitCode, Box<dyn Error>> {
    match Server::build(protocol::read(&std::fs::read_to_string(file)?)?) {
        Ok(server) => {
            server.serve(stdio()).await?.waiting().await?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            eprintln!("{}", failure.answer());
            Ok(ExitCode::from(3))
        }
    }
}
