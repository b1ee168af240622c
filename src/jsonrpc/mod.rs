//! JSON-RPC messages and JSON texts: reading, building, editing and measuring them.
//!
//! This part is pure and uses no other part. It must not know the meaning of a message.

pub(crate) mod ambiguity;
pub(crate) mod envelope;
pub(crate) mod message;
pub mod nesting;
pub(crate) mod pointer;
pub(crate) mod text;
