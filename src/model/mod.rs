//! What flows through the program: plain types, no input or output, no behaviour beyond small accessors.
//!
//! Takes nothing, gives the nouns that every stage shares. Must not know any other part, files, time or the network.

pub mod abridged;
pub mod applicability;
pub mod bound;
pub mod case;
mod generate;
mod hash;
mod id;
pub(crate) mod markdown;
pub mod observation;
pub mod program;
pub mod reason;
pub mod record;
pub mod schema;
pub mod set;
mod shard;
pub mod spec;
mod success;
pub mod suite;
pub mod target;
pub mod template;
pub mod text;
pub mod timings;
pub mod transcript;
pub mod untrusted;

pub use hash::{fnv1a, hash};
pub use id::{
    CaseId, LONGEST_TARGET_NAME, Pattern, PatternError, RequirementId, TargetId, TestId, is_id, is_target_name,
};
pub use shard::Shard;
pub use untrusted::{Printable, ToPrintable, Untrusted};
