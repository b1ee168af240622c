//! A process of a target, which leads a process group of its own and ends with all its descendants.
//!
//! Takes a command, gives its standard input, its lines and its exit status in words. Must not know any protocol.
//! Nothing here waits for a pipe: a process may have passed its pipes to a child that keeps running.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::ChildStdin;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::drive::process::lines::{BoundedText, Lines};
use crate::drive::process::mark::{self, MARK};
use crate::drive::process::system;
use crate::drive::token::token;

/// The time limit for a process to exit after its standard input was closed.
const EXIT_LIMIT: Duration = Duration::from_secs(2);
/// The time limit for a process to exit after it was terminated, and again after it was killed.
const GRACE: Duration = Duration::from_secs(1);
/// The time limit for a process to exit after its connection was closed.
pub(crate) const CRASH_LIMIT: Duration = Duration::from_millis(500);
/// The time limit for the pipes of an exited process to close.
pub(crate) const PIPE_LIMIT: Duration = Duration::from_millis(200);

/// A command to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch<'a> {
    /// The program and its arguments.
    pub(crate) command: &'a [String],
    /// The working folder.
    pub(crate) folder: &'a Path,
    /// Environment variables in addition to those of this process.
    pub(crate) env: &'a BTreeMap<String, String>,
}

/// A running process.
#[derive(Debug)]
pub(crate) struct Process {
    child: Box<dyn ChildWrapper>,
    group: Group,
    pipes: [Pipe; 2],
    leaky: bool,
    stderr: BoundedText,
}

/// The reason for which a process is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The process did its work: it is asked to exit.
    Finished,
    /// The connection to the process was closed: it may have died.
    Broken,
    /// The process hangs or sends invalid answers: it is killed.
    Hung,
}

/// The end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stopped {
    /// The exit status in words.
    pub(crate) how: String,
    /// The exit code, if there is one.
    pub(crate) code: Option<i32>,
    /// Set if the process had died before it was stopped.
    pub(crate) died: bool,
    /// Set if a process that it left behind held its pipes open.
    pub(crate) leaky: bool,
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    /// Errors of the system, for example a missing program.
    pub(crate) fn spawn(launch: Launch<'_>) -> std::io::Result<(Self, ChildStdin, Lines)> {
        let (mut child, group) = spawn_leader(launch, Stdio::piped())?;
        let piped = "its three streams are piped";
        let stdin = child.stdin().take().expect(piped);
        let (lines, stdout) = Lines::of(child.stdout().take().expect(piped));
        let (kept, stderr) = BoundedText::of(child.stderr().take().expect(piped));
        Ok((Self { child, group, pipes: [Pipe(stdout), Pipe(stderr)], leaky: false, stderr: kept }, stdin, lines))
    }

    /// The standard error of the process.
    pub(crate) fn stderr(&self) -> &BoundedText {
        &self.stderr
    }

    /// Waits for the exit status of the process; returns `None` if the process still runs after `patience`.
    pub(crate) async fn exited(&mut self, patience: Duration) -> Option<ExitStatus> {
        // The `wait` of the wrapper would wait for the whole group, but only the leader matters here.
        timeout(patience, self.child.inner_mut().wait()).await.ok()?.ok()
    }

    /// Stops the process. `close` closes its standard input, after which it should exit by itself. Otherwise it is
    /// terminated, and finally killed.
    pub(crate) async fn end(mut self, stop_reason: StopReason, close: impl Future<Output = ()>) -> Stopped {
        let mut status = if stop_reason == StopReason::Broken { self.exited(CRASH_LIMIT).await } else { None };
        let died = status.is_some();
        close.await;
        if status.is_none() && stop_reason != StopReason::Hung {
            status = self.exited(EXIT_LIMIT).await;
        }
        if status.is_none() && stop_reason != StopReason::Hung {
            system::terminate(self.group.leader);
            status = self.exited(GRACE).await;
        }
        if status.is_some() {
            self.drain_pipes().await;
        }
        self.group.kill();
        if status.is_none() {
            _ = self.child.start_kill();
            status = self.exited(GRACE).await;
            // The pipe may still contain its last output.
            self.drain_pipes().await;
        }
        let how = status.map_or_else(|| "no exit although it was killed".to_owned(), in_words);
        Stopped { how, code: status.and_then(|status| status.code()), died, leaky: self.leaky }
    }

    /// Never returns. When the process has exited, its pipes are closed here, so that readers of its lines see the end:
    /// a child that it left behind may hold the pipes open forever.
    pub(crate) async fn watch(&mut self) -> Infallible {
        if self.child.inner_mut().wait().await.is_ok() {
            self.drain_pipes().await;
        }
        std::future::pending().await
    }

    /// Waits until the process has exited.
    pub(crate) async fn ended(&mut self) {
        _ = self.child.inner_mut().wait().await;
    }

    /// Waits for the pipes of an exited process, and closes those that stay open.
    pub(crate) async fn drain_pipes(&mut self) {
        let dry = async {
            for Pipe(pipe) in self.pipes.iter_mut().filter(|pipe| !pipe.0.is_finished()) {
                _ = pipe.await;
            }
        };
        if timeout(PIPE_LIMIT, dry).await.is_err() {
            self.leaky = true;
            self.pipes.iter().for_each(|pipe| pipe.0.abort());
        }
    }
}

/// The task that drains a pipe. Dropping it ends the task, even if the process still runs.
#[derive(Debug)]
struct Pipe(JoinHandle<()>);

