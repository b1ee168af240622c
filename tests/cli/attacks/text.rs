//! Hostile text from every source, through every command, into every output.
//!
//! Commands may print such text, but only as text: no control character or escape sequence of the text reaches a terminal,
//! no line is a command for a CI runner, and XML and JSON remain well-formed.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::process::behind;
use crate::sandbox::{Finished, Sandbox};

/// Texts that do harm if they are printed as they are.
const HOSTILE: &str = concat!(
    "clear \u{1b}[2J\u{1b}]52;c;cHduZWQ=\u{7}\u{1b}]0;title\u{1b}\\ styled \u{1b}[8m\u{1b}[34m\u{1b}[32mleak ",
    "c1 \u{9b}2J\u{9d}52;c;eA==\u{9c} bidi \u{202e}\u{2066}\u{200f} lines \u{2028}\u{2029}\u{85} back \u{8}\u{7f}\ttab\rreturn ",
    "nothing \u{fffe}\u{ffff}\u{1fffe}\u{fdd0} invisible \u{feff}\u{200b}\u{ad}\u{34f}\u{fe0f}\u{e0041} marks e\u{301}\u{302}\u{303}\n",
    "::error file=README.md::forged\n \u{a0}\u{3000}::add-mask::forged\n::stop-commands::forged\n::set-output name=a::forged\n",
    "a ##[error]forged ###[add-path]forged ##vso[task.setvariable variable=a]forged ##teamcity[forged]\n",
    "section_start:1:forged\r\u{1b}[0K </pre></script><img src=x onerror=alert(1)> ]]><x> `*_[a](b)|@all #1 www.a.example ",
    "https://a.example mail@a.example {{7*7}} %0A::error::forged %s __proto__ constructor toString\n",
);

/// A shorter hostile text, which fits into a file name.
const SHORT: &str = "\u{1b}[2J\u{1b}[32mleak\u{202e}\u{ffff}\n::error::forged\n##[error]forged\r<img>";

/// The text without NUL characters, which arguments and file names cannot contain.
fn argument(text: &str) -> String {
    text.replace('\0', "\u{1}")
}

/// Returns whether a terminal prints something other than a visible character.
fn is_hidden(one: char) -> bool {
    let listed =
        "\u{ad}\u{34f}\u{61c}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{2066}\u{fe0f}\u{feff}\u{e0041}";
    one.is_control() || listed.contains(one) || ('\u{202a}'..='\u{202e}').contains(&one) || is_noncharacter(one)
}

fn is_noncharacter(one: char) -> bool {
    ('\u{fdd0}'..='\u{fdef}').contains(&one) || matches!(u32::from(one) & 0xffff, 0xfffe | 0xffff)
}

/// The commands that GitHub's runner (`ActionCommand.cs`), Azure's agent or `TeamCity` find in a line.
fn commands(line: &str) -> Vec<String> {
    let trimmed = line.trim_start();
    let second = trimmed.strip_prefix("::").and_then(|rest| rest.split_once("::"));
    let mut found: Vec<_> = second.map(|(command, _)| command.to_owned()).into_iter().collect();
    for (at, _) in line.match_indices("##") {
        let name = line[at + 2..].trim_start_matches(|one: char| one.is_ascii_alphabetic());
        if let (true, Some((command, _))) = (name.starts_with('['), line[at..].split_once(']')) {
            found.push(command.to_owned());
        }
    }
    found
}

/// The text without the escape sequences that casebook itself prints.
fn bare(text: &str) -> String {
    let mut out = text.to_owned();
    for own in ["0", "1", "2", "4", "31", "32", "33", "36", "35;1", "36;1", "31;1", "33;1", "36;1;4", "32;1", ""] {
        out = out.replace(&format!("\u{1b}[{own}m"), "");
    }
    out
}

/// The problems in the outputs of commands.
#[derive(Default)]
struct Problems(Vec<String>);

