//! Tokens that cannot be guessed, and seals that cannot be forged, within one process.
//!
//! The module takes words and returns hexadecimal digits. It must not know their purpose.

use std::hash::{BuildHasher as _, RandomState};

/// A secret for sealing words. The standard library keys its `SipHash` at random; two keys make 128 bits.
#[derive(Debug)]
pub(crate) struct Seal([RandomState; 2]);

impl Seal {
    pub(crate) fn new() -> Self {
        Self([RandomState::new(), RandomState::new()])
    }

    /// Returns the seal of these words.
    pub(crate) fn of(&self, words: &[&str]) -> String {
        let [a, b] = &self.0;
        format!("{:016x}{:016x}", a.hash_one(words), b.hash_one(words))
    }
}

/// Returns a name that cannot be guessed.
pub(crate) fn token() -> String {
    Seal::new().of(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seal_depends_on_its_words_and_its_secret() {
        let seal = Seal::new();
        assert_eq!(seal.of(&["a", "b"]), seal.of(&["a", "b"]));
        assert_ne!(seal.of(&["a", "b"]), seal.of(&["ab", ""]));
        assert_ne!(seal.of(&["a"]), Seal::new().of(&["a"]));
        assert_ne!(token(), token());
    }
}
