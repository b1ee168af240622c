//! The examples of the documentation: each page's `console` blocks are run, and their output is compared.
//!
//! A page's commands run in one folder, in order. A fenced block such as ```` ```json file=cases/demo/first.json ````
//! is written to that file first, so that the text that a reader copies is the text that was tested. In expected
//! output, `…` stands for any text, a line `…` for any lines, and numbers with a decimal point for any such number.
//! `CASEBOOK_WRITE_DOCS=1` writes the true output into the pages, except for lines that match already.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{PROGRAM, Sandbox};

#[test]
fn console_blocks_of_the_docs_match_their_output() {
    let mut commands = 0;
    let mut wrong = String::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        let run = run_page(&text);
        commands += run.commands;
        if run.text != text && std::env::var_os("CASEBOOK_WRITE_DOCS").is_some() {
            fs::write(&page, &run.text).expect("the page is written");
        }
        for difference in run.differences {
            writeln!(wrong, "{}: {difference}", page.display()).expect("text");
        }
    }
    assert!(commands > 10, "only {commands} commands were found in the docs");
    assert!(wrong.is_empty(), "{wrong}\nCASEBOOK_WRITE_DOCS=1 writes the true output into the pages");
}

#[test]
fn expected_output_matches_by_lines_and_ellipses() {
    for (expected, true_output, matches) in [
        ("2 tests in 0.009 s", "2 tests in 12.345 s", true),
        ("2 tests", "3 tests", false),
        ("run log: …/run.jsonl", "run log: /home/ada/run.jsonl", true),
        ("first\n…\nlast", "first\nsecond\nthird\nlast", true),
        ("first\n…", "first", true),
        ("first\nlast", "first\nsecond\nlast", false),
        ("", "unexpected", false),
    ] {
        let expected: Vec<&str> = expected.lines().collect();
        let true_output: Vec<&str> = true_output.lines().collect();
        assert_eq!(lines_match(&expected, &true_output), matches, "{expected:?} and {true_output:?}");
    }
}

#[test]
fn links_of_the_docs_lead_to_files_and_headings() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for (_, rest) in text.match_indices("](").map(|(place, _)| text.split_at(place + 2)) {
            let (link, _) = rest.split_once(')').expect("the end of a link");
            let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
            if path.contains("://") {
                continue;
            }
            let file = if path.is_empty() { page.clone() } else { page.parent().expect("a folder").join(path) };
            let found = match heading {
                Some(heading) => fs::read_to_string(&file).is_ok_and(|text| headings(&text).any(|one| one == heading)),
                None => file.exists(),
            };
            if !found {
                wrong.push(format!("{}: {link}", page.strip_prefix(repository).expect("in here").display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A page after its commands were run.
struct PageRun {
    commands: usize,
    differences: Vec<String>,
    /// The page with the true output of commands that differ.
    text: String,
}

impl PageRun {
    fn add_lines(&mut self, lines: &[&str]) {
        for line in lines {
            writeln!(self.text, "{line}").expect("text");
        }
    }
}

fn run_page(text: &str) -> PageRun {
    let sandbox = Sandbox::empty();
    let mut run = PageRun { commands: 0, differences: Vec::new(), text: String::new() };
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        run.add_lines(&[line]);
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if info == "console" {
            run_block(&sandbox, &block, &mut run);
        } else {
            if let Some((_, file)) = info.split_once("file=") {
                sandbox.write(file, &(block.join("\n") + "\n"));
            }
            run.add_lines(&block);
        }
        run.text.push_str("```\n");
    }
    run
}

/// Runs the commands of a block: each begins with `$ ` and is followed by its output.
fn run_block(sandbox: &Sandbox, block: &[&str], run: &mut PageRun) {
    let mut status = 0;
    let mut rest = block;
    while let Some((first, after)) = rest.split_first() {
        let command = first.strip_prefix("$ ").expect("a block begins with a command");
        let end = after.iter().position(|line| line.starts_with("$ ")).unwrap_or(after.len());
        let (expected, next) = after.split_at(end);
        rest = next;
        run.commands += 1;
        let output = shell(sandbox, command, &mut status);
        let output: Vec<&str> = output.lines().collect();
        run.add_lines(&[first]);
        if lines_match(expected, &output) {
            run.add_lines(expected);
            continue;
        }
        run.differences.push(format!("`{command}` printed\n{}\n", output.join("\n")));
        for line in output {
            let kept = expected.iter().find(|old| **old != "…" && matches(old, line));
            let line = kept.map_or_else(|| abbreviate(line), |kept| (*kept).to_owned());
            run.add_lines(&[&line]);
        }
    }
}

/// Runs a command line with standard error joined to standard output; `status` is what `$?` has before and after it.
fn shell(sandbox: &Sandbox, command: &str, status: &mut i32) -> String {
    let programs = Path::new(PROGRAM).parent().expect("a folder").to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).expect("a path");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; (exit {status}); {command}")])
        .current_dir(sandbox.path())
        .env("PATH", path)
        .env("HOME", sandbox.path())
        .env_remove("XDG_CACHE_HOME")
        .env_remove("COLUMNS")
        .env_remove("GITHUB_STEP_SUMMARY")
        .output()
        .expect("a shell");
    *status = output.status.code().expect("an exit status");
    String::from_utf8(output.stdout).expect("text")
}

/// Shortens a line for a page: its end if it is long, and the path of a run log in the cache.
fn abbreviate(line: &str) -> String {
    const WIDTH: usize = 118;
    if let Some((label, _)) = line.split_once(": /").filter(|_| line.ends_with("/run.jsonl")) {
        return format!("{label}: …/run.jsonl");
    }
    let line = line.trim_end();
    line.char_indices().nth(WIDTH).map_or_else(|| line.to_owned(), |(end, _)| format!("{}…", &line[..end]))
}

fn lines_match(expected: &[&str], output: &[&str]) -> bool {
    match (expected, output) {
        ([], []) => true,
        (["…", rest @ ..], _) => (0..=output.len()).any(|skipped| lines_match(rest, &output[skipped..])),
        ([first, rest @ ..], [line, others @ ..]) => matches(first, line) && lines_match(rest, others),
        _ => false,
    }
}

fn matches(expected: &str, line: &str) -> bool {
    let (expected, line) = (without_decimals(expected.trim_end()), without_decimals(line.trim_end()));
    let mut parts = expected.split('…');
    let Some(mut rest) = parts.next().and_then(|start| line.strip_prefix(start)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    true
}

/// Replaces numbers such as `0.012`, which are times here, by `0.0`.
fn without_decimals(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let end = |text: &str| text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let whole = start + end(&rest[start..]);
        let decimals = rest[whole..].strip_prefix('.').map_or(0, end);
        text.push_str(&rest[..start]);
        if decimals == 3 {
            text.push_str("0.0");
            rest = &rest[whole + 1 + decimals..];
        } else {
            text.push_str(&rest[start..whole]);
            rest = &rest[whole..];
        }
    }
    text + rest
}

/// Returns the pages of the documentation.
fn pages() -> Vec<PathBuf> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(repository.join("docs")).expect("the docs").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|name| name == "md")).collect();
    pages.extend(["README.md", "SECURITY.md"].map(|name| repository.join(name)));
    pages.sort();
    pages
}

/// Returns the anchors that GitHub makes of a page's headings.
fn headings(text: &str) -> impl Iterator<Item = String> + '_ {
    let titles = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    titles.map(|title| {
        let letters = title.to_lowercase().replace(' ', "-");
        letters.chars().filter(|one| one.is_alphanumeric() || "-_".contains(*one)).collect()
    })
}
