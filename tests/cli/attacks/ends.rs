//! Processes that try to stay, runs that don't end, machines without room, and run logs that can't be written.

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

/// Starts a process that leaves its group and empties its environment, and writes its number down.
const HIDES: &str = "setsid env -i /bin/sh -c 'echo $$ >> ../hidden; exec sleep 1000' > /dev/null 2>&1 < /dev/null &
    until [ -s ../hidden ]; do :; done";

/// A run of a few seconds, in which something is broken.
const SLOW: &str = "run reference:sleeps-1s --cases slow --record run.jsonl \
    --only post/queue/listed/r01 --only post/queue/called/r02 --only post/queue/called/r03";

/// A target that does something in its shell before it becomes the reference's adapter.
fn target(sandbox: &Sandbox, name: &str, before: &str, transport: &str) {
    let command = serde_json::to_string(&["sh", "-c", &format!("{before}\nexec {PROGRAM} __adapter \"$@\""), "sh"]);
    let claims = format!("roles = [\"server\"]\ntransports = [\"{transport}\"]\nrevisions = [\"2026-07-28\"]");
    let text = format!("title = \"A target\"\ncommand = {}\n\n[claims]\n{claims}\n", command.expect("strings"));
    sandbox.write(&format!("{name}/target.toml"), &text);
}

/// Returns whether a process is there and no zombie.
fn is_alive(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with('Z'))
}

/// Fails where one of these processes stays.
fn all_are_gone(ids: &str) {
    assert!(!ids.trim().is_empty(), "no process was started");
    wait_for(&format!("{ids} are gone"), || (!ids.split_whitespace().any(is_alive)).then_some(()));
}

/// Starts a run whose output nobody reads.
fn start(mut command: Command) -> Running {
    Running::with_outputs(command.stdout(Stdio::null()).stderr(Stdio::null()))
}

/// The process below the guard, once there is one.
fn harness(run: &Running) -> Pid {
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    wait_for("a harness", || {
        let children = fs::read_to_string(&children).unwrap_or_default();
        Some(Pid::from_raw(children.split_whitespace().next()?.parse().expect("a number")))
    })
}

/// Waits until the harness is within a call of the system that writes to this file.
fn until_it_writes_to(run: &Running, file: &Path) {
    let harness = harness(run);
    let written = |call: &str| {
        let (number, arguments) = call.split_once(' ')?;
        let file = i32::from_str_radix(arguments.split(' ').next()?.strip_prefix("0x")?, 16).ok()?;
        let is_write = number.parse() == Ok(nix::libc::SYS_write);
        is_write.then(|| fs::read_link(format!("/proc/{harness}/fd/{file}")).ok()).flatten()
    };
    wait_for(&format!("a write to {}", file.display()), || {
        let threads = fs::read_dir(format!("/proc/{harness}/task")).into_iter().flatten().flatten();
        let mut calls = threads.filter_map(|thread| fs::read_to_string(thread.path().join("syscall")).ok());
        calls.any(|call| written(&call).as_deref() == Some(file)).then_some(())
    });
}

/// Waits until all of these are stopped, with each of their threads: before, the system does not count them as stopped.
fn until_stopped(ids: &[Pid]) {
    let is_stopped = |stat: &str| {
        let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start());
        state.is_some_and(|state| state.starts_with('T'))
    };
    let are_stopped = |id: &Pid| {
        let threads = fs::read_dir(format!("/proc/{id}/task")).expect("it is there").flatten();
        let mut stats = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
        stats.all(|stat| is_stopped(&stat))
    };
    wait_for("stopped processes", || ids.iter().all(are_stopped).then_some(()));
}

/// The text of a file, once it has one.
fn text_of(path: &Path) -> String {
    wait_for(&format!("text in {}", path.display()), || fs::read_to_string(path).ok().filter(|text| !text.is_empty()))
}

