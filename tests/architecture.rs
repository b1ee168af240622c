//! The rules of the house that a compiler doesn't keep: who may know whom, where time and sockets may be, how long
//! a file may be, and that the README's tree is the real one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const STAGES: [&str; 10] = ["load", "plan", "proof", "set", "drive", "judge", "report", "run", "reference", "cli"];

/// What each part of `src/` may use of the others. Everything may use `model`, `file` and `peer`.
const KNOWS: [(&str, &[&str]); 12] = [
    ("model", &[]),
    ("file", &[]),
    ("peer", &[]),
    ("load", &[]),
    ("plan", &[]),
    ("set", &["plan"]),
    ("drive", &["plan"]),
    ("judge", &[]),
    ("report", &[]),
    ("run", &["plan", "drive", "judge"]),
    ("proof", &["plan", "drive", "judge", "report", "run", "reference"]),
    ("reference", &[]),
];

/// Parts that are pure: no runtime, no clock, no sockets, no processes.
const PURE: [&str; 6] = ["model", "load", "plan", "set", "judge", "report"];

/// Names that belong into `targets/`, never into `src/`.
const SDKS: [&str; 8] = ["typescript", "python", "fastmcp", "rmcp", "go-sdk", "kotlin", "java-sdk", "ruby"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("src/ can be listed") {
            let path = entry.expect("src/ can be listed").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let src = root().join("src");
    let mut paths = Vec::new();
    walk(&src, &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&src).expect("below src/").to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(&path).expect("a source file is UTF-8"))
    };
    let sources: Vec<_> = paths.into_iter().map(read).collect();
    assert!(sources.len() > 15, "src/ was not found");
    sources
}

/// The part of `src/` that a file belongs to.
fn part(name: &str) -> &str {
    name.split(['/', '.']).next().expect("a name has a first part")
}

