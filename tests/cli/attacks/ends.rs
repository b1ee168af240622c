//! Processes that try to outlive a run, runs that block, machines without resources, and run logs that cannot be
//! written.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::ends::HEEDS_HANGUP;
use crate::process::{Running, behind, succeeds, wait_for};
use crate::sandbox::{Finished, PROGRAM, Sandbox, skip};

/// Shell code that starts a process, which leaves its group, clears its environment and writes its id to a file.
const HIDES: &str = "setsid env -i /bin/sh -c 'echo $$ >> ../hidden; exec sleep 1000' > /dev/null 2>&1 < /dev/null &
    until [ -s ../hidden ]; do :; done";

/// A run of a few seconds in which a test fails.
const SLOW: &str = "run reference:sleeps-1s --cases slow --run-log run.jsonl \
    --only post/queue/listed/r01 --only post/queue/called/r02 --only post/queue/called/r03";

/// Creates a target that runs shell code before it becomes the adapter of the reference.
fn target(sandbox: &Sandbox, name: &str, before: &str, transport: &str) {
    let command = serde_json::to_string(&["sh", "-c", &format!("{before}\nexec {PROGRAM} __adapter \"$@\""), "sh"]);
    let claims = format!("roles = [\"server\"]\ntransports = [\"{transport}\"]\nrevisions = [\"2026-07-28\"]");
    let text = format!("title = \"A target\"\ncommand = {}\n\n[claims]\n{claims}\n", command.expect("strings"));
    sandbox.write(&format!("{name}/target.toml"), &text);
}

/// Returns whether a process exists and is not a zombie.
fn is_alive(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with('Z'))
}

/// Fails if one of these processes does not end.
fn assert_all_end(ids: &str) {
    assert!(!ids.trim().is_empty(), "no process was started");
    wait_for(&format!("{ids} are gone"), || (!ids.split_whitespace().any(is_alive)).then_some(()));
}

