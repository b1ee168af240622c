//! Adapters that misbehave in their own protocol: at the `hello`, when they are to serve, or to stop.

use super::{Rogue, run_all};

/// A line of the adapter's, with this member in it.
macro_rules! line {
    ($member:literal) => {
        concat!(r#"say('{"id": "%s", "#, $member, "}' % asked['id'])")
    };
}

/// What they do in place of a hello. Without one there is no session, and the run ends with status 4.
const GREETERS: [Rogue; 13] = [
    Rogue::says("hello-never", "hang()", ("none", "it said nothing within the limit")).waits(),
    Rogue::says("hello-and-gone", "os._exit(7)", ("none", "it ended with exit status 7")),
    Rogue::says(
        "hello-of-another",
        r#"say(good().replace('"1"', '"7"')); hang()"#,
        ("none", r#"[noise on stdout] {"id": "7""#),
    )
    .waits(),
    Rogue::says(
        "hello-by-number",
        r#"say(good().replace('"1"', '1')); hang()"#,
        ("none", r#"[noise on stdout] {"id": 1"#),
    )
    .waits(),
    Rogue::says(
        "hello-with-bom",
        r"say(b'\xef\xbb\xbf' + good().encode()); hang()",
        ("none", "it said nothing within the limit"),
    )
    .waits(),
    Rogue::says(
        "hello-as-list",
        line!(r#""hello": 7"#),
        ("none", "it gave an answer that can't be read: invalid type"),
    ),
    Rogue::says("hello-twice-in-one", r#"say(good()[:-1] + ', "hello": {}}')"#, ("none", "duplicate field `hello`")),
    Rogue::says("hello-of-less", line!(r#""hello": {}"#), ("none", "target.toml claims the role `server`")),
    Rogue::says("hello-of-nothing", line!(r#""stopped": true"#), ("none", "it answered `hello` without a hello")),
    Rogue::says(
        "hello-deep",
        r#"say('{"id":"1","hello":' + '[' * 100000 + ']' * 100000 + '}')"#,
        ("none", "can't be read"),
    ),
    Rogue::says(
        "serves-before-it-is-asked",
        r#"say(good(), '{"id":"2","serving":{"url":"http://127.0.0.1:9/"}}')"#,
        ("success", ""),
    ),
    Rogue::says("hello-hello-hello", r"endless(b'x\n')", ("none", "it wrote 1000 lines that are no answer")),
    Rogue::says(
        "hello-in-noise",
        r"say('Listening', b'\xff', '\0', '[]', '{}', 'null', good(), good())",
        ("success", ""),
    ),
];

/// What they do where they are to serve, or are to stop.
const SERVANTS: [Rogue; 23] = [
    Rogue::says("serves-never", "hang()", ("timeout", "it said nothing within the limit")).waits(),
    Rogue::says("serves-and-gone", "os._exit(7)", ("crash", "it ended with exit status 7")),
    Rogue::says("serves-by-half", "put(good()[:20]); os._exit(0)", ("crash", "it ended with exit status 0")),
    Rogue::says(
        "serves-another",
        r#"say('{"id":"99","serving":{"url":"http://127.0.0.1:9/"}}', good())"#,
        ("success", ""),
    ),
    Rogue::says("serves-twice", "say(good(), good())", ("success", "")),
    Rogue::says(
        "serves-twice-in-one",
        r#"say(good()[:-1] + ', "serving": {"url": ""}}')"#,
        ("invalid-message", "duplicate field `serving`"),
    ),
    Rogue::says(
        "serves-and-refuses",
        r#"say(good()[:-1] + ', "refused": {"type": "E", "message": "no"}}')"#,
        ("refused", "E: no"),
    ),
    Rogue::says("serves-by-crlf", r"say(good() + '\r')", ("success", "")),
    Rogue::says("serves-nothing", line!(r#""x": 1"#), ("invalid-message", "none of its answers")),
    Rogue::says(
        "serves-a-number",
        line!(r#""serving": 7"#),
        ("invalid-message", "it gave an answer that can't be read"),
    ),
    Rogue::says(
        "serves-elsewhere",
        line!(r#""serving": {"url": "http://192.0.2.1/"}"#),
        ("invalid-message", "may be gone to"),
    ),
    Rogue::says(
        "serves-as-user",
        line!(r#""serving": {"url": "http://127.0.0.1@192.0.2.1/"}"#),
        ("invalid-message", "may be gone to"),
    ),
    Rogue::says(
        "serves-a-file",
        line!(r#""serving": {"url": "file:///dev/zero"}"#),
        ("invalid-message", "may be gone to"),
    ),
    Rogue::says(
        "serves-by-tls",
        line!(r#""serving": {"url": "https://127.0.0.1/"}"#),
        ("invalid-message", "may be gone to"),
    ),
    Rogue::says("serves-nowhere", line!(r#""serving": {"url": "no address"}"#), ("invalid-message", "may be gone to")),
    Rogue::says("serves-where-nobody-is", line!(r#""serving": {"url": "http://127.0.0.1:9/"}"#), ("crash", "")),
    Rogue::says("serves-a-flood", r"endless(b'x\n')", ("invalid-message", "it wrote 1000 lines that are no answer")),
    Rogue::says("serves-one-line", "flood(64)", ("oversized", "it wrote a line of more than 16 MiB")),
    Rogue::says(
        "refuses-at-length",
        r#"say('{"id":"%s","refused":{"type":"E","message":"%s"}}' % (asked['id'], 'x' * 1000000))"#,
        ("refused", "E: xxx"),
    ),
    Rogue::says("stops-never", "hang()", ("success", "")).at("stop"),
    Rogue::says("stops-and-gone", "os._exit(7)", ("success", "")).at("stop"),
    Rogue::says("stops-oddly", "say('{}', '7'); hang()", ("success", "")).at("stop"),
    Rogue::says("stops-not", line!(r#""stopped": false"#), ("success", "")).at("stop"),
];

/// Adapters that misbehave where they are to serve over stdio, by a stream.
const STREAMERS: [Rogue; 6] = [
    Rogue::says("streams", "say(good())", ("success", "")),
    Rogue::says("streams-nowhere", line!(r#""serving": {}"#), ("invalid-message", "but did not connect")).waits(),
    Rogue::says(
        "streams-by-another-word",
        concat!("stream(asked['serve']['stream']['port'], 'guess');", line!(r#""serving": {}"#)),
        ("invalid-message", "but did not connect"),
    )
    .waits(),
    Rogue::says(
        "streams-and-hangs-up",
        concat!("stream(**asked['serve']['stream']).shutdown(2); ", line!(r#""serving": {}"#)),
        ("crash", ""),
    ),
    Rogue::says(
        "streams-after-it-said-so",
        concat!(line!(r#""serving": {}"#), "; time.sleep(0.1); stream(**asked['serve']['stream'])"),
        ("success", ""),
    ),
    Rogue::says("streams-twice", "stream(**asked['serve']['stream']); say(good())", ("success", "")),
];

#[test]
fn adapter_that_misbehaves_by_streams_is_seen_for_it() {
    run_all(&STREAMERS.map(|rogue| rogue.at("serve").over(&["stdio"])), "--stdio stream", 1);
}

#[test]
fn an_adapter_that_misbehaves_is_told_by_what_it_did() {
    let greeters = GREETERS.into_iter().map(|rogue| rogue.at("hello"));
    let servants = SERVANTS.into_iter().map(|rogue| if rogue.at == "call" { rogue.at("serve") } else { rogue });
    let rogues: Vec<_> = greeters.chain(servants).map(|rogue| rogue.over(&["http"])).collect();
    run_all(&rogues, "", 4);
}
