//! `--help`, the completions, `lint`, `list` and `explain`, which run no tests.

#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use crate::process::behind;
use crate::sandbox::Sandbox;
#[cfg(unix)]
use crate::sandbox::{Finished, PROGRAM};

#[test]
fn help_matches_its_snapshots() {
    let sandbox = Sandbox::empty();
    sandbox.run("--help").exits(0).matches_snapshot("help");
    sandbox.run("-h").exits(0).matches_snapshot("help-short");
    sandbox.run("run --help").exits(0).matches_snapshot("help-run");
    sandbox.run("run -h").exits(0).matches_snapshot("help-run-short");
    let none = sandbox.run("");
    assert_eq!(none.exits(2).err, sandbox.run("-h").out);
    sandbox.run("--version").exits(0).stdout_has(&["casebook "]);
}

#[cfg(unix)]
#[test]
fn completions_are_a_valid_script() {
    let sandbox = Sandbox::empty();
    sandbox.run("__package package").exits(0);
    let script = sandbox.path().join("package/completions/casebook.bash");
    let checked = Finished::of(Command::new("bash").arg("-n").arg(script));
    assert_eq!((checked.status, checked.err.as_str()), (Some(0), ""));
    for file in ["casebook.bash", "_casebook", "casebook.fish", "casebook.elv", "_casebook.ps1"] {
        assert!(sandbox.read(&format!("package/completions/{file}")).contains("only-mutants"), "{file}");
    }
}

#[test]
fn mistyped_name_is_answered_with_the_nearest() {
    let sandbox = Sandbox::new();
    sandbox.run("runn").exits(2).stderr_has(&["'runn'", "'run'"]);
    sandbox.run("run --onyl x").exits(2).stderr_has(&["--onyl", "--only"]);
    sandbox.run("run --revision 2024-01-01").exits(2).stderr_has(&["2024-01-01", "2026-07-28"]);
    sandbox.run("run --role servr").exits(2).stderr_has(&["servr", "server"]);
    sandbox.run("run --transport htp").exits(2).stderr_has(&["htp", "http"]);
    sandbox.run("run --only [").exits(2).stderr_has(&["["]);
    sandbox.run("run --jobs 0").exits(2).stderr_has(&["--jobs"]);
    sandbox.run("run --limit step=soon").exits(2).stderr_has(&["--limit"]);
    sandbox.run("explain post/parcl --cases cases").exits(2).stderr_has(&["did you mean `post/parcel`?"]);
    sandbox.run("list --cases nowhere").exits(2).stderr_has(&["nowhere"]);
}

#[cfg(unix)]
#[test]
fn error_of_the_system_exits_with_71() {
    let sandbox = Sandbox::new();
    sandbox.write("sets", "a file in place of the folder");
    sandbox.run("freeze today --cases cases").exits(6).stderr_has(&["cannot write sets/today.json: "]);
    let gone = sandbox.path().join("gone");
    std::fs::create_dir(&gone).expect("a folder");
    let mut command = Command::new("sh");
    command.args(["-c", "rmdir ../gone && exec \"$0\" targets", PROGRAM]).current_dir(gone);
    Finished::of(command.env("HOME", sandbox.path())).exits(71).stderr_has(&["casebook: "]);
}

#[test]
fn list_prints_one_test_per_line_by_pattern() {
    let sandbox = Sandbox::new();
    sandbox.run("list --cases cases").exits(0).matches_snapshot("list");
    let some = sandbox.run("list post/parcel@2026-07-28+http --cases cases");
    let wanted = ["post/parcel/number@2026-07-28+http", "post/parcel/word@2026-07-28+http"];
    assert!(some.exits(0).out.lines().eq(wanted));
    sandbox
        .run("list post/parcl --cases cases")
        .exits(2)
        .stderr_has(&["`post/parcl` matches no test; the nearest: post/parcel"]);
    sandbox.run("list --cases cases --cases embedded").exits(0).stdout_has(&["post/parcel/", "sep-2106/bounds/"]);
}

