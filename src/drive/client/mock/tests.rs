//! Requests to the mock server from clients that are plain sockets.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::net::TcpStream;

use super::stdio::between;
use super::{Listeners, Mock};
use crate::model::CaseId;
use crate::model::case::{Change, Deviation, Does, Fixture, Pages, Test, Tool};
use crate::model::spec::{Lifecycle, Revision, Role};
use crate::model::template::{Bindings, Generator, Template};
use crate::model::transcript::{OTHER_SESSION, Party};

fn revision(lifecycle: Lifecycle) -> Revision {
    Revision::all().rfind(|revision| revision.facts().lifecycle == lifecycle).expect("there is one")
}

fn tool(name: &str, does: Does, how: &Value) -> Tool {
    let definition = json!({ "name": name, "inputSchema": { "type": "object" }, "does": { does.word(): how } });
    Tool { name: name.to_owned(), definition: Template::from(&definition), does }
}

fn question(field: &str) -> Value {
    json!({ "message": "?", "requestedSchema": { "type": "object", "properties": { field: { "type": "string" } } } })
}

pub(super) fn fixture(tools: Vec<Tool>) -> Fixture {
    Fixture { tools, ..Fixture::default() }
}

fn set(method: &str, at: &str, value: &Value) -> Deviation {
    let change = Change::Set { at: at.to_owned(), value: Template::from(value) };
    Deviation { method: method.to_owned(), times: None, change }
}

pub(super) async fn serve(lifecycle: Lifecycle, given: Fixture) -> Mock {
    serve_behind(&mut Listeners::default(), lifecycle, given).await
}

pub(super) async fn serve_behind(listeners: &mut Listeners, lifecycle: Lifecycle, given: Fixture) -> Mock {
    let test = Test::new(CaseId::new("a", "b"), "t", Role::Client, given, Vec::new());
    let revision = revision(lifecycle);
    let bindings = Bindings { revision: revision.name().to_owned(), ..Bindings::default() };
    Mock::serve(listeners, &Arc::new(test), &bindings, revision).expect("loopback has a port")
}

