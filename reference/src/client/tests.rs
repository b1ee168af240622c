//! Tests of the client against the server in this crate, and against a server that returns a list of results.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::*;
use crate::mutants::policy;
use crate::server::Server;
use crate::server::fixture::Fixture;
use crate::server::http::Listener;

const NEW: &str = "2026-07-28";

async fn steps(drive: Value, mutant: &str) -> Vec<Value> {
    let (kind, answer) = super::drive(&drive.to_string(), &connections(), policy(mutant)).await;
    assert_eq!(kind, "drove", "{answer}");
    let answer: Value = serde_json::from_str(answer.get()).expect("JSON");
    answer["steps"].as_array().expect("steps").clone()
}

fn call(name: &str) -> Value {
    json!({ "callTool": { "name": name } })
}

/// Starts a server that returns these results in turn for any request. Returns its URL and the requests that it
/// receives.
async fn scripted(results: Vec<Value>) -> (String, Arc<Mutex<Vec<Value>>>) {
    let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", socket.local_addr().expect("an address"));
    let asked = Arc::new(Mutex::new(vec![]));
    let log = asked.clone();
    tokio::spawn(async move {
        for result in results {
            let (mut stream, _) = socket.accept().await.expect("a client");
            let request = request(&mut stream).await.expect("a request");
            reply(&mut stream, &request, &result).await;
            log.lock().expect("the log").push(request);
        }
    });
    (url, asked)
}

/// Reads a request. Returns `None` if it has no body.
async fn request(stream: &mut TcpStream) -> Option<Value> {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line).await.expect("a header") > 2 {
        length = line.strip_prefix("content-length: ").map_or(length, |n| n.trim().parse().expect("a number"));
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.expect("a body");
    (length > 0).then(|| serde_json::from_slice(&body).expect("a message"))
}

/// Sends this result.
async fn reply(stream: &mut TcpStream, request: &Value, result: &Value) {
    let body = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string();
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length:";
    let reply = format!("{head} {}\r\n\r\n{body}", body.len());
    stream.write_all(reply.as_bytes()).await.expect("a reply");
}

/// Starts a server that asks on the stream outside all replies as soon as a tool is called, and that starts its reply
/// to the call only after it has the answer.
async fn server_that_asks_outside_replies() -> String {
    let socket = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", socket.local_addr().expect("an address"));
    let (called, answered) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let serve = async move |mut stream: TcpStream| {
        let Some(request) = request(&mut stream).await else {
            called.notified().await;
            let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
            let params = json!({ "message": "How many?", "requestedSchema": schema });
            let question = json!({ "jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": params });
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            stream.write_all(format!("{head}data: {question}\n\n").as_bytes()).await.expect("a stream");
            // The stream stays open.
            return std::future::pending().await;
        };
        match request["method"].as_str() {
            Some("initialize") => {
                let info = json!({ "name": "s", "version": "1" });
                let result = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info });
                reply(&mut stream, &request, &result).await;
            }
            Some("tools/call") => {
                called.notify_one();
                answered.notified().await;
                reply(&mut stream, &request, &json!({ "content": [] })).await;
            }
            earlier => {
                if earlier.is_none() && request["result"]["content"] == json!({ "n": 0 }) {
                    answered.notify_one();
                }
                stream.write_all(b"HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n").await.expect("a status");
            }
        }
    };
    tokio::spawn(async move {
        let mut connections = FuturesUnordered::new();
        loop {
            tokio::select! {
                Ok((stream, _)) = socket.accept() => connections.push(serve(stream)),
                Some(()) = connections.next() => {}
            }
        }
    });
    url
}

#[tokio::test]
async fn question_outside_all_replies_is_answered() {
    let url = server_that_asks_outside_replies().await;
    let drive = json!({
        "revision": "2025-11-25", "url": url, "answers": [{ "accept": { "n": 0 } }], "script": [call("ask")],
    });
    assert_eq!(steps(drive, "").await, [json!({ "result": { "content": [] } })]);
}

/// Drives a scripted server of the newest revision. Returns the steps, and the parameters that the server received.
async fn play(results: Vec<Value>, script: Vec<Value>, mutant: &str) -> (Vec<Value>, Vec<Value>) {
    let (url, asked) = scripted(results).await;
    let answers = json!([{ "accept": { "n": 0 } }]);
    let steps = steps(json!({ "revision": NEW, "url": url, "answers": answers, "script": script }), mutant).await;
    let asked = asked.lock().expect("the log").iter().map(|request| request["params"].clone()).collect();
    (steps, asked)
}

#[tokio::test]
async fn client_and_server_work_together_in_all_revisions() {
    let object = json!({ "type": "object" });
    let form = json!({ "type": "object", "properties": { "b": { "type": "boolean", "default": false } } });
    let fixture = json!({ "server": { "name": "s", "version": "1" }, "tools": [
        { "name": "echo", "inputSchema": object, "outputSchema": object, "does": { "echo": true } },
        { "name": "ask", "inputSchema": object, "does": { "elicit": { "message": "?", "requestedSchema": form } } },
    ] });
    for revision in Revision::ALL {
        let listener = Listener::start().await.expect("a port");
        let fixture = Fixture::build(&fixture.to_string(), revision, policy("")).expect("a sound fixture");
        let url = listener.serve(Server::new(fixture));
        let script = json!([{ "listTools": {} }, call("echo"), call("ask")]);
        let answers = json!({ "accept": "as presented" });
        let drive = json!({ "revision": revision.name(), "url": url, "answers": answers, "script": script });
        let steps = steps(drive, "").await;
        assert_eq!(steps[0]["tools"][0], json!({ "name": "echo", "inputSchema": object, "outputSchema": object }));
        assert_eq!(steps[1]["result"]["structuredContent"], json!({}));
        let answer = json!({ "action": "accept", "content": { "b": false } });
        assert_eq!(steps[2]["result"]["structuredContent"], answer, "{}", revision.name());
    }
}