impl Drop for Pipe {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts a process that leads a group of its own, with its output piped.
///
/// # Errors
/// Errors of the system, for example a missing program.
pub(crate) fn spawn_leader(launch: Launch<'_>, stdin: Stdio) -> std::io::Result<(Box<dyn ChildWrapper>, Group)> {
    let (program, arguments) = launch.command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let mark = format!("{}-{}", mark::of_run(), token());
    let mut command = CommandWrap::with_new(program, |command| {
        command.args(arguments).current_dir(launch.folder).envs(launch.env).env(MARK, &mark);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    system::lead(&mut command);
    command.wrap(KillOnDrop);
    let child = system::start(&mut command)?;
    let leader = child.id();
    Ok((child, Group { leader, mark, is_killed: false }))
}

/// All processes that a process started. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Option<u32>,
    mark: String,
    is_killed: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Group {
    /// Kills the group and, on Linux, all other descendants, once.
    fn kill(&mut self) {
        if std::mem::replace(&mut self.is_killed, true) {
            return;
        }
        system::end_group(self.leader, &format!("{MARK}={}", self.mark));
    }
}

/// Returns an exit status in words: `exit status 3`, `killed by signal 6 (SIGABRT)`.
pub(crate) fn in_words(status: ExitStatus) -> String {
    if let Some((signal, name)) = system::signal_of(status) {
        return format!("killed by signal {signal} ({name})");
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::drive::process::lines::LineEvent;

    /// A process, a child in its group, and a child outside of it: each prints `up` and keeps running.
    const STAYING: &str = "stay='echo up; while :; do sleep 1000; done'
        sh -c \"$stay\" & setsid sh -c \"$stay\" & eval \"$stay\"";

    fn sh(script: &str) -> (Process, ChildStdin, Lines) {
        let command = ["sh", "-c", script].map(str::to_owned);
        let launch = Launch { command: &command, folder: Path::new("."), env: &BTreeMap::new() };
        Process::spawn(launch).expect("there is a shell")
    }

    async fn line(lines: &mut Lines) -> String {
        match timeout(Duration::from_secs(60), lines.next()).await.expect("a line in time") {
            LineEvent::Line(line) => String::from_utf8(line).expect("UTF-8"),
            event => panic!("{event:?} in place of a line"),
        }
    }

    fn survivors(process: &Process) -> Vec<u32> {
        mark::marked(&format!("{MARK}={}", process.group.mark), 0)
    }

    /// Waits until no process is left; a killed process takes a moment to exit.
    async fn none_is_left(mark: String) {
        let gone = async {
            while !mark::marked(&mark, 0).is_empty() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(2), gone).await.expect("all are gone");
    }

    #[tokio::test]
    async fn grandchildren_inside_and_outside_group_are_killed() {
        let (process, _stdin, mut lines) = sh(STAYING);
        for _ in 0..3 {
            assert_eq!(line(&mut lines).await, "up");
        }
        assert!(survivors(&process).len() >= 3);
        let mark = format!("{MARK}={}", process.group.mark);
        let stopped = process.end(StopReason::Hung, async {}).await;
        assert_eq!(stopped.how, "killed by signal 9 (SIGKILL)");
        none_is_left(mark).await;
    }

    #[tokio::test]
    async fn dropped_process_is_killed_with_its_children() {
        let (process, _stdin, mut lines) = sh("sleep 1000 & echo up; exec sleep 1000");
        assert_eq!(line(&mut lines).await, "up");
        let mark = format!("{MARK}={}", process.group.mark);
        drop(process);
        none_is_left(mark).await;
    }

    #[tokio::test]
    async fn pipes_kept_open_by_child_are_leak_without_delay() {
        let (process, stdin, _lines) = sh("sleep 1000 & exit 3");
        let began = Instant::now();
        let stopped = process.end(StopReason::Finished, async { drop(stdin) }).await;
        assert_eq!((stopped.how.as_str(), stopped.code, stopped.leaky), ("exit status 3", Some(3), true));
        assert!(began.elapsed() < Duration::from_secs(1));
    }

    #[tokio::test]
    async fn process_that_ignores_signals_is_killed_in_time() {
        let (process, stdin, mut lines) = sh("trap '' TERM; echo up; while :; do sleep 1; done");
        assert_eq!(line(&mut lines).await, "up");
        let began = Instant::now();
        let stopped = process.end(StopReason::Finished, async { drop(stdin) }).await;
        assert_eq!(stopped.how, "killed by signal 9 (SIGKILL)");
        assert!(began.elapsed() < EXIT_LIMIT + GRACE + GRACE);
    }

    #[tokio::test]
    async fn process_that_exits_at_end_of_input_is_clean() {
        let (process, stdin, _lines) = sh("cat; echo bye >&2");
        let stderr = process.stderr().clone();
        let stopped = process.end(StopReason::Finished, async { drop(stdin) }).await;
        assert_eq!((stopped.how.as_str(), stopped.leaky), ("exit status 0", false));
        assert_eq!(stderr.take(), "bye\n");
    }

    #[tokio::test]
    async fn endless_line_is_oversized() {
        let (process, _stdin, mut lines) = sh("head -c 20971520 /dev/zero; exec sleep 1000");
        assert_eq!(timeout(Duration::from_secs(60), lines.next()).await, Ok(LineEvent::Oversized));
        process.end(StopReason::Hung, async {}).await;
    }
}
