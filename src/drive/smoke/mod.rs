//! Checks that an adapter speaks the adapter protocol.

pub(crate) mod check;
mod client;
pub(crate) mod outcome;
