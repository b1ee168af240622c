//! Processes of targets: started as leaders of their group, read, watched and cleared up.

#[cfg(target_os = "linux")]
pub(crate) mod descendants;
pub(crate) mod guard;
pub(crate) mod launch;
pub(crate) mod lines;
pub(crate) mod mark;
pub(crate) mod probe;
pub(crate) mod setup;
