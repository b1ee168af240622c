//! The program as a user meets it: its words, and the exit status of each way to end.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_casebook");

/// A folder of its own, with a cache that isn't the user's.
struct Desk(TempDir);

/// What a command came to.
struct Came {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).expect("a file")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.path()).env("XDG_CACHE_HOME", self.path().join("cache"));
        command.env_remove("NO_COLOR").env_remove("CASEBOOK_LOG").stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Came {
        Came::of(self.command(arguments).output().expect("casebook starts"))
    }

    /// A target whose adapter is a line of shell.
    fn target(&self, name: &str, script: &str, more: &str) {
        let script = serde_json::to_string(script).expect("a string");
        let claims = "[claims]\nroles = [\"server\"]\ntransports = [\"http\"]\nrevisions = [\"2026-07-28\"]\n";
        let text = format!("title = \"A target\"\ncommand = [\"sh\", \"-c\", {script}]\n{claims}{more}");
        self.write(&format!("{name}/target.toml"), &text);
    }
}

impl Came {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Asserts the exit status, and that these words were said.
    fn says(&self, status: i32, words: &[&str]) -> &Self {
        let Self { out, err, .. } = self;
        assert_eq!(self.status, Some(status), "out: {out}\nerr: {err}");
        for word in words {
            assert!(out.contains(word) || err.contains(word), "`{word}` isn't said\nout: {out}\nerr: {err}");
        }
        self
    }
}

const FEW: &str = "tools/no-parameters";

#[test]
fn help_reads_well_and_tells_every_exit_status() {
    let desk = Desk::new();
    insta::assert_snapshot!("help", desk.run(&["--help"]).says(0, &[]).out);
    insta::assert_snapshot!("help-run", desk.run(&["run", "--help"]).says(0, &[]).out);
    desk.run(&[]).says(2, &["Usage"]);
    desk.run(&["runn"]).says(2, &["run"]);
    desk.run(&["run", "--revision", "2024-01-01"]).says(2, &["2026-07-28"]);
}

