//! Isolation of mock servers: late messages of an earlier client, and connections that are closed.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::serve::Mock;
use super::super::tests::{Came, fixture, plug, relay_file, send, serve, serve_behind, stateless, words};
use super::*;
use crate::drive::client::mock::relay_file::RELAYS;
use crate::model::spec::Lifecycle;

#[tokio::test]
async fn each_mock_is_reached_on_loopback_by_its_own_word_only() {
    let mock = serve(Lifecycle::Stateless, fixture(vec![])).await;
    let other = serve(Lifecycle::Stateless, fixture(vec![])).await;
    let mut all = Vec::new();
    for mock in [&mock, &other] {
        let ((url, path), (relays, words)) = (parted(&mock.url()), words(mock));
        for address in [url, relays] {
            assert!(address.parse::<SocketAddr>().expect("an address").ip().is_loopback(), "{address}");
        }
        all.extend([vec![path], words].concat());
    }
    assert!(all.iter().all(|word| word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit())), "{all:?}");
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 2 * (1 + RELAYS));
}

#[cfg(unix)]
#[tokio::test]
async fn relay_words_are_readable_by_this_user_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let mock = serve(Lifecycle::Stateless, fixture(vec![])).await;
    let file = mock.relay().expect("a file").to_owned();
    assert_eq!(file.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
    drop(mock);
    assert!(!file.exists());
}

#[tokio::test]
async fn each_relay_uses_the_next_word_once() {
    let mock = serve(Lifecycle::Stateless, fixture(vec![])).await;
    let (address, words) = words(&mock);
    let list = format!("{}\n", stateless(1, "tools/list", json!({})));
    for _ in 0..RELAYS {
        let (mut input, mut output) = plug(mock.relay().expect("a file"));
        input.write_all(list.as_bytes()).await.expect("a relay");
        assert!(output.read_u8().await.is_ok(), "it is answered");
    }
    let used = relay_file(&address, &words[0]);
    let used = Utf8Path::from_path(used.path()).expect("UTF-8");
    for file in [used, mock.relay().expect("a file")] {
        let (mut input, mut output) = plug(file);
        _ = input.write_all(list.as_bytes()).await;
        assert_eq!(output.read_to_end(&mut Vec::new()).await.expect("it closes"), 0);
    }
}

fn parted(url: &str) -> (String, String) {
    url[7..].split_once('/').map(|(address, word)| (address.to_owned(), word.to_owned())).expect("a word")
}

#[tokio::test]
async fn late_message_of_earlier_client_reaches_no_server() {
    let (earlier, mock) = (serve(Lifecycle::Stateless, fixture(vec![])), serve(Lifecycle::Stateless, fixture(vec![])));
    let (earlier, mock) = (earlier.await, mock.await);
    let ((address, word), here) = (parted(&earlier.url()), parted(&mock.url()).0);
    let old = words(&earlier).1.remove(0);
    let relay = words(&mock).0;
    let mut open = TcpStream::connect(&address).await.expect("a listener");
    drop(earlier);
    // The request uses the client's existing connection.
    let list = stateless(1, "tools/list", json!({})).to_string();
    let request = format!("POST /{word} HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{list}", list.len());
    _ = open.write_all(request.as_bytes()).await;
    let mut rest = Vec::new();
    _ = open.read_to_end(&mut rest).await;
    assert!(rest.is_empty(), "{rest:?}");
    // The system may give the same port to the next server, which must not accept the old word.
    assert_eq!(send(&format!("http://{here}/{word}"), "POST", &[], &list).await.status, 404);
    let file = relay_file(&relay, &old);
    let (mut input, mut output) = plug(Utf8Path::from_path(file.path()).expect("UTF-8"));
    _ = input.write_all(format!("{list}\n").as_bytes()).await;
    assert_eq!(output.read_to_end(&mut rest).await.expect("it closes"), 0);
    assert!(mock.take_messages().is_empty());
}

/// Sends a request on a connection that stays open. Returns the status: 405 from a server, which has no stream, and 404
/// without a server.
async fn knock(stream: &mut TcpStream, word: &str) -> u16 {
    let request = format!("GET /{word} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it is open");
    let mut reply = Vec::new();
    while !reply.ends_with(b"\r\n\r\n") {
        assert!(stream.read_buf(&mut reply).await.expect("it is open") > 0, "cut off behind {reply:?}");
    }
    Came::of(&reply).status
}

/// A server without tools, its address and its word.
async fn bare(listeners: &mut Listeners) -> (Mock, String, String) {
    let mock = serve_behind(listeners, Lifecycle::Stateless, fixture(vec![])).await;
    let (address, word) = parted(&mock.url());
    (mock, address, word)
}

#[tokio::test]
async fn kept_connection_reaches_only_the_current_server() {
    let mut listeners = Listeners::default();
    let (first, address, word) = bare(&mut listeners).await;
    let mut stream = TcpStream::connect(&address).await.expect("a listener");
    assert_eq!(knock(&mut stream, &word).await, 405);
    drop(first);
    let (second, same, other) = bare(&mut listeners).await;
    assert_eq!(same, address);
    assert_eq!((knock(&mut stream, &other).await, knock(&mut stream, &word).await), (405, 404));
    assert_eq!(stream.read_to_end(&mut Vec::new()).await.expect("it closes"), 0);
    assert_eq!(second.take_messages().len(), 2);
}

#[tokio::test]
async fn busy_or_greedy_client_is_disconnected_and_listener_replaced() {
    let mut listeners = Listeners::default();
    let (first, address, word) = bare(&mut listeners).await;
    let mut half = TcpStream::connect(&address).await.expect("a listener");
    let head = format!("POST /{word} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n");
    half.write_all(head.as_bytes()).await.expect("it is open");
    half.read_u8().await.expect("the body is wanted");
    drop(first);
    let (second, elsewhere, word) = bare(&mut listeners).await;
    assert_ne!(elsewhere, address);
    let mut open = vec![half];
    for _ in 0..9 {
        open.push(TcpStream::connect(&elsewhere).await.expect("a listener"));
        assert_eq!(knock(open.last_mut().expect("the new one"), &word).await, 405);
    }
    drop(second);
    let (_third, third, _) = bare(&mut listeners).await;
    assert_ne!(third, elsewhere);
    for mut stream in open {
        let ends = async { stream.read_to_end(&mut Vec::new()).await };
        _ = tokio::time::timeout(Duration::from_secs(5), ends).await.expect("the connection ends");
    }
}
