//! Programs that show a known failure through the SDK alone, without an adapter.
//!
//! Takes a target that is set up, runs one of its programs, gives its last line of output. Must not know the failure.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::time::timeout;

use crate::drive::process::launch::{Launch, Process, StopReason};
use crate::drive::process::lines::{LineEvent, Lines};
use crate::model::target::Target;

/// The folder of the programs in a target's folder.
const FOLDER: &str = "repro";
/// The number of lines of output that are kept.
const LAST_LINES: usize = 20;

/// The result of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReproResult {
    /// The program ended with status 0. Its last line says what it saw.
    Shown(String),
    /// The program failed, printed nothing, or did not end in time.
    NotShown {
        /// The reason.
        how: String,
        /// The last lines of its output.
        output: String,
    },
}

/// Returns the path of a program in the folder of its target.
pub fn repro_file(path: &Utf8Path) -> Utf8PathBuf {
    Utf8Path::new(FOLDER).join(path)
}

/// Runs one program of a target, in the target's folder.
pub async fn repro(target: &Target, path: &Utf8Path, limit: Duration) -> ReproResult {
    let not_shown = |how: String, output: String| ReproResult::NotShown { how, output };
    if target.repro.is_empty() {
        return not_shown("target.toml has no `[repro] command`".to_owned(), String::new());
    }
    let file = repro_file(path);
    if !target.folder.join(&file).exists() {
        return not_shown(format!("there is no {file}"), String::new());
    }
    let command: Vec<_> = target.repro.iter().cloned().chain([file.into_string()]).collect();
    let launch = Launch { command: &command, folder: target.folder.as_std_path(), env: &target.env };
    let (mut process, stdin, lines) = match Process::spawn(launch) {
        Ok(started) => started,
        Err(error) => return not_shown(format!("cannot start `{}`: {error}", target.repro.join(" ")), String::new()),
    };
    drop(stdin);
    let mut kept = VecDeque::new();
    let is_done = timeout(limit, keep_last(lines, &mut process, &mut kept)).await.is_ok();
    let errors = process.stderr().clone();
    let stopped = process.end(if is_done { StopReason::Finished } else { StopReason::Hung }, async {}).await;
    let last = kept.back().cloned();
    match (is_done, stopped.code, last) {
        (true, Some(0), Some(line)) => ReproResult::Shown(line),
        (true, Some(0), None) => not_shown("it printed nothing".to_owned(), errors.take()),
        (is_done, ..) => {
            let how =
                if is_done { stopped.how } else { format!("no exit within {}", humantime::format_duration(limit)) };
            let mut output = Vec::from(kept).join("\n");
            _ = write!(output, "\n{}", errors.take());
            not_shown(how, output.trim().to_owned())
        }
    }
}

/// Keeps the last lines of a program until it exits. Empty lines are left out.
async fn keep_last(mut lines: Lines, process: &mut Process, kept: &mut VecDeque<String>) {
    loop {
        let event = tokio::select! {
            event = lines.next() => event,
            never = process.watch() => match never {},
        };
        let (LineEvent::Line(line) | LineEvent::Unended(line)) = event else {
            if event == LineEvent::Eof {
                return;
            }
            continue;
        };
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        if !line.is_empty() {
            kept.push_back(line);
            if kept.len() > LAST_LINES {
                kept.pop_front();
            }
        }
    }
}