/// Starts a run without output.
fn start(mut command: Command) -> Running {
    Running::with_outputs(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// Waits until a run handles signals.
fn until_it_handles_signals(run: &Running) {
    wait_for("a handler of SIGTERM", || {
        let status = fs::read_to_string(format!("/proc/{}/status", run.id())).expect("a running process");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask").trim();
        let caught = u64::from_str_radix(caught, 16).expect("a number");
        (caught & (1 << (Signal::SIGTERM as i32 - 1)) != 0).then_some(())
    });
}

/// Waits until a run is inside a system call that writes to this file.
fn until_it_writes_to(run: &Running, file: &Path) {
    let id = run.id();
    let written = |call: &str| {
        let (number, arguments) = call.split_once(' ')?;
        let file = i32::from_str_radix(arguments.split(' ').next()?.strip_prefix("0x")?, 16).ok()?;
        let is_write = number.parse() == Ok(nix::libc::SYS_write);
        is_write.then(|| fs::read_link(format!("/proc/{id}/fd/{file}")).ok()).flatten()
    };
    wait_for(&format!("a write to {}", file.display()), || {
        let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let mut calls = threads.filter_map(|thread| fs::read_to_string(thread.path().join("syscall")).ok());
        calls.any(|call| written(&call).as_deref() == Some(file)).then_some(())
    });
}

/// Waits until all threads of a process are stopped. Until then, the system treats it as running.
fn until_stopped(id: Pid) {
    let is_stopped = |stat: &str| {
        let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start());
        state.is_some_and(|state| state.starts_with('T'))
    };
    let are_stopped = || {
        let threads = fs::read_dir(format!("/proc/{id}/task")).expect("a running process").flatten();
        let mut stats = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
        stats.all(|stat| is_stopped(&stat))
    };
    wait_for("a stopped process", || are_stopped().then_some(()));
}

/// Waits until a file has text, and returns it.
fn text_of(path: &Path) -> String {
    wait_for(&format!("text in {}", path.display()), || fs::read_to_string(path).ok().filter(|text| !text.is_empty()))
}

#[test]
fn process_without_group_and_environment_is_killed() {
    for transport in ["http", "stdio"] {
        let sandbox = Sandbox::new();
        target(&sandbox, "t", HIDES, transport);
        sandbox.run("run t --cases cases --jobs 2").exits(0);
        assert_all_end(&sandbox.read("hidden"));
    }
}

#[test]
fn process_with_unreadable_environment_is_killed() {
    let is_root = fs::metadata("/proc/self").expect("Linux has it").uid() == 0;
    let sandbox = Sandbox::new();
    fs::set_permissions(sandbox.path(), fs::Permissions::from_mode(0o777)).expect("own file");
    let unprivileged = ["setpriv", "--reuid=65534", "--clear-groups"];
    let as_user = |command: Command| if is_root { behind(&unprivileged, &command) } else { command };
    // The agent outlives its parent, and only root can read its environment.
    let has_agent = succeeds(Command::new("ssh-agent").arg("true"));
    if !has_agent || !succeeds(&mut as_user(sandbox.command("--version"))) {
        skip("there is no ssh-agent, or no other user can run casebook");
        return;
    }
    target(&sandbox, "t", "ssh-agent | sed -n 's/.*pid \\([0-9]*\\);/\\1/p' >> ../hidden", "http");
    let finished = Finished::of(&mut as_user(sandbox.command("run ./t --cases cases --jobs 1")));
    finished.exits(0);
    assert_all_end(&sandbox.read("hidden"));
}

#[test]
fn processes_that_fork_and_leave_are_killed() {
    for hidden in ["", "env -i "] {
        let sandbox = Sandbox::new();
        // Each process touches a file, forks its successor and exits. All of them end when the folder is deleted.
        let chain = format!(
            "import os\nos.chdir({:?})\nos.setsid()\nwhile os.path.isdir('t'):\n    open('beat', 'w').close()\n    \
             if os.fork(): os._exit(0)\n",
            sandbox.path()
        );
        sandbox.write("chain.py", &chain);
        let command = format!("{hidden}$(command -v python3) ../chain.py");
        let start = format!("for i in 1 2; do {command} > /dev/null 2>&1 < /dev/null & done");
        target(&sandbox, "t", &format!("{start}\nuntil [ -e ../beat ]; do :; done"), "http");
        sandbox.run("run t --cases cases --jobs 2").exits(0);
        let beat = sandbox.path().join("beat");
        fs::remove_file(&beat).expect("the processes ran");
        std::thread::sleep(Duration::from_millis(300));
        assert!(!beat.exists(), "{hidden}");
    }
}

/// A run whose target has hidden a process: the sandbox, with its own folder for temporary files, and the processes.
struct HiddenProcess {
    sandbox: Sandbox,
    /// The processes that must end with the run.
    ids: String,
}

impl HiddenProcess {
    fn start() -> (Running, Self) {
        let sandbox = Sandbox::new();
        target(&sandbox, "t", &format!("{HIDES}\nexec sleep 1000"), "http");
        let tmp = sandbox.path().join("tmp");
        fs::create_dir(&tmp).expect("a folder");
        let mut command = sandbox.command("run t --cases cases");
        command.env("TMPDIR", &tmp);
        let run = start(behind(HEEDS_HANGUP, &command));
        let ids = text_of(&sandbox.path().join("hidden"));
        (run, Self { sandbox, ids })
    }

    fn assert_gone(&self) {
        assert_all_end(&self.ids);
        assert_eq!(self.sandbox.survivors(), 0);
        assert!(fs::read_dir(self.sandbox.path().join("tmp")).expect("a folder").next().is_none());
    }
}

#[test]
fn nothing_is_left_after_hang_up_of_a_suspended_run() {
    // Shells send SIGHUP to suspended jobs.
    let (run, hidden) = HiddenProcess::start();
    kill(run.id(), Signal::SIGTSTP).expect("a running process");
    until_stopped(run.id());
    kill(run.id(), Signal::SIGHUP).expect("a running process");
    kill(run.id(), Signal::SIGCONT).expect("a running process");
    assert_eq!(run.end().0, Some(5));
    hidden.assert_gone();
}

#[test]
fn process_that_a_shell_left_to_casebook_is_not_killed() {
    let sandbox = Sandbox::new();
    let shell = ["sh", "-c", "sleep 1000 > /dev/null 2>&1 & echo $! > kept; exec \"$0\" \"$@\""];
    Finished::of(&mut behind(&shell, &sandbox.command("run --cases cases --only post/letter"))).exits(0);
    let kept = sandbox.read("kept").trim().parse().expect("a number");
    kill(Pid::from_raw(kept), Signal::SIGKILL).expect("it still runs");
}

#[test]
fn siblings_of_a_target_are_killed_and_reaped() {
    let sandbox = Sandbox::new();
    // With CLONE_PARENT, a process can start siblings instead of children: here one that stays, and one that exits at
    // once. Each adapter writes down which siblings of the adapter before it still exist.
    let beside = format!(
        "import ctypes, os, signal, sys, time\n\
         clone = lambda: ctypes.CDLL(None).syscall({}, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)\n\
         earlier = open('../beside').read().split() if os.path.exists('../beside') else []\n\
         print(*(one for one in earlier if os.path.exists('/proc/' + one)), file=open('../left', 'a'))\n\
         dead = clone()\n\
         if dead == 0: os._exit(0)\n\
         other = clone()\n\
         if other == 0:\n    os.setsid()\n    os.closerange(0, 3)\n    \
             os.execve('/bin/sleep', ['sleep', '1000'], {{}})\n\
         print(dead, other, file=open('../beside', 'a'))\n\
         until = time.monotonic() + 10\n\
         while os.path.exists('/proc/%d' % dead) and time.monotonic() < until: time.sleep(0.01)\n\
         sys.exit(1)\n",
        nix::libc::SYS_clone
    );
    sandbox.write("beside.py", &beside);
    target(&sandbox, "t", "exec python3 ../beside.py", "http");
    sandbox.run("run t --cases cases --jobs 1").exits(4);
    let left = sandbox.read("left");
    assert!(left.lines().count() > 1 && left.trim().is_empty(), "{left}");
    assert_all_end(&sandbox.read("beside"));
}

#[test]
fn blocked_run_ends_at_its_limit_or_second_signal() {
    let check = |by_limit: bool| {
        let sandbox = Sandbox::new();
        // The run log is a full pipe without a reader, so that the run blocks when it writes the first test.
        let pipe = sandbox.path().join("run.wire.jsonl");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        let mut full = fs::File::options();
        let full = full.read(true).write(true).custom_flags(nix::libc::O_NONBLOCK).open(&pipe);
        let mut full = full.expect("a pipe");
        while full.write(&[b' '; 4096]).is_ok() {}
        let limit = if by_limit { "--limit run=5s" } else { "" };
        let mut command = sandbox.command(&format!("run --cases cases --run-log run.jsonl {limit}"));
        let mut run = Running::with_outputs(command.stdout(Stdio::null()).stderr(Stdio::piped()));
        until_it_writes_to(&run, &pipe);
        if !by_limit {
            kill(run.id(), Signal::SIGTERM).expect("a running process");
            run.until_interrupted();
            kill(run.id(), Signal::SIGTERM).expect("a running process");
        }
        run.until_error("the run did not stop in time");
        assert_eq!(run.end().0, Some(5));
        assert_eq!(sandbox.survivors(), 0);
        assert!(sandbox.read("run.jsonl").ends_with("}\n"), "the log ends with a whole line");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check(true));
        scope.spawn(|| check(false));
    });
}

