//! `casebook watch`: lints and runs the cases of a folder after each save, and shows what changed.
//!
//! Takes a folder and targets. Each round starts this program again, so that an end of one ends nothing else.

use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use notify::{Event, EventKind, RecursiveMode, Watcher as _, recommended_watcher};

use super::run::this_program;
use super::{Exit, Problem};
use crate::load::{Diagnostic, Source, lint, render};
use crate::report::terminal::{colours, print_line};

/// The time without a change after which a save is over. Editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(50);

/// `casebook watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Folder with folders of cases
    #[arg(value_name = "DIR")]
    pub folder: Utf8PathBuf,
    /// Targets to test, as in `casebook run` [default: reference]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
}

type Changes = Receiver<notify::Result<Event>>;

pub(super) fn watch(args: &WatchArgs) -> Result<Exit, Problem> {
    let (sender, changes) = mpsc::channel();
    let why = |error: notify::Error| Problem::new(Exit::Usage, format!("cannot watch {}: {error}", args.folder));
    let mut watcher = recommended_watcher(sender).map_err(why)?;
    watcher.watch(args.folder.as_std_path(), RecursiveMode::Recursive).map_err(why)?;
    let logs = tempfile::tempdir().map_err(Problem::system)?;
    let logs = Utf8Path::from_path(logs.path())
        .ok_or_else(|| Problem::new(Exit::System, "the folder of temporary files is no UTF-8"))?;
    let mut last: Option<Utf8PathBuf> = None;
    for round in 0_u64.. {
        let found = lint(&[Source::Folder(args.folder.clone())]);
        if !found.is_empty() {
            print_line(&render(&found, colours()).trimmed());
        }
        if !found.iter().any(Diagnostic::is_error) {
            let log = logs.join(format!("{round}.jsonl"));
            let mut words = vec!["run", "--cases", args.folder.as_str(), "--run-log", log.as_str()];
            words.extend(args.targets.iter().map(String::as_str));
            this(&words)?;
            if let Some(last) = last.replace(log.clone()).filter(|last| last.exists() && log.exists()) {
                this(&["diff", last.as_str(), log.as_str(), "--cases", args.folder.as_str(), "--tests", "3"])?;
                _ = std::fs::remove_file(last);
            }
        }
        print_line("\nwaiting for a change …");
        if !next(&changes) {
            break;
        }
    }
    Ok(Exit::Fine)
}

/// Runs another command of this program, whose output the user sees.
fn this(words: &[&str]) -> Result<(), Problem> {
    Command::new(this_program()?).args(words).status().map_err(Problem::system).map(drop)
}

/// Waits until a file of cases has changed. Returns `false` if nothing is watched any longer.
fn next(changes: &Changes) -> bool {
    let is_save = |event: &Event| {
        let is_change = matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_));
        is_change && event.paths.iter().any(|path| path.extension().is_some_and(|one| one == "json"))
    };
    while let Ok(change) = changes.recv() {
        if change.is_ok_and(|event| is_save(&event)) {
            while changes.recv_timeout(QUIET).is_ok() {}
            return true;
        }
    }
    false
}
