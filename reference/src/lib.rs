//! The reference target: a strict MCP server and client, and the mutants that prove that every check can fail.
//!
//! This is a second, independent reading of the specification. The harness reaches it only through the adapter
//! protocol: it runs as a child process that reads adapter requests from standard input and implements MCP over HTTP or
//! stdio. It shares no code with the harness, and must not know cases or expectations.

mod adapter;
mod client;
mod edits;
mod fetch;
mod forms;
mod message;
mod mutants;
mod nesting;
mod parameters;
mod policy;
mod references;
mod revision;
mod schema;
mod server;

pub use adapter::run;
pub use mutants::{About, UNBROKEN, is_mutant, mutants};
