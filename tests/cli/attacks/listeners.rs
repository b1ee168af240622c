//! Unwanted connections to listeners of casebook, from a target and from another user.

use std::net::TcpStream;

use nix::sys::signal::Signal;

use super::has_two_users;
use crate::process::{Running, behind};
use crate::sandbox::{Finished, PROGRAM, Sandbox};

/// An adapter that opens silent connections to each new listener of the harness before each request, as a given user.
///
/// The harness is its parent process. The adapter finds the listeners by the inodes of their sockets.
const CROWD: &str = r#"
import encodings.idna, os, resource, signal, socket, subprocess, sys

user, number, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
harness, known = os.getppid(), set()

def listeners():
    inodes = set()
    for fd in os.listdir(f"/proc/{harness}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{harness}/fd/{fd}"))
        except OSError:
            pass
    for line in open(f"/proc/{harness}/net/tcp").readlines()[1:]:
        part = line.split()
        if part[3] == "0A" and f"socket:[{part[9]}]" in inodes:
            yield int(part[1].split(":")[1], 16)

def crowd(port):
    done, ready = os.pipe()
    if os.fork():
        os.close(ready)
        os.read(done, 1)
        os.close(done)
        return
    if user:
        os.setgroups([])
        os.setuid(user)
    held = []
    for _ in range(number):
        try:
            held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
        except OSError:
            break
    log.write(f"{len(held)}\n")
    log.flush()
    os.write(ready, b"x")
    signal.pause()

log = open("../crowded", "a")
adapter = subprocess.Popen([program, "__adapter"], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    for port in listeners():
        if port not in known:
            known.add(port)
            crowd(port)
    adapter.stdin.write(line)
    adapter.stdin.flush()
adapter.stdin.close()
sys.exit(adapter.wait())
"#;

/// Creates a sandbox with a target that opens this number of connections as this user.
fn sandbox(user: u32, number: usize) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("crowd.py", CROWD);
    let command = ["python3", "../crowd.py", &user.to_string(), &number.to_string(), PROGRAM];
    let command = serde_json::to_string(&command).expect("strings");
    let claims = "roles = [\"server\", \"client\"]\ntransports = [\"http\"]\nrevisions = [\"2026-07-28\"]";
    sandbox.write("crowd/target.toml", &format!("title = \"A crowd\"\ncommand = {command}\n\n[claims]\n{claims}\n"));
    sandbox
}

/// The number of connections that were opened to all listeners.
fn crowded(sandbox: &Sandbox) -> usize {
    sandbox.read("crowded").lines().map(|line| line.parse::<usize>().expect("a number")).sum()
}

/// Selects tests with canaries, and tests of clients.
const ONLY: &str = "--only sep-2106/external-ref/listed --only sep-1034/client-defaults/untouched/integer --jobs 1";

#[test]
fn silent_connections_of_a_target_do_not_end_a_run() {
    let number = 300;
    let sandbox = sandbox(0, number);
    // The soft limit is lower than the number of connections; the harness may raise it.
    let limited = ["bash", "-c", "ulimit -Sn 200; exec \"$@\"", "-"];
    let finished = Finished::of(&mut behind(&limited, &sandbox.command(&format!("run crowd {ONLY}"))));
    assert!(crowded(&sandbox) > number, "{}", sandbox.read("crowded"));
    finished.exits(0);
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn silent_connections_of_another_user_change_nothing() {
    if !has_two_users() {
        return;
    }
    let number = 70;
    let sandbox = sandbox(65534, number);
    let finished = sandbox.run(&format!("run crowd {ONLY}"));
    assert!(crowded(&sandbox) > number, "{}", sandbox.read("crowded"));
    finished.exits(0);
    assert_eq!(sandbox.survivors(), 0);
}

/// A client whose server another user contacts: while the harness is stopped, that user sends requests and closes the
/// connections.
const OVERHEARD: &str = r#"
import os, signal, socket, sys, urllib.parse

url = urllib.parse.urlsplit(sys.argv[-1])
body = b'{"jsonrpc":"2.0","id":1,"method":"overheard","params":{}}'
head = f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
os.kill(os.getppid(), signal.SIGSTOP)
stranger = os.fork()
if not stranger:
    os.setgroups([])
    os.setuid(65534)
    for _ in range(20):
        talker = socket.socket()
        talker.connect(("127.0.0.1", url.port))
        talker.sendall(head.encode() + b"\r\n\r\n" + body)
        talker.close()
    os._exit(0)
os.waitpid(stranger, 0)
open("../sent", "w").close()
os.execvp("python3", ["python3", "../fixed.py", "good", sys.argv[-1]])
"#;

#[test]
fn request_of_another_user_who_closes_at_once_is_not_read() {
    if !has_two_users() {
        return;
    }
    let sandbox = Sandbox::empty();
    sandbox.lay_out("fixed.py");
    sandbox.write("overheard.py", OVERHEARD);
    let command = "title = \"x\"\nkind = \"fixed\"\nclient = [\"python3\", \"../overheard.py\"]";
    sandbox.write("t/target.toml", &format!("{command}\n\n[claims]\nrevisions = [\"2026-07-28\"]\n"));
    let only = "--only everything/client-json-schema-ref-no-deref";
    let finished = sandbox.run(&format!("run t {only} --run-log run.jsonl"));
    assert!(sandbox.path().join("sent").exists(), "the other user sent nothing");
    finished.exits(0);
    assert!(!sandbox.read("run.wire.jsonl").contains("overheard"), "the request counts as one of the client");
}

/// Sends a request to a URL as a given user, and prints whether an answer finished.
const VISITOR: &str = r#"
import encodings.idna, os, socket, sys, urllib.parse

url = urllib.parse.urlsplit(sys.argv[2])
os.setgroups([])
os.setuid(int(sys.argv[1]))
talker = socket.create_connection(("127.0.0.1", url.port), timeout=30)
try:
    talker.sendall(f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n".encode())
    print("answered" if talker.recv(1) else "closed")
except ConnectionError:
    print("closed")
"#;

#[test]
fn reference_refuses_other_users_and_survives_a_crowd() {
    if !has_two_users() {
        return;
    }
    let sandbox = Sandbox::empty();
    sandbox.write("visitor.py", VISITOR);
    let serve = sandbox.command("serve reference sep-2106/composition/accepts/any-of");
    let mut serving = Running::start(behind(&["bash", "-c", "ulimit -n 300; exec \"$@\"", "-"], &serve));
    let url = serving.out.next().expect("an address");
    let visit = |user: u32| {
        let mut visitor = std::process::Command::new("python3");
        visitor.args(["visitor.py", &user.to_string(), url.trim()]).current_dir(sandbox.path());
        Finished::of(&mut visitor).out
    };
    let address = url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let crowd: Vec<_> = (0..350).map_while(|_| TcpStream::connect(address).ok()).collect();
    let number = crowd.len();
    drop(crowd);
    let (own, foreign) = (visit(0), visit(65534));
    serving.signal(Signal::SIGTERM);
    serving.end();
    assert!(number > 300, "only {number} connections were opened");
    assert_eq!((own.trim(), foreign.trim()), ("answered", "closed"));
}