impl Problems {
    fn check_text(&mut self, what: &str, text: &str) {
        if text.contains("\u{1b}[32mleak") {
            self.0.push(format!("{what}: styled by the text"));
        }
        let text = bare(text);
        for line in text.split('\n') {
            if let Some(hidden) = line.chars().find(|one| is_hidden(*one)) {
                self.0.push(format!("{what}: {} in {line:?}", hidden.escape_unicode()));
            }
            for command in commands(line) {
                let words = ["error", "warning", "notice"].map(|word| format!("{word} "));
                let is_own = words.iter().any(|word| command.starts_with(word.as_str())) && line.starts_with("::");
                // A property contains no unescaped colon.
                let is_own = is_own && !command.contains([':']) && !command.contains("README.md");
                if !(is_own && what.contains("--report github")) {
                    self.0.push(format!("{what}: the command {command:?} in {line:?}"));
                }
            }
        }
    }

    fn check_command(&mut self, what: &str, finished: &Finished) {
        self.check_text(&format!("{what} (out)"), &finished.out);
        self.check_text(&format!("{what} (err)"), &finished.err);
        let is_known = finished.status.is_some_and(|status| (0..=5).contains(&status));
        if !is_known {
            self.0.push(format!("{what}: status {:?}\n{}", finished.status, finished.err));
        }
    }