/// A request of the stateless lifecycle.
pub(super) fn stateless(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": revision(Lifecycle::Stateless).name(),
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn initialize(capabilities: &Value) -> Value {
    let params =
        json!({ "protocolVersion": "x", "capabilities": capabilities, "clientInfo": { "name": "c", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

#[derive(Debug)]
pub(super) struct Came {
    pub(super) status: u16,
    head: String,
    body: String,
    whole: bool,
}

impl Came {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, rest) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let (mut body, mut whole) = (rest.to_owned(), true);
        if head.contains("transfer-encoding: chunked") {
            (body, whole) = dechunked(rest);
        }
        Self { status, head: head.to_owned(), body, whole }
    }
}

fn dechunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return (body, true);
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    (body, false)
}

/// Opens a connection, sends a request, and leaves the reply to be read.
async fn begin(url: &str, method: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let (address, path) = url.strip_prefix("http://").and_then(|url| url.split_once('/')).expect("an address");
    let mut stream = TcpStream::connect(address).await.expect("a listener");
    let host = (!headers.iter().any(|(name, _)| *name == "host")).then_some(("host", address));
    let headers: Vec<_> =
        headers.iter().copied().chain(host).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = format!("connection: close\r\ncontent-length: {}\r\n", body.len());
    let request = [&format!("{method} /{path} HTTP/1.1\r\n"), &length, &headers.concat(), "\r\n", body].concat();
    stream.write_all(request.as_bytes()).await.expect("it reads");
    stream
}

pub(super) async fn send(url: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Came {
    let mut bytes = Vec::new();
    _ = begin(url, method, headers, body).await.read_to_end(&mut bytes).await;
    Came::of(&bytes)
}

async fn post(mock: &Mock, message: &Value) -> Came {
    let name = message["params"]["name"].as_str().unwrap_or_default();
    let version = revision(Lifecycle::Stateless).name();
    let mut headers = vec![("mcp-method", message["method"].as_str().unwrap_or_default())];
    headers.extend([("mcp-protocol-version", version), ("mcp-name", name)]);
    send(&mock.url(), "POST", &headers, &message.to_string()).await
}

async fn session(mock: &Mock) -> String {
    let begun = send(&mock.url(), "POST", &[], &initialize(&json!({ "elicitation": {} })).to_string()).await;
    assert_eq!(begun.json()["result"]["protocolVersion"], revision(Lifecycle::Stateful).name());
    begun.header("mcp-session-id").expect("a session").to_owned()
}

#[tokio::test]
async fn stateless_client_can_discover_list_and_call() {
    let returned = json!({ "structuredContent": null });
    let mock = serve(
        Lifecycle::Stateless,
        fixture(vec![
            tool("echo", Does::Echo, &json!(true)),
            tool("nothing", Does::Return, &returned),
            tool("fails", Does::Raise, &json!("no")),
        ]),
    )
    .await;
    let found = post(&mock, &stateless(1, "server/discover", json!({}))).await.json();
    assert_eq!(found["result"]["supportedVersions"], json!([revision(Lifecycle::Stateless).name()]));
    let list = post(&mock, &stateless(2, "tools/list", json!({}))).await.json()["result"].clone();
    assert_eq!(list["tools"][0], json!({ "name": "echo", "inputSchema": { "type": "object" } }));
    assert_eq!(
        (&list["resultType"], &list["ttlMs"], &list["cacheScope"]),
        (&json!("complete"), &json!(0), &json!("private"))
    );
    let call = async |name, arguments| {
        let params = json!({ "name": name, "arguments": arguments });
        post(&mock, &stateless(3, "tools/call", params)).await.json()
    };
    let echoed = call("echo", json!({ "a": 1.0 })).await;
    assert_eq!(echoed["result"]["structuredContent"], json!({ "a": 1.0 }));
    assert_eq!(echoed["result"]["content"][0]["text"], r#"{"a":1.0}"#);
    let nothing = call("nothing", json!({})).await["result"].as_object().cloned().expect("a result");
    assert_eq!((nothing.get("structuredContent"), nothing.get("content")), (Some(&Value::Null), Some(&json!([]))));
    assert_eq!(call("fails", json!({})).await["result"]["isError"], true);
    assert_eq!(call("unknown", json!({})).await["error"]["code"], -32602);
    assert_eq!(call("echo", json!([])).await["error"]["code"], -32602);
}

#[tokio::test]
async fn invalid_stateless_request_gets_error() {
    let mock = serve(Lifecycle::Stateless, fixture(vec![tool("ask", Does::Elicit, &question("x"))])).await;
    let code = |came: &Came| (came.status, came.json()["error"]["code"].as_i64().unwrap_or_default());
    let list = stateless(1, "tools/list", json!({}));
    let bare = send(&mock.url(), "POST", &[], &list.to_string()).await;
    assert_eq!(code(&bare), (400, -32020));
    let older = post(&mock, &initialize(&json!({}))).await;
    assert_eq!(code(&older), (400, -32022));
    assert_eq!(older.json()["error"]["data"]["supported"][0], revision(Lifecycle::Stateless).name());
    let without = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    assert_eq!(code(&post(&mock, &without).await), (400, -32602));
    assert_eq!(code(&post(&mock, &stateless(1, "ping", json!({}))).await), (404, -32601));
    let mut call = stateless(1, "tools/call", json!({ "name": "ask" }));
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "url": {} } });
    assert_eq!(code(&post(&mock, &call).await), (400, -32021));
    for (text, expected) in [("{", -32700), ("[{}]", -32600), (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, -32600)] {
        assert_eq!(code(&send(&mock.url(), "POST", &[], text).await), (400, expected), "{text}");
    }
    assert_eq!(send(&mock.url(), "GET", &[], "").await.status, 405);
    assert_eq!(send(&mock.url(), "DELETE", &[], "").await.status, 405);
    let stray = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(&mock, &stray).await.status, 202);
}

