//! Raises the limit of open files of this process.
//!
//! Must not know which files are opened.

use std::io;

/// The wanted limit, enough for the connections of all workers. Targets inherit the limit, and some programs close every
/// descriptor up to it when they start, so it is not higher.
#[cfg(unix)]
const WANTED: u64 = 16_384;

/// Raises the soft limit to the wanted limit, or to the hard limit if that is lower. Ignores errors: the program also
/// works with fewer open files.
#[cfg(unix)]
pub(in crate::cli) fn raise() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < WANTED.min(hard)
    {
        _ = setrlimit(Resource::RLIMIT_NOFILE, WANTED.min(hard), hard);
    }
}

/// Does nothing, because this system has no such limit.
#[cfg(not(unix))]
pub(in crate::cli) fn raise() {}

/// Checks that the runtime of tokio can be built. It needs some descriptors and a thread, and would panic without them.
///
/// # Errors
/// Errors of the system.
#[cfg(unix)]
pub(in crate::cli) fn check() -> io::Result<()> {
    use std::os::fd::AsFd as _;
    const NEEDED: usize = 12;
    let stdin = io::stdin();
    let copies: io::Result<Vec<_>> = (0..NEEDED).map(|_| stdin.as_fd().try_clone_to_owned()).collect();
    drop(copies?);
    _ = std::thread::Builder::new().spawn(|| ())?.join();
    Ok(())
}

/// Does nothing, because this system has no such limit.
///
/// # Errors
/// None.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the signature is that of its counterpart for Unix")]
pub(in crate::cli) fn check() -> io::Result<()> {
    Ok(())
}