    fn assert_none(self) {
        assert!(self.0.is_empty(), "{} problems:\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// Runs a command as in a GitHub job, without and with colours, and checks its outputs.
fn plain_and_coloured(sandbox: &Sandbox, problems: &mut Problems, arguments: &str, more: &[&str]) -> Finished {
    let plain = once(sandbox, problems, (arguments, more), false);
    once(sandbox, problems, (arguments, more), true);
    plain
}

fn once(sandbox: &Sandbox, problems: &mut Problems, (arguments, more): (&str, &[&str]), colours: bool) -> Finished {
    let mut command = sandbox.command(arguments);
    command.args(more).env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", sandbox.path().join("summary.md"));
    if colours {
        command.env("CLICOLOR_FORCE", "1");
    }
    let finished = Finished::of(&mut command);
    let more = if more.is_empty() { "" } else { " …" };
    problems.check_command(&format!("{arguments}{more}{}", if colours { " in colour" } else { "" }), &finished);
    finished
}

/// Runs a command on a pseudo-terminal, and checks its output.
fn on_a_terminal(sandbox: &Sandbox, problems: &mut Problems, arguments: &str) {
    let terminal = ["python3", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/attacks/terminal.py")];
    let finished = Finished::of(behind(&terminal, &sandbox.command(arguments)).env("TERM", "xterm-256color"));
    assert!(finished.out.contains("\u{1b}["), "{arguments} isn't in colour: {}{}", finished.out, finished.err);
    problems.check_text(&format!("{arguments} on a terminal"), &finished.out);
}

const REPORTS: [&str; 5] = ["html=o.html", "junit=o.xml", "md=o.md", "json=o.json", "badge=badges"];

/// The options that request every report.
fn all_reports() -> String {
    REPORTS.map(|report| format!("--report {report}")).join(" ") + " --report github=-"
}

fn assert_no_markup(what: &str, markdown: &str) {
    for sign in ["](b)", "@all", "#1 ", "www.a", "https://a.example", "mail@", "mail&#64;", "<img", "`*_"] {
        assert!(!markdown.contains(sign), "{what}: {sign} in\n{markdown}");
    }
}

/// Checks all files that reports were written to, and deletes them.
fn check_files(sandbox: &Sandbox, problems: &mut Problems, what: &str) {
    for file in ["o.html", "o.xml", "o.md", "o.json", "summary.md"] {
        let text = sandbox.read(file);
        problems.check_text(&format!("{what}: {file}"), &sandbox.read_unpacked(file));
        assert!(file == "o.json" || !text.contains("<img"), "{what}: markup in {file}");
    }
    assert_no_markup(what, &sandbox.read("o.md"));
    let parse = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])";
    let parsed = Finished::of(Command::new("python3").args(["-c", parse, "o.xml"]).current_dir(sandbox.path()));
    assert_eq!(parsed.status, Some(0), "{what}: {}", parsed.err);
    serde_json::from_str::<Value>(&sandbox.read("o.json")).expect("JSON");
    for badge in fs::read_dir(sandbox.path().join("badges")).expect("badges") {
        let badge = badge.expect("a badge").path();
        problems.check_text(&format!("{what}: {}", badge.display()), &fs::read_to_string(&badge).expect("UTF-8"));
    }
    for file in ["o.html", "o.xml", "o.md", "o.json", "summary.md"] {
        fs::remove_file(sandbox.path().join(file)).expect("it was there");
    }
}

/// A target that sends the hostile text, `H`, in one place; `does` is Python code for `rogue.py`.
struct TextTarget {
    name: &'static str,
    at: &'static str,
    does: &'static str,
}

const TEXT_TARGETS: [TextTarget; 15] = [
    TextTarget {
        name: "says",
        at: "call",
        does: "say(answer(content=[{'type': 'text', 'text': H}], structuredContent={H: H}))",
    },
    TextTarget {
        name: "errs",
        at: "call",
        does: "say(json.dumps({'jsonrpc': '2.0', 'id': id, 'error': {'code': 1.5, 'message': H, 'data': H}}))",
    },
    TextTarget { name: "raw", at: "call", does: "put(H, '\\n'); os._exit(3)" },
    TextTarget { name: "dies", at: "call", does: "sys.stderr.write(H); sys.stderr.flush(); os._exit(3)" },
    TextTarget {
        name: "heads",
        at: "call",
        does: "put('HTTP/1.1 500 ', H, '\\r\\nx-a: ', H, '\\r\\n\\r\\n'); os._exit(3)",
    },
    TextTarget {
        name: "lists",
        at: "list",
        does: "say(json.dumps({'jsonrpc': '2.0', 'id': id, 'result': {'tools': [{'name': H, 'description': H, 'inputSchema': {H: H}}], 'nextCursor': H}}))",
    },
    TextTarget { name: "cannot", at: "serve", does: "say(json.dumps({'id': asked['id'], 'cannot': H}))" },
    TextTarget {
        name: "refuses",
        at: "serve",
        does: "say(json.dumps({'id': asked['id'], 'refused': {'type': H, 'message': H}}))",
    },
    TextTarget { name: "fails", at: "serve", does: "sys.stderr.write(H); sys.stderr.flush(); os._exit(3)" },
    TextTarget { name: "leads", at: "serve", does: "say(json.dumps({'id': asked['id'], 'serving': {'url': H}}))" },
    TextTarget { name: "noise", at: "serve", does: "put(H.replace('\\n', ' '), '\\n'); say(good())" },
    TextTarget {
        name: "hello",
        at: "hello",
        does: "say(json.dumps({'id': asked['id'], 'hello': {**hello, 'sdk': H, 'version': H, 'language': H, 'api': H, 'lacks': [H]}}))",
    },
    TextTarget { name: "differs", at: "serve", does: "say(good())" },
    TextTarget { name: "mumbles", at: "hello", does: "put(H, '\\n'); os._exit(3)" },
    TextTarget { name: "leaves", at: "hello", does: "sys.stderr.write(H); sys.stderr.flush(); os._exit(3)" },
];

impl TextTarget {
    fn lay_out(&self, sandbox: &Sandbox) {
        let does = format!("H = open('../hostile.txt', newline='').read()\n{}", self.does);
        let command = json!(["python3", "-S", "-I", "../rogue.py", self.at, does]);
        let claims = "roles = [\"server\"]\ntransports = [\"stdio\", \"http\"]\nrevisions = [\"2026-07-28\"]";
        let mut own = format!("title = {h}\nunverified = {h}", h = quoted(HOSTILE));
        if matches!(self.name, "hello" | "differs") {
            own.extend(["\npackage = ", &quoted(HOSTILE), "\nversion = ", &quoted(HOSTILE)]);
        }
        let known = format!(
            "[[known]]\ntest = \"post/shelf/kept\"\nrequirement = \"post/results-are-given\"\nreason = {0}\nissue = {0}",
            quoted(HOSTILE)
        );
        let known = if self.name == "says" { known } else { String::new() };
        sandbox.write(
            &format!("{}/target.toml", self.name),
            &format!("{own}\ncommand = {command}\n\n[claims]\n{claims}\n\n{known}\n"),
        );
    }
}

/// A text as a string of both TOML and JSON.
fn quoted(text: &str) -> String {
    let json = json!(text).to_string();
    json.chars().map(|one| if one == '\u{7f}' { "\\u007f".to_owned() } else { one.to_string() }).collect()
}

/// Creates a sandbox with the cases of `rogues/shelf` and the hostile text.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::empty();
    for name in ["rogue.py", "shelf/post/shelf.json", "shelf/post/requirements.json"] {
        sandbox.lay_out(name);
    }
    sandbox.write("hostile.txt", HOSTILE);
    sandbox
}

#[test]
fn text_from_targets_is_shown_as_text_by_every_command() {
    let (sandbox, mut problems) = (sandbox(), Problems::default());
    for target in &TEXT_TARGETS {
        target.lay_out(&sandbox);
    }
    let names = TEXT_TARGETS.map(|target| target.name).join(" ");
    let run = format!("run {names} --cases shelf --run-log run.jsonl --jobs 8 --limit step=4s {}", all_reports());
    let ran = once(&sandbox, &mut problems, (&run, &[]), false);
    // Every place of a target is shown, or the test shows nothing.
    for word in ["marks e", "given up", "failed", "cannot", "sent", "received", "stderr", "refused", r"\u{1b}[2J"] {
        assert!(ran.out.contains(word), "{word} in {}\n{}", ran.out, ran.err);
    }
    check_files(&sandbox, &mut problems, "run");
    // `smoke` has fixtures of its own; `run` and `serve` cover the targets that send the text when they serve.
    for target in ["lists", "hello", "mumbles", "leaves"] {
        once(&sandbox, &mut problems, (&format!("smoke {target}"), &[]), false);
    }
    once(&sandbox, &mut problems, ("run says dies cannot --cases shelf", &[]), true);
    for target in ["cannot", "refuses", "fails", "mumbles", "leaves"] {
        plain_and_coloured(&sandbox, &mut problems, &format!("serve {target} post/shelf --cases shelf"), &[]);
    }
    plain_and_coloured(&sandbox, &mut problems, "replay run.jsonl --cases shelf", &[]);
    plain_and_coloured(&sandbox, &mut problems, "diff run.jsonl#says run.jsonl#dies --cases shelf", &[]);
    for kind in ["html", "junit", "md", "json", "badge"] {
        let mut command = sandbox.command(&format!("report run.jsonl --cases shelf --report {kind}=-"));
        problems.check_command(&format!("report --report {kind}=-"), &Finished::of(&mut command));
    }
    problems.assert_none();
}

#[test]
fn text_from_set_ups_and_clients_is_shown_as_text() {
    let (sandbox, mut problems) = (sandbox(), Problems::default());
    let setup = |name: &str, script: &str| {
        let setup = format!("[setup]\ncommands = [[\"sh\", \"-c\", {}]]\n", json!(script));
        sandbox.target(name, &["sh", "-c", "exit 7"], &setup);
    };
    setup("successful", "cat ../hostile.txt; cat ../hostile.txt >&2");
    setup("broken", "cat ../hostile.txt; cat ../hostile.txt >&2; exit 1");
    for name in ["successful", "broken"] {
        let finished = plain_and_coloured(&sandbox, &mut problems, &format!("run {name} --cases shelf"), &[]);
        finished.stderr_has(&["marks e"]);
    }
    let client = "H = open('../hostile.txt', newline='').read()
say(json.dumps({'id': asked['id'], 'hello': {**hello, 'roles': ['client'], 'transports': ['http']}}))
for line in sys.stdin.buffer: say(json.dumps({'id': json.loads(line)['id'], 'cannot': H}))";
    let claims = "[claims]\nroles = [\"client\"]\ntransports = [\"http\"]\nrevisions = [\"2026-07-28\"]\n";
    let command = json!(["python3", "-S", "-I", "../rogue.py", "hello", client]);
    sandbox.write("client/target.toml", &format!("title = \"A client\"\ncommand = {command}\n{claims}"));
    sandbox.lay_out("visits/post/visit.json");
    sandbox.lay_out("visits/post/requirements.json");
    let finished = plain_and_coloured(
        &sandbox,
        &mut problems,
        "drive client post/visit/kept http://127.0.0.1:1/ --cases visits",
        &[],
    );
    finished.stderr_has(&["marks e"]);
    plain_and_coloured(&sandbox, &mut problems, "run client --cases visits", &[]).stdout_has(&["marks e"]);
    problems.assert_none();
}

/// Collects the paths of all strings in a value.
fn texts(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(path.to_owned()),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| texts(item, &format!("{path}/{at}"), found));
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                texts(value, &format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            };
            members.iter().for_each(member);
        }
        _ => {}
    }
}

