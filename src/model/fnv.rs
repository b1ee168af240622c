//! FNV-1a: a hash that is the same on every machine, in every version, for ever.

use std::hash::Hasher;

/// The 64-bit FNV-1a hash.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hasher = Fnv::default();
    hasher.write(bytes);
    hasher.finish()
}

/// The hash of something that is made of parts. Numbers of the machine's own size count as those of 64 bits, so that what
/// two machines wrote down compares, as long as both have the low byte first.
#[derive(Clone, Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64((number as i64).cast_unsigned());
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hash;

    use super::*;

    #[test]
    fn the_published_values_hold() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn what_is_made_of_parts_has_the_same_hash_on_every_machine() {
        let mut hasher = Fnv::default();
        (Some("a"), vec![7_u16], -1_isize).hash(&mut hasher);
        let [some, length, last] = [1, 1, u64::MAX].map(u64::to_ne_bytes);
        let bytes = [&some[..], b"a\xff", &length, &7_u16.to_ne_bytes(), &last].concat();
        assert_eq!(hasher.finish(), fnv1a(&bytes));
    }
}
