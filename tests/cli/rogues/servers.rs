//! Servers under test that misbehave where `lose` is called.

use super::{Rogue, gather, lines, run_all};

const HTTP: &[&str] = &["http"];
const STDIO: &[&str] = &["stdio"];
const WELL: (&str, &str) = ("success", "");
/// Nothing that could be an answer.
const SILENT: (&str, &str) = ("timeout", "");

const fn invalid(why: &'static str) -> (&'static str, &'static str) {
    ("invalid-message", why)
}

const fn crash(how: &'static str) -> (&'static str, &'static str) {
    ("crash", how)
}

/// What is wrong with a message, over either transport.
const MESSAGES: [Rogue; 38] = [
    Rogue::says("good", "say(answer())", WELL),
    Rogue::says("another-id", "say(answer(41))", invalid("the id 41 in place of the id 1")).waits(),
    Rogue::says("answered-id", "say(answer(id - 1))", invalid("the id 0 in place of the id 1")).waits(),
    Rogue::says("id-as-text", "say(answer(str(id)))", invalid(r#"the id "1" in place of the id 1"#)).waits(),
    Rogue::says("id-as-float", "say(answer(float(id)))", invalid("the id 1.0 in place of the id 1")).waits(),
    Rogue::says("id-null", r#"say(answer().replace('"id": 1', '"id": null'))"#, invalid("no id in place of")).waits(),
    Rogue::says("id-missing", r#"say(answer().replace('"id": 1, ', ''))"#, invalid("no id in place of")).waits(),
    Rogue::says(
        "id-deep",
        r#"say(answer().replace('"id": 1', '"id": ' + '[' * 100000 + ']' * 100000))"#,
        invalid("no id"),
    )
    .waits(),
    Rogue::says("id-twice", r#"say(answer().replace('"id"', '"id": 7, "id"'))"#, invalid("duplicate field `id`")),
    Rogue::says("replies-twice", "say(answer(), answer(isError=True))", WELL),
    Rogue::says("replies-ahead", "say(answer(id + 1, isError=True), answer())", WELL).at("list"),
    Rogue::says("replies-too-soon", "say(answer(), answer(id + 1, isError=True))", WELL).at("list"),
    Rogue::says("corrects-itself", "say(answer(41), answer())", WELL),
    Rogue::says("notifies", r#"say(*['{"jsonrpc":"2.0","method":"notifications/message"}'] * 3, answer())"#, WELL),
    Rogue::says("notifies-oddly", r#"say('{"method":[]}', '{"jsonrpc":1,"method":{}}', answer())"#, WELL),
    Rogue::says("notifies-for-ever", r#"say(*['{"method":"x"}'] * 20000)"#, ("oversized", "")),
    Rogue::says(
        "asks-back",
        r#"say('{"jsonrpc":"2.0","id":9,"method":"roots/list"}')"#,
        invalid("a request to the client, `roots/list`"),
    ),
    Rogue::says("half-utf8", r"say(answer(x='?').encode().replace(b'?', b'\xc3'))", invalid("that is no UTF-8")),
    Rogue::says("utf16", "say(answer().encode('utf-16-le'))", invalid("no JSON-RPC message")),
    Rogue::says("bom", r"say(b'\xef\xbb\xbf' + answer().encode())", invalid("a byte-order mark before the message")),
    Rogue::says("nul-before", r"say(b'\0' + answer().encode())", invalid("not a JSON object")),
    Rogue::says("nul-in-a-string", r"say(answer(x='?').replace('?', '\0'))", invalid("control character")),
    Rogue::says("nan", "say(answer(x=float('nan')))", invalid("expected value")),
    Rogue::says("comma", "say(answer()[:-1] + ',}')", invalid("trailing comma")),
    Rogue::says(
        "equal-keys",
        r#"say(answer().replace('"content"', '"content": 1, "content"'))"#,
        invalid("two equal keys"),
    ),
    Rogue::says("lone-surrogate", r"say(answer(x='\ud800'))", invalid("a lone surrogate")),
    Rogue::says("crlf", r"say(answer() + '\r')", WELL),
    Rogue::says("two-in-one", "say(answer() + answer())", invalid("trailing characters")),
    Rogue::says("batch", "say('[' + answer() + ']')", invalid("a batch")),
    Rogue::says(
        "no-version",
        r#"say(answer().replace('"jsonrpc": "2.0", ', ''))"#,
        invalid(r#"no `"jsonrpc": "2.0"`"#),
    ),
    Rogue::says("result-and-error", r#"say(answer()[:-1] + ', "error": {}}')"#, invalid("both `result` and `error`")),
    Rogue::says("neither", r#"say('{"jsonrpc": "2.0", "id": 1}')"#, invalid("none of `method`, `result` and `error`")),
    Rogue::says("result-is-a-list", r#"say('{"jsonrpc": "2.0", "id": 1, "result": []}')"#, invalid("")),
    Rogue::says("unclosed", r#"say(answer(x='?').replace('"?"', '[' * 100000))"#, invalid("expected value")),
    Rogue::says("deep", r#"say(answer(x='?').replace('"?"', '[' * 100000 + ']' * 100000))"#, WELL),
    Rogue::says(
        "error-of-text",
        r#"say('{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":7}}')"#,
        ("protocol-error", ""),
    ),
    Rogue::says("leaves", "os._exit(7)", crash("exit status 7")),
    Rogue::says("is-killed", "os.kill(os.getpid(), signal.SIGKILL)", crash("killed by signal 9 (SIGKILL)")),
];

/// What is wrong on a pipe.
const PIPES: [Rogue; 11] = [
    Rogue::says("hangs-on-a-pipe", "hang()", SILENT).over(STDIO).waits(),
    Rogue::says("empty-lines", r"put('\n\n\n'); say(answer())", WELL).over(STDIO),
    Rogue::says("stray-lines", r"put('Listening on port 80\n', b'\xff\n', '[1]\n'); say(answer())", WELL).over(STDIO),
    Rogue::says("logs-in-json", r#"put('{"level":"info"}\n')"#, invalid(r#"no `"jsonrpc": "2.0"`"#)).over(STDIO),
    Rogue::says("half-a-line", "put(answer()[:20]); hang()", SILENT).over(STDIO).waits(),
    Rogue::says("half-a-line-and-gone", "put(answer()[:20]); os._exit(0)", invalid("a line without an end"))
        .over(STDIO),
    Rogue::says("line-without-end", "put(answer()); os._exit(0)", crash("exit status 0")).over(STDIO).at("list"),
    // Whoever is asked next isn't to blame.
    Rogue::says("leaves-after-its-answer", "say(answer()); os._exit(0)", WELL).over(STDIO),
    Rogue::says("in-pieces", r"[put(piece) for piece in answer()]; put('\n')", WELL).over(STDIO),
    Rogue::says("closes-its-output", "end(); hang()", crash("closed its standard output")).over(STDIO),
    Rogue::says("mumbles-on-stderr", "sys.stderr.write('x' * 1000000); say(answer())", WELL).over(STDIO),
];

/// What is wrong with HTTP.
const REPLIES: [Rogue; 53] = [
    Rogue::says("hangs-over-http", "hang()", SILENT).waits(),
    Rogue::says("says-nothing", "pass", crash("connection closed before message completed")),
    Rogue::says("half-a-head", "put(head()[:20]); hang()", SILENT).waits(),
    Rogue::says("half-a-body", "put(head(), answer()[:20]); hang()", SILENT).waits(),
    Rogue::says("drips", "[(put(byte), time.sleep(0.1)) for byte in head() + answer()]", SILENT).waits(),
    Rogue::says("wrong-type", "put(head(type='text/html'), answer())", invalid("a body of the type `text/html`")),
    Rogue::says("no-type", r"put('HTTP/1.1 200 OK\r\n\r\n', answer())", invalid("a body without a type")),
    Rogue::says(
        "length-too-large",
        "put(head(length=9999), answer())",
        crash("end of file before message length reached"),
    ),
    Rogue::says("length-too-small", "put(head(length=20), answer())", invalid("EOF while parsing")),
    Rogue::says("length-twice", "put(head('content-length: 9', length=5), answer())", invalid("no HTTP: ")),
    Rogue::says("length-below-zero", "put(head(length=-1), answer())", invalid("no HTTP: ")),
    Rogue::says("chunks-without-size", r"put(head('transfer-encoding: chunked'), 'zz\r\n')", invalid("no HTTP: ")),
    Rogue::says("chunks-cut", r"put(head('transfer-encoding: chunked'), 'ff\r\n{')", crash("end of file")),
    Rogue::says("http-0.9", "put(answer())", invalid("no HTTP: ")),
    Rogue::says("http-1.0", "put(head(status='HTTP/1.0 200 OK'), answer())", WELL),
    Rogue::says("http-2", r"put(b'\0\0\0\4\0\0\0\0\0')", invalid("no HTTP: ")),
    Rogue::says("mail", r"put('220 mail ready\r\n')", invalid("no HTTP: ")),
    Rogue::says("newlines-alone", r"put(head().replace('\r\n', '\n'), answer())", WELL),
    Rogue::says("nul-in-a-header", r"put(head('x: \0'), answer())", invalid("no HTTP: ")),
    Rogue::says("folded-header", r"put(head('x: a\r\n b'), answer())", invalid("no HTTP: ")),
    Rogue::says("too-many-headers", "put(head(*['x: a'] * 200), answer())", ("oversized", "")),
    Rogue::says(
        "gzip",
        "import gzip; put(head('content-encoding: gzip'), gzip.compress(answer().encode()))",
        invalid("encoded as `gzip`, which nobody asked for"),
    ),
    Rogue::says(
        "gzip-that-is-none",
        "put(head('content-encoding: gzip'), answer())",
        invalid("encoded as `gzip`, which nobody asked for"),
    ),
    Rogue::says(
        "two-replies",
        "body = head(length=len(answer())).replace('close', 'keep-alive') + answer(); put(body, body)",
        WELL,
    ),
    Rogue::says("continues", r"put('HTTP/1.1 100 Continue\r\n\r\n'); say(answer())", WELL),
    Rogue::says(
        "continues-for-ever",
        r"[(put('HTTP/1.1 100 Continue\r\n\r\n'), time.sleep(0.01)) for _ in iter(int, 1)]",
        SILENT,
    )
    .waits(),
    Rogue::says("hints-early", r"put('HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n'); say(answer())", WELL),
    Rogue::says(
        "switches",
        r"put('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')",
        ("http-error", ""),
    ),
    Rogue::says(
        "redirects",
        "put(head('location: http://127.0.0.1:9/', length=0, status='HTTP/1.1 307 x'))",
        ("http-error", ""),
    ),
    Rogue::says("has-no-content", r"put('HTTP/1.1 204 No Content\r\n\r\n')", ("empty-reply", "")),
    Rogue::says("only-accepts", r"put('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n')", ("empty-reply", "")),
    Rogue::says("has-an-empty-body", "say('')", ("empty-reply", "")),
    Rogue::says("shows-a-page", "put(head(type='text/html', status='HTTP/1.1 500 x'), '<p>')", ("http-error", "")),
    Rogue::says("errs-with-a-result", "put(head(status='HTTP/1.1 500 x'), answer())", WELL),
    Rogue::says("status-0", "put(head(status='HTTP/1.1 000 x'), answer())", invalid("no HTTP: ")),
    Rogue::says("status-999", "put(head(status='HTTP/1.1 999 x'), answer())", WELL),
    Rogue::says("events-with-bom", r"put(events(), b'\xef\xbb\xbfdata: ', answer(), '\n\n')", WELL),
    Rogue::says(
        "event-with-bom",
        r"put(events(), b'data: \xef\xbb\xbf', answer(), '\n\n')",
        invalid("a byte-order mark"),
    ),
    Rogue::says("event-by-returns", r"put(events(), 'data: ', answer(), '\r\r')", WELL),
    Rogue::says("event-by-crlf", r"put(events(), 'data: ', answer(), '\r\n\r\n')", WELL),
    Rogue::says("event-in-lines", r"put(events(), 'data: ', answer().replace(', ', ',\ndata: '), '\n\n')", WELL),
    Rogue::says("event-unended", r"put(events(), 'data: ', answer(), '\n')", ("empty-reply", "")),
    Rogue::says(
        "event-of-half-utf8",
        r"put(events(), 'data: ', answer(x='?').encode().replace(b'?', b'\xc3'), '\n\n')",
        invalid("utf8"),
    ),
    Rogue::says("event-with-nul", r"put(events(), 'id: \0\ndata: ', answer(), '\n\n')", WELL),
    Rogue::says("event-by-another-name", r"put(events(), 'event: other\ndata: ', answer(), '\n\n')", WELL),
    Rogue::says("event-cut", "put(events(length=999), 'data: ', answer()[:20])", crash("end of file")),
    Rogue::says("events-go-on", r"put(events(), 'data: ', answer(), '\n\n'); hang()", WELL),
    Rogue::says(
        "events-of-nothing",
        r"put(events()); [(put(': \n\n'), time.sleep(0.01)) for _ in iter(int, 1)]",
        SILENT,
    )
    .waits(),
    Rogue::says(
        "events-in-gzip",
        r"put(events('content-encoding: gzip'), 'data: ', answer(), '\n\n')",
        invalid("encoded as `gzip`"),
    ),
    Rogue::says("returns-far-off", r"put(events(), 'id: 1\nretry: 99999999999999\n\n')", ("empty-reply", "")),
    Rogue::says("events-as-json", r"put(head(), 'data: ', answer(), '\n\n')", invalid("not a JSON object")),
    Rogue::says("json-as-events", "put(events(), answer())", ("empty-reply", "")),
    Rogue::says(
        "smuggles",
        r"put(head('transfer-encoding: chunked', length=5), f'{len(answer()):x}\r\n{answer()}\r\n0\r\n\r\n')",
        WELL,
    ),
];

#[test]
fn a_server_that_misbehaves_costs_its_own_call_and_is_seen_for_what_it_did() {
    let over_http = REPLIES.into_iter().map(|rogue| rogue.over(HTTP));
    let rogues: Vec<_> = MESSAGES.into_iter().chain(PIPES).chain(over_http).collect();
    run_all(&rogues, "--stdio stream", 1);
}

#[test]
fn second_reply_is_recorded_beside_the_first() {
    let (sandbox, names) = gather(&[&Rogue::says("replies-twice", "say(answer(), answer(isError=True))", WELL)]);
    sandbox.run(&format!("run {names} --cases shelf --record run.jsonl --stdio stream")).exits(0);
    let wire = lines(&sandbox, "run.wire.jsonl");
    let lost = wire.iter().filter(|one| one["test"].to_string().contains("lost@"));
    let counts: Vec<_> = lost.map(|one| one["steps"][1]["messages"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [3, 3]);
}

#[test]
fn server_that_misbehaves_in_a_process_of_its_own_is_seen_alike() {
    let rogues: Vec<_> = MESSAGES.into_iter().chain(PIPES).map(|rogue| rogue.over(STDIO)).collect();
    run_all(&rogues, "--stdio process", 1);
}

/// Servers that answer one thing by a stream, and another in a process of their own.
const TWO_WAYS: [Rogue; 3] = [
    Rogue::says("good-in-a-process", "say(answer(isError=not in_process))", ("tool-error", "")),
    Rogue::says("gone-in-a-process", "os._exit(7) if in_process else say(answer())", WELL),
    Rogue::says("lists-in-a-process", "say(answer() if in_process else '{}')", invalid("")).at("list"),
];

#[test]
fn server_that_differs_by_stream_and_process_fails_the_run() {
    let rogues = TWO_WAYS.map(|rogue| rogue.over(STDIO));
    let (sandbox, names) = gather(&rogues.each_ref());
    let came = sandbox.run(&format!("run {names} --cases shelf --record run.jsonl --stdio both"));
    came.exits(4)
        .stdout_has(&[r#"step 2, outcome: "tool-error", "success""#, r#"step 2, outcome: "success", "crash""#]);
    for record in lines(&sandbox, "run.jsonl").iter().map(|line| &line["record"]).filter(|record| record.is_object()) {
        let why = record["observation"]["unavailable"].as_str().unwrap_or_default();
        let is_struck =
            record["target"] == "lists-in-a-process" || record["test"].as_str().expect("an id").contains("lost@");
        assert_eq!((why.contains("show different things"), &record["stdio"]), (is_struck, &"both".into()), "{record}");
    }
    // The sample has the first test of the file.
    let sampled = sandbox.run(&format!("run {names} --cases shelf --record run.jsonl"));
    sampled
        .exits(1)
        .stdout_has(&["show different things"])
        .stderr_has(&["run by a stream and in a process: 3 tests, 3 not alike"]);
}