#[tokio::test]
async fn state_is_returned_unchanged_and_only_if_sent() {
    let state = |state: &str| json!({ "resultType": "input_required", "requestState": state });
    let params = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": { "n": { "type": "integer" } } } });
    let question = json!({ "method": "elicitation/create", "params": params });
    let asking = json!({ "resultType": "input_required", "inputRequests": { "k": question } });
    let results = vec![state("{\"a\": 1.0}"), state(""), asking, json!({ "content": [] })];
    let (steps, asked) = play(results.clone(), vec![call("t")], "").await;
    assert_eq!(steps, [json!({ "result": { "content": [] } })]);
    let states: Vec<_> = asked.iter().map(|params| params.get("requestState").cloned()).collect();
    assert_eq!(states, [None, Some(json!("{\"a\": 1.0}")), Some(json!("")), None]);
    assert_eq!(asked[3]["inputResponses"], json!({ "k": { "action": "accept", "content": { "n": 0 } } }));
    assert!(asked.iter().all(|params| params["name"] == "t" && params["_meta"].is_object()));
    let (_, asked) = play(results.clone(), vec![call("t")], "state-reencoded").await;
    assert_eq!(asked[1]["requestState"], "{\"a\":1.0}");
    let (_, asked) = play(results, vec![call("t")], "state-invented").await;
    assert_eq!(asked[3].get("requestState"), Some(&Value::Null));
}

#[tokio::test]
async fn server_that_keeps_asking_is_abandoned() {
    let again = json!({ "resultType": "input_required", "requestState": "s" });
    let (steps, asked) = play(vec![again; 20], vec![call("t")], "").await;
    assert_eq!((steps[0]["error"]["type"].as_str(), asked.len()), (Some("ProtocolError"), 9));
}

#[tokio::test]
async fn result_type_unknown_is_an_error_and_absent_is_complete() {
    let results = vec![json!({ "content": [], "resultType": "partial" }), json!({ "content": [] })];
    let (steps, _) = play(results, vec![call("t"), call("t")], "").await;
    assert!(steps[0].get("error").is_some() && steps[1].get("result").is_some());
}

#[tokio::test]
async fn empty_cursor_leads_to_the_next_page() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let pages = vec![json!({ "tools": [tool("a")], "nextCursor": "" }), json!({ "tools": [tool("b")] })];
    let list = vec![json!({ "listTools": {} })];
    let (steps, asked) = play(pages.clone(), list.clone(), "").await;
    assert_eq!(steps, [json!({ "tools": [tool("a"), tool("b")] })]);
    assert_eq!((asked[0].get("cursor"), asked[1].get("cursor")), (None, Some(&json!(""))));
    let (steps, _) = play(pages, list, "cursor-empty-is-end").await;
    assert_eq!(steps, [json!({ "tools": [tool("a")] })]);
}

#[tokio::test]
async fn result_is_validated_by_its_own_tool_unless_it_failed() {
    let tool = |name: &str, output: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "outputSchema": output });
    let tools = json!({ "tools": [tool("null", json!({ "type": "null" })), tool("bad", json!({ "$ref": "http://127.0.0.1:1/" }))] });
    let with = |value: Value| json!({ "content": [], "structuredContent": value });
    let results = vec![
        tools,
        with(json!(null)),
        with(json!(0)),
        json!({ "content": [] }),
        json!({ "content": [], "isError": true }),
        with(json!(1)),
    ];
    let null = call("null");
    let script =
        vec![json!({ "listTools": {} }), null.clone(), null.clone(), null.clone(), null, call("bad"), call("unlisted")];
    let (steps, _) = play(results, script, "").await;
    let kinds: Vec<_> = steps[1..].iter().map(|step| step["error"]["type"].as_str()).collect();
    let wrong = Some("OutputError");
    assert_eq!(kinds, [None, wrong, wrong, None, Some("SchemaError"), None]);
}

#[tokio::test]
async fn invalid_drive_request_is_reported() {
    for drive in [
        json!({ "revision": "2024-11-05", "url": "http://127.0.0.1:1/", "script": [] }),
        json!({ "revision": NEW, "script": [] }),
        json!({ "revision": NEW, "url": "http://127.0.0.1:1/", "script": [{ "listPrompts": {} }] }),
        json!({ "revision": NEW, "url": "http://127.0.0.1:1/", "answers": "perhaps", "script": [] }),
    ] {
        assert_eq!(super::drive(&drive.to_string(), &connections(), policy("")).await.0, "cannot", "{drive}");
    }
    let (_, nobody) =
        drive(r#"{"revision":"2025-11-25","url":"http://127.0.0.1:1/","script":[]}"#, &connections(), policy("")).await;
    assert!(nobody.get().starts_with(r#"{"connected":false"#), "{nobody}");
}
