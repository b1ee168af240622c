//! Unguessable tokens.

/// Returns a token that is unguessable and unique.
pub(crate) fn token() -> String {
    use std::hash::{BuildHasher, RandomState};
    // The keys of a `RandomState` come from the random source of the operating system.
    let part = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", part(), part())
}
