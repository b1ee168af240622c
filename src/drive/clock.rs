//! Time, as a value that is handed down: every wait of a test is bounded by its [`Deadline`].
//!
//! Takes durations, gives instants. Must not know what is waited for.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// When a test began, and when whatever is waited for has to be there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    began: Instant,
    at: Instant,
}

impl Deadline {
    /// A deadline that begins now.
    pub(crate) fn within(limit: Duration) -> Self {
        let began = Instant::now();
        Self { began, at: began + limit }
    }

    /// The same beginning, with at most `limit` left from now on.
    pub(crate) fn narrowed(self, limit: Duration) -> Self {
        Self { at: self.at.min(Instant::now() + limit), ..self }
    }

    /// Waits, but not beyond the deadline: `None` where it passed.
    pub(crate) async fn bound<T>(self, future: impl Future<Output = T>) -> Option<T> {
        timeout_at(self.at, future).await.ok()
    }

    /// Microseconds since the beginning.
    pub(crate) fn micros(self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_narrowed_deadline_never_outlives_the_one_that_it_came_from() {
        let test = Deadline::within(Duration::from_secs(60));
        let step = test.narrowed(Duration::from_secs(10));
        assert_eq!(step.bound(std::future::pending::<()>()).await, None);
        assert!((10_000_000..10_100_000).contains(&test.micros()));
        let last = test.narrowed(Duration::from_secs(3600));
        assert_eq!(last.bound(std::future::pending::<()>()).await, None);
        assert!((60_000_000..60_100_000).contains(&test.micros()));
    }
}