#[test]
fn process_without_group_and_mark_is_killed() {
    for transport in ["http", "stdio"] {
        let sandbox = Sandbox::new();
        target(&sandbox, "t", HIDES, transport);
        sandbox.run("run t --cases cases --jobs 2").exits(0);
        all_are_gone(&sandbox.read("hidden"));
    }
}

#[test]
fn process_that_may_not_be_read_is_killed() {
    let is_root = fs::metadata("/proc/self").expect("Linux has it").uid() == 0;
    let sandbox = Sandbox::new();
    fs::set_permissions(sandbox.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    let unprivileged = ["setpriv", "--reuid=65534", "--clear-groups"];
    let as_user = |command: Command| if is_root { behind(&unprivileged, &command) } else { command };
    // An agent that outlives its parent and whose environment only root may read.
    let has_agent = succeeds(Command::new("ssh-agent").arg("true"));
    if !has_agent || !succeeds(&mut as_user(sandbox.command("--version"))) {
        skip("there is no ssh-agent, or no other user can run casebook");
        return;
    }
    target(&sandbox, "t", "ssh-agent | sed -n 's/.*pid \\([0-9]*\\);/\\1/p' >> ../hidden", "http");
    let came = Finished::of(&mut as_user(sandbox.command("run ./t --cases cases --jobs 1")));
    came.exits(0);
    all_are_gone(&sandbox.read("hidden"));
}

#[test]
fn processes_that_fork_and_leave_are_killed() {
    for hidden in ["", "env -i "] {
        let sandbox = Sandbox::new();
        // Each generation shows that it is there, starts the next one, and leaves; all end with the folder.
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
        fs::remove_file(&beat).expect("they were there");
        std::thread::sleep(Duration::from_millis(300));
        assert!(!beat.exists(), "{hidden}");
    }
}

/// The traces of a run whose target has hidden a process: its sandbox, with a folder for temporary files, and processes.
struct Hiding {
    sandbox: Sandbox,
    /// The processes that must end with the run.
    ids: String,
}

impl Hiding {
    fn begin() -> (Running, Self) {
        let sandbox = Sandbox::new();
        target(&sandbox, "t", &format!("{HIDES}\nexec sleep 1000"), "http");
        let tmp = sandbox.path().join("tmp");
        fs::create_dir(&tmp).expect("a folder");
        let mut command = sandbox.command("run t --cases cases");
        command.env("TMPDIR", &tmp);
        let run = start(behind(HEEDS_HANGUP, &command));
        let hidden = text_of(&sandbox.path().join("hidden"));
        let ids = format!("{hidden} {}", harness(&run));
        (run, Self { sandbox, ids })
    }

    fn assert_gone(&self) {
        all_are_gone(&self.ids);
        assert_eq!(self.sandbox.survivors(), 0);
        assert!(fs::read_dir(self.sandbox.path().join("tmp")).expect("a folder").next().is_none());
    }
}

#[test]
fn nothing_is_left_when_guard_or_harness_is_killed() {
    for guard in [true, false] {
        let (run, hiding) = Hiding::begin();
        kill(if guard { run.id() } else { harness(&run) }, Signal::SIGKILL).expect("it is there");
        assert_eq!(run.end().0, if guard { None } else { Some(137) });
        hiding.assert_gone();
    }
}

#[test]
fn nothing_is_left_when_guard_dies_while_harness_is_stopped() {
    // The system sends a hang-up to a stopped process whose parent dies, and so do shells to suspended ones.
    let kills = |run: &Running| {
        let harness = harness(run);
        kill(harness, Signal::SIGSTOP).expect("it is there");
        // One that stops only afterwards gets no hang-up.
        until_stopped(&[harness]);
        kill(run.id(), Signal::SIGKILL).expect("it is there");
    };
    let suspends = |run: &Running| {
        kill(run.id(), Signal::SIGTSTP).expect("it is there");
        until_stopped(&[run.id(), harness(run)]);
        kill(run.id(), Signal::SIGHUP).expect("it is there");
        kill(run.id(), Signal::SIGCONT).expect("it is there");
    };
    for ends in [&kills as &dyn Fn(&Running), &suspends] {
        let (run, hiding) = Hiding::begin();
        ends(&run);
        assert_eq!(run.end().0, None);
        hiding.assert_gone();
    }
}

#[test]
fn siblings_of_a_target_are_killed_and_reaped() {
    let sandbox = Sandbox::new();
    // A process may start one that isn't below it, but beside it: one that stays, and one that dies at once. Each adapter
    // tells which of the one before it are there, as zombies or alive.
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
    all_are_gone(&sandbox.read("beside"));
}

#[test]
fn target_that_stops_guard_and_harness_delays_the_run_only() {
    let sandbox = Sandbox::new();
    // The harness is the parent of the shell, the guard that of the harness.
    let guard = "$(sed 's/.*) //' /proc/$PPID/stat | cut -d ' ' -f 2)";
    target(&sandbox, "t", &format!("kill -STOP {guard}; kill -STOP {guard} $PPID"), "http");
    sandbox.run("run t --cases cases --jobs 1 --start-limit 60s").exits(0);
    assert_eq!(sandbox.survivors(), 0);
}

#[test]
fn run_that_blocks_is_ended_by_its_limit_and_a_second_signal() {
    let ends = |by_limit: bool| {
        let sandbox = Sandbox::new();
        // A full pipe that nobody reads: the run waits in the system when it writes the first test down.
        let pipe = sandbox.path().join("run.wire.jsonl");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        let mut full = fs::File::options();
        let full = full.read(true).write(true).custom_flags(nix::libc::O_NONBLOCK).open(&pipe);
        let mut full = full.expect("a pipe");
        while full.write(&[b' '; 4096]).is_ok() {}
        let limit = if by_limit { "--run-limit 5s" } else { "" };
        let mut command = sandbox.command(&format!("run --cases cases --record run.jsonl {limit}"));
        let mut run = Running::with_outputs(command.stdout(Stdio::null()).stderr(Stdio::piped()));
        until_it_writes_to(&run, &pipe);
        if !by_limit {
            kill(run.id(), Signal::SIGTERM).expect("it is there");
            run.until_interrupted();
            kill(run.id(), Signal::SIGTERM).expect("it is there");
        }
        run.until_error("it did not stop in time");
        assert_eq!(run.end().0, Some(5));
        assert_eq!(sandbox.survivors(), 0);
        assert!(sandbox.read("run.jsonl").ends_with("}\n"), "each test that ended is there");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| ends(true));
        scope.spawn(|| ends(false));
    });
}

