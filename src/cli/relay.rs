//! `casebook __relay FILE`: the program that a client under test starts as its server.
//!
//! Takes the file with the address of a mock server, copies bytes until either side ends. Must not know the messages.

use camino::Utf8Path;

use super::base::exit::Exit;
use super::base::problem::Problem;
use crate::drive;

pub(super) fn relay(file: &Utf8Path) -> Result<Exit, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Problem::system)?;
    let relayed = runtime.block_on(drive::relay(file));
    // A thread still reads standard input, and a normal shutdown would wait for it.
    runtime.shutdown_background();
    relayed.map(|()| Exit::Fine).map_err(Problem::system)
}