#[test]
fn a_run_against_the_reference_ends_well_and_leaves_a_record_that_can_be_replayed() {
    let desk = Desk::new();
    let ran = desk.run(&["run", "--only", FEW, "--record", "run.jsonl"]);
    ran.says(0, &["as expected", "passed"]);
    assert!(!ran.out.contains('\u{1b}'), "no colour in a pipe");
    let record = desk.read("run.jsonl");
    let lines: Vec<&str> = record.lines().collect();
    assert!(lines[0].starts_with(r#"{"header""#) && lines[lines.len() - 1].starts_with(r#"{"footer""#));
    assert_eq!(desk.read("run.wire.jsonl").lines().count(), lines.len() - 2);
    let verdict = |came: &Came| came.out.lines().last().map(str::to_owned);
    assert_eq!(verdict(&ran), verdict(desk.run(&["replay", "run.jsonl"]).says(0, &[])));

    desk.write("cut.jsonl", &record[..record.len() / 2]);
    desk.run(&["replay", "cut.jsonl"]).says(5, &["INCOMPLETE"]);
    desk.write("newer.jsonl", &record.replacen(r#""format":1"#, r#""format":99"#, 1));
    desk.run(&["replay", "newer.jsonl"]).says(2, &["format 99", "newer casebook"]);
    desk.run(&["replay", "nothing.jsonl"]).says(2, &["nothing.jsonl"]);
}

#[test]
fn a_broken_must_is_shown_with_its_sentence_and_the_messages_that_prove_it() {
    let desk = Desk::new();
    let only = "sep-2106/composition/rejects/any-of@2026-07-28+http";
    let came = desk.run(&["run", "reference:input-not-validated", "--only", only]);
    came.says(1, &["FAIL", "tools/inputs-validated", "MUST  ", "https://modelcontextprotocol.io/specification/"]);
    came.says(1, &["missed", "outcome: expected", "sent", "tools/call", "received", "not as expected"]);
}

#[test]
fn mistakes_in_cases_are_all_listed_and_nothing_is_started() {
    let desk = Desk::new();
    let requirement = r#"{"r":{"level":"MUST","roles":["server"],"source":"s","quote":"q","harm":"none","why":"w"}}"#;
    desk.write("cases/f/requirements.json", requirement);
    desk.write("cases/f/broken.json", "{ no json");
    let case = r#"{"$schema":"../schemas/case.json","title":"A sentence of a test","role":"server",
      "given":{"tools":{"t":{"inputSchema":{"@nestd":{"depth":1}},"does":{"echo":true}}}},
      "tests":{"a":{"title":"another sentence","when":{"call":"u"},"then":{"rr":{"outcome":"sucess"}}}}}"#;
    desk.write("cases/f/wrong.json", case);
    let mistakes = ["broken.json", "@nestd", "`u`", "`rr`", "sucess", "did you mean `success`", "nothing was started"];
    desk.run(&["run", "--cases", "cases"]).says(2, &mistakes);
    desk.run(&["lint", "cases"]).says(2, &["wrong.json", "broken.json"]);
    let short = desk.run(&["lint", "--short", "cases"]);
    short.says(2, &["wrong.json:3:", "unknown-requirement: "]);
    desk.run(&["lint", "elsewhere"]).says(2, &["elsewhere"]);
}

#[test]
fn mistakes_in_a_target_are_all_listed() {
    let desk = Desk::new();
    let text =
        "title = 1\ncomand = []\n[claims]\nroles = [\"servr\"]\ntransports = [\"http\"]\n[[known]]\ntest = \"[\"\n";
    desk.write("bad/target.toml", text);
    let mistakes = ["`title` should be a string", "`comand`", "servr", "`revisions`", "`reason`", "target.toml:1"];
    desk.run(&["run", "bad"]).says(2, &mistakes);
    desk.write("bad/target.toml", "title = \n");
    desk.run(&["run", "bad"]).says(2, &["the file is no TOML"]);
}

#[test]
fn nothing_to_run_is_an_error_that_names_the_nearest() {
    let desk = Desk::new();
    desk.run(&["run", "--only", "tools/no-parameter"]).says(3, &["matches no test", "tools/no-parameters"]);
    desk.run(&["run", "--only", "sep-2106/composition", "--revision", "2025-06-18"]).says(3, &["nothing to run"]);
    desk.run(&["list", "nothing/at/all"]).says(3, &["no test matches"]);
}

#[test]
fn a_target_that_cannot_be_had_is_named_with_what_it_said_last() {
    let desk = Desk::new();
    desk.run(&["run", "referense"]).says(4, &["did you mean `reference`?"]);
    let run = |name: &str, more: &[&str]| desk.run(&[&["run", name, "--only", FEW], more].concat());
    desk.target("dies", "echo the last words >&2; exit 7", "");
    run("dies", &[]).says(4, &["exit status 7", "the last words"]);
    desk.target("silent", "exec sleep 1000", "");
    run("silent", &["--start-limit", "200ms"]).says(4, &["given up after 3"]);
    let hello = r#"read line; echo '{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":[],"transports":["http"],"revisions":["2026-07-28"]}}'; cat"#;
    desk.target("boaster", hello, "");
    run("boaster", &[]).says(4, &["claims", "server"]);
    desk.target("unready", "true", "[setup]\ncommands = [[\"sh\", \"-c\", \"echo no such luck; exit 3\"]]\n");
    run("unready", &[]).says(4, &["setting up", "no such luck", "exit status: 3"]);
    desk.target("nowhere", "true", "[setup]\ncommands = [[\"no-such-program\"]]\n");
    run("nowhere", &[]).says(4, &["no-such-program", "is it installed"]);
    desk.target("variants", "true", "[variants.one]\n");
    desk.run(&["run", "variants:two"]).says(2, &["has no variant `two`", "one"]);
}

#[test]
fn setup_runs_once_and_again_when_what_it_depends_on_changes() {
    let desk = Desk::new();
    let setup = "[setup]\ncommands = [[\"sh\", \"-c\", \"echo x >> times\"]]\ninputs = [\"lock\"]\n";
    desk.target("t", "exit 1", setup);
    desk.write("t/lock", "1");
    let times = || {
        desk.run(&["run", "t", "--only", FEW]).says(4, &[]);
        desk.read("t/times").lines().count()
    };
    assert_eq!((times(), times()), (1, 1));
    desk.write("t/lock", "2");
    assert_eq!((times(), times()), (2, 2));
}

/// The reference, as a target of somebody else.
fn borrowed(desk: &Desk, name: &str, mutant: &str, known: &str) {
    let adapter = format!("exec {PROGRAM} __adapter {mutant}");
    desk.target(name, &adapter, known);
}

#[test]
fn known_failures_are_excused_until_they_no_longer_fail() {
    let desk = Desk::new();
    let known = |requirement: &str, test: &str| {
        format!("[[known]]\ntest = \"{test}\"\nrequirement = \"{requirement}\"\nreason = \"lets everything through\"\n")
    };
    let entry = known("tools/text-mirrors-structured", "sep-2106/text-mirror");
    desk.write("cases/f/requirements.json", "{}");
    borrowed(
        &desk,
        "excused",
        "--mutant text-not-mirrored",
        &entry.replace("lets everything through", "mirrors nothing"),
    );
    let one = ["--only", "sep-2106/text-mirror"];
    desk.run(&[&["run", "excused"], one.as_slice()].concat()).says(0, &["known", "mirrors nothing"]);
    borrowed(&desk, "unmatched", "", &known("tools/inputs-validated", "tools/no-such-file"));
    desk.run(&[&["run", "unmatched"], one.as_slice()].concat()).says(2, &["tools/no-such-file", "matches no test"]);
}

#[test]
fn snapshots_are_written_when_accepted_and_compared_ever_after() {
    let desk = Desk::new();
    borrowed(&desk, "t", "", "");
    let run = |more: &[&str]| desk.run(&[&["run", "t", "--only", FEW], more].concat());
    run(&[]).says(0, &["has no snapshots yet"]);
    run(&["--accept"]).says(0, &["1 snapshots written"]);
    run(&[]).says(0, &[]);
    let file = "t/snapshots/tools/no-parameters.snap";
    desk.write(file, &desk.read(file).replacen("success", "crash", 1));
    run(&[]).says(1, &["snapshot changed", "- ", "+ ", "--accept"]);
    // A part of the file says nothing of the whole.
    desk.run(&["run", "t", "--only", FEW, "--transport", "http", "--revision", "2026-07-28"]).says(1, &[]);
    desk.run(&["run", "t", "--only", "tools/no-parameters/*/open"]).says(0, &[]);
}

#[test]
fn cases_can_be_listed_and_explained() {
    let desk = Desk::new();
    let listed = desk.run(&["list", "tools/no-parameters@2026-07-28+http"]);
    listed.says(0, &["tools/no-parameters/"]);
    assert!(listed.out.lines().all(|line| line.ends_with("@2026-07-28+http")));
    desk.run(&["explain", FEW]).says(0, &["right", "The sentences", "https://modelcontextprotocol.io/"]);
    desk.run(&["explain", FEW, "--expanded"]).says(0, &["inputSchema"]);
    desk.run(&["explain", FEW, "--wire", "2026-07-28"]).says(0, &["tools/call", "mcp-method", "resultType"]);
    desk.run(&["explain", "tools/no-parameter"]).says(2, &["did you mean `tools/no-parameters`?"]);
}

#[test]
fn a_smoke_test_says_what_an_adapter_should_have_answered() {
    let desk = Desk::new();
    desk.run(&["smoke", "reference"]).says(0, &["right   hello", "right   closing its standard input"]);
    desk.target("mumbles", "while read line; do echo mumble; done", "");
    desk.run(&["smoke", "mumbles"]).says(4, &["WRONG   hello", "should be"]);
}

#[test]
fn a_target_that_dies_in_a_test_costs_that_test_and_the_run_goes_on() {
    let desk = Desk::new();
    // The first process is killed by its first fixture; those after it are sound.
    let script =
        format!("if mkdir died; then read hello; echo '{HELLO}'; read serve; kill -9 $$; fi; exec {PROGRAM} __adapter");
    desk.target("frail", &script, "");
    let came = desk.run(&["run", "frail", "--only", FEW, "--jobs", "1"]);
    came.says(1, &["killed by signal 9", "passed"]);
}

const HELLO: &str = r#"{"id":"1","hello":{"sdk":"x","version":"1","language":"sh","api":"none","roles":["server"],"transports":["http"],"revisions":["2026-07-28"]}}"#;

#[cfg(unix)]
#[test]
fn an_interrupted_run_reports_what_it_saw_and_leaves_nothing_behind() {
    use nix::sys::signal::{Signal, kill};
    let desk = Desk::new();
    let few = ["--only", "tools/http-status", "--only", "tools/output", "--jobs", "1"];
    let arguments = [&["run", "reference:sleeps-1s", "--record", "run.jsonl"], few.as_slice()].concat();
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let mut command = desk.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("casebook starts");
        let id = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
        // The first line comes when the first case file is done.
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut text = String::new();
        out.read_line(&mut text).expect("a line");
        kill(id, signal).expect("it is still there");
        std::io::Read::read_to_string(&mut out, &mut text).expect("UTF-8");
        assert_eq!(child.wait().expect("it ends").code(), Some(5), "{text}");
        assert!(text.contains("INCOMPLETE"), "{text}");
        let last = desk.read("run.jsonl").lines().last().map(str::to_owned).expect("a footer");
        assert!(last.contains(r#""interrupted":true"#), "{last}");
    }
}
