//! Scripted servers over loopback and pipes, and steps to send to them; for tests only.
//!
//! Takes the reply to each request, gives connections and the requests received. Must not know any protocol.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::drive::clock::Deadline;
use crate::drive::process::lines::Lines;
use crate::drive::server::connection::Connection;
use crate::drive::server::exchange::Exchange;
use crate::drive::server::http::ConnectionReuse;
use crate::model::case::{Answer, Retry, Step, When};
use crate::model::spec::{Lifecycle, Revision};
use crate::model::template::{Bindings, Template};
use crate::model::transcript::{End, Party};

/// An action of a scripted server for one request, on a connection that the server closes afterwards.
pub(crate) enum Act {
    Write(Vec<u8>),
    /// Waits until this number of requests has arrived.
    Await(usize),
    Hang,
}

/// A server that answers each request by the next part of a script.
pub(crate) struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn new(script: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        tokio::spawn(async move {
            let (count, counted) = watch::channel(0);
            for acts in script {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read_request(&mut stream).await;
                seen.lock().unwrap().push(request);
                count.send_modify(|count| *count += 1);
                tokio::spawn(act(stream, acts, counted.clone()));
            }
        });
        Self { url, requests }
    }

    pub(crate) fn connection(&self, revision: Revision) -> Connection {
        to(&self.url, revision)
    }

    /// Returns the bodies of the requests received.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let body = |text: &String| serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap_or_default();
        self.requests.lock().unwrap().iter().map(body).collect()
    }

    pub(crate) fn request(&self, index: usize) -> String {
        self.requests.lock().unwrap()[index].clone()
    }
}

/// A connection to a URL.
pub(crate) fn to(url: &str, revision: Revision) -> Connection {
    Connection::to(ConnectionReuse::default().local(url), revision)
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        if stream.read_buf(&mut request).await.unwrap() == 0 {
            return text;
        }
    }
}

async fn act(mut stream: TcpStream, acts: Vec<Act>, mut count: watch::Receiver<usize>) {
    for act in acts {
        match act {
            Act::Write(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Await(requests) => drop(count.wait_for(|count| *count >= requests).await),
            Act::Hang => std::future::pending().await,
        }
    }
}

pub(crate) fn write(text: &str) -> Act {
    Act::Write(text.as_bytes().to_vec())
}

pub(crate) fn reply(status: u16, content_type: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    vec![write(&format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))]
}

pub(crate) fn json_reply(body: &str) -> Vec<Act> {
    reply(200, "application/json; charset=utf-8", body)
}

pub(crate) fn taken() -> Vec<Act> {
    vec![write("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")]
}

pub(crate) fn events(parts: &[&str]) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    std::iter::once(head).chain(parts.iter().copied()).map(write).collect()
}

pub(crate) fn event(data: &str) -> String {
    format!("event: message\ndata: {data}\n\n")
}

pub(crate) fn revision(lifecycle: Lifecycle) -> Revision {
    Revision::all().rfind(|revision| revision.facts().lifecycle == lifecycle).unwrap()
}

pub(crate) fn step(when: When) -> Step {
    Step::observe(when)
}

pub(crate) fn call(answers: Vec<Answer>) -> Step {
    call_again(answers, Retry::default())
}

pub(crate) fn call_again(answers: Vec<Answer>, retry: Retry) -> Step {
    step(When::Call {
        tool: "ask".into(),
        arguments: Some(Template::from(&json!({ "a": 1 }))),
        answers,
        retry,
        parallel: false,
    })
}

pub(crate) fn accept(content: &Value) -> Answer {
    Answer::Accept(Template::from(content))
}

pub(crate) fn send(message: &Value) -> Step {
    step(When::Send { message: Template::from(message), headers: Vec::new() })
}

pub(crate) fn soon() -> Deadline {
    Deadline::within(Duration::from_secs(5))
}

pub(crate) async fn perform(connection: &mut Connection, step: &Step, deadline: Deadline) -> Exchange {
    connection.perform(step, &Bindings::default(), deadline).await
}

/// Sends one stateless `tools/list` over HTTP, with one scripted reply.
pub(crate) async fn listed(script: Vec<Act>) -> Exchange {
    let server = Server::new(vec![script]).await;
    let mut connection = server.connection(revision(Lifecycle::Stateless));
    perform(&mut connection, &step(When::List), soon()).await
}

pub(crate) fn received(exchange: &Exchange) -> Vec<&str> {
    let came = exchange.messages.iter().filter(|message| message.from == Party::Target);
    came.map(|message| message.text.as_str()).collect()
}

pub(crate) fn reason(exchange: &Exchange) -> &str {
    match &exchange.end {
        End::Invalid { reason } => reason,
        end => panic!("{end:?}"),
    }
}

pub(crate) const EMPTY: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"tools":[]}}"#;
pub(crate) const OPENED: &str =
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
pub(crate) const ASKED: &str = r#"{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{}}"#;
pub(crate) const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

/// A stateful server, which answers `initialize` and `initialized` first, refuses a GET request, and then follows the
/// script.
pub(crate) async fn stateful(script: Vec<Vec<Act>>) -> (Server, Connection) {
    stateful_with(reply(405, "text/plain", ""), script).await
}

/// A stateful server with this reply to the GET request.
pub(crate) async fn stateful_with(get: Vec<Act>, script: Vec<Vec<Act>>) -> (Server, Connection) {
    let session = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\nconnection: close\r\n\r\n{OPENED}"
    );
    let server = Server::new([vec![write(&session)], taken(), get].into_iter().chain(script).collect()).await;
    let mut connection = server.connection(revision(Lifecycle::Stateful)).asked(true);
    let exchange = connection.open(&step(When::List), &Bindings::default(), soon()).await;
    assert_eq!(exchange.end, End::Accepted);
    (server, connection)
}

/// A server over pipes that answers each line by the next part of a script, and returns the lines received.
pub(crate) fn piped(lifecycle: Lifecycle, script: Vec<String>) -> (Connection, tokio::task::JoinHandle<Vec<String>>) {
    let (input, their_input) = tokio::io::duplex(1 << 16);
    let (mut their_output, output) = tokio::io::duplex(1 << 16);
    let server = tokio::spawn(async move {
        let mut lines = BufReader::new(their_input).lines();
        let mut got = Vec::new();
        let mut script = script.into_iter();
        while let Ok(Some(line)) = lines.next_line().await {
            got.push(line);
            let Some(answer) = script.next() else { break };
            their_output.write_all(answer.as_bytes()).await.unwrap();
        }
        got
    });
    (Connection::stdio(input, Lines::of(output).0, revision(lifecycle)), server)
}

pub(crate) fn line(text: &str) -> String {
    format!("{text}\n")
}
