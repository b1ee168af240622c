//! `casebook serve --case`: a client without an adapter, judged by its messages.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use nix::sys::signal::Signal;

use crate::sandbox::{Finished, PROGRAM, Sandbox};

/// A shell client that posts one message per argument, and prints each reply.
const POSTS: &str = r#"
url=${!#}; authority=${url#http://}; path=/${authority#*/}; authority=${authority%%/*}
for message in "${@:1:$#-1}"; do
    exec 3<> "/dev/tcp/${authority%:*}/${authority#*:}"
    version='mcp-protocol-version: 2026-07-28\r\n'
    printf "POST $path HTTP/1.1\r\nhost: $authority\r\nconnection: close\r\n$version$HEAD" >&3
    printf 'content-length: %s\r\n\r\n%s' "${#message}" "$message" >&3
    cat <&3
done"#;

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"shell","version":"1"}}}}"#;

/// Runs `casebook serve --case` with a client.
fn meet(sandbox: &Sandbox, options: &str, client: &[&str]) -> Finished {
    let mut command = sandbox.command(&format!("serve {options} --"));
    Finished::of(command.args(client).env("HEAD", "mcp-method: tools/list\\r\\n"))
}

/// The reference or a mutant of it as a client that only a command line describes.
fn driven(sandbox: &Sandbox, variant: &str, case: &str, options: &str) -> Finished {
    meet(sandbox, &format!("--case {case} {options}"), &[PROGRAM, "drive", variant, case])
}

#[test]
fn sound_client_of_each_lifecycle_violates_nothing() {
    let sandbox = Sandbox::empty();
    let came = driven(&sandbox, "reference", "http/client-requests/method", "");
    came.exits(0).stdout_has(&["2026-07-28; casebook-reference", "passed  http/name-header-sent MUST", "2 passed"]);
    let came = driven(&sandbox, "reference", "tools/client-arguments/given", "");
    came.exits(3).stdout_has(&["session  2026-07-28", "1 not decided"]).stderr_has(&["nothing was decided"]);
    let client = [PROGRAM, "drive", "reference", "base/client-ids/request"];
    let came = meet(&sandbox, "--case base/client-ids --revision 2025-06-18", &client);
    came.exits(0).stdout_has(&["session  2025-06-18", "passed  base/id-is-string-or-integer MUST"]);
    // The server follows the client to the revision and the lifecycle that it names.
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let case = "tools/client-arguments/missing";
        let came =
            meet(&sandbox, &format!("--case {case}"), &[PROGRAM, "drive", "reference", case, "--revision", revision]);
        // Without arguments, nothing shows their type.
        came.exits(3).stdout_has(&[
            &format!("session  {revision}; casebook-reference"),
            "tools/call-arguments-are-object: the client sent no message that this is about",
        ]);
    }
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn refused_client_is_accused_of_the_missing_header_only() {
    let sandbox = Sandbox::empty();
    let variant = "reference:name-header-missing";
    let came = driven(&sandbox, variant, "http/client-requests/method", "");
    came.exits(1).stdout_has(&["failed  http/name-header-sent", "the header `mcp-name`", "1 violated"]);
    let case = "tools/client-header-values/omitted/text";
    let came = driven(&sandbox, variant, case, "");
    assert!(!came.out.contains("failed"), "{}", came.out);
    came.exits(3).stdout_has(&["its control tools/client-header-values/control/text doesn't hold"]);
}

