//! Tests implementations of the Model Context Protocol (MCP) against its specification.
//!
//! Cases are JSON files. An adapter per SDK builds a real server or client from a case; casebook plays the other side
//! over stdio or Streamable HTTP, records the messages, and then judges the recording. Data flows in one direction: a
//! module on the left of an arrow does not know the modules on its right.
//!
//! ```text
//! cases/*.json ─load─▶ Case, Test ─plan─▶ Plan ─drive─▶ Transcript ─observe─▶ Observation ─judge─▶ Verdict
//!                                          ▲                                       │                  │
//! targets/*/target.toml ─load─▶ Target ────┘                                       ▼                  ▼
//!                                                            snapshots/<target>/…     run.jsonl ─report─▶ reports
//! ```
//!
//! To get an overview of the code, read `plan.rs` and the `mod.rs` of `load`, `drive`, `judge`, `run` and `report`.
//! `model` has the types of the data. The reference, a target, is a crate of its own beside `src/`.
//!
//! Most users need only the program. A Rust SDK can run the cases inside its own `cargo test` with [`trials`].

pub mod cli;
pub mod drive;
mod file;
#[cfg(test)]
mod fuzz;
pub mod import;
pub mod jsonrpc;
pub mod judge;
pub mod load;
pub mod model;
pub mod plan;
pub mod proof;
pub mod report;
pub mod run;
pub mod set;
pub mod trials;
