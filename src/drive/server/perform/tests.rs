//! Steps against scripted servers.

use serde_json::json;

use super::*;
use crate::drive::server::scripted::*;
use crate::model::case::Answer;

#[tokio::test]
async fn pages_are_followed_including_empty_cursor() {
    let server = Server::new(vec![
        json_reply(r#"{"jsonrpc":"2.0","id":0,"result":{"tools":[],"nextCursor":""}}"#),
        json_reply(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#),
    ]);
    let server = server.await;
    let exchange = perform(&mut server.connection(revision(Lifecycle::Stateless)), &step(When::List), soon()).await;
    assert_eq!(exchange.end, End::Replied { message: 3 });
    assert_eq!(server.bodies()[1]["params"]["cursor"], "");
}

#[tokio::test]
async fn session_is_opened_kept_and_closed() {
    let (server, mut connection) = stateful(vec![json_reply(DONE), taken()]).await;
    assert!(!server.request(0).contains("mcp-protocol-version"));
    assert!(server.request(1).contains("mcp-protocol-version: 2025-11-25"));
    assert_eq!(perform(&mut connection, &call(vec![]), soon()).await.end, End::Replied { message: 1 });
    assert!(server.request(3).contains("mcp-session-id: s1"));
    connection.close(soon()).await;
    assert!(server.request(4).starts_with("DELETE /mcp"));
}

#[tokio::test]
async fn other_negotiated_revision_is_no_connection() {
    let other = OPENED.replace("2025-11-25", "2024-11-05");
    let server = Server::new(vec![json_reply(&other)]).await;
    let exchange =
        server.connection(revision(Lifecycle::Stateful)).open(&step(When::List), &Bindings::default(), soon()).await;
    assert!(reason(&exchange).contains("2024-11-05"));
}

#[tokio::test]
async fn rounds_repeat_state_exactly_and_answer_in_key_order() {
    let state = r#""\u0061\/ \"""#;
    let asked = r#"{"method":"elicitation/create","params":{}}"#;
    let round = format!(
        r#"{{"jsonrpc":"2.0","id":0,"result":{{"resultType":"input_required","inputRequests":{{"b":{asked},"a":{asked}}},"requestState":{state}}}}}"#
    );
    let server = Server::new(vec![json_reply(&round), json_reply(DONE)]).await;
    let mut connection = server.connection(revision(Lifecycle::Stateless));
    let exchange = perform(&mut connection, &call(vec![Answer::AcceptAsPresented, Answer::Decline]), soon()).await;
    assert_eq!(exchange.end, End::Replied { message: 3 });
    let retry = &server.bodies()[1];
    let answers = json!({ "a": { "action": "accept", "content": {} }, "b": { "action": "decline" } });
    assert_eq!((&retry["id"], &retry["params"]["inputResponses"]), (&json!(1), &answers));
    assert!(server.request(1).contains(&format!(r#""requestState":{state}"#)));
    assert!(server.request(1).contains("mcp-name: ask"));
}

#[tokio::test]
async fn rounds_end_without_answers_or_at_limit() {
    let round = |id: usize, rest: &str| {
        json_reply(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required"{rest}}}}}"#))
    };
    let one = round(0, r#","inputRequests":{"a":{"method":"elicitation/create"}}"#);
    let ends = [
        (vec![one], End::Unanswered),
        ((0..=MAX_ROUNDS).map(|id| round(id, r#","requestState":"s""#)).collect(), End::Unanswered),
    ];
    for (script, end) in ends {
        let server = Server::new(script).await;
        let mut connection = server.connection(revision(Lifecycle::Stateless));
        assert_eq!(perform(&mut connection, &call(vec![]), soon()).await.end, end);
    }
    let server = Server::new(vec![round(0, "")]).await;
    let exchange = perform(&mut server.connection(revision(Lifecycle::Stateless)), &call(vec![]), soon()).await;
    assert!(reason(&exchange).contains("neither"));
}

#[tokio::test]
async fn retry_carries_tampered_state_of_case() {
    let asked = r#"{"jsonrpc":"2.0","id":0,"result":{"resultType":"input_required","requestState":"abc"}}"#;
    for (state, sent) in [(Tampering::Forged, "forged"), (Tampering::Altered, "aAc")] {
        let server = Server::new(vec![json_reply(asked), json_reply(&DONE.replace(r#""id":0"#, r#""id":1"#))]).await;
        let retry =
            Retry { state: Some(state), arguments: Some(Template::from(&json!({ "b": 2 }))), ..Retry::default() };
        perform(&mut server.connection(revision(Lifecycle::Stateless)), &call_again(vec![], retry), soon()).await;
        let params = &server.bodies()[1]["params"];
        assert_eq!((&params["requestState"], &params["arguments"]), (&json!(sent), &json!({ "b": 2 })));
    }
}

#[tokio::test]
async fn sent_message_is_unchanged() {
    let (server, mut connection) = stateful(vec![taken(), json_reply(EMPTY), json_reply(EMPTY), taken()]).await;
    let notification = json!({ "method": "notifications/x", "jsonrpc": "2.0" });
    assert_eq!(perform(&mut connection, &send(&notification), soon()).await.end, End::Accepted);
    let message = Template::from(&json!({ "jsonrpc": "2.0", "id": 0, "method": "tools/list", "x": null }));
    let headers = vec![
        ("Mcp-Session-Id".to_owned(), None),
        ("Accept".to_owned(), None),
        ("X-Y".to_owned(), Some("z".to_owned())),
    ];
    let exchange = perform(&mut connection, &step(When::Send { message, headers }), soon()).await;
    assert_eq!(exchange.end, End::Replied { message: 1 });
    assert!(server.request(4).ends_with(r#"{"jsonrpc":"2.0","id":0,"method":"tools/list","x":null}"#));
    assert!(!server.request(4).contains("mcp-session-id") && server.request(4).contains("x-y: z"));
    assert!(server.request(4).contains("accept: \r\n"));
    let exchange = perform(&mut connection, &send(&json!([1])), soon()).await;
    assert_eq!(exchange.end, End::Replied { message: 1 });
    assert_eq!(perform(&mut connection, &send(&json!("{\"broken")), soon()).await.end, End::Accepted);
    assert!(server.request(6).ends_with("\r\n\r\n{\"broken"));
}

#[tokio::test]
async fn members_left_to_client_are_filled_in() {
    let server = Server::new(vec![json_reply(EMPTY), json_reply(DONE)]).await;
    let mut connection = server.connection(revision(Lifecycle::Stateless));
    let message = json!({ "method": "tools/call", "params": { "name": 7 } });
    assert_eq!(perform(&mut connection, &send(&message), soon()).await.end, End::Replied { message: 1 });
    let sent = &server.bodies()[0];
    assert_eq!((&sent["jsonrpc"], &sent["id"], &sent["params"]["name"]), (&json!("2.0"), &json!(0), &json!(7)));
    assert_eq!(sent["params"]["_meta"].as_object().map(serde_json::Map::len), Some(3));
    let message = json!({ "method": "tools/list", "params": { "_meta": {} } });
    perform(&mut connection, &send(&message), soon()).await;
    assert_eq!(server.bodies()[1]["params"], json!({ "_meta": {} }));
}

#[tokio::test]
async fn stateful_stdio_call_answers_requests_of_server() {
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let roots = r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#;
    let noise = "listening on a pipe\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}";
    let script = [OPENED, "", &format!("{noise}\n{ping}"), roots, ASKED, &format!("{DONE}\n{DONE}")];
    let script = script.into_iter().map(|text| if text.is_empty() { String::new() } else { line(text) }).collect();
    let (mut connection, server) = piped(Lifecycle::Stateful, script);
    assert_eq!(connection.open(&step(When::List), &Bindings::default(), soon()).await.end, End::Accepted);
    let answer = Answer::Error { code: -32042, message: "no".into() };
    // The work runs in a task, as in a run.
    let work = tokio::spawn(async move {
        let exchange = connection.perform(&call(vec![answer]), &Bindings::default(), soon()).await;
        connection.close(soon()).await;
        exchange
    });
    let exchange = work.await.unwrap();
    let End::Replied { message } = exchange.end else { panic!("{exchange:?}") };
    assert_eq!(exchange.messages[message].text, DONE);
    let got = server.await.unwrap();
    assert_eq!(got[3], r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
    assert_eq!(got[4], r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"Method not found"}}"#);
    assert_eq!(got[5], r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32042,"message":"no"}}"#);
}

#[tokio::test]
async fn stateless_stdio_call_uses_rounds_and_rejects_requests() {
    let round = r#"{"jsonrpc":"2.0","id":0,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}}"#;
    let (mut connection, server) = piped(Lifecycle::Stateless, vec![line(round), line(DONE), line(ASKED)]);
    let exchange = perform(&mut connection, &call(vec![Answer::Cancel]), soon()).await;
    assert_eq!(exchange.end, End::Replied { message: 3 });
    let exchange = perform(&mut connection, &call(vec![Answer::Cancel]), soon()).await;
    assert_eq!(reason(&exchange), "a request to the client, `elicitation/create`");
    connection.close(soon()).await;
    assert_eq!(server.await.unwrap().len(), 3);
}