#[tokio::test]
async fn session_begins_is_required_and_ends() {
    let mock = serve(Lifecycle::Stateful, fixture(vec![tool("echo", Does::Echo, &json!(true))])).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let discover = stateless(1, "server/discover", json!({}));
    let probe = post(&mock, &discover).await;
    assert_eq!((probe.status, &probe.json()["error"]["code"]), (400, &json!(-32601)));
    let session = session(&mock).await;
    let own = [("mcp-session-id", session.as_str())];
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    assert_eq!(send(&mock.url(), "POST", &own, &note).await.status, 202);
    let listed = send(&mock.url(), "POST", &own, &list).await.json();
    assert_eq!(listed["result"], json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }));
    assert_eq!(send(&mock.url(), "POST", &[], &list).await.status, 400);
    assert_eq!(send(&mock.url(), "POST", &[("mcp-session-id", "other")], &list).await.status, 404);
    let version = [own[0], ("mcp-protocol-version", "1999-01-01")];
    assert_eq!(send(&mock.url(), "POST", &version, &list).await.status, 400);
    assert_eq!(send(&mock.url(), "GET", &own, "").await.status, 405);
    assert_eq!(send(&mock.url(), "DELETE", &own, "").await.status, 200);
    assert_eq!(send(&mock.url(), "POST", &own, &list).await.status, 404);
    let messages = mock.take_messages();
    let others = messages.iter().filter(|message| message.header(OTHER_SESSION).is_some());
    assert_eq!(others.count(), 2, "one that never began, and one that has ended: {messages:?}");
}

#[tokio::test]
async fn pages_are_linked_by_cursors_including_empty_one() {
    let tools = ["a", "b", "c"].map(|name| tool(name, Does::Echo, &json!(true)));
    let pages = Some(Pages { size: 1, cursors: vec![String::new()] });
    let mock = serve(Lifecycle::Stateless, Fixture { pages, ..fixture(tools.into()) }).await;
    let page = async |params| post(&mock, &stateless(1, "tools/list", params)).await.json();
    let first = page(json!({})).await["result"].clone();
    assert_eq!((&first["tools"][0]["name"], &first["nextCursor"]), (&json!("a"), &json!("")));
    let second = page(json!({ "cursor": "" })).await["result"].clone();
    assert_eq!(second["tools"][0]["name"], "b");
    let third = page(json!({ "cursor": second["nextCursor"] })).await["result"].clone();
    assert_eq!((&third["tools"][0]["name"], third.get("nextCursor")), (&json!("c"), None));
    assert_eq!(page(json!({ "cursor": "x" })).await["error"]["code"], -32602);
}

#[tokio::test]
async fn stateful_elicitation_uses_stream_of_its_call() {
    let mut asks = question("x");
    asks["rounds"] = json!(2);
    let mock = serve(Lifecycle::Stateful, fixture(vec![tool("ask", Does::Elicit, &asks)])).await;
    let session = session(&mock).await;
    let own = [("mcp-session-id", session.as_str())];
    let call = json!({ "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": { "name": "ask" } });
    let mut stream = BufReader::new(begin(&mock.url(), "POST", &own, &call.to_string()).await);
    for round in 0..2 {
        let asked = event(&mut stream).await;
        assert_eq!((&asked["id"], &asked["method"]), (&json!(round), &json!("elicitation/create")));
        assert_eq!(asked["params"], question("x"));
        let answer = json!({ "action": "accept", "content": { "x": round } });
        let answer = json!({ "jsonrpc": "2.0", "id": round, "result": answer });
        assert_eq!(send(&mock.url(), "POST", &own, &answer.to_string()).await.status, 202);
    }
    let result = event(&mut stream).await;
    assert_eq!(result["id"], "c");
    assert_eq!(result["result"]["structuredContent"], json!({ "action": "accept", "content": { "x": 1 } }));
}

/// Returns the next event of a stream.
async fn event(stream: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    while stream.read_line(&mut line).await.expect("a stream") > 0 {
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).expect("an event is JSON");
        }
        line.clear();
    }
    panic!("the stream is over")
}

