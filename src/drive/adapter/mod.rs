//! Adapters: their protocol, and the streams and processes that they provide.

pub(crate) mod hello;
mod mistake;
pub(crate) mod protocol;
pub(crate) mod stdio_server;
pub(crate) mod stream;
