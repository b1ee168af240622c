//! `casebook promote`: gives a proposal the number that it got, or the revision that has it.
//!
//! Takes the folder of a proposal, rewrites the case files and catalogues that name it, and nothing else in them.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::base::exit::Exit;
use super::base::problem::Problem;
use crate::file;
use crate::model::is_id;
use crate::model::spec::{DRAFT, Revision};
use crate::report::terminal::{eprint_line, print_line};

/// The most bytes that are read of a file.
const MOST_BYTES: usize = 8 << 20;

/// `casebook promote`.
#[derive(Debug, Args)]
pub struct PromoteArgs {
    /// Folder of the proposal, as in sep-9999
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Its new name, as in sep-2345: the folder is renamed, and all files that name it follow
    #[arg(long, value_name = "NAME", required_unless_present = "since")]
    pub to: Option<String>,
    /// The released revision that has its sentences; they count from now on
    #[arg(long, value_name = "REVISION")]
    pub since: Option<Revision>,
    /// Folder of cases
    #[arg(long, value_name = "DIR", default_value = "cases")]
    pub cases: Utf8PathBuf,
}

pub(super) fn promote(args: &PromoteArgs) -> Result<Exit, Problem> {
    let PromoteArgs { name, to, since, cases } = args;
    let usage = |text: String| Problem::new(Exit::Usage, text);
    let folder = cases.join(name);
    if !is_id(name) || !folder.is_dir() {
        return Err(usage(format!(
            "there is no folder {folder}: name the folder of a proposal, and --cases its parent"
        )));
    }
    let renamed = cases.join(to.as_ref().unwrap_or(name));
    if let Some(to) = to.as_ref().filter(|to| !is_id(to) || cases.join(to).exists()) {
        return Err(usage(format!("the folder cannot become {to}: choose a name in kebab-case that is not taken")));
    }
    let mut changed = Vec::new();
    for path in files(cases)? {
        let text = file::read_text(&path, MOST_BYTES).map_err(|error| usage(format!("cannot read {path}: {error}")))?;
        let mut new = text.clone();
        if let Some(since) = since.filter(|_| path.starts_with(&folder)) {
            new = released(&new, since);
        }
        if let Some(to) = to {
            new = new.replace(&format!("\"{name}/"), &format!("\"{to}/"));
        }
        if new != text {
            changed.push((path, new));
        }
    }
    if changed.is_empty() && renamed == folder {
        return Err(usage(format!("no file in {folder} has `\"since\": \"{DRAFT}\"`")));
    }
    for (path, text) in &changed {
        fs::write(path, text).map_err(|error| Problem::unsaved(path, &error))?;
        let now = path.strip_prefix(&folder).map_or_else(|_| path.clone(), |rest| renamed.join(rest));
        print_line(now.as_str());
    }
    if renamed != folder {
        fs::rename(&folder, &renamed).map_err(|error| Problem::unsaved(&renamed, &error))?;
        eprint_line(&format!(
            "{folder} is {renamed} now; its snapshots and the entries of target.toml keep the old name"
        ));
    }
    Ok(Exit::Fine)
}

/// Replaces each `"since": "draft"`, with any blanks around the colon.
fn released(text: &str, since: Revision) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\"since\"") {
        let (before, key) = rest.split_at(at + "\"since\"".len());
        out += before;
        let value = key.trim_start_matches([' ', '\t', '\r', '\n', ':']);
        let draft = format!("\"{DRAFT}\"");
        rest = match value.strip_prefix(draft.as_str()) {
            Some(after) => {
                out += &key[..key.len() - value.len()];
                out += &format!("\"{since}\"");
                after
            }
            None => key,
        };
    }
    out + rest
}

/// The JSON files of the folders of cases.
fn files(cases: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Problem> {
    let unread = |error: std::io::Error| Problem::new(Exit::System, format!("cannot read {cases}: {error}"));
    let mut files = Vec::new();
    for folder in cases.read_dir_utf8().map_err(unread)? {
        let folder = folder.map_err(unread)?;
        if folder.file_type().map_err(unread)?.is_dir() && folder.file_name() != "schemas" {
            for file in folder.path().read_dir_utf8().map_err(unread)? {
                let path = file.map_err(unread)?.into_path();
                files.extend((path.extension() == Some("json")).then_some(path));
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_of_the_draft_is_replaced() {
        let text = r#"{"since": "draft", "until": "draft", "a": "since", "since" : "draft", "since": "2025-06-18"}"#;
        let wanted =
            r#"{"since": "2026-07-28", "until": "draft", "a": "since", "since" : "2026-07-28", "since": "2025-06-18"}"#;
        assert_eq!(released(text, Revision::newest()), wanted);
    }
}
