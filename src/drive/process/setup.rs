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
/// commands.
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
    // Two runs must not set up the same folder at the same time. Closing the file releases the lock.
    let lock = File::options().create(true).append(true).open(&stamp).map_err(failed)?;
    let (locked, waiting) = oneshot::channel();
    // A plain thread, because the runtime would wait at its end for a blocking task, and the lock may be held for long.
    std::thread::spawn(move || locked.send(lock.lock().map(|()| lock)));
    let _lock = waiting.await.expect("locking a file doesn't panic").map_err(failed)?;
    let due = fingerprint(target)?;
    if file::read_text(&stamp, MOST_STAMP).map_err(failed)? == due {
        return Ok(());
    }
    fs::write(&stamp, "").map_err(failed)?;
    let all = async {
        for command in &target.setup.commands {
            progress(&format!("setting up: {}", command.join(" ")));
            run(command, &target.folder, &mut progress).await?;
        }
        Ok(())
    };
    tokio::time::timeout(LIMIT, all).await.unwrap_or_else(|_| {
        Err(SetupError::Failed {
            command: "setup".to_owned(),
            how: format!("no exit within {}", humantime::format_duration(LIMIT)),
            output: String::new(),
        })
    })?;
    fs::write(&stamp, due).map_err(failed)
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

async fn run(command: &[String], folder: &Utf8Path, progress: &mut impl FnMut(&str)) -> Result<(), SetupError> {
    let text = command.join(" ");
    let start = |error| SetupError::Start { command: text.clone(), error };
    let launch = Launch { command, folder: folder.as_std_path(), env: &BTreeMap::new() };
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
