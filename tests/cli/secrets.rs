//! Secrets of the environment of a target are in no file and no output of a run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Finished, Sandbox};

/// A secret with quotes, slashes and letters that JSON writers escape in different ways, around plain words.
const TOKEN: &str = "hush-\"é/ß\\-hush";
/// A secret that only its name marks as one.
const KEY: &str = "hush0123456789";

fn teller(sandbox: &Sandbox, name: &str, more: &[&str]) {
    let command: Vec<&str> = ["python3", "-S", "-I", "../teller.py"].iter().chain(more).copied().collect();
    let (command, token) = (serde_json::to_string(&command).expect("strings"), toml(TOKEN));
    let claims = "roles = [\"server\"]\ntransports = [\"stdio\"]\nrevisions = [\"2026-07-28\"]";
    sandbox.write(
        &format!("{name}/target.toml"),
        &format!("title = \"A teller\"\ncommand = {command}\nenv = {{ TOKEN = {token} }}\n\n[claims]\n{claims}\n"),
    );
}

/// Quotes a text for TOML.
fn toml(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it can be listed").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn casebook(sandbox: &Sandbox, arguments: &str) -> Finished {
    let came = Finished::of(sandbox.command(arguments).env("POST_API_KEY", KEY));
    assert!(!came.out.contains("hush") && !came.err.contains("hush"), "{}\n{}", came.out, came.err);
    came
}

#[test]
fn values_of_the_environment_are_in_no_file_and_no_output() {
    let sandbox = Sandbox::new();
    sandbox.lay_out("teller.py");
    teller(&sandbox, "teller", &[]);
    teller(&sandbox, "dier", &["dies"]);
    let reports = "--report html=r.html --report junit=r.xml --report md=r.md --report json=r.json";
    let run =
        format!("run teller dier --cases cases --only post/parcel --jobs 1 --run-log run.jsonl --accept {reports}");
    casebook(&sandbox, &run).exits(4).stdout_has(&["[TOKEN]"]);
    casebook(&sandbox, "report run.jsonl --cases cases --report html=again.html --report md=again.md").exits(0);
    casebook(&sandbox, "replay run.jsonl --cases cases");
    casebook(&sandbox, "smoke dier").exits(4).stdout_has(&["[TOKEN]"]);

    for name in ["run.jsonl", "run.wire.jsonl", "r.html", "r.md"] {
        let text = sandbox.read_unpacked(name);
        let hides = text.contains("[TOKEN]") || text.contains("&#91;TOKEN&#93;");
        assert!(hides, "{name} has nothing to hide: {text}");
    }
    assert!(sandbox.read("run.wire.jsonl").contains("given: [TOKEN] [POST_API_KEY]"));
    let left: Vec<_> =
        files(sandbox.path()).into_iter().filter(|path| path.file_name() != Some("target.toml".as_ref())).collect();
    assert!(left.len() > 8, "{left:?}");
    for path in left {
        let text = sandbox.read_unpacked(&path);
        assert!(!text.contains("hush"), "{}: {text}", path.display());
    }
}
