//! Job objects, which end with all of their processes, and Ctrl-C. Windows has no signals, and nothing to suspend a run.
//!
//! Takes commands and the ids of processes, as its counterpart for Unix does. Must not know targets, runs or adapters.

use std::fs::DirBuilder;
use std::io;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject};

use super::Request;

/// The flag `CREATE_NEW_PROCESS_GROUP`: the console sends no Ctrl-C to such a process.
const NEW_PROCESS_GROUP: u32 = 0x200;

/// Puts a process and its descendants into a job object, which kills them when its handle is closed.
pub(crate) fn lead(command: &mut CommandWrap) {
    #[expect(clippy::default_trait_access, reason = "process-wrap does not export the type of the flags")]
    let mut flags = CreationFlags(Default::default());
    flags.0.0 = NEW_PROCESS_GROUP;
    command.wrap(flags).wrap(JobObject);
}

/// Starts a process.
///
/// # Errors
/// Errors of the system, for example a missing program.
pub(crate) fn start(command: &mut CommandWrap) -> io::Result<Box<dyn ChildWrapper>> {
    command.spawn()
}

/// Does nothing: a process of Windows cannot be asked to exit, unless it has a window or a console of its own.
pub(crate) fn terminate(_leader: Option<u32>) {}

/// Does nothing: the job object ends when the process is dropped.
pub(crate) fn end_group(_leader: Option<u32>, _entry: &str) {}

/// Returns nothing: no process is ended by a signal.
pub(crate) fn signal_of(_status: ExitStatus) -> Option<(i32, &'static str)> {
    None
}

/// Does nothing: each job object ends with this process.
pub(crate) fn end_all() {}

/// Prepares nothing.
pub(crate) fn begin() {}

/// Does nothing: a folder inherits the access rights of the temporary folder, which belongs to the user.
pub(crate) fn private(_folder: &mut DirBuilder) {}

/// Does nothing: no request to suspend arrives.
pub(crate) fn suspend() {}

/// The requests of the console to stop.
pub(crate) struct Signals;

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// None.
    #[expect(clippy::unnecessary_wraps, reason = "the signature is that of its counterpart for Unix")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next request.
    pub(crate) async fn next(&mut self) -> Request {
        // Without a handler, no signal can be awaited.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Request::Stop
    }
}
