//! `casebook serve` and `casebook drive`: a fixture for whoever wants to see it, a client for whoever has a server.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::process::Running;
use crate::sandbox::Desk;

const HELLO: &str = r#"{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":["server"],"transports":["http"],"revisions":["2026-07-28"]}}"#;

/// The desk with a server's cases, `cases`, and a client's, `visits`, that fit each other.
fn desk() -> Desk {
    let desk = Desk::visited();
    let visit = desk.read("visits/post/visit.json");
    desk.write("cases/post/requirements.json", &desk.read("visits/post/requirements.json").replace("client", "server"));
    desk.write("cases/post/shelf.json", &visit.replace(r#""role": "client""#, r#""role": "server""#));
    desk
}

/// A server that goes on, and the first line that it says.
fn serving(desk: &Desk, arguments: &str) -> (Running, String) {
    let mut running = desk.start(&format!("serve {arguments} --cases cases"));
    let place = running.out.next().expect("a first line");
    (running, place)
}

#[test]
fn a_fixture_is_served_until_a_signal_and_a_client_can_be_driven_against_it() {
    let desk = desk();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let (server, url) = serving(&desk, "reference post/shelf");
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        let came = desk.run(&format!("drive reference post/visit/kept {url} --cases visits"));
        came.ends(0).says(&["1  {\"listTools\":{}}", "{\"tools\":[", "2  {\"callTool\":{\"name\":\"keep\"", "here"]);
        server.signal(signal);
        assert_eq!(server.end(), (Some(0), String::new()), "{signal}");
        assert_eq!(desk.survivors(), 0, "{signal}");
        desk.run(&format!("drive reference post/visit/kept {url} --cases visits"))
            .ends(1)
            .says(&["Connection refused"]);
    }
}

#[test]
fn a_server_over_stdio_is_a_command_line_for_a_shell() {
    let desk = desk();
    let (server, line) = serving(&desk, "reference post/shelf --transport stdio --revision 2025-11-25");
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
fn a_target_that_dies_while_it_serves_leaves_its_last_words() {
    let desk = desk();
    let serving = r#"{"id":"2","serving":{"url":"http://127.0.0.1:1/"}}"#;
    let script = format!("read hello; echo '{HELLO}'; read serve; echo '{serving}'; echo the last words >&2; exit 7");
    desk.script("dies", &script, "");
    let came = desk.run("serve dies post/shelf --cases cases");
    came.ends(4).says(&["http://127.0.0.1:1/"]).adds(&["dies ended with exit status 7", "the last words"]);
    desk.script("silent", "exit 7", "");
    desk.run("serve silent post/shelf --cases cases").ends(4).adds(&["gave no hello"]);
}

#[test]
fn a_fixture_that_is_declined_is_said_in_the_targets_words() {
    let desk = desk();
    for (answer, words) in [
        (r#"{"id":"2","refused":{"type":"ValueError","message":"no such keyword"}}"#, "refuses: ValueError: no such"),
        (r#"{"id":"2","cannot":"its schemas are its own"}"#, "can't express it: its schemas are its own"),
    ] {
        desk.script("picky", &format!("read hello; echo '{HELLO}'; read serve; echo '{answer}'; cat"), "");
        desk.run("serve picky post/shelf --cases cases").ends(1).adds(&[words]);
    }
    assert_eq!(desk.survivors(), 0);
}

#[test]
fn what_is_ambiguous_is_listed_and_nothing_is_started() {
    let desk = desk();
    desk.lay_out("cases/post/letter.json");
    desk.write(
        "cases/post/letter.json",
        &desk.read("cases/post/letter.json").replace("calls-answered", "results-handed-over"),
    );
    desk.run("serve reference post/letter --cases cases").ends(2).adds(&[
        "has 3 fixtures",
        "  post/letter/sent/first",
        "  post/letter/sent/third",
    ]);
    desk.run("drive reference post/visit http://127.0.0.1:1/ --cases visits").ends(2).adds(&["has 2 scripts"]);
    desk.run("drive reference visits/post/visit.json http://127.0.0.1:1/").ends(2).adds(&["has 2 scripts"]);
    desk.borrowed("t", None, "[variants.high]\n[variants.low]\n");
    desk.run("serve t post/shelf --cases cases").ends(2).adds(&["`t` has variants", "  t:high", "  t:low"]);
}

#[test]
fn what_can_not_be_served_or_driven_is_told_why() {
    let desk = desk();
    desk.run("serve reference post/shelves --cases cases").ends(2).adds(&["matches no test", "post/shelf"]);
    desk.run("serve reference post/visit --cases visits").ends(2).adds(&["is about clients", "casebook drive"]);
    desk.run("drive reference post/shelf http://127.0.0.1:1/ --cases cases").ends(2).adds(&["casebook serve"]);
    desk.run("drive reference post/visit/kept 127.0.0.1:1 --cases visits").ends(2).adds(&["is no URL"]);
    desk.borrowed("t", None, "");
    desk.run("serve t post/shelf --cases cases --revision 2025-06-18").ends(3).adds(&["claim revision 2025-06-18"]);
}

#[test]
fn the_variables_of_the_official_suite_choose_case_and_revision() {
    let desk = desk();
    let visit = desk.read("visits/post/visit.json");
    let needs = r#""title": "the visit after it", "needs": "scenario:kept-visit""#;
    desk.write("visits/post/visit.json", &visit.replace(r#""title": "the visit after it""#, needs));
    let (server, url) = serving(&desk, "reference post/shelf --revision 2025-11-25");
    let mut command = desk.command(&format!("drive reference {url} --cases visits"));
    let mut with = |scenario: &str| {
        command.env("MCP_CONFORMANCE_SCENARIO", scenario).env("MCP_CONFORMANCE_PROTOCOL_VERSION", "2025-11-25");
        crate::sandbox::Came::of(&mut command)
    };
    with("kept-visit").ends(0).adds(&["post/visit/kept@2025-11-25+http"]);
    with("kept-visits").ends(2).adds(&["which no case needs; did you mean `kept-visit`?"]);
    desk.run(&format!("drive reference {url} --cases visits")).ends(2).adds(&["CASE is left out"]);
    server.signal(Signal::SIGINT);
    assert_eq!(server.end().0, Some(0));
}
