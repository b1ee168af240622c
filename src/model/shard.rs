//! One shard of a plan, so that a run can be distributed over several machines.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{TestId, fnv1a};

/// One shard, written `2/5` for the second of five. The shard of a test depends only on its name, so new cases do not
/// move other tests to another shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// The number of the shard, counted from 1.
    pub part: NonZeroU32,
    /// The number of shards.
    pub parts: NonZeroU32,
}

impl Shard {
    /// Returns whether the shard contains this test.
    pub fn has(self, id: &TestId) -> bool {
        let place = fnv1a(id.to_string().as_bytes()) % u64::from(self.parts.get());
        place + 1 == u64::from(self.part.get())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
        match numbers {
            Some((part, parts)) if part <= parts => Ok(Self { part, parts }),
            _ => Err(format!("`{text}` is not a shard: expected N/M, for example 1/4 for the first of four shards")),
        }
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_in_exactly_one_shard() {
        let shards: Vec<Shard> = (1..=5).map(|part| format!("{part}/5").parse().expect("a shard")).collect();
        let mut sizes = [0; 5];
        for number in 0..1000 {
            let id: TestId = format!("f/c/t{number}@2026-07-28+http").parse().expect("a test");
            let has: Vec<usize> = (0..5).filter(|one| shards[*one].has(&id)).collect();
            assert_eq!(has.len(), 1, "{id}");
            sizes[has[0]] += 1;
        }
        assert!(sizes.iter().all(|size| (150..250).contains(size)), "{sizes:?}");
    }

    #[test]
    fn shard_round_trips_and_rejects_other_text() {
        assert_eq!("2/5".parse::<Shard>().expect("a shard").to_string(), "2/5");
        for text in ["", "2", "0/5", "6/5", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
