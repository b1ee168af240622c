//! The conversion of the JSON-Schema-Test-Suite to case files, one for each keyword and door.
//!
//! It takes the suite's folder and returns the texts of a folder of cases, which are loaded like any other. It must not
//! know targets, nor how a validator evaluates a schema.

mod cases;
mod files;
mod layout;
mod names;
mod placeholders;
mod references;
mod remotes;
mod suite;

pub use files::{Suite, files};
