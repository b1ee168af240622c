//! Deadlines, which limit every wait of a test.
//!
//! Takes durations, gives instants. While this process is stopped, for example by Ctrl-Z, the clock stands still: the
//! target is not to blame for that time. Must not know the reasons of waits.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// The interval at which the clock thread reads the time.
const TICK: Duration = Duration::from_millis(200);
/// The interval that shows that this process was stopped. A shorter one may be due to a delayed thread.
const STOPPED: Duration = Duration::from_secs(1);

/// Set while the clock thread runs.
static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

/// The times that the clock thread has read.
struct Watch {
    seen: std::time::Instant,
    /// The total time for which this process was stopped.
    stopped: Duration,
}

impl Watch {
    /// Returns the total time for which this process was stopped until now.
    fn look(&mut self, now: std::time::Instant) -> Duration {
        let since = now.saturating_duration_since(self.seen);
        if since > STOPPED {
            self.stopped += since.saturating_sub(TICK);
        }
        self.seen = now;
        self.stopped
    }
}

/// Starts the clock thread. From then on, time in which this process is stopped does not count.
pub(crate) fn keep() {
    let now = std::time::Instant::now();
    *WATCH.lock().unwrap_or_else(PoisonError::into_inner) = Some(Watch { seen: now, stopped: Duration::ZERO });
    let look = || {
        loop {
            thread::sleep(TICK);
            stopped();
        }
    };
    if thread::Builder::new().name("clock".to_owned()).stack_size(64 << 10).spawn(look).is_err() {
        // Without the thread, any long interval would be taken for a stop.
        *WATCH.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns the total time for which this process was stopped until now.
fn stopped() -> Duration {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    watch.as_mut().map_or(Duration::ZERO, |watch| watch.look(std::time::Instant::now()))
}

/// The beginning of a test and the time by which each wait of it must end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    began: Instant,
    at: Instant,
    /// The total time for which this process had been stopped when the test began.
    stopped: Duration,
}

impl Deadline {
    /// A deadline that begins now.
    pub(crate) fn within(limit: Duration) -> Self {
        let began = Instant::now();
        Self { began, at: began + limit, stopped: stopped() }
    }

    /// Returns a deadline with the same beginning and at most `limit` left from now on.
    pub(crate) fn narrowed(self, limit: Duration) -> Self {
        Self { at: self.at.min(Instant::now() - self.lost() + limit), ..self }
    }

    /// Waits for a future until the deadline; returns `None` if it passes.
    pub(crate) async fn bound<T>(self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let mut at = self.at + self.lost();
        loop {
            if let Ok(came) = timeout_at(at, &mut future).await {
                return Some(came);
            }
            let later = self.at + self.lost();
            if later <= at {
                return None;
            }
            at = later;
        }
    }

    /// Returns the microseconds since the beginning.
    pub(crate) fn micros(self) -> u64 {
        u64::try_from(self.began.elapsed().saturating_sub(self.lost()).as_micros()).unwrap_or(u64::MAX)
    }

    /// The time for which this process was stopped since the beginning.
    fn lost(self) -> Duration {
        stopped().saturating_sub(self.stopped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_unless_process_was_stopped() {
        let began = std::time::Instant::now();
        let at = |millis| began + Duration::from_millis(millis);
        let mut watch = Watch { seen: began, stopped: Duration::ZERO };
        assert_eq!([200, 400, 1300].map(|millis| watch.look(at(millis))), [Duration::ZERO; 3]);
        assert_eq!(watch.look(at(9300)), Duration::from_millis(7800));
        assert_eq!(watch.look(at(9300)), Duration::from_millis(7800));
        assert_eq!(watch.look(at(9500)), Duration::from_millis(7800));
    }

    #[tokio::test(start_paused = true)]
    async fn narrowed_deadline_never_exceeds_its_origin() {
        let test = Deadline::within(Duration::from_secs(60));
        let step = test.narrowed(Duration::from_secs(10));
        assert_eq!(step.bound(std::future::pending::<()>()).await, None);
        assert!((10_000_000..10_100_000).contains(&test.micros()));
        let last = test.narrowed(Duration::from_secs(3600));
        assert_eq!(last.bound(std::future::pending::<()>()).await, None);
        assert!((60_000_000..60_100_000).contains(&test.micros()));
    }
}
