//! The proxy changes nothing: the same requests to the same servers, with and without it.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::proxy::{Listeners, Proxy};
use crate::model::transcript::Party;

/// The time limit of each wait.
const LIMIT: Duration = Duration::from_secs(20);

/// The replies of a server to one request: bytes, and whether the connection is closed after them.
type Reply = (&'static [u8], bool);

const JSON: Reply = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMCP-Session-Id: s1\r\ncontent-length: 19\r\n\r\n{\"id\":1,\"result\":1}",
    false,
);
/// A reply after which the server closes the connection without an announcement.
const JSON_AND_END: Reply = (JSON.0, true);
const CHUNKED: Reply = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n6\r\n{\"id\":\r\n3\r\n7}\n\r\n0\r\n\r\n",
    false,
);
const STREAM: Reply = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
      1b\r\nid: 1\r\nretry: 10\r\ndata:\r\n\r\n\r\n13\r\ndata: {\"id\":1}\n\n: \n\r\n0\r\n\r\n",
    false,
);
const ACCEPTED: Reply = (b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nX-oDD:  a , b \r\n\r\n", false);
const REFUSED: Reply =
    (b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno", true);
const CUT: Reply = (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"id\":", true);
const CUT_STREAM: Reply = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n10\r\ndata: {\"id\":1}\n\n\r\n",
    true,
);
const NOTHING: Reply = (b"", true);
/// No reply, on a connection that stays open.
const SILENCE: Reply = (b"", false);

/// Serves connections with these replies in turn. Returns the address and the requests as they arrive; an empty one is
/// the end of a connection by the client.
async fn server(replies: &'static [Reply]) -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (seen, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut replies = replies.iter();
        'connection: while let Ok((mut stream, _)) = listener.accept().await {
            loop {
                let request = request(&mut stream).await;
                let is_end = request.is_empty();
                _ = seen.send(request);
                let Some((bytes, closes)) = replies.next().filter(|_| !is_end) else { continue 'connection };
                _ = stream.write_all(bytes).await;
                if *closes {
                    continue 'connection;
                }
            }
        }
    });
    (address, requests)
}

/// Reads one request: its head in sorted lines, and its body.
async fn request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => return String::new(),
        }
    }
    let head = String::from_utf8(bytes).expect("text");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| length.trim().parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.expect("a body");
    let mut lines: Vec<_> = head.lines().collect();
    lines.sort_unstable();
    format!("{}|{}", lines.join("\n"), String::from_utf8(body).expect("text"))
}

/// Sends a request, and returns all that comes back until the server closes, or until nothing more comes.
async fn exchange(stream: &mut TcpStream, path: &str, host: &str, body: &str) -> String {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHOST: {host}\r\nAccept: application/json, text/event-stream\r\nx-ODD: 1\r\n\
         Content-Type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).await.expect("a connection");
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 1024];
        // Only the reply that is left open ends by this time.
        match timeout(Duration::from_millis(300), stream.read(&mut part)).await {
            Ok(Ok(0) | Err(_)) => break bytes.extend_from_slice(b"\n[closed]"),
            Ok(Ok(length)) => bytes.extend_from_slice(&part[..length]),
            Err(_) => break,
        }
    }
    let text = String::from_utf8(bytes).expect("text");
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    // Spaces around a value are no part of it.
    let trimmed = |line: &str| match line.split_once(':') {
        Some((name, value)) => format!("{name}:{}", value.trim()),
        None => line.to_owned(),
    };
    let mut lines: Vec<_> = head.lines().map(trimmed).collect();
    lines.sort_unstable();
    // The digits of the length of a chunk may be in either case.
    format!("{}|{}", lines.join("\n"), rest.to_lowercase())
}

/// A proxy before a server, with its address and the path of the server at it.
fn proxy(server: SocketAddr, path: &str) -> (Listeners, Proxy, String, String) {
    let mut listeners = Listeners::default();
    let proxy = Proxy::http(&mut listeners, &format!("http://{server}{path}")).expect("a proxy");
    let (_, url) = proxy.server("casebook".into());
    let url = url.trim_matches('"').strip_prefix("http://").expect("a URL");
    let start = url.find('/').expect("a path");
    let (address, path) = (url[..start].to_owned(), url[start..].to_owned());
    (listeners, proxy, address, path)
}

async fn both(replies: &'static [Reply]) -> Vec<(String, String)> {
    let (plain, mut plain_requests) = server(replies).await;
    let (behind, mut behind_requests) = server(replies).await;
    let (_listeners, _proxy, address, path) = proxy(behind, "/mcp?a=1");
    let mut results = Vec::new();
    let (mut direct, mut proxied) = (None, None);
    for number in 0..replies.len() {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#);
        let mut one = direct.take().unwrap_or(TcpStream::connect(plain).await.expect("a server"));
        let mut other = proxied.take().unwrap_or(TcpStream::connect(&address).await.expect("a proxy"));
        let seen = exchange(&mut one, "/mcp?a=1", &plain.to_string(), &body).await;
        let passed = exchange(&mut other, &path, &address, &body).await;
        if !seen.contains("[closed]") {
            direct = Some(one);
        }
        if !passed.contains("[closed]") {
            proxied = Some(other);
        }
        let sent = plain_requests.recv().await.expect("a request").replace(&plain.to_string(), "HOST");
        let forwarded = behind_requests.recv().await.expect("a request").replace(&behind.to_string(), "HOST");
        assert_eq!(forwarded, sent);
        results.push((passed, seen));
    }
    results
}