#[test]
fn suspended_run_goes_on_when_it_is_resumed() {
    let sandbox = Sandbox::new();
    let run = start(sandbox.command(SLOW));
    text_of(&sandbox.path().join("run.jsonl"));
    kill(run.id(), Signal::SIGTSTP).expect("a running process");
    until_stopped(run.id());
    kill(run.id(), Signal::SIGCONT).expect("a running process");
    assert_eq!(run.end().0, Some(1));
}

#[test]
fn suspension_does_not_count_against_time_limits() {
    let sandbox = Sandbox::new();
    sandbox.lay_out("rogue.py");
    sandbox.lay_out("shelf/post/shelf.json");
    sandbox.lay_out("shelf/post/requirements.json");
    // The server answers a second after the run is resumed, which is within the time limit.
    let answers = "open('../called', 'w').write('yes'); time.sleep(5); say(answer())";
    sandbox.target("t", &["python3", "-S", "-I", "../rogue.py", "call", answers], "");
    let run = start(sandbox.command("run t --cases shelf --jobs 1 --limit step=3s --run-log run.jsonl"));
    text_of(&sandbox.path().join("called"));
    kill(run.id(), Signal::SIGTSTP).expect("a running process");
    until_stopped(run.id());
    std::thread::sleep(Duration::from_secs(4));
    kill(run.id(), Signal::SIGCONT).expect("a running process");
    run.end();
    let record = sandbox.read("run.jsonl");
    assert!(record.contains("\"footer\"") && !record.contains("\"timeout\""), "{record}");
}

