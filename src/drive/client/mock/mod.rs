//! A raw MCP server for a client under test, over Streamable HTTP and stdio, in both lifecycles, without any SDK.
//!
//! Takes a test's fixture, gives an address and the messages, which are recorded before they are parsed. Must not know
//! the expected behaviour of a client, or the program that starts the client.

mod choice;
mod elicit;
mod http;
mod listeners;
pub(crate) mod log;
mod meeting;
mod methods;
mod outlet;
pub(crate) mod relay_file;
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
