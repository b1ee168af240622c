//! Commands that may hang: each has a limit, after which it is killed.

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::sandbox::Came;

/// Nothing here takes so long, unless it hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Returns whether this test can act as two users; prints that it is skipped where it can't.
pub(crate) fn has_two_users() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        // Past the capture of the test runner.
        _ = writeln!(std::io::stderr(), "SKIPPED: only root can act as another user");
    }
    is_root
}

/// The result of a command.
///
/// # Panics
/// If it doesn't end.
pub(crate) fn within_limit(mut command: Command) -> Came {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().expect("it starts");
    let group = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
    let (ended, end) = mpsc::channel::<()>();
    let killer = thread::spawn(move || {
        let is_late = end.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout);
        if is_late {
            _ = killpg(group, Signal::SIGKILL);
        }
        is_late
    });
    let mut err = child.stderr.take().expect("it is piped");
    let reading = thread::spawn(move || {
        let mut bytes = Vec::new();
        _ = err.read_to_end(&mut bytes);
        bytes
    });
    let mut stdout = Vec::new();
    _ = child.stdout.take().expect("it is piped").read_to_end(&mut stdout);
    let stderr = reading.join().expect("it reads");
    let status = child.wait().expect("it ends");
    drop(ended);
    let came = Came::of(Output { status, stdout, stderr });
    assert!(!killer.join().expect("it waits"), "no end\nout: {}\nerr: {}", came.out, came.err);
    came
}
