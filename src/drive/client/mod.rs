//! Clients under test, driven through a script against a mock server.

pub(crate) mod driving;
pub(crate) mod mock;
pub(crate) mod split;
