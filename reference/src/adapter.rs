//! The adapter protocol: one request per line on standard input, one response per line on standard output.
//!
//! The module starts and stops servers and clients as the harness requests. It must not know the messages that they
//! exchange.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::task::AbortHandle;

use crate::client;
use crate::mutants::Variant;
use crate::policy::Policy;
use crate::revision::Revision;
use crate::server::fixture::{Fixture, Refused};
use crate::server::http::Listener;
use crate::server::{Server, stdio};

/// The stack size of threads. A schema of 64 levels and a chain of references need more than the default, especially
/// without optimization.
const STACK: usize = 256 << 20;

/// The exit status of a process that refused to serve its file over stdio.
const REFUSED: u8 = 3;
/// The parts of the adapter protocol beyond its first version.
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

/// Runs the target until its standard input ends.
///
/// `mutant` is the name of a mutant, and `changes` the JSON text of one that is data. With `stdio_server`, the process is the
/// MCP server that the file describes.
pub fn run(mutant: Option<&str>, changes: Option<&str>, stdio_server: Option<&Path>) -> ExitCode {
    let no_mutant = || format!("there is no mutant `{}`", mutant.unwrap_or_default());
    let variant = match changes {
        Some(changes) => Variant::changed(mutant, changes).map_err(|error| error.to_string()),
        None => Variant::named(mutant).ok_or_else(no_mutant),
    };
    let variant = match variant {
        Ok(variant) => variant,
        Err(error) => return exit_with(2, &json!({ "error": error })),
    };
    let file = stdio_server.map(Path::to_owned);
    let work = move || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = match builder.max_blocking_threads(16).thread_stack_size(STACK).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return exit_with(1, &json!({ "error": error.to_string() })),
        };
        let code = match file {
            None => runtime.block_on(adapt(variant)),
            Some(file) => runtime.block_on(serve_stdio(&file, variant)),
        };
        // A validation that exceeded its time limit must not keep the process alive.
        runtime.shutdown_background();
        code
    };
    match std::thread::Builder::new().stack_size(STACK).spawn(work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => exit_with(1, &json!({ "error": error.to_string() })),
    }
}

fn exit_with(code: u8, line: &Value) -> ExitCode {
    let _ignored = writeln!(io::stderr(), "{line}");
    ExitCode::from(code)
}