#[cfg(unix)]
#[test]
fn closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::new();
    for arguments in ["list", "run --cases cases"] {
        // `head` closes the pipe after one line.
        let script = "{ \"$@\"; echo $? > status; } | head -n 1";
        let said = Finished::of(&mut behind(&["sh", "-c", script, "sh"], &sandbox.command(arguments))).err;
        assert_eq!(sandbox.read("status"), "0\n", "{arguments}: {said}");
        assert!(!said.contains("panicked") && !said.to_lowercase().contains("pipe"), "{arguments}: {said}");
    }
}

#[test]
fn explain_shows_words_fixtures_and_messages() {
    let sandbox = Sandbox::new();
    sandbox.run("explain post/parcel --cases cases").exits(0).matches_snapshot("explain");
    sandbox.run("explain post/letter --expanded --cases cases").exits(0).matches_snapshot("explain-expanded");
    let wire = sandbox.run("explain post/parcel --wire 2026-07-28 --cases cases");
    wire.exits(0).stdout_has(&["# post/parcel/number@2026-07-28+http", "mcp-method", "\"weight\":\"two\"", "← 200"]);
    assert!(!wire.out.contains("stdio"));
    let older = sandbox.run("explain post/parcel --wire 2025-06-18 --cases cases");
    older.exits(0).stdout_has(&["mcp-protocol-version: 2025-06-18", "mcp-session-id: "]);
    older.stdout_has(&["\"method\":\"initialize\"", "\"serverInfo\":", "notifications/initialized"]);
    assert_eq!(older.out.matches("\"method\":\"initialize\"").count(), 1, "tests share a connection: {}", older.out);
    sandbox.run("explain tools/named").exits(0).stdout_has(&[
        "  tools/named: DERIVED, ",
        "\nTests that check it\n",
        "\n  any-server/list/listed: the tools are listed, each with its name\n",
    ]);
    sandbox.run("explain any-server").exits(2).stderr_has(&["`casebook list 'any-server/**'` lists their tests"]);
    sandbox.run("explain post/parcel --wire 2024-11-05 --cases cases").exits(2).stderr_has(&["2024-11-05"]);
}

/// Writes three files with different mistakes.
fn mistakes(sandbox: &Sandbox) {
    sandbox.write("bad/post/broken.json", "{ \"title\": }\n");
    sandbox.write(
        "bad/post/names.json",
        r#"{
  "$schema": "../../../cases/schemas/case.json",
  "title": "A parcel with names that nobody knows",
  "role": "server",
  "rows": { "one": { "weight": 1 } },
  "given": {
    "tools": { "send": { "inputSchema": { "@nestd": { "depth": 1 } }, "does": { "echo": true } } }
  },
  "tests": {
    "row": {
      "title": "an unknown row",
      "rows": ["two"],
      "when": { "call": "send", "arguments": { "weight": 1 } },
      "then": "observe"
    },
    "value": {
      "title": "an unknown value of a row",
      "when": { "call": "send", "arguments": { "@row": "weigth" } },
      "then": { "arguments-checked": { "outcome": "success" } }
    },
    "requirement": {
      "title": "an unknown requirement, and an unknown outcome",
      "when": { "call": "send", "arguments": { "weight": 1 } },
      "then": { "arguments-checkd": { "outcome": "sucess" } }
    },
    "tool": { "title": "an unknown tool", "when": { "call": "sent" }, "then": "observe" }
  }
}
"#,
    );
    sandbox.write(
        "bad/post/shape.json",
        r#"{
  "$schema": "../../../cases/schemas/case.json",
  "title": "A parcel without tests",
  "roles": "server"
}
"#,
    );
    sandbox.write("bad/post/requirements.json", &sandbox.read("cases/post/requirements.json"));
}

