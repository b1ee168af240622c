//! Text of JSON and TOML files as trees with places, and the mistakes in them.
//!
//! Takes the text of a file, gives nodes, typed readers and diagnostics. Must not know what a file is about.

pub(super) mod bundle;
pub(crate) mod diagnostic;
pub(super) mod expand;
pub(crate) mod json;
pub(super) mod masked;
pub(crate) mod node;
pub(crate) mod read;
pub(super) mod toml;
