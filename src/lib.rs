//! A data-driven conformance harness for the Model Context Protocol.
//!
//! A case file goes in, a target is driven over the real wire, what it did is written down, and only then is it
//! judged. The way is one-directional: nothing to the left of an arrow knows what is to its right.
//!
//! ```text
//! cases/*.json ─load─▶ Case, Test ─plan─▶ Plan ─drive─▶ Transcript ─observe─▶ Observation ─judge─▶ Verdict
//!                                          ▲                                       │                  │
//! targets/*/target.toml ─load─▶ Target ────┘                                       ▼                  ▼
//!                                                            snapshots/<target>/…     run.jsonl ─report─▶ people
//! ```
//!
//! Reading the `mod.rs` of `load`, `drive`, `judge`, `run` and `report`, and `plan.rs`, is reading the program.
//! `model` holds what flows; `reference/` is a crate of its own, a target that is reached only through the adapter
//! protocol.
//!
//! Most people want the program; a Rust SDK can have the cases inside its own `cargo test` with the feature `trials`.

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
mod peer;
pub mod plan;
pub mod proof;
pub mod report;
pub mod run;
pub mod set;
#[cfg(feature = "trials")]
pub mod trials;
