//! `casebook serve` and `casebook drive`: one fixture or one client, used by hand.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::process::Running;
use crate::sandbox::Sandbox;

const HELLO: &str = r#"{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":["server"],"transports":["http"],"revisions":["2026-07-28"]}}"#;

/// A sandbox with cases of servers, `cases`, and cases of clients, `visits`, that fit each other.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::visited();
    let visit = sandbox.read("visits/post/visit.json");
    sandbox.write(
        "cases/post/requirements.json",
        &sandbox.read("visits/post/requirements.json").replace("client", "server"),
    );
    sandbox.write("cases/post/shelf.json", &visit.replace(r#""role": "client""#, r#""role": "server""#));
    sandbox
}

/// Starts `casebook serve`; returns the running process and its first line.
fn serving(sandbox: &Sandbox, arguments: &str) -> (Running, String) {
    let mut running = sandbox.start(&format!("serve {arguments} --cases cases"));
    let place = running.out.next().expect("a first line");
    (running, place)
}

#[test]
fn served_fixture_answers_a_driven_client_until_a_signal() {
    let sandbox = sandbox();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let (server, url) = serving(&sandbox, "reference post/shelf");
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        let came = sandbox.run(&format!("drive reference post/visit/kept {url} --cases visits"));
        came.exits(0).stdout_has(&[
            "1  {\"listTools\":{}}",
            "{\"tools\":[",
            "2  {\"callTool\":{\"name\":\"keep\"",
            "here",
        ]);
        server.signal(signal);
        assert_eq!(server.end(), (Some(0), String::new()), "{signal}");
        assert_eq!(sandbox.survivors(), 0, "{signal}");
        sandbox
            .run(&format!("drive reference post/visit/kept {url} --cases visits"))
            .exits(1)
            .stdout_has(&["Connection refused"]);
    }
}

#[test]
fn server_over_stdio_is_printed_as_a_shell_command() {
    let sandbox = sandbox();
    let (server, line) = serving(&sandbox, "reference post/shelf --transport stdio --revision 2025-11-25");
    let request = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let shell = ["-c".to_owned(), format!("echo '{request}' | ({line})")];
    let answer = crate::process::output(Command::new("sh").args(shell));
    assert!(String::from_utf8_lossy(&answer.stdout).contains(r#""id":7"#), "{line}: {answer:?}");
    server.signal(Signal::SIGINT);
    assert_eq!(server.end().0, Some(0));
    let file = line.rsplit(' ').next().expect("the last word");
    assert!(!std::path::Path::new(file).exists(), "{file} is left behind");
}

#[test]
fn target_that_dies_while_serving_shows_its_stderr() {
    let sandbox = sandbox();
    let serving = r#"{"id":"2","serving":{"url":"http://127.0.0.1:1/"}}"#;
    let script = format!("read hello; echo '{HELLO}'; read serve; echo '{serving}'; echo the last words >&2; exit 7");
    sandbox.script("dies", &script, "");
    let came = sandbox.run("serve dies post/shelf --cases cases");
    came.exits(4).stdout_has(&["http://127.0.0.1:1/"]).stderr_has(&["dies ended with exit status 7", "the last words"]);
    sandbox.script("silent", "exit 7", "");
    sandbox.run("serve silent post/shelf --cases cases").exits(4).stderr_has(&["sent no hello"]);
}

#[test]
fn declined_fixture_shows_the_message_of_the_target() {
    let sandbox = sandbox();
    for (answer, words) in [
        (
            r#"{"id":"2","refused":{"type":"ValueError","message":"no such keyword"}}"#,
            "refused the fixture: ValueError: no such",
        ),
        (r#"{"id":"2","cannot":"its schemas are its own"}"#, "cannot express the fixture: its schemas are its own"),
    ] {
        sandbox.script("picky", &format!("read hello; echo '{HELLO}'; read serve; echo '{answer}'; cat"), "");
        sandbox.run("serve picky post/shelf --cases cases").exits(1).stderr_has(&[words]);
    }
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn ambiguous_case_lists_the_choices_and_starts_nothing() {
    let sandbox = sandbox();
    sandbox.lay_out("cases/post/letter.json");
    sandbox.write(
        "cases/post/letter.json",
        &sandbox.read("cases/post/letter.json").replace("calls-answered", "results-handed-over"),
    );
    sandbox.run("serve reference post/letter --cases cases").exits(2).stderr_has(&[
        "has 3 fixtures",
        "  post/letter/sent/first",
        "  post/letter/sent/third",
    ]);
    sandbox
        .run("drive reference post/visit http://127.0.0.1:1/ --cases visits")
        .exits(2)
        .stderr_has(&["has 2 scripts"]);
    sandbox.run("drive reference visits/post/visit.json http://127.0.0.1:1/").exits(2).stderr_has(&["has 2 scripts"]);
    sandbox.borrowed("t", None, "[variants.high]\n[variants.low]\n");
    sandbox.run("serve t post/shelf --cases cases").exits(2).stderr_has(&["`t` has variants", "  t:high", "  t:low"]);
}

#[test]
fn case_of_the_other_role_is_refused_with_the_remedy() {
    let sandbox = sandbox();
    sandbox.run("serve reference post/shelves --cases cases").exits(2).stderr_has(&["matches no test", "post/shelf"]);
    sandbox.run("serve reference post/visit --cases visits").exits(2).stderr_has(&["tests clients", "casebook drive"]);
    sandbox
        .run("drive reference post/shelf http://127.0.0.1:1/ --cases cases")
        .exits(2)
        .stderr_has(&["casebook serve"]);
    sandbox.run("drive reference post/visit/kept 127.0.0.1:1 --cases visits").exits(2).stderr_has(&["is not a URL"]);
    sandbox.borrowed("t", None, "");
    sandbox
        .run("serve t post/shelf --cases cases --revision 2025-06-18")
        .exits(3)
        .stderr_has(&["does not declare revision 2025-06-18"]);
}

#[test]
fn variables_of_the_official_suite_select_case_and_revision() {
    let sandbox = sandbox();
    let visit = sandbox.read("visits/post/visit.json");
    let needs = r#""title": "the visit after it", "needs": "scenario:kept-visit""#;
    sandbox.write("visits/post/visit.json", &visit.replace(r#""title": "the visit after it""#, needs));
    let (server, url) = serving(&sandbox, "reference post/shelf --revision 2025-11-25");
    let mut command = sandbox.command(&format!("drive reference {url} --cases visits"));
    let mut with = |scenario: &str| {
        command.env("MCP_CONFORMANCE_SCENARIO", scenario).env("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25");
        crate::sandbox::Finished::of(&mut command)
    };
    with("kept-visit").exits(0).stderr_has(&["post/visit/kept@2025-11-25+http"]);
    with("kept-visits").exits(2).stderr_has(&["and no case needs this scenario; did you mean `kept-visit`?"]);
    sandbox.run(&format!("drive reference {url} --cases visits")).exits(2).stderr_has(&["expected TARGET CASE URL"]);
    server.signal(Signal::SIGINT);
    assert_eq!(server.end().0, Some(0));
}
