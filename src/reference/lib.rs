//! The reference target: a strict MCP server and client, and the mutants that prove that every check can fail.
//!
//! A second reading of the specification, reached only through the adapter protocol: a child process that takes adapter
//! lines on standard input and speaks MCP over HTTP or stdio. Shares no code with the harness, and must not know cases
//! or expectations.

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
pub use server::http::Accepts;
