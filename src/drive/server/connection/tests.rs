//! Replies of each kind, from scripted servers.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::drive::server::scripted::*;
use crate::model::case::When;
use crate::model::template::Template;

#[tokio::test]
async fn json_reply_is_read_with_status_and_headers() {
    let exchange = listed(json_reply(EMPTY)).await;
    assert_eq!(exchange.end, End::Replied { message: 1 });
    assert_eq!((exchange.messages[1].status, exchange.messages[1].text.as_str()), (Some(200), EMPTY));
    assert_eq!(exchange.messages[1].headers[0].0, "content-type");
    let sent: Value = serde_json::from_str(&exchange.messages[0].text).unwrap();
    assert_eq!(sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"]["form"], json!({}));
    assert!(exchange.messages[0].headers.contains(&("mcp-method".into(), "tools/list".into())));
}

#[tokio::test]
async fn event_stream_is_read_at_any_cut() {
    let stream = format!("\u{feff}: hello\r\n\r\nid: 7\r\ndata:\r\n\r\ndata: {EMPTY}\r\n\r\n");
    for size in [1, 2, 7, 1000] {
        let parts = stream.as_bytes().chunks(size).map(|part| Act::Write(part.to_vec()));
        let exchange = listed(events(&[]).into_iter().chain(parts).collect()).await;
        assert_eq!((exchange.end, exchange.messages.len()), (End::Replied { message: 1 }, 2));
    }
}

#[tokio::test]
async fn response_needs_same_id_of_same_type() {
    let stray = EMPTY.replace(r#""id":0"#, r#""id":"0""#);
    let exchange = listed(events(&[&event(&stray), &event(EMPTY)])).await;
    assert_eq!(exchange.end, End::Replied { message: 2 });
    let exchange = listed(events(&[&event(&stray)])).await;
    assert_eq!(reason(&exchange), r#"a response with the id "0" instead of the id 0"#);
}

#[tokio::test]
async fn second_response_is_recorded() {
    let exchange = listed(events(&[&event(EMPTY), &event(EMPTY)])).await;
    assert_eq!((exchange.end, exchange.messages.len()), (End::Replied { message: 1 }, 3));
}

#[tokio::test]
async fn replies_without_response_have_distinct_ends() {
    let exchange = listed(events(&[": nothing\n\n"])).await;
    assert_eq!((&exchange.end, received(&exchange)), (&End::Empty, vec![""]));
    assert_eq!(listed(taken()).await.end, End::Empty);
    let exchange = listed(reply(404, "text/plain", "no such page")).await;
    assert_eq!((&exchange.end, received(&exchange)), (&End::Http { status: 404 }, vec!["no such page"]));
    assert_eq!(listed(reply(307, "text/plain", "")).await.end, End::Http { status: 307 });
    assert_eq!(reason(&listed(reply(200, "text/html", "<p>")).await), "a body with the content type `text/html`");
    assert!(reason(&listed(json_reply("[]")).await).contains("batch"));
    assert!(reason(&listed(json_reply(r#"{"jsonrpc":"2.0","id":0}"#)).await).contains("none of"));
    assert!(reason(&listed(vec![write("SMTP ready\r\n\r\n")]).await).contains("invalid HTTP"));
}

#[tokio::test]
async fn http_error_with_message_is_response() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"x"}}"#;
    let exchange = listed(reply(400, "text/plain", error)).await;
    assert_eq!((&exchange.end, exchange.messages[1].status), (&End::Replied { message: 1 }, Some(400)));
    let exchange = listed(reply(400, "application/json", &error.replace("null", r#""server-error""#))).await;
    assert_eq!(exchange.end, End::Replied { message: 1 });
}

#[tokio::test]
async fn broken_connections_are_crashes() {
    let mut nobody = to("http://127.0.0.1:9/", revision(Lifecycle::Stateless));
    assert!(matches!(perform(&mut nobody, &step(When::List), soon()).await.end, End::Crash { .. }));
    assert!(matches!(listed(vec![]).await.end, End::Crash { .. }));
    let cut = write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{");
    assert!(matches!(listed(vec![cut]).await.end, End::Crash { .. }));
    let mut elsewhere = to("http://192.0.2.1/", revision(Lifecycle::Stateless));
    assert!(reason(&perform(&mut elsewhere, &step(When::List), soon()).await).contains("not on this machine"));
}

#[tokio::test]
async fn server_that_stalls_mid_reply_ends_at_time_limit() {
    for head in ["HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {"] {
        let server = Server::new(vec![vec![write(head), Act::Hang]]).await;
        let mut connection = server.connection(revision(Lifecycle::Stateless));
        let deadline = Deadline::within(Duration::from_millis(200));
        let exchange = perform(&mut connection, &step(When::List), deadline).await;
        assert_eq!(exchange.end, End::Timeout);
        assert!((200_000..2_000_000).contains(&exchange.micros));
    }
}

#[tokio::test]
async fn reply_over_limit_is_not_read() {
    let flood = || std::iter::repeat_with(|| Act::Write(vec![b' '; 1 << 20])).take(17);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    let exchange = listed(std::iter::once(write(head)).chain(flood()).collect()).await;
    assert_eq!((exchange.end, exchange.messages[1].status), (End::Oversized, Some(200)));
    let stream = events(&["data: "]).into_iter().chain(flood()).collect();
    assert_eq!(listed(stream).await.end, End::Oversized);
    let tiny = event("{\"method\":\"x\"}").repeat(10_001);
    assert_eq!(listed(events(&[&tiny])).await.end, End::Oversized);
}

#[tokio::test]
async fn result_of_any_depth_is_reply() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let text = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{deep}}}"#);
    assert_eq!(listed(json_reply(&text)).await.end, End::Replied { message: 1 });
}

#[tokio::test]
async fn body_that_is_not_utf8_is_kept_and_invalid() {
    let body = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\"\xff\"".to_vec();
    let exchange = listed(vec![Act::Write(body)]).await;
    assert_eq!((reason(&exchange), received(&exchange)), ("a body that is not UTF-8", vec!["\"\u{fffd}\""]));
}

#[tokio::test]
async fn elicitation_is_answered_by_own_post() {
    let stream = events(&[&event(ASKED)]).into_iter().chain([Act::Await(5), write(&event(DONE))]).collect();
    let (server, mut connection) = stateful(vec![stream, taken()]).await;
    let exchange = perform(&mut connection, &call(vec![accept(&json!({ "x": 1 }))]), soon()).await;
    assert_eq!(exchange.end, End::Replied { message: 4 });
    let result = json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "accept", "content": { "x": 1 } } });
    assert_eq!(server.bodies()[4], result);
    assert_eq!(exchange.messages[3].status, Some(202));
}

#[tokio::test]
async fn surplus_elicitation_is_cancelled_and_ends_unanswered() {
    let stream = events(&[&event(ASKED)]).into_iter().chain([Act::Await(5), write(&event(DONE))]).collect();
    let (server, mut connection) = stateful(vec![stream, taken()]).await;
    let exchange = perform(&mut connection, &call(vec![]), soon()).await;
    assert_eq!((&exchange.end, received(&exchange).last()), (&End::Unanswered, Some(&DONE)));
    assert_eq!(server.bodies()[4]["result"], json!({ "action": "cancel" }));
}

#[tokio::test]
async fn refused_answer_ends_call_without_response() {
    let stream = events(&[&event(ASKED)]).into_iter().chain([Act::Hang]).collect();
    let (_server, mut connection) = stateful(vec![stream, reply(400, "text/plain", "no")]).await;
    let exchange = perform(&mut connection, &call(vec![Answer::Raw(Template::Bool(true))]), soon()).await;
    assert_eq!(exchange.end, End::Http { status: 400 });
}

#[tokio::test]
async fn cut_stream_is_resumed_once() {
    let priming = "id: 5\nretry: 1\ndata:\n\n";
    let (server, mut connection) = stateful(vec![events(&[priming]), events(&[&event(DONE)])]).await;
    let exchange = perform(&mut connection, &call(vec![]), soon()).await;
    assert!(matches!(exchange.end, End::Replied { .. }));
    assert!(server.request(4).starts_with("GET /mcp") && server.request(4).contains("last-event-id: 5"));
    let (_server, mut connection) = stateful(vec![events(&[priming]), reply(405, "text/plain", "")]).await;
    assert_eq!(perform(&mut connection, &call(vec![]), soon()).await.end, End::Empty);
}

/// The response to a call that follows a ping.
const AFTER_PING: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;

#[tokio::test]
async fn question_on_get_stream_is_answered_while_the_reply_is_awaited() {
    let get = events(&[]).into_iter().chain([Act::Await(5), write(&event(ASKED)), Act::Hang]).collect();
    let late = [Act::Await(6)].into_iter().chain(json_reply(AFTER_PING)).collect();
    let (server, mut connection) = stateful_with(get, vec![json_reply(DONE), late, taken()]).await;
    let exchange = perform(&mut connection, &call(vec![accept(&json!({ "x": 1 }))]), soon()).await;
    assert!(matches!(exchange.end, End::Replied { .. }), "{:?}", exchange.end);
    assert!(server.request(2).starts_with("GET /mcp") && server.request(2).contains("mcp-session-id: s1"));
    assert_eq!(server.bodies()[3]["method"], "ping");
    assert_eq!(server.bodies()[5]["result"], json!({ "action": "accept", "content": { "x": 1 } }));
    let on_stream: Vec<_> = exchange.messages.iter().filter(|message| message.on_get_stream).collect();
    assert_eq!(on_stream.iter().map(|message| &*message.text).collect::<Vec<_>>(), [ASKED]);
}

#[tokio::test]
async fn response_on_get_stream_is_taken_after_an_empty_reply() {
    let get = events(&[]).into_iter().chain([Act::Await(5), write(&event(AFTER_PING)), Act::Hang]).collect();
    let (_server, mut connection) = stateful_with(get, vec![json_reply(DONE), events(&[])]).await;
    let exchange = perform(&mut connection, &call(vec![]), soon()).await;
    assert!(matches!(exchange.end, End::Replied { message } if exchange.messages[message].on_get_stream));
}

#[tokio::test(start_paused = true)]
async fn stdio_message_without_response_is_accepted_by_silence() {
    let error = line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#);
    let script = vec![String::new(), error, String::new(), line("{\"jsonrpc\":\"2.0\"")];
    let (mut connection, _server) = piped(Lifecycle::Stateful, script);
    let notification = send(&json!({ "method": "notifications/x" }));
    assert_eq!(perform(&mut connection, &notification, soon()).await.end, End::Accepted);
    assert_eq!(perform(&mut connection, &send(&json!("{")), soon()).await.end, End::Replied { message: 1 });
    let exchange = perform(&mut connection, &send(&json!([])), soon()).await;
    assert_eq!(exchange.end, End::Accepted);
    assert!((1_000_000..1_100_000).contains(&exchange.micros));
    assert!(reason(&perform(&mut connection, &step(When::List), soon()).await).contains("no JSON-RPC message"));
    let gone = perform(&mut connection, &step(When::List), soon()).await.end;
    assert!(matches!(gone, End::Crash { .. }), "{gone:?}");
}

#[tokio::test(start_paused = true)]
async fn starting_process_gets_longer_time_limit() {
    let (connection, _server) = piped(Lifecycle::Stateless, vec![String::new(), line(EMPTY), String::new()]);
    let mut connection = connection.starting();
    let silent = perform(&mut connection, &send(&json!([])), soon()).await;
    assert_eq!((silent.end, silent.micros / 1_000_000), (End::Accepted, 5));
    // The server has sent a message by now.
    assert!(matches!(perform(&mut connection, &step(When::List), soon()).await.end, End::Replied { .. }));
    let silent = perform(&mut connection, &send(&json!([])), soon()).await;
    assert_eq!((silent.end, silent.micros / 1_000_000), (End::Accepted, 1));
}

#[tokio::test(start_paused = true)]
async fn server_that_does_not_read_times_out_and_stays_unusable() {
    let (input, _their_input) = tokio::io::duplex(16);
    let (_their_output, output) = tokio::io::duplex(16);
    let mut connection = Connection::stdio(input, Lines::of(output).0, revision(Lifecycle::Stateless));
    assert_eq!(perform(&mut connection, &step(When::List), soon()).await.end, End::Timeout);
    let how = "does not read its standard input".to_owned();
    assert_eq!(perform(&mut connection, &step(When::List), soon()).await.end, End::Crash { how });
}

#[tokio::test(start_paused = true)]
async fn late_stdio_response_is_ignored() {
    let script = vec![String::new(), line(EMPTY) + &line(DONE)];
    let (mut connection, _server) = piped(Lifecycle::Stateless, script);
    assert_eq!(perform(&mut connection, &step(When::List), soon()).await.end, End::Timeout);
    let exchange = perform(&mut connection, &step(When::List), soon()).await;
    assert_eq!(exchange.end, End::Replied { message: 2 });
}

#[tokio::test(start_paused = true)]
async fn message_between_steps_answers_neither() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}"#;
    let (mut connection, _server) = piped(Lifecycle::Stateless, vec![line(error), line(EMPTY)]);
    let notification = send(&json!({ "method": "notifications/x" }));
    assert_eq!(perform(&mut connection, &notification, soon()).await.end, End::Accepted);
    tokio::time::sleep(Duration::from_millis(1)).await; // Virtual time: until the server has nothing more to do.
    let exchange = perform(&mut connection, &step(When::List), soon()).await;
    assert_eq!((&exchange.end, received(&exchange)), (&End::Replied { message: 2 }, vec![error, EMPTY]));
}
