//! Hashes that are stored in files and must be the same in every version of casebook.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Returns the first 64 bits, in hex, of the SHA-256 of a value's canonical JSON (without white space, with sorted
/// object members).
pub fn hash(value: &impl Serialize) -> String {
    let mut value = serde_json::to_value(value).expect("hashed values have only strings as keys");
    value.sort_all_objects();
    let digest = Sha256::digest(value.to_string());
    let first = digest.iter().take(8).fold(0, |first: u64, byte| first << 8 | u64::from(*byte));
    format!("{first:016x}")
}

/// Returns the 64-bit FNV-1a hash, which is the same on every machine and in every version.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hashes_equal_published_values() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        // printf '{"a":[1,null],"b":"é"}' | sha256sum
        assert_eq!(hash(&json!({ "b": "é", "a": [1, null] })), "e03c3c1ebb5fccd7");
    }
}
