//! Raises the number of files that this program may have open.
//!
//! Must not know what is opened.

use std::io;

/// Enough for the connections of all workers. Not more: targets inherit the limit, and some programs close, or look at,
/// every descriptor that they could have.
#[cfg(unix)]
const WANTED: u64 = 16_384;

/// Raises the soft limit as far as it is of use and the hard limit allows. Where that fails, the program works with
/// what it has.
#[cfg(unix)]
pub(super) fn raise() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < WANTED.min(hard)
    {
        _ = setrlimit(Resource::RLIMIT_NOFILE, WANTED.min(hard), hard);
    }
}

/// There is no such limit on this system.
#[cfg(not(unix))]
pub(super) fn raise() {}

/// Makes sure that a runtime can be built: it needs some descriptors and threads, and panics where it gets only a part
/// of them.
///
/// # Errors
/// Those of the system.
#[cfg(unix)]
pub(super) fn check() -> io::Result<()> {
    use std::os::fd::AsFd as _;
    const NEEDED: usize = 12;
    let stdin = io::stdin();
    let copies: io::Result<Vec<_>> = (0..NEEDED).map(|_| stdin.as_fd().try_clone_to_owned()).collect();
    drop(copies?);
    _ = std::thread::Builder::new().spawn(|| ())?.join();
    Ok(())
}

/// There is no such limit on this system.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn check() -> io::Result<()> {
    Ok(())
}
