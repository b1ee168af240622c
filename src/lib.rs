//! Draft: the modules below are being written.
pub mod model;
