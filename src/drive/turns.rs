//! Turns of the tests of a run: usually several at a time, but a test that timed out is run again alone.
//!
//! A time-out may be due to the other tests of the run, or to other work of this machine. Must not know expectations.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::model::transcript::Transcript;
use crate::plan::Planned;

/// The turns that there are at a time: more than a run has workers.
const TURNS: u32 = 1 << 20;

/// The caller's decision whether a time-out is unexpected, and so worth a repetition. A target that is known to hang
/// would delay each run otherwise.
type Unexpected = dyn Fn(&Planned, &Transcript) -> bool + Send + Sync;

/// The turns of a run, which all its workers share.
pub(crate) struct Turns {
    free: Arc<Semaphore>,
    is_unexpected: Box<Unexpected>,
    /// The number of tests that may still be run again.
    left: AtomicUsize,
}

impl Turns {
    /// Turns of which so many can be repeated, if the result of a test is unexpected.
    pub(crate) fn new(
        repetitions: usize,
        is_unexpected: impl Fn(&Planned, &Transcript) -> bool + Send + Sync + 'static,
    ) -> Self {
        let free = Arc::new(Semaphore::new(TURNS as usize));
        Self { free, is_unexpected: Box::new(is_unexpected), left: AtomicUsize::new(repetitions) }
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
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
    held: Option<OwnedSemaphorePermit>,
}

impl Turn<'_> {
    /// Waits until this test is the only one that runs. Returns `false` at once if its time-out was to be expected, or no
    /// repetition is left.
    pub(crate) async fn alone(&mut self, planned: &Planned, transcript: &Transcript) -> bool {
        if self.turns.left() == 0 || !(self.turns.is_unexpected)(planned, transcript) {
            return false;
        }
        // Another test may have used the last repetition meanwhile.
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
    use crate::judge::samples;
    use crate::model::case::Test;

    #[tokio::test]
    async fn repetition_waits_for_other_tests_and_they_for_it() {
        let transcript = samples::transcript(Vec::new());
        let test: Test = samples::test(&[], Vec::new());
        let planned = Planned { index: 0, id: transcript.test.clone(), test: Arc::new(test), stdio: None };
        let known = Turns::new(2, |_, _| false);
        assert!(!known.next().await.alone(&planned, &transcript).await);
        assert_eq!(known.left(), 2);
        let turns = Turns::new(2, |_, _| true);
        let (mut repeated, other) = (turns.next().await, turns.next().await);
        assert_eq!(repeated.alone(&planned, &transcript).now_or_never(), None);
        drop(other);
        assert_eq!(repeated.alone(&planned, &transcript).now_or_never(), Some(true));
        assert!(turns.next().now_or_never().is_none());
        assert_eq!((turns.left(), repeated.alone(&planned, &transcript).now_or_never()), (0, Some(false)));
        drop(repeated);
        assert!(turns.next().now_or_never().is_some());
    }
}