/// A run log with a record of each kind, which the tests change.
fn run_log() -> Vec<Value> {
    let verdict = |kind: &str, more: Value| {
        let mut verdict = json!({ "step": 0, "requirement": "post/calls-answered", "level": "MUST", "kind": kind,
            "detail": [{ "alternative": "because", "finding": { "undecidable": { "place": "outcome", "reason": "words" } } },
                { "finding": { "mismatch": { "place": "outcome", "expected": "a", "observed": "b" } } }], "line": 7 });
        verdict.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        verdict
    };
    let known = json!({ "excuses": "fail", "known": { "test": "**", "reason": "slow", "issue": "https://a.example" } });
    let step = json!({ "outcome": "success", "took": "instant", "size": "small", "said": "words",
        "advertised": { "tool": {} }, "sent": [{ "message": { "value": { "method": "a" } } }] });
    let record = |index: usize, verdict: Value, observation: Value| {
        json!({ "record": { "index": index, "target": "sdk:low", "test": format!("post/shelf/t/r{index}@2026-07-28+http"),
            "title": "A sentence", "hash": "0", "micros": 2_500_000, "verdicts": [verdict], "observation": observation } })
    };
    let seen = |more: Value| {
        let mut seen = json!({ "steps": [step.clone()] });
        seen.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        seen
    };
    vec![
        json!({ "header": { "format": 3, "casebook": "0.1.0", "targets": ["sdk:low", "other"], "planned": 9, "cases": "0",
            "shard": "1/2", "narrowed": "--only a", "files": ["targets/sdk/target.toml"],
            "about": [{ "target": "sdk:low", "title": "A target", "version": "sdk 1", "unverified": "no", "planned": 9 }],
            "skipped": [{ "target": "sdk:low", "reason": { "role": "client" }, "tests": 3 }] } }),
        record(0, verdict("fail", json!({})), seen(json!({}))),
        record(1, verdict("known", known), seen(json!({}))),
        record(2, verdict("cannot", json!({})), json!({ "steps": [], "cannot": "no way" })),
        record(3, verdict("error", json!({})), json!({ "steps": [], "unavailable": "gone\nlast words" })),
        record(4, verdict("inconclusive", json!({})), seen(json!({}))),
        json!({ "footer": { "ran": 5, "interrupted": true, "stale": [{ "target": "sdk:low",
            "requirement": "post/calls-answered", "known": { "test": "**", "reason": "slow" } }], "micros": 1 } }),
    ]
}

