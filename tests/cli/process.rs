//! Child processes of tests.
//!
//! Each wait for a process or its output has a time limit, after which the process is killed and the test fails.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::Instant;

#[cfg(target_os = "linux")]
use nix::sys::signal::{Signal, kill};
#[cfg(target_os = "linux")]
use nix::unistd::Pid;

/// The time limit of each wait.
const LIMIT: Duration = Duration::from_secs(120);

/// The output of a child process, in parts. A thread reads it.
///
/// # Panics
/// `next` panics if nothing arrives within [`LIMIT`].
pub(crate) struct Parts<T>(Receiver<T>);

impl<T> Iterator for Parts<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self.0.recv_timeout(LIMIT) {
            Ok(part) => Some(part),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no more output within {LIMIT:?}"),
        }
    }
}

/// The lines of a child's output.
pub(crate) type Lines = Parts<String>;

fn lines(pipe: impl Read + Send + 'static) -> Lines {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            _ = sender.send(line);
        }
    });
    Parts(receiver)
}

/// The whole output of a child, as one part.
fn whole(mut pipe: impl Read + Send + 'static) -> Parts<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        _ = pipe.read_to_end(&mut bytes);
        _ = sender.send(bytes);
    });
    Parts(receiver)
}

/// Waits for the exit status of a child.
///
/// # Panics
/// If it does not end within [`LIMIT`]; it is killed then.
pub(crate) fn wait(mut child: Child) -> ExitStatus {
    let id = child.id();
    let (sender, receiver) = channel();
    let waiting = std::thread::spawn(move || _ = sender.send(child.wait()));
    let status = receiver.recv_timeout(LIMIT);
    if status.is_err() {
        kill_process(id);
    } else {
        waiting.join().expect("the thread has sent its last word");
    }
    status.unwrap_or_else(|_| panic!("process {id} has not ended within {LIMIT:?}")).expect("a child has a status")
}

#[cfg(target_os = "linux")]
fn kill_process(id: u32) {
    _ = kill(Pid::from_raw(id.cast_signed()), Signal::SIGKILL);
}

#[cfg(not(target_os = "linux"))]
fn kill_process(_: u32) {}

/// Runs a command to its end.
///
/// # Panics
/// If it cannot be started, or does not end within [`LIMIT`].
pub(crate) fn output(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let stdout = whole(child.stdout.take().expect("it is piped"));
    let stderr = whole(child.stderr.take().expect("it is piped"));
    let status = wait(child);
    let [stdout, stderr] = [stdout, stderr].map(|mut parts| parts.next().expect("the output is read to its end"));
    Output { status, stdout, stderr }
}

/// Returns whether a command can be run and succeeds.
#[cfg(unix)]
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.is_ok_and(|child| wait(child).success())
}

/// A child process that runs beside the test. Dropping it kills it.
pub(crate) struct Running {
    child: Option<Child>,
    /// The lines of its standard output; none if that is not a pipe.
    pub(crate) out: Lines,
    /// The lines of its standard error; none if that is not a pipe.
    pub(crate) err: Lines,
}

impl Running {
    /// Starts a command and reads both outputs.
    pub(crate) fn start(mut command: Command) -> Self {
        Self::with_outputs(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Starts a command with the outputs that are set.
    pub(crate) fn with_outputs(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the command starts");
        let none = || Parts(channel().1);
        let out = child.stdout.take().map_or_else(none, lines);
        let err = child.stderr.take().map_or_else(none, lines);
        Self { child: Some(child), out, err }
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("nobody has waited for it")
    }

    /// Its standard input, which must be a pipe.
    pub(crate) fn stdin(&mut self) -> &mut std::process::ChildStdin {
        self.child().stdin.as_mut().expect("it is piped")
    }

    /// Kills it and waits until it has ended.
    pub(crate) fn kill(mut self) {
        self.child().kill().expect("it still runs");
        self.end();
    }

    /// Waits until it ends; returns its exit status and the rest of its standard output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let rest: Vec<String> = self.out.by_ref().collect();
        let status = wait(self.child.take().expect("nobody has waited for it"));
        (status.code(), rest.join("\n"))
    }
}

#[cfg(target_os = "linux")]
impl Running {
    /// Its process id.
    pub(crate) fn id(&self) -> Pid {
        Pid::from_raw(self.child.as_ref().expect("nobody has waited for it").id().cast_signed())
    }

    /// Reads on to a line of standard output that has these words.
    pub(crate) fn until(&mut self, words: &str) {
        assert!(self.out.any(|line| line.contains(words)), "no line of standard output has `{words}`");
    }

    /// Reads on to a line of standard error that has these words.
    pub(crate) fn until_error(&mut self, words: &str) {
        assert!(self.err.any(|line| line.contains(words)), "no line of standard error has `{words}`");
    }

    /// Reads on to the answer to the first signal.
    pub(crate) fn until_interrupted(&mut self) {
        self.until_error("interrupt again to stop now");
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.id(), signal).expect("it is still there");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

/// Waits for a condition outside of this process by polling.
///
/// # Panics
/// If the condition is not met within [`LIMIT`].
#[cfg(target_os = "linux")]
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + LIMIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "not within {LIMIT:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns a command that starts another one: `before` with its arguments comes first.
///
/// The environment and the folder are those of the inner command.
#[cfg(unix)]
pub(crate) fn behind(before: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(before[0]);
    outer.args(&before[1..]).arg(command.get_program()).args(command.get_args());
    outer.stdin(Stdio::null()).current_dir(command.get_current_dir().expect("a sandbox"));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
}