#[test]
fn test_with_unknown_rows_is_read_to_its_end() {
    let sandbox = Sandbox::new();
    let case = sandbox.read("cases/post/parcel.json");
    let rows = r#""rows": { "one": { "weight": 1 }, "two": { "weight": 2, "unit": "g" } },"#;
    let case = case.replacen(r#""given":"#, &format!("{rows} \"given\":"), 1);
    let case = case.replace(r#""control": "file","#, r#""rows": ["three"],"#);
    let case = case.replace(r#""outcome": "success", "saw""#, r#""outcome": "sucess", "seen": 1, "saw""#);
    sandbox.write("bad/post/parcel.json", &case.replace(r#""weight": 2 } },"#, r#""weight": { "@row": "unit" } } },"#));
    sandbox.write("bad/post/requirements.json", &sandbox.read("cases/post/requirements.json"));
    let found = sandbox.run("lint --short bad");
    found.exits(2).stdout_has(&["names the row `three`", "`sucess`", "`seen`"]);
    assert!(!found.out.contains("`unit`, which"), "some row has it: {}", found.out);
}

#[test]
fn all_mistakes_in_cases_are_listed_and_nothing_runs() {
    let sandbox = Sandbox::new();
    mistakes(&sandbox);
    sandbox.script(
        "t",
        "echo started > started",
        "[setup]\ncommands = [[\"sh\", \"-c\", \"echo set up > started\"]]\n",
    );
    sandbox.run("run t --cases bad").exits(2).matches_snapshot("mistakes-in-cases");
    assert!(!sandbox.path().join("t/started").exists());
    let found = sandbox.run("lint bad");
    found.exits(2).stdout_has(&["broken.json", "names.json", "shape.json"]).stderr_has(&["errors: "]);
    sandbox.run("lint --short bad").exits(2).matches_snapshot("lint-short");
    sandbox.run("lint cases").exits(0).stderr_has(&["errors: 0, warnings: 0"]);
    sandbox.run("lint nowhere").exits(2).stdout_has(&["nowhere"]);
}

/// Writes a case that checks a requirement of the embedded folder `tools`.
fn borrow_requirement(sandbox: &Sandbox) {
    let case = sandbox.read("cases/post/parcel.json").replace("\"arguments-checked\"", "\"tools/inputs-validated\"");
    sandbox.write("mine/sep-7777/parcel.json", &case);
    sandbox.write("mine/sep-7777/requirements.json", "{}\n");
}

#[test]
fn embedded_requirement_is_known_with_the_word_embedded() {
    let sandbox = Sandbox::new();
    borrow_requirement(&sandbox);
    let alone = sandbox.run("lint mine");
    alone.exits(2).stdout_has(&["the folder `tools` has no requirements.json", "casebook lint embedded mine"]);
    sandbox.run("lint embedded mine").exits(0).stderr_has(&["errors: 0, warnings: 0"]);
    let run = sandbox.run("run --cases mine");
    run.exits(2).stderr_has(&["`casebook run --cases embedded"]);
    sandbox.run("run --cases embedded --cases mine --only sep-7777").exits(0);
}

#[test]
fn forgotten_option_for_cases_is_named() {
    let sandbox = Sandbox::new();
    let remedy = |name: &str| format!("the folder `cases` has `{name}`: add `--cases cases`");
    for command in ["run --only", "list", "explain"] {
        sandbox.run(&format!("{command} post/parcel")).exits(2).stderr_has(&[&remedy("post/parcel")]);
    }
    sandbox.run("explain post/unknown").exits(2).stderr_has(&[&remedy("post")]);
    let absent = sandbox.run("explain posts/parcel").exits(2).err.clone();
    let used = sandbox.run("explain post/unknown --cases cases").exits(2).err.clone();
    // A folder with the name of an embedded one can have further files.
    sandbox.write("cases/tools/new.json", "{}\n");
    sandbox.run("explain tools/new").exits(2).stderr_has(&[&remedy("tools/new")]);
    let embedded = sandbox.run("explain tools/nwe").exits(2).err.clone();
    for error in [absent, used, embedded] {
        assert!(!error.contains("add `--cases"), "{error}");
    }
}
