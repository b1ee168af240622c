//! Setup of targets: runs the setup commands once, and again when their inputs have changed.
//!
//! Takes a target, gives a folder in which its command can start. Must not know the effect of the commands.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io;
use std::process::Stdio;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::sync::{mpsc, oneshot};

use super::checkout::{self, CheckoutError};
use crate::drive::fault;
use crate::drive::process::launch::{Launch, spawn_leader};
use crate::file;
use crate::model::target::Target;

/// The time limit of all setup commands of a target together.
const LIMIT: Duration = Duration::from_secs(15 * 60);
/// The number of bytes that are read of an input of the setup, or of a stamp.
const MOST_INPUT: usize = 64 << 20;
const MOST_STAMP: usize = 1 << 10;
/// The number of lines of output that an error shows.
const LAST_LINES: usize = 20;
/// The number of bytes of a line that are kept.
const LINE: u64 = 4096;
/// The time for which the pipes of an exited command are still read.
const DRAIN: Duration = Duration::from_millis(200);

/// An error of the setup of a target.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// An input of the setup cannot be read.
    #[error("cannot read {path}: {error}; correct `[setup] inputs` in target.toml, or create the file")]
    Input {
        /// The path of the file.
        path: Utf8PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The stamp of the setup cannot be read or written.
    #[error("{path}: {error}; make the folder writable, or copy it")]
    File {
        /// The path of the file.
        path: Utf8PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The checkout of the SDK cannot be copied.
    #[error(transparent)]
    Checkout(#[from] CheckoutError),
    /// A command cannot be started.
    #[error("cannot start `{command}`: {error}; is it installed and on the PATH?")]
    Start {
        /// The command.
        command: String,
        /// The error of the system.
        error: io::Error,
    },
    /// A command failed.
    #[error("`{command}` ended with {how}\n{output}")]
    Failed {
        /// The command.
        command: String,
        /// Its exit status, or the time limit that passed.
        how: String,
        /// The last lines of its output.
        output: String,
    },
}

/// The file in a target's folder that identifies the setup it has.
const STAMP: &str = ".casebook-setup";

/// Returns whether a target is set up, according to its stamp.
pub fn is_set_up(target: &Target) -> bool {
    let stamp = file::read_text(target.folder.join(STAMP), MOST_STAMP);
    target.setup.commands.is_empty() || stamp.is_ok_and(|stamp| fingerprint(target).is_ok_and(|due| stamp == due))
}

/// Returns whether a stamp cannot be written, so that no other run can set up the folder either.
fn is_read_only(stamp: &Utf8Path) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    let opened = File::options().append(true).open(stamp);
    opened.is_err_and(|error| [PermissionDenied, ReadOnlyFilesystem].contains(&error.kind()))
}

/// Runs the setup of a target if it is necessary. `progress` gets a line for each command, and the output of the
/// commands. A target on a checkout is not set up again before this process ends.
///
/// # Errors
/// [`SetupError`] if the target is not ready afterwards.
pub async fn set_up(target: &Target, mut progress: impl FnMut(&str)) -> Result<(), SetupError> {
    if target.setup.commands.is_empty() {
        return Ok(());
    }
    let stamp = target.folder.join(STAMP);
    if is_read_only(&stamp) && is_set_up(target) {
        return Ok(());
    }
    let failed = |error| SetupError::File { path: stamp.clone(), error };
    let open = || File::options().create(true).append(true).open(&stamp).map_err(failed);
    let is_due = |due: &str| file::read_text(&stamp, MOST_STAMP).map(|stamp| stamp != due).map_err(failed);
    let mut due = fingerprint(target)?;
    let mut listed = None;
    if let Some(checkout) = target.setup.checkout() {
        let listing = checkout::list(&checkout.folder).await?;
        due += &checkout::state(checkout, &listing)?;
        let lock = open()?;
        let lock = in_thread(move || lock.lock_shared().map(|()| lock)).await.map_err(failed)?;
        if !is_due(&due)? {
            // Until this process ends, no other run changes what this one uses.
            std::mem::forget(lock);
            return Ok(());
        }
        listed = Some((checkout.clone(), listing));
    }
    // Two runs must not set up the same folder at the same time. Closing the file releases the lock.
    let lock = open()?;
    let lock = in_thread(move || lock.lock().map(|()| lock)).await.map_err(failed)?;
    if is_due(&due)? {
        fs::write(&stamp, "").map_err(failed)?;
        if let Some((checkout, listing)) = listed {
            in_thread(move || checkout::update(&checkout, &listing)).await?;
        }
        run_all(target, &mut progress).await?;
        fs::write(&stamp, due).map_err(failed)?;
    }
    if target.setup.checkout().is_some() {
        let shared = in_thread(move || lock.unlock().and_then(|()| lock.lock_shared()).map(|()| lock));
        std::mem::forget(shared.await.map_err(failed)?);
    }
    Ok(())
}

/// Runs a function in a plain thread. The runtime would wait at its end for a blocking task, and locks are held for long.
async fn in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, waiting) = oneshot::channel();
    // If nobody waits any more, the result is dropped, and closing its file releases the lock.
    std::thread::spawn(move || done.send(work()).is_ok());
    waiting.await.expect("neither locking nor copying files panics")
}