/// The values as JSON lines.
fn lines_of(values: &[Value]) -> String {
    let lines: Vec<_> = values.iter().map(|value| value.to_string() + "\n").collect();
    lines.concat()
}

fn write_log(sandbox: &Sandbox, lines: &[Value]) {
    sandbox.write("evil.jsonl", &lines_of(lines));
}

#[test]
fn text_from_run_logs_is_shown_as_text_or_refused() {
    let (sandbox, mut problems) = (sandbox(), Problems::default());
    let log = run_log();
    let message =
        |from: &str| json!({ "from": from, "text": HOSTILE, "at": 1, "status": 200, "headers": [[HOSTILE, HOSTILE]] });
    let wire = |record: &Value| {
        json!({ "target": "sdk:low", "test": record["record"]["test"], "served": "serving", "stderr": HOSTILE,
            "bindings": { "canaries": [], "unique": HOSTILE, "revision": "2026-07-28" },
            "steps": [{ "messages": [message("harness"), message("target")], "end": { "crash": { "how": HOSTILE } },
            "micros": 0, "canary": [], "handed": HOSTILE }] })
    };
    let wires: Vec<_> = log[1..6].iter().map(wire).collect();
    sandbox.write("evil.wire.jsonl", &lines_of(&wires));
    let reports = all_reports();
    let commands = [
        format!("report evil.jsonl --cases shelf {reports}"),
        "replay evil.jsonl --cases shelf".to_owned(),
        "diff evil.jsonl --target sdk:low --target other --cases shelf --tests 9".to_owned(),
    ];
    // Replace one string at a time: it is either refused, or may have any value.
    let (mut free, mut refused) = (Vec::new(), 0);
    for line in 0..log.len() {
        let mut paths = Vec::new();
        texts(&log[line], "", &mut paths);
        for path in paths {
            let mut changed = log.clone();
            *changed[line].pointer_mut(&path).expect("a text") = HOSTILE.into();
            let read = serde_json::from_value::<casebook::model::record::Line>(changed[line].clone());
            if read.is_ok() {
                free.push((line, path));
                continue;
            }
            refused += 1;
            // One record is enough for each kind of line.
            if line < 3 {
                write_log(&sandbox, &changed);
                plain_and_coloured(&sandbox, &mut problems, &commands[refused % 3], &[]);
            }
        }
    }
    let mut changed = log.clone();
    for (line, path) in &free {
        *changed[*line].pointer_mut(path).expect("a text") = HOSTILE.into();
    }
    write_log(&sandbox, &changed);
    let expected =
        ["/header/narrowed", "/header/about/0/title", "/record/verdicts/0/detail/0/alternative", "/record/title"];
    assert!(expected.iter().all(|path| free.iter().any(|(_, one)| one == path)), "{free:?}");
    let ids = ["/header/targets/0", "/record/test", "/record/target", "/record/verdicts/0/requirement"];
    assert!(ids.iter().all(|path| free.iter().all(|(_, one)| one != path)), "{free:?}");
    assert!(refused > 30, "{refused}");
    _ = fs::remove_file(sandbox.path().join("summary.md"));
    plain_and_coloured(&sandbox, &mut problems, &commands[0], &[])
        .stderr_has(&["partial: 2 targets were tested only in part", r"\u{1b}[2J"]);
    check_files(&sandbox, &mut problems, "report of a run log");
    plain_and_coloured(&sandbox, &mut problems, &commands[1], &[]).stdout_has(&["failed", r"\u{1b}[2J"]);
    plain_and_coloured(&sandbox, &mut problems, &commands[2], &[]);
    // A line that is no JSON, and files that are none.
    for text in [format!("{}\n{HOSTILE}\n", log[0]), HOSTILE.to_owned(), format!("{{\"header\":{}}}\n", json!(HOSTILE))]
    {
        sandbox.write("evil.jsonl", &text);
        for command in &commands {
            plain_and_coloured(&sandbox, &mut problems, command, &[]);
        }
    }
    problems.assert_none();
}