#[tokio::test]
async fn stateless_elicitation_uses_results_with_state_per_round() {
    let mut asks = json!({ "rounds": 2, "requests": { "a": question("x"), "b": question("y") } });
    asks["requests"]["b"]["mode"] = json!("form");
    let mock = serve(Lifecycle::Stateless, fixture(vec![tool("ask", Does::Elicit, &asks)])).await;
    let call = async |responses: Value, state: Option<&Value>| {
        let mut params = json!({ "name": "ask", "inputResponses": responses });
        if let Some(state) = state {
            params["requestState"] = state.clone();
        }
        post(&mock, &stateless(1, "tools/call", params)).await.json()
    };
    let answer = |of: u64| json!({ "action": "accept", "content": { "x": of } });
    let first = call(json!({}), None).await["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    assert_eq!(first["inputRequests"]["b"]["params"]["mode"], "form");
    let one = &first["requestState"];
    let part = call(json!({ "a": answer(1), "stray": 7 }), Some(one)).await["result"].clone();
    assert_eq!(
        part["inputRequests"].as_object().map(|asked| asked.keys().cloned().collect()),
        Some(vec!["a".to_owned(), "b".to_owned()])
    );
    let second = call(json!({ "a": answer(1), "b": answer(2) }), Some(one)).await["result"].clone();
    let two = &second["requestState"];
    assert!(two.is_string() && one != two);
    let both = json!({ "a#2": answer(3), "b#2": answer(4) });
    let last = call(both.clone(), Some(two)).await["result"].clone();
    assert_eq!(last["structuredContent"], json!({ "a": answer(3), "b": answer(4) }));
    for (responses, state) in [(both.clone(), None), (both, Some(one)), (json!({}), Some(&json!("mine")))] {
        assert_eq!(call(responses, state).await["error"]["code"], -32602);
    }
    assert_eq!(call(json!({ "a#2": 1, "b#2": 2 }), Some(two)).await["error"]["code"], -32602);
}

#[tokio::test]
async fn state_may_be_all_that_is_sent_or_missing() {
    let alone = tool("alone", Does::Elicit, &json!({ "stateOnly": true, "state": "{\"é\"" }));
    let mut none = question("x");
    none["state"] = Value::Null;
    let mock = serve(Lifecycle::Stateless, fixture(vec![alone, tool("none", Does::Elicit, &none)])).await;
    let call = async |params| post(&mock, &stateless(1, "tools/call", params)).await.json()["result"].clone();
    let asked = call(json!({ "name": "alone" })).await;
    assert_eq!((asked.get("inputRequests"), &asked["requestState"]), (None, &json!("{\"é\"")));
    let done = call(json!({ "name": "alone", "requestState": "{\"é\"" })).await;
    assert_eq!(done["resultType"], "complete");
    let asked = call(json!({ "name": "none" })).await;
    assert!(asked.get("requestState").is_none() && asked["inputRequests"]["q"].is_object());
    let answer = json!({ "action": "decline" });
    let done = call(json!({ "name": "none", "inputResponses": { "q": answer } })).await;
    assert_eq!(done["structuredContent"], answer);
}

#[tokio::test]
async fn deviation_changes_only_the_named_member() {
    let http = |status, headers, cut_after| {
        let change = Change::Http { status, headers, cut_after };
        Deviation { method: "server/discover".to_owned(), times: None, change }
    };
    let deep = Generator::Nested { depth: 1000 };
    let returns = Template::Object(vec![("structuredContent".to_owned(), Template::Generated(deep.clone()))]);
    let mut returns_deep = tool("deep", Does::Return, &json!(null));
    returns_deep.definition =
        Template::Object(vec![("does".to_owned(), Template::Object(vec![("return".to_owned(), returns)]))]);
    let deviations = vec![
        set("tools/list", "/result/ttlMs", &json!(-1)),
        set("tools/call", "/result/resultType", &json!("weird")),
        Deviation {
            method: "tools/call".to_owned(),
            times: None,
            change: Change::Remove { at: "/result/_meta".to_owned() },
        },
        http(Some(503), vec![("Content-Type".to_owned(), "text/event-stream".to_owned())], Some(31)),
    ];
    let mock = serve(Lifecycle::Stateless, Fixture { deviations, ..fixture(vec![returns_deep]) }).await;
    let list = post(&mock, &stateless(1, "tools/list", json!({}))).await.json();
    assert_eq!((&list["result"]["ttlMs"], &list["result"]["resultType"]), (&json!(-1), &json!("complete")));
    let called = post(&mock, &stateless(1, "tools/call", json!({ "name": "deep" }))).await;
    let structured = Template::Generated(deep).render(&Bindings::default());
    let result = format!(r#"{{"resultType":"weird","structuredContent":{structured},"content":[]}}"#);
    assert_eq!(called.body, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    mock.take_messages();
    let cut = post(&mock, &stateless(1, "server/discover", json!({}))).await;
    assert_eq!((cut.status, cut.whole), (503, false));
    assert_eq!(cut.body, "event: message\ndata: {\"jsonrpc\"");
    assert_eq!(mock.take_messages()[1].text, "{\"jsonrpc\"");
}

#[tokio::test]
async fn all_messages_are_recorded_in_order() {
    let mock = serve(Lifecycle::Stateless, fixture(vec![])).await;
    send(&mock.url(), "POST", &[("x-odd", "\u{e9}")], "no JSON").await;
    send(&mock.url(), "GET", &[], "").await;
    let messages = mock.take_messages();
    let answers: Vec<_> = messages.iter().map(|one| (one.from, one.status)).collect();
    assert_eq!(
        answers,
        [(Party::Target, None), (Party::Harness, Some(400)), (Party::Target, None), (Party::Harness, Some(405))]
    );
    assert_eq!(messages[0].text, "no JSON");
    let header = |message: usize, name: &str| {
        messages[message].headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    assert_eq!((header(0, ":method").as_deref(), header(0, "x-odd").as_deref()), (Some("POST"), Some("é")));
    assert_eq!(header(1, "content-type").as_deref(), Some("application/json"));
    assert_eq!(header(2, ":method").as_deref(), Some("GET"));
    assert!(mock.take_messages().is_empty());
}

#[tokio::test]
async fn stranger_gets_no_server() {
    let mock = serve(Lifecycle::Stateless, fixture(vec![])).await;
    let elsewhere = format!("{}x", mock.url());
    assert_eq!(send(&elsewhere, "POST", &[], "{}").await.status, 404);
    assert!(mock.take_messages().is_empty());
    assert_eq!(send(&mock.url(), "POST", &[("host", "example.org")], "{}").await.status, 403);
    assert_eq!(send(&mock.url(), "POST", &[("origin", "https://example.org")], "{}").await.status, 403);
    let (address, _) = words(&mock);
    // The word of the URL is not valid over stdio.
    let path = mock.url().rsplit('/').next().expect("a word").to_owned();
    for word in ["wrong", path.as_str()] {
        let file = relay_file(&address, word);
        let (mut input, mut output) = plug(Utf8Path::from_path(file.path()).expect("UTF-8"));
        _ = input.write_all(b"{}\n").await;
        let mut text = String::new();
        output.read_to_string(&mut text).await.expect("it closes");
        assert_eq!(text, "");
    }
    let elsewhere = relay_file("192.0.2.1:1", "x");
    let elsewhere = Utf8Path::from_path(elsewhere.path()).expect("UTF-8");
    assert!(between(elsewhere, tokio::io::empty(), tokio::io::sink()).await.is_err());
    assert!(mock.take_messages().iter().all(|message| message.status != Some(200)));
}

#[tokio::test]
async fn flood_is_stopped_and_endless_body_refused() {
    let mock = serve(Lifecycle::Stateless, fixture(vec![])).await;
    let huge = " ".repeat((16 << 20) + 1);
    let (address, path) = mock.url()[7..].split_once('/').map(|(a, p)| (a.to_owned(), p.to_owned())).expect("a path");
    let mut stream = TcpStream::connect(&address).await.expect("a listener");
    let head = format!("POST /{path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{huge}", huge.len());
    let mut bytes = vec![0; 12];
    let (mut read, mut write) = stream.split();
    // The reply may arrive before the whole request is sent.
    _ = tokio::join!(write.write_all(head.as_bytes()), read.read_exact(&mut bytes));
    assert_eq!(String::from_utf8_lossy(&bytes), "HTTP/1.1 413");
    assert!(mock.take_messages()[0].cut_from.is_some_and(|length| length > 16 << 20));
    let (mut input, mut output) = plug(mock.relay().expect("a file"));
    let flood = "x\n".repeat(2000);
    let mut text = String::new();
    _ = tokio::join!(input.write_all(flood.as_bytes()), output.read_to_string(&mut text));
    let answers = text.lines().count();
    assert!((400..600).contains(&answers), "{answers}");
    assert_eq!(mock.take_messages().len(), 998);
    assert_eq!(send(&mock.url(), "POST", &[], "{}").await.status, 429);
}

/// Returns the address and the words in the relay file of a mock server.
pub(super) fn words(mock: &Mock) -> (String, Vec<String>) {
    let text = std::fs::read_to_string(mock.relay().expect("a file")).expect("text");
    let (address, words) = text.split_once('\n').expect("an address");
    (address.to_owned(), words.lines().map(str::to_owned).collect())
}

/// Writes a relay file.
pub(super) fn relay_file(address: &str, word: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{address}\n{word}\n")).expect("written");
    file
}

/// Starts a relay, and returns the client's ends of its standard input and output.
pub(super) fn plug(relay: &Utf8Path) -> (WriteHalf<DuplexStream>, BufReader<ReadHalf<DuplexStream>>) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let relay = relay.to_owned();
    tokio::spawn(async move {
        let (input, output) = tokio::io::split(theirs);
        _ = between(&relay, input, output).await;
    });
    let (read, write) = tokio::io::split(ours);
    (write, BufReader::new(read))
}

async fn line(output: &mut BufReader<ReadHalf<DuplexStream>>) -> Value {
    let mut line = String::new();
    output.read_line(&mut line).await.expect("a line");
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line:?}"))
}

#[tokio::test]
async fn stdio_probe_falls_back_and_second_process_is_served() {
    let mock = serve(Lifecycle::Stateful, fixture(vec![tool("ask", Does::Elicit, &question("x"))])).await;
    let (mut probe, mut said) = plug(mock.relay().expect("a file"));
    let text = format!("{}\nno JSON\n", stateless(1, "server/discover", json!({})));
    probe.write_all(text.as_bytes()).await.expect("a relay");
    assert_eq!(line(&mut said).await["error"]["code"], -32601);
    assert_eq!(line(&mut said).await["error"]["code"], -32700);
    probe.shutdown().await.expect("a relay");
    assert_eq!(said.read_line(&mut String::new()).await.expect("an end"), 0);

    let (mut input, mut output) = plug(mock.relay().expect("a file"));
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ask" } });
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let begun = initialize(&json!({ "elicitation": {} }));
    input.write_all(format!("{call}\n{begun}\n{note}\n{call}\n").as_bytes()).await.expect("a relay");
    assert_eq!(line(&mut output).await["error"]["code"], -32600);
    assert_eq!(line(&mut output).await["id"], 0);
    let asked = line(&mut output).await;
    assert_eq!(asked["method"], "elicitation/create");
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "cancel" } });
    input.write_all(format!("{answer}\n").as_bytes()).await.expect("a relay");
    assert_eq!(line(&mut output).await["result"]["structuredContent"], json!({ "action": "cancel" }));
}

