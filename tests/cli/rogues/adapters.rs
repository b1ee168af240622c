//! Adapters that misbehave in the adapter protocol: at `hello`, `serve` or `stop`.

use super::{Rogue, run_all};

/// Python code that sends an answer of the adapter with this member.
macro_rules! line {
    ($member:literal) => {
        concat!(r#"say('{"id": "%s", "#, $member, "}' % asked['id'])")
    };
}

/// Misbehaviour at `hello`. Without a valid answer the target cannot be used, and the run ends with exit status 4.
const AT_HELLO: [Rogue; 13] = [
    Rogue::new("hello-never", "hang()", ("none", "it sent no answer within the time limit")).waits(),
    Rogue::new("hello-and-gone", "os._exit(7)", ("none", "it ended with exit status 7")),
    Rogue::new(
        "hello-of-another",
        r#"say(good().replace('"1"', '"7"')); hang()"#,
        ("none", r#"[noise on stdout] {"id": "7""#),
    )
    .waits(),
    Rogue::new(
        "hello-by-number",
        r#"say(good().replace('"1"', '1')); hang()"#,
        ("none", r#"its answer has "id":1; an id is a string"#),
    ),
    Rogue::new(
        "hello-with-bom",
        r"say(b'\xef\xbb\xbf' + good().encode()); hang()",
        ("none", "it sent no answer within the time limit"),
    )
    .waits(),
    Rogue::new(
        "hello-as-list",
        line!(r#""hello": 7"#),
        ("none", "it sent an invalid answer: `hello` must be an object"),
    ),
    Rogue::new("hello-twice-in-one", r#"say(good()[:-1] + ', "hello": {}}')"#, ("none", "duplicate field `hello`")),
    Rogue::new("hello-of-less", line!(r#""hello": {}"#), ("none", "target.toml claims the role `server`")),
    Rogue::new("hello-of-nothing", line!(r#""stopped": true"#), ("none", "it answered `hello` without a hello")),
    Rogue::new(
        "hello-deep",
        r#"say('{"id":"1","hello":' + '[' * 100000 + ']' * 100000 + '}')"#,
        ("none", "an invalid answer"),
    ),
    Rogue::new(
        "serves-before-it-is-asked",
        r#"say(good(), '{"id":"2","serving":{"url":"http://127.0.0.1:9/"}}')"#,
        ("success", ""),
    ),
    Rogue::new("hello-hello-hello", r"endless(b'x\n')", ("none", "it wrote 1000 lines that are no answer")),
    Rogue::new(
        "hello-in-noise",
        r"say('Listening', b'\xff', '\0', '[]', '{}', 'null', good(), good())",
        ("success", ""),
    ),
];

/// Misbehaviour at `serve` and `stop`.
const AT_SERVE_OR_STOP: [Rogue; 23] = [
    Rogue::new("serves-never", "hang()", ("timeout", "it sent no answer within the time limit")).waits(),
    Rogue::new("serves-and-gone", "os._exit(7)", ("crash", "it ended with exit status 7")),
    Rogue::new("serves-by-half", "put(good()[:20]); os._exit(0)", ("crash", "it ended with exit status 0")),
    Rogue::new(
        "serves-another",
        r#"say('{"id":"99","serving":{"url":"http://127.0.0.1:9/"}}', good())"#,
        ("success", ""),
    ),
    Rogue::new("serves-twice", "say(good(), good())", ("success", "")),
    Rogue::new(
        "serves-twice-in-one",
        r#"say(good()[:-1] + ', "serving": {"url": ""}}')"#,
        ("invalid-message", "duplicate field `serving`"),
    ),
    Rogue::new(
        "serves-and-refuses",
        r#"say(good()[:-1] + ', "refused": {"type": "E", "message": "no"}}')"#,
        ("refused", "E: no"),
    ),
    Rogue::new("serves-by-crlf", r"say(good() + '\r')", ("success", "")),
    Rogue::new("serves-nothing", line!(r#""x": 1"#), ("invalid-message", "none of `serving`")),
    Rogue::new("serves-a-number", line!(r#""serving": 7"#), ("invalid-message", "it sent an invalid answer")),
    Rogue::new(
        "serves-elsewhere",
        line!(r#""serving": {"url": "http://192.0.2.1/"}"#),
        ("invalid-message", "not on this machine"),
    ),
    Rogue::new(
        "serves-as-user",
        line!(r#""serving": {"url": "http://127.0.0.1@192.0.2.1/"}"#),
        ("invalid-message", "not on this machine"),
    ),
    Rogue::new(
        "serves-a-file",
        line!(r#""serving": {"url": "file:///dev/zero"}"#),
        ("invalid-message", "not on this machine"),
    ),
    Rogue::new(
        "serves-by-tls",
        line!(r#""serving": {"url": "https://127.0.0.1/"}"#),
        ("invalid-message", "not on this machine"),
    ),
    Rogue::new(
        "serves-nowhere",
        line!(r#""serving": {"url": "no address"}"#),
        ("invalid-message", "not on this machine"),
    ),
    Rogue::new("serves-where-nobody-is", line!(r#""serving": {"url": "http://127.0.0.1:9/"}"#), ("crash", "")),
    Rogue::new("serves-a-flood", r"endless(b'x\n')", ("invalid-message", "it wrote 1000 lines that are no answer")),
    Rogue::new("serves-one-line", "flood(64)", ("oversized", "it wrote a line of more than 16 MiB")),
    Rogue::new(
        "refuses-at-length",
        r#"say('{"id":"%s","refused":{"type":"E","message":"%s"}}' % (asked['id'], 'x' * 1000000))"#,
        ("refused", "E: xxx"),
    ),
    Rogue::new("stops-never", "hang()", ("success", "")).at("stop"),
    Rogue::new("stops-and-gone", "os._exit(7)", ("success", "")).at("stop"),
    Rogue::new("stops-oddly", "say('{}', '7'); hang()", ("success", "")).at("stop"),
    Rogue::new("stops-not", line!(r#""stopped": false"#), ("success", "")).at("stop"),
];

/// Misbehaviour at `serve` for stdio over a stream.
const AT_SERVE_BY_STREAM: [Rogue; 6] = [
    Rogue::new("streams", "say(good())", ("success", "")),
    Rogue::new("streams-nowhere", line!(r#""serving": {}"#), ("invalid-message", "but did not connect")).waits(),
    Rogue::new(
        "streams-by-another-word",
        concat!("stream(asked['serve']['stream']['port'], 'guess');", line!(r#""serving": {}"#)),
        ("invalid-message", "but did not connect"),
    )
    .waits(),
    Rogue::new(
        "streams-and-hangs-up",
        concat!("stream(**asked['serve']['stream']).shutdown(2); ", line!(r#""serving": {}"#)),
        ("crash", ""),
    ),
    Rogue::new(
        "streams-after-it-said-so",
        concat!(line!(r#""serving": {}"#), "; time.sleep(0.1); stream(**asked['serve']['stream'])"),
        ("success", ""),
    ),
    Rogue::new("streams-twice", "stream(**asked['serve']['stream']); say(good())", ("success", "")),
];

#[test]
fn misbehaving_adapter_over_streams_is_reported() {
    run_all(&AT_SERVE_BY_STREAM.map(|rogue| rogue.at("serve").over(&["stdio"])), "--stdio stream", 1);
}

#[test]
fn misbehaving_adapter_is_reported_with_a_reason() {
    let at_hello = AT_HELLO.into_iter().map(|rogue| rogue.at("hello"));
    let at_serve_or_stop =
        AT_SERVE_OR_STOP.into_iter().map(|rogue| if rogue.at == "call" { rogue.at("serve") } else { rogue });
    let rogues: Vec<_> = at_hello.chain(at_serve_or_stop).map(|rogue| rogue.over(&["http"])).collect();
    run_all(&rogues, "", 4);
}
