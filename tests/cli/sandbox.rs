//! A temporary folder for each test, and the program run in it.

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use base64::Engine as _;
use tempfile::TempDir;

#[cfg(target_os = "linux")]
use crate::process::Running;
use crate::process::output;

/// The program that the tests start: that of `CASEBOOK_PROGRAM`, which is optimised, or that of this build.
pub(crate) const PROGRAM: &str = match option_env!("CASEBOOK_PROGRAM") {
    Some(program) => program,
    None => env!("CARGO_BIN_EXE_casebook"),
};

/// The search path with the folder of the Python interpreter first. The `python3` of the search path may be a script that
/// is slower than the interpreter.
static SEARCHED: LazyLock<OsString> = LazyLock::new(|| {
    let asked = output(Command::new("python3").args(["-c", "import os, sys; print(os.path.dirname(sys.executable))"]));
    let folder = PathBuf::from(String::from_utf8(asked.stdout).expect("a path").trim());
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).expect("they were a path before")
});

/// A temporary folder, which is also the home folder of the program.
pub(crate) struct Sandbox(TempDir);

/// A command that has ended: its exit status and its output.
pub(crate) struct Finished {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Sandbox {
    /// Creates an empty sandbox.
    pub(crate) fn empty() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Creates a sandbox with small cases, `cases`, and with cases that are slow with the mutant `sleeps-1s`, `slow`.
    pub(crate) fn new() -> Self {
        let sandbox = Self::empty();
        for name in ["cases/post/letter.json", "cases/post/parcel.json", "cases/post/requirements.json"] {
            sandbox.lay_out(name);
        }
        sandbox.lay_out("slow/post/queue.json");
        sandbox.lay_out("slow/post/requirements.json");
        sandbox
    }

    /// Creates a sandbox with cases of clients, `visits`.
    #[cfg(target_os = "linux")]
    pub(crate) fn visited() -> Self {
        let sandbox = Self::empty();
        sandbox.lay_out("visits/post/visit.json");
        sandbox.lay_out("visits/post/requirements.json");
        sandbox
    }