#[test]
fn client_over_stdio_starts_the_relay() {
    let sandbox = Sandbox::empty();
    // The relay ends at the end of its input, after the response.
    let say = format!("echo '{LIST}' | \"$@\"");
    let client = ["bash", "-c", &say, "client"];
    let came = meet(&sandbox, "--case tools/client-arguments --transport stdio", &client);
    came.exits(3).stdout_has(&["over stdio", "session  2026-07-28; shell 1", "tools/list 1×"]);
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn waiting_server_reports_at_a_signal() {
    let sandbox = Sandbox::empty();
    let mut server = sandbox.start("serve --case http/client-requests");
    let url = server.out.next().expect("a URL");
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp"), "{url}");
    let mut client = std::process::Command::new("bash");
    let client = client.args(["-c", POSTS, "client", LIST, &url]).env("HEAD", "x: y\\r\\n");
    let answer = crate::process::output(client);
    assert!(String::from_utf8_lossy(&answer.stdout).contains("-32020"), "{answer:?}");
    server.signal(Signal::SIGINT);
    let out: Vec<String> = server.out.by_ref().collect();
    let out = out.join("\n");
    assert!(out.contains("failed  http/method-header-sent") && out.contains("stopped by the user"), "{out}");
    assert_eq!(server.end().0, Some(1));
}

#[test]
fn hostile_client_is_bounded_and_escaped() {
    let sandbox = Sandbox::empty();
    let case = "--case base/client-ids --limit run=2s --limit silence=1s";
    let came = meet(&sandbox, case, &["sh", "-c", "yes \"$(printf '\\033[31m')\" | head -c 50000000; exec sleep 1000"]);
    came.exits(3).stdout_has(&[
        "stopped by casebook after the time of --limit run=TIME",
        "never sent a message",
        "left out",
    ]);
    assert!(!came.out.contains('\u{1b}') && came.out.len() < 20_000, "{}", came.out);
    // A message that is no JSON, and a client that then hangs.
    let posts = format!("{POSTS}\nexec sleep 1000");
    let came = meet(&sandbox, case, &["bash", "-c", &posts, "client", "no JSON", "[[[["]);
    came.exits(3).stdout_has(&["sent nothing for the time of --limit silence=TIME"]);
    meet(&sandbox, case, &["no-such-program"]).exits(4).stderr_has(&["cannot start `no-such-program`"]);
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn client_without_a_message_or_a_common_revision_gets_a_remedy() {
    let sandbox = Sandbox::empty();
    let came = meet(&sandbox, "--case http/client-requests", &["sh", "-c", "echo lost >&2; exit 7"]);
    came.exits(3).stdout_has(&["ended with exit status 7", "lost"]).stderr_has(&["the client did not connect"]);
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}"#;
    let came = meet(&sandbox, "--case http/client-requests", &["bash", "-c", POSTS, "client", initialize]);
    came.exits(3).stdout_has(&["no common revision; the client named `2025-11-25`"]);
    came.stderr_has(&["no revision in common; the case has 2026-07-28"]);
    sandbox.run("serve --case tools/arguments -- true").exits(2).stderr_has(&["tests servers"]);
}

#[test]
fn client_is_led_through_one_server_after_the_other() {
    let sandbox = Sandbox::empty();
    let came = sandbox.run("serve --case {tools/client-header-values,tools/client-arguments}/missing -- true");
    came.exits(3).stdout_has(&["tools/client-arguments/missing over http", "exit status 0; it never sent a message"]);
    // A command without placeholders is started for each fixture.
    let came = sandbox.run("serve --case tools/client-header-paths -- true");
    came.exits(3).stdout_has(&["11 servers of 11 over http", "11× ended with exit status 0; it never sent a message"]);
    came.stderr_has(&["(1 of 11) for `true`", "(11 of 11) for `true`"]);
    // A call fills in its name and its arguments.
    let meta = "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
                \"io.modelcontextprotocol/clientCapabilities\":{}}";
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{{tool}}","arguments":{{arguments}},{meta}}}}}"#
    );
    let mut command = sandbox.command("serve --case tools/client-arguments/missing --");
    let head = "mcp-method: tools/call\\r\\nmcp-name: echo\\r\\n";
    let came = Finished::of(command.args(["bash", "-c", POSTS, "client", &call]).env("HEAD", head));
    came.exits(0).stdout_has(&["tools/call 1× (tools: echo 1×)", "passed  tools/call-arguments-are-object"]);
    // A test hands over all of its steps, and the address with them.
    let client = ["sh", "-c", "printf '%s\\n' \"$@\"; exit 7", "client", "{order}"];
    let came = meet(&sandbox, "--case tools/client-arguments/missing --revision 2025-11-25", &client);
    came.exits(3).stdout_has(&[
        r#"{"revision":"2025-11-25","url":"http://127.0.0.1:"#,
        r#""script":[{"callTool":{"name":"echo"}}]}"#,
    ]);
    assert_eq!(came.out.matches("http://").count(), 1, "{}", came.out);
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn enter_leads_a_person_to_the_next_server() {
    let sandbox = Sandbox::empty();
    let mut command = sandbox.command("serve --case tools/client-header-paths");
    let mut server =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
    let mut input = server.stdin.take().expect("piped");
    let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let mut urls = BTreeSet::new();
    let last = loop {
        match lines.next().expect("a URL or the report") {
            url if url.starts_with("http://127.0.0.1:") => assert!(urls.insert(url), "another address"),
            other => break other,
        }
        input.write_all(b"\n").expect("written");
    };
    assert_eq!(urls.len(), 11);
    assert!(last.contains("11 servers of 11 over http"), "{last}");
    assert_eq!(server.wait().expect("ended").code(), Some(3));
}
