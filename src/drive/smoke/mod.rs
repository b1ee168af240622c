//! Checks that an adapter speaks the adapter protocol.

pub(crate) mod check;
mod client;
mod marker;
pub(crate) mod outcome;
mod probe;