#[test]
fn signal_to_all_processes_of_a_run_is_one_request() {
    let sandbox = Sandbox::new();
    let run = start(sandbox.command(SLOW));
    text_of(&sandbox.path().join("run.jsonl"));
    let harness = harness(&run);
    for id in [harness, run.id()] {
        kill(id, Signal::SIGTERM).expect("it is there");
    }
    assert_eq!(run.end().0, Some(5));
    let record = sandbox.read("run.jsonl");
    assert!(record.lines().last().is_some_and(|line| line.contains(r#""interrupted":true"#)), "{record}");
}

#[test]
fn suspended_run_goes_on_when_it_is_resumed() {
    let sandbox = Sandbox::new();
    let run = start(sandbox.command(SLOW));
    text_of(&sandbox.path().join("run.jsonl"));
    let harness = harness(&run);
    kill(run.id(), Signal::SIGTSTP).expect("it is there");
    until_stopped(&[run.id(), harness]);
    kill(run.id(), Signal::SIGCONT).expect("it is there");
    assert_eq!(run.end().0, Some(1));
}

#[test]
fn time_of_a_suspended_run_is_not_held_against_a_target() {
    let sandbox = Sandbox::new();
    sandbox.lay_out("rogue.py");
    sandbox.lay_out("shelf/post/shelf.json");
    sandbox.lay_out("shelf/post/requirements.json");
    // It answers a second after the run is resumed, which is in time.
    let answers = "open('../called', 'w').write('yes'); time.sleep(5); say(answer())";
    sandbox.target("t", &["python3", "-S", "-I", "../rogue.py", "call", answers], "");
    let run = start(sandbox.command("run t --cases shelf --jobs 1 --step-limit 3s --record run.jsonl"));
    text_of(&sandbox.path().join("called"));
    kill(run.id(), Signal::SIGTSTP).expect("it is there");
    until_stopped(&[run.id(), harness(&run)]);
    std::thread::sleep(Duration::from_secs(4));
    kill(run.id(), Signal::SIGCONT).expect("it is there");
    run.end();
    let record = sandbox.read("run.jsonl");
    assert!(record.contains("\"footer\"") && !record.contains("\"timeout\""), "{record}");
}

#[test]
fn run_whose_words_nobody_reads_is_ended_by_its_limit() {
    let ends = |is_interrupted: bool| {
        let sandbox = Sandbox::new();
        let (_unread, words) = std::io::pipe().expect("a pipe");
        let full = nix::fcntl::OFlag::O_NONBLOCK;
        nix::fcntl::fcntl(&words, nix::fcntl::FcntlArg::F_SETFL(full)).expect("a mode");
        for size in [4096, 1] {
            while (&words).write(&vec![b' '; size]).is_ok() {}
        }
        nix::fcntl::fcntl(&words, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::empty())).expect("a mode");
        let limit = if is_interrupted { "" } else { "--run-limit 2s" };
        let mut command = sandbox.command(&format!("run reference:sleeps-1s --cases slow {limit}"));
        let run = Running::with_outputs(command.stdout(Stdio::null()).stderr(words));
        if is_interrupted {
            harness(&run);
            for _ in 0..3 {
                kill(run.id(), Signal::SIGTERM).expect("it is there");
                std::thread::sleep(Duration::from_millis(300));
            }
        }
        assert_eq!(run.end().0, Some(5));
        assert_eq!(sandbox.survivors(), 0);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| ends(true));
        scope.spawn(|| ends(false));
    });
}

