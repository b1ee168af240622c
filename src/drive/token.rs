//! Words that nobody can guess.

/// A word that nobody can guess and that never comes twice.
pub(crate) fn token() -> String {
    use std::hash::{BuildHasher, RandomState};
    // The keys of a `RandomState` are from the operating system's random source, and others each time.
    let part = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", part(), part())
}
