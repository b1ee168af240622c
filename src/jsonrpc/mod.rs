//! JSON-RPC messages and JSON texts: read, built, edited and measured without knowing what they are about.
//!
//! Pure, and below everything else: nothing in here uses another part.

pub(crate) mod ambiguity;
pub(crate) mod envelope;
pub(crate) mod message;
pub mod nesting;
pub(crate) mod text;
