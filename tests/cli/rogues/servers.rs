//! Servers that misbehave when the tool `lose` is called.

use super::{Rogue, lay_out_all, lines, run_all};

const HTTP: &[&str] = &["http"];
const STDIO: &[&str] = &["stdio"];
const SUCCESS: (&str, &str) = ("success", "");
/// The outcome of a step in which no answer finished.
const SILENT: (&str, &str) = ("timeout", "");

const fn invalid(why: &'static str) -> (&'static str, &'static str) {
    ("invalid-message", why)
}

const fn crash(how: &'static str) -> (&'static str, &'static str) {
    ("crash", how)
}

/// Wrong messages, over both transports.
const MESSAGES: [Rogue; 38] = [
    Rogue::new("good", "say(answer())", SUCCESS),
    Rogue::new("another-id", "say(answer(41))", invalid("the id 41 instead of the id 1")).waits(),
    Rogue::new("answered-id", "say(answer(id - 1))", invalid("the id 0 instead of the id 1")).waits(),
    Rogue::new("id-as-text", "say(answer(str(id)))", invalid(r#"the id "1" instead of the id 1"#)).waits(),
    Rogue::new("id-as-float", "say(answer(float(id)))", invalid("the id 1.0 instead of the id 1")).waits(),
    Rogue::new("id-null", r#"say(answer().replace('"id": 1', '"id": null'))"#, invalid("no id instead of")).waits(),
    Rogue::new("id-missing", r#"say(answer().replace('"id": 1, ', ''))"#, invalid("no id instead of")).waits(),
    Rogue::new(
        "id-deep",
        r#"say(answer().replace('"id": 1', '"id": ' + '[' * 100000 + ']' * 100000))"#,
        invalid("no id"),
    )
    .waits(),
    Rogue::new("id-twice", r#"say(answer().replace('"id"', '"id": 7, "id"'))"#, invalid("duplicate field `id`")),
    Rogue::new("replies-twice", "say(answer(), answer(isError=True))", SUCCESS),
    Rogue::new("replies-ahead", "say(answer(id + 1, isError=True), answer())", SUCCESS).at("list"),
    Rogue::new("replies-too-soon", "say(answer(), answer(id + 1, isError=True))", SUCCESS).at("list"),
    Rogue::new("corrects-itself", "say(answer(41), answer())", SUCCESS),
    Rogue::new("notifies", r#"say(*['{"jsonrpc":"2.0","method":"notifications/message"}'] * 3, answer())"#, SUCCESS),
    Rogue::new("notifies-oddly", r#"say('{"method":[]}', '{"jsonrpc":1,"method":{}}', answer())"#, SUCCESS),
    Rogue::new("notifies-for-ever", r#"say(*['{"method":"x"}'] * 20000)"#, ("oversized", "")),
    Rogue::new(
        "asks-back",
        r#"say('{"jsonrpc":"2.0","id":9,"method":"roots/list"}')"#,
        invalid("a request to the client, `roots/list`"),
    ),
    Rogue::new("half-utf8", r"say(answer(x='?').encode().replace(b'?', b'\xc3'))", invalid("that is not UTF-8")),
    Rogue::new("utf16", "say(answer().encode('utf-16-le'))", invalid("no JSON-RPC message")),
    Rogue::new("bom", r"say(b'\xef\xbb\xbf' + answer().encode())", invalid("a byte-order mark before the message")),
    Rogue::new("nul-before", r"say(b'\0' + answer().encode())", invalid("not a JSON object")),
    Rogue::new("nul-in-a-string", r"say(answer(x='?').replace('?', '\0'))", invalid("control character")),
    Rogue::new("nan", "say(answer(x=float('nan')))", invalid("expected value")),
    Rogue::new("comma", "say(answer()[:-1] + ',}')", invalid("trailing comma")),
    Rogue::new(
        "equal-keys",
        r#"say(answer().replace('"content"', '"content": 1, "content"'))"#,
        invalid("two equal keys"),
    ),
    Rogue::new("lone-surrogate", r"say(answer(x='\ud800'))", invalid("a lone surrogate")),
    Rogue::new("crlf", r"say(answer() + '\r')", SUCCESS),
    Rogue::new("two-in-one", "say(answer() + answer())", invalid("trailing characters")),
    Rogue::new("batch", "say('[' + answer() + ']')", invalid("a batch")),
    Rogue::new("no-version", r#"say(answer().replace('"jsonrpc": "2.0", ', ''))"#, invalid(r#"no `"jsonrpc": "2.0"`"#)),
    Rogue::new("result-and-error", r#"say(answer()[:-1] + ', "error": {}}')"#, invalid("both `result` and `error`")),
    Rogue::new("neither", r#"say('{"jsonrpc": "2.0", "id": 1}')"#, invalid("none of `method`, `result` and `error`")),
    Rogue::new("result-is-a-list", r#"say('{"jsonrpc": "2.0", "id": 1, "result": []}')"#, invalid("")),
    Rogue::new("unclosed", r#"say(answer(x='?').replace('"?"', '[' * 100000))"#, invalid("expected value")),
    Rogue::new("deep", r#"say(answer(x='?').replace('"?"', '[' * 100000 + ']' * 100000))"#, SUCCESS),
    Rogue::new(
        "error-of-text",
        r#"say('{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":7}}')"#,
        ("protocol-error", ""),
    ),
    Rogue::new("leaves", "os._exit(7)", crash("exit status 7")),
    Rogue::new("is-killed", "os.kill(os.getpid(), signal.SIGKILL)", crash("killed by signal 9 (SIGKILL)")),
];

/// Misbehaviour on pipes.
const PIPES: [Rogue; 11] = [
    Rogue::new("hangs-on-a-pipe", "hang()", SILENT).over(STDIO).waits(),
    Rogue::new("empty-lines", r"put('\n\n\n'); say(answer())", SUCCESS).over(STDIO),
    Rogue::new("stray-lines", r"put('Listening on port 80\n', b'\xff\n', '[1]\n'); say(answer())", SUCCESS).over(STDIO),
    Rogue::new("logs-in-json", r#"put('{"level":"info"}\n'); say(answer())"#, SUCCESS).over(STDIO),
    Rogue::new("half-a-line", "put(answer()[:20]); hang()", SILENT).over(STDIO).waits(),
    Rogue::new("half-a-line-and-gone", "put(answer()[:20]); os._exit(0)", invalid("a line without a line feed"))
        .over(STDIO),
    Rogue::new("line-without-end", "put(answer()); os._exit(0)", crash("exit status 0")).over(STDIO).at("list"),
    // The server that the next test starts must not be blamed.
    Rogue::new("leaves-after-its-answer", "say(answer()); os._exit(0)", SUCCESS).over(STDIO),
    Rogue::new("in-pieces", r"[put(piece) for piece in answer()]; put('\n')", SUCCESS).over(STDIO),
    Rogue::new("closes-its-output", "end(); hang()", crash("closed its standard output")).over(STDIO),
    Rogue::new("mumbles-on-stderr", "sys.stderr.write('x' * 1000000); say(answer())", SUCCESS).over(STDIO),
];

/// Misbehaviour over HTTP.
const REPLIES: [Rogue; 53] = [
    Rogue::new("hangs-over-http", "hang()", SILENT).waits(),
    Rogue::new("says-nothing", "pass", crash("connection closed before message completed")),
    Rogue::new("half-a-head", "put(head()[:20]); hang()", SILENT).waits(),
    Rogue::new("half-a-body", "put(head(), answer()[:20]); hang()", SILENT).waits(),
    Rogue::new("drips", "[(put(byte), time.sleep(0.1)) for byte in head() + answer()]", SILENT).waits(),
    Rogue::new(
        "wrong-type",
        "put(head(type='text/html'), answer())",
        invalid("a body with the content type `text/html`"),
    ),
    Rogue::new("no-type", r"put('HTTP/1.1 200 OK\r\n\r\n', answer())", invalid("a body without a content type")),
    Rogue::new(
        "length-too-large",
        "put(head(length=9999), answer())",
        crash("end of file before message length reached"),
    ),
    Rogue::new("length-too-small", "put(head(length=20), answer())", invalid("EOF while parsing")),
    Rogue::new("length-twice", "put(head('content-length: 9', length=5), answer())", invalid("invalid HTTP: ")),
    Rogue::new("length-below-zero", "put(head(length=-1), answer())", invalid("invalid HTTP: ")),
    Rogue::new("chunks-without-size", r"put(head('transfer-encoding: chunked'), 'zz\r\n')", invalid("invalid HTTP: ")),
    Rogue::new("chunks-cut", r"put(head('transfer-encoding: chunked'), 'ff\r\n{')", crash("end of file")),
    Rogue::new("http-0.9", "put(answer())", invalid("invalid HTTP: ")),
    Rogue::new("http-1.0", "put(head(status='HTTP/1.0 200 OK'), answer())", SUCCESS),
    Rogue::new("http-2", r"put(b'\0\0\0\4\0\0\0\0\0')", invalid("invalid HTTP: ")),
    Rogue::new("mail", r"put('220 mail ready\r\n')", invalid("invalid HTTP: ")),
    Rogue::new("newlines-alone", r"put(head().replace('\r\n', '\n'), answer())", SUCCESS),
    Rogue::new("nul-in-a-header", r"put(head('x: \0'), answer())", invalid("invalid HTTP: ")),
    Rogue::new("folded-header", r"put(head('x: a\r\n b'), answer())", invalid("invalid HTTP: ")),
    Rogue::new("too-many-headers", "put(head(*['x: a'] * 200), answer())", ("oversized", "")),
    Rogue::new(
        "gzip",
        "import gzip; put(head('content-encoding: gzip'), gzip.compress(answer().encode()))",
        invalid("encoded as `gzip`, which was not requested"),
    ),
    Rogue::new(
        "gzip-that-is-none",
        "put(head('content-encoding: gzip'), answer())",
        invalid("encoded as `gzip`, which was not requested"),
    ),
    Rogue::new(
        "two-replies",
        "body = head(length=len(answer())).replace('close', 'keep-alive') + answer(); put(body, body)",
        SUCCESS,
    ),
    Rogue::new("continues", r"put('HTTP/1.1 100 Continue\r\n\r\n'); say(answer())", SUCCESS),
    Rogue::new(
        "continues-for-ever",
        r"[(put('HTTP/1.1 100 Continue\r\n\r\n'), time.sleep(0.01)) for _ in iter(int, 1)]",
        SILENT,
    )
    .waits(),
    Rogue::new("hints-early", r"put('HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n'); say(answer())", SUCCESS),
    Rogue::new(
        "switches",
        r"put('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')",
        ("http-error", ""),
    ),
    Rogue::new(
        "redirects",
        "put(head('location: http://127.0.0.1:9/', length=0, status='HTTP/1.1 307 x'))",
        ("http-error", ""),
    ),
    Rogue::new("has-no-content", r"put('HTTP/1.1 204 No Content\r\n\r\n')", ("empty-reply", "")),
    Rogue::new("only-accepts", r"put('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n')", ("empty-reply", "")),
    Rogue::new("has-an-empty-body", "say('')", ("empty-reply", "")),
    Rogue::new("shows-a-page", "put(head(type='text/html', status='HTTP/1.1 500 x'), '<p>')", ("http-error", "")),
    Rogue::new("errs-with-a-result", "put(head(status='HTTP/1.1 500 x'), answer())", SUCCESS),
    Rogue::new("status-0", "put(head(status='HTTP/1.1 000 x'), answer())", invalid("invalid HTTP: ")),
    Rogue::new("status-999", "put(head(status='HTTP/1.1 999 x'), answer())", SUCCESS),
    Rogue::new("events-with-bom", r"put(events(), b'\xef\xbb\xbfdata: ', answer(), '\n\n')", SUCCESS),
    Rogue::new(
        "event-with-bom",
        r"put(events(), b'data: \xef\xbb\xbf', answer(), '\n\n')",
        invalid("a byte-order mark"),
    ),
    Rogue::new("event-by-returns", r"put(events(), 'data: ', answer(), '\r\r')", SUCCESS),
    Rogue::new("event-by-crlf", r"put(events(), 'data: ', answer(), '\r\n\r\n')", SUCCESS),
    Rogue::new("event-in-lines", r"put(events(), 'data: ', answer().replace(', ', ',\ndata: '), '\n\n')", SUCCESS),
    Rogue::new("event-unended", r"put(events(), 'data: ', answer(), '\n')", ("empty-reply", "")),
    Rogue::new(
        "event-of-half-utf8",
        r"put(events(), 'data: ', answer(x='?').encode().replace(b'?', b'\xc3'), '\n\n')",
        invalid("utf8"),
    ),
    Rogue::new("event-with-nul", r"put(events(), 'id: \0\ndata: ', answer(), '\n\n')", SUCCESS),
    Rogue::new("event-by-another-name", r"put(events(), 'event: other\ndata: ', answer(), '\n\n')", SUCCESS),
    Rogue::new("event-cut", "put(events(length=999), 'data: ', answer()[:20])", crash("end of file")),
    Rogue::new("events-go-on", r"put(events(), 'data: ', answer(), '\n\n'); hang()", SUCCESS),
    Rogue::new(
        "events-of-nothing",
        r"put(events()); [(put(': \n\n'), time.sleep(0.01)) for _ in iter(int, 1)]",
        SILENT,
    )
    .waits(),
    Rogue::new(
        "events-in-gzip",
        r"put(events('content-encoding: gzip'), 'data: ', answer(), '\n\n')",
        invalid("encoded as `gzip`"),
    ),
    Rogue::new("returns-far-off", r"put(events(), 'id: 1\nretry: 99999999999999\n\n')", ("empty-reply", "")),
    Rogue::new("events-as-json", r"put(head(), 'data: ', answer(), '\n\n')", invalid("not a JSON object")),
    Rogue::new("json-as-events", "put(events(), answer())", ("empty-reply", "")),
    Rogue::new(
        "smuggles",
        r"put(head('transfer-encoding: chunked', length=5), f'{len(answer()):x}\r\n{answer()}\r\n0\r\n\r\n')",
        SUCCESS,
    ),
];

#[test]
fn misbehaving_server_affects_only_its_own_call() {
    let over_http = REPLIES.into_iter().map(|rogue| rogue.over(HTTP));
    let rogues: Vec<_> = MESSAGES.into_iter().chain(PIPES).chain(over_http).collect();
    run_all(&rogues, "--stdio stream", 1);
}

#[test]
fn second_reply_is_recorded_beside_the_first() {
    let (sandbox, names) = lay_out_all(&[&Rogue::new("replies-twice", "say(answer(), answer(isError=True))", SUCCESS)]);
    sandbox.run(&format!("run {names} --cases shelf --run-log run.jsonl --stdio stream")).exits(0);
    let wire = lines(&sandbox, "run.wire.jsonl");
    let lost = wire.iter().filter(|one| one["test"].to_string().contains("lost@"));
    let counts: Vec<_> = lost.map(|one| one["steps"][1]["messages"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(counts, [3, 3]);
}

#[test]
fn misbehaving_server_in_a_process_gives_the_same_result() {
    let rogues: Vec<_> = MESSAGES.into_iter().chain(PIPES).map(|rogue| rogue.over(STDIO)).collect();
    run_all(&rogues, "--stdio process", 1);
}

/// Servers that behave differently over a stream and in a process of their own.
const TWO_WAYS: [Rogue; 3] = [
    Rogue::new("good-in-a-process", "say(answer(isError=not in_process))", ("tool-error", "")),
    Rogue::new("gone-in-a-process", "os._exit(7) if in_process else say(answer())", SUCCESS),
    Rogue::new("lists-in-a-process", r#"say(answer() if in_process else '{"id": 1}')"#, invalid("")).at("list"),
];

#[test]
fn server_that_differs_by_stream_and_process_fails_the_run() {
    let rogues = TWO_WAYS.map(|rogue| rogue.over(STDIO));
    let (sandbox, names) = lay_out_all(&rogues.each_ref());
    let finished = sandbox.run(&format!("run {names} --cases shelf --run-log run.jsonl --stdio both"));
    finished
        .exits(4)
        .stdout_has(&[r#"step 2, outcome: "tool-error", "success""#, r#"step 2, outcome: "success", "crash""#]);
    for record in lines(&sandbox, "run.jsonl").iter().map(|line| &line["record"]).filter(|record| record.is_object()) {
        let why = record["observation"]["unavailable"].as_str().unwrap_or_default();
        let misbehaves =
            record["target"] == "lists-in-a-process" || record["test"].as_str().expect("an id").contains("lost@");
        assert_eq!((why.contains("show different things"), &record["stdio"]), (misbehaves, &"both".into()), "{record}");
    }
    // By default, only the first test of a case file runs both ways.
    let sampled = sandbox.run(&format!("run {names} --cases shelf --run-log run.jsonl"));
    sampled
        .exits(1)
        .stdout_has(&["show different things"])
        .stderr_has(&["stdio as a stream and as a process: 3 tests compared, 3 different"]);
}

#[test]
fn time_out_of_one_way_is_tried_again() {
    let does =
        "hang() if in_process and not os.path.exists('hung') and not open('hung', 'w').close() else say(answer())";
    let rogue = Rogue::new("hangs-once-in-a-process", does, SUCCESS).over(STDIO);
    let (sandbox, names) = lay_out_all(&[&rogue]);
    // The time-out alone would be no failure.
    let lenient = sandbox.read("shelf/post/requirements.json").replace("MUST", "SHOULD");
    sandbox.write("shelf/post/requirements.json", &lenient);
    let finished = sandbox.run(&format!("run {names} --cases shelf --stdio both --limit step=2s --limit start=2s"));
    finished.exits(0).stderr_has(&["1 test timed out and ran once more"]);
}
