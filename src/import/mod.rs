//! Converts a suite that was not written as cases: the JSON-Schema-Test-Suite, to one case file for each keyword and door.
//!
//! Takes the suite's folder, gives the texts of a folder of cases, which are loaded like any other. Must not know
//! targets, or how a validator evaluates a schema.

mod cases;
mod files;
mod layout;
mod names;
mod references;
mod remotes;
mod suite;

pub use files::{Suite, files};
