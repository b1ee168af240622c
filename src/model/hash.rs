//! Hashes that are written to files, and read by other versions of this program.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The first 64 bits of the SHA-256 of a value's canonical JSON, in hex: without blanks, the members of objects sorted.
pub fn hash(value: &impl Serialize) -> String {
    let mut value = serde_json::to_value(value).expect("what is hashed has only texts as keys");
    value.sort_all_objects();
    let digest = Sha256::digest(value.to_string());
    let first = digest.iter().take(8).fold(0, |first: u64, byte| first << 8 | u64::from(*byte));
    format!("{first:016x}")
}

/// The 64-bit FNV-1a hash: the same on every machine and in every version.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn published_values_hold() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        // printf '{"a":[1,null],"b":"é"}' | sha256sum
        assert_eq!(hash(&json!({ "b": "é", "a": [1, null] })), "e03c3c1ebb5fccd7");
    }
}
