//! `casebook watch`: lints and runs the cases of a folder after each save, and shows what changed.
//!
//! Takes a folder and targets. Each round starts this program again, so that an end of one ends nothing else.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, recommended_watcher};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::base::chosen::this_program;
use super::base::exit::Exit;
use super::base::interrupt::runtime;
use super::base::problem::Problem;
use crate::load::{Diagnostic, Source, lint, render};
use crate::report::terminal::{colours, print_line};

/// The time without a change after which a save is over. Editors write a file in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// The time after which a round begins although files still change.
const LONGEST: Duration = Duration::from_secs(1);

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

pub(super) fn watch(args: &WatchArgs) -> Result<Exit, Problem> {
    if let Some(option) = args.targets.iter().find(|target| target.starts_with('-')) {
        return Err(Problem::new(Exit::Usage, format!("`{option}` is no target")));
    }
    let logs = tempfile::tempdir().map_err(Problem::system)?;
    let logs = Utf8Path::from_path(logs.path())
        .ok_or_else(|| Problem::new(Exit::System, "the folder of temporary files is no UTF-8"))?;
    runtime()?.block_on(rounds(args, logs))
}

async fn rounds(args: &WatchArgs, logs: &Utf8Path) -> Result<Exit, Problem> {
    let (saved, mut requests) = (Arc::new(Notify::new()), requests());
    let mut last: Option<Utf8PathBuf> = None;
    for round in 0_u64.. {
        // Anew in each round: nothing tells of changes in a folder that was removed and made again.
        let _watcher = watcher(&args.folder, &saved)?;
        let found = lint(&[Source::Folder(args.folder.clone())]);
        if !found.is_empty() {
            print_line(&render(&found, colours()).trimmed());
        }
        if !found.iter().any(Diagnostic::is_error) {
            let folder = logs.join(round.to_string());
            std::fs::create_dir(&folder).map_err(Problem::system)?;
            let log = folder.join("run.jsonl");
            let cases = format!("--cases={}", args.folder);
            let mut words = vec!["run", &cases, "--run-log", log.as_str()];
            words.extend(args.targets.iter().map(String::as_str));
            let Some(status) = this(&words, &mut requests).await? else { return Ok(Exit::Interrupted) };
            if round == 0 && status.code() == Some(Exit::Usage.status().into()) {
                return Ok(Exit::Usage);
            }
            // A run that did not begin has no log.
            let before = if log.exists() { last.replace(log.clone()) } else { None };
            if let Some(before) = before {
                this(&["diff", before.as_str(), log.as_str(), &cases, "--tests", "3"], &mut requests).await?;
                _ = before.parent().map(std::fs::remove_dir_all);
            }
        }
        print_line("\nwaiting for a change …");
        tokio::select! {
            () = next(&saved) => {}
            _ = requests.changed() => return Ok(Exit::Interrupted),
        }
    }
    Ok(Exit::Fine)
}

/// Begins to watch the files of cases in a folder.
fn watcher(folder: &Utf8Path, saved: &Arc<Notify>) -> Result<RecommendedWatcher, Problem> {
    let cannot = |why: &str| Problem::new(Exit::Usage, format!("cannot watch {folder}: {why}"));
    if !folder.is_dir() {
        return Err(cannot("no such folder; name one with folders of cases, as `casebook new` writes them"));
    }
    let root = folder.canonicalize_utf8().map_err(|error| cannot(&error.to_string()))?;
    let (saved, above) = (Arc::clone(saved), root.parent().map(ToOwned::to_owned));
    let places =
        [Some((root.clone(), RecursiveMode::Recursive)), above.map(|above| (above, RecursiveMode::NonRecursive))];
    let changed = move |change: notify::Result<Event>| {
        // An error can mean that changes were missed.
        if change.map_or(true, |event| event.need_rescan() || is_save(&event, &root)) {
            saved.notify_one();
        }
    };
    let mut watcher = recommended_watcher(changed).map_err(|error| cannot(&error.to_string()))?;
    // The folder above tells that the folder itself was replaced.
    for (place, mode) in places.into_iter().flatten() {
        watcher.watch(place.as_std_path(), mode).map_err(|error| cannot(&error.to_string()))?;
    }
    Ok(watcher)
}

/// Returns whether a file of cases, or the folder itself, has changed.
fn is_save(event: &Event, root: &Utf8Path) -> bool {
    let is_change = matches!(event.kind, EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_));
    let is_case = |path: &Path| path.starts_with(root) && path.extension().is_some_and(|one| one == "json");
    is_change && event.paths.iter().any(|path| path == root.as_std_path() || is_case(path))
}

/// Waits for a save, and for its end.
async fn next(saved: &Notify) {
    saved.notified().await;
    _ = timeout(LONGEST, async { while timeout(QUIET, saved.notified()).await.is_ok() {} }).await;
}

/// Runs another command of this program, whose output the user sees. Returns `None` if the user interrupts it.
async fn this(words: &[&str], requests: &mut watch::Receiver<u32>) -> Result<Option<ExitStatus>, Problem> {
    let mut child = Command::new(this_program()?).args(words).kill_on_drop(true).spawn().map_err(Problem::system)?;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status.map_err(Problem::system)?,
            _ = requests.changed() => pass_on(&child),
        }
    };
    Ok((*requests.borrow() == 0).then_some(status))
}

/// Counts Ctrl-C and SIGTERM.
fn requests() -> watch::Receiver<u32> {
    let (count, requests) = watch::channel(0);
    tokio::spawn(async move {
        while asked().await.is_ok() {
            count.send_modify(|count| *count += 1);
        }
        // Without signals, nothing is ever asked.
        std::future::pending::<()>().await;
    });
    requests
}

#[cfg(unix)]
async fn asked() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn asked() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Asks a command to end. It may have got Ctrl-C itself, and then ends at once.
#[cfg(unix)]
fn pass_on(child: &Child) {
    use nix::sys::signal::{Signal, kill};
    let id = child.id().and_then(|id| id.try_into().ok());
    _ = id.map(|id| kill(nix::unistd::Pid::from_raw(id), Signal::SIGTERM));
}

/// The system sends Ctrl-C to the command too.
#[cfg(not(unix))]
fn pass_on(_child: &Child) {}
