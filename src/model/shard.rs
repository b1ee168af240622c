//! One of several parts of a plan, so that a run can be spread over machines.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{TestId, fnv1a};

/// `2/5`: the second part of five. Which part a test is in depends on its name alone, so that new cases move none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    /// Which part, counted from 1.
    pub part: NonZeroU32,
    /// Of how many.
    pub parts: NonZeroU32,
}

impl Shard {
    /// Whether this test is in it.
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
            _ => Err(format!("`{text}` is no shard; 1/4, 2/4, 3/4 and 4/4 are the four parts of a run")),
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
    fn every_test_is_in_one_shard_and_none_is_empty() {
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
    fn a_shard_reads_as_it_prints_and_nothing_else_is_one() {
        assert_eq!("2/5".parse::<Shard>().expect("a shard").to_string(), "2/5");
        for text in ["", "2", "0/5", "6/5", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
