//! Questions to programs: a command that ends by itself, with its whole output.
//!
//! Takes a command, gives what it wrote and how it ended. Must not know what the output means.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout;

use crate::drive::process::launch::{Launch, spawn_leader};

/// The number of bytes that are read of each stream.
const MOST_OUTPUT: u64 = 64 << 20;
/// The time for which the pipes of an exited command are still read. A process that it left may hold them open forever.
const DRAIN: Duration = Duration::from_secs(2);

/// The end of a command.
#[derive(Debug)]
pub(super) struct Answered {
    /// How it ended.
    pub(super) status: ExitStatus,
    /// Its standard output, without white space at the end.
    pub(super) out: String,
    /// Its standard error.
    pub(super) err: String,
}

/// Runs a command without input. No process of it is left.
///
/// # Errors
/// The command cannot be started, or its output cannot be read.
pub(super) async fn ask(launch: Launch<'_>) -> io::Result<Answered> {
    // When the group is dropped, no process of the command is left.
    let (mut child, _group) = spawn_leader(launch, Stdio::null())?;
    let (out_pipe, err_pipe) =
        (child.stdout().take().expect("it is piped"), child.stderr().take().expect("it is piped"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = {
        let mut pipes =
            std::pin::pin!(async { tokio::try_join!(all_of(out_pipe, &mut out), all_of(err_pipe, &mut err)) });
        tokio::select! {
            status = child.inner_mut().wait() => {
                if let Ok(read) = timeout(DRAIN, pipes).await { read?; }
                status?
            }
            read = &mut pipes => { read?; child.inner_mut().wait().await? }
        }
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim_end().to_owned();
    Ok(Answered { status, out: text(out), err: text(err) })
}

async fn all_of(pipe: impl AsyncRead + Unpin, into: &mut Vec<u8>) -> io::Result<()> {
    pipe.take(MOST_OUTPUT).read_to_end(into).await.map(drop)
}