    /// Copies a file of `tests/cli` or `tests/cli/rogues`.
    pub(crate) fn lay_out(&self, name: &str) {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
        let own = [tests.join(name), tests.join("rogues").join(name)];
        let own = own.iter().find(|path| path.exists()).expect("a file of the tests");
        self.write(name, &fs::read_to_string(own).expect("text"));
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file, and the unpacked data of an HTML report.
    pub(crate) fn read_unpacked(&self, name: impl AsRef<Path>) -> String {
        let mut text = String::from_utf8_lossy(&fs::read(self.path().join(name)).expect("a file")).into_owned();
        let parts: Vec<String> = text.split("<script type=\"application/gzip\"").skip(1).map(unpacked).collect();
        text.extend(parts);
        text
    }

    /// The program with arguments, separated by spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        command.env("HOME", self.path()).env("XDG_CACHE_HOME", self.path().join("cache")).env("PATH", &*SEARCHED);
        let clean = [
            "NO_COLOR",
            "CLICOLOR_FORCE",
            "COLUMNS",
            "CASEBOOK_SECRETS",
            "GITHUB_STEP_SUMMARY",
            "MCP_CONFORMANCE_SCENARIO",
        ];
        for name in clean {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Finished {
        Finished::of(&mut self.command(arguments))
    }

    /// Starts the program, with both outputs read.
    #[cfg(target_os = "linux")]
    pub(crate) fn start(&self, arguments: &str) -> Running {
        Running::start(self.command(arguments))
    }

    /// Writes a target in a folder of that name, over HTTP on the newest revision.
    pub(crate) fn target(&self, name: &str, command: &[&str], more: &str) {
        let claims = "roles = [\"server\"]\ntransports = [\"http\"]\nrevisions = [\"2026-07-28\"]";
        let command = serde_json::to_string(command).expect("strings");
        self.write(
            &format!("{name}/target.toml"),
            &format!("title = \"A target\"\ncommand = {command}\n\n[claims]\n{claims}\n\n{more}"),
        );
    }

    /// Writes a target whose adapter is a shell script.
    pub(crate) fn script(&self, name: &str, script: &str, more: &str) {
        self.target(name, &["sh", "-c", script], more);
    }

    /// Writes a target whose adapter is the reference or a mutant of it.
    pub(crate) fn borrowed(&self, name: &str, mutant: Option<&str>, more: &str) {
        let mutant = mutant.map(|mutant| ["--mutant", mutant]);
        let command = [PROGRAM, "__adapter"];
        let command: Vec<_> = command.into_iter().chain(mutant.into_iter().flatten()).collect();
        self.target(name, &command, more);
    }

    /// Writes a target that misbehaves if a tool is named `lose`.
    pub(crate) fn proxy(&self, name: &str, mode: &str) {
        self.lay_out("proxy.py");
        self.target(name, &["python3", "-S", "-I", "../proxy.py", mode, PROGRAM, "__adapter"], "");
    }

    /// The number of processes with this sandbox in their environment. The kernel may take a moment to remove killed ones.
    #[cfg(target_os = "linux")]
    pub(crate) fn survivors(&self) -> usize {
        let mark = format!("XDG_CACHE_HOME={}", self.path().join("cache").display());
        let living = || {
            let processes = fs::read_dir("/proc").expect("Linux has it").filter_map(Result::ok);
            let environments = processes.filter_map(|one| fs::read(one.path().join("environ")).ok());
            environments.filter(|text| text.split(|byte| *byte == 0).any(|one| one == mark.as_bytes())).count()
        };
        let until = Instant::now() + Duration::from_secs(5);
        while living() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        living()
    }
}

impl Finished {
    /// Runs a command to its end.
    pub(crate) fn of(command: &mut Command) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        let output = output(command);
        Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Asserts the exit status.
    pub(crate) fn exits(&self, status: i32) -> &Self {
        let Self { out, err, .. } = self;
        assert_eq!(self.status, Some(status), "out: {out}\nerr: {err}");
        self
    }

    /// Asserts that these words are on standard output.
    pub(crate) fn stdout_has(&self, words: &[&str]) -> &Self {
        let Self { out, err, .. } = self;
        for word in words {
            assert!(out.contains(word), "`{word}` is missing\nout: {out}\nerr: {err}");
        }
        self
    }

    /// Asserts that these words are on standard error.
    pub(crate) fn stderr_has(&self, words: &[&str]) -> &Self {
        let Self { out, err, .. } = self;
        for word in words {
            assert!(err.contains(word), "`{word}` is missing\nout: {out}\nerr: {err}");
        }
        self
    }

    /// The last line of a run, without the targets and the time.
    pub(crate) fn verdict(&self) -> String {
        let last = self.out.lines().last().unwrap_or_default();
        let (start, rest) = last.split_once(" in ").unwrap_or((last, ""));
        let start = start.split_once(" of ").map_or(start, |(start, _)| start);
        format!("{start}:{}", rest.split_once(':').map_or("", |(_, rest)| rest))
    }

    /// Compares the output with the snapshot of that name, without the parts that differ from run to run.
    pub(crate) fn matches_snapshot(&self, name: &str) -> &Self {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.add_filter(r"(?mi)^ +slow .*\n", "");
        settings.add_filter(r"\d+\.\d{3} s", "[TIME]");
        settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]");
        settings.add_filter(r"[^\s`]*/cache/casebook/", "[CACHE]/");
        settings.add_filter(r"\[CACHE\]/runs/[^/\s]+/", "[CACHE]/runs/[RUN]/");
        settings.add_filter(r"(/private)?/(tmp|var/folders)/[^\s/`\]]*\.tmp\w+", "[DESK]");
        settings.add_filter(&regex_of(PROGRAM), "casebook");
        settings.add_filter(r"mcp-casebook\) `[^`]*`", "mcp-casebook) `[VERSION]`");
        let Self { out, err, status } = self;
        let status = status.map_or("none".to_owned(), |status| status.to_string());
        let text = format!("exit status {status}\n──── out\n{out}──── err\n{err}");
        settings.bind(|| insta::assert_snapshot!(name, text));
        self
    }
}

/// Prints that a test is skipped on this machine, past the capture of the test runner.
pub(crate) fn skip(why: &str) {
    writeln!(std::io::stderr(), "SKIPPED: {why}").expect("standard error is open");
}

/// Escapes a text for a regular expression.
fn regex_of(text: &str) -> String {
    text.chars().map(|one| if one.is_alphanumeric() { one.to_string() } else { format!("\\{one}") }).collect()
}

/// Unpacks the text of an element of an HTML report: gzip in base64, up to the next tag.
fn unpacked(element: &str) -> String {
    let (_, rest) = element.split_once('>').expect("the end of a tag");
    let (base64, _) = rest.split_once('<').expect("an end");
    let gzip = base64::engine::general_purpose::STANDARD.decode(base64).expect("base64");
    let mut text = String::new();
    flate2::read::GzDecoder::new(gzip.as_slice()).read_to_string(&mut text).expect("gzip of UTF-8");
    text
}
