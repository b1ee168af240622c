//! Turns of the tests of a run: usually several at a time, but a test that timed out is run again alone.
//!
//! A time-out may be due to the other tests of the run, or to other work of this machine. Must not know tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns that there are at a time: more than a run has workers.
const TURNS: u32 = 1 << 20;

/// The turns of a run, which all its workers share.
#[derive(Debug)]
pub(crate) struct Turns {
    free: Arc<Semaphore>,
    /// The number of tests that may still be run again.
    left: AtomicUsize,
}

impl Turns {
    /// Turns of which so many can be repeated.
    pub(crate) fn new(repetitions: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(TURNS as usize)), left: AtomicUsize::new(repetitions) }
    }

    /// Returns the number of repetitions that no test has used.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// Waits for a turn beside other tests.
    pub(crate) async fn next(&self) -> Turn<'_> {
        Turn { turns: self, held: self.take(1).await }
    }

    /// Takes free turns; `None` only after the semaphore was closed, which it never is.
    async fn take(&self, number: u32) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).acquire_many_owned(number).await.ok()
    }
}

/// The turn of one test. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
    held: Option<OwnedSemaphorePermit>,
}

impl Turn<'_> {
    /// Waits until this test is the only one that runs. Returns `false` at once if no repetition is left.
    pub(crate) async fn alone(&mut self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        if self.turns.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err() {
            return false;
        }
        // Two tests that waited for each other's turn would wait forever.
        self.held = None;
        self.held = self.turns.take(TURNS).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn repetition_waits_for_other_tests_and_they_for_it() {
        let turns = Turns::new(2);
        let (mut repeated, other) = (turns.next().await, turns.next().await);
        assert_eq!(repeated.alone().now_or_never(), None);
        drop(other);
        assert_eq!(repeated.alone().now_or_never(), Some(true));
        assert!(turns.next().now_or_never().is_none());
        assert_eq!((turns.left(), repeated.alone().now_or_never()), (0, Some(false)));
        drop(repeated);
        assert!(turns.next().now_or_never().is_some());
    }
}
