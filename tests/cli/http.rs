//! HTTP servers for tests, with TLS or without, whose replies a function of the test decides.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A request as it was received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// A status, headers and a body.
pub(crate) type Reply = (u16, Vec<(&'static str, String)>, String);

/// A server on a free port of this machine. Its threads end with the test program.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    connections: Arc<AtomicUsize>,
    is_encrypted: bool,
}

impl Server {
    /// Starts a server without TLS.
    pub(crate) fn plain(reply: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self::start(None, reply)
    }

    /// Starts a server with TLS.
    pub(crate) fn tls(config: ServerConfig, reply: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> Self {
        Self::start(Some(Arc::new(config)), reply)
    }

    fn start(
        config: Option<Arc<ServerConfig>>,
        reply: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (requests, connections) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let server = Self {
            port,
            requests: Arc::clone(&requests),
            connections: Arc::clone(&connections),
            is_encrypted: config.is_some(),
        };
        let reply = Arc::new(reply);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Ordering::SeqCst);
                let (config, requests, reply) = (config.clone(), Arc::clone(&requests), Arc::clone(&reply));
                std::thread::spawn(move || match config {
                    Some(config) => {
                        let connection = ServerConnection::new(config).expect("a sound configuration");
                        converse(StreamOwned::new(connection, stream), &requests, &*reply);
                    }
                    None => converse(stream, &requests, &*reply),
                });
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        format!("{scheme}://127.0.0.1:{}/mcp", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no thread panicked").clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The names of the tools that were called.
    pub(crate) fn called(&self) -> Vec<String> {
        let requests = self.requests();
        let calls = requests.iter().filter(|request| request.method() == "tools/call");
        calls.filter_map(|call| call.body["params"]["name"].as_str().map(str::to_owned)).collect()
    }
}

/// Reads the requests of one connection, and answers them. Without a reply, the connection stays open and silent.
fn converse<S: Read + Write>(
    stream: S,
    requests: &Mutex<Vec<Request>>,
    reply: &(dyn Fn(&Request) -> Option<Reply> + Send + Sync),
) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream) {
        requests.lock().expect("no thread panicked").push(request.clone());
        let Some((status, headers, body)) = reply(&request) else {
            _ = stream.read(&mut [0]);
            return;
        };
        let mut text = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        let whole = text + "\r\n" + &body;
        if stream.get_mut().write_all(whole.as_bytes()).and_then(|()| stream.get_mut().flush()).is_err() {
            return;
        }
    }
}

fn read<S: Read>(stream: &mut BufReader<S>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let verb = line.split(' ').next()?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let request = Request { verb, headers, body: Value::Null };
    let length = request.header("content-length").map_or(0, |length| length.parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(Request { body: serde_json::from_slice(&body).unwrap_or_default(), ..request })
}

fn json(body: &Value) -> Reply {
    (200, vec![("content-type", "application/json".to_owned())], body.to_string())
}

/// A sound server of revision 2025-11-25 with these tools, or without the capability of tools.
pub(crate) fn mcp(tools: Option<&[&str]>) -> impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static {
    let tools: Option<Vec<String>> = tools.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    move |request| {
        if request.verb != "POST" {
            return Some((405, Vec::new(), String::new()));
        }
        let is_other = |version| version != "2025-11-25";
        if request.header("origin").is_some() {
            return Some((403, Vec::new(), String::new()));
        } else if request.header("mcp-protocol-version").is_some_and(is_other) {
            return Some((400, Vec::new(), String::new()));
        }
        let (id, params) = (&request.body["id"], &request.body["params"]);
        let result = |result: Value| json(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        let error =
            |code: i32| json(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } }));
        let capabilities = if tools.is_some() { json!({ "tools": {} }) } else { json!({}) };
        Some(match (request.method(), &tools) {
            ("initialize", _) => result(json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": { "name": "recorder", "version": "7" },
            })),
            (method, _) if method.starts_with("notifications/") => (202, Vec::new(), String::new()),
            ("ping", _) => result(json!({})),
            ("tools/list", Some(_)) if params["cursor"].is_string() => error(-32602),
            ("tools/list", Some(names)) => {
                let tool = |name: &String| json!({ "name": name, "inputSchema": { "type": "object" } });
                result(json!({ "tools": names.iter().map(tool).collect::<Vec<_>>() }))
            }
            ("tools/call", Some(names)) => match params["name"].as_str() {
                Some(name) if names.iter().any(|known| known == name) => {
                    result(json!({ "content": [{ "type": "text", "text": "called" }] }))
                }
                _ => error(-32602),
            },
            _ => error(-32601),
        })
    }
}

/// The certificate of a server, with the root that signed it as PEM.
pub(crate) fn certificate(name: &str, change: impl FnOnce(&mut CertificateParams)) -> (ServerConfig, String) {
    let mut root = CertificateParams::new(Vec::new()).expect("no names");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_key = KeyPair::generate().expect("a key");
    let pem = root.self_signed(&root_key).expect("a root").pem();
    let issuer = Issuer::new(root, root_key);
    let mut own = CertificateParams::new(vec![name.to_owned()]).expect("a name");
    change(&mut own);
    let key = KeyPair::generate().expect("a key");
    let certificate = own.signed_by(&key, &issuer).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("the provider has the cipher suites").with_no_client_auth();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    (builder.with_single_cert(vec![certificate.der().clone()], key).expect("a sound certificate"), pem)
}

/// A listener that accepts connections and never sends a byte.
pub(crate) fn silent() -> Server {
    Server::plain(|_| None)
}

/// Opens a connection to a server, to see that it still listens.
pub(crate) fn is_listening(server: &Server) -> bool {
    TcpStream::connect(("127.0.0.1", server.port)).is_ok()
}
