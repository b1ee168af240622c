//! The run logs in the cache: one folder per run, and the link `last` to the run that ended last.
//!
//! Takes the cache folder, gives paths. Must not know the content of run logs.

use std::fs::{self, File, TryLockError};
use std::io;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use crate::run::private_folder;

/// The number of runs that are kept.
const KEPT: usize = 10;
/// The name of a run log in its folder.
const NAME: &str = "run.jsonl";

/// The time in the form of RFC 3339.
pub(in crate::cli) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// A run log in the cache.
#[derive(Debug)]
pub(in crate::cli) struct CachedLog {
    cache: Utf8PathBuf,
    run: String,
}

impl CachedLog {
    /// Creates a new folder for a run.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(in crate::cli) fn begin(cache: Utf8PathBuf) -> io::Result<Self> {
        let runs = cache.join("runs");
        private_folder(&runs)?;
        let now: String = now().chars().filter(char::is_ascii_alphanumeric).collect();
        for number in 0.. {
            let run = format!("{now}-{}-{number}", std::process::id());
            match create_private(&runs.join(&run)) {
                Ok(()) => return Ok(Self { cache, run }),
                // Containers that share a cache may have the same process ids.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("there are more numbers than folders")
    }

    /// Returns the path of the run log.
    pub(in crate::cli) fn path(&self) -> Utf8PathBuf {
        self.cache.join("runs").join(&self.run).join(NAME)
    }

    /// Makes `last` a link to this run, and deletes the oldest runs.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(in crate::cli) fn publish(&self) -> io::Result<()> {
        let last = self.cache.join("last");
        lead(&last, &self.run)?;
        prune(&self.cache.join("runs"), &last)
    }
}

/// Creates a folder that only its owner can read. It must not exist.
fn create_private(folder: &Utf8Path) -> io::Result<()> {
    let mut new = fs::DirBuilder::new();
    new.recursive(false);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut new, 0o700);
    new.create(folder)
}

/// Makes `last` a link to the folder of a run.
#[cfg(unix)]
fn lead(last: &Utf8Path, run: &str) -> io::Result<()> {
    if last.symlink_metadata().is_ok_and(|there| there.is_dir()) {
        // Earlier versions had a folder here.
        fs::remove_dir_all(last)?;
    }
    let new = last.with_file_name(format!("last-{run}"));
    std::os::unix::fs::symlink(Utf8Path::new("runs").join(run), &new)?;
    fs::rename(&new, last).inspect_err(|_| _ = fs::remove_file(&new))
}

/// Copies the files of a run to `last`, because links may need a privilege on this system.
#[cfg(not(unix))]
fn lead(last: &Utf8Path, run: &str) -> io::Result<()> {
    fs::create_dir_all(last)?;
    let from = last.with_file_name("runs").join(run);
    for name in [NAME, "run.wire.jsonl"] {
        let new = last.join(format!("{name}-{run}"));
        fs::copy(from.join(name), &new)?;
        fs::rename(&new, last.join(name))?;
    }
    Ok(())
}

/// Returns whether [`CachedLog::begin`] gives such a name to a folder.
fn is_run(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = name.split('-').collect();
    let [began, process, number] = parts[..] else { return false };
    let began = began.strip_suffix('Z').and_then(|began| began.split_once('T'));
    began.is_some_and(|(day, time)| is_number(day) && is_number(time)) && is_number(process) && is_number(number)
}

/// Deletes the oldest runs, except the run of `last` and runs that have not ended.
fn prune(runs: &Utf8Path, last: &Utf8Path) -> io::Result<()> {
    let mut names: Vec<String> = runs.read_dir_utf8()?.flatten().map(|run| run.file_name().to_owned()).collect();
    // Folders with other names do not belong to casebook.
    names.retain(|name| is_run(name));
    names.sort();
    let last = last.read_link_utf8().ok();
    for name in names.iter().rev().skip(KEPT) {
        let is_running = File::open(runs.join(name).join(NAME))
            .is_ok_and(|log| matches!(log.try_lock(), Err(TryLockError::WouldBlock)));
        let is_last = last.as_ref().is_some_and(|last| last.file_name() == Some(name));
        if !is_running && !is_last {
            // Another process may delete the same folder at the same time.
            _ = fs::remove_dir_all(runs.join(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = Utf8PathBuf::from_path_buf(folder.path().join("casebook")).expect("UTF-8");
        (folder, path)
    }

    fn published(cache: &Utf8Path, text: &str) -> Utf8PathBuf {
        let log = CachedLog::begin(cache.to_owned()).expect("a folder");
        let path = log.path();
        fs::write(&path, text).expect("written");
        log.publish().expect("a link");
        path
    }

    #[test]
    fn last_links_to_the_run_published_last() {
        let (_folder, cache) = cache();
        fs::create_dir_all(cache.join("last")).expect("a folder of an earlier version");
        fs::write(cache.join("last/run.jsonl"), "old").expect("written");
        for text in ["one", "two"] {
            let path = published(&cache, text);
            assert_eq!(fs::read_to_string(cache.join("last/run.jsonl")).expect("a link"), text);
            assert_eq!(fs::read_to_string(path).expect("the run's own"), text);
        }
    }

    #[test]
    fn old_runs_are_deleted_unless_still_running() {
        let (_folder, cache) = cache();
        let living = published(&cache, "living");
        let lock = File::open(&living).expect("it is there");
        lock.lock().expect("nobody else has it");
        let oldest = published(&cache, "oldest");
        for _ in 0..KEPT {
            published(&cache, "newer");
        }
        assert!(living.exists() && !oldest.exists());
        // A child process of another test may have inherited the open file, so closing it may not unlock it.
        lock.unlock().expect("it was locked");
        published(&cache, "newest");
        assert!(!living.exists());
        assert_eq!(fs::read_dir(cache.join("runs")).expect("runs").count(), KEPT);
    }
}
