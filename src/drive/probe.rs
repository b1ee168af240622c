//! Which programs are on this machine, and in which version.
//!
//! Takes names, gives what each says when it is asked for its version. Must not know what they are needed for.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::lines::Kept;
use super::process::{LEAK, Launch, lead};
use crate::model::program::{Found, Version};

/// How long a program may take to say its version; some start a virtual machine first.
const PATIENCE: Duration = Duration::from_secs(20);

/// Asks all of them at once.
pub async fn probe(names: impl IntoIterator<Item = String>) -> BTreeMap<String, Found> {
    let mut asked: JoinSet<_> = names.into_iter().map(|name| async { (ask(&name).await, name) }).collect();
    let mut found = BTreeMap::new();
    while let Some(one) = asked.join_next().await {
        let (what, name) = one.expect("asking a program doesn't panic");
        found.insert(name, what);
    }
    found
}

async fn ask(name: &str) -> Found {
    let mut found = Found::Missing;
    // Most take the option; some have a command of that name.
    for argument in ["--version", "version"] {
        match timeout(PATIENCE, said([name.to_owned(), argument.to_owned()])).await {
            Ok(Ok(said)) => match Version::within(&said) {
                Some(version) => return Found::Version(version),
                None => found = Found::Unversioned,
            },
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => return Found::Missing,
            // It is there, but doesn't work.
            Ok(Err(_)) | Err(_) => found = Found::Unversioned,
        }
    }
    found
}

/// What a command says that ends well; nothing, where it doesn't.
async fn said(command: [String; 2]) -> std::io::Result<String> {
    let launch = Launch { command: &command, folder: Path::new("."), env: &BTreeMap::new() };
    let (mut child, _group) = lead(launch, Stdio::null())?;
    let piped = "its output is piped";
    let (out, mut drained_out) = Kept::of(child.stdout().take().expect(piped));
    let (err, mut drained_err) = Kept::of(child.stderr().take().expect(piped));
    let status = child.inner_mut().wait().await?;
    // What it left running may hold its pipes open for ever.
    _ = timeout(LEAK, async { tokio::join!(&mut drained_out, &mut drained_err) }).await;
    [drained_out, drained_err].iter().for_each(JoinHandle::abort);
    Ok(if status.success() { format!("{}\n{}", out.take(), err.take()) } else { String::new() })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Instant;

    use super::*;

    #[tokio::test]
    async fn what_a_program_leaves_running_delays_nobody() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("leaver");
        std::fs::write(&program, "#!/bin/sh\nsleep 1000 &\necho leaver 4.5.6\n").expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("it may run");
        let began = Instant::now();
        let found = ask(&program.to_string_lossy()).await;
        assert!(matches!(found, Found::Version(_)), "{found:?}");
        assert!(began.elapsed() < PATIENCE / 2);
    }
}
