//! `casebook __relay FILE`: the program that a client under test launches as its server.
//!
//! Takes the file that leads to a mock server, copies until either side is done. Must not know what is said.

use camino::Utf8Path;

use super::{Exit, Problem};
use crate::drive;

pub(super) fn relay(file: &Utf8Path) -> Result<Exit, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Problem::system)?;
    let relayed = runtime.block_on(drive::relay(file));
    // A thread still reads standard input, and would be waited for.
    runtime.shutdown_background();
    relayed.map(|()| Exit::Fine).map_err(Problem::system)
}
