//! The rogue gallery: misbehaving servers, adapters and clients, each in a line or two, with the observation that has
//! to come of it and the time that it may take. The run goes on behind each of them, and none leaves anything behind.
//!
//! `rogue.py` is the body of all servers and adapters, `visitor.sh` that of all clients; the lines are in the tables of
//! `servers.rs`, `adapters.rs` and `clients.rs`. Those of `floods.rs` say more than the harness may keep in memory.

mod adapters;
mod clients;
mod floods;
mod servers;

use serde_json::{Value, json};

use crate::process::behind;
use crate::sandbox::{Finished, Sandbox};

/// The limit of a step, in seconds, for rogues that wait until a limit ends them.
const SHORT: u64 = 4;
/// The limit of a step for all others: none needs it, however busy the machine is.
const LONG: u64 = 60;
/// The seconds that may come before the step that waits, and behind it.
const ASIDE: u64 = 8;

/// A target that misbehaves.
struct Rogue {
    name: &'static str,
    /// Where: when this tool is called, when tools are listed, or at this request to the adapter.
    at: &'static str,
    /// What it does there: a line of Python.
    does: &'static str,
    over: &'static [&'static str],
    /// The outcome of the step in which it does so, and a part of the words that tell why.
    seen: (&'static str, &'static str),
    /// Whether what it does lasts until a limit ends it.
    waits: bool,
}

const BOTH: &[&str] = &["stdio", "http"];

impl Rogue {
    /// One that says something wrong, at once, where `lose` is called.
    const fn says(name: &'static str, does: &'static str, seen: (&'static str, &'static str)) -> Self {
        Self { name, at: "call", does, over: BOTH, seen, waits: false }
    }

    /// The same, over one transport.
    const fn over(self, over: &'static [&'static str]) -> Self {
        Self { over, ..self }
    }

    /// The same, at another place.
    const fn at(self, at: &'static str) -> Self {
        Self { at, ..self }
    }

    /// The same, where nothing ends it but a limit.
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

/// Mebibytes of memory that the harness may have of its own.
const MOST: u64 = 300;

/// A run that finds something, in which the harness stays small: who waits for a process is told how large it was.
fn small_run(sandbox: &Sandbox, arguments: &str) {
    sandbox.lay_out("peak.py");
    Finished::of(&mut behind(&["python3", "peak.py", "peak"], &sandbox.command(arguments))).exits(1);
    let peak = sandbox.read("peak").trim().parse::<u64>().expect("a number") / 1024;
    assert!(peak < MOST, "{peak} MiB");
}

/// A sandbox with the rogues, and the names of them all.
fn gather(rogues: &[&Rogue]) -> (Sandbox, String) {
    let sandbox = Sandbox::empty();
    for name in ["rogue.py", "shelf/post/shelf.json", "shelf/post/requirements.json"] {
        sandbox.lay_out(name);
    }
    for rogue in rogues {
        rogue.lay_out(&sandbox);
    }
    (sandbox, rogues.iter().map(|rogue| rogue.name).collect::<Vec<_>>().join(" "))
}

/// The lines of a record.
fn lines(sandbox: &Sandbox, file: &str) -> Vec<Value> {
    sandbox.read(file).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn outcomes(record: &Value) -> Vec<&str> {
    let steps = record["observation"]["steps"].as_array().expect("steps");
    steps.iter().map(|step| step["outcome"].as_str().expect("an outcome")).collect()
}

/// What came of a test: the outcome of its last step and why, or why there is none.
fn came_of(record: &Value) -> (&str, &str) {
    let seen = &record["observation"];
    match seen["steps"].as_array().and_then(|steps| steps.last()) {
        Some(last) => (last["outcome"].as_str().expect("an outcome"), last["said"].as_str().unwrap_or_default()),
        None => ("none", seen["unavailable"].as_str().unwrap_or_default()),
    }
}

/// Runs rogues, and compares what was recorded with the gallery. Those that wait for a limit run by themselves, all at
/// once and with short limits.
fn run_all(rogues: &[Rogue], options: &str, status: i32) {
    let (waiting, others): (Vec<_>, Vec<_>) = rogues.iter().partition(|rogue| rogue.waits);
    let short = format!("--jobs {} --step-limit {SHORT}s --test-limit {}s --start-limit 5s", waiting.len(), SHORT + 5);
    let long = format!("--jobs 8 --step-limit {LONG}s");
    for (rogues, limits, limit) in [(waiting, short, SHORT), (others, long, LONG)] {
        let (sandbox, names) = gather(&rogues);
        sandbox.run(&format!("run {names} --cases shelf --record run.jsonl {options} {limits}")).exits(status);
        assert_eq!(sandbox.survivors(), 0);
        compare(&sandbox, &rogues, limit);
    }
}

/// Compares what was recorded, with so many seconds for a step, with the gallery; shows all differences at once.
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
            // What happens before a call happens to the next test as well.
            let is_struck = rogue.at != "call" || test.starts_with("post/shelf/lost@");
            let (outcome, words) = if is_struck { rogue.seen } else { ("success", "") };
            let (seen, said) = came_of(record);
            let seconds = if is_struck && rogue.waits { limit + ASIDE } else { limit };
            let in_time = record["micros"].as_u64().is_some_and(|micros| micros <= seconds * 1_000_000);
            if seen != outcome || !said.contains(words) || !in_time || record["bug"] == true {
                let micros = &record["micros"];
                wrong.push(format!("{} {test}: {seen} after {micros} µs: {said}", rogue.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