#[test]
fn machine_without_temporary_folder_is_never_the_targets_fault() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    fs::create_dir(sandbox.path().join("here")).expect("a folder");
    let run = |tmp: &str| {
        let mut command =
            sandbox.command("run reference --cases cases --transport stdio --stdio process --record run.jsonl");
        Finished::of(command.env("TMPDIR", tmp))
    };
    for tmp in ["/nowhere/at/all", "file"] {
        let came = run(tmp);
        came.exits(4).stdout_has(&["casebook can't write the fixture to a file"]);
        assert!(!came.out.contains("FAIL"), "{}", came.out);
        assert!(!sandbox.read("run.jsonl").contains("crash"), "{tmp}");
    }
    run("here").exits(0);
}

#[test]
fn machine_without_descriptors_is_never_the_targets_fault() {
    let sandbox = Sandbox::new();
    for descriptors in (26..46).step_by(2) {
        let script = format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"");
        let command = sandbox.command("run reference --cases cases --jobs 2 --record run.jsonl");
        let came = Finished::of(&mut behind(&["sh", "-c", &script], &command));
        assert!(!came.out.contains("FAIL"), "{descriptors}: {}\n{}", came.out, came.err);
        let record = fs::read_to_string(sandbox.path().join("run.jsonl")).unwrap_or_default();
        assert!(!record.contains("\"crash\""), "{descriptors}: {record}");
    }
}

#[test]
fn eight_runs_on_one_cache_are_all_readable() {
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
        let came = sandbox.run(&format!("report {} --cases cases --check", run.join("run.jsonl").display()));
        came.exits(0);
        let lines = fs::read_to_string(run.join("run.wire.jsonl")).expect("beside it").lines().count();
        assert_eq!(lines, 18, "{}", run.display());
    }
}