#[test]
fn text_from_case_files_is_shown_as_text() {
    let (sandbox, mut problems) = (sandbox(), Problems::default());
    let h = quoted(HOSTILE);
    // A valid case with the text in each place that may contain any text.
    sandbox.write(
        "good/post/requirements.json",
        &format!(
            r#"{{ "calls-answered": {{ "level": "MUST", "roles": ["server"], "harm": "interop", "why": {h}, "quote": {h},
            "source": "specification/2026-07-28/server/tools#calling-tools" }},
            "unseen": {{ "level": "MUST", "roles": ["server"], "harm": "interop", "why": {h}, "quote": {h}, "unobservable": {h},
            "source": "specification/2026-07-28/server/tools#calling-tools" }} }}"#
        ),
    );
    sandbox.write(
        "good/post/letter.json",
        &format!(
            r#"{{ "$schema": {h}, "title": {h}, "note": {h}, "role": "server", "given": {{ "tools": {{ "lose": {{ "description": {h},
            "inputSchema": {{ "type": "object", "description": {h} }}, "does": {{ "return": {{ "content": [
            {{ "type": "text", "text": {h} }}] }} }} }} }} }},
            "tests": {{ "sent": {{ "title": {h}, "when": {{ "call": "lose", "arguments": {{ {h}: {h} }} }},
            "then": {{ "calls-answered": {{ "outcome": "tool-error" }} }} }} }} }}"#
        ),
    );
    for command in [
        "lint good",
        "lint good --short",
        "list --cases good",
        "explain post/letter --cases good",
        "explain post/letter --cases good --expanded",
        "explain post/letter --cases good --wire 2026-07-28",
        "coverage --cases good",
        "coverage --cases good --format md",
        "coverage --cases good --format json",
        "freeze evil --cases good",
        &format!("run reference --cases good --run-log run.jsonl {}", all_reports()),
        "report run.jsonl --cases good --report md=-",
        "replay run.jsonl --cases good",
    ] {
        plain_and_coloured(&sandbox, &mut problems, command, &[]);
    }
    sandbox.run("explain post/letter --cases good").exits(0).stdout_has(&[r"\u{1b}[2J"]);
    sandbox
        .run(&format!("run reference --cases good {}", all_reports()))
        .exits(1)
        .stdout_has(&["failed", r"\u{1b}[2J"]);
    let page = sandbox.run("coverage --cases good --format md").exits(0).out.clone();
    assert_no_markup("coverage", &page);
    let json = sandbox.run("coverage --cases good --format json");
    serde_json::from_str::<Value>(&json.exits(0).out).expect("JSON");

    // Errors of every kind, beside the raw text, both where JSON permits its characters and where it does not.
    let one_line = HOSTILE.replace('\n', " ");
    let tame: String = one_line.chars().filter(|one| !one.is_control()).collect();
    let tame = tame.replace(['"', '\\'], "'");
    let lines = [
        format!(r#"{{ "title": 7, "{tame}": "{tame}" }}"#),
        format!(r#"{{ "title": "A", "role": "{tame}", "tests": {{ "{tame}": {{}} }} }}"#),
        format!("{{ \"title\": \"{one_line}\" }}"),
        HOSTILE.to_owned(),
        format!(r#"{{ "title": "{tame}", "title": "{tame}" }}"#),
    ];
    for (number, text) in lines.iter().enumerate() {
        sandbox.write(&format!("bad/post/case-{number}.json"), text);
    }
    sandbox.write("bad/post/requirements.json", &lines[0]);
    for command in
        ["lint bad", "lint bad --short", "list --cases bad", "run reference --cases bad", "explain a/b --cases bad"]
    {
        plain_and_coloured(&sandbox, &mut problems, command, &[]);
    }
    for command in ["lint bad", "list --cases bad", "lint good"] {
        on_a_terminal(&sandbox, &mut problems, command);
    }
    problems.assert_none();
}

#[test]
fn text_from_target_files_and_names_is_shown_as_text() {
    let (sandbox, mut problems) = (sandbox(), Problems::default());
    let one_line: String = HOSTILE.chars().filter(|one| !one.is_control() && !"'\"\\".contains(*one)).collect();
    let h = quoted(HOSTILE);
    let claims = "[claims]\nroles = [\"server\"]\ntransports = [\"http\"]\nrevisions = [\"2026-07-28\"]\n";
    let good = format!(
        "title = {h}\npackage = {h}\nversion = {h}\nunverified = {h}\ncommand = [\"sh\", \"-c\", \"exit 7\"]\n"
    );
    sandbox.write("targets/good/target.toml", &format!("{good}{claims}"));
    plain_and_coloured(&sandbox, &mut problems, "targets", &[]).stdout_has(&[r"\u{1b}[2J"]);
    let listed = plain_and_coloured(&sandbox, &mut problems, "targets --format json", &[]);
    let listed: Value = serde_json::from_str(&listed.out).expect("JSON");
    assert!(listed.as_array().is_some_and(|all| all.iter().any(|one| one["title"] == HOSTILE)), "{listed}");
    plain_and_coloured(&sandbox, &mut problems, "run good --cases shelf", &[]);
    let bad = [
        format!("'{one_line}' = '{one_line}'\n"),
        format!("title = 7 # {one_line}\n{good}"),
        format!("{good}{claims}[[known]]\ntest = '[{one_line}'\nrequirement = 'a'\nreason = {h}\n"),
        format!("{good}{claims}[variants.'{one_line}']\n"),
        format!("{good}[claims]\nroles = ['{one_line}']\n"),
        HOSTILE.to_owned(),
    ];
    for (number, text) in bad.iter().enumerate() {
        sandbox.write(&format!("bad-{number}/target.toml"), text);
        for command in ["run", "smoke"] {
            plain_and_coloured(&sandbox, &mut problems, &format!("{command} bad-{number}"), &[]);
        }
    }
    on_a_terminal(&sandbox, &mut problems, "run bad-0");

    // Names of files and folders.
    let path = sandbox.path().join(std::ffi::OsStr::from_bytes(SHORT.as_bytes()));
    fs::create_dir_all(path.join("post")).expect("a folder");
    fs::write(path.join("target.toml"), format!("{good}{claims}")).expect("a file");
    fs::write(path.join("post").join(format!("{SHORT}.json")), "{}").expect("a file");
    fs::write(path.join("run.jsonl"), lines_of(&run_log())).expect("a file");
    let log = format!("{SHORT}/run.jsonl");
    for (command, more) in [
        ("run", vec![SHORT]),
        ("smoke", vec![SHORT]),
        ("lint", vec![SHORT]),
        ("list --cases", vec![SHORT]),
        ("replay --cases shelf", vec![&log]),
        ("report --cases shelf", vec![&log]),
        ("diff --cases shelf", vec![&log, &log]),
        ("list --import", vec![&format!("json-schema-test-suite={SHORT}")]),
        ("new sep-1 --cases", vec![SHORT]),
        ("new sep-2 --title", vec![HOSTILE]),
        ("run reference --cases shelf --run-log", vec![&format!("{SHORT}/kept.jsonl")]),
    ] {
        plain_and_coloured(&sandbox, &mut problems, command, &more);
    }
    problems.assert_none();
}

#[test]
fn text_from_arguments_suites_and_sets_is_shown_as_text() {
    let (sandbox, mut problems) = (sandbox(), Problems::default());
    let text = argument(HOSTILE);
    for command in [
        "",
        "run",
        "run reference --only",
        "run reference --set",
        "run reference --shard",
        "run reference --report",
        "run reference --cases",
        "smoke",
        "lint",
        "list",
        "explain",
        "targets --format",
        "serve reference",
        "drive reference",
        "prove --only-mutants",
        "replay",
        "report",
        "diff",
        "coverage --sep",
        "freeze",
        "list --import",
        "new",
        "__guard --no-such-option",
    ] {
        plain_and_coloured(&sandbox, &mut problems, command, &[&text]);
    }
    let mut drive = sandbox.command("drive reference http://127.0.0.1:1/");
    problems.check_command("drive with a scenario", &Finished::of(drive.env("MCP_CONFORMANCE_SCENARIO", &text)));

    let group = json!([{ "description": HOSTILE, "schema": { "type": "string", "title": HOSTILE },
        "tests": [{ "description": HOSTILE, "data": HOSTILE, "valid": true }] }]);
    sandbox.write("suite/tests/draft2020-12/type.json", &group.to_string());
    sandbox.write("suite/remotes/draft2020-12/a.json", "{}");
    let import = "--import json-schema-test-suite=suite/tests/draft2020-12";
    plain_and_coloured(&sandbox, &mut problems, &format!("list {import}"), &[]);
    plain_and_coloured(&sandbox, &mut problems, &format!("run reference {import}"), &[]);
    for broken in [HOSTILE.to_owned(), json!({ HOSTILE: HOSTILE }).to_string()] {
        sandbox.write("suite/tests/draft2020-12/type.json", &broken);
        plain_and_coloured(&sandbox, &mut problems, &format!("list {import}"), &[]);
    }
    for set in [HOSTILE.to_owned(), json!({ "format": 1, "cases": HOSTILE, "tests": { HOSTILE: {} } }).to_string()] {
        sandbox.write("sets/evil.json", &set);
        plain_and_coloured(&sandbox, &mut problems, "run reference --cases shelf --set evil", &[]);
    }
    problems.assert_none();
}