#[test]
fn run_with_unread_output_ends_at_its_limit() {
    let check = |is_interrupted: bool| {
        let sandbox = Sandbox::new();
        let (_unread, output) = std::io::pipe().expect("a pipe");
        let full = nix::fcntl::OFlag::O_NONBLOCK;
        nix::fcntl::fcntl(&output, nix::fcntl::FcntlArg::F_SETFL(full)).expect("a mode");
        for size in [4096, 1] {
            while (&output).write(&vec![b' '; size]).is_ok() {}
        }
        nix::fcntl::fcntl(&output, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::empty())).expect("a mode");
        let limit = if is_interrupted { "" } else { "--limit run=2s" };
        let mut command = sandbox.command(&format!("run reference:sleeps-1s --cases slow {limit}"));
        let run = Running::with_outputs(command.stdout(Stdio::null()).stderr(output));
        if is_interrupted {
            until_it_handles_signals(&run);
            for _ in 0..3 {
                kill(run.id(), Signal::SIGTERM).expect("a running process");
                std::thread::sleep(Duration::from_millis(300));
            }
        }
        assert_eq!(run.end().0, Some(5));
        assert_eq!(sandbox.survivors(), 0);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check(true));
        scope.spawn(|| check(false));
    });
}

#[test]
fn machine_without_temporary_folder_fails_no_target() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    fs::create_dir(sandbox.path().join("here")).expect("a folder");
    let run = |tmp: &str| {
        let mut command =
            sandbox.command("run reference --cases cases --transport stdio --stdio process --run-log run.jsonl");
        Finished::of(command.env("TMPDIR", tmp))
    };
    for tmp in ["/nowhere/at/all", "file"] {
        let finished = run(tmp);
        finished.exits(4).stdout_has(&["casebook cannot write the fixture to a file"]);
        assert!(!finished.out.contains("failed"), "{}", finished.out);
        assert!(!sandbox.read("run.jsonl").contains("crash"), "{tmp}");
    }
    run("here").exits(0);
}

#[test]
fn machine_without_descriptors_fails_no_target() {
    let sandbox = Sandbox::new();
    for descriptors in (26..46).step_by(2) {
        let script = format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"");
        let command = sandbox.command("run reference --cases cases --jobs 2 --run-log run.jsonl");
        let finished = Finished::of(&mut behind(&["sh", "-c", &script], &command));
        assert!(!finished.out.contains("failed"), "{descriptors}: {}\n{}", finished.out, finished.err);
        let record = fs::read_to_string(sandbox.path().join("run.jsonl")).unwrap_or_default();
        assert!(!record.contains("\"crash\""), "{descriptors}: {record}");
    }
}

#[test]
fn parallel_runs_leave_readable_run_logs() {
    let sandbox = Sandbox::new();
    let runs: Vec<_> =
        (0..8).map(|_| start(sandbox.command("run --cases cases --only post/letter --jobs 1"))).collect();
    for run in runs {
        assert_eq!(run.end().0, Some(0));
    }
    let cache = sandbox.path().join("cache/casebook");
    let names: Vec<_> = fs::read_dir(cache.join("runs")).expect("runs").map(|run| run.expect("a run").path()).collect();
    assert_eq!(names.len(), 8);
    for run in names.iter().chain([&cache.join("last")]) {
        let finished = sandbox.run(&format!("report {} --cases cases --check", run.join("run.jsonl").display()));
        finished.exits(0);
        let lines = fs::read_to_string(run.join("run.wire.jsonl")).expect("beside it").lines().count();
        assert_eq!(lines, 18, "{}", run.display());
    }
}