#[tokio::test]
async fn stdio_reply_has_no_headers_and_cut_closes_stream() {
    let cut = Change::Http { status: None, headers: Vec::new(), cut_after: Some(5) };
    let deviations = vec![Deviation { method: "tools/list".to_owned(), times: None, change: cut }];
    let mock = serve(Lifecycle::Stateless, Fixture { deviations, ..fixture(vec![]) }).await;
    let (mut input, mut output) = plug(mock.relay().expect("a file"));
    let requests =
        format!("{}\n{}\n", stateless(1, "server/discover", json!({})), stateless(2, "tools/list", json!({})));
    input.write_all(requests.as_bytes()).await.expect("a relay");
    assert_eq!(line(&mut output).await["result"]["resultType"], "complete");
    let mut rest = String::new();
    output.read_to_string(&mut rest).await.expect("an end");
    assert_eq!(rest, "{\"jso");
}

#[tokio::test]
async fn deviation_with_times_ends_and_message_comes_before_the_reply() {
    let before = json!({ "jsonrpc": "2.0", "method": "notifications/x" });
    let deviation = |change| Deviation { method: "tools/list".to_owned(), times: Some(1), change };
    let deviations = vec![
        deviation(Change::Before { message: Template::from(&before) }),
        deviation(Change::Remove { at: "/result/tools".to_owned() }),
        Deviation { method: "server/discover".to_owned(), times: Some(1), change: Change::Unanswered },
    ];
    let mock = serve(Lifecycle::Stateless, Fixture { deviations, ..fixture(vec![]) }).await;
    let (mut input, mut output) = plug(mock.relay().expect("a file"));
    for (id, method) in [(1, "server/discover"), (2, "tools/list"), (3, "tools/list"), (4, "server/discover")] {
        let request = stateless(id, method, json!({}));
        input.write_all(format!("{request}\n").as_bytes()).await.expect("a relay");
    }
    assert_eq!(line(&mut output).await, before);
    let (first, second) = (line(&mut output).await, line(&mut output).await);
    assert_eq!((&first["id"], first["result"].get("tools")), (&json!(2), None));
    assert_eq!((&second["id"], &second["result"]["tools"]), (&json!(3), &json!([])));
    assert_eq!(line(&mut output).await["id"], 4);
}

