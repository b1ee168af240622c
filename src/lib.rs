//! A data-driven conformance harness for the Model Context Protocol.
pub mod cli;
pub mod drive;
pub mod judge;
pub mod load;
pub mod model;
pub mod plan;
pub mod reference;
pub mod report;
pub mod run;
#[cfg(feature = "trials")]
pub mod trials;
