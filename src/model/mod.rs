//! The types that all parts of the program share: plain data, without input or output, and with small accessors only.
//!
//! This module must not know any other part, files, time or the network.

pub mod abridged;
pub mod action;
pub mod applicability;
pub mod arguments;
pub mod bound;
mod call_mark;
pub mod callable;
pub mod capability;
pub mod case;
mod control;
pub mod deviation;
pub mod encounter;
pub mod endpoint;
pub mod feature;
mod fixture;
mod flaw;
mod generate;
mod hash;
mod id;
pub mod implied;
pub mod known;
pub(crate) mod markdown;
pub mod mutant;
mod need;
mod neutral;
pub mod observation;
pub mod pair;
mod premise;
pub mod program;
pub mod reason;
pub mod record;
pub mod release;
mod retry;
pub mod schema;
pub mod set;
mod shard;
pub mod spec;
mod success;
pub mod suite;
pub mod survey;
pub mod target;
pub mod template;
pub mod text;
pub mod transcript;
pub mod untrusted;
pub mod verdict;
pub mod version;

pub use hash::{fnv1a, hash};
pub use id::{
    CaseId, LONGEST_TARGET_NAME, Pattern, PatternError, RequirementId, TargetId, TestId, is_id, is_target_name,
};
pub use shard::Shard;
pub use untrusted::{Printable, ToPrintable, Untrusted};