/// The lines that are code: neither comments nor in-file tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = [text.find("\n#[cfg(test)]\nmod tests"), text.find("\n#[cfg(all(test, ")];
    let end = tests.into_iter().flatten().min().unwrap_or(text.len());
    text[..end].lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn no_part_knows_what_it_must_not() {
    let mut broken = Vec::new();
    for (name, text) in sources() {
        let Some((_, knows)) = KNOWS.iter().find(|(own, _)| *own == part(&name)) else { continue };
        // Tests may borrow another part's samples.
        for (number, line) in code(&text).filter(|_| !name.ends_with("tests.rs")) {
            for stage in STAGES.iter().filter(|stage| **stage != part(&name) && !knows.contains(stage)) {
                if line.contains(&format!("crate::{stage}")) {
                    broken.push(format!("src/{name}:{}: {} must not know `{stage}`", number + 1, part(&name)));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn pure_parts_have_no_runtime_clock_socket_or_process() {
    let mut broken = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| PURE.contains(&part(name))) {
        let mut forbidden =
            vec!["tokio", "reqwest", "hyper", "std::net", "std::process", "std::time::Instant", "SystemTime"];
        if ["model", "judge", "plan"].contains(&part(&name)) {
            forbidden.push("std::fs");
        }
        for (number, line) in code(&text) {
            for word in forbidden.iter().filter(|word| line.contains(**word)) {
                broken.push(format!("src/{name}:{}: a pure part uses `{word}`", number + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_reference_shares_nothing_but_the_bracket_scan() {
    for (name, text) in sources().into_iter().filter(|(name, _)| part(name) == "reference") {
        for (number, line) in code(&text) {
            let uses_model = line.contains("crate::model") && !line.contains("crate::model::nesting");
            assert!(!uses_model, "src/{name}:{}: two readings of the specification must not share code", number + 1);
        }
    }
}

#[test]
fn no_sdk_is_named_in_the_source() {
    // The programs that may be asked for their version have the names of languages.
    for (name, text) in sources().into_iter().filter(|(name, _)| name != "model/program.rs") {
        let text = text.to_lowercase();
        for sdk in SDKS {
            assert!(!text.contains(sdk), "src/{name} names `{sdk}`: what is special about a target is in its folder");
        }
    }
}

#[test]
fn files_are_short_and_say_what_they_are() {
    for (name, text) in sources() {
        assert!(text.lines().count() <= 600, "src/{name} has more than 600 lines");
        assert!(text.starts_with("//!"), "src/{name} doesn't say what it takes, gives and must not know");
    }
}

#[test]
fn the_tree_in_the_readme_is_the_real_one() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let tree = readme.split("```").find(|block| block.trim_start().starts_with("text\nsrc/")).expect("a tree of src/");
    let mut folder = String::new();
    let mut told = BTreeSet::new();
    for line in tree.lines().filter(|line| line.contains("── ")) {
        let entry = line.split("── ").nth(1).expect("an entry").split_whitespace().next().expect("a name");
        match (entry.strip_suffix('/'), line.starts_with(['├', '└'])) {
            (Some(name), _) => folder = format!("{name}/"),
            (None, true) => {
                told.insert(entry.to_owned());
            }
            (None, false) => {
                told.insert(format!("{folder}{entry}"));
            }
        }
    }
    let real: BTreeSet<_> =
        sources().into_iter().map(|(name, _)| name).filter(|name| !name.ends_with("tests.rs")).collect();
    assert_eq!(told, real, "the tree in README.md and src/ differ");
}

#[test]
fn a_task_beside_a_test_tells_where_it_breaks() {
    let drivers = sources().into_iter().filter(|(name, _)| part(name) == "drive");
    for (name, text) in drivers.filter(|(name, _)| !name.ends_with("tests.rs") && name != "drive/scripted.rs") {
        for (number, line) in code(&text).filter(|_| name != "drive/fault.rs") {
            let is_loose = line.contains("tokio::spawn") || line.contains("spawn_blocking");
            assert!(!is_loose, "src/{name}:{}: a panic in there would look like the target's fault", number + 1);
        }
    }
}

#[test]
fn connections_are_opened_where_they_are_looked_at() {
    /// Each to an address that it was given, on this machine, or, for a fixed target, the one that somebody wrote down.
    const MAY: [&str; 6] = [
        "drive/http.rs",
        "drive/canary.rs",
        "drive/mock/stdio.rs",
        "reference/fetch.rs",
        "reference/client/http.rs",
        "reference/stdio.rs",
    ];
    for (name, text) in sources().into_iter().filter(|(name, _)| !name.ends_with("tests.rs")) {
        for (number, line) in code(&text).filter(|_| !MAY.contains(&name.as_str()) && name != "drive/scripted.rs") {
            for opener in [
                "TcpStream::connect",
                "Client::builder",
                "Client::new",
                "UdpSocket",
                "UnixStream",
                "lookup_host",
                "to_socket_addrs",
            ] {
                assert!(!line.contains(opener), "src/{name}:{}: nothing but {MAY:?} opens connections", number + 1);
            }
        }
    }
}

#[test]
fn standard_output_and_error_are_written_in_one_place() {
    /// The printer, whose parts escape text from outside; a relay, whose standard output is the wire; and the log of the
    /// tests that fuzz.
    const MAY: [&str; 4] = ["report/terminal/plain.rs", "report/terminal/mod.rs", "drive/mock/stdio.rs", "fuzz.rs"];
    // The reference is a process of its own, and its standard output is the wire.
    let others = sources().into_iter().filter(|(name, _)| !MAY.contains(&name.as_str()) && part(name) != "reference");
    for (name, text) in others.filter(|(name, _)| !name.ends_with("tests.rs")) {
        for (number, line) in code(&text) {
            for printer in ["println!", "print!(", "stdout()", "stderr()", "anstream::", "io::stdout", "io::stderr"] {
                // A child's `stderr()` is what it wrote.
                let is_child = printer.starts_with("std") && line.contains(&format!(".{printer}"));
                let is_printed = line.contains(printer) && !is_child;
                assert!(!is_printed, "src/{name}:{}: text is printed by report/terminal/plain.rs only", number + 1);
            }
        }
    }
}

#[test]
fn listeners_are_for_this_machine_only() {
    for (name, text) in sources() {
        let binds = |line: &str| line.contains("Listener::bind(") || line.contains("socket.bind(");
        for (number, line) in code(&text).filter(|(_, line)| binds(line)) {
            let is_ours = line.contains("Ipv4Addr::LOCALHOST") || line.contains("\"127.0.0.1:0\"");
            assert!(is_ours, "src/{name}:{}: {line}", number + 1);
        }
    }
}
