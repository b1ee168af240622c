//! Adapters: the protocol by which they are asked for servers and clients, and the streams and processes that they give.

pub(crate) mod protocol;
pub(crate) mod stdio_server;
pub(crate) mod stream;
