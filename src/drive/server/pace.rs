//! The pace of requests to a server on another machine, which is not the user's alone.
//!
//! Takes an endpoint, makes each request wait for its turn. All connections to one host share a pace. Must not know the
//! content of requests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until};

use crate::model::endpoint::Endpoint;

/// The interval between two requests: ten per second.
const INTERVAL: Duration = Duration::from_millis(100);
/// The number of requests that wait for the beginning of their reply at the same time.
const IN_FLIGHT: usize = 2;
/// The longest pause that a rate-limited request makes before it is sent again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

static PACES: Mutex<BTreeMap<String, Arc<Pace>>> = Mutex::new(BTreeMap::new());

/// The pace of the requests to one host.
#[derive(Debug)]
pub(crate) struct Pace {
    in_flight: Arc<Semaphore>,
    /// The time of the next turn.
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// Returns the pace of an endpoint; `None` if it is on this machine.
    pub(crate) fn of(endpoint: &Endpoint) -> Option<Arc<Self>> {
        if endpoint.is_local() {
            return None;
        }
        let mut paces = PACES.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Self { in_flight: Arc::new(Semaphore::new(IN_FLIGHT)), next: Mutex::default() };
        Some(Arc::clone(paces.entry(endpoint.host().to_ascii_lowercase()).or_insert_with(|| Arc::new(new()))))
    }

    /// Waits for a turn. The turn ends when the returned value is dropped.
    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.in_flight).acquire_owned().await.ok();
        let at = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let at = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = Some(at + INTERVAL);
            at
        };
        sleep_until(at).await;
        permit
    }
}

/// Sends a request in its turn, and once more if the server asks to wait for a short time.
pub(crate) async fn send(
    pace: Option<Arc<Pace>>,
    request: reqwest::RequestBuilder,
) -> Result<Response, reqwest::Error> {
    let turn = match &pace {
        Some(pace) => pace.turn().await,
        None => None,
    };
    let again = request.try_clone();
    let response = request.send().await?;
    drop(turn);
    match (pause(&response), again) {
        (Some(pause), Some(again)) => {
            drop(response);
            sleep(pause).await; // The server's `Retry-After:`.
            let _turn = match &pace {
                Some(pace) => pace.turn().await,
                None => None,
            };
            again.send().await
        }
        _ => Ok(response),
    }
}

/// Returns the pause that a server asks for, if it limits the rate of requests and the pause is short.
fn pause(response: &Response) -> Option<Duration> {
    let is_limited = response.status() == StatusCode::TOO_MANY_REQUESTS;
    let after = response.headers().get(RETRY_AFTER).filter(|_| is_limited)?;
    let pause = Duration::from_secs(after.to_str().ok()?.trim().parse().ok()?);
    (pause <= LONGEST_PAUSE).then_some(pause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_wait_for_their_turns() {
        let pace = Pace::of(&Endpoint::new("https://pace.invalid/a")).expect("another machine");
        let same = Pace::of(&Endpoint::new("https://PACE.invalid:8443/b")).expect("another machine");
        let began = Instant::now();
        for turns in 0..5 {
            drop(same.turn().await);
            assert_eq!(began.elapsed().as_millis() / 100, turns, "at {:?}", began.elapsed());
        }
        let held = (pace.turn().await, pace.turn().await);
        let third = tokio::time::timeout(Duration::from_secs(60), same.turn());
        assert!(third.await.is_err(), "two are in flight");
        drop(held);
        assert!(pace.turn().await.is_some());
        assert!(Pace::of(&Endpoint::new("http://127.0.0.1:3000/mcp")).is_none());
    }
}
