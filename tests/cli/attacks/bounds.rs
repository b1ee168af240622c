//! Targets and run logs that exceed the limits of writing, keeping and reading.

use std::fs;

use serde_json::{Value, json};

use crate::process::behind;
use crate::sandbox::{Finished, Sandbox};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::empty();
    for name in ["rogue.py", "peak.py", "shelf/post/shelf.json", "shelf/post/requirements.json"] {
        sandbox.lay_out(name);
    }
    sandbox
}

fn length(sandbox: &Sandbox, name: &str) -> u64 {
    fs::metadata(sandbox.path().join(name)).expect("a file").len()
}

/// The footer of a run log.
fn footer(sandbox: &Sandbox) -> Value {
    let text = sandbox.read("run.jsonl");
    let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    last["footer"].clone()
}

/// The result of a command, and its peak memory in MiB.
fn measured(sandbox: &Sandbox, arguments: &str) -> (Finished, u64) {
    let finished = Finished::of(&mut behind(&["python3", "peak.py", "peak"], &sandbox.command(arguments)));
    (finished, sandbox.read("peak").trim().parse::<u64>().expect("a number") / 1024)
}

#[test]
fn large_text_of_a_target_is_cut_in_the_wire_file() {
    let sandbox = sandbox();
    for (name, does) in [
        ("cannot", "say(json.dumps({'id': asked['id'], 'cannot': 'x' * (4 << 20)}))"),
        (
            "refused",
            "say(json.dumps({'id': asked['id'], 'refused': {'type': 'x' * (4 << 20), 'message': 'y' * (4 << 20)}}))",
        ),
    ] {
        sandbox.target(name, &["python3", "-S", "-I", "../rogue.py", "serve", does], "");
        sandbox
            .run(&format!("run {name} --cases shelf --run-log run.jsonl --verbose"))
            .stdout_has(&["texts cut in the run log"]);
        let length = length(&sandbox, "run.wire.jsonl");
        assert!(length < 300 << 10, "{length} bytes of {name}");
        let cut = &footer(&sandbox)["cut"];
        assert!(cut["texts"].as_u64() >= Some(2) && cut["bytes"].as_u64() > Some(7 << 20), "{cut}");
    }
}

#[test]
fn large_value_is_cut_counted_and_not_judged_again() {
    let sandbox = sandbox();
    let does = "say(answer(structuredContent={'x': 'y' * (2 << 20)}))";
    sandbox.target("large", &["python3", "-S", "-I", "../rogue.py", "call", does], "");
    sandbox
        .run("run large --cases shelf --run-log run.jsonl --report json=r.json")
        .exits(0)
        .stdout_has(&["texts cut in the run log"]);
    let length = length(&sandbox, "run.jsonl");
    assert!(length < 100 << 10, "{length} bytes");
    assert!(footer(&sandbox)["cut"]["tests"].as_u64() == Some(1), "{}", footer(&sandbox));
    assert!(sandbox.read("r.json").contains("has shortened observations of 1 test:"));
    let kept = sandbox.run("replay run.jsonl --cases shelf");
    kept.exits(0).stderr_has(&["post/shelf/lost was cut when it was recorded and cannot be judged again"]);
    // A changed case must not judge the rest of a value that was cut.
    let case = sandbox
        .read("shelf/post/shelf.json")
        .replace(r#"{ "outcome": "success" }"#, r#"{ "structured": { "equals": { "x": "z" } } }"#);
    sandbox.write("shelf/post/shelf.json", &case);
    let again = sandbox.run("replay run.jsonl --cases shelf");
    again.stderr_has(&["post/shelf/lost was cut"]).stdout_has(&["post/shelf/kept"]);
    assert!(!again.out.contains("test  large  post/shelf/lost"), "{}", again.out);
}

#[test]
fn run_log_of_millions_of_values_is_refused_within_bounds() {
    let sandbox = sandbox();
    let header = r#"{"header":{"format":3,"casebook":"0","targets":["t"],"planned":1,"skipped":[]}}"#;
    let record = r#"{"record":{"index":0,"target":"t","test":"f/c/t@2026-07-28+http","title":"A","hash":"","verdicts":[],
        "micros":1,"observation":{"steps":[{"outcome":"success","took":"instant","size":"small","structured":[VALUES0]}]}}}"#;
    let record = record.replace("\n        ", "").replace("VALUES", &"0,".repeat(6 << 20));
    sandbox.write("run.jsonl", &format!("{header}\n{record}\n"));
    for (command, message) in [
        ("report run.jsonl --cases shelf --report json=r.json", "values in a line; at most 1000000 are read"),
        ("replay run.jsonl --cases shelf", "values in a line; at most 1000000 are read"),
    ] {
        let (finished, peak) = measured(&sandbox, command);
        finished.exits(2).stderr_has(&[message]);
        assert!(peak < 120, "{command}: {peak} MiB");
    }
}

/// With eight times as many targets, linear work takes about 8 times as long, and quadratic work 64 times. The limit of 24
/// leaves room for noise.
#[test]
fn diff_of_many_targets_takes_linear_time() {
    let sandbox = sandbox();
    sandbox.run("run reference --cases shelf --run-log run.jsonl");
    let log = sandbox.read("run.jsonl");
    let (header, rest) = log.split_once('\n').expect("a header");
    let took = |many: usize| {
        let mut header: Value = serde_json::from_str(header).expect("JSON");
        let names: Vec<_> = (0..many).map(|index| format!("t{index}")).collect();
        let about = names.iter().map(|name| json!({ "target": name, "title": "A", "planned": 1 }));
        header["header"]["about"] = about.collect::<Vec<_>>().into();
        header["header"]["targets"] = names.into();
        sandbox.write("many.jsonl", &format!("{header}\n{rest}"));
        measured(&sandbox, "diff many.jsonl many.jsonl --cases shelf").0.exits(3);
        sandbox.read("peak.time").trim().parse::<f64>().expect("a number")
    };
    let (some, more) = (took(4_000), took(32_000));
    assert!(more < 24.0 * some, "4000: {some} s, 32000: {more} s");
}
