//! A run fetches nothing that a target, a case or the environment offers. Every field that can have an address has a
//! canary, and strace records the system calls of the whole run. Without strace, the run is in a namespace without a
//! network; without both, the test is skipped with a message.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::process::{behind, succeeds};
use crate::sandbox::{Finished, Sandbox, skip};

/// An address that is reserved for documentation.
const NOWHERE: &str = "http://192.0.2.1";

/// A listener that counts connections and answers each with the same bytes.
struct Place {
    address: SocketAddr,
    came: Arc<AtomicUsize>,
}

impl Place {
    fn new(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, came) = (listener.local_addr().expect("an address"), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&came);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::SeqCst);
                // Reads enough for a request; the rest does not matter.
                _ = stream.read(&mut [0; 16 << 10]);
                _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { address, came }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn came(&self) -> usize {
        self.came.load(Ordering::SeqCst)
    }
}

/// The way to observe the connections of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Traced,
    Alone,
}

impl Seen {
    /// Returns a way that this machine supports.
    fn here() -> Option<Self> {
        let works = |command: &[&str]| succeeds(Command::new(command[0]).args(&command[1..])).then_some(());
        let traced = works(&["strace", "-f", "-qq", "-e", "trace=connect", "true"]).map(|()| Self::Traced);
        traced.or_else(|| works(&["unshare", "-rn", "ip", "link", "set", "lo", "up"]).map(|()| Self::Alone))
    }

    /// Returns the command with the observation.
    fn wrapped(self, command: &Command, trace: &str) -> Command {
        let traced = ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,bind", "-o", trace];
        let alone = ["unshare", "-rn", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];
        match self {
            Self::Traced => behind(&traced, command),
            Self::Alone => behind(&alone, command),
        }
    }
}

/// Returns the calls of a trace with an internet address of another machine, or with one of these ports.
fn abroad(trace: &str, ports: &[u16]) -> Vec<String> {
    let is_here =
        |line: &str| line.contains(r#"inet_addr("127.0.0.1")"#) || line.contains(r#"inet_pton(AF_INET6, "::1""#);
    let is_wrong = |line: &&str| {
        line.contains("sa_family=AF_INET")
            && (!is_here(line) || ports.iter().any(|port| line.contains(&format!("htons({port})"))))
    };
    trace.lines().filter(is_wrong).map(str::to_owned).collect()
}

#[test]
fn foreign_addresses_of_a_trace_are_found() {
    let of = |address: &str| format!("7 connect(9, {{sa_family=AF_INET, sin_port=htons(80), {address}}}, 16) = 0");
    let here = of(r#"sin_addr=inet_addr("127.0.0.1")"#);
    assert_eq!(abroad(&here, &[81]), Vec::<String>::new());
    assert_eq!(abroad(&here, &[80]).len(), 1);
    assert_eq!(abroad(&of(r#"sin_addr=inet_addr("192.0.2.1")"#), &[]).len(), 1);
}

#[test]
fn run_connects_only_to_its_machine_and_given_addresses() {
    let Some(seen) = Seen::here() else {
        let words = "neither strace nor unshare works here; that a run fetches nothing was not looked at";
        skip(words);
        assert!(std::env::var_os("CI").is_none() || !cfg!(target_os = "linux"), "{words}");
        return;
    };
    let canary = Place::new("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}".to_owned());
    let (to_canary, nowhere) = (canary.url(), NOWHERE.to_owned());
    let redirect =
        format!("HTTP/1.1 307 X\r\nlocation: {to_canary}/moved\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let redirecting = Place::new(redirect);

    let sandbox = Sandbox::new();
    sandbox.lay_out("unfetched.py");
    let fixed = |name: &str, what: String| {
        let claims = "[claims]\nrevisions = [\"2025-11-25\", \"2026-07-28\"]";
        sandbox.write(
            &format!("{name}/target.toml"),
            &format!("title = \"Fixed\"\nkind = \"fixed\"\n{what}\n\n{claims}\n"),
        );
    };
    for (name, place) in [("offers", &to_canary), ("offers-far", &nowhere)] {
        fixed(name, format!("command = [\"python3\", \"../unfetched.py\"]\nenv = {{ PLACE = \"{place}\" }}"));
    }
    fixed("redirects", format!("url = \"{}/mcp\"", redirecting.url()));
    // The fixture of this case has addresses in all fields, and the case file has a `$schema`.
    let tool = format!(
        r#"{{ "name": "send",
            "inputSchema": {{ "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "{to_canary}/id",
                "type": "object", "properties": {{ "far": {{ "$ref": "{nowhere}/r" }}, "near": {{ "$ref": "{to_canary}/r" }} }} }},
            "does": {{ "return": {{ "content": [{{ "type": "resource_link", "uri": "{to_canary}/l", "name": "l" }}] }} }} }}"#
    );
    let case = |role: &str| {
        format!(
            r#"{{ "$schema": "{to_canary}/case.json", "title": "Addresses are left alone", "role": "{role}",
                "given": {{ "tools": [{tool}] }},
                "tests": {{ "listed": {{ "title": "the tool is listed", "when": {{ "list": "tools" }}, "then": "observe" }},
                           "called": {{ "title": "the tool is called", "when": {{ "call": "send", "arguments": {{}} }}, "then": "observe" }} }} }}"#
        )
    };
    sandbox.write("cases/post/addresses.json", &case("server"));
    sandbox.write("cases/post/client-addresses.json", &case("client"));
    let run = |arguments: &str| {
        let mut command = sandbox.command(arguments);
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(name, &to_canary);
        }
        command.env_remove("NO_PROXY").env_remove("no_proxy");
        let came = Finished::of(&mut seen.wrapped(&command, "trace"));
        if seen == Seen::Traced {
            let trace = sandbox.read("trace");
            // Over pipes there are no connections.
            let is_silent = arguments.starts_with("run offers");
            assert!(is_silent || trace.contains("sa_family"), "nothing was traced: {}{}", came.out, came.err);
            assert_eq!(abroad(&trace, &[canary.address.port()]), Vec::<String>::new(), "{arguments}");
        }
        assert_eq!(canary.came(), 0, "{arguments}");
        came
    };
    run("run reference --cases cases --only post/addresses --only post/client-addresses --run-log run.jsonl --jobs 2")
        .exits(0);
    run("run offers offers-far --only any-server --run-log run.jsonl --report html=r.html --jobs 1");
    assert!(sandbox.read("run.wire.jsonl").contains("/icon.png") && sandbox.read("run.wire.jsonl").contains("[PLACE]"));
    if seen == Seen::Traced {
        run("run redirects --only any-server --run-log run.jsonl --jobs 1");
        assert!(redirecting.came() > 0, "it was given, and is asked");
        assert!(sandbox.read("run.jsonl").contains("307"), "a redirect is what was seen");
    }
    // These cases have canaries of their own, which count.
    run("run reference --only sep-2106/external-ref --only sep-2106/client-external-ref --run-log run.jsonl").exits(0);
}