#[tokio::test]
async fn reply_is_the_same_with_and_without_proxy() {
    for (passed, seen) in both(&[JSON, CHUNKED, STREAM, ACCEPTED, JSON]).await {
        assert_eq!(passed, seen);
    }
}

#[tokio::test]
async fn end_of_connection_is_passed_on() {
    for reply in [&[REFUSED][..], &[CUT], &[CUT_STREAM], &[NOTHING], &[JSON_AND_END]] {
        for (passed, seen) in both(reply).await {
            assert_eq!(passed, seen);
            assert!(seen.contains("[closed]"), "{seen}");
        }
    }
}

#[tokio::test]
async fn messages_are_recorded_with_senders_status_and_headers() {
    let (behind, _requests) = server(&[JSON, STREAM, ACCEPTED]).await;
    let (_listeners, proxy, address, path) = proxy(behind, "/mcp");
    let mut stream = TcpStream::connect(&address).await.expect("a proxy");
    for number in 0..3 {
        exchange(&mut stream, &path, &address, &format!(r#"{{"id":{number}}}"#)).await;
    }
    let messages = proxy.take_messages();
    let seen: Vec<_> = messages.iter().map(|one| (one.from, one.status, one.text.as_str())).collect();
    let (client, server) = (Party::Target, Party::Harness);
    let expected = [
        (client, None, r#"{"id":0}"#),
        (server, Some(200), r#"{"id":1,"result":1}"#),
        (client, None, r#"{"id":1}"#),
        (server, Some(200), r#"{"id":1}"#),
        (client, None, r#"{"id":2}"#),
        (server, Some(202), ""),
    ];
    assert_eq!(seen, expected);
    assert!(messages[1].headers.contains(&("mcp-session-id".to_owned(), "s1".to_owned())));
}

#[tokio::test]
async fn client_that_closes_a_body_closes_it_at_the_server() {
    const OPEN: Reply = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\n: \n\r\n",
        false,
    );
    let (behind, mut requests) = server(&[OPEN]).await;
    let (_listeners, proxy, address, path) = proxy(behind, "/mcp");
    let mut stream = TcpStream::connect(&address).await.expect("a proxy");
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#;
    exchange(&mut stream, &path, &address, body).await;
    drop(stream);
    assert!(requests.recv().await.expect("a request").ends_with(body));
    // The server notices the end of the connection.
    assert_eq!(timeout(LIMIT, requests.recv()).await.expect("an end").as_deref(), Some(""));
    let last = proxy.take_messages().pop().expect("a message");
    assert_eq!((last.header(":method"), last.header(":request")), (Some("CLOSE"), Some("7")));
}

#[tokio::test]
async fn client_that_closes_before_reply_leaves_event() {
    let (behind, mut requests) = server(&[SILENCE]).await;
    let (_listeners, proxy, address, path) = proxy(behind, "/mcp");
    let mut stream = TcpStream::connect(&address).await.expect("a proxy");
    exchange(&mut stream, &path, &address, r#"{"id":7,"method":"tools/call"}"#).await;
    drop(stream);
    assert!(requests.recv().await.expect("a request").contains("tools/call"));
    assert_eq!(timeout(LIMIT, requests.recv()).await.expect("an end").as_deref(), Some(""));
    let last = proxy.take_messages().pop().expect("a message");
    assert_eq!((last.header(":method"), last.header(":request")), (Some("CLOSE"), Some("7")));
}

#[tokio::test]
async fn server_that_closes_before_reply_leaves_no_event() {
    let (behind, _requests) = server(&[NOTHING]).await;
    let (_listeners, proxy, address, path) = proxy(behind, "/mcp");
    let mut stream = TcpStream::connect(&address).await.expect("a proxy");
    assert!(exchange(&mut stream, &path, &address, r#"{"id":7}"#).await.contains("[closed]"));
    let messages = proxy.take_messages();
    assert_eq!(messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), [r#"{"id":7}"#]);
}

#[tokio::test]
async fn encoded_reply_is_passed_on_as_it_is_and_recorded_readably() {
    let text = br#"{"id":1,"result":1}"#;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).expect("encoded");
    let reply = |encoding: &str, body: &[u8]| -> Reply {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n", body.len());
        (Vec::leak([head.as_bytes(), body].concat()), false)
    };
    let gzip = gzip.finish().expect("encoded");
    let replies: &'static [Reply] = Vec::leak(vec![reply("gzip", &gzip), reply("br", text)]);
    let (behind, _requests) = server(replies).await;
    let (_listeners, proxy, address, path) = proxy(behind, "/mcp");
    let mut stream = TcpStream::connect(&address).await.expect("a proxy");
    for (bytes, _) in replies {
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes()).await.expect("sent");
        let mut passed = vec![0; bytes.len()];
        timeout(LIMIT, stream.read_exact(&mut passed)).await.expect("in time").expect("a reply");
        assert_eq!(passed, *bytes);
    }
    let messages = proxy.take_messages();
    let server = messages.iter().filter(|message| message.from == Party::Harness && !message.text.is_empty());
    let seen: Vec<_> = server.map(|message| (message.text.as_bytes(), message.lossy)).collect();
    assert_eq!(seen, [(&text[..], false), (&text[..], true)]);
}

#[tokio::test]
async fn server_on_another_machine_is_refused() {
    for url in ["http://example.org/mcp", "https://127.0.0.1/mcp", "ftp://localhost/", "nonsense"] {
        assert!(Proxy::http(&mut Listeners::default(), url).is_err(), "{url}");
    }
}
