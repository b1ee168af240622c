//! Misbehaving servers, adapters and clients, each in a line or two of code, with the expected observation and time. The
//! run continues after each of them, and none leaves a process behind.
//!
//! `rogue.py` runs the code of servers and adapters, `visitor.sh` that of clients; the tables are in `servers.rs`,
//! `adapters.rs` and `clients.rs`. The targets of `floods.rs` send more than the harness may keep in memory.

mod adapters;
mod clients;
mod floods;
mod servers;

use serde_json::{Value, json};

use crate::process::behind;
use crate::sandbox::{Finished, Sandbox};

/// The time limit of a step, in seconds, for rogues that run until a limit ends them.
const SHORT: u64 = 4;
/// The time limit of a step, in seconds, for all others. Even on a busy machine none reaches it.
const LONG: u64 = 60;
/// Additional seconds for the parts of a test before and after the step that waits.
const MARGIN: u64 = 8;

/// A target that misbehaves.
struct Rogue {
    name: &'static str,
    /// The place: `call` of the tool `lose`, `list` of tools, or a request to the adapter.
    at: &'static str,
    /// The Python code that runs there.
    does: &'static str,
    over: &'static [&'static str],
    /// The expected outcome of that step, and a part of its reason.
    seen: (&'static str, &'static str),
    /// `true` if only a time limit ends the step.
    waits: bool,
}

const BOTH: &[&str] = &["stdio", "http"];

impl Rogue {
    /// A rogue that misbehaves in a call of `lose`, over both transports, without waiting.
    const fn new(name: &'static str, does: &'static str, seen: (&'static str, &'static str)) -> Self {
        Self { name, at: "call", does, over: BOTH, seen, waits: false }
    }

    /// Changes the transports.
    const fn over(self, over: &'static [&'static str]) -> Self {
        Self { over, ..self }
    }

    /// Changes the place.
    const fn at(self, at: &'static str) -> Self {
        Self { at, ..self }
    }

    /// Marks a rogue that only a time limit ends.
    const fn waits(self) -> Self {
        Self { waits: true, ..self }
    }

    fn lay_out(&self, sandbox: &Sandbox) {
        let Self { name, at, does, over, .. } = self;
        let command = json!(["python3", "-S", "-I", "../rogue.py", at, does]);
        let claims = format!("roles = [\"server\"]\ntransports = {}\nrevisions = [\"2026-07-28\"]", json!(over));
        let text = format!("title = \"A rogue\"\ncommand = {command}\n\n[claims]\n{claims}\n");
        sandbox.write(&format!("{name}/target.toml"), &text);
    }
}

/// The memory that the harness may use, in MiB.
const MAX_MEMORY: u64 = 300;

/// Runs casebook, expects unexpected results, and fails if the harness needed too much memory.
fn run_in_bounded_memory(sandbox: &Sandbox, arguments: &str) {
    sandbox.lay_out("peak.py");
    Finished::of(&mut behind(&["python3", "peak.py", "peak"], &sandbox.command(arguments))).exits(1);
    let peak = sandbox.read("peak").trim().parse::<u64>().expect("a number") / 1024;
    assert!(peak < MAX_MEMORY, "{peak} MiB");
}

/// Creates a sandbox with the rogues. Returns it with the names of all of them.
fn lay_out_all(rogues: &[&Rogue]) -> (Sandbox, String) {
    let sandbox = Sandbox::empty();
    for name in ["rogue.py", "shelf/post/shelf.json", "shelf/post/requirements.json"] {
        sandbox.lay_out(name);
    }
    for rogue in rogues {
        rogue.lay_out(&sandbox);
    }
    (sandbox, rogues.iter().map(|rogue| rogue.name).collect::<Vec<_>>().join(" "))
}

/// The lines of a run log.
fn lines(sandbox: &Sandbox, file: &str) -> Vec<Value> {
    sandbox.read(file).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn outcomes(record: &Value) -> Vec<&str> {
    let steps = record["observation"]["steps"].as_array().expect("steps");
    steps.iter().map(|step| step["outcome"].as_str().expect("an outcome")).collect()
}

/// The outcome of the last step of a test and its reason, or the reason why no step was run.
fn outcome_of(record: &Value) -> (&str, &str) {
    let seen = &record["observation"];
    match seen["steps"].as_array().and_then(|steps| steps.last()) {
        Some(last) => (last["outcome"].as_str().expect("an outcome"), last["said"].as_str().unwrap_or_default()),
        None => ("none", seen["unavailable"].as_str().unwrap_or_default()),
    }
}

/// Runs rogues and compares their records with the table. Rogues that wait for a time limit run separately, all at once
/// and with short limits.
fn run_all(rogues: &[Rogue], options: &str, status: i32) {
    let (waiting, others): (Vec<_>, Vec<_>) = rogues.iter().partition(|rogue| rogue.waits);
    let short = format!("--jobs {} --limit step={SHORT}s --limit test={}s --limit start=5s", waiting.len(), SHORT + 5);
    let long = format!("--jobs 8 --limit step={LONG}s");
    for (rogues, limits, limit) in [(waiting, short, SHORT), (others, long, LONG)] {
        let (sandbox, names) = lay_out_all(&rogues);
        sandbox.run(&format!("run {names} --cases shelf --run-log run.jsonl {options} {limits}")).exits(status);
        assert_eq!(sandbox.survivors(), 0);
        compare(&sandbox, &rogues, limit);
    }
}

/// Compares the records with the table, given the time limit of a step in seconds. Fails with all differences.
fn compare(sandbox: &Sandbox, rogues: &[&Rogue], limit: u64) {
    let records = lines(sandbox, "run.jsonl");
    let mut wrong = Vec::new();
    for rogue in rogues {
        let own = records.iter().map(|line| &line["record"]).filter(|record| record["target"] == rogue.name);
        let own: Vec<_> = own.collect();
        if own.len() != 2 * rogue.over.len() {
            wrong.push(format!("{}: {} records", rogue.name, own.len()));
        }
        for record in own {
            let test = record["test"].as_str().expect("an id");
            // A rogue that misbehaves before the call affects both tests of the case.
            let misbehaves = rogue.at != "call" || test.starts_with("post/shelf/lost@");
            let (outcome, words) = if misbehaves { rogue.seen } else { ("success", "") };
            let (seen, said) = outcome_of(record);
            let seconds = if misbehaves && rogue.waits { limit + MARGIN } else { limit };
            let in_time = record["micros"].as_u64().is_some_and(|micros| micros <= seconds * 1_000_000);
            if seen != outcome || !said.contains(words) || !in_time || record["bug"] == true {
                let micros = &record["micros"];
                wrong.push(format!("{} {test}: {seen} after {micros} µs: {said}", rogue.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
