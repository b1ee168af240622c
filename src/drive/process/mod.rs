//! Processes of targets: start, output, supervision and cleanup.

mod ask;
mod checkout;
#[cfg(target_os = "linux")]
pub(crate) mod descendants;
pub(crate) mod launch;
pub(crate) mod lines;
pub(crate) mod mark;
pub(crate) mod probe;
pub(crate) mod releases;
pub(crate) mod session;
pub(crate) mod setup;
mod system;
