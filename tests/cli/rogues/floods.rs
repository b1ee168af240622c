//! Targets that send more than fits into memory: the memory of the harness stays bounded.

use super::{LONG, Rogue, compare, lay_out_all, run_in_bounded_memory};

const TOO_MUCH: (&str, &str) = ("oversized", "");
const HTTP: &[&str] = &["http"];

const FLOODS: [Rogue; 17] = [
    Rogue::new("one-gib-of-line", "flood(1024)", TOO_MUCH).over(&["stdio"]),
    Rogue::new("one-gib-of-lines", r"flood(1024, b'{}\n')", TOO_MUCH).over(&["stdio"]),
    Rogue::new("one-gib-of-body", "put(head()); flood(1024)", TOO_MUCH).over(HTTP),
    Rogue::new("one-gib-of-event", "put(events(), 'data: '); flood(1024)", TOO_MUCH).over(HTTP),
    Rogue::new("one-gib-of-error", "put(head(status='HTTP/1.1 500 x')); flood(1024)", TOO_MUCH).over(HTTP),
    Rogue::new("endless-comments", r"put(events()); endless(b': ' + b'x' * 65536 + b'\n\n')", TOO_MUCH).over(HTTP),
    Rogue::new("endless-header", r"put('HTTP/1.1 200 OK\r\nx: '); endless(b'x')", TOO_MUCH).over(HTTP),
    Rogue::new("endless-headers", r"put('HTTP/1.1 200 OK\r\n'); endless(b'x: x\r\n')", TOO_MUCH).over(HTTP),
    Rogue::new("endless-status", "put('HTTP/1.1 200 '); endless(b'x')", TOO_MUCH).over(HTTP),
    Rogue::new(
        "endless-trailers",
        r"put(head('transfer-encoding: chunked'), '0\r\n'); endless(b'a: b\r\n')",
        ("invalid-message", "invalid HTTP: "),
    )
    .over(HTTP),
    Rogue::new(
        "gzip-bomb",
        "import gzip; put(head('content-encoding: gzip'), gzip.compress(bytes(1 << 20)) * 200)",
        ("invalid-message", "encoded as `gzip`"),
    )
    .over(HTTP),
    Rogue::new("gzip-of-200-mib", "put(head('content-encoding: gzip')); flood(200, os.urandom(1024))", TOO_MUCH)
        .over(HTTP),
    Rogue::new(
        "words-on-stderr",
        "[sys.stderr.buffer.write(b'x' * 65536) for _ in range(2048)]; say(answer())",
        ("success", ""),
    ),
    Rogue::new(
        "deep-schema",
        r#"tools = answer(tools=[{'name': 'lose', 'inputSchema': 0}])
           say(tools.replace('0}', '{"not":' * 100000 + '0' + '}' * 100001))"#,
        ("success", ""),
    )
    .at("list"),
    Rogue::new("wide-result", "put(head(), begun(), '['); flood(7, b'[],'); put('0]}}')", TOO_MUCH).over(HTTP),
    Rogue::new(
        "wide-keys",
        r#"keys = ','.join(f'"{i}":0' for i in range(500000))
           put(head(), begun(), '{', keys, '}}}')"#,
        TOO_MUCH,
    )
    .over(HTTP),
    Rogue::new("long-string", r#"put(head(), begun(), '"'); flood(12, b'x'); put('"}}')"#, ("success", "")).over(HTTP),
];

#[test]
fn memory_of_the_harness_stays_bounded_under_floods() {
    let floods: Vec<_> = FLOODS.iter().collect();
    let (sandbox, names) = lay_out_all(&floods);
    let limits = format!("--limit step={LONG}s --jobs 4");
    run_in_bounded_memory(&sandbox, &format!("run {names} --cases shelf --run-log run.jsonl {limits}"));
    assert_eq!(sandbox.survivors(), 0);
    compare(&sandbox, &floods, LONG);
}
