//! `casebook report --report site=DIR`: the folder that it writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

const RUN: &str = "run reference --cases cases --jobs 1 --run-log run.jsonl";
const SITE: &str = "report run.jsonl --cases cases --report";

fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                found.insert(entry.strip_prefix(folder).expect("below it").to_string_lossy().into_owned());
            }
        }
    }
    found
}

#[test]
fn site_is_replaced_as_a_whole_and_keeps_its_addresses() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    sandbox.run(&format!("{SITE} site=a/site")).exits(0).stderr_has(&["report: a/site: ", " of 1 version in 1 target"]);
    let site = sandbox.path().join("a/site");
    let before = files(&site);
    let result = "results/reference/_/unversioned/post/parcel/index.html";
    for path in ["index.html", "style.css", "api/v1/index.json", "badges/reference/server.json", result] {
        assert!(before.contains(path), "{path}");
    }
    sandbox.borrowed("new", None, "");
    sandbox.run("run new --cases cases --jobs 1 --run-log more.jsonl").exits(0);
    // A pattern of the shell also matches the transcripts.
    sandbox
        .run("report run.jsonl more.jsonl more.wire.jsonl --cases cases --report site=a/site")
        .exits(0)
        .stderr_has(&["2 targets"]);
    let after = files(&site);
    assert!(before.is_subset(&after) && after.contains("targets/new/_/unversioned/index.html"));
    // With fewer run logs, no page of the earlier site is left.
    sandbox.run(&format!("{SITE} site=a/site")).exits(0);
    assert_eq!(files(&site), before);
    assert_eq!(fs::read_dir(sandbox.path().join("a")).expect("a folder").count(), 1);
}

#[test]
fn folder_with_other_files_is_refused_and_unchanged() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    sandbox.write("mine/letter.txt", "mine");
    let refused = sandbox.run(&format!("{SITE} site=mine"));
    refused.exits(2).stderr_has(&["cannot write a site to mine: `letter.txt` is not a file of an earlier site"]);
    sandbox.run(&format!("{SITE} site=run.jsonl")).exits(2).stderr_has(&["it is not a folder"]);
    fs::create_dir(sandbox.path().join("empty")).expect("a folder");
    sandbox.run(&format!("{SITE} site=empty")).exits(0);
    // A file that somebody added later is not deleted with the site.
    sandbox.write("empty/targets/notes.txt", "mine");
    sandbox.run(&format!("{SITE} site=empty")).exits(2).stderr_has(&["`targets/notes.txt` is not"]);
    fs::remove_file(sandbox.path().join("empty/targets/notes.txt")).expect("removed");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../mine", sandbox.path().join("empty/api/mine")).expect("a link");
        sandbox.run(&format!("{SITE} site=empty")).exits(2).stderr_has(&["`api/mine` is not"]);
    }
    assert_eq!(sandbox.read("mine/letter.txt"), "mine");
}

#[test]
fn unreadable_run_log_is_named_and_the_others_are_shown() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    sandbox.write("other.jsonl", "no run log\n");
    let written = sandbox.run("report other.jsonl run.jsonl --cases cases --report site=site");
    written.exits(2).stderr_has(&["other.jsonl", "report: site: "]);
    assert!(sandbox.read("site/index.html").contains("reference"));
    sandbox.run("report other.jsonl --cases cases --report site=none").exits(2).stderr_has(&["no site was written"]);
    assert!(!sandbox.path().join("none").exists());
    // The other reports are written as well, and a site needs the run logs of whole runs.
    let both = sandbox.run("report run.jsonl --cases cases --report md=- --report site=both");
    both.exits(0).stdout_has(&["## MCP casebook"]).stderr_has(&["report: both: "]);
    let refused = sandbox.run("report run.jsonl --cases cases --report site=run.jsonl --report md=r.md");
    refused.exits(2).stderr_has(&["it is not a folder", "report: r.md"]);
    sandbox
        .run(&format!("{RUN} --report site=site"))
        .exits(2)
        .stderr_has(&["`casebook report RUN_LOG --report site=site`"]);
}

#[test]
fn hostile_names_become_paths_inside_of_the_site() {
    let sandbox = Sandbox::new();
    sandbox.run(RUN).exits(0);
    let log = sandbox.read("run.jsonl");
    let mut names = Vec::new();
    for (at, name) in
        ["../../evil", "CON", "con", "Con", "a/b", "a:../x", "..", "nul.txt", "x y", "\u{fc}"].iter().enumerate()
    {
        let quoted = serde_json::to_string(name).expect("text");
        sandbox.write(&format!("{at}.jsonl"), &log.replace("\"reference\"", &quoted));
        names.push(format!("{at}.jsonl"));
    }
    sandbox
        .run(&format!("report {} --cases cases --report site=deep/site", names.join(" ")))
        .exits(0)
        .stderr_has(&["10 targets"]);
    let written = files(&sandbox.path().join("deep/site"));
    let folded: BTreeSet<_> = written.iter().map(|path| path.to_lowercase()).collect();
    assert_eq!(folded.len(), written.len());
    let pages = written.iter().filter(|path| path.starts_with("targets/") && path.matches('/').count() == 4);
    assert_eq!(pages.count(), names.len());
    assert!(!sandbox.path().join("evil").exists() && !sandbox.path().join("deep/evil").exists());
}