#[test]
fn record_that_another_run_writes_is_refused() {
    let sandbox = Sandbox::new();
    let run = start(sandbox.command(SLOW));
    text_of(&sandbox.path().join("run.jsonl"));
    let second = sandbox.run("run --cases cases --record run.jsonl");
    second.exits(2).stderr_has(&["another run writes to run.jsonl", "--record"]);
    assert_eq!(run.end().0, Some(1));
    sandbox.run("replay run.jsonl --cases slow").exits(1);
    // It is free again.
    sandbox.run("run --cases cases --record run.jsonl").exits(0);
}

#[test]
fn run_that_cannot_save_its_record_goes_on_and_says_so() {
    let sandbox = Sandbox::new();
    symlink("/dev/full", sandbox.path().join("full.jsonl")).expect("a link");
    sandbox.write("file", "");
    let shows = |came: &Finished| {
        came.exits(6).stdout_has(&["as expected: 30 tests"]).stderr_has(&["casebook: cannot save "]);
        assert!(sandbox.read("report.json").contains("\"passed\""));
        fs::remove_file(sandbox.path().join("report.json")).expect("it was written");
    };
    let run = "run --cases cases --report json=report.json";
    shows(&sandbox.run(&format!("{run} --record full.jsonl")));
    shows(&sandbox.run(&format!("{run} --record file/run.jsonl")));
    shows(&Finished::of(sandbox.command(run).env("XDG_CACHE_HOME", sandbox.path().join("file"))));
    // A report that can't be written keeps no other from being.
    sandbox
        .run(&format!("{run} --report md=file/x.md"))
        .exits(6)
        .stdout_has(&["as expected: 30 tests"])
        .stderr_has(&["file/x.md"]);
    assert!(sandbox.read("report.json").contains("\"passed\""));
    // A test that fails doesn't change the status.
    let broken = "run reference:input-not-validated --cases cases --record full.jsonl";
    sandbox.run(broken).exits(6).stdout_has(&["FAIL  post/arguments-checked", "not as expected"]);
}

#[test]
fn record_on_a_disk_that_fills_up_ends_with_a_whole_line() {
    let sandbox = Sandbox::new();
    let command = sandbox.command("run --cases cases --record run.jsonl --report json=report.json --jobs 1");
    // In blocks of 512 bytes: some tests fit, all do not.
    let came = Finished::of(&mut behind(&["sh", "-c", "ulimit -f 24; exec \"$0\" \"$@\""], &command));
    came.exits(6)
        .stdout_has(&["as expected: 30 tests"])
        .stderr_has(&["casebook: cannot save the rest of the record: run.wire.jsonl"]);
    let record = sandbox.read("run.jsonl");
    assert!(record.ends_with("}\n") && (2..31).contains(&record.lines().count()), "{record}");
    assert!(sandbox.read("run.wire.jsonl").ends_with("}\n"));
    sandbox.run("replay run.jsonl --cases cases").exits(5).stdout_has(&["INCOMPLETE: "]);
}

#[test]
fn run_whose_output_cannot_be_written_still_saves() {
    let sandbox = Sandbox::new();
    let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = sandbox.command("run --cases cases --record run.jsonl --report json=report.json");
    let mut run = Running::with_outputs(command.stdout(full).stderr(Stdio::piped()));
    let words = run.err.by_ref().collect::<Vec<_>>().join("\n");
    assert_eq!(run.end().0, Some(6), "{words}");
    assert!(words.contains("cannot save all of standard output"), "{words}");
    assert!(sandbox.read("report.json").contains("\"passed\""));
    sandbox.run("replay run.jsonl --cases cases").exits(0);
}

#[test]
fn run_without_a_home_says_that_nothing_is_recorded() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command("run --cases cases --only post/letter");
    // A relative one counts for none.
    command.env("HOME", "home").env_remove("XDG_CACHE_HOME");
    Finished::of(&mut command).exits(0).stderr_has(&["there is no record", "--record FILE"]);
}