#[test]
fn run_log_of_another_active_run_is_refused() {
    let sandbox = Sandbox::new();
    let run = start(sandbox.command(SLOW));
    text_of(&sandbox.path().join("run.jsonl"));
    let second = sandbox.run("run --cases cases --run-log run.jsonl");
    second.exits(2).stderr_has(&["another run writes to run.jsonl"]);
    assert_eq!(run.end().0, Some(1));
    sandbox.run("replay run.jsonl --cases slow").exits(1);
    // The first run has released the file.
    sandbox.run("run --cases cases --run-log run.jsonl").exits(0);
}

#[test]
fn run_that_cannot_save_its_run_log_continues() {
    let sandbox = Sandbox::new();
    symlink("/dev/full", sandbox.path().join("full.jsonl")).expect("a link");
    sandbox.write("file", "");
    let check = |finished: &Finished| {
        finished.exits(6).stdout_has(&["as expected: 30 tests"]).stderr_has(&["casebook: cannot write "]);
        assert!(sandbox.read("report.json").contains("\"passed\""));
        fs::remove_file(sandbox.path().join("report.json")).expect("it was written");
    };
    let run = "run --cases cases --report json=report.json";
    check(&sandbox.run(&format!("{run} --run-log full.jsonl")));
    check(&sandbox.run(&format!("{run} --run-log file/run.jsonl")));
    check(&Finished::of(sandbox.command(run).env("XDG_CACHE_HOME", sandbox.path().join("file"))));
    // The other reports are written even if one cannot be.
    sandbox
        .run(&format!("{run} --report md=file/x.md"))
        .exits(6)
        .stdout_has(&["as expected: 30 tests"])
        .stderr_has(&["file/x.md"]);
    assert!(sandbox.read("report.json").contains("\"passed\""));
    // A test that fails doesn't change the status.
    let broken = "run reference:input-not-validated --cases cases --run-log full.jsonl";
    sandbox.run(broken).exits(6).stdout_has(&["failed  post/arguments-checked", "not as expected"]);
}

#[test]
fn run_log_on_a_full_disk_ends_with_a_whole_line() {
    let sandbox = Sandbox::new();
    let command = sandbox.command("run --cases cases --run-log run.jsonl --report json=report.json --jobs 1");
    // The limit counts blocks of 512 bytes: some tests fit, but not all.
    let finished = Finished::of(&mut behind(&["sh", "-c", "ulimit -f 24; exec \"$0\" \"$@\""], &command));
    finished
        .exits(6)
        .stdout_has(&["as expected: 30 tests"])
        .stderr_has(&["casebook: the run log ends before the run does: cannot write run.wire.jsonl"]);
    let record = sandbox.read("run.jsonl");
    assert!(record.ends_with("}\n") && (2..31).contains(&record.lines().count()), "{record}");
    assert!(sandbox.read("run.wire.jsonl").ends_with("}\n"));
    sandbox.run("replay run.jsonl --cases cases").exits(5).stdout_has(&["INCOMPLETE: "]);
}

#[test]
fn run_with_full_standard_output_saves_its_reports() {
    let sandbox = Sandbox::new();
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = sandbox.command("run --cases cases --run-log run.jsonl --report json=report.json");
    let mut run = Running::with_outputs(command.stdout(full).stderr(Stdio::piped()));
    let words = run.err.by_ref().collect::<Vec<_>>().join("\n");
    assert_eq!(run.end().0, Some(6), "{words}");
    assert!(words.contains("cannot write standard output"), "{words}");
    assert!(sandbox.read("report.json").contains("\"passed\""));
    sandbox.run("replay run.jsonl --cases cases").exits(0);
}

#[test]
fn run_without_a_home_warns_that_it_has_no_run_log() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("run --cases cases --only post/letter");
    // A relative HOME is ignored.
    command.env("HOME", "home").env_remove("XDG_CACHE_HOME");
    Finished::of(&mut command).exits(0).stderr_has(&["no run log is written", "--run-log FILE"]);
}
