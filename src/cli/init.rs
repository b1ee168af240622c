//! `casebook init`: writes the `target.toml` of the server that was just tried, and a workflow for GitHub.
//!
//! Takes the header of a run log, gives files in a new place; never overwrites one. Must not know verdicts.

use std::fs;
use std::io::Write as _;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use clap::Args;

use super::here::here;
use super::{Exit, Problem, caches};
use crate::load::ad_hoc::is_variable;
use crate::model::record::About;
use crate::model::tried::Tried;
use crate::report::Untrusted;
use crate::report::terminal::{eprint_line, print_line};
use crate::run::read_header;

/// The file of the workflow, below the root of the repository.
const WORKFLOW: &str = ".github/workflows/casebook.yml";

/// `casebook init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// New folder for the target.toml [default: the name of the server]
    #[arg(value_name = "FOLDER")]
    pub folder: Option<Utf8PathBuf>,
    /// Read the server from this run log [default: the run log of the last run]
    #[arg(long, value_name = "RUN_LOG")]
    pub from: Option<Utf8PathBuf>,
    /// Write no workflow for GitHub
    #[arg(long)]
    pub no_workflow: bool,
}

pub(super) fn init(args: &InitArgs) -> Result<Exit, Problem> {
    let usage = |text: String| Problem::new(Exit::Usage, Untrusted(&text).line(1000));
    let here = here()?;
    let log = if let Some(log) = &args.from {
        log.clone()
    } else {
        let cache = caches::folder().map_err(|why| usage(format!("{why}; name the run log with --from RUN_LOG")))?;
        let cache = here.own_cache(cache, &["runs"]);
        cache.map_err(|skipped| usage(skipped.to_string()))?.join("last/run.jsonl")
    };
    if args.from.is_none() && !log.exists() {
        return Err(usage(
            "nothing was tried yet; run `casebook run -- COMMAND` or `casebook run URL` first".to_owned(),
        ));
    }
    let header = read_header(&log)?;
    let found = header.about.iter().find_map(|about| Some((about, about.tried.as_deref()?)));
    let Some((about, tried)) = found else {
        return Err(usage(format!(
            "{log} is of a target that has a target.toml already; run `casebook run -- COMMAND` or `casebook run URL` first"
        )));
    };
    let name = args.folder.clone().unwrap_or_else(|| about.target.name.clone().into());
    let folder = normalized(&here.folder().join(&name));
    let file = folder.join("target.toml");
    write_new(&file, &target_toml(about, tried, &folder))?;
    let shown = |path: &Utf8Path| path.strip_prefix(here.folder()).unwrap_or(path).to_string();
    print_line(&format!("wrote {}", shown(&file)));
    if !args.no_workflow {
        let root = repository(here.folder());
        let workflow = root.join(WORKFLOW);
        if workflow.symlink_metadata().is_ok() {
            eprint_line(&format!("{} exists already and stays as it is", shown(&workflow)));
        } else {
            write_new(&workflow, &workflow_yml(tried, &relative(&folder, &root)))?;
            print_line(&format!("wrote {}", shown(&workflow)));
        }
    }
    for line in to_do(tried).into_iter().chain(of_folder(tried, &folder)) {
        eprint_line(&line);
    }
    let path = relative(&folder, here.folder());
    let path = if path.starts_with("..") || path.starts_with('/') { path } else { format!("./{path}") };
    print_line("next:");
    print_line(&format!("  casebook run {path} --run-log run.jsonl"));
    print_line(&format!("  casebook known run.jsonl >> {path}/target.toml    (and give each failure a reason)"));
    Ok(Exit::Fine)
}

