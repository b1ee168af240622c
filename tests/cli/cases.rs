//! `--help`, `lint`, `list`, `explain`: what is said without a run.

#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use crate::process::behind;
#[cfg(unix)]
use crate::sandbox::Came;
use crate::sandbox::{Desk, PROGRAM};

#[test]
fn help_reads_well_and_tells_every_exit_status() {
    let desk = Desk::empty();
    desk.run("--help").ends(0).is("help");
    desk.run("run --help").ends(0).is("help-run");
    let none = desk.run("");
    assert_eq!(none.ends(2).err, desk.run("--help").out);
    desk.run("--version").ends(0).says(&["casebook "]);
}

#[cfg(unix)]
#[test]
fn completions_are_a_script_without_errors() {
    let desk = Desk::empty();
    let script = desk.run("completions bash");
    script.ends(0).says(&["casebook", "--only"]);
    // It is printed like all other text; nothing in it was escaped.
    assert!(!script.out.contains("\\u{"));
    desk.write("completions.bash", &script.out);
    let checked = Came::of(Command::new("bash").arg("-n").arg(desk.path().join("completions.bash")));
    assert_eq!((checked.status, checked.err.as_str()), (Some(0), ""));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        desk.run(&format!("completions {shell}")).ends(0).says(&["casebook"]);
    }
}

#[test]
fn what_was_typed_wrong_is_named_with_what_was_meant() {
    let desk = Desk::new();
    desk.run("runn").ends(2).adds(&["'runn'", "'run'"]);
    desk.run("run --onyl x").ends(2).adds(&["--onyl", "--only"]);
    desk.run("run --revision 2024-01-01").ends(2).adds(&["2024-01-01", "2026-07-28"]);
    desk.run("run --role servr").ends(2).adds(&["servr", "server"]);
    desk.run("run --transport htp").ends(2).adds(&["htp", "http"]);
    desk.run("run --only [").ends(2).adds(&["["]);
    desk.run("run --jobs 0").ends(2).adds(&["--jobs"]);
    desk.run("run --step-limit soon").ends(2).adds(&["--step-limit"]);
    desk.run("explain post/parcl --cases cases").ends(2).adds(&["did you mean `post/parcel`?"]);
    desk.run("list --cases nowhere").ends(2).adds(&["nowhere"]);
}

#[cfg(unix)]
#[test]
fn error_of_the_system_has_its_own_status() {
    let desk = Desk::new();
    desk.write("sets", "a file in place of the folder");
    desk.run("freeze today --cases cases").ends(6).adds(&["cannot write sets/today.json: "]);
    let gone = desk.path().join("gone");
    std::fs::create_dir(&gone).expect("a folder");
    let mut command = Command::new("sh");
    command.args(["-c", "rmdir ../gone && exec \"$0\" targets", PROGRAM]).current_dir(gone);
    Came::of(command.env("HOME", desk.path())).ends(71).adds(&["casebook: "]);
}

#[test]
fn tests_are_listed_one_a_line_and_by_pattern() {
    let desk = Desk::new();
    desk.run("list --cases cases").ends(0).is("list");
    let some = desk.run("list post/parcel@2026-07-28+http --cases cases");
    let wanted = ["post/parcel/number@2026-07-28+http", "post/parcel/word@2026-07-28+http"];
    assert!(some.ends(0).out.lines().eq(wanted));
    desk.run("list post/parcl --cases cases").ends(2).adds(&["`post/parcl` matches no test; the nearest: post/parcel"]);
    desk.run("list --cases cases --cases embedded").ends(0).says(&["post/parcel/", "sep-2106/bounds/"]);
}

#[cfg(unix)]
#[test]
fn a_reader_who_has_seen_enough_may_leave() {
    let desk = Desk::new();
    for arguments in ["list", "run --cases cases"] {
        // `head` leaves after a line.
        let script = "{ \"$@\"; echo $? > status; } | head -n 1";
        let said = Came::of(&mut behind(&["sh", "-c", script, "sh"], &desk.command(arguments))).err;
        assert_eq!(desk.read("status"), "0\n", "{arguments}: {said}");
        assert!(!said.contains("panicked") && !said.to_lowercase().contains("pipe"), "{arguments}: {said}");
    }
}

#[test]
fn a_case_is_explained_expanded_and_shown_on_the_wire() {
    let desk = Desk::new();
    desk.run("explain post/parcel --cases cases").ends(0).is("explain");
    desk.run("explain post/letter --expanded --cases cases").ends(0).is("explain-expanded");
    let wire = desk.run("explain post/parcel --wire 2026-07-28 --cases cases");
    wire.ends(0).says(&["# post/parcel/number@2026-07-28+http", "mcp-method", "\"weight\":\"two\"", "← 200"]);
    assert!(!wire.out.contains("stdio"));
    let older = desk.run("explain post/parcel --wire 2025-06-18 --cases cases");
    older.ends(0).says(&["mcp-protocol-version: 2025-06-18", "mcp-session-id: "]);
    older.says(&["\"method\":\"initialize\"", "\"serverInfo\":", "notifications/initialized"]);
    assert_eq!(older.out.matches("\"method\":\"initialize\"").count(), 1, "tests share a connection: {}", older.out);
    desk.run("explain post/parcel --wire 2024-11-05 --cases cases").ends(2).adds(&["2024-11-05"]);
}

/// Three files, each with mistakes of its own.
fn mistakes(desk: &Desk) {
    desk.write("bad/post/broken.json", "{ \"title\": }\n");
    desk.write(
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
    desk.write(
        "bad/post/shape.json",
        r#"{
  "$schema": "../../../cases/schemas/case.json",
  "title": "A parcel without tests",
  "roles": "server"
}
"#,
    );
    desk.write("bad/post/requirements.json", &desk.read("cases/post/requirements.json"));
}

#[test]
fn a_test_of_unknown_rows_is_read_to_its_end() {
    let desk = Desk::new();
    let case = desk.read("cases/post/parcel.json");
    let rows = r#""rows": { "one": { "weight": 1 }, "two": { "weight": 2, "unit": "g" } },"#;
    let case = case.replacen(r#""given":"#, &format!("{rows} \"given\":"), 1);
    let case = case.replace(r#""control": "file","#, r#""rows": ["three"],"#);
    let case = case.replace(r#""outcome": "success", "saw""#, r#""outcome": "sucess", "seen": 1, "saw""#);
    desk.write("bad/post/parcel.json", &case.replace(r#""weight": 2 } },"#, r#""weight": { "@row": "unit" } } },"#));
    desk.write("bad/post/requirements.json", &desk.read("cases/post/requirements.json"));
    let found = desk.run("lint --short bad");
    found.ends(2).says(&["names the row `three`", "`sucess`", "`seen`"]);
    assert!(!found.out.contains("`unit`, which"), "some row has it: {}", found.out);
}

#[test]
fn mistakes_in_cases_are_all_listed_and_nothing_is_started() {
    let desk = Desk::new();
    mistakes(&desk);
    desk.script("t", "echo started > started", "[setup]\ncommands = [[\"sh\", \"-c\", \"echo set up > started\"]]\n");
    desk.run("run t --cases bad").ends(2).is("mistakes-in-cases");
    assert!(!desk.path().join("t/started").exists());
    let found = desk.run("lint bad");
    found.ends(2).says(&["broken.json", "names.json", "shape.json"]).adds(&["errors: "]);
    desk.run("lint --short bad").ends(2).is("lint-short");
    desk.run("lint cases").ends(0).adds(&["errors: 0, warnings: 0"]);
    desk.run("lint nowhere").ends(2).says(&["nowhere"]);
}
