//! Detection of the programs of this machine and their versions.
//!
//! Takes names, gives the version that each program prints. Runs only known programs, in a folder that other users
//! cannot write to. Must not know the purpose of the programs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::drive::process::launch::{Launch, PIPE_LIMIT, spawn_leader};
use crate::drive::process::lines::BoundedText;
use crate::model::program::{Found, Version, version_argument};

/// The time limit of a version query. Some programs start a virtual machine first.
const PATIENCE: Duration = Duration::from_secs(20);

/// Queries all programs concurrently.
pub async fn probe(names: impl IntoIterator<Item = String>) -> BTreeMap<String, Found> {
    let path = trusted_path(&std::env::var_os("PATH").unwrap_or_default());
    let asking = |name: String| {
        let path = path.clone();
        async move { (ask(&name, &path).await, name) }
    };
    let mut asked: JoinSet<_> = names.into_iter().map(asking).collect();
    let mut found = BTreeMap::new();
    while let Some(one) = asked.join_next().await {
        let (what, name) = one.expect("asking a program doesn't panic");
        found.insert(name, what);
    }
    found
}

async fn ask(name: &str, path: &[PathBuf]) -> Found {
    let Some(program) = find(name, path) else { return Found::Missing };
    let Some(argument) = version_argument(name) else { return Found::Unversioned };
    let (Some(program), Ok(path)) = (program.to_str(), std::env::join_paths(path)) else { return Found::Unversioned };
    // The interpreter of a script may be looked up by this PATH as well.
    let env = path.into_string().map(|path| BTreeMap::from([("PATH".to_owned(), path)]));
    match timeout(PATIENCE, output_of([program.to_owned(), argument.to_owned()], env.unwrap_or_default())).await {
        Ok(Ok(said)) => Version::within(&said).map_or(Found::Unversioned, Found::Version),
        // The program exists but does not work.
        Ok(Err(_)) | Err(_) => Found::Unversioned,
    }
}

/// Returns the absolute folders of a PATH. A relative one would depend on the current folder.
fn trusted_path(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).collect()
}

/// Returns the absolute path of a program.
fn find(name: &str, path: &[PathBuf]) -> Option<PathBuf> {
    const ENDINGS: &[&str] = if cfg!(windows) { &[".exe", ".com", ".cmd", ".bat"] } else { &[""] };
    if name.contains(std::path::is_separator) {
        return None;
    }
    let files = path.iter().flat_map(|folder| ENDINGS.iter().map(move |ending| folder.join(format!("{name}{ending}"))));
    files.into_iter().find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// A folder in which, and above which, only an administrator can create files. Many programs search the current folder
/// and its parents for a configuration, and some run commands from it: in a folder for temporary files, any user could
/// create one.
fn neutral_folder() -> PathBuf {
    if cfg!(unix) { "/".into() } else { std::env::temp_dir() }
}

/// Returns the output of a command that succeeds, or an empty text.
async fn output_of(command: [String; 2], env: BTreeMap<String, String>) -> std::io::Result<String> {
    let launch = Launch { command: &command, folder: &neutral_folder(), env: &env };
    let (mut child, _group) = spawn_leader(launch, Stdio::null())?;
    let piped = "its output is piped";
    let (out, mut drained_out) = BoundedText::of(child.stdout().take().expect(piped));
    let (err, mut drained_err) = BoundedText::of(child.stderr().take().expect(piped));
    let status = child.inner_mut().wait().await?;
    // A process that it left behind may hold its pipes open forever.
    _ = timeout(PIPE_LIMIT, async { tokio::join!(&mut drained_out, &mut drained_err) }).await;
    [drained_out, drained_err].iter().for_each(JoinHandle::abort);
    Ok(if status.success() { format!("{}\n{}", out.take(), err.take()) } else { String::new() })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Instant;

    use super::*;

    /// Creates a folder with one program.
    fn folder_with(name: &str, script: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("it may run");
        folder
    }

    #[tokio::test]
    async fn process_left_by_program_causes_no_delay() {
        let folder = folder_with("node", "/bin/sleep 1000 &\necho leaver 4.5.6");
        let began = Instant::now();
        let found = ask("node", &[folder.path().to_owned()]).await;
        assert!(matches!(found, Found::Version(_)), "{found:?}");
        assert!(began.elapsed() < PATIENCE / 2);
    }

    #[tokio::test]
    async fn unknown_program_is_found_but_not_run() {
        let folder = folder_with("tool", "echo tool 1.2; : > \"${0%/*}/executed\"");
        let path = [folder.path().to_owned()];
        assert_eq!(ask("tool", &path).await, Found::Unversioned);
        assert!(!folder.path().join("executed").exists());
        assert_eq!(ask("other", &path).await, Found::Missing);
        assert_eq!(ask(&folder.path().join("tool").to_string_lossy(), &path).await, Found::Missing);
    }

    #[tokio::test]
    async fn program_runs_in_folder_closed_to_other_users() {
        let folder = folder_with("node", "echo \"node 1.2.3 $PWD\" > \"${0%/*}/asked\"");
        ask("node", &[folder.path().to_owned()]).await;
        let asked = std::fs::read_to_string(folder.path().join("asked")).expect("it was asked");
        assert_eq!(asked, "node 1.2.3 /\n");
    }

    #[test]
    fn trusted_path_has_absolute_folders_only() {
        let path = trusted_path(OsStr::new(":.:bin:/usr/bin:./x:/bin"));
        assert_eq!(path, [Path::new("/usr/bin"), Path::new("/bin")]);
    }
}
