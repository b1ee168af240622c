//! A raw MCP server for a client under test, played by the harness: over Streamable HTTP and stdio, in both lifecycles.
//!
//! Takes a test's fixture, gives an address and what went over the wire, written down before it is read. Uses nobody's
//! SDK. Must not know what a client should do, nor who starts it.

mod elicit;
mod http;
mod listeners;
mod log;
mod outlet;
mod serve;
mod server;
mod stateless;
mod stdio;
#[cfg(test)]
mod tests;
mod tools;

pub(crate) use listeners::Listeners;
pub(crate) use serve::Mock;
pub use stdio::relay;