#[tokio::test]
async fn reply_waits_for_the_answer_to_a_request_before_it() {
    let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
    let change = Change::Before { message: Template::from(&ping) };
    let deviations = vec![Deviation { method: "tools/list".to_owned(), times: None, change }];
    let mock = serve(Lifecycle::Stateful, Fixture { deviations, ..fixture(vec![]) }).await;
    let (mut input, mut output) = plug(mock.relay().expect("a file"));
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    input.write_all(format!("{}\n{list}\n", initialize(&json!({}))).as_bytes()).await.expect("a relay");
    line(&mut output).await;
    assert_eq!(line(&mut output).await, ping);
    let answer = json!({ "jsonrpc": "2.0", "id": "p", "result": {} }).to_string();
    input.write_all(format!("{answer}\n").as_bytes()).await.expect("a relay");
    assert_eq!(line(&mut output).await["id"], 2);
    let texts: Vec<_> = mock.take_messages().into_iter().map(|message| message.text).collect();
    let [.., last, reply] = &texts[..] else { panic!("{texts:?}") };
    assert_eq!((last, reply.contains("tools")), (&answer, true));
}

#[tokio::test]
async fn dropped_mock_closes_all_connections() {
    let mock = serve(Lifecycle::Stateful, fixture(vec![tool("ask", Does::Elicit, &question("x"))])).await;
    let session = session(&mock).await;
    let own = [("mcp-session-id", session.as_str())];
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ask" } });
    let mut stream = BufReader::new(begin(&mock.url(), "POST", &own, &call.to_string()).await);
    event(&mut stream).await;
    let (mut input, mut output) = plug(mock.relay().expect("a file"));
    input.write_all(format!("{}\n", initialize(&json!({}))).as_bytes()).await.expect("a relay");
    line(&mut output).await;
    let half = begin(&mock.url(), "POST", &[("expect", "nothing")], "").await;
    let url = mock.url();
    drop(mock);
    let all = async {
        let mut rest = Vec::new();
        _ = stream.read_to_end(&mut rest).await;
        _ = output.read_to_end(&mut rest).await;
        _ = { half }.read_to_end(&mut rest).await;
    };
    tokio::time::timeout(Duration::from_secs(5), all).await.expect("every connection ends");
    let address = url[7..].split('/').next().expect("an address").to_owned();
    assert!(TcpStream::connect(address).await.is_err());
}
