//! A process that outlives the harness for a moment: however the harness ends, all that it started ends too.
//!
//! Takes nothing but the end of its standard input, which comes with the harness's own. Must not know what was run.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use camino::Utf8Path;

use super::token;

/// What all marks of this run's processes begin with.
static RUN: OnceLock<String> = OnceLock::new();
/// Where temporary files go while there is a guard.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// A guard that is posted. Dropped, it is waited for until nothing is left.
#[derive(Debug)]
pub struct Guard(Child);

/// What all marks of this run's processes begin with.
pub(super) fn run() -> &'static str {
    RUN.get_or_init(token)
}

/// Where temporary files go: where a guard is posted, into a folder that goes when the run does.
pub(super) fn scratch() -> PathBuf {
    FOLDER.get().cloned().unwrap_or_else(std::env::temp_dir)
}

impl Guard {
    /// Posts a guard for this run, once: `PROGRAM __guard RUN`, in a group of its own, so that what is typed at the
    /// harness isn't for it.
    ///
    /// # Errors
    /// Where the system starts no process, or has no room for temporary files.
    pub fn post(program: &Utf8Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(["__guard", run()]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let guard = Self(command.spawn()?);
        let folder = folder(run());
        let mut new = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut new, 0o700);
        new.create(&folder)?;
        FOLDER.get_or_init(|| folder);
        Ok(guard)
    }

    /// What the guard does: it waits for the end of its standard input, and then clears up after that run.
    ///
    /// # Errors
    /// Where that is no run.
    pub fn keep(run: &str) -> io::Result<()> {
        if run.len() != 32 || !run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a run"));
        }
        _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        #[cfg(target_os = "linux")]
        super::process::sweep(&format!("{}={run}-", super::process::MARK), 0);
        // Without temporary files there is no folder.
        _ = fs::remove_dir_all(folder(run));
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        _ = self.0.wait();
    }
}

fn folder(run: &str) -> PathBuf {
    std::env::temp_dir().join(format!("casebook-{run}"))
}