/// A request of the harness to the adapter.
#[derive(Deserialize)]
struct AdapterRequest {
    id: Value,
    hello: Option<Value>,
    serve: Option<Serve>,
    stop: Option<Stop>,
    drive: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Serve {
    revision: String,
    transport: String,
    fixture: Box<RawValue>,
    /// The stream to connect to, for a server over stdio.
    stream: Option<StreamAddress>,
}

#[derive(Deserialize)]
struct StreamAddress {
    port: u16,
    word: String,
}

#[derive(Deserialize)]
struct Stop {
    serving: Value,
}

impl Serve {
    /// Builds the requested server.
    ///
    /// # Errors
    /// The member of the response that reports the reason.
    async fn build(self, policy: &'static Policy) -> Result<Server, (&'static str, Value)> {
        let Some(revision) = Revision::named(&self.revision) else {
            return Err(("cannot", json!(format!("the revision {} is not supported", self.revision))));
        };
        let build = move || Fixture::build(self.fixture.get(), revision, policy);
        match tokio::task::spawn_blocking(build).await {
            Ok(Ok(fixture)) => Ok(Server::new(fixture)),
            Ok(Err(refused)) => Err(("refused", refused.into())),
            Err(error) => Err(("refused", json!({ "type": "Panic", "message": error.to_string() }))),
        }
    }
}

impl From<Refused> for Value {
    fn from(refused: Refused) -> Self {
        let mut value = json!({ "type": refused.kind, "message": refused.message });
        if let Some(tool) = refused.tool {
            value["tool"] = tool.into();
        }
        value
    }
}

/// Runs the adapter's loop, which responds to each request before it reads the next.
async fn adapt(variant: Variant) -> ExitCode {
    let listener = match Listener::start().await {
        Ok(listener) => listener,
        Err(error) => return exit_with(1, &json!({ "error": error.to_string() })),
    };
    let mut adapter = Adapter { listener, http: client::connections(), served: HashMap::new(), variant };
    // The harness is trusted, so its fixtures may have any size.
    let mut input = BufReader::with_capacity(64 << 10, stdio::input());
    while let Ok(Some(line)) = stdio::line(&mut input, usize::MAX - 1).await {
        let answer = adapter.answer(&line).await;
        let mut output = io::stdout().lock();
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

struct Adapter {
    listener: Listener,
    /// The connections of the clients.
    http: reqwest::Client,
    /// The running servers, by the id of the request that started each.
    served: HashMap<String, RunningServer>,
    variant: Variant,
}

/// A running server.
enum RunningServer {
    /// A server over HTTP, with its URL.
    Http(String),
    /// A server over a stream.
    Stream(AbortHandle),
}

impl Adapter {
    async fn answer(&mut self, line: &[u8]) -> String {
        let (id, (kind, value)) = match serde_json::from_slice::<AdapterRequest>(line) {
            Err(error) => (Value::Null, ("unsupported", json!(error.to_string()))),
            Ok(AdapterRequest { id, hello: Some(_), .. }) => (id, ("hello", hello(self.variant))),
            Ok(AdapterRequest { id, serve: Some(serve), .. }) => {
                let answer = self.serve(&id, serve).await;
                (id, answer)
            }
            Ok(AdapterRequest { id, stop: Some(stop), .. }) => (id, self.stop(&stop)),
            Ok(AdapterRequest { id, drive: Some(drive), .. }) => {
                let (kind, answer) = client::drive(drive.get(), &self.http, self.variant.client).await;
                // The result stays text, because it may be deeper than any tree.
                return format!(r#"{{"id":{id},"{kind}":{answer}}}"#);
            }
            Ok(AdapterRequest { id, .. }) => {
                (id, ("unsupported", json!("this adapter supports hello, serve, stop and drive")))
            }
        };
        json!({ "id": id, kind: value }).to_string()
    }

    async fn serve(&mut self, id: &Value, mut serve: Serve) -> (&'static str, Value) {
        let (is_http, stream) = (serve.transport == "http", serve.stream.take());
        let server = match serve.build(self.variant.server).await {
            Ok(server) => server,
            Err(answer) => return answer,
        };
        let (served, answer) = match stream {
            _ if is_http => {
                let url = self.listener.serve(server);
                (RunningServer::Http(url.clone()), json!({ "url": url }))
            }
            Some(StreamAddress { port, word }) => match stdio::connect(port, &word, server).await {
                Ok(speaking) => (RunningServer::Stream(tokio::spawn(speaking).abort_handle()), json!({})),
                Err(error) => return ("unsupported", json!(format!("cannot connect the stream: {error}"))),
            },
            None => return ("cannot", json!("stdio requires a stream, or a process started with --stdio-server FILE")),
        };
        self.served.insert(id.to_string(), served);
        ("serving", answer)
    }

    fn stop(&mut self, stop: &Stop) -> (&'static str, Value) {
        match self.served.remove(&stop.serving.to_string()) {
            Some(RunningServer::Http(url)) => self.listener.stop(&url),
            Some(RunningServer::Stream(speaking)) => speaking.abort(),
            None => {}
        }
        ("stopped", json!(true))
    }
}

/// Returns the response to `hello`. A mutant is a variant of the reference, like an API level of an SDK.
fn hello(variant: Variant) -> Value {
    json!({
        "sdk": "casebook-reference",
        "version": env!("CARGO_PKG_VERSION"),
        "language": "rust",
        "api": "a server and a client of the harness's own",
        "roles": ["server", "client"],
        "transports": ["http", "stdio"],
        "streams": true,
        "revisions": Revision::ALL.map(Revision::name),
        "variants": variant.name.as_slice(),
        "knows": KNOWS,
    })
}

async fn serve_stdio(file: &Path, variant: Variant) -> ExitCode {
    let serve: Serve =
        match std::fs::read(file).map_err(serde_json::Error::io).and_then(|text| serde_json::from_slice(&text)) {
            Ok(serve) => serve,
            Err(error) => return exit_with(2, &json!({ "error": error.to_string() })),
        };
    match serve.build(variant.server).await {
        Ok(server) => {
            stdio::serve(server, stdio::input(), tokio::io::stdout()).await;
            ExitCode::SUCCESS
        }
        Err((kind, reason)) => exit_with(REFUSED, &json!({ kind: reason })),
    }
}