async fn run_all(target: &Target, progress: &mut impl FnMut(&str)) -> Result<(), SetupError> {
    // Build tools that ask Git for a version must not write into the repository.
    let env = target.setup.checkout().iter().map(|_| ("GIT_OPTIONAL_LOCKS".to_owned(), "0".to_owned())).collect();
    let all = async {
        for command in &target.setup.commands {
            progress(&format!("setting up: {}", command.join(" ")));
            run(command, (&target.folder, &env), progress).await?;
        }
        Ok(())
    };
    tokio::time::timeout(LIMIT, all).await.unwrap_or_else(|_| {
        Err(SetupError::Failed {
            command: "setup".to_owned(),
            how: format!("no exit within {}", humantime::format_duration(LIMIT)),
            output: String::new(),
        })
    })
}

/// Returns a hash of the setup's commands and inputs.
fn fingerprint(target: &Target) -> Result<String, SetupError> {
    let mut bytes = format!("{:?}", target.setup.commands).into_bytes();
    for input in &target.setup.inputs {
        let path = target.folder.join(input);
        bytes.push(0);
        bytes.extend(file::read(&path, MOST_INPUT).map_err(|error| SetupError::Input { path, error })?);
    }
    Ok(format!("{:016x}\n", crate::model::fnv1a(&bytes)))
}

async fn run(
    command: &[String],
    (folder, env): (&Utf8Path, &BTreeMap<String, String>),
    progress: &mut impl FnMut(&str),
) -> Result<(), SetupError> {
    let text = command.join(" ");
    let start = |error| SetupError::Start { command: text.clone(), error };
    let launch = Launch { command, folder: folder.as_std_path(), env };
    // When the group is dropped, no process of the command is left.
    let (mut child, _group) = spawn_leader(launch, Stdio::null()).map_err(start)?;
    let (lines, mut printed) = mpsc::channel(64);
    forward(child.stdout().take().expect("standard output is piped"), lines.clone());
    forward(child.stderr().take().expect("standard error is piped"), lines);
    let mut last = VecDeque::new();
    let mut keep = |line: String| {
        progress(&line);
        last.push_back(line);
        if last.len() > LAST_LINES {
            last.pop_front();
        }
    };
    // The command ends when its process exits. A process that it left behind may hold its pipes open forever.
    let status = loop {
        tokio::select! {
            Some(line) = printed.recv() => keep(line),
            status = child.inner_mut().wait() => break status.map_err(start)?,
        }
    };
    while let Ok(Some(line)) = tokio::time::timeout(DRAIN, printed.recv()).await {
        keep(line);
    }
    if status.success() {
        return Ok(());
    }
    let output = Vec::from(last).join("\n");
    Err(SetupError::Failed { command: text, how: status.to_string(), output })
}

/// Sends the lines of a pipe until it closes.
fn forward(pipe: impl AsyncRead + Send + Unpin + 'static, lines: mpsc::Sender<String>) {
    fault::spawn(async move {
        use tokio::io::AsyncReadExt as _;
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while let Ok(1..) = (&mut pipe).take(LINE).read_until(b'\n', &mut line).await {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if lines.send(text).await.is_err() {
                return;
            }
            line.clear();
        }
    });
}

// The command of the set-up is for a POSIX shell.
#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::drive::workers::tests::target;
    use crate::model::target::{Base, Checkout, Setup};

    #[tokio::test]
    async fn target_on_a_checkout_is_set_up_again_when_it_changes() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let root = Utf8Path::from_path(place.path()).expect("UTF-8");
        let checkout = Checkout { folder: root.join("from"), copy: root.join("sdk") };
        fs::create_dir(&checkout.folder).expect("a folder");
        let git = ["git", "init", "--quiet"].map(str::to_owned);
        run(&git, (&checkout.folder, &BTreeMap::new()), &mut |_| {}).await.expect("there is git");
        let command = ["sh", "-c", "cat \"$0/a\" >> built", checkout.copy.as_str()].map(str::to_owned);
        let base = Base::Checkout(checkout.clone());
        let setup = Setup { commands: vec![command.to_vec()], base, ..Setup::default() };
        let target = Target { folder: root.to_owned(), setup, ..target(&[]) };
        for contents in ["1", "1", "2", "2"] {
            let file = checkout.folder.join("a");
            if fs::read_to_string(&file).is_ok_and(|old| old != contents) || !file.exists() {
                fs::write(&file, contents).expect("a file");
            }
            if contents == "1" {
                set_up(&target, |_| {}).await.expect("it is set up");
            } else {
                let waited = tokio::time::timeout(Duration::from_millis(300), set_up(&target, |_| {})).await;
                assert!(waited.is_err(), "a set-up waits if it would change a folder in use");
            }
        }
        assert_eq!(fs::read_to_string(root.join("built")).expect("it was built"), "1");
        let left: Vec<_> =
            fs::read_dir(&checkout.folder).expect("a folder").flatten().map(|one| one.file_name()).collect();
        assert_eq!(left.len(), 2, "the checkout has its file and its repository: {left:?}");
    }
}