/// Writes a file that must not exist.
fn write_new(file: &Utf8Path, text: &str) -> Result<(), Problem> {
    let parent = file.parent().unwrap_or(Utf8Path::new("."));
    fs::create_dir_all(parent).map_err(|error| Problem::unsaved(parent, &error))?;
    let mut opened = fs::OpenOptions::new().write(true).create_new(true).open(file).map_err(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let text = format!("{file} exists already, and casebook never overwrites it; name another folder");
            Problem::new(Exit::Usage, Untrusted(&text).line(1000))
        } else {
            Problem::unsaved(file, &error)
        }
    })?;
    opened.write_all(text.as_bytes()).map_err(|error| Problem::unsaved(file, &error))
}

/// Returns the root of the repository of a folder: the nearest one with `.git`, or the folder itself.
fn repository(folder: &Utf8Path) -> Utf8PathBuf {
    let root = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    root.unwrap_or(folder).to_owned()
}

fn target_toml(about: &About, tried: &Tried, folder: &Utf8Path) -> String {
    let Tried { command, env, url, header_env, headers, cacert, server, revisions, lacks, calls_all, calls, .. } =
        tried;
    let mut out = String::from(
        "# Written by `casebook init`. All keys: https://github.com/mcp-casebook/mcp-casebook/blob/main/docs/targets.md\n",
    );
    let title = server.clone().unwrap_or_else(|| about.target.name.clone());
    out += &format!("title = {}\nkind = \"fixed\"\n", quoted(&title));
    if !tried.left_out.is_empty() {
        out += "# Secrets were left out: their names are in brackets. This does not work without them.\n";
    }
    if let Some(url) = url {
        out += &format!("url = {}\n", quoted(url));
    } else {
        out += &format!("command = {}\n", list(&command_from(command, Utf8Path::new(&tried.folder), folder)));
    }
    if !env.is_empty() {
        out += &format!(
            "# Set in the environment of casebook: {}. Their values were left out.\n",
            one_line(&env.join(", "))
        );
    }
    let variables = header_env.clone().into_iter().chain(headers.iter().map(|name| (name.clone(), variable(name))));
    let variables: Vec<_> =
        variables.map(|(name, variable)| format!("{} = {}", quoted(&name), quoted(&variable))).collect();
    if !variables.is_empty() {
        out += &format!(
            "# The values of these headers are in environment variables.\nheader-env = {{ {} }}\n",
            variables.join(", ")
        );
    }
    if let Some(cacert) = cacert {
        out += &format!("cacert = {}\n", quoted(&relative(Utf8Path::new(cacert), folder)));
    }
    let revisions: Vec<_> = revisions.iter().map(ToString::to_string).collect();
    out += &format!("\n[claims]\nrevisions = {}\n", list(&revisions));
    if !lacks.is_empty() {
        out += &format!("lacks = {}\n", list(&lacks.iter().map(ToString::to_string).collect::<Vec<_>>()));
    }
    if *calls_all {
        out += "calls = \"all\"\n";
    } else if !calls.is_empty() {
        out += &format!("calls = {}\n", list(calls));
    }
    out
}

/// Returns the environment variable for a header whose value was on the command line.
fn variable(header: &str) -> String {
    let sound = |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_uppercase() } else { '_' };
    format!("MCP_{}", header.chars().map(sound).collect::<String>())
}

/// Returns a command for another folder: the files of the first folder that it names have a path from there.
fn command_from(command: &[String], ran_in: &Utf8Path, folder: &Utf8Path) -> Vec<String> {
    let path_from = |word: &str, is_program: bool| {
        let is_path = word.contains('/') || [".", ".."].contains(&word);
        let file = ran_in.join(word);
        let is_file = if is_program { is_path } else { file.is_file() || is_path && file.exists() };
        let is_here = is_file && !Utf8Path::new(word).is_absolute() && ran_in.is_absolute();
        is_here.then(|| relative(&normalized(&file), folder))
    };
    // `--option=PATH`
    let option_from = |word: &str| {
        let (option, path) = word.split_once('=').filter(|(option, _)| option.starts_with('-'))?;
        Some(format!("{option}={}", path_from(path, false)?))
    };
    let moved = |(place, word): (usize, &String)| {
        path_from(word, place == 0).or_else(|| option_from(word)).unwrap_or_else(|| word.clone())
    };
    command.iter().enumerate().map(moved).collect()
}

