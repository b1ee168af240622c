//! Unwanted connections to listeners of casebook, from a target and from another user.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

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

#[test]
fn reference_survives_a_crowd() {
    let sandbox = Sandbox::empty();
    let serve = sandbox.command("serve reference sep-2106/composition/accepts/any-of");
    let mut serving = Running::start(behind(&["bash", "-c", "ulimit -n 300; exec \"$@\"", "-"], &serve));
    let url = serving.out.next().expect("an address");
    let (address, path) = url.trim().strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let crowd: Vec<_> = (0..350).map_while(|_| TcpStream::connect(address).ok()).collect();
    let number = crowd.len();
    drop(crowd);
    let mut visitor = TcpStream::connect(address).expect("a listener");
    visitor.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
    write!(visitor, "GET /{path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("sent");
    visitor.read_exact(&mut [0]).expect("an answer");
    serving.signal(Signal::SIGTERM);
    serving.end();
    assert!(number > 300, "only {number} connections were opened");
}
