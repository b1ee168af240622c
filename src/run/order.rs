//! Workers finish in any order; whoever reads hears of tests in the order of the plan.
//!
//! One test that hangs keeps thousands of others waiting. Some of these are held; the rest wait in a file without a name,
//! so that the memory of a run doesn't depend on how unevenly it goes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::jsonrpc::nesting;

/// How many wait in memory.
const HELD: usize = 256;

/// Holds back what came early. Places count from 0, each exactly once.
#[derive(Debug)]
pub struct InOrder<T> {
    next: usize,
    early: BTreeMap<usize, Early<T>>,
    held: usize,
    file: Option<File>,
    /// How many wait in the file, and where the last of them ends.
    written: usize,
    end: u64,
}

#[derive(Debug)]
enum Early<T> {
    Held(T),
    /// Where it begins in the file, and how long it is.
    Written(u64, usize),
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { next: 0, early: BTreeMap::new(), held: 0, file: None, written: 0, end: 0 }
    }
}

impl<T: Serialize + DeserializeOwned> InOrder<T> {
    /// Takes what belongs at this place.
    pub fn put(&mut self, place: usize, item: T) {
        let has_room = place == self.next || self.held < HELD;
        // Where nothing can be written, there is still memory.
        let written = if has_room { None } else { self.write(&item).ok() };
        self.held += usize::from(written.is_none());
        self.early.insert(place, written.unwrap_or(Early::Held(item)));
    }

    /// Gives the next whose turn has come.
    ///
    /// # Errors
    /// What the file system says of what had to wait in a file.
    pub fn take(&mut self) -> io::Result<Option<T>> {
        let Some(early) = self.early.remove(&self.next) else { return Ok(None) };
        self.next += 1;
        self.give(early).map(Some)
    }

    /// What is still held back when a run was stopped, in order, with gaps.
    pub fn rest(mut self) -> impl Iterator<Item = io::Result<T>> {
        std::iter::from_fn(move || {
            let (_, early) = self.early.pop_first()?;
            Some(self.give(early))
        })
    }

    fn give(&mut self, early: Early<T>) -> io::Result<T> {
        let (at, length) = match early {
            Early::Held(item) => {
                self.held -= 1;
                return Ok(item);
            }
            Early::Written(at, length) => (at, length),
        };
        let file = self.file.as_mut().expect("it was written");
        let mut text = vec![0; length];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut text)?;
        self.written -= 1;
        nesting::read(&text).map_err(io::Error::other)
    }

    fn write(&mut self, item: &T) -> io::Result<Early<T>> {
        let text = serde_json::to_vec(item)?;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        // Where nobody waits in it any more, it is used again from its beginning.
        let at = if self.written == 0 { 0 } else { self.end };
        file.seek(SeekFrom::Start(at))?;
        file.write_all(&text)?;
        self.end = at + text.len() as u64;
        self.written += 1;
        Ok(Early::Written(at, text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All whose turn has come.
    fn ready<T: Serialize + DeserializeOwned>(order: &mut InOrder<T>) -> Vec<T> {
        std::iter::from_fn(|| order.take().expect("it can be read")).collect()
    }

    #[test]
    fn what_comes_early_waits_for_its_turn() {
        let mut order = InOrder::default();
        order.put(2, 'c');
        assert!(ready(&mut order).is_empty());
        order.put(0, 'a');
        assert_eq!(ready(&mut order), ['a']);
        order.put(1, 'b');
        assert_eq!(ready(&mut order), ['b', 'c']);
        order.put(5, 'f');
        order.put(4, 'e');
        assert_eq!(order.rest().collect::<io::Result<String>>().expect("they can be read"), "ef");
    }

    #[test]
    fn of_many_that_wait_a_bounded_number_is_held_and_all_come_in_order() {
        let mut order = InOrder::default();
        let mut length = 0;
        for round in 0..3 {
            let (first, end) = (round * 1000, (round + 1) * 1000);
            for place in (first + 1..end).rev() {
                order.put(place, place.to_string());
            }
            assert_eq!((order.held, order.written), (HELD, 999 - HELD));
            // Those of another round take the room of the first.
            assert!(round < 2 || order.end == length, "{} bytes", order.end);
            length = order.end;
            order.put(first, first.to_string());
            let wanted: Vec<_> = (first..end).map(|place| place.to_string()).collect();
            assert_eq!(ready(&mut order), wanted);
            assert_eq!((order.held, order.written), (0, 0));
        }
    }
}