/// Returns a path without `.` and `..`.
fn normalized(path: &Utf8Path) -> Utf8PathBuf {
    let mut whole = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => _ = whole.pop(),
            part => whole.push(part),
        }
    }
    whole
}

/// Returns the path of a file as seen from a folder.
fn relative(file: &Utf8Path, folder: &Utf8Path) -> String {
    let (to, from): (Vec<_>, Vec<_>) = (file.components().collect(), folder.components().collect());
    let shared = to.iter().zip(&from).take_while(|(one, other)| one == other).count();
    if shared == 0 {
        return file.to_string();
    }
    let up = std::iter::repeat_n("..", from.len() - shared);
    let parts: Vec<_> = up.chain(to[shared..].iter().map(Utf8Component::as_str)).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Returns a text as a string of TOML. The escapes of JSON are among those of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn list(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

fn one_line(text: &str) -> String {
    Untrusted(text).line(1000)
}

fn workflow_yml(tried: &Tried, target: &str) -> String {
    let names = tried.header_env.values().cloned().chain(tried.headers.iter().map(|name| variable(name)));
    let mut names: Vec<_> = names.chain(tried.env.iter().cloned()).filter(|name| is_variable(name)).collect();
    names.sort();
    names.dedup();
    let mut out = format!(
        "\
name: casebook
on: [push, pull_request]
permissions:
  contents: read
jobs:
  casebook:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      # Install and build the server here, if its command needs that.
      - uses: mcp-casebook/mcp-casebook@main
        with:
          target: {}
",
        serde_json::Value::from(if target == "." { "./." } else { target })
    );
    if !names.is_empty() {
        out += "        env:\n";
        for name in names {
            out += &format!("          {name}: ${{{{ secrets.{name} }}}}\n");
        }
    }
    out
}

/// Returns the duties of the user, because no file has values that may be secrets.
fn to_do(tried: &Tried) -> Vec<String> {
    let headers = tried.headers.iter().map(|name| {
        format!("casebook: set {} to the value of the header {}, which is in no file", variable(name), one_line(name))
    });
    let env =
        tried.env.iter().map(|name| format!("casebook: set {} as before; its value is in no file", one_line(name)));
    let place = if tried.url.is_some() { "a header" } else { "an environment variable" };
    let left_out = tried.left_out.iter().map(|word| {
        let word = one_line(&quoted(word));
        format!(
            "casebook: a secret was left out of {word}, and target.toml does not work without it: use {place} instead"
        )
    });
    headers.chain(env).chain(left_out).collect()
}

/// Returns a warning that the command runs in another folder than before, if nothing in it shows that.
fn of_folder(tried: &Tried, folder: &Utf8Path) -> Option<String> {
    let ran_in = Utf8Path::new(&tried.folder);
    let is_moved = command_from(&tried.command, ran_in, folder) != tried.command;
    let is_affected = !tried.command.is_empty() && !is_moved && ran_in != folder;
    is_affected.then(|| {
        format!("casebook: the command now runs in {}, and may need a path to its files", one_line(folder.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_leads_from_the_new_folder_to_the_file() {
        for (file, folder, expected) in [
            ("/a/server.js", "/a/time", "../server.js"),
            ("/a/b", "/a", "b"),
            ("/a", "/a", "."),
            ("/a/ca.pem", "/b/c", "../../a/ca.pem"),
        ] {
            assert_eq!(relative(Utf8Path::new(file), Utf8Path::new(folder)), expected);
        }
        assert_eq!(normalized(Utf8Path::new("/a/./b/../c")), "/a/c");
        assert_eq!(variable("X-Api-Key"), "MCP_X_API_KEY");
        assert_eq!(quoted("a\"b\u{7f}\n"), r#""a\"b\u007f\n""#);
    }
}
