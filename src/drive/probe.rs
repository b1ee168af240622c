//! Which programs are on this machine, and in which version.
//!
//! Takes names, gives what each says when it is asked for its version. Must not know what they are needed for.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::process::{Launch, lead};
use crate::model::program::{Found, Version};

/// How long a program may take to say its version; some start a virtual machine first.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much is read of what it says.
const SAID: u64 = 4096;

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
    let (out, err) = (child.stdout().take().expect(piped), child.stderr().take().expect(piped));
    let (out, err) = tokio::join!(start(out), start(err));
    let status = child.inner_mut().wait().await?;
    Ok(if status.success() { format!("{out}\n{err}") } else { String::new() })
}

async fn start(pipe: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    // Whatever breaks here, there is no version in it.
    _ = pipe.take(SAID).read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
