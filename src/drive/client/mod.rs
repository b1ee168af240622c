//! A client under test: driven through a script against a mock server that the harness plays.

pub(crate) mod driving;
pub(crate) mod mock;
pub(crate) mod split;
